"""CSV: one line per event, the unit of each column in the header."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING

from jourdain.data.columns import Column, Columns, columns
from jourdain.data.formats.arrow import CHUNK, batches, schema_of

if TYPE_CHECKING:
    import xarray


def write(ds: xarray.Dataset, path: Path) -> None:
    """Every number as the shortest text that reads back as the same number."""
    found = columns(ds)
    header = [f"{column.address} [{column.unit}]" if column.unit else column.address for column in found.columns]
    try:
        from pyarrow.csv import CSVWriter, WriteOptions
    except ModuleNotFoundError:
        _slow_csv(header, found, path)
        return
    schema = schema_of(found.columns)
    words = sum(str(form) == "string" for form in schema.types) > ("status" in schema.names)  # they may need quotes
    options = WriteOptions(include_header=False, quoting_style="needed" if words else "none")
    with path.open("wb") as file:
        file.write(_line(header))
        with CSVWriter(file, schema, write_options=options) as writer:
            for batch in batches(found.columns, found.n_lines):
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
