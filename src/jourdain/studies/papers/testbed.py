"""The papers' experiments on the virtual testbed: single strikes over time, and what explains the normal impulse."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from jourdain.experiment.logs import read
from jourdain.experiment.strike import Strike
from jourdain.experiment.testbed import Run, Surface, Testbed
from jourdain.inputs import Array
from jourdain.studies.papers.friction import Friction, coulomb_event, friction, plate_impulses, states
from jourdain.studies.papers.measured import Case
from jourdain.studies.papers.pantograph import Results

SURFACE = Surface()  # its compression of some 15 ms is an assumption: no paper prints the duration
EXPONENTS = (1.0, 1.5, 2.0)  # of the surface, for its stiffness
STIFFNESS = np.logspace(5, 9, 9)  # N/m^exponent
CONVERGING = "FK-b 9"  # the case whose outcome is followed as the surface stiffens
SEED = 1


@dataclass(frozen=True)
class Group:
    """Cases that share a set-up, and the push of the motors that fits their normal impulses best."""

    label: str
    places: tuple[int, ...]
    push: float  # N
    deviation: float  # of the push, N
    before: float  # rms of (measured − model)/model
    after: float  # the same with the push


@dataclass(frozen=True)
class Convergence:
    """How far v⁺ at the end of compression is from the event's, as the surface stiffens."""

    exponent: float
    stiffness: Array
    distance: Array  # √(T(v⁺ − v⁺ of the event)/T⁻)
    contact_time: Array  # s, of the compression

    @property
    def order(self) -> float:
        """The slope at the stiff end, in stiffness."""
        x, y = np.log(self.stiffness[-4:]), np.log(self.distance[-4:])
        return -float(np.polyfit(x, y, 1)[0])

    @property
    def theory(self) -> float:
        """½ m u² = k δ^(n+1)/(n+1): depth and time of compression go with k^(−1/(n+1)), and so does the rest."""
        return 1 / (self.exponent + 1)


@dataclass(frozen=True)
class Bench:
    """Everything that the testbed tells of the papers' cases, in their order."""

    cases: tuple[Case, ...]
    runs: tuple[Run, ...]  # with the friction and the push that fit
    strikes: tuple[Strike, ...]  # what `experiment` makes of their logs
    friction: Friction
    excess: Array  # measured over the model's normal impulse, − 1
    by_time: Array  # what the duration of contact alone changes
    by_friction: Array  # what Coulomb's friction alone changes, inside the event
    by_push: Array  # what a push of 1 N changes
    groups: tuple[Group, ...]
    convergence: tuple[Convergence, ...]


def bench(found: Results) -> Bench:
    """All of it."""
    predicted = found.predicted
    rubbing = friction(predicted, found.settings)
    mu = abs(rubbing.coulomb.numbers["μ"][0])
    stand = _Stand(found)
    model = np.asarray(predicted.ideal.impulse["wall"])
    smooth = replace(SURFACE, friction=0.0)
    bare, pushed = (
        np.array([stand.run(i, smooth, push).impulse["wall"] for i in range(len(model))]) for push in (0.0, 1.0)
    )
    excess, by_time, by_push = predicted.error("normal"), bare / model - 1, (pushed - bare) / model
    groups = _groups(predicted.cases, excess, by_time, by_push)
    push = {i: group.push for group in groups for i in group.places}
    rubbed = plate_impulses(coulomb_event(), stand.q, stand.v, stand.given, mu)
    runs = tuple(stand.run(i, replace(SURFACE, friction=mu), push[i]) for i in range(len(model)))
    return Bench(
        cases=predicted.cases,
        runs=runs,
        strikes=tuple(_strike(run) for run in runs),
        friction=rubbing,
        excess=excess,
        by_time=by_time,
        by_friction=rubbed[:, 0] / model - 1,
        by_push=by_push,
        groups=groups,
        convergence=tuple(stand.stiffening(exponent) for exponent in EXPONENTS),
    )


class _Stand:
    """The pantograph on the testbed, at the states of the cases just before they strike."""

    def __init__(self, found: Results) -> None:
        self.predicted, self.given = found.predicted, dict(found.settings)
        self.q, self.v = states(found.predicted)
        self.bed = Testbed(found.scenario.event)

    def run(self, i: int, surface: Surface, push: float) -> Run:
        """One case, without a tangential impulse that is given."""
        own = {name: value for name, value in self.given.items() if name in self.bed.model.parameters}
        return replace(self.bed, surface=surface, push=push).run(self.q[i], self.v[i], **own)

    def stiffening(self, exponent: float) -> Convergence:
        """Without friction, damping, motors and noise."""
        i = [case.label for case in self.predicted.cases].index(CONVERGING)
        limit = np.asarray(self.predicted.ideal.v_plus[i])
        runs = [self.run(i, Surface(float(k), exponent, damping=0.0, friction=0.0), 0.0) for k in STIFFNESS]
        off = [float(run.rig.states(self.q[i], run.v_plus - limit)["T"]) / run.T_minus for run in runs]
        return Convergence(exponent, STIFFNESS, np.sqrt(off), np.array([run.end for run in runs]))


def _strike(run: Run) -> Strike:
    """What the log of a run tells."""
    return read(run.record(seed=SEED).frame(), run.rig.event, parameters=run.rig.parameters).strike()


def _groups(cases: tuple[Case, ...], excess: Array, by_time: Array, by_push: Array) -> tuple[Group, ...]:
    """The push that fits best: one for [FK-a], one for each configuration of [FK-b]."""
    chosen = {
        "[FK-a], all six": [i for i, case in enumerate(cases) if case.paper == "FK-a"],
        "[FK-b], d = 0": [i for i, case in enumerate(cases) if case.paper == "FK-b" and case.d == 0],
        "[FK-b], d = 0.2 m": [i for i, case in enumerate(cases) if case.paper == "FK-b" and case.d > 0],
    }
    found = []
    for label, places in chosen.items():
        asked, slope = (excess - by_time)[places], by_push[places]
        push = float(asked @ slope / (slope @ slope))
        left = asked - push * slope
        deviation = float(np.sqrt(left @ left / (len(places) - 1) / (slope @ slope)))
        rms = [float(np.sqrt(np.mean(x**2))) for x in (excess[places], left)]
        found.append(Group(label, tuple(places), push, deviation, *rms))
    return tuple(found)
