"""A strike out of a log: where it begins and where compression ends, the motion there, and the impulses between."""

from __future__ import annotations

import warnings

import numpy as np

from jourdain.errors import BadLog, LogWarning
from jourdain.experiment.contacts import Felt, baseline, extrapolated, felt, refuse_none, saturated
from jourdain.experiment.edges import Edge, Edges
from jourdain.experiment.kink import kink
from jourdain.experiment.logs import Log
from jourdain.experiment.notices import Keyword, Notice
from jourdain.experiment.plausible import refuse_rates, refuse_units
from jourdain.experiment.slopes import DEGREE, rates_along
from jourdain.experiment.strike import Strike
from jourdain.experiment.uncertainty import energy_noise, impulse_of
from jourdain.inputs import Array

LEAST_BEFORE = 7  # samples between the contact before, or the beginning, and the strike
LEAST_WITHIN = 4  # samples of a contact whose compression can be followed
QUIET = 200  # samples before a strike that tell the noise
LOCAL = 2000  # samples on either side of a strike that are looked at
CURVE = 61  # samples, at most, of a window of the curves over time
NEAR = 3  # samples around a first guess of the end of compression, among which it is looked for
SPIKE = 0.05  # of the largest force: what stands out by more before a contact is told
AWAY = 3  # samples between a given onset and the felt one that are told
CLOSING = 0.1  # of u⁻: more than that at a given end of compression is told
SHALLOW = 30.0  # times the noise of the coordinates: a compression less deep than that is told
BRIEF = 6  # samples of compression: in fewer, trapezoids are coarse
FADED = 0.02  # of u⁻: compression that comes this near to its end and no nearer has ended
OFF = 2.0  # times: an impulse further than this from what stops the model is told


