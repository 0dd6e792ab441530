"""Measured beside predicted, and repeats of one experiment averaged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from casadi import SX

from jourdain.errors import BadLog, unknown
from jourdain.experiment.impulses import friction_ratio
from jourdain.experiment.rig import Rig
from jourdain.experiment.strike import Strike, Until
from jourdain.inputs import FilePath
from jourdain.kinds import Kind
from jourdain.output.printable import prints

if TYPE_CHECKING:
    from jourdain.events.event import Event
    from jourdain.events.transition import Transition


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """A strike beside the event's outcome from its q and v⁻: inert ones at the end of compression, others at release.

    `measured`, `uncertainty` (its standard deviation, NaN where it is not known), `predicted`: by address, as in
    "T_a_plus", "impulse.wall", "v_plus.q1". Tangential impulses that the event is given (`nonideal`) are given as
    measured. Where the log does not tell the motion after the contact, the event ends with the compression too.
    """

    strike: Strike
    model: Transition = field(repr=False)
    measured: Mapping[str, float]
    uncertainty: Mapping[str, float]
    predicted: Mapping[str, float]

    def __repr__(self) -> str:
        return f"<Comparison: {len(self.predicted)} quantities, measured and predicted>"

    @property
    def until(self) -> str:
        """Of both: "compression" or "contact"."""
        return self.strike.until

    def deviation(self, address: str) -> float:
        """(measured − predicted)/predicted."""
        if address not in self.predicted:
            raise unknown("quantity", address, self.predicted)
        return self.measured[address] / self.predicted[address] - 1

    @prints
    def __str__(self) -> str:
        from jourdain.experiment.text import comparison_text

        return comparison_text(self)


def compare(strike: Strike) -> Comparison:
    """See `Strike.compare`."""
    rig, whole = strike.rig, strike.until == "contact"
    impulse = strike.impulse_contact if whole else strike.impulse
    given = _measured_impulses(strike)
    own = {**rig.parameters, **{name: impulse[row] for name, row in given.items()}}
    elastic = rig.elastic(strike.q_minus, strike.v_minus)

    def solved(event: Event) -> Transition:
        return event.solve(strike.q_minus, strike.v_minus, check="project", parameters=own)

    model = solved(rig.compression if elastic and not whole else rig.event)
    predicted = {name: float(getattr(model, name)) for name in ("T_plus", "T_c_plus", "T_a_plus", "loss")}
    if any(role.block.kind == Kind.CONTACT for role in rig.event.roles):  # the log splits by the normal row
        at = rig.states(strike.q_minus, model.v_plus)
        predicted |= {"T_c_plus": float(at["T_c"]), "T_a_plus": float(at["T_a"])}
    for i, name in enumerate(rig.mechanism.symbols.v_names):
        predicted[f"v_plus.{name}"] = float(model.v_plus[i])
    predicted |= {f"impulse.{row}": float(model.impulse[row]) for row in impulse if row not in given.values()}
    if whole:
        normal = rig.normal
        predicted["restitution_newton"] = -float(model.u_plus[normal]) / float(model.u_minus[normal])
        compressed = float(solved(rig.compression).impulse[normal])
        predicted["restitution_poisson"] = float(model.impulse[normal]) / compressed - 1
    if strike.friction_ratio is not None and not {*rig.rubbing} & {*given.values()}:
        predicted["friction_ratio"] = friction_ratio(*(float(model.impulse[row]) for row in (rig.normal, *rig.rubbing)))
    measured, uncertainty = strike.quantities(), strike.deviations()
    return Comparison(
        strike, model, {name: measured[name] for name in predicted}, {name: uncertainty[name] for name in predicted},
        predicted,
    )  # fmt: skip


def _measured_impulses(strike: Strike) -> dict[str, str]:
    """Parameters of the event that are the given impulses of nonideal rows → the rows, where these are logged."""
    event, found = strike.rig.event, {}
    for role in strike.rig.event.roles:
        if role.block.beta is None:
            continue
        for i, row in enumerate(role.constraint.row_names):
            name = _parameter(strike.rig, role.block.beta[i])
            if name is not None and row in strike.impulse and name in event.parameters:
                found[name] = row
    return found


def _parameter(rig: Rig, expression: SX) -> str | None:
    """The parameter that an expression is; None where it is more than that."""
    for name, symbol in rig.event.symbols.items():
        if expression.is_symbolic() and expression.name() == symbol.name():
            return name
    return None


@dataclass(frozen=True, eq=False, repr=False)
class Repeats:
    """Several strikes of one experiment. `spread`: the standard deviation of one of them, NaN if there is only one.

    By address as `Strike.quantities`.
    """

    strikes: tuple[Strike, ...]
    mean: Mapping[str, float]
    spread: Mapping[str, float]

    def __repr__(self) -> str:
        return f"<Repeats: {self.n} strikes>"

    @property
    def n(self) -> int:
        return len(self.strikes)

    @property
    def until(self) -> str:
        """Where all of them end: "compression" or "contact"."""
        return self.strikes[0].until

    @cached_property
    def error(self) -> dict[str, float]:
        """Standard deviations of the means."""
        return {name: value / np.sqrt(self.n) for name, value in self.spread.items()}

    @cached_property
    def comparisons(self) -> tuple[Comparison, ...]:
        """Each strike beside its own prediction."""
        return tuple(strike.compare() for strike in self.strikes)

    @cached_property
    def predicted(self) -> dict[str, float]:
        """The mean of what is predicted for each."""
        names = self.comparisons[0].predicted
        return {name: float(np.mean([one.predicted[name] for one in self.comparisons])) for name in names}

    def report(self, path: FilePath, title: str = "") -> None:
        """Write one page of HTML that needs nothing else: means and spreads beside the model, curves, logs.

        Parameters
        ----------
        path : str or Path
            Where to write it; it ends in .html. The file is there in full or not at all.
        title : str
            The title of the page.

        Raises
        ------
        CannotWrite
            If no such file can be written.

        """
        from jourdain.reports.strikes import repeats_report
        from jourdain.reports.template import check_page, write_page

        check_page(path)
        write_page(repeats_report(self, title).html(), path)

    @prints
    def __str__(self) -> str:
        from jourdain.experiment.text import repeats_text

        return repeats_text(self)


def average(strikes: Iterable[Strike]) -> Repeats:
    """The means of repeats of one experiment, with their spread, at the instant at which they are compared.

    That is the end of compression, or just after the contact where the event has a restitution and every log tells it.
    """
    several = tuple(strikes)
    if not several:
        raise BadLog("There are no strikes to average; give one at least.")
    until: Until = "contact" if all(strike.until == "contact" for strike in several) else "compression"
    several = tuple(strike.ending(until) for strike in several)  # all of them at the same instant
    for strike in several[1:]:
        if strike.rig.event.layout.along("row") != several[0].rig.event.layout.along("row"):
            raise BadLog("The strikes are those of different events; average repeats of one.")
    numbers = [strike.quantities() for strike in several]
    shared = [name for name in numbers[0] if all(name in one for one in numbers)]
    table = np.array([[one[name] for name in shared] for one in numbers])
    spread = np.std(table, axis=0, ddof=1) if len(several) > 1 else np.full(len(shared), np.nan)
    mean = np.mean(table, axis=0)
    return Repeats(
        several, dict(zip(shared, map(float, mean), strict=True)), dict(zip(shared, map(float, spread), strict=True))
    )
