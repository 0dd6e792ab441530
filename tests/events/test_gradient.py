"""Derivatives of what an event does, against central differences of an independent solution with eighty digits."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import casadi as ca
import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import Particle, Point, ReferenceFrame, RigidBody, dynamicsymbols, inertia

import jourdain as jd
from cases import KINDS, PRIOR, held
from jourdain import gallery
from jourdain.quantities import QUANTITIES, SCALARS
from models import bars, loop
from oracles import exact
from oracles.exact import mp

INTEGERS = ("dof", "redundant")
# q is not computed; what lies along one-sided contacts is not there without them.
DIFFERENTIABLE = tuple(name for name, quantity in QUANTITIES.items()
                       if name not in (*INTEGERS, "status", "q") and quantity.along != "one_sided")  # fmt: skip
RTOL = 1e-10  # of the largest derivative of the quantity by this variable, or of 1


def numbers(transition: jd.Transition, quantity: str) -> np.ndarray:
    """All numbers of a quantity of an outcome, in the order of the rows."""
    return np.asarray(transition._values[quantity])[..., 0]


def assert_derivatives(found: Any, expected: Any, what: str, rtol: float = RTOL) -> None:
    """Entry by entry; where a quantity is not finite it has no derivative. Numbers here are of the order of 1."""
    found, expected = np.asarray(found, dtype=float), np.asarray(expected, dtype=float)
    assert found.shape == expected.shape, f"{what}: shape {found.shape}, expected {expected.shape}"
    assert np.array_equal(np.isnan(found), np.isnan(expected)), f"{what}: got {found}, expected {expected}"
    usual = ~np.isnan(expected)
    scale = np.max(np.abs(expected[usual]), initial=1.0)
    error = np.max(np.abs(found - expected)[usual], initial=0.0)
    assert error <= rtol * scale, f"{what}: off by {error:.1e} at scale {scale:.1e}\n got {found}\n not {expected}"


# A mechanism with rows of every kind: a slider, two massless rods with a mass at their ends, and a rod with inertia


def crane() -> jd.Mechanism:
    x, y, a, b, c = q = dynamicsymbols("x y a b c")
    m_0, m_1, m_2, m_3, J, l_1, l_2, l_3, s, w, k = p = sp.symbols("m_0 m_1 m_2 m_3 J l_1 l_2 l_3 s w k")
    N, B, O = ReferenceFrame("N"), ReferenceFrame("B"), Point("O")
    O.set_vel(N, 0)
    B.orient_axis(N, c, -N.z)

    def along(angle):
        return sp.sin(angle) * N.x + sp.cos(angle) * N.y

    slider = O.locatenew("slider", x * N.x + y * N.y)
    elbow = slider.locatenew("elbow", l_1 * along(a))
    wrist = elbow.locatenew("wrist", l_2 * along(b))
    tip = wrist.locatenew("tip", l_3 * along(c))
    bodies = [Particle("cart", slider, m_0), Particle("first", elbow, m_1), Particle("second", wrist, m_2)]
    bodies.append(RigidBody("hand", wrist, B, m_3, (inertia(B, 0, 0, J), wrist)))
    at = {name: point.pos_from(O).dt(N) for name, point in (("elbow", elbow), ("wrist", wrist), ("tip", tip))}
    mechanism = jd.Mechanism.from_sympy(
        bodies, N, q, parameters=dict(zip(p, (3.0, 1.5, 0.8, 0.6, 0.11, 0.7, 0.9, 0.5, 0.3, 0.2, 1.7), strict=True)),
        points={"elbow": elbow, "wrist": wrist, "tip": tip},
        outputs={"reach": at["tip"].dot(N.x) - w, "swing": a.diff() - k * b.diff()},
    )  # fmt: skip
    rail = y.diff() - s * x.diff()
    n, t = at["tip"].dot(N.y), at["tip"].dot(N.x)
    mechanism.constraint("rail", rail)
    mechanism.constraint("rails", {"one": rail, "other": -k * rail})
    mechanism.constraint("belt", at["elbow"].dot(N.x) - w)
    mechanism.constraint("stop", a.diff() - 2 * b.diff())
    mechanism.constraint("gear", b.diff() + k * c.diff())
    mechanism.constraint("slide", [at["wrist"].dot(N.x)])
    mechanism.contact("floor", normal=n, tangent=[t])
    mechanism.constraint("brace", 2 * n - k * t)
    mechanism.constraint("carpet", {"up": 3 * n, "along": n + t})
    mechanism.constraint("lift", {"rail": rail + n, "tip": n})  # leans on rows of two other constraints
    return mechanism


def crane_exact(kinds: Mapping[str, Any], at: Mapping[str, Any]) -> exact.Event:
    """The same by hand: Jacobians of the points, M = Σ m JᵀJ."""
    sin, cos = ({i: f(at[f"q.{i}"]) for i in "abc"} for f in (mp.sin, mp.cos))
    rods = {"a": at["l_1"], "b": at["l_2"], "c": at["l_3"]}

    def jacobian(angles):
        return [[1, 0, *(rods[i] * cos[i] if i in angles else 0 for i in "abc")],
                [0, 1, *(-rods[i] * sin[i] if i in angles else 0 for i in "abc")]]  # fmt: skip

    slider, elbow, wrist, tip = (jacobian(angles) for angles in ("", "a", "ab", "abc"))
    M = exact.masses([(at["m_0"], slider), (at["m_1"], elbow), (at["m_2"] + at["m_3"], wrist)], {4: at["J"]})
    t, n = tip
    k, rail = at["k"], [-at["s"], 1, 0, 0, 0]

    def combined(*terms):
        return [sum(factor * row[i] for factor, row in terms) for i in range(5)]

    rows = {
        "rail": [rail],
        "rails": [rail, combined((-k, rail))],
        "belt": [elbow[0]],
        "stop": [[0, 0, 1, -2, 0]],
        "gear": [[0, 0, 0, 1, k]],
        "slide": [wrist[0]],
        "floor": [n, t],
        "brace": [combined((2, n), (-k, t))],
        "carpet": [combined((3, n)), combined((1, n), (1, t))],
        "lift": [combined((1, rail), (1, n)), n],
    }
    w = {side: at.get(f"w_{side}", at.get("w")) for side in ("minus", "plus")}

    def values(given, n_rows):
        several = given if isinstance(given, list) else [given] * n_rows
        return [at[one] if isinstance(one, str) else mp.mpf(one) for one in several]

    found = []
    for kind in KINDS:
        for name in kinds.get(kind, ()):
            C = rows[name]
            b = {side: [-w[side] if name == "belt" else mp.zero] * len(C) for side in w}
            kappa = values(kinds[kind][name], len(C)) if kind == "elastic" else []
            beta = values(kinds[kind][name], len(C)) if kind == "nonideal" else []
            found.append(exact.Rows(name, kind, C, b["minus"], b["plus"], kappa, beta, name == "floor"))
    applied = []
    for name, load in kinds.get("impulses", {}).items():
        if name == "hand":
            applied.append([0, 0, 0, 0, -at[load]])  # c turns about −z
        elif name == "a":
            applied.append([0, 0, at[load], 0, 0])
        else:
            J = {"elbow": elbow, "wrist": wrist}[name]
            applied.append(combined((at[load[0]], J[0]), (at[load[1]], J[1])))

    def outputs(side, v):
        reach = sum(t[i] * v[i] for i in range(5)) - w[side]
        return [reach, v[2] - k * v[3]]

    return exact.Event(M, [at[f"v.{name}"] for name in "xyabc"], found, applied, outputs)


EVENTS: dict[str, dict[str, Any]] = {
    "inert": {"inert": ["floor"]},
    "released": {"regular": ["rail"], "inert": ["floor"], "released": ["gear", "stop"]},
    "elastic, κ by row": {"elastic": {"floor": ["kappa_n", 0.2], "stop": "kappa"}},
    "live": {"regular": ["rail"], "live": {"belt": {"w": (0.3, -0.2)}}, "inert": ["floor"]},
    "elastic on a moving support": {"elastic": {"belt": "kappa"}, "regular": ["rail"]},
    "struck": {"regular": ["rail"], "released": ["gear"], "impulses": {"wrist": ["P_x", "P_y"], "a": "H", "hand": "K"}},
    "nonideal": {"regular": ["rail"], "inert": ["floor"], "nonideal": {"slide": "beta"}},
    "energy created": {"elastic": {"floor": [1.0, 0.0], "stop": 0.9}},
    "all kinds": {
        "regular": ["rail"], "live": {"belt": {"w": (0.3, -0.2)}}, "inert": ["gear"], "elastic": {"floor": "kappa"},
        "released": ["stop"], "nonideal": {"slide": "beta"}, "impulses": {"wrist": ["P_x", "P_y"]},
    },
    "redundant in one constraint": {"regular": ["rails"], "inert": ["floor"]},
    "redundant across constraints": {"inert": ["floor", "brace", "carpet"]},
    "redundant across kinds": {"regular": ["rails"], "inert": ["lift"], "elastic": {"stop": "kappa"}},
    "redundant and elastic": {"elastic": {"floor": "kappa", "carpet": "kappa"}, "nonideal": {"slide": "beta"}},
}  # fmt: skip
GIVEN = {"kappa": 0.5, "kappa_n": 0.7, "P_x": 0.4, "P_y": -0.7, "H": 0.3, "K": -0.2, "beta": 0.35}


@cache
def crane_event(name: str) -> tuple[jd.Event, dict[str, Any]]:
    """The event, and a state in which the rows that are on before hold: "q.a", "v.a" and parameters by name."""
    kinds = EVENTS[name]
    mechanism = crane()
    event = mechanism.event(**kinds)
    parameters = {p: GIVEN.get(p) if default is None else default for p, default in event.parameters.items()}
    rng = np.random.default_rng(17)
    q, v = rng.uniform(-0.9, 0.9, 5), rng.normal(size=5)
    v = v if v @ mechanism.constraints["floor"].rows(q)[0][0] < 0 else -v  # towards the floor
    held_rows = [mechanism.constraints[row] for kind in PRIOR for row in kinds.get(kind, ())]
    if held_rows:
        before = {p: value for p, value in parameters.items() if p in mechanism.parameters}
        if "w_minus" in parameters:
            before["w"] = parameters["w_minus"]
        C, b = (np.concatenate(part) for part in zip(*(row.rows(q, **before) for row in held_rows), strict=True))
        v = held(mechanism.mass_matrix(q), v, C, b)
    state = {f"q.{i}": q[j] for j, i in enumerate("xyabc")} | {f"v.{i}": v[j] for j, i in enumerate("xyabc")}
    return event, state | parameters


def split(at: Mapping[str, float]) -> dict[str, Any]:
    """The arguments of `Event.solve` from numbers by name."""
    q, v = (np.array([value for key, value in at.items() if key.startswith(kind)]) for kind in ("q.", "v."))
    return {"q": q, "v": v} | {name: value for name, value in at.items() if "." not in name}


@cache
def expected(name: str) -> tuple[exact.Numbers, dict[str, dict[str, Any]]]:
    """All quantities of an event at its state, and their derivatives by every number of it."""

    def numbers_at(at):
        return exact.outcome(crane_exact(EVENTS[name], at))

    _, at = crane_event(name)
    return numbers_at({key: mp.mpf(value) for key, value in at.items()}), exact.derivatives(numbers_at, at, at)


@pytest.mark.parametrize("name", EVENTS)
def test_every_quantity_by_every_variable(name):
    """∂(quantity)/∂(q, v⁻, parameters) is that of the definitions; rows that depend on others are no exception."""
    event, at = crane_event(name)
    values, slopes = expected(name)
    state = {key: key.replace(".", "_") for key in at if "." in key}  # q and v as parameters of a scenario
    scenario = event.at(
        q={key[2:]: symbol for key, symbol in state.items() if key[0] == "q"},
        v={key[2:]: symbol for key, symbol in state.items() if key[0] == "v"},
    )
    of = tuple(quantity for quantity in DIFFERENTIABLE if values[quantity])
    found, J, status = scenario.gradient_of(of, tuple(state.get(key, key) for key in at))(
        {state.get(key, key): value for key, value in at.items()}
    )
    assert status == (jd.Status.ENERGY_CREATED if name == "energy created" else jd.Status.OK)
    start = 0
    for quantity in of:
        place = slice(start, start := start + len(values[quantity]))
        assert found[place] == pytest.approx([float(value) for value in values[quantity]], rel=1e-11, abs=1e-11), (
            quantity
        )
        for i, variable in enumerate(at):
            assert_derivatives(J[place, i], slopes[quantity][variable], f"∂ {quantity} / ∂ {variable}")
    assert start == len(J)


@pytest.mark.parametrize(
    ("name", "quantities"),
    [("all kinds", DIFFERENTIABLE), ("redundant across constraints", ("v_plus", "impulse", "ledger", "T_c_minus"))],
)
def test_event_gradient_of_every_quantity(name, quantities):
    """The same by `Event.gradient`; a derivative has the shape of the quantity, then that of the variable."""
    event, at = crane_event(name)
    values, slopes = expected(name)
    for quantity in quantities:
        shape = () if quantity in SCALARS else (len(values[quantity]),)
        found = event.gradient(quantity, ["q", "v", *event.parameters], **split(at))
        for kind in "qv":
            whole = np.stack([slopes[quantity][key] for key in at if key.startswith(f"{kind}.")], axis=-1)
            assert_derivatives(found[kind], whole.reshape(*shape, 5), f"∂ {quantity} / ∂ {kind}")
        for parameter in event.parameters:
            what = f"∂ {quantity} / ∂ {parameter}"
            assert_derivatives(found[parameter], slopes[quantity][parameter].reshape(shape), what)


def test_parts_of_quantities_and_of_the_state():
    """ "impulse.floor.normal", "ledger.floor", "q.a": the derivatives of the whole, cut out (or summed)."""
    event, at = crane_event("all kinds")
    rows = [row.name for row in event.layout.rows]

    def gradient(of, *wrt):
        return event.gradient(of, wrt, **split(at))

    whole = {of: gradient(of, "q", "v", "k") for of in ("impulse", "ledger", "v_plus", "outputs_plus", "applied_work")}
    normal, tangent = rows.index("floor.normal"), rows.index("floor.tangent")
    cases = {
        "impulse.floor.normal": whole["impulse"]["q"][normal],
        "impulse.floor": whole["impulse"]["q"][[normal, tangent]],
        "impulse.rail": whole["impulse"]["q"][rows.index("rail")],
        "impulse.slide": whole["impulse"]["q"][[rows.index("slide.0")]],
        "ledger.floor": whole["ledger"]["q"][[normal, tangent]].sum(axis=0),
        "ledger.impulse wrist": whole["applied_work"]["q"][0],
        "v_plus.b": whole["v_plus"]["q"][3],
        "outputs.swing": whole["outputs_plus"]["q"][1],
    }
    for of, by_q in cases.items():
        assert_derivatives(gradient(of, "q")["q"], by_q, of, 1e-13)
    by_entry = gradient("v_plus", "q.c", "v.a", "k")
    assert list(by_entry) == ["q.c", "v.a", "k"]
    for entry, expected_slope in (("q.c", whole["v_plus"]["q"][:, 4]), ("v.a", whole["v_plus"]["v"][:, 2])):
        assert_derivatives(by_entry[entry], expected_slope, entry, 1e-13)
    assert_derivatives(by_entry["k"], whole["v_plus"]["k"], "k", 1e-13)
    assert isinstance(gradient("loss", "k")["k"], float)


def test_things_stand_for_their_names():
    event, at = crane_event("inert")
    by_symbol = event.gradient("loss", sp.Symbol("k"), **split(at))
    assert by_symbol == event.gradient("loss", ["k"], **split(at))
    assert event.gradient("loss", [], **split(at)) == {}
    given = {name: value for name, value in at.items() if "." not in name}
    by_mapping = event.gradient("loss", "k", q=split(at)["q"], v=split(at)["v"], parameters=given)
    assert by_mapping == by_symbol


# The walker


WALKER_ROWS = {  # of the new foot: constraint → rows, each (times the normal row, times the tangential row)
    "heel": [(1, 0), (0, 1)],
    "twice": [(2, 0)],  # a row again, scaled
    "mixed": [(1, -3), (0, 2)],  # combinations, a constraint of their own
    "three": [(1, 0), (0, 1), (2, 5)],  # redundant inside
}
STRIKES: dict[str, dict[str, Any]] = {
    "inert": {"inert": ["heel"]},
    "elastic": {"elastic": {"heel": 0.5}},
    "a row twice": {"inert": ["heel", "twice"]},
    "redundant inside": {"inert": ["three"]},
    "redundant inside and across": {"inert": ["three", "twice"]},
    "combinations": {"inert": ["heel", "mixed"]},
    "elastic combinations": {"elastic": {"heel": 0.5, "mixed": 0.5}},
    "struck and redundant": {"inert": ["mixed", "heel"], "impulses": {"hip": [0.3, -0.2]}},
}


@cache
def strike(name: str) -> jd.Scenario:
    """The gallery's walker, its new foot held by these constraints."""
    model = gallery.walker()
    if name == "inert":
        return model
    mechanism = model.event.mechanism
    normal, tangent = ca.vertsplit(mechanism.constraints["heel"].C @ mechanism.symbols.v)
    for constraint, rows in WALKER_ROWS.items():
        if constraint != "heel":
            expressions = [n * normal + t * tangent for n, t in rows]
            mechanism.constraint(constraint, expressions if len(rows) > 1 else expressions[0])
    theta, lean, rho, mu, m_W, m_H, l, rate = sp.symbols("theta torso rho mu m_W m_H l rate")
    legs = (m_W - m_H) / (1 + mu)
    return mechanism.event(**STRIKES[name], released=["stance"]).at(
        q={"foot_y": rho * l, "stance": theta / 2, "swing": -theta / 2, "torso": lean},
        v={"foot_x": rho * l * rate, "stance": rate, "swing": rate},
        parameters={"R": rho * l, "m": legs / 2, "m_T": mu * legs},
        defaults={name: value for name, value in model.parameters.items() if value is not None},
    )