def contacts_of(log: Log) -> Felt:
    """The contacts that the normal force tells; refused where there are none."""
    force = log.forces[log.rig.normal]
    found = felt(log.t, force)
    refuse_none(found, log.t, force, log.rig.normal)
    return found


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
        for name, value in (("onset", onset), ("end", end), ("window", window)):
            if value is not None and not (isinstance(value, int | float) and np.isfinite(value)):
                raise BadLog(f"{name} is a time in s, not {value!r}.")
        if window is not None and not window > 0:
            raise BadLog(f"window is a time in s, above 0, not {window!r}.")
        self.felt = contacts_of(log)
        self.normal = self._above(self.rig.normal)[0]
        self.number = self._chosen(number, onset)
        self.contact = self.felt.contacts[self.number - 1]
        self.sought, self.given_end = onset is None, end
        self.onset = self._placed(onset, end)
        self.onset_noise = self.contact.unsure if self.sought else 0.0
        self.first = int(np.searchsorted(log.t, self.onset))  # the first sample within the contact
        self.within = slice(self.first, self.contact.last + 1)
        start = self.felt.contacts[self.number - 2].last + 1 if self.number > 1 else 0
        if self.first - start < LEAST_BEFORE:
            raise BadLog(
                f"Only {self.first - start} samples lie before the strike at t = {self.onset:.6g} s; {LEAST_BEFORE} at "
                "least are needed to tell the velocity."
            )
        self.before = slice(max(start, self.first - LOCAL), self.first)
        self.edges = Edges(log, slice(max(start, self.first - QUIET), self.first), window)

    def warn(self, text: str) -> None:
        self.said.append(text)
        warnings.warn(text, LogWarning, stacklevel=6)

    def _above(self, row: str) -> tuple[Array, float]:
        """A force above its baseline, and its noise."""
        force = self.log.forces[row]
        base, noise = baseline(self.log.t, force, self.felt.lead)
        return force - base, noise

    # Which contact, and where

    def _chosen(self, number: int | None, onset: float | None) -> int:
        contacts, t = self.felt.contacts, self.log.t
        if number is not None and not (isinstance(number, int) and 1 <= number <= len(contacts)):
            what, least = f"The log has {len(contacts)} contacts;", Keyword("number", 1)
            raise BadLog(Notice(what, "choose ", least, f" … {len(contacts)}, not {number!r}."))
        if number is None and onset is not None:
            after = [i for i, one in enumerate(contacts) if t[one.last] > onset]
            if not after:
                last = t[contacts[-1].last]
                raise BadLog(f"No contact follows onset = {onset:.6g} s: the last one ends at t = {last:.6g} s.")
            return after[0] + 1
        if number is None and len(contacts) > 1:
            others = ", ".join(f"{one.onset:.6g}" for one in contacts[:5]) + (", …" if len(contacts) > 5 else "")
            what = f"There are {len(contacts)} contacts in the log, from t = {others} s; the first is taken."
            self.warn(Notice(what, Keyword("number", 2, method="strike"), " takes the second."))
        first = contacts[(number or 1) - 1]
        for i in self.felt.spikes:
            if i < first.first and abs(self.normal[i]) > SPIKE * abs(first.peak):
                self.warn(
                    f"'{self.rig.normal}' stands out at t = {t[i]:.6g} s for less than 3 samples; that is no contact."
                )
        return number or 1

    def _placed(self, onset: float | None, end: float | None) -> float:
        """The onset, found or given."""
        t = self.log.t
        if onset is None and self.contact.begins:
            raise BadLog(f"The log begins in contact, at t = {t[0]:.6g} s; it must begin before the strike.")
        if onset is not None and not t[0] < onset < t[-1]:
            raise BadLog(f"onset = {onset:.6g} s lies outside the log, {t[0]:.6g} to {t[-1]:.6g} s.")
        if onset is None:
            onset = self.contact.onset
        elif abs(onset - self.contact.onset) > AWAY * self.log.step:
            self.warn(
                f"The onset is given as {onset:.6g} s, but '{self.rig.normal}' is first felt at "
                f"t = {self.contact.onset:.6g} s."
            )
        if end is not None and not onset < end <= t[-1]:
            raise BadLog(
                f"end = {end:.6g} s must lie behind the onset {onset:.6g} s and within the log ({t[-1]:.6g} s)."
            )
        return float(onset)

    # The steps

    def strike(self) -> Strike:
        log, rig, contact = self.log, self.rig, self.contact
        self._refuse_gap(float(log.t[self.first - 1]), self.onset, "at the onset")
        minus = self.edges.at(self.before, self.onset, DEGREE)
        if minus.rates is not None:
            refuse_rates(log, rig.rates(minus.q, minus.v), minus.places.rate(self.onset), self.onset)
        rough = self._rough()
        if rough is not None:
            refuse_units(log, minus.q, minus.v, rough, self.onset, self.warn)
        if self.sought and contact.jump:
            self.onset, self.onset_noise = self._kink(minus)
            minus = self.edges.at(self.before, self.onset, DEGREE)
        before = rig.states(minus.q, minus.v)
        if not before["u"] < 0:
            raise BadLog(
                f"'{rig.normal}' does not close before the contact at t = {self.onset:.6g} s: u = {before['u']:.4g}. "
                "Check the signs of the coordinates, the row, or the onset."
            )
        if contact.last - self.first + 1 < LEAST_WITHIN:
            raise BadLog(
                f"The contact at t = {self.onset:.6g} s lasts {contact.last - self.first + 1} samples; that is too few "
                "to follow its compression. Sample faster."
            )
        plus = self._end(float(before["u"]))
        self._refuse_gap(self.onset, plus.t, "within the compression")
        after = rig.states(plus.q, plus.v)
        if self.given_end is not None and abs(after["u"]) > CLOSING * abs(before["u"]):
            self.warn(
                f"The end of compression is given as {plus.t:.6g} s, but '{rig.normal}' still has u = {after['u']:.4g} "
                f"there, {after['u'] / before['u']:.0%} of that before."
            )
        if (plus.t - self.onset) / log.step < BRIEF:
            self.warn(
                f"The compression from t = {self.onset:.6g} s on lasts {(plus.t - self.onset) / log.step:.2g} samples; "
                "its impulses are coarse. Sample faster."
            )
        self._tell_if_shallow(minus, plus)
        end_noise = 0.0 if self.given_end is not None else self._end_noise(plus)
        uncertainty = {"onset": self.onset_noise, "end": end_noise}
        uncertainty |= energy_noise(rig, minus.q, minus.v, minus.noise, "minus")
        growing = self.edges.slopes(minus)
        for address in ("T_minus", "T_c_minus", "T_a_minus", "xi"):  # they grow or fall while the onset is not sure
            moved = growing[address.removesuffix("_minus")] * self.onset_noise
            uncertainty[address] = float(np.hypot(uncertainty[address], moved))
        uncertainty |= energy_noise(rig, plus.q, plus.v, plus.noise, "plus")
        for side, edge in (("v_minus", minus), ("v_plus", plus)):
            names = rig.mechanism.symbols.v_names
            uncertainty |= {f"{side}.{name}": float(x) for name, x in zip(names, edge.noise, strict=True)}
        stop = float(log.t[min(contact.last + 1, len(log.t) - 1)])
        impulse, whole = {}, {}
        for row in log.forces:
            impulse[row], uncertainty[f"impulse.{row}"] = self._impulse(row, plus.t, end_noise)
            whole[row], _ = self._impulse(row, stop, 0.0)
            if self._saturated(row, plus.t, impulse[row]):
                uncertainty[f"impulse.{row}"] = np.inf
        # What drove it before drives it on during the compression.
        driven = 1 + max(growing["u"] * (plus.t - self.onset) / float(before["u"]), 0.0)
        self._tell_if_off(impulse[rig.normal], float(before["stop"]) * driven)
        breaks, windows = self._segments(minus)
        return Strike(
            log, self.number, self.onset, plus.t, stop if contact.ends else None,
            minus.q, minus.v, plus.q, plus.v, self._after(),
            float(before["T"]), float(before["T_c"]), float(before["T_a"]),
            float(after["T"]), float(after["T_c"]), float(after["T_a"]), float(before["u"]),
            impulse, whole, uncertainty, (*log.warnings, *self.said), breaks, windows,
        )  # fmt: skip

    def _rough(self) -> float | None:
        """About the impulse of the compression: two thirds of that until the force has fallen to half its peak.

        None where the log ends while the force still grows.
        """
        t, sign = self.log.t[self.within], float(np.sign(self.contact.peak))
        force = self.normal[self.within] * sign
        peak = int(np.argmax(force))
        if peak == len(force) - 1:
            return None
        fallen = peak + int(np.argmax(np.append(force[peak:] < force[peak] / 2, True)))
        whole = np.trapezoid(force[: fallen + 1], t[: fallen + 1]) + force[0] * (t[0] - self.onset) / 2
        return float(whole) * sign / 1.5

    def _kink(self, minus: Edge) -> tuple[float, float]:
        """The onset by the motion, and its standard deviation, see `kink`."""
        log, rig = self.log, self.rig
        t, q = log.t[self.within], log.q[self.within]
        C = rig.normal_row(minus.q)
        away = rig.velocities(np.broadcast_to(minus.q, q.shape), q - minus.places.value(t)) @ C
        free = float(log.t[self.first - 1])
        start, at_first = (extrapolated(log.t, self.normal, self.first, self.contact.last, at) for at in (free, t[0]))
        slope = (at_first - start) / (t[0] - free)
        times, force = np.append(free, t), self.normal[self.within]
        onset, noise = kink(times, away, force, (start, slope))
        carried = float(np.sqrt(np.sum((C * minus.noise) ** 2))) * (t - onset)  # the approach is not sure either
        other, _ = kink(times, away + carried, force, (start, slope))
        return onset, float(np.hypot(noise, other - onset))

    def _end(self, u_minus: float) -> Edge:
        """The end of compression: where the normal row stops closing."""
        log, rig, within = self.log, self.rig, self.within
        if self.given_end is not None:
            longer = slice(self.first, max(within.stop, int(np.searchsorted(log.t, self.given_end)) + 1))
            return self.edges.at(longer, self.given_end, DEGREE)
        t, q = log.t[within], log.q[within]
        window = max(7, self.edges.at(within, self.onset, DEGREE).n // 2)
        v = rig.velocities(q, rates_along(t, q, [], [min(window, len(t))], 2)) if log.v is None else log.v[within]
        u = rig.states(q, v)["u"]
        if not (u >= 0).any():
            return self._faded(t, u, u_minus)
        end = float(t[np.argmax(u >= 0)])
        for _ in range(3):
            later = self._crossing(self.edges.at(within, end, DEGREE))
            if later is None or abs(later - end) < 1e-3 * log.step:
                break
            end = later
        return self.edges.at(within, end, DEGREE)

    def _crossing(self, edge: Edge) -> float | None:
        """Where u of the fit rises through 0, within a few samples of its time; the nearest."""
        inside = self.log.t[self.within]
        near = NEAR * self.log.step
        t = np.linspace(max(edge.t - near, inside[0]), min(edge.t + near, inside[-1]), 121)
        u = self.edges.states(edge, t)["u"]
        up = np.nonzero((u[:-1] < 0) & (u[1:] >= 0))[0]
        if not len(up):
            return None
        i = up[np.argmin(np.abs(t[up] - edge.t))]
        return float(t[i] - u[i] * (t[i + 1] - t[i]) / (u[i + 1] - u[i]))

    def _faded(self, t: Array, u: Array, u_minus: float) -> Edge:
        """Of a contact that comes to rest without springing back: where hardly any closing is left."""
        i = int(np.argmax(u))
        if u[i] < FADED * u_minus:
            raise BadLog(Notice(
                f"Compression does not end in the log: at t = {t[i]:.6g} s '{self.rig.normal}' still closes with "
                f"u = {u[i]:.4g}, {u[i] / u_minus:.0%} of that before.", "Log longer, or give ", Keyword("end"), ".",
            ))  # fmt: skip
        end = float(t[np.argmax(u >= FADED * u_minus)])
        self.warn(
            f"Compression fades out rather than ends: from t = {end:.6g} s on '{self.rig.normal}' closes with less "
            f"than {FADED:.0%} of u⁻; that is taken for its end."
        )
        return self.edges.at(self.within, end, DEGREE)

    def _end_noise(self, plus: Edge) -> float:
        """Standard deviation of the end of compression: that of u over its slope."""
        rig = self.rig
        several = np.broadcast_to(plus.q, (len(plus.v), len(plus.q)))
        each = rig.states(several, plus.v + np.diag(plus.noise))["u"] - rig.states(plus.q, plus.v)["u"]
        slope = abs(self.edges.slopes(plus)["u"])
        return float(np.sqrt(np.sum(each**2))) / slope if slope else np.inf

    def _impulse(self, row: str, end: float, end_noise: float) -> tuple[float, float]:
        """∫ F dt from the onset to a time, and its standard deviation."""
        log = self.log
        above, noise = self._above(row)
        start = 0.0
        if self.contact.jump:
            start = extrapolated(log.t, above, self.first, self.contact.last, self.onset)
        n_lead = self.felt.lead.stop - self.felt.lead.start
        return impulse_of(log.t, above, (noise, n_lead), (self.onset, self.onset_noise, start), (end, end_noise))

    def _saturated(self, row: str, end: float, value: float) -> bool:
        """Whether the sensor was at its limit before the end of compression; then it is told."""
        above, noise = self._above(row)
        force = self.log.forces[row]
        stuck = saturated(self.log.t, force, force - above, noise, self.contact)
        if stuck is None or stuck[0] > end:
            return False
        self.warn(
            f"'force.{row}' saturates at {stuck[2]:.4g} {self.rig.force_unit(row)} from t = {stuck[0]:.6g} to "
            f"{stuck[1]:.6g} s: its impulse is more than the {abs(value):.4g} that was felt."
        )
        return True

    def _tell_if_shallow(self, minus: Edge, plus: Edge) -> None:
        """Say so where the end is read off coordinates, and compression is hardly deeper than their noise."""
        rig = self.rig
        if self.log.v is not None:
            return
        C = rig.normal_row(minus.q)
        depth = abs(float(rig.velocities(minus.q, plus.q - minus.q) @ C))
        each = [float(rig.velocities(minus.q, one) @ C) for one in np.diag(self.edges.noise_q)]
        noise = float(np.sqrt(np.sum(np.square(each))))
        if depth < SHALLOW * noise:
            self.warn(
                f"The compression from t = {self.onset:.6g} s on is only {depth / noise:.2g} times as deep as the "
                "noise of the coordinates; its end, and with it the impulse, is uncertain. Finer encoders would help."
            )

    def _tell_if_off(self, impulse: float, stop: float) -> None:
        if not 1 / OFF < impulse / stop < OFF:
            self.warn(
                f"The impulse along '{self.rig.normal}' from t = {self.onset:.6g} s is {impulse:.4g}, "
                f"{impulse / stop:.3g} times the {stop:.4g} that stops the model: check its masses, the units, and "
                "what else pushes."
            )

    def _after(self) -> Array | None:
        """V just after the contact; None where too few samples are left before the next one."""
        log, number = self.log, self.number
        start = self.contact.last + 1
        stop = self.felt.contacts[number].first if number < len(self.felt.contacts) else len(log.t)
        if not self.contact.ends or stop - start < LEAST_BEFORE:
            return None
        return self.edges.at(slice(start, min(stop, start + LOCAL)), float(log.t[start]), DEGREE).v

    def _segments(self, minus: Edge) -> tuple[list[int], list[int]]:
        """Where segments of the log begin, and the window of each: what serves best on either side of the onset."""
        free, touching = min(minus.n, CURVE), self.edges.at(self.within, self.onset, DEGREE).n
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
