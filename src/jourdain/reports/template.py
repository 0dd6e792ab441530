"""The look of all pages: templates, pictures inside the page, the file."""

from __future__ import annotations

from base64 import b64encode
from pathlib import Path
from typing import TYPE_CHECKING

from jourdain.data.files import check_place, whole_file
from jourdain.errors import CannotWrite
from jourdain.inputs import FilePath
from jourdain.reports import typeset

if TYPE_CHECKING:
    from jinja2 import Environment


def environment(*packages: str) -> Environment:
    """Templates of these packages and the shared ones; what they insert is escaped."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    found = Environment(
        loader=ChoiceLoader([PackageLoader(package, "") for package in (*packages, "jourdain.reports")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters |= {"typeset": typeset.words, "cell": typeset.cell, "image": image}
    return found


def image(svg: bytes) -> str:
    """A picture as the address of itself, for `src`."""
    return f"data:image/svg+xml;base64,{b64encode(svg).decode()}"


def check_page(path: FilePath) -> None:
    """Raise, before anything is computed, if a report cannot be written to this path."""
    place = Path(path)
    check_place(place)
    if place.suffix.lower() != ".html":
        raise CannotWrite(
            f"'{place}' does not end in .html, and a report is a page of HTML; call it '{place.stem}.html'."
        )


def write_page(text: str, path: FilePath) -> None:
    """Write a page to a file, which is there in full or not at all."""
    with whole_file(Path(path)) as part:
        part.write_text(text, encoding="utf-8", newline="\n")
