"""Privileged velocities [WC §3–6]: v = D φ + d, with φ chosen among the named velocities and outputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np

from jourdain.algebra import lapack
from jourdain.algebra.entries import scaled
from jourdain.algebra.span import span
from jourdain.inputs import Array
from jourdain.output.printable import prints

MOST_SETS = 1000  # beyond this many sets of names the choice is greedy


@dataclass(frozen=True)
class Phase:
    """The velocities that one phase admits, v = D φ + d, and what follows from φ ([WC] Table 1)."""

    names: tuple[str, ...]  # of φ
    D: Array  # (n_v, m)
    d: Array  # (n_v,); NaN in the virtual phase when a live bias jumps: it enters no equation
    mass: Array  # (m, m), Dᵀ M D
    G: Array  # (outputs, m): φ → outputs
    g: Array  # (outputs,)
    points: Mapping[str, tuple[Array, Array]]  # name → (β (3, m), γ (3,)): φ → velocity of the point
    momenta_minus: Array | None = None  # (m,), Dᵀ M v⁻
    momenta_plus: Array | None = None  # (m,), Dᵀ M v⁺


@dataclass(frozen=True, repr=False)
class Phases:
    """Prior, virtual and posterior motion of an event. The virtual momenta change by D'ᵀ(f̄_A + f̄_N) only."""

    prior: Phase
    virtual: Phase
    posterior: Phase
    applied: Array  # (m,), D'ᵀ(f̄_A + f̄_N)
    rounding: Array  # (m,), what of it is rounding

    def __repr__(self) -> str:
        prior, virtual, posterior = (", ".join(one.names) for one in (self.prior, self.virtual, self.posterior))
        return f"<Phases: prior {prior}; virtual {virtual}; posterior {posterior}>"

    @property
    def law(self) -> str:
        """The conservation law of this event, in words, with numbers where a prior velocity was given."""
        changing = np.abs(self.applied) > self.rounding
        lines = []
        for i, name in enumerate(self.virtual.names):
            verb = f"changes by the applied {self.applied[i]:.6g}" if changing[i] else "is conserved"
            line = f"the momentum of {name} {verb}"
            if self.virtual.momenta_minus is not None and self.virtual.momenta_plus is not None:
                line += f": {self.virtual.momenta_minus[i]:.6g} → {self.virtual.momenta_plus[i]:.6g}"
            lines.append(line)
        return "\n".join(lines) or "no velocity is left in the virtual motion"

    @prints
    def __str__(self) -> str:
        lines = [
            f"{title}: {', '.join(phase.names) or 'nothing'} ({len(phase.names)})"
            for title, phase in (("prior", self.prior), ("virtual", self.virtual), ("posterior", self.posterior))
        ]
        return "\n".join([*lines, self.law])


def independent_rows(rows: Array, M: Array) -> list[int]:
    """The rows (k × n) that do not depend on those before them."""
    keep = span([scaled(rows, lapack.factor(M), lapack)], M.shape[-1], lapack, like=M, any_size=True).keep[:, 0]
    return [i for i, kept in enumerate(keep) if kept]


def choose_names(
    rows: Array, named: Array, names: Sequence[str], outputs: Sequence[str], prefer: Sequence[str]
) -> tuple[str, ...]:
    """The set of names that spans a phase and whose |det [rows; names]| varies least over the poses.

    `rows` (poses, r, n) are independent at a generic pose; `named` (poses, len(names), n) the rows of the names.
    Ties go to `prefer`, then to more outputs, then to the order of the names.
    """
    n = rows.shape[-1]
    m = n - rows.shape[-2]
    preference = sorted(range(len(names)), key=lambda i: (names[i] not in prefer, names[i] not in outputs, i))
    if comb(len(names), m) > MOST_SETS:
        return _greedy(rows, named, names, preference, m)
    best: tuple[float, tuple[int, ...]] | None = None
    for chosen in sorted(combinations(range(len(names)), m), key=lambda c: _rank_of_set(c, names, outputs, prefer)):
        variation = _variation(np.concatenate([rows, named[:, list(chosen)]], axis=1))
        if best is None or variation < best[0] * (1 - 1e-6) - 1e-9:
            best = (variation, chosen)
    chosen = best[1] if best is not None and np.isfinite(best[0]) else ()
    return tuple(names[i] for i in preference if i in chosen)


def _rank_of_set(
    chosen: tuple[int, ...], names: Sequence[str], outputs: Sequence[str], prefer: Sequence[str]
) -> tuple[int, int, tuple[int, ...]]:
    preferred = sum(names[i] in prefer for i in chosen)
    return -preferred, -sum(names[i] in outputs for i in chosen), chosen


def _variation(A: Array) -> float:
    """The spread of |det A| over the poses relative to its mean; infinite where it vanishes throughout."""
    lengths = np.sqrt(np.sum(A * A, axis=-1))
    if not lengths.all():
        return np.inf
    logs = lapack.log_abs_det(A)
    best = np.argmax(logs - np.sum(np.log(lengths), axis=-1))
    if not lapack.full_column_rank(A[best] / lengths[best][:, None]):
        return np.inf
    dets = np.exp(logs - np.max(logs))
    return float(np.std(dets) / np.mean(dets))


def _greedy(rows: Array, named: Array, names: Sequence[str], preference: list[int], m: int) -> tuple[str, ...]:
    """One name after the other: the one that stays farthest from the span of what is there, at its worst pose."""
    Q = np.asarray(span([rows], rows.shape[-1], lapack, like=rows, any_size=True).Q)  # (poses, r, n)
    lengths = np.sqrt(np.sum(named**2, axis=-1))
    chosen: list[int] = []
    for _ in range(m):
        rest = named - (named @ lapack.transpose(Q)) @ Q
        rest = rest - (rest @ lapack.transpose(Q)) @ Q
        distance = np.min(np.sqrt(np.sum(rest**2, axis=-1)) / np.maximum(lengths, np.finfo(float).tiny), axis=0)
        candidates = [i for i in preference if i not in chosen]
        best = max(distance[i] for i in candidates)
        pick = next(i for i in candidates if distance[i] >= best * (1 - 1e-6))
        chosen.append(pick)
        unit = rest[:, pick : pick + 1]
        Q = np.concatenate([Q, unit / np.sqrt(np.sum(unit**2, axis=-1, keepdims=True))], axis=1)
    return tuple(names[i] for i in preference if i in chosen)


def phase(
    names: Sequence[str],
    A: Array,
    b: Array,
    M: Array,
    G_out: Array,
    g_out: Array,
    points: Mapping[str, tuple[Array, Array]],
) -> Phase:
    """The maps of one phase: A (n × n) stacks the independent rows and the rows of the names, b what is added to each.

    A v + b = (0, φ), so v = A⁻¹(0, φ) − A⁻¹ b.
    """
    n, m = len(A), len(names)
    inverse = lapack.solve(A, np.eye(n))
    D, d = inverse[:, n - m :], -inverse @ b
    moved = {name: (J @ D, J @ d + j) for name, (J, j) in points.items()}
    return Phase(tuple(names), D, d, D.T @ M @ D, G_out @ D, G_out @ d + g_out, moved)
