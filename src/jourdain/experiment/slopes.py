"""Rates from samples by local polynomials that stay on one side of a strike.

A polynomial fitted across a strike smears the jump that is looked for. Here every fit sees samples of one segment only:
in the middle of a segment a window around the sample, at its ends the last whole window. At a strike the window is the
one for which variance and squared bias are least together: wide windows are quiet, narrow ones follow the motion. The
bias is what the fit makes of a pilot, a polynomial of higher degree through as long a stretch as it fits [the plug-in
rule of Fan and Gijbels, without asymptotics].
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from jourdain.inputs import Array

NARROWEST = 7  # samples of a window at a strike
GROWTH = 1.15  # from one window to the next
WIDEST = 401  # samples
BEYOND = 2  # degrees of the pilot above that of the fit
FITS = 1.1  # times the noise: what a pilot may leave, but for
CHANCE = 4.0  # standard deviations of it
GAINED = 14.0  # χ² of two degrees of freedom at 0.1 %
DEGREE = 3  # of a position, on one side of a strike: its acceleration may grow
MOSTLY = 0.99  # of all samples
BLOCK = 12  # samples of a short polynomial
EVEN = 1e-3  # of a step: times that are no more uneven than this are taken to be even


@dataclass(frozen=True)
class Fit:
    """A polynomial through the samples of a window, per column: value and rate at a time, and how sure they are."""

    centre: float
    scale: float
    coefficients: Array  # (degree + 1, columns), in (t − centre)/scale
    covariance: Array  # (degree + 1, degree + 1), for noise of size 1
    noise: Array  # (columns,), standard deviation of a sample
    n: int  # samples
    bias: Array | float = 0.0  # (columns,), of the value or the rate that it was made for
    derivative: int = -1  # which of them

    def value(self, t: float | Array) -> Array:
        """`(*shape, columns)`."""
        return np.asarray(self._powers(t) @ self.coefficients)

    def rate(self, t: float | Array) -> Array:
        """`(*shape, columns)`, per s."""
        return np.asarray(self._slopes(t) @ self.coefficients)

    def noise_at(self, t: float, derivative: int) -> Array:
        """Standard deviation of the value (0) or of the rate (1), `(columns,)`; with the bias, where it is known."""
        w = self._slopes(t) if derivative else self._powers(t)
        spread = np.sqrt(max(float(w @ self.covariance @ w), 0.0)) * self.noise
        return np.asarray(np.hypot(spread, self.bias) if derivative == self.derivative else spread)

    def at(self, t: float, derivative: int) -> Array:
        """Value (0) or rate (1), `(columns,)`."""
        return self.rate(t) if derivative else self.value(t)

    def _powers(self, t: float | Array) -> Array:
        x = (np.asarray(t, dtype=float) - self.centre) / self.scale
        return np.asarray(x[..., None] ** np.arange(len(self.coefficients)))

    def _slopes(self, t: float | Array) -> Array:
        x = (np.asarray(t, dtype=float) - self.centre) / self.scale
        k = np.arange(len(self.coefficients))
        return np.asarray(k * x[..., None] ** np.maximum(k - 1, 0) / self.scale)


def noise_of(t: Array, y: Array) -> Array:
    """The noise of samples `(n, columns)` without a strike in them: what short polynomials leave of a smooth motion.

    Against their times, so that uncertain time stamps count too. An encoder that counts has the noise of its counts,
    step/√12, also where they come so evenly that it does not show.
    """
    size = min(BLOCK, len(t))
    degree = min(DEGREE, size - 3)
    if degree < 1:
        return np.zeros(y.shape[1])
    n = len(t) // size
    times, values = t[-n * size :].reshape(n, size), y[-n * size :].reshape(n, size, -1)
    x = 2 * (times - times[:, :1]) / (times[:, -1:] - times[:, :1]) - 1
    Q, _ = np.linalg.qr(x[..., None] ** np.arange(degree + 1))
    left = values - Q @ (np.swapaxes(Q, 1, 2) @ values)
    squares = np.sum(left**2, axis=1) / (size - degree - 1)
    rough = np.sqrt(np.mean(np.sort(squares, axis=0)[: max(1, round(0.9 * n))], axis=0))  # but for strays
    counts = np.array([count_of(column) for column in y.T])
    return np.asarray(np.maximum(rough, counts / np.sqrt(12)))


def count_of(y: Array) -> float:
    """The step in which samples count; 0 where they do not.

    >>> count_of(np.round(np.linspace(0, 1, 50) ** 2 * 1000) / 1000)
    0.001
    """
    moved = np.abs(np.diff(y))
    largest = float(np.max(moved, initial=0.0))
    if largest == 0:
        return 0.0
    several = np.unique(np.round(moved / largest, 9))
    if len(several) < 2:  # a motion as even as that may be anything
        return 0.0
    apart = np.concatenate([several, np.diff(several)])
    step = float(np.min(apart[apart > 1e-9], initial=np.inf)) * largest
    counts = moved / step  # of an encoder whole numbers, of anything else hardly ever
    return step if np.mean(np.abs(counts - np.round(counts)) < 0.05) > MOSTLY else 0.0


def fit(t: Array, y: Array, degree: int, noise: Array) -> Fit:
    """Least squares through samples `(n,)`, `(n, columns)`."""
    centre, scale = float(t[0] + t[-1]) / 2, max(float(t[-1] - t[0]) / 2, np.finfo(float).tiny)
    A = ((t - centre) / scale)[:, None] ** np.arange(degree + 1)
    inverse = np.linalg.pinv(A)
    return Fit(centre, scale, inverse @ y, inverse @ inverse.T, noise, len(t))


def nearest_fit(
    t: Array, y: Array, at: float, noise: Array, degree: int, derivative: int = 1, window: float | None = None
) -> Fit:
    """The fit at a time through the samples nearest to it, as many as serve best; see above.

    Where all samples lie on one side of `at`, it is one-sided. `derivative`: 1 if it is for the rate, 0 for the value.
    `window`: how far from `at` samples are taken, s, instead.
    """
    order = np.argsort(np.abs(t - at), kind="stable")[:WIDEST]

    def nearest(n: int, values: Array, degree: int) -> Fit:
        chosen = np.sort(order[:n])
        return fit(t[chosen], values[chosen], min(degree, n - 1), noise)

    if window is not None:
        return nearest(min(max(int(np.sum(np.abs(t - at) <= window)), degree + 2), len(t)), y, degree)
    n = len(order)
    pilot = nearest(n, y, degree + BEYOND)
    while n > 2 * (degree + BEYOND) and not _fits(pilot, t[order[:n]], y[order[:n]]):
        n = int(n / GROWTH)
        pilot = nearest(n, y, degree + BEYOND)
    smooth, truth = pilot.value(t), pilot.at(at, derivative)
    size = np.where(noise > 0, noise, np.finfo(float).eps * (1 + np.max(np.abs(y), axis=0)))
    best, least, width = None, np.inf, float(min(NARROWEST, n))
    worst, off = np.zeros(y.shape[1]), np.zeros(y.shape[1])
    while best is None or round(width) <= n:
        found = nearest(round(width), smooth, degree)
        bias, spread = found.at(at, derivative) - truth, found.noise_at(at, derivative)
        worst = np.maximum(worst, np.abs(bias))  # a wider window that happens to be off by less is none the better
        risk = float(np.sum((worst**2 + spread**2) / size**2))
        if risk < least:
            best, least, off = round(width), risk, worst
        width = max(width * GROWTH, width + 1)
    return replace(nearest(best or n, y, degree), bias=off, derivative=derivative)


def _fits(pilot: Fit, t: Array, y: Array) -> bool:
    """Whether a polynomial leaves no more than noise, and two degrees more would not find a good deal less."""
    left, n = np.sum((y - pilot.value(t)) ** 2, axis=0), len(t)
    tiny = 1e-12 * np.max(np.abs(y), axis=0)
    rms = np.sqrt(left / max(n - len(pilot.coefficients), 1))
    if not np.all(rms <= FITS * (1 + CHANCE / np.sqrt(2 * n)) * pilot.noise + tiny):  # of few samples it varies
        return False
    degree = len(pilot.coefficients) + 1
    if n <= 2 * degree:
        return True
    order = np.argsort(t)
    more = fit(t[order], y[order], degree, pilot.noise)
    gained = left - np.sum((y - more.value(t)) ** 2, axis=0)
    return bool(np.all(gained <= GAINED * pilot.noise**2 + n * tiny**2))


def rates_along(t: Array, y: Array, breaks: list[int], windows: list[int], degree: int = DEGREE) -> Array:
    """Rates `(n, columns)` at every sample, each from samples of its own segment.

    `breaks`: where segments begin, after the first; `windows`: how many samples a fit takes in each segment.
    """
    found = np.empty_like(y)
    for start, stop, window in zip([0, *breaks], [*breaks, len(t)], windows, strict=True):
        found[start:stop] = _segment(t[start:stop], y[start:stop], window, degree)
    return found


def _segment(t: Array, y: Array, window: int, degree: int) -> Array:
    n = len(t)
    if n < 2:
        return np.zeros_like(y)
    window = min(window | 1, n if n % 2 else n - 1)
    if window < 3:
        return np.broadcast_to(np.diff(y, axis=0) / np.diff(t)[:, None], y.shape)
    degree = min(degree, window - 1)
    steps = np.diff(t)
    step = float((t[-1] - t[0]) / (n - 1))
    even = np.ptp(steps) <= EVEN * step
    if not even:  # on an even grid between the samples; what lies straight between two of them is off by a fraction
        uneven, t = t, np.linspace(t[0], t[-1], n)  # of the noise
        y = np.stack([np.interp(t, uneven, column) for column in y.T], axis=-1)
    from scipy.signal import savgol_filter

    found = np.asarray(savgol_filter(y, window, degree, deriv=1, delta=step, axis=0, mode="interp"))
    return found if even else np.stack([np.interp(uneven, t, column) for column in found.T], axis=-1)
