"""What SymPy's equations hold is in the mechanism: loads, rows and names of any size, or a refusal that is true."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import casadi as ca
import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import (
    Force,
    KanesMethod,
    LagrangesMethod,
    Particle,
    PinJoint,
    Point,
    ReferenceFrame,
    RigidBody,
    System,
    Vector,
    dynamicsymbols,
    inertia,
)

import jourdain as jd

x, y, z, v, w, F = dynamicsymbols("x y z v w F")
m, k, a = sp.symbols("m k a")
t = dynamicsymbols._t
STATE = {"x": 4.0, "v": 0.5, "t": 4.0}


def particle(load: Any = 0, mass: Any = 1, velocity: Any = v, rate: Any = v) -> KanesMethod:
    N, O = ReferenceFrame("N"), Point("O")
    O.set_vel(N, 0)
    P = O.locatenew("P", x * N.x)
    P.set_vel(N, velocity * N.x)
    return KanesMethod(N, [x], [v], [x.diff() - rate], bodies=[Particle("p", P, mass)], forcelist=[(P, load * N.x)])


def values(mechanism: jd.Mechanism, expression: Any, **numbers: float) -> Any:
    """An SX at numbers of its symbols, those of rates by the names of their coordinates with a _rate."""
    s = mechanism.symbols
    v_names = [f"{name}_rate" if name in s.q_names else name for name in s.v_names]
    f = ca.Function("f", [s.q, s.v, s.t], [ca.densify(expression)])
    return np.array(f([numbers.get(n, 0.0) for n in s.q_names], [numbers.get(n, 0.0) for n in v_names],
                      numbers.get("t", 0.0)))  # fmt: skip


def acceleration(mechanism: jd.Mechanism, **numbers: float) -> Any:
    """v̇ without rows."""
    loads: Any = mechanism.loads
    M, rest = (values(mechanism, part, **numbers) for part in (mechanism.M, loads.force - loads.bias))
    return np.linalg.solve(M, rest)[:, 0]


def acceleration_of(kane: KanesMethod, **numbers: float) -> Any:
    """The same by SymPy."""
    kane.kanes_equations()
    at = {symbol: numbers[str(symbol).removesuffix("(t)")] for symbol in (*kane.q, *kane.u)} | {t: numbers["t"]}
    both = (matrix.xreplace(at) for matrix in (kane.mass_matrix, kane.forcing))
    M, f = (np.array(matrix.evalf(), dtype=float) for matrix in both)
    return np.linalg.solve(M, f)[:, 0]


@contextmanager
def no_warning() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


# Loads


@pytest.mark.parametrize(
    "load",
    [
        -1000 * sp.Max(0, x - 3),
        7 * sp.Heaviside(t - 3),
        sp.Piecewise((-5 * v, x > 3), (0, True)),
        -sp.sqrt(x - 3),
        -sp.log(x - 3.5),
        1e-9 * x,
    ],
)
@pytest.mark.parametrize("mass", [1, 1e-8])
def test_a_load_acts_wherever_and_however_small_it_is(load: Any, mass: Any) -> None:
    kane = particle(load * mass, mass)
    np.testing.assert_allclose(
        acceleration(jd.Mechanism.from_system(kane), **STATE), acceleration_of(kane, **STATE), rtol=1e-12
    )


@pytest.mark.parametrize("kind", ["bodies", "gravity", "Lagrange"])
def test_a_light_body_falls(kind: str) -> None:
    N, P = ReferenceFrame("N"), Point("P")
    P.set_vel(N, x.diff() * N.x)
    weight: Any = {"forces": [(P, -1e-8 * 9.81 * N.x)]} if kind == "bodies" else {"gravity": -9.81 * N.x}
    if kind == "Lagrange":
        lagrange = LagrangesMethod(1e-8 * x.diff() ** 2 / 2, [x], forcelist=[(P, -1e-8 * 9.81 * N.x)], frame=N)
        mechanism = jd.Mechanism.from_system(lagrange)
    else:
        mechanism = jd.Mechanism.from_sympy([Particle("p", P, 1e-8)], N, [x], **weight)
    np.testing.assert_allclose(acceleration(mechanism), [-9.81], rtol=1e-12)


# Potential energy and loads


def lifted(load: Any, speeds: bool = True) -> System:
    """A body with the potential energy 10 x, and a load; speeds that are not rates make it one of Kane's method."""
    ground, body = RigidBody("ground"), Particle("body", mass=1)
    system = System.from_newtonian(ground)
    body.masscenter.set_pos(ground.masscenter, x * ground.x)
    body.masscenter.set_vel(ground.frame, (v if speeds else x.diff()) * ground.x)
    body.potential_energy = 10 * x
    system.add_bodies(body)
    system.add_coordinates(x)
    if speeds:
        system.add_speeds(v)
        system.add_kdes(x.diff() - v)
    if load != 0:
        system.add_loads(Force(body, load * ground.x))
    return system


