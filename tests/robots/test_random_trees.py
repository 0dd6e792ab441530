"""Random trees of joints against sums over bodies: positions by forward kinematics, their derivatives on a circle.

Along a constant v every joint moves on its own curve, and a position x(t) is an analytic function of complex t. Its
derivatives at 0 are those of its Taylor series, read off from values on a circle (Cauchy). From them, body by body,

    J v = x',   ω = (R' Rᵀ)ˇ,   a = x'',   α = (R'' Rᵀ)ˇ    and    M = Σ m JᵀJ + J_ωᵀ I J_ω,
    h = Σ m Jᵀa + J_ωᵀ(I α + ω × I ω),   weight = Σ m Jᵀg,

without any recursion over inertias or forces.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import casadi as ca
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from jourdain.algebra.unrolled import factor
from jourdain.inputs import Flags
from jourdain.robots.build import build
from jourdain.robots.description import GROUND, N_Q, N_V, Body, Description, Frame, Joint
from jourdain.robots.robot import Robot
from oracles.dense import assert_same

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]
RTOL = 1e-11
N_POINTS = 24  # on the circle

some = settings(max_examples=20)


# Random trees


@dataclass(frozen=True)
class Shape:
    """Which body hangs where, and by which joints; numbers follow from a seed."""

    parents: tuple[int, ...]
    kinds: tuple[tuple[str, ...], ...]
    seed: int


JOINTS = (("hinge",), ("slide",), ("ball",), (), ("hinge", "hinge"), ("slide", "hinge"), ("hinge", "slide"),
          ("slide", "slide"), ("ball", "slide"), ("hinge", "ball"), ("slide", "ball"))  # fmt: skip


@st.composite
def shapes(draw: st.DrawFn) -> Shape:
    """2 to 12 bodies in the order of a walk; at least one of them moves."""
    parents: list[int] = []
    kinds: list[tuple[str, ...]] = []
    path: list[int] = []  # from the root to the last body
    for i in range(draw(st.integers(2, 12))):
        path = path[: draw(st.integers(0, len(path)))] if draw(st.integers(0, 3)) == 0 else path
        parents.append(path[-1] if path else GROUND)
        free = not path and draw(st.booleans())
        kinds.append(("free",) if free else draw(st.sampled_from(JOINTS)))
        path.append(i)
    if not any(kinds):
        kinds[-1] = ("hinge",)
    return Shape(tuple(parents), tuple(kinds), draw(st.integers(0, 2**32 - 1)))


def rotation(rng: np.random.Generator) -> Array:
    Q, R = np.linalg.qr(rng.normal(size=(3, 3)))
    Q = Q * np.sign(np.diag(R))
    return Q * np.sign(np.linalg.det(Q))


def inertia(rng: np.random.Generator) -> Array:
    """Positive definite, of a body that can be: each principal moment is less than the sum of the others."""
    x, y, z = rng.uniform(0.01, 1, 3)
    R = rotation(rng)
    return R @ np.diag([y + z, x + z, x + y]) @ R.T


def random_joint(rng: np.random.Generator, name: str, kind: str, alone: bool) -> Joint:
    """A hinge through the centre of a ball joint would make M singular: several joints have anchors of their own."""
    axis = rng.normal(size=3)
    anchor = np.zeros(3) if kind == "free" or (alone and rng.integers(3) == 0) else rng.normal(size=3) / 2
    armature = tuple(rng.uniform(0, 0.5, N_V[kind])) if rng.integers(3) == 0 else (0.0,) * N_V[kind]
    reference = float(rng.normal()) if kind in ("hinge", "slide") and rng.integers(2) else 0.0
    neutral = {"free": (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0), "ball": (1.0, 0.0, 0.0, 0.0)}.get(kind, (reference,))
    return Joint(name, kind, axis / np.linalg.norm(axis), anchor, armature, reference, neutral)


def described(shape: Shape) -> Description:
    rng = np.random.default_rng(shape.seed)
    bodies, frames = [], []
    for i, (parent, kinds) in enumerate(zip(shape.parents, shape.kinds, strict=True)):
        joints = tuple(random_joint(rng, f"joint {i}.{k}", kind, len(kinds) == 1) for k, kind in enumerate(kinds))
        mass, tensor = float(rng.uniform(0.1, 3)), inertia(rng)
        if not joints and rng.integers(2):  # fixed bodies may be mere frames
            mass, tensor = 0.0, np.zeros((3, 3))
        bodies.append(Body(f"body {i}", parent, rng.normal(size=3), rotation(rng), joints, mass,
                           rng.normal(size=3) / 3, tensor))  # fmt: skip
        frames.append(Frame(f"frame {i}", i, rng.normal(size=3), rotation(rng)))
    return Description("tree", tuple(bodies), tuple(frames), (), rng.normal(size=3) * 5)


# The oracle


def turned(axis: Array, angle: Complex) -> Complex:
    """(*batch, 3, 3): Rodrigues' formula for complex angles."""
    x, y, z = axis
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle)[..., None, None] * K + (1 - np.cos(angle))[..., None, None] * (K @ K)