def walker_exact(name: str, at: Mapping[str, Any]) -> exact.Event:
    """The walker by hand [FK-b]: point masses on legs at ±theta/2, feet of radius rho l that roll."""
    l, b, R, rate = at["l"], at["b"], at["rho"] * at["l"], at["rate"]
    legs = (at["m_W"] - at["m_H"]) / (1 + at["mu"])
    angles = {2: at["theta"] / 2, 3: -at["theta"] / 2, 4: at["torso"]}

    def jacobian(lengths):
        x, y = [1, 0, 0, 0, 0], [0, 1, 0, 0, 0]
        for i, length in lengths.items():
            x[i], y[i] = length * mp.cos(angles[i]), -length * mp.sin(angles[i])
        return [x, y]

    hip = jacobian({2: l - R})
    M = exact.masses([
        (legs / 2, jacobian({2: l - R - b})), (legs / 2, jacobian({2: l - R, 3: -b})), (at["m_H"], hip),
        (at["mu"] * legs, jacobian({2: l - R, 4: at["l_T"]})),
    ])  # fmt: skip
    tangent, normal = jacobian({2: l - R, 3: R - l})
    tangent[3] -= R  # the sole is carried by the leg
    rows, nothing = [], [mp.zero]
    for kind in ("inert", "elastic"):
        for constraint in STRIKES[name].get(kind, ()):
            C = [[n * normal[i] + t * tangent[i] for i in range(5)] for n, t in WALKER_ROWS[constraint]]
            kappa = [mp.mpf(STRIKES[name]["elastic"][constraint])] * len(C) if kind == "elastic" else []
            still = nothing * len(C)
            rows.append(exact.Rows(constraint, kind, C, still, still, kappa, contact=constraint == "heel"))
    rows.append(
        exact.Rows("stance", "released", [[0, 1, 0, 0, 0], [1, 0, -R, 0, 0]], nothing * 2, nothing * 2, contact=True)
    )
    loads = STRIKES[name].get("impulses", {})
    applied = [[hip[0][i] * load[0] + hip[1][i] * load[1] for i in range(5)] for load in loads.values()]
    return exact.Event(M, [R * rate, mp.zero, rate, rate, mp.zero], rows, applied)


