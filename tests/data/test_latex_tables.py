"""Tables in LaTeX: the numbers of the outcome, units in the header, nothing that LaTeX would misread."""

from __future__ import annotations

import re
import shutil
import subprocess

import numpy as np
import pytest

import jourdain as jd


def numbers(text: str) -> list[float]:
    found = re.findall(r"\$(-?[\d.]+)(?: \\times 10\^\{(-?\d+)\})?\$", text)
    return [float(digits) * 10.0 ** int(power or 0) for digits, power in found]


def rows(text: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.removesuffix(r"\\").split("&")] for line in text.splitlines()
            if line.endswith(r"\\")]  # fmt: skip


def test_the_numbers_of_an_outcome():
    t = jd.gallery.walker().solve()
    velocities, constraints, energies = t.latex(digits=12).split("\n\n")
    found = numbers(velocities)
    np.testing.assert_allclose(found, np.ravel(np.stack([t.v_minus, t.v_plus], axis=-1)), atol=1e-10)
    assert numbers(constraints)[2] == pytest.approx(t.impulse["heel.normal"])
    assert numbers(energies)[0] == pytest.approx(t.T_minus)
    assert r"\dot{\mathrm{stance}}" in velocities
    assert r"impulse ($\mathrm{N\,s}$)" in constraints
    for table in (velocities, constraints, energies):
        assert [rule in table for rule in (r"\toprule", r"\midrule", r"\bottomrule")] == [True] * 3
        assert len({len(row) for row in rows(table)}) == 1


def test_degrees():
    t = jd.gallery.sleigh("landing").solve()
    radians, degrees = t.latex(digits=12), t.latex(digits=12, degrees=True)
    i = [row[0] for row in rows(radians)].index(r"$\dot{\theta}$ ($\mathrm{rad/s}$)")
    assert rows(degrees)[i][0] == r"$\dot{\theta}$ (${^\circ}\mathrm{/s}$)"
    np.testing.assert_allclose(numbers(" ".join(rows(degrees)[i])), np.degrees(numbers(" ".join(rows(radians)[i]))))


def test_a_sweep_with_chosen_columns(tmp_path):
    walker = jd.gallery.walker()
    theta = np.radians([20.0, 40.0, 60.0])
    ds = walker.sweep(theta=theta, keep=["loss", "impulse.heel.normal"])
    text = jd.files.latex(ds, keep=["theta", "loss", "impulse.heel.normal"], degrees=True, digits=12)
    header, *lines = rows(text)
    assert header == [r"$\theta$ (${^\circ}$)", r"$T^- - T^+$ ($\mathrm{J}$)",
                      r"$\bar\lambda_{\text{heel.normal}}$ ($\mathrm{N\,s}$)"]  # fmt: skip
    expected = np.column_stack([[20, 40, 60], ds["loss"], ds["impulse.heel.normal"]])
    np.testing.assert_allclose([numbers(" ".join(line)) for line in lines], expected, rtol=1e-10)
    jd.files.write(ds, tmp_path / "t.tex")
    written = (tmp_path / "t.tex").read_text()
    assert r"\begin{tabular}" in written
    assert numbers(written)[0] == pytest.approx(20)


def test_batches_are_lines():
    scenario = jd.gallery.particle()
    t = scenario.solve(kappa=np.array([0.0, 0.5]))
    assert len(rows(t.latex())) == 3


def test_what_does_not_fit_a_page():
    ds = jd.gallery.particle().sweep(kappa=np.linspace(0, 1, 500))
    with pytest.raises(jd.Error, match="too long to print"):
        jd.files.latex(ds)
    few = jd.gallery.walker().sweep(theta=[0.5, 0.6])
    addresses = [f"v_plus.{name}" for name in few["velocity"].values] * 3
    with pytest.raises(jd.Error, match="too wide to print"):
        jd.files.latex(few, keep=addresses)
    assert len(rows(jd.files.latex(few))[0]) == 7
    with pytest.raises(jd.UnknownName, match="nope"):
        jd.files.latex(few, keep=["nope"])


@pytest.mark.exhaustive
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not here")
def test_latex_reads_them(tmp_path):
    parts = []
    for name in ("walker", "sleigh", "rough_rod", "touchdown", "cradle", "ball_on_rough_plane"):
        parts.append(getattr(jd.gallery, name)().solve().latex(degrees=True))
    body = "\n\n".join(parts)
    head = "\\documentclass{article}\\usepackage{booktabs,amsmath}\\begin{document}\n"
    (tmp_path / "t.tex").write_text(f"{head}{body}\n\\end{{document}}\n")
    run = subprocess.run(["pdflatex", "-halt-on-error", "t.tex"], cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout[-2000:]
