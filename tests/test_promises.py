"""The page of promises names tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "promises.md").read_text(encoding="utf-8")


def test_every_test_that_holds_a_promise_exists() -> None:
    files = set(re.findall(r"`(tests/[\w/]+\.py)`", PAGE))
    assert [file for file in sorted(files) if not (ROOT / file).is_file()] == []
    written = "\n".join((ROOT / file).read_text(encoding="utf-8") for file in sorted(files))
    named = set(re.findall(r"`(test_\w+)`", PAGE))
    assert [name for name in sorted(named) if f"def {name}(" not in written] == []


def test_every_promise_names_a_test() -> None:
    rows = [line for line in PAGE.splitlines() if line.startswith("| ") and not line.startswith("| promise")]
    assert [row for row in rows if "test" not in row.split("|")[2]] == []
