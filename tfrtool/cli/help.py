"""What `--help` shows of a command is the docstring of its function, even where Python was told to drop it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

_Function = TypeVar("_Function", bound=Callable[..., Any])


def documented(function: _Function) -> _Function:
    """Give a function its docstring back; this decorator stands directly above it.

    `python -OO` and PYTHONOPTIMIZE=2 compile without docstrings; then the source is asked, where there is one.
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
