"""Why an event was refused: the error that belongs to its status. It names the thing and says what to do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from jourdain.algebra.checks import TOLERANCE
from jourdain.algebra.contacts.choice import TIE
from jourdain.algebra.entries import LARGEST_SQUARE, LEAST_SQUARE
from jourdain.algebra.record import Outcome
from jourdain.data.layout import Layout
from jourdain.errors import (
    Ambiguous,
    AtSwitch,
    BadFriction,
    BadRestitution,
    Contradiction,
    Error,
    Infeasible,
    NotConverged,
    NotFinite,
    NotPositiveDefinite,
    OffConstraint,
    PriorViolated,
    Status,
    listing,
    quaternion_told,
)
from jourdain.events.gradient import ON_THE_VERGE
from jourdain.inputs import Array
from jourdain.kinds import BEFORE_KINDS, ContactState, Kind

MOST_SAID = 4  # candidates that a message names
IDLE = 1e-13  # of the diagonal: a pivot of M that is not larger is none
UNMET = (
    "{names}: no impulse meets its law: where it slips, friction or the rows that hold keep it from opening; take "
    "less friction, or let its support rest."
)


def refusal(
    status: Status,
    values: Outcome[Array],
    layout: Layout,
    inputs: Mapping[str, tuple[Array, Sequence[str]]],
    projected: bool = False,
) -> Error:
    """The error for one event that failed.

    `inputs`: what → (its numbers `(m,)`, their names). `projected`: check="project" was passed, and did not help.
    """
    if status == Status.NOT_FINITE:
        return _not_finite(values, layout, inputs)
    if status == Status.NOT_POSITIVE_DEFINITE:
        return _singular(values, layout)
    if status == Status.OFF_CONSTRAINT:
        assert values.geometry is not None
        return _off_constraint(values.geometry[:, 0], layout, projected)
    if status == Status.PRIOR_VIOLATED:
        return _prior_violated(values, layout, projected)
    if status == Status.BAD_FRICTION:
        worst = int(np.argmin(values.friction[:, 0]))
        rough = [c.name for c in layout.constraints if c.law is not None and "friction" in c.law.numbers]
        return BadFriction(f"The friction of '{rough[worst]}' is {values.friction[worst, 0]:g}; it must be 0 or more.")
    if status == Status.INFEASIBLE:
        return _infeasible(values, layout)
    if status == Status.AMBIGUOUS:
        return _ambiguous(values, layout)
    if status == Status.NOT_CONVERGED and np.all(values.contact_arrived > 0):  # also where nothing is iterated
        other = ", or use Frictionless() or NoSlip()" if layout.along("one_sided") else ""
        return NotConverged(
            "The velocities of this event, or their derivatives, lose their digits, because masses differ too much; "
            f"make the light masses heavier{other}."
        )
    if status == Status.NOT_CONVERGED:
        return NotConverged(
            f"The impulses of {listing(layout.along('one_sided'))}, in space and with friction, were not found; change "
            "the state or the friction a little, or use Frictionless or NoSlip."
        )
    if status == Status.AT_SWITCH:
        return _at_switch(values, layout)
    if status == Status.BAD_RESTITUTION:
        return _bad_restitution(values.kappa[:, 0], layout)
    return _contradicted(values, layout)


def _at_switch(values: Outcome[Array], layout: Layout) -> Error:
    margins, redundant = values.contact_margin[:, 0], values.redundant[:, 0] > 0
    if margins.size and (np.min(margins) <= ON_THE_VERGE or not redundant.any()):
        name = layout.along("one_sided")[int(np.argmin(margins))]
        return AtSwitch(f"'{name}': {Status.AT_SWITCH.message}.")
    names = [row.name for row, dependent in zip(layout.rows, redundant, strict=True) if dependent]
    return AtSwitch(
        f"{listing(names)}: redundant in this state but not beside it, so that the outcome has no derivative here; "
        "take it a little beside."
    )


def _singular(values: Outcome[Array], layout: Layout) -> Error:
    """M is factored from the last velocity to the first; the first pivot that is not positive tells which is idle."""
    pivots, diagonal = values.pivots[:, 0], values.M_diagonal[:, 0]
    idle = np.flatnonzero(~(pivots > IDLE * np.abs(diagonal)))
    reason = f": '{layout.velocities[idle[-1]]}' moves no mass of its own in this pose" if idle.size else ""
    return NotPositiveDefinite(
        f"The mass matrix is not positive definite{reason}; check masses and inertias, and that every velocity moves a "
        "mass."
    )


def _not_finite(values: Outcome[Array], layout: Layout, inputs: Mapping[str, tuple[Array, Sequence[str]]]) -> Error:
    for what, (array, names) in inputs.items():
        bad = ~np.isfinite(array)
        if bad.any():
            i = int(np.argmax(bad))
            named = names[i] if names[i].startswith(f"{what}[") else f"{what} '{names[i]}'"
            return NotFinite(f"{named} is {array[i]}; every number must be finite.")
    assert values.row_length is not None
    if np.isfinite(values.M_diagonal).all():  # else all rows would be blamed for the masses
        for row, length in zip(layout.rows, values.row_length[:, 0], strict=True):
            if (
                row.kind == Kind.CONTACT
                and np.isfinite(length)
                and not np.sqrt(LEAST_SQUARE) <= length <= np.sqrt(LARGEST_SQUARE)
            ):
                return NotFinite(
                    f"The coefficients of '{row.name}' ({row.kind}) are about {length:.0e}, and their squares over- or "
                    "underflow; write it in a unit of its own size."
                )
            if not np.isfinite(length):
                return NotFinite(
                    f"'{row.name}' ({row.kind}) has no finite coefficients at this state: they overflow, divide by "
                    "zero, or take the root of a negative number. Check that the pose exists for these parameters."
                )
    for name, pair in zip(layout.outputs, np.hstack([values.outputs_minus, values.outputs_plus]), strict=True):
        if not np.isfinite(pair).all():
            return NotFinite(
                f"Output '{name}' is {pair[0]:g} before and {pair[1]:g} after the event; check its expression at this "
                "state, or leave it out of the mechanism's outputs."
            )
    return NotFinite("The outcome is not finite: some expression overflows or divides by zero at this state.")


def _bad_restitution(kappa: Array, layout: Layout) -> Error:
    i = int(np.argmax(~((kappa >= 0) & (kappa <= 1))))
    elastic = [row.name for row in layout.rows if row.kind == Kind.ELASTIC]
    contacts = [name for name in layout.along("one_sided") if "restitution" in layout.law_of(name).numbers]
    name = [*elastic, *contacts][i]
    return BadRestitution(f"The restitution of '{name}' is {kappa[i]:g}; it must lie in [0, 1].")


def _infeasible(values: Outcome[Array], layout: Layout) -> Error:
    names = layout.along("one_sided")
    solvers = [layout.law_of(name).solver for name in names]
    if np.max(values.contact_residual) > TOLERANCE:
        sinks = solvers[0].sinks and np.any(values.restitution_work < TOLERANCE * values.compression_work)
        sticks = np.any(values.contact_state == ContactState.STICKS)
        message = solvers[0].sinks if sinks else solvers[0].unmet if sticks else UNMET
        return Infeasible(message.format(names=listing(names)))
    normals = {name: layout.slices[name].start for name in names}
    opening = [name for name, i in normals.items() if values.u_minus[i, 0] > 0]
    sinking = [name for name in opening if values.u_plus[normals[name], 0] < 0]
    sunk = listing(sinking or names)
    if solvers[0].takes_opening:
        return Infeasible(f"{sunk}: driven together by rows that hold on both sides, and no push can help it.")
    remedies = {solver.remedy for solver in solvers}
    return Infeasible(
        f"{sunk}: opening before, and so left out by Moreau's law, but driven together by the others; "
        f"{remedies.pop() if len(remedies) == 1 else ''}let it strike in an event of its own (t.then)."
    )


def _ambiguous(values: Outcome[Array], layout: Layout) -> Error:
    """With the ways to hold that meet the laws, where ways were tried."""
    names = layout.along("one_sided")
    candidates = layout.candidates(values.contact_ways[:, 0] <= TIE, values.contact_state[:, 0])
    said = [", ".join(f"'{name}' {word}" for name, word in one.items()) for one in candidates]
    more = f", and {len(said) - MOST_SAID} more" if len(said) > MOST_SAID else ""
    listed = f"; consistent are: {' or '.join(said[:MOST_SAID])}{more}" if len(said) > 1 else ""
    error = Ambiguous(f"{listing(names)}: {Status.AMBIGUOUS.message}{listed}.")
    error.candidates = candidates
    return error


def _off_constraint(g: Array, layout: Layout, projected: bool) -> Error:
    worst = int(np.argmax(np.abs(g)))
    geometric = [row for row in layout.rows if row.geometric]
    if worst >= len(geometric):
        name, size = layout.quaternions[worst - len(geometric)], np.sqrt(max(1 + 2 * g[worst], 0.0))
        return OffConstraint(quaternion_told(name, float(size)))
    row = geometric[worst]
    if projected:
        return OffConstraint(
            f"No configuration near this one satisfies '{row.name}': {g[worst]:.3g} remains after check='project'; "
            "give a q that is closer, and check that the parameters admit one."
        )
    return OffConstraint(
        f"The configuration misses '{row.name}' by {g[worst]:.3g}; correct q, use Mechanism.assemble, "
        "or pass check='project'."
    )


def _prior_violated(values: Outcome[Array], layout: Layout, projected: bool) -> Error:
    assert values.row_length is not None
    on_before = np.array([row.kind in BEFORE_KINDS for row in layout.rows], dtype=bool)
    u = values.u_minus[:, 0]
    speed = np.sqrt(2 * np.abs(values.T_minus[0])) * values.row_length[:, 0]  # that the energy allows
    allowed = np.maximum(TOLERANCE * (speed + np.abs(values.b_minus[:, 0])), np.finfo(float).tiny)
    i = int(np.argmax(np.where(on_before, np.abs(u) / allowed, -1.0)))
    row = layout.rows[i]
    advice = (
        "declare the rows with u_minus ≠ 0 elastic or inert"
        if row.kind == Kind.RELEASED
        else "check='project' found no v that satisfies it; its row contradicts others that are on before"
        if projected
        else "give a v that satisfies it, or pass check='project'"
    )
    return PriorViolated(
        f"The prior velocity breaks '{row.name}' ({row.kind}): u_minus = {u[i]:.6g}, but it must be 0; {advice}."
    )


def _contradicted(values: Outcome[Array], layout: Layout) -> Error:
    """Rows that are on during the event must come out as asked: C'v⁺ + b⁺ = target."""
    assert values.row_length is not None
    target = values.target[:, 0]
    u = values.u_plus[: len(target), 0]
    i = int(np.argmax(np.abs(u - target)))
    row = layout.rows[i]
    cause = "the other rows make" if values.row_length[i, 0] > 0 else "no velocity moves it and its bias makes"
    return Contradiction(
        f"'{row.name}' ({row.kind}) should have u_plus = {target[i]:.6g}, but {cause} it {u[i]:.6g}: "
        "they contradict. Leave one out, or give them the same restitution and bias."
    )
