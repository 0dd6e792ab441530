"""CSV: one line per event, the unit of each column in the header."""

from __future__ import annotations

import csv
from pathlib import Path

from jourdain.data.columns import Column, Columns
from jourdain.data.formats.arrow import CHUNK, batches, schema_of


def write(table: Columns, path: Path) -> None:
    """Every number as the shortest text that reads back as the same number."""
    with path.open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(column.header for column in table.columns)
        try:
            from pyarrow.csv import CSVWriter, WriteOptions
        except ModuleNotFoundError:  # the same numbers, slower; a text may differ, as 1e-05 from 0.00001
            for start in range(0, table.n_lines, CHUNK):
                chunk = slice(start, min(start + CHUNK, table.n_lines))
                lines.writerows(zip(*(_texts(column, chunk) for column in table.columns), strict=True))
            return
    schema = schema_of(table.columns)
    words = sum(str(form) == "string" for form in schema.types) > ("status" in schema.names)  # they may need quotes
    options = WriteOptions(include_header=False, quoting_style="needed" if words else "none")
    with path.open("ab") as file_end, CSVWriter(file_end, schema, write_options=options) as writer:
        for batch in batches(table.columns, table.n_lines):
            writer.write_batch(batch)


def _texts(column: Column, lines: slice) -> list[str]:
    return [repr(value).removesuffix(".0") if isinstance(value, float) else str(value)
            for value in column.read(lines).tolist()]  # fmt: skip
