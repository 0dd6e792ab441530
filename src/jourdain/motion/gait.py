"""Gaits: fixed points of the step map, by Newton's method with the exact derivative, and their stability.

A step goes from just after an event until its topology is entered again. Its derivative is that of the flow, carried
along the very steps of the integration, and the saltation at each event: when the guard falls depends on the start.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jourdain.algebra.lapack import least_squares
from jourdain.errors import BadEvent, Error, NotConverged
from jourdain.inputs import Array
from jourdain.motion.guards import Switch
from jourdain.motion.hybrid import Hybrid
from jourdain.motion.jump import Jump
from jourdain.motion.labelled import state_labels
from jourdain.motion.sensitivity import step_slopes
from jourdain.motion.simulate import Flowing, Settings, happen, standing
from jourdain.motion.trajectory import Happened, Segment, Trajectory
from jourdain.naming import Named

MOST_ITERATIONS = 40
ARRIVED = 1e-12  # of the state: what a step may change of a gait
CLOSED = 1e-9  # the same, where no change makes it less
LONGEST = 100.0  # s that a step may take
MOST_SWITCHES = 50  # in a step
MOST_HALVINGS = 8  # of a change that leads nowhere
SHORTER = 1e-6  # of the state: a gait that is back so near after fewer steps is one of these


@dataclass(frozen=True)
class Stepped:
    """A step: where it went, and how that depends on where it started and on the parameters."""

    segments: list[Segment]
    events: list[Happened]
    after: Array  # (n_q + n_v,)
    period: float  # s
    by_state: Array  # (n_q + n_v, n_q + n_v); empty if not asked for
    by_parameters: Array  # (n_q + n_v, n_p)
    period_by: Array  # (n_q + n_v + n_p,)
    changed: float  # what switches have changed of the parameters, in all


@dataclass(frozen=True)
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
    stepped: Stepped

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

    def __str__(self) -> str:
        from jourdain.events.table import aligned, rounded

        numbers = zip(state_labels(self.hybrid.mechanism), (*self.q, *self.v), strict=True)
        rows = [[label.said, rounded(value, 1.0)] for label, value in numbers]
        moduli = ", ".join(_complex(one) for one in self.multipliers if abs(one) > 1e-9)
        state = "stable" if self.stable else "unstable"
        lines = [f"gait of {self.steps} step{'s' if self.steps > 1 else ''}, period {self.period:.9g} s, {state}"]
        return "\n".join([*lines, f"multipliers: {moduli or 'all 0'}", "", *aligned(["after the event", ""], rows)])


def _complex(number: complex) -> str:
    return f"{number.real:.6g}" if abs(number.imag) < 1e-12 else f"{number.real:.6g} {number.imag:+.6g}i"


def find_gait(hybrid: Hybrid, x: Array, topology: str, steps: int, p: Array, settings: Settings) -> Gait:
    """Newton's method from a state x = (q, v) near it."""
    refuse_driven(hybrid)
    size = 1 + np.abs(x)
    made = step_map(hybrid, topology, x, p, steps, settings)
    for _ in range(MOST_ITERATIONS):
        miss = made.after - x
        if np.max(np.abs(miss) / size) <= ARRIVED:
            return gait_of(hybrid, topology, steps, x, p, made)
        change = least_squares(made.by_state - np.eye(len(x)), -miss)
        if not np.isfinite(change).all():
            break
        x, made = _moved(hybrid, topology, x, change, p, steps, settings)
        miss = made.after - x
        if np.max(np.abs(change) / size) <= ARRIVED / 10:
            if np.max(np.abs(miss) / size) <= CLOSED:
                return gait_of(hybrid, topology, steps, x, p, made)
            break
    raise NotConverged(
        f"No gait of {steps} step{'s' if steps > 1 else ''} was found near the given state: a step still changes it by "
        f"{np.max(np.abs(miss)):.1e}. Start closer, or change the parameters."
    )


