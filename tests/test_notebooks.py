"""Notebooks: what is the value of a cell is shown, figures too, without an import of pyplot."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

import jourdain as jd

Outputs = dict[str, list[Any]]

CELLS = {
    "Transition": "t = walker.solve(); t",
    "Scenario": "walker",
    "Event": "walker.event",
    "Mechanism": "walker.event.mechanism",
    "Gait": "gait = jd.gallery.compass_gait().gait(); gait",
    "Trajectory": "gait.trajectory",
    "Hybrid": "gait.hybrid",
    "Robot": "jd.load('src/jourdain/gallery/robots/quadruped.xml')",
    "Log": "run = jd.experiment.Testbed(jd.gallery.pantograph(), push=0.5).run(d=0.2)\n"
    "run.record().write(FILE)\nlog = jd.experiment.read(FILE, jd.gallery.pantograph(), parameters={'d': 0.2}); log",
    "Strike": "log.strike()",
    "Dataset": "walker.sweep(theta=[0.5, 0.6])",
}
FIGURES = ("jd.plots.drawing(walker)", "jd.plots.energy_bars(t)", "jd.plots.motion_plot(gait.trajectory)",
           "jd.plots.motion_plot(gait.trajectory).figure")  # fmt: skip


def executed(cells: Sequence[str]) -> list[list[Any]]:
    """The outputs of each cell."""
    empty: dict[str, Any] = {"cell_type": "code", "metadata": {}, "execution_count": None}
    nodes = [{**empty, "outputs": [], "id": f"cell-{i}", "source": cell} for i, cell in enumerate(cells)]
    about = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}}
    book = nbformat.from_dict({**about, "cells": nodes})  # type: ignore[no-untyped-call]
    NotebookClient(book, timeout=300, kernel_name="python3").execute()
    return [cell.outputs for cell in book.cells]


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> Outputs:
    file = tmp_path_factory.mktemp("log") / "strike.csv"
    first = f"import jourdain as jd\nwalker = jd.gallery.walker()\nFILE = {str(file)!r}"
    cells = [first, *CELLS.values(), *FIGURES]
    return dict(zip(["first", *CELLS, *FIGURES], executed(cells), strict=True))


@pytest.mark.parametrize("name", CELLS)
def test_values_are_tables(name: str, outputs: Outputs) -> None:
    (value,) = [output.data for output in outputs[name] if output.output_type == "execute_result"]
    assert "<table" in value["text/html"] or "<pre" in value["text/html"] or "xr-wrap" in value["text/html"]
    assert name == "Dataset" or len(value["text/plain"]) < 500
    assert "Named(" not in value["text/html"]


@pytest.mark.parametrize("name", FIGURES)
def test_figures_show_themselves_once(name: str, outputs: Outputs) -> None:
    (value,) = [output for output in outputs[name] if output.output_type != "stream"]
    png = base64.b64decode(value.data["image/png"])
    assert png.startswith(b"\x89PNG")
    assert len(png) > 5000


def test_no_output_is_empty(outputs: Outputs) -> None:
    for name, several in outputs.items():
        for output in several:
            if output.output_type != "stream":
                assert any(str(part).strip() for part in output.data.values()), name


def test_pyplot_shows_its_own_figures_once() -> None:
    cells = ["import matplotlib.pyplot as plt\nimport jourdain as jd",
             "fig, ax = plt.subplots()\njd.plots.energy_bars(jd.gallery.walker().solve(), ax=ax)"]  # fmt: skip
    shown = [output for output in executed(cells)[1] if "image/png" in output.get("data", {})]
    assert len(shown) == 1


def test_long_work_leaves_a_line_and_no_block() -> None:
    cell = ("import jourdain as jd, jourdain.progress as p\np.PATIENCE = 0.0\n"
            "jd.gallery.walker().sweep(theta=[0.1 + 1e-6 * i for i in range(300000)]);")  # fmt: skip
    (outputs,) = executed([cell])
    assert all(output.output_type == "stream" for output in outputs)
    assert "100%" in "".join(output.text for output in outputs)


def test_reprs_fit_on_a_line() -> None:
    run = jd.experiment.Testbed(jd.gallery.pantograph(), push=0.5).run(d=0.2)
    ball = jd.gallery.bouncing_ball().simulate(until=1.0)
    for value in (run, run.record(), ball, ball.energy, jd.gallery.sleigh().phases()):
        assert len(repr(value)) < 120
        assert "array" not in repr(value)
