"""What is wrong or doubtful about a log, and what helps: data that each place words in its own way."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from jourdain.output.printable import prints


@dataclass(frozen=True)
class Keyword:
    """A keyword that helps, with its value if that is known: one of `read`, or of `method`.

    >>> print(Keyword("units", {"q1": "deg"}, more=True), Keyword("columns", {"wall": ""}), Keyword("end"))
    units={'q1': 'deg', …} columns={'wall': …} end=
    >>> print(Keyword("number", 2, method="strike"))
    strike(number=2)
    """

    name: str
    value: Mapping[str, str] | int | None = None  # of columns and units: name → text, "" where it is not known
    more: bool = False  # others of its kind may be needed too
    method: str = ""

    @prints
    def __str__(self) -> str:
        value = "" if self.value is None else str(self.value)
        if isinstance(self.value, Mapping):
            pairs = [f"'{name}': '{text}'" if text else f"'{name}': …" for name, text in self.value.items()]
            value = f"{{{', '.join([*pairs, *['…'] * self.more])}}}"
        return f"{self.method}({self.name}={value})" if self.method else f"{self.name}={value}"


class Notice(str):
    """What is the matter, and a remedy of texts and keywords. As a text it is in the words of Python.

    >>> notice = Notice("The log has 2 contacts.", Keyword("number", 2), " takes the second.")
    >>> print(notice)
    The log has 2 contacts. number=2 takes the second.
    >>> notice.worded(lambda keyword: f"--{keyword.name} {keyword.value}")
    'The log has 2 contacts. --number 2 takes the second.'
    """

    what: str
    remedy: tuple[str | Keyword, ...]

    def __new__(cls, what: str, *remedy: str | Keyword) -> Notice:
        notice = super().__new__(cls, f"{what} {''.join(map(str, remedy))}")
        notice.what, notice.remedy = what, remedy
        return notice

    def worded(self, word: Callable[[Keyword], str]) -> str:
        """The text with each keyword in other words."""
        return f"{self.what} {''.join(word(part) if isinstance(part, Keyword) else part for part in self.remedy)}"