def _moved(
    hybrid: Hybrid, topology: str, x: Array, change: Array, p: Array, steps: int, settings: Settings
) -> tuple[Array, Stepped]:
    """A state further on, and its step; less far where none can be made from there."""
    for part in 0.5 ** np.arange(MOST_HALVINGS):
        try:
            return x + part * change, step_map(hybrid, topology, x + part * change, p, steps, settings)
        except Error:
            continue
    return x + change, step_map(hybrid, topology, x + change, p, steps, settings)  # says why not


def refuse_driven(hybrid: Hybrid) -> None:
    """What depends on time has no step map of states alone."""
    for switch in hybrid.switches:
        if switch.event is not None and "t" in switch.event.parameters:
            raise BadEvent(
                f"The event of a switch from '{switch.source}' depends on the time t; gaits and basins are those of "
                "systems that are not driven in time."
            )
    for topology in hybrid.topologies:
        if hybrid.flow(topology).driven:
            raise BadEvent(
                f"'{topology}' depends on the time t, so a step depends on when it begins; gaits and basins are "
                "those of systems that are not driven in time."
            )


def gait_of(hybrid: Hybrid, topology: str, steps: int, x: Array, p: Array, made: Stepped) -> Gait:
    """The gait whose step was made from x."""
    if made.changed > ARRIVED * (1 + np.max(np.abs(p), initial=0.0)):
        raise NotConverged(
            f"Switches change parameters by {made.changed:.3g} in {steps} step{'s' * (steps > 1)}: the next differs, "
            "and it is no gait."
        )
    _refuse_shorter(made, topology, steps, x)
    values = np.linalg.eigvals(made.by_state).astype(complex)
    order = np.lexsort((-values.imag, -np.round(np.abs(values), 12)))
    last = made.events[-1]
    end = standing(topology, last.after, last.parameters)
    run = Trajectory(hybrid, [*made.segments, end], made.events, f"the end of {steps} step{'s' * (steps > 1)}")
    named = dict(zip(hybrid.parameters, map(float, p), strict=True))
    n_q = hybrid.n_q
    return Gait(hybrid, topology, steps, x[:n_q], x[n_q:], made.period, values[order], named, run, made)


def _refuse_shorter(made: Stepped, topology: str, steps: int, x: Array) -> None:
    """A gait of several steps must not be one of fewer."""
    ends = [event.after[1 : 1 + len(x)] for event in made.events if event.switch.target == topology]
    for k in range(1, steps):
        if steps % k == 0 and np.max(np.abs(ends[k - 1] - x) / (1 + np.abs(x))) <= SHORTER:
            raise NotConverged(
                f"Of {steps} steps only the gait that repeats after {k} was found near the given state; start "
                "elsewhere."
            )


def step_map(
    hybrid: Hybrid, topology: str, x: Array, p: Array, steps: int, settings: Settings, slopes: bool = True
) -> Stepped:
    """From a state x = (q, v) until the topology has been entered again `steps` times."""
    n_x, n_p = len(x), len(p)
    y = np.concatenate([[0.0], x, np.zeros(2)])
    S = np.zeros((len(y), n_x + n_p))  # ∂y/∂(x, p)
    S[1 : 1 + n_x, :n_x] = np.eye(n_x)
    P = np.hstack([np.zeros((n_p, n_x)), np.eye(n_p)])  # ∂p/∂(x, p)
    now, left, start = topology, steps, p
    flowing = Flowing(hybrid, settings)
    segments: list[Segment] = []
    events: list[Happened] = []
    for _ in range(MOST_SWITCHES):
        segment, switch = flowing(now, y, p, y[0] + LONGEST, segments[-1].next if segments else None)
        if switch is None:
            raise NotConverged(
                f"No guard of '{now}' is reached within {LONGEST:g} s: the step does not end. Start elsewhere, or "
                "change the parameters."
            )
        if switch.target is None:
            raise NotConverged(
                f"The step ends at t = {segment.t[-1]:.6g} s in '{now}': {switch.name or 'a switch without a target'}. "
                "Start elsewhere, or change the parameters."
            )
        segments.append(segment)
        before = segment.y[-1]
        happened, after, p_after = happen(hybrid, switch, before, p)
        events.append(happened)
        if slopes:
            S = _along_flow(hybrid, segment, S, P)
            if len(segment.lengths):  # else it falls where the segment starts, whenever that is
                S = _to_guard(hybrid, switch, before, p, S, P)
            S, P = jump_slopes(Jump.of(hybrid, switch), before, p, S, P)
        y, p, now = after, p_after, switch.target
        left -= now == topology
        if left == 0 and not y[0] > 0:
            raise NotConverged(
                f"A step from '{topology}' takes no time: a guard falls where it starts. Start after it, or let its "
                "switch wait (after_rising=True)."
            )
        if left == 0:
            body = slice(1, 1 + n_x)
            changed = float(np.max(np.abs(p - start), initial=0.0))
            return Stepped(segments, events, y[body], float(y[0]), S[body, :n_x], S[body, n_x:], S[0], changed)
    raise NotConverged(f"'{topology}' is not entered again within {MOST_SWITCHES} switches; name another topology.")