@pytest.mark.parametrize("name", STRIKES)
def test_walker(name):
    """T_c⁻, and all that follows from it, by the parameters of the papers; away from the symmetric posture."""
    scenario = strike(name)
    wrt = ("theta", "rho", "torso", "mu")
    for torso in (0.0, -0.21):
        at = {**scenario.parameters, "torso": torso}
        values = exact.outcome(walker_exact(name, {key: mp.mpf(value) for key, value in at.items()}))
        slopes = exact.derivatives(lambda at: exact.outcome(walker_exact(name, at)), at, wrt)
        energy = scenario.gradient("T_c_minus", wrt=wrt, torso=torso)
        for parameter in wrt:
            assert energy[parameter] == pytest.approx(slopes["T_c_minus"][parameter][0], rel=1e-9), parameter
        of = tuple(quantity for quantity in DIFFERENTIABLE if values[quantity])
        _, J, _ = scenario.gradient_of(of, wrt)({"torso": torso})
        for i, parameter in enumerate(wrt):
            flat = np.concatenate([slopes[quantity][parameter] for quantity in of])
            assert_derivatives(J[:, i], flat, f"∂ / ∂ {parameter}", 1e-11)


def test_redundant_rows_leave_the_derivatives_of_the_motion_alone():
    """What is unique (v⁺, energies) has the derivatives of the event without the redundant rows."""
    wrt = ["theta", "rho", "torso"]
    for redundant, plain in (
        ("combinations", "inert"),
        ("redundant inside", "inert"),
        ("elastic combinations", "elastic"),
    ):
        for of in ("v_plus", "loss"):
            one, other = (strike(name).gradient(of, wrt, theta=0.6) for name in (redundant, plain))
            for parameter in wrt:
                assert_derivatives(one[parameter], other[parameter], f"{redundant}: ∂ {of} / ∂ {parameter}", 1e-12)


