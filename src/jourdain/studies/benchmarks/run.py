"""`jourdain bench`: heel strikes, contacts and motion against what people use now, in one run on one machine.

Every peer is first asserted to give the same numbers. Then all are timed in turn, several times over, and medians are
compared, so that a machine that slows down for a while does so for everybody.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from jourdain import gallery
from jourdain.errors import BadArgument, listing, unknown
from jourdain.progress import bar, quiet
from jourdain.scenarios.scenario import Scenario
from jourdain.studies.benchmarks import (
    box_corner,
    logs,
    motion,
    plate,
    programs,
    robots,
    rough_walker,
    walker,
    walker_casadi,
    walker_numpy,
)
from jourdain.studies.benchmarks.contestant import Contestant, Result, check_equal, ratios
from jourdain.studies.benchmarks.machine import fill_rate, machine
from jourdain.studies.benchmarks.timing import Advance, cold_and_cached, in_new_memory, process, timed, with_threads
from jourdain.studies.benchmarks.walker import QUANTITIES, RANGES

REPETITIONS = 9
REPETITIONS_OF_MOTION = 3  # it takes longer
EVENT, GRADIENT = "event in a batch, 1 thread", "T_c and its 4 derivatives in a batch, 1 thread"
SIDE = 46  # points along each of the four axes of the grid
N_CHECKED = 5000
COULOMB, IDEAL, ROUTH = "planar Coulomb, sweep", "the ideal event, sweep", "planar Coulomb, NumPy"
SETS, NNLS = "one-sided sets, k = 4", "one-sided sets, k = 4, nnls"
IN_SPACE, IVP = "Coulomb in space, sweep", "Coulomb in space, solve_ivp"
ONE, TWO = "jourdain, 1 thread", "jourdain, 2 threads"
PEERS = ("NumPy, batched", "NumPy, tuned", "NumPy, by hand", "CasADi map, 1 thread", "CasADi map, 2 threads",
         "Pinocchio loop")  # fmt: skip
IMPORT, FIRST = "import jourdain", "new process to first answer"
DESCRIBE, BUILD = "describe, build and compile", "build and compile"


Table = Callable[[], Iterable[Contestant]]


@dataclass(frozen=True)
class Report:
    """Everything that was measured; seconds, events per second, ratios."""

    machine: dict[str, str]
    repetitions: int
    results: dict[str, list[Result]]  # by table of `ROWS`
    times: dict[str, float]  # what → seconds
    ratios: dict[str, float]
    memory: dict[str, float]
    missing: list[str]

    def to_dict(self) -> dict[str, Any]:
        return {
            "machine": self.machine,
            "repetitions": self.repetitions,
            **{key: {one.name: one.rate for one in self.results[table]} for table, (key, *_) in RATES.items()},
            "seconds": self.times,
            "ratios": self.ratios,
            "memory": self.memory,
            "missing": self.missing,
        }


def bench(repetitions: int = REPETITIONS, progress: bool | None = None, only: str | None = None) -> Report:
    """All of it, which takes some minutes; `only`: one row, with those that it is compared with."""
    chosen = _chosen(only)
    missing = [] if _pinocchio() else ["Pinocchio is not installed (PyPI: pin); its loop was left out."]
    cases = robots.CASES if robots.data_folder() is not None else ()
    missing += [] if cases else [robots.ABSENT]
    with tempfile.TemporaryDirectory() as folder:
        # All are asserted equal before anybody makes the large tables that are timed.
        ready = {table: prepare(Path(folder)) for table, prepare in _PREPARE.items() if chosen & set(ROWS[table])}
        tables = {table: [one for one in ready.get(table, tuple)() if one.name in chosen] for table in _PREPARE}
        slow = [*tables["motion"], *tables["logs"]]
        quick = [one for several in tables.values() for one in several if one not in slow]
        fewer = min(repetitions, REPETITIONS_OF_MOTION)
        with bar("bench", repetitions * len(quick) + fewer * len(slow) + 8 + len(cases), progress) as watched:
            advance = watched or quiet
            seconds = timed(quick, repetitions, advance) | timed(slow, fewer, advance)
            times = {one.name: seconds[one.name] / one.n for one in tables["singles"]}
            times |= _cold_times(chosen, advance) | _robot_times(cases, chosen, advance)

    results = {table: [Result(one.name, one.n / seconds[one.name], one.note) for one in several]
               for table, several in tables.items()}  # fmt: skip
    memory = _memory(results["walker"]) if only is None else {}
    return Report(machine(), repetitions, results, times, _ratios(results), memory, missing)


def _chosen(only: str | None) -> set[str]:
    """Names of rows: all, or one and those that it is compared with."""
    names = [name for several in ROWS.values() for name in several]
    if only is None:
        return set(names)
    exact = [name for name in names if name.lower() == only.lower()]
    found = exact or [name for name in names if name.lower().startswith(only.lower())]
    if not found:
        raise unknown("row of the benchmark", only, names)
    if len(found) > 1:
        raise BadArgument(f"'{only}' begins several rows of the benchmark: {listing(found)}; give one of them.")
    return {*found, *(name for pair in PAIRS for name in pair if found[0] in pair)}


def _walker(folder: Path) -> Table:
    scenario = gallery.walker()
    check_peers(scenario)
    return partial(_sweeps, scenario)


def _touching(folder: Path) -> Table:
    scenarios = rough_walker.scenario(), plate.scenario(), box_corner.scenario()
    check_contacts(*scenarios)
    return partial(_contacts, gallery.walker(), *scenarios)


def _landing(folder: Path) -> Table:
    for case in robots.CASES if robots.data_folder() is not None else ():
        robots.check(case)
    return partial(robots.contestants, partial(with_threads, 1))


def _moving(folder: Path) -> Table:
    gait = motion.gait()
    motion.check(gait)
    return partial(motion.contestants, gait)


def check_peers(scenario: Scenario) -> None:
    """Raise unless every peer agrees with the kernel, and the kernel with CasADi's virtual machine."""
    samples = walker.samples(N_CHECKED)
    ours = _kept(scenario, samples, QUANTITIES)
    few = {name: values[:200] for name, values in samples.items()}
    found = {"CasADi's virtual machine": walker.table(scenario.solve(parameters=few))}
    found |= {peer.name: peer.call() for peer in _peers(samples, samples)}
    for peer, theirs in found.items():
        _compare(peer, QUANTITIES, ours, theirs)


