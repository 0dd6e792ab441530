"""A dataset to a file: netCDF, CSV, Parquet or JSON, by the suffix."""

from __future__ import annotations

import csv
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal

import numpy as np

from jourdain.data.columns import Column, Columns, columns
from jourdain.errors import CannotWrite, optional, unknown

if TYPE_CHECKING:
    import pyarrow
    import xarray

CHUNK = 1 << 16  # lines that are turned into text or pages at a time


def write(ds: xarray.Dataset, path: str | os.PathLike[str]) -> None:
    """Write a dataset; the suffix says how: .nc, .csv, .parquet, .json.

    netCDF and JSON keep the dataset as it is (JSON: `Dataset.to_dict`, null for NaN, which `Dataset.from_dict` reads
    as None, and 1e999 for infinity, since JSON has no words for them). CSV and Parquet are tidy: one line per event,
    the swept parameters first, then the fixed ones, the quantities by their addresses and the status by its name.
    Angles are radians. The file is there in full or not at all.

    >>> import tempfile, jourdain as jd
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "bounce.csv")
    ...     write(jd.gallery.particle().sweep(kappa=[0.0, 0.5], keep=["loss", "impulse.floor"]), path)
    ...     print(path.read_text(encoding="utf-8"))
    kappa [1],m [kg],v_x [m/s],v_z [m/s],loss [J],impulse.floor [N s],status
    0,1,2,-3,4.5,3,ok
    0.5,1,2,-3,3.375,4.5,ok
    <BLANKLINE>
    """
    path = Path(path)
    refuse(path)
    with whole(path) as part:
        _WRITERS[_format(path)](ds, part)


def refuse(path: str | os.PathLike[str]) -> None:
    """Raise, before anything is computed, if a dataset cannot be written to this path."""
    path = Path(path)
    refuse_place(path)
    if not path.suffix:
        raise CannotWrite(f"'{path}' has no suffix; .{', .'.join(_WRITERS)} say how it is to be written.")
    if _format(path) in ("png", "svg", "pdf"):
        raise CannotWrite(
            f"'{path}' is the name of a picture; numbers go to .{', .'.join(_WRITERS)}, pictures to --plot."
        )
    if _format(path) not in _WRITERS:
        raise unknown("file format", _format(path), _WRITERS)
    if _format(path) == "nc":
        _netcdf_engine()
    if _format(path) == "parquet":
        optional("pyarrow", "files", "Writing .parquet")


def refuse_place(path: Path) -> None:
    """Raise if there can be no file at this path, whatever it is to hold."""
    if path.is_dir():
        raise CannotWrite(f"'{path}' is a folder; give the name of a file.")
    if not path.parent.is_dir():
        raise CannotWrite(f"The folder '{path.parent}' does not exist; make it first.")
    if path.exists() and not (path.is_file() and os.access(path, os.W_OK)):
        raise CannotWrite(f"'{path}' may not be overwritten; choose another name.")
    if not os.access(path.parent, os.W_OK):
        raise CannotWrite(f"The folder '{path.parent}' may not be written to; choose another.")


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """A file beside the path to write to; it takes the path's place when all is written, else it goes."""
    path = path.resolve()  # of a link, what it points to
    part = None
    try:
        handle, name = tempfile.mkstemp(prefix=".", suffix=path.suffix, dir=path.parent)
        os.close(handle)
        part = Path(name)
        part.chmod(path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask())
        yield part
        part.replace(path)
    except OSError as error:
        raise CannotWrite(f"'{path}' cannot be written: {error.strerror or error}.") from None
    finally:
        if part is not None:
            with suppress(OSError):
                part.unlink(missing_ok=True)


