"""Digits that cancellation would take: rows that take most of an impulse, dead centres, light masses among heavy ones.

The oracle solves the same event in rational numbers, every input taken as the exact number it is.
"""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import jourdain as jd
from jourdain import laws
from oracles.rational import Array, assert_digits, exact, rational

N_COMPILED = 4096
DIGITS = 1e-9  # of the speed or energy of the event


def stacked(n: int, M: Array, v: Array) -> tuple[Array, Array]:
    return (np.broadcast_to(M, (n, *M.shape)), np.broadcast_to(v, (n, *v.shape))) if n else (M, v)


def assert_all_digits(t: jd.Transition, expected: tuple[Array, float, float]) -> None:
    assert_digits(t, expected, DIGITS)
    _, _, energy = expected
    ledger = np.sum([np.sum(part, axis=-1) if np.ndim(part) > np.ndim(t.loss) else part for part in t.ledger.values()])
    assert abs(ledger + np.sum(t.loss)) <= DIGITS * energy * np.size(t.loss)


# Rows that take most of an impulse


@pytest.mark.parametrize("n", [0, 5, N_COMPILED])
@pytest.mark.parametrize("across", [1e2, 1e4, 1e6])
@pytest.mark.parametrize("angle", [0.3, 0.9, 2.0])
def test_a_rail_that_takes_most_of_an_impulse(angle: float, across: float, n: int) -> None:
    """A particle of 1 kg on an oblique rail at 1 m/s, 0.1 N s along it and much more across: it gains 0.105 J."""
    along, normal = np.array([np.cos(angle), np.sin(angle)]), np.array([-np.sin(angle), np.cos(angle)])
    f = 0.1 * along + across * normal
    t = jd.transition(*stacked(n, np.eye(2), along), regular=normal[None], impulse=f)
    np.testing.assert_allclose(t.loss, -0.105, rtol=1e-9)
    assert_all_digits(t, exact(np.eye(2), along, normal[None], np.zeros(1), f))


@pytest.mark.parametrize("n", [0, 5, N_COMPILED])
@pytest.mark.parametrize("across", [1e5, 1e7, 1e9, 1e12])
@pytest.mark.parametrize("size", [2, pytest.param(4, marks=pytest.mark.exhaustive), 7])
def test_rows_that_take_all_but_a_little(size: int, across: float, n: int, rng: np.random.Generator) -> None:
    for _ in range(2):
        A, k = rng.standard_normal((size, size)), rng.integers(1, size)
        M, C, v = A @ A.T + np.eye(size), rng.standard_normal((k, size)), rng.standard_normal(size)
        f = across * C.T @ rng.standard_normal(k) + 0.1 * rng.standard_normal(size)
        t = jd.transition(*stacked(n, M, v), inert=C, impulse=f)
        v_plus, loss, energy = exact(M, v, C, 0.0, f)
        assert np.max(np.abs(t.v_plus - v_plus)) <= DIGITS * np.max(np.abs([v_plus, v]))
        assert np.max(np.abs(t.loss - loss)) <= DIGITS * energy


@pytest.mark.parametrize("push", [1e6, 1e9])
@pytest.mark.parametrize("n", [1, 2000])
def test_rows_of_mechanisms_that_take_all_but_a_little(n: int, push: float, rng: np.random.Generator) -> None:
    slope = ca.SX.sym("slope")
    v, q = (ca.vertcat(*(ca.SX.sym(f"{name}{i}") for i in range(2))) for name in "vq")
    particle = jd.Mechanism.from_casadi(q, v, ca.SX.eye(2), parameters=[(slope, 0.5)])
    rail = particle.constraint("rail", slope * v[0] - v[1])
    event = particle.event(inert=[rail], impulses={"q0": "p_0", "q1": "p_1"})
    a, before = rng.uniform(0.2, 3, n), rng.standard_normal((n, 2))
    p = push * np.stack([a, -np.ones(n)], axis=-1) + rng.standard_normal((n, 2))
    t = event.solve(v=before, slope=a, p_0=p[:, 0], p_1=p[:, 1])
    assert t.ok.all()
    for i in range(0, n, 100):
        v_plus, loss, energy = exact(np.eye(2), before[i], np.array([[a[i], -1]]), 0.0, p[i])
        assert np.max(np.abs(t.v_plus[i] - v_plus)) <= DIGITS * np.max(np.abs([v_plus, before[i]]))
        assert abs(t.loss[i] - loss) <= DIGITS * energy