LOADS = [-10, -10 - v, sp.Piecewise((-7 * v, x > 3), (0, True)), 0]


@pytest.mark.parametrize("load", LOADS)
def test_kanes_method_uses_loads_only_formed_or_not(load: Any) -> None:
    system, found = lifted(load), []
    for formed in (False, True):
        if formed:
            system.form_eoms()
        with pytest.warns(jd.MechanismWarning, match="potential energy of body is not used, as in SymPy's KanesMethod"):
            found.append(acceleration(jd.Mechanism.from_system(system), **STATE))
    expected = float(system.eom_method.forcing[0].xreplace({x: STATE["x"], v: STATE["v"]}))
    np.testing.assert_allclose(found, [[expected]] * 2, rtol=1e-14)


@pytest.mark.parametrize("load", LOADS)
def test_lagranges_method_uses_both_formed_or_not(load: Any) -> None:
    load = sp.sympify(load).xreplace({v: x.diff()})
    system, found = lifted(load, speeds=False), []
    for formed in (False, True):
        if formed:
            system.form_eoms(LagrangesMethod)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            mechanism = jd.Mechanism.from_system(system)
        assert [("both act" in str(one.message)) for one in caught] == ([True] if load == -10 else [])
        found.append(acceleration(mechanism, x=STATE["x"], x_rate=STATE["v"]))
    expected = system.eom_method.forcing.xreplace({x.diff(): STATE["v"]}).xreplace({x: STATE["x"]})
    np.testing.assert_allclose(found, [[float(expected[0])]] * 2, rtol=1e-14)


def test_a_weight_beside_a_potential_energy_is_reported() -> None:
    N, O = ReferenceFrame("N"), Point("O")
    O.set_vel(N, 0)
    body = Particle("p", O.locatenew("P", x * N.x), 1)
    body.potential_energy = 10 * x
    with pytest.warns(jd.MechanismWarning, match="'p' has a potential energy, and a weight .* both act"):
        mechanism = jd.Mechanism.from_sympy([body], N, [x], gravity=-10 * N.x)
    np.testing.assert_allclose(acceleration(mechanism), [-20.0], rtol=1e-14)
    with no_warning():
        mechanism = jd.Mechanism.from_sympy([body], N, [x], forces=[(body.masscenter, -3 * x * N.x)])
    np.testing.assert_allclose(acceleration(mechanism, x=2.0), [-16.0], rtol=1e-14)


def test_the_potential_energy_of_a_body_at_rest_acts() -> None:
    """A spring that is given to the wall; the mass of the wall is of no use."""
    system = lifted(0, speeds=False)
    wall, body = system.bodies
    wall.potential_energy, body.potential_energy = 3 * x**2, 0
    mechanism = jd.Mechanism.from_system(system)
    np.testing.assert_allclose(acceleration(mechanism, x=2.0), [-12.0], rtol=1e-14)
    system.form_eoms(LagrangesMethod)
    assert system.eom_method.forcing[0] == -6 * x


