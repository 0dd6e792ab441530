"""Pages of events: whole, escaped, with the library's own numbers, and with a script that gives them again."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

import jourdain as jd
from cases import EVENTS
from html_pages import Page, check_alone, printed_by_chromium
from jourdain.data.numbers import shown_in
from jourdain.events.transition import Transition
from jourdain.reports.events import scenario_report, transition_report
from jourdain.scenarios.scenario import Scenario

SOME = ["walker", "thrown_box", "box_dropped_flat", "disk_on_moving_plane", "four_bar", "percussion", "particle"]
HOSTILE = "<script>alert('x')</script>"
DIGITS = 5.1e-6  # relative: six significant digits


def number(text: str) -> float:
    """The number with which a cell begins."""
    return float(text.replace("−", "-").split("°")[0].split()[0])


def made_by(script: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict:
    """What a script of a page leaves, run as a reader would."""
    monkeypatch.chdir(folder)
    names: dict = {}
    exec(script, names)
    return names


def check_numbers(page: Page, t: Transition) -> None:
    """Every number of the outcome on the page is the library's."""
    layout, tables = t.layout, page.tables
    speed = max(np.abs(t.v_minus).max(), np.abs(t.v_plus).max())
    both = (
        [*t.velocity_minus.values(), *t.outputs_minus.values()],
        [*t.velocity_plus.values(), *t.outputs_plus.values()],
    )
    for (name, *cells), *values in zip(tables["Velocities"][1:], *both, strict=True):
        assert name.split(" (")[0] in (*layout.velocities, *layout.outputs)
        assert list(map(number, cells)) == pytest.approx(values, rel=DIGITS, abs=1e-12 * max(speed, *map(abs, values)))
    if layout.rows:
        force = max(abs(float(t.impulse[row.name])) for row in layout.rows)
        for row, (name, kind, u_minus, u_plus, impulse, mass) in zip(layout.rows, tables["Rows"][1:], strict=True):
            assert name.startswith(row.name)
            assert kind.startswith(str(row.kind))
            expected = [float(t.u_minus[row.name]), float(t.u_plus[row.name])]
            assert [number(u_minus), number(u_plus)] == pytest.approx(expected, rel=DIGITS, abs=1e-11 * (1 + speed))
            assert number(mass) == pytest.approx(float(t.effective_mass[row.name]), rel=DIGITS)
            if impulse:
                assert number(impulse) == pytest.approx(float(t.impulse[row.name]), rel=DIGITS, abs=1e-12 * force)
                unit = layout.unit("impulse", row.name)
                assert impulse.endswith(unit.replace("^2", "²"))
    scale = float(max(t.T_minus, t.T_plus))
    energies = {row[0].strip(): row[1:] for row in tables["Energy"][1:]}
    for label, name in (("kinetic, T", "T"), ("constrained, Tc", "T_c"), ("admissible, Ta", "T_a")):
        expected = [float(getattr(t, f"{name}_{side}")) for side in ("minus", "plus")]
        assert list(map(number, energies[label][:2])) == pytest.approx(expected, rel=DIGITS, abs=1e-12 * scale)
    xi = energies["ξ = Tc⁻/T⁻"][0]
    assert xi == "–" if np.isnan(t.xi) else number(xi) == pytest.approx(float(t.xi), rel=DIGITS, abs=1e-12)
    short = dict(tables["1"])
    lost = number(short["lost, T⁻ − T⁺"]) if "lost, T⁻ − T⁺" in short else -number(short["gained, T⁺ − T⁻"])
    assert lost == pytest.approx(float(t.loss), rel=DIGITS, abs=1e-12 * scale)
    assert short["degrees of freedom"] == "{} before, {} during, {} after".format(*t.dof)
    for name, state in t.contact.items():
        assert short[f"contact {name}"] == str(state)


def check_ledger(page: Page, t: Transition) -> None:
    """The works on the page add up to the change on the page."""
    if not t.ledger:
        return
    *works, (total, sum_), (change, difference) = page.tables["The ledger: work of the impulses"][1:]
    assert (total, change) == ("sum", "T⁺ − T⁻")
    largest = max(abs(number(text)) for _, text in works)
    assert sum(number(text) for _, text in works) == pytest.approx(number(sum_), abs=1e-5 * largest)
    assert number(sum_) == pytest.approx(number(difference), abs=1e-5 * max(largest, 1e-30))


