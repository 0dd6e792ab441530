"""SymPy's own systems, read in one call; and what is said of those that cannot be."""

from __future__ import annotations

import warnings
from typing import Any

import casadi as ca
import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import (
    Force,
    KanesMethod,
    LagrangesMethod,
    Lagrangian,
    LinearPathway,
    LinearSpring,
    Particle,
    PinJoint,
    Point,
    PrismaticJoint,
    ReferenceFrame,
    RigidBody,
    System,
    TorqueActuator,
    Vector,
    dynamicsymbols,
    inertia,
)

import jourdain as jd

q1, q2, q3, u1, u2, u3 = dynamicsymbols("q1 q2 q3 u1 u2 u3")
F, s = dynamicsymbols("F s")
m, r, g, l, k = sp.symbols("m r g l k")
t = dynamicsymbols._t


def disc() -> Any:
    """A disc that rolls: contact point C, centre D, P on the rim; nothing but C is known to have the velocity 0."""
    N = ReferenceFrame("N")
    Y = N.orientnew("Y", "Axis", [q1, N.z])
    L = Y.orientnew("L", "Axis", [q2, Y.x])
    R = L.orientnew("R", "Axis", [q3, L.y])
    turning = R.ang_vel_in(N)
    R.set_ang_vel(N, u1 * L.x + u2 * L.y + u3 * L.z)
    C = Point("C")
    C.set_vel(N, 0)
    D = C.locatenew("D", r * L.z)
    D.v2pt_theory(C, N, R)
    P = D.locatenew("P", r * R.x)
    body = RigidBody("disc", D, R, m, (inertia(L, m * r**2 / 4, m * r**2 / 2, m * r**2 / 4), D))
    kinematics = {u: turning.dot(axis) for u, axis in zip((u1, u2, u3), L, strict=True)}
    return N, L, P, body, kinematics


def rolling(asked: bool = False, mass_on_rim: bool = False) -> tuple[jd.Mechanism, Any]:
    N, _, P, body, kinematics = disc()
    if asked:
        P.vel(N)
    bodies = [body, *([Particle("stone", P, m / 5)] if mass_on_rim else [])]
    slope = sp.cos(0.2) * N.z + sp.sin(0.2) * N.x
    mechanism = jd.Mechanism.from_sympy(
        bodies, N, [q1, q2, q3], [u1, u2, u3], kinematics, {m: 2.0, r: 0.4}, {"P": P}, gravity=-9.81 * slope
    )
    return mechanism, (N, P, body, kinematics)


STATE: dict[str, Any] = {"q": [0.3, 0.2, 0.5], "v": [0.4, 0.5, 0.6]}


# Velocities as SymPy has them


def test_the_velocity_of_a_point_on_the_rim_is_that_of_sympy() -> None:
    mechanism, (N, P, _, kinematics) = rolling()
    assert N not in P._vel_dict  # nothing of the user's is written to
    rates = sp.solve([u - e for u, e in kinematics.items()], [q.diff() for q in (q1, q2, q3)])
    numbers = dict(zip((q1, q2, q3, u1, u2, u3, r), [*STATE["q"], *STATE["v"], 0.4], strict=True))
    expected = P.vel(N).subs(rates).to_matrix(N).subs(numbers)
    np.testing.assert_allclose(
        mechanism.point_velocity("P", **STATE), np.array(expected, dtype=float)[:, 0], atol=1e-14
    )


@pytest.mark.parametrize("mass_on_rim", [False, True])
def test_the_order_of_calls_has_no_effect(mass_on_rim: bool) -> None:
    one, two = rolling(asked=False, mass_on_rim=mass_on_rim)[0], rolling(asked=True, mass_on_rim=mass_on_rim)[0]
    np.testing.assert_allclose(one.mass_matrix(STATE["q"]), two.mass_matrix(STATE["q"]), rtol=1e-14)
    np.testing.assert_allclose(one.point_velocity("P", **STATE), two.point_velocity("P", **STATE), rtol=1e-13)


def test_a_contact_point_is_no_place_to_measure_a_potential_from() -> None:
    mechanism, _ = rolling()
    assert mechanism.reader.origin is None
    run = jd.Hybrid(mechanism, {"rolls": []}).simulate(STATE["q"], STATE["v"], until=0.5)
    assert not run.energy.has_potential
    assert np.abs(run.energy.gap).max() < 1e-8
    with pytest.raises(jd.UnknownName, match="not connected to a point at rest"):
        mechanism.position("P")


