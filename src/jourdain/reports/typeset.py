"""How words and symbols look on a page."""

from __future__ import annotations

import re
import unicodedata

from markupsafe import Markup, escape

from jourdain.plots.style import symbol_of

_INDEX = re.compile(r"(?<=[\w)\u0304])_([A-Za-z0-9]+)")  # after a letter, with or without a bar, or a bracket
_SYMBOL = re.compile(r"(?<!\w)(T|λ̄)_([actrn])(?![A-Za-z0-9_])")  # of quantities
_POWER = re.compile(r"(?<=[a-z])\^([23])")  # of a unit
_RAISED = {"2": "²", "3": "³"}
_COMMAND = re.compile(r"\\([A-Za-z]+)")
_SCRIPT = re.compile(r"([_^])(?:\{([^{}]*)\}|(.))")
_TAGS = {"_": "sub", "^": "sup"}


def words(text: str) -> Markup:
    """Text with its indices lowered.

    >>> str(words("T_c⁻ < T_a⁺, λ̄_n"))
    'T<sub>c</sub>⁻ &lt; T<sub>a</sub>⁺, λ̄<sub>n</sub>'
    """
    return Markup(_INDEX.sub(r"<sub>\1</sub>", str(escape(text))))


def cell(text: str) -> Markup:
    """What stands in a cell of a table: indices of our symbols, raised powers of units, indents that stay.

    Names of users keep their underscores. `Markup` stays as it is.

    >>> str(cell("2 kg m^2")), str(cell("  of T_c < 1")), str(cell("heel_x"))
    ('2 kg m²', '\u2003of T<sub>c</sub> &lt; 1', 'heel_x')
    """
    if isinstance(text, Markup):
        return text
    bare = text.lstrip(" ")
    raised = _POWER.sub(lambda found: _RAISED[found[1]], bare)
    return Markup("\u2003" * ((len(text) - len(bare)) // 2) + _SYMBOL.sub(r"\1<sub>\2</sub>", str(escape(raised))))


def symbol(name: str) -> Markup:
    """A parameter's or coordinate's name as formulas write it; words stay words.

    >>> str(symbol("rho")), str(symbol("m_W")), str(symbol("v_S_minus")), str(symbol("foot_x"))
    ('<i>ρ</i>', '<i>m</i><sub>W</sub>', '<i>v</i><sub>S</sub><sup>−</sup>', 'foot x')
    """
    said = symbol_of(name)
    if said == name.replace("_", " "):
        return escape(said)
    plain = _COMMAND.sub(_letter, re.sub(r"\\mathrm\{([^{}]*)\}", r"\1", said.strip("$")))
    letter, scripts = plain[0], plain[1:].replace("-", "−")
    return Markup("<i>{}</i>").format(letter) + Markup(_SCRIPT.sub(_script, str(escape(scripts))))


def _letter(command: re.Match[str]) -> str:
    """The Greek letter that a command of LaTeX names."""
    kind = "CAPITAL" if command[1][0].isupper() else "SMALL"
    return unicodedata.lookup(
        f"GREEK {kind} LETTER {'LAMDA' if command[1].lower() == 'lambda' else command[1].upper()}"
    )


def _script(found: re.Match[str]) -> str:
    tag = _TAGS[found[1]]
    return f"<{tag}>{found[2] or found[3]}</{tag}>"
