"""Names: how things are called, and mappings that answer to a name or to the thing itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from jourdain.errors import NameClash, unknown
from jourdain.output.printable import prints

T = TypeVar("T")


@dataclass(frozen=True)
class Origin:
    """Where a model comes from, so that a report can say it."""

    name: str  # what it is called, as in "walker"
    call: str  # the Python that makes it, as in "jd.gallery.walker(rear_foot='one-sided')"
    about: str  # what it is, in a sentence


def name_of(thing: Any) -> str:
    """The name of a thing: itself if it is a string, else its `name`, else its text without `(t)`.

    >>> name_of("blade")
    'blade'
    >>> from sympy.physics.mechanics import dynamicsymbols
    >>> name_of(dynamicsymbols("theta")), name_of(dynamicsymbols("theta").diff())
    ('theta', 'theta')
    """
    if isinstance(thing, str):
        return thing
    name = getattr(thing, "name", None)
    if isinstance(name, str):
        return name
    if type(thing).__name__ == "Derivative":  # the rate of a coordinate carries the coordinate's name
        return name_of(thing.expr)
    return str(thing).removesuffix("(t)")


def refuse_clash(named: Iterable[tuple[str, str]]) -> None:
    """Raise NameClash if a name stands for two things; takes (name, what it is) pairs."""
    seen: dict[str, str] = {}
    for name, what in named:
        if seen.get(name) == what:
            raise NameClash(f"There are two things called '{name}', {_a(what)} each; rename one of them.")
        if name in seen:
            raise NameClash(f"'{name}' is the name of {_a(seen[name])} and of {_a(what)}; rename one of them.")
        seen[name] = what


def _a(noun: str) -> str:
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


class Lazy(Mapping[str, T], Generic[T]):
    """Values by name, each made when it is first asked for."""

    def __init__(self, makers: Mapping[str, Callable[[], T]]) -> None:
        self._makers = makers
        self._made: dict[str, T] = {}

    def __getitem__(self, name: str) -> T:
        if name not in self._made:
            self._made[name] = self._makers[name]()
        return self._made[name]

    def __contains__(self, name: object) -> bool:
        return name in self._makers

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)


class Named(Mapping[str, T], Generic[T]):
    """Values by name, in order. Aliases are found but not listed; things with a name may serve as keys."""

    def __init__(self, what: str, values: Mapping[str, T], aliases: Mapping[str, T] | None = None) -> None:
        self._what = what
        self._values = dict(values)
        self._aliases = dict(aliases or {})

    def __getitem__(self, key: Any) -> T:
        name = name_of(key)
        if name in self._values:
            return self._values[name]
        if name in self._aliases:
            return self._aliases[name]
        raise unknown(self._what, name, [*self._values, *self._aliases])

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    @prints
    def __repr__(self) -> str:
        return f"{{{', '.join(f'{name!r}: {value}' for name, value in self._values.items())}}}"
