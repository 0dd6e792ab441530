"""What an outcome of contacts must satisfy where its digits are in doubt: impulses that push, cones of friction."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from jourdain.algebra import lapack
from jourdain.algebra.checks import SINKING, TOLERANCE, _friction_holds, _keeps_out, _pushes
from jourdain.algebra.privileged import choose_names


def column(*numbers: float) -> NDArray[np.float64]:
    return np.array(numbers, dtype=float)[:, None]


@pytest.mark.parametrize(
    ("push", "noise", "holds"),
    [(1.0, 0.0, True), (1.0, 0.9, True), (1.0, 1.1, False), (0.0, 0.0, True), (-1e-3, 0.0, False), (-1e-3, 1.0, False),
     (-0.5 * TOLERANCE, 0.0, True), (-2 * TOLERANCE, 0.0, False)],
)  # fmt: skip
@pytest.mark.parametrize("free", [1.0, 1e-3, 1e3])
def test_an_impulse_pushes_if_it_is_larger_than_its_noise(push: float, noise: float, holds: bool, free: float) -> None:
    """All in speeds of the row, of which 1 is usual."""
    assert _pushes(column(push / free), column(free), column(noise), column(1.0)).item() == holds


@pytest.mark.parametrize(
    ("u", "least", "rounding", "holds"),
    [(0.3, 0.3, 0.0, True), (0.2, 0.3, 0.0, False), (0.4, 0.3, 0.0, True), (0.2, 0.3, 0.11, True),
     (0.2, 0.3, 0.09, False), (-0.9 * SINKING, 0.0, 0.0, True), (-1.1 * SINKING, 0.0, 0.0, False)],
)  # fmt: skip
@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_a_contact_does_not_sink_in(u: float, least: float, rounding: float, holds: bool, unit: float) -> None:
    found = _keeps_out(column(u * unit), column(least * unit), column(unit), column(rounding * unit))
    assert found.item() == holds


def holds(tangential: list[float], slip: list[float], noise: float = 0.0, friction: float = 0.5) -> bool:
    """A contact that pushes with 2, so that the radius of its cone is 1."""
    one = np.ones((1 + len(slip), 1))
    push, u = column(2.0, *tangential), column(0.0, *slip)
    return bool(_friction_holds(push, u, one, noise * one, one, np.array([[friction]]), lapack).item())


@pytest.mark.parametrize("turn", [0.0, 0.7, 2.5])
def test_friction_in_space(turn: float) -> None:
    c, s = np.cos(turn), np.sin(turn)

    def turned(x: float, y: float = 0.0) -> list[float]:
        return [c * x - s * y, s * x + c * y]

    assert holds(turned(0.3), turned(0))  # sticks within the cone
    assert holds(turned(1), turned(0))
    assert not holds(turned(1.1), turned(0))
    assert not holds(turned(0.9), turned(0), noise=0.2)  # not known to be within
    assert holds(turned(-1), turned(2))  # slips on the cone, against the slip
    assert not holds(turned(1), turned(2))
    assert not holds(turned(-0.8), turned(2))
    assert not holds(turned(-1.2), turned(2))
    assert holds(turned(-0.9), turned(2), noise=0.2)  # may be on it
    assert holds(turned(0), turned(0), friction=0.0)
    assert holds(turned(0), turned(2), friction=0.0)
    assert not holds(turned(-0.1), turned(2), friction=0.0)


def test_friction_in_the_plane() -> None:
    assert holds([-1.0], [0.5])
    assert holds([1.0], [-0.5])
    assert not holds([1.0], [0.5])
    assert not holds([0.5], [0.5])


def test_names_whose_determinant_varies_least_relative_to_its_mean() -> None:
    """A row (sin, cos): `x` is chosen where cos is large nearly everywhere, though its determinant is never small."""
    sine = np.array([0.9, *[0.05] * 9])
    rows = np.stack([sine, np.sqrt(1 - sine**2)], axis=-1)[:, None, :]
    named = np.broadcast_to(np.eye(2), (10, 2, 2))
    assert choose_names(rows, named, ["x", "y"], [], []) == ("x",)  # |det| = cos: 0.44, then 0.999
    assert choose_names(rows[..., ::-1], named, ["x", "y"], [], []) == ("y",)