def moved_turn(quaternion: Array, omega: Array, t: Complex) -> Complex:
    """R of a unit quaternion, then turned with a constant angular velocity in the body's axes; omega (*batch, 3)."""
    w, x, y, z = quaternion
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    R = np.eye(3) + 2 * w * K + 2 * K @ K
    speed = np.linalg.norm(omega, axis=-1)
    a = omega / np.where(speed > 0, speed, 1.0)[..., None]
    o = np.zeros_like(speed)
    spin = np.stack([o, -a[..., 2], a[..., 1], a[..., 2], o, -a[..., 0], -a[..., 1], a[..., 0], o], axis=-1)
    spin = spin.reshape(*speed.shape, 3, 3)
    angle = speed * t
    return R @ (np.eye(3) + np.sin(angle)[..., None, None] * spin
                + (1 - np.cos(angle))[..., None, None] * (spin @ spin))  # fmt: skip


@dataclass(frozen=True)
class Motion:
    """Of all bodies along some v, `(*batch, …)`: places, and their first two derivatives with respect to time."""

    x: Array  # (*batch, n, 3), centre of mass or frame
    R: Array  # (*batch, n, 3, 3)
    velocity: Array
    omega: Array
    acceleration: Array
    alpha: Array


@dataclass(frozen=True, eq=False)
class Tree:
    """A description at a pose."""

    description: Description
    q: Array

    @cached_property
    def n_v(self) -> int:
        return sum(N_V[joint.kind] for joint in self.description.joints())

    def places(self, v: Array, t: Complex) -> tuple[list[Complex], list[Complex]]:
        """Origins and rotations of the bodies at time t, from here along constant v, `(*batch, n_v)`."""
        origins: list[Complex] = []
        turns: list[Complex] = []
        i = j = 0
        for body in self.description.bodies:
            at = body.parent
            r = np.zeros(3) if at == GROUND else origins[at]
            R = np.eye(3) if at == GROUND else turns[at]
            r, R = r + R @ body.position, R @ body.rotation
            for joint in body.joints:
                q, rate = self.q[i : i + N_Q[joint.kind]], v[..., j : j + N_V[joint.kind]]
                i, j = i + N_Q[joint.kind], j + N_V[joint.kind]
                if joint.kind == "free":
                    r, R = q[:3] + rate[..., :3] * t[..., None], moved_turn(q[3:], rate[..., 3:], t)
                    continue
                fixed = r + R @ joint.anchor  # where the anchor is, however the joint turns
                if joint.kind == "slide":
                    along = q[0] + rate[..., 0] * t - joint.reference
                    r = r + (R @ joint.axis) * along[..., None]
                    continue
                if joint.kind == "hinge":
                    R = R @ turned(joint.axis, q[0] + rate[..., 0] * t - joint.reference)
                else:
                    R = R @ moved_turn(q, rate, t)
                r = fixed - R @ joint.anchor
            shape = np.broadcast_shapes(t.shape, v.shape[:-1])
            origins.append(np.broadcast_to(r, (*shape, 3)))
            turns.append(np.broadcast_to(R, (*shape, 3, 3)))
        return origins, turns

    def motion(self, v: Array, points: list[Array]) -> Motion:
        """Of one point per body, given in its axes, along v, `(*batch, n_v)`."""
        radius = 0.5 / (1 + np.abs(v).max())
        t = radius * np.exp(2j * np.pi * np.arange(N_POINTS) / N_POINTS)
        origins, turns = self.places(v[..., None, :], np.broadcast_to(t, (*v.shape[:-1], N_POINTS)))
        x = np.stack([r + R @ point for r, R, point in zip(origins, turns, points, strict=True)], axis=-2)
        R = np.stack(turns, axis=-3)

        def derivative(values: Complex, axis: int, order: int) -> Array:
            coefficient = np.moveaxis(np.fft.fft(values, axis=axis), axis, 0)[order] / N_POINTS
            return np.array(coefficient.real) * (1, 1, 2)[order] / radius**order

        (x0, x1, x2), (R0, R1, R2) = ([derivative(x, -3, k) for k in range(3)],
                                      [derivative(R, -4, k) for k in range(3)])  # fmt: skip
        return Motion(x0, R0, x1, axial(R1 @ R0.swapaxes(-1, -2)), x2, axial(R2 @ R0.swapaxes(-1, -2)))

    @cached_property
    def centres(self) -> list[Array]:
        return [body.com for body in self.description.bodies]

    @cached_property
    def unit(self) -> Motion:
        """Along each velocity alone: Jacobians, `(n_v, n, 3)`."""
        return self.motion(np.eye(self.n_v), self.centres)

    @cached_property
    def masses(self) -> Array:
        return np.array([body.mass for body in self.description.bodies])

    @cached_property
    def tensors(self) -> Array:
        """In the axes of the world."""
        R = self.unit.R[0]
        return R @ np.array([body.inertia for body in self.description.bodies]) @ R.swapaxes(-1, -2)

    @cached_property
    def armature(self) -> Array:
        return np.array([number for joint in self.description.joints() for number in joint.armature])

    @cached_property
    def M(self) -> Array:
        J, W = self.unit.velocity, self.unit.omega
        moved = np.einsum("b,ibk,jbk->ij", self.masses, J, J)
        return moved + np.einsum("ibk,bkl,jbl->ij", W, self.tensors, W) + np.diag(self.armature)

    def kinetic_energy(self, v: Array) -> float:
        """From the velocities of the bodies, not from M."""
        at = self.motion(v, self.centres)
        linear = np.sum(self.masses * np.sum(at.velocity**2, axis=-1))
        return float(linear + np.einsum("bk,bkl,bl->", at.omega, self.tensors, at.omega) + v**2 @ self.armature) / 2

    def bias(self, v: Array) -> Array:
        at, J, W = self.motion(v, self.centres), self.unit.velocity, self.unit.omega
        spin = np.einsum("bkl,bl->bk", self.tensors, at.omega)
        moment = np.einsum("bkl,bl->bk", self.tensors, at.alpha) + np.cross(at.omega, spin)
        return np.einsum("b,ibk,bk->i", self.masses, J, at.acceleration) + np.einsum("ibk,bk->i", W, moment)

    @cached_property
    def weight(self) -> Array:
        return np.einsum("b,ibk,k->i", self.masses, self.unit.velocity, self.description.gravity)

    @cached_property
    def potential(self) -> float:
        return -float(np.einsum("b,bk,k->", self.masses, self.unit.x[0], self.description.gravity))


