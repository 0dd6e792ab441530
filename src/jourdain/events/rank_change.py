"""States at which rows become redundant: the outcome jumps or bends there, so that it has no derivative.

Rows that are redundant everywhere, such as those of four feet, are so along every line through a state; rows that
coincide in one state only are independent elsewhere on the line. So a few neighbours of a state decide: some at a
distance at which rows that part with its square do so visibly, some so near that contacts do the same there unless the
rows are the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from casadi import SX

from jourdain.algebra.checks import TOLERANCE
from jourdain.compute.fallback import Samples
from jourdain.errors import Status
from jourdain.events.solver import Solver
from jourdain.inputs import Array, Flags, State, Statuses

if TYPE_CHECKING:
    from jourdain.events.event import Event

FAR, NEAR = 1e-3, 1e-6  # distances of neighbours, in units of 1 and in units of the variable itself


class RankChange:
    """Where rows of an event that are on, or of contacts that act, are redundant, but not beside."""

    def __init__(self, event: Event) -> None:
        def build(independent: bool) -> tuple[dict[str, SX], SX]:
            written = event.expressions(independent, checked=False)
            return written.values.columns(("redundant", "contact_state")), written.verdict

        self.event = event
        other = event.definite
        singular = None if other is None else (lambda: other.rank_change._solver)
        self._solver: Solver = Solver(event.inputs, build, event.problem.M, event.iterated, singular=singular)

    def of_states(
        self, status: Statuses, redundant: Array, state: State, places: Sequence[int], on_geometry: bool
    ) -> Statuses:
        """`checked` for states whose entries at `places` of (q, v, parameters) vary, as far as the geometry admits."""

        def changes(samples: Samples) -> Flags:
            ends = np.cumsum([array.shape[-1] for array in state])[:-1]
            x = np.concatenate([array.reshape(-1, array.shape[-1])[samples] for array in state], axis=-1)
            q, v, p = np.split(x, ends, axis=-1)
            q_beside, v_beside, p_beside = np.split(neighbours(x, places), ends, axis=-1)
            if on_geometry:
                q_beside = self._on_geometry((q_beside, v_beside, p_beside))
            return self.at((q, v, p), (q_beside, v_beside, p_beside))

        return self.checked(status, redundant, changes) if places else status

    def checked(self, status: Statuses, redundant: Array, changes: Callable[[Samples], Flags]) -> Statuses:
        """The status `(*batch,)`, AT_SWITCH where the rank changes; `changes` decides for samples of the flat batch."""
        count = np.where(status <= Status.ENERGY_CREATED, redundant.sum(axis=(-2, -1)), 0.0).reshape(-1)
        doubtful = np.flatnonzero(count > self._least) if (count > 0).any() else np.zeros(0, dtype=np.intp)
        if not doubtful.size:
            return status
        found = np.array(status)
        found.reshape(-1)[doubtful[changes(doubtful)]] = Status.AT_SWITCH
        return found

    def at(self, here: State, beside: State) -> Flags:
        """Of states `(samples, n)` and their neighbours `(samples, neighbours, n)`, `(samples,)`."""
        (count, doing, _), (count_beside, doing_beside, sound) = (self._redundant(state) for state in (here, beside))
        fewer = sound & (count_beside < count[:, None])
        alike = np.all(doing_beside == doing[:, None], axis=-1)  # else a contact may switch in between
        alike[:, alike.shape[1] // 2 :] = True
        return np.asarray(np.any(fewer & alike, axis=-1))

    @cached_property
    def _least(self) -> int:
        """How many rows are redundant in every state, with other parameters than the default ones too."""
        q, v, p = self.event.generic_state()
        rng, least = np.random.default_rng(1), []
        for moved in (p, p * rng.uniform(0.5, 1.5, p.shape), p + rng.uniform(0.0, 0.5, p.shape)):
            count, _, sound = self._redundant((q, v, moved))
            least.append(int(count[sound].min()) if sound.any() else 0)
        return min(least)

    def _redundant(self, state: State) -> tuple[Array, Array, Flags]:
        """(how many rows are redundant, what contacts do, whether there is an outcome)."""
        values, status = self._solver(*state)
        return values["redundant"].sum(axis=(-2, -1)), values["contact_state"][..., 0], status <= Status.ENERGY_CREATED

    def _on_geometry(self, state: State) -> Array:
        """The coordinates moved onto the geometric rows; NaN where that is not possible."""
        q, missed = self.event.assembled(state, range(len(self.event.mechanism.symbols.q_names)))
        return np.where((missed <= TOLERANCE)[..., None], q, np.nan)


def neighbours(x: Array, places: Sequence[int]) -> Array:
    """Points `(samples, neighbours, n)` beside x `(samples, n)`, all these entries moved; the second half is near."""
    direction = np.zeros(x.shape[-1])
    direction[list(places)] = np.random.default_rng(1).uniform(0.5, 1.0, len(places))  # one that no symmetry keeps
    steps = [side * distance * direction for distance in (FAR, NEAR) for side in (1, -1)]
    return np.stack([y for step in steps for y in (x + step, x * (1 + step))], axis=1)