def check_contacts(rough: Scenario, landing: Scenario, corner: Scenario) -> None:
    """The same for contacts: a heel strike with friction, a plate on four corners, a box that strikes with one."""
    peers: tuple[tuple[str, Scenario, Sequence[str], dict[str, Any], Callable[..., Any]], ...] = (
        ("Routh's method in NumPy", rough, QUANTITIES, walker.samples(N_CHECKED), rough_walker.by_stretches),
        ("scipy.optimize.nnls", landing, plate.QUANTITIES, walker.samples(N_CHECKED, plate.RANGES), plate.by_nnls),
        ("scipy.integrate.solve_ivp", corner, box_corner.QUANTITIES, walker.samples(50, box_corner.RANGES),
         box_corner.by_solve_ivp),
    )  # fmt: skip
    for peer, scenario, names, samples, call in peers:
        _compare(peer, names, _kept(scenario, samples, names), call(**samples))


def _kept(scenario: Scenario, samples: dict[str, Any], names: Sequence[str]) -> Any:
    """These quantities of a sweep over samples, `(names, n)`."""
    data = scenario.sweep(samples=samples, keep=names)
    return np.stack([data[name].values for name in names])


def _compare(peer: str, names: Sequence[str], ours: Any, theirs: Any) -> None:
    for name, one, other in zip(names, ours, theirs, strict=True):
        check_equal(peer, name, one[: len(other)], other, np.max(np.abs(one)))


def _sweeps(scenario: Scenario) -> Iterator[Contestant]:
    """The same events by everybody, in numbers that take each a fraction of a second."""
    axes: dict[str, Any] = {name: np.linspace(*ends, SIDE) for name, ends in RANGES.items()}
    for threads in (1, 2):
        sweep = with_threads(threads, lambda: scenario.sweep(**axes, keep=QUANTITIES))
        yield Contestant(
            f"jourdain, {_threads(threads)}", SIDE**4, sweep, "a sweep over a grid, with checks and dataset"
        )
    new = with_threads(2, lambda: in_new_memory(lambda: scenario.sweep(**axes, keep=QUANTITIES)))
    yield Contestant("jourdain, new memory, 2 threads", SIDE**4, new, "the same, where no table was given back before")
    many = walker.samples(SIDE**4)
    sweep = with_threads(2, lambda: scenario.sweep(samples=many, keep=QUANTITIES))
    yield Contestant("jourdain, samples, 2 threads", SIDE**4, sweep, "the same from arrays of random samples")
    some = walker.samples(200_000)
    yield from _peers(some, {name: values[:20_000] for name, values in some.items()})


