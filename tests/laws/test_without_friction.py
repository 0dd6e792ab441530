"""Coulomb's law with μ = 0 is Frictionless, and the direction in which a slip starts again."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
import pytest

import jourdain as jd
from jourdain import laws
from jourdain.algebra.contacts.slip import Slip
from jourdain.laws import ContactState

HYPOTHESES: tuple[Any, ...] = ("newton", "poisson", "stronge")


@pytest.mark.parametrize("uncoupled", [False, True])
@pytest.mark.parametrize("n_tangents", [1, 2], ids=["plane", "space"])
@pytest.mark.parametrize("hypothesis", HYPOTHESES)
def test_without_friction(hypothesis: Any, n_tangents: int, uncoupled: bool, rng: np.random.Generator) -> None:
    """One contact: all hypotheses give what Moreau's and Poisson's laws give. `uncoupled`: W_tn = 0."""
    m, n = 300, 4
    A, v = rng.normal(size=(m, n, n)), rng.normal(size=(m, n))
    C = rng.normal(size=(m, 1 + n_tangents, n))
    M = A @ np.swapaxes(A, 1, 2) + 0.3 * np.eye(n)
    if uncoupled:
        C = np.linalg.qr(np.swapaxes(C, 1, 2))[0].swapaxes(1, 2) @ np.linalg.cholesky(M).swapaxes(1, 2)
        v[::3] -= np.einsum("mij,mj->mi", np.linalg.pinv(C[::3, 1:]), np.einsum("mij,mj->mi", C[::3, 1:], v[::3]))
    e = rng.choice([0.0, 0.4, 1.0], m)

    def solve(law: laws.Law) -> jd.Transition:
        return jd.transition(M, v, contacts=[jd.Contact(normal=C[:, 0], tangent=C[:, 1:], law=law)])

    t = solve(laws.Coulomb(0.0, e, hypothesis))
    assert t.ok.all()
    assert not np.any(t.impulse["contact 0"][:, 1:])
    for rule in ("moreau", "poisson"):
        smooth = solve(laws.Frictionless(e, rule))
        np.testing.assert_allclose(t.v_plus, smooth.v_plus, atol=1e-12 * np.abs(v).max())
        np.testing.assert_allclose(t.impulse["contact 0"], smooth.impulse["contact 0"], rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(t.loss, smooth.loss, atol=1e-12 * t.T_minus.max())
    opens = np.einsum("mj,mj->m", C[:, 0], v) > 0
    np.testing.assert_array_equal(t.contact["contact 0"] == ContactState.SEPARATES, opens)


def random_slips(rng: np.random.Generator, m: int) -> tuple[Any, Any, Any]:
    """W_tt over four decades, W_tn, and a μ that is too little to stick."""
    turn = rng.uniform(0, np.pi, m)
    R = np.stack([np.stack([np.cos(turn), -np.sin(turn)], -1), np.stack([np.sin(turn), np.cos(turn)], -1)], -2)
    W_tt = R * (10.0 ** rng.uniform(-2, 2, (m, 1, 2))) @ np.swapaxes(R, 1, 2)
    W_tn = rng.normal(size=(m, 2))
    needed = np.linalg.norm(np.linalg.solve(W_tt, W_tn[..., None])[..., 0], axis=-1)
    return W_tt, W_tn, needed * rng.uniform(0.0, 0.999, m)


def test_the_direction_in_which_a_slip_starts_again(rng: np.random.Generator) -> None:
    """(μ W_tt + c I) û = W_tn with c > 0, ‖û‖ = 1."""
    W_tt, W_tn, mu = random_slips(rng, 500)
    asked = ca.SX.sym("asked", 10)
    restart = ca.Function("restart", [asked], list(Slip.of(asked).restart()))
    rest, R = np.zeros((500, 2)), np.linalg.cholesky(W_tt)
    a = np.linalg.solve(R, W_tn[..., None])[..., 0]
    entries = [a, R[:, 0, :1], R[:, 1], rest, mu[:, None], rest[:, :1], rest[:, :1] + 0.5]
    along, pull = (np.array(column).T for column in restart(np.hstack(entries).T))
    np.testing.assert_allclose(np.linalg.norm(along, axis=-1), 1, rtol=1e-14)
    left = W_tn - mu[:, None] * np.einsum("mij,mj->mi", W_tt, along)  # c û
    c = np.sum(left * along, axis=-1)
    assert (c > 0).all()
    np.testing.assert_allclose(left - c[:, None] * along, 0, atol=1e-11 * np.linalg.norm(W_tn, axis=-1).max())
    np.testing.assert_allclose(np.einsum("mij,mj->mi", R, pull), left, atol=1e-11 * np.linalg.norm(W_tn, axis=-1).max())


def test_a_contact_without_slip_starts_in_that_direction(rng: np.random.Generator) -> None:
    """It slips straight on along û, and friction opposes: λ_t = −μ λ_n û."""
    W_tt, W_tn, mu = random_slips(rng, 60)
    W = np.zeros((60, 3, 3))
    W[:, 1:, 1:], W[:, 0, 1:], W[:, 1:, 0] = W_tt, W_tn, W_tn
    W[:, 0, 0] = 1.5 * np.einsum("mi,mij,mj->m", W_tn, np.linalg.inv(W_tt), W_tn)
    Y = np.linalg.cholesky(W)
    v = np.linalg.solve(Y, np.tile([[-1.0], [0.0], [0.0]], (60, 1, 1)))[..., 0]
    contact = jd.Contact(normal=Y[:, 0], tangent=Y[:, 1:], law=laws.Coulomb(mu, 0.3, "stronge"))
    t = jd.transition(np.eye(3), v, contacts=[contact])
    slips = t.contact["contact 0"] == ContactState.SLIPS
    assert slips.all()
    along, impulse = t.slip_direction["contact 0"], t.impulse["contact 0"]
    np.testing.assert_allclose(impulse[:, 1:] / impulse[:, :1], -mu[:, None] * along, atol=1e-9 * (1 + mu.max()))
    left = W_tn - mu[:, None] * np.einsum("mij,mj->mi", W_tt, along)
    c = np.sum(left * along, axis=-1)
    assert (c > 0).all()
    np.testing.assert_allclose((left - c[:, None] * along) / np.linalg.norm(W_tn, axis=-1)[:, None], 0, atol=1e-8)
