"""The order of the packages: a package imports only from those above it. The listing of folders is the architecture."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import jourdain

SOURCE = Path(jourdain.__file__).parent

# From the ground up. A package may import from itself and from what stands before it.
ORDER = [
    "output",
    "errors",
    "quantities",
    "naming",
    "kinds",
    "inputs",
    "progress",
    "compute",
    "data",
    "algebra",
    "laws",
    "mechanism",
    "robots",
    "events",
    "scenarios",
    "motion",
    "experiment",
    "plots",
    "gallery",
    "reports",
    "studies",
    "cli",
    "files",  # `jourdain.files.write`
    "",  # jourdain/__init__.py, the table of contents
]

# What goes against the order: package → package, and why. Each import stands inside a function, which is called late.
AGAINST_THE_ORDER = {
    ("inputs", "compute"): "what would not fit in memory is refused before it is copied",
    ("mechanism", "events"): "mechanism.event(…) makes an Event",
    ("events", "scenarios"): "event.at(…) makes a Scenario",
    ("motion", "plots"): "trajectory.animate(…) makes a film",
    ("events", "reports"): "transition.report(…) writes a page",
    ("scenarios", "reports"): "scenario.report(…) writes a page",
    ("motion", "reports"): "gait.report(…) and trajectory.report(…) write pages",
    ("experiment", "reports"): "strike.report(…) and repeats.report(…) write pages",
}


class Import(NamedTuple):
    module: str  # that imports, below jourdain: "events.event"
    line: int
    imported: str
    inside: bool  # a function


def modules() -> dict[str, Path]:
    """Module below jourdain → its file."""
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = modules()


def package(module: str) -> str:
    return module.partition(".")[0]


def imports(module: str) -> Iterator[Import]:
    """All of a module from within the library, but those for types only."""

    def walk(node: ast.AST, inside: bool) -> Iterator[Import]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
                continue
            if isinstance(child, ast.Import):
                names = [alias.name for alias in child.names]
            elif isinstance(child, ast.ImportFrom):
                assert child.level == 0, f"{module}: imports are written in full"
                names = [f"{child.module}.{alias.name}" for alias in child.names]
            else:
                yield from walk(child, inside or isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda))
                continue
            for name in names:
                top, _, rest = name.partition(".")
                if top == "jourdain":
                    yield Import(module, child.lineno, rest if rest in MODULES else rest.rpartition(".")[0], inside)

    yield from walk(ast.parse(MODULES[module].read_text(encoding="utf-8")), False)


TEMPLATES = ("cli.starter",)  # files of users, which import the library as users do
ALL = [found for module in MODULES if module not in TEMPLATES for found in imports(module)]


def test_every_package_has_its_place() -> None:
    assert {package(module) for module in MODULES} == set(ORDER)
    assert len(list(SOURCE.glob("*.py"))) <= 8


def test_imports_go_one_way() -> None:
    wrong = []
    for module, line, imported, inside in ALL:
        edge = (package(module), package(imported))
        if ORDER.index(edge[1]) <= ORDER.index(edge[0]):
            continue
        if edge not in AGAINST_THE_ORDER or not inside:
            where = "inside a function" if inside else "at the top"
            wrong.append(f"{MODULES[module].relative_to(SOURCE)}:{line} imports jourdain.{imported} {where}")
    assert not wrong, "imports against the order of the packages:\n" + "\n".join(wrong)


@pytest.mark.parametrize("edge", AGAINST_THE_ORDER)
def test_the_table_holds_nothing_that_is_not_needed(edge: tuple[str, str]) -> None:
    assert len(AGAINST_THE_ORDER) <= 8
    assert ORDER.index(edge[0]) < ORDER.index(edge[1])
    assert any((package(found.module), package(found.imported)) == edge for found in ALL)


def test_modules_do_not_import_each_other_in_a_circle() -> None:
    """At the top, where Python would trip over it."""
    above: dict[str, set[str]] = {module: set() for module in MODULES}
    for found in ALL:
        if not found.inside and found.module != found.imported:
            above[found.module].add(found.imported)
    done: set[str] = set()
    while ready := {module for module in above if module not in done and above[module] <= done}:
        done |= ready
    assert not set(above) - done


def test_an_import_against_the_order_is_seen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """At the top, inside a function and as `import a.b`; not for types only."""
    file = tmp_path / "strange.py"
    file.write_text(
        "import jourdain.cli.main\n"
        "from typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    from jourdain.plots import style\n"
        "def late():\n    from jourdain.events import event\n    from jourdain.events.event import Event\n"
    )
    monkeypatch.setitem(MODULES, "errors", file)
    assert [found[1:] for found in imports("errors")] == [
        (1, "cli.main", False),
        (6, "events.event", True),
        (7, "events.event", True),
    ]