def axial(A: Array) -> Array:
    """The vector of the antisymmetric part."""
    return np.stack([A[..., 2, 1] - A[..., 1, 2], A[..., 0, 2] - A[..., 2, 0], A[..., 1, 0] - A[..., 0, 1]], -1) / 2


def pose(description: Description, rng: np.random.Generator) -> Array:
    found = []
    for joint in description.joints():
        number = rng.normal(size=N_Q[joint.kind])
        if joint.kind in ("free", "ball"):
            number[-4:] /= np.linalg.norm(number[-4:])
        found.append(number)
    return np.concatenate(found)


@dataclass(frozen=True, eq=False)
class Case:
    """A robot, the oracle at a pose, and velocities."""

    robot: Robot
    tree: Tree
    v: Array

    @classmethod
    def of(cls, shape: Shape) -> Case:
        description = described(shape)
        rng = np.random.default_rng(shape.seed + 1)
        tree = Tree(description, pose(description, rng))
        return cls(build(description), tree, rng.normal(size=tree.n_v))

    @property
    def q(self) -> Array:
        return self.tree.q

    def value(self, name: str, expression: ca.SX, v: Array | None = None) -> Array:
        """Numbers of an expression of the robot's."""
        outputs = {"value": ca.densify(expression)}
        return self.robot.evaluate(name, lambda: outputs, self.q, self.v if v is None else v, {})["value"]


