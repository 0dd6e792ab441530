"""A trajectory as labelled data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from jourdain.data.dataset import unit_attribute
from jourdain.quantities import rate_unit

if TYPE_CHECKING:
    import xarray

    from jourdain.mechanism.mechanism import Mechanism
    from jourdain.motion.trajectory import Trajectory


class Label(NamedTuple):
    """What an entry of the state is called in a dataset."""

    key: str
    name: str  # of the coordinate or velocity
    is_velocity: bool
    long_name: str
    unit: str

    @property
    def said(self) -> str:
        """As a table says it."""
        return self.name if not self.is_velocity or self.key == self.name else self.long_name

    @property
    def attributes(self) -> dict[str, str]:
        return {"long_name": self.long_name, **unit_attribute(self.unit)}


def state_labels(mechanism: Mechanism) -> list[Label]:
    """Of coordinates, then velocities, in their order; the rate of theta is theta_rate."""
    s, units = mechanism.symbols, mechanism.units
    labels = [Label(name, name, False, f"coordinate {name}", units.get(name, "")) for name in s.q_names]
    for name in s.v_names:
        unit = units.get(name, "")
        if name in s.q_names:
            labels.append(Label(f"{name}_rate", name, True, f"rate of {name}", rate_unit(unit)))
        else:
            labels.append(Label(name, name, True, f"velocity {name}", unit))
    return labels


def trajectory_dataset(run: Trajectory) -> xarray.Dataset:
    """See `Trajectory.to_dataset`."""
    import xarray

    data: dict[str, Any] = {}
    for label in state_labels(run.hybrid.mechanism):
        values = run.velocity[label.name] if label.is_velocity else run.coordinate[label.name]
        data[label.key] = ("time", values, label.attributes)
    forces = {row: run.reaction[row] for c in run.hybrid.held.values() for row in c.row_names}
    if forces:
        attributes = {"long_name": "reaction along each row, NaN while it is not on"}
        data["reaction"] = (("time", "row"), np.column_stack(list(forces.values())), attributes)
    energy = run.energy
    for name in ("kinetic", "potential", "forces", "supports", "events"):
        data[f"energy_{name}"] = ("time", getattr(energy, name), {"long_name": _ENERGIES[name], "units": "J"})
    topologies = [segment.topology for segment in run.segments for _ in segment.t]
    data["topology"] = ("time", topologies, {"long_name": "topology"})
    data["event_time"] = ("event", [event.t for event in run.events], {"long_name": "time of the event", "units": "s"})
    data["event_loss"] = ("event", [event.lost for event in run.events], {"long_name": "energy lost", "units": "J"})
    data["event_target"] = ("event", [event.switch.target for event in run.events], {"long_name": "topology after"})
    time = ("time", run.t, {"long_name": "time", "units": "s"})
    coords: dict[str, Any] = {"time": time, "event": np.arange(len(run.events))}
    coords |= {"row": list(forces)} if forces else {}
    return xarray.Dataset(data, coords=coords, attrs={"stopped": run.stopped})


_ENERGIES = {
    "kinetic": "kinetic energy",
    "potential": "potential energy",
    "forces": "work of forces without a potential, so far",
    "supports": "work of moving supports, so far",
    "events": "energy changed by events, so far",
}
