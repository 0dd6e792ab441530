"""What can be read off an event without solving it: projectors, directions, privileged velocities of its phases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np
from casadi import SX
from numpy.typing import NDArray

from jourdain.algebra import lapack, unrolled
from jourdain.algebra.directions import Directions, angle_from
from jourdain.algebra.directions import directions as eigen_directions
from jourdain.algebra.event import ON_KINDS, target
from jourdain.algebra.privileged import Phase, Phases, choose_names, independent_rows, phase
from jourdain.algebra.projectors import Projectors, projector_matrices
from jourdain.errors import BadEvent, ShapeError, listing, unknown
from jourdain.evaluate import Evaluator
from jourdain.naming import name_of

if TYPE_CHECKING:
    from jourdain.algebra.closed_form import ClosedForm
    from jourdain.event import Event

Array = NDArray[np.float64]
BEFORE, DURING, AFTER = ("regular", "live", "released"), ON_KINDS, ("regular", "live", "inert")
N_POSES = 64


def projectors(event: Event, q: Any, parameters: Mapping[str, Any]) -> Projectors:
    """See `Event.projectors`."""
    return Projectors(
        **Evaluator(event.inputs, projector_matrices(event.problem, unrolled))(*event.state(q, None, parameters))
    )


def directions(event: Event, q: Any, point: Any, subspace: Any, axis: Any, parameters: Mapping[str, Any]) -> Directions:
    """See `Event.directions`."""
    state = _one_pose(event, q, None, parameters)
    at = Evaluator(event.inputs, _rows(event) | projector_matrices(event.problem, unrolled))(*state)
    before = _select(event, BEFORE)
    if np.any(at["b_minus"][before]):
        raise BadEvent(
            "A row that is on before has a bias, so the prior velocities are no linear space: no directions."
        )
    M, C = at["M"], at["C"]
    S = _admitted(C[before], M) if subspace is None else _subspace(event, subspace)
    if S.shape[1] == 0:
        raise BadEvent("The prior rows leave no velocity: there are no directions.")
    struck = C[_select(event, ("live", "inert", "elastic"))]
    xi, v, multiplicity = eigen_directions(M, at["P_c"], S, struck)
    if point is None:
        return Directions(xi, v, multiplicity, None, None)
    J = event.mechanism.jacobian(point, state[0], **_own(event, state[2]))
    velocity = J @ v
    scale = np.sqrt(np.sum(J * J)) * np.sqrt(np.sum(v * v, axis=0))
    return Directions(xi, v, multiplicity, velocity, angle_from(_axis(event, axis), velocity, scale))


def phases(event: Event, q: Any, v: Any, prefer: Sequence[str], parameters: Mapping[str, Any]) -> Phases:
    """See `Event.phases`."""
    state = _one_pose(event, q, v, parameters)
    at = Evaluator(event.inputs, _rows(event))(*state)
    names = [*event.mechanism.symbols.v_names, *event.mechanism.outputs]
    for name in prefer:
        if name not in names:
            raise unknown("velocity or output", name, names)
    generic = _random_poses(event)
    found = {}
    for title, kinds, side in (("prior", BEFORE, "minus"), ("virtual", DURING, "plus"), ("posterior", AFTER, "plus")):
        chosen = _chosen(event, kinds, generic, names, prefer)
        found[title] = _phase(event, kinds, side, at, names, chosen, prefer)
    if not np.array_equal(at["b_minus"][_select(event, ("live",))], at["b_plus"][_select(event, ("live",))]):
        found["virtual"] = _undefined_offsets(found["virtual"])
    if v is not None:
        t = event.solve(q, v, parameters=parameters)
        for title, one in found.items():
            L = one.D.T @ at["M"]
            found[title] = replace(one, momenta_minus=L @ t.v_minus, momenta_plus=L @ t.v_plus)
    return Phases(**found, applied=found["virtual"].D.T @ at["f"][:, 0])


def _rows(event: Event) -> dict[str, SX]:
    """What the analysis needs at a pose: M, all rows and biases, outputs and points as (matrix, offset)."""
    mechanism, blocks = event.mechanism, [role.block for role in event.roles]
    n = len(mechanism.symbols.v_names)
    nonideal = [block.C.T @ block.beta for block in blocks if block.kind == "nonideal"]
    found = {
        "M": mechanism.M,
        "C": ca.vertcat(SX(0, n), *(block.C for block in blocks)),
        "b_minus": ca.vertcat(SX(0, 1), *(block.b_minus for block in blocks)),
        "b_plus": ca.vertcat(SX(0, 1), *(block.b_plus for block in blocks)),
        "f": sum([*nonideal, *event.applied.values()], SX(n, 1)),
    }
    for side, outputs in zip(("minus", "plus"), event.outputs, strict=True):
        G, g = mechanism.affine("outputs", ca.vertcat(SX(0, 1), *outputs.values()))
        found |= {"G": G, f"g_{side}": g}
    for name, motion in mechanism.points.items():
        found[f"J {name}"], found[f"j {name}"] = mechanism.affine(f"point '{name}'", motion.velocity)
    return found


def _select(event: Event, kinds: Sequence[str]) -> list[int]:
    """Where the rows of these kinds stand in the stack."""
    return [i for i, row in enumerate(event.layout.rows) if row.kind in kinds]


def _one_pose(event: Event, q: Any, v: Any, parameters: Mapping[str, Any]) -> tuple[Array, Array, Array]:
    state = event.state(q, v, parameters)
    if state[0].ndim != 1:
        raise ShapeError("This analysis takes one pose at a time; give q and parameters without batch axes.")
    return state


def _own(event: Event, p: Array) -> dict[str, Any]:
    """The mechanism's own parameters among the event's."""
    return {name: p[i] for i, name in enumerate(event.defaults) if name in event.mechanism.defaults}


def _admitted(rows: Array, M: Array) -> Array:
    """Columns that span the velocities with rows v = 0."""
    factor, n = lapack.factor(M), M.shape[-1]
    Y = lapack.transpose(factor.solve_transposed(rows.T))
    kept = Y[independent_rows(rows, M)]
    inside = kept.T @ lapack.solve(kept @ kept.T, kept) if len(kept) else np.zeros((n, n))
    _, x = lapack.symmetric_eigen(np.eye(n) - inside, np.eye(n))
    return factor.solve(x[:, : n - len(kept)])


def _subspace(event: Event, subspace: Any) -> Array:
    names = event.mechanism.symbols.v_names
    if isinstance(subspace, str) or all(
        not np.ndim(entry) and not isinstance(entry, int | float) for entry in subspace
    ):
        several = [subspace] if isinstance(subspace, str) else [name_of(entry) for entry in subspace]
        for name in several:
            if name not in names:
                raise unknown("velocity", name, names)
        return np.eye(len(names))[:, [names.index(name) for name in several]]
    S = np.asarray(subspace, dtype=float)
    if S.ndim != 2 or S.shape[0] != len(names):
        raise ShapeError(
            f"subspace has shape {S.shape}; give velocity names, or a matrix ({len(names)}, m) of columns."
        )
    return S


def _axis(event: Event, axis: Any) -> Array:
    if axis is None:
        return np.array([0.0, 1.0, 0.0])
    if type(axis).__name__ == "Vector" and event.mechanism.reader is not None:
        return np.array(ca.evalf(event.mechanism.reader.vector(axis))).ravel()
    entries = np.zeros(3)
    given = np.asarray(axis, dtype=float)
    entries[: given.size] = given
    return entries


def _random_poses(event: Event) -> dict[str, Array]:
    """The rows at fixed random poses, for the choice of names."""
    rng = np.random.default_rng(64)
    mechanism = event.mechanism
    q = rng.uniform(-np.pi, np.pi, (N_POSES, len(mechanism.symbols.q_names)))
    unset = rng.uniform(0.5, 1.5, len(event.defaults))
    p = [value if value is not None else unset[i] for i, value in enumerate(event.defaults.values())]
    v = np.zeros((N_POSES, len(mechanism.symbols.v_names)))
    return Evaluator(event.inputs, _rows(event))(q, v, np.broadcast_to(np.array(p, dtype=float), (N_POSES, len(p))))


def _chosen(
    event: Event, kinds: Sequence[str], generic: Mapping[str, Array], names: list[str], prefer: Sequence[str]
) -> tuple[str, ...]:
    rows = generic["C"][:, _select(event, kinds)]
    independent = max((independent_rows(C, M) for C, M in zip(rows, generic["M"], strict=True)), key=len)
    named = np.concatenate(
        [np.broadcast_to(np.eye(rows.shape[-1]), (N_POSES, *[rows.shape[-1]] * 2)), generic["G"]], axis=1
    )
    return choose_names(rows[:, independent], named, names, list(event.mechanism.outputs), prefer)


def _phase(
    event: Event,
    kinds: Sequence[str],
    side: str,
    at: Mapping[str, Array],
    names: list[str],
    chosen: tuple[str, ...],
    prefer: Sequence[str],
) -> Phase:
    """The phase at one pose, in the chosen names; where they do not span it there, in the nearest ones that do."""
    M, index = at["M"], _select(event, kinds)
    keep = [index[i] for i in independent_rows(at["C"][index], M)]
    named = np.concatenate([np.eye(len(M)), at["G"]])
    offsets = np.concatenate([np.zeros(len(M)), at[f"g_{side}"][:, 0]])
    pick = [names.index(name) for name in chosen]
    if len(independent_rows(np.concatenate([at["C"][keep], named[pick]]), M)) < len(M) or len(keep) + len(pick) != len(
        M
    ):
        once = choose_names(at["C"][keep][None], named[None], names, list(event.mechanism.outputs), prefer)
        pick = [names.index(name) for name in once]
    A = np.concatenate([at["C"][keep], named[pick]])
    b = np.concatenate([at[f"b_{side}"][keep, 0], offsets[pick]])
    points = {name: (at[f"J {name}"], at[f"j {name}"][:, 0]) for name in event.mechanism.points}
    return phase([names[i] for i in pick], A, b, M, at["G"], at[f"g_{side}"][:, 0], points)


def _undefined_offsets(virtual: Phase) -> Phase:
    """D' has no value when a live bias jumps."""
    points = {name: (beta, np.full(3, np.nan)) for name, (beta, _) in virtual.points.items()}
    return replace(virtual, d=np.full_like(virtual.d, np.nan), g=np.full_like(virtual.g, np.nan), points=points)


