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
    along: str = ""  # the dimension along which there are several per event


_TABLE = (
    Quantity("T_minus", "T⁻", "T^-", "J", "kinetic energy before"),
    Quantity("T_plus", "T⁺", "T^+", "J", "kinetic energy after"),
    Quantity("T_c_minus", "T_c⁻", "T_c^-", "J", "energy of the constrained motion before"),
    Quantity("T_a_minus", "T_a⁻", "T_a^-", "J", "energy of the admissible motion before"),
    Quantity("T_r_minus", "T_r⁻", "T_r^-", "J", "energy along the regular rows before"),
    Quantity("T_c_plus", "T_c⁺", "T_c^+", "J", "energy of the constrained motion after"),
    Quantity("T_a_plus", "T_a⁺", "T_a^+", "J", "energy of the admissible motion after"),
    Quantity("T_r_plus", "T_r⁺", "T_r^+", "J", "energy along the regular rows after"),
    Quantity("xi", "ξ", r"\xi", "", "part of the energy in the constrained motion, T_c⁻/T⁻"),
    Quantity("loss", "T⁻ − T⁺", "T^- - T^+", "J", "energy lost"),
    Quantity("drive_work", "−b⁺ᵀλ̄", r"-b^{+T}\bar\lambda", "J", "work of moving supports"),
    Quantity("dissipated", "D", "D", "J", "energy dissipated at moving supports"),
    Quantity("energy_created", "ΔT > 0", r"\Delta T > 0", "J", "energy created out of nothing"),
    Quantity("q", "q", "q", "", "coordinate", along="coordinate"),
    Quantity("v_minus", "v⁻", "v^-", "", "generalized velocity before", along="velocity"),
    Quantity("v_plus", "v⁺", "v^+", "", "generalized velocity after", along="velocity"),
    Quantity("u_minus", "u⁻", "u^-", "", "row velocity before, C v⁻ + b⁻", along="row"),
    Quantity("u_plus", "u⁺", "u^+", "", "row velocity after, C v⁺ + b⁺", along="row"),
    Quantity("impulse", "λ̄", r"\bar\lambda", "", "impulse along the row", along="row"),
    Quantity("Lambda", "Λ̄", r"\bar\Lambda", "", "share of the nonideal impulse that the rows see", along="row"),
    Quantity("effective_mass", "m_eff", r"m_\mathrm{eff}", "", "mass that an impulse along the row meets", along="row"),
    Quantity("required_friction", "μ_req", r"\mu_\mathrm{req}", "", "friction needed not to slip", along="contact"),
    Quantity(
        "ledger", "W", "W", "J", "work of the impulse along the row; with applied_work the sum is T⁺ − T⁻", along="row"
    ),
    Quantity("applied_work", "W", "W", "J", "work of each applied impulse", along="applied"),
    Quantity("outputs_minus", "y⁻", "y^-", "", "named output before", along="output"),
    Quantity("outputs_plus", "y⁺", "y^+", "", "named output after", along="output"),
    Quantity(
        "redundant", "redundant", r"\mathrm{redundant}", "", "1 where the row depends on those before it", along="row"
    ),
    Quantity("restitution", "e", "e", "", "restitution used, of one-sided contacts", along="one_sided"),
    Quantity("contact_state", "state", r"\mathrm{state}", "", "what became of the contact", along="one_sided"),
    Quantity(
        "contact_residual", "residual", r"\mathrm{residual}", "", "by how much the laws are not met", along="one_sided"
    ),
    Quantity(
        "contact_margin",
        "margin",
        r"\mathrm{margin}",
        "",
        "how far the contact is from another state",
        along="one_sided",
    ),
    Quantity("compression_work", "W_c", "W_c", "J", "work of a frictional contact in compression", along="one_sided"),
    Quantity("restitution_work", "W_r", "W_r", "J", "work of a frictional contact in restitution", along="one_sided"),
    Quantity("friction_work", "W_t", "W_t", "J", "work of the friction of a contact", along="one_sided"),
    Quantity("compression_end", "p_c", "p_c", "N s", "normal impulse at the end of compression", along="one_sided"),
    Quantity("slip_end", "p_s", "p_s", "N s", "normal impulse at which the first slip ends", along="one_sided"),
    Quantity("dof", "dof", r"\mathrm{dof}", "", "degrees of freedom", along="phase"),
    Quantity("status", "status", r"\mathrm{status}", "", "what became of the event"),
)

QUANTITIES = {quantity.name: quantity for quantity in _TABLE}

SCALARS = tuple(quantity.name for quantity in _TABLE if not quantity.along and quantity.name != "status")


# What a measured strike has besides the quantities of its event.
_RATIOS = (
    Quantity("restitution_newton", "e Newton", r"e_\mathrm{N}", "", "restitution by velocities, −u⁺/u⁻"),
    Quantity("restitution_poisson", "e Poisson", r"e_\mathrm{P}", "", "restitution by impulses, λ̄/λ̄_c − 1"),
    Quantity("friction_ratio", "|λ̄_t|/λ̄_n", r"|\bar\lambda_t|/\bar\lambda_n", "", "tangential by normal impulse"),
)

MEASURED = {quantity.name: quantity for quantity in _RATIOS}


PHASES = ("prior", "virtual", "posterior")


def rate_unit(unit: str) -> str:
    """The unit of a rate, from that of the coordinate."""
    return f"{unit}/s" if unit else ""


def unit_along(quantity: str, unit: str) -> str:
    """The unit of one number of a quantity whose label has this unit: that of u for rows, of v for velocities, …

    >>> unit_along("impulse", "m/s"), unit_along("u_plus", "m/s"), unit_along("effective_mass", "rad/s")
    ('N s', 'm/s', 'kg m^2')
    """
    if quantity in ("impulse", "Lambda"):  # impulse × velocity is an energy
        return {"m/s": "N s", "rad/s": "N m s", "": ""}.get(unit, f"J/({unit})")
    if quantity == "force":  # force × velocity is a power
        return {"m/s": "N", "rad/s": "N m", "": ""}.get(unit, f"W/({unit})")
    if quantity == "effective_mass":
        return {"m/s": "kg", "rad/s": "kg m^2"}.get(unit, "")
    return unit if quantity in _LABELLED else ""


_LABELLED = ("q", "v", "v_minus", "v_plus", "u_minus", "u_plus", "outputs_minus", "outputs_plus")
