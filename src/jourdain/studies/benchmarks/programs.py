"""Programs that print how long something takes in a new process."""

from __future__ import annotations


def timed(before: str, code: str) -> str:
    """A program that runs what is `before`, then prints the seconds that the code takes."""
    return f"import time\n{before}\nt = time.perf_counter()\n{code}\nprint(time.perf_counter() - t)\n"


_LIBRARIES = "import llvmlite.binding\nfrom jourdain import gallery\nfrom jourdain.studies.benchmarks import walker"
IMPORT = timed("", "import jourdain")
DESCRIBE = timed(f"import sympy.physics.mechanics\n{_LIBRARIES}", "walker.solver(gallery.walker()).fast.kernel")
BUILD = timed(f"{_LIBRARIES}\nscenario = gallery.walker()", "walker.solver(scenario).fast.kernel")
FIRST = "from jourdain import gallery; gallery.walker().solve(theta=0.7)"  # prints nothing: the process is timed
