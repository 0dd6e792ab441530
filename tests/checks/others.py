"""Answers by other programs, in double precision: LAPACK, SciPy, Siconos, and steps along the path."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dgglse
from scipy.optimize import nnls

from checks.answers import Reduced, asked, given_impulse, on_rows, places, unit
from checks.drawing import Events
from oracles import contacts as by_steps
from oracles import contacts_in_space as in_space
from oracles import siconos

Array = NDArray[Any]


def gauss(events: Events) -> Array:
    """Gauss's principle: of all v with C'v = wanted that nearest to v⁻ + M⁻¹f̄ in the norm of M, by LAPACK's gglse."""
    C, wanted = (part.astype(float) for part in on_rows(events))
    f = given_impulse(events).astype(float)
    found = np.zeros((events.m, events.n))
    scale = 1 / np.sqrt(np.diagonal(events.M, axis1=1, axis2=2))
    for i in range(events.m):
        d = scale[i]
        root = np.linalg.cholesky(events.M[i] * np.outer(d, d)).T
        aim = root @ (events.v[i] / d) + np.linalg.solve(root.T, f[i] * d)
        rows = C[i] * d
        size = np.linalg.norm(rows, axis=1)
        size = np.where(size > 0, size, 1)
        if not len(rows):
            found[i] = np.linalg.solve(root, aim) * d
            continue
        *_, x, _ = dgglse(root, rows / size[:, None], aim, wanted[i] / size)
        found[i] = x * d
    return found


def least_squares(reduced: Reduced, events: Events) -> Array:
    """Contacts without friction: λ ≥ 0 nearest to what stops the approach, by SciPy's nnls; λ (m, rows)."""
    contacts = events.contacts
    r, closes, _ = asked(reduced, contacts)
    lengths = unit(reduced, contacts).astype(float)
    W = (reduced.W / lengths[:, :, None] / lengths[:, None, :]).astype(float)
    normals = [n for n, _ in places(contacts)]
    found = np.zeros(r.shape)
    for i in range(events.m):
        some = [n for n, yes in zip(normals, closes[i], strict=True) if yes or contacts[0].law == "poisson"]
        if not some:
            continue
        try:
            root = np.linalg.cholesky(W[i][np.ix_(some, some)])
        except np.linalg.LinAlgError:  # in 53 bits
            found[i] = np.nan
            continue
        if contacts[0].law == "moreau":
            z, _ = nnls(root.T, -np.linalg.solve(root, (r[i] / lengths[i]).astype(float)[some]))
        else:
            u = (reduced.u[i] / lengths[i]).astype(float)[some]
            stop, _ = nnls(root.T, -np.linalg.solve(root, u))
            given = stop * (1 + np.array([one.kappa[i] for one in contacts]))
            kept, _ = nnls(root.T, -np.linalg.solve(root, u + W[i][np.ix_(some, some)] @ given))
            z = given + kept
        found[i, some] = z / lengths[i, some]
    return found


def siconos_impulses(reduced: Reduced, events: Events, some: Array) -> tuple[Array, Array]:
    """(λ, violation) of friction at the velocity after, in the plane or in space, of some events, by Siconos."""
    contacts = events.contacts
    r, closes, _ = asked(reduced, contacts)
    mu = np.stack([one.mu for one in contacts], 1)
    lengths = unit(reduced, contacts).astype(float)
    impulse, off = np.zeros((len(some), r.shape[1])), np.full(len(some), np.inf)
    width = 1 + contacts[0].n_tangents
    asks, lanes = [], []
    for place, i in enumerate(some):
        rows = [row for c in range(len(contacts)) if closes[i, c] for row in range(c * width, (c + 1) * width)]
        if not rows:
            off[place] = 0.0
            continue
        d = lengths[i, rows]
        q = (r[i, rows] / d).astype(float)
        size = float(np.max(np.abs(q))) or 1.0
        W = (reduced.W[i][np.ix_(rows, rows)] / np.outer(d, d)).astype(float)
        steep = mu[i, closes[i]] * d[1::width] / d[::width]
        asks.append((W, q / size, steep))
        lanes.append((place, rows, d, size))
    solvers = ["NSGS", "NSN_AC"] if width == 3 else ["NSGS", "LEMKE"]
    text: list[dict[str, object]] = [
        {"W": W.tolist(), "q": q.tolist(), "mu": m.tolist(), "solvers": solvers} for W, q, m in asks
    ]
    for (W, q, m), (place, rows, d, size), tries in zip(asks, lanes, siconos.ask(text) if text else [], strict=True):
        for one in tries:
            p = np.array(one["reaction"])
            miss = in_space.violation(W, q, m, p) if width == 3 else siconos.broken(W, q, m, p, q + W @ p)
            if miss < off[place]:
                off[place] = miss
                impulse[place, rows] = p / d * size
    return impulse, off


def steps(reduced: Reduced, events: Events, some: Array) -> Array:
    """λ of one contact with friction inside the event, by small steps of its impulse."""
    (contact,) = events.contacts
    hypothesis = contact.law.split()[1].capitalize()
    lengths = unit(reduced, events.contacts).astype(float)[some]
    W = (reduced.W[some] / lengths[:, :, None] / lengths[:, None, :]).astype(float)
    u = (reduced.u[some] / lengths).astype(float)
    size = np.max(np.abs(u), axis=1)
    size = np.where(size > 0, size, 1)
    u = u / size[:, None]
    mu, e = contact.mu[some] * lengths[:, 1] / lengths[:, 0], contact.kappa[some]
    if contact.n_tangents == 1:
        found = by_steps.planar_by_steps(W, u, mu, e, hypothesis)
        p = np.stack([found.p_n, found.p_t], 1)
    else:
        p = np.zeros((len(some), 3))
        for i in range(len(some)):
            one = by_steps.spatial_by_steps(W[i], u[i], float(mu[i]), float(e[i]), hypothesis)
            p[i] = one.p_n, *one.p_t
    return np.asarray(p * size[:, None] / lengths)