def check_parameters(page: Page, scenario: Scenario, given: Mapping[str, float]) -> None:
    """Parameters are those of the event, with units, angles in degrees and in rad."""
    header, *rows = next((table for title, table in page.tables.items() if title.startswith("Parameters")), [[]])
    for row in rows:
        cells = dict(zip(header, row, strict=True))
        name, expected = row[0], {**scenario.parameters, **given}[row[0]]
        shown, size = shown_in(scenario.units.get(name, ""))
        assert number(cells["value"]) * size == pytest.approx(expected, rel=DIGITS)
        assert cells["value"].endswith(shown.replace("^2", "²"))
        if shown == "°":
            assert number(cells["in rad"]) == pytest.approx(expected, rel=DIGITS)


def check_event(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = getattr(jd.gallery, name)()
    given = {key: 0.5 for key, value in scenario.parameters.items() if value is None}
    t = scenario.solve(parameters=given)
    scenario.report(tmp_path / f"{name}.html", parameters=given)
    text = (tmp_path / f"{name}.html").read_text(encoding="utf-8")
    page = check_alone(text)
    assert page.headings[0].lower() == name.replace("_", " ")
    assert scenario.origin.about.replace("`", "") in text.replace("&#39;", "'").replace("&amp;", "&")
    check_numbers(page, t)
    check_ledger(page, t)
    check_parameters(page, scenario, given)
    again = made_by(page.code[-1], tmp_path, monkeypatch)
    assert float(again["t"].loss) == float(t.loss)
    assert (tmp_path / f"{name}.html").read_text(encoding="utf-8") == text  # the script wrote it again
    alone = Page(scenario_report(replace(scenario, origin=None), t, given).html())
    known = made_by(alone.code[-1], tmp_path, monkeypatch)["t"]
    assert float(known.loss) == pytest.approx(float(t.loss), abs=1e-12 * float(max(t.T_minus, t.T_plus)))
    np.testing.assert_allclose(known.v_plus, t.v_plus, atol=1e-9 * (1 + np.abs(t.v_plus).max()))


@pytest.mark.parametrize("name", SOME)
def test_a_page_has_the_numbers_and_the_script(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check_event(name, tmp_path, monkeypatch)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", [name for name in EVENTS if name not in SOME])
def test_every_problem_has_a_page(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check_event(name, tmp_path, monkeypatch)


@pytest.mark.parametrize(
    ("keywords", "given"),
    [
        ({"rear_foot": "one-sided"}, {"theta": 0.9, "rho": 0.1}),
        ({"law": jd.laws.Coulomb("friction", 0.2)}, {"friction": 0.3}),
        ({"law": jd.laws.MoreauCoulomb("friction", "kappa")}, {"friction": 0.2, "kappa": 0.1}),
        ({"law": jd.laws.NoSlip(0.2, prefer="sticks")}, {}),
    ],
)
def test_scripts_of_laws(
    keywords: dict, given: dict[str, float], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The script names what the problem was built with, and the law with the numbers that it had."""
    scenario = jd.gallery.walker(**keywords)
    t = scenario.solve(parameters=given)
    for one in (scenario, replace(scenario, origin=None)):
        page = Page(scenario_report(one, t, given).html())
        again = made_by(page.code[-1], tmp_path, monkeypatch)["t"]
        assert float(again.loss) == pytest.approx(float(t.loss), rel=1e-11)
    law = " ".join(page.tables["Constraints"][-2 if "rear_foot" not in keywords else -1])
    assert ("friction 0.3" in law) == (given.get("friction") == 0.3)


def test_a_law_that_no_script_can_make() -> None:
    """A law with an expression has no Python; the event is written down as matrices."""
    slower = jd.laws.Frictionless(restitution=0.5 / (1 + jd.laws.approach))
    scenario = jd.gallery.walker(law=slower)
    assert scenario.origin is None
    t = scenario.solve()
    page = Page(scenario_report(scenario, t, {}).html())
    names: dict = {}
    exec(page.code[-1], names)
    assert float(names["t"].loss) == pytest.approx(float(t.loss), rel=1e-11)


def test_a_start_that_was_projected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = jd.gallery.walker()
    scenario.report(tmp_path / "walker.html", check="project", theta=0.7)
    page = Page((tmp_path / "walker.html").read_text(encoding="utf-8"))
    assert "event.solve('project', theta=0.7)" in page.code[-1]
    again = made_by(page.code[-1], tmp_path, monkeypatch)["t"]
    assert float(again.loss) == float(scenario.solve("project", theta=0.7).loss)


def ball(name: str) -> Scenario:
    """A ball that meets a floor; everything in it has this name, or begins with it."""
    z, w, m = ca.SX.sym(f"{name}z"), ca.SX.sym(f"{name}w"), ca.SX.sym(f"{name}m")
    mechanism = jd.Mechanism.from_casadi(z, w, m, parameters={f"{name}m": 2.0})
    floor = mechanism.constraint(name, w)
    return mechanism.event(elastic={floor: 0.5}).at(v={f"{name}z": -3.0})


def test_names_are_escaped(tmp_path: Path) -> None:
    for name in (HOSTILE, '" onload="x', "a\nimport os", "{{ 7 * 7 }}", "</code></pre><b>"):
        scenario = ball(name)
        scenario.report(tmp_path / "x.html", title=name)
        scenario.solve().report(tmp_path / "y.html", title=name)
        for file in ("x.html", "y.html"):
            text = (tmp_path / file).read_text(encoding="utf-8")
            assert "<script" not in text
            page = check_alone(text)  # no attribute that runs something
            assert page.headings[0] == name
            assert page.tables["Constraints"][1][0] == name.strip()
        names: dict = {}
        exec(Page((tmp_path / "x.html").read_text(encoding="utf-8")).code[-1], names)
        assert "os" not in names
        assert float(names["t"].loss) == pytest.approx(float(scenario.solve().loss))


def test_an_outcome_alone(tmp_path: Path) -> None:
    t = jd.gallery.walker().solve(theta=0.8)
    t.report(tmp_path / "t.html", title="A strike")
    page = check_alone((tmp_path / "t.html").read_text(encoding="utf-8"))
    check_numbers(page, t)
    check_ledger(page, t)
    assert page.headings[0] == "A strike"
    assert any("does not know its model" in said for said in page.captions)
    state: dict = {}
    exec("\n".join(page.code[-1].splitlines()[:-1]), state)
    assert state["q"] == pytest.approx(dict(t.coordinate))
    assert state["v"] == pytest.approx(dict(t.velocity_minus))
    raw = jd.transition([[2.0, 0.0], [0.0, 1 / 6]], v=[-3.0, 0.0], inert=[[1.0, -0.5]])
    check_numbers(check_alone(transition_report(raw).html()), raw)


def test_what_is_refused(tmp_path: Path) -> None:
    scenario = jd.gallery.walker()
    (tmp_path / "x.html").write_text("precious")
    with pytest.raises(jd.Error, match=r"A report shows one event, not a batch \(3,\); pick one"):
        scenario.report(tmp_path / "x.html", theta=[0.5, 0.6, 0.7])  # type: ignore[arg-type]
    with pytest.raises(jd.Error, match="A report shows one event, not a batch"):
        scenario.solve(theta=[0.5, 0.6]).report(tmp_path / "x.html")
    assert (tmp_path / "x.html").read_text() == "precious"
    for name in ("x.pdf", "x", "x.html.gz"):
        with pytest.raises(jd.Error, match=r"does not end in \.html.*; call it 'x"):
            scenario.report(tmp_path / name)
    with pytest.raises(jd.Error, match="does not exist; make it first"):
        scenario.report(tmp_path / "nowhere" / "x.html")
    (tmp_path / "folder.html").mkdir()
    with pytest.raises(jd.Error, match="is a folder"):
        scenario.report(tmp_path / "folder.html")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder.html", "x.html"]


def test_what_has_no_derivative_or_no_drawing_is_told() -> None:
    """The page is there, and says what it lacks."""
    sleigh = jd.gallery.sleigh(case="landing")
    page = check_alone(scenario_report(sleigh, sleigh.solve(), {}).html())
    assert "What changes the loss most" in page.headings
    fall = ball("b")
    alone = check_alone(scenario_report(fall, fall.solve(), {}).html())
    assert len(alone.asked) == 1  # bars only: it has no points
    cradle = jd.gallery.cradle()
    text = scenario_report(cradle, cradle.solve(), {}).html()
    assert "What changes the loss most" in text


def test_what_helps_most_is_the_gradient() -> None:
    scenario = jd.gallery.walker()
    page = Page(scenario_report(scenario, scenario.solve(theta=0.8), {"theta": 0.8}).html())
    _, *rows = page.tables["Exact derivatives of the loss T⁻ − T⁺"]
    slopes = scenario.gradient("loss", [row[0] for row in rows], theta=0.8)
    for name, _, slope, per, _ in rows:
        size = np.pi / 180 if per.endswith("°") else 1.0
        assert number(slope) == pytest.approx(float(slopes[name]) * size, rel=DIGITS)
    shares = [abs(number(row[4])) for row in rows if row[4]]
    assert shares == sorted(shares, reverse=True)


def test_chromium_prints_a_report_and_asks_for_nothing(tmp_path: Path) -> None:
    path = tmp_path / "walker.html"
    jd.gallery.walker(law=jd.laws.Coulomb("friction")).report(path, friction=0.2)
    pdf, asking = printed_by_chromium(path, tmp_path / "ours")
    assert len(re.findall(rb"/Type\s*/Page\b", pdf)) >= 2
    assert asking == set()
