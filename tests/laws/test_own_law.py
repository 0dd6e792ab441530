"""A law that the library does not know (`energetic.py`) is used like any other: one file is all it takes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import Particle, Point, ReferenceFrame, dynamicsymbols

import jourdain as jd
from jourdain.laws.solvers import MOREAU, MOREAU_COULOMB, ContactSolver, by_formula
from laws import energetic
from laws.energetic import Energetic

MASS = 2.0


def ball() -> tuple[jd.Mechanism, jd.Contact]:
    """A ball above a floor that may move upwards with V."""
    y, m, V = dynamicsymbols("y"), sp.Symbol("m"), sp.Symbol("V")
    N, O = ReferenceFrame("N"), Point("O")
    P = O.locatenew("P", y * N.y)
    mechanism = jd.Mechanism.from_sympy([Particle("ball", P, m)], N, [y], parameters={m: MASS, V: 0.0}, origin=O)
    return mechanism, mechanism.contact("floor", normal=y.diff() - V)


def test_it_takes_twenty_lines() -> None:
    lines = Path(energetic.__file__).read_text("utf-8").splitlines()
    assert sum(1 for line in lines[1:] if line.strip()) <= 20


def test_in_an_event() -> None:
    mechanism, floor = ball()
    t = mechanism.event(contacts={floor: Energetic(0.49)}).solve(v={"y": -3.0})
    assert t.v_plus[0] == pytest.approx(0.7 * 3.0, rel=1e-14)
    assert t.loss == pytest.approx((1 - 0.49) * MASS * 9 / 2, rel=1e-14)
    assert t.impulse["floor.normal"] == pytest.approx(MASS * 1.7 * 3.0, rel=1e-14)
    assert t.contact["floor"] == jd.laws.ContactState.HOLDS
    assert np.isnan(t.restitution["floor"])  # it has none
    opens = mechanism.event(contacts={floor: Energetic(0.49)}).solve(v={"y": 3.0})
    assert opens.contact["floor"] == jd.laws.ContactState.SEPARATES
    assert opens.loss == 0


@pytest.mark.parametrize("n", [7, 5000])  # by the virtual machine, compiled
def test_in_a_batch(n: int) -> None:
    mechanism, floor = ball()
    share, v = np.linspace(0.0, 1.0, n), -np.linspace(1.0, 4.0, n)
    t = mechanism.event(contacts={floor: Energetic("share")}).solve(v=v[:, None], share=share)
    np.testing.assert_allclose(t.v_plus[:, 0], -np.sqrt(share) * v, rtol=1e-13, atol=1e-15)
    arrays = jd.transition([[MASS]], v[:, None], contacts=[jd.Contact(normal=[1.0], law=Energetic(share))])
    np.testing.assert_allclose(arrays.v_plus, t.v_plus, rtol=1e-13, atol=1e-15)


def test_in_a_sweep_and_a_gradient() -> None:
    mechanism, floor = ball()
    fall = mechanism.event(contacts={floor: Energetic("share")}).at(v={"y": -sp.Symbol("speed")}, defaults={"speed": 2})
    share, speed = np.linspace(0.1, 0.9, 9), np.linspace(1.0, 3.0, 5)
    ds = fall.sweep(share=share, speed=speed)
    np.testing.assert_allclose(ds.loss, MASS / 2 * (1 - share[:, None]) * speed**2, rtol=1e-13)
    slopes = fall.gradient("loss", wrt=["share", "speed"], share=0.3, speed=2.0)
    assert slopes["share"] == pytest.approx(-MASS / 2 * 4, rel=1e-13)
    assert slopes["speed"] == pytest.approx(MASS * 0.7 * 2, rel=1e-13)
    assert fall.event.gradient("v_plus.y", wrt="v", v={"y": -2.0}, share=0.25)["v"] == pytest.approx([-0.5])


def test_a_formula_that_pulls_is_infeasible() -> None:
    @dataclass(frozen=True)
    class Pulls(jd.laws.Law):
        numbers: ClassVar = ()

        @property
        def solver(self) -> jd.laws.solvers.ContactSolver:
            return jd.laws.solvers.ContactSolver("pulls", lambda c: jd.laws.solvers.by_formula(c, c.u / c.W))

    with pytest.raises(jd.Infeasible):
        jd.transition([[MASS]], [-1.0], contacts=[jd.Contact(normal=[1.0], law=Pulls())])


def test_what_it_refuses() -> None:
    mechanism, floor = ball()
    with pytest.raises(jd.BadEvent, match="'floor' gives back energy, but an applied impulse acts at the same time"):
        mechanism.event(contacts={floor: Energetic(0.5)}, impulses={"y": 1.0})
    rows = {"normal": [1.0, 0.0], "tangent": [[0.0, 1.0]]}
    with pytest.raises(jd.BadEvent, match="'contact 0' has 1 tangential rows; Energetic takes 0 at most"):
        jd.transition(np.eye(2), [-1.0, 0.0], contacts=[jd.Contact(**rows, law=Energetic(0.5))])


def test_laws_that_respond_differently_do_not_mix() -> None:
    own = jd.laws.solvers.ContactSolver("Sticky", lambda contacts: MOREAU.respond(contacts))

    @dataclass(frozen=True)
    class Sticky(jd.laws.Law):
        restitution: float = 0.0

        @property
        def solver(self) -> jd.laws.solvers.ContactSolver:
            return own

    laws = (Sticky(), jd.laws.Frictionless())
    contacts = [jd.Contact(normal=row, law=law) for row, law in zip(np.eye(2), laws, strict=True)]
    with pytest.raises(jd.BadEvent, match="'contact 0', 'contact 1' mix Sticky with other laws; give all of them one"):
        jd.transition(np.eye(2), [-1.0, -1.0], contacts=contacts)


def test_compiled_events_are_those_of_their_law() -> None:
    """Laws with other numbers, or another solver, do not share what was compiled, even if a formula reads the law."""
    v = -np.ones((5000, 1))

    @dataclass(frozen=True)
    class Own(jd.laws.Law):
        restitution: float

        @property
        def solver(self) -> ContactSolver:
            e = self.restitution
            return ContactSolver("Own", lambda c: by_formula(c, (1 + e) * c.la.where(c.u < 0, -c.u, 0.0) / c.W))

    for e in (0.5, 0.9):
        t = jd.transition([[MASS]], v, contacts=[jd.Contact(normal=[1.0], law=Own(e))])
        np.testing.assert_allclose(t.v_plus, e, rtol=1e-14)


def wrong(**members: Any) -> Any:
    """A contact whose law has these members besides a restitution."""
    kind: Any = type("Wrong", (jd.laws.Law,), {"restitution": 0.0, "__annotations__": {}, **members})
    return jd.Contact(normal=[1.0], law=dataclass(frozen=True)(kind)())


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "solver is no property": ({"solver": lambda self: MOREAU}, "make it a property that returns a ContactSolver"),
    "solver is a text": ({"solver": "moreau"}, "The solver of Wrong is 'moreau'"),
    "no friction": ({"solver": MOREAU_COULOMB}, "The law Wrong has no 'friction', which its solver needs"),
    "no such number": ({"solver": MOREAU, "numbers": ("grip",)}, "The law Wrong has no 'grip'"),
    "numbers is a text": ({"solver": MOREAU, "numbers": "restitution"}, "`numbers` is a tuple of its attributes"),
    "returns nothing": ({"solver": ContactSolver("none", lambda c: None)}, "returned None; return a ContactSolution"),
    "returns a number": ({"solver": ContactSolver("one", lambda c: by_formula(c, 1.0))}, "a column of 1 rows"),
    "asks for another": (
        {"solver": ContactSolver("x", lambda c: by_formula(c, c.number("x")[0]))},
        "A solver asks for 'x', but the law",
    ),
}


@pytest.mark.parametrize("why", WRONG)
def test_laws_that_are_wrong(why: str) -> None:
    members, message = WRONG[why]
    with pytest.raises(jd.BadEvent, match=message):
        jd.transition([[MASS]], [-1.0], contacts=[wrong(**members)])


def test_a_law_is_a_dataclass() -> None:
    class Plain(jd.laws.Law):
        restitution = 0.0
        solver = MOREAU

    with pytest.raises(jd.BadEvent, match="The law Plain is no dataclass; write @dataclass"):
        jd.transition([[MASS]], [-1.0], contacts=[jd.Contact(normal=[1.0], law=Plain())])


def test_the_library_asks_no_law_which_one_it_is() -> None:
    """`isinstance` against a law, or a comparison of its type, stands in `laws/` only."""
    source = Path(jd.__file__).parent
    names = [name for name in jd.laws.__all__ if name[0].isupper() and name != "ContactState"]
    wrong = [
        f"{path.relative_to(source)}: {line.strip()}"
        for path in source.rglob("*.py")
        if path.parent.name != "laws"
        for line in path.read_text("utf-8").splitlines()
        if ("isinstance(" in line or "type(" in line) and any(name in line for name in names)
    ]
    assert wrong == []
