"""Small values with named fields, for what is needed each time the program starts.

`dataclasses` would do, but importing it (with `inspect`, `ast` and `dis` behind it) takes a fifth of the time in which
the records of a file are counted, and so does making the classes. What is not on that way uses `dataclasses`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self, TypeVar, dataclass_transform

T = TypeVar("T")


class _Made:
    """A default that is made anew for each value."""

    def __init__(self, make: Callable[[], object]) -> None:
        self.make = make


def made(*, default_factory: Callable[[], T]) -> T:
    """The default of a field that is made anew for each value, such as a list."""
    return _Made(default_factory)  # type: ignore[return-value]


@dataclass_transform(field_specifiers=(made,))
class Fields:
    """A class whose annotated names are its fields, as in a dataclass: `__init__`, `==` and `repr` go by them.

    A subclass has the fields of its base first. `class X(Fields, frozen=True)` cannot be changed once it is made.
    """

    _fields: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, frozen: bool = False) -> None:
        own = cls.__dict__.get("__annotations__", ()) or getattr(cls, "__annotations__", ())
        fields = dict.fromkeys((*cls._fields, *(name for name in own if not name.startswith("_"))))
        cls._fields = tuple(fields)
        if frozen:
            cls.__setattr__ = _refuse  # type: ignore[method-assign, assignment]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        cls, fields = type(self), self._fields
        given = dict(zip(fields, args, strict=False)) if args else kwargs
        if args:
            if len(args) > len(fields) or given.keys() & kwargs.keys():
                raise TypeError(f"{cls.__name__} has the fields {', '.join(fields)}, each to be given once")
            given |= kwargs
        values = self.__dict__
        for name in fields:
            if name in given:
                values[name] = given[name]
            else:
                default = getattr(cls, name, _NOTHING)
                if default is _NOTHING:
                    raise TypeError(f"{cls.__name__} needs a value for {name}")
                values[name] = default.make() if type(default) is _Made else default
        if len(given) > len(fields) or not given.keys() <= values.keys():
            raise TypeError(f"{cls.__name__} has no field {', '.join(given.keys() - values.keys())}")

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """The names of the fields, in the order in which `__init__` takes them."""
        return cls._fields

    def replaced(self, **changes: Any) -> Self:
        """The same with other values in some fields."""
        return type(self)(**{**self.asdict(), **changes})

    def asdict(self) -> dict[str, Any]:
        """The fields by name; not a copy of what they hold."""
        return {name: getattr(self, name) for name in self._fields}

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.__dict__ == self.__dict__

    def __hash__(self) -> int:
        raise TypeError(f"{type(self).__name__} cannot be hashed")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.asdict().items())})"


class Slotted:
    """A value whose class names its fields in `__slots__` and has an `__init__` of its own; `==` and `repr` go by them.

    For values that are made by the thousand: `Fields` takes five times as long to make one. What a class names in
    `_aside` is not compared.
    """

    __slots__: ClassVar[tuple[str, ...]] = ()
    _aside: ClassVar[tuple[str, ...]] = ()

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._compared() == other._compared()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={getattr(self, name)!r}' for name in self.__slots__)})"

    def _compared(self) -> list[object]:
        return [getattr(self, name) for name in self.__slots__ if name not in self._aside]


_NOTHING = object()


def _refuse(self: Fields, name: str, value: object) -> None:
    raise AttributeError(f"{type(self).__name__} cannot be changed")