def _contacts(scenario: Scenario, rough: Scenario, landing: Scenario, corner: Scenario) -> Iterator[Contestant]:
    """One-sided contacts, on two threads, beside the ideal event of the same walker and what else there is."""
    axes: dict[str, Any] = {name: np.linspace(*ends, SIDE) for name, ends in RANGES.items()}
    for name, one in ((IDEAL, scenario), (COULOMB, rough)):
        sweep = with_threads(2, partial(one.sweep, **axes, keep=QUANTITIES))
        yield Contestant(name, SIDE**4, sweep, "the walker's heel strike over the same grid, 2 threads")
    some = walker.samples(200_000)
    yield Contestant(ROUTH, 200_000, lambda: rough_walker.by_stretches(**some), "Routh's method, stretch by stretch")
    side = SIDE // 2
    places: dict[str, Any] = {name: np.linspace(*ends, side) for name, ends in plate.RANGES.items()}
    sweep = with_threads(2, partial(landing.sweep, **places, keep=plate.QUANTITIES))
    yield Contestant(SETS, side**4, sweep, "a plate lands on four corners, 2 threads")
    few = walker.samples(4000, plate.RANGES)
    yield Contestant(NNLS, 4000, lambda: plate.by_nnls(**few), "a loop over scipy.optimize.nnls")
    throws = walker.samples(20_000, box_corner.RANGES)
    sweep = with_threads(2, partial(corner.sweep, samples=throws, keep=box_corner.QUANTITIES))
    yield Contestant(IN_SPACE, 20_000, sweep, "a box strikes with a corner, 2 threads")
    fewer = walker.samples(50, box_corner.RANGES)
    yield Contestant(IVP, 50, lambda: box_corner.by_solve_ivp(**fewer), "a loop over scipy.integrate.solve_ivp, DOP853")


def _peers(samples: dict[str, Any], few: dict[str, Any]) -> Iterator[Contestant]:
    """Who else computes the strike; `few` is for those that take events one by one."""
    n = samples["theta"].size
    by_numpy = {
        "NumPy, batched": (walker_numpy.plain, "Jacobians, M = Σ m JᵀJ, np.linalg.solve"),
        "NumPy, tuned": (walker_numpy.stacked, "M written out, Cholesky, substitution"),
        "NumPy, by hand": (walker_numpy.by_columns, "elimination for the zeros of this M"),
    }
    for name, (solve, how) in by_numpy.items():
        yield Contestant(name, n, partial(solve, **samples), how)
    for threads in (1, 2):
        mapped = partial(walker_casadi.build(walker_casadi.strike(), n, threads), *samples.values())
        yield Contestant(f"CasADi map, {_threads(threads)}", n, mapped, "an expression graph, its virtual machine")
    if _pinocchio():
        from jourdain.studies.benchmarks import walker_pinocchio

        yield Contestant(
            "Pinocchio loop", few["theta"].size, lambda: walker_pinocchio.solve(**few), "Python, one thread"
        )


def _threads(n: int) -> str:
    return f"{n} thread{'s' * (n > 1)}"


def _singles(scenario: Scenario) -> Iterator[Contestant]:
    """One state at a time, and derivatives beside values."""
    event = scenario.event
    q, v = {"foot_y": 0.2, "stance": 0.35, "swing": -0.35}, {"foot_x": 0.2, "stance": 1.0, "swing": 1.0}
    event.solve(q=q, v=v)

    def hundred() -> None:
        for _ in range(100):
            event.solve(q=q, v=v)

    yield Contestant("event.solve, one state, warm", 100, hundred)
    samples = walker.samples(1 << 19)
    pose = scenario.pose(samples)
    events, slopes = walker.solver(scenario), scenario.gradient_of(("T_c_minus",), tuple(RANGES)).solver
    for name, solver in ((EVENT, events), (GRADIENT, slopes)):
        yield Contestant(name, 1 << 19, partial(solver.over, pose.columns, pose.batch, n_threads=1))


_ONCE = {IMPORT: programs.IMPORT, FIRST: programs.FIRST}
_CACHED = {DESCRIBE: programs.DESCRIBE, BUILD: programs.BUILD}