@pytest.mark.parametrize("n", [1, 2000])
def test_the_rail_of_a_mechanism(n: int) -> None:
    angle, push = ca.SX.sym("angle"), 1e6
    v = ca.vertcat(ca.SX.sym("vx"), ca.SX.sym("vy"))
    q = ca.vertcat(ca.SX.sym("x"), ca.SX.sym("y"))
    particle = jd.Mechanism.from_casadi(q, v, ca.SX.eye(2), parameters=[(angle, 0.5)])
    rail = particle.constraint("rail", -ca.sin(angle) * v[0] + ca.cos(angle) * v[1])
    event = particle.event(regular=[rail], impulses={"x": "p_x", "y": "p_y"})
    a = np.linspace(0.2, 1.3, n)
    along, normal = np.stack([np.cos(a), np.sin(a)], axis=-1), np.stack([-np.sin(a), np.cos(a)], axis=-1)
    p = 0.1 * along + push * normal
    t = event.solve(v=along, angle=a, p_x=p[:, 0], p_y=p[:, 1])
    assert t.ok.all()
    np.testing.assert_allclose(t.loss, -0.105, rtol=0, atol=DIGITS)  # T is about 0.5 J


@pytest.mark.parametrize("n", [0, 5, N_COMPILED])
@pytest.mark.parametrize("epsilon", [1e-2, 1e-3, 1e-4, 1e-5, 1e-6])
def test_a_stop_near_a_dead_centre(epsilon: float, n: int, rng: np.random.Generator) -> None:
    """A one-sided stop that the regular rows hold but for epsilon: its impulse is 1/epsilon, and they take it back."""
    A, R = rng.standard_normal((4, 4)), rng.standard_normal((2, 4))
    M = A @ A.T + np.eye(4)
    v = rng.standard_normal(4)
    for _ in range(3):
        v = v - np.linalg.lstsq(R, R @ v, rcond=None)[0]
    stop = R[0] * 1.3 - R[1] * 0.4 + epsilon * rng.standard_normal(4)
    stop = stop * (-1 if stop @ v > 0 else 1)
    contact = jd.Contact(normal=stop, tangent=[], law=laws.Frictionless(0.5))
    t = jd.transition(*stacked(n, M, v), regular=R, contacts=[contact])
    assert_all_digits(t, exact(M, v, np.vstack([R, stop]), np.array([0, 0, 0.5])))


# Light masses among heavy ones


def light_and_heavy(rng: np.random.Generator, ratio: float, rows: str) -> tuple[Array, Array, Array]:
    """M, v and rows that hold the heavy velocities and leave some of the light ones free.

    All rows have the same combination of light velocities, up to a factor.
    """
    n_light, n_heavy = int(rng.integers(2, 4)), int(rng.integers(1, 3))
    n, k = n_light + n_heavy, n_heavy + 1
    M = np.diag(np.concatenate([rng.uniform(0.5, 2, n_light) / ratio, rng.uniform(0.5, 2, n_heavy)]))
    if rows == "whole numbers":
        common = np.outer(rng.integers(1, 4, k), rng.integers(1, 4, n_light))
        heavy = np.vander(rng.permutation(np.arange(1, 7))[:k], n_heavy + 1)[:, :n_heavy]
        C = np.hstack([common, heavy]).astype(float)
    else:
        C = np.hstack(
            [np.outer(rng.uniform(0.5, 2, k), rng.standard_normal(n_light)), rng.standard_normal((k, n_heavy))]
        )
        A = np.eye(n_light) + 0.2 * rng.standard_normal((n_light, n_light))
        M[:n_light, :n_light] = A @ M[:n_light, :n_light] @ A.T
    order = rng.permutation(n)
    M = (M + M.T)[np.ix_(order, order)] / 2
    return M, rng.standard_normal(n), C[:, order]


@pytest.mark.parametrize("n", [0, N_COMPILED])
@pytest.mark.parametrize("rows", ["whole numbers", "any"])
@pytest.mark.parametrize("ratio", [1e3, 1e6, 1e9, 1e11, 1e13, 1e14])
@pytest.mark.parametrize("kappa", [0.0, 0.5])
def test_light_masses_between_rows_that_hold_heavy_ones(
    ratio: float, rows: str, n: int, kappa: float, rng: np.random.Generator
) -> None:
    for _ in range(3):
        M, v, C = light_and_heavy(rng, ratio, rows)
        t = jd.transition(*stacked(n, M, v), elastic=(C, kappa))
        assert_all_digits(t, exact(M, v, C, np.full(len(C), kappa)))


