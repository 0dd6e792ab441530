"""Where logs come from: CSV and Parquet files, DataFrames, dicts of arrays. Nothing is ever written to them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from jourdain.errors import BadLog, optional, shortened
from jourdain.experiment.units import header
from jourdain.inputs import Array

if TYPE_CHECKING:
    import pyarrow

EMPTY = ("", "nan", "na", "null", "none")


def columns_of(source: Any) -> dict[str, tuple[Any, str]]:
    """Name → (values, unit as written), of a file or a table."""
    found: dict[str, tuple[Any, str]] = {}
    for text, values, unit in _parts(source):
        name, written = header(text)
        if name in found:
            raise BadLog(f"The log has two columns '{name}'; rename one of them.")
        found[name] = (values, written or unit)
    return found


def _parts(source: Any) -> Iterator[tuple[str, Any, str]]:
    """(header, values, unit that stands elsewhere)."""
    if isinstance(source, str | Path):
        table = _table(Path(source))
        for one, values in zip(table.schema, table.columns, strict=True):
            about = one.metadata or {}
            yield one.name, values, _decoded_unit(one.name, about.get(b"units", b""))
    elif isinstance(source, Mapping) or hasattr(source, "columns"):
        for key, values in source.items():
            yield str(key), values, ""
    else:
        raise BadLog(f"A log is a .csv or .parquet file, a DataFrame or a dict of arrays, not {type(source).__name__}.")


def _decoded_unit(column: str, unit: bytes) -> str:
    try:
        return unit.decode()
    except UnicodeDecodeError:
        raise BadLog(f"The unit of column '{column}' is not UTF-8; correct it in the file's metadata.") from None


def _table(path: Path) -> pyarrow.Table:
    if not os.path.isfile(path):  # Path.is_file() raises if the name is too long
        raise BadLog(f"There is no file '{shortened(str(path))}'.")
    pyarrow = optional("pyarrow", "files", "Reading a log from a file")
    kind = path.suffix.lower()
    try:
        if kind == ".parquet":
            from pyarrow.parquet import read_table

            return read_table(path)
        if kind in (".csv", ".txt", ".tsv", ".dat"):
            return _csv(path)
    except (pyarrow.ArrowException, UnicodeError, OSError) as error:
        said = (str(error).splitlines() or [type(error).__name__])[0]
        raise BadLog(f"'{path}' cannot be read: {shortened(said).rstrip('.')}.") from None
    raise BadLog(f"'{path}' is no log that can be read; give a .csv or .parquet file, or a table from Python.")


def _csv(path: Path) -> pyarrow.Table:
    """In UTF-8, or else in Latin-1, as older instruments write their °."""
    try:
        return _decoded(path, "utf-8-sig", "utf8")
    except UnicodeDecodeError:
        return _decoded(path, "latin-1", "latin-1")


def _decoded(path: Path, top_as: str, rest_as: str) -> pyarrow.Table:
    """Comments (#) before the header are skipped; fields are parted by commas, semicolons or tabs."""
    from pyarrow.csv import ConvertOptions, ParseOptions, ReadOptions, read_csv

    skipped = 0
    top: list[str] = []
    with path.open(encoding=top_as) as file:
        for line in file:
            if not top and (line.startswith("#") or not line.strip()):
                skipped += 1
                continue
            top.append(line)
            if len(top) == 2:
                break
    if not top:
        raise BadLog(f"'{path}' is empty; a log has a header and samples.")
    comma = max(",;\t", key=top[0].count)
    point = "," if comma != "," and len(top) > 1 and "," in top[1] and "." not in top[1] else "."
    return read_csv(
        path,
        read_options=ReadOptions(skip_rows=skipped, encoding=rest_as),
        parse_options=ParseOptions(delimiter=comma),
        convert_options=ConvertOptions(decimal_point=point, strings_can_be_null=True),
    )


def floats(name: str, values: Any) -> Array:
    """A column as numbers `(n,)`, NaN where it is empty; what is not a number is told with its place."""
    try:
        array = np.asarray(values)
    except ValueError:  # lists of several lengths
        raise BadLog(f"Column '{name}' has lists in it, and one of them is no number; a column has numbers.") from None
    if array.ndim != 1:
        raise BadLog(f"Column '{name}' has the shape {array.shape}; a column has one number per sample.")
    if array.dtype.kind in "fiu":
        return array.astype(float, copy=False)
    if array.dtype.kind in "mM":  # dates and durations: seconds from the first
        since = array - array[0] if len(array) else array.astype("timedelta64[ns]")
        return np.where(np.isnat(since), np.nan, since.astype("timedelta64[ns]").astype(float) * 1e-9)
    return np.array([_float(name, i, one) for i, one in enumerate(array.tolist())], dtype=float)


def _float(name: str, i: int, value: Any) -> float:
    if value is None or (isinstance(value, str) and value.strip().lower() in EMPTY):
        return float("nan")
    try:
        if isinstance(value, bool):
            raise ValueError
        return float(value)
    except OverflowError:  # an integer of more digits than a float has
        raise BadLog(f"Column '{name}' has a number at sample {i + 1} that is too large.") from None
    except (TypeError, ValueError):
        raise BadLog(
            f"Column '{name}' has '{shortened(str(value), 80)}' at sample {i + 1}, which is no number."
        ) from None
