"""Closed forms with prior rows inserted: short, exact, and equal to the numbers."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

import jourdain as jd
from jourdain.algebra.readable import limit, shortest, with_short_roots

a, b, x = sp.symbols("a b x")


@pytest.mark.parametrize(
    ("long", "short"),
    [
        (sp.cos(a) * sp.cos(b) + sp.sin(a) * sp.sin(b), sp.cos(a - b)),
        (sp.cos(a) ** 2 - sp.sin(a) ** 2, sp.cos(2 * a)),
        (x**2 * sp.sin(a) ** 2 + x**2 * sp.cos(a) ** 2, x**2),
        (4 * x * sp.sin(a) ** 2 - 4 * x * sp.sin(a) ** 4 + b, x * sp.sin(2 * a) ** 2 + b),
        ((x**2 - b**2) / (x - b), x + b),
    ],
)
def test_short_forms(long, short):
    found = shortest(long)
    assert sp.simplify(found - long) == 0
    assert sp.count_ops(found) <= sp.count_ops(short)


def test_short_forms_are_equal(rng):
    symbols = sp.symbols("p q r")
    for _ in range(5):
        drawn = zip(rng.integers(-3, 4, 5), *rng.integers(0, 3, (3, 5)), strict=True)
        terms = [int(c) * sp.sin(symbols[i]) ** int(k) * sp.cos(symbols[j]) * symbols[k] for c, i, j, k in drawn]
        e = sp.Add(*terms) / (2 + symbols[0])
        found = shortest(e)
        assert sp.count_ops(found) <= sp.count_ops(e)
        at = dict(zip(symbols, rng.uniform(0.3, 1.5, 3), strict=True))
        assert float(found.subs(at)) == pytest.approx(float(e.subs(at)), rel=1e-12, abs=1e-12)


def test_limits_and_roots():
    light, heavy, length = sp.symbols("m M"), sp.Symbol("M"), sp.Symbol("l", positive=True)
    assert limit((light[0] ** 2 + light[0] * heavy) / (2 * light[0]), [light[0]]) == heavy / 2
    assert with_short_roots(sp.sqrt(length**2 * sp.sin(a) ** 2 + length**2 * sp.cos(a) ** 2)) == length


QUICK = [("sleigh", {"case": "struck"}), ("ball_on_incline", {}), ("rod", {}), ("step", {}), ("percussion", {})]
SLOW: list[tuple[str, dict[str, str]]] = [
    ("sleigh", {"case": "landing"}),
    ("sleigh", {"case": "earthquake"}),
    ("ballistic_pendulum", {}),
    ("disk_on_moving_plane", {}),
    ("rocking_block", {}),
]
CASES = [*QUICK, *(pytest.param(*case, marks=pytest.mark.exhaustive) for case in SLOW)]


@pytest.mark.parametrize(("name", "keywords"), CASES)
def test_simplified_formulas_equal_numbers(name, keywords, rng):
    scenario = getattr(jd.gallery, name)(**keywords)
    event = scenario.event
    form = event.symbolic(simplify=True)
    for _ in range(3):
        p = {key: (value or 0.3) * rng.uniform(0.7, 1.1) for key, value in scenario.parameters.items()}
        t = scenario.solve(parameters=p)
        q, v, own = (column[..., 0] if column.ndim > 1 else column for column in scenario.state(p))
        at = dict(zip(event.mechanism.symbols.q_names, q, strict=True)) | dict(zip(event.parameters, own, strict=True))
        at |= {f"{key}_minus": value for key, value in zip(event.mechanism.symbols.v_names, v, strict=True)}
        scale = np.abs(t.v_minus).max() + np.abs(t.v_plus).max()
        for key, formula in form.v_plus.items():
            assert float(formula.subs(at)) == pytest.approx(t.velocity_plus[key], abs=1e-9 * scale), key
        assert float(form.T_c_minus.subs(at)) == pytest.approx(t.T_c_minus, abs=1e-9 * (t.T_minus + t.T_plus))
        assert float(form.loss.subs(at)) == pytest.approx(t.loss, abs=1e-9 * (t.T_minus + t.T_plus))


def test_prior_rows_are_inserted():
    """The blade of the struck sleigh is on before: its row leaves two of three velocities."""
    form = jd.gallery.sleigh("struck").event.symbolic(simplify=True)
    used = {
        str(symbol) for e in form.formulas().values() for symbol in e.free_symbols if str(symbol).endswith("_minus")
    }
    assert len(used) == 2
    long = jd.gallery.sleigh("struck").event.symbolic()
    assert sp.count_ops(form.loss) < 0.5 * sp.count_ops(long.loss)


def test_values_are_inserted():
    form = jd.gallery.ballistic_pendulum().symbolic(at={"omega": 0, "theta": 0})
    m, d, v, I, M, c = sp.symbols("m d v I M c")
    assert sp.simplify(form.v_plus["theta"] - m * v * d / (I + M * c**2 + m * d**2)) == 0
    blade = jd.gallery.sleigh("landing").event.symbolic(simplify=True, at={"theta": sp.pi / 2})
    assert not any(e.has(sp.sin, sp.cos) for e in blade.formulas().values())


@pytest.mark.parametrize(
    ("at", "text"),
    [({"omega": "0"}, "takes numbers"), ({"omega": float("nan")}, "finite"), ({"omega": True}, "takes numbers"),
     ({"omega": [1]}, "takes numbers")],
)  # fmt: skip
def test_what_cannot_be_inserted(at, text):
    with pytest.raises(jd.BadEvent, match=text):
        jd.gallery.ballistic_pendulum().symbolic(at=at)
    with pytest.raises(jd.UnknownName, match="nope"):
        jd.gallery.ballistic_pendulum().symbolic(at={"nope": 1})
    with pytest.raises(jd.BadEvent, match="by each other"):
        jd.gallery.ballistic_pendulum().symbolic(at={"m": sp.Symbol("M"), "M": 2 * sp.Symbol("m")})


def test_prior_velocities_that_miss_their_rows():
    struck = jd.gallery.sleigh("struck").event
    with pytest.raises(jd.BadEvent, match="miss a row"):
        struck.symbolic(simplify=True, at={"theta": 0, "x_minus": 1, "y_minus": 1, "theta_minus": 0})


def test_where_something_is_not_finite():
    """A rod without mass: nothing gives the impulse."""
    with pytest.raises(jd.BadEvent, match="not finite"):
        jd.gallery.rod().event.symbolic(at={"L": 0})


def hit_body(names=("m", "I")):
    """A free body in the plane whose tip is stopped in y."""
    from sympy.physics.mechanics import Point, ReferenceFrame, RigidBody, dynamicsymbols, inertia

    q = y, theta = dynamicsymbols("y theta")
    m, inertia_z, l = sp.symbols(f"{names[0]} {names[1]} l")
    N, O = ReferenceFrame("N"), Point("O")
    O.set_vel(N, 0)
    B = N.orientnew("B", "Axis", [theta, N.z])
    C = O.locatenew("C", y * N.y)
    tip = C.locatenew("tip", l * B.x)
    body = RigidBody("body", C, B, m, (inertia(B, 0, 0, inertia_z), C))
    mechanism = jd.Mechanism.from_sympy([body], N, q, parameters={m: 1.0, inertia_z: 1.0, l: 1.0}, points={"tip": tip})
    return mechanism.event(inert=[mechanism.constraint("stop", tip.vel(N).dot(N.y))])


def test_masses_that_vanish_together():
    """Their ratio decides: that is refused, whatever the order; given as a multiple, there is one answer."""
    event = hit_body()
    for at in ({"m": 0, "I": 0}, {"I": 0, "m": 0}):
        with pytest.raises(jd.BadEvent, match="depends on how"):
            event.symbolic(simplify=True, at=at)


def test_parameters_called_as_prior_velocities():
    event = hit_body(("y_minus", "I"))
    with pytest.raises(jd.BadEvent, match="rename it"):
        event.symbolic()
