"""The end of compression: where the normal row stops closing, and how far that can be trusted."""

from __future__ import annotations

import numpy as np

from jourdain.errors import BadLog
from jourdain.experiment.edges import Edge
from jourdain.experiment.notices import Keyword, Notice
from jourdain.experiment.slopes import DEGREE, rates_along
from jourdain.experiment.strike_samples import StrikeSamples
from jourdain.inputs import Array

LEAST_WITHIN = 4  # samples of a contact whose compression can be followed
NEAR = 3  # samples around a first guess of the end of compression, among which it is looked for
CLOSING = 0.1  # of u⁻: more than that at a given end of compression is worth a warning
SHALLOW = 30.0  # times the noise of the coordinates: a compression less deep than that is worth a warning
BRIEF = 6  # samples of compression: in fewer, trapezoids are coarse
FADED = 0.02  # of u⁻: compression that comes this near to its end and no nearer has ended


def compression_end(samples: StrikeSamples, given: float | None, u_minus: float) -> Edge:
    """The state at the end of compression. `given`: its time, s, where that is not to be found."""
    log, rig, within, edges = samples.log, samples.log.rig, samples.within, samples.edges
    n_within = within.stop - within.start
    if n_within < LEAST_WITHIN:
        raise BadLog(
            f"The contact at t = {samples.onset:.6g} s lasts {n_within} samples; that is too few "
            "to follow its compression. Sample faster."
        )
    if given is not None:
        longer = slice(samples.within.start, max(within.stop, int(np.searchsorted(log.t, given)) + 1))
        return edges.at(longer, given, DEGREE)
    t, q = log.t[within], log.q[within]
    window = max(7, edges.at(within, samples.onset, DEGREE).n // 2)
    v = rig.velocities(q, rates_along(t, q, [], [min(window, len(t))], 2)) if log.v is None else log.v[within]
    u = rig.states(q, v)["u"]
    if not (u >= 0).any():
        return _faded(samples, t, u, u_minus)
    end = float(t[np.argmax(u >= 0)])
    for _ in range(3):
        later = _crossing(samples, edges.at(within, end, DEGREE))
        if later is None or abs(later - end) < 1e-3 * log.step:
            break
        end = later
    return edges.at(within, end, DEGREE)


def _crossing(samples: StrikeSamples, edge: Edge) -> float | None:
    """Where u of the fit rises through 0, within a few samples of its time; the nearest."""
    inside = samples.log.t[samples.within]
    near = NEAR * samples.log.step
    t = np.linspace(max(edge.t - near, inside[0]), min(edge.t + near, inside[-1]), 121)
    u = samples.edges.states(edge, t)["u"]
    up = np.nonzero((u[:-1] < 0) & (u[1:] >= 0))[0]
    if not len(up):
        return None
    i = up[np.argmin(np.abs(t[up] - edge.t))]
    return float(t[i] - u[i] * (t[i + 1] - t[i]) / (u[i + 1] - u[i]))


def _faded(samples: StrikeSamples, t: Array, u: Array, u_minus: float) -> Edge:
    """Of a contact that comes to rest without springing back: where hardly any closing is left."""
    i, normal = int(np.argmax(u)), samples.log.rig.normal
    if u[i] < FADED * u_minus:
        what = (
            f"Compression does not end in the log: at t = {t[i]:.6g} s '{normal}' still closes with "
            f"u = {u[i]:.4g}, {u[i] / u_minus:.0%} of that before."
        )
        raise BadLog(Notice(what, "Log longer, or give ", Keyword("end"), "."))
    end = float(t[np.argmax(u >= FADED * u_minus)])
    samples.warn(
        f"Compression fades out rather than ends: from t = {end:.6g} s on '{normal}' closes with less "
        f"than {FADED:.0%} of u⁻; that is taken for its end."
    )
    return samples.edges.at(samples.within, end, DEGREE)


def end_noise(samples: StrikeSamples, plus: Edge) -> float:
    """Standard deviation of the end of compression, s: that of u over its slope."""
    rig = samples.log.rig
    several = np.broadcast_to(plus.q, (len(plus.v), len(plus.q)))
    each = rig.states(several, plus.v + np.diag(plus.noise))["u"] - rig.states(plus.q, plus.v)["u"]
    slope = abs(samples.edges.slopes(plus)["u"])
    return float(np.sqrt(np.sum(each**2))) / slope if slope else np.inf


def warn_of_doubts(
    samples: StrikeSamples, minus: Edge, plus: Edge, u_minus: float, u_plus: float, end_given: bool
) -> None:
    """Warn of an end that was given and still closes, and of a compression that is brief or shallow."""
    log, onset = samples.log, samples.onset
    if end_given and abs(u_plus) > CLOSING * abs(u_minus):
        samples.warn(
            f"The end of compression is given as {plus.t:.6g} s, but '{log.rig.normal}' still has u = {u_plus:.4g} "
            f"there, {u_plus / u_minus:.0%} of that before."
        )
    n_samples = (plus.t - onset) / log.step
    if n_samples < BRIEF:
        samples.warn(
            f"The compression from t = {onset:.6g} s on lasts {n_samples:.2g} samples; "
            "its impulses are coarse. Sample faster."
        )
    if log.v is not None:
        return
    C = log.rig.normal_row(minus.q)
    depth = abs(float(log.rig.velocities(minus.q, plus.q - minus.q) @ C))
    each = [float(log.rig.velocities(minus.q, one) @ C) for one in np.diag(samples.edges.noise_q)]
    noise = float(np.sqrt(np.sum(np.square(each))))
    if depth < SHALLOW * noise:
        samples.warn(
            f"The compression from t = {onset:.6g} s on is only {depth / noise:.2g} times as deep as the "
            "noise of the coordinates; its end, and with it the impulse, is uncertain. Finer encoders would help."
        )
