"""The report: everything computed, then tables as CSV, figures as PNG and SVG, and one page that holds them all."""

from __future__ import annotations

import csv
import io
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from jourdain import gallery
from jourdain.data.files import whole_file
from jourdain.data.files import write as write_dataset
from jourdain.data.numbers import fixed, significant, with_minus
from jourdain.errors import BadArgument, CannotWrite, listing, unknown
from jourdain.inputs import Array
from jourdain.progress import bar, quiet
from jourdain.reports.template import environment, image, write_page
from jourdain.studies.papers import (
    measured_shown,
    pantograph,
    pantograph_shown,
    testbed,
    testbed_shown,
    walker,
    walker_shown,
    wang_chou,
)
from jourdain.studies.papers.measured import Prediction
from jourdain.studies.papers.printed import last_digit, rows
from jourdain.studies.papers.record import Beside, Picture, Settings, Table

MODELS: dict[str, Any] = {"walker": walker, "pantograph": pantograph}  # whose parameters may be set
Advance = Callable[[int], None]


@dataclass(frozen=True)
class Report:
    """What the four papers become."""

    tables: Mapping[str, Table]
    pictures: Mapping[str, Picture]
    walker: walker.Results
    pantograph: pantograph.Results
    testbed: testbed.Bench
    settings: Mapping[str, Settings]

    def differences(self) -> Iterator[tuple[Table, str, str, Beside]]:
        """(table, row, column, numbers) wherever print and ours part."""
        for table in self.tables.values():
            for row, column, cell in table.differences():
                yield table, row, column, cell

    def n_compared(self) -> int:
        return sum(table.compared() for table in self.tables.values())


def main(folder: Path, settings: Mapping[str, Settings]) -> str:
    """What `jourdain reproduce` does; `settings`: model → parameter → value in SI. Returns the text to print."""
    make_folders(folder)
    shown = True if sys.stderr.isatty() else None
    with bar("recomputing", N_STEPS, shown) as advance:
        report = compute(settings, advance or quiet)
    with bar("drawing", len(report.pictures), shown) as advance:
        page = write(report, folder, advance or quiet)
    differing = len(list(report.differences()))
    return (
        f"{page}: {len(report.tables)} tables, {len(report.pictures)} figures.\n"
        f"{report.n_compared()} printed numbers have ours beside them; {differing} differ by more than a unit in the "
        "last digit and are listed there, with the reason where it is known."
    )


def free_parameters(model: str, chosen: Iterable[str] = ()) -> dict[str, str]:
    """Parameter → unit, of those that the papers do not vary; raises if `chosen` names another."""
    if model not in MODELS:
        raise unknown("model", model, MODELS)
    scenario, varied = getattr(gallery, model)(), MODELS[model].VARIED
    free = {name: scenario.units.get(name, "") for name in scenario.parameters if name not in varied}
    for name in chosen:
        if name in varied:
            raise BadArgument(f"The papers vary '{name}' of the {model}; set one of {listing(free)}.")
        if name not in free:
            raise unknown(f"parameter of the {model}", name, free)
    return free


def check_settings(model: str, settings: Settings) -> None:
    """Raise if the model has no outcome with these parameters."""
    getattr(gallery, model)().solve(parameters=settings)


def make_folders(folder: Path) -> None:
    """Before anything is computed, so that a place where nothing can be written is refused at once."""
    try:
        for name in ("tables", "figures", "data"):
            (folder / name).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CannotWrite(f"'{folder}' cannot be a folder to write to: {error.strerror or error}.") from None
    if not os.access(folder, os.W_OK):
        raise CannotWrite(f"The folder '{folder}' may not be written to; choose another.")


def compute(settings: Mapping[str, Settings] = {}, advance: Advance = quiet) -> Report:
    """All numbers, and what to draw of them; `settings`: model → parameters that are not the papers'."""
    problems = [wang_chou.closed_forms(), wang_chou.table_1()]
    advance(1)
    walking = walker.results(settings.get("walker", {}))
    advance(1)
    striking = pantograph.results(settings.get("pantograph", {}))
    advance(1)
    measuring = testbed.bench(striking)
    shown: list[tuple[Any, Any]] = [(walker_shown, walking), (pantograph_shown, striking), (measured_shown, striking),
                                    (testbed_shown, measuring)]  # fmt: skip
    tables = [*problems, *(table for module, found in shown for table in module.tables(found))]
    pictures = [*wang_chou.pictures(), *(one for module, found in shown for one in module.pictures(found))]
    advance(1)
    return Report(
        tables={table.name: table for table in tables},
        pictures={picture.name: picture for picture in pictures},
        walker=walking,
        pantograph=striking,
        testbed=measuring,
        settings=settings,
    )


N_STEPS = 4  # of `compute`


def write(report: Report, folder: Path, advance: Advance = quiet) -> Path:
    """Everything below `folder`: tables/, figures/, data/ and report.html, which needs none of the others."""
    make_folders(folder)
    for table in report.tables.values():
        with whole_file(folder / "tables" / f"{table.name}.csv") as part:
            part.write_text(text(table), encoding="utf-8", newline="\n")
    drawn = {}
    for picture in report.pictures.values():
        drawn[picture.name] = _drawn(picture, folder / "figures")
        if picture.data is not None:
            write_dataset(picture.data, folder / "data" / f"{picture.name}.csv")
        advance(1)
    page = folder / "report.html"
    write_page(html(report, drawn), page)
    return page