# Constraints


def spatial(nonholonomic: Any, held: Any = y) -> System:
    N, O = ReferenceFrame("N"), Point("O")
    O.set_vel(N, 0)
    q, u = [x, y, z], list(dynamicsymbols("v_x v_y v_z"))
    P = O.locatenew("P", sum((c * axis for c, axis in zip(q, N, strict=True)), Vector(0)))
    P.set_vel(N, sum((c * axis for c, axis in zip(u, N, strict=True)), Vector(0)))
    system = System(N, O)
    system.add_coordinates(*q)
    system.add_speeds(*u)
    system.add_kdes(*(c.diff() - s for c, s in zip(q, u, strict=True)))
    system.add_bodies(Particle("p", P, 1))
    system.add_holonomic_constraints(held)
    system.add_nonholonomic_constraints(nonholonomic(*u))
    return system


def test_a_row_that_others_imply_for_one_parameter_only_holds() -> None:
    system = spatial(lambda v_x, v_y, v_z: v_y * sp.cos(a) - v_x * sp.sin(a))
    mechanism = jd.Mechanism.from_system(system, {a: 0.0})
    solved = mechanism.event().solve(v={"v_x": 1.0, "v_z": 1.0}, parameters={"a": 0.5}, check="project")
    np.testing.assert_allclose(solved.v_plus, [0, 0, 1], atol=1e-14)
    solved = mechanism.event().solve(v={"v_x": 1.0, "v_z": 1.0})  # redundant here, which events see by themselves
    np.testing.assert_allclose(solved.v_plus, [1, 0, 1], atol=1e-14)


@pytest.mark.parametrize(
    "heading", [t, 1e-4 * t, dynamicsymbols("beta"), sp.Piecewise((1, t > 50), (0, True)), sp.Max(0, a - 40)]
)
def test_a_row_that_turns_away_later_is_kept(heading: Any) -> None:
    system = spatial(lambda v_x, v_y, v_z: v_y * sp.cos(heading) - v_x * sp.sin(heading))
    mechanism = jd.Mechanism.from_system(system, {a: 0.0} if sp.sympify(heading).has(a) else {})
    assert mechanism.joined == ("holonomic 0", "velocity 1")


@pytest.mark.parametrize("factor", [1, sp.cos(t) + 2, a, 1e-9])
def test_a_row_that_is_a_derivative_is_left_out(factor: Any) -> None:
    held = x * sp.sin(a) - y * sp.cos(a) + sp.sin(t)
    rates = dict(zip((x.diff(), y.diff()), dynamicsymbols("v_x v_y"), strict=True))
    system = spatial(lambda *_: sp.expand(factor * held.diff(t).xreplace(rates)), held)
    mechanism = jd.Mechanism.from_system(system, {a: 0.0})
    assert mechanism.joined == ("holonomic 0",)


def test_a_row_that_no_pose_is_found_for_is_kept() -> None:
    system = spatial(lambda v_x, v_y, v_z: sp.sqrt(-1 - x**2) * v_y)
    assert jd.Mechanism.from_system(system).joined == ("holonomic 0", "velocity 1")


def test_what_kanes_method_does_not_hold_for_every_parameter_is_reported() -> None:
    N, O = ReferenceFrame("N"), Point("O")
    O.set_vel(N, 0)
    P = O.locatenew("P", x * N.x + y * N.y)
    P.set_vel(N, v * N.x + w * N.y)
    kane = KanesMethod(
        N, [x], [v], kd_eqs=[x.diff() - v, y.diff() - w], bodies=[Particle("p", P, 1)],
        q_dependent=[y], configuration_constraints=[y - a * x], u_dependent=[w], velocity_constraints=[w],
    )  # fmt: skip
    with pytest.warns(jd.MechanismWarning, match="hold 2 velocities, and SymPy's KanesMethod 1"):
        jd.Mechanism.from_system(kane, {a: 0.0})


# Names


