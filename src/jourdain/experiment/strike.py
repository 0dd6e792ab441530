"""One strike out of a log: its numbers, how sure they are, and the energies over time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from jourdain.experiment.rig import Rig
from jourdain.experiment.slopes import rates_along
from jourdain.inputs import Array

if TYPE_CHECKING:
    import xarray

    from jourdain.experiment.compare import Comparison
    from jourdain.experiment.logs import Log


@dataclass(frozen=True, eq=False, kw_only=True)
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
        from jourdain.experiment.text import strike_text

        return strike_text(self)

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre>{escape(str(self))}</pre>"
