"""A virtual testbed: a mechanism is driven against a compliant, rough surface, and everything about it is known.

The surface pushes along the normal row with Hunt and Crossley's force and rubs along the tangents with Coulomb's
friction, regularised:

    δ = −gap,  δ̇ = −u_n:    F_n = k δⁿ (1 + a δ̇),  not negative
    F_t = −μ F_n u_t / √(|u_t|² + s²)

The strike is where it is asked for: motion is integrated from there, backwards for the approach, forwards for the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np
from casadi import SX
from numpy.typing import NDArray

from jourdain.errors import BadEvent, NotConverged, NotFinite, unknown
from jourdain.evaluate import Evaluator
from jourdain.experiment.rig import Rig, rig
from jourdain.motion.dynamics import Dynamics
from jourdain.naming import name_of
from jourdain.scenario import Scenario

if TYPE_CHECKING:
    from jourdain.experiment.sensors import Recording, Sensors

Array = NDArray[np.float64]
RTOL, ATOL = 1e-10, 1e-13
PATIENCE = 1_000_000  # evaluations of the equations
STIFF = 300.0
AT_REST = 0.1  # of u at the strike: an approach begins no slower than that, however hard the motors push


@dataclass(frozen=True)
class Surface:
    """What is struck: F_n = stiffness · δ^exponent · (1 + damping · δ̇), and friction along it."""

    stiffness: float = 1.5e5  # N/m^exponent
    exponent: float = 1.5  # 1.5: Hertz
    damping: float = 2.0  # s/m
    friction: float = 0.05
    slip_speed: float = 1e-3  # m/s, below which friction fades

    def __post_init__(self) -> None:
        least = {"stiffness": self.stiffness, "exponent": self.exponent, "slip_speed": self.slip_speed}
        for name, value in least.items():
            if not value > 0 or not np.isfinite(value):
                raise BadEvent(f"The {name} of a surface is above 0, not {value!r}.")
        for name, value in {"damping": self.damping, "friction": self.friction}.items():
            if not value >= 0 or not np.isfinite(value):
                raise BadEvent(f"The {name} of a surface is not negative, but {value!r} is given.")

    @property
    def numbers(self) -> Array:
        return np.array([self.stiffness, self.exponent, self.damping, self.friction, self.slip_speed])


@dataclass(frozen=True, eq=False)
class Testbed:
    """The strike of a Scenario or an Event against a compliant surface, with motors that go on driving.

    `push`: N, the motors' force against the normal row, all the time (through Cᵀ, so at the motors it is torques).
    `forces`: {velocity or row: generalized force along it}, numbers or expressions in t, q, v and parameters.
    `normal`: the row that closes, by itself the first that is struck. Rows that are regular hold throughout, released
    ones until the strike. `dataclasses.replace(bed, push=1.0)` shares the equations.

    >>> import jourdain as jd
    >>> run = Testbed(jd.gallery.pantograph(), push=0.5).run(gamma=0.5, d=0.2)
    >>> run.T_c_minus * 1e3, run.impulse["wall"] * 1e3, run.end * 1e3  # mJ, N ms, ms
    (6.7569, 92.983, 15.043)
    """

    __test__ = False  # it is no test

    model: Any
    surface: Surface = field(default_factory=Surface)
    push: float = 0.0
    forces: Mapping[Any, Any] = field(default_factory=dict)
    normal: str | None = None
    _written: dict[Any, _Equations] = field(default_factory=dict, repr=False)  # by event, row and forces

    @property
    def numbers(self) -> Array:
        """What its equations depend on besides the mechanism's parameters."""
        return np.append(self.surface.numbers, self.push)

    def equations(self, made: Rig) -> _Equations:
        """Written once."""
        key = (made.event, made.normal, id(self.forces))
        if key not in self._written:
            self._written[key] = _Written(self, made).equations
        return self._written[key]

    def run(self, q: Any = None, v: Any = None, lead: float = 0.15, after: float = 0.06, **parameters: Any) -> Run:
        """The motion around one strike: `lead` seconds before it, `after` seconds behind the end of compression.

        Motors that push hard have a shorter lead: it begins where the mechanism comes from rest.

        Of a Scenario the parameters give the state at the strike; of an Event, q and v do.
        """
        if not lead > 0 or not after > 0:
            raise BadEvent(f"lead and after are times in s, above 0, not {lead!r} and {after!r}.")
        made = rig(self.model, self.normal, parameters)
        if isinstance(self.model, Scenario):
            if q is not None or v is not None:
                raise BadEvent("The state of a scenario follows from its parameters; leave q and v out.")
            q, v, _ = self.model.state(parameters)
        else:
            q, v = made.mechanism.coordinates(q), made.mechanism.velocities(v)
        if np.ndim(q) != 1 or np.ndim(v) != 1:
            raise BadEvent("A testbed runs one strike at a time; give q and v without batch axes.")
        before = made.states(q, v)
        if not np.isfinite(before["u"]):
            raise NotFinite("The state at the strike is not finite; check q, v and the parameters.")
        if not before["u"] < 0:
            raise BadEvent(f"'{made.normal}' does not close at the strike: u = {before['u']:.4g}; it must be below 0.")
        return _integrated(self, made, np.asarray(q, float), np.asarray(v, float), lead, after)


