"""What the event algebra asks of linear algebra: `unrolled` (CasADi scalars) and `lapack` (stacks of arrays) offer it.

Everything is a matrix: vectors are columns, scalars 1 × 1. A module that offers these functions is a `LinearAlgebra`;
mypy checks both at the end of this file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    X = TypeVar("X", default=Any)
else:
    from typing import TypeVar

    X = TypeVar("X")  # the matrices: SX, or arrays (*batch, rows, columns)


class Factor(Protocol[X]):
    """L with M = LᵀL, so that x = L v has ½‖x‖² = T."""

    @property
    def L(self) -> X: ...

    @property
    def pivots(self) -> X:
        """(n, 1), all > 0 iff M is positive definite."""

    @property
    def inverse_pivots(self) -> X:
        """(n, 1), 1 / pivots."""

    def apply(self, v: X, /) -> X:
        """L v."""

    def solve(self, x: X, /) -> X:
        """L⁻¹ x."""

    def solve_transposed(self, f: X, /) -> X:
        """L⁻ᵀ f."""


class LinearAlgebra(Protocol[X]):
    """Functions over matrices. A condition is a matrix too, of truth values."""

    def factor(self, M: X, /) -> Factor[X]:
        """Half of M."""

    def transpose(self, A: X, /) -> X: ...

    def stack(self, *parts: X) -> X:
        """The parts below one another."""

    def side_by_side(self, *parts: X) -> X: ...

    def rows(self, A: X, start: int, stop: int, /) -> X: ...

    def zeros(self, n_rows: int, n_columns: int, like: X) -> X:
        """`like` gives the batch shape."""

    def ones(self, n_rows: int, n_columns: int, like: X) -> X: ...

    def identity(self, like: X) -> X:
        """The unit matrix of the size of `like`."""

    def where(self, condition: X, yes: Any, no: Any, /) -> X:
        """A select: a NaN on the side that is not chosen does not leak. `yes`, `no`: matrices or numbers."""

    def both(self, one: X, other: X, /) -> X:
        """Whether both conditions hold."""

    def either(self, one: X, other: X, /) -> X:
        """Whether one of the conditions holds."""

    def every(self, conditions: X, /) -> X:
        """Whether all conditions of a column hold, (1, 1)."""

    def largest(self, x: X, /) -> X:
        """The largest number of a column, (1, 1)."""

    def smallest(self, x: X, /) -> X:
        """The smallest number of a column, (1, 1)."""

    def sqrt(self, x: X, /) -> X: ...

    def absolute(self, x: X, /) -> X: ...

    def diagonal(self, x: X, /) -> X:
        """The diagonal matrix of a column."""

    def diagonal_of(self, A: X, /) -> X:
        """The diagonal of a matrix, as a column."""

    def scale_rows(self, x: X, A: X, /) -> X:
        """diag(x) A."""


if TYPE_CHECKING:
    from casadi import SX

    from jourdain.algebra import lapack, unrolled
    from jourdain.inputs import Array

    over_scalars: LinearAlgebra[SX] = unrolled
    over_arrays: LinearAlgebra[Array] = lapack
