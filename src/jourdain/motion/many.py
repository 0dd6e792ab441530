"""Many motions at once: what `simulate` does with one, with all lanes of a kernel. Only states at events are kept."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jourdain.motion.flow import N_LOOKS, Flow
from jourdain.motion.hybrid import Hybrid
from jourdain.motion.jump import Jump
from jourdain.motion.locate import first_fall, seen_to_fall
from jourdain.motion.simulate import MOST_REFINEMENTS, MOST_STEPS, SETTLED, Flags, Settings, begins
from jourdain.motion.steps import FIRST_STEP
from jourdain.runge_kutta import N_DENSE, along

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

SHORTEST = 1e-12  # of the time allowed: steps that get shorter go nowhere
NONE = -1  # no guard fell
MOST_SWITCHES = 50  # in a step
N_CLOSER = 64  # parts of a step at whose ends guards are looked at again


@dataclass(frozen=True)
class Stepped:
    """What a step made of many states."""

    y: Array  # (lanes, n), after; NaN where the motion ended
    p: Array  # (lanes, n_p)


def step_many(hybrid: Hybrid, topology: str, y: Array, p: Array, longest: float, settings: Settings) -> Stepped:
    """From states `(lanes, n)` until the topology has been entered again; at most `longest` s in each."""
    y, p = y.copy(), p.copy()
    now = {topology: np.arange(len(y))}  # lanes by topology
    for _ in range(MOST_SWITCHES):
        new: dict[str, list[Indices]] = {}
        for name, lanes in now.items():
            ends, which = _flow_many(hybrid, name, y[lanes], p[lanes], longest, settings)
            y[lanes] = np.nan
            owners = hybrid.guard_owners(name)
            for i, switch in enumerate(owners):
                hit = np.flatnonzero(which == i)
                if not hit.size or switch.target is None:
                    continue
                _, y[lanes[hit]], p[lanes[hit]] = Jump.of(hybrid, switch)(ends[hit], p[lanes[hit]])
                if switch.target != topology:
                    new.setdefault(switch.target, []).append(lanes[hit])
        now = {name: np.concatenate(several) for name, several in new.items()}
        if not now:
            break
    for lanes in now.values():
        y[lanes] = np.nan
    return Stepped(y, p)


def _flow_many(
    hybrid: Hybrid, topology: str, y: Array, p: Array, longest: float, settings: Settings
) -> tuple[Array, Indices]:
    """(states where a guard falls, which one), `(lanes, n)` and `(lanes,)`; `NONE` where the motion ends otherwise."""
    flow, own = hybrid.flow(topology), hybrid.own(p)
    y, ends, which = y.copy(), np.full_like(y, np.nan), np.full(len(y), NONE)
    waits = np.array([switch.after_rising for switch in hybrid.guard_owners(topology)], dtype=bool)
    if not waits.size:
        return ends, which
    falls, leaving, rising = begins(*_seen(flow, y, own), waits)
    at_once = falls.any(axis=-1)
    ends[at_once], which[at_once] = y[at_once], np.argmax(falls, axis=-1)[at_once]
    active = np.flatnonzero(~at_once & np.isfinite(y).all(axis=-1))
    h, until = np.full(len(y), FIRST_STEP * longest), y[:, 0] + longest
    tolerances = np.array([settings.rtol, settings.atol])
    for _ in range(MOST_STEPS):
        if not active.size:
            break
        start = y[active]
        given = np.column_stack([h[active], until[active], np.broadcast_to(tolerances, (len(active), 2))])
        made = flow.stepper.many(start, given, own[active])
        h[active] = made["h"][:, 0, 0]
        good, used = made["good"][:, 0, 0] > 0, made["used"][:, 0, 0]
        after = made["y"][..., 0]
        hit = np.zeros(len(active), dtype=bool)
        near = np.flatnonzero(good & (made["suspect"][:, 0, 0] > 0))
        if near.size:
            lanes = active[near]
            polynomial = made["polynomial"][near].reshape(near.size, N_DENSE, -1)
            looks = made["looks"][near].reshape(near.size, N_LOOKS + 1, -1)
            x, guard = _first(flow, start[near], polynomial, looks, leaving[lanes], rising[lanes], own[lanes])
            fell = x < np.inf
            hit[near[fell]] = True
            lanes, length = lanes[fell], used[near[fell]]
            ends[lanes] = _refined(flow, start[near[fell]], x[fell] * length, length, guard[fell], own[lanes])
            which[lanes] = guard[fell]
        goes_on = good & ~hit
        moved = active[goes_on]
        y[moved], rising[moved] = after[goes_on], False
        waiting = moved[leaving[moved].any(axis=-1)]
        if waiting.size:  # those that wait go on waiting until they have risen
            leaving[waiting] &= waits & (_seen(flow, y[waiting], own[waiting])[0] <= 0)
        dead = (
            ~np.isfinite(after).all(axis=-1)
            | (h[active] < SHORTEST * longest)
            | (goes_on & (after[:, 0] >= until[active]))
        )
        active = active[~(hit | dead)]
    return ends, which


def _seen(flow: Flow, y: Array, own: Array) -> tuple[Array, Array]:
    """(guards, their rates), `(lanes, guards)` each."""
    seen = flow.glance.many(y, own)
    return seen["guards"][..., 0], seen["rates"][..., 0]


def _first(
    flow: Flow, y: Array, polynomial: Array, looks: Array, leaving: Flags, rising: Flags, own: Array
) -> tuple[Array, Indices]:
    """(part of the step at which a guard first falls, which one), `(lanes,)` each; infinity for none."""
    n_guards = looks.shape[-1]
    x = seen_to_fall(looks.swapaxes(1, 2).reshape(-1, N_LOOKS + 1), leaving.ravel(), rising.ravel())

    def guards(lanes: Indices, parts: Array) -> Array:
        """Along the steps of lanes, `(lanes, parts, guards)`."""
        coefficients = [polynomial[lanes, None, k] for k in range(N_DENSE)]
        states = np.asarray(along(y[lanes, None], coefficients, parts[:, None]))
        given = np.repeat(own[lanes], len(parts), axis=0)
        return _seen(flow, states.reshape(len(given), -1), given)[0].reshape(len(lanes), len(parts), n_guards)

    unclear = np.flatnonzero(np.isnan(x))
    if unclear.size:  # a closer look
        lanes, which = np.divmod(unclear, n_guards)
        closer = guards(lanes, np.linspace(0, 1, N_CLOSER + 1))[np.arange(len(lanes)), :, which]
        x[unclear] = seen_to_fall(closer, leaving.ravel()[unclear], rising.ravel()[unclear])
    for k in np.flatnonzero(np.isnan(x)):  # the few of which even that does not tell
        lane, i = divmod(int(k), n_guards)

        def guard(parts: Array, lane: int = lane, i: int = i) -> Array:
            return guards(np.array([lane]), parts)[0, :, i]

        found = first_fall(guard, bool(leaving[lane, i]), bool(rising[lane, i]))
        x[k] = np.inf if found is None else found
    x = x.reshape(-1, n_guards)
    which = np.argmin(x, axis=-1)
    return x[np.arange(len(x)), which], which


def _refined(flow: Flow, y: Array, h: Array, used: Array, which: Indices, own: Array) -> Array:
    """The states where guards are 0, near h: Newton's method on the length of the step."""

    def at(lanes: Indices, lengths: Array) -> Array:
        return np.asarray(flow.advance.many(y[lanes], lengths[:, None], own[lanes])["y"][..., 0])

    start, h, left = h, h.copy(), np.arange(len(h))
    ends = at(left, h)
    for _ in range(MOST_REFINEMENTS):
        guards, rates = _seen(flow, ends[left], own[left])
        mine = (np.arange(len(left)), which[left])
        moves = rates[mine] != 0
        change = np.where(moves, guards[mine] / np.where(moves, rates[mine], 1.0), 0.0)
        h[left] -= change
        astray = ~((h[left] >= 0) & (h[left] <= used[left] * (1 + 1e-9)))  # grazing: the polynomial's root is better
        if astray.any():
            ends[left[astray]] = at(left[astray], start[left[astray]])
        left = left[~astray & (np.abs(change) > SETTLED * np.maximum(np.abs(y[left, 0]), used[left]))]
        if not left.size:
            break
        ends[left] = at(left, h[left])
    return ends