def closed_form(event: Event) -> ClosedForm:
    """See `Event.symbolic`."""
    import sympy as sp

    from jourdain.algebra.closed_form import solve
    from jourdain.models.to_sympy import to_sympy

    s, on = event.mechanism.symbols, _select(event, DURING)
    _refuse_redundant(event, on)
    inputs = [
        (s.q, [sp.Symbol(name) for name in s.q_names]),
        (s.v, [sp.Symbol(f"{name}_minus") for name in s.v_names]),
        (event.inputs[2], [event.mechanism.sympy_parameters.get(name, sp.Symbol(name)) for name in event.defaults]),
    ]
    blocks = [role.block for role in event.roles if role.block.kind in DURING]
    # Rows that are on before have C v⁻ = −b⁻; asked for is C(v⁺ − v⁻) = target − b⁺ − C v⁻.
    before = [-block.b_minus if block.kind in BEFORE else block.C @ s.v for block in blocks]
    jump = [target(block, s.v, unrolled) - block.b_plus - u for block, u in zip(blocks, before, strict=True)]
    wanted = _rows(event) | {"before": ca.vertcat(SX(0, 1), *before), "jump": ca.vertcat(SX(0, 1), *jump), "v": s.v}
    at = to_sympy(wanted, inputs)
    return solve(
        at["M"], at["C"][on, :], at["before"], at["jump"], at["f"], at["v"], at["G"], at["g_plus"],
        n_regular=len(_select(event, ("regular",))), velocities=s.v_names,
        rows=[event.layout.rows[i].name for i in on], outputs=list(event.mechanism.outputs),
    )  # fmt: skip


def _refuse_redundant(event: Event, on: list[int]) -> None:
    generic = _random_poses(event)
    independent = max((independent_rows(C[on], M) for C, M in zip(generic["C"], generic["M"], strict=True)), key=len)
    if len(independent) < len(on):
        names = [event.layout.rows[on[i]].name for i in range(len(on)) if i not in independent]
        raise BadEvent(f"Rows {listing(names)} are redundant, so their impulses have no closed form; leave them out.")
