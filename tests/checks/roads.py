"""The ways by which an event reaches the library: raw arrays or a mechanism, one event, a few, or enough to compile."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

import jourdain as jd
from checks.drawing import KINDS, Events
from jourdain import laws

Array = NDArray[Any]
Status = jd.Status
STATUS_OF = {
    jd.NotFinite: Status.NOT_FINITE,
    jd.NotPositiveDefinite: Status.NOT_POSITIVE_DEFINITE,
    jd.OffConstraint: Status.OFF_CONSTRAINT,
    jd.PriorViolated: Status.PRIOR_VIOLATED,
    jd.BadRestitution: Status.BAD_RESTITUTION,
    jd.Contradiction: Status.CONTRADICTION,
    jd.NotConverged: Status.NOT_CONVERGED,
    jd.BadFriction: Status.BAD_FRICTION,
    jd.Infeasible: Status.INFEASIBLE,
    jd.Ambiguous: Status.AMBIGUOUS,
}


@dataclass
class Given:
    """What the library returned for m events."""

    status: Array  # (m,)
    v_plus: Array  # (m, n)
    T_minus: Array
    T_plus: Array
    loss: Array
    impulse: Array  # (m, rows): of kinds in the order of the outcome
    one_of_many: Array  # (m,)

    @classmethod
    def of(cls, t: jd.Transition) -> Given:
        flat = [t.status, t.v_plus, t.T_minus, t.T_plus, t.loss, t.column("impulse"), t.one_of_many]
        return cls(*(np.asarray(part) for part in flat))

    @classmethod
    def refused(cls, status: int, n: int, n_rows: int) -> Given:
        nan = np.array(np.nan)
        return cls(np.array(status), np.full(n, np.nan), nan, nan, nan, np.full(n_rows, np.nan), np.array(False))

    @classmethod
    def stacked(cls, several: list[Given]) -> Given:
        return cls(*(np.stack(parts) for parts in zip(*(vars(one).values() for one in several), strict=True)))


def law_of(law: str, kappa: Any, mu: Any) -> laws.Law:
    name, *hypothesis = law.split()
    if name == "coulomb":
        return laws.Coulomb(mu, kappa, hypothesis[0])  # type: ignore[arg-type]
    if law == "moreau coulomb":
        return laws.MoreauCoulomb(mu, kappa)
    if law == "no slip":
        return laws.NoSlip(kappa)
    return laws.Frictionless(kappa, law)  # type: ignore[arg-type]


# Raw arrays


def by_arrays(events: Events) -> Given:
    """One call with all of them."""
    return Given.of(jd.transition(events.M, events.v, **arguments(events)))


def by_single_arrays(events: Events) -> Given:
    """One call for each."""
    return _one_by_one(events, lambda one: jd.transition(one.M, one.v, **arguments(one)))


def arguments(events: Events) -> dict[str, Any]:
    """The keywords of `jd.transition`."""
    found: dict[str, Any] = {}
    for kind, r in events.rows.items():
        numbers = {"live": (r.b_minus, r.b_plus), "elastic": (r.kappa, r.b_plus), "nonideal": (r.beta,)}
        found[kind] = (r.C, *numbers.get(kind, (r.b_plus,)))
    if events.contacts:
        found["contacts"] = [
            jd.Contact(normal=one.C[..., 0, :], tangent=one.C[..., 1:, :], law=law_of(one.law, one.kappa, one.mu))
            for one in events.contacts
        ]
    return found if events.impulse is None else found | {"impulse": events.impulse}


def _one_by_one(events: Events, solve: Callable[[Events], jd.Transition]) -> Given:
    n_rows = sum(r.C.shape[1] for r in events.rows.values()) + sum(one.C.shape[1] for one in events.contacts)
    found = []
    for i in range(events.m):
        try:
            found.append(Given.of(solve(events.at(i))))
        except jd.Error as error:
            found.append(Given.refused(STATUS_OF[type(error)], events.n, n_rows))
    return Given.stacked(found)


# A mechanism whose masses and rows are parameters


@dataclass(frozen=True)
class Form:
    """What mechanisms of events have in common."""

    n: int
    rows: tuple[tuple[str, int], ...]
    contacts: tuple[tuple[str, int], ...]
    impulse: bool
    position: bool  # rows are given as geometry
    moving: bool  # supports of contacts

    @classmethod
    def of(cls, events: Events) -> Form:
        rows = tuple((kind, events.rows[kind].C.shape[1]) for kind in KINDS if kind in events.rows)
        contacts = tuple((one.law, one.n_tangents) for one in events.contacts)
        moving = any(one.b.any() for one in events.contacts)
        position = bool(events.m % 2)  # half of the batches
        return cls(events.n, rows, contacts, events.impulse is not None, position, moving)


@lru_cache(maxsize=4)
def mechanism_event(form: Form) -> Any:
    """The event of this form; its parameters are those of `parameters`."""
    n = form.n
    symbols: dict[str, ca.SX] = {}

    def new(name: str) -> ca.SX:
        return symbols.setdefault(name, ca.SX.sym(name))

    M = ca.SX(n, n)
    for i in range(n):
        for j in range(i + 1):
            M[i, j] = M[j, i] = new(f"M_{i}_{j}")
    q = ca.vertcat(*(ca.SX.sym(f"q{i}") for i in range(n)))
    v = ca.vertcat(*(ca.SX.sym(f"w{i}") for i in range(n)))
    written: dict[str, list[ca.SX]] = {}
    names = [(kind, k) for kind, k in form.rows] + [(f"contact{i}", 1 + t) for i, (_, t) in enumerate(form.contacts)]
    for name, k in names:
        written[name] = [ca.vertcat(*(new(f"{name}_C_{i}_{j}") for j in range(n))) for i in range(k)]
        for i in range(k):
            if name != "nonideal" and (form.moving or not name.startswith("contact")):
                new(f"{name}_b_{i}")
    made = jd.Mechanism.from_casadi(q, v, M, parameters=[(symbol, None) for symbol in symbols.values()])
    t = made.symbols.t
    level = "position" if form.position else "velocity"

    def expressions(name: str) -> list[ca.SX]:
        """C q + b t = 0 as geometry, which holds at q = 0 and t = 0, or C v + b."""
        biases = [symbols.get(f"{name}_b_{i}", ca.SX(0)) for i in range(len(written[name]))]
        pairs = zip(written[name], biases, strict=True)
        return [ca.dot(C, q) + bias * t if form.position else ca.dot(C, v) + bias for C, bias in pairs]

    constraints: dict[str, Any] = {}
    for kind, _ in form.rows:
        rows = {f"r{i}": row for i, row in enumerate(expressions(kind))}
        constraints[kind] = made.constraint(kind, rows, level=level)
    feet = {}
    for i, (law, _) in enumerate(form.contacts):
        normal, *tangents = expressions(f"contact{i}")
        feet[made.contact(f"contact{i}", normal, tangents, level=level)] = law_of(law, f"kappa{i}", f"mu{i}")
    options: dict[str, Any] = {
        kind: [constraints[kind]] for kind in ("regular", "inert", "released") if kind in constraints
    }
    sizes = dict(form.rows)
    if "elastic" in constraints:
        options["elastic"] = {constraints["elastic"]: [f"elastic_kappa_{i}" for i in range(sizes["elastic"])]}
    if "nonideal" in constraints:
        options["nonideal"] = {constraints["nonideal"]: [f"nonideal_beta_{i}" for i in range(sizes["nonideal"])]}
    if "live" in constraints:
        jumps = {f"live_b_{i}": (f"live_before_{i}", f"live_after_{i}") for i in range(sizes["live"])}
        options["live"] = {constraints["live"]: jumps}
    if form.impulse:
        options["impulses"] = {f"q{i}": f"f{i}" for i in range(n)}
    return made.event(contacts=feet, **options)


def parameters(events: Events, moving: bool) -> dict[str, Array]:
    """Of `mechanism_event`, by name."""
    found: dict[str, Array] = {}
    n = events.n
    for i in range(n):
        for j in range(i + 1):
            found[f"M_{i}_{j}"] = events.M[..., i, j]
    for kind, r in events.rows.items():
        for i in range(r.C.shape[-2]):
            found |= {f"{kind}_C_{i}_{j}": r.C[..., i, j] for j in range(n)}
            if kind == "live":
                found |= {f"live_before_{i}": r.b_minus[..., i], f"live_after_{i}": r.b_plus[..., i]}
            elif kind == "nonideal":
                found[f"nonideal_beta_{i}"] = r.beta[..., i]
            else:
                found[f"{kind}_b_{i}"] = r.b_plus[..., i]
            if kind == "elastic":
                found[f"elastic_kappa_{i}"] = r.kappa[..., i]
    for i, one in enumerate(events.contacts):
        for k in range(one.C.shape[-2]):
            found |= {f"contact{i}_C_{k}_{j}": one.C[..., k, j] for j in range(n)}
            if moving:
                found[f"contact{i}_b_{k}"] = one.b[..., k]
        found[f"kappa{i}"] = one.kappa
        if "coulomb" in one.law:
            found[f"mu{i}"] = one.mu
    if events.impulse is not None:
        found |= {f"f{i}": events.impulse[..., i] for i in range(n)}
    return found


def by_mechanism(events: Events) -> Given:
    form = Form.of(events)
    return Given.of(mechanism_event(form).solve(v=events.v, parameters=parameters(events, form.moving)))


def by_single_mechanism(events: Events) -> Given:
    form = Form.of(events)
    event = mechanism_event(form)
    return _one_by_one(events, lambda one: event.solve(v=one.v, parameters=parameters(one, form.moving)))
