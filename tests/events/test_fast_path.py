"""Well-conditioned samples stay on the fast path: those that take the robust one, fifty times slower, are counted."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import jourdain as jd
from cases import EVENTS
from jourdain import gallery
from jourdain.events import array_solver
from jourdain.events.solver import Solver

Array = NDArray[Any]
Counter = Callable[[], int]

N = 4096
REDUNDANT = ["box_dropped_flat"]  # its four corners: rank is decided for every sample
ROUNDED = ["bicycle"]  # a coefficient of a prior row is 0 up to rounding (5e-17), and so is u⁻: checked again


@pytest.fixture
def robust(monkeypatch: pytest.MonkeyPatch) -> Counter:
    """How many samples took the robust path since the last call."""
    seen: list[int] = []
    decided, by_lapack = Solver._decided, array_solver.by_lapack

    def of_mechanism(self: Solver, values: Any, *others: Any) -> Any:
        seen.append(math.prod(values.batch))
        return decided(self, values, *others)

    def of_arrays(problem: Any, checked: bool) -> Any:
        seen.append(math.prod(problem.M.shape[:-2]))
        return by_lapack(problem, checked)

    monkeypatch.setattr(Solver, "_decided", of_mechanism)
    monkeypatch.setattr(array_solver, "by_lapack", of_arrays)

    def count() -> int:
        n = sum(seen)
        seen.clear()
        return n

    return count


def about(scenario: jd.Scenario, rng: np.random.Generator) -> dict[str, Array]:
    """Parameters within a tenth of their defaults; those that are 0 or 1 stay, among them angles and restitutions."""
    known = {name: value for name, value in scenario.parameters.items() if value is not None}
    vary = {name: value not in (0.0, 1.0) for name, value in known.items()}
    return {name: value * (1 + 0.1 * vary[name] * rng.uniform(-1, 1, N)) for name, value in known.items()}


@pytest.mark.parametrize("name", EVENTS)
def test_samples_of_the_gallery(name: str, robust: Counter, rng: np.random.Generator) -> None:
    scenario = getattr(gallery, name)()
    samples = about(scenario, rng)
    failed = int(np.sum(scenario.solve(parameters=samples).status != jd.Status.OK))
    if name in ROUNDED:
        assert robust() <= N // 2
    else:
        assert robust() == (N if name in REDUNDANT else failed)
    assert failed <= N // 3, "the batch is to be a good one"


@pytest.mark.parametrize("name", ["walker", "four_bar", "thrown_box", "double_pendulum"])
def test_samples_of_derivatives(name: str, robust: Counter, rng: np.random.Generator) -> None:
    scenario = getattr(gallery, name)()
    samples = about(scenario, rng)
    varied = next(parameter for parameter, values in samples.items() if np.ptp(values) > 0)
    scenario.gradient("loss", varied, parameters=samples)
    assert robust() == 0


@pytest.mark.parametrize("name", ["touchdown", "capture"])
def test_samples_of_robots(name: str, robust: Counter, rng: np.random.Generator) -> None:
    pytest.importorskip("mujoco")
    scenario = getattr(gallery, name)()
    status = scenario.sweep(samples=about(scenario, rng), keep=["loss"]).status.values
    assert not status.any()
    assert robust() == 0


def well_conditioned(rng: np.random.Generator, n: int, k: int) -> tuple[Array, Array, Array, Array]:
    """M with eigenvalues over two decades, k prior rows over two decades and a v that satisfies them, and k others."""

    def turned() -> Array:
        return np.linalg.qr(rng.normal(size=(N, n, n)))[0]

    Q = turned()
    M = np.einsum("bij,bj,bkj->bik", Q, 10 ** rng.uniform(-1, 1, (N, n)), Q)
    prior, struck = (turned()[:, :k] * 10 ** rng.uniform(-1, 1, (N, k, 1)) for _ in range(2))
    v = rng.normal(size=(N, n))
    unit = prior / np.linalg.norm(prior, axis=-1, keepdims=True)  # orthonormal
    v = v - np.einsum("bki,bkj,bj->bi", unit, unit, v)
    return (M + np.swapaxes(M, -1, -2)) / 2, v, prior, struck


ARRAYS: dict[str, Callable[[Array, Array], dict[str, Any]]] = {
    "inert": lambda prior, struck: {"inert": struck},
    "elastic": lambda prior, struck: {"elastic": (struck, 0.4)},
    "regular": lambda prior, struck: {"regular": prior, "inert": struck},
    "live": lambda prior, struck: {"live": (prior, 0.0, 0.3)},
    "released": lambda prior, struck: {"released": prior, "inert": struck},
    "impulse": lambda prior, struck: {"inert": struck, "impulse": prior[:, 0]},
    "Frictionless": lambda prior, struck: {
        "regular": prior,
        "contacts": [
            jd.Contact(normal=row, law=jd.laws.Frictionless(0.3, "poisson")) for row in np.moveaxis(struck, 1, 0)
        ],
    },
    "Coulomb": lambda prior, struck: {
        "contacts": [jd.Contact(normal=struck[:, 0], tangent=[struck[:, 1]], law=jd.laws.Coulomb(0.4, 0.5))]
    },
    "MoreauCoulomb": lambda prior, struck: {
        "contacts": [jd.Contact(normal=struck[:, 0], tangent=[struck[:, 1]], law=jd.laws.MoreauCoulomb(0.4, 0.5))]
    },
}


@pytest.mark.parametrize("kind", ARRAYS)
@pytest.mark.parametrize(("n", "k"), [(6, 2), (9, 2)])
def test_samples_of_arrays(kind: str, n: int, k: int, robust: Counter, rng: np.random.Generator) -> None:
    M, v, prior, struck = well_conditioned(rng, n, k)
    outcome = jd.transition(M, v, **ARRAYS[kind](prior, struck))
    failed = int(np.sum(outcome.status != jd.Status.OK))
    assert failed <= N // 100
    assert robust() - failed <= N // 100  # rows that happen to be nearly parallel


def test_samples_that_must_leave(robust: Counter, rng: np.random.Generator) -> None:
    """Redundant rows, a singular M and a broken prior row: these samples and no others."""
    M, v, prior, struck = well_conditioned(rng, 5, 2)
    struck[3, 1] = 2 * struck[3, 0]
    v[7] += prior[7, 0]
    M[11, 0] = M[11, :, 0] = 0.0
    outcome = jd.transition(M, v, regular=prior, inert=struck)
    assert 3 <= robust() <= 3 + N // 100
    assert np.flatnonzero(outcome.status).tolist() == [7]
    parts = outcome.T_c_minus + outcome.T_a_minus + outcome.T_r_minus  # the rows make up for the mass that is missing
    assert parts[11] == pytest.approx(outcome.T_minus[11])