def test_a_pendulum_has_its_potential() -> None:
    N, O = ReferenceFrame("N"), Point("O")
    O.set_vel(N, 0)
    A = N.orientnew("A", "Axis", [q1, N.z])
    bob = O.locatenew("bob", -l * A.y)
    mechanism = jd.Mechanism.from_sympy([Particle("mass", bob, m)], N, [q1], parameters={m: 1.0, l: 0.5},
                                        gravity=-9.81 * N.y)  # fmt: skip
    run = jd.Hybrid(mechanism, {"swings": []}).simulate([1.0], [0.0], until=1.0)
    assert run.energy.has_potential
    assert np.ptp(run.energy.kinetic + run.energy.potential) < 1e-8


def test_an_angular_velocity_that_contradicts_the_orientation_is_reported() -> None:
    N, O = ReferenceFrame("N"), Point("O")
    O.set_vel(N, 0)
    A = N.orientnew("A", "Axis", [q1, N.z])
    A.set_ang_vel(N, 2 * q1.diff() * N.z)
    body = RigidBody("body", O, A, m, (inertia(A, 0, 0, m), O))
    with pytest.warns(jd.MechanismWarning, match="angular velocity that was set for 'A' is not the one that follows"):
        jd.Mechanism.from_sympy([body], N, [q1], parameters={m: 1.0})


@pytest.mark.filterwarnings("error")
def test_a_unit_quaternion_holds_by_itself(rng: np.random.Generator) -> None:
    """Seven coordinates and six speeds: the row of e·e = 1 is zero up to rounding, and nothing contradicts."""
    e, w, u = (list(dynamicsymbols(names)) for names in ("e0:4", "w1:4", "u1:4"))
    x = list(dynamicsymbols("x1:4"))
    N, B, O, C = ReferenceFrame("N"), ReferenceFrame("B"), Point("O"), Point("C")
    B.orient(N, "Quaternion", e)
    B.set_ang_vel(N, sum((rate * axis for rate, axis in zip(w, B, strict=True)), Vector(0)))
    O.set_vel(N, 0)
    C.set_pos(O, sum((c * axis for c, axis in zip(x, N, strict=True)), Vector(0)))
    C.set_vel(N, sum((c * axis for c, axis in zip(u, N, strict=True)), Vector(0)))
    axes, turning = sp.Matrix(e[1:]), sp.Matrix(w)
    changes = [-axes.dot(turning) / 2, *((e[0] * turning + axes.cross(turning)) / 2)]
    kinematics = {c.diff(): rate for c, rate in zip([*x, *e], [*u, *changes], strict=True)}
    body = RigidBody("body", C, B, 2, (inertia(B, 1, 2, 3), C))
    mechanism = jd.Mechanism.from_sympy([body], N, [*x, *e], v=[*u, *w], kinematics=kinematics)
    unit = mechanism.constraint("unit", sum(c**2 for c in e) - 1, level="position")
    event = mechanism.event(regular=[unit], inert=[mechanism.constraint("hit", u[2])])
    for n in (1, 50, 2000):
        e_values = rng.normal(size=(n, 4))
        e_values /= np.linalg.norm(e_values, axis=1, keepdims=True)
        v = rng.normal(size=(n, 6))
        t = event.solve(np.hstack([rng.normal(size=(n, 3)), e_values]), v)
        assert t.ok.all()
        np.testing.assert_allclose(t.v_plus, v * [1, 1, 0, 1, 1, 1], atol=1e-13)


def test_an_acceleration_that_contradicts_the_velocity_is_reported() -> None:
    N, P = ReferenceFrame("N"), Point("P")
    P.set_vel(N, q1.diff() * N.x)
    P.set_acc(N, (q1.diff(t, 2) + q1.diff()) * N.x)
    with pytest.warns(jd.MechanismWarning, match="acceleration that was set for 'P' is not the one that follows"):
        jd.Mechanism.from_sympy([Particle("mass", P, m)], N, [q1], parameters={m: 1.0})


# Systems


def cart() -> System:
    """A cart with a pendulum, made of joints, pushed by F, with a spring to the wall and gravity."""
    wall = RigidBody("wall")
    system = System.from_newtonian(wall)
    box, bob = RigidBody("cart", mass=m), RigidBody("bob", mass=m / 2)
    bob.central_inertia = inertia(bob.frame, 0, 0, 0)
    slide = PrismaticJoint("slide", wall, box, q1, u1, joint_axis=wall.x)
    hinge = PinJoint("hinge", box, bob, q2, u2, joint_axis=box.z, child_point=l * bob.y)
    system.add_joints(slide, hinge)
    system.add_loads(Force(box, F * wall.x))
    system.add_actuators(LinearSpring(k, LinearPathway(wall.masscenter, box.masscenter), sp.Rational(1, 3)))
    system.apply_uniform_gravity(-g * wall.y)
    return system