# Impulses that contacts take, and what rows leave to light masses


@pytest.mark.parametrize("n", [0, 5, N_COMPILED])
@pytest.mark.parametrize("push", [1e6, 1e9, 1e12])
@pytest.mark.parametrize("speed", [0.0, 1.0])
@pytest.mark.parametrize("law", [laws.Frictionless(0.0), laws.Frictionless(0.0, law="poisson")])
def test_a_contact_that_takes_most_of_an_impulse(law: laws.Frictionless, speed: float, push: float, n: int) -> None:
    """A particle on an oblique plane that is pushed into it, and a little along it."""
    along, normal = np.array([np.cos(0.7), np.sin(0.7)]), np.array([-np.sin(0.7), np.cos(0.7)])
    v, f = speed * along - 0.5 * speed * normal, 0.1 * along - push * normal
    contact = jd.Contact(normal=normal, law=law)
    t = jd.transition(*stacked(n, np.eye(2), v), contacts=[contact], impulse=f)
    v_plus, loss, energy = exact(np.eye(2), v, normal[None], 0.0, f)
    assert np.all(t.ok)
    assert np.max(np.abs(t.v_plus - v_plus)) <= DIGITS * np.max(np.abs([v_plus, v]))
    assert np.max(np.abs(t.loss - loss)) <= DIGITS * energy


