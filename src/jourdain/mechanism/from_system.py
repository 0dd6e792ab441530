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

from jourdain.compute.evaluate import Evaluator
from jourdain.compute.sampled import Samples
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
    warn_of_weights,
    without_timed_potential,
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
FEWEST_POSES = 2
ON_CONSTRAINTS = 1e-10
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
    uses_potentials = parts.potentials and parts.lagrangian is None  # else they are in the Lagrangian
    read = [read_body(reader, body, uses_potentials) for body in parts.bodies
            if parts.lagrangian is None or reader.knows_motion(body)]  # fmt: skip
    moving = _numbered([body for body in read if body.moves], {*symbols.q_names, *symbols.v_names, *outputs, *points})
    M, loads = _dynamics(reader, parts, read, driven)
    loads = without_timed_potential(loads, symbols, driven)
    if parts.potentials:
        warn_of_weights(reader, parts.bodies, False, parts.loads)
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
    energies = [getattr(body, "potential_energy", 0) for body in parts.bodies] if parts.potentials else []
    energies = energies if parts.lagrangian is None else [parts.lagrangian]
    expressions = [*(vector for _, vector in parts.loads), *parts.velocity, *energies]
    driven = functions_in(expressions, {*q_names, *v_names}, parts.frame)
    given = dict.fromkeys([*map(name_of, parameters), *driven])
    symbols = replace(Symbols.named(q_names, v_names, list(given)), met={}).with_sources([*parts.v, *parts.q])
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


def _dynamics(
    reader: SympyReader, parts: SystemParts, bodies: Sequence[MovingBody], driven: Iterable[str]
) -> tuple[SX, GivenLoads]:
    """M and what acts between events; a body that rests may have a potential energy, as of a spring."""
    if parts.lagrangian is None:
        moving = [body for body in bodies if body.moves]
        return mass_matrix(reader, moving), read_loads(reader, bodies, None, parts.loads)
    M, drift, own = read_lagrangian(reader.symbols, reader.symbols.translate(parts.lagrangian))
    check_driven(reader.symbols, driven, {"the terms of the Lagrangian that are linear in the rates": drift})
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
    """The rows but those at velocity level that the others imply, for all parameters and times.

    The others are the holonomic rows, where they hold, and the auxiliary ones. A row that is doubtful is kept: events
    decide about redundant rows by themselves.
    """
    holonomic = [g for g, level in rows.values() if level == "position"]
    velocity = {name: u for name, (u, level) in rows.items() if level == "velocity" and name.startswith("velocity")}
    if not holonomic or not velocity:
        return dict(rows)
    rates = symbols.rates
    g = ca.vertcat(*holonomic)
    auxiliary = [u for name, (u, _) in rows.items() if name.startswith("auxiliary")]
    u = ca.vertcat(ca.jtimes(g, symbols.q, rates) + ca.jacobian(g, symbols.t), *auxiliary, *velocity.values())
    still = SX.zeros(*symbols.v.shape)
    table = ca.densify(ca.horzcat(ca.jacobian(u, symbols.v), ca.substitute(u, symbols.v, still)))
    samples = Samples(ca.vertcat(symbols.q, symbols.p, symbols.t), ca.vec(table))
    poses, _ = _poses(symbols, g, *_any_inputs(defaults))
    numbers, _ = samples(*samples.branches(poses.T))
    tables = [column.reshape(table.shape, order="F") for column in numbers.T]
    implied, seen = np.ones(len(velocity), dtype=bool), np.zeros(len(velocity), dtype=int)
    for own, others in (np.split(one, [len(one) - len(velocity)]) for one in tables):
        finite = np.isfinite(others).all(axis=1) & np.isfinite(own).all()
        some = others[finite]
        combined = np.linalg.lstsq(own.T, some.T, rcond=1e-10)[0].T @ own if len(some) else some
        scale = np.linalg.norm(some, axis=1)
        implied[finite] &= np.linalg.norm(some - combined, axis=1) <= SAME_ROW * np.maximum(scale, 1e-300)
        seen += finite
    implied &= seen >= FEWEST_POSES
    dropped = [name for name, drop in zip(velocity, implied, strict=True) if drop]
    return {name: row for name, row in rows.items() if name not in dropped}


def _warn_of_held(mechanism: GeneralMechanism, parts: SystemParts, defaults: Mapping[str, float | None]) -> None:
    """Warn where holonomic constraints hold more velocities than SymPy's KanesMethod, which uses the others only."""
    s, rows = mechanism.symbols, [mechanism.constraints[name] for name in mechanism.joined]
    if parts.n_held is None:
        return
    C = Evaluator([s.q, s.p, s.t], {"C": ca.vertcat(*(row.C for row in rows))})
    g = ca.vertcat(SX(0, 1), *(row.g for row in rows if row.g is not None))
    poses, assembled = _poses(s, g, *_any_inputs(defaults))
    if not assembled:  # linkages that move for a few parameters only
        poses, _ = _poses(s, g, *_default_inputs(defaults))
    tables = C(*np.split(poses, [len(s.q_names), len(s.q_names) + len(s.p_names)], axis=1))["C"]
    ranks = [np.linalg.matrix_rank(table, SAME_ROW) for table in tables if np.isfinite(table).all()]
    if ranks and min(ranks) > parts.n_held:
        warnings.warn(
            f"The constraints hold {min(ranks)} velocities, and SymPy's KanesMethod {parts.n_held}: its holonomic "
            "constraints do not follow from its velocity constraints. All of them are held here.",
            MechanismWarning,
            stacklevel=4,
        )


def _default_inputs(defaults: Mapping[str, float | None]) -> tuple[Array, Array]:
    """The defaults of the parameters, and the time 0, for every pose."""
    p = typical_parameters(defaults, np.random.default_rng(7))
    return np.tile(p, (N_POSES, 1)), np.zeros((N_POSES, 1))


def _any_inputs(defaults: Mapping[str, float | None]) -> tuple[Array, Array]:
    """Parameters, `(poses, n_p)`, and times, `(poses, 1)`: near the defaults, where rows hold, and far from them."""
    rng = np.random.default_rng(7)
    p, _ = _default_inputs(defaults)
    spread = np.where(np.arange(N_POSES) < N_POSES // 2, 0.1, 1.0)[:, None]
    times = np.where(np.arange(N_POSES) % 2, 1.0, 10 ** rng.uniform(0, 5, N_POSES))[:, None]
    p = p * np.exp(spread * rng.normal(size=p.shape)) + spread * np.where(p == 0, rng.normal(size=p.shape), 0)
    return p, times * rng.uniform(0.1, 1, (N_POSES, 1))


def _poses(symbols: Symbols, g: SX, p: Array, t: Array) -> tuple[Array, bool]:
    """Random (q, p, t), `(poses, n)`, on the holonomic constraints if such poses are found, and whether they are."""
    n_q = len(symbols.q_names)
    q = np.random.default_rng(9).uniform(-1, 1, (N_POSES, n_q))
    found, missed = assemble(assembler([symbols.q, symbols.p, symbols.t], g, range(n_q)), [q, p, t], range(n_q))
    good = missed <= ON_CONSTRAINTS
    if good.sum() < FEWEST_POSES:
        return np.hstack([q, p, t]), False
    return np.hstack([found, p, t])[good], True
