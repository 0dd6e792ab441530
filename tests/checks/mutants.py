"""Mutants of the core: what the tests notice. Not part of `make test`:

    make mutants SEED=1 N=40

A mutant is one change of one line: a sign, an operator, a constant, a comparison, a condition, an index. Each is
written into a copy of the tree, never into the tree itself, and the tests are run there until one fails, those nearest
to the file first. Two mutants run side by side. The tests must pass without a mutant: `make test` first.

Killed: a test fails, or the tests take far too long. A mutant that survives the tests nearest to it is compared with
the source on random events (`checks.drawing`). Where all numbers are the same but for rounding it may have no effect:
the other tests are not run. Otherwise one of them must kill it. Survivors of both kinds are printed for a person to
judge. The score is killed / (killed + survivors that differ).
"""

from __future__ import annotations

import argparse
import ast
import os
import pickle
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import Queue
from typing import Any

ROOT = Path(__file__).parents[2]
PACKAGE = "src/jourdain"

CORE = (
    "algebra/checks.py",
    "algebra/directions.py",
    "algebra/energy.py",
    "algebra/lapack.py",
    "algebra/outcome.py",
    "algebra/privileged.py",
    "algebra/problem.py",
    "algebra/refinement.py",
    "algebra/reorder.py",
    "algebra/span.py",
    "algebra/contacts/choice.py",
    "algebra/contacts/coulomb.py",
    "algebra/contacts/coulomb_plane.py",
    "algebra/contacts/coulomb_space.py",
    "algebra/contacts/frictionless.py",
    "algebra/contacts/held.py",
    "algebra/contacts/moreau_plane.py",
    "algebra/contacts/moreau_space.py",
    "algebra/contacts/required_friction.py",
    "algebra/contacts/response.py",
    "algebra/contacts/restitution.py",
    "algebra/contacts/shares.py",
    "algebra/contacts/slip.py",
    "events/array_solver.py",
    "mechanism/constraint.py",
)

# The tests nearest to a file, by how its name begins; then all of these, in this order, until one fails.
NEAR = {
    "algebra/contacts/": ("tests/algebra/contacts", "tests/laws", "tests/events/test_contact_arrays.py"),
    "algebra/directions": ("tests/events/test_analysis.py",),
    "algebra/privileged": ("tests/events/test_analysis.py",),
    "algebra/": ("tests/algebra",),
    "events/": ("tests/events",),
    "mechanism/": ("tests/mechanism", "tests/events/test_transition.py"),
}
UNPROBED = ("algebra/directions", "algebra/privileged", "mechanism/")  # what random events do not need
OTHERS = (
    "tests/algebra",
    "tests/laws",
    "tests/events",
    "tests/oracles",
    "tests/compute",
    "tests/mechanism",
    "tests/gallery",
    "tests/scenarios",
    "src/jourdain/algebra",
    "src/jourdain/laws",
    "src/jourdain/events",
    "tests/motion",
    "tests/robots",
    "tests/experiment",
    "tests/studies",
    "tests/cli",
    "README.md",
    "docs",
)
SAME = "rounding only"
ROUNDING = 1e-11  # numbers that change by less may be as right as before
TOO_LONG_S = 2400.0  # for the tests
COPIED = (
    "src",
    "tests",
    "docs",
    "pyproject.toml",
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "Makefile",
    "benchmarks",
)

