"""One strike out of a log: its numbers, how sure they are, and the energies over time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from jourdain.data.addresses import unit_of
from jourdain.experiment.impulses import friction_ratio
from jourdain.experiment.rig import Rig
from jourdain.experiment.slopes import rates_along
from jourdain.inputs import Array, FilePath
from jourdain.output.printable import prints
from jourdain.quantities import MEASURED

if TYPE_CHECKING:
    import xarray

    from jourdain.experiment.compare import Comparison
    from jourdain.experiment.logs import Log


Until = Literal["compression", "contact"]


@dataclass(frozen=True, eq=False)
class State:
    """A measured state: q, v, energies in J, and u of the normal row."""

    q: Array
    v: Array
    T: float
    T_c: float
    T_a: float
    u: float


@dataclass(frozen=True, repr=False, eq=False, kw_only=True)
class Strike:
    """What a log tells of one strike. Times in s on the log's clock, energies in J, impulses in N s (turning: N m s).

    `_minus` is just before the onset, `_plus` the end of compression, `released` just after the contact. `uncertainty`:
    standard deviations, by address as in "T_c_minus", "impulse.wall", "restitution_newton", and of what is later than
    the compression "v_release.q1", "T_release", "impulse_contact.wall". `curves` has the energies over time.
    """

    log: Log
    number: int
    onset: float
    end: float  # of compression
    release: float | None  # of the contact; None: the log ends before
    until: Until  # the end of what its event models: "contact" where that has a restitution, else "compression"
    q_minus: Array
    v_minus: Array
    q_plus: Array
    v_plus: Array
    T_minus: float
    T_c_minus: float
    T_a_minus: float
    T_plus: float
    T_c_plus: float
    T_a_plus: float
    u_minus: float  # of the normal row
    released: State | None  # just after the contact; None where the log does not tell it
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
    def v_release(self) -> Array | None:
        """V just after the contact; None where the log does not tell it."""
        return None if self.released is None else self.released.v

    @property
    def xi(self) -> float:
        """T_c⁻/T⁻."""
        return self.T_c_minus / self.T_minus

    @property
    def loss(self) -> float:
        """T⁻ − T⁺, J."""
        return self.T_minus - self.T_plus

    @property
    def restitution_newton(self) -> float | None:
        """−u⁺/u⁻ of the normal row, u⁺ just after the contact; None where the log does not tell it."""
        return None if self.released is None else -self.released.u / self.u_minus

    @property
    def restitution_poisson(self) -> float | None:
        """The normal impulse after the end of compression over that before; None where the contact goes on."""
        if self.release is None:
            return None
        normal = self.rig.normal
        return self.impulse_contact[normal] / self.impulse[normal] - 1

    @property
    def restitution(self) -> float | None:
        """The same as `restitution_poisson`."""
        return self.restitution_poisson

    @property
    def friction_ratio(self) -> float | None:
        """|tangential|/normal impulse, of the contact or of its compression, see `until`; None without all tangents."""
        impulse = self.impulse_contact if self.until == "contact" else self.impulse
        rows = (self.rig.normal, *self.rig.rubbing)
        return friction_ratio(*(impulse[row] for row in rows)) if len(rows) > 1 and {*rows} <= {*impulse} else None

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
        """Its numbers by address, as repeats are averaged and compared; what the log does not tell is left out.

        T_plus, v_plus, loss and impulses are those at the end of what the event models, see `until`.
        """
        T, T_c, T_a, v, impulse = self.T_plus, self.T_c_plus, self.T_a_plus, self.v_plus, self.impulse
        if self.until == "contact" and self.released is not None:
            free = self.released
            T, T_c, T_a, v, impulse = free.T, free.T_c, free.T_a, free.v, self.impulse_contact
        found = {"T_minus": self.T_minus, "T_c_minus": self.T_c_minus, "T_a_minus": self.T_a_minus, "T_plus": T,
                 "T_c_plus": T_c, "T_a_plus": T_a, "xi": self.xi, "loss": self.T_minus - T}  # fmt: skip
        v_names = self.rig.mechanism.symbols.v_names
        for side, rates in (("v_minus", self.v_minus), ("v_plus", v)):
            found |= {f"{side}.{name}": float(x) for name, x in zip(v_names, rates, strict=True)}
        found[f"u_minus.{self.rig.normal}"] = self.u_minus
        found |= {f"impulse.{row}": value for row, value in impulse.items()}
        ratios = {name: getattr(self, name) for name in MEASURED}
        return found | {name: value for name, value in ratios.items() if value is not None}

    def deviations(self) -> dict[str, float]:
        """Standard deviations of `quantities`, by the same addresses."""
        later = {"T_plus": "T_release", "T_c_plus": "T_c_release", "T_a_plus": "T_a_release", "v_plus": "v_release",
                 "impulse": "impulse_contact"} if self.until == "contact" else {}  # fmt: skip
        found = {}
        for address in self.quantities():
            quantity, dot, label = address.partition(".")
            found[address] = self.uncertainty.get(f"{later.get(quantity, quantity)}{dot}{label}", np.nan)
        return found | {"loss": float(np.hypot(found["T_minus"], found["T_plus"]))}

    def ending(self, until: Until) -> Strike:
        """The same strike, averaged and compared at another instant."""
        if until == self.until:
            return self
        uncertainty = {name: value for name, value in self.uncertainty.items() if name != "friction_ratio"}
        return replace(self, until=until, uncertainty=uncertainty)

    def unit(self, address: str) -> str:
        """The unit of one of its quantities; "" where it has none."""
        return "" if address in MEASURED else unit_of(self.rig.event.layout, address)

    def compare(self) -> Comparison:
        """Beside what the event predicts from v⁻."""
        from jourdain.experiment.compare import compare

        return compare(self)

    def report(self, path: FilePath, title: str = "") -> None:
        """Write one page of HTML that needs nothing else: what was measured beside the model,
        with uncertainties, curves, the warnings of the log.

        Parameters
        ----------
        path : str or Path
            Where to write it; it ends in .html. The file is there in full or not at all.
        title : str
            The title of the page.

        Raises
        ------
        CannotWrite
            If no such file can be written.

        """
        from jourdain.reports.strikes import strike_report
        from jourdain.reports.template import check_page, write_page

        check_page(path)
        write_page(strike_report(self, title).html(), path)

    @prints
    def __repr__(self) -> str:
        return f"<Strike {self.number} of {self.log.source!r}: from {self.onset:g} s, ξ = {self.xi:.4g}>"

    @prints
    def __str__(self) -> str:
        from jourdain.experiment.text import strike_text

        return strike_text(self)

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre>{escape(str(self))}</pre>"