NUMBERS = {m: 2.0, l: 0.5, g: 9.81, k: 30.0}


def test_a_system_of_joints_and_what_it_asks_for() -> None:
    with pytest.raises(jd.MissingValue, match="needs numbers for 'g', 'k', 'l', 'm'; give all of them"):
        jd.Mechanism.from_system(cart())
    mechanism = jd.Mechanism.from_system(cart(), NUMBERS)
    assert mechanism.symbols.q_names == ("q1", "q2")
    assert mechanism.symbols.v_names == ("u1", "u2")
    assert mechanism.parameters["F"] == 0.0
    assert set(mechanism.angular_velocities) == {"cart", "bob"}  # the wall does not move
    M = mechanism.mass_matrix([0.1, 0.3])
    np.testing.assert_allclose(np.abs(M), [[3.0, 0.5 * np.cos(0.3)], [0.5 * np.cos(0.3), 0.25]], rtol=1e-12)


def test_a_function_of_time_drives_the_motion() -> None:
    mechanism = jd.Mechanism.from_system(cart(), NUMBERS)
    start: Any = {"q": [0.2, 0.1], "v": [0.0, 0.0]}
    by_expression = jd.Hybrid(mechanism, {"on": []}, drive={"F": 3 * sp.sin(5 * t) - q1}).simulate(**start, until=0.5)
    by_function = jd.Hybrid(mechanism, {"on": []}, drive={F: lambda t, q, v: 3 * np.sin(5 * t) - q[0]})
    as_force = jd.Hybrid(mechanism, {"on": []}, forces={"u1": 3 * sp.sin(5 * t) - q1}).simulate(**start, until=0.5)
    np.testing.assert_allclose(by_expression.q[-1], as_force.q[-1], atol=1e-9)
    np.testing.assert_allclose(by_function.simulate(**start, until=0.5, rtol=1e-8).q[-1], as_force.q[-1], atol=1e-6)
    assert np.abs(by_expression.energy.gap).max() < 1e-8


def test_what_cannot_be_driven() -> None:
    mechanism = jd.Mechanism.from_system(cart(), NUMBERS)
    with pytest.raises(jd.UnknownName, match="There is no parameter 'f'; did you mean 'F'"):
        jd.Hybrid(mechanism, {"on": []}, drive={"f": 1.0})
    with pytest.raises(jd.BadEvent, match="'m' cannot be driven: it stands in the mass matrix"):
        jd.Hybrid(mechanism, {"on": []}, drive={"m": 1.0})
    with pytest.raises(jd.BadEvent, match="The drive of 'F' is None at t = 0 s; the function must give one number"):
        jd.Hybrid(mechanism, {"on": []}, drive={"F": lambda t, q, v: None}).simulate([0.2, 0.1], until=0.1)


def hanging(method: str) -> Any:
    """A pendulum by its potential energy."""
    N, O = ReferenceFrame("N"), Point("O")
    O.set_vel(N, 0)
    A = N.orientnew("A", "Axis", [q1, N.z])
    bob = O.locatenew("bob", -l * A.y)
    mass = Particle("mass", bob, m)
    mass.potential_energy = -m * g * l * sp.cos(q1)
    if method == "bodies":
        return jd.Mechanism.from_sympy([mass], N, [q1], parameters=NUMBERS)
    if method == "Lagrange":
        bob.v2pt_theory(O, N, A)
        return jd.Mechanism.from_system(LagrangesMethod(Lagrangian(N, mass), [q1], bodies=[mass], frame=N), NUMBERS)
    system = System(N, O)
    system.add_bodies(mass)
    system.add_coordinates(q1)  # no speeds of its own: as for LagrangesMethod
    return jd.Mechanism.from_system(system, NUMBERS)


@pytest.mark.parametrize("method", ["bodies", "Lagrange", "System"])
def test_potential_energy_of_bodies_acts(method: str) -> None:
    run = jd.Hybrid(hanging(method), {"swings": []}).simulate([1.0], [0.0], until=0.3)
    assert np.abs(run.v[-1]).max() > 1.0
    assert np.ptp(run.energy.kinetic + run.energy.potential) < 1e-8


