"""Keep the docstrings that `--help` shows, even where Python drops docstrings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

_Function = TypeVar("_Function", bound=Callable[..., Any])


def documented(function: _Function) -> _Function:
    """Restore the docstring of a function from its source if there is one; apply it as the innermost decorator.

    `python -OO` and PYTHONOPTIMIZE=2 compile without docstrings.
    """
    if function.__doc__ is None:
        import ast
        import inspect

        try:
            definition = ast.parse(inspect.getsource(function)).body[0]
        except OSError:
            return function
        if isinstance(definition, ast.FunctionDef):
            function.__doc__ = ast.get_docstring(definition)
    return function
