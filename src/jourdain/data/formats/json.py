"""JSON: the text of `Dataset.to_dict`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import IO, Any

import numpy as np

from jourdain.data.columns import Columns


def write(table: Columns, path: Path) -> None:
    """The dataset to a file."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        write_to(table, file)


def write_to(table: Columns, file: IO[str]) -> None:
    """The text of `Dataset.to_dict`, one variable at a time: all at once would take ten times the room."""
    ds = table.dataset
    outline = ds.to_dict(data=False)
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