SWAPPED = {ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*", ast.Pow: "*", ast.FloorDiv: "*", ast.Mod: "*"}
COMPARED = {
    ast.Lt: ("<=", ">"),
    ast.LtE: ("<", ">"),
    ast.Gt: (">=", "<"),
    ast.GtE: (">", "<"),
    ast.Eq: ("!=",),
    ast.NotEq: ("==",),
}
NAMES = {"both": "either", "either": "both", "larger": "smaller", "smaller": "larger", "min": "max", "max": "min",
         "any": "all", "all": "any", "minimum": "maximum", "maximum": "minimum", "argmax": "argmin", "argmin": "argmax",
         "logic_and": "logic_or", "logic_or": "logic_and"}  # fmt: skip
CONDITIONS = ("both", "either", "any", "all", "logic_and", "logic_or")


@dataclass(frozen=True)
class Mutant:
    """One change of one file."""

    file: str
    start: int  # in characters
    stop: int
    text: str  # what stands there instead
    kind: str

    def source(self, original: str) -> str:
        return original[: self.start] + self.text + original[self.stop :]

    def lines(self, original: str) -> tuple[int, str, str]:
        """(number of the line, the line, the line after the change)."""
        number = original.count("\n", 0, self.start)
        return number + 1, original.splitlines()[number].strip(), self.source(original).splitlines()[number].strip()


# Making them


def mutants(file: str, source: str) -> Iterator[Mutant]:
    """All changes of one file."""
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    encoded = [line.encode() for line in source.splitlines(keepends=True)]

    def place(line: int, column: int) -> int:
        return starts[line - 1] + len(encoded[line - 1][:column].decode())

    def span(node: ast.expr) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return place(node.lineno, node.col_offset), place(node.end_lineno, node.end_col_offset)

    def between(left: ast.expr, right: ast.expr, words: tuple[str, ...]) -> tuple[int, int] | None:
        """Where an operator stands between two operands; brackets and line ends may be there too."""
        low, high = span(left)[1], span(right)[0]
        for word in words:
            at = source.find(word, low, high)
            if at >= 0:
                return at, at + len(word)
        return None

    for node in _numeric_nodes(ast.parse(source)):
        if isinstance(node, ast.BinOp) and type(node.op) in SWAPPED:
            signs = {
                ast.Add: "+",
                ast.Sub: "-",
                ast.Mult: "*",
                ast.Div: "/",
                ast.Pow: "**",
                ast.FloorDiv: "//",
                ast.Mod: "%",
            }
            found = between(node.left, node.right, (signs[type(node.op)],))
            if found:
                yield Mutant(file, *found, SWAPPED[type(node.op)], "operator")
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            start, _ = span(node)
            yield Mutant(file, start, start + 1, "+", "sign")
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            start, _ = span(node)
            yield Mutant(file, start, start + 4, "", "condition")
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Invert):
            start, _ = span(node)
            yield Mutant(file, start, start + 1, "", "condition")
        elif isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in COMPARED:
            words = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
            found = between(node.left, node.comparators[0], (words[type(node.ops[0])],))
            if found:
                for text in COMPARED[type(node.ops[0])]:
                    yield Mutant(file, *found, text, "comparison")
        elif isinstance(node, ast.BoolOp):
            word = "and" if isinstance(node.op, ast.And) else "or"
            found = between(node.values[0], node.values[1], (word,))
            if found:
                yield Mutant(file, *found, "or" if word == "and" else "and", "condition")
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitAnd | ast.BitOr):
            word = "&" if isinstance(node.op, ast.BitAnd) else "|"
            found = between(node.left, node.right, (word,))
            if found:
                yield Mutant(file, *found, "|" if word == "&" else "&", "condition")
        elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
            yield Mutant(file, *span(node), str(not node.value), "constant")
        elif isinstance(node, ast.Constant) and isinstance(node.value, int):
            for step in (1, -1):
                yield Mutant(
                    file,
                    *span(node),
                    str(node.value + step) if node.value + step >= 0 else f"({node.value + step})",
                    "off by one",
                )
        elif isinstance(node, ast.Constant) and isinstance(node.value, float):
            changed = {0.0: ("1.0",), 1.0: ("0.0", "2.0")}.get(
                node.value, (repr(node.value * 1e3), repr(node.value / 1e3))
            )
            for text in changed:
                yield Mutant(file, *span(node), text, "constant")
        elif isinstance(node, ast.Call):
            named = (
                node.func.attr
                if isinstance(node.func, ast.Attribute)
                else node.func.id
                if isinstance(node.func, ast.Name)
                else ""
            )
            if named in NAMES:
                _, stop = span(node.func)
                kind = "condition" if named in CONDITIONS else "comparison"
                yield Mutant(file, stop - len(named), stop, NAMES[named], kind)


def _numeric_nodes(tree: ast.AST) -> Iterator[ast.expr]:
    """Expressions that can change a number or a status: no annotations, decorators, messages or asserts."""
    skipped = (ast.Raise, ast.Assert, ast.JoinedStr, ast.Import, ast.ImportFrom)

    def walk(node: ast.AST) -> Iterator[ast.expr]:
        if isinstance(node, skipped):
            return
        if isinstance(node, ast.AnnAssign) and ast.unparse(node.annotation) == "TypeAlias":
            return
        if isinstance(node, ast.keyword) and (node.arg or "").startswith("axis"):
            return  # another axis is another shape: all tests fail
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
            return
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "returns", "decorator_list", "type_params", "bases"):
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
                        continue
                    if isinstance(child, ast.expr):
                        yield child
                    yield from walk(child)

    return (node for node in walk(tree) if isinstance(node, ast.expr))


