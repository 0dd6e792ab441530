"""Random events of all kinds against oracles of different origin. Not part of `make test`:

    make random-events SEED=1 EVENTS=1000000
    make random-events SEED=1 SHOW=17:203        prints event 203 of batch 17 as Python

Every event is solved by the library, by raw arrays or as an event of a mechanism, one at a time, in small batches, and
in batches that are compiled. The answers are judged by

1. the equations of docs/theory.md in extended precision: dense systems, all ways in which contacts can hold, paths from
   corner to corner (`answers`), with the number of answers that exist;
2. other programs: LAPACK's gglse, SciPy's nnls, linear programs and LSODA, Siconos (`others`);
3. laws that hold for any answer: balance of momentum, impulses that push, friction cones, energy (`judging`).

Wrong: solved, and off by more than 1e-9 of the event's speed or energy, and by more than 100 times what rounding of the
input changes; or solved where no answer or several exist. Refused wrongly: refused where exactly one answer exists.
Not judged ("unsure"): conditions met or missed by less than 1e-6. "Ill-posed": rounding of the input explains it.
"""

from __future__ import annotations

import argparse
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # matrices are small: threads would only wait for each other

import multiprocessing
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from checks import roads
from checks.drawing import DRAWS, Events
from checks.judging import Judged
from jourdain import Status

# Road → share of the events, events of a batch, what solves them. Raw arrays compile from 4096 on, mechanisms from
# 1024.
ROADS = {
    "arrays, compiled": (0.42, (4096, 4400), roads.by_arrays),
    "arrays": (0.30, (200, 1000), roads.by_arrays),
    "arrays, single": (0.01, (8, 12), roads.by_single_arrays),
    "mechanism, compiled": (0.22, (1024, 1400), roads.by_mechanism),
    "mechanism": (0.04, (40, 120), roads.by_mechanism),
    "mechanism, single": (0.01, (6, 10), roads.by_single_mechanism),
}
RAW_ONLY = "rows, M semidefinite"


@dataclass(frozen=True)
class Batch:
    """One batch of events: what it is depends on its number alone, what is in it also on the seed."""

    number: int
    kind: str
    road: str
    size: int

    def events(self, seed: int) -> Events:
        rng = np.random.default_rng([seed, self.number])
        return DRAWS[self.kind][1](rng, self.size, self.road.startswith("mechanism"))


@dataclass
class Result:
    """What came of a batch."""

    batch: Batch
    seconds: float
    statuses: Counter[str] = field(default_factory=Counter)
    wrong: dict[int, str] = field(default_factory=dict)
    refused: dict[int, str] = field(default_factory=dict)
    misnamed: dict[int, str] = field(default_factory=dict)
    disagree: dict[int, str] = field(default_factory=dict)
    unsure: int = 0
    ill_posed: int = 0
    compared: int = 0
    failure: str = ""


def batches() -> Iterator[Batch]:
    """For ever, each kind and road by its share."""
    shares = {
        (kind, road): DRAWS[kind][0] * ROADS[road][0] / (0.73 if kind == RAW_ONLY else 1)
        for kind in DRAWS
        for road in ROADS
        if kind != RAW_ONLY or not road.startswith("mechanism")
    }
    done, total, number = Counter[tuple[str, str]](), 0, 0
    while True:
        pair = max(shares, key=lambda one: shares[one] * (total + 1) / (done[one] + ROADS[one[1]][1][0] / 2))
        low, high = ROADS[pair[1]][1]
        size = low + number * 37 % (high - low)
        yield Batch(number, *pair, size)
        done[pair] += size
        total += size
        number += 1


def judged(task: tuple[int, Batch]) -> Result:
    """Solve and judge one batch."""
    seed, batch = task
    start = time.perf_counter()
    result = Result(batch, 0.0)
    try:
        with np.errstate(all="ignore"):
            events = batch.events(seed)
            given = ROADS[batch.road][2](events)
            result.statuses = Counter(Status(int(one)).name for one in given.status)
            found = Judged(events, given, np.random.default_rng([seed, batch.number, 1])).run()
        for name in ("wrong", "refused", "misnamed", "disagree", "unsure", "ill_posed", "compared"):
            setattr(result, name, getattr(found, name))
    except Exception:  # a batch that fails is one of the things to be found
        result.failure = traceback.format_exc()
    result.seconds = time.perf_counter() - start
    return result


def main() -> int:
    parser = argparse.ArgumentParser(description="Random events against oracles of different origin.")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--kind", default="", help="only kinds that begin with this")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--show", default="", metavar="BATCH:EVENT", help="print one event and what is said of it")
    arguments = parser.parse_args()
    if arguments.show:
        return show(arguments.seed, *map(int, arguments.show.split(":")))
    return run(arguments.seed, arguments.events, arguments.kind, arguments.processes)


