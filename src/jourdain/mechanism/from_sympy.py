"""Bodies of sympy.physics.mechanics → a Mechanism."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import casadi as ca
from casadi import SX
from sympy import MatrixBase
from sympy.physics.mechanics import Particle, Point, ReferenceFrame, RigidBody, Vector

from jourdain.errors import BadMechanism
from jourdain.inputs import Expression
from jourdain.mechanism.bodies import (
    by_name,
    check_driven,
    functions_in,
    mass_matrix,
    pairs_of_loads,
    read_body,
    read_loads,
    warn_of_weights,
    without_timed_potential,
)
from jourdain.mechanism.general import GeneralMechanism
from jourdain.mechanism.kinematics import kinematics_matrix
from jourdain.mechanism.reader import SympyReader
from jourdain.mechanism.symbols import PointMotion, Symbols
from jourdain.naming import name_of, refuse_clash


def check_types(frame: Any, origin: Any, gravity: Any, lists: Mapping[str, Any], dicts: Mapping[str, Any]) -> None:
    """Raise BadMechanism for an argument of `Mechanism.from_sympy` that is not of the kind it must be."""
    if hasattr(lists["bodies"], "q"):
        kind = type(lists["bodies"]).__name__
        raise BadMechanism(f"bodies must be a list of bodies, not a {kind}; use Mechanism.from_system(system) for it.")
    if not isinstance(frame, ReferenceFrame):
        raise BadMechanism(f"frame must be a ReferenceFrame, not {frame!r}.")
    if origin is not None and not isinstance(origin, Point):
        raise BadMechanism(f"origin must be a Point, not {origin!r}.")
    if gravity is not None and not isinstance(gravity, Vector):
        raise BadMechanism(f"gravity must be a Vector, as in gravity=-9.81 * {frame}.y, not {gravity!r}.")
    for what, several in lists.items():
        if not isinstance(several, list | tuple | MatrixBase):
            raise BadMechanism(f"{what} must be a list, not {several!r}.")
    check_dicts(dicts)


def check_dicts(dicts: Mapping[str, Any]) -> None:
    """Raise BadMechanism for an argument that must be a dict and is not, and for points that are none."""
    for what, mapping in dicts.items():
        if not isinstance(mapping, Mapping):
            raise BadMechanism(f"{what} must be a dict, not {mapping!r}.")
    for name, point in dicts["points"].items():
        if not isinstance(point, Point):
            raise BadMechanism(f"points['{name}'] must be a Point, not {point!r}.")


def is_timed(symbols: Symbols, points: Mapping[str, PointMotion], outputs: Mapping[str, SX]) -> bool:
    """Whether points or outputs move by themselves, with time."""
    moving = [*(motion.velocity for motion in points.values()), *outputs.values()]
    return bool(ca.depends_on(ca.vertcat(SX(0, 1), *map(ca.densify, moving)), symbols.t))


def from_sympy(
    bodies: Sequence[Particle | RigidBody],
    frame: ReferenceFrame | None,
    q: Sequence[Expression],
    v: Sequence[Expression] | None,
    kinematics: Mapping[Expression, Expression] | None,
    parameters: Mapping[Any, float | None],
    points: Mapping[str, Point],
    outputs: Mapping[str, Expression],
    origin: Point | None,
    gravity: Vector | None,
    forces: Sequence[Any],
    units: Mapping[Any, str],
) -> GeneralMechanism:
    """See `Mechanism.from_sympy`."""
    lists = {"bodies": bodies, "q": q, "v": () if v is None else v, "forces": forces}
    dicts = {"kinematics": kinematics or {}, "parameters": parameters, "points": points, "outputs": outputs}
    check_types(frame, origin, gravity, lists, dicts)
    names = [name_of(symbol) for symbol in q]
    refuse_clash((name, "coordinate") for name in names)
    v_names = names if v is None else [name_of(symbol) for symbol in v]
    loads = pairs_of_loads(forces)
    taken = [*names, *v_names, *map(name_of, parameters)]
    energies = [getattr(body, "potential_energy", 0) for body in bodies]
    driven = functions_in([*(vector for _, vector in loads), *energies], taken, frame)
    parameters = {**parameters, **dict.fromkeys(driven.values(), 0.0)}
    p_names = [name_of(symbol) for symbol in parameters]
    for what, several in (("velocity", v_names), ("parameter", p_names)):
        refuse_clash((name, what) for name in several)
    symbols = Symbols.named(names, v_names, p_names).with_sources([*parameters, *(() if v is None else v), *q])
    symbols = symbols.with_kinematics(kinematics_matrix(symbols, kinematics), kinematics or {})
    anchors = [body.masscenter for body in bodies if isinstance(body, Particle | RigidBody)]
    reader = SympyReader(symbols, frame, origin, anchors)
    moving = [read_body(reader, body) for body in bodies]
    refuse_clash((body.name, "body") for body in moving)
    written = {name: symbols.translate(expression) for name, expression in outputs.items()}
    motions = {name: reader.motion(point) for name, point in points.items()}
    M = mass_matrix(reader, moving)
    still = {"the mass matrix": M, "the kinematics": symbols.N}
    check_driven(symbols, driven, still | {f"point '{name}'": motion.velocity for name, motion in motions.items()})
    loads_between = without_timed_potential(read_loads(reader, moving, gravity, loads), symbols, driven)
    symbols = reader.symbols = replace(symbols, reading=False)
    mechanism = GeneralMechanism(
        symbols,
        M,
        {name_of(symbol): default for symbol, default in parameters.items()},
        motions,
        by_name(reader, moving),
        written,
        loads_between,
        {name_of(key): unit for key, unit in units.items()},
        {name_of(symbol): symbol for symbol in parameters if not isinstance(symbol, str)},
        reader,
        is_timed(symbols, motions, written),
    )
    warn_of_weights(reader, bodies, gravity is not None and gravity != 0, loads)
    reader.warn_of_contradictions(SX(0, 1), ca.vertcat(SX(0, 1), *(symbols.parameters[name] for name in driven)))
    return mechanism
