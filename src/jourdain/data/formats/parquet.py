"""Parquet: the same table as CSV, with units in the metadata."""

from __future__ import annotations

from pathlib import Path

from jourdain.data.columns import Columns
from jourdain.data.formats.arrow import CHUNK, batches, schema_of
from jourdain.errors import optional


def write(table: Columns, path: Path) -> None:
    """Units are in the metadata of the fields, under `units`; the dataset's attributes in that of the schema."""
    from pyarrow.parquet import ParquetWriter

    schema = schema_of(table.columns).with_metadata(
        {str(key): str(value) for key, value in table.dataset.attrs.items()}
    )
    with ParquetWriter(path, schema) as writer:
        for batch in batches(table.columns, table.n_lines):
            writer.write_batch(batch.cast(schema), row_group_size=CHUNK)


def check() -> None:
    """Raise MissingExtra if pyarrow is not installed."""
    optional("pyarrow", "files", "Writing .parquet")
