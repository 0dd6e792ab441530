"""`jourdain testbed`: a strike on a virtual testbed, written as a log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jourdain.cli.arguments import pairs, setting
from jourdain.cli.problems import model_of
from jourdain.data.files import refuse
from jourdain.errors import BadArgument, unknown

if TYPE_CHECKING:
    from jourdain.experiment import Recording

RUN = ("push", "lead", "after")  # words of a testbed besides those of its surface and sensors
RUN_UNITS = {"push": "N", "lead": "s", "after": "s"}


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
    refuse(out)
    made, told = recorded(name, pairs("--set", "PARAMETER=VALUE", settings or []), seed)
    made.write(out)
    typer.echo(f"{told}\n\nwrote {out}")


def recorded(model: str, settings: Mapping[str, str], seed: int) -> tuple[Recording, str]:
    """A strike of a model on the testbed, recorded; and what to print."""
    from jourdain.experiment import Sensors, Surface, Testbed
    from jourdain.scenarios.scenario import Scenario

    own: dict[str, dict[str, Any]] = {"surface": {}, "sensors": {}, "run": {}}
    left = {}
    known = {"surface": [f.name for f in fields(Surface)],
             "sensors": [f.name for f in fields(Sensors) if f.name != "rates"]}  # fmt: skip
    for name, text in settings.items():
        part, dot, word = name.partition(".")
        if dot and part in known:
            if word not in known[part]:
                raise unknown(f"number of the {part}", word, known[part])
            own[part][word] = setting(name, text, "")
        elif name in RUN:
            own["run"][name] = setting(name, text, RUN_UNITS[name])
        else:
            left[name] = text
    made, values = model_of(model, left)
    if not isinstance(made, Scenario):
        raise BadArgument(f"'{model}' is an event without a state; a testbed needs a Scenario, which has one.")
    push = own["run"].pop("push", 0.0)
    run = Testbed(made, Surface(**own["surface"]), push).run(**own["run"], **values)
    record = run.record(Sensors(**own["sensors"]), seed)
    told = [
        f"onset {record.onset:.6g} s, end of compression {record.end:.6g} s, {len(record.t)} samples",
        f"T_c⁻ = {run.T_c_minus:.6g} J, T_a⁻ = {run.T_a_minus:.6g} J, T_a⁺ = {run.T_a_plus:.6g} J, ξ = {run.xi:.4g}",
        *(f"impulse along {row}: {value:.6g} {run.rig.impulse_unit(row)}" for row, value in run.impulse.items()),
    ]
    return record, "\n".join(told).replace("-", "−")