def sample(seed: int, n: int, files: tuple[str, ...]) -> list[Mutant]:
    """A seeded sample, each kind of change as often as the others."""
    every = []
    for file in files:
        source = (ROOT / PACKAGE / file).read_text()
        every += [(one, source) for one in mutants(file, source)]
    rng = random.Random(seed)
    kinds = {kind: [pair for pair in every if pair[0].kind == kind] for kind in sorted({one.kind for one, _ in every})}
    for pairs in kinds.values():
        rng.shuffle(pairs)
    chosen: list[Mutant] = []
    while len(chosen) < n and any(kinds.values()):
        pairs = kinds[rng.choice([kind for kind in kinds if kinds[kind]])]
        one, source = pairs.pop()
        try:
            changed = ast.dump(ast.parse(one.source(source)))
        except SyntaxError:
            continue
        if changed != ast.dump(ast.parse(source)):
            chosen.append(one)
    return chosen


# Running them


@dataclass
class Outcome:
    mutant: Mutant
    killed: str  # by what; "" if it survived
    seconds: float
    differs: str = ""  # of a survivor: how its numbers differ from those of the source; "" if they do not


class Copy:
    """A copy of the tree in which tests are run."""

    def __init__(self, folder: Path, cache: Path) -> None:
        self.folder = folder
        for name in COPIED:
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", ".*_cache"))
            elif (ROOT / name).exists():
                shutil.copy(ROOT / name, folder / name)
        self.environment = {
            **os.environ,
            "PYTHONPATH": f"{folder / 'src'}{os.pathsep}{folder / 'tests'}",
            "PYTHONDONTWRITEBYTECODE": "1",
            "OPENBLAS_NUM_THREADS": "1",
            "JOURDAIN_CACHE": str(cache),  # its entries are named by their content: copies can share them
        }

    def path(self, mutant: Mutant) -> Path:
        return self.folder / PACKAGE / mutant.file

    def run(self, command: list[str], limit: float) -> tuple[int | None, str]:
        """(exit code, output); None if it takes longer than the limit."""
        with subprocess.Popen(
            [sys.executable, *command], cwd=self.folder, env=self.environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
        ) as process:  # fmt: skip
            try:
                output, _ = process.communicate(timeout=limit)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, 9)
                process.communicate()
                return None, ""
        return process.returncode, output

    def tests(self, targets: tuple[str, ...], limit: float) -> tuple[int | None, str]:
        options = ["-x", "-n", "0", "-p", "no:cacheprovider", "-m", "not exhaustive", "--no-header", "--tb=no"]
        return self.run(["-m", "pytest", *options, *targets], limit)


def nearest(file: str) -> tuple[str, ...]:
    """The tests that are most likely to notice."""
    return next(tests for begins, tests in NEAR.items() if file.startswith(begins))


def failure(output: str) -> str:
    """The test that failed; "" if none did."""
    for line in output.splitlines():
        if line.startswith(("FAILED", "ERROR")):
            return line.split(" - ")[0].split(maxsplit=1)[-1][:100]
    return ""


def judge(copy: Copy, mutant: Mutant, expected: Path) -> Outcome:
    start, path = time.perf_counter(), copy.path(mutant)
    original = path.read_text()
    path.write_text(mutant.source(original))
    try:
        killed, differs = killer(copy, nearest(mutant.file)), ""
        if not killed:
            differs = copy.run(["-m", "checks.mutants", "--compare", str(expected)], TOO_LONG_S)[1].strip()
            if (differs and not differs.startswith(SAME)) or mutant.file.startswith(UNPROBED):
                killed = killer(copy, OTHERS)
        return Outcome(mutant, killed, time.perf_counter() - start, differs)
    finally:
        path.write_text(original)


def killer(copy: Copy, targets: tuple[str, ...]) -> str:
    """What fails; "" if all tests pass."""
    code, output = copy.tests(targets, TOO_LONG_S)
    if code and not failure(output):  # no test failed: it was stopped from outside, or crashes
        code, output = copy.tests(targets, TOO_LONG_S)
    if code is None:
        return "the tests take too long"
    return "" if code == 0 else failure(output) or f"exit code {code}"


# What a survivor changes


def probe() -> dict[str, dict[str, Any]]:
    """Numbers of random events of every kind and road; those that fail altogether are their error."""
    import numpy as np

    from checks import roads
    from checks.drawing import DRAWS

    found: dict[str, dict[str, Any]] = {}
    ways = {
        "arrays": (roads.by_arrays, 400),
        "compiled": (roads.by_arrays, 4100),
        "mechanism": (roads.by_mechanism, 61),
        "compiled mechanism": (roads.by_mechanism, 1030),
        "single": (roads.by_single_mechanism, 3),
    }
    for number, (kind, (_, draw)) in enumerate(DRAWS.items()):
        for way, (solve, m) in ways.items():
            small = way in ("mechanism", "compiled mechanism", "single")
            if small and "semidefinite" in kind:
                continue
            events = draw(np.random.default_rng([number, m]), m, small)
            try:
                with np.errstate(all="ignore"):
                    found[f"{kind}, {way}"] = dict(vars(solve(events)))
            except Exception as error:  # of any kind: it is what the mutant does
                found[f"{kind}, {way}"] = {"error": repr(error)}
    return found


