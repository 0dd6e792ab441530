"""What the outcome of an event must be, in plain NumPy, from the definitions: a dense KKT and explicit projectors."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cases import ON, Case

Array = NDArray[Any]
IMPULSIVE = ("live", "inert", "elastic")


@dataclass(frozen=True)
class Expected:
    v_plus: Array
    push: Array  # C'ᵀλ̄
    impulse: Array  # λ̄ of the rows that are on, of the event without its redundant rows


@lru_cache(maxsize=16)
def kkt(case: Case) -> Expected:
    """M (v⁺ − v⁻) = f̄ + C'ᵀλ̄ and C'v⁺ + b⁺ = target, solved as one dense system, without the redundant rows."""
    case = case.plain or case
    C, b = case.stacked(ON), case.stacked(ON, "b_plus")
    n, k = case.n, len(C)
    scale_v = 1 / np.sqrt(np.diagonal(case.M))
    scale_rows = 1 / np.linalg.norm(C * scale_v, axis=1)
    M, S = case.M * np.outer(scale_v, scale_v), C * np.outer(scale_rows, scale_v)
    A = np.block([[M, -S.T], [S, np.zeros((k, k))]])
    x = refined(A, np.concatenate([scale_v * (case.M @ case.v + case.f), scale_rows * (case.target - b)]))
    impulse = scale_rows * x[n:]
    return Expected(scale_v * x[:n], C.T @ impulse, impulse)


def refined(A: Array, b: Array) -> Array:
    """A⁻¹ b with residuals in extended precision, so that the conditioning of A is not ours."""
    x = np.zeros(len(b), dtype=np.longdouble)
    for _ in range(4):
        residual = b.astype(np.longdouble) - A.astype(np.longdouble) @ x
        x = x + np.linalg.solve(A, residual.astype(float))
    return x.astype(float)


@lru_cache(maxsize=16)
def projectors(case: Case) -> tuple[Array, Array, Array]:
    """P_R, P_c, P_a of docs/theory.md §4, by pseudo-inverses, in the coordinates in which M is the identity."""
    case = case.plain or case
    values, vectors = np.linalg.eigh(case.M)
    root, inverse = (vectors * np.sqrt(values)) @ vectors.T, (vectors / np.sqrt(values)) @ vectors.T
    R, A = case.stacked(["regular"]) @ inverse, case.stacked(IMPULSIVE) @ inverse
    along_R = np.linalg.pinv(R, rcond=1e-9) @ R
    A_free = A @ (np.eye(case.n) - along_R)
    along_c = np.linalg.pinv(A_free, rcond=1e-9) @ A_free
    P_R, P_c = inverse @ along_R @ root, inverse @ along_c @ root
    return P_R, P_c, np.eye(case.n) - P_R - P_c


def energy(M: Array, v: Array) -> float:
    return float(v @ M @ v / 2)


def energies(case: Case, v_plus: Array) -> dict[str, float]:
    """T and its parts before and after, loss and ξ, by their definitions."""
    found = {}
    for side, v in (("minus", case.v), ("plus", v_plus)):
        found[f"T_{side}"] = energy(case.M, v)
        for part, P in zip("rca", projectors(case), strict=True):
            found[f"T_{part}_{side}"] = energy(case.M, P @ v)
    found["loss"] = found["T_minus"] - found["T_plus"]
    found["xi"] = found["T_c_minus"] / found["T_minus"] if found["T_minus"] else np.nan
    return found


def dissipated(case: Case) -> float:
    """½ ũᵀ(W⁻¹ − K W⁻¹ K)ũ with ũ = C'v⁻ + b⁺ (docs/theory.md §4; f̄ = 0)."""
    case = case.plain or case
    C = case.stacked(ON)
    kappa = np.concatenate([np.zeros(len(C) - len(case.stacked(["elastic"]))), case.stacked(["elastic"], "kappa")])
    u = C @ case.v + case.stacked(ON, "b_plus")
    root = np.linalg.cholesky(case.M)
    Y = np.linalg.solve(root, C.T)  # W = YᵀY
    pull, back = (np.linalg.lstsq(Y.T, x, rcond=None)[0] for x in (u, kappa * u))  # lengths: uᵀW⁻¹u, uᵀKW⁻¹Ku
    return float(pull @ pull - back @ back) / 2


