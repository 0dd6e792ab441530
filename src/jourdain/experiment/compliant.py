"""A mechanism in contact with a compliant surface: its equations of motion, and one strike through them.

The surface pushes along the normal row with Hunt and Crossley's force and rubs along the tangents with Coulomb's
friction, regularised:

    δ = −gap,  δ̇ = −u_n:    F_n = k δⁿ (1 + a δ̇),  not negative
    F_t = −μ F_n u_t / √(|u_t|² + s²)

z = (q, v, gap, p): the gap is the integral of u_n, so that rows at velocity level do too; p are the impulses. A strike
is where it is asked for: motion is integrated from there, backwards for the approach, forwards for the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from casadi import SX

from jourdain.compute.evaluate import Evaluator
from jourdain.errors import NotConverged, unknown
from jourdain.experiment.rig import Rig
from jourdain.inputs import Array
from jourdain.kinds import Kind
from jourdain.mechanism.constraint import Constraint
from jourdain.mechanism.singular import is_singular
from jourdain.motion.dynamics import Dynamics
from jourdain.naming import name_of

RTOL, ATOL = 1e-10, 1e-13
RTOL_STIFF = 1e-8  # of Radau, whose order is 5
PATIENCE = 1_000_000  # evaluations of the equations
LONGEST = 100.0  # leads: what is not compressed by then is no strike
AT_REST = 0.1  # of u at the strike: an approach begins no slower than that, however hard the motors push


@dataclass(frozen=True)
class Equations:
    """ż(t, z, numbers) before and after the onset, and the forces (normal, *tangents) in it."""

    before: Evaluator
    after: Evaluator
    forces: Evaluator
    n_gap: int  # where the gap stands in z
    n_z: int


def equations(made: Rig, forces: Mapping[Any, Any]) -> Equations:
    """Written once for a rig; `numbers` are the mechanism's parameters, those of the surface, and the motors' push."""
    m = made.mechanism
    s = m.symbols
    gap, surface, push = SX.sym("gap"), SX.sym("surface", 5), SX.sym("push")
    k, n, a, mu, slow = ca.vertsplit(surface)
    normal, tangents = made.row(made.normal), [made.row(name) for name in made.tangents]
    u_n = normal.C @ s.v + normal.b
    u_t = ca.vertcat(SX(0, 1), *(row.C @ s.v + row.b for row in tangents))
    depth = ca.fmax(-gap, 0)
    F_n = ca.fmax(k * depth**n * (1 - a * u_n), 0)
    F_t = -mu * F_n * u_t / ca.sqrt(ca.sumsqr(u_t) + slow**2)
    force, C = ca.vertcat(F_n, F_t), ca.vertcat(normal.C, *(row.C for row in tangents))
    driven, singular = m.loads.force - push * normal.C.T + _given(made, forces), is_singular(m, m.parameters)

    def rates(held: tuple[Constraint, ...], acting: SX) -> SX:
        motion = Dynamics(m, held, driven + C.T @ acting, SX(0, 1), singular=singular)
        return ca.vertcat(motion.rates, motion.acceleration, u_n, acting)

    held = made.constraints(Kind.REGULAR)
    z = ca.vertcat(s.q, s.v, gap, SX.sym("p", force.numel()))
    inputs = [s.t, z, ca.vertcat(s.p, surface, push)]
    before = rates((*held, *made.constraints(Kind.RELEASED)), SX(force.numel(), 1))
    return Equations(
        Evaluator(inputs, {"rates": before}),
        Evaluator(inputs, {"rates": rates(held, force)}),
        Evaluator(inputs, {"force": force}),
        s.q.numel() + s.v.numel(),
        z.numel(),
    )


def _given(made: Rig, forces: Mapping[Any, Any]) -> SX:
    """Generalized forces along velocities or rows, summed."""
    m = made.mechanism
    v_names = m.symbols.v_names
    total = SX(len(v_names), 1)
    for key, value in forces.items():
        name, along = name_of(key), m.symbols.translate(value)
        if name in v_names:
            total[v_names.index(name)] += along
        elif name in made.rows:
            total = total + made.row(name).C.T * along
        else:
            raise unknown("velocity or row", name, [*v_names, *made.rows])
    return total


@dataclass(frozen=True)
class Motion:
    """What became of a strike at t = 0: pieces between which something changes, each with its polynomials."""

    pieces: tuple[Any, ...]  # SciPy's; the first is the approach, backwards
    end: float  # of compression
    release: float | None

    @property
    def start(self) -> float:
        return float(self.pieces[0].t[-1])

    @property
    def stop(self) -> float:
        return float(self.pieces[-1].t[-1])

    def state(self, t: Array) -> Array:
        """Z at times of any shape, `(*shape, n_z)`."""
        flat = t.reshape(-1)
        ends = np.array([piece.t[-1] for piece in self.pieces[1:]])
        where = np.where(flat < 0, 0, 1 + np.minimum(np.searchsorted(ends, flat), len(ends) - 1))
        z = np.empty((len(flat), len(self.pieces[0].y)))
        for i, piece in enumerate(self.pieces):
            if (where == i).any():
                z[where == i] = piece.sol(flat[where == i]).T
        return z.reshape(*t.shape, -1)


def integrated(
    written: Equations, q: Array, v: Array, numbers: Array, lead: float, after: float, stiff: bool
) -> Motion:
    """Through the strike at (q, v): `lead` before it at most, `after` behind the end of compression."""
    solver = _Solver(numbers, stiff)
    before, within = solver.rates(written.before), solver.rates(written.after)
    start = np.concatenate([q, v, np.zeros(written.n_z - written.n_gap)])
    u_minus = within(0.0, start)[written.n_gap]

    def closing(t: float, z: Array) -> float:
        return float(within(t, z)[written.n_gap])

    def approaching(t: float, z: Array) -> float:
        return float(before(t, z)[written.n_gap] - AT_REST * u_minus)

    def gap(t: float, z: Array) -> float:
        return float(z[written.n_gap])

    pieces = [solver.piece(before, 0.0, start, -lead, approaching, 0)]
    longest = LONGEST * lead
    pieces.append(solver.piece(within, 0.0, start, longest, closing, 1))
    if not len(pieces[-1].t_events[0]):
        raise NotConverged(f"Compression has not ended {longest:.3g} s after the strike; choose a stiffer surface.")
    end, release, touching = float(pieces[-1].t[-1]), None, True
    while pieces[-1].t[-1] < end + after:  # a push may bring it back, several times
        t, z = float(pieces[-1].t[-1]), pieces[-1].y[:, -1]
        pieces.append(solver.piece(within, t, z, end + after, gap, 1 if touching else -1))
        touching = not touching
        if release is None and len(pieces[-1].t_events[0]):
            release = float(pieces[-1].t[-1])
    return Motion(tuple(pieces), end, release)


class _Solver:
    """SciPy's steps, explicit or implicit, with a limit to its patience."""

    def __init__(self, numbers: Array, stiff: bool) -> None:
        self.numbers = numbers
        self.method, self.rtol = ("Radau", RTOL_STIFF) if stiff else ("DOP853", RTOL)
        self.asked = 0

    def rates(self, of: Evaluator) -> Callable[[float, Array], Array]:
        def at(t: float, z: Array) -> Array:
            self.asked += 1
            if self.asked > PATIENCE:
                raise NotConverged(
                    f"The testbed is still at t = {t:.4g} s after {PATIENCE} evaluations; a softer surface, a larger "
                    "slip_speed or a shorter after may do."
                )
            return np.asarray(of(np.array([t]), z, self.numbers)["rates"][:, 0])

        return at

    def piece(
        self, rates: Any, t: float, z: Array, until: float, event: Callable[[float, Array], float], direction: int
    ) -> Any:
        """From z on, until a time or an event."""
        from scipy.integrate import solve_ivp

        event.terminal, event.direction = True, direction  # type: ignore[attr-defined]
        step = abs(until - t) / 20
        with np.errstate(all="ignore"):  # what is not finite is told below
            found = solve_ivp(
                rates,
                (t, until),
                z,
                self.method,
                dense_output=True,
                events=[event],
                rtol=self.rtol,
                atol=ATOL,
                max_step=step,
            )
        if not found.success or not np.isfinite(found.y).all():
            raise NotConverged(
                f"The motion of the testbed stops at t = {found.t[-1]:.4g} s: the mechanism comes to a pose that it "
                "cannot have, or the surface is too stiff. A shorter lead or after may do."
            )
        return found
