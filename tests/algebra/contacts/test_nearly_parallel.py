"""Contacts whose rows nearly follow from others: impulses are large and nearly cancel, velocities keep their digits."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest
from numpy.typing import NDArray

import jourdain as jd
from jourdain import Status, laws

Array = NDArray[np.float64]


def squeezed(rng: np.random.Generator, parallel: float) -> tuple[Array, Array, Array, Array]:
    """(rows of two contacts in space, v⁻, μ, v⁺), M = 1, plastic: the first slips, the second, opposite to it, sticks.

    Made backwards in 40 digits: impulses in the cones and a slip are drawn, v⁺ = C⁻¹w, v⁻ = v⁺ − Cᵀλ.
    """
    with mp.workdps(40):
        while True:
            C = rng.normal(size=(6, 6))
            C[3:] = -C[:3] + parallel * C[3:]
            mu = rng.uniform(0.1, 1.0, 2)
            exact, (mu_1, mu_2) = mp.matrix(C.tolist()), (mp.mpf(float(one)) for one in mu)
            W, angle = exact * exact.T, mp.mpf(rng.uniform(0, 2 * np.pi))
            slip, push = mp.mpf(rng.uniform(0.1, 1)), mp.mpf(10 ** rng.uniform(0, 2) / parallel)
            first = [push, mu_1 * push * mp.cos(angle), mu_1 * push * mp.sin(angle)]
            second = [one + mp.mpf(float(more)) for one, more in zip(first, rng.normal(size=3), strict=True)]
            impulse = mp.matrix([*first, *second])
            w = mp.matrix([0, -slip * mp.cos(angle), -slip * mp.sin(angle), 0, 0, 0])
            u = w - W * impulse
            impulse[3] += (u[0] - u[3]) / 2 / W[0, 3]  # both close about as quickly
            u = w - W * impulse
            if u[0] < 0 and u[3] < 0 and mp.hypot(impulse[4], impulse[5]) < 0.9 * mu_2 * impulse[3]:
                v_plus = mp.lu_solve(exact, w)
                v = v_plus - exact.T * impulse
                return C, np.array(v.tolist(), float)[:, 0], mu, np.array(v_plus.tolist(), float)[:, 0]


@pytest.mark.parametrize(
    ("parallel", "digits"),
    [*(pytest.param(*pair, marks=pytest.mark.exhaustive) for pair in ((1e-2, 1e-12), (1e-4, 1e-10))), (1e-5, 1e-9)],
)
def test_contacts_in_space_that_are_nearly_opposite(parallel: float, digits: float) -> None:
    rng = np.random.default_rng(5)
    C, v, mu, v_plus = (np.array(part) for part in zip(*(squeezed(rng, parallel) for _ in range(6)), strict=True))
    contacts = [
        jd.Contact(normal=C[:, i], tangent=C[:, i + 1 : i + 3], law=laws.MoreauCoulomb(mu[:, i // 3], 0.0))
        for i in (0, 3)
    ]
    t = jd.transition(np.eye(6), v, contacts=contacts)
    assert np.all(np.isin(t.status, (Status.OK, Status.ENERGY_CREATED)))
    off = np.linalg.norm(t.v_plus - v_plus, axis=1) / np.linalg.norm(v, axis=1)
    assert np.max(off) < digits


def test_a_contact_nearly_along_a_row_that_is_on_leaves_the_fast_path() -> None:
    """A batch that is compiled; the row that is on takes nearly all of an applied impulse and of the contact's row."""
    rng = np.random.default_rng(3)
    m, kappa = 4200, 0.3
    on, v, push = rng.normal(size=(m, 2)), rng.normal(size=(m, 2)), rng.normal(size=(m, 1))
    normal = on + 10.0 ** rng.uniform(-4.5, -3, (m, 1)) * rng.normal(size=(m, 2))
    contact = jd.Contact(normal=normal, law=laws.Frictionless(kappa, "poisson"))
    M, f, rows = np.broadcast_to(np.eye(2), (m, 2, 2)), on * 30 * push, (on[:, None], np.zeros((m, 1)))
    t = jd.transition(M, v, inert=rows, contacts=[contact], impulse=f)
    # The row leaves one velocity, along d ⟂ row, and the contact gives it back κ-fold if it closes.
    row, n, x = (part.astype(np.longdouble) for part in (on, normal, v))
    d = np.stack([-row[:, 1], row[:, 0]], 1) / np.hypot(*row.T)[:, None]
    left, rate = np.sum(d * (x + f), axis=1), np.sum(n * d, axis=1)
    v_plus = d * np.where(left * rate < 0, -kappa * left, left)[:, None]
    clear = (np.abs(rate) > 1e-6) & (t.status == Status.OK)
    off = np.linalg.norm((t.v_plus - v_plus).astype(float), axis=1) / np.linalg.norm(v, axis=1)
    assert np.sum(clear) > 0.9 * m
    assert np.max(off[clear]) < 1e-9
