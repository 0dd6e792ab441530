"""`jourdain bench`: the library beside its peers, in one run."""

from __future__ import annotations

from json import dumps
from pathlib import Path
from typing import Annotated

import typer

from jourdain.data.files import check_place, whole_file


def bench(
    json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
    out: Annotated[Path | None, typer.Option(help="Also write them to this file as Markdown.")] = None,
    only: Annotated[
        str | None, typer.Option(help="One row, by its name or how that begins, with those it is compared with.")
    ] = None,
) -> None:
    """Time heel strikes, contacts and motion against NumPy, CasADi, Pinocchio and SciPy, in one run; some minutes."""
    from rich.console import Console
    from rich.table import Table

    from jourdain.studies.benchmarks.report import markdown, tables
    from jourdain.studies.benchmarks.run import bench as run_bench

    if out is not None:
        check_place(out)
    report = run_bench(only=only)
    if out is not None:
        with whole_file(out) as part:
            part.write_text(markdown(report), encoding="utf-8", newline="\n")
    if json:
        typer.echo(dumps(report.to_dict(), indent=2))
    else:
        console = Console()
        console.print(
            "  ".join(f"{what}: {value}" for what, value in report.machine.items()), *report.missing, sep="\n"
        )
        for header, rows in tables(report):
            table = Table(*header, box=None, pad_edge=False, title_justify="left")
            for row in rows:
                table.add_row(*row)
            console.print(table, "", sep="\n")