def _along_flow(hybrid: Hybrid, segment: Segment, S: Array, P: Array) -> Array:
    """S carried over the steps of a segment."""
    own = hybrid.own(segment.parameters)
    flow = hybrid.flow_at(segment.topology, segment.y, segment.parameters)
    P_own = P[hybrid.own_places]
    for by_y, by_p in zip(*step_slopes(flow, segment.y[:-1], np.diff(segment.t), own), strict=True):
        S = by_y @ S + by_p @ P_own
    return S


def _to_guard(hybrid: Hybrid, switch: Switch, y: Array, p: Array, S: Array, P: Array) -> Array:
    """The saltation: E(y, p) = 0 moves y along its path."""
    flow, own = hybrid.flow_at(switch.source, y, p), hybrid.own(p)
    i = hybrid.guard_owners(switch.source).index(switch)
    seen = flow.watch(y, own)
    slope, rate = seen["slope"][:, 0], seen["rates"][i, 0]
    if not np.isfinite(rate) or rate == 0:
        raise NotConverged(
            f"A guard of '{switch.source}' grazes at t = {y[0]:.6g} s: a step that ends there has no derivative. Start "
            "elsewhere, or change the parameters."
        )
    change = seen["by_y"][i] @ S + seen["by_p"][i] @ P[hybrid.own_places]
    return np.asarray(S - np.outer(slope, change / rate))


def jump_slopes(jump: Jump, y: Array, p: Array, S: Array, P: Array) -> tuple[Array, Array]:
    """(∂y/∂., ∂p/∂.) after a switch, from those before."""
    hybrid, event = jump.hybrid, jump.switch.event
    q, v = slice(1, 1 + hybrid.n_q), slice(1 + hybrid.n_q, 1 + hybrid.n_q + hybrid.n_v)
    S, v_plus = S.copy(), y[v]
    if event is not None:
        known = jump.event_parameters(y[0], p)
        names = [name for name in event.parameters if name in hybrid.parameters]
        by = event.gradient("v_plus", ["q", "v", *names], y[q], y[v], check=False, parameters=known)
        rows = [list(hybrid.parameters).index(name) for name in names]
        by_p = np.stack([by[name] for name in names], axis=-1) if names else np.zeros((hybrid.n_v, 0))
        S[v] = by["q"] @ S[q] + by["v"] @ S[v] + by_p @ P[rows]
        v_plus = event.solve(y[q], y[v], check=False, parameters=known).v_plus
    if jump.switch.relabel or jump.switch.parameters:
        moved = jump.relabelled_by(y[q], v_plus, p)
        stacked = np.vstack([S[q], S[v], P])
        S[q], S[v], P = (moved[name] @ stacked for name in ("q", "v", "p"))
    return S, P


def state_near(hybrid: Hybrid, near: Any) -> Array:
    """x = (q, v) from a pair, or from a gait that is near."""
    if isinstance(near, Gait):
        return np.concatenate([near.q, near.v])
    if not isinstance(near, tuple | list) or len(near) != 2:
        raise BadEvent(f"near is a state (q, v) or a gait, not {near!r}.")
    q, v = near
    return np.concatenate([hybrid.mechanism.coordinates(q), hybrid.mechanism.velocities(v)])
