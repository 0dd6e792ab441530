"""One contact with friction inside the event: planar in closed form [Routh; docs/theory.md §5], in space by iteration.

While the normal impulse p grows, u = (u_n, u_t) follows du/dp = W (1, −μ s), s the sign of the slip:

    slipping:      du_n/dp = W_nn − μ s W_nt,        du_t/dp = W_nt − μ s W_tt
    at u_t = 0:    sticks if |W_nt| ≤ μ W_tt, dp_t/dp = −W_nt / W_tt;  else slips with s = sign W_nt

There are two stretches at most: the slip that the contact comes with, up to p_1, and what follows. u_n is a broken line
over p, so that the end of compression p_c and of restitution p_f follow without iteration. In space the slip turns, and
the path is integrated (`coulomb_space`); here stands what is asked of that, and what its answer means.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType
from typing import Any

from jourdain.algebra.contacts.slip import FINISH, NEVER
from jourdain.algebra.entries import each_row, entry, root, row, sign, smaller

# What the slip does in the event.
NO_IMPACT, SLIPS, STICKS, REVERSES = range(4)
WEDGED = 1e-13  # of W_nn: a contact that sticks and moves less than this for an impulse does not move


@dataclass(frozen=True)
class Path:
    """The event in impulse space; every entry (1, 1)."""

    p_n: Any  # normal impulse, N s
    p_t: Any  # tangential impulse; (2, 1) in space
    p_slip: Any  # normal impulse at which the first slip ends, inf if it does not
    p_t_slip: Any  # tangential impulse there; along the first tangent in space
    p_c: Any  # normal impulse at the end of compression
    compression: Any  # work of the normal impulse up to there, J, ≤ 0
    restitution: Any  # and after it, ≥ 0
    friction: Any  # work of the tangential impulse, ≤ 0
    state: Any  # NO_IMPACT, SLIPS, STICKS or REVERSES
    margin: Any  # how far it is from doing something else, as parts of impulses and speeds
    unslipped: Any  # whether it came without slip and slips: it could slip either way, as u_t⁻ is changed
    stuck: Any  # the approach that is left where the contact wedges and no impulse ends it, of the approach; mostly 0


def planar(W: Any, u: Any, friction: Any, restitution: Any, hypothesis: str, la: ModuleType, slow: Any = 0.0) -> Path:
    """W (2 × 2) and u (2 × 1) with the normal first; a contact that opens is left alone.

    `slow`: a tangential speed that is only rounding: such a contact comes without slip.
    """
    W_nn, W_nt, W_tt = (entry(W, i, j, la) for i, j in ((0, 0), (0, 1), (1, 1)))
    u_n, u_t = each_row(u, la)
    zero, never = la.zeros(1, 1, like=W), float("inf")

    # The slip that it comes with, up to p_1. Without any, it sticks at once (seen from either side: p_1 has the same
    # derivative), or slips where it is pulled.
    still, sticks = la.absolute(u_t) <= slow, la.absolute(W_nt) <= friction * W_tt
    s = la.where(still, la.where(sticks, 1.0, sign(W_nt, la)), sign(u_t, la))
    n_1, t_1 = W_nn - friction * s * W_nt, W_nt - friction * s * W_tt  # du/dp
    closing = s * t_1 < 0
    p_1 = la.where(closing, -u_t / la.where(closing, t_1, 1.0), la.where(la.both(still, sticks), 0.0, never))
    reaches = p_1 < never
    until = la.where(reaches, p_1, 0.0)  # a number in any case
    u_1 = u_n + n_1 * until

    # What follows: it sticks, or slips the other way.
    slides = W_tt > 0  # else nothing moves along the tangent, and no impulse is called for
    held = la.where(slides, -W_nt / la.where(slides, W_tt, 1.0), 0.0)
    rate = la.where(sticks, held, -friction * sign(W_nt, la))  # dp_t/dp
    n_2, t_2 = W_nn + W_nt * rate, la.where(sticks, 0.0, W_nt + W_tt * rate)
    # One degree of freedom: where it sticks nothing moves any more, slip and approach end together, and no impulse
    # drives it back.
    wedged = la.both(la.both(sticks, reaches), n_2 <= WEDGED * W_nn)
    n_2 = la.where(n_2 > WEDGED * W_nn, n_2, 1.0)

    # The end of compression: u_n = 0.
    rising = n_1 > 0
    p_in_first = la.where(rising, -u_n / la.where(rising, n_1, 1.0), never)
    early = la.both(p_in_first <= p_1, la.where(wedged, 0.0, 1.0) > 0)  # within the first stretch; else that ends
    p_c = la.where(early, p_in_first, la.where(wedged, until, until - u_1 / n_2))
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
        # √(2 back / slope), written so that it has a derivative at κ = 0 too.
        straight = p_c + restitution * root(-2 * work_c / la.where(early, slope, n_2), la)
        p_f = la.where(early, la.where(within, straight, from_kink), straight)

    if hypothesis != "poisson":  # Poisson's impulse grows without moving anything
        p_f = la.where(wedged, p_c, p_f)

    # Impulses and work along the two stretches.
    first_p = la.where(p_f < p_1, p_f, until)
    second_p = p_f - first_p
    p_t = -friction * s * first_p + rate * second_p
    work_t = -friction * s * (u_t * first_p + t_1 * first_p * first_p / 2) + rate * t_2 * second_p * second_p / 2
    work_n = u_n * first_p + n_1 * first_p * first_p / 2
    moving = la.both(second_p > 0, la.where(wedged, 0.0, 1.0) > 0)
    work_n = work_n + la.where(moving, (u_1 + n_2 * second_p / 2) * second_p, 0.0)
    turned = la.where(sticks, float(STICKS), float(REVERSES))
    state = la.where(second_p > 0, turned, la.where(wedged, float(STICKS), float(SLIPS)))
    closes = u_n < 0
    ends = la.where(reaches, la.absolute(until - p_f), p_f)  # the slip stops just before the end, or just not
    threshold = la.absolute(la.absolute(W_nt) - friction * W_tt) / (la.absolute(W_nt) + friction * W_tt + W_nn)
    margin = la.where(p_f > 0, ends / la.where(p_f > 0, p_f, 1.0), 0.0)
    margin = la.where(wedged, 1.0, margin)  # the slip stops there whatever is changed
    decides = la.where(still, 1.0, la.where(second_p > 0, 1.0, 0.0)) > 0  # whether it sticks matters
    margin = smaller(margin, la.where(decides, threshold, 1.0), la)
    unslipped = la.where(la.both(still, closes), la.where(sticks, 0.0, 1.0), 0.0)
    if hypothesis == "poisson":
        margin = smaller(margin, la.where(reaches, la.absolute(until - p_c) / la.where(p_c > 0, p_c, 1.0), 1.0), la)

    stuck = la.where(wedged, la.absolute(u_1 / la.where(u_n < 0, u_n, 1.0)), 0.0)
    numbers = (
        p_f,
        p_t,
        p_1,
        -friction * s * until,
        p_c,
        work_c,
        work_n - work_c,
        work_t,
        state,
        margin,
        unslipped,
        stuck,
    )
    return Path(*(la.where(closes, number, zero) for number in numbers))


def asked_in_space(W: Any, u: Any, friction: Any, restitution: Any, la: ModuleType) -> Any:
    """W_tn, W_tt over W_nn, u_t over the approach, friction and restitution, (9, 1); see `slip`."""
    W_nn, approach = _units(W, u, la)
    mobility = [entry(W, i, j, la) / W_nn for i, j in ((0, 1), (0, 2), (1, 1), (1, 2), (2, 2))]
    return la.stack(*mobility, la.rows(u, 1, 3) / approach, friction, restitution)


def in_space(W: Any, u: Any, found: Any, hypothesis: str, la: ModuleType, slow: Any = 0.0) -> tuple[Path, Any]:
    """The path that was found, see `slip.FINISH`, and whether it came to its end; W (3 × 3), u (3 × 1)."""
    W_nn, approach = _units(W, u, la)
    push, work = approach / W_nn, approach * approach / W_nn
    f = dict(zip((*FINISH, "arrived"), each_row(found, la), strict=True))
    impulse = push * la.rows(found, 0, 3)
    total = la.transpose(impulse) @ (u + W @ impulse / 2)
    slip = la.rows(u, 1, 3)
    came_slipping = la.transpose(slip) @ slip > slow * slow
    turned = la.where(f["sticks"] > 0, float(STICKS), la.where(came_slipping, float(REVERSES), float(SLIPS)))
    state = la.where(f["after"] > 0, turned, float(SLIPS))
    p_slip = la.where(f["p_s"] < NEVER, push * f["p_s"], float("inf"))
    closes = row(u, 0, la) < 0
    works = (work * f["w_c"], work * (f["w"] - f["w_c"]), total - work * f["w"])
    unslipped = la.where(came_slipping, 0.0, la.where(f["sticks"] > 0, 0.0, 1.0))
    margin = _margin_in_space(f, u + W @ impulse, approach, hypothesis, la)
    ends = (push * f["p"], impulse, p_slip, push * f["p_s1"], push * f["p_c"])
    numbers = (*ends, *works, state, margin, unslipped, f["stuck"])
    path = [la.where(closes, number, 0.0) for number in numbers]
    path[1] = la.rows(path[1], 1, 3)
    return Path(*path), la.where(closes, f["arrived"], 1.0) > 0


def _margin_in_space(f: dict[str, Any], u_plus: Any, approach: Any, hypothesis: str, la: ModuleType) -> Any:
    slip, stopped = la.rows(u_plus, 1, 3), f["p_s"] < NEVER
    # The slip stopped just before the end, or is about to.
    late = f["after"] / la.where(f["p"] > 0, f["p"], 1.0)
    margin = la.where(stopped, late, root(la.transpose(slip) @ slip, la) / approach)
    margin = smaller(margin, la.where(stopped, f["gap"], 1.0), la)
    if hypothesis == "poisson":
        apart = la.absolute(f["p_s"] - f["p_c"]) / la.where(f["p_c"] > 0, f["p_c"], 1.0)
        margin = smaller(margin, la.where(stopped, apart, 1.0), la)
    return margin


def _units(W: Any, u: Any, la: ModuleType) -> tuple[Any, Any]:
    """W_nn and the approach −u_n; 1 where there is none."""
    W_nn, u_n = entry(W, 0, 0, la), row(u, 0, la)
    return la.where(W_nn > 0, W_nn, 1.0), la.where(u_n < 0, -u_n, 1.0)
