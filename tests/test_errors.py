"""Every refusal: its own class, and a text that names the thing and says what to do."""

import casadi as ca
import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import Particle, Point, ReferenceFrame, RigidBody, dynamicsymbols, inertia

import jourdain as jd

x, y, theta = dynamicsymbols("x y theta")
m, I, l, w = sp.symbols("m I l w")


def make(**changes):
    """A planar rigid body with a point A, a distance l behind its centre."""
    N, B, O, C = ReferenceFrame("N"), ReferenceFrame("B"), Point("O"), Point("C")
    B.orient_axis(N, theta, N.z)
    O.set_vel(N, 0)
    C.set_pos(O, x * N.x + y * N.y)
    body = RigidBody("body", C, B, m, (inertia(B, 0, 0, I), C))
    arguments = {
        "bodies": [body],
        "frame": N,
        "q": [x, y, theta],
        "parameters": {m: 2.0, I: 0.5, l: 0.3, w: 0.0},
        "points": {"A": C.locatenew("A", -l * B.x)},
    }
    return jd.Mechanism.from_sympy(**(arguments | changes))


@pytest.fixture
def body():
    return make()


def test_errors_are_value_errors():
    assert issubclass(jd.Error, ValueError)
    kinds = [jd.UnknownName, jd.ShapeError, jd.NotFinite, jd.NotAffine, jd.OffConstraint, jd.PriorViolated]
    kinds += [jd.Contradiction, jd.NotPositiveDefinite, jd.BadRestitution, jd.NameClash, jd.MissingValue]
    assert all(issubclass(kind, jd.Error) for kind in kinds)


# Names


def test_unknown_coordinate_suggests_the_nearest(body):
    event = body.event(inert=[body.constraint("wall", x.diff())])
    with pytest.raises(jd.UnknownName, match=r"no entry of v 'thetta'; did you mean 'theta'\?"):
        event.solve(v={"thetta": 1.0})
    with pytest.raises(jd.UnknownName, match="no entry of q 'phi'; there are: 'x', 'y', 'theta'"):
        event.solve(q={"phi": 1.0})


def test_unknown_parameter_constraint_point(body):
    wall = body.constraint("wall", x.diff())
    event = body.event(inert=[wall])
    with pytest.raises(jd.UnknownName, match="There is no parameter 'mm'; did you mean 'm'"):
        event.solve(mm=3.0)
    with pytest.raises(jd.UnknownName, match="There is no constraint 'wal'; did you mean 'wall'"):
        body.event(inert=["wal"])
    with pytest.raises(jd.UnknownName, match="There is no point 'B'"):
        body.position("B")
    with pytest.raises(jd.UnknownName, match="There is no point, body or velocity 'AA'; did you mean 'A'"):
        body.event(impulses={"AA": [1, 0]})
    with pytest.raises(jd.UnknownName, match="no constraint or row 'wale'; did you mean 'wall'"):
        event.solve().impulse["wale"]
    with pytest.raises(jd.UnknownName, match="no parameter 'k'"):
        body.constraint("spring", sp.Symbol("k") * x.diff())
    with pytest.raises(jd.UnknownName, match="no coordinate or velocity 'z'"):
        body.constraint("floor", dynamicsymbols("z"))


def test_constraint_of_another_mechanism(body):
    wall, other = body.constraint("wall", x.diff()), make()
    other.constraint("wall", y.diff())
    with pytest.raises(jd.UnknownName, match="'wall' belongs to another mechanism"):
        other.event(inert=[wall])


def test_live_parameter_is_renamed(body):
    floor = body.constraint("floor", x.diff() - w)
    event = body.event(live={floor: {"w": (0.0, 1.0)}})
    assert {"w_minus", "w_plus"} <= set(event.parameters)
    with pytest.raises(jd.UnknownName, match=r"There is no parameter 'w'.*w_minus or w_plus"):
        event.solve(w=1.0)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"outputs": {"x": x.diff()}}, "'x' is the name of a coordinate and of an output"),
        ({"points": ["body"]}, "'body' is the name of a body and of a point"),
        ({"outputs": {"A": x.diff()}}, "'A' is the name of an output and of a point"),
        ({"q": [x, y, theta, x]}, "There are two things called 'x', a coordinate each"),
    ],
)
def test_clash_of_names(changes, message):
    N, O = ReferenceFrame("N"), Point("O")
    O.set_vel(N, 0)
    C = O.locatenew("C", x * N.x + y * N.y)
    points = {name: O.locatenew(name, 0 * N.x) for name in changes.get("points", ["A"])}
    arguments = {**changes, "frame": N, "bodies": [Particle("body", C, m)], "points": points}
    with pytest.raises(jd.NameClash, match=message):
        make(**arguments)


