"""Units of the columns of a log: words → factor to SI, and what a column may carry."""

from __future__ import annotations

import math
import re

from jourdain.errors import BadLog, listing

_DEGREE = math.pi / 180
_TIME = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9, "min": 60.0}
_ANGLE = {"rad": 1.0, "mrad": 1e-3, "deg": _DEGREE, "degree": _DEGREE, "degrees": _DEGREE, "°": _DEGREE,
          "rev": 2 * math.pi, "turn": 2 * math.pi}  # fmt: skip
_LENGTH = {"m": 1.0, "cm": 1e-2, "mm": 1e-3, "um": 1e-6, "µm": 1e-6}
_FORCE = {"N": 1.0, "mN": 1e-3, "kN": 1e3, "uN": 1e-6, "µN": 1e-6}
_MOMENT = {f"{force} {length}": f * x for force, f in _FORCE.items() for length, x in _LENGTH.items()}


def _rates(several: dict[str, float]) -> dict[str, float]:
    return {f"{word}/{time}": factor / per for word, factor in several.items() for time, per in _TIME.items()}


# SI unit → what else may be written for it, and its factor. Numbers without a unit stay as they are.
WORDS: dict[str, dict[str, float]] = {
    "s": _TIME,
    "rad": _ANGLE,
    "m": _LENGTH,
    "N": _FORCE,
    "N m": _MOMENT,
    "rad/s": {**_rates(_ANGLE), "rpm": 2 * math.pi / 60},
    "m/s": _rates(_LENGTH),
}
_ALL = {word: factor for several in WORDS.values() for word, factor in several.items()}
_HEADER = re.compile(r"\s*(?P<name>.*?)\s*(?:\[(?P<square>[^\]]*)\]|\((?P<round>[^)]*)\))?\s*", re.DOTALL)


def header(text: str) -> tuple[str, str]:
    """A column's header as (name, unit); "" where it has none.

    >>> header("q.q1 [deg]"), header("Fz (mN)"), header("t")
    (('q.q1', 'deg'), ('Fz', 'mN'), ('t', ''))
    """
    found = _HEADER.fullmatch(text)
    assert found is not None  # every text matches
    return found["name"], (found["square"] or found["round"] or "").strip()


def factor(column: str, unit: str, expected: str) -> float:
    """What numbers in `unit` are multiplied by to be SI. `expected`: the SI unit of the quantity, "" if not known.

    A minus before the unit turns the sign: "-N" for a sensor that counts compression as negative.
    """
    sign, word = (-1.0, unit[1:].strip()) if unit.startswith(("-", "−")) else (1.0, unit)
    word = word.replace("·", " ").replace("*", " ").strip()
    word = {"1": "", "Nm": "N m", "sec": "s", "seconds": "s", "radians": "rad"}.get(word, word)
    known = WORDS.get(expected, _ALL if not expected else {expected: 1.0})
    if not word:
        return sign
    if word not in known:
        raise BadLog(f"Column '{column}' is in '{unit}', but it must be in one of {listing(known)}; correct its unit.")
    return sign * known[word]


def word(expected: str, times: float) -> str:
    """The unit with this factor to SI, "" where there is none.

    >>> word("N", -1.0), word("rad", 0.017453292519943295), word("s", 1e-3)
    ('-N', 'deg', 'ms')
    """
    sign = "-" if times < 0 else ""
    near = [one for one, known in WORDS.get(expected, {}).items() if abs(abs(times) / known - 1) < 1e-9]
    return f"{sign}{near[0]}" if near else ""


def si(unit: str) -> str:
    """The SI unit of what a unit measures.

    >>> si("mN"), si("-N"), si("deg")
    ('N', 'N', 'rad')
    """
    return next(expected for expected, words in WORDS.items() if unit.removeprefix("-") in words)
