"""Columns as tables of pyarrow, in pieces; for CSV and Parquet."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from jourdain.data.columns import Column

if TYPE_CHECKING:
    import pyarrow

CHUNK = 1 << 16  # lines that are turned into text or pages at a time


def schema_of(columns: tuple[Column, ...]) -> pyarrow.Schema:
    import pyarrow

    def field(column: Column) -> pyarrow.Field:
        form = pyarrow.array(column.read(slice(1))).type
        return pyarrow.field(column.address, form, metadata={"units": column.unit} if column.unit else None)

    return pyarrow.schema([field(column) for column in columns])


def batches(columns: tuple[Column, ...], n_lines: int) -> Iterator[pyarrow.RecordBatch]:
    import pyarrow

    schema = schema_of(columns)
    for start in range(0, n_lines, CHUNK):
        lines = slice(start, min(start + CHUNK, n_lines))
        yield pyarrow.record_batch([pyarrow.array(column.read(lines)) for column in columns], schema=schema)
