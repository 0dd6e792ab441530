"""Many motions at once: what `simulate` does with one, with all lanes of a kernel. Only states at events are kept."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jourdain.evaluate import Values
from jourdain.motion.flow import N_LOOKS, Flow
from jourdain.motion.hybrid import Hybrid
from jourdain.motion.jump import Jump
from jourdain.motion.locate import Flags, Indices, first_falls
from jourdain.motion.simulate import MOST_REFINEMENTS, MOST_STEPS, SETTLED, Settings
from jourdain.motion.steps import FIRST_STEP, look_along

Array = NDArray[np.float64]

SHORTEST = 1e-12  # of the time allowed: steps that get shorter go nowhere
NONE = -1  # no guard fell
MOST_SWITCHES = 50  # in a step


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
                y[lanes[hit]], p[lanes[hit]] = Jump.of(hybrid, switch)(ends[hit], p[lanes[hit]])
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
    if not flow.guards.numel():
        return ends, which
    seen = flow.glance.many(y, own)
    at_once, leaving, rising, beyond = (seen[name][..., 0] > 0 for name in ("at_once", "leaving", "rising", "beyond"))
    lost = beyond.any(axis=-1) | ~np.isfinite(y).all(axis=-1)
    struck = at_once.any(axis=-1) & ~lost
    ends[struck], which[struck] = y[struck], np.argmax(at_once, axis=-1)[struck]
    active = np.flatnonzero(~struck & ~lost)
    h, until = np.full(len(y), FIRST_STEP * longest), y[:, 0] + longest
    tolerances = np.array([settings.rtol, settings.atol])
    for _ in range(MOST_STEPS):
        if not active.size:
            break
        start = y[active]
        flags = (leaving[active].astype(float), rising[active].astype(float))
        limits = np.column_stack([until[active], np.broadcast_to(tolerances, (len(active), 2))])
        made = flow.stepper.many(start, h[active, None], *flags, limits, own[active])
        h[active] = made["h"][:, 0, 0]
        good, used = made["good"][:, 0, 0] > 0, made["used"][:, 0, 0]
        after = made["y"][..., 0]
        hit = np.zeros(len(active), dtype=bool)
        seen = np.minimum(made["falls"], made["doubts"])[..., 0].min(axis=-1) < np.inf
        near = np.flatnonzero(good & seen)
        if near.size:
            lanes = active[near]
            some = Values(made.places, made.table[:, near], (near.size,))
            x, guard = _first(flow, some, start[near], leaving[lanes], rising[lanes], own[lanes])
            fell = x < np.inf
            hit[near[fell]] = True
            lanes, length = lanes[fell], used[near[fell]]
            ends[lanes] = _refined(flow, start[near[fell]], x[fell] * length, length, guard[fell], own[lanes])
            which[lanes] = guard[fell]
        goes_on = good & ~hit
        moved = active[goes_on]
        y[moved], leaving[moved], rising[moved] = after[goes_on], made["leaving"][goes_on, :, 0] > 0, False
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


def _first(flow: Flow, made: Values, y: Array, leaving: Flags, rising: Flags, own: Array) -> tuple[Array, Indices]:
    """(part of the step at which a guard first falls, which one), `(lanes,)` each; infinity for none."""
    n_guards = leaving.shape[-1]
    polynomial = made["polynomial"]

    def look(guards: Indices, x: Array) -> tuple[Array, Array]:
        place, which = np.divmod(guards, n_guards)
        lanes = unclear[place]
        seen = look_along(flow, y[lanes], polynomial[lanes], x, own[lanes], compiled=True)
        rows = np.arange(len(x))
        return seen["guards"][rows, which, 0], seen["slopes"][rows, which, 0]

    x = made["falls"][..., 0].copy()
    unclear = np.flatnonzero(x.min(axis=-1) > made["doubts"][..., 0].min(axis=-1))
    if unclear.size:  # a closer look
        values, slopes = (made[name][unclear].swapaxes(1, 2).reshape(-1, N_LOOKS + 1) for name in ("looks", "slopes"))
        noise, flags = made["noise"][unclear].ravel(), (leaving[unclear].ravel(), rising[unclear].ravel())
        x[unclear] = first_falls(values, slopes, noise, *flags, look).reshape(-1, n_guards)
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
