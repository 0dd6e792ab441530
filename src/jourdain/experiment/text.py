"""Strikes, comparisons and repeats as tables that a person reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from jourdain.data.addresses import parts, unit_of
from jourdain.data.numbers import fixed, significant, with_unit
from jourdain.events.table import aligned
from jourdain.quantities import QUANTITIES

if TYPE_CHECKING:
    from jourdain.experiment.compare import Comparison, Repeats
    from jourdain.experiment.rig import Rig
    from jourdain.experiment.strike import Strike

ROUNDING = 1e-12  # of the energy before: less is 0


def strike_text(strike: Strike) -> str:
    """When, how fast, the energies before and after, the impulses."""
    log, layout, deviation = strike.log, strike.rig.event.layout, strike.uncertainty
    length = (strike.end - strike.onset) * 1e3
    release = "contact goes on" if strike.release is None else f"release at {strike.release:.6g} s"
    lines = [
        f"strike {strike.number}: onset {strike.onset:.6g} s, end of compression {strike.end:.6g} s "
        f"({length:.3g} ms later); {release}",
        f"{len(log.t)} samples, {1 / log.step:.6g} Hz",
    ]
    rows = [
        [with_unit(name, layout.units.get(name, "")), beside(strike.v_minus[i], deviation[f"v_minus.{name}"]),
         beside(strike.v_plus[i], deviation[f"v_plus.{name}"])]
        for i, name in enumerate(strike.rig.mechanism.symbols.v_names)
    ]  # fmt: skip
    lines += ["", *aligned(["velocity", "before", "end of compression"], rows)]
    energies = (("kinetic, T", "T"), ("  constrained, T_c", "T_c"), ("  admissible, T_a", "T_a"))
    rows = [
        [label, *(beside(getattr(strike, name), deviation[name]) for name in (f"{part}_minus", f"{part}_plus"))]
        for label, part in energies
    ]
    rows.append(["ξ = T_c⁻/T⁻", beside(strike.xi, deviation["xi"]), ""])
    lines += ["", *aligned(["energy in J", "before", "end of compression"], rows)]
    rows = [
        [with_unit(row, unit_of(layout, f"impulse.{row}")), beside(value, deviation[f"impulse.{row}"]),
         number(strike.impulse_contact[row], deviation[f"impulse.{row}"])]
        for row, value in strike.impulse.items()
    ]  # fmt: skip
    lines += ["", *aligned(["impulse", "to the end of compression", "of the whole contact"], rows)]
    return "\n".join(lines)


def comparison_text(found: Comparison) -> str:
    """Measured, predicted, their difference."""
    strike, rows = found.strike, []
    for name, predicted in found.predicted.items():
        measured = found.measured[name]
        rows.append([_label(strike.rig, name), beside(measured, strike.uncertainty.get(name, np.nan)),
                     *_model(measured, predicted, strike.T_minus)])  # fmt: skip
    when = "at the end of compression" if found.until == "compression" else "after the contact"
    return "\n".join(aligned([when, "measured", "model", "difference"], rows))


def repeats_text(found: Repeats) -> str:
    """Means, spreads, and what the model has in the mean."""
    header = ["quantity", "mean", "spread", "model", "difference"]
    rows = []
    for name, mean in found.mean.items():
        model = _model(mean, found.predicted[name], found.mean["T_minus"]) if name in found.predicted else ("", "")
        rows.append([_label(found.strikes[0].rig, name), number(mean, found.error[name]),
                     number(found.spread[name], found.spread[name] / 10), *model])  # fmt: skip
    return "\n".join([f"{found.n} strikes", "", *aligned(header, rows)])


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


def _label(rig: Rig, address: str) -> str:
    name, label = parts(address)
    return with_unit(f"{QUANTITIES[name].symbol} {label}".rstrip(), unit_of(rig.event.layout, address))