@pytest.mark.parametrize(
    ("message", "load", "mass"),
    [
        ("'F' is the name of .*(function of time F|symbol F).* and of", F - sp.Symbol("F"), 1),
        ("Two different functions are called 'F'", F - dynamicsymbols("F", real=True), 1),
        ("Two different functions are called 'x'", k * dynamicsymbols("x", real=True), 1),
        ("Two different symbols are called 'm'", -sp.Symbol("m", positive=True), m),
        ("'x' is the name of the function of time x.* and of the symbol x", sp.Symbol("x"), 1),
        ("'v' is the name of the function of time v.* and of the symbol v", sp.Symbol("v"), 1),
        ("'t' is the name of the time and of another symbol", 0, sp.Symbol("t", positive=True)),
        ("'t' is the name of the time and of another symbol", sp.Symbol("t", positive=True) * t, 1),
    ],
)
def test_two_things_of_one_name_are_refused(message: str, load: Any, mass: Any) -> None:
    with pytest.raises(jd.NameClash, match=message):
        jd.Mechanism.from_system(particle(load, mass), dict.fromkeys("mkFvx", 1.0))


def test_two_symbols_of_one_name_are_refused_by_from_sympy_and_by_constraints() -> None:
    N, P = ReferenceFrame("N"), Point("P")
    P.set_vel(N, x.diff() * N.x)
    other = sp.Symbol("m", positive=True)
    with pytest.raises(jd.NameClash, match="Two different symbols are called 'm'"):
        jd.Mechanism.from_sympy([Particle("p", P, m)], N, [x], parameters={"m": 1.0}, forces=[(P, other * N.x)])
    mechanism = jd.Mechanism.from_sympy([Particle("p", P, m)], N, [x], parameters={"m": 1.0})
    mechanism.constraint("one", m * x.diff())
    with pytest.raises(jd.NameClash, match="Two different symbols are called 'm'"):
        mechanism.constraint("two", other * x.diff())
    # Numbers go by names, so that a key needs no assumptions.
    assert jd.Mechanism.from_system(particle(0, other), {m: 2.0}).mass_matrix([0.0])[0, 0] == 2.0


@pytest.mark.parametrize("entry", [sp.IndexedBase("m")[0], sp.MatrixSymbol("m", 2, 2)[0, 1]])
def test_entries_of_arrays_are_parameters(entry: Any) -> None:
    kane = particle(-k * x, entry)
    with pytest.raises(jd.MissingValue, match="'k', 'm\\[0"):
        jd.Mechanism.from_system(kane)
    assert jd.Mechanism.from_system(kane, {entry: 3.0, k: 1.0}).mass_matrix([0.0])[0, 0] == 3.0


# Accelerations that were set


@pytest.mark.parametrize("about", ["N", "A"])
def test_an_angular_acceleration_that_was_set_is_used(about: str) -> None:
    q, u = dynamicsymbols("q:3"), dynamicsymbols("u:3")
    N, O = ReferenceFrame("N"), Point("O")
    O.set_vel(N, 0)
    A = N.orientnew("A", "Body", q, "123")
    turning = sum((rate * axis for rate, axis in zip(u, A, strict=True)), Vector(0))
    rates = sp.solve([A.ang_vel_in(N).dot(axis) - rate for axis, rate in zip(A, u, strict=True)], [c.diff() for c in q])
    A.set_ang_vel(N, turning)
    A.set_ang_acc(N, turning.dt(A) + u[0] ** 2 * {"N": N, "A": A}[about].z)
    body = RigidBody("body", O, A, 1, (inertia(A, 1, 2, 4), O))
    kane = KanesMethod(N, q, u, [rate - value for rate, value in rates.items()], bodies=[body])
    with pytest.warns(jd.MechanismWarning, match="angular acceleration that was set for 'A' is not the one"):
        mechanism = jd.Mechanism.from_system(kane)
    state = dict(zip(["q0", "q1", "q2", "u0", "u1", "u2", "t"], [0.3, 0.4, 0.5, 0.6, -0.7, 0.8, 0.0], strict=True))
    np.testing.assert_allclose(acceleration(mechanism, **state), acceleration_of(kane, **state), rtol=1e-12)
    A.set_ang_acc(N, turning.dt(A))
    with no_warning():
        euler = jd.Mechanism.from_system(KanesMethod(N, q, u, [r - value for r, value in rates.items()], bodies=[body]))
    omega, moments = np.array([0.6, -0.7, 0.8]), np.array([1.0, 2, 4])
    expected = np.cross(moments * omega, omega) / moments
    np.testing.assert_allclose(acceleration(euler, **state), expected, rtol=1e-12)


