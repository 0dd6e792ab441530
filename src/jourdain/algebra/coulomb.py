"""One planar contact with friction inside the event, in closed form [Routh; THEORY §5].

While the normal impulse p grows, u = (u_n, u_t) follows du/dp = W (1, −μ s), s the sign of the slip:

    slipping:      du_n/dp = W_nn − μ s W_nt,        du_t/dp = W_nt − μ s W_tt
    at u_t = 0:    sticks if |W_nt| ≤ μ W_tt, dp_t/dp = −W_nt / W_tt;  else slips with s = sign W_nt

There are two stretches at most: the slip that the contact comes with, up to p_1, and what follows. u_n is a broken line
over p, so that the end of compression p_c and of restitution p_f follow without iteration.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType
from typing import Any

from jourdain.algebra.lengths import root

# What the slip does in the event.
NO_IMPACT, SLIPS, STICKS, REVERSES = range(4)


@dataclass(frozen=True)
class Path:
    """The event in impulse space; every entry (1, 1)."""

    p_n: Any  # normal impulse, N s
    p_t: Any  # tangential impulse
    p_slip: Any  # normal impulse at which the first slip ends, inf if it does not
    p_t_slip: Any  # tangential impulse there
    p_c: Any  # normal impulse at the end of compression
    compression: Any  # work of the normal impulse up to there, J, ≤ 0
    restitution: Any  # and after it, ≥ 0
    friction: Any  # work of the tangential impulse, ≤ 0
    state: Any  # NO_IMPACT, SLIPS, STICKS or REVERSES


def planar(W: Any, u: Any, friction: Any, restitution: Any, hypothesis: str, la: ModuleType) -> Path:
    """W (2 × 2) and u (2 × 1) with the normal first; a contact that opens is left alone."""

    def entry(X: Any, i: int, j: int = 0) -> Any:
        return la.transpose(la.rows(la.transpose(la.rows(X, i, i + 1)), j, j + 1))

    W_nn, W_nt, W_tt, u_n, u_t = entry(W, 0, 0), entry(W, 0, 1), entry(W, 1, 1), entry(u, 0), entry(u, 1)
    zero, never = la.zeros(1, 1, like=W), float("inf")

    # The slip that it comes with, up to p_1.
    s = _sign(u_t, la)
    n_1, t_1 = W_nn - friction * s * W_nt, W_nt - friction * s * W_tt  # du/dp
    closing = s * t_1 < 0
    p_1 = la.where(closing, -u_t / la.where(closing, t_1, 1.0), la.where(s == 0, 0.0, never))
    reaches = p_1 < never
    until = la.where(reaches, p_1, 0.0)  # a number in any case
    u_1 = u_n + n_1 * until

    # What follows: it sticks, or slips the other way.
    sticks = la.absolute(W_nt) <= friction * W_tt
    slides = W_tt > 0  # else nothing moves along the tangent, and no impulse is called for
    held = la.where(slides, -W_nt / la.where(slides, W_tt, 1.0), 0.0)
    rate = la.where(sticks, held, -friction * _sign(W_nt, la))  # dp_t/dp
    n_2, t_2 = W_nn + W_nt * rate, la.where(sticks, 0.0, W_nt + W_tt * rate)

    # The end of compression: u_n = 0.
    rising = n_1 > 0
    p_in_first = la.where(rising, -u_n / la.where(rising, n_1, 1.0), never)
    early = p_in_first <= p_1  # within the first stretch; else the first stretch ends
    p_c = la.where(early, p_in_first, until - u_1 / n_2)
    work_c = la.where(early, u_n * p_c / 2, (u_n + u_1) * until / 2 + u_1 * (p_c - until) / 2)

    # The end of restitution.
    slope = la.where(early, n_1, n_2)  # of u_n just after p_c
    room = la.where(la.both(early, reaches), until - p_c, la.where(early, never, 0.0))  # of the first stretch after p_c
    if hypothesis == "newton":
        rise = -restitution * u_n
        within = rise <= slope * room
        p_f = la.where(early, la.where(within, p_c + rise / slope, until + (rise - u_1) / n_2), p_c + rise / n_2)
    elif hypothesis == "poisson":
        p_f = (1 + restitution) * p_c
    else:
        back = -restitution * restitution * work_c  # work to be given back
        first = la.where(la.both(early, reaches), slope * room * room / 2, la.where(early, never, 0.0))
        within = back <= first
        left = la.where(within, 0.0, back - la.where(la.both(early, reaches), first, 0.0))
        from_kink = until + (root(u_1 * u_1 + 2 * n_2 * left, la) - u_1) / n_2
        p_f = la.where(
            early, la.where(within, p_c + root(2 * back / slope, la), from_kink), p_c + root(2 * back / n_2, la)
        )

    # Impulses and work along the two stretches.
    first_p = la.where(p_f < p_1, p_f, until)
    second_p = p_f - first_p
    p_t = -friction * s * first_p + rate * second_p
    work_t = -friction * s * (u_t * first_p + t_1 * first_p * first_p / 2) + rate * t_2 * second_p * second_p / 2
    work_n = u_n * first_p + n_1 * first_p * first_p / 2
    work_n = work_n + la.where(second_p > 0, (u_1 + n_2 * second_p / 2) * second_p, 0.0)
    turned = la.where(sticks, float(STICKS), la.where(s == 0, float(SLIPS), float(REVERSES)))
    state = la.where(second_p > 0, turned, float(SLIPS))

    closes = u_n < 0
    numbers = (p_f, p_t, p_1, -friction * s * until, p_c, work_c, work_n - work_c, work_t, state)
    return Path(*(la.where(closes, number, zero) for number in numbers))


def _sign(x: Any, la: ModuleType) -> Any:
    return la.where(x > 0, 1.0, la.where(x < 0, -1.0, 0.0))