def same(what: str, actual: Array, expected: Array, scale: float = 1.0) -> None:
    """To rounding of the largest entry, or of 1: all that is drawn is of that order."""
    assert_same(what, actual, expected, max(scale, float(np.max(np.abs(expected), initial=0.0))), RTOL)


def ancestry(description: Description) -> Flags:
    """(n_v, n_v): whether the joints of two velocities are one, or one carries the other."""
    carriers: list[list[int]] = []  # of the bodies: joints that move them, by number
    lines: list[tuple[int, ...]] = []  # of the joints: itself and those that carry it
    for body in description.bodies:
        line = [] if body.parent == GROUND else list(carriers[body.parent])
        for _ in body.joints:
            line.append(len(lines))
            lines.append(tuple(line))
        carriers.append(line)
    sizes = [N_V[joint.kind] for joint in description.joints()]
    related = np.array([[j in lines[i] or i in lines[j] for j in range(len(lines))] for i in range(len(lines))])
    return np.repeat(np.repeat(related, sizes, axis=0), sizes, axis=1)


def pattern(X: ca.SX) -> Flags:
    """Where a matrix has entries."""
    found = np.zeros(X.shape, dtype=bool)
    found[tuple(np.array(X.sparsity().get_triplet(), dtype=int))] = True
    return found


def linear_of_free(description: Description) -> Flags:
    """(n_v, n_v): pairs of x, y, z of one free joint."""
    found, first = np.zeros((sum(N_V[j.kind] for j in description.joints()),) * 2, dtype=bool), 0
    for joint in description.joints():
        if joint.kind == "free":
            found[first : first + 3, first : first + 3] = True
        first += N_V[joint.kind]
    return found


# The oracle itself, on what is known in closed form


def test_the_oracle_of_a_pendulum() -> None:
    """A rod on a hinge at an anchor: M = I + m l², no bias; two in a plane: the double pendulum of the books."""
    axis, still = np.array([0.0, 1.0, 0.0]), (np.zeros(3), np.eye(3))

    def rod(name: str, parent: int, at: float) -> Body:
        joint = Joint(name, "hinge", axis)
        return Body(name, parent, np.array([0, 0, -at]), still[1], (joint,), 2.0, np.array([0, 0, -0.5]), np.eye(3) / 6)

    description = Description("rods", (rod("a", GROUND, 0), rod("b", 0, 1.0)), (), (), np.array([0, 0, -10.0]))
    a, b = 0.4, 0.9  # angles of the joints
    tree, v = Tree(description, np.array([a, b])), np.array([0.7, -1.3])
    own = 1 / 6 + 2 * 0.25
    M = [[2 * own + 2 * (1 + np.cos(b)), own + np.cos(b)], [own + np.cos(b), own]]
    same("M", tree.M, np.array(M))
    pull = 2 * 1 * 0.5 * np.sin(b)
    same("h", tree.bias(v), pull * np.array([-(2 * v[0] * v[1] + v[1] ** 2), v[0] ** 2]))
    low = 2 * 10 * 0.5 * np.sin(a + b)
    same("weight", tree.weight, -np.array([2 * 10 * 1.5 * np.sin(a) + low, low]))
    same("U", np.array(tree.potential), np.array(-2 * 10 * (1.5 * np.cos(a) + 0.5 * np.cos(a + b))))


# Against the oracle


@some
@given(shapes())
def test_mass_matrix_and_energy(shape: Shape) -> None:
    case = Case.of(shape)
    M = case.robot.mass_matrix(case.q)
    same("M", M, case.tree.M)
    same("T", case.robot.kinetic_energy(case.q, case.v), np.array(case.tree.kinetic_energy(case.v)))
    same("T of M", case.v @ M @ case.v / 2, np.array(case.tree.kinetic_energy(case.v)))
    assert np.array_equal(M, M.T)
    assert np.linalg.eigvalsh(M)[0] > 0


@some
@given(shapes())
def test_bias_weight_and_potential(shape: Shape) -> None:
    case = Case.of(shape)
    loads, tree = case.robot.loads, case.tree
    same("bias", case.value("bias", loads.bias)[:, 0], tree.bias(case.v))
    same("weight", case.value("weight", loads.weight)[:, 0], tree.weight)
    elsewhere = replace(tree, q=pose(tree.description, np.random.default_rng(shape.seed + 2)))
    # Up to what bodies have that never move.
    here, there = (case.robot.evaluate("U", lambda: {"U": ca.densify(loads.potential)}, q, None, {})["U"][0, 0]
                   for q in (case.q, elsewhere.q))  # fmt: skip
    same("U", here - there, np.array(tree.potential - elsewhere.potential),
         scale=abs(tree.potential) + abs(elsewhere.potential))  # fmt: skip


