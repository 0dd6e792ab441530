"""A strike out of a log: the motion just before and at the end of compression, T_c and T_a over time, the impulses."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from jourdain.errors import BadLog, LogWarning
from jourdain.experiment.contacts import Contact, Felt, felt, refuse_none, saturated
from jourdain.experiment.logs import Log
from jourdain.experiment.plausible import refuse_units
from jourdain.experiment.rig import Rig
from jourdain.experiment.slopes import DEGREE, Fit, nearest_fit, noise_of, rates_along
from jourdain.experiment.uncertainty import energy_noise, impulse_of

if TYPE_CHECKING:
    import xarray

    from jourdain.experiment.compare import Comparison

Array = NDArray[np.float64]
LEAST_BEFORE = 7  # samples between the contact before, or the beginning, and the strike
LOCAL = 2000  # samples before a strike that are looked at
CURVE = 61  # samples, at most, of a window of the curves over time
DEGREE_WITHIN = 3  # of a position within a contact, where the acceleration grows and falls
FADED = 0.02  # of u⁻: compression that comes this near to its end and no nearer has ended
OFF = 2.0  # times: an impulse further than this from what stops the model is told


@dataclass(frozen=True, eq=False)
class Strike:
    """What a log tells of one strike. Times in s on the log's clock, energies in J, impulses in N s (turning: N m s).

    `_minus` is just before the onset, `_plus` the end of compression. `uncertainty`: standard deviations, by address as
    in "T_c_minus" or "impulse.wall". `curves` has the energies over time.
    """

    log: Log
    number: int
    onset: float
    end: float  # of compression
    release: float | None  # of the contact; None: the log ends before
    q_minus: Array
    v_minus: Array
    q_plus: Array
    v_plus: Array
    v_release: Array | None  # just after the contact; None where too few samples are left
    T_minus: float
    T_c_minus: float
    T_a_minus: float
    T_plus: float
    T_c_plus: float
    T_a_plus: float
    u_minus: float  # of the normal row
    impulse: Mapping[str, float]  # by row, from the onset to the end of compression
    impulse_contact: Mapping[str, float]  # to the release, or the end of the log
    uncertainty: Mapping[str, float]
    warnings: tuple[str, ...]
    breaks: list[int] = field(repr=False)  # where contacts of the log begin and end
    windows: list[int] = field(repr=False)

    @property
    def rig(self) -> Rig:
        return self.log.rig

    @property
    def xi(self) -> float:
        """T_c⁻/T⁻."""
        return self.T_c_minus / self.T_minus

    @property
    def loss(self) -> float:
        """T⁻ − T⁺, J."""
        return self.T_minus - self.T_plus

    @property
    def restitution(self) -> float | None:
        """Poisson's: the impulse after the end of compression by that before; None where the contact goes on."""
        if self.release is None:
            return None
        normal = self.rig.normal
        return self.impulse_contact[normal] / self.impulse[normal] - 1

    @cached_property
    def curves(self) -> xarray.Dataset:
        """T, T_c, T_a and u of the normal row at every sample of the log; no window reaches across a strike."""
        import xarray

        log = self.log
        v = self.rig.velocities(log.q, rates_along(log.t, log.q, self.breaks, self.windows)) if log.v is None else log.v
        found = self.rig.states(log.q, v)
        names = {"T": "kinetic energy", "T_c": "energy of the constrained motion",
                 "T_a": "energy of the admissible motion", "u": f"row velocity of {self.rig.normal}"}  # fmt: skip
        units = dict.fromkeys(("T", "T_c", "T_a"), "J") | {"u": self.rig.row_unit(self.rig.normal)}
        data: dict[str, Any] = {
            name: ("t", found[name], {"long_name": text, "units": units[name]}) for name, text in names.items()
        }
        for row, force in log.forces.items():
            data[f"force.{row}"] = ("t", force, {"long_name": f"force along {row}", "units": self.rig.force_unit(row)})
        return xarray.Dataset(data, {"t": ("t", log.t, {"units": "s"})})

    def quantities(self) -> dict[str, float]:
        """Its numbers by address, as repeats are averaged and compared."""
        names = ("T_minus", "T_c_minus", "T_a_minus", "T_plus", "T_c_plus", "T_a_plus", "xi", "loss")
        found = {name: float(getattr(self, name)) for name in names}
        v_names = self.rig.mechanism.symbols.v_names
        for side, v in (("v_minus", self.v_minus), ("v_plus", self.v_plus)):
            found |= {f"{side}.{name}": float(x) for name, x in zip(v_names, v, strict=True)}
        found[f"u_minus.{self.rig.normal}"] = self.u_minus
        return found | {f"impulse.{row}": value for row, value in self.impulse.items()}

    def compare(self) -> Comparison:
        """Beside what the event predicts from v⁻."""
        from jourdain.experiment.compare import compare

        return compare(self)

    def __str__(self) -> str:
        from jourdain.experiment.told import strike_text

        return strike_text(self)

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre>{escape(str(self))}</pre>"