@dataclass(frozen=True, eq=False)
class Run:
    """A strike as it was, t = 0 at its onset. Times in s, energies in J, impulses in N s (N m s along turning rows)."""

    rig: Rig
    bed: Testbed
    start: float
    end: float  # of compression
    release: float | None  # None: still in contact
    stop: float
    T_c_minus: float
    T_a_minus: float
    T_c_plus: float  # at the end of compression
    T_a_plus: float
    v_minus: Array
    v_plus: Array
    impulse: Mapping[str, float]  # by row, from the onset to the end of compression
    impulse_contact: Mapping[str, float]  # to the release
    _state: Callable[[Array], Array] = field(repr=False)

    @property
    def T_minus(self) -> float:
        return self.T_c_minus + self.T_a_minus

    @property
    def xi(self) -> float:
        return self.T_c_minus / self.T_minus

    def at(self, t: Any) -> dict[str, Array]:
        """The q `(*shape, n_q)`, v `(*shape, n_v)` and force `(*shape, rows)`, along (normal, *tangents), at times."""
        t = np.asarray(t, dtype=float)
        z, n_q, n_v = self._state(t), len(self.rig.pose), len(self.v_minus)
        numbers = np.concatenate([self.rig.own, self.bed.numbers])
        flat = z.reshape(-1, z.shape[-1])
        inputs = np.broadcast_to(numbers, (len(flat), len(numbers)))
        force = self.bed.equations(self.rig).forces(t.reshape(-1, 1), flat, inputs)["force"][..., 0]
        return {"q": z[..., :n_q], "v": z[..., n_q : n_q + n_v], "force": force.reshape(*t.shape, -1)}

    @property
    def force_rows(self) -> tuple[str, ...]:
        return (self.rig.normal, *self.rig.tangents)

    def record(self, sensors: Sensors | None = None, seed: int | None = 0) -> Recording:
        """What sensors make of it. `seed`: of the noise and of where the samples fall; None: neither."""
        from jourdain.experiment.sensors import Sensors, recorded

        return recorded(self, Sensors() if sensors is None else sensors, seed)


@dataclass(frozen=True)
class _Equations:
    """ż of z = (q, v, gap, impulses), and the forces in it, before and after the onset."""

    before: Evaluator
    after: Evaluator
    forces: Evaluator


class _Written:
    """The equations of a testbed over CasADi scalars."""

    def __init__(self, bed: Testbed, made: Rig) -> None:
        m = made.mechanism
        s = m.symbols
        self.gap, self.surface, push = SX.sym("gap"), SX.sym("surface", 5), SX.sym("push")
        normal, tangents = made.row(made.normal), [made.row(name) for name in made.tangents]
        u_n = normal.C @ s.v + normal.b
        u_t = ca.vertcat(SX(0, 1), *(row.C @ s.v + row.b for row in tangents))
        k, n, a, mu, slow = ca.vertsplit(self.surface)
        depth = ca.fmax(-self.gap, 0)
        F_n = ca.fmax(k * depth**n * (1 - a * u_n), 0)
        F_t = -mu * F_n * u_t / ca.sqrt(ca.sumsqr(u_t) + slow**2)
        self.force = ca.vertcat(F_n, F_t)
        C = ca.vertcat(normal.C, *(row.C for row in tangents))
        driven = -push * normal.C.T + self._given(bed, made)
        held = made.constraints("regular")
        n_p = len(tangents) + 1
        self.z = ca.vertcat(s.q, s.v, self.gap, SX.sym("p", n_p))
        self.inputs = [s.t, self.z, ca.vertcat(s.p, self.surface, push)]

        def rates(on: tuple[Any, ...], force: SX) -> SX:
            motion = Dynamics(m, on, driven + C.T @ force, SX(0, 1))
            return ca.vertcat(motion.rates, motion.acceleration, u_n, force)

        self.before = rates((*held, *made.constraints("released")), SX(n_p, 1))
        self.after = rates(held, self.force)

    def _given(self, bed: Testbed, made: Rig) -> SX:
        m = made.mechanism
        total, known = SX(len(m.symbols.v_names), 1), [*m.symbols.v_names, *made.rows]
        for key, value in bed.forces.items():
            name = name_of(key)
            along = m.symbols.translate(value)
            if name in m.symbols.v_names:
                total[m.symbols.v_names.index(name)] += along
            elif name in made.rows:
                total = total + made.row(name).C.T * along
            else:
                raise unknown("velocity or row", name, known)
        return total

    @cached_property
    def equations(self) -> _Equations:
        before, after = (Evaluator(self.inputs, {"rates": rates}) for rates in (self.before, self.after))
        return _Equations(before, after, Evaluator(self.inputs, {"force": self.force}))