def test_clash_of_constraints(body):
    body.constraint("wall", x.diff())
    with pytest.raises(jd.NameClash, match="There are two things called 'wall', a constraint each"):
        body.constraint("wall", y.diff())
    with pytest.raises(jd.NameClash, match="'theta' is the name of a coordinate and of a constraint"):
        body.constraint("theta", theta.diff())
    with pytest.raises(jd.NameClash, match="'A' is the name of a point and of a constraint"):
        body.constraint("A", y.diff())
    body.contact("A", normal=y.diff())  # the contact of a point may carry its name


def test_clash_of_rows_and_parameters(body):
    body.contact("foot", normal=y.diff(), tangent=[x.diff()])
    with pytest.raises(jd.NameClash, match=r"'foot\.normal' is the name of"):
        body.constraint("foot.normal", x.diff())
    with pytest.raises(jd.NameClash, match="'theta' is the name of a coordinate and of a parameter"):
        make(parameters={m: 1.0, I: 1.0, l: 1.0, sp.Symbol("theta"): 2.0})
    with pytest.raises(jd.NameClash, match="There are two things called 'm', a parameter each"):
        make(parameters={m: 1.0, sp.Symbol("m", positive=True): 1.0, I: 1.0, l: 1.0})
    with pytest.raises(jd.NameClash, match="'x' stands for a coordinate or velocity"):
        body.event(elastic={"foot": "x"})
    with pytest.raises(jd.NameClash, match="There are two things called 'A', an impulse each"):
        body.event(impulses={"A": [1, 0], body.points["A"].source: [0, 1]})


def test_contact_may_carry_the_name_of_a_coordinate(body):
    body.contact("theta", normal=y.diff(), tangent=[x.diff()])
    t = body.event(inert=["theta"]).solve(v={"y": -1.0, "theta": 0.2})
    assert t.u_minus["theta.normal"] == -1.0
    assert t.velocity_minus["theta"] == 0.2


# Expressions


def test_not_affine_shows_the_term(body):
    with pytest.raises(jd.NotAffine, match=r"'row' is not affine in the velocities: .*Derivative\(y\(t\), t\)\*\*2"):
        body.constraint("row", x.diff() + l * y.diff() ** 2)
    with pytest.raises(jd.NotAffine, match="at position level but contains velocities"):
        body.constraint("row", x.diff(), level="position")
    with pytest.raises(jd.NotAffine, match="output 'e' is not affine"):
        make(outputs={"e": x.diff() ** 2})


def test_unknown_level_and_empty_constraint(body):
    with pytest.raises(jd.BadConstraint, match="level of constraint 'a' is 'velocity' or 'position', not 'speed'"):
        body.constraint("a", x.diff(), level="speed")
    with pytest.raises(jd.BadConstraint, match="'a' has no rows"):
        body.constraint("a", [])


def test_steps_of_the_velocity_are_not_affine(body):
    """Their derivative vanishes, but they are no rows."""
    with pytest.raises(jd.NotAffine, match=r"'row' is not affine in the velocities: sign\(Derivative\(y\(t\), t\)\)"):
        body.constraint("row", x.diff() + sp.sign(y.diff()))
    with pytest.raises(jd.NotAffine, match="'row' is not affine"):
        body.constraint("row", x.diff() + sp.Piecewise((1, y.diff() > 0), (2, True)))


def test_constraints_that_are_meant_otherwise(body):
    with pytest.raises(jd.BadConstraint, match=r"'floor' contains no velocity; is it meant with level='position'\?"):
        body.constraint("floor", y - l)
    with pytest.raises(jd.BadConstraint, match=r"given as Eq\(.*write the expression that must vanish"):
        body.constraint("floor", sp.Eq(y.diff(), 0))


def test_accelerations_and_texts_are_not_expressible(body):
    with pytest.raises(jd.NotExpressible, match="an event knows q and v only"):
        body.constraint("a", x.diff().diff())
    with pytest.raises(jd.NotExpressible, match="not a scalar expression"):
        body.constraint("a", "x.diff()")
    with pytest.raises(jd.NotExpressible, match=r"zeta.* has no counterpart in CasADi"):
        body.constraint("a", sp.zeta(x) * x.diff())


