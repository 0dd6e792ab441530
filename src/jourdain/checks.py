"""What an outcome must satisfy before it is handed out; refusals name the thing and say what to do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jourdain.algebra.event import BEFORE_KINDS
from jourdain.algebra.lapack import smallest_eigenvalue
from jourdain.errors import (
    BadRestitution,
    Contradiction,
    Error,
    NotFinite,
    NotPositiveDefinite,
    OffConstraint,
    PriorViolated,
    Status,
)
from jourdain.layout import Layout

Array = NDArray[np.float64]
TOLERANCE = 1e-8  # of the speed that the kinetic energy allows along a row; of g in its own unit


def judge(
    values: Mapping[str, Array],
    layout: Layout,
    inputs: Mapping[str, tuple[Array, Sequence[str]]],
    mass_matrix: Callable[[NDArray[np.bool_]], Array],
    check: bool,
) -> NDArray[np.int8]:
    """The status of every lane, `(*batch,)`; without batch axes what is wrong raises.

    `values` are those of `algebra.event.outcome` as `(*batch, rows, columns)`, and "geometry", the geometric rows.
    `inputs`: what → (array `(*batch, m)`, names of its entries). `mass_matrix(lanes)`: M of some lanes.
    """
    batch = values["v_plus"].shape[:-2]
    status = np.zeros(batch, dtype=np.int8)
    single = batch == ()

    def refuse(bad: Any, code: Status, error: Error | None) -> None:
        if single and np.any(bad) and error is not None:
            raise error
        status[np.asarray(bad) & (status == Status.OK)] = code

    for what, (array, names) in inputs.items():
        refuse(*_not_finite(what, array, names, single))

    pivots, diagonal = values["pivots"][..., 0], values["M_diagonal"][..., 0]
    refuse(
        ~positive_definite(pivots, diagonal, mass_matrix),
        Status.NOT_POSITIVE_DEFINITE,
        NotPositiveDefinite(
            "The mass matrix is not positive definite; check masses and inertias, and that every velocity moves a mass."
        ),
    )

    numbers = ("v_plus", "impulse", "u_minus", "u_plus", "row_length", "T_minus", "T_plus", "loss")
    finite = np.all([np.isfinite(values[name]).all(axis=(-2, -1)) for name in numbers], axis=0)
    overflow = "The outcome is not finite: some expression overflows or divides by zero at this state."
    refuse(~finite, Status.NOT_FINITE, NotFinite(overflow))
    if check and "geometry" in values:
        refuse(*_off_constraint(values["geometry"][..., 0], layout, single))
    if check:
        refuse(*_prior_violated(values, layout, single))
    refuse(*_bad_restitution(values["kappa"][..., 0], layout, single))
    refuse(*_contradicted(values, layout, single))
    refuse(energy_created(values) > 0, Status.ENERGY_CREATED, None)
    return status


# Each of these answers with (which lanes are bad, their status, the error for a single event).
Verdict = tuple[Any, Status, Error | None]


def _not_finite(what: str, array: Array, names: Sequence[str], single: bool) -> Verdict:
    bad = ~np.isfinite(array)
    error = None
    if single and bad.any():
        i = int(np.argmax(bad))
        error = NotFinite(f"{what} '{names[i]}' is {array[i]}; every number must be finite.")
    return bad.any(axis=-1), Status.NOT_FINITE, error


def _bad_restitution(kappa: Array, layout: Layout, single: bool) -> Verdict:
    bad = ~((kappa >= 0) & (kappa <= 1))
    error = None
    if single and bad.any():
        i = int(np.argmax(bad))
        row = [row for row in layout.rows if row.kind == "elastic"][i]
        error = BadRestitution(f"The restitution of '{row.name}' is {kappa[i]:g}; it must lie in [0, 1].")
    return bad.any(axis=-1), Status.BAD_RESTITUTION, error


def positive_definite(
    pivots: Array, diagonal: Array, mass_matrix: Callable[[NDArray[np.bool_]], Array]
) -> NDArray[np.bool_]:
    """Whether M is positive definite beyond rounding, `(*batch,)`.

    Small pivots alone do not tell: rounding of a singular M can be larger than an honest pivot of a chain whose masses
    span twelve orders. For such lanes the eigenvalues of M, asked for by `mass_matrix(lanes)`, decide.
    """
    n = pivots.shape[-1]
    with np.errstate(divide="ignore", invalid="ignore"):
        smallest = np.min(pivots / diagonal, axis=-1, initial=1.0)
    good = np.array(np.all(pivots > 0, axis=-1) & (smallest > 0))  # NaN is not
    doubtful = good & (smallest < 1e-6)
    if doubtful.any():
        good[doubtful] = smallest_eigenvalue(mass_matrix(doubtful)) > 10 * n * np.finfo(float).eps
    return good


def _speed(energy: Array, row_length: Array) -> Array:
    """√(2T · c M⁻¹ cᵀ): the largest speed along each row that this energy allows, `(*batch, k)`."""
    return np.asarray(np.sqrt(2 * np.abs(energy[..., 0])) * row_length[..., 0])


def _off_constraint(g: Array, layout: Layout, single: bool) -> Verdict:
    bad = ~(np.abs(g) <= TOLERANCE)
    error = None
    if single and bad.any():
        worst = int(np.argmax(np.abs(g)))
        row = [row for row in layout.rows if row.geometric][worst]
        error = OffConstraint(
            f"The configuration misses '{row.name}' by {g[worst]:.3g}; correct q, use Mechanism.assemble, "
            "or pass check='project'."
        )
    return bad.any(axis=-1), Status.OFF_CONSTRAINT, error


def _prior_violated(values: Mapping[str, Array], layout: Layout, single: bool) -> Verdict:
    on_before = np.array([row.kind in BEFORE_KINDS for row in layout.rows], dtype=bool)
    u = values["u_minus"][..., 0]
    allowed = TOLERANCE * (_speed(values["T_minus"], values["row_length"]) + np.abs(values["b_minus"][..., 0]))
    if "u_rounding" in values:
        allowed = allowed + values["u_rounding"][..., 0]
    bad = on_before & ~(np.abs(u) <= allowed)
    error = None
    if single and bad.any():
        i = int(np.argmax(np.where(bad, np.abs(u) / np.maximum(allowed, 1e-300), 0.0)))
        row = layout.rows[i]
        advice = (
            "declare the rows with u_minus ≠ 0 elastic or inert"
            if row.kind == "released"
            else "give a v that satisfies it, or pass check='project'"
        )
        error = PriorViolated(
            f"The prior velocity breaks '{row.name}' ({row.kind}): u_minus = {u[i]:.6g}, but it must be 0; {advice}."
        )
    return bad.any(axis=-1), Status.PRIOR_VIOLATED, error


def _contradicted(values: Mapping[str, Array], layout: Layout, single: bool) -> Verdict:
    """Rows that are on during the event must come out as asked: C'v⁺ + b⁺ = target."""
    k = values["target"].shape[-2]
    target, b_plus = values["target"][..., 0], values["b_plus"][..., :k, 0]
    u = values["u_plus"][..., :k, 0]
    energy = values["T_minus"] + values["T_plus"] + values["T_free"]
    allowed = TOLERANCE * (_speed(energy, values["row_length"])[..., :k] + np.abs(b_plus) + np.abs(target))
    bad = ~(np.abs(u - target) <= allowed)
    error = None
    if single and bad.any():
        i = int(np.argmax(np.where(bad, np.abs(u - target), 0.0)))
        row = layout.rows[i]
        cause = "the other rows make" if values["row_length"][i, 0] > 0 else "no velocity moves it and its bias makes"
        error = Contradiction(
            f"'{row.name}' ({row.kind}) should have u_plus = {target[i]:.6g}, but {cause} it {u[i]:.6g}: "
            "they contradict. Leave one out, or give them the same restitution and bias."
        )
    return bad.any(axis=-1), Status.CONTRADICTION, error


def energy_created(values: Mapping[str, Array]) -> Array:
    """The energy that came from nowhere, J, `(*batch,)`: ΔT > 0 without moving supports or applied impulses."""
    gain = -values["loss"][..., 0, 0]
    k = values["target"].shape[-2]  # rows that are on; released supports do no work
    still = ~values["b_plus"][..., :k, :].any(axis=(-2, -1)) & ~values["applied"].any(axis=(-2, -1))
    real = gain > 1e-10 * (values["T_minus"] + values["T_plus"])[..., 0, 0]
    return np.where(still & real, gain, 0.0)