def _integrated(bed: Testbed, made: Rig, q: Array, v: Array, lead: float, after: float) -> Run:
    from scipy.integrate import solve_ivp

    equations = bed.equations(made)
    numbers = np.concatenate([made.own, bed.numbers])
    n_q, n_v, n_p = len(q), len(v), 1 + len(made.tangents)
    n_gap = n_q + n_v
    start = np.concatenate([q, v, np.zeros(1 + n_p)])

    asked = 0

    def rates(of: Evaluator) -> Callable[[float, Array], Array]:
        def at(t: float, z: Array) -> Array:
            nonlocal asked
            asked += 1
            if asked > PATIENCE:
                raise NotConverged(
                    f"The testbed is still at t = {t:.4g} s after {PATIENCE} evaluations; a softer surface, a larger "
                    "slip_speed or a shorter after may do."
                )
            return np.asarray(of(np.array([t]), z, numbers)["rates"][:, 0])

        return at

    def closing(t: float, z: Array) -> float:
        return float(rates(equations.after)(t, z)[n_gap])

    def gap(t: float, z: Array) -> float:
        return float(z[n_gap])

    u_minus = closing(0.0, start)
    # Friction that fades within a slip_speed far below u makes the equations stiff: sticking is a fast decay.
    stiff = bed.surface.friction * abs(u_minus) / bed.surface.slip_speed > STIFF
    method, rtol = ("Radau", 100 * RTOL) if stiff else ("DOP853", RTOL)

    def resting(t: float, z: Array) -> float:
        return float(rates(equations.before)(t, z)[n_gap]) - AT_REST * u_minus

    closing.terminal, closing.direction = True, 1.0  # type: ignore[attr-defined]
    gap.terminal, resting.terminal = True, True  # type: ignore[attr-defined]

    def piece(of: Evaluator, t: float, z: Array, until: float, events: list[Any]) -> Any:
        size = np.abs(until - t) / 20
        with np.errstate(all="ignore"):  # what is not finite is told below
            found = solve_ivp(rates(of), (t, until), z, method, None, True, events, rtol=rtol, atol=ATOL, max_step=size)
        if not found.success or not np.isfinite(found.y).all():
            raise NotConverged(
                f"The motion of the testbed stops at t = {found.t[-1]:.4g} s: the mechanism comes to a pose that it "
                "cannot have, or the surface is too stiff. A shorter lead or after may do."
            )
        return found

    pieces = [piece(equations.before, 0.0, start, -lead, [resting])]
    lead = -float(pieces[0].t[-1])
    # Compression is told from before: its time scale is that of a collision, √(m/k), whatever the surface.
    patience = 100 * lead
    pieces.append(piece(equations.after, 0.0, start, patience, [closing]))
    end, at_end = float(pieces[-1].t[-1]), pieces[-1].y[:, -1]
    if not len(pieces[-1].t_events[0]):
        raise NotConverged(f"Compression has not ended {patience:.3g} s after the strike; choose a stiffer surface.")
    stop, release, at_release = end + after, None, None
    t, z, touching = end, at_end, True
    while t < stop:
        gap.direction = 1.0 if touching else -1.0  # type: ignore[attr-defined]
        pieces.append(piece(equations.after, t, z, stop, [gap]))
        t, z, touching = float(pieces[-1].t[-1]), pieces[-1].y[:, -1], not touching
        if release is None and len(pieces[-1].t_events[0]):
            release, at_release = t, z
    solutions = [one.sol for one in pieces]
    ends = np.array([one.t[-1] for one in pieces[1:]])

    def state(t: Array) -> Array:
        flat = t.reshape(-1)
        where = np.where(flat < 0, 0, 1 + np.minimum(np.searchsorted(ends, flat), len(ends) - 1))
        z = np.empty((len(flat), len(start)))
        for i, solution in enumerate(solutions):
            if (where == i).any():
                z[where == i] = solution(flat[where == i]).T
        return z.reshape(*t.shape, -1)

    def parts(z: Array) -> dict[str, Array]:
        return made.states(z[:n_q], z[n_q:n_gap])

    def impulses(z: Array) -> dict[str, float]:
        return dict(zip((made.normal, *made.tangents), map(float, z[n_gap + 1 :]), strict=True))

    minus, plus = parts(start), parts(at_end)
    return Run(
        made, bed, -lead, end, release, stop,
        float(minus["T_c"]), float(minus["T_a"]), float(plus["T_c"]), float(plus["T_a"]),
        v, at_end[n_q:n_gap], impulses(at_end), impulses(z if at_release is None else at_release),
        state,
    )  # fmt: skip