def test_potential_energy_beside_kanes_method_is_reported() -> None:
    N, P = ReferenceFrame("N"), Point("P")
    P.set_vel(N, u1 * N.x)
    mass = Particle("mass", P, m)
    mass.potential_energy = m * g * q1
    kane = KanesMethod(N, [q1], [u1], [u1 - q1.diff()], bodies=[mass], forcelist=[(P, -m * g * N.x)])
    with pytest.warns(jd.MechanismWarning, match="potential energy of mass is not used, as in SymPy's KanesMethod"):
        mechanism = jd.Mechanism.from_system(kane, NUMBERS)
    run = jd.Hybrid(mechanism, {"falls": []}).simulate([0.0], [0.0], until=1.0)
    np.testing.assert_allclose(run.q[-1], [-9.81 / 2], rtol=1e-9)


def loop() -> System:
    """A bob on a rod, in x and y, with the velocity constraint that its length implies and one that it does not."""
    N, O, P = ReferenceFrame("N"), Point("O"), Point("P")
    O.set_vel(N, 0)
    P.set_pos(O, q1 * N.x + q2 * N.y)
    system = System(N, O)
    system.add_bodies(Particle("bob", P, m))
    system.add_coordinates(q1)
    system.add_coordinates(q2, independent=False)
    system.add_speeds(u1)
    system.add_speeds(u2, independent=False)
    system.add_kdes(u1 - q1.diff(), u2 - q2.diff())
    system.add_holonomic_constraints(q1**2 + q2**2 - l**2)
    return system


def test_constraints_are_named_and_regular() -> None:
    mechanism = jd.Mechanism.from_system(loop(), NUMBERS)
    assert list(mechanism.constraints) == ["holonomic 0"]  # its derivative is no constraint of its own
    stop = mechanism.constraint("stop", sp.Matrix([u1]))
    outcome = mechanism.event(inert=[stop]).solve([0.3, 0.4], [-0.4, 0.3])
    np.testing.assert_allclose(outcome.v_plus, [0.0, 0.0], atol=1e-14)
    assert outcome.layout.rows[0].name == "holonomic 0"
    free = mechanism.event(released=["holonomic 0"], elastic={"stop.0": 1.0}).solve([0.3, 0.4], [-0.4, 0.3])
    np.testing.assert_allclose(free.v_plus, [0.4, 0.3], atol=1e-14)


def test_two_bodies_of_one_name_are_numbered() -> None:
    N, O = ReferenceFrame("N"), Point("O")
    O.set_vel(N, 0)
    points = [O.locatenew(f"P{i}", q * N.x) for i, q in enumerate((q1, q2))]
    system = System(N, O)
    for point in points:
        point.set_vel(N, point.pos_from(O).dt(N))
    kane = KanesMethod(N, [q1, q2], [u1, u2], [u1 - q1.diff(), u2 - q2.diff()],
                       bodies=[Particle("mass", point, m) for point in points])  # fmt: skip
    assert list(jd.Mechanism.from_system(kane, NUMBERS).angular_velocities) == ["mass", "mass 2"]
    assert list(system.bodies) == []


def test_a_wheel_with_an_angular_velocity_and_no_orientation() -> None:
    N, C = ReferenceFrame("N"), Point("C")
    B, W = N.orientnew("B", "Axis", [q1, N.z]), ReferenceFrame("W")
    W.set_ang_vel(B, u2 * B.y)
    C.set_vel(N, 0)
    wheel = RigidBody("wheel", C, W, m, (inertia(B, m, 2 * m, m), C))
    kane = KanesMethod(N, [q1], [u1, u2], [u1 - q1.diff()], bodies=[wheel])
    mechanism = jd.Mechanism.from_system(kane, NUMBERS)
    np.testing.assert_allclose(mechanism.mass_matrix([0.3]), np.diag([2.0, 4.0]), rtol=1e-14)


def test_auxiliary_speeds_are_speeds_with_regular_rows() -> None:
    N, O = ReferenceFrame("N"), Point("O")
    P = O.locatenew("P", q1 * N.x)
    O.set_vel(N, u2 * N.x)
    P.set_vel(N, (u1 + u2) * N.x)
    kane = KanesMethod(N, [q1], [u1], [u1 - q1.diff()], u_auxiliary=[u2], bodies=[Particle("mass", P, m)])
    mechanism = jd.Mechanism.from_system(kane, NUMBERS)
    assert mechanism.symbols.v_names == ("u1", "u2")
    assert mechanism.joined == ("auxiliary 0",)


# What is refused


