"""Mechanisms: what SymPy describes against what CasADi derives, checked with SymPy's own differentiation."""

from typing import Any

import casadi as ca
import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import (
    KanesMethod,
    Particle,
    Point,
    ReferenceFrame,
    RigidBody,
    dynamicsymbols,
    inertia,
    kinetic_energy,
)

import jourdain as jd
from jourdain import gallery
from jourdain.mechanism.expression import to_sx
from models import planar_walker


def value(sx, symbols, at):
    names = [s.name for s in symbols]
    return float(ca.Function("f", [ca.SX.sym("unused")] + [sx_symbols[n] for n in names], [sx])(0, *at))


sx_symbols = {name: ca.SX.sym(name) for name in "abc"}
a, b, c = sp.symbols("a b c")

EXPRESSIONS = [
    a + b * c - 3,
    a**3 / b**2,
    sp.sqrt(a * a + b) + 1 / sp.sqrt(b),
    a ** sp.Rational(1, 3),
    a**b,
    sp.sin(a) * sp.cos(b) / sp.tan(c),
    sp.asin(a / 4) + sp.acos(b / 4) + sp.atan(c) + sp.atan2(a, b),
    sp.sinh(a) + sp.cosh(b) + sp.tanh(c) + sp.asinh(a) + sp.acosh(b + 2) + sp.atanh(c / 5),
    sp.exp(a) + sp.log(b) + sp.E + sp.pi + sp.exp(1 - c),
    sp.Abs(a - b) + sp.sign(b - c) + sp.erf(a / 3),
    sp.Max(a, b, c) - sp.Min(a, b, c),
    sp.floor(a * 3) + sp.ceiling(b * 3) + sp.Mod(c * 7, a),
    sp.Piecewise((a, a > b), (b * 2, b >= c), (c, True)),
    sp.Piecewise((1, sp.And(a > 0, b < 0)), (2, sp.Or(a < 0, sp.Not(c < 0))), (3, True)),
    sp.Heaviside(a - b, 0.5) + sp.sec(a) + sp.csc(b) + sp.cot(c) + sp.sinc(a),
    sp.Piecewise((a, sp.Ne(a, b)), (c, sp.Eq(a, b)), (0, True)),
]


@pytest.mark.parametrize("expression", EXPRESSIONS, ids=str)
def test_printer_against_sympy(expression, rng):
    sx = to_sx(expression, lambda symbol: sx_symbols[symbol.name])
    for at in rng.uniform(0.3, 2.5, (10, 3)):
        exact = sp.N(expression.subs(dict(zip((a, b, c), map(sp.Float, at), strict=True))), 20)
        assert value(sx, (a, b, c), at) == pytest.approx(float(exact), rel=1e-13)


def test_mass_matrix_and_energy_of_the_walker_against_sympy(rng):
    mechanism, bodies, N, q = planar_walker()
    for body in bodies:
        body.point.set_vel(N, body.point.pos_from(mechanism.reader.origin).dt(N))
    T = kinetic_energy(N, *bodies).subs({s: mechanism.parameters[s.name] for s in mechanism.sympy_parameters.values()})
    rates = [s.diff() for s in q]
    M = sp.lambdify(q, sp.hessian(T, rates))
    for pose, v in rng.uniform(-1, 1, (5, 2, 5)):
        assert mechanism.mass_matrix(pose) == pytest.approx(np.array(M(*pose), dtype=float), abs=1e-13)
        assert mechanism.kinetic_energy(pose, v) == pytest.approx(
            v @ np.array(M(*pose), dtype=float) @ v / 2, rel=1e-13
        )


def test_walker_heel_strike_of_the_papers():
    """theta = 40°, rho = 0.25, mu = 1 [FK-b]: T_c, impulses and the rear foot as recomputed in the reference."""
    mechanism, *_ = planar_walker()
    half = np.radians(20)
    t = mechanism.event(inert=["heel"], released=["stance"]).solve(
        q={"stance": half, "swing": -half}, v={"foot_x": 0.2, "stance": 1.0, "swing": 1.0}
    )
    assert t.T_c_minus == pytest.approx(2.047633, abs=5e-7)
    assert t.impulse["heel"] == pytest.approx([9.978130, -2.636596], abs=5e-7)
    assert t.u_plus["stance"] == pytest.approx([0.167326, 0.418536], abs=5e-7)
    assert t.required_friction["heel"] == pytest.approx(2.636596 / 9.978130, rel=1e-6)
    assert t.dof == (3, 3, 3)


