"""The state of a mechanism at a time, from samples on one side of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jourdain.experiment.logs import Log
from jourdain.experiment.slopes import Fit, count_of, nearest_fit, noise_of
from jourdain.inputs import Array

LAST = 48  # samples before a strike
AROUND = 200  # samples behind its onset


@dataclass(frozen=True)
class Edge:
    """The state at a time, and the polynomials that it is read from."""

    t: float
    q: Array
    v: Array
    noise: Array  # of v, standard deviations
    places: Fit
    rates: Fit | None  # of velocities that were logged; None where they are those of the places

    @property
    def n(self) -> int:
        """Samples that tell the velocity."""
        return (self.places if self.rates is None else self.rates).n


class Edges:
    """Reads states off a log. The noise is that of the samples before the strike, where nothing jumps."""

    def __init__(self, log: Log, quiet: slice, window: float | None) -> None:
        self.log, self.window = log, window
        # Stamps that are off count as fast as it moves, so the last samples have a say of their own; and so have those
        # of the strike in what an encoder counts, which an even approach hides.
        last = slice(max(quiet.start, quiet.stop - LAST), quiet.stop)
        around = slice(quiet.start, quiet.stop + AROUND)
        counts = np.array([count_of(column) for column in log.q[around].T])
        several = [noise_of(log.t[some], log.q[some]) for some in (quiet, last)]
        self.noise_q = np.maximum.reduce([*several, counts / np.sqrt(12)])
        self.noise_v = None if log.v is None else noise_of(log.t[quiet], log.v[quiet])

    def at(self, samples: slice, t: float, degree: int) -> Edge:
        """The state at a time from these samples; `degree`: of the places, one less of logged velocities."""
        log, rig = self.log, self.log.rig
        places = nearest_fit(log.t[samples], log.q[samples], t, self.noise_q, degree, 1, self.window)
        q = places.value(t)
        if log.v is None or self.noise_v is None:
            return Edge(t, q, rig.velocities(q, places.rate(t)), self._noise(q, places.noise_at(t, 1)), places, None)
        rates = nearest_fit(log.t[samples], log.v[samples], t, self.noise_v, degree - 1, 0, self.window)
        return Edge(t, q, rates.value(t), rates.noise_at(t, 0), places, rates)

    def states(self, edge: Edge, t: float | Array) -> dict[str, Array]:
        """T, T_c, T_a, ξ, u and each velocity, "v.NAME", at times near an edge."""
        rig = self.log.rig
        q = edge.places.value(t)
        v = rig.velocities(q, edge.places.rate(t)) if edge.rates is None else edge.rates.value(t)
        found = rig.states(q, v)
        with np.errstate(invalid="ignore"):  # all energy may be lost
            found["xi"] = found["T_c"] / found["T"]
        return found | {f"v.{name}": v[..., i] for i, name in enumerate(rig.mechanism.symbols.v_names)}

    def slopes(self, edge: Edge) -> dict[str, float]:
        """How fast these change at an edge, per s."""
        h = self.log.step / 2
        found = self.states(edge, np.array([edge.t - h, edge.t + h]))
        return {name: float(values[1] - values[0]) / (2 * h) for name, values in found.items()}

    def _noise(self, q: Array, noise: Array) -> Array:
        """Of velocities, from that of the rates of the coordinates, each on its own."""
        if len(noise) == len(self.log.rig.mechanism.symbols.v_names):
            return noise
        each = [self.log.rig.velocities(q, row) for row in np.diag(noise)]
        return np.asarray(np.sqrt(np.sum(np.square(each), axis=0)))
