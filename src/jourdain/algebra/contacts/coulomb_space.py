"""One contact in space with friction inside the event, for many lanes: `slip`'s equations integrated in σ.

Steps adapt lane by lane. What ends a phase (u_n = 0, then restitution's own condition) is found within a step by
Newton's method on the length of the step itself, so that it is as accurate as the steps. A slip that stops, or that
does not turn any more, is finished by the formula. Derivatives follow the steps: S = ∂y/∂asked.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from jourdain.algebra.contacts.restitution import HYPOTHESES, NEVER, Compression, Growth
from jourdain.algebra.contacts.slip import (
    N_ASKED,
    N_FINISH,
    N_STATE,
    RESTS,
    approach_slopes,
    finisher,
    step_slopes,
    stepper,
    turning_slopes,
    watcher,
)
from jourdain.compute.branches import ARRAYS
from jourdain.compute.runge_kutta import length_factor
from jourdain.inputs import Array, Flags

Lanes = NDArray[np.intp]

MOST_STEPS = 20_000
MOST_NEWTON = 60
SETTLED = 1e-9  # of the step: the next iterate, which is taken, is right to rounding
STOPPED = 1e-12  # of the speeds that occur: a slip slower than this has stopped
ROUNDING = 1e-14  # of the same: a contact that comes with a slower slip comes without
DRIFT = 1e-10  # of the speeds that occur
STRAIGHT = 1e-14  # of the quickest rate, over the impulse that is still to come: it goes straight on
NEIGHBOURS = 1e-11  # change of that rate with what is asked
FIRST_STEP, LONGEST_STEP = 0.1, 2.0  # of the time in which anything changes; longer ones are not stable
GROW = 5.0  # largest factor of a step's length
N_BETWEEN = 8  # points that are noted within a step

RESTITUTION, FREE = 8, 9  # places in what is asked
Note = Callable[[Array], None]  # told the states y along a path, (states, N_STATE)


def find(asked: Array, hypothesis: str, slopes: bool = False, note: Note | None = None) -> tuple[Array, Array]:
    """(found, its derivatives by asked): `(lanes, N_FINISH + 1)` and, with `slopes`, `(…, N_ASKED)`.

    The last entry of found is 1 where the event came to its end, else 0.
    """
    with np.errstate(all="ignore"):  # what is not finite is told
        return _Impacts(asked, hypothesis, slopes, note).solved()


def trail(asked: Array, hypothesis: str) -> tuple[Array, float, float]:
    """(states y along the path of one event `(states, N_STATE)`, p_c, p where the slip stops; inf if it does not)."""
    a, (r_11, r_21, r_22), z = asked[:2], asked[2:5], asked[5:7]
    R = np.array([[r_11, 0.0], [r_21, r_22]])
    passed = [np.array([[0.0, 0.0, 0.0, 0.0, *z]])]
    (found,), _ = find(asked[None], hypothesis, note=passed.append)
    p, p_1, p_2, p_c, _, _, p_s, p_s1, p_s2, *_ = found
    stops = p_s < NEVER
    last = [(p_s, p_s1, p_s2)] if 0 < p_s < p else []
    for knot in [*last, (p, p_1, p_2)]:
        passed.append(np.array([[*knot, np.nan, *(z + a * knot[0] + knot[1:] @ R)]]))
    y = np.vstack(passed)
    rising = np.append(True, np.diff(y[:, 0]) > 0)  # the last step may have ended there
    return y[rising], float(p_c), float(p_s) if stops else np.inf


class _Impacts:
    """All lanes and where they are."""

    def __init__(self, asked: Array, hypothesis: str, slopes: bool, note: Note | None) -> None:
        n = len(asked)
        self.asked, self.hypothesis, self.slopes, self.note = asked, hypothesis, slopes, note
        self.y = np.column_stack([np.zeros((n, 4)), asked[:, 5:7]])
        self.compressed = np.zeros((n, 2))  # p_c, w_c
        self.restituting = np.zeros(n, dtype=bool)
        self.done = np.zeros(n, dtype=bool)  # ended while it slipped
        self.arrived = np.zeros(n, dtype=bool)  # ended, or only the formula is left
        self.S = np.zeros((n, N_STATE, N_ASKED if slopes else 0))
        if slopes:
            self.S[:, 4:6, 5:7] = np.eye(2)
        self.S_c = np.zeros((n, 2, N_ASKED if slopes else 0))

    def solved(self) -> tuple[Array, Array]:
        self._slide()
        found, by_asked = self._finished()
        sound = self.arrived & np.isfinite(found).all(axis=-1) & (self._drift() <= DRIFT)
        return np.column_stack([found, sound]), np.pad(by_asked, ((0, 0), (0, 1), (0, 0)))

    def _drift(self) -> Array:
        """How far z is from what the impulses make of it, z⁻ + a p + Rᵀ p_t, of the speeds that occur."""
        a_1, a_2, r_11, r_21, r_22, z_1, z_2, *_ = self.asked.T
        p, p_1, p_2, _, now_1, now_2 = self.y.T
        off_1 = now_1 - (z_1 + a_1 * p + r_11 * p_1 + r_21 * p_2)
        off_2 = now_2 - (z_2 + a_2 * p + r_22 * p_2)
        return np.asarray(np.hypot(off_1, off_2) / (1 + np.hypot(z_1, z_2) + (np.hypot(a_1, a_2) + 2) * p))

    def _slide(self) -> None:
        """Step until the event ends, the slip stops, or it does not turn any more."""
        a, R, z, mu = self.asked[:, :2], self.asked[:, 2:5], self.asked[:, 5:7], self.asked[:, 7]
        speed, size = np.hypot(*z.T), np.linalg.norm(R, axis=-1)
        fast = np.hypot(*a.T) * size + mu * size * size
        slow, rounding = STOPPED * (1 + speed), ROUNDING * size * (1 + speed)
        h = FIRST_STEP / (fast + size * speed + 1e-300)
        longest = LONGEST_STEP / (fast + 1e-300)
        active = np.flatnonzero(np.isfinite(self.asked).all(axis=-1))
        for _ in range(MOST_STEPS):
            seen = watcher()(self.y[active], self.asked[active])
            r, grows, turns = (seen[name][:, 0, 0] for name in ("r", "grows", "turns"))
            reach = np.where(grows < -1, -1 / grows, 1.0)  # the impulse that is still to come
            straight = np.abs(turns) * reach <= STRAIGHT * fast[active]
            if self.slopes and straight.any():  # its neighbours must not turn either
                straight[straight] = self._neighbours_straight(active[straight], reach[straight])
            stopped = (seen["z"][:, 0, 0] <= slow[active]) | (r <= rounding[active])
            rounding[:] = 0.0  # later on z, and so its direction, is known however slow it is
            ends = straight | stopped
            self.arrived[active[ends]] = True
            self.y[active[stopped], 4:6] = 0.0  # what is left of its direction is rounding
            active = active[~ends]
            if not active.size:
                break
            following = stepper()(self.y[active], self.asked[active], h[active, None])
            after, error = following["y"][..., 0], following["error"][:, 0, 0]
            good = error <= 1
            beyond, _ = self._ending(after, active)
            crosses = good & (beyond >= 0)
            goes = good & ~crosses
            self._move(active[goes], after[goes], h[active[goes]])
            if crosses.any():
                self._end_phase(active[crosses], h[active[crosses]], after[crosses])
            h[active] = np.minimum(h[active] * length_factor(error, GROW, ARRAYS), longest[active])
            self.arrived |= self.done
            active = active[~self.arrived[active]]

    def _neighbours_straight(self, lanes: Lanes, reach: Array) -> Flags:
        by = turning_slopes()(self.y[lanes], self.asked[lanes])
        change = by["by_y"] @ self.S[lanes] + by["by_asked"]
        return np.asarray(np.max(np.abs(change), axis=(-2, -1)) * reach <= NEIGHBOURS)

    def _ending(self, y: Array, lanes: Lanes) -> tuple[Array, Array]:
        """What is negative until a phase ends, and its rate in σ."""
        seen = watcher()(y, self.asked[lanes])
        u_n, rise, slope = seen["u_n"][:, 0, 0], seen["rise"][:, 0, 0], seen["slope"][..., 0]
        e, (p_c, w_c) = self.asked[lanes, RESTITUTION], self.compressed[lanes].T
        rule = HYPOTHESES[self.hypothesis]
        excess = rule.excess(Growth(u_n, y[:, 0] - p_c, y[:, 3] - w_c), e, Compression(1.0, p_c, w_c))
        grows = rule.rate(Growth(rise, slope[:, 0], slope[:, 3]))
        back = self.restituting[lanes]
        return np.where(back, excess, u_n), np.where(back, grows, rise)

    def _end_phase(self, lanes: Lanes, h: Array, after: Array) -> None:
        """Go on to where the phase ends, within steps of length h."""
        y, asked = self.y[lanes], self.asked[lanes]
        low, high = np.zeros_like(h), h.copy()
        first, last = self._ending(y, lanes)[0], self._ending(after, lanes)[0]
        s = h * np.clip(first / (first - last), 0.0, 1.0)
        for _ in range(MOST_NEWTON):
            at = stepper()(y, asked, s[:, None])["y"][..., 0]
            beyond, rate = self._ending(at, lanes)
            low, high = np.where(beyond < 0, s, low), np.where(beyond < 0, high, s)
            better = s - beyond / rate
            better = np.where((better >= low) & (better <= high), better, (low + high) / 2)
            settled = np.abs(better - s) <= SETTLED * h
            s = better
            if settled.all():
                break
        self._move(lanes, stepper()(y, asked, s[:, None])["y"][..., 0], s)
        if self.slopes:
            self._shift(lanes)
        back = self.restituting[lanes]
        ended, begun = lanes[back], lanes[~back]
        self.done[ended] = True
        plastic = begun[self.asked[begun, RESTITUTION] == 0]
        self.compressed[begun], self.S_c[begun] = self.y[begun][:, [0, 3]], self.S[begun][:, [0, 3]]
        self.restituting[begun] = True
        rests = np.hypot(*self.y[plastic, 4:6].T) <= RESTS * (1 + np.hypot(*self.asked[plastic, 5:7].T))
        wedged = plastic[rests & (self.asked[plastic, FREE] <= 0)]
        formula = plastic if self.slopes else wedged  # κ may be about to rise, or the slip to stop
        self.restituting[formula], self.arrived[formula] = False, True
        self.done[np.setdiff1d(plastic, formula)] = True

    def _move(self, lanes: Lanes, after: Array, h: Array) -> None:
        if not lanes.size:
            return
        if self.slopes:
            by = step_slopes()(self.y[lanes], self.asked[lanes], h[:, None])
            self.S[lanes] = by["by_y"] @ self.S[lanes] + by["by_asked"]
        if self.note is not None:
            between = h[0] * np.arange(1, N_BETWEEN) / N_BETWEEN
            y, asked = (np.repeat(array[lanes], len(between), axis=0) for array in (self.y, self.asked))
            self.note(np.vstack([stepper()(y, asked, between[:, None])["y"][..., 0], after]))
        self.y[lanes] = after

    def _shift(self, lanes: Lanes) -> None:
        """Where a phase ends depends on what is asked: E(y, compressed, asked) = 0 moves y along its path."""
        y, e, n = self.y[lanes], self.asked[lanes, RESTITUTION], len(lanes)
        p_c, w_c = self.compressed[lanes].T
        E_y, E_c, E_asked = np.zeros((n, N_STATE)), np.zeros((n, 2)), np.zeros((n, N_ASKED))
        back = self.restituting[lanes]
        by_speed = ~back | (self.hypothesis == "newton")
        u_n = approach_slopes()(y, self.asked[lanes])
        E_y[by_speed], E_asked[by_speed] = u_n["by_y"][by_speed, 0], u_n["by_asked"][by_speed, 0]
        if self.hypothesis == "newton":
            E_asked[back, RESTITUTION] = -1.0
        elif self.hypothesis == "poisson":
            E_y[back, 0] = 1.0
            E_c[back, 0], E_asked[back, RESTITUTION] = -(1 + e[back]), -p_c[back]
        else:
            E_y[back, 3] = 1.0
            E_c[back, 1], E_asked[back, RESTITUTION] = -(1 - e[back] ** 2), 2 * e[back] * w_c[back]
        slope = watcher()(y, self.asked[lanes])["slope"][..., 0]
        change = (E_y[:, None] @ self.S[lanes] + E_c[:, None] @ self.S_c[lanes])[:, 0] + E_asked
        rate = np.sum(E_y * slope, axis=-1)
        self.S[lanes] -= slope[:, :, None] * (change / rate[:, None])[:, None]

    def _finished(self) -> tuple[Array, Array]:
        """`Finish` of all lanes."""
        n = len(self.asked)
        found = np.full((n, N_FINISH), np.nan)
        by_asked = np.full((n, N_FINISH, N_ASKED if self.slopes else 0), np.nan)
        ended, others = np.flatnonzero(self.done), np.flatnonzero(self.arrived & ~self.done)
        p, p_1, p_2, w, *_ = self.y[ended].T
        never = np.full_like(p, NEVER)
        p_c, w_c = self.compressed[ended].T
        found[ended] = 0.0
        found[ended, :7] = np.column_stack([p, p_1, p_2, p_c, w_c, w, never])
        if self.slopes:
            by_asked[ended] = 0.0
            by_asked[ended[:, None], [0, 1, 2, 5]] = self.S[ended, :4]
            by_asked[ended[:, None], [3, 4]] = self.S_c[ended]
        if others.size:
            inputs = (self.y, self.compressed, self.restituting[:, None].astype(float), self.asked)
            last = finisher(self.hypothesis, self.slopes)(*(array[others] for array in inputs))
            found[others] = last["finish"][..., 0]
            if self.slopes:
                start = np.concatenate([self.S[others], self.S_c[others]], axis=1)
                by_asked[others] = last["by_y"] @ start + last["by_asked"]
        return found, by_asked
