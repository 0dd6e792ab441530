"""A tree of joints over CasADi scalars: mass matrix, bias, weight, places and Jacobians, structural zeros kept.

Every joint is a node with a frame of its own: origin at the joint's anchor, axes of its body. Bodies that are fixed to
one another are one. A joint moves its frame by angular columns A and linear columns B, in that frame's axes:

    hinge: A = a        slide: B = a        ball: A = E        free: A = (0 E), B = (Rᵀ 0)

so that the linear velocity of a free joint is counted in the world and all angular ones in the body. Inertia about the
origin of a node is (m, h = m c, I); composite: with all that hangs on it. In the axes of the node the columns carry

    P = m B − [h] A  (momentum),   L = I A + [h] B  (moment of momentum about the origin),

and going to the parent, P' = R P, L' = R L + [r] P', with (r, R) the place of the node in its parent. Hence the blocks
M_ji = A_jᵀ L' + B_jᵀ P' for all ancestors j: the composite-rigid-body recursion [Featherstone 2008, ch. 6].
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np
from casadi import SX

from jourdain.inputs import Array
from jourdain.robots.description import GROUND, N_Q, N_V, Body, Description, Frame, Joint
from jourdain.robots.inertia import NOTHING, Inertia
from jourdain.robots.rotations import (
    about,
    conjugate,
    constant,
    cross,
    of_quaternion,
    product,
    rates_of_quaternion,
    skew,
    to_quaternion,
)


@dataclass(frozen=True)
class Place:
    """Somewhere on a node, or on the ground."""

    node: int
    position: SX  # (3, 1), in the node's axes
    rotation: SX  # (3, 3)

    def then(self, position: SX, rotation: SX) -> Place:
        """A place that is given in the axes of this one."""
        return Place(self.node, ca.sparsify(self.position + self.rotation @ position), self.rotation @ rotation)


@dataclass(frozen=True)
class Node:
    """A joint, where it has moved its frame in its parent's, and how it moves it."""

    joint: Joint
    parent: int
    first_q: int
    first_v: int
    r: SX  # (3, 1), origin in the parent's axes
    R: SX  # (3, 3), from its axes to the parent's
    A: SX  # (3, n), angular columns
    B: SX  # (3, n), linear columns
    BB: SX  # (n, n), BᵀB

    @property
    def v(self) -> slice:
        return slice(self.first_v, self.first_v + N_V[self.joint.kind])

    @property
    def q(self) -> slice:
        return slice(self.first_q, self.first_q + N_Q[self.joint.kind])