# Motion that is prescribed


SMALL = 1e-7 * k * sp.cos(k * t)
LATE = sp.Piecewise((2, x > 5), (0, True))


@pytest.mark.parametrize(
    "make",
    [
        lambda: particle(velocity=v + SMALL),
        lambda: particle(velocity=v + LATE),
        lambda: particle(rate=v + SMALL),
        lambda: particle(rate=v + LATE),
        lambda: LagrangesMethod((x.diff() + SMALL) ** 2 / 2, [x]),
    ],
)
def test_prescribed_motion_is_refused_however_small(make: Callable[[], Any]) -> None:
    with pytest.raises(jd.Rheonomic, match=r"constraints with a bias|although no (generalized )?velocity does"):
        jd.Mechanism.from_system(make(), {k: 1e5})


def test_a_small_torque_on_a_frame_that_is_not_oriented_is_refused() -> None:
    u = dynamicsymbols("u1:4")
    N, W, O = ReferenceFrame("N"), ReferenceFrame("W"), Point("O")
    W.set_ang_vel(N, sum((rate * axis for rate, axis in zip(u, W, strict=True)), Vector(0)))
    O.set_vel(N, 0)
    body = RigidBody("top", O, W, 1, (inertia(W, 1, 2, 3), O))
    with pytest.raises(jd.BadMechanism, match="depends on the orientation of frame 'W'"):
        jd.Mechanism.from_sympy([body], N, q=[], v=u, forces=[(W, 1e-9 * N.z), (W, W.x)])


def test_what_is_left_of_rounded_angles_is_no_contradiction() -> None:
    """Frames that decimal angles turn, and velocities that were set along them."""
    N, O = ReferenceFrame("N"), Point("O")
    O.set_vel(N, 0)
    S = N.orientnew("S", "Body", [0.2, 0.3, 0.7], "123")
    A = S.orientnew("A", "Axis", [x, S.z])
    A.set_ang_vel(N, v * (sp.sin(0.3) * N.x - sp.sin(0.2) * sp.cos(0.3) * N.y + sp.cos(0.2) * sp.cos(0.3) * N.z))
    P = O.locatenew("P", 2 * A.x)
    P.set_vel(N, (v * S.z).cross(2 * A.x).express(N))
    body = RigidBody("body", P, A, 1, (inertia(A, 1, 2, 3), P))
    with no_warning():
        mechanism = jd.Mechanism.from_sympy([body], N, [x], [v], {x.diff(): v}, gravity=-9.81 * N.z)
    assert mechanism.loads.potential is not None
    np.testing.assert_allclose(mechanism.mass_matrix([0.4]), [[7.0]], rtol=1e-14)


# Velocities that were asked for


def test_a_velocity_that_does_not_follow_in_one_way_is_reported() -> None:
    """A and K are equally near to B; SymPy stores what `A.vel` derives as if it had been set."""
    N, O = ReferenceFrame("N"), Point("O")
    O.set_vel(N, 0)
    L = N.orientnew("L", "Axis", [y, N.x])
    A = O.locatenew("A", x * N.x)
    B = A.locatenew("B", 2 * L.z)
    K = B.locatenew("K", -2 * L.z)
    K.set_vel(N, 0)
    body = Particle("p", B, 2)
    with no_warning():
        assert jd.Mechanism.from_sympy([body], N, [x, y]).mass_matrix([0.1, 0.2])[0, 0] == 0
    with pytest.warns(UserWarning, match="also\\s+possible from points.*K"):  # SymPy's own
        A.vel(N)
    with pytest.warns(jd.MechanismWarning, match="velocity of point 'B' follows from those of 'A' and 'K', not in the"):
        assert jd.Mechanism.from_sympy([body], N, [x, y]).mass_matrix([0.1, 0.2])[0, 0] == 2
    K.set_vel(N, x.diff() * N.x)
    with no_warning():
        jd.Mechanism.from_sympy([body], N, [x, y])


