"""`jourdain testbed`: a strike on a virtual testbed, written as a log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any

import typer

from jourdain.cli.answers import Answer, check_files
from jourdain.cli.arguments import pairs, setting
from jourdain.cli.problems import problem
from jourdain.data.addresses import unit_of
from jourdain.data.numbers import significant
from jourdain.errors import BadArgument, unknown

RUN_UNITS = {"push": "N", "lead": "s", "after": "s"}  # settings besides those of surface, sensors and model


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
    as_json: Annotated[bool, typer.Option("--json", help="Print the numbers of the strike as JSON.")] = False,
) -> None:
    """Strike a compliant, rough surface on a virtual testbed, and write what encoders and a force sensor see."""
    check_files(out, None)
    recorded(name, pairs("--set", "PARAMETER=VALUE", settings or []), seed).deliver(out, None, as_json)


def recorded(name: str, settings: Mapping[str, str], seed: int) -> Answer:
    """A strike of a model on the testbed: its numbers, and what the sensors record of it."""
    from jourdain.experiment import Sensors, Surface, Testbed
    from jourdain.scenarios.scenario import Scenario

    known = {"surface": [f.name for f in fields(Surface)],
             "sensors": [f.name for f in fields(Sensors) if f.name != "rates"]}  # fmt: skip
    numbers: dict[str, dict[str, Any]] = {"surface": {}, "sensors": {}, "run": {}}
    of_model = {}
    for key, text in settings.items():
        part, dot, word = key.partition(".")
        if dot and part in known:
            if word not in known[part]:
                raise unknown(f"number of the {part}", word, known[part])
            numbers[part][word] = setting(key, text, "")
        elif key in RUN_UNITS:
            numbers["run"][key] = setting(key, text, RUN_UNITS[key])
        else:
            of_model[key] = text
    chosen = problem(name, of_model, one_event=True)
    if not isinstance(chosen.model, Scenario):
        raise BadArgument(f"'{name}' is an event without a state; a testbed needs a Scenario, which has one.")
    push = numbers["run"].pop("push", 0.0)
    run = Testbed(chosen.model, Surface(**numbers["surface"]), push).run(**numbers["run"], **chosen.values)
    recording = run.record(Sensors(**numbers["sensors"]), seed)
    onset, end = significant(recording.onset), significant(recording.end)
    energies = {"T_c⁻": run.T_c_minus, "T_a⁻": run.T_a_minus, "T_a⁺": run.T_a_plus}
    lines = [
        f"onset {onset} s, end of compression {end} s, {len(recording.t)} samples",
        ", ".join(f"{part} = {significant(value)} J" for part, value in energies.items())
        + f", ξ = {significant(run.xi, 4)}",
        *(f"impulse along {row}: {significant(value)} {unit_of(run.rig.event.layout, f'impulse.{row}')}"
          for row, value in run.impulse.items()),
    ]  # fmt: skip
    data = {
        "onset": float(recording.onset),
        "end": float(recording.end),
        "samples": len(recording.t),
        "xi": float(run.xi),
    }
    energies = {name: float(getattr(run, name)) for name in ("T_c_minus", "T_a_minus", "T_a_plus", "xi")}
    impulses = {f"impulse.{row}": float(value) for row, value in run.impulse.items()}
    return Answer("\n".join(lines), recording.to_dataset, data=lambda: {**data, **energies, **impulses})