def single(velocity: Any, load: Any = None, **keywords: Any) -> KanesMethod:
    N, P = ReferenceFrame("N"), Point("P")
    P.set_vel(N, velocity * N.x)
    forces = None if load is None else [(P, load * N.x)]
    return KanesMethod(N, [q1], [u1], [u1 - q1.diff()], bodies=[Particle("mass", P, m)], forcelist=forces, **keywords)


@pytest.mark.parametrize(
    ("kind", "message", "make"),
    [
        (jd.Rheonomic, "'s' is a function of time and no coordinate or speed", lambda: single(u1 + s)),
        (jd.Rheonomic, "rate of a function of time that is no coordinate", lambda: single(u1 + s.diff())),
        (jd.Rheonomic, "in a load it must be a function of its own", lambda: single(u1, s.diff())),
        (jd.Rheonomic, "The function of time 's' stands in the mass matrix", lambda: single(u1 * s, s)),
        (jd.Rheonomic, "Body 'mass' moves although no generalized velocity does", lambda: single(u1 + t)),
        (jd.NotExpressible, "is an acceleration.*belongs to the mass matrix", lambda: single(u1, m * u1.diff())),
        (jd.NameClash, "Two different symbols are called 'm'", lambda: single(u1, sp.Symbol("m", positive=True) * q1)),
        (jd.BadMechanism, "takes a System, KanesMethod, LagrangesMethod or JointsMethod of SymPy", lambda: [1]),
        (
            jd.BadMechanism,
            "has no bodies yet; call its kanes_equations",
            lambda: KanesMethod(ReferenceFrame("N"), [q1], [u1], [u1 - q1.diff()]),
        ),
        (
            jd.Rheonomic,
            "kinematics have a term without velocities",
            lambda: KanesMethod(ReferenceFrame("N"), [q1], [u1], [u1 - q1.diff() + 1], bodies=[]),
        ),
        (
            jd.Rheonomic,
            "terms linear in the rates that change with time",
            lambda: LagrangesMethod(q1.diff() ** 2 + q1.diff() * sp.sin(q1 + t), [q1]),
        ),
        (
            jd.BadMechanism,
            "has forces but no frame",
            lambda: LagrangesMethod(q1.diff() ** 2, [q1], forcelist=[(Point("P"), F * ReferenceFrame("N").x)]),
        ),
    ],
)
def test_what_is_refused(kind: type[jd.Error], message: str, make: Any) -> None:
    with pytest.raises(kind, match=message):
        jd.Mechanism.from_system(make(), {"m": 1.0})


def test_a_system_without_enough_kinematics() -> None:
    system = loop()
    system.kdes = [u1 - q1.diff()]
    with pytest.raises(jd.BadMechanism, match="There are 1 kinematic equations for the rates of 'q1', 'q2'"):
        jd.Mechanism.from_system(system, NUMBERS)


def test_from_sympy_says_what_is_wrong() -> None:
    N, P = ReferenceFrame("N"), Point("P")
    P.set_vel(N, q1.diff() * N.x)
    body = Particle("mass", P, m)
    with pytest.raises(jd.BadMechanism, match=r"not a System; use Mechanism\.from_system"):
        jd.Mechanism.from_sympy(loop())
    with pytest.raises(jd.BadMechanism, match=r"gravity must be a Vector, as in gravity=-9\.81 \* N\.y, not -9\.81"):
        jd.Mechanism.from_sympy([body], N, [q1], parameters={m: 1.0}, gravity=-9.81)
    with pytest.raises(jd.BadMechanism, match="or an actuator of SymPy, not 3"):
        jd.Mechanism.from_sympy([body], N, [q1], parameters={m: 1.0}, forces=[3])  # type: ignore[list-item]
    with pytest.raises(jd.BadMechanism, match=r"A load is a pair \(Point or ReferenceFrame, Vector\), not"):
        jd.Mechanism.from_sympy([body], N, [q1], parameters={m: 1.0}, forces=[(P, F)])


