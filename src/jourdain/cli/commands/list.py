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
        build = getattr(gallery, name)
        hints = get_type_hints(build)
        choices = [_choice(key, parameter.default, hints[key])
                   for key, parameter in inspect.signature(build).parameters.items()]  # fmt: skip
        try:
            model = build()
            units = units_of(model)
            numbers = [assignment(key, value, units.get(key, "")) for key, value in model.parameters.items()]
        except MissingExtra as error:
            numbers = [escape(str(error))]
        table.add_row(name, (build.__doc__ or "").partition("\n")[0], "  ".join([*choices, *numbers]))
    Console().print(table)


def _choice(key: str, default: Any, kind: Any) -> str:
    """A keyword that changes how a problem is built, and what it may be; first what it is if not given."""
    others = [value for value in get_args(kind) if value != default and isinstance(value, str | int | float)]
    values = list(LAWS) if takes_law(kind) else [default, *others]
    return f"{key}={'|'.join(map(str, values))}"