def test_rheonomic_body():
    N, O = ReferenceFrame("N"), Point("O")
    O.set_vel(N, 0)
    cart = O.locatenew("cart", x * N.x)
    cart.set_vel(N, (x.diff() + w) * N.x)
    with pytest.raises(jd.Rheonomic, match="Body 'cart' moves although no generalized velocity does"):
        jd.Mechanism.from_sympy([Particle("cart", cart, m)], N, [x], parameters={m: 1.0, w: 1.0})


def test_velocity_that_cannot_be_derived():
    N = ReferenceFrame("N")
    with pytest.raises(jd.NotExpressible, match=r"velocity of point 'lost' is not known.*give origin="):
        jd.Mechanism.from_sympy([Particle("p", Point("lost"), m)], N, [x], parameters={m: 1.0})


# State


def test_prior_velocity_breaks_a_row(body):
    wall = body.constraint("wall", x.diff())
    with pytest.raises(jd.PriorViolated, match=r"breaks 'wall' \(regular\): u_minus = 0.5.*check='project'"):
        body.event(regular=[wall]).solve(v={"x": 0.5})
    with pytest.raises(jd.PriorViolated, match=r"breaks 'wall' \(released\).*declare the rows .* elastic or inert"):
        body.event(released=[wall]).solve(v={"x": 0.5})
    moving = body.constraint("moving", y.diff() - w)
    with pytest.raises(jd.PriorViolated, match=r"breaks 'moving' \(live\)"):
        body.event(live={moving: {w: (1.0, 2.0)}}).solve(v={"y": 0.5})


def test_prior_velocity_projected_or_unchecked(body):
    wall = body.constraint("wall", x.diff() + l * theta.diff())
    event = body.event(regular=[wall])
    projected = event.solve(v={"x": 0.5, "theta": 1.0}, check="project")
    assert abs(projected.u_minus["wall"]) < 1e-15
    M, (C, _) = body.mass_matrix(), wall.rows()
    v = np.array([0.5, 0.0, 1.0])
    expected = v - np.linalg.solve(M, C.T) @ np.linalg.solve(C @ np.linalg.solve(M, C.T), C @ v)  # M-orthogonal
    assert projected.v_minus == pytest.approx(expected, abs=1e-15)
    assert event.solve(v={"x": 0.5}, check=False).u_minus["wall"] == 0.5
    with pytest.raises(jd.BadEvent, match="check is True, False or 'project', not 'maybe'"):
        event.solve(check="maybe")


def test_tolerance_of_the_prior_check(body):
    event = body.event(regular=[body.constraint("wall", x.diff())])
    speed = 1.0
    event.solve(v={"x": 0.5e-8 * speed, "y": speed})
    with pytest.raises(jd.PriorViolated):
        event.solve(v={"x": 2e-8 * speed, "y": speed})


def test_configuration_off_a_geometric_row(body):
    floor = body.constraint("floor", y - l, level="position")
    event = body.event(inert=[floor])
    with pytest.raises(jd.OffConstraint, match=r"misses 'floor' by 0.1; correct q, use Mechanism.assemble"):
        event.solve(q={"y": 0.4}, v={"y": -1.0})
    assert event.solve(q={"y": 0.4}, v={"y": -1.0}, check="project").ok
    assert event.solve(q={"y": 0.4}, v={"y": -1.0}, check=False).ok
    batch = event.solve(q={"y": [0.3, 0.4]}, v={"y": -1.0})
    assert list(batch.status) == [jd.Status.OK, jd.Status.OFF_CONSTRAINT]
    with pytest.raises(jd.OffConstraint, match="'floor'"):
        body.event(released=[floor]).solve(q={"y": 0.4})


@pytest.mark.parametrize("kappa", [-0.1, 1.2])
def test_restitution_outside_the_unit_interval(body, kappa):
    wall = body.constraint("wall", x.diff())
    with pytest.raises(jd.BadRestitution, match=f"restitution of 'wall' is {kappa}; it must lie in"):
        body.event(elastic={wall: kappa})
    event = body.event(elastic={wall: "e"})
    with pytest.raises(jd.BadRestitution, match=f"restitution of 'wall' is {kappa}; it must lie in"):
        event.solve(e=kappa)
    assert list(event.solve(v={"x": [1.0, 1.0]}, e=[kappa, 0.5]).status) == [jd.Status.BAD_RESTITUTION, jd.Status.OK]