def run(seed: int, n_events: int, kind: str, processes: int) -> int:
    tasks, total = [], 0
    for batch in batches():
        if batch.kind.startswith(kind):
            tasks.append((seed, batch))
            total += batch.size
        if total >= n_events:
            break
    print(f"{total:,} events in {len(tasks)} batches, seed {seed}", flush=True)
    results, solved, start = [], 0, time.perf_counter()
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        for result in pool.imap_unordered(judged, tasks):
            results.append(result)
            solved += result.batch.size
            report(result, seed)
            spent = time.perf_counter() - start
            left = spent / solved * (total - solved)
            if sys.stderr.isatty():
                line = f"\r{solved:,} of {total:,} events, {spent:.0f} s, {left:.0f} s left  "
                print(line, end="", file=sys.stderr, flush=True)
    table(results)
    bad = sum(len(r.wrong) + len(r.refused) + len(r.disagree) + bool(r.failure) for r in results)
    return 1 if bad else 0


def report(result: Result, seed: int) -> None:
    """What is wrong with a batch, with how to see it again."""
    batch = result.batch
    for what in ("wrong", "refused", "disagree"):
        found: dict[int, str] = getattr(result, what)
        for i, reason in list(found.items())[:5]:
            said = {"wrong": "WRONG", "refused": "REFUSED", "disagree": "ORACLES DIFFER"}[what]
            print(f"{said}  {batch.kind} ({batch.road}): {reason}; SEED={seed} SHOW={batch.number}:{i}", flush=True)
        if len(found) > 5:
            print(f"    and {len(found) - 5} more of batch {batch.number}", flush=True)
    if result.failure:
        print(f"FAILED  {batch.kind} ({batch.road}), SEED={seed} SHOW={batch.number}:0\n{result.failure}", flush=True)


def table(results: list[Result]) -> None:
    columns = (
        "events",
        "ok",
        "created",
        "refused",
        "unsure",
        "ill-posed",
        "compared",
        "misnamed",
        "WRONG",
        "REFUSED",
        "DIFFER",
    )
    for title, key in (("kind", "kind"), ("road", "road")):
        print(f"\n{title:28s}" + "".join(f"{name:>10s}" for name in columns) + "      s   refused as")
        names = [*(DRAWS if key == "kind" else ROADS), "all"]
        for name in names:
            some = [r for r in results if name in ("all", getattr(r.batch, key))]
            if not some:
                continue
            statuses = sum((r.statuses for r in some), Counter[str]())
            ok, created = statuses.pop("OK", 0), statuses.pop("ENERGY_CREATED", 0)
            numbers = [sum(r.batch.size for r in some), ok, created, statuses.total()]
            numbers += [sum(getattr(r, part) for r in some) for part in ("unsure", "ill_posed", "compared")]
            numbers += [
                sum(len(getattr(r, part)) for r in some) for part in ("misnamed", "wrong", "refused", "disagree")
            ]
            refused = ", ".join(f"{word} {count}" for word, count in statuses.most_common())
            seconds = sum(r.seconds for r in some)
            print(f"{name:28s}" + "".join(f"{number:10,d}" for number in numbers) + f"{seconds:7.0f}   {refused}")
    failed = sum(bool(r.failure) for r in results)
    if failed:
        print(f"{failed} batches failed")


def show(seed: int, number: int, place: int) -> int:
    """One event as Python, with what the library and the oracles say of it."""
    batch = next(one for one in batches() if one.number == number)
    events = batch.events(seed)
    print(f"# {batch}")
    print(code(events.at(place)))
    with np.errstate(all="ignore"):
        given = ROADS[batch.road][2](events)
        found = Judged(events, given, np.random.default_rng([seed, number, 1])).run()
    status = Status(int(given.status[place])).name
    print(f"# library: {status}, v⁺ = {given.v_plus[place]!r}, loss = {given.loss[place]!r}")
    if hasattr(found, "answer"):
        answer = found.answer
        print(f"# expected: verdict {answer.verdict[place]}, v⁺ = {answer.v_plus[place].astype(float)!r}")
    for what in ("wrong", "refused", "misnamed", "disagree"):
        if place in getattr(found, what):
            print(f"# {what}: {getattr(found, what)[place]}")
    return 0


def code(one: Events) -> str:
    """The call of `jd.transition` that repeats one event."""

    def text(array: object) -> str:
        return repr(np.asarray(array).tolist())

    lines = ["import jourdain as jd", "jd.transition(", f"    M={text(one.M)},", f"    v={text(one.v)},"]
    for name, value in roads.arguments(one).items():
        if name == "contacts":
            lines.append("    contacts=[")
            for contact in value:
                law = contact.law
                numbers = ", ".join(f"{key}={getattr(law, key)!r}" for key in vars(law)).replace("np.float64", "")
                lines.append(f"        jd.Contact(normal={text(contact.normal)}, tangent={text(contact.tangent)},")
                lines.append(f"                   law=jd.laws.{type(law).__name__}({numbers})),")
            lines.append("    ],")
        elif isinstance(value, tuple):
            lines.append(f"    {name}=({', '.join(text(part) for part in value)}),")
        else:
            lines.append(f"    {name}={text(value)},")
    if any(np.any(contact.b) for contact in one.contacts):
        lines.append(f"    # supports move, which a mechanism can: {[contact.b.tolist() for contact in one.contacts]}")
    return "\n".join([*lines, ")"])


if __name__ == "__main__":
    sys.exit(main())
