"""The numbers that the papers print, read as text: a printed digit is information."""

from __future__ import annotations

import csv
from decimal import Decimal
from importlib.resources import files


def rows(name: str) -> list[dict[str, str]]:
    """The lines of a printed table, by the headers of its columns."""
    text = files(__name__).joinpath(f"{name}.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def column(name: str, header: str) -> tuple[str, ...]:
    """What a printed table has in one column."""
    return tuple(line[header] for line in rows(name))


def said(name: str) -> str:
    """A number that stands in the text."""
    return next(line["value"] for line in rows("said") if line["name"] == name)


def last_digit(text: str) -> float:
    """One unit in the last digit of a printed number.

    >>> last_digit("0.1974"), last_digit("10"), last_digit("-7.58")
    (0.0001, 1.0, 0.01)
    """
    exponent = Decimal(text).as_tuple().exponent
    return float(Decimal(1).scaleb(int(exponent)))