def test_what_only_another_way_to_a_velocity_needs_is_not_asked_for() -> None:
    """B is as near to A as to C; the length to C, which rests too, is in nothing that is used."""
    N = ReferenceFrame("N")
    A, B, C = Point("A"), Point("B"), Point("C")
    for point in (A, C):
        point.set_vel(N, 0)
    B.set_pos(A, x * N.x)
    B.set_pos(C, x * N.x + k * N.y)
    with no_warning():
        mechanism = jd.Mechanism.from_system(
            KanesMethod(N, [x], [v], [x.diff() - v], bodies=[Particle("p", B, 1)], forcelist=[(B, m * N.x)]), {m: 1.0}
        )
    assert list(mechanism.parameters) == ["m"]


# Lagrangians


@pytest.mark.parametrize(
    "lagrangian",
    [
        x.diff() ** 2 / 2 + x * x.diff(),
        (x.diff() ** 2 + 2 * y.diff() ** 2) / 2 + k * (x * y.diff() - y * x.diff()) - x**4,  # magnetic
        ((x.diff() - k * y) ** 2 + (y.diff() + k * x) ** 2) / 2 - sp.cos(x),  # axes that turn evenly
        x.diff() ** 2 * (2 + sp.sin(x)) / 2 + x**2 * y * y.diff() + y.diff() ** 2,
    ],
)
def test_terms_linear_in_the_rates_act(lagrangian: Any) -> None:
    q = [c for c in (x, y) if lagrangian.has(c)]
    lagrange = LagrangesMethod(lagrangian, q)
    mechanism = jd.Mechanism.from_system(lagrange, {k: 1.5} if lagrangian.has(k) else {})
    lagrange.form_lagranges_equations()
    rates, places = {x.diff(): 0.3, y.diff(): -0.4}, {x: 0.5, y: 0.6, k: 1.5}
    M, f = (np.array(part.xreplace(rates).xreplace(places).evalf(), dtype=float)
            for part in (lagrange.mass_matrix, lagrange.forcing))  # fmt: skip
    s, n = mechanism.symbols, len(q)
    rest = ca.Function("f", [s.q, s.v, s.p], [ca.densify(mechanism.loads.force - mechanism.loads.bias)])
    np.testing.assert_allclose(mechanism.mass_matrix([0.5, 0.6][:n]), M, rtol=1e-14)
    numbers = [0.5, 0.6][:n], [0.3, -0.4][:n], [1.5] * len(s.p_names)
    np.testing.assert_allclose(np.array(rest(*numbers)), f, rtol=1e-13, atol=1e-15)
    run = jd.Hybrid(mechanism, {"free": []}).simulate([0.5, 0.6][:n], [0.3, -0.4][:n], until=0.5)
    assert np.ptp(run.energy.kinetic + run.energy.potential) < 1e-8


def test_a_specified_force_in_a_lagrangian_is_a_load() -> None:
    lagrange = LagrangesMethod(m * x.diff() ** 2 / 2 + F * x, [x])
    run = jd.Hybrid(jd.Mechanism.from_system(lagrange, {m: 2.0}), {"free": []}, drive={F: 6.0}).simulate(until=1.0)
    np.testing.assert_allclose(run.q[-1], [1.5], rtol=1e-10)
    assert np.abs(run.energy.gap).max() < 1e-9
    refused = {"the mass matrix": (m + F) * x.diff() ** 2, "linear in the rates": m * x.diff() ** 2 + F * x.diff()}
    for where, lagrangian in refused.items():
        with pytest.raises(jd.Rheonomic, match=f"function of time 'F' stands in .*{where}"):
            jd.Mechanism.from_system(LagrangesMethod(lagrangian, [x]), {m: 2.0})


