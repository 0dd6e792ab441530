"""One table of the quantities of an event: symbol, unit, long name. It feeds tables, plots, datasets and the docs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Quantity:
    name: str
    symbol: str  # as plain text
    latex: str
    unit: str  # SI; "" where dimensionless, or where it depends on the row
    long_name: str
    per_event: bool = False  # one number per event, not one per velocity or row


_TABLE = (
    Quantity("T_minus", "T⁻", "T^-", "J", "kinetic energy before", per_event=True),
    Quantity("T_plus", "T⁺", "T^+", "J", "kinetic energy after", per_event=True),
    Quantity("T_c_minus", "T_c⁻", "T_c^-", "J", "energy of the constrained motion before", per_event=True),
    Quantity("T_a_minus", "T_a⁻", "T_a^-", "J", "energy of the admissible motion before", per_event=True),
    Quantity("T_r_minus", "T_r⁻", "T_r^-", "J", "energy along the regular rows before", per_event=True),
    Quantity("T_c_plus", "T_c⁺", "T_c^+", "J", "energy of the constrained motion after", per_event=True),
    Quantity("T_a_plus", "T_a⁺", "T_a^+", "J", "energy of the admissible motion after", per_event=True),
    Quantity("T_r_plus", "T_r⁺", "T_r^+", "J", "energy along the regular rows after", per_event=True),
    Quantity("xi", "ξ", r"\xi", "", "part of the energy in the constrained motion, T_c⁻/T⁻", per_event=True),
    Quantity("loss", "T⁻ − T⁺", "T^- - T^+", "J", "energy lost", per_event=True),
    Quantity("drive_work", "−b⁺ᵀλ̄", r"-b^{+T}\bar\lambda", "J", "work of moving supports", per_event=True),
    Quantity("dissipated", "D", "D", "J", "energy dissipated at moving supports", per_event=True),
    Quantity("energy_created", "ΔT > 0", r"\Delta T > 0", "J", "energy created out of nothing", per_event=True),
    Quantity("v_minus", "v⁻", "v^-", "", "generalized velocity before"),
    Quantity("v_plus", "v⁺", "v^+", "", "generalized velocity after"),
    Quantity("u_minus", "u⁻", "u^-", "", "row velocity before, C v⁻ + b⁻"),
    Quantity("u_plus", "u⁺", "u^+", "", "row velocity after, C v⁺ + b⁺"),
    Quantity("impulse", "λ̄", r"\bar\lambda", "", "impulse along the row"),
    Quantity("Lambda", "Λ̄", r"\bar\Lambda", "", "share of the nonideal impulse that the rows see"),
    Quantity("effective_mass", "m_eff", r"m_\mathrm{eff}", "", "mass that an impulse along the row meets"),
    Quantity("required_friction", "μ_req", r"\mu_\mathrm{req}", "", "friction needed not to slip"),
    Quantity("ledger", "W", "W", "J", "work of each impulse; the sum is T⁺ − T⁻"),
    Quantity("status", "status", r"\mathrm{status}", "", "what became of the event"),
)

QUANTITIES = {quantity.name: quantity for quantity in _TABLE}

SCALARS = tuple(quantity.name for quantity in _TABLE if quantity.per_event)


def rate_unit(unit: str) -> str:
    """The unit of a rate, from that of the coordinate."""
    return f"{unit}/s" if unit else ""