# Closed loops: coordinates that follow the parameters


def loop_exact(rows: str, start: np.ndarray, at: Mapping[str, Any]) -> exact.Event:
    lengths = [at["l_1"], at["l_2"], at["l_3"]]

    def gap(coupler, rocker):
        angles = (at["theta"], coupler, rocker)
        x = sum(length * mp.cos(angle) for length, angle in zip(lengths, angles, strict=True))
        return x - at["d"], sum(length * mp.sin(a) for length, a in zip(lengths, angles, strict=True)) - at["h"]

    angles = [at["theta"], *mp.findroot(gap, [mp.mpf(angle) for angle in start], tol=1e-70)]

    def jacobian(n):
        return [[-lengths[i] * mp.sin(angles[i]) if i < n else mp.zero for i in range(3)],
                [lengths[i] * mp.cos(angles[i]) if i < n else mp.zero for i in range(3)]]  # fmt: skip

    M = exact.masses([(at["m"] * n, jacobian(n)) for n in (1, 2, 3)])
    x, y = jacobian(3)
    C = {"x": x, "y": y, "s": [x[i] - 2 * y[i] for i in range(3)]}
    v = exact.column([at["omega"], mp.mpf(0.4), mp.mpf(-0.3)])
    if "E" in at:
        v *= mp.sqrt(2 * at["E"] / (v.T * M * v)[0])
    still = [mp.zero] * len(rows)
    pin = exact.Rows("loop", "inert", [C[row] for row in rows], still, still)
    stop = exact.Rows("stop", "elastic", [[0, -1, 1]], still[:1], still[:1], [at["kappa"]])
    return exact.Event(M, list(v), [pin, stop])


