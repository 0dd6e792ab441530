"""Pages as a browser sees them: what they would ask for, their tables and code; and Chromium, which prints them."""

from __future__ import annotations

import re
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import engines

FORBIDDEN = ("script", "link", "iframe", "object", "embed", "base", "form", "video", "audio")


class Page(HTMLParser):
    """What a browser would ask for, and what is on the page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.asked: list[str] = []
        self.ids: list[str] = []
        self.targets: set[str] = set()
        self.headings: list[str] = []
        self.tables: dict[str, list[list[str]]] = {}  # caption (or number) → rows of texts
        self.code: list[str] = []
        self.captions: list[str] = []  # of the code
        self.n_tables = self.n_math = 0
        self._collected: list[str] | None = None
        self._rows: list[list[str]] = []
        self._title = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag not in FORBIDDEN
        for name, value in attrs:
            assert not name.startswith("on"), f"{name} runs something"
            if name in ("src", "srcset", "href", "data", "action", "poster", "xlink:href"):
                if (value or "").startswith("#"):
                    self.targets.add((value or "")[1:])
                else:
                    self.asked.append(value or "")
            if name == "id":
                self.ids.append(value or "")
        self.n_tables += tag == "table"
        self.n_math += tag == "math"
        if tag == "table":
            self._rows, self._title = [], str(self.n_tables)
        if tag == "tr":
            self._rows.append([])
        if tag in ("td", "th", "caption", "code", "h1", "h2", "p"):
            self._collected = []

    def handle_data(self, data: str) -> None:
        if self._collected is not None:
            self._collected.append(data)

    def handle_endtag(self, tag: str) -> None:
        text = "".join(self._collected or [])
        if tag in ("td", "th") and self._rows:
            self._rows[-1].append(text.strip())
        elif tag == "caption":
            self._title = text.strip()
        elif tag == "table":
            self.tables.setdefault(self._title, self._rows)
        elif tag == "code":
            self.code.append(text)
        elif tag in ("h1", "h2"):
            self.headings.append(text)
        elif tag == "p":
            self.captions.append(text)
        if tag in ("td", "th", "caption", "code", "h1", "h2", "p"):
            self._collected = None


def check_alone(text: str) -> Page:
    """The page, which needs nothing from outside."""
    page = Page(text)
    assert text.startswith("<!DOCTYPE html>")
    assert all(address.startswith("data:image/svg+xml;base64,") for address in page.asked)
    assert "url(" not in text
    assert "@import" not in text
    assert page.targets <= {*page.ids}
    assert len({*page.ids}) == len(page.ids)
    return page


def printed_by_chromium(page: Path, folder: Path) -> tuple[bytes, set[str]]:
    """The page as PDF, and who asked for anything over the network: the page itself is "null", Chromium no origin."""
    folder.mkdir()
    log, pdf = folder / "net.json", folder / "page.pdf"
    command = [
        engines.chromium(), "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
        "--disable-background-networking",
        f"--user-data-dir={folder / 'profile'}", f"--log-net-log={log}", f"--print-to-pdf={pdf}", page.as_uri(),
    ]  # fmt: skip
    subprocess.run(command, capture_output=True, timeout=120, check=True)
    text = log.read_text(encoding="utf-8", errors="replace")
    return pdf.read_bytes(), set(re.findall(r'"initiator":\s*"([^"]*)"', text)) - {"not an origin"}
