"""Encoders that stand still: told by the forces that must move them, or by a motion that stops between two samples.

During compression the logged forces F accelerate the coordinates by N M⁻¹ Cᵀ F. Whatever the velocity before, one that
is pushed so does not stay where it is. Without contact a motion is smooth: one that stops or starts within two samples
and stands still for a while is not that of the mechanism.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from jourdain.experiment.edges import Edge
from jourdain.experiment.strike_samples import StrikeSamples
from jourdain.inputs import Array

STILL = 7.0  # times the noise, two counts of an encoder: no more is no motion
CLEAR = 30.0  # times the noise: a motion that must be seen
SHARE = 2e-3  # of the energy that the forces bring: a coordinate with less need not show it
RUN = 5  # equal samples of a channel that stands still
BESIDE = 8  # samples beside them, at least, that tell how it moves
COUNTS = 8  # steps of the encoder that they must show
FORCED = 2.0  # times what the forces change: more is not by them
BEFORE = 200  # samples before the strike, at least, that are looked at
AFTER = 60  # samples behind the contact that are looked at: later the mechanism may be stopped
ABRUPT = 0.15  # of the way in them, in the quarter next to those that are equal: 1/16 of a motion that begins at rest


def warn_of_standstill(samples: StrikeSamples, minus: Edge) -> None:
    """Warn of logged coordinates and velocities that stand still while they must move."""
    log, rig = samples.log, samples.log.rig
    still = _pushed(samples, minus)
    for name, stops in zip(rig.mechanism.symbols.q_names, _stops(samples, minus), strict=True):
        if stops is not None:
            still.setdefault(f"q.{name}", (*stops, "it moves right before or after"))
    for column, (start, stop, why) in still.items():
        if column in log.units:  # others follow from those that are logged
            samples.warn(
                f"'{column}' stands still from t = {log.t[start]:.6g} to {log.t[stop]:.6g} s, but {why}: its sensor is "
                "stuck, or something holds it. Velocities and energies of the strike are not right."
            )


def _accelerations(samples: StrikeSamples, q: Array, here: slice) -> Array:
    """V̇ by the logged forces of the contact, `(n, n_v)`."""
    rows = tuple(samples.log.forces)
    felt = np.stack([samples.force(row)[0][here] for row in rows], axis=-1)
    return np.asarray(felt @ samples.log.rig.pushed(q, rows))


def _pushed(samples: StrikeSamples, minus: Edge) -> dict[str, tuple[int, int, str]]:
    """Columns that stand still during compression though forces push them: first and last sample, and why."""
    log = samples.log
    force = samples.channel.force[samples.within] * np.sign(samples.contact.peak)
    peak = int(np.argmax(force))
    fallen = peak + int(np.argmax(np.append(force[peak:] < force[peak] / 2, True)))  # behind it a weight may rest
    first, last = samples.within.start - 1, min(samples.within.start + fallen, len(log.t) - 1)
    acceleration = _accelerations(samples, minus.q, slice(first, last + 1))
    middle = (first + last) // 2
    found: dict[str, tuple[int, int, str]] = {}
    for start, stop in ((first, last), (first, middle), (middle, last)):
        if stop - start < 2:
            continue
        here = slice(start, stop + 1)
        gained = _integral(log.t[here], acceleration[start - first : stop + 1 - first])
        for column, does, must, noise in _channels(samples, minus.q, gained, here):
            if must > CLEAR * noise and np.ptp(does) <= STILL * noise:
                found.setdefault(column, (start, stop, f"the forces of the contact must move it by {must:.2g}"))
    return found


def _channels(
    samples: StrikeSamples, q: Array, gained: Array, here: slice
) -> Iterator[tuple[str, Array, float, float]]:
    """Of what takes part in `gained`, the velocity by the forces: column, samples, how far it must move, noise."""
    log, rig = samples.log, samples.log.rig
    s, t = rig.mechanism.symbols, log.t[here]
    rates = np.array([rig.rates(q, v) for v in gained])
    way = _integral(t, rates)
    way -= (t - t[0])[:, None] / (t[-1] - t[0]) * way[-1]  # an even motion, which is not known, may come to it
    alone = [rig.velocities(q, rate) for rate in np.diag(rates[-1])]
    parts = np.concatenate([gained[-1:], alone, np.diag(gained[-1])])
    T = rig.states(np.broadcast_to(q, (len(parts), len(q))), parts)["T"]
    matters = T[1:] > SHARE * T[0]
    for i, (name, noise) in enumerate(zip(s.q_names, _noises(samples), strict=True)):
        if matters[i]:
            yield f"q.{name}", log.q[here, i], float(np.ptp(way[:, i])), noise
    if log.v is None or samples.edges.noise_v is None:
        return
    for i, (name, noise) in enumerate(zip(s.v_names, samples.edges.noise_v, strict=True)):
        if matters[len(s.q_names) + i]:
            yield f"v.{name}", log.v[here, i], float(np.ptp(gained[:, i])), noise


def _integral(t: Array, values: Array) -> Array:
    """From the first sample to each, by trapezoids, `(n, columns)`."""
    steps = np.diff(t)[:, None] * (values[:-1] + values[1:]) / 2
    return np.concatenate([np.zeros((1, values.shape[1])), np.cumsum(steps, axis=0)])


def _noises(samples: StrikeSamples) -> Array:
    """The noise of each coordinate; of one that never moves the largest of those with its unit."""
    noise, units = samples.edges.noise_q, samples.log.rig.mechanism.units
    kinds = [units.get(name, "") for name in samples.log.rig.mechanism.symbols.q_names]
    alike = [max(x for x, other in zip(noise, kinds, strict=True) if other == kind) for kind in kinds]
    return np.where(noise > 0, noise, alike)


def _stops(samples: StrikeSamples, minus: Edge) -> Iterator[tuple[int, int] | None]:
    """Of each coordinate the first and the last of equal samples that it leaves at once, though no force says so."""
    log, rig, contact, intervals = samples.log, samples.log.rig, samples.contact, samples.channel.contacts
    after = intervals[samples.number].first if samples.number < len(intervals) else len(log.t)
    first = max(samples.before.start, samples.before.stop - BEFORE - minus.n)
    here = slice(first, min(after, contact.last + 1 + AFTER))
    touching = slice(samples.within.start - 1 - first, contact.last + 2 - first)
    bends = np.zeros(
        (here.stop - first, len(rig.pose))
    )  # by how much forces change what it moves from sample to sample
    by_forces = _accelerations(samples, minus.q, slice(touching.start + first, touching.stop + first))
    known = {*rig.rows} <= {*log.forces}
    bends[touching] = np.abs([rig.rates(minus.q, a) for a in by_forces]) * log.step**2 if known else np.inf
    for values, bend in zip(log.q[here].T, bends.T, strict=True):
        steps = np.abs(np.diff(values))
        step = float(np.min(steps[steps > 0], initial=np.inf))
        edges = np.flatnonzero(np.diff(values, prepend=np.nan, append=np.nan) != 0)
        for start, behind in pairwise(edges.tolist()):
            if behind - start >= RUN and any(
                _moves_at_once(values, bend, edge, direction, behind - start, step)
                for edge, direction in ((start, -1), (behind - 1, 1))
            ):
                yield first + start, first + behind - 1
                break
        else:
            yield None


def _moves_at_once(values: Array, bend: Array, edge: int, direction: int, n_equal: int, step: float) -> bool:
    """Whether a coordinate leaves equal samples, the last is `edge`, at once rather than gathers speed or is pushed."""
    way = np.abs(values[edge::direction] - values[edge])
    far = np.flatnonzero(way[BESIDE:] >= COUNTS * step)
    if not len(far) or far[0] + BESIDE > max(n_equal, BESIDE):
        return False
    n = BESIDE + int(far[0])
    near = n // 4
    start, stop = sorted((edge - 2 * direction, edge + (near + 1) * direction))
    by_forces = float(np.sum(bend[max(start, 0) : stop + 1]))
    # Where it turns it may stay within one step for L samples, ½ v̇ (L/2)² ≤ step, and is so far away k samples later:
    later = np.arange(near, n + 1) / n_equal
    turning = step * (1 + 4 * (later + later**2))
    if not (way[near : n + 1] >= 2 * turning).any():
        return False
    return bool(way[near] >= ABRUPT * way[n] and way[near] / near > FORCED * by_forces)
