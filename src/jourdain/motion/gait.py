"""Gaits: fixed points of the step map, by Newton's method with the exact derivative, and their stability.

A step goes from just after an event until its topology is entered again. Its derivative is that of the flow, carried
along the very steps of the integration, and the saltation at each event: when the guard falls depends on the start.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jourdain.algebra.lapack import least_squares
from jourdain.errors import BadEvent, Error, NotConverged
from jourdain.inputs import Array, FilePath
from jourdain.motion.hybrid import Hybrid, StatePair
from jourdain.motion.integrator import Integrator
from jourdain.motion.labelled import state_labels
from jourdain.motion.sensitivity import Sensitivity
from jourdain.motion.settings import Settings
from jourdain.motion.simulate import Run
from jourdain.motion.trajectory import Trajectory
from jourdain.naming import Named
from jourdain.output.printable import prints
from jourdain.output.tables import page

MAX_ITERATIONS = 40
CONVERGED = 1e-12  # of the state: what a step may change of a gait
CLOSED = 1e-9  # the same, where no change makes it less
MAX_SEGMENT_S = 100.0  # that a step may take to the next guard
MAX_SWITCHES = 50  # in a step
MAX_HALVINGS = 8  # of a change that leads nowhere
SAME_GAIT = 1e-6  # of the state: a gait that is back so near after fewer steps is one of these


@dataclass(frozen=True)
class StepResult:
    """Steps from a state x = (q, v): where they lead, and how that depends on x and on the parameters p."""

    x: Array  # (n_q + n_v,)
    p: Array  # (n_p,)
    trajectory: Trajectory
    after: Array  # (n_q + n_v,)
    period: float  # s
    by_state: Array  # (n_q + n_v, n_q + n_v)
    by_parameters: Array  # (n_q + n_v, n_p)
    period_by: Array  # (n_q + n_v + n_p,)
    parameter_change: float  # by switches, the largest


@dataclass(frozen=True, repr=False)
class Gait:
    """A periodic motion. q, v: just after the event that ends a step, relabelled."""

    hybrid: Hybrid
    topology: str
    steps: int
    q: Array  # (n_q,)
    v: Array  # (n_v,)
    period: float  # s, of all its steps
    multipliers: NDArray[np.complex128]  # by falling modulus
    parameters: dict[str, float]
    trajectory: Trajectory
    stepped: StepResult

    @property
    def coordinate(self) -> Named[float]:
        names = self.hybrid.mechanism.symbols.q_names
        return Named("coordinate", dict(zip(names, map(float, self.q), strict=True)))

    @property
    def velocity(self) -> Named[float]:
        names = self.hybrid.mechanism.symbols.v_names
        return Named("velocity", dict(zip(names, map(float, self.v), strict=True)))

    @property
    def stable(self) -> bool:
        """Whether motions nearby come back to it."""
        return bool(np.abs(self.multipliers[0]) < 1) if len(self.multipliers) else True

    def report(self, path: FilePath, title: str = "") -> None:
        """Write one page of HTML that needs nothing else: state, period, multipliers, energy, events, script.

        Parameters
        ----------
        path : str or Path
            Where to write it; it ends in .html. The file is there in full or not at all.
        title : str
            The title of the page; by itself the name in the gallery.

        Raises
        ------
        CannotWrite
            If no such file can be written.

        """
        from jourdain.reports.motions import gait_report
        from jourdain.reports.template import check_page, write_page

        check_page(path)
        write_page(gait_report(self, title).html(), path)

    @prints
    def __str__(self) -> str:
        from jourdain.events.table import aligned

        return "\n".join([self.headline, f"multipliers: {self._moduli}", "", *aligned(*state_table(self))])

    @prints
    def __repr__(self) -> str:
        return f"<{self.headline.capitalize()}>"

    def _repr_html_(self) -> str:
        from jourdain.mechanism.described import parameter_table

        parameters = parameter_table(self.parameters, self.hybrid.mechanism.units)
        return page(
            f"{self.headline}; multipliers: {self._moduli}", [state_table(self), (("parameter", ""), parameters[1])]
        )

    @property
    def headline(self) -> str:
        """How many steps, how long they take, and whether the gait is stable."""
        state = "stable" if self.stable else "unstable"
        return f"gait of {self.steps} step{'s' if self.steps > 1 else ''}, period {self.period:.9g} s, {state}"

    @property
    def _moduli(self) -> str:
        return ", ".join(_complex(one) for one in self.multipliers if abs(one) > 1e-9) or "all 0"


def state_table(gait: Gait) -> tuple[list[str], list[list[str]]]:
    """Coordinates and velocities just after the event that ends a step, relabelled."""
    from jourdain.events.table import rounded

    numbers = zip(state_labels(gait.hybrid.mechanism), (*gait.q, *gait.v), strict=True)
    return ["after the event", ""], [[label.said, rounded(value, 1.0)] for label, value in numbers]


def _complex(number: complex) -> str:
    return f"{number.real:.6g}" if abs(number.imag) < 1e-12 else f"{number.real:.6g} {number.imag:+.6g}i"


@dataclass(frozen=True)
class StepMap:
    """From a state in a topology until this has been entered again `steps` times."""

    hybrid: Hybrid
    topology: str
    steps: int
    settings: Settings

    def __call__(self, x: Array, p: Array, slopes: bool = True) -> StepResult:
        """Steps from a state x = (q, v). Without `slopes` the derivatives in the result mean nothing."""
        run = Run(Integrator(self.hybrid, self.settings), self.topology, np.concatenate([[0.0], x, np.zeros(2)]), p)
        sensitivity, n_entered = Sensitivity.at_start(self.hybrid, len(run.y)), 0
        for _ in range(MAX_SWITCHES):
            sensitivity = _switched(run, sensitivity, slopes)
            n_entered += run.topology == self.topology
            if n_entered == self.steps:
                break
        else:
            raise NotConverged(
                f"'{self.topology}' is not entered again within {MAX_SWITCHES} switches; name another topology."
            )
        if not run.y[0] > 0:
            raise NotConverged(
                f"A step from '{self.topology}' takes no time: a guard falls where it starts. Start after it, or let "
                "its switch wait (after_rising=True)."
            )
        n, S, trajectory = len(x), sensitivity.S, run.trajectory(f"the end of {self._count}")
        change, body = float(np.max(np.abs(run.p - p), initial=0.0)), slice(1, 1 + n)
        derivatives = S[body, :n], S[body, n:], S[0]
        return StepResult(x, p, trajectory, run.y[body], float(run.y[0]), *derivatives, change)

    def fixed_point(self, x: Array, p: Array) -> Gait:
        """The gait near x: Newton's method."""
        size, step = 1 + np.abs(x), self(x, p)
        for _ in range(MAX_ITERATIONS):
            miss = step.after - step.x
            if np.max(np.abs(miss) / size) <= CONVERGED:
                return self.gait(step)
            change = least_squares(step.by_state - np.eye(len(x)), -miss)
            if not np.isfinite(change).all():
                break
            step = self._moved(step, change)
            miss = step.after - step.x
            if np.max(np.abs(change) / size) <= CONVERGED / 10:
                if np.max(np.abs(miss) / size) <= CLOSED:
                    return self.gait(step)
                break
        raise NotConverged(
            f"No gait of {self._count} was found near the given state: a step still changes it by "
            f"{np.max(np.abs(miss)):.1e}. Start closer, or change the parameters."
        )

    def _moved(self, step: StepResult, change: Array) -> StepResult:
        """Steps from a state further on; less far where none can be made from there."""
        for part in 0.5 ** np.arange(MAX_HALVINGS):
            try:
                return self(step.x + part * change, step.p)
            except Error:
                continue
        return self(step.x + change, step.p)  # raises, and says why

    def gait(self, step: StepResult) -> Gait:
        """The gait that these steps are."""
        if step.parameter_change > CONVERGED * (1 + np.max(np.abs(step.p), initial=0.0)):
            raise NotConverged(
                f"Switches change parameters by {step.parameter_change:.3g} in {self._count}: the next differs, and it "
                "is no gait."
            )
        self._check_shorter(step)
        values = np.linalg.eigvals(step.by_state).astype(complex)
        order = np.lexsort((-values.imag, -np.round(np.abs(values), 12)))
        named = dict(zip(self.hybrid.parameters, map(float, step.p), strict=True))
        q, v = np.split(step.x, [self.hybrid.n_q])
        numbers = (step.period, values[order], named)
        return Gait(self.hybrid, self.topology, self.steps, q, v, *numbers, step.trajectory, step)

    def _check_shorter(self, step: StepResult) -> None:
        """Raise NotConverged if a gait of several steps is one of fewer."""
        x, events = step.x, step.trajectory.events
        ends = [event.after[1 : 1 + len(x)] for event in events if event.switch.target == self.topology]
        for k in range(1, self.steps):
            if self.steps % k == 0 and np.max(np.abs(ends[k - 1] - x) / (1 + np.abs(x))) <= SAME_GAIT:
                raise NotConverged(
                    f"Of {self.steps} steps only the gait that repeats after {k} was found near the given state; start "
                    "elsewhere."
                )

    @property
    def _count(self) -> str:
        return f"{self.steps} step{'s' * (self.steps > 1)}"


