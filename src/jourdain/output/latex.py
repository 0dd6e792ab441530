"""Tables in LaTeX with the rules of the package booktabs: names, numbers and units typeset."""

from __future__ import annotations

import re
from collections.abc import Sequence

from jourdain.output.tables import Table

_SPECIAL = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
_SPECIAL |= {character: f"\\{character}" for character in "&%$#_{}"}
_WORDS = {"−": "$-$", "…": r"\dots{}", "→": r"$\to$", "°": r"$^\circ$", "κ": r"$\kappa$", "μ": r"$\mu$"}
_LOWER = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon phi chi psi"
_GREEK = frozenset(f"{_LOWER} omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega".split(" "))
_SYMBOL = re.compile(r"(?<!\w)(T|ξ|λ̄|u|v)(_\w)?([⁻⁺])?(?!\w)")
_LETTERS = {"ξ": r"\xi", "λ̄": r"\bar\lambda"}
_SIGNS = {"⁻": "^-", "⁺": "^+"}


def tabular(table: Table) -> str:
    r"""One table: the first column to the left, the others to the right. Cells are LaTeX already.

    >>> print(tabular((["velocity", "after"], [["$x$", "$1$"]])))
    \begin{tabular}{lr}
    \toprule
    velocity & after \\
    \midrule
    $x$ & $1$ \\
    \bottomrule
    \end{tabular}
    """
    header, rows = table
    lines = [_line(header), r"\midrule"] if header else []
    columns = "l" + "r" * (len(header or rows[0]) - 1)
    return "\n".join(
        [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", *lines, *map(_line, rows), r"\bottomrule", r"\end{tabular}"]
    )


def _line(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


def prose(text: str) -> str:
    r"""Words with what LaTeX would read as commands escaped, and the symbols of the tables typeset.

    >>> prose("lost, T⁻ − T⁺"), prose("work of left_foot")
    ('lost, $T^-$ $-$ $T^+$', 'work of left\\_foot')
    """
    parts, end = [], 0
    for found in _SYMBOL.finditer(text):
        letter, index, sign = found.groups()
        mathematics = f"${_LETTERS.get(letter, letter)}{index or ''}{_SIGNS.get(sign, '')}$"
        parts += [escaped(text[end : found.start()]), mathematics]
        end = found.end()
    return "".join([*parts, escaped(text[end:])])


def escaped(text: str) -> str:
    """Text with what LaTeX would read as commands escaped."""
    return "".join(_SPECIAL.get(character, _WORDS.get(character, character)) for character in text)


def number(text: str) -> str:
    r"""A number that is a text already, with powers of ten; a range of two numbers; "" stays empty.

    >>> number("−1.5e-07"), number("0 … 2"), number("nan")
    ('$-1.5 \\times 10^{-7}$', '$0 \\ldots 2$', '--')
    """
    if not text or text == "nan":
        return "--" if text else ""
    plain = text.replace("−", "-").replace("…", r"\ldots").replace("inf", r"\infty")
    return "$" + re.sub(r"e([+-])0*(\d+)", lambda e: rf" \times 10^{{{e[1].replace('+', '')}{e[2]}}}", plain) + "$"


def symbol(name: str, dotted: bool = False) -> str:
    r"""A name as mathematics: letters and indices, words upright; with other characters as text. `dotted`: its rate.

    >>> symbol("theta"), symbol("v_C"), symbol("heel.normal"), symbol("foot_x", dotted=True)
    ('\\theta', 'v_{C}', '\\text{heel.normal}', '\\dot{\\mathrm{foot}}_{x}')
    """
    if not name.isidentifier():
        return rf"\text{{{escaped(name)}}}"
    stem, *indices = filter(None, name.split("_"))
    letter = _letter(stem)
    if dotted:
        letter = rf"\dot{{{letter}}}"
    return letter + (f"_{{{','.join(map(_letter, indices))}}}" if indices else "")


def _letter(word: str) -> str:
    """One letter, with digits behind it, or a Greek one, as mathematics; other words upright."""
    stem = word.rstrip("0123456789")
    digits = word[len(stem) :]
    letter = f"\\{stem}" if stem in _GREEK else stem if len(stem) == 1 else rf"\mathrm{{{stem}}}" if stem else ""
    return f"{letter}_{digits}" if digits and stem else letter + digits


def unit(text: str) -> str:
    r"""A unit, upright.

    >>> unit("kg m^2"), unit("rad/s"), unit("°/s")
    ('\\mathrm{kg\\,m^2}', '\\mathrm{rad/s}', '{^\\circ}\\mathrm{/s}')
    """
    if text.startswith("°"):
        return r"{^\circ}" + (rf"\mathrm{{{_spaced(text[1:])}}}" if len(text) > 1 else "")
    return rf"\mathrm{{{_spaced(text)}}}"


def _spaced(text: str) -> str:
    return text.replace(" ", r"\,").replace("%", r"\%")


def named(mathematics: str, unit_text: str) -> str:
    r"""A symbol with its unit in brackets, if it has one.

    >>> named("T^-", "J"), named(r"\\xi", "")
    ('$T^-$ ($\\mathrm{J}$)', '$\\\\xi$')
    """
    return f"${mathematics}$" + bracketed(unit_text)


def bracketed(unit_text: str) -> str:
    """A unit in brackets; nothing where there is none."""
    return f" (${unit(unit_text)}$)" if unit_text not in ("", "1") else ""