@pytest.mark.parametrize("n", [5, N_COMPILED])
@pytest.mark.parametrize(("lightest", "push"), [(1e-4, 1e3), (1e-6, 1.0), (1e-6, 1e2), (1e-7, 10.0)])
def test_light_masses_beside_rows_that_take_an_impulse(
    lightest: float, push: float, n: int, rng: np.random.Generator
) -> None:
    M, C, v = np.diag([1, 2, lightest]), rng.standard_normal((n, 1, 3)), rng.standard_normal((n, 3))
    f = push * C[:, 0] + 0.1 * np.diag(M) * rng.standard_normal((n, 3))
    t = jd.transition(M, v, inert=C, impulse=f)
    assert t.ok.all()
    for i in range(0, n, max(1, n // 50)):
        v_plus, loss, energy = exact(M, v[i], C[i], 0.0, f[i])
        assert np.max(np.abs(t.v_plus[i] - v_plus)) <= DIGITS * np.max(np.abs([v_plus, v[i]]))
        assert abs(t.loss[i] - loss) <= DIGITS * energy


@pytest.mark.parametrize("n", [0, 5, N_COMPILED])
@pytest.mark.parametrize("push", [1e6, 1e9, 1e12])
@pytest.mark.parametrize("speed", [0.0, 1.0])
def test_nonideal_impulses_that_rows_take(speed: float, push: float, n: int, rng: np.random.Generator) -> None:
    """The sum of given impulses is rounded too: what is small in it would be lost."""
    A, C = rng.standard_normal((4, 4)), rng.standard_normal((2, 4))
    M, v, f = A @ A.T + np.eye(4), speed * rng.standard_normal(4), push * C[0] + 0.1 * rng.standard_normal(4)
    rows, beta = np.vstack([C, np.eye(4)]), np.append(push * rng.standard_normal(2), 0.1 * rng.standard_normal(4))
    t = jd.transition(*stacked(n, M, v), inert=C, nonideal=(rows, beta), impulse=f)
    # λ̄ of the rows that are on takes up what is given along them.
    v_plus, loss, energy = exact(M, v, C, 0.0, (rational(beta[2:]) + rational(f)))
    assert np.max(np.abs(t.v_plus - v_plus)) <= DIGITS * np.max(np.abs([v_plus, v]))
    assert np.max(np.abs(t.loss - loss)) <= DIGITS * energy


@pytest.mark.parametrize("n", [0, 5, N_COMPILED])
@pytest.mark.parametrize("kappa", [0.0, 0.5])
@pytest.mark.parametrize("push", [1.0, 1e6, 1e9, 1e12])
def test_a_massless_part_whose_row_takes_most_of_an_impulse(push: float, kappa: float, n: int) -> None:
    M, C, v = np.diag([1.0, 2, 0]), np.array([[1.0, 0.5, 1]]), np.array([0.3, -0.2, 0.5])
    f = push * C[0] + np.array([0.1, 0.2, 0])
    t = jd.transition(*stacked(n, M, v), elastic=(C, kappa), impulse=f)
    v_plus, loss, energy = exact(M, v, C, kappa, f)
    assert np.max(np.abs(t.v_plus - v_plus)) <= DIGITS
    assert np.max(np.abs(t.loss - loss)) <= DIGITS * energy


@pytest.mark.parametrize("n", [1, 5000])
@pytest.mark.parametrize("push", [1e4, 1e6, 1e8, 1e10, 1e12])
@pytest.mark.parametrize("joined", [0.0, 0.3])
def test_a_foot_that_slips_beside_one_that_is_pressed_hard(joined: float, push: float, n: int) -> None:
    """Foot 2 comes with 1 m/s along the floor and 0.1 m/s towards it: it slips on, whatever presses foot 1.

    Velocities x1, y1, x2, y2, masses of 1 kg; `joined` couples the feet along the floor. Where the impulse takes the
    digits, the event is refused.
    """
    M = np.eye(4)
    M[0, 2] = M[2, 0] = joined
    law = laws.MoreauCoulomb(0.3)
    contacts = [jd.Contact(normal=np.eye(4)[i + 1], tangent=np.eye(4)[i : i + 1], law=law) for i in (0, 2)]
    v = np.tile([0.0, -0.1, 1.0, -0.1], (n, 1))
    t = jd.transition(M, v, impulse=np.array([0.0, -push, 0.0, 0.0]), contacts=contacts)
    assert np.all(t.ok) or push > 1e5
    assert np.all(t.ok | (t.status == jd.Status.NOT_CONVERGED))
    expected = np.array([0.0, 0.0, 1 - 0.03, 0.0])  # foot 1 sticks: the impulse at foot 2 moves foot 2 alone
    np.testing.assert_allclose(t.v_plus[t.ok], np.tile(expected, (int(t.ok.sum()), 1)), atol=1e-9)


@pytest.mark.parametrize("n", [1, N_COMPILED])
def test_a_body_at_rest_that_is_pressed_into_a_corner(n: int) -> None:
    """It stays at rest; what refinement leaves of its velocity, 1e-66, drives no contact together."""
    normals = [[-0.025139561198149182, -0.09845204983265504], [0.11472848201957853, 0.27167371555328584],
               [-20.312900838587026, -830.7254060306225], [-0.014036114853193093, -0.0549685123018445]]  # fmt: skip
    contacts = [jd.Contact(normal=normal, law=laws.Frictionless(0.4352959476840934)) for normal in normals]
    M, f = np.diag([1974.3693557868446, 146619.66357248006]), [5.993017501816704, 38.488781016679056]
    t = jd.transition(M, np.zeros((n, 2)), impulse=f, contacts=contacts)
    assert np.all(t.ok)
    assert np.max(np.abs(t.v_plus)) <= 1e-18


@pytest.mark.parametrize("n_samples", [0, 3, N_COMPILED])
def test_dropped_rows_know_more_than_those_that_are_nearly_parallel(n_samples: int, rng: np.random.Generator) -> None:
    """Whatever the order of redundant rows, velocities lose the digits that the best choice of them loses, not twice.

    a + εe and a tell e to rounding / ε; with that e, the row e + εg would tell g to rounding / ε².
    """
    eps, n = 1e-5, 4
    for _ in range(40):
        a, e, g, h = np.linalg.qr(rng.normal(size=(n, n)))[0]
        C = rng.permutation([a + eps * e, a, e, -7 * a, h, e + eps * g])
        A, v_plus, v_minus = rng.normal(size=(n, n)), rng.normal(size=n), rng.normal(size=n)
        b = -(C @ v_plus)
        C = C * (1 + 2.0**-52 * rng.uniform(-1, 1, C.shape))
        v = np.broadcast_to(v_minus, (n_samples, n)) if n_samples else v_minus
        t = jd.transition(A @ A.T + np.eye(n), v, live=(C[:4], -C[:4] @ v_minus, b[:4]), inert=(C[4:], b[4:]))
        assert np.all(t.ok)
        assert np.max(np.abs(t.v_plus - v_plus)) <= 100 * 2.0**-53 / eps