def _drawn(picture: Picture, folder: Path) -> bytes:
    """The picture as PNG and SVG; the SVG again, for the page."""
    from jourdain.plots import save

    figure = picture.draw()
    for suffix in ("png", "svg"):
        with whole_file(folder / f"{picture.name}.{suffix}") as part:
            save(figure, part)
    return (folder / f"{picture.name}.svg").read_bytes()


def text(table: Table) -> str:
    """A table as CSV: ours with twelve digits, printed numbers as they are printed."""
    header = []
    for column in table.columns:
        unit = f" [{column.unit}]" if column.unit else ""
        header += [f"{column.name} printed{unit}"] if column.beside else []
        header += [f"{column.name}{unit}"]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    for row in table.rows:
        line: list[str] = []
        for column, cell in zip(table.columns, row, strict=True):
            if isinstance(cell, Beside):
                line += [cell.printed, _exact(cell.ours)]
            else:
                shown = _exact(cell) if isinstance(cell, float) else str(getattr(cell, "expression", cell))
                line += ["", shown] if column.beside else [shown]
        writer.writerow(line)
    return out.getvalue()


def _exact(value: float) -> str:
    """Twelve digits; the rounding of a zero is a zero."""
    return significant(value, 12, 1e-16, minus="-")


def html(report: Report, drawn: Mapping[str, bytes]) -> str:
    """The page: no script, no style sheet, no picture from outside."""
    from jourdain.studies.papers import typeset

    templates = environment("jourdain.studies.papers")
    templates.filters |= {"show": typeset.cell, "degrees": typeset.in_degrees,
                          "fixed": fixed, "significant": significant, "with_minus": with_minus}  # fmt: skip
    images = {name: image(svg) for name, svg in drawn.items()}
    predicted = report.pantograph.predicted
    mass = {case.label: mass for case, mass in zip(predicted.cases, predicted.apparent_mass(), strict=True)}
    return templates.get_template("report.html.j2").render(
        report=report,
        images=images,
        version=version("jourdain"),
        differences=list(report.differences()),
        percent=partial(_percent, report),
        change_ratio=partial(_change_ratio, predicted),
        repeats=sum(table.compared() for name, table in report.tables.items() if "FK-c" in name),
        mass=mass,
        model_mass={case.d: mass for case, mass in zip(predicted.cases, predicted.model_mass(), strict=True)},
        beta_effect=100 * max(abs(predicted.outcome.impulse["wall"] / predicted.ideal.impulse["wall"] - 1)),
        at_end=all(
            np.isclose(value, walker.RANGES[name]).any() for name, value in report.walker.best.parameters.items()
        ),
        rounded_fits=_rounded_fits(report.pantograph),
        rounded=pantograph.ROUNDED,
        surface=testbed.SURFACE,
        compression=1e3 * np.mean([run.end for run in report.testbed.runs]),
        largest=lambda values: float(np.abs(values).max()),
        wrong_signs=_wrong_signs(report.testbed),
    )


def _rounded_fits(found: pantograph.Results) -> bool:
    """Whether other parameters that round to the printed ones give every printed number of Tables III and V."""
    t = found.rounded
    for i, line in enumerate(rows("pantograph_computed")):
        ours = {"speed_m_per_s": pantograph.speeds(t)[i], "T_c_minus_mJ": t.T_c_minus[i] * 1e3, "xi": t.xi[i]}
        if any(abs(float(line[name]) - value) > last_digit(line[name]) / 2 for name, value in ours.items()):
            return False
    return True


def _wrong_signs(found: testbed.Bench) -> str:
    """The cases of [FK-b] whose tangential impulse has the wrong sign with friction in proportion to the slip."""
    wrong = np.flatnonzero(~found.friction.right_signs(found.friction.by_slip))
    return ", ".join(str(i + 1) for i in wrong) or "none"


def _percent(report: Report, quantity: str, paper: str, above: float = 0.0) -> tuple[float, float]:
    """The least and largest error of the model in the cases of a paper with T_a⁻ above so many J, in %."""
    p = report.pantograph.predicted
    return _ends(100 * p.error(quantity), [case.paper == paper and case.T_a_minus >= above for case in p.cases])


def _change_ratio(p: Prediction, paper: str) -> tuple[float, float]:
    """The measured change of T_a over the predicted one, least and most, where it is more than 0.1 mJ in the model."""
    model = p.outcome.T_a_plus - p.outcome.T_a_minus
    measured = np.array([case.T_a_plus - case.T_a_minus for case in p.cases])
    chosen = [case.paper == paper and abs(change) > 1e-4 for case, change in zip(p.cases, model, strict=True)]
    return _ends(measured / model, chosen)


def _ends(values: Array, chosen: list[bool]) -> tuple[float, float]:
    """The least and the largest of those chosen."""
    return float(values[chosen].min()), float(values[chosen].max())