def test_mass_matrix_not_positive_definite(body):
    event = body.event(inert=[body.constraint("wall", x.diff())])
    for bad, idle in (({"m": -1.0}, "y"), ({"I": 0.0}, "theta")):
        with pytest.raises(jd.NotPositiveDefinite, match=f"not positive definite: '{idle}' moves no mass of its own"):
            event.solve(**bad)
    batch = event.solve(v={"x": 1.0}, m=[1.0, -1.0])
    assert list(batch.status) == [jd.Status.OK, jd.Status.NOT_POSITIVE_DEFINITE]
    assert np.isnan(batch.v_plus[1]).all()


def test_not_finite(body):
    event = body.event(inert=[body.constraint("wall", x.diff())])
    with pytest.raises(jd.NotFinite, match="v 'y' is nan"):
        event.solve(v={"y": np.nan})
    with pytest.raises(jd.NotFinite, match="q 'theta' is inf"):
        event.solve(q={"theta": np.inf})
    with pytest.raises(jd.NotFinite, match="parameter 'm' is nan"):
        event.solve(m=np.nan)
    with pytest.raises(jd.NotFinite, match="q of 'x' is nan"):
        body.mass_matrix(q=[np.nan, 0, 0])


def test_outcome_that_overflows(body):
    event = body.event(inert=[body.constraint("wall", x.diff() / l)])
    with pytest.raises(jd.NotFinite, match=r"'wall' \(inert\) has no finite coefficients at this state: they overflow"):
        event.solve(v={"x": 1.0}, l=0.0)
    with pytest.raises(jd.NotFinite, match="outcome is not finite"):
        event.solve(v={"x": 1e200}, l=1.0)


def test_a_row_that_is_nan_is_not_a_zero_row(body):
    """Roots and divisions that fail at the state are refused; where they do not they count, whatever else they do."""
    root = body.constraint("root", sp.sqrt(l) * (sp.cos(theta) * x.diff() + sp.sin(theta) * y.diff()))
    event = body.event(inert=[root])
    with pytest.raises(jd.NotFinite):
        event.solve(v={"x": 1.0}, l=-1.0)
    assert list(event.solve(v={"x": 1.0}, l=[1.0, -1.0]).status) == [jd.Status.OK, jd.Status.NOT_FINITE]
    partly = body.constraint("partly", sp.sqrt(1 - x**2) * y.diff() + x * x.diff())
    t = body.event(inert=[partly]).solve(q={"x": 0.6}, v={"y": 1.0})
    assert t.redundant == ()
    assert t.u_plus["partly"] == pytest.approx(0, abs=1e-15)
    divided = body.constraint("divided", sp.cos(theta) * (x.diff() + y.diff()) / w)
    assert body.event(inert=[divided]).solve(v={"y": 1.0}, w=2.0).redundant == ()


def test_projection_that_cannot_succeed_is_said(body):
    one, two = body.constraint("one", x.diff()), body.constraint("two", x.diff() - w)
    with pytest.raises(jd.PriorViolated, match=r"breaks '(one|two)'") as caught:
        body.event(regular=[one], released=[two]).solve(check="project", w=1.0)
    assert "pass check='project'" not in str(caught.value)
    circle = body.constraint("circle", x**2 + y**2 - l, level="position")
    event = body.event(inert=[circle])
    batch = event.solve(q={"x": 0.5, "y": 0.5}, v={"x": 1.0}, l=[1.0, -1.0, np.nan], check="project")
    assert list(batch.status) == [jd.Status.OK, jd.Status.OFF_CONSTRAINT, jd.Status.NOT_FINITE]
    with pytest.raises(jd.OffConstraint, match="No configuration near this one satisfies 'circle'") as off:
        event.solve(q={"x": 0.5, "y": 0.5}, v={"x": 1.0}, l=-1.0, check="project")
    assert "pass check='project'" not in str(off.value)
    with pytest.raises(jd.OffConstraint, match="or pass check='project'"):
        event.solve(q={"x": 0.5, "y": 0.5}, v={"x": 1.0}, l=3.0)


