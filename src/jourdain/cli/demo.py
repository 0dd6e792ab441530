"""The gallery's events and motions, printed, and a picture of each: `python -m jourdain.cli.demo [DIR]`."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.progress import track


def variants() -> Iterator[tuple[str, Any]]:
    """(title, problem) of every gallery problem as it is built by default; of the sleigh, each case."""
    from jourdain import gallery
    from jourdain.gallery.sleigh import CASES

    for name in gallery.__all__:
        problem = getattr(gallery, name)
        cases = CASES if "case" in inspect.signature(problem).parameters else (None,)
        for case in cases:
            yield (name, problem()) if case is None else (f"{name} {case}", problem(case=case))


def main(folder: str = "out") -> None:
    """Print every outcome and write its picture."""
    from jourdain.cli.answers import save_figure
    from jourdain.cli.events import event
    from jourdain.cli.motions import motion
    from jourdain.scenarios.scenario import Scenario

    out = Path(folder)
    out.mkdir(parents=True, exist_ok=True)
    report = []
    for title, problem in track(list(variants()), description="gallery", disable=not sys.stderr.isatty()):
        heading = title.replace("_", " ")
        answer = (event if isinstance(problem, Scenario) else motion)(problem, {}, heading)
        assert answer.figure is not None
        save_figure(answer.figure(), out / f"{title.replace(' ', '_')}.png")
        report.append(f"{heading}\n{'=' * len(title)}\n{answer.text}\n")
    print("\n".join(report))
    print(f"{len(report)} problems; a picture of each in {out}/")


if __name__ == "__main__":
    main(*sys.argv[1:2])
