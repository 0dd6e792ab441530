"""Impulses that contacts can share in many ways: whether the motion depends on the share, and derivatives there."""

from __future__ import annotations

from itertools import chain, combinations
from typing import Any

import casadi as ca
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import nnls

import jourdain as jd
from jourdain import laws

Array = NDArray[Any]


def kept_out(Y: Array, x: Array) -> Array:
    """The nearest velocities with Y x ≥ 0."""
    return x + Y.T @ nnls(Y.T, -x)[0]


def motions(Y: Array, x: Array, kappa: Array) -> list[Array]:
    """x⁺ by Poisson's law for the corners of all shares of the impulse of compression; M = 1."""
    stopped = kept_out(Y, x)
    touching = np.flatnonzero(Y @ stopped < 1e-9)
    found = []
    for some in chain.from_iterable(combinations(touching, size) for size in range(len(touching) + 1)):
        rows, impulse = list(some), np.zeros(len(Y))
        if np.linalg.matrix_rank(Y[rows]) < len(rows):
            continue
        if rows:
            impulse[rows] = np.linalg.lstsq(Y[rows].T, stopped - x, rcond=None)[0]
        if np.allclose(Y.T @ impulse, stopped - x, atol=1e-9) and impulse.min() > -1e-9:
            found.append(kept_out(Y, stopped + Y.T @ (kappa * impulse)))
    return found


def test_whether_the_motion_is_one_of_many(rng: np.random.Generator) -> None:
    """Poisson's law, rows of small integers, different κ: `one_of_many` iff two shares move differently."""
    seen = []
    for i in range(150):
        k, n = int(rng.integers(2, 5)), int(rng.integers(1, 4))
        Y = rng.integers(-2, 3, size=(k, n)) + 0.0
        Y[~Y.any(axis=1)] = 1.0
        x = -Y.T @ rng.choice([0.0, 1.0, 2.0], k) if i % 2 else rng.normal(size=n)
        if not x.any():
            x = -Y[0]
        kappa = rng.choice([0.0, 0.3, 0.6, 1.0], k)
        after = np.array(motions(Y, x, kappa))
        many = bool(np.max(np.linalg.norm(after - after[0], axis=-1)) > 1e-7 * np.linalg.norm(x))
        walls = [jd.Contact(normal=row, law=laws.Frictionless(e, "poisson")) for row, e in zip(Y, kappa, strict=True)]
        assert jd.transition(np.eye(n), x, contacts=walls).one_of_many is many, (Y, x, kappa)
        seen.append(many)
    assert 10 < sum(seen) < 140


def test_a_share_that_leaves_a_contact_idle() -> None:
    """The least share uses two of three pads; the third could take over, and gives back more."""
    rows, kappa = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, -0.5]]), (0.0, 0.5, 1.0)
    x = np.array([-1.0, 0.0])
    for order in ([0, 1, 2], [2, 0, 1], [1, 2, 0]):
        pads = [jd.Contact(normal=rows[i], law=laws.Frictionless(kappa[i], "poisson")) for i in order]
        after = np.array(motions(rows[order], x, np.array(kappa)[order]))
        t = jd.transition(np.eye(2), x, contacts=pads)
        assert t.one_of_many is bool(np.ptp(after, axis=0).max() > 1e-9)


def block(rng: np.random.Generator, k: int, in_space: bool) -> tuple[jd.Mechanism, list[Any]]:
    n = 6 if in_space else 3
    v = ca.SX.sym("v", n)
    made = jd.Mechanism.from_casadi(ca.SX.sym("q", n), v, ca.SX(ca.diag(ca.DM(rng.uniform(0.5, 2, n)))))
    feet = []
    for i in range(k):
        x, y, z = rng.uniform(-1, 1), rng.uniform(-1, 1), -0.5
        if in_space:
            w = v[3:]
            tangent = [v[0] + w[1] * z - w[2] * y, v[1] + w[2] * x - w[0] * z]
            feet.append(made.contact(f"foot {i}", normal=v[2] + w[0] * y - w[1] * x, tangent=tangent))
        else:
            feet.append(made.contact(f"foot {i}", normal=v[1] + x * v[2], tangent=[v[0] - z * v[2]]))
    return made, feet


@pytest.mark.parametrize(
    "in_space", [pytest.param(False, id="plane", marks=pytest.mark.exhaustive), pytest.param(True, id="space")]
)
def test_derivatives_where_shares_lie_on_the_cone(in_space: bool, rng: np.random.Generator) -> None:
    """A block that comes to rest on more feet than it needs: nothing switches, and v⁺ has its derivatives."""
    n, checked = 6 if in_space else 3, 0
    for i in range(8):
        made, feet = block(rng, 4 if in_space else 2 + i % 2, in_space)
        event = made.event(contacts=dict.fromkeys(feet, laws.MoreauCoulomb(rng.uniform(0.4, 1.5), 0.0)))
        v = 0.1 * rng.normal(size=n) * (i % 3 > 0)
        v[2 if in_space else 1] -= 1.0
        try:
            t = event.solve(v=v)
        except jd.Ambiguous:
            continue
        slopes, h = event.gradient("v_plus", wrt="v", v=v)["v"], 1e-5
        near = [event.solve(v=v + sign * h * np.eye(n)).v_plus for sign in (1, -1)]
        np.testing.assert_allclose(slopes, (near[0] - near[1]).T / (2 * h), atol=1e-8)
        assert t.column("contact_margin").min() > 1e-6
        checked += 1
    assert checked > 4


def test_a_frictionless_contact_that_is_idle_in_the_least_share() -> None:
    """Three pads under a beam: that beyond the others carries nothing at least, but could."""
    v = ca.SX.sym("v", 2)
    made = jd.Mechanism.from_casadi(ca.SX.sym("q", 2), v, ca.SX.eye(2))
    pads = [made.contact(f"pad {i}", normal=v[0] + x * v[1]) for i, x in enumerate((-1.0, 0.2, 3.0))]
    event = made.event(contacts=dict.fromkeys(pads, laws.Frictionless()))
    slopes = event.gradient("v_plus", wrt="v", v=[-1.0, 0.1])["v"]
    np.testing.assert_allclose(slopes, 0, atol=1e-12)  # it rests, whatever is changed
