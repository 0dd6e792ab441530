"""`jourdain list`: the problems of the gallery."""

from __future__ import annotations

import inspect
from typing import Any, get_args, get_type_hints

from jourdain.cli.arguments import LAWS, assignment, takes_law
from jourdain.cli.problems import units_of
from jourdain.errors import MissingExtra


def list_problems() -> None:
    """The problems of the gallery, with their parameters."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    from jourdain import gallery

    table = Table("name", "problem", "parameters", box=None, pad_edge=False)
    for name in gallery.__all__:
        problem = getattr(gallery, name)
        kinds = get_type_hints(problem)
        choices = [_choice(key, parameter.default, kinds[key])
                   for key, parameter in inspect.signature(problem).parameters.items()]  # fmt: skip
        try:
            made = problem()
            shown = [assignment(parameter, value, units_of(made)) for parameter, value in made.parameters.items()]
        except MissingExtra as error:
            shown = [escape(str(error))]
        table.add_row(name, (problem.__doc__ or "").partition("\n")[0], "  ".join([*choices, *shown]))
    Console().print(table)


def _choice(key: str, default: Any, kind: Any) -> str:
    """A keyword that changes how a problem is built, and what it may be; first what it is if not given."""
    others = [value for value in get_args(kind) if value != default and isinstance(value, str | int | float)]
    values = list(LAWS) if takes_law(kind) else [default, *others]
    return f"{key}={'|'.join(map(str, values))}"