@pytest.mark.parametrize("radii", [1.5, 20.0, 49.0, 50.0, 50.5, 51.0, 300.0, 1e4, 1e6])
def test_projection_from_far_away(body, radii: float):
    """Onto a circle: Newton's method stays on the ray through the centre."""
    circle = body.constraint("circle", x**2 + y**2 - l, level="position")
    t = body.event(inert=[circle]).solve(q={"x": 0.6 * radii, "y": 0.8 * radii}, l=1.0, check="project")
    assert t.q[:2] == pytest.approx([0.6, 0.8], abs=1e-9)


def test_projection_knows_time_and_symbols(body):
    t = sp.Symbol("t")
    turning = body.constraint("turning", theta - l * t, level="position")
    event = body.event(regular=[turning], inert=[body.constraint("blade", y.diff() * sp.cos(theta))])
    by_name = event.solve(v={"x": 1.0}, t=2.0, l=0.7, check="project")
    by_symbol = event.solve(v={"x": 1.0}, parameters={l: 0.7, "t": 2.0}, check="project")
    assert np.array_equal(by_name.v_plus, by_symbol.v_plus)
    assert by_name.velocity_minus["theta"] == pytest.approx(0.7)


def test_hold_tells_a_contact_from_a_coordinate(body):
    gap = body.contact("theta", normal=theta - l, level="position")
    body.constraint("elsewhere", x - 5, level="position")
    assert body.assemble(hold=[gap]) == pytest.approx([0, 0, 0.3])
    assert body.assemble(hold=["theta", "elsewhere"]) == pytest.approx([5, 0, 0])


@pytest.mark.parametrize("method", ["projectors", "directions", "phases"])
def test_analysis_judges_its_input(body, method):
    event = body.event(inert=[body.constraint("wall", x.diff())])
    with pytest.raises(jd.NotFinite, match="q of 'theta' is nan"):
        getattr(event, method)(q={"theta": np.nan})
    with pytest.raises(jd.NotPositiveDefinite, match="not positive definite at this pose"):
        getattr(event, method)(m=-1.0)
    with pytest.raises(jd.NotFinite, match="parameter of 'm' is nan"):
        body.mass_matrix(m=np.nan)


def test_projectors_in_a_batch_mark_the_bad_lane(body):
    P = body.event(inert=[body.constraint("wall", x.diff())]).projectors(m=[1.0, -1.0])
    assert np.isfinite(P.P_c[0]).all()
    assert np.isnan(P.P_c[1]).all()


def test_shapes(body):
    with pytest.raises(jd.ShapeError, match=r"entries of v, of shapes .* do not broadcast"):
        body.event(inert=[body.constraint("door", x.diff())]).solve(v={"x": [1, 2, 3], "y": [1, 2]})
    with pytest.raises(jd.ShapeError, match="parameters must be a dict by name"):
        body.event(inert=["door"]).solve(parameters=[1])
    event = body.event(inert=[body.constraint("wall", x.diff())])
    with pytest.raises(jd.ShapeError, match=r"v has shape \(2,\), but its last axis must be 3: 'x', 'y', 'theta'"):
        event.solve(v=[1.0, 2.0])
    with pytest.raises(jd.ShapeError, match="do not broadcast"):
        event.solve(v=np.zeros((2, 3)), m=np.ones(3))
    with pytest.raises(jd.ShapeError, match="parameter 'm' must be a number"):
        event.solve(m="heavy")
    with pytest.raises(jd.ShapeError, match=r"v\['x'\] must be a number"):
        event.solve(v={"x": "fast"})
    with pytest.raises(jd.ShapeError, match="restitution of 'wall' has 2 entries for 1 rows"):
        body.event(elastic={"wall": [0.1, 0.2]})
    with pytest.raises(jd.ShapeError, match="impulse at 'A' has 4 components; give 3"):
        body.event(impulses={"A": [1, 2, 3, 4]})


def test_missing_value(body):
    event = body.event(elastic={body.constraint("wall", x.diff()): "e"})
    with pytest.raises(jd.MissingValue, match="Parameter 'e' has no default; give it as e=…"):
        event.solve()


def test_contradiction(body):
    a, b = body.constraint("a", x.diff()), body.constraint("b", 2 * x.diff() - w)
    event = body.event(inert=[a, b])
    assert event.solve(v={"x": 1.0}).redundant == ("b",)
    with pytest.raises(jd.Contradiction, match=r"'b' \(inert\) should have u_plus = 0, but the other rows make it -1"):
        event.solve(v={"x": 1.0}, w=1.0)


