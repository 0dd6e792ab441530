"""What a System, KanesMethod, LagrangesMethod or JointsMethod of SymPy is made of."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import sympy as sp
from sympy.physics.mechanics import (
    JointsMethod,
    KanesMethod,
    LagrangesMethod,
    Particle,
    Point,
    ReferenceFrame,
    RigidBody,
    System,
    Vector,
    dynamicsymbols,
)

from jourdain.errors import BadMechanism, MechanismWarning
from jourdain.mechanism.bodies import pairs_of_loads


@dataclass(frozen=True)
class SystemParts:
    """SymPy's own objects, in one form for all methods. Constraints are expressions that vanish."""

    frame: ReferenceFrame
    q: Sequence[Any]
    v: Sequence[Any]
    bodies: Sequence[Particle | RigidBody]
    loads: Sequence[tuple[Any, Vector]]
    kinematics: Sequence[Any] = ()  # equations in q̇, q and v; a rate that is in v itself needs none
    auxiliary: Sequence[Any] = ()  # speeds among v that are 0
    holonomic: Sequence[Any] = ()
    velocity: Sequence[Any] = ()
    origin: Point | None = None
    potentials: bool = True  # whether the potential energy of bodies acts
    lagrangian: Any = None  # of LagrangesMethod
    n_held: int | None = None  # velocities that SymPy's own equations hold; None: as many as the constraints


def system_parts(system: Any) -> SystemParts:
    """See `SystemParts`; BadMechanism for what is none of SymPy's systems."""
    for kind, read in _READERS.items():
        if isinstance(system, kind):
            return read(system)
    raise BadMechanism(
        f"from_system takes a System, KanesMethod, LagrangesMethod or JointsMethod of SymPy, not {system!r}; "
        "use from_sympy for a list of bodies."
    )


def _of_system(system: System) -> SystemParts:
    method = system.eom_method
    if isinstance(method, LagrangesMethod):
        return _of_lagrange(method, system.fixed_point)
    q, u = list(system.q), list(system.u)
    bodies, loads = list(system.bodies), pairs_of_loads([*system.loads, *system.actuators])
    potentials = method is None and not system.u_aux and _are_rates(u, q)
    _warn_of_potentials(bodies, potentials)
    return SystemParts(
        system.frame,
        q,
        [*(u or _rates(q)), *system.u_aux],
        bodies,
        loads,
        list(system.kdes),
        list(system.u_aux),
        list(system.holonomic_constraints),
        list(system.velocity_constraints),
        system.fixed_point,
        potentials,
    )


def _of_kane(method: KanesMethod) -> SystemParts:
    if method.bodies is None:
        raise BadMechanism(
            "The KanesMethod has no bodies yet; call its kanes_equations(bodies, loads) first, or give it bodies=."
        )
    q = [one for one in method.q if one != dynamicsymbols("dummy_q")]  # SymPy's own, where there are no coordinates
    try:
        known = method.kindiffdict() if q else {}
    except AttributeError:
        raise BadMechanism("The KanesMethod has no kinematic equations; give it kd_eqs=.") from None
    u, auxiliary, bodies = list(method.u), list(method._uaux), list(method.bodies)
    velocity = method._k_nh * method.u + method._f_nh if method._k_nh else ()
    _warn_of_potentials(bodies, used=False)
    return SystemParts(
        method._inertial,
        q,
        [*u, *auxiliary],
        bodies,
        pairs_of_loads(method.loads or ()),
        [rate - value for rate, value in known.items()],
        auxiliary,
        list(method._f_h),
        list(velocity),
        potentials=False,
        n_held=len(auxiliary) + len(method._udep) if method._k_nh else None,
    )


def _of_lagrange(method: LagrangesMethod, origin: Point | None = None) -> SystemParts:
    q, n_holonomic = list(method.q), len(method._hol_coneqs)
    loads = pairs_of_loads(method.forcelist or ())
    frame = method.inertial
    if frame is None:
        if loads:
            raise BadMechanism("The LagrangesMethod has forces but no frame; give it frame=.")
        frame = ReferenceFrame("N")
    return SystemParts(
        frame,
        q,
        _rates(q),
        list(method.bodies or ()) if method.inertial is not None else [],
        loads,
        holonomic=list(method._hol_coneqs),
        velocity=list(method.coneqs)[n_holonomic:],
        origin=origin,
        lagrangian=method._L[0],
    )


def _of_joints(method: JointsMethod) -> SystemParts:
    if isinstance(method.method, LagrangesMethod):
        return _of_lagrange(method.method)
    bodies, potentials = list(method.bodies), method.method is None and _are_rates(method.u, method.q)
    _warn_of_potentials(bodies, potentials)
    return SystemParts(
        method.frame,
        list(method.q),
        list(method.u),
        bodies,
        pairs_of_loads(method.loads),
        list(method.kdes),
        potentials=potentials,
    )


_READERS: dict[type, Callable[[Any], SystemParts]] = {
    System: _of_system,
    KanesMethod: _of_kane,
    LagrangesMethod: _of_lagrange,
    JointsMethod: _of_joints,
}


def _rates(q: Sequence[Any]) -> list[Any]:
    return [sp.diff(one, dynamicsymbols._t) for one in q]


def _are_rates(u: Sequence[Any], q: Sequence[Any]) -> bool:
    """Whether SymPy's LagrangesMethod would be used: its speeds are the rates; System's default is KanesMethod."""
    return set(u) <= set(_rates(q))


def _warn_of_potentials(bodies: Sequence[Any], used: bool) -> None:
    """Kane's method of SymPy does not use the potential energy of bodies, and neither do we for its models.

    A System or JointsMethod with speeds of its own is one of them, whether its equations are formed or not.
    """
    names = [body.name for body in bodies if getattr(body, "potential_energy", 0) != 0]
    if names and not used:
        warnings.warn(
            f"The potential energy of {', '.join(names)} is not used, as in SymPy's KanesMethod: only loads act.",
            MechanismWarning,
            stacklevel=5,
        )