def test_from_sympy_takes_matrices_actuators_and_functions_of_time() -> None:
    N, O, P = ReferenceFrame("N"), Point("O"), Point("P")
    O.set_vel(N, 0)
    A = N.orientnew("A", "Axis", [q2, N.z])
    P.set_pos(O, q1 * N.x)
    body = RigidBody("body", P, A, m, (inertia(A, 0, 0, m), P))
    actuators = [TorqueActuator(F, N.z, A), LinearSpring(k, LinearPathway(O, P))]
    mechanism = jd.Mechanism.from_sympy([body], N, sp.Matrix([q1, q2]), parameters={m: 1.0, k: 2.0}, forces=actuators)
    assert mechanism.parameters["F"] == 0.0
    rows = mechanism.constraint("both", sp.Matrix([q1.diff(), q2.diff()]))
    assert rows.row_names == ("both.0", "both.1")
    run = jd.Hybrid(mechanism, {"on": []}, drive={"F": 4.0}).simulate([1.0, 0.0], until=1.0)
    np.testing.assert_allclose(run.q[-1], [np.cos(np.sqrt(2)), 2.0], rtol=1e-8)


def test_muscles_are_written_out() -> None:
    from sympy.physics.biomechanics import MusculotendonDeGroote2016
    from sympy.physics.biomechanics.activation import FirstOrderActivationDeGroote2016

    N, O, P = ReferenceFrame("N"), Point("O"), Point("P")
    O.set_vel(N, 0)
    P.set_pos(O, q1 * N.x)
    P.set_vel(N, u1 * N.x)
    activation = FirstOrderActivationDeGroote2016.with_defaults("biceps")
    muscle = MusculotendonDeGroote2016.with_defaults("biceps", LinearPathway(O, P), activation)
    system = System(N, O)
    system.add_bodies(Particle("hand", P, m))
    system.add_coordinates(q1)
    system.add_speeds(u1)
    system.add_kdes(u1 - q1.diff())
    system.add_actuators(muscle)
    with pytest.raises(jd.MissingValue) as missing:
        jd.Mechanism.from_system(system)
    names = [part for part in str(missing.value).split("'") if "biceps" in part]
    mechanism = jd.Mechanism.from_system(system, {m: 1.0} | dict.fromkeys(names, 0.4))
    assert mechanism.parameters["a_biceps"] == 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = jd.Hybrid(mechanism, {"on": []}, drive={"a_biceps": 0.5}).simulate([0.85], [0.0], until=0.01)
    assert run.v[-1, 0] < 0  # it pulls


def floating_body() -> tuple[RigidBody, list[Any], dict[Any, float]]:
    """A body with speeds along its own axes and no coordinates: nothing says how it is oriented."""
    u, w = dynamicsymbols("u1:4"), dynamicsymbols("w1:4")
    m, *moments = sp.symbols("m I1:4")
    N, A, P = ReferenceFrame("N"), ReferenceFrame("A"), Point("P")
    A.set_ang_vel(N, sum((rate * axis for rate, axis in zip(w, A, strict=True)), Vector(0)))
    P.set_vel(N, sum((speed * axis for speed, axis in zip(u, A, strict=True)), Vector(0)))
    body = RigidBody("body", P, A, m, (inertia(A, *moments), P))
    return body, [N, *u, *w], dict(zip((m, *moments), (2.0, 1.0, 2.0, 3.0), strict=True))


def test_a_body_with_speeds_and_no_coordinates_obeys_euler() -> None:
    body, (N, *speeds), numbers = floating_body()
    free = jd.Mechanism.from_sympy([body], N, q=[], v=speeds, parameters=numbers)
    np.testing.assert_array_equal(free.mass_matrix(), np.diag([2.0, 2, 2, 1, 2, 3]))
    v = np.array([0.3, -0.2, 0.5, 1.0, 0.1, 0.2])
    run = jd.Hybrid(free, {"free": []}).simulate(v=v, until=1e-4)
    u, w, moments = v[:3], v[3:], np.array([1.0, 2, 3])
    expected = np.concatenate([np.cross(u, w), np.cross(moments * w, w) / moments])
    np.testing.assert_allclose((run.v[-1] - v) / 1e-4, expected, atol=1e-3)
    np.testing.assert_allclose(run.energy.gap, 0, atol=1e-12)


def test_what_an_orientation_is_needed_for_is_refused() -> None:
    body, (N, *speeds), numbers = floating_body()

    def made(**more: Any) -> jd.Mechanism:
        return jd.Mechanism.from_sympy([body], N, q=[], v=speeds, parameters=numbers, **more)

    with pytest.raises(jd.BadMechanism, match="depends on the orientation of frame 'A'"):
        made(gravity=-9.81 * N.z)
    with pytest.raises(jd.BadMechanism, match="velocity of point 'P' depends on the orientation"):
        made(points={"P": body.masscenter})
    with pytest.raises(jd.BadEvent, match="not oriented, and takes no angular impulse"):
        made().event(impulses={"body": [0, 0, 1.0]})
    pushed = made(forces=[(body.masscenter, 2 * body.frame.x)])  # along its own axis: no orientation is needed
    assert float(pushed.loads.force[0]) == 2.0