def _switched(run: Run, sensitivity: Sensitivity, slopes: bool) -> Sensitivity:
    """Go on through the next switch."""
    topology, p = run.topology, run.p
    switch = run.flow(run.y[0] + MAX_SEGMENT_S)
    if switch is None:
        raise NotConverged(
            f"No guard of '{topology}' is reached within {MAX_SEGMENT_S:g} s: the step does not end. Start elsewhere, "
            "or change the parameters."
        )
    if switch.target is None:
        raise NotConverged(
            f"The step ends at t = {run.y[0]:.6g} s in '{topology}': {switch.name or 'a switch without a target'}. "
            "Start elsewhere, or change the parameters."
        )
    segment, before = run.segments[-1], run.y
    jump = run.jump(switch, switch.target, slopes)
    if jump.slopes is None:
        return sensitivity
    sensitivity = sensitivity.along(segment)
    if len(segment.lengths):  # else the guard falls where the segment starts, whenever that is
        sensitivity = sensitivity.at_guard(switch, before, p)
    return sensitivity.after_jump(jump.slopes)


def check_not_driven(hybrid: Hybrid) -> None:
    """Raise BadEvent if anything depends on time: then a step depends on more than the state."""
    for switch in hybrid.switches:
        if switch.event is not None and "t" in switch.event.parameters:
            raise BadEvent(
                f"The event of a switch from '{switch.source}' depends on the time t; gaits and basins are those of "
                "systems that are not driven in time."
            )
    for topology in hybrid.topologies:
        if hybrid.flows(topology).fast.driven:
            raise BadEvent(
                f"'{topology}' depends on the time t, so a step depends on when it begins; gaits and basins are "
                "those of systems that are not driven in time."
            )


def state_near(hybrid: Hybrid, near: StatePair | Gait) -> Array:
    """x = (q, v) from a pair, or from a gait that is near."""
    if isinstance(near, Gait):
        return np.concatenate([near.q, near.v])
    if not isinstance(near, tuple | list) or len(near) != 2:
        raise BadEvent(f"near is a state (q, v) or a gait, not {near!r}.")
    q, v = near
    return np.concatenate([hybrid.mechanism.coordinates(q), hybrid.mechanism.velocities(v)])