@pytest.mark.parametrize("energy", [None, "E"])
@pytest.mark.parametrize("rows", ["xy", "xys"])
def test_coordinates_that_close_a_loop_follow_the_parameters(rows, energy):
    """Implicit function theorem: dq = −(∂g/∂q)⁻¹ ∂g/∂p dp; also with one more row, and with v scaled to an energy."""
    scenario = loop(rows, energy)
    at: dict[str, Any] = {**scenario.parameters, "theta": 0.7, **({"E": 2.3} if energy else {})}
    q, v, _ = scenario.state(at)
    start = q[1:]
    values = exact.outcome(loop_exact(rows, start, {key: mp.mpf(value) for key, value in at.items()}))
    slopes = exact.derivatives(lambda at: exact.outcome(loop_exact(rows, start, at)), at, at)
    assert values["v_minus"] == pytest.approx(v, rel=1e-13)
    of = tuple(quantity for quantity in DIFFERENTIABLE if values[quantity])
    _, J, _ = scenario.gradient_of(of, tuple(at))(at)
    for i, parameter in enumerate(at):
        flat = np.concatenate([slopes[quantity][parameter] for quantity in of])
        assert_derivatives(J[:, i], flat, f"∂ / ∂ {parameter}")
    batch = scenario.gradient("v_plus", ["theta", "l_2"], **{**at, "theta": np.array([0.7, np.nan, 0.7])})
    single = scenario.gradient("v_plus", ["theta", "l_2"], **at)
    for parameter in ("theta", "l_2"):
        assert batch[parameter].shape == (3, 3)
        assert_derivatives(batch[parameter][[0, 2]], np.stack([single[parameter]] * 2), parameter, 1e-12)
        assert np.isnan(batch[parameter][1]).all()


