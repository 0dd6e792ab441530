"""What can be read off an event without solving it: projectors, directions, privileged velocities of its phases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np
from casadi import SX

from jourdain.algebra import lapack, unrolled
from jourdain.algebra.directions import Directions, admitted, angle_from
from jourdain.algebra.directions import directions as eigen_directions
from jourdain.algebra.privileged import Phase, Phases, choose_names, independent_rows, phase
from jourdain.algebra.projectors import Projectors, projectors
from jourdain.compute.evaluate import Evaluator
from jourdain.errors import BadEvent, NotPositiveDefinite, ShapeError, listing, unknown
from jourdain.inputs import Array, Flags, number, refuse_nonfinite
from jourdain.kinds import AFTER_KINDS, BEFORE_KINDS, IMPULSIVE_KINDS, ON_KINDS, Kind
from jourdain.naming import name_of

if TYPE_CHECKING:
    from jourdain.events.event import Event

BEFORE, DURING, AFTER = BEFORE_KINDS, ON_KINDS, AFTER_KINDS


@dataclass(frozen=True, eq=False)
class Analysis:
    """The analysis of one event; expressions are prepared once."""

    event: Event

    # What `Event` offers

    def projectors(self, q: Any, parameters: Mapping[str, Any]) -> Projectors[Array]:
        """See `Event.projectors`."""
        state = self.event.state(q, None, parameters)
        values = self._projectors(*state)
        good = self._sound(state)
        return Projectors(**{name: np.where(good[..., None, None], array, np.nan) for name, array in values.items()})

    def directions(self, q: Any, point: Any, subspace: Any, axis: Any, parameters: Mapping[str, Any]) -> Directions:
        """See `Event.directions`."""
        event = self.event
        state = self._one_pose(q, None, parameters)
        at = self.at_pose(*state)
        before = self.select(BEFORE)
        if np.any(at["b_minus"][before]):
            raise BadEvent(
                "A row that is on before has a bias: the prior velocities are no linear space, no directions."
            )
        M, C = at["M"], at["C"]
        S = admitted(C[before], M, np.eye(len(M)) if subspace is None else self._subspace(subspace, M))
        if S.shape[1] == 0:
            rows = listing(event.layout.rows[i].name for i in before)
            within = "" if subspace is None else " in the subspace; widen it"
            raise BadEvent(f"The rows that are on before, {rows}, leave no velocity{within}: there are no directions.")
        struck = C[self.select(IMPULSIVE_KINDS)]
        xi, v, multiplicity = eigen_directions(M, self._projectors(*state)["P_c"], S, struck)
        if point is None:
            return Directions(xi, v, multiplicity, None, None)
        own = {
            name: state[2][i] for i, name in enumerate(event.parameters) if name in (*event.mechanism.parameters, "t")
        }
        J = event.mechanism.jacobian(point, state[0], **own)
        velocity = J @ v
        scale = np.sqrt(np.sum(J * J)) * np.sqrt(np.sum(v * v, axis=0))
        return Directions(xi, v, multiplicity, velocity, angle_from(self._axis(axis), velocity, scale))

    def phases(self, q: Any, v: Any, prefer: tuple[str, ...], parameters: Mapping[str, Any]) -> Phases:
        """See `Event.phases`."""
        for name in prefer:
            if name not in self._names:
                raise unknown("velocity or output", name, self._names)
        at = self.at_pose(*self._one_pose(q, v, parameters))
        found = {
            "prior": self._phase(BEFORE, "minus", at, prefer),
            "virtual": self._phase(DURING, "plus", at, prefer),
            "posterior": self._phase(AFTER, "plus", at, prefer),
        }
        live = self.select((Kind.LIVE,))
        if not np.array_equal(at["b_minus"][live], at["b_plus"][live]):
            found["virtual"] = _undefined_offsets(found["virtual"])
        if v is not None:
            t = self.event.solve(q, v, parameters=parameters)
            for title, one in found.items():
                L = one.D.T @ at["M"]
                found[title] = replace(one, momenta_minus=L @ t.v_minus, momenta_plus=L @ t.v_plus)
        D, f = found["virtual"].D, at["f"][:, 0]
        return Phases(**found, applied=D.T @ f, rounding=1e-13 * np.abs(D.T) @ np.abs(f))

    # Prepared once

    @cached_property
    def _projectors(self) -> Evaluator:
        return Evaluator(self.event.inputs, vars(projectors(self.event.problem, unrolled)))

    @cached_property
    def at_pose(self) -> Evaluator:
        """M, all rows and biases, impulses, outputs and points as (matrix, offset), at a pose."""
        event, mechanism = self.event, self.event.mechanism
        blocks, n = event.problem.blocks, len(mechanism.symbols.v_names)
        nonideal = [block.C.T @ block.beta for block in blocks if block.kind == Kind.NONIDEAL]
        found = {
            "M": event.problem.M,
            "C": ca.vertcat(SX(0, n), *(block.C for block in blocks)),
            "b_minus": ca.vertcat(SX(0, 1), *(block.b_minus for block in blocks)),
            "b_plus": ca.vertcat(SX(0, 1), *(block.b_plus for block in blocks)),
            "f": sum([*nonideal, *event.applied.values()], SX(n, 1)),
        }
        for side, outputs in zip(("minus", "plus"), event.outputs, strict=True):
            G, g = mechanism.symbols.affine("outputs", ca.vertcat(SX(0, 1), *outputs.values()))
            found |= {"G": G, f"g_{side}": g}
        for name, motion in mechanism.points.items():
            found[f"J {name}"], found[f"j {name}"] = mechanism.symbols.affine(f"point '{name}'", motion.velocity)
        return Evaluator(event.inputs, found)

    @cached_property
    def _generic(self) -> Mapping[str, Array]:
        """The same at fixed random poses, for choices that are made once per event."""
        return self.at_pose(*self.event.generic_state())

    @cached_property
    def _chosen(self) -> dict[Any, tuple[str, ...]]:
        """Privileged names by (kinds, prefer), filled as they are asked for."""
        return {}

    @cached_property
    def _names(self) -> list[str]:
        """What privileged velocities may be called: velocities, then outputs."""
        return [*self.event.mechanism.symbols.v_names, *self.event.mechanism.outputs]

    # Steps

    def select(self, kinds: Sequence[str]) -> list[int]:
        """Where the rows of these kinds stand in the stack."""
        return [i for i, row in enumerate(self.event.layout.rows) if row.kind in kinds]

    def independent(self, kinds: Sequence[str]) -> list[int]:
        """Which rows of these kinds are independent at a generic pose."""
        rows = self._generic["C"][:, self.select(kinds)]
        return max((independent_rows(C, M) for C, M in zip(rows, self._generic["M"], strict=True)), key=len)

    def _privileged(self, kinds: Sequence[str], prefer: tuple[str, ...]) -> tuple[str, ...]:
        if (kinds, prefer) not in self._chosen:
            rows, G = self._generic["C"][:, self.select(kinds)], self._generic["G"]
            unit = np.broadcast_to(np.eye(rows.shape[-1]), (len(rows), rows.shape[-1], rows.shape[-1]))
            named = np.concatenate([unit, G], axis=1)
            outputs = list(self.event.mechanism.outputs)
            names = choose_names(rows[:, self.independent(kinds)], named, self._names, outputs, prefer)
            self._chosen[kinds, prefer] = names
        return self._chosen[kinds, prefer]

    def _phase(self, kinds: Sequence[str], side: str, at: Mapping[str, Array], prefer: tuple[str, ...]) -> Phase:
        """The phase at one pose, in the chosen names; where they do not span it there, in the best that do."""
        M, index, names = at["M"], self.select(kinds), self._names
        rows = at["C"][index]
        keep = independent_rows(rows, M)
        named = np.concatenate([np.eye(len(M)), at["G"]])
        pick = [names.index(name) for name in self._privileged(kinds, prefer)]
        A = np.concatenate([rows[keep], named[pick]])
        if len(A) != len(M) or len(independent_rows(A, M)) < len(M):
            here = choose_names(rows[keep][None], named[None], names, list(self.event.mechanism.outputs), prefer)
            pick = [names.index(name) for name in here]
            A = np.concatenate([rows[keep], named[pick]])
        offsets = np.concatenate([np.zeros(len(M)), at[f"g_{side}"][:, 0]])
        b = np.concatenate([at[f"b_{side}"][index][keep, 0], offsets[pick]])
        points = {name: (at[f"J {name}"], at[f"j {name}"][:, 0]) for name in self.event.mechanism.points}
        return phase([names[i] for i in pick], A, b, M, at["G"], at[f"g_{side}"][:, 0], points)

    def _one_pose(self, q: Any, v: Any, parameters: Mapping[str, Any]) -> tuple[Array, Array, Array]:
        state = self.event.state(q, v, parameters)
        if state[0].ndim != 1:
            raise ShapeError("This analysis takes one pose at a time; give q and parameters without batch axes.")
        self._sound(state)
        return state

    def _sound(self, state: tuple[Array, Array, Array]) -> Flags:
        """Whether the input is finite and M positive definite, `(*batch,)`; without batch axes what is wrong raises."""
        s = self.event.mechanism.symbols
        finite = np.all([np.isfinite(array).all(axis=-1) for array in state], axis=0)
        if not state[0].shape[:-1]:
            refuse_nonfinite(
                q=(state[0], s.q_names), v=(state[1], s.v_names), parameter=(state[2], list(self.event.parameters))
            )
        M = np.where(finite[..., None, None], self.at_pose(*state)["M"], np.eye(len(s.v_names)))
        definite = lapack.positive_definite(M)
        if not state[0].shape[:-1] and not definite:
            raise NotPositiveDefinite(
                "The mass matrix is not positive definite at this pose; check masses and inertias."
            )
        return np.asarray(finite & definite)

    def _subspace(self, subspace: Any, M: Array) -> Array:
        names = self.event.mechanism.symbols.v_names
        several = list(subspace) if isinstance(subspace, list | tuple | np.ndarray) else [subspace]
        if not several:
            raise ShapeError("subspace is empty; give velocity names, or a matrix of columns.")
        if all(not isinstance(entry, int | float) and np.ndim(entry) == 0 for entry in several):
            for entry in several:
                if name_of(entry) not in names:
                    raise unknown("velocity", name_of(entry), names)
            return np.eye(len(names))[:, sorted({names.index(name_of(entry)) for entry in several})]
        S = number("subspace", subspace)
        if S.ndim != 2 or S.shape[0] != len(names):
            raise ShapeError(
                f"subspace has shape {S.shape}; give velocity names, or a matrix ({len(names)}, m) of columns."
            )
        if len(independent_rows(S.T @ M, M)) < S.shape[1]:  # momenta: their lengths have one unit
            raise ShapeError(f"The {S.shape[1]} columns of subspace are not independent; leave some out.")
        return S

    def _axis(self, axis: Any) -> Array:
        if axis is None:
            return np.array([0.0, 1.0, 0.0])
        reader = self.event.mechanism.reader
        if type(axis).__name__ == "Vector" and reader is not None:
            vector = ca.densify(reader.oriented_vector(axis))
            if ca.symvar(vector):
                raise BadEvent(f"axis {axis} depends on the pose; give a vector that is fixed in the frame.")
            return np.array(ca.evalf(vector)).ravel()
        given = number("axis", axis)
        if given.shape not in ((2,), (3,)) or not given.any():
            raise ShapeError(f"axis is a vector of 2 or 3 components, not {axis!r}.")
        return np.concatenate([given, np.zeros(3 - given.size)])


def _undefined_offsets(virtual: Phase) -> Phase:
    """The offset d' has no value when a live bias jumps."""
    points = {name: (beta, np.full(3, np.nan)) for name, (beta, _) in virtual.points.items()}
    return replace(virtual, d=np.full_like(virtual.d, np.nan), g=np.full_like(virtual.g, np.nan), points=points)
