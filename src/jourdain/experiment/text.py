"""Strikes, comparisons and repeats as tables that a person reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from jourdain.events.table import aligned, with_unit
from jourdain.quantities import QUANTITIES

if TYPE_CHECKING:
    from jourdain.experiment.compare import Comparison, Repeats
    from jourdain.experiment.rig import Rig
    from jourdain.experiment.strike import Strike

ROUNDING = 1e-12  # of the energy before: less is 0


def strike_text(strike: Strike) -> str:
    """When, how fast, the energies before and after, the impulses; what was said of the log."""
    log, sure = strike.log, strike.uncertainty
    length = (strike.end - strike.onset) * 1e3
    told = "contact goes on" if strike.release is None else f"release at {strike.release:.6g} s"
    lines = [
        f"strike {strike.number}: onset {strike.onset:.6g} s, end of compression {strike.end:.6g} s "
        f"({length:.3g} ms later); {told}",
        f"{len(log.t)} samples, {1 / log.step:.6g} Hz",
    ]
    names, units = strike.rig.mechanism.symbols.v_names, strike.rig.event.layout.units
    rows = [
        [with_unit(name, units.get(name, "")), beside(strike.v_minus[i], sure[f"v_minus.{name}"]),
         beside(strike.v_plus[i], sure[f"v_plus.{name}"])]
        for i, name in enumerate(names)
    ]  # fmt: skip
    lines += ["", *aligned(["velocity", "before", "end of compression"], rows)]
    parts = (("kinetic, T", "T"), ("  constrained, T_c", "T_c"), ("  admissible, T_a", "T_a"))
    rows = [
        [label, *(beside(getattr(strike, f"{part}_{side}"), sure[f"{part}_{side}"]) for side in ("minus", "plus"))]
        for label, part in parts
    ]
    rows.append(["ξ = T_c⁻/T⁻", beside(strike.xi, sure["xi"]), ""])
    lines += ["", *aligned(["energy in J", "before", "end of compression"], rows)]
    rows = [
        [with_unit(row, strike.rig.impulse_unit(row)), beside(value, sure[f"impulse.{row}"]),
         number(strike.impulse_contact[row], sure[f"impulse.{row}"])]
        for row, value in strike.impulse.items()
    ]  # fmt: skip
    lines += ["", *aligned(["impulse", "to the end of compression", "of the whole contact"], rows)]
    return "\n".join(lines)


def comparison_text(found: Comparison) -> str:
    """Measured, predicted, their difference."""
    sure = found.strike.uncertainty
    rows = []
    for name, predicted in found.predicted.items():
        here = found.measured[name]
        off = _percent(here, predicted, found.strike.T_minus)
        told = beside(here, sure.get(name, np.nan)), _of_model(predicted, found.strike.T_minus), off
        rows.append([_label(found.strike.rig, name), *told])
    when = "at the end of compression" if found.until == "compression" else "after the contact"
    return "\n".join(aligned([f"{when}", "measured", "model", "difference"], rows))


def repeats_text(found: Repeats) -> str:
    """Means, spreads, and what the model has in the mean."""
    header = ["quantity", "mean", "spread", "model", "difference"]
    rows = []
    for name, mean in found.mean.items():
        predicted = found.predicted.get(name)
        model = "" if predicted is None else _of_model(predicted, found.mean["T_minus"])
        off = "" if predicted is None else _percent(mean, predicted, found.mean["T_minus"])
        rows.append([_label(found.strikes[0].rig, name), number(mean, found.error[name]),
                     number(found.spread[name], found.spread[name] / 10), model, off])  # fmt: skip
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
    text = f"{value:.5g}"
    if np.isfinite(value) and np.isfinite(deviation) and deviation != 0:
        decimals = 1 - int(np.floor(np.log10(abs(deviation))))
        plain = decimals <= 9 and (value == 0 or abs(value) >= 1e-6)
        text = f"{value:.{max(0, decimals)}f}" if plain else f"{value:.3g}"
    return text.replace("-", "−")


def _of_model(value: float, energy: float) -> str:
    """What is rounding beside the energy before is 0."""
    return "0" if abs(value) < ROUNDING * energy else number(value)


def _percent(here: float, predicted: float, energy: float) -> str:
    if abs(predicted) < 1e-6 * abs(energy) or abs(predicted) < 1e-9:
        return ""
    return f"{100 * (here / predicted - 1):+.1f} %".replace("-", "−")


def _label(rig: Rig, address: str) -> str:
    name, _, part = address.partition(".")
    if name == "impulse":
        return with_unit(f"{QUANTITIES[name].symbol} {part}", rig.impulse_unit(part))
    if part:
        units = rig.event.layout.units.get(part, "") if name.startswith("v_") else rig.row_unit(part)
        return with_unit(f"{QUANTITIES[name].symbol} {part}", units)
    return with_unit(QUANTITIES[name].symbol, QUANTITIES[name].unit)