def contacts_of(log: Log) -> Felt:
    """The contacts that the normal force tells."""
    return felt(log.t, log.forces[log.rig.normal])


def split(log: Log, number: int | None, onset: float | None, end: float | None, window: float | None) -> Strike:
    """See `Log.strike`."""
    return _Splitter(log, number, onset, end, window).strike()


class _Splitter:
    """The steps of a split, and what is said on the way."""

    def __init__(
        self, log: Log, number: int | None, onset: float | None, end: float | None, window: float | None
    ) -> None:
        self.log, self.rig = log, log.rig
        self.said: list[str] = []
        self.window = window
        self.felt = contacts_of(log)
        self.normal = self.felt.about(log.forces[self.rig.normal])
        refuse_none(self.felt, log.t, log.forces[self.rig.normal], self.rig.normal)
        self.number = self._chosen(number, onset)
        self.contact = self.felt.contacts[self.number - 1]
        self.onset, self.given_end = self._times(onset, end)

    def warn(self, text: str) -> None:
        self.said.append(text)
        warnings.warn(text, LogWarning, stacklevel=6)

    def _chosen(self, number: int | None, onset: float | None) -> int:
        contacts, t = self.felt.contacts, self.log.t
        if number is not None and not (isinstance(number, int) and 1 <= number <= len(contacts)):
            raise BadLog(f"The log has {len(contacts)} contacts; choose number=1 … {len(contacts)}, not {number!r}.")
        if number is None and onset is not None:
            after = [i for i, one in enumerate(contacts) if t[one.last] > onset]
            if not after:
                raise BadLog(
                    f"No contact follows onset = {onset:.6g} s: the last one ends at t = {t[contacts[-1].last]:.6g} s."
                )
            return after[0] + 1
        if number is None and len(contacts) > 1:
            others = ", ".join(f"{one.onset:.6g}" for one in contacts[:5]) + (", …" if len(contacts) > 5 else "")
            self.warn(
                f"There are {len(contacts)} contacts in the log, from t = {others} s; the first is taken. "
                "strike(number=2) takes the second."
            )
        for i in self.felt.spikes[:3]:
            self.warn(
                f"'{self.rig.normal}' stands out at t = {t[i]:.6g} s for less than 3 samples; that is no contact."
            )
        return number or 1

    def _times(self, onset: float | None, end: float | None) -> tuple[float, float | None]:
        t, contact = self.log.t, self.contact
        if onset is None:
            if contact.begins:
                raise BadLog(f"The log begins in contact, at t = {t[0]:.6g} s; it must begin before the strike.")
            onset = contact.onset
        if not t[0] < onset < t[-1]:
            raise BadLog(f"onset = {onset:.6g} s lies outside the log, {t[0]:.6g} to {t[-1]:.6g} s.")
        if end is not None and not onset < end <= t[-1]:
            raise BadLog(
                f"end = {end:.6g} s must lie behind the onset {onset:.6g} s and within the log ({t[-1]:.6g} s)."
            )
        return float(onset), end

    def strike(self) -> Strike:
        log, rig, contact, onset = self.log, self.rig, self.contact, self.onset
        start = self.felt.contacts[self.number - 2].last + 1 if self.number > 1 else 0
        first = int(np.searchsorted(log.t, onset, side="left"))
        before = slice(max(start, first - LOCAL), first)
        if first - start < LEAST_BEFORE:
            raise BadLog(
                f"Only {first - start} samples lie before the strike at t = {onset:.6g} s; {LEAST_BEFORE} at least are "
                "needed to tell the velocity."
            )
        self._refuse_gap(log.t[first - 1] if first else onset, onset, "at the onset")
        self.noise = noise_of(log.q[before]), None if log.v is None else noise_of(log.v[before])
        q_minus, v_minus, v_noise, fit_minus = self._edge(before, onset, DEGREE)
        within = slice(first, contact.last + 1)
        peak = first + int(np.argmax(self.normal[within] * np.sign(contact.peak)))
        rough = float(np.trapezoid(self.normal[first - 1 : peak + 1], log.t[first - 1 : peak + 1]))
        refuse_units(log, q_minus, v_minus, rough, onset, self.warn)
        minus = rig.states(q_minus, v_minus)
        if not minus["u"] < 0:
            raise BadLog(
                f"'{rig.normal}' does not close before the contact at t = {onset:.6g} s: u = {minus['u']:.4g}. "
                "Check the signs of the coordinates, the row, or the onset."
            )
        if contact.last - first < 3:
            raise BadLog(
                f"The contact at t = {onset:.6g} s lasts {contact.last - first + 1} samples; that is too few to follow "
                "its compression. Sample faster."
            )
        end, q_plus, v_plus, plus_noise, fit_plus = self._end(within, float(minus["u"]))
        self._refuse_gap(onset, end, "within the compression")
        fit_within = self._edge(within, onset, DEGREE)[3]
        plus = rig.states(q_plus, v_plus)
        uncertainty = energy_noise(rig, q_minus, v_minus, v_noise, "minus")
        uncertainty |= energy_noise(rig, q_plus, v_plus, plus_noise, "plus")
        end_noise = 0.0 if self.given_end is not None else self._end_noise(q_plus, v_plus, plus_noise, fit_plus, end)
        uncertainty |= {"onset": log.step / np.sqrt(12), "end": end_noise}
        for side, noise in (("v_minus", v_noise), ("v_plus", plus_noise)):
            names = rig.mechanism.symbols.v_names
            uncertainty |= {f"{side}.{name}": float(x) for name, x in zip(names, noise, strict=True)}
        impulse, whole = {}, {}
        stop = float(log.t[min(contact.last + 1, len(log.t) - 1)])
        for row in log.forces:
            impulse[row], uncertainty[f"impulse.{row}"] = self._impulse(row, end, end_noise)
            whole[row], _ = self._impulse(row, stop, 0.0)
        if not 1 / OFF < impulse[rig.normal] / minus["stop"] < OFF:
            self.warn(
                f"The impulse along '{rig.normal}' from t = {onset:.6g} s is {impulse[rig.normal]:.4g}, "
                f"{impulse[rig.normal] / minus['stop']:.3g} times the {minus['stop']:.4g} that stops the model: check "
                "its masses, the units, and what else pushes."
            )
        return Strike(
            log, self.number, onset, end, stop if contact.ends else None,
            q_minus, v_minus, q_plus, v_plus, self._after(),
            float(minus["T"]), float(minus["T_c"]), float(minus["T_a"]),
            float(plus["T"]), float(plus["T_c"]), float(plus["T_a"]), float(minus["u"]),
            impulse, whole, uncertainty, (*log.warnings, *self.said), *self._segments(fit_minus, fit_within),
        )  # fmt: skip

    def _edge(self, samples: slice, at: float, degree: int) -> tuple[Array, Array, Array, Fit]:
        """(q, v, noise of v, fit) at a time, from samples on one side of it."""
        log = self.log
        t, q = log.t[samples], log.q[samples]
        noise_q, noise_v = self.noise
        places = nearest_fit(t, q, at, noise_q, degree, 1, self.window)
        here = places.value(at)
        if log.v is None or noise_v is None:
            noise = places.noise_at(at, 1)
            return here, self.rig.velocities(here, places.rate(at)), self._noise_of_v(here, noise), places
        v = log.v[samples]
        rates = nearest_fit(t, v, at, noise_v, degree - 1, 0, self.window)
        return here, rates.value(at), rates.noise_at(at, 0), rates

    def _noise_of_v(self, q: Array, noise: Array) -> Array:
        """Of velocities, from that of the rates of the coordinates, each on its own."""
        if len(noise) == len(self.rig.mechanism.symbols.v_names):
            return noise
        each = [self.rig.velocities(q, row) for row in np.diag(noise)]
        return np.asarray(np.sqrt(np.sum(np.square(each), axis=0)))

    def _end(self, within: slice, u_minus: float) -> tuple[float, Array, Array, Array, Fit]:
        """(time, q, v, noise of v, fit) at the end of compression: where the normal row stops closing."""
        log, rig = self.log, self.rig
        if self.given_end is not None:
            end = self.given_end
            within = slice(within.start, max(within.stop, int(np.searchsorted(log.t, end)) + 1))
            return (end, *self._edge(within, end, DEGREE_WITHIN))
        t, q = log.t[within], log.q[within]
        window = min(7, len(t))
        v = rig.velocities(q, rates_along(t, q, [], [window])) if log.v is None else log.v[within]
        u = rig.states(q, v)["u"]
        open_ = np.nonzero(u >= 0)[0]
        if len(open_):
            rough = float(t[open_[0]])
        else:
            i = int(np.argmax(u))
            if u[i] < FADED * u_minus:
                raise BadLog(
                    f"Compression does not end in the log: at t = {t[i]:.6g} s '{rig.normal}' still closes with "
                    f"u = {u[i]:.4g}, {u[i] / u_minus:.0%} of that before. Log longer, or give end=."
                )
            faded = int(np.argmax(u >= FADED * u_minus))
            self.warn(
                f"Compression fades out rather than ends: from t = {t[faded]:.6g} s on '{rig.normal}' closes with less "
                f"than {FADED:.0%} of u⁻; that is taken for its end."
            )
            return (float(t[faded]), *self._edge(within, float(t[faded]), DEGREE_WITHIN))
        end = rough
        for _ in range(3):
            found = self._edge(within, end, DEGREE_WITHIN)
            later = self._crossing(found[3], end, float(t[0]), float(t[-1]))
            if later is None or abs(later - end) < 1e-3 * log.step:
                break
            end = later
        return (end, *self._edge(within, end, DEGREE_WITHIN))

    def _crossing(self, fit: Fit, near: float, first: float, last: float) -> float | None:
        """Where u of the fit rises through 0, within a few samples of a time; the nearest."""
        log, rig = self.log, self.rig
        t = np.linspace(max(near - 3 * log.step, first), min(near + 3 * log.step, last), 121)
        if log.v is None:
            q = fit.value(t)
            v = rig.velocities(q, fit.rate(t))
        else:
            q = np.stack([np.interp(t, log.t, column) for column in log.q.T], axis=-1)
            v = fit.value(t)
        u = rig.states(q, v)["u"]
        up = np.nonzero((u[:-1] < 0) & (u[1:] >= 0))[0]
        if not len(up):
            return None
        i = up[np.argmin(np.abs(t[up] - near))]
        return float(t[i] - u[i] * (t[i + 1] - t[i]) / (u[i + 1] - u[i]))

    def _end_noise(self, q: Array, v: Array, noise: Array, fit: Fit, end: float) -> float:
        """Standard deviation of the end of compression: that of u over its slope."""
        rig, h = self.rig, self.log.step / 2
        each = rig.states(np.broadcast_to(q, (len(v), len(q))), v + np.diag(noise))["u"] - rig.states(q, v)["u"]
        if self.log.v is None:
            sides = [
                rig.states(fit.value(s), rig.velocities(fit.value(s), fit.rate(s)))["u"] for s in (end - h, end + h)
            ]
        else:
            sides = [rig.states(q, fit.value(s))["u"] for s in (end - h, end + h)]
        slope = abs(float(sides[1] - sides[0])) / (2 * h)
        return float(np.sqrt(np.sum(each**2))) / slope if slope else np.inf

    def _impulse(self, row: str, end: float, end_noise: float) -> tuple[float, float]:
        log = self.log
        force = log.forces[row]
        lead = force[: self.felt.lead]
        stuck = saturated(log.t, force, self.contact.first, self.contact.last)
        value, noise = impulse_of(log.t, force - np.median(lead), lead, self.onset, end, end_noise)
        if stuck is None or stuck[0] > end:
            return value, noise
        told = (
            f"'force.{row}' saturates at {stuck[2]:.4g} {self.rig.force_unit(row)} from t = {stuck[0]:.6g} to "
            f"{stuck[1]:.6g} s: its impulse is more than {abs(value):.4g}."
        )
        if told not in self.said and end_noise is not None and told.rpartition(":")[0] not in {
            one.rpartition(":")[0] for one in self.said
        }:  # fmt: skip
            self.warn(told)
        return value, np.inf

    def _after(self) -> Array | None:
        """V just after the contact; None where too few samples are left before the next one."""
        log, number = self.log, self.number
        start = self.contact.last + 1
        stop = self.felt.contacts[number].first if number < len(self.felt.contacts) else len(log.t)
        if not self.contact.ends or stop - start < LEAST_BEFORE:
            return None
        return self._edge(slice(start, min(stop, start + LOCAL)), float(log.t[start]), DEGREE)[1]

    def _segments(self, before: Fit, within: Fit) -> tuple[list[int], list[int]]:
        """Where segments of the log begin, and the window of each: what serves best on either side of the onset."""
        free, touching = min(before.n, CURVE), within.n
        breaks, windows = [], [free]
        for contact in self.felt.contacts:
            breaks += [contact.first, contact.last + 1] if contact.ends else [contact.first]
            windows += [touching, free] if contact.ends else [touching]
        if breaks and breaks[0] == 0:
            return breaks[1:], windows[1:]
        return breaks, windows

    def _refuse_gap(self, start: float, end: float, where: str) -> None:
        for a, b in self.log.gaps:
            if b > start and a < end:
                raise BadLog(
                    f"Samples are missing from t = {a:.6g} to {b:.6g} s, {where} of the strike at "
                    f"t = {self.onset:.6g} s; nothing can be told of it."
                )


__all__ = ["Contact", "Strike", "contacts_of", "split"]
