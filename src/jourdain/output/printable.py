"""Texts for outputs that have no λ or −, as cp1252 of Windows or ASCII: they say it in letters that are there."""

from __future__ import annotations

import codecs
import functools
import sys
import unicodedata
from collections.abc import Callable
from typing import Any

FALLBACK = "jourdain-ascii"  # the name of the handler of encoding errors
_WORDS = {
    "−": "-", "⁻": "-", "⁺": "+", "₊": "+", "–": "-", "—": "-", "…": "...", "→": "->", "←": "<-", "ᵀ": "^T",
    "°": " deg", "²": "^2", "¹": "^1", "³": "^3", "±": "+-", "∓": "-+", "×": "x", "·": "*", "≤": "<=", "≥": ">=",
    "≠": "!=", "√": "sqrt", "∂": "d", "∞": "inf", "‖": "||", "½": "1/2", "λ": "lambda", "Λ": "Lambda",
}  # fmt: skip


def ascii_text(text: str) -> str:
    """The text in ASCII: signs and Greek letters as words, letters without their accents, `?` for what is left.

    >>> ascii_text("T_c⁻ = −3 J, κ ≤ 1, Kövecses")
    'T_c- = -3 J, kappa <= 1, Kovecses'
    """
    return "".join(letter if letter.isascii() else _WORDS.get(letter) or _letters(letter) for letter in text)


def _letters(letter: str) -> str:
    name = unicodedata.name(letter, "").split()
    if name[:1] == ["GREEK"] and "LETTER" in name:
        word = name[name.index("LETTER") + 1].lower()
        return word.capitalize() if "CAPITAL" in name else word
    parts = unicodedata.normalize("NFKD", letter)
    return "" if unicodedata.combining(letter) else parts.encode("ascii", "ignore").decode() or "?"


def _replaced(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    return ascii_text(error.object[error.start : error.end]), error.end


codecs.register_error(FALLBACK, _replaced)


def printable(text: str) -> str:
    """The text as the standard output can show it."""
    encoding = getattr(sys.stdout, "encoding", None)
    if text.isascii() or not isinstance(encoding, str):
        return text
    try:
        return text.encode(encoding, FALLBACK).decode(encoding)
    except (LookupError, UnicodeError):  # an encoding of somebody's own
        return text


def prints(method: Callable[[Any], str]) -> Callable[[Any], str]:
    """A decorator of `__str__` and `__repr__`: the text can be printed, whatever the standard output is."""

    @functools.wraps(method)
    def shown(self: Any) -> str:
        return printable(method(self))

    return shown