def test_a_specified_force_in_a_potential_energy_is_a_load() -> None:
    N, O = ReferenceFrame("N"), Point("O")
    O.set_vel(N, 0)
    body = Particle("p", O.locatenew("P", x * N.x), 2)
    body.potential_energy = -F * x
    mechanism = jd.Mechanism.from_sympy([body], N, [x])
    run = jd.Hybrid(mechanism, {"free": []}, drive={F: 6.0}).simulate(until=1.0)
    np.testing.assert_allclose(run.q[-1], [1.5], rtol=1e-10)
    assert np.abs(run.energy.gap).max() < 1e-9


def test_a_lagrangian_that_is_not_quadratic_is_refused() -> None:
    for more in (x.diff() ** 3, sp.Abs(x.diff()), sp.Piecewise((sp.floor(x.diff()), x > 5), (0, True))):
        with pytest.raises(jd.NotAffine, match="not quadratic in the rates"):
            jd.Mechanism.from_system(LagrangesMethod(x.diff() ** 2 / 2 + more, [x]))


def test_bodies_beside_a_lagrangian_need_no_velocities() -> None:
    N = ReferenceFrame("N")
    bodies = [Particle("p", Point("P"), 1), RigidBody("r")]
    lagrange = LagrangesMethod(x.diff() ** 2 / 2, [x], bodies=bodies, frame=N)
    mechanism = jd.Mechanism.from_system(lagrange)
    assert mechanism.mass_matrix([0.0])[0, 0] == 1.0
    assert not mechanism.angular_velocities


# Refusals


def test_an_inertia_along_axes_that_are_not_oriented_is_refused_in_a_sentence() -> None:
    N, O, W = ReferenceFrame("N"), Point("O"), ReferenceFrame("W")
    A = N.orientnew("A", "Axis", [x, N.z])
    W.set_ang_vel(A, w * A.x)
    O.set_vel(N, 0)
    wheel = RigidBody("wheel", O, W, 1, (inertia(W, 1, 2, 3), O))
    with pytest.raises(jd.BadMechanism, match="velocity of frame W is written in frames that W is not oriented"):
        jd.Mechanism.from_system(KanesMethod(N, [x], [v, w], [x.diff() - v], bodies=[wheel]))


def test_joints_read_as_they_are_formed() -> None:
    """A chain of joints in space against SymPy's own equations."""
    ground = RigidBody("ground")
    system, before = System.from_newtonian(ground), ground
    for i, axis in enumerate("zxy"):
        link = RigidBody(f"link{i}", mass=1 + i)
        link.central_inertia = inertia(link.frame, 1, 2, 3)
        system.add_joints(PinJoint(f"J{i}", before, link, joint_axis=getattr(before, axis),
                                   parent_point=before.x / 2, child_point=-link.x / 3))  # fmt: skip
        before = link
    system.apply_uniform_gravity(-9.81 * ground.y)
    mechanism = jd.Mechanism.from_system(system)
    system.form_eoms()
    names = [*mechanism.symbols.q_names, *mechanism.symbols.v_names]
    state = dict(zip(names, [0.1, 0.2, 0.3, 0.4, 0.5, -0.6], strict=True)) | {"t": 0.0}
    at = {symbol: state[str(symbol).removesuffix("(t)")] for symbol in (*system.q, *system.u)}
    M, f = (np.array(matrix.xreplace(at).evalf(), dtype=float) for matrix in (system.mass_matrix, system.forcing))
    np.testing.assert_allclose(acceleration(mechanism, **state), np.linalg.solve(M, f)[:, 0], rtol=1e-10)