def arm(axes, quasi):
    """Rigid links on hinges about axes of the link before, the mass of the first slides; the frames are the user's."""
    q = dynamicsymbols(f"q:{len(axes)}")
    x, w = dynamicsymbols("x w")
    N, O = ReferenceFrame("N"), Point("O")
    O.set_vel(N, 0)
    end, frame, bodies = O, N, []
    for i, (angle, axis) in enumerate(zip(q, axes, strict=True)):
        B = ReferenceFrame(f"B{i}")
        B.orient_axis(frame, angle, getattr(frame, axis))
        G = end.locatenew(f"G{i}", (0.2 * B.x + 0.1 * B.y - 0.3 * B.z) * (1 if i else x))
        bodies.append(RigidBody(f"link_{i}", G, B, 1.0 + i, (inertia(B, 0.1, 0.2, 0.25), G)))
        end, frame = end.locatenew(f"P{i}", 0.5 * B.x + 0.2 * N.y), B
    kinematics = {w: q[0].diff() + 2 * x.diff()} if quasi else None
    v = [w, *(s.diff() for s in (*q[1:], x))] if quasi else None
    return jd.Mechanism.from_sympy(bodies, N, [*q, x], v, kinematics), bodies, N, [*q, x]


@pytest.mark.parametrize("quasi", [False, True])
@pytest.mark.parametrize("axes", ["z", "xxx", "zzz", "zyx", "zzy"])
def test_mass_matrix_of_arms_against_sympy(axes, quasi, rng):
    """In the plane M is summed frame by frame, in space it is not; both are the Hessian of T."""
    mechanism, bodies, N, q = arm(axes, quasi)
    for body in bodies:
        body.masscenter.set_vel(N, body.masscenter.pos_from(mechanism.reader.origin).dt(N))
    T = sp.lambdify([*q, *(s.diff() for s in q)], kinetic_energy(N, *bodies))
    for pose, v in rng.uniform(-1, 1, (3, 2, len(q))):
        rates = mechanism.evaluate("N", lambda: {"N": mechanism.symbols.N}, pose, None, {})["N"] @ v
        assert mechanism.kinetic_energy(pose, v) == pytest.approx(T(*pose, *rates), rel=1e-13)
    assert mechanism.mass_matrix(pose) == pytest.approx(mechanism.mass_matrix(pose).T, abs=0)


def test_squares_of_sines_and_cosines_do_not_appear_in_the_plane():
    """Written in frames that lean with the legs, the walker's M depends on the pose off the diagonal only."""
    mechanism = gallery.walker().event.mechanism
    assert not ca.depends_on(ca.diag(mechanism.M), mechanism.symbols.q)
    plain, *_ = planar_walker()
    pose = np.linspace(-0.7, 1.1, 5)
    assert mechanism.mass_matrix(pose) == pytest.approx(plain.mass_matrix(pose), abs=1e-14)


def test_accessors_of_a_point(rng):
    mechanism, *_ = planar_walker()
    pose, v = rng.uniform(-1, 1, (2, 5))
    step = 1e-6
    J = mechanism.jacobian("hip", pose)
    assert mechanism.point_velocity("hip", pose, v) == pytest.approx(J @ v, abs=1e-14)
    ahead, behind = (mechanism.position("hip", pose + sign * step * v) for sign in (1, -1))
    assert J @ v == pytest.approx((ahead - behind) / (2 * step), abs=1e-8)
    assert mechanism.position("hip", np.stack([pose, pose])).shape == (2, 3)
    C, bias = mechanism.constraints["heel"].rows(pose)
    assert (C @ v)[0] == pytest.approx(mechanism.point_velocity("heel_centre", pose, v)[1], abs=1e-14)
    assert not bias.any()


