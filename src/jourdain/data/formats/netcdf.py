"""netCDF keeps a dataset as it is."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from jourdain.data.columns import Columns
from jourdain.data.signals import signals_held
from jourdain.errors import CannotWrite, optional


def write(table: Columns, path: Path) -> None:
    ds = table.dataset
    for name in ds.variables:
        if "/" in str(name):
            raise CannotWrite(f"netCDF has no name '{name}' with a slash; keep the whole quantity, or write .parquet.")
    try:
        with signals_held():
            ds.to_netcdf(path, engine=engine())
    except RuntimeError as error:  # what netCDF makes of a disk that is full
        raise OSError(str(error)) from None


def engine() -> Literal["netcdf4", "h5netcdf"]:
    """Which of the two packages writes netCDF here; the second is for systems that the first has no wheel for."""
    try:
        import netCDF4  # noqa: F401
    except ModuleNotFoundError:
        try:
            import h5netcdf  # noqa: F401
        except ModuleNotFoundError:
            optional("netCDF4", "files", "Writing .nc")
        return "h5netcdf"
    return "netcdf4"


def check() -> None:
    """Raise MissingExtra if no package can write it."""
    engine()