def _umask() -> int:
    """What new files may not be; the system tells it only when it is set."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def _format(path: Path) -> str:
    return path.suffix.removeprefix(".").lower()


def _netcdf(ds: xarray.Dataset, path: Path) -> None:
    for name in ds.variables:
        if "/" in str(name):
            raise CannotWrite(f"netCDF has no name '{name}' with a slash; keep the whole quantity, or write .parquet.")
    try:
        ds.to_netcdf(path, engine=_netcdf_engine())
    except RuntimeError as error:  # what netCDF makes of a disk that is full
        raise OSError(str(error)) from None


def _netcdf_engine() -> Literal["netcdf4", "h5netcdf"]:
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


def _csv(ds: xarray.Dataset, path: Path) -> None:
    """Every number as the shortest text that reads back as the same number."""
    found = columns(ds)
    header = [f"{column.address} [{column.unit}]" if column.unit else column.address for column in found.columns]
    try:
        from pyarrow.csv import CSVWriter, WriteOptions
    except ModuleNotFoundError:
        _slow_csv(header, found, path)
        return
    schema = _schema(found.columns)
    words = sum(str(form) == "string" for form in schema.types) > ("status" in schema.names)  # they may need quotes
    options = WriteOptions(include_header=False, quoting_style="needed" if words else "none")
    with path.open("wb") as file:
        file.write(_line(header))
        with CSVWriter(file, schema, write_options=options) as writer:
            for batch in _batches(found.columns, found.n_lines):
                writer.write_batch(batch)


def _slow_csv(header: list[str], found: Columns, path: Path) -> None:
    """The same numbers without pyarrow, slower; a text may differ, as 1e-05 from 0.00001."""

    def texts(column: Column, lines: slice) -> list[str]:
        return [repr(value).removesuffix(".0") if isinstance(value, float) else str(value)
                for value in column.read(lines).tolist()]  # fmt: skip

    with path.open("wb") as file:
        file.write(_line(header))
        for start in range(0, found.n_lines, CHUNK):
            lines = slice(start, min(start + CHUNK, found.n_lines))
            for cells in zip(*(texts(column, lines) for column in found.columns), strict=True):
                file.write(_line(list(cells)))


def _line(cells: list[str]) -> bytes:
    from io import StringIO

    text = StringIO()
    csv.writer(text, lineterminator="\n").writerow(cells)
    return text.getvalue().encode("utf-8")


def _parquet(ds: xarray.Dataset, path: Path) -> None:
    """Units are in the metadata of the fields, under `units`; the dataset's attributes in that of the schema."""
    from pyarrow.parquet import ParquetWriter

    found = columns(ds)
    schema = _schema(found.columns).with_metadata({str(key): str(value) for key, value in ds.attrs.items()})
    with ParquetWriter(path, schema) as writer:
        for batch in _batches(found.columns, found.n_lines):
            writer.write_batch(batch.cast(schema), row_group_size=CHUNK)


def _schema(found: tuple[Column, ...]) -> pyarrow.Schema:
    import pyarrow

    def field(column: Column) -> pyarrow.Field:
        form = pyarrow.array(column.read(slice(1))).type
        return pyarrow.field(column.address, form, metadata={"units": column.unit} if column.unit else None)

    return pyarrow.schema([field(column) for column in found])


def _batches(found: tuple[Column, ...], n_lines: int) -> Iterator[pyarrow.RecordBatch]:
    import pyarrow

    schema = _schema(found)
    for start in range(0, n_lines, CHUNK):
        lines = slice(start, min(start + CHUNK, n_lines))
        yield pyarrow.record_batch([pyarrow.array(column.read(lines)) for column in found], schema=schema)


def _json(ds: xarray.Dataset, path: Path) -> None:
    """The text of `Dataset.to_dict`, one variable at a time: all at once would take ten times the room."""
    outline = ds.to_dict(data=False)
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write("{")
        for part in ("coords", "data_vars"):
            file.write(f'"{part}": {{')
            for i, (name, about) in enumerate(outline[part].items()):
                about = {"dims": about["dims"], "attrs": about["attrs"]}
                file.write((", " if i else "") + f"{_plain(str(name))}: {_plain(about)[:-1]}" + ', "data": ')
                _write_numbers(ds[name].values, file)
                file.write("}")
            file.write("}, ")
        file.write(f'"attrs": {_plain(outline["attrs"])}, "dims": {_plain(outline["dims"])}}}\n')


def _plain(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _write_numbers(array: Any, file: IO[str]) -> None:
    """Nested lists; NaN and infinity are no words of JSON."""
    text = json.dumps(np.asarray(array).tolist(), ensure_ascii=False)
    if np.asarray(array).dtype.kind == "f":
        text = text.replace("NaN", "null").replace("Infinity", "1e999")
    file.write(text)


_WRITERS = {"nc": _netcdf, "csv": _csv, "parquet": _parquet, "json": _json}
