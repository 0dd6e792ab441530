"""SymPy's own systems → a Mechanism with all of their constraints."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np
from casadi import SX
from sympy.physics.mechanics import Particle, Point, RigidBody

from jourdain.errors import MechanismWarning, MissingValue, listing
from jourdain.inputs import Array, Expression, typical_parameters
from jourdain.mechanism.assembly import assemble, assembler
from jourdain.mechanism.bodies import (
    MovingBody,
    by_name,
    check_driven,
    functions_in,
    mass_matrix,
    read_body,
    read_loads,
)
from jourdain.mechanism.constraint import constraint
from jourdain.mechanism.from_sympy import check_dicts, is_timed
from jourdain.mechanism.general import GeneralMechanism
from jourdain.mechanism.kinematics import solved_kinematics
from jourdain.mechanism.lagrange import read_lagrangian
from jourdain.mechanism.reader import SympyReader
from jourdain.mechanism.symbols import GivenLoads, PointMotion, Symbols
from jourdain.mechanism.system_parts import SystemParts, system_parts
from jourdain.naming import name_of, refuse_clash

N_POSES = 24  # at which rows are compared
SAME_ROW = 1e-8  # relative


def from_system(
    system: Any,
    parameters: Mapping[Any, float | None],
    points: Mapping[str, Point],
    outputs: Mapping[str, Expression],
    units: Mapping[Any, str],
) -> GeneralMechanism:
    """See `Mechanism.from_system`."""
    check_dicts({"parameters": parameters, "points": points, "outputs": outputs, "units": units})
    parts = system_parts(system)
    symbols, driven = _open_symbols(parts, parameters)
    anchors = [body.masscenter for body in parts.bodies if isinstance(body, Particle | RigidBody)]
    reader = SympyReader(symbols, parts.frame, parts.origin, anchors)
    read = [read_body(reader, body) for body in parts.bodies]
    moving = _numbered([body for body in read if body.moves], {*symbols.q_names, *symbols.v_names, *outputs, *points})
    M, loads = _dynamics(reader, parts, moving)
    motions = {name: reader.motion(point) for name, point in points.items()}
    written = {name: symbols.translate(expression) for name, expression in outputs.items()}
    rows = _rows(symbols, parts)
    still = {"the mass matrix": M, "the kinematics": symbols.N}
    still |= {f"'{name}'": g for name, (g, level) in rows.items() if level == "position"}
    still |= {f"point '{name}'": motion.velocity for name, motion in motions.items()}
    check_driven(symbols, driven, still)

    turning = [w for w in by_name(reader, moving).values() if w is not None]
    vanishing = [row for row, _ in rows.values()]
    used = _names_in([M, symbols.N, *_expressions(loads, *motions.values()), *vanishing, *written.values(), *turning])
    defaults = dict.fromkeys(driven, 0.0) | {name_of(key): default for key, default in parameters.items()}
    sources = {name: symbol for name, (symbol, _) in (symbols.met or {}).items()} | driven
    missing = sorted(name for name in (symbols.met or {}) if name in used and name not in defaults)
    if missing:
        raise MissingValue(
            f"The system needs numbers for {listing(missing)}; give all of them as parameters={{symbol: number}}, or "
            "None for what each event brings."
        )
    given = {name_of(key): key for key in parameters if not isinstance(key, str)}
    symbols = reader.symbols = symbols.with_parameters(list(defaults))
    mechanism = GeneralMechanism(
        symbols,
        M,
        defaults,
        motions,
        by_name(reader, moving),
        written,
        loads,
        {name_of(key): unit for key, unit in units.items()},
        {name: given.get(name, sources.get(name)) for name in defaults if name in {*given, *sources}},
        reader,
        is_timed(symbols, motions, written),
        joined=tuple(rows := _without_derivatives(symbols, defaults, rows)),
    )
    for name, (expression, level) in rows.items():
        constraint(mechanism, name, expression, level, None)
    _warn_of_held(mechanism, parts, defaults)
    at_rest = [symbols.v[symbols.v_names.index(name_of(speed))] for speed in parts.auxiliary]
    inputs = [symbols.parameters[name] for name in driven]
    reader.warn_of_contradictions(ca.vertcat(SX(0, 1), *at_rest), ca.vertcat(SX(0, 1), *inputs))
    return mechanism


def _open_symbols(parts: SystemParts, parameters: Mapping[Any, Any]) -> tuple[Symbols, dict[str, Any]]:
    """Symbols that take in every parameter they meet, and the functions of time in loads and velocity constraints."""
    q_names, v_names = ([name_of(symbol) for symbol in some] for some in (parts.q, parts.v))
    for what, several in (("coordinate", q_names), ("velocity", v_names), ("parameter", map(name_of, parameters))):
        refuse_clash((name, what) for name in several)
    expressions = [*(vector for _, vector in parts.loads), *parts.velocity]
    driven = functions_in(expressions, {*q_names, *v_names}, parts.frame)
    given = dict.fromkeys([*map(name_of, parameters), *driven])
    symbols = replace(Symbols.named(q_names, v_names, list(given)), met={})
    N = solved_kinematics(symbols, parts.kinematics)
    return symbols.with_kinematics(N, _definitions(parts)), driven


def _definitions(parts: SystemParts) -> dict[Any, Any]:
    """{speed: expression in rates} of kinematic equations that say what a speed is."""
    found = {}
    for equation in parts.kinematics:
        speeds = [speed for speed in parts.v if equation.has(speed)]
        if len(speeds) == 1 and not speeds[0].is_Derivative:
            factor = equation.coeff(speeds[0])
            if factor in (1, -1):
                found[speeds[0]] = -factor * (equation - factor * speeds[0])
    return found


def _numbered(bodies: Sequence[MovingBody], taken: set[str]) -> list[MovingBody]:
    """The bodies, each with a name of its own: "link", "link 2"."""
    named = []
    for body in bodies:
        name, i = body.name, 2
        while name in taken:
            name, i = f"{body.name} {i}", i + 1
        taken = taken | {name}
        named.append(replace(body, name=name))
    return named


def _dynamics(reader: SympyReader, parts: SystemParts, moving: Sequence[MovingBody]) -> tuple[SX, GivenLoads]:
    """M and what acts between events."""
    if parts.lagrangian is None:
        return mass_matrix(reader, moving), read_loads(reader, moving, None, parts.loads, parts.potentials)
    M, own = read_lagrangian(reader.symbols, reader.symbols.translate(parts.lagrangian))
    applied = read_loads(reader, [], None, parts.loads).force
    return M, replace(own, force=ca.sparsify(own.force + applied))


def _rows(symbols: Symbols, parts: SystemParts) -> dict[str, tuple[SX, str]]:
    """Name → what vanishes, and its level."""
    rows: dict[str, tuple[SX, str]] = {}
    for what, several, level in (
        ("holonomic", parts.holonomic, "position"),
        ("velocity", parts.velocity, "velocity"),
        ("auxiliary", parts.auxiliary, "velocity"),
    ):
        rows |= {f"{what} {i}": (symbols.translate(row), level) for i, row in enumerate(several)}
    return rows


def _expressions(*records: GivenLoads | PointMotion) -> list[SX]:
    """All expressions of these."""
    return [part for record in records for part in vars(record).values() if isinstance(part, SX)]


def _names_in(expressions: Iterable[SX]) -> set[str]:
    return {symbol.name() for symbol in ca.symvar(ca.vertcat(SX(0, 1), *(ca.vec(one) for one in expressions)))}


def _without_derivatives(
    symbols: Symbols, defaults: Mapping[str, float | None], rows: Mapping[str, tuple[SX, str]]
) -> dict[str, tuple[SX, str]]:
    """The rows but those at velocity level that the others imply: holonomic ones, where they hold, and auxiliary."""
    holonomic = [g for g, level in rows.values() if level == "position"]
    velocity = {name: u for name, (u, level) in rows.items() if level == "velocity" and name.startswith("velocity")}
    if not holonomic or not velocity:
        return dict(rows)
    rates = symbols.rates
    g = ca.vertcat(*holonomic)
    auxiliary = [u for name, (u, _) in rows.items() if name.startswith("auxiliary")]
    u = ca.vertcat(ca.jtimes(g, symbols.q, rates) + ca.jacobian(g, symbols.t), *auxiliary, *velocity.values())
    still = SX.zeros(*symbols.v.shape)
    inputs = [symbols.q, symbols.p, symbols.t]
    both = ca.Function("rows", inputs, [ca.densify(ca.jacobian(u, symbols.v)), ca.substitute(u, symbols.v, still)])
    implied = np.ones(len(velocity), dtype=bool)
    for pose in _poses(symbols, defaults, g):
        C, b = (np.array(part) for part in both(*pose))
        table = np.hstack([C, b])
        if not np.isfinite(table).all():
            continue
        own, others = np.split(table, [len(table) - len(velocity)])
        combined = np.linalg.lstsq(own.T, others.T, rcond=1e-10)[0].T @ own
        scale = np.linalg.norm(others, axis=1)
        implied &= np.linalg.norm(others - combined, axis=1) <= SAME_ROW * np.maximum(scale, 1e-300)
    dropped = [name for name, drop in zip(velocity, implied, strict=True) if drop]
    return {name: row for name, row in rows.items() if name not in dropped}


def _warn_of_held(mechanism: GeneralMechanism, parts: SystemParts, defaults: Mapping[str, float | None]) -> None:
    """Warn where holonomic constraints hold more velocities than SymPy's KanesMethod, which uses the others only."""
    s, rows = mechanism.symbols, [mechanism.constraints[name] for name in mechanism.joined]
    if parts.n_held is None:
        return
    C = ca.Function("rows", [s.q, s.p, s.t], [ca.densify(ca.vertcat(*(row.C for row in rows)))])
    g = ca.vertcat(SX(0, 1), *(row.g for row in rows if row.g is not None))
    tables = [np.array(C(*pose)) for pose in _poses(s, defaults, g)]
    ranks = [np.linalg.matrix_rank(table, SAME_ROW) for table in tables if np.isfinite(table).all()]
    if ranks and min(ranks) > parts.n_held:
        warnings.warn(
            f"The constraints hold {min(ranks)} velocities, and SymPy's KanesMethod {parts.n_held}: its holonomic "
            "constraints do not follow from its velocity constraints. All of them are held here.",
            MechanismWarning,
            stacklevel=4,
        )


def _poses(symbols: Symbols, defaults: Mapping[str, float | None], g: SX) -> list[tuple[Array, Array, float]]:
    """Random (q, p, t), on the holonomic constraints where such poses are found near."""
    rng = np.random.default_rng(7)
    q = rng.uniform(-1, 1, (N_POSES, len(symbols.q_names)))
    p, t = np.tile(typical_parameters(defaults, rng), (N_POSES, 1)), np.zeros((N_POSES, 1))
    free = range(len(symbols.q_names))
    found, missed = assemble(assembler([symbols.q, symbols.p, symbols.t], g, free), [q, p, t], free)
    good = missed <= 1e-10
    if good.sum() >= 2:
        q, p = found[good], p[good]
    return [(q[i], p[i], 0.0) for i in range(len(q))]