def test_kinds_that_do_not_make_an_event(body):
    wall = body.constraint("wall", x.diff() - w)
    foot = body.contact("foot", normal=y.diff(), tangent=[x.diff()])
    with pytest.raises(jd.BadEvent, match="Row 'wall' takes part twice"):
        body.event(regular=[wall], inert=[wall])
    with pytest.raises(jd.BadEvent, match=r"Row 'foot.normal' takes part twice \('foot' and 'foot.normal'\)"):
        body.event(inert=[foot, foot.normal])
    with pytest.raises(jd.BadEvent, match="pair"):
        body.event(live={wall: {"w": 1.0}})
    with pytest.raises(jd.BadEvent, match="does not depend on 'l'"):
        body.event(live={wall: {"l": (0, 1)}})
    with pytest.raises(jd.UnknownName, match="no parameter 'z'"):
        body.event(live={wall: {"z": (0, 1)}})
    other = body.constraint("other", y.diff() - w)
    with pytest.raises(jd.BadEvent, match=r"bias of 'other' \(regular\) jumps with a live parameter"):
        body.event(live={wall: {"w": (0, 1)}}, regular=[other])


def test_a_live_parameter_has_one_pair(body):
    wall, side = body.constraint("wall", x.diff() - w), body.constraint("side", y.diff() - w)
    with pytest.raises(jd.BadEvent, match="'w' jumps differently in 'side'"):
        body.event(live={wall: {w: (0, 1)}, side: {w: (0, 2)}})
    with pytest.raises(jd.BadEvent, match="'w' jumps in this event, but more than the bias"):
        body.event(live={wall: {w: (w, 2 * w)}})
    for number in (sp.Integer(1), sp.Rational(1, 1), np.int64(1), np.float32(1)):
        t = body.event(live={wall: {w: (0, number)}, side: {w: (0, number)}}).solve()
        assert t.v_plus == pytest.approx([1, 1, 0])
        assert body.event(live={wall: {w: (0, number)}}).solve(w_plus=3.0).velocity_plus["x"] == pytest.approx(3.0)


@pytest.mark.parametrize("kind", ["elastic", "live", "impulses", "nonideal"])
def test_values_are_given_as_dicts(body, kind):
    with pytest.raises(jd.BadEvent, match=f"{kind} must be a dict"):
        body.event(**{kind: [1]})
    with pytest.raises(jd.BadEvent, match="given as a list, not as 3"):
        body.event(inert=3)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"q": x}, "q must be a list"),
        ({"frame": "N"}, "frame must be a ReferenceFrame, not 'N'"),
        ({"parameters": [m]}, "parameters must be a dict"),
        ({"points": {"A": 3}}, r"points\['A'\] must be a Point, not 3"),
        ({"origin": "O"}, "origin must be a Point"),
    ],
)
def test_arguments_of_the_wrong_kind(changes, message):
    with pytest.raises(jd.BadMechanism, match=message):
        make(**changes)


def test_particles_take_no_angular_impulse():
    N, O = ReferenceFrame("N"), Point("O")
    O.set_vel(N, 0)
    P = O.locatenew("P", x * N.x)
    ball = jd.Mechanism.from_sympy([Particle("ball", P, m)], N, [x], parameters={m: 1.0})
    with pytest.raises(jd.BadEvent, match="'ball' is a particle, or not oriented, and takes no angular impulse"):
        ball.event(impulses={"ball": [0, 0, 1]})


def test_assemble_that_cannot_arrive(body):
    body.constraint("nowhere", x**2 + 1, level="position")
    with pytest.raises(jd.NotConverged, match="satisfies 'nowhere'"):
        body.assemble(q={"x": 0.3})


def test_from_casadi_shapes():
    q, v = ca.SX.sym("q", 2), ca.SX.sym("v")
    with pytest.raises(jd.ShapeError, match="give kinematics"):
        jd.Mechanism.from_casadi(q, v, ca.SX.eye(1))
    with pytest.raises(jd.ShapeError, match="M has shape"):
        jd.Mechanism.from_casadi(q, q, ca.SX.eye(3))
    with pytest.raises(jd.UnknownName, match="no parameter 'k'"):
        jd.Mechanism.from_casadi(q, q, ca.SX.eye(2) * ca.SX.sym("k"))