def test_a_loop_without_a_derivative():
    """A guess that cannot arrive; and rows that leave the guessed coordinates free."""
    far = loop()
    with pytest.raises(jd.NotConverged, match="No 'coupler', 'rocker' near the guess satisfies the geometric rows"):
        far.gradient("loss", "theta", theta=0.7, d=9.0)
    found = far.gradient("loss", ["theta"], theta=0.7, d=[1.1, 9.0, 1.1])["theta"]
    assert np.isnan(found).tolist() == [False, True, False]
    assert found[0] == found[2]
    free = bars().event(inert=["loop"]).at(
        v={"crank": 1.0, "coupler": 0.0, "rocker": 0.0}, guess={"crank": 0.7, "coupler": 0.3, "rocker": -1.2}
    )  # fmt: skip
    with pytest.raises(jd.NotConverged, match="do not determine 'crank', 'coupler', 'rocker' here: no derivative"):
        free.gradient("loss", "d")
    assert np.isnan(free.gradient("loss", "d", d=[1.1, 1.0])["d"]).all()


def test_velocity_scaled_to_an_energy():
    """loss is proportional to the energy and does not depend on the speed that is scaled."""
    scenario = bars().event(inert=["stop"]).at(
        q={"crank": "theta", "rocker": 0.4}, v={"crank": "omega", "rocker": 0.5}, energy="E"
    )  # fmt: skip
    at: dict[str, Any] = {"theta": 0.3, "omega": 1.2, "E": 0.8}
    t = scenario.solve(**at)
    assert t.T_minus == pytest.approx(0.8, rel=1e-14)
    assert scenario.gradient("loss", "E", **at)["E"] == pytest.approx(t.loss / 0.8, rel=1e-12)
    assert scenario.gradient("T_minus", ["theta", "m", "omega"], **at) == pytest.approx(
        {"theta": 0, "m": 0, "omega": 0}, abs=1e-14
    )
    with pytest.raises(jd.BadEvent, match="cannot be scaled to this energy"):
        scenario.gradient("loss", "E", theta=0.3, omega=1.2, E=-1.0)


# Batches


def lanes(event: jd.Event, at: Mapping[str, float], n: int) -> dict[str, Any]:
    """n states around one: another pose, another speed along the same prior direction, other parameters."""
    rng = np.random.default_rng(n)
    state = split(at)
    state["v"] = state["v"] * rng.uniform(0.5, 1.5, n)[:, None]
    for name in state:
        if name in ("m_0", "m_2", "J", "kappa", "beta", "P_x"):
            state[name] = state[name] * rng.uniform(0.7, 1.3, n)
    if not any(role.block.kind in PRIOR for role in event.roles):  # else the pose decides what holds before
        state["q"] = rng.uniform(-1.2, 1.2, (n, 5))
    return state


def lane(state: Mapping[str, Any], i: int) -> dict[str, Any]:
    return {name: value[i] if np.ndim(value) > (name in "qv") else value for name, value in state.items()}


BATCHES = ("inert", "elastic, κ by row", "nonideal", "redundant across constraints")