def spatial_body(quasi):
    x, y, z, alpha, beta, gamma = q = dynamicsymbols("x y z alpha beta gamma")
    m, A, B_, C_ = p = sp.symbols("m A B C")
    w = dynamicsymbols("w_x w_y w_z")
    N, F, O = ReferenceFrame("N"), ReferenceFrame("F"), Point("O")
    O.set_vel(N, 0)
    F.orient_body_fixed(N, (alpha, beta, gamma), "123")
    G = O.locatenew("G", x * N.x + y * N.y + z * N.z)
    body = RigidBody("body", G, F, m, (inertia(F, A, B_, C_), G))
    P = G.locatenew("P", 0.3 * F.x - 0.2 * F.y + 0.5 * F.z)
    arguments: dict[str, Any] = {"parameters": dict(zip(p, (2.0, 0.3, 0.5, 0.7), strict=True)), "points": {"P": P}}
    if quasi:
        rates = F.ang_vel_in(N)
        arguments["kinematics"] = {s: rates.dot(axis) for s, axis in zip(w, F, strict=True)}
        arguments["v"] = [x.diff(), y.diff(), z.diff(), *w]
        F.set_ang_vel(N, w[0] * F.x + w[1] * F.y + w[2] * F.z)
    return jd.Mechanism.from_sympy([body], N, q, **arguments)


def test_free_body_with_body_fixed_angular_velocity(rng):
    """The mass matrix is diag(m, m, m, A, B, C) at every pose, and events agree with those in Euler rates."""
    quasi, euler = spatial_body(quasi=True), spatial_body(quasi=False)
    for pose in rng.uniform(-0.7, 0.7, (5, 6)):
        assert quasi.mass_matrix(pose) == pytest.approx(np.diag([2.0, 2.0, 2.0, 0.3, 0.5, 0.7]), abs=1e-14)
        v = rng.normal(size=6)
        N = quasi.evaluate("N", lambda: {"N": quasi.symbols.N}, pose, None, {})["N"]
        rates = N @ v
        assert euler.kinetic_energy(pose, rates) == pytest.approx(quasi.kinetic_energy(pose, v), rel=1e-12)
        assert euler.point_velocity("P", pose, rates) == pytest.approx(quasi.point_velocity("P", pose, v), abs=1e-13)
        outcomes = []
        for mechanism, velocity in ((quasi, v), (euler, rates)):
            s = mechanism.symbols
            P = mechanism.points["P"].velocity
            name = f"stop {pose[0]}"
            stop = mechanism.constraint(name, P)
            assert s.v.shape == (6, 1)
            outcomes.append(mechanism.event(inert=[stop]).solve(pose, velocity))
        assert outcomes[0].impulse[name] == pytest.approx(outcomes[1].impulse[name], abs=1e-11)
        assert outcomes[0].loss == pytest.approx(outcomes[1].loss, rel=1e-11)
        assert N @ outcomes[0].v_plus == pytest.approx(outcomes[1].v_plus, abs=1e-11)


def test_quasi_velocities_are_recognised_in_the_angular_velocity(rng):
    """Even if the frame's angular velocity is left in Euler rates, M is structurally diagonal."""
    q = dynamicsymbols("alpha beta gamma")
    w = dynamicsymbols("w_x w_y w_z")
    N, F, O = ReferenceFrame("N"), ReferenceFrame("F"), Point("O")
    O.set_vel(N, 0)
    F.orient_body_fixed(N, q, "123")
    body = RigidBody("body", O, F, 1.0, (inertia(F, 0.3, 0.5, 0.7), O))
    definitions = {s: F.ang_vel_in(N).dot(axis) for s, axis in zip(w, F, strict=True)}
    top = jd.Mechanism.from_sympy([body], N, q, w, definitions)
    assert top.M.nnz() == 3
    assert top.mass_matrix(rng.uniform(-1, 1, 3)) == pytest.approx(np.diag([0.3, 0.5, 0.7]), abs=1e-16)


def test_kinematics_by_rates_equals_kinematics_by_quasi_velocities(rng):
    x, theta, u, w = dynamicsymbols("x theta u w")
    m, I = sp.symbols("m I")
    N, B, O = ReferenceFrame("N"), ReferenceFrame("B"), Point("O")
    O.set_vel(N, 0)
    B.orient_axis(N, theta, N.z)
    G = O.locatenew("G", x * N.x)
    body = RigidBody("body", G, B, m, (inertia(B, 0, 0, I), G))
    forms = [
        {u: 2 * x.diff() + theta.diff() * sp.cos(x), w: theta.diff()},
        {x.diff(): (u - w * sp.cos(x)) / 2, theta.diff(): w},
    ]
    made = [jd.Mechanism.from_sympy([body], N, [x, theta], [u, w], form, {m: 1.0, I: 2.0}) for form in forms]
    pose = rng.normal(size=2)
    assert made[0].mass_matrix(pose) == pytest.approx(made[1].mass_matrix(pose), abs=1e-14)


