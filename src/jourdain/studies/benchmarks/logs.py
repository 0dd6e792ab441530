"""Logs: T_c and T_a of a million samples of the pantograph, beside pandas, SciPy and batched NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from jourdain import gallery
from jourdain.experiment import Testbed, read
from jourdain.inputs import Array
from jourdain.scenarios.scenario import Scenario
from jourdain.studies.benchmarks.contestant import Contestant, check_equal

LOG, LOG_NUMPY = "a log from CSV, strike and curves", "a log from CSV, pandas, savgol_filter, NumPy"
N_SAMPLES = 1_000_000
WINDOW, DEGREE = 61, 3  # of the filter


def write(path: Path, n: int = N_SAMPLES) -> Scenario:
    """A log of `n` samples: the pantograph is moved about for long, then strikes. Returns its model."""
    model = gallery.pantograph()
    made = Testbed(model, push=0.5).run(gamma=0.5).record(seed=1)
    frame = made.frame()
    rng, before = np.random.default_rng(0), n - len(frame)
    t = np.arange(-before, 0) * 1e-3
    # A slow motion that leads to where the approach begins.
    lead = [0.2 * np.sin(1.7 * t), 0.2 * np.cos(1.3 * t) - 0.2, *(1e-3 * rng.standard_normal((2, before)))]
    columns = {}
    for name, values in zip(list(frame)[1:], lead, strict=True):
        start = float(frame[name].iloc[0]) if name.startswith("q.") else 0.0
        columns[name] = np.concatenate([start + values, frame[name].to_numpy()])
    columns = {"t [s]": np.arange(n) * 1e-3, **columns}
    import pandas

    pandas.DataFrame(columns).to_csv(path, index=False)
    return model


def by_jourdain(path: Path, model: Scenario) -> Any:
    """Strike and curves."""
    strike = read(path, model).strike()
    return strike, strike.curves


def by_numpy(path: Path, model: Scenario) -> tuple[Array, Array]:
    """T_c and T_a of every sample, rates by one filter over the whole log; no strike is looked for."""
    import pandas
    from scipy.signal import savgol_filter

    frame = pandas.read_csv(path)
    q = frame[["q.q1 [rad]", "q.q3 [rad]"]].to_numpy()
    v = savgol_filter(q, WINDOW, DEGREE, deriv=1, delta=1e-3, axis=0)
    return energies(q, v, model.parameters)


def energies(q: Array, v: Array, p: Any) -> tuple[Array, Array]:
    """T_c and T_a `(n,)` of the pantograph: Jacobians of the links by the loop, M = Σ m JᵀJ + I ωᵀω, one inverse."""

    def along(angle: Array) -> tuple[Array, Array]:
        """A unit vector at an angle, and its derivative, `(n, 2)`."""
        c, s = np.cos(angle), np.sin(angle)
        return np.stack([c, s], -1), np.stack([-s, c], -1)

    (e1, d1), (e3, d3) = along(q[:, 0]), along(q[:, 1])
    base = np.array([p["l5"], 0.0]) + p["l1"] * (e1 - e3)  # from elbow 2 to elbow 1
    tilt, at_base = np.arctan2(base[:, 1], base[:, 0]), np.arccos(np.hypot(*base.T) / (2 * p["l2"]))
    (_, d2), (_, d4) = along(np.pi + tilt - at_base), along(tilt + at_base)
    closing = p["l2"] * np.stack([d2, -d4], -1)
    inner = p["l1"] * np.stack([-d1, d3], -1)
    outer = np.linalg.solve(closing, inner)  # rates of links 2 and 4
    one, three = (np.broadcast_to(row, (len(q), 2)) for row in ([1.0, 0.0], [0.0, 1.0]))

    def J(length: float, d: Array, rate: Array) -> Array:
        return length * d[:, :, None] * rate[:, None, :]

    elbow_1, elbow_2 = J(p["l1"], d1, one), J(p["l1"], d3, three)
    tip = elbow_1 + J(p["l2"], d2, outer[:, 0])
    points = [(p["m1"], J(p["a1"], d1, one)), (p["m1"], J(p["a1"], d3, three)), (p["mEE"], tip),
              (p["m2"], elbow_1 + J(p["a2"], d2, outer[:, 0])),
              (p["m2"], elbow_2 + J(p["a2"], d4, outer[:, 1]))]  # fmt: skip
    turns = [(p["I1"], one), (p["I1"], three), (p["I2"], outer[:, 0]), (p["I2"], outer[:, 1])]
    M = sum(m * np.swapaxes(jac, 1, 2) @ jac for m, jac in points)
    M = M + sum(inertia * w[:, :, None] * w[:, None, :] for inertia, w in turns)
    A = -tip[:, 1, :]
    u, W = np.sum(A * v, -1), np.einsum("ni,nij,nj->n", A, np.linalg.inv(M), A)
    T, T_c = np.einsum("ni,nij,nj->n", v, M, v) / 2, u**2 / W / 2
    return T_c, T - T_c


def check(path: Path, model: Scenario) -> None:
    """Raise unless both have the same energies for the same velocities."""
    strike, _ = by_jourdain(path, model)
    q = strike.log.q[-5000:]
    v = np.gradient(q, 1e-3, axis=0)
    found = strike.rig.states(q, v)
    for name, theirs in zip(("T_c", "T_a"), energies(q, v, model.parameters), strict=True):
        check_equal("NumPy", f"{name} of a log", found[name], theirs, np.max(found["T"]))


def contestants(path: Path) -> Iterator[Contestant]:
    """Write a log there, check that both read it alike, and let them."""
    model = write(path)
    check(path, model)
    yield Contestant(
        LOG, N_SAMPLES, lambda: by_jourdain(path, model), "checks, contacts, strike, T_c and T_a over time"
    )
    yield Contestant(
        LOG_NUMPY, N_SAMPLES, lambda: by_numpy(path, model), "T_c and T_a over time, smeared at the strike"
    )


PAIRS = ((LOG, LOG_NUMPY),)
