"""What a report holds: sections of tables, pictures, words and code. Looks are those of `report.html.j2`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from jourdain.plots.saving import svg

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Table:
    """Texts in rows. Cells that are `Markup` are inserted as they are, others escaped."""

    kind: ClassVar = "table"
    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    left: Sequence[int] = (0,)  # columns of texts; the others are numbers

    def without_empty(self) -> Table:
        """The same without columns in which nothing stands."""
        kept = [i for i in range(len(self.header)) if i == 0 or any(row[i] for row in self.rows)]
        rows = [[row[i] for i in kept] for row in self.rows]
        left = [place for place, i in enumerate(kept) if i in self.left]
        return Table(self.title, [self.header[i] for i in kept], rows, left)


@dataclass(frozen=True)
class Picture:
    kind: ClassVar = "picture"
    name: str
    caption: str
    svg: bytes


@dataclass(frozen=True)
class Words:
    kind: ClassVar = "words"
    text: str


@dataclass(frozen=True)
class Code:
    """What can be typed again: Python, or a line for a terminal."""

    kind: ClassVar = "code"
    caption: str
    text: str


Part: TypeAlias = Table | Picture | Words | Code


@dataclass(frozen=True)
class Section:
    title: str
    parts: Sequence[Part]


@dataclass(frozen=True)
class Report:
    """A page: what it is about, in short, and sections; those without parts are left out."""

    title: str
    lead: Sequence[str]
    sections: Sequence[Section]

    def html(self) -> str:
        """The page as text."""
        from importlib.metadata import version

        from jourdain.reports.template import environment

        filled = [section for section in self.sections if section.parts]
        page = environment().get_template("report.html.j2")
        return page.render(title=self.title, lead=self.lead, sections=filled, version=version("jourdain"))


def picture(name: str, ax: Axes | Figure, caption: str) -> Picture:
    """A figure, or that of some axes. `name`: what is read where pictures are not seen."""
    return Picture(name, caption, svg(ax))
