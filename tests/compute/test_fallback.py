"""The fast path, and the robust one for the samples that it flags."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from casadi import SX

from jourdain.compute.evaluate import KERNEL_FROM, Evaluator
from jourdain.compute.fallback import FastThenRobust, at_samples, computed_again, promising


def roots() -> Evaluator:
    """√x, flagged below 0, with a constant beside it."""
    x = SX.sym("x")
    return Evaluator([x], {"root": x**0.5, "two": SX([2.0, 2.0])}, x < 0, constants_once=True)


@pytest.mark.parametrize("batch", [(5,), (40, 50)])
def test_flagged_samples_are_those_of_the_robust_path(batch: tuple[int, ...], rng: np.random.Generator) -> None:
    x = rng.uniform(-1, 3, batch)

    def robust(samples: Any) -> Any:
        (chosen,) = at_samples([x], batch, samples)
        assert np.all(chosen < 0)
        return {"root": -np.sqrt(-chosen)[:, None, None], "two": np.full((len(samples), 2, 1), 3.0)}, np.full(
            len(samples), 7
        )

    fast, (flags,) = roots().over([x], batch)
    values, status = computed_again(fast, flags, robust)
    np.testing.assert_array_equal(status, np.where(x < 0, 7, 0))
    np.testing.assert_allclose(values["root"][..., 0, 0], np.sign(x) * np.sqrt(np.abs(x)), rtol=1e-15)
    np.testing.assert_array_equal(values["two"][..., 0, 0], np.where(x < 0, 3.0, 2.0))


def test_without_flags_the_robust_path_is_not_asked(rng: np.random.Generator) -> None:
    def never(samples: Any) -> Any:
        raise AssertionError

    fast, (flags,) = roots().over([rng.uniform(1, 2, 2 * KERNEL_FROM)], (2 * KERNEL_FROM,))
    values, status = computed_again(fast, flags, never)
    assert not status.any()
    assert values["two"].shape == (2 * KERNEL_FROM, 2, 1)


def test_a_batch_is_promising_if_most_samples_are_not_flagged() -> None:
    for x, expected in ((np.linspace(-1, 3, 1000), True), (np.linspace(-3, 1, 1000), False), (np.array(2.0), True)):
        assert promising(roots(), [x], (1000,)) is expected


def test_a_path_is_made_when_it_is_needed_and_computes_what_the_other_leaves() -> None:
    made: list[bool] = []
    computed: list[tuple[bool, list[int]]] = []

    def make(fast: bool) -> bool:
        made.append(fast)
        return fast

    def compute(fast: bool, samples: Any) -> Any:
        computed.append((fast, samples.tolist()))
        return samples[samples >= 3] if fast else samples[:0]

    paths = FastThenRobust(make)
    paths.run(np.arange(3), compute)
    assert made == [True]
    paths.run(np.arange(5), compute)
    assert made == [True, False]
    assert computed == [(True, [0, 1, 2]), (True, [0, 1, 2, 3, 4]), (False, [3, 4])]
