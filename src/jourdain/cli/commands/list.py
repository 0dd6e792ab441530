"""`jourdain list`: the problems of the gallery or of a file, or one of them with all that it takes and tells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from inspect import cleandoc
from textwrap import wrap
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jourdain.cli import own_file
from jourdain.cli.arguments import Keyword, assignment
from jourdain.cli.problems import found, problem, units_of
from jourdain.errors import BadArgument, Error
from jourdain.quantities import QUANTITIES

if TYPE_CHECKING:
    from jourdain.data.layout import Layout

Which = Annotated[
    str | None, typer.Argument(metavar="[NAME | FILE.py]", help="A problem of the gallery or FILE.py:NAME; or a file.")
]


def list_problems(name: Which = None) -> None:
    """The problems of the gallery or of a file, with their parameters; of one problem, also its quantities."""
    parts = None if name is None else own_file.split(name)
    if name is None:
        from jourdain import gallery

        _table({one: one for one in gallery.__all__})
    elif parts and not parts[1]:
        models = list(own_file.models(own_file.imported(parts[0])))
        if not models:
            raise BadArgument(
                f"No problem is found in '{name}': {own_file.MODELS}, or a function that says it returns one, as in "
                "`def rod() -> jd.Scenario:`."
            )
        _table({f"{name}:{one}": one for one in models})
    else:
        _one(name)


def _table(names: Mapping[str, str]) -> None:
    """A line each. `names`: of problems, and how they are called in the first column."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table("name", "problem", "parameters", box=None, pad_edge=False)
    for name, shown in names.items():
        model, keywords = found(name)
        words = [*map(str, keywords.values()), *_numbers(name, keywords)]
        table.add_row(Text(shown), Text(_doc(model).partition("\n")[0]), Text("  ".join(words)))
    Console().print(table)


def _doc(model: Any) -> str:
    """What is said of a function; of a model nothing is, but of its class."""
    return "" if own_file.is_model(model) else cleandoc(model.__doc__ or "")


def _numbers(name: str, keywords: Mapping[str, Keyword]) -> list[str]:
    """The parameters as they can be typed, with their defaults; or why there are none."""
    if any(keyword.needed for keyword in keywords.values()):
        return []
    try:
        model = problem(name, {}).model
    except Error as error:
        return [str(error)]
    units = units_of(model)
    return [assignment(key, value, units.get(key, "")) for key, value in model.parameters.items()]


def _one(name: str) -> None:
    """One problem: what it is, what --set takes, which quantities its answers have."""
    from jourdain.motion.hybrid import Hybrid

    model, keywords = found(name)
    lines = [name, "", *([_doc(model), ""] if _doc(model) else [])]
    if keywords:
        lines += ["Choices, of --set:", *(f"  {keyword}" for keyword in keywords.values()), ""]
    numbers = _numbers(name, keywords)
    if numbers:
        lines += ["Parameters, of --set and --sweep:", *_filled(numbers), ""]
    if not any(keyword.needed for keyword in keywords.values()):
        built = problem(name, {}).model
        if isinstance(built, Hybrid):
            lines += ["Topologies, and what switches between them:"]
            for one in built.switches:
                lines.append(f"  {one.source} → {one.target or 'the end'}{f': {one.name}' if one.name else ''}")
        else:
            lines += ["Quantities, of --show, --keep, --gradient and --minimize:", *_quantities(built.event.layout)]
    typer.echo("\n".join(lines).rstrip())


def _quantities(layout: Layout) -> list[str]:
    """The addresses of an event, of one kind per line, with their units."""
    scalars = [f"{one.name} [{one.unit}]" if one.unit else one.name for one in QUANTITIES.values() if not one.along]
    lines = _filled([one for one in scalars if one != "status"])
    for one in QUANTITIES.values():
        labels = layout.along(one.along) if one.along else ()
        if labels:
            lines += _filled([f"{one.name}.{label}" for label in labels])
    return lines


def _filled(words: Sequence[str]) -> list[str]:
    """Words in lines of a page's width."""
    joined = "   ".join(word.replace(" ", "\0") for word in words)  # a word and its unit stay together
    lines = wrap(joined, 100, initial_indent="  ", subsequent_indent="  ", break_long_words=False)
    return [line.replace("\0", " ") for line in lines]
