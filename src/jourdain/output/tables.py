"""Titles and tables as HTML, as notebooks show them."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

Table = tuple[Sequence[str], Sequence[Sequence[str]]]  # header, empty for none; rows
MOST = 24  # names in a list


def page(title: str, tables: Iterable[Table]) -> str:
    """A title, and the tables that have rows."""
    parts = [f"<p><b>{html.escape(title)}</b></p>"]
    for header, rows in tables:
        if rows:
            head = f"<thead><tr>{_cells('th', header)}</tr></thead>" if header else ""
            body = "".join(f"<tr>{_cells('td', row)}</tr>" for row in rows)
            parts.append(f"<table>{head}<tbody>{body}</tbody></table>")
    return "\n".join(parts)


def _cells(tag: str, cells: Iterable[str]) -> str:
    """The first to the left, as it names what follows."""
    left = ' style="text-align: left"'
    return "".join(f"<{tag}{left if i == 0 else ''}>{html.escape(cell)}</{tag}>" for i, cell in enumerate(cells))


def names(several: Iterable[str]) -> str:
    """Names in one cell; of very many the first.

    >>> names(["x", "y"]), names(map(str, range(100)))[-12:]
    ('x, y', ' and 76 more')
    """
    listed = list(several)
    more = f" and {len(listed) - MOST} more" if len(listed) > MOST else ""
    return ", ".join(listed[:MOST]) + more