def test_kinematics_that_say_too_little():
    x, u, w = dynamicsymbols("x u w")
    N, O = ReferenceFrame("N"), Point("O")
    O.set_vel(N, 0)
    ball = Particle("ball", O.locatenew("G", x * N.x), sp.Symbol("m"))
    with pytest.raises(jd.BadMechanism, match="kinematics does not say what 'u' is"):
        jd.Mechanism.from_sympy([ball], N, [x], [u], parameters={"m": 1.0})
    with pytest.raises(jd.ShapeError, match="2 velocities for 1 coordinates"):
        jd.Mechanism.from_sympy([ball], N, [x], [u, w], {u: x.diff(), w: 2 * x.diff()}, {"m": 1.0})
    with pytest.raises(jd.NotAffine, match="must be linear in the velocities, without a constant term"):
        jd.Mechanism.from_sympy([ball], N, [x], [u], {u: x.diff() + 1}, {"m": 1.0})


def test_velocities_that_the_user_set_are_taken():
    """A disk rolls: its centre's velocity is given by the spin, not by a coordinate."""
    phi = dynamicsymbols("phi")
    m, I, r = sp.symbols("m I r")
    N, B, G = ReferenceFrame("N"), ReferenceFrame("B"), Point("G")
    B.orient_axis(N, phi, -N.z)
    G.set_vel(N, r * phi.diff() * N.x)
    disk = jd.Mechanism.from_sympy(
        [RigidBody("disk", G, B, m, (inertia(B, 0, 0, I), G))],
        N,
        [phi],
        parameters={m: 2.0, I: 0.5, r: 0.3},
        points={"G": G},
    )
    assert disk.mass_matrix() == pytest.approx(0.5 + 2.0 * 0.3**2)
    with pytest.raises(jd.UnknownName, match="position of 'G' is not known"):
        disk.position("G")


def test_gravity_and_forces_against_kane(rng):
    """Generalized forces as Kane's method has them."""
    q1, q2 = q = dynamicsymbols("q1 q2")
    u = dynamicsymbols("u1 u2")
    m, l, g, k = sp.symbols("m l g k")
    N, O = ReferenceFrame("N"), Point("O")
    O.set_vel(N, 0)
    A, B = N.orientnew("A", "Axis", [q1, N.z]), N.orientnew("B", "Axis", [q2, N.z])
    P = O.locatenew("P", -l * A.y)
    R = P.locatenew("R", -l * B.y)
    loads = [(R, k * N.x), (B, 0.7 * N.z)]
    mechanism = jd.Mechanism.from_sympy(
        [Particle("p", P, m), Particle("r", R, m)], N, q, parameters={m: 1.2, l: 0.7, g: 9.81, k: 3.0},
        gravity=-g * N.y, forces=loads,
    )  # fmt: skip
    for point in (P, R):
        point.set_vel(N, point.vel(N).subs({q1.diff(): u[0], q2.diff(): u[1]}))
    B.set_ang_vel(N, u[1] * N.z)
    kane = KanesMethod(N, q, u, [q1.diff() - u[0], q2.diff() - u[1]])
    weights = [(point, -m * g * N.y) for point in (P, R)]
    fr, _ = kane.kanes_equations([Particle("p", P, m), Particle("r", R, m)], [*loads, *weights])
    expected = sp.lambdify([*q], fr.subs({m: 1.2, l: 0.7, g: 9.81, k: 3.0}))
    pose = rng.normal(size=2)
    found = mechanism.evaluate("f", lambda: {"f": mechanism.loads.force}, pose, None, {})["f"]
    assert found == pytest.approx(np.array(expected(*pose), dtype=float), abs=1e-13)


