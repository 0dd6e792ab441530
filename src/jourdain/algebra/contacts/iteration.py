"""Impulses that no formula gives: what the algebra asks for, and what an iteration finds.

The algebra says what is asked as expressions in its inputs; what is found comes back as more inputs. Derivatives pass
through by the chain rule, with those of the iteration as inputs too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from casadi import SX

from jourdain.inputs import Array

Find = Callable[..., tuple[Array, Array]]  # inputs (lanes, m), slopes → solutions (lanes, f), derivatives (lanes, f, m)
CHUNK = 1 << 16  # lanes at a time, so that what the iteration keeps of each fits in memory


@dataclass(frozen=True)
class Iteration:
    """What finds the impulses of contacts where formulas do not."""

    n_inputs: int
    n_outputs: int
    find: Find

    def __call__(self, inputs: Any) -> Any:
        """Columns `(*batch, m, 1)` → `(*batch, f, 1)`."""
        batch = inputs.shape[:-2]
        solutions, _ = self.find(inputs.reshape(-1, self.n_inputs))
        return solutions.reshape(*batch, self.n_outputs, 1)


@dataclass(frozen=True)
class Iterated:
    """An iteration within expressions: what it is asked in them, and the symbols of what it finds."""

    iteration: Iteration
    asked: SX  # (m, 1), in the inputs
    found: SX  # (f, 1), symbols
    slopes: SX  # (f, m), symbols: ∂found/∂asked

    def jacobian(self, numbers: SX, symbols: SX) -> SX:
        """By the chain rule: how numbers follow symbols through what is found."""
        return ca.jacobian(numbers, self.found) @ self.slopes @ ca.jacobian(self.asked, symbols)

    def inputs(self, slopes: bool) -> list[SX]:
        return [self.found, ca.vec(self.slopes.T)] if slopes else [self.found]

    def columns(self, asked: Array, slopes: bool) -> Array:
        """Numbers asked `(m, lanes)` → those of `inputs`, `(f + …, lanes)`."""
        parts = []
        for start in range(0, asked.shape[1], CHUNK):
            found, by = self.iteration.find(np.ascontiguousarray(asked[:, start : start + CHUNK].T), slopes=slopes)
            parts.append(np.hstack([found, by.reshape(len(by), -1)]) if slopes else found)
        return np.vstack(parts).T