T = dynamicsymbols._t


def turned_by_an_input(load: Any, mass: Any = 1) -> tuple[KanesMethod, dict[str, Any]]:
    """A particle on a bar that turns by q; frame B turns against the bar by an input d. `load`: of these symbols."""
    q, u, d, F = dynamicsymbols("q u d F")
    N, A, B = ReferenceFrame("N"), ReferenceFrame("A"), ReferenceFrame("B")
    A.orient_axis(N, N.z, q)
    B.orient_axis(A, A.z, d)
    O, P = Point("O"), Point("P")
    O.set_vel(N, 0)
    P.set_pos(O, A.x)
    names = {"q": q, "u": u, "d": d, "F": F, "N": N, "A": A, "B": B, "P": P, "O": O}
    return KanesMethod(
        N, [q], [u], kd_eqs=[u - q.diff(T)], bodies=[Particle("p", P, mass)], forcelist=[load(**names)]
    ), names


def test_a_default_of_an_input_is_kept() -> None:
    kane, names = turned_by_an_input(lambda P, F, N, **_: (P, F * N.y))
    assert jd.Mechanism.from_system(kane).parameters == {"F": 0.0}
    assert jd.Mechanism.from_system(kane, {names["F"]: 3.0}).parameters == {"F": 3.0}
    assert jd.Mechanism.from_system(kane, {"F": None}).parameters == {"F": None}


@pytest.mark.parametrize("factor", ["1", "d"])
def test_inputs_turn_the_axis_of_a_load(factor: str) -> None:
    """As a steered wheel or thruster does: the same as with the force written along the bar."""
    kane, names = turned_by_an_input(lambda P, d, B, **_: (P, (d if factor == "d" else 1) * B.y))
    rate = dynamicsymbols("d_rate")
    names["B"].set_ang_vel(names["A"], rate * names["A"].z)  # of no use here, and no reason to fail
    force = jd.Mechanism.from_system(kane).loads.force
    written, _ = turned_by_an_input(lambda P, d, B, A, **_: (P, ((d if factor == "d" else 1) * B.y).express(A)))
    expected = jd.Mechanism.from_system(written).loads.force
    for d in (0.0, 0.4, -1.2):
        values = [float(sum_of(f, {"q": 0.3, "d": d})) for f in (force, expected)]
        assert values[0] == pytest.approx(values[1], abs=1e-14)


def sum_of(expression: Any, numbers: dict[str, float]) -> Any:
    """An SX at numbers of its symbols."""
    symbols = ca.symvar(expression)
    return ca.Function("f", symbols, [ca.densify(expression)])(*(numbers[s.name()] for s in symbols))


@pytest.mark.parametrize(
    "force",
    [
        lambda q, **_: -5 * (q - q.subs(T, 0)),
        lambda q, **_: q.subs(T, T - 1),
        lambda q, u, **_: sp.Function("f")(q) + 10 * sp.Function("f")(u),
        lambda q, **_: sp.Derivative(sp.Function("f")(q), q),
    ],
    ids=["q(0)", "q(t - 1)", "f(q)", "df/dq"],
)
def test_functions_of_something_else_than_the_time_are_refused(force: Any) -> None:
    kane, _ = turned_by_an_input(lambda A, **names: (A, force(**names) * A.z))
    with pytest.raises(jd.NotExpressible, match=r"not a function of time alone|not a rate, a derivative"):
        jd.Mechanism.from_system(kane)


def test_a_function_of_time_in_a_load_moves_no_body() -> None:
    (q, f), m = dynamicsymbols("q f"), sp.Symbol("m")
    N, O, P = ReferenceFrame("N"), Point("O"), Point("P")
    O.set_vel(N, 0)
    P.set_pos(O, q * f * N.x)
    with pytest.raises(jd.Rheonomic, match="'f' stands in the mass matrix"):
        jd.Mechanism.from_sympy([Particle("p", P, m)], N, q=[q], parameters={m: 1.0}, forces=[(P, f * N.x)])