@pytest.mark.parametrize("n", [7, 2100])
@pytest.mark.parametrize("name", BATCHES)
def test_batches_are_their_lanes(name, n):
    """A few lanes by CasADi's machine, many by a compiled kernel: what single calls give. A lane that fails has NaN."""
    event, at = crane_event(name)
    state, wrt = lanes(event, at, n), ["q.b", "v", "k"]
    whole = {of: event.gradient(of, wrt, **state) for of in ("impulse", "loss")}
    some = sorted({0, 1, 3, 4, n // 2, n - 2, n - 1})
    for of, found in whole.items():
        for i in some:
            single = event.gradient(of, wrt, **lane(state, i))
            for variable, slope in single.items():
                assert found[variable].shape == (n, *np.shape(slope))
                assert_derivatives(found[variable][i], slope, f"lane {i}: ∂ {of} / ∂ {variable}", 1e-12)
    broken = {**state, "m_0": np.array(state["m_0"] * np.ones(n)), "v": np.array(state["v"])}
    broken["m_0"][1], broken["v"][3] = -9.0, np.nan
    wrong = np.isin(np.arange(n), [1, 3])
    for of, found in whole.items():
        for variable, slope in event.gradient(of, wrt, **broken).items():
            assert np.isnan(slope[wrong]).all(), f"∂ {of} / ∂ {variable}"
            assert np.array_equal(slope[~wrong], found[variable][~wrong]), f"∂ {of} / ∂ {variable}"


@pytest.mark.parametrize("n", [5, 2100])
def test_lanes_of_a_scenario_that_fail(n):
    """κ outside [0, 1], NaN, a negative mass: NaN in the lane, its neighbours untouched."""
    scenario = strike("elastic")
    mechanism = scenario.event.mechanism
    scenario = mechanism.event(elastic={"heel": "kappa"}, released=["stance"]).at(
        q={"stance": "theta", "swing": -sp.Symbol("theta")}, v={"foot_x": "slide", "stance": 1.0, "swing": 1.0},
        defaults={"kappa": 0.4, "slide": 0.2},
    )  # fmt: skip
    theta = np.linspace(0.2, 0.9, n)
    clean = scenario.gradient("impulse", ["theta", "kappa"], theta=theta)
    broken: dict[str, Any] = {
        "theta": theta.copy(),
        "kappa": np.full(n, 0.4),
        "m": np.full(n, 5.0),
        "slide": np.full(n, 0.2),
    }
    for lane, (name, value) in enumerate((("theta", np.inf), ("kappa", 1.5), ("m", -7.0), ("slide", 0.3))):
        broken[name][lane] = value
    found = scenario.gradient("impulse", ["theta", "kappa"], **broken)
    for parameter in found:
        assert found[parameter].shape == (n, 4)
        assert np.isnan(found[parameter][:4]).all()
        assert np.array_equal(found[parameter][4:], clean[parameter][4:])
    single = scenario.gradient("impulse", ["theta", "kappa"], theta=theta[-1])
    for parameter in found:
        assert_derivatives(found[parameter][-1], single[parameter], parameter, 1e-12)


def test_shapes_broadcast():
    scenario = gallery.walker()
    found = scenario.gradient("v_plus", ["theta", "rho"], theta=np.linspace(0.3, 0.6, 4)[:, None], rho=[0.0, 0.1, 0.2])
    assert found["rho"].shape == (4, 3, 5)
    one = scenario.gradient("v_plus", "rho", theta=0.5, rho=0.1)["rho"]
    assert_derivatives(found["rho"][2, 1], one, "rho", 1e-12)
    assert scenario.gradient("loss", "theta", theta=[])["theta"].shape == (0,)


# Where there is no derivative


def test_at_rest_xi_has_none():
    event, at = crane_event("inert")
    still = {key: 0.0 if key.startswith("v.") else value for key, value in at.items()}
    assert np.isnan(event.solve(**split(still)).xi)
    assert np.isnan(event.gradient("xi", "q", **split(still))["q"]).all()
    assert not event.gradient("loss", "v", **split(still))["v"].any()


def test_a_quantity_that_is_infinite_has_none():
    """The mass that a regular row meets, the friction of a foot that pulls."""
    event, at = crane_event("nonideal")
    found = event.gradient("effective_mass", "m_0", **split(at))["m_0"]
    assert np.isnan(found).tolist() == [True, False, False, False]  # the rail, then the floor and the slide
    event, at = crane_event("inert")
    up = {key: -value if key.startswith("v.") else value for key, value in at.items()}
    assert event.solve(**split(up)).required_friction["floor"] == np.inf
    assert np.isnan(event.gradient("required_friction.floor", "k", **split(up))["k"])


# The jump map


@pytest.mark.parametrize("name", ["all kinds", "redundant and elastic"])
def test_function_is_the_jump_map(name):
    """Function(q, v, p) → v_plus, impulse gives what `solve` gives, and CasADi differentiates it exactly."""
    event, at = crane_event(name)
    jump = event.function()
    assert (jump.name_in(), jump.name_out()) == (["q", "v", "p"], ["v_plus", "impulse"])
    state = split(at)
    arguments = (state["q"], state["v"], [state[name] for name in event.parameters])
    t = event.solve(**state)
    v_plus, impulse = (np.array(out)[:, 0] for out in jump(*arguments))
    assert v_plus == pytest.approx(t.v_plus, abs=1e-14)
    assert impulse == pytest.approx(numbers(t, "impulse"), abs=1e-13)
    wanted = [f"jac:{of}:{by}" for of in ("v_plus", "impulse") for by in "qvp"]
    derivatives = jump.factory("derivatives", ["q", "v", "p"], wanted)(*arguments)
    for of, slopes in (("v_plus", derivatives[:3]), ("impulse", derivatives[3:])):
        found = event.gradient(of, ["q", "v", *event.parameters], **state)
        by_p = np.stack([found[name] for name in event.parameters], axis=-1)
        for by, slope, expected_slope in zip("qvp", slopes, (found["q"], found["v"], by_p), strict=True):
            assert_derivatives(np.array(slope), expected_slope, f"∂ {of} / ∂ {by}", 1e-12)


def test_function_inside_an_optimal_control_problem():
    """As a node of a CasADi graph: which prior speed leaves the slider with a given speed?"""
    event, at = crane_event("inert")
    state, jump = split(at), event.function()
    speed = ca.MX.sym("speed")
    v_plus, _ = jump(state["q"], state["v"] * speed, [state[name] for name in event.parameters])
    wanted = float(event.solve(**{**state, "v": 1.7 * state["v"]}).velocity_plus["x"])
    solver = ca.rootfinder("speed", "newton", {"x": speed, "g": v_plus[0] - wanted})
    assert float(solver(x0=1.0)["x"]) == pytest.approx(1.7, rel=1e-10)


# What is refused


def test_unknown_names():
    event, at = crane_event("inert")
    scenario, state = gallery.walker(), split(at)
    for of, text in (
        ("los", "There is no quantity 'los'; did you mean 'loss'"),
        ("v_plus.d", "There is no entry of v_plus 'd'"),
        ("impulse.flor", "There is no entry of impulse 'flor'; did you mean 'floor'"),
        ("loss.floor", "There is no quantity 'loss.floor'; did you mean 'loss'"),
        ("impulse.carpet.tangent", "There is no entry of impulse 'carpet.tangent'"),
        ("applied_work", "This event has no 'applied_work': no impulse is applied"),
    ):
        with pytest.raises(jd.UnknownName, match=text):
            event.gradient(of, "k", **state)
    with pytest.raises(jd.UnknownName, match="This event has no 'outputs_plus': the mechanism names no outputs"):
        scenario.gradient("outputs", "rho")
    for wrt, text in (
        ("kk", "There is no parameter 'kk'; did you mean 'k'"),
        ("q.d", "There is no entry of q 'd'; there are: 'x', 'y', 'a', 'b', 'c'"),
        ("v.xx", "There is no entry of v 'xx'; did you mean 'x'"),
    ):
        with pytest.raises(jd.UnknownName, match=text):
            event.gradient("loss", wrt, **state)
    with pytest.raises(jd.UnknownName, match="There is no parameter 'theeta'; did you mean 'theta'"):
        scenario.gradient("loss", ["rho", "theeta"])
    with pytest.raises(jd.UnknownName, match="There is no parameter 'thta'; did you mean 'theta'"):
        scenario.gradient("loss", "rho", thta=0.4)


@pytest.mark.parametrize("quantity", INTEGERS)
def test_whole_numbers_have_no_derivative(quantity):
    event, at = crane_event("inert")
    with pytest.raises(jd.BadEvent, match=f"'{quantity}' is a whole number: it has no derivative"):
        event.gradient(quantity, "k", **split(at))
    with pytest.raises(jd.BadEvent, match=r"'dof\.prior' is a whole number"):
        gallery.walker().gradient("dof.prior", "rho")


def test_parameters_called_q_or_v():
    """They stand in the way of the state; entries of the state, and scenarios, do not mind."""
    event = gallery.walker().event.mechanism.event(elastic={"heel.normal": "q", "heel.tangent": "v"})
    state: dict[str, Any] = {
        "q": {"stance": 0.3, "swing": -0.3},
        "v": {"stance": 1.0},
        "parameters": {"q": 0.5, "v": 0.2},
    }
    for name in "qv":
        with pytest.raises(jd.NameClash, match=f"'{name}' is the state and also a parameter of this event; rename"):
            event.gradient("loss", name, **state)
    assert np.isfinite(event.gradient("loss", ["q.stance", "v.stance"], **state)["q.stance"])
    scenario = event.at(q={"stance": 0.3, "swing": -0.3}, v={"stance": 1.0})
    step = 1e-6
    ahead, behind = (scenario.solve(q=0.5 + way * step, v=0.2).loss for way in (1, -1))
    assert scenario.gradient("loss", "q", q=0.5, v=0.2)["q"] == pytest.approx((ahead - behind) / (2 * step), rel=1e-7)


def test_a_value_that_is_missing():
    event, at = crane_event("elastic, κ by row")
    state = {name: value for name, value in split(at).items() if name != "kappa"}
    with pytest.raises(jd.MissingValue, match="Parameter 'kappa' has no default"):
        event.gradient("loss", "k", **state)


@pytest.mark.parametrize("changes", [
    {"v": np.array([1.0, 5.0, 0.0, 0.0, 0.0])},  # breaks the rail
    {"m_0": -9.0},
    {"kappa": 1.2},
    {"k": np.nan},
    {"q": np.array([0.0, 0.0, np.inf, 0.0, 0.0])},
], ids=["prior", "mass", "restitution", "NaN", "infinity"])  # fmt: skip
def test_one_event_that_fails_raises_what_solve_raises(changes):
    event, at = crane_event("all kinds")
    state = split(at) | changes
    with pytest.raises(jd.Error) as solved:
        event.solve(**state)
    with pytest.raises(type(solved.value)) as differentiated:
        event.gradient("loss", ["q", "v", "k"], **state)
    assert str(differentiated.value) == str(solved.value)


def test_one_scenario_that_fails_raises_what_solve_raises():
    for scenario, changes in (
        (gallery.walker(), {"m_H": -90.0}),
        (gallery.walker(), {"theta": np.nan}),
        (gallery.rod(), {"kappa": -0.1}),
        (loop(), {"theta": 0.7, "d": 9.0}),
        (loop(), {"theta": np.nan}),
    ):
        with pytest.raises(jd.Error) as solved:
            scenario.solve(parameters=changes)
        with pytest.raises(type(solved.value)) as differentiated:
            scenario.gradient("loss", list(scenario.parameters), parameters=changes)
        assert str(differentiated.value) == str(solved.value)


def test_unchecked():
    """check=False takes the derivative although a row does not hold before."""
    event, at = crane_event("nonideal")
    state = split(at) | {"v": np.array([1.0, 5.0, 0.0, 0.0, 0.0])}
    loss = event.solve(**state, check=False).loss
    step = 1e-6
    ahead = event.solve(**{**state, "k": state["k"] + step}, check=False).loss
    found = event.gradient("loss", "k", check=False, **state)["k"]
    assert found == pytest.approx((ahead - loss) / step, abs=1e-4)
    with pytest.raises(jd.BadEvent, match="check is True or False where derivatives are taken, not 'project'"):
        event.gradient("loss", "k", check="project", **split(at))  # type: ignore[arg-type]


def test_variables_may_overlap():
    event = gallery.walker().event
    q, v = {"foot_y": 0.2, "stance": 0.35, "swing": -0.35}, {"foot_x": 0.2, "stance": 1.0, "swing": 1.0}
    found = event.gradient("v_plus", wrt=["q.stance", "q", "q", "l", "q.stance"], q=q, v=v)
    assert list(found) == ["q.stance", "q", "l"]
    np.testing.assert_array_equal(event.gradient("q", wrt="q", q=q, v=v)["q"], np.eye(5))
    np.testing.assert_array_equal(found["q"][:, 2], found["q.stance"])
    assert set(gallery.walker().gradient("loss", wrt=["rho", "rho"])) == {"rho"}
