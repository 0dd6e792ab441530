"""Rows in x = L v, where M = LᵀL, and their lengths: what several parts of the algebra need."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from jourdain.algebra.entries import each_row


def scaled(C: Any, factor: Any, la: ModuleType) -> Any:
    """Y = C L⁻¹."""
    return la.transpose(factor.solve_transposed(la.transpose(C)))


def squares(Y: Any, la: ModuleType) -> Any:
    """The square of the length of each row, W_ii = c M⁻¹ cᵀ for Y = C L⁻¹, (k, 1)."""
    return la.stack(la.zeros(0, 1, like=Y), *(y @ la.transpose(y) for y in each_row(Y, la)))


def root(square: Any, la: ModuleType) -> Any:
    """The square root, 0 for what is not positive; guarded inside, so that its derivative is 0 at 0."""
    return la.where(square > 0, la.sqrt(la.where(square > 0, square, 1.0)), 0.0)