def _cold_times(chosen: set[str], advance: Advance) -> dict[str, float]:
    """Medians of new processes, with an empty cache and with one that has the kernels."""
    found = {name: process(code) for name, code in _ONCE.items() if name in chosen}
    with tempfile.TemporaryDirectory() as folder:
        for title, code in _CACHED.items():
            found |= cold_and_cached(title, f"{title}, cached", code, folder, 5, chosen)
            advance(4)
    return found


def _robot_times(cases: Sequence[robots.Case], chosen: set[str], advance: Advance) -> dict[str, float]:
    """From the file to a first answer in a batch, in new processes, with an empty cache and with one that has it."""
    found: dict[str, float] = {}
    for case in cases:
        with tempfile.TemporaryDirectory() as folder:
            found |= cold_and_cached(*_robot_rows(case), robots.build_code(case), folder, 3, chosen)
        advance(1)
    return found


def _robot_rows(case: robots.Case) -> tuple[str, str]:
    return f"{case.title}: read, build and compile", f"{case.title}: the same, cached"


def _ratios(found: dict[str, list[Result]]) -> dict[str, float]:
    """Of the pairs, under the names that they have on the page."""
    computed = ratios([result for several in found.values() for result in several], PAIRS)
    return {_SHORT.get(name, name): value for name, value in computed.items()}


def _memory(rates: list[Result]) -> dict[str, float]:
    """What the outputs take, and what the machine can write into new memory at most: the other limit of a sweep."""
    bytes_per_event = 8.0 * len(QUANTITIES) + 1
    rate = {result.name: result.rate for result in rates}
    return {
        "bytes per event": bytes_per_event,
        "written by the sweep on 2 threads, GB/s": rate["jourdain, 2 threads"] * bytes_per_event / 1e9,
        "new memory filled by NumPy on 1 thread, GB/s": fill_rate() / 1e9,
    }


def _pinocchio() -> bool:
    try:
        import pinocchio  # noqa: F401
    except ImportError:
        return False
    return True


# Who takes part, by table; `--only` picks one of these names.
ROWS = {
    "walker": (ONE, TWO, "jourdain, new memory, 2 threads", "jourdain, samples, 2 threads", *PEERS),
    "contacts": (IDEAL, COULOMB, ROUTH, SETS, NNLS, IN_SPACE, IVP),
    "singles": ("event.solve, one state, warm", EVENT, GRADIENT),
    "robots": tuple(name for pair in robots.PAIRS for name in pair),
    "motion": tuple(name for pair in motion.PAIRS for name in pair),
    "logs": tuple(name for pair in logs.PAIRS for name in pair),
    "new processes": (IMPORT, FIRST, *(name for title in _CACHED for name in (title, f"{title}, cached")),
                      *(name for case in robots.CASES for name in _robot_rows(case))),
}  # fmt: skip
RATES = {  # table → its key in a file; on the page its title, what is counted, and by how many
    "walker": ("events_per_second", "walker's heel strike", "million events/s", 1e6),
    "contacts": ("contacts_per_second", "contacts", "million events/s", 1e6),
    "robots": ("robot_events_per_second", "robots, 1 core", "million events/s", 1e6),
    "motion": ("steps_and_starts_per_second", "motion", "steps or starts/s", 1.0),
    "logs": ("samples_per_second", "logs", "million samples/s", 1e6),
}
_PREPARE: dict[str, Callable[[Path], Table]] = {  # checks, and returns what makes the contestants
    "walker": _walker,
    "contacts": _touching,
    "singles": lambda folder: partial(_singles, gallery.walker()),
    "robots": _landing,
    "motion": _moving,
    "logs": lambda folder: partial(logs.contestants, folder / "log.csv"),
}
_WALKERS = ((TWO, peer) for peer in PEERS)
PAIRS = (*_WALKERS, (TWO, ONE), (EVENT, GRADIENT), (COULOMB, IDEAL), (COULOMB, ROUTH), (SETS, NNLS), (IN_SPACE, IVP),
         *robots.PAIRS, *motion.PAIRS, *logs.PAIRS)  # fmt: skip
# How some of the ratios are called on the page.
_SHORT = {
    **{f"{TWO} / {peer}": f"jourdain / {peer}" for peer in PEERS},
    f"{TWO} / {ONE}": "2 threads / 1 thread",
    f"{EVENT} / {GRADIENT}": "gradient of T_c by 4 parameters / event",
    **{f"{ours} / {theirs}": f"{ours} / Pinocchio" for ours, theirs in robots.PAIRS},
}