class JointTree:
    """A description over scalars. `parameters`: by name, what stands for masses and lengths that are left open."""

    def __init__(self, description: Description, q: SX, v: SX, parameters: Mapping[str, SX]) -> None:
        self.description = description
        self.q, self.v = q, v
        self._open = {part: parameters[name] for name, several in description.parameters.items() for part in several}
        self.nodes: list[Node] = []
        self.places: list[Place] = []  # of the bodies
        self.inertias: list[Inertia] = []  # of the nodes, all bodies fixed to them
        self.placed: list[Array] = []  # the rotations of the nodes in their parents' axes at their references
        for body in description.bodies:
            self._add(body)

    # From bodies to nodes

    def _add(self, body: Body) -> None:
        place = self._parent_place(body)
        for joint in body.joints:
            anchor = constant(joint.anchor)
            place = Place(self._new_node(joint, place.then(anchor, SX.eye(3))), -anchor, SX.eye(3))
        self.places.append(place)
        if place.node != GROUND:
            own = self._own_inertia(body).seen_from(place.position, place.rotation)
            self.inertias[place.node] = self.inertias[place.node] + own

    def _parent_place(self, body: Body) -> Place:
        """Where the body is while its joints are at their references."""
        position = ca.vertcat(*(self._number(body, axis, body.position[i]) for i, axis in enumerate("xyz")))
        rotation = constant(body.rotation)
        if body.parent == GROUND:
            return Place(GROUND, ca.sparsify(position), rotation)
        carrier = self.description.bodies[body.parent]
        if (carrier.name, "length") in self._open:
            position = position * (self._open[carrier.name, "length"] / length(self.description, carrier.name))
        return self.places[body.parent].then(ca.sparsify(position), rotation)

    def _new_node(self, joint: Joint, place: Place) -> int:
        assert not self.nodes or place.node in (GROUND, *self._ancestors(len(self.nodes) - 1)), "bodies depth first"
        first_q, first_v = (0, 0) if not self.nodes else (self.nodes[-1].q.stop, self.nodes[-1].v.stop)
        q = self.q[first_q : first_q + N_Q[joint.kind]]
        axis, none, E = constant(joint.axis), SX(3, 1), SX.eye(3)
        r, R = place.position, place.rotation
        if joint.kind == "hinge":
            R, A, B = R @ about(joint.axis, q - joint.reference), axis, none
        elif joint.kind == "slide":
            r, A, B = ca.sparsify(r + R @ axis * (q - joint.reference)), none, axis
        elif joint.kind == "ball":
            R, A, B = R @ of_quaternion(q), E, SX(3, 3)
        else:
            r, R = q[:3], of_quaternion(q[3:])
            A, B = ca.horzcat(SX(3, 3), E), ca.horzcat(R.T, SX(3, 3))
        BB = ca.diagcat(E, SX(3, 3)) if joint.kind == "free" else B.T @ B
        self.nodes.append(Node(joint, place.node, first_q, first_v, r, ca.sparsify(R), A, B, BB))
        self.inertias.append(NOTHING)
        self.placed.append(np.array(ca.DM(place.rotation)))
        return len(self.nodes) - 1

    def _number(self, body: Body, what: str, written: float) -> SX:
        return self._open.get((body.name, what), SX(float(written)))

    def _own_inertia(self, body: Body) -> Inertia:
        """About the body's own origin."""
        m = self._number(body, "mass", body.mass)
        c = ca.vertcat(*(self._number(body, f"com.{axis}", body.com[i]) for i, axis in enumerate("xyz")))
        entry = {(i, j): self._number(body, f"inertia.{'xyz'[i]}{'xyz'[j]}", body.inertia[i, j])
                 for i in range(3) for j in range(i, 3)}  # fmt: skip
        I = ca.vertcat(*(ca.horzcat(*(entry[min(i, j), max(i, j)] for j in range(3))) for i in range(3)))
        return Inertia(SX(m), SX(3, 1), ca.sparsify(I)).seen_from(ca.sparsify(c), SX.eye(3))

    def place(self, frame: Frame) -> Place:
        """Where a frame is fixed; what a body of open length carries moves with it."""
        position = constant(frame.position)
        if frame.body == GROUND:
            return Place(GROUND, position, constant(frame.rotation))
        body = self.description.bodies[frame.body]
        if (body.name, "length") in self._open:
            position = position * (self._open[body.name, "length"] / length(self.description, body.name))
        return self.places[frame.body].then(position, constant(frame.rotation))

    # Up and down the tree

    def _ancestors(self, node: int) -> Iterator[int]:
        """The node and what carries it, up to the root."""
        while node != GROUND:
            yield node
            node = self.nodes[node].parent

    @cached_property
    def rotations(self) -> list[SX]:
        """Of the nodes, from their axes to the world's."""
        found: list[SX] = []
        for node in self.nodes:
            found.append(node.R if node.parent == GROUND else found[node.parent] @ node.R)
        return found

    @cached_property
    def origins(self) -> list[SX]:
        """Of the nodes, in the world."""
        found: list[SX] = []
        for node in self.nodes:
            at = node.parent
            found.append(node.r if at == GROUND else found[at] + self.rotations[at] @ node.r)
        return found

    @cached_property
    def _composite(self) -> list[Inertia]:
        """Of the nodes with all that hangs on them."""
        found = list(self.inertias)
        for i, node in reversed(list(enumerate(self.nodes))):
            if node.parent == GROUND:
                continue
            if node.joint.kind == "hinge" and np.count_nonzero(node.joint.axis) == 1:
                turned = found[i].spun(node.joint.axis, self.q[node.q] - node.joint.reference)
                seen = turned.seen_from(node.r, constant(self.placed[i]))
            else:
                seen = found[i].seen_from(node.r, node.R)
            found[node.parent] = found[node.parent] + seen
        return found

    # What a mechanism needs

    @property
    def M(self) -> SX:
        """The mass matrix, (n_v, n_v)."""
        n = self.v.shape[0]
        M = SX(n, n)  # its upper triangle
        carried = [(SX(3, 0), SX(3, 0)) for _ in self.nodes]  # P and L of the columns behind a node, in its axes
        for i, node in reversed(list(enumerate(self.nodes))):
            c, turning = self._composite[i], skew(self._composite[i].h)
            P_own, L_own = c.m * node.B - turning @ node.A, c.I @ node.A + turning @ node.B
            P, L = carried[i]
            own = node.A.T @ L_own - node.B.T @ (turning @ node.A) + c.m * node.BB
            row = ca.horzcat(own + constant(np.diag(node.joint.armature)), node.A.T @ L + node.B.T @ P)
            M[node.v, node.v.start : node.v.start + row.shape[1]] = row
            if node.parent != GROUND:
                P = node.R @ ca.horzcat(P_own, P)
                L = node.R @ ca.horzcat(L_own, L) + skew(node.r) @ P
                behind = carried[node.parent]
                carried[node.parent] = (ca.horzcat(P, behind[0]), ca.horzcat(L, behind[1]))
        return ca.triu2symm(ca.triu(ca.sparsify(M)))

    # What acts between events: these are `Loads`

    bias_given = False

    @cached_property
    def force(self) -> SX:
        """Gravity alone."""
        return self.weight

    @cached_property
    def bias(self) -> SX:
        """h of M v̇ + h = f, (n_v, 1): Coriolis and centrifugal terms [Featherstone 2008, ch. 5]."""
        omega: list[SX] = []
        alpha: list[SX] = []
        a: list[SX] = []  # of the nodes in their axes: angular velocity and acceleration, of the origin
        for node in self.nodes:
            rate = self.v[node.v]
            if node.parent == GROUND:
                before = accelerated = at_origin = SX(3, 1)
            else:
                w, e = omega[node.parent], alpha[node.parent]
                before, accelerated = node.R.T @ w, node.R.T @ e
                at_origin = node.R.T @ (a[node.parent] + cross(e, node.r) + cross(w, cross(w, node.r)))
            omega.append(before + node.A @ rate)
            alpha.append(accelerated + cross(before, node.A @ rate))
            a.append(at_origin + 2 * cross(before, node.B @ rate))
        forces, moments, h = [SX(3, 1)] * len(omega), [SX(3, 1)] * len(omega), SX(self.v.shape[0], 1)
        for i, node in reversed(list(enumerate(self.nodes))):
            c, w = self.inertias[i], omega[i]
            f = forces[i] + c.m * a[i] + cross(alpha[i], c.h) + cross(w, cross(w, c.h))
            n = moments[i] + c.I @ alpha[i] + cross(w, c.I @ w) + cross(c.h, a[i])
            h[node.v] = node.A.T @ n + node.B.T @ f
            if node.parent != GROUND:
                up = node.R @ f
                forces[node.parent] = forces[node.parent] + up
                moments[node.parent] = moments[node.parent] + node.R @ n + cross(node.r, up)
        return ca.sparsify(h)

    @cached_property
    def weight(self) -> SX:
        """The generalized force of gravity, (n_v, 1)."""
        found, g = SX(self.v.shape[0], 1), constant(self.description.gravity)
        for i, node in enumerate(self.nodes):
            c, R = self._composite[i], self.rotations[i]
            lifted = ca.vertcat(c.m * g, SX(3, 1)) if node.joint.kind == "free" else node.B.T @ (c.m * (R.T @ g))
            found[node.v] = node.A.T @ cross(c.h, R.T @ g) + lifted
        return ca.sparsify(found)

    @cached_property
    def potential(self) -> SX:
        """Of gravity, J."""
        g, found = constant(self.description.gravity), SX(0)
        for i, node in enumerate(self.nodes):
            if node.parent == GROUND:
                c = self._composite[i]
                found -= ca.dot(g, c.m * self.origins[i] + self.rotations[i] @ c.h)
        return found

    @property
    def N(self) -> SX:
        """q̇ = N v, (n_q, n_v)."""
        N = SX(self.q.shape[0], self.v.shape[0])
        for node in self.nodes:
            if node.joint.kind in ("ball", "free"):
                turning = rates_of_quaternion(self.q[node.q.stop - 4 : node.q.stop])
                N[node.q, node.v] = turning if node.joint.kind == "ball" else ca.diagcat(SX.eye(3), turning)
            else:
                N[node.q, node.v] = 1
        return ca.sparsify(N)

    # Places in the world

    def position(self, place: Place) -> SX:
        """In the world, (3, 1)."""
        if place.node == GROUND:
            return place.position
        return self.origins[place.node] + self.rotations[place.node] @ place.position

    def rotation(self, place: Place) -> SX:
        """From its axes to the world's, (3, 3)."""
        return place.rotation if place.node == GROUND else self.rotations[place.node] @ place.rotation

    def quaternion(self, place: Place) -> SX:
        """The same turn as (w, x, y, z), (4, 1)."""
        own = SX(ca.DM(to_quaternion(np.array(ca.DM(place.rotation)))))
        return own if place.node == GROUND else product(self._quaternions[place.node], own)

    @cached_property
    def _quaternions(self) -> list[SX]:
        """Of the nodes, from their axes to the world's."""
        found: list[SX] = []
        for node in self.nodes:
            joint, q = node.joint, self.q[node.q]
            placed = SX(ca.DM(to_quaternion(self.placed[len(found)])))
            if joint.kind == "hinge":
                half = (q - joint.reference) / 2
                own = product(placed, ca.vertcat(ca.cos(half), ca.sin(half) * constant(joint.axis)))
            elif joint.kind == "ball":
                own = product(placed, q)
            else:
                own = q[3:] if joint.kind == "free" else placed
            found.append(own if node.parent == GROUND else product(found[node.parent], own))
        return found

    def velocity(self, place: Place) -> SX:
        """In the world, (3, 1)."""
        if place.node == GROUND:
            return SX(3, 1)
        angular, linear = self._twists[place.node]
        return linear + cross(angular, self.rotations[place.node] @ place.position)

    def angular_velocity(self, place: Place) -> SX:
        """In the world, (3, 1)."""
        return SX(3, 1) if place.node == GROUND else self._twists[place.node][0]

    @cached_property
    def _twists(self) -> list[tuple[SX, SX]]:
        """Of the nodes, in the world: angular velocity, velocity of the origin."""
        found: list[tuple[SX, SX]] = []
        for i, node in enumerate(self.nodes):
            angular, linear, R = SX(3, 1), SX(3, 1), self.rotations[i]
            rate = self.v[node.v]
            if node.parent != GROUND:
                angular, linear = found[node.parent]
                linear = linear + cross(angular, self.rotations[node.parent] @ node.r)
            moved = rate[:3] if node.joint.kind == "free" else R @ (node.B @ rate)
            found.append((angular + R @ (node.A @ rate), linear + moved))
        return found

    def jacobian(self, place: Place) -> tuple[SX, SX]:
        """∂(velocity, angular velocity)/∂v in the world, (3, n_v) each.

        Written with the vectors from the joints to the place, in which the position of the base does not appear.
        """
        C = self.relative(place, Place(GROUND, SX(3, 1), SX.eye(3)))
        return C[:3, :], C[3:, :]

    def apart(self, one: Place, other: Place) -> tuple[SX, SX]:
        """(g, C) of two frames that coincide, (6, 1) and (6, n_v): C v = ġ where g = 0.

        Positions, then 2 sin(angle/2) · axis of the turn from one to the other, which is 0 only where they agree.
        """
        turn = product(self.quaternion(one), conjugate(self.quaternion(other)))
        shorter = ca.if_else(turn[0] < 0, -2, 2)  # q and −q are the same turn
        g = ca.vertcat(self.position(one) - self.position(other), shorter * turn[1:])
        return g, self.relative(one, other)

    def relative(self, one: Place, other: Place) -> SX:
        """∂(velocity of one's origin, angular velocity) against the body of the other, (6, n_v), world axes.

        Joints that carry both move neither against the other: their columns are zeros, not differences of equals,
        which would be rounding that looks like rows.
        """
        shared = set(self._ancestors(one.node)) & set(self._ancestors(other.node))
        root = max(shared, default=GROUND)
        C = SX(6, self.v.shape[0])
        for place, sign in ((one, 1), (other, -1)):
            for i in self._ancestors(place.node):
                if i in shared:
                    break
                # To one's origin: up one's own limb from joint to joint, from the other's by way of what they share.
                arm = self._from(i, one) if place is one else self._from(root, one) - self._from(root, self._origin(i))
                moving, turning = self._columns(i)
                C[:, self.nodes[i].v] = sign * ca.vertcat(moving - skew(arm) @ turning, turning)
        return ca.sparsify(C)

    def _columns(self, i: int) -> tuple[SX, SX]:
        """How a joint moves the origin of its node, and how it turns it, (3, n) each, world axes."""
        node, R = self.nodes[i], self.rotations[i]
        return ca.horzcat(SX.eye(3), SX(3, 3)) if node.joint.kind == "free" else R @ node.B, R @ node.A

    def _origin(self, i: int) -> Place:
        return Place(i, SX(3, 1), SX.eye(3))

    def _from(self, root: int, place: Place) -> SX:
        """The vector from the origin of a node that carries the place, or from the world's, (3, 1), world axes."""
        if place.node == GROUND:
            return place.position
        found = self.rotations[place.node] @ place.position
        for i in self._ancestors(place.node):
            if i == root:
                break
            node = self.nodes[i]
            found = found + (node.r if node.parent == GROUND else self.rotations[node.parent] @ node.r)
        return found

    def massless(self) -> Sequence[str]:
        """Joints that move nothing: all they carry has no mass and no inertia, and they have no armature."""
        return [node.joint.name for i, node in enumerate(self.nodes)
                if not any(node.joint.armature) and _is_nothing(self._composite[i])]  # fmt: skip


def _is_nothing(inertia: Inertia) -> bool:
    entries = ca.sparsify(ca.vertcat(inertia.m, ca.vec(inertia.I)))
    return bool(entries.nnz() == 0)


def length(description: Description, name: str) -> float:
    """The length of a body as written, m: from its last joint to the farthest body that it carries."""
    index = next(i for i, body in enumerate(description.bodies) if body.name == name)
    return max(
        (float(np.linalg.norm(body.position)) for body in description.bodies if body.parent == index), default=0.0
    )
