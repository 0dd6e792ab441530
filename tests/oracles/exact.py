"""The outcome of an event to fifty digits and more, from the definitions, and its derivatives by central differences.

Independent of the library: a dense KKT in mpmath for v⁺, and for impulses of redundant rows the minimum of theory §7.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from mpmath.ctx_mp import MPContext

from cases import ON

mp = MPContext()  # of its own: no other user of mpmath sees its precision
mp.dps = 80
STEP = mp.mpf("1e-15")  # truncation 1e-30
DEPENDENT = mp.mpf("1e-40")  # of W_ii: what is left of a row that depends on those before it
FAINT = mp.mpf("1e-25")  # weight of what the costs of docs/theory.md §7 do not see: it decides only where they do not

Numbers = dict[str, list[Any]]


@dataclass(frozen=True)
class Rows:
    """u = C v + b of one constraint."""

    name: str
    kind: str
    C: list[list[Any]]
    b_minus: list[Any]
    b_plus: list[Any]
    kappa: list[Any] = field(default_factory=list)
    beta: list[Any] = field(default_factory=list)
    contact: bool = False  # the first row is its normal


@dataclass(frozen=True)
class Event:
    """Everything that decides an event; constraints in the order of their kinds."""

    M: Any  # mp.matrix
    v: list[Any]
    rows: Sequence[Rows]
    applied: Sequence[list[Any]] = ()
    outputs: Callable[[str, list[Any]], list[Any]] = lambda side, v: []  # "minus" or "plus", v → numbers


def column(numbers: Iterable[Any]) -> Any:
    return mp.matrix([[number] for number in numbers])


def stacked(rows: Sequence[list[Any]], n: int) -> Any:
    """Rows below one another; a matrix of mpmath cannot be empty, so none is a zero row."""
    return mp.matrix(rows) if rows else mp.zeros(1, n)


def masses(points: Sequence[tuple[Any, list[list[Any]]]], inertias: Mapping[int, Any] = {}) -> Any:
    """M = Σ m JᵀJ over point masses (m, J), and moments of inertia by the place of their angle."""
    n = len(points[0][1][0])
    M = mp.zeros(n)
    for m, J in points:
        M += m * (mp.matrix(J).T * mp.matrix(J))
    for i, inertia in inertias.items():
        M[i, i] += inertia
    return M


def independent(W: Any) -> list[int]:
    """Rows that do not depend on those before them, by elimination."""
    W, kept = W.copy(), []
    lengths = [W[i, i] for i in range(W.rows)]
    for i in range(W.rows):
        if W[i, i] <= DEPENDENT * lengths[i]:
            continue
        kept.append(i)
        for j in range(i + 1, W.rows):
            factor = W[j, i] / W[i, i]
            for k in range(W.rows):
                W[j, k] -= factor * W[i, k]
    return kept


def outcome(event: Event) -> Numbers:
    """Every quantity of the event by name, as lists of numbers."""
    M, n, rows = event.M, event.M.rows, event.rows
    inverse = M**-1
    v = column(event.v)
    on = [r for r in rows if r.kind in ON]
    sizes = [len(r.C) for r in on]
    C = stacked([c for r in on for c in r.C], n)
    b_plus = column([b for r in on for b in r.b_plus] or [mp.zero])
    asked = []
    for r in on:
        u = mp.matrix(r.C) * v + column(r.b_minus)
        asked += [-kappa * u[i] for i, kappa in enumerate(r.kappa)] or [mp.zero] * len(r.C)
    target = column(asked or [mp.zero])
    nonideal = mp.zeros(n, 1)
    for r in rows:
        if r.kind == "nonideal":
            nonideal += mp.matrix(r.C).T * column(r.beta)
    applied = [column(f) for f in event.applied]
    f = sum(applied, nonideal)

    kept = independent(C * inverse * C.T)
    v_plus, push = _kkt(M, v, f, [C[i, :] for i in kept], [target[i] - b_plus[i] for i in kept])
    n_regular = sum(len(r.C) for r in on if r.kind == "regular")
    T: dict[str, Any] = {}
    for side, w in (("minus", v), ("plus", v_plus)):
        whole = (w.T * M * w)[0] / 2
        spanned, regular = (
            _energy_along([C[i, :] for i in kept if i < end], inverse, w) for end in (len(kept) + C.rows, n_regular)
        )
        T |= {f"T_{side}": whole, f"T_c_{side}": spanned - regular, f"T_r_{side}": regular,
              f"T_a_{side}": whole - spanned}  # fmt: skip

    impulse = _least(C, kept, sizes, inverse, push) if on else []
    seen = _push(M, inverse, nonideal, [C[i, :] for i in kept])
    Lambda = _least(C, kept, sizes, inverse, seen) if on else []
    others = [r for r in rows if r.kind not in ON]
    idle = [mp.zero for r in others for _ in r.C]
    given = [beta for r in others for beta in (r.beta or [mp.zero] * len(r.C))]
    mean = (v + v_plus) / 2
    every = [(mp.matrix([c]), bm, bp) for r in rows for c, bm, bp in zip(r.C, r.b_minus, r.b_plus, strict=True)]
    gain = T["T_plus"] - T["T_minus"]
    drive_work = -sum((b_plus[i] * value for i, value in enumerate(impulse)), mp.zero)
    work = [(one.T * mean)[0] for one in applied]
    dissipated = drive_work + sum(work, (nonideal.T * mean)[0]) - gain
    still = not any(b_plus) and not any(any(one) for one in applied)
    created = gain if still and any(r.kind in ("elastic", "nonideal") for r in rows) and gain > 0 else mp.zero
    first = {r.name: sum(len(other.C) for other in rows[:i]) for i, r in enumerate(rows)}
    all_impulses = [*impulse, *given]
    return {name: [value] for name, value in T.items()} | {
        "xi": [T["T_c_minus"] / T["T_minus"] if T["T_minus"] else mp.nan],
        "loss": [-gain],
        "drive_work": [drive_work],
        "dissipated": [dissipated],
        "energy_created": [created],
        "v_minus": list(v),
        "v_plus": list(v_plus),
        "u_minus": [(c * v)[0] + bm for c, bm, _ in every],
        "u_plus": [(c * v_plus)[0] + bp for c, _, bp in every],
        "impulse": all_impulses,
        "Lambda": [*Lambda, *idle],
        "ledger": [value * (c * mean)[0] for value, (c, _, _) in zip(all_impulses, every, strict=True)],
        "applied_work": work,
        "effective_mass": [
            _effective_mass(mp.matrix([c]), r.kind, [C[i, :] for i in kept if i < n_regular], inverse)
            for r in rows for c in r.C
        ],
        "required_friction": [
            _required_friction(all_impulses[first[r.name] : first[r.name] + len(r.C)]) for r in rows if r.contact
        ],
        "outputs_minus": event.outputs("minus", list(v)),
        "outputs_plus": event.outputs("plus", list(v_plus)),
    }  # fmt: skip


def _kkt(M: Any, v: Any, f: Any, rows: list[Any], wanted: list[Any]) -> tuple[Any, Any]:
    """(v⁺, C'ᵀλ̄): M (v⁺ − v⁻) = f̄ + C'ᵀλ̄ and C'v⁺ = wanted as one dense system, for independent rows."""
    n, k = M.rows, len(rows)
    A, right = mp.zeros(n + k), mp.zeros(n + k, 1)
    A[:n, :n], right[:n, 0] = M, M * v + f
    for i, row in enumerate(rows):
        A[n + i, :n], A[:n, n + i], right[n + i] = row, -row.T, wanted[i]
    x = mp.lu_solve(A, right)
    push = mp.zeros(n, 1)
    for i, row in enumerate(rows):
        push += row.T * x[n + i]
    return x[:n, 0], push


def _push(M: Any, inverse: Any, f: Any, rows: list[Any]) -> Any:
    """C'ᵀ W⁻¹ C' M⁻¹ f̄: what the rows would have to bear of an impulse f̄."""
    if not rows:
        return mp.zeros(M.rows, 1)
    C = mp.matrix([list(row) for row in rows])
    return C.T * mp.lu_solve(C * inverse * C.T, C * inverse * f)


def _energy_along(rows: list[Any], inverse: Any, v: Any) -> Any:
    """½ (Cv)ᵀ (C M⁻¹ Cᵀ)⁻¹ C v of independent rows."""
    if not rows:
        return mp.zero
    C = mp.matrix([list(row) for row in rows])
    u = C * v
    return (u.T * mp.lu_solve(C * inverse * C.T, u))[0] / 2


def _least(C: Any, kept: list[int], sizes: list[int], inverse: Any, push: Any) -> list[Any]:
    """Of all λ with Cᵀλ = push the one that minimises Σ_s λ_sᵀ W_ss λ_s, and then Σ_i W_ii λ_i²."""
    W = C * inverse * C.T
    cost, start = mp.zeros(C.rows), 0
    for size in sizes:
        stop = start + size
        cost[start:stop, start:stop] = W[start:stop, start:stop]
        start = stop
    for i in range(C.rows):
        cost[i, i] += FAINT * W[i, i] if W[i, i] else 1
    some = mp.matrix([list(C[i, :]) for i in kept])
    A, c = some * inverse * C.T, some * inverse * push  # Cᵀλ = push, as many equations as rows are independent
    back = cost**-1 * A.T
    return list(back * mp.lu_solve(A * back, c))


def _effective_mass(c: Any, kind: str, regular: list[Any], inverse: Any) -> Any:
    """1 / (c Q M⁻¹ cᵀ)."""
    if kind == "regular":
        return mp.inf
    length2 = (c * inverse * c.T)[0]
    return 1 / (length2 - 2 * _energy_along(regular, inverse, inverse * c.T))


def _required_friction(impulse: list[Any]) -> Any:
    normal, *tangents = impulse
    tangent = mp.sqrt(sum(t * t for t in tangents))
    return tangent / normal if normal > 0 else mp.inf if tangent or normal else mp.zero


# Derivatives


def derivatives(
    numbers_at: Callable[[Mapping[str, Any]], Numbers], at: Mapping[str, float], wrt: Iterable[str]
) -> dict[str, dict[str, Any]]:
    """Quantity → variable → derivative `(numbers,)`, by central differences; NaN where the quantity is not finite."""
    exact = {name: mp.mpf(value) for name, value in at.items()}
    found: dict[str, dict[str, Any]] = {}
    for name in wrt:
        step = STEP * (1 + abs(exact[name]))
        ahead, behind = (numbers_at({**exact, name: exact[name] + way * step}) for way in (1, -1))
        for quantity, numbers in ahead.items():
            slopes = [(a - b) / (2 * step) for a, b in zip(numbers, behind[quantity], strict=True)]
            found.setdefault(quantity, {})[name] = np.array([float(slope) for slope in slopes])
    return found