def compare(file: Path) -> str:
    """How the numbers differ from those in a file: the largest first, each of the largest number of its event."""
    import numpy as np

    expected, said = pickle.loads(file.read_bytes()), []
    for name, numbers in probe().items():
        if numbers.keys() != expected[name].keys():
            said.append((np.inf, f"{name}: {numbers.get('error', 'no error any more')}"))
            continue
        for quantity, array in numbers.items():
            if quantity == "error":
                continue
            before, after = (np.asarray(one, float).reshape(len(one), -1) for one in (expected[name][quantity], array))
            size = np.max(np.where(np.isfinite(before), np.abs(before), 0), axis=1, keepdims=True, initial=0)
            same = (before == after) | (np.isnan(before) & np.isnan(after))
            off = np.where(same, 0, np.abs(after - before) / np.where(size > 0, size, 1))
            worst = float(np.max(np.where(np.isnan(off), np.inf, off), initial=0))
            if worst > 0:
                events = int(np.sum(~same.all(axis=1)))
                said.append((worst, f"{name}: {quantity} of {events} events by up to {worst:.0e}"))
    said.sort(key=lambda one: -one[0])
    only = f"{SAME}; " if said and said[0][0] < ROUNDING else ""
    return only + "; ".join(text for _, text in said[:3]) + (f"; {len(said) - 3} more" if len(said) > 3 else "")


def main() -> int:
    parser = argparse.ArgumentParser(description="What the tests notice of changes in the core.")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--n", type=int, default=40, help="mutants")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--files", nargs="*", default=CORE, help=f"in {PACKAGE}")
    parser.add_argument("--list", action="store_true", help="print the mutants, run nothing")
    parser.add_argument("--compare", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--probe", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.probe:
        arguments.probe.write_bytes(pickle.dumps(probe()))
        return 0
    if arguments.compare:
        print(compare(arguments.compare))
        return 0
    chosen = sample(arguments.seed, arguments.n, tuple(arguments.files))
    if arguments.list:
        for mutant in chosen:
            print(told(mutant))
        return 0
    return run(arguments.seed, chosen, arguments.processes)


def run(seed: int, chosen: list[Mutant], processes: int) -> int:
    with tempfile.TemporaryDirectory(prefix="jourdain-mutants-") as name:
        folder = Path(name)
        copies: Queue[Copy] = Queue()
        for i in range(processes):
            (folder / str(i)).mkdir()
            copies.put(Copy(folder / str(i), folder / "cache"))
        expected, first = folder / "expected", copies.get()
        first.run(["-m", "checks.mutants", "--probe", str(expected)], TOO_LONG_S)
        copies.put(first)

        def one(mutant: Mutant) -> Outcome:
            copy = copies.get()
            try:
                return judge(copy, mutant, expected)
            finally:
                copies.put(copy)

        outcomes = []
        with ThreadPoolExecutor(processes) as pool:
            for outcome in pool.map(one, chosen):
                outcomes.append(outcome)
                survived = f"SURVIVED, changes {outcome.differs or 'no number of the random events'}"
                word = f"killed by {outcome.killed}" if outcome.killed else survived
                print(
                    f"{len(outcomes)} of {len(chosen)}  {told(outcome.mutant)}\n    {word}, {outcome.seconds:.0f} s",
                    flush=True,
                )
    return summary(seed, outcomes)


def told(mutant: Mutant) -> str:
    number, before, after = mutant.lines((ROOT / PACKAGE / mutant.file).read_text())
    return f"{PACKAGE}/{mutant.file}:{number} ({mutant.kind})\n    - {before}\n    + {after}"


def summary(seed: int, outcomes: list[Outcome]) -> int:
    killed = [one for one in outcomes if one.killed]
    survived = [one for one in outcomes if not one.killed]
    same = [one for one in survived if not one.differs or one.differs.startswith(SAME)]
    alive = [one for one in survived if one not in same]
    for title, some in (
        ("Survivors that change numbers", alive),
        ("Survivors that change no number of the random events, or rounding only: judge them", same),
    ):
        if some:
            print(f"\n{title}")
        for outcome in some:
            print(f"  {told(outcome.mutant)}" + (f"\n    {outcome.differs}" if outcome.differs else ""))
    judged = len(killed) + len(alive)
    score = f"{100 * len(killed) / judged:.0f} %" if judged else "nothing to judge"
    print(
        f"\nseed {seed}: {len(outcomes)} mutants, {len(killed)} killed, {len(alive)} survived and change numbers, "
        f"{len(same)} survived and seem without effect; score {score}"
    )
    return 0 if not alive else 1


if __name__ == "__main__":
    sys.exit(main())
