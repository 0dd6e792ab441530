"""A trajectory as labelled data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from jourdain.dataset import unit_attribute
from jourdain.quantities import rate_unit

if TYPE_CHECKING:
    import xarray

    from jourdain.motion.trajectory import Trajectory


def trajectory_dataset(run: Trajectory) -> xarray.Dataset:
    """See `Trajectory.to_dataset`."""
    import xarray

    s, units = run.hybrid.mechanism.symbols, run.hybrid.mechanism.units
    data: dict[str, Any] = {}
    for i, name in enumerate(s.q_names):
        data[name] = ("time", run.q[:, i], {"long_name": f"coordinate {name}", **unit_attribute(units.get(name, ""))})
    for i, name in enumerate(s.v_names):
        is_rate = name in s.q_names
        unit = rate_unit(units.get(name, "")) if is_rate else units.get(name, "")
        label = f"rate of {name}" if is_rate else f"velocity {name}"
        data[f"{name}_rate" if is_rate else name] = ("time", run.v[:, i], {"long_name": label, **unit_attribute(unit)})
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
    coords = {"time": time, "row": list(forces), "event": np.arange(len(run.events))}
    return xarray.Dataset(data, coords=coords, attrs={"stopped": run.stopped})


_ENERGIES = {
    "kinetic": "kinetic energy",
    "potential": "potential energy",
    "forces": "work of forces without a potential, so far",
    "supports": "work of moving supports, so far",
    "events": "energy changed by events, so far",
}
