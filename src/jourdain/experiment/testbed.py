"""A virtual testbed: a mechanism is driven against a compliant, rough surface, and everything about it is known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from jourdain.compute.memory import check_batch
from jourdain.errors import BadEvent, NotFinite
from jourdain.events.event import Event
from jourdain.experiment.compliant import Equations, Motion, equations, integrated
from jourdain.experiment.rig import Rig, rig
from jourdain.inputs import Array, Expression, StateLike, number
from jourdain.scenarios.scenario import Scenario

if TYPE_CHECKING:
    from jourdain.experiment.sensors import Recording, Sensors

STIFF = 300.0  # friction · |u| / slip_speed from which on steps are implicit


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

    model: Scenario | Event
    surface: Surface = field(default_factory=Surface)
    push: float = 0.0
    forces: Mapping[Any, Expression] = field(default_factory=dict)
    normal: str | None = None
    _written: dict[Any, Equations] = field(default_factory=dict, repr=False)  # by event, row and forces

    @property
    def numbers(self) -> Array:
        """What its equations depend on besides the mechanism's parameters."""
        return np.append(self.surface.numbers, self.push)

    def equations(self, made: Rig) -> Equations:
        """Written once."""
        key = (made.event, made.normal, id(self.forces))
        if key not in self._written:
            self._written[key] = equations(made, self.forces)
        return self._written[key]

    def run(
        self, q: StateLike = None, v: StateLike = None, lead: float = 0.15, after: float = 0.06, **parameters: float
    ) -> Run:
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
        numbers = np.concatenate([made.own, self.numbers])
        # Friction that fades within a slip_speed far below u makes the equations stiff: sticking is a fast decay.
        stiff = self.surface.friction * abs(float(before["u"])) / self.surface.slip_speed > STIFF
        motion = integrated(self.equations(made), q, v, numbers, lead, after, stiff)
        return Run(made, self, motion, np.asarray(v, dtype=float))


@dataclass(frozen=True, eq=False, repr=False)
class Run:
    """A strike as it was, t = 0 at its onset. Times in s, energies in J, impulses in N s (N m s along turning rows)."""

    rig: Rig
    bed: Testbed
    motion: Motion
    v_minus: Array

    def __repr__(self) -> str:
        return f"<Run: a strike of {1e3 * self.end:.3g} ms of compression>"

    @property
    def start(self) -> float:
        return self.motion.start

    @property
    def end(self) -> float:
        """Of compression."""
        return self.motion.end

    @property
    def release(self) -> float | None:
        """The end of the contact; None if it goes on."""
        return self.motion.release

    @property
    def stop(self) -> float:
        return self.motion.stop

    @cached_property
    def v_plus(self) -> Array:
        """At the end of compression."""
        return self.at(self.end)["v"]

    @cached_property
    def _energies(self) -> dict[str, float]:
        found: dict[str, float] = {}
        for side, t in (("minus", 0.0), ("plus", self.end)):
            at = self.at(t)
            parts = self.rig.states(at["q"], at["v"])
            found |= {f"{name}_{side}": float(parts[name]) for name in ("T", "T_c", "T_a")}
        return found

    @property
    def T_minus(self) -> float:
        return self._energies["T_minus"]

    @property
    def T_c_minus(self) -> float:
        return self._energies["T_c_minus"]

    @property
    def T_a_minus(self) -> float:
        return self._energies["T_a_minus"]

    @property
    def T_c_plus(self) -> float:
        return self._energies["T_c_plus"]

    @property
    def T_a_plus(self) -> float:
        return self._energies["T_a_plus"]

    @property
    def xi(self) -> float:
        return self.T_c_minus / self.T_minus

    @cached_property
    def impulse(self) -> dict[str, float]:
        """By row, from the onset to the end of compression."""
        return self._impulses(self.end)

    @cached_property
    def impulse_contact(self) -> dict[str, float]:
        """By row, to the release, or as long as the run goes on."""
        return self._impulses(self.stop if self.release is None else self.release)

    def _impulses(self, t: float) -> dict[str, float]:
        p = self.motion.state(np.array(t))[-len(self.force_rows) :]
        return dict(zip(self.force_rows, map(float, p), strict=True))

    def at(self, t: ArrayLike) -> dict[str, Array]:
        """The q `(*shape, n_q)`, v `(*shape, n_v)` and force `(*shape, rows)`, along (normal, *tangents), at times."""
        t = number("t", t, copy=False)
        check_batch(t.shape, len(self.motion.pieces[0].y))
        z, n_q, n_v = self.motion.state(t), len(self.rig.pose), len(self.v_minus)
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
