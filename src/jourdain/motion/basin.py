"""Basins of attraction: which gait each of many starts comes to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from jourdain.compute.memory import check_batch
from jourdain.data.dataset import unit_attribute
from jourdain.errors import BadEvent, OffConstraint
from jourdain.inputs import Array, StateLike, vector
from jourdain.motion.flow import MAX_VIOLATION
from jourdain.motion.gait import Gait, check_not_driven
from jourdain.motion.hybrid import Hybrid
from jourdain.motion.labelled import state_labels
from jourdain.motion.many import step_many
from jourdain.motion.settings import Settings
from jourdain.naming import name_of
from jourdain.output.printable import prints
from jourdain.progress import bar

if TYPE_CHECKING:
    import xarray


LOST, UNDECIDED = -1, -2  # instead of the number of a gait
AT_GAIT = 1e-4  # of the state: a motion that comes so near to a stable gait stays with it
MAX_PERIODS = 20.0  # of the gait, that a step may take
COPIES = 4  # of the starts, while they move


@dataclass(frozen=True)
class Basin:
    """What became of each start, `(*starts,)`."""

    gaits: Sequence[Gait]
    reached: NDArray[np.int64]  # the number of the gait, LOST or UNDECIDED
    steps: NDArray[np.int64]  # that it took until this was known
    axes: Mapping[str, tuple[str, Array, str]]  # name of a coordinate of the starts → dimension, values, unit
    dimensions: tuple[str, ...]

    @property
    def fraction(self) -> float:
        """Of the starts that come to one of the gaits."""
        return float(np.mean(self.reached >= 0))

    def to_dataset(self) -> xarray.Dataset:
        """`reached` and `steps` over the starts."""
        import xarray

        meaning = {"long_name": "gait that is reached", "flags": f"{LOST}: lost, {UNDECIDED}: undecided"}
        data = {
            "reached": (self.dimensions, self.reached, meaning),
            "steps": (self.dimensions, self.steps, {"long_name": "steps until this was known"}),
        }
        coords = {name: (d, values, unit_attribute(unit)) for name, (d, values, unit) in self.axes.items()}
        return xarray.Dataset(data, coords=coords)

    @prints
    def __repr__(self) -> str:
        lost, undecided = (int(np.sum(self.reached == code)) for code in (LOST, UNDECIDED))
        came = ", ".join(f"{int(np.sum(self.reached == i))} to gait {i}" for i in range(len(self.gaits)))
        return f"<Basin of {self.reached.size} starts: {came}, {lost} lost, {undecided} undecided>"


def find_basin(
    hybrid: Hybrid, gaits: Sequence[Gait], q: StateLike, v: StateLike, steps: int, settings: Settings,
    progress: bool | None,
) -> Basin:  # fmt: skip
    """See `Hybrid.basin`."""
    _check_gaits(hybrid, gaits)
    if isinstance(steps, bool) or not isinstance(steps, int) or steps < 1:
        raise BadEvent(f"steps is how many steps are made at most, 1 or more, not {steps!r}.")
    first, s = gaits[0], hybrid.mechanism.symbols
    starts = vector("q", q, s.q_names, first.q), vector("v", v, s.v_names, first.v)
    shape = np.broadcast_shapes(starts[0].shape[:-1], starts[1].shape[:-1])
    if not shape:
        raise BadEvent("A basin is one of many starts; give arrays for some coordinates or velocities.")
    check_batch(shape, COPIES * (len(s.q_names) + len(s.v_names)))
    x = np.concatenate([np.broadcast_to(part, (*shape, part.shape[-1])) for part in starts], axis=-1)
    x = x.reshape(-1, x.shape[-1])
    p = np.array([first.parameters[name] for name in hybrid.parameters])
    _check_starts(hybrid, first.topology, x, p)
    targets = [_ends(gait) for gait in gaits]
    reached, taken = np.full(len(x), UNDECIDED), np.zeros(len(x), dtype=np.int64)
    y, parameters = _states(x), np.tile(p, (len(x), 1))
    longest = MAX_PERIODS * max(gait.period / gait.steps for gait in gaits)
    samples = np.arange(len(x))
    with bar("basin", len(x), progress) as advance:
        for _ in range(steps):
            y, parameters = step_many(hybrid, first.topology, y, parameters, longest, settings)
            taken[samples] += 1
            reached[samples] = _reached(y[:, 1 : 1 + x.shape[1]], targets)
            known = reached[samples] != UNDECIDED
            if advance is not None:
                advance(int(known.sum()))
            samples, y, parameters = samples[~known], y[~known], parameters[~known]
            y[:, 0] = 0.0
            if not samples.size:
                break
    dimensions, axes = _labels(hybrid, q, v, shape)
    return Basin(tuple(gaits), reached.reshape(shape), taken.reshape(shape), axes, dimensions)


def _states(x: Array) -> Array:
    """y at the start, `(samples, n)`."""
    return np.column_stack([np.zeros(len(x)), x, np.zeros((len(x), 2))])


def _ends(gait: Gait) -> Array:
    """The states (q, v) after each step of a gait, `(steps, n_q + n_v)`."""
    ends = [event.after for event in gait.trajectory.events if event.switch.target == gait.topology]
    return np.vstack(ends)[:, 1 : 1 + len(gait.q) + len(gait.v)]


def _reached(x: Array, targets: Sequence[Array]) -> NDArray[np.int64]:
    """The number of the gait that each state has come to, LOST where it is not finite, else UNDECIDED."""
    reached = np.full(len(x), UNDECIDED)
    lost = ~np.isfinite(x).all(axis=-1)
    reached[lost] = LOST
    for i, ends in enumerate(targets):
        off = np.abs(x[:, None] - ends) / (1 + np.abs(ends))
        reached[(np.max(off, axis=-1) <= AT_GAIT).any(axis=-1) & ~lost] = i
    return reached


def _check_gaits(hybrid: Hybrid, gaits: Sequence[Gait]) -> None:
    check_not_driven(hybrid)
    if not gaits:
        raise BadEvent("A basin is that of one gait or of several; none was given.")
    if hybrid.functions:
        raise BadEvent("Many motions at once need forces as expressions, not as Python functions.")
    for i, gait in enumerate(gaits):
        if gait.hybrid is not hybrid:
            raise BadEvent(f"Gait {i} is one of another system.")
        if gait.topology != gaits[0].topology or gait.parameters != gaits[0].parameters:
            raise BadEvent(f"Gait {i} differs from the first in its topology or parameters; one basin has one of each.")
        if not gait.stable:
            raise BadEvent(
                f"Gait {i} is unstable, its largest multiplier {abs(gait.multipliers[0]):.4g}: no motion stays with it."
            )


def _check_starts(hybrid: Hybrid, topology: str, x: Array, p: Array) -> None:
    """Raise OffConstraint for a start that is off the constraints of the topology."""
    inputs = np.tile(hybrid.mechanism_parameters(p), (len(x), 1))
    violation = np.abs(hybrid.flows(topology).fast.violation(_states(x), inputs)["violation"][..., 0])
    if violation.size and not np.nanmax(violation) <= MAX_VIOLATION:
        worst = int(np.argmax(np.max(violation, axis=-1)))
        raise OffConstraint(
            f"Start {worst} misses the constraints of '{topology}' by {np.nanmax(violation):.3g}; choose starts on "
            "them."
        )


def _labels(
    hybrid: Hybrid, q: StateLike, v: StateLike, shape: tuple[int, ...]
) -> tuple[tuple[str, ...], dict[str, tuple[str, Array, str]]]:
    """(names of the dimensions, what varies along one of them only: name → dimension, values, unit)."""
    named = [
        {name_of(key): value for key, value in part.items()} if isinstance(part, Mapping) else {} for part in (q, v)
    ]
    given = {
        label.key: (named[label.is_velocity][label.name], label.unit)
        for label in state_labels(hybrid.mechanism)
        if label.name in named[label.is_velocity]
    }
    dimensions = [f"start_{i}" for i in range(len(shape))]
    axes: dict[str, tuple[str, Array, str]] = {}
    for name, (value, unit) in given.items():
        array = np.asarray(value, dtype=float)
        wide = array.reshape((1,) * (len(shape) - array.ndim) + array.shape)
        along = [i for i, n in enumerate(wide.shape) if n > 1]
        if len(along) == 1:
            (i,) = along
            if dimensions[i].startswith("start_"):
                dimensions[i] = name
            axes[name] = (dimensions[i], wide.ravel(), unit)
    return tuple(dimensions), axes