def test_from_casadi_equals_from_sympy(rng):
    mechanism, *_ = planar_walker()
    s = mechanism.symbols
    copy = jd.Mechanism.from_casadi(
        s.q, s.v, mechanism.M, parameters=list(zip(ca.vertsplit(s.p), mechanism.parameters.values(), strict=True)),
        points={"hip": mechanism.points["hip"].position}, outputs={"speed": mechanism.points["hip"].velocity[0]},
    )  # fmt: skip
    heel = mechanism.constraints["heel"]
    copy.constraint("heel", heel.C @ s.v + heel.b)
    pose, v = rng.uniform(-1, 1, (2, 5))
    ours = mechanism.event(inert=["heel"]).solve(pose, v, m_H=7.0)
    theirs = copy.event(inert=["heel"]).solve(pose, v, m_H=7.0)
    assert np.array_equal(ours.v_plus, theirs.v_plus)
    assert theirs.outputs["speed"] == copy.point_velocity("hip", pose, theirs.v_plus)[0]


def four_bar(lengths, ground):
    angles = dynamicsymbols("crank coupler rocker")
    N, O = ReferenceFrame("N"), Point("O")
    O.set_vel(N, 0)
    end, bodies = O, []
    for i, (angle, length) in enumerate(zip(angles, lengths, strict=True)):
        end = end.locatenew(f"P{i}", length * (sp.cos(angle) * N.x + sp.sin(angle) * N.y))
        bodies.append(Particle(f"bob_{i}", end, 1.0 + i))
    bar = jd.Mechanism.from_sympy(bodies, N, angles, points={"end": end})
    gap = end.pos_from(O) - ground[0] * N.x - ground[1] * N.y
    bar.constraint("loop", {"x": gap.dot(N.x), "y": gap.dot(N.y)}, level="position")
    bar.constraint("stop", angles[0].diff())
    return bar


def test_assemble_a_four_bar(rng):
    """The loop closes, and held coordinates keep their value."""
    bar = four_bar((0.4, 1.0, 0.8), (1.1, 0.0))
    q = bar.assemble({"crank": 0.7, "coupler": 0.3, "rocker": -1.2}, hold=["crank"])
    assert q[0] == 0.7
    assert bar.position("end", q) == pytest.approx([1.1, 0, 0], abs=1e-12)
    cranks = {"crank": rng.uniform(0.5, 1.0, 4), "coupler": 0.3, "rocker": -1.2}
    many = bar.assemble(cranks, hold=["crank", bar.constraints["loop"]])
    assert bar.position("end", many) == pytest.approx(np.tile([1.1, 0, 0], (4, 1)), abs=1e-12)


@pytest.mark.parametrize("tilt", [0.0, 0.3, np.pi / 2, 2.0, np.pi])
@pytest.mark.parametrize("folded", [(0, 0, np.pi), (np.pi, 0, 0), (0, np.pi, 0)])
def test_closed_loop_in_its_singular_pose(tilt, folded, rng):
    """Three unit bars folded onto a unit ground link, in any direction: the two loop rows depend on each other, or
    one is zero up to the rounding of sin π. One row is redundant, and the outcome is that of the other alone."""
    q = tilt + np.array(folded)
    bar = four_bar((1.0, 1.0, 1.0), (np.cos(tilt), np.sin(tilt)))
    t = bar.event(regular=["loop"], inert=["stop"]).solve(q, rng.normal(size=3), check="project")
    assert len(t.redundant) == 1
    assert t.dof == (2, 1, 1)
    M = bar.mass_matrix(q)
    across = np.cos(q - tilt)[None]  # what is left: motion across the line of the bars
    C = np.concatenate([across, np.eye(3)[:1]])
    jump = np.linalg.solve(M, C.T) @ np.linalg.solve(C @ np.linalg.solve(M, C.T), -C @ t.v_minus)
    assert t.v_plus == pytest.approx(t.v_minus + jump, abs=1e-13)
    assert across @ t.v_minus == pytest.approx(0, abs=1e-14)