@some
@given(shapes())
def test_places_and_jacobians(shape: Shape) -> None:
    case = Case.of(shape)
    robot, q, frames = case.robot, case.q, case.tree.description.frames
    points = [frame.position for frame in frames]
    at, unit = case.tree.motion(case.v, points), case.tree.motion(np.eye(case.tree.n_v), points)
    for i, frame in enumerate(frames):
        J = robot.frame_jacobian(frame.name, q)
        same("position", robot.position(frame.name, q), at.x[i])
        same("rotation", robot.rotation(frame.name, q), at.R[i] @ frame.rotation)
        same("linear", J[:3], unit.velocity[:, i].T)
        same("angular", J[3:], unit.omega[:, i].T)
        same("velocity", robot.point_velocity(frame.name, q, case.v), at.velocity[i])
        same("angular velocity", case.value(f"ω {i}", robot.angular_velocities[f"body {i}.angular"])[:, 0], at.omega[i])


@some
@given(shapes())
def test_rates_of_coordinates(shape: Shape) -> None:
    """q̇ = N v: rates of hinges and slides, and q ⊗ (0, ω)/2 of quaternions w x y z."""
    case = Case.of(shape)
    expected, i, j = [], 0, 0
    for joint in case.tree.description.joints():
        q, v = case.q[i : i + N_Q[joint.kind]], case.v[j : j + N_V[joint.kind]]
        i, j = i + len(q), j + len(v)
        if joint.kind in ("free", "ball"):
            w, u, omega = q[-4], q[-3:], v[-3:]
            expected += [*v[:-3], -u @ omega / 2, *((w * omega + np.cross(u, omega)) / 2)]
        else:
            expected += [*v]
    N = case.robot.evaluate("N", lambda: {"N": case.robot.symbols.N}, case.q, None, {})["N"]
    same("N v", N @ case.v, np.array(expected))


# Laws


@some
@given(shapes())
def test_power_balances(shape: Shape) -> None:
    """Ṫ at constant v is vᵀh: what h takes is what a changing M gives, ½ vᵀṀv, along q̇ = N v."""
    case = Case.of(shape)
    s, loads = case.robot.symbols, case.robot.loads
    T = s.v.T @ case.robot.M @ s.v / 2
    gained = case.value("Ṫ", ca.jtimes(T, s.q, s.N @ s.v))[0, 0]
    h = case.value("bias", loads.bias)[:, 0]
    same("vᵀ(½Ṁv − h)", gained, case.v @ h, scale=1.0 + float(np.abs(case.v) @ np.abs(h)))


@some
@given(shapes())
def test_weight_is_the_slope_of_the_potential(shape: Shape) -> None:
    case = Case.of(shape)
    s, loads = case.robot.symbols, case.robot.loads
    slope = case.value("slope", (ca.jacobian(loads.potential, s.q) @ s.N).T)[:, 0]
    same("weight", case.value("weight", loads.weight)[:, 0], -slope)


@some
@given(shapes())
def test_structural_zeros(shape: Shape) -> None:
    """M couples a joint to those that carry it and that it carries; where M has no entry there is none by the sums."""
    case = Case.of(shape)
    entries = pattern(case.robot.M)
    related = ancestry(case.tree.description)
    assert np.array_equal(entries, entries.T)
    assert not np.any(entries & ~related)
    assert not np.any(np.abs(case.tree.M[~entries]) > 1e-11 * np.abs(case.tree.M).max())


@some
@given(shapes())
def test_elimination_from_the_leaves_fills_nothing_in(shape: Shape) -> None:
    """M = LᵀL; only x, y and z of a free joint, which M does not couple, are coupled in L."""
    case = Case.of(shape)
    M, f = case.robot.M, factor(case.robot.M)
    entries = pattern(f.L)
    assert not np.any(entries & ~ancestry(case.tree.description))
    assert not np.any(entries & ~pattern(M) & ~linear_of_free(case.tree.description))
    L = case.value("L", f.L)
    assert not np.any(np.triu(L, 1))
    same("LᵀL", L.T @ L, case.tree.M)
    assert np.all(case.value("pivots", f.pivots) > 0)
