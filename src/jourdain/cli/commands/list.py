"""`jourdain list`: the problems of the gallery or of a file, or one of them with all that it takes and tells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from inspect import cleandoc
from json import dumps
from textwrap import wrap
from typing import Annotated, Any

import typer

from jourdain.cli import own_file
from jourdain.cli.arguments import Keyword, assignment
from jourdain.cli.problems import found, problem, units_of
from jourdain.data.layout import Layout
from jourdain.errors import BadArgument, Error
from jourdain.quantities import QUANTITIES

WIDTH = 100
Which = Annotated[
    str | None, typer.Argument(metavar="[NAME | FILE.py]", help="A problem of the gallery or FILE.py:NAME; or a file.")
]
Json = Annotated[bool, typer.Option("--json", help="Print the list as JSON, and nothing else.")]


def list_problems(name: Which = None, as_json: Json = False) -> None:
    """The problems of the gallery or of a file, with their parameters; of one problem, also its quantities."""
    parts = None if name is None else own_file.split(name)
    if name is not None and not (parts and not parts[1]):
        one = _listed(name, name)
        typer.echo(_as_json({**one.about, "quantities": one.quantities}) if as_json else _page(one))
        return
    names = _of_gallery() if parts is None else _of_file(parts[0])
    problems = [_listed(full, short) for full, short in names.items()]
    if as_json:
        typer.echo(_as_json([one.about for one in problems]))
    else:
        _print_table(problems)


@dataclass(frozen=True)
class _Listed:
    """A problem and what is known of it."""

    name: str
    doc: str
    keywords: Mapping[str, Keyword]
    model: Any  # None where it cannot be built as it stands
    refusal: str  # why

    @property
    def numbers(self) -> list[str]:
        """The parameters as they can be typed, with their defaults."""
        units = {} if self.model is None else units_of(self.model)
        parameters = {} if self.model is None else self.model.parameters
        return [assignment(key, value, units.get(key, "")) for key, value in parameters.items()]

    @property
    def about(self) -> dict[str, Any]:
        """For JSON: parameters in SI."""
        units = {} if self.model is None else units_of(self.model)
        parameters = {} if self.model is None else self.model.parameters
        found: dict[str, Any] = {"name": self.name, "about": self.doc}
        found["choices"] = {key: [str(one) for one in keyword.values] for key, keyword in self.keywords.items()}
        found["parameters"] = {
            key: {"default": value, "unit": units.get(key, "")} for key, value in parameters.items()
        }  # fmt: skip
        return found | ({"refused": self.refusal} if self.refusal else {})

    @property
    def quantities(self) -> list[str]:
        """The addresses of what an event tells; empty for what moves."""
        layout: Layout | None = self.model.event.layout if hasattr(self.model, "event") else None
        if layout is None:
            return []
        single = [one.name for one in QUANTITIES.values() if not one.along and one.name != "status"]
        several = [
            f"{one.name}.{label}" for one in QUANTITIES.values() if one.along for label in layout.along(one.along)
        ]
        return single + several


def _of_gallery() -> dict[str, str]:
    from jourdain import gallery

    return {name: name for name in gallery.__all__}


def _of_file(path: str) -> dict[str, str]:
    """Full name and name within the file."""
    models = list(own_file.models(own_file.imported(path)))
    if not models:
        raise BadArgument(
            f"No problem is found in '{path}': {own_file.MODELS}, or a function that says it returns one, as in "
            "`def rod() -> jd.Scenario:`."
        )
    return {f"{path}:{name}": name for name in models}


def _listed(name: str, shown: str) -> _Listed:
    model, keywords = found(name)
    doc = "" if own_file.is_model(model) else cleandoc(model.__doc__ or "")
    needed = [key for key, keyword in keywords.items() if keyword.needed]
    if needed:
        return _Listed(shown, doc, keywords, None, f"needs {', '.join(needed)}")
    try:
        return _Listed(shown, doc, keywords, problem(name, {}).model, "")
    except Error as error:
        return _Listed(shown, doc, keywords, None, str(error))


def _as_json(value: Any) -> str:
    return dumps(value, ensure_ascii=False, indent=1)


def _print_table(problems: Sequence[_Listed]) -> None:
    """A line each."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table("name", "problem", "parameters", box=None, pad_edge=False)
    for one in problems:
        words = "  ".join([*map(str, one.keywords.values()), *one.numbers, *([one.refusal] if one.refusal else [])])
        table.add_row(Text(one.name), Text(one.doc.partition("\n")[0]), Text(words))
    Console().print(table)


def _page(one: _Listed) -> str:
    """One problem: what it is, what --set takes, which quantities its answers have."""
    lines = [one.name, "", *([one.doc, ""] if one.doc else []), *([one.refusal, ""] if one.refusal else [])]
    if one.keywords:
        lines += ["Choices, of --set:", *(f"  {keyword}" for keyword in one.keywords.values()), ""]
    if one.numbers:
        lines += ["Parameters, of --set and --sweep:", *_filled(one.numbers), ""]
    if one.quantities:
        lines += ["Quantities, of --show, --keep, --gradient and --minimize:"]
        kinds = dict.fromkeys(quantity.partition(".")[0] for quantity in one.quantities if "." in quantity)
        lines += _filled([quantity for quantity in one.quantities if "." not in quantity])
        for kind in kinds:
            lines += _filled([quantity for quantity in one.quantities if quantity.startswith(f"{kind}.")])
    elif one.model is not None:
        lines += ["Topologies, and what switches between them:"]
        for switch in one.model.switches:
            lines.append(f"  {switch.source} → {switch.target or 'the end'}{f': {switch.name}' if switch.name else ''}")
    return "\n".join(lines).rstrip()


def _filled(words: Sequence[str]) -> list[str]:
    """Words in lines of a page's width; a word and its unit stay together."""
    joined = "   ".join(word.replace(" ", "\0") for word in words)
    lines = wrap(joined, WIDTH, initial_indent="  ", subsequent_indent="  ", break_long_words=False)
    return [line.replace("\0", " ") for line in lines]
