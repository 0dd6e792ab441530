"""Rows and entries of matrices, and choices between numbers: what both roads of `la` need beside their primitives."""

from __future__ import annotations

from types import ModuleType
from typing import Any


def row(X: Any, i: int, la: ModuleType) -> Any:
    """Row i, (1, columns); of a column its entry, (1, 1)."""
    return la.rows(X, i, i + 1)


def each_row(X: Any, la: ModuleType) -> list[Any]:
    """The rows of a matrix, (1, columns) each."""
    return [row(X, i, la) for i in range(X.shape[-2])]


def entry(X: Any, i: int, j: int, la: ModuleType) -> Any:
    """X_ij, (1, 1)."""
    return la.transpose(row(la.transpose(row(X, i, la)), j, la))


def larger(one: Any, other: Any, la: ModuleType) -> Any:
    """The larger of two numbers; `other` where `one` is NaN."""
    return la.where(one > other, one, other)


def smaller(one: Any, other: Any, la: ModuleType) -> Any:
    """The smaller of two numbers; `other` where `one` is NaN."""
    return la.where(one < other, one, other)


def sign(x: Any, la: ModuleType) -> Any:
    """1, −1, or 0 for what is neither positive nor negative."""
    return la.where(x > 0, 1.0, la.where(x < 0, -1.0, 0.0))
