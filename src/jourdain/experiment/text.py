"""Strikes, comparisons and repeats as tables that a person reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from jourdain.data.addresses import parts
from jourdain.data.numbers import fixed, significant, with_unit
from jourdain.events.table import Table, aligned
from jourdain.quantities import MEASURED, QUANTITIES

if TYPE_CHECKING:
    from jourdain.experiment.compare import Comparison, Repeats
    from jourdain.experiment.strike import Strike

WHEN = {"compression": "at the end of compression", "contact": "after the contact"}
ROUNDING = 1e-12  # of the energy before: less is 0


def strike_text(strike: Strike) -> str:
    """When, how fast, the energies before and after, the impulses."""
    lines = headlines(strike)
    for table in strike_tables(strike):
        lines += ["", *aligned(*table)]
    return "\n".join(lines)


def headlines(strike: Strike) -> list[str]:
    """Which strike it is and when, and how many samples tell it."""
    log = strike.log
    length = (strike.end - strike.onset) * 1e3
    release = "contact goes on" if strike.release is None else f"release at {strike.release:.6g} s"
    return [
        f"strike {strike.number}: onset {strike.onset:.6g} s, end of compression {strike.end:.6g} s "
        f"({length:.3g} ms later); {release}",
        f"{len(log.t)} samples, {1 / log.step:.6g} Hz",
    ]


def strike_tables(strike: Strike) -> list[Table]:
    """Velocities, energies, impulses and ratios, each with its standard deviation."""
    layout, deviation, free = strike.rig.event.layout, strike.uncertainty, strike.released
    when = ["before", "end of compression", *([] if free is None else ["after the contact"])]
    sides = ["minus", "plus", *([] if free is None else ["release"])]
    velocities = [strike.v_minus, strike.v_plus, *([] if free is None else [free.v])]
    rows = [
        [with_unit(name, layout.units.get(name, "")),
         *(beside(v[i], deviation[f"v_{side}.{name}"]) for side, v in zip(sides, velocities, strict=True))]
        for i, name in enumerate(strike.rig.mechanism.symbols.v_names)
    ]  # fmt: skip
    tables: list[Table] = [(["velocity", *when], rows)]
    energies = {"T": [strike.T_minus, strike.T_plus], "T_c": [strike.T_c_minus, strike.T_c_plus],
                "T_a": [strike.T_a_minus, strike.T_a_plus]}  # fmt: skip
    labels = {"T": "kinetic, T", "T_c": "  constrained, T_c", "T_a": "  admissible, T_a"}
    rows = []
    for part, values in energies.items():
        if free is not None:
            values.append(getattr(free, part))
        several = zip(sides, values, strict=True)
        rows.append([labels[part], *(beside(value, deviation[f"{part}_{side}"]) for side, value in several)])
    rows.append(["ξ = T_c⁻/T⁻", beside(strike.xi, deviation["xi"]), *[""] * (len(sides) - 1)])
    tables.append((["energy in J", *when], rows))
    rows = [
        [with_unit(row, strike.unit(f"impulse.{row}")), beside(value, deviation[f"impulse.{row}"]),
         beside(strike.impulse_contact[row], deviation[f"impulse_contact.{row}"])]
        for row, value in strike.impulse.items()
    ]  # fmt: skip
    tables.append((["impulse", "to the end of compression", "of the whole contact"], rows))
    ratios = {name: value for name, value in strike.quantities().items() if name in MEASURED}
    rows = [[_label(strike, name), beside(value, deviation[name])] for name, value in ratios.items()]
    return [*tables, (["ratio", "measured"], rows)] if rows else tables


def comparison_text(found: Comparison) -> str:
    """Measured, predicted, their difference."""
    return "\n".join(aligned(*comparison_table(found)))


def comparison_table(found: Comparison) -> Table:
    """The same as a table."""
    strike, rows = found.strike, []
    for name, predicted in found.predicted.items():
        measured = found.measured[name]
        rows.append([_label(strike, name), beside(measured, found.uncertainty[name]),
                     *_model(measured, predicted, strike.T_minus)])  # fmt: skip
    return [WHEN[found.until], "measured", "model", "difference"], rows


def repeats_text(found: Repeats) -> str:
    """Means, spreads, and what the model has in the mean."""
    return "\n".join([repeats_headline(found), "", *aligned(*repeats_table(found))])


def repeats_headline(found: Repeats) -> str:
    """How many strikes, and at which instant they are compared."""
    return f"{found.n} strikes, {WHEN[found.until]}"


def repeats_table(found: Repeats) -> Table:
    """Means with their standard deviations, the spread of one strike, and the model."""
    header = ["quantity", "mean", "spread", "model", "difference"]
    rows = []
    for name, mean in found.mean.items():
        model = _model(mean, found.predicted[name], found.mean["T_minus"]) if name in found.predicted else ("", "")
        rows.append([_label(found.strikes[0], name), number(mean, found.error[name]),
                     number(found.spread[name], found.spread[name] / 10), *model])  # fmt: skip
    return header, rows


def beside(value: float, deviation: float) -> str:
    """A number and its standard deviation, with as many digits as that leaves.

    >>> beside(0.0093812, 0.0000214), beside(-5.25, float("nan")), beside(5.25, float("inf"))
    ('0.009381 ± 0.000021', '−5.25', '5.25 or more')
    """
    if not np.isfinite(deviation):
        return number(value) + (" or more" if np.isinf(deviation) else "")
    return f"{number(value, deviation)} ± {number(deviation, deviation)}"


def number(value: float, deviation: float = 0.0) -> str:
    """Digits down to the second one of the deviation; five where there is none."""
    if not np.isfinite([value, deviation]).all() or deviation == 0:
        return significant(value, 5)
    decimals = 1 - int(np.floor(np.log10(abs(deviation))))
    plain = decimals <= 9 and (value == 0 or abs(value) >= 1e-6)
    return fixed(value, max(0, decimals)) if plain else significant(value, 3)


def _model(measured: float, predicted: float, energy: float) -> tuple[str, str]:
    """The model's number, and by how much the measured one differs, where it is not next to nothing."""
    text = significant(predicted, 5, ROUNDING * energy)
    if abs(predicted) < 1e-6 * abs(energy) or abs(predicted) < 1e-9:
        return text, ""
    return text, f"{fixed(100 * (measured / predicted - 1), sign='+')} %"


def _label(strike: Strike, address: str) -> str:
    name, label = parts(address)
    symbol = {**QUANTITIES, **MEASURED}[name].symbol
    return with_unit(f"{symbol} {label}".rstrip(), strike.unit(address))
