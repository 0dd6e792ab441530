"""Titles of pages."""

from __future__ import annotations


def titled(name: str) -> str:
    """A name of the gallery as a title.

    >>> titled("rough_rod")
    'Rough rod'
    """
    said = name.replace("_", " ")
    return f"{said[:1].upper()}{said[1:]}"
