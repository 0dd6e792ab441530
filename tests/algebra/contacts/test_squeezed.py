"""Contacts without friction that squeeze a body between nearly opposite normals: impulses are 1e6 times what moves."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest
from numpy.typing import NDArray

import jourdain as jd
from checks import rational
from jourdain import Status, laws

Array = NDArray[np.float64]
M_EVENTS = 60


@lru_cache(maxsize=8)
def squeezed(k: int, g: int, alike: bool) -> tuple[Array, ...]:
    """(M, v⁻, two-sided rows, normals, κ, v⁺) of k contacts, the last nearly opposite to the first; v⁺ in rationals."""
    rng = np.random.default_rng([1911190, k, g, alike])
    n, found = k + g + 1, list[tuple[Array, ...]]()
    while len(found) < M_EVENTS:
        M = np.diag(10.0 ** rng.uniform(-3, 3, n))
        rows = np.zeros((g, n))  # velocities 0 and 1 are the same, 1 and 2, …
        for j in range(g):
            rows[j, j : j + 2] = np.array([1.0, -1.0]) * 10 ** rng.uniform(-2, 2)
        v, normals = rng.standard_normal(n), rng.standard_normal((k, n))
        v[: g + 1] = v[0]
        normals[-1] = -rng.uniform(0.1, 3) * normals[0] + 10 ** rng.uniform(-6.5, -2) * normals[-1]
        kappa = rng.random(k) if not alike else np.full(k, rng.random())
        if _angle(M, rows, normals) > 1e-7:  # beyond that they are opposite
            found.append((M, v, rows, normals, kappa, rational.poisson(M, v, rows, normals, kappa)))
    return tuple(np.array(part) for part in zip(*found, strict=True))


def _angle(M: Array, rows: Array, normals: Array) -> float:
    """The least singular value of the normals that the two-sided rows leave, as unit rows in the metric of M."""
    size = np.sqrt(np.diag(M))
    Q, Y = np.linalg.qr((rows / size).T)[0], normals / size
    Y = Y - (Y @ Q) @ Q.T
    return float(np.linalg.svd(Y / np.linalg.norm(Y, axis=1, keepdims=True))[1][-1])


@pytest.mark.parametrize("alike", [True, False], ids=["one κ", "each its κ"])
@pytest.mark.parametrize("g", [0, 1, 2])
@pytest.mark.parametrize("k", [2, 3, 4])
def test_poisson_between_nearly_opposite_normals(k: int, g: int, alike: bool) -> None:
    M, v, rows, normals, kappa, v_plus = squeezed(k, g, alike)
    contacts = [jd.Contact(normal=normals[:, i], law=laws.Frictionless(kappa[:, i], "poisson")) for i in range(k)]
    t = jd.transition(M, v, regular=(rows, np.zeros((len(v), g))), contacts=contacts)
    solved = np.isin(t.status, (Status.OK, Status.ENERGY_CREATED))
    energy = [np.einsum("mi,mij,mj->m", x, M, x) for x in (t.v_plus - v_plus, v, v_plus)]
    off = np.sqrt(energy[0] / (energy[1] + energy[2]))
    assert np.max(off[solved], initial=0) < 1e-8, "solved, and wrong"
    refused = np.flatnonzero(~solved)
    assert len(refused) <= (0 if alike else 1), [Status(int(t.status[i])).name for i in refused]
