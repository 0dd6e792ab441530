"""Many motions at once: what `simulate` does with one, with all lanes of a kernel. Only states at events are kept."""

from __future__ import annotations

import numpy as np

from jourdain.compute.evaluate import Values
from jourdain.inputs import Array
from jourdain.motion.flow import N_LOOKS, OFF, Flow
from jourdain.motion.gait import MOST_SWITCHES
from jourdain.motion.hybrid import Hybrid
from jourdain.motion.jump import Jump
from jourdain.motion.locate import Flags, Indices, first_falls
from jourdain.motion.simulate import BEYOND, MOST_REFINEMENTS, MOST_STEPS, SETTLED, Settings
from jourdain.motion.steps import FIRST_STEP, look_along

TOO_SHORT = 1e-12  # of the time allowed: steps that get shorter go nowhere
NONE = -1  # no guard fell


def step_many(
    hybrid: Hybrid, topology: str, y: Array, p: Array, longest: float, settings: Settings
) -> tuple[Array, Array]:
    """States and parameters when the topology has been entered again, `(lanes, n)`; NaN where the motion ended before.

    `longest`: s that it may take to the next guard.
    """
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
    return y, p


def _flow_many(
    hybrid: Hybrid, topology: str, y: Array, p: Array, longest: float, settings: Settings
) -> tuple[Array, Indices]:
    """(states where a guard falls, which one), `(lanes, n)` and `(lanes,)`; `NONE` where the motion ends otherwise."""
    flow, own = hybrid.flow(topology), hybrid.own(p)
    y, ends, which = y.copy(), np.full_like(y, np.nan), np.full(len(y), NONE)
    if not flow.kinds:
        return ends, which
    seen = flow.glance.many(y, own)
    if not np.all(seen["apart"] > 0):
        flow = hybrid.flow(topology, independent=False)
        seen = flow.glance.many(y, own)
    at_once, leaving, rising, beyond = (seen[name][..., 0] > 0 for name in ("at_once", "leaving", "rising", "beyond"))
    lost = beyond.any(axis=-1) | ~np.isfinite(y).all(axis=-1) | ~(seen["off"][:, 0, 0] <= OFF)
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
        near = np.flatnonzero(good & (np.minimum(made["falls"], made["doubts"])[..., 0].min(axis=-1) < np.inf))
        if near.size:
            lanes = active[near]
            some = Values(made.places, made.table[:, near], (near.size,))
            x = _falls(flow, some, start[near], leaving[lanes], rising[lanes], own[lanes])
            who, guard = np.nonzero(x < np.inf)  # lanes and guards: which of several is first is known when sharpened
            place = near[who]
            states = _refined(flow, start[place], x[who, guard] * used[place], used[place], guard, own[active[place]])
            latest_first = np.argsort(-states[:, 0], kind="stable")
            those = active[place[latest_first]]
            ends[those], which[those] = states[latest_first], guard[latest_first]  # the last one written stays
            hit[place] = True
        if not np.all(made["apart"] > 0):  # from here on with the flow that decides rank
            flow = hybrid.flow(topology, independent=False)
        goes_on = good & ~hit
        moved = active[goes_on]
        y[moved], leaving[moved], rising[moved] = after[goes_on], made["leaving"][goes_on, :, 0] > 0, False
        dead = (
            ~np.isfinite(after).all(axis=-1)
            | (h[active] < TOO_SHORT * longest)
            | (goes_on & (after[:, 0] >= until[active]))
        )
        if not flow.dynamics.independent:  # constraints that contradict each other
            dead |= np.max(np.abs(flow.off.many(after, own[active])["off"]), axis=(1, 2), initial=0.0) > OFF
        active = active[~(hit | dead)]
    return ends, which


def _falls(flow: Flow, made: Values, y: Array, leaving: Flags, rising: Flags, own: Array) -> Array:
    """Parts of steps from y at which guards first fall, `(lanes, guards)`; infinity where they do not."""
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
    return x


def _refined(flow: Flow, y: Array, h: Array, used: Array, which: Indices, own: Array) -> Array:
    """The states where guards are 0, near h: Newton's method on the length of the step."""

    def at(lanes: Indices, lengths: Array) -> tuple[Array, Array, Array]:
        made = flow.advance.many(y[lanes], lengths[:, None], own[lanes])
        rows = np.arange(len(lanes))
        return made["y"][..., 0], made["guards"][rows, which[lanes], 0], made["rates"][rows, which[lanes], 0]

    h, left = h.copy(), np.arange(len(h))
    ends, value, rate = at(left, h)
    ends = ends.copy()
    begun = ends.copy()
    for _ in range(MOST_REFINEMENTS):
        change = np.where(rate != 0, value / np.where(rate != 0, rate, 1.0), 0.0)
        h[left] -= change
        astray = ~((h[left] >= 0) & (h[left] <= used[left] * BEYOND))  # grazing: where the search saw it is better
        ends[left[astray]] = begun[left[astray]]
        left = left[~astray & (np.abs(change) > SETTLED * np.maximum(np.abs(y[left, 0]), used[left]))]
        if not left.size:
            break
        ends[left], value, rate = at(left, h[left])
    return ends
