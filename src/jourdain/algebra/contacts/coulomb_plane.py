"""One contact with friction inside the event: planar in closed form [Routh; docs/theory.md §5], in space by iteration.

While the normal impulse p grows, u = (u_n, u_t) follows du/dp = W (1, −μ s), s the sign of the slip:

    slipping:      du_n/dp = W_nn − μ s W_nt,        du_t/dp = W_nt − μ s W_tt
    at u_t = 0:    sticks if |W_nt| ≤ μ W_tt, dp_t/dp = −W_nt / W_tt;  else slips with s = sign W_nt

There are two stretches at most: the slip that the contact comes with, up to p_1, and what follows. u_n is a broken line
over p, so that the end of compression p_c and of restitution p_f follow without iteration. In space the slip turns, and
the path is integrated (`coulomb_space`); here stand its inputs, and what its answer means.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from jourdain.algebra.contacts.restitution import HYPOTHESES, NEVER, Compression, Growth
from jourdain.algebra.contacts.slip import N_FINISH, Finish
from jourdain.algebra.entries import each_row, entry, lengths, root, row, sign, smaller, squares
from jourdain.algebra.linear import LinearAlgebra
from jourdain.algebra.span import free_of, span
from jourdain.kinds import ContactState

SLIPS, STICKS, REVERSES = (float(state) for state in (ContactState.SLIPS, ContactState.STICKS, ContactState.REVERSES))
WEDGED = 1e-13  # of W_nn: a contact that sticks and moves less than this for an impulse does not move
RESTS = 1e-13  # of the whole impulse, and of what the first slip changes of u_n: less is rounding
ENDLESS = float("inf")


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
    state: Any  # `ContactState` SLIPS, STICKS or REVERSES; 0 without an impact
    margin: Any  # how far it is from doing something else, as parts of impulses and speeds
    unslipped: Any  # whether it came without slip and slips: it could slip either way, as u_t⁻ is changed
    stuck: Any  # the approach that is left where the contact wedges and no impulse ends it, of the approach; mostly 0


@dataclass(frozen=True)
class FirstStretch:
    """The slip that a contact comes with; every entry (1, 1)."""

    s: Any  # its sign
    still: Any  # whether there is none
    n: Any  # du_n/dp
    t: Any  # du_t/dp
    p_1: Any  # where it ends, inf if it does not
    reaches: Any  # whether it does
    until: Any  # p_1, or 0: a number in any case
    u_1: Any  # u_n there


@dataclass(frozen=True)
class SecondStretch:
    """What follows: the contact sticks, or slips the other way; every entry (1, 1)."""

    sticks: Any
    rate: Any  # dp_t/dp
    n: Any  # du_n/dp, > 0
    t: Any  # du_t/dp
    wedged: Any  # where it sticks nothing moves any more
    together: Any  # one degree of freedom: slip and approach end together, whatever is changed


def planar(
    Y: Any, u: Any, friction: Any, restitution: Any, hypothesis: str, la: LinearAlgebra, slow: Any = 0.0
) -> Path:
    """Y (2 × n, Y Yᵀ = W) and u (2 × 1) with the normal first; a contact that opens is left alone.

    `slow`: a tangential speed that is only rounding: such a contact comes without slip.
    """
    W = Y @ la.transpose(Y)
    W_nn, W_nt, W_tt = (entry(W, i, j, la) for i, j in ((0, 0), (0, 1), (1, 1)))
    u_n, u_t = each_row(u, la)
    by_impulse = HYPOTHESES[hypothesis].by_impulse
    sticks = la.absolute(W_nt) <= friction * W_tt
    first = _first(Y, W_nt, u_n, u_t, friction, sticks, slow, la)
    second = _second(Y, W_nn, W_nt, W_tt, friction, sticks, first, la)
    moves = la.where(second.wedged, 0.0, 1.0) > 0

    # The end of compression: u_n = 0.
    rising = first.n > 0
    p_in_first = la.where(rising, -u_n / la.where(rising, first.n, 1.0), ENDLESS)
    early = la.both(p_in_first <= first.p_1, moves)  # within the first stretch; else that ends
    p_c = la.where(early, p_in_first, la.where(second.wedged, first.until, first.until - first.u_1 / second.n))
    in_second = (u_n + first.u_1) * first.until / 2 + first.u_1 * (p_c - first.until) / 2
    work_c = la.where(early, u_n * p_c / 2, in_second)

    compression = Compression(-u_n, p_c, work_c)
    p_f = _end(first, second, early, compression, restitution, hypothesis, la)
    if not by_impulse:  # where that is counted, it grows without moving anything
        p_f = la.where(second.wedged, p_c, p_f)

    # Impulses and work along the two stretches.
    first_p = la.where(p_f < first.p_1, p_f, first.until)
    second_p = p_f - first_p
    p_t = -friction * first.s * first_p + second.rate * second_p
    work_t = -friction * first.s * (u_t * first_p + first.t * first_p * first_p / 2)
    work_t = work_t + second.rate * second.t * second_p * second_p / 2
    work_n = u_n * first_p + first.n * first_p * first_p / 2
    went_on = (first.u_1 + second.n * second_p / 2) * second_p
    work_n = work_n + la.where(la.both(second_p > 0, moves), went_on, 0.0)
    turned = la.where(sticks, STICKS, REVERSES)
    state = la.where(second_p > 0, turned, la.where(second.wedged, STICKS, SLIPS))
    at_rest = la.both(second.together, la.absolute(second_p) <= RESTS * p_f)  # with the approach; nothing is left
    state = la.where(at_rest, STICKS, state)

    # How far it is from doing something else.
    ends = la.where(first.reaches, la.absolute(first.until - p_f), p_f)  # the slip stops just before the end, or not
    sizes = la.absolute(W_nt) + friction * W_tt + root(W_nn * W_tt, la)  # all in the same units
    threshold = la.absolute(la.absolute(W_nt) - friction * W_tt) / la.where(sizes > 0, sizes, 1.0)
    margin = la.where(p_f > 0, ends / la.where(p_f > 0, p_f, 1.0), 0.0)
    decides = la.where(first.still, 1.0, la.where(second_p > 0, 1.0, 0.0)) > 0  # whether it sticks matters
    decided = la.where(decides, threshold, 1.0)
    margin = smaller(margin, decided, la)
    if by_impulse:
        bend = la.absolute(first.until - p_c) / la.where(p_c > 0, p_c, 1.0)
        bends = la.where(second.together, 0.0, la.where(first.reaches, 1.0, 0.0)) > 0
        margin = smaller(margin, la.where(bends, bend, 1.0), la)
    margin = la.where(second.wedged, decided, la.where(at_rest, 1.0, margin))

    closes, zero = u_n < 0, la.zeros(1, 1, like=W)
    unslipped = la.where(la.both(first.still, closes), la.where(sticks, 0.0, 1.0), 0.0)
    stuck = la.where(second.wedged, la.absolute(first.u_1 / la.where(closes, u_n, 1.0)), 0.0)
    p_t_slip = -friction * first.s * first.until
    impulses, works = (p_f, p_t, first.p_1, p_t_slip, p_c), (work_c, work_n - work_c, work_t)
    return Path(*(la.where(closes, number, zero) for number in (*impulses, *works, state, margin, unslipped, stuck)))


def _first(
    Y: Any, W_nt: Any, u_n: Any, u_t: Any, friction: Any, sticks: Any, slow: Any, la: LinearAlgebra
) -> FirstStretch:
    """Without slip it sticks at once (seen from either side: p_1 has the same derivative), or slips as it is pulled."""
    still = la.absolute(u_t) <= slow
    s = la.where(still, la.where(sticks, 1.0, sign(W_nt, la)), sign(u_t, la))
    n, t = _along(Y, -friction * s, la)
    closing = s * t < 0
    p_1 = la.where(closing, -u_t / la.where(closing, t, 1.0), la.where(la.both(still, sticks), 0.0, ENDLESS))
    reaches = p_1 < ENDLESS
    until = la.where(reaches, p_1, 0.0)
    return FirstStretch(s, still, n, t, p_1, reaches, until, u_n + n * until)


def _second(
    Y: Any, W_nn: Any, W_nt: Any, W_tt: Any, friction: Any, sticks: Any, first: FirstStretch, la: LinearAlgebra
) -> SecondStretch:
    """One degree of freedom wedges: slip and approach end together, and no impulse drives the contact back."""
    slides = W_tt > 0  # else nothing moves along the tangent, and no impulse is called for
    held = la.where(slides, -W_nt / la.where(slides, W_tt, 1.0), 0.0)
    rate = la.where(sticks, held, -friction * sign(W_nt, la))
    n, t = _along(Y, rate, la)
    normal, tangent = each_row(Y, la)
    free = normal + rate * tangent
    n, t = la.where(sticks, free @ la.transpose(free), n), la.where(sticks, 0.0, t)
    parallel = normal + held * tangent
    one = la.both(first.reaches, parallel @ la.transpose(parallel) <= WEDGED * W_nn)
    together = la.both(one, la.absolute(first.u_1) <= RESTS * la.absolute(first.n * first.until))
    return SecondStretch(
        sticks, rate, la.where(n > WEDGED * W_nn, n, 1.0), t, la.both(one, la.where(sticks, 1.0, 0.0) > 0), together
    )


def _along(Y: Any, rate: Any, la: LinearAlgebra) -> tuple[Any, Any]:
    """du_n/dp and du_t/dp for dp_t/dp = rate; from the rows, which are rounded less than W where they are parallel."""
    normal, tangent = each_row(Y, la)
    moved = la.transpose(normal + rate * tangent)
    return normal @ moved, tangent @ moved


def _end(
    first: FirstStretch,
    second: SecondStretch,
    early: Any,
    compression: Compression,
    restitution: Any,
    hypothesis: str,
    la: LinearAlgebra,
) -> Any:
    """The normal impulse at the end of restitution, which may pass from the first stretch (`early`) to the second."""
    rule, p_c = HYPOTHESES[hypothesis], compression.p_c
    passes = la.both(early, first.reaches)
    room = la.where(passes, first.until - p_c, 0.0)  # of the first stretch after p_c
    straight = rule.from_rest(la.where(early, first.n, second.n), restitution, compression, la)
    kink = Growth(first.u_1, room, first.n * room * room / 2)
    bent = first.until + rule.onward(kink, second.n, restitution, compression, la)
    return la.where(la.both(passes, straight > room), bent, p_c + straight)


def inputs_in_space(Y: Any, u: Any, friction: Any, restitution: Any, la: LinearAlgebra) -> Any:
    """a, R, z, friction, restitution and s in the units of `slip`, (10, 1). W = Y Yᵀ."""
    normal, tangents = row(Y, 0, la), la.rows(Y, 1, 3)
    W_nn, approach, along = _units(squares(Y, la), u, la)
    usual = la.sqrt(W_nn)
    spanned = span([tangents], Y.shape[-1], la, like=Y)
    R = la.scale_rows(lengths(tangents, la) / (usual * along), spanned.R)
    triangle = [entry(R, i, j, la) for i, j in ((0, 0), (1, 0), (1, 1))]
    beside = spanned.Q @ la.transpose(normal) / usual
    slip = spanned.coordinates(la.rows(u, 1, 3)) * (usual / approach)
    free = squares(free_of(normal, spanned.Q, la), la) / W_nn
    return la.stack(beside, *triangle, slip, friction * along, restitution, free)


def in_space(W: Any, u: Any, found: Any, hypothesis: str, la: LinearAlgebra, slow: Any = 0.0) -> tuple[Path, Any]:
    """The path that was found, see `slip.Finish`, and whether it came to its end; W (3 × 3), u (3 × 1)."""
    W_nn, approach, along = _units(la.diagonal_of(W), u, la)
    push, work = approach / W_nn, approach * approach / W_nn
    rub = push / along
    f, arrived = Finish(*each_row(la.rows(found, 0, N_FINISH), la)), row(found, N_FINISH, la)
    impulse = la.stack(push * f.p, rub * la.rows(found, 1, 3))
    total = la.transpose(impulse) @ (u + W @ impulse / 2)
    slip = la.rows(u, 1, 3)
    came_slipping = la.transpose(slip) @ slip > slow * slow
    turned = la.where(f.sticks > 0, STICKS, la.where(came_slipping, REVERSES, SLIPS))
    state = la.where(f.after > 0, turned, la.where(f.wedged > 0, STICKS, SLIPS))
    p_slip = la.where(f.p_s < NEVER, push * f.p_s, float("inf"))
    closes = row(u, 0, la) < 0
    works = (work * f.w_c, work * (f.w - f.w_c), total - work * f.w)
    unslipped = la.where(came_slipping, 0.0, la.where(f.sticks > 0, 0.0, 1.0))
    margin = _margin_in_space(f, u + W @ impulse, approach * along, hypothesis, la)
    ends = (push * f.p, impulse, p_slip, rub * f.p_s1, push * f.p_c)
    numbers = (*ends, *works, state, margin, unslipped, f.stuck)
    path = [la.where(closes, number, 0.0) for number in numbers]
    path[1] = la.rows(path[1], 1, 3)
    return Path(*path), la.where(closes, arrived, 1.0) > 0


def _margin_in_space(f: Finish, u_plus: Any, usual: Any, hypothesis: str, la: LinearAlgebra) -> Any:
    slip, stopped = la.rows(u_plus, 1, 3), f.p_s < NEVER
    # The slip stopped just before the end, or is about to.
    late = f.after / la.where(f.p > 0, f.p, 1.0)
    margin = la.where(stopped, late, root(la.transpose(slip) @ slip, la) / usual)
    if HYPOTHESES[hypothesis].by_impulse:
        apart = la.absolute(f.p_s - f.p_c) / la.where(f.p_c > 0, f.p_c, 1.0)
        margin = smaller(margin, la.where(stopped, apart, 1.0), la)
    margin = la.where(f.wedged > 0, 1.0, margin)  # slip and compression end together whatever is changed
    return smaller(margin, la.where(f.after > 0, f.gap, 1.0), la)


def _units(squares: Any, u: Any, la: LinearAlgebra) -> tuple[Any, Any, Any]:
    """W_nn, the approach −u_n, and √(tr W_tt / 2 W_nn): how much longer tangents are than the normal.

    1 where there is none. `squares`: the diagonal of W, (3, 1).
    """
    W_nn, W_11, W_22 = each_row(squares, la)
    u_n = row(u, 0, la)
    W_nn, longer2 = la.where(W_nn > 0, W_nn, 1.0), (W_11 + W_22) / 2
    along = la.where(longer2 > 0, la.sqrt(la.where(longer2 > 0, longer2, 1.0) / W_nn), 1.0)
    return W_nn, la.where(u_n < 0, -u_n, 1.0), along