def Lambda(case: Case) -> Array:
    """Λ̄ = W⁻¹ C' M⁻¹ Bᵀ β̄, for independent rows."""
    if "nonideal" not in case.rows:
        return np.zeros(len(case.stacked(ON)))
    C, beta = case.stacked(ON), case.rows["nonideal"].C.T @ case.rows["nonideal"].beta
    root = np.linalg.cholesky(case.M)
    return np.linalg.lstsq(np.linalg.solve(root, C.T), np.linalg.solve(root, beta), rcond=None)[0]


def effective_mass(case: Case, kind: str) -> Array:
    """1 / (c Q M⁻¹ cᵀ) of each row; inf for regular ones."""
    C = case.rows[kind].C
    if kind == "regular":
        return np.full(len(C), np.inf)
    P_R, _, _ = projectors(case)
    return 1 / np.einsum("ij,ji->i", C @ (np.eye(case.n) - P_R), np.linalg.solve(case.M, C.T))


# Comparison, in scales that do not depend on units


@lru_cache(maxsize=16)
def speed(case: Case) -> float:
    """√(2T), summed over v⁻, M⁻¹f̄ and v⁺: what velocities are compared with, in the norm of M."""
    v_plus = kkt(case).v_plus
    several = (case.v, np.linalg.solve(case.M, case.f), v_plus)
    return float(sum(np.sqrt(2 * energy(case.M, v)) for v in several))


def row_lengths(M: Array, C: Array) -> Array:
    """√(c M⁻¹ cᵀ) of each row."""
    return np.linalg.norm(np.linalg.solve(np.linalg.cholesky(M), C.T), axis=0)


def impulse_scale(case: Case, impulse: Array) -> Array:
    """What the impulses of the rows that are on are compared with: the largest of them, in units of unit rows."""
    lengths = row_lengths(case.M, case.stacked(ON))
    largest = max(np.max(np.abs(impulse) * lengths, initial=0.0), speed(case))
    return largest / np.where(lengths > 0, lengths, 1.0)


def assert_same(what: str, actual: Any, expected: Any, scale: float | Array, rtol: float) -> None:
    """|actual − expected| ≤ rtol · scale, entry by entry; the message says of which quantity."""
    actual, expected = np.asarray(actual, dtype=float), np.asarray(expected, dtype=float)
    assert actual.shape == expected.shape, f"{what}: shape {actual.shape}, expected {expected.shape}"
    same = (actual == expected) | (np.isnan(actual) & np.isnan(expected))
    error = np.abs(np.where(same, 0.0, actual) - np.where(same, 0.0, expected)) / np.asarray(scale)
    assert np.all(error <= rtol), (
        f"{what}: off by {np.max(error):.2e} of its scale, allowed {rtol:.0e}\n got {actual}\n not {expected}"
    )


def assert_same_velocity(what: str, M: Array, actual: Array, expected: Array, scale: float, rtol: float) -> None:
    """The same, in the norm of M."""
    error = np.linalg.norm(np.linalg.cholesky(M).T @ (np.asarray(actual) - expected)) / scale
    assert error <= rtol, f"{what}: off by {error:.2e} of its scale, allowed {rtol:.0e}\n got {actual}\n not {expected}"


def assert_same_momentum(what: str, M: Array, actual: Array, expected: Array, scale: float, rtol: float) -> None:
    """The same for generalized impulses, in the norm of M⁻¹."""
    error = np.linalg.norm(np.linalg.solve(np.linalg.cholesky(M), np.asarray(actual) - expected)) / scale
    assert error <= rtol, f"{what}: off by {error:.2e} of its scale, allowed {rtol:.0e}\n got {actual}\n not {expected}"


def impulses_on(case: Case, transition: Any, of: str = "impulse") -> Array:
    """λ̄ (or `of`) of the rows that are on, stacked."""
    values = getattr(transition, of)
    return np.concatenate([np.zeros(0), *(values[kind] for kind in ON if kind in case.rows)])
