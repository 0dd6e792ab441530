"""A mechanism from somebody's own CasADi model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import casadi as ca
from casadi import SX

from jourdain.compute.sampled import differ
from jourdain.errors import NotPositiveDefinite, ShapeError, unknown
from jourdain.mechanism.general import GeneralMechanism
from jourdain.mechanism.lagrange import lagrange_bias
from jourdain.mechanism.symbols import GivenLoads, PointMotion, Symbols

SKEW = 1e-9  # of √(M_ii M_jj): entries that differ by less are symmetric but for rounding


def from_casadi(
    q: SX,
    v: SX,
    M: SX,
    kinematics: SX | None,
    parameters: Sequence[tuple[SX, float | None]] | Mapping[str, float | None],
    points: Mapping[str, SX],
    outputs: Mapping[str, SX],
    force: SX | None,
    bias: SX | None,
    potential: SX | None,
    units: Mapping[str, str],
) -> GeneralMechanism:
    """See `Mechanism.from_casadi`."""
    q, v, M = ca.vec(q), ca.vec(v), SX(M)
    q_names = [entry.name() for entry in ca.vertsplit(q)]
    if kinematics is None:
        if q.shape != v.shape:
            raise ShapeError(f"v has {v.shape[0]} entries and q {q.shape[0]}; give kinematics=N with q̇ = N v.")
        v_names, N = q_names, SX.eye(len(q_names))
    else:
        v_names, N = [entry.name() for entry in ca.vertsplit(v)], SX(kinematics)
    if M.shape != (len(v_names), len(v_names)):
        raise ShapeError(f"M has shape {M.shape}, but there are {len(v_names)} velocities.")
    given = parameters.items() if isinstance(parameters, Mapping) else parameters
    loads = [SX(part) for part in (force, bias, potential) if part is not None]
    written = [M, N, *(SX(part) for part in (*points.values(), *outputs.values())), *loads]
    free = {s.name(): s for s in ca.symvar(ca.vertcat(*map(ca.vec, written)))}
    pairs = [(free.get(s, SX.sym(s)) if isinstance(s, str) else s, default) for s, default in given]
    p = ca.vertcat(SX(0, 1), *(symbol for symbol, _ in pairs))
    p_names = [symbol.name() for symbol, _ in pairs]
    symbols = Symbols(tuple(q_names), tuple(v_names), tuple(p_names), q, v, p, N=N)
    for name in free:
        if name not in {*q_names, *(entry.name() for entry in ca.vertsplit(v)), *p_names}:
            raise unknown("parameter", name, p_names)

    def motion(position: SX) -> PointMotion:
        position = ca.vertcat(ca.vec(SX(position)), SX(3 - SX(position).numel(), 1))
        return PointMotion(position, ca.jtimes(position, q, N @ v))

    weight = SX(len(v_names), 1) if potential is None else -N.T @ ca.gradient(SX(potential), q)
    mechanism = GeneralMechanism(
        symbols,
        ca.sparsify(M),
        {symbol.name(): default for symbol, default in pairs},
        {name: motion(position) for name, position in points.items()},
        {},
        {name: SX(expression) for name, expression in outputs.items()},
        GivenLoads(
            weight + (SX(len(v_names), 1) if force is None else SX(force)),
            lagrange_bias(symbols, M) if bias is None else SX(bias),
            SX(0) if potential is None else SX(potential),
            weight,
            bias is not None,
        ),
        dict(units),
    )
    scale = ca.sqrt(ca.fabs(ca.diag(M) @ ca.diag(M).T))  # numbers may carry the rounding of larger ones
    if differ(M + scale, M.T + scale, rounding=SKEW):
        raise NotPositiveDefinite("M is not symmetric; check how it is built.")
    return mechanism
