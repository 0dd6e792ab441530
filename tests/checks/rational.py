"""Contacts without friction in rationals: nothing is rounded, so nothing has to be judged by a tolerance."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Row = list[Fraction]
Matrix = list[Row]


def exact(A: Array) -> Matrix:
    return [[Fraction(float(x)) for x in row] for row in np.atleast_2d(A)]


def dot(a: Sequence[Fraction], b: Sequence[Fraction]) -> Fraction:
    return sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0))


def solve(A: Matrix, B: Matrix) -> Matrix | None:
    """A⁻¹ B, None where A is singular."""
    n, X = len(A), [[*a, *b] for a, b in zip(A, B, strict=True)]
    for i in range(n):
        pick = next((j for j in range(i, n) if X[j][i]), None)
        if pick is None:
            return None
        X[i], X[pick] = X[pick], X[i]
        X[i] = [x / X[i][i] for x in X[i]]
        for j in range(n):
            if j != i and X[j][i]:
                X[j] = [a - X[j][i] * b for a, b in zip(X[j], X[i], strict=True)]
    return [row[n:] for row in X]


def hold(W: Matrix, r: Row) -> Row:
    """λ with 0 ≤ λ ⊥ r + W λ ≥ 0, by all ways to hold."""
    k = len(r)
    for way in product((False, True), repeat=k):
        some = [i for i in range(k) if way[i]]
        found = solve([[W[i][j] for j in some] for i in some], [[-r[i]] for i in some])
        if found is None:
            continue
        push = dict(zip(some, (x for (x,) in found), strict=True))
        impulse = [push.get(i, Fraction(0)) for i in range(k)]
        if min(impulse) >= 0 and all(i in push or r[i] + dot(W[i], impulse) >= 0 for i in range(k)):
            return impulse
    raise AssertionError("A problem of this kind has a solution.")


def poisson(M: Array, v: Array, regular: Array, normals: Array, kappa: Array) -> Array:
    """v⁺ of Poisson's law, beside two-sided rows that hold before and after; M (n, n), v (n,), rows (·, n), κ (k,)."""
    n, g, k = len(v), len(regular), len(normals)
    mass, (before,) = exact(M), exact(v)
    rows, C = exact(regular) if g else [], exact(normals)
    A = [mass[i] + [-rows[j][i] for j in range(g)] for i in range(n)] + [row + [Fraction(0)] * g for row in rows]
    momentum = [[dot(mass[i], before), *(c[i] for c in C)] for i in range(n)]
    x = solve(A, momentum + [[Fraction(0)] * (1 + k) for _ in range(g)])
    assert x is not None
    moved = [[x[i][j] for i in range(n)] for j in range(1 + k)]  # v without contacts, then by unit impulses
    W, u = [[dot(c, moved[1 + j]) for j in range(k)] for c in C], [dot(c, moved[0]) for c in C]
    impulse = [(1 + Fraction(float(e))) * one for e, one in zip(kappa, hold(W, u), strict=True)]
    again = hold(W, [u[i] + dot(W[i], impulse) for i in range(k)])
    total = [one + more for one, more in zip(impulse, again, strict=True)]
    return np.array([float(dot([Fraction(1), *total], column)) for column in zip(*moved, strict=True)])
