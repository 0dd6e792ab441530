"""The commands `jourdain log` and `jourdain testbed`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from jourdain.arguments import pairs
from jourdain.errors import BadArgument
from jourdain.files import refuse, write
from jourdain.pictures import refuse_picture, save_picture


def log(
    files: Annotated[list[Path], typer.Argument(help="Logs, .csv or .parquet; several are repeats of one experiment.")],
    model: Annotated[str, typer.Option(help="A name from `jourdain list`, or FILE.py:NAME of a Scenario of your own.")],
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="PARAMETER=VALUE of the model, several times; angles in degrees.")
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option("--column", help="NAME=HEADER: what a column is called in the file, as in q1=EncoderA."),
    ] = None,
    units: Annotated[
        list[str] | None, typer.Option("--unit", help="NAME=UNIT of a column, as in q1=deg, wall=mN, wall=-N.")
    ] = None,
    normal: Annotated[str | None, typer.Option(help="The row that closes; by itself the first that is struck.")] = None,
    number: Annotated[int | None, typer.Option("--strike", help="Which contact of the log, from 1.")] = None,
    onset: Annotated[float | None, typer.Option(help="Of the contact, s; found if not given.")] = None,
    end: Annotated[float | None, typer.Option(help="Of compression, s; found if not given.")] = None,
    window: Annotated[
        float | None, typer.Option(help="s of samples beside the strike that tell velocities; by itself the best.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Write T, T_c, T_a over time (of several logs: each strike) to .nc, .csv, .parquet, .json."),
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw energies and forces over time (.png, .svg, .pdf).")] = None,
) -> None:
    """Measured logs to mechanics: velocities, T_c, T_a, impulses of a strike, beside what the model predicts."""
    from jourdain.experiment.command import logged

    if out is not None:
        refuse(out)
        _refuse_source("--out", out, files)
    if plot is not None:
        refuse_picture(plot)
        _refuse_source("--plot", plot, files)
    found = logged(
        files,
        model,
        pairs("--set", "PARAMETER=VALUE", settings or []),
        pairs("--column", "NAME=HEADER", columns or []),
        pairs("--unit", "NAME=UNIT", units or []),
        normal,
        number,
        onset,
        end,
        window,
    )
    for text in found.warned:
        typer.echo(f"warning: {text}", err=True)
    picture = found.picture(model.replace("_", " ")) if plot is not None else None
    typer.echo(found.told)
    if out is not None:
        write(found.dataset(), out)
        typer.echo(f"\nwrote {out}")
    save_picture(picture, plot)


def _refuse_source(option: str, path: Path, files: list[Path]) -> None:
    """A log is never written over."""
    if any(path.resolve() == file.resolve() for file in files):
        raise BadArgument(f"{option} {path} is the log itself; choose another name.")


def record(
    name: Annotated[
        str, typer.Argument(help="A name from `jourdain list`, or FILE.py:NAME of a Scenario of your own.")
    ],
    out: Annotated[Path, typer.Option(help="The log to write (.csv, .parquet, .nc, .json).")],
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="PARAMETER=VALUE of the model; push=N, lead=S, after=S; surface.stiffness=…, surface.friction=…, "
            "sensors.rate=…, sensors.force_noise=…; several times.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the noise.")] = 0,
) -> None:
    """Strike a compliant, rough surface on a virtual testbed, and write what encoders and a force sensor see."""
    from jourdain.experiment.command import recorded

    refuse(out)
    made, told = recorded(name, pairs("--set", "PARAMETER=VALUE", settings or []), seed)
    made.write(out)
    typer.echo(f"{told}\n\nwrote {out}")
