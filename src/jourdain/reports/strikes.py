"""Reports of measured strikes, and of repeats."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from jourdain.data.numbers import significant
from jourdain.experiment import text
from jourdain.plots.strikes import strike_plot
from jourdain.reports import scripts
from jourdain.reports.asked import constraint_table, parameter_table
from jourdain.reports.record import Part, Report, Section, Table, Words, picture

if TYPE_CHECKING:
    from jourdain.experiment.compare import Comparison, Repeats
    from jourdain.experiment.strike import Strike

CAPTION = (
    "T_c and T_a over time, the compression shaded; white spots: just before the onset and at the end of compression. "
    "Below, the forces."
)
DEVIATIONS = "± is one standard deviation. The model starts from the measured q and v⁻ of the strike."


def strike_report(
    strike: Strike, title: str = "", command: Sequence[str] = (), warnings: Sequence[str] | None = None
) -> Report:
    """The report of one strike. `warnings`: in other words than the strike's own."""
    found = strike.compare()
    said = strike.warnings if warnings is None else warnings
    return Report(title or "A measured strike", _lead([strike]), [
        Section("In short", [Table("", [], [*_times(strike), *_numbers(strike)], (0, 1)), _plot(strike)]),
        Section("Warnings of the log", [Words(one) for one in said]),
        Section("Measured beside the model", [
            Table("Quantities", *text.comparison_table(found)), Words(DEVIATIONS)]),
        Section("What was measured", [Table("", *one) for one in text.strike_tables(strike)]),
        Section("What was asked", _asked(found)),
        Section("How to make it again", [*scripts.command_line(command), *scripts.of_strikes([strike])]),
    ])  # fmt: skip


def repeats_report(
    repeats: Repeats, title: str = "", command: Sequence[str] = (), warnings: Sequence[str] | None = None
) -> Report:
    """The report of repeats of one experiment: means, spreads, and each strike."""
    strikes = repeats.strikes
    said = [f"{_source(one)}: {text_}" for one in strikes for text_ in one.warnings] if warnings is None else warnings
    listed = [[_source(one), str(one.number), *(row[1] for row in _times(one)[1:4])] for one in strikes]
    header = ["log", "strike", *(row[0] for row in _times(strikes[0])[1:4])]
    mean = f"Means ± the standard deviation of the mean. {DEVIATIONS}"
    return Report(title or "Repeats of a measured strike", _lead(strikes), [
        Section("In short", [Words(f"{text.repeats_headline(repeats)}."), _plot(repeats)]),
        Section("Warnings of the logs", [Words(one) for one in said]),
        Section("Measured beside the model", [
            Table("Quantities", *text.repeats_table(repeats)), Words(mean)]),
        Section("The strikes", [Table("Logs", header, listed, (0,))]),
        Section("What was asked", _asked(repeats.comparisons[0])),
        Section("How to make it again", [*scripts.command_line(command), *scripts.of_strikes(strikes)]),
    ])  # fmt: skip


def _lead(strikes: Sequence[Strike]) -> list[str]:
    return [f"From {', '.join(dict.fromkeys(map(_source, strikes)))}."]


def _source(strike: Strike) -> str:
    return strike.log.source or "a log that is no file"


def _times(strike: Strike) -> list[list[str]]:
    """When it was, and how it was sampled."""
    log, deviation = strike.log, strike.uncertainty
    release = (
        "the contact goes on" if strike.release is None else f"{text.beside(strike.release, deviation['release'])} s"
    )
    columns = [*strike.rig.mechanism.symbols.q_names, *log.forces]
    return [
        ["strike", str(strike.number)],
        ["onset", f"{text.beside(strike.onset, deviation['onset'])} s"],
        ["end of compression", f"{text.beside(strike.end, deviation['end'])} s"],
        ["release", release],
        ["samples", f"{len(log.t)}, {significant(1 / log.step)} Hz, {significant(log.t[-1] - log.t[0])} s"],
        ["columns", ", ".join(columns)],
        *(["gap", f"{start:g} s to {end:g} s"] for start, end in log.gaps),
    ]


def _numbers(strike: Strike) -> list[list[str]]:
    """The few numbers that one looks for first."""
    normal, deviation = strike.rig.normal, strike.deviations()
    found = {
        "ξ = T_c⁻/T⁻": "xi",
        "constrained energy before, T_c⁻": "T_c_minus",
        f"impulse {normal}": f"impulse.{normal}",
    }
    quantities = strike.quantities()
    return [[said, f"{text.beside(quantities[name], deviation[name])} {strike.unit(name)}".rstrip()]
            for said, name in found.items() if name in quantities]  # fmt: skip


def _plot(strike: Strike | Repeats) -> Part:
    return picture("strike", strike_plot(strike), CAPTION)


def _asked(found: Comparison) -> list[Part]:
    """The event and its parameters."""
    rig = found.strike.rig
    parameters = [parameter_table(rig.parameters, rig.mechanism.units)] if rig.parameters else []
    return [constraint_table(found.model, rig.parameters), *parameters]