def test_moving_wall_given_in_time(rng):
    """A geometric constraint that depends on t explicitly has the bias ∂g/∂t."""
    x = dynamicsymbols("x")
    t = dynamicsymbols._t
    m = sp.Symbol("m")
    N, O = ReferenceFrame("N"), Point("O")
    O.set_vel(N, 0)
    ball = jd.Mechanism.from_sympy([Particle("ball", O.locatenew("P", x * N.x), m)], N, [x], parameters={m: 1.0})
    wall = ball.constraint("wall", x - sp.sin(3 * t), level="position")
    outcome = ball.event(elastic={wall: 0.5}).solve(q={"x": np.sin(3 * 0.2)}, v={"x": -1.0}, t=0.2)
    speed = 3 * np.cos(3 * 0.2)
    assert outcome.velocity_plus["x"] == pytest.approx(speed - 0.5 * (-1.0 - speed), rel=1e-14)


def test_from_casadi_with_quasi_velocities_and_its_own_symbols(rng):
    """A unicycle: v along the heading and turn rate; q̇ = N v."""
    q, v = ca.vertcat(*map(ca.SX.sym, ("x", "y", "heading"))), ca.vertcat(*map(ca.SX.sym, ("speed", "turn")))
    m, I, k = map(ca.SX.sym, ("m", "I", "k"))
    N = ca.vertcat(ca.horzcat(ca.cos(q[2]), 0), ca.horzcat(ca.sin(q[2]), 0), ca.horzcat(0, 1))
    made = jd.Mechanism.from_casadi(
        q, v, ca.diag(ca.vertcat(m, I)), kinematics=N, parameters=[(m, 2.0), (I, 0.5), (k, 1.0)], points={"P": q[:2]}
    )
    pose = rng.normal(size=3)
    speed = made.point_velocity("P", pose, {"speed": 3.0, "turn": 1.0})
    assert speed == pytest.approx([3 * np.cos(pose[2]), 3 * np.sin(pose[2]), 0])
    wall = made.constraint("wall", k * (N @ v)[0])
    t = made.event(inert=[wall]).solve(pose, {"speed": 3.0, "turn": 1.0}, k=4.0)
    assert t.v_plus == pytest.approx([0.0, 1.0], abs=1e-15)
    assert t.impulse["wall"] == pytest.approx(-2.0 * 3.0 / (4.0 * np.cos(pose[2])), rel=1e-13)
    with pytest.raises(jd.UnknownName, match="no symbol 'stranger'"):
        made.constraint("odd", ca.SX.sym("stranger") * v[0])


def test_spatial_contact_with_two_tangents(rng):
    """Its rows are normal first; impulse["foot.tangent"] has both tangents."""
    body = spatial_body(quasi=True)
    P = body.points["P"].velocity
    foot = body.contact("foot", normal=P[2], tangent=[P[0], P[1]])
    t = body.event(inert=[foot]).solve(rng.uniform(-0.5, 0.5, 6), rng.normal(size=(4, 6)))
    assert t.impulse["foot"].shape == (4, 3)
    assert np.array_equal(t.impulse["foot.tangent"], t.impulse["foot"][:, 1:])
    assert np.array_equal(t.impulse["foot.tangent.1"], t.impulse["foot"][:, 2])
    slip = np.hypot(*t.impulse["foot.tangent"].T) / t.impulse["foot.normal"]
    pushes = t.impulse["foot.normal"] > 0
    assert t.required_friction["foot"][pushes] == pytest.approx(slip[pushes])
    one = body.event(inert=[foot.normal], elastic={foot.tangent: [0.2, 0.4]}).solve(v=rng.normal(size=6))
    assert one.u_plus["foot.tangent"] == pytest.approx(-np.array([0.2, 0.4]) * one.u_minus["foot.tangent"], abs=1e-14)


def test_a_velocity_that_moves_no_mass_is_found(rng):
    """Three links with a mass at the tip only: M has rank 2, whatever rounding makes of it."""
    angles = dynamicsymbols("a_1 a_2 a_3")
    N, O = ReferenceFrame("N"), Point("O")
    O.set_vel(N, 0)
    tip = O.locatenew("tip", sum((sp.cos(a) * N.x + sp.sin(a) * N.y for a in angles), 0 * N.x))
    arm = jd.Mechanism.from_sympy([Particle("load", tip, 1.0)], N, angles, points={"tip": tip})
    event = arm.event(inert=[arm.constraint("lock", angles[0].diff())])
    status = event.solve(rng.uniform(-np.pi, np.pi, (300, 3)), rng.normal(size=(300, 3))).status
    assert (status == jd.Status.NOT_POSITIVE_DEFINITE).all()
