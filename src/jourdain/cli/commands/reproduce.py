"""`jourdain reproduce`: four papers, recomputed."""

from __future__ import annotations

from collections.abc import Mapping
from json import dumps
from pathlib import Path
from typing import Annotated

import typer

from jourdain.cli.arguments import pairs, setting
from jourdain.errors import BadArgument


def reproduce(
    out: Annotated[str, typer.Option(help="The folder to write to; it is made if it is not there.")] = "papers",
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", help="MODEL.PARAMETER=VALUE, as in walker.m_H=10.1; several times."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON where the page is and what it says.")] = False,
) -> None:
    """Recompute the four papers: their tables and computed figures, ours beside theirs, on one page."""
    from jourdain.studies.papers.report import main

    given: dict[str, dict[str, str]] = {}
    for name, text in pairs("--set", "MODEL.PARAMETER=VALUE", settings or []).items():
        model, dot, parameter = name.partition(".")
        if not dot:
            raise BadArgument(f"--set takes MODEL.PARAMETER=VALUE, as in walker.m_H=10.1, not '{name}={text}'.")
        given.setdefault(model, {})[parameter] = text
    if not out.strip():
        raise BadArgument("--out needs the name of a folder.")
    said = main(Path(out), settings_of(given))
    typer.echo(dumps({"page": said.partition(": ")[0], "text": said}, ensure_ascii=False) if as_json else said)


def settings_of(words: Mapping[str, Mapping[str, str]]) -> dict[str, dict[str, float]]:
    """Parameters in SI by model, from their texts by model; only those that the papers do not vary can be set."""
    from jourdain.studies.papers.report import check_settings, free_parameters

    settings = {}
    for model, given in words.items():
        units = free_parameters(model, given)
        settings[model] = {name: setting(name, text, units[name]) for name, text in given.items()}
        check_settings(model, settings[model])
    return settings