@pytest.mark.parametrize("method", ["Kane", "Lagrange"])
def test_masses_that_change_with_time(method: str) -> None:
    """ṁ v belongs to the bias, as in SymPy's equations: m v̇ + ṁ v = 0."""
    x, u = dynamicsymbols("x u")
    N, P, O = ReferenceFrame("N"), Point("P"), Point("O")
    m = 1 + sp.exp(-T)
    O.set_vel(N, 0)
    P.set_pos(O, x * N.x)
    P.set_vel(N, x.diff(T) * N.x)
    body = Particle("p", P, m)
    if method == "Kane":
        kane = KanesMethod(N, [x], [u], kd_eqs=[u - x.diff(T)], bodies=[body])
        kane.kanes_equations()
        mechanism = jd.Mechanism.from_system(kane)
    else:
        mechanism = jd.Mechanism.from_system(LagrangesMethod(m * x.diff(T) ** 2 / 2, [x]))
    run = jd.Hybrid(mechanism, {"free": []}).simulate(v=[1.0], until=2.0)
    assert run.v[-1, 0] == pytest.approx(2 / (1 + np.exp(-2)), rel=1e-8)  # m v is constant


@pytest.mark.parametrize("value", [sp.Rational(1, 2), sp.pi, np.float32(0.5), np.array([0.5, 0.7])])
def test_numbers_of_any_kind_are_defaults(value: Any) -> None:
    system, l = pendulum_with_an_auxiliary_speed()
    assert jd.Mechanism.from_system(system, {l: value, "m": 1.0}).parameters["l"] is not None
    with pytest.raises(jd.ShapeError, match="parameter 'l' must be a number"):
        jd.Mechanism.from_system(system, {l: sp.Symbol("other"), "m": 1.0})


def pendulum_with_an_auxiliary_speed() -> tuple[System, Any]:
    """A bob at (x, y) at the distance l, and an auxiliary speed that shows the force of the rod."""
    x, y, u, v, w, R = dynamicsymbols("x y u v w R")
    m, l = sp.symbols("m l")
    system = System()
    bob = Particle("bob", Point("bob"), m)
    N, O = system.frame, system.fixed_point
    bob.masscenter.set_pos(O, x * N.x + y * N.y)
    bob.masscenter.set_vel(N, u * N.x + v * N.y + w * (x * N.x + y * N.y) / l)
    system.add_bodies(bob)
    system.q_ind, system.q_dep = [x], [y]
    system.u_ind, system.u_dep, system.u_aux = [u], [v], [w]
    system.kdes = [u - x.diff(T), v - y.diff(T)]
    system.holonomic_constraints = [x**2 + y**2 - l**2]
    system.velocity_constraints = [2 * x * u + 2 * y * v + 2 * l * w]
    system.add_loads(Force(bob.masscenter, R * (x * N.x + y * N.y) / l))
    return system, l


def test_velocity_rows_with_auxiliary_speeds_are_derivatives_too() -> None:
    """They follow from the holonomic row and w = 0, so that releasing the rod sets the bob free."""
    system, l = pendulum_with_an_auxiliary_speed()
    mechanism = jd.Mechanism.from_system(system, {l: 1.0, "m": 2.0})
    assert set(mechanism.joined) == {"holonomic 0", "auxiliary 0"}
    bump = mechanism.constraint("bump", mechanism.symbols.v[0])
    free = mechanism.event(inert=[bump], released=["holonomic 0"])
    t = free.solve({"x": 0.6, "y": 0.8}, {"u": 0.8, "v": -0.6})
    assert tuple(t.dof) == (1, 1, 1)
    np.testing.assert_allclose(t.v_plus, [0, -0.6, 0], atol=1e-14)


def test_holonomic_constraints_that_kanes_method_does_not_hold_are_reported() -> None:
    """SymPy's KanesMethod holds the velocity constraints; x = 2 y does not follow from u = v."""
    x, y, u, v = dynamicsymbols("x y u v")
    N, P, O, m = ReferenceFrame("N"), Point("P"), Point("O"), sp.Symbol("m")
    O.set_vel(N, 0)
    P.set_pos(O, x * N.x + y * N.y)
    P.set_vel(N, u * N.x + v * N.y)
    for slope, reported in ((2, True), (1, False)):
        kane = KanesMethod(
            N, [x], [u], kd_eqs=[u - x.diff(T), v - y.diff(T)], bodies=[Particle("p", P, m)],
            q_dependent=[y], configuration_constraints=[x - slope * y], u_dependent=[v], velocity_constraints=[u - v],
        )  # fmt: skip
        kane.kanes_equations()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            jd.Mechanism.from_system(kane, {m: 1.0})
        assert [str(one.message) for one in caught if "hold 2 velocities" in str(one.message)] == (
            [str(one.message) for one in caught] if reported else []
        )
        assert bool(caught) == reported
