"""Units, masses and speeds drop out of every contact law: v × s, M × m, normals × a, tangents × b with μ × a/b.

Then v⁺ is s times what it was, impulses along normals s m / a times and along tangents s m / b times; the status and
what each contact does stay. Speeds are measured by √(vᵀMv), impulses along a row c by √(c M⁻¹ cᵀ) besides.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import casadi as ca
import numpy as np
import pytest
from numpy.typing import NDArray

import jourdain as jd
from jourdain import laws

Array = NDArray[Any]
LAWS: dict[str, Callable[[Any, Any], laws.Law]] = {
    "moreau": lambda mu, e: laws.Frictionless(e),
    "poisson": lambda mu, e: laws.Frictionless(e, "poisson"),
    "no slip": lambda mu, e: laws.NoSlip(e),
    "sticks": lambda mu, e: laws.NoSlip(e, prefer="sticks"),
    "slides": lambda mu, e: laws.NoSlip(e, prefer="slides"),
    "newton": lambda mu, e: laws.Coulomb(mu, e),
    "poisson's hypothesis": lambda mu, e: laws.Coulomb(mu, e, "poisson"),
    "stronge": lambda mu, e: laws.Coulomb(mu, e, "stronge"),
    "moreau coulomb": lambda mu, e: laws.MoreauCoulomb(mu, e),
}
ALONE = ("newton", "poisson's hypothesis", "stronge")  # the only contact of its event
TOL = 1e-9


@dataclass(frozen=True)
class Events:
    """M (m, n, n), v (m, n), rows C (m, contacts, 1 + tangents, n), friction and restitution (m,)."""

    M: Array
    v: Array
    C: Array
    mu: Array
    e: Array

    def solve(self, law: str, one: int | None = None) -> jd.Transition:
        M, v, C, mu, e = (part if one is None else part[one] for part in vars(self).values())
        contacts = [
            jd.Contact(normal=C[..., i, 0, :], tangent=C[..., i, 1:, :], law=LAWS[law](mu, e))
            for i in range(C.shape[-3])
        ]
        return jd.transition(M, v, contacts=contacts)

    def scaled(self, scales: Scales) -> Events:
        s, m, a, b = (x[:, None] for x in vars(scales).values())
        rows = np.concatenate([a, *[b] * (self.C.shape[2] - 1)], axis=1)[:, None, :, None]
        return replace(self, M=m[..., None] * self.M, v=s * self.v, C=rows * self.C, mu=(a / b)[:, 0] * self.mu)


@dataclass(frozen=True)
class Scales:
    """Of speeds, masses, normals and tangents, (m,) each."""

    s: Array
    m: Array
    a: Array
    b: Array


def random_scales(rng: np.random.Generator, m: int) -> Scales:
    """Over all decades; every second one only one of them."""
    decades = [rng.uniform(-7, 4, m), rng.uniform(-3, 3, m), *rng.uniform(-6, 6, (2, m))]
    only = rng.integers(0, 4, m)
    alone = np.arange(m) % 2 == 0
    return Scales(*(10.0 ** np.where(alone & (only != i), 0.0, decade) for i, decade in enumerate(decades)))


def random_events(rng: np.random.Generator, m: int, k: int, n_tangents: int) -> Events:
    """Rows that are independent; most contacts close."""
    n = k * (1 + n_tangents) + 1
    A, C, v = rng.normal(size=(m, n, n)), rng.normal(size=(m, k, 1 + n_tangents, n)), rng.normal(size=(m, n))
    u = np.einsum("mkj,mj->mk", C[:, :, 0], v)
    C[:, :, 0] *= np.where((u > 0) & (rng.random(u.shape) < 0.8), -1, 1)[..., None]
    mu, e = rng.uniform(0.05, 1.2, m), rng.choice([0.0, 0.3, 1.0], m)
    return Events(A @ np.swapaxes(A, 1, 2) + 0.3 * np.eye(n), v, C, mu, e)


def landing(rng: np.random.Generator, m: int, k: int, n_tangents: int, still: bool) -> Events:
    """A block that comes down on k feet, whose rows are redundant. `still`: without slip; every second one rests."""
    n, angle = (3, np.zeros((m, k))) if n_tangents == 1 else (6, rng.uniform(0, 0.5, (m, 1)) + 2.1 * np.arange(k))
    C = np.zeros((m, k, 1 + n_tangents, n))
    if n_tangents == 1:
        x, y = np.linspace(-1, 1, k) + rng.uniform(-0.2, 0.2, (m, k)), rng.uniform(-1.0, -0.5, (m, k))
        C[..., 0, 1], C[..., 0, 2], C[..., 1, 0], C[..., 1, 2] = 1, x, 1, -y
    else:
        x, y, z = np.cos(angle), np.sin(angle), rng.uniform(-1.0, -0.5, (m, k))
        C[..., 0, 2], C[..., 0, 3], C[..., 0, 4] = 1, y, -x
        C[..., 1, 0], C[..., 1, 4], C[..., 1, 5] = 1, z, -y
        C[..., 2, 1], C[..., 2, 5], C[..., 2, 3] = 1, x, -z
    v = 0.1 * rng.normal(size=(m, n)) * (not still)
    v[:, n_tangents] -= np.arange(m) % 2 if still else 1.0
    M = rng.uniform(0.5, 2, (m, n, 1)) * np.eye(n)
    return Events(M, v, C, rng.uniform(0.05, 1.2, m), rng.choice([0.0, 0.4], m))


def check(events: Events, scales: Scales, t: jd.Transition, other: jd.Transition) -> None:
    """`other`: the outcome of the scaled events."""
    np.testing.assert_array_equal(other.status, t.status)
    ok = t.status <= jd.Status.ENERGY_CREATED
    M, C, k = events.M, events.C, events.C.shape[1]

    def speed(v: Array) -> Array:
        return np.sqrt(np.abs(np.einsum("mi,mij,mj->m", v, M, v)))

    fast = speed(events.v)
    fast = np.where(fast > 0, fast, 1.0)
    off = speed(np.nan_to_num(other.v_plus / scales.s[:, None] - t.v_plus)) / fast
    assert np.max(off[ok], initial=0) < TOL
    lengths = np.sqrt(np.einsum("mkri,mij,mkrj->mkr", C, np.linalg.inv(M), C))
    unit = (scales.s * scales.m)[:, None] / np.stack([scales.a, *[scales.b] * (C.shape[2] - 1)], axis=-1)
    for i in range(k):
        name = f"contact {i}"
        states = [np.asarray(some.contact[name])[ok] for some in (t, other)]
        np.testing.assert_array_equal(*states)
        impulse = t.impulse[name]
        off = np.abs(other.impulse[name] / unit - impulse) * lengths[:, i] / fast[:, None]
        assert np.max(off[ok], initial=0) < TOL


CASES: dict[str, Callable[[np.random.Generator, int, int], Events]] = {
    "random": lambda rng, k, n_tangents: random_events(rng, 40, k, n_tangents),
    "landing": lambda rng, k, n_tangents: landing(rng, 40 if n_tangents == 1 else 6, k + 1, n_tangents, still=False),
    "landing without slip, and at rest": lambda rng, k, n_tangents: landing(rng, 40, k + 1, n_tangents, still=True),
}


IN_SPACE_LANDING = ("moreau coulomb", "landing", 2)  # takes as long as ten of the others


@pytest.mark.parametrize(
    ("law", "case", "n_tangents"),
    [
        pytest.param(*each, marks=pytest.mark.exhaustive if each == IN_SPACE_LANDING else ())
        for each in product(LAWS, CASES, (1, 2))
    ],
)
def test_units_drop_out(law: str, case: str, n_tangents: int, rng: np.random.Generator) -> None:
    events = CASES[case](rng, 2, n_tangents)
    if law in ALONE:
        events = replace(events, C=events.C[:, :1])
    scales = random_scales(rng, len(events.v))
    t, other = events.solve(law), events.scaled(scales).solve(law)
    check(events, scales, t, other)
    one = int(np.flatnonzero(t.status <= jd.Status.ENERGY_CREATED)[0]) if law != "no slip" else 0
    if t.status[one] <= jd.Status.ENERGY_CREATED:  # the same event alone
        single = events.scaled(scales).solve(law, one)
        np.testing.assert_allclose(single.v_plus, other.v_plus[one], rtol=1e-9, atol=1e-12 * np.abs(scales.s[one]))
        assert [single.contact[name] for name in single.contact] == [other.contact[name][one] for name in other.contact]


def mechanism(n: int, n_tangents: int) -> tuple[jd.Mechanism, Any, dict[str, Any]]:
    """M, rows and their scales are parameters."""
    names = {"M": n * (n + 1) // 2, "C": (1 + n_tangents) * n}
    symbols = {name: [ca.SX.sym(f"{name}_{i}") for i in range(count)] for name, count in names.items()}
    v = ca.SX.sym("v", n)
    M = ca.SX(n, n)
    for (i, j), entry in zip(zip(*np.tril_indices(n), strict=True), symbols["M"], strict=True):
        M[int(i), int(j)] = M[int(j), int(i)] = entry
    rows = ca.reshape(ca.vertcat(*symbols["C"]), n, 1 + n_tangents).T @ v
    parameters = [(symbol, 0.0) for some in symbols.values() for symbol in some]
    made = jd.Mechanism.from_casadi(ca.SX.sym("q", n), v, M, parameters=parameters)
    normal, *tangent = ca.vertsplit(rows)
    return made, made.contact("contact 0", normal=normal, tangent=tangent), {}


def values(events: Events) -> dict[str, Array]:
    """The parameters of `mechanism` for these events."""
    i, j = np.tril_indices(events.M.shape[-1])
    given = {f"M_{p}": events.M[:, i[p], j[p]] for p in range(len(i))}
    C = events.C[:, 0].reshape(len(events.v), -1)
    return given | {f"C_{p}": C[:, p] for p in range(C.shape[1])}


@pytest.mark.parametrize(
    ("law", "n_tangents"), [*((law, 1) for law in LAWS), *((law, 2) for law in ("sticks", "stronge", "moreau coulomb"))]
)
def test_units_drop_out_of_kernels(law: str, n_tangents: int, rng: np.random.Generator) -> None:
    """Of a mechanism, 1,100 samples at once, and one."""
    events = random_events(rng, 1100, 1, n_tangents)
    scales = random_scales(rng, 1100)
    made, foot, _ = mechanism(n_tangents + 2, n_tangents)
    event = made.event(contacts={foot: LAWS[law]("mu", "e")})
    rough = "friction" in LAWS[law]("mu", "e").numbers

    def solve(events: Events, some: Any = slice(None)) -> jd.Transition:
        given = {name: value[some] for name, value in values(events).items()} | {"e": events.e[some]}
        return event.solve(v=events.v[some], parameters=given | ({"mu": events.mu[some]} if rough else {}))

    t, other = solve(events), solve(events.scaled(scales))
    check(events, scales, t, other)
    assert (t.status <= jd.Status.ENERGY_CREATED).mean() > 0.2
    (one, *_) = np.flatnonzero(t.status <= jd.Status.ENERGY_CREATED)
    single = solve(events.scaled(scales), one)
    np.testing.assert_allclose(single.v_plus, other.v_plus[one], rtol=1e-9, atol=1e-12 * scales.s[one])


@pytest.mark.parametrize("n_tangents", [1, 2], ids=["plane", "space"])
@pytest.mark.parametrize("still", [False, True])
def test_every_share_of_redundant_impulses_is_in_its_cone(
    n_tangents: int, still: bool, rng: np.random.Generator
) -> None:
    """|λ_t| ≤ μ λ_n of each foot, also in other units, and λ meets the momentum of the block."""
    m = 200 if n_tangents == 1 else 30  # which are iterated
    events = landing(rng, m, 3, n_tangents, still)
    events = events.scaled(random_scales(rng, m))
    t = events.solve("moreau coulomb")
    assert t.ok.mean() > 0.5  # feet that slide and share their load in many ways are ambiguous
    total, seen = np.zeros_like(events.v), 0
    for i in range(3):
        impulse = t.impulse[f"contact {i}"][t.ok]
        size, normal = np.linalg.norm(impulse[:, 1:], axis=-1), impulse[:, 0]
        limit = events.mu[t.ok] * normal
        assert (normal >= 0).all()
        assert (size <= limit * (1 + 1e-12) + 1e-300).all()
        seen += int(np.sum((size < limit * (1 - 1e-6)) & (normal > 0)))
        total[t.ok] += np.einsum("mr,mrj->mj", impulse, events.C[t.ok, i])
    assert seen > m / 10  # that stick
    gained = np.einsum("mij,mj->mi", events.M, t.v_plus - events.v)
    scale = np.sum(np.abs(np.einsum("mij,mj->mi", events.M, events.v)), axis=-1, keepdims=True)
    np.testing.assert_allclose((total - gained)[t.ok] / np.where(scale > 0, scale, 1.0)[t.ok], 0, atol=1e-9)
