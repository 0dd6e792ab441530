"""The public surface: every name that examples and other people's scripts use exists, and is typed."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from functools import cached_property
from importlib import import_module, resources
from typing import Any

import pytest

import jourdain as jd

PACKAGES = ("laws", "plots", "gallery", "experiment", "files")

# Names that are fixed: examples, tests and other people's scripts use them.
FIXED = {
    "": "Mechanism Constraint Contact Event Transition Scenario Hybrid Switch Reaction Robot Sketch Status Error "
    "transition load payload scene laws plots gallery experiment files",
    "Mechanism": "from_sympy from_casadi constraint contact event mass_matrix kinetic_energy position point_velocity "
    "jacobian assemble",
    "Constraint": "rows",
    "Event": "solve phases projectors directions symbolic gradient function at",
    "Transition": "v_minus v_plus velocity_minus velocity_plus impulse u_minus u_plus T_minus T_plus T_c_minus "
    "T_c_plus T_a_minus T_a_plus T_r_minus T_r_plus xi loss ledger dof redundant undetermined impulse_nullspace status "
    "ok outputs outputs_minus outputs_plus effective_mass required_friction contact slip_direction Lambda then path "
    "to_dataset to_dict drive_work dissipated report",
    "Scenario": "solve sweep gradient minimize maximize directions phases projectors report",
    "Hybrid": "simulate gait continuation basin",
    "Robot": "contact weld lock from_pinocchio",
    "experiment.Strike": "report compare curves",
    "experiment.Repeats": "report",
    "laws": "Frictionless NoSlip Coulomb MoreauCoulomb ContactState Law",
    "experiment": "read average Testbed Surface Sensors Strike Log",
    "files": "write",
    "errors": "UnknownName ShapeError NotFinite NotAffine OffConstraint PriorViolated Contradiction "
    "NotPositiveDefinite BadRestitution MissingExtra",
}


def found_in(owner: str, name: str) -> bool:
    place: Any = jd
    for part in filter(None, owner.split(".")):
        place = import_module(f"jourdain.{part}") if part == "errors" else getattr(place, part)
    return hasattr(place, name)


@pytest.mark.parametrize("owner", FIXED)
def test_fixed_names_exist(owner: str) -> None:
    assert [name for name in FIXED[owner].split() if not found_in(owner, name)] == []


def test_every_listed_name_exists() -> None:
    assert [name for name in jd.__all__ if not hasattr(jd, name)] == []
    assert set(dir(jd)) >= set(jd.__all__)
    for package in PACKAGES:
        module = getattr(jd, package)
        assert [name for name in module.__all__ if not hasattr(module, name)] == []
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        jd.nothing  # noqa: B018


def test_tools_that_read_the_source_see_the_same_names() -> None:
    """The table of contents stands twice: for Python, and under TYPE_CHECKING for type checkers and editors."""
    source = inspect.getsource(jd)
    listed = source[source.index("if TYPE_CHECKING") :]
    names = [line.split(" as ")[1] for line in listed.splitlines() if " as " in line]
    assert sorted(names) == sorted(jd.__all__)
    assert resources.files("jourdain").joinpath("py.typed").is_file()


def functions() -> Iterator[tuple[str, Any]]:
    """Public functions, and methods and properties of public classes, by name."""
    names = {f"jd.{name}": getattr(jd, name) for name in jd.__all__ if name not in PACKAGES}
    for package in PACKAGES:
        module = getattr(jd, package)
        names |= {f"jd.{package}.{name}": getattr(module, name) for name in module.__all__}
    for name, thing in names.items():
        if inspect.isfunction(thing):
            yield name, thing
        if not inspect.isclass(thing):
            continue
        for attribute, member in vars(thing).items():
            if attribute.startswith("_") and attribute != "__init__":
                continue
            member = {
                property: lambda m: m.fget,
                cached_property: lambda m: m.func,
                classmethod: lambda m: m.__func__,
                staticmethod: lambda m: m.__func__,
            }.get(type(member), lambda m: m)(member)
            if inspect.isfunction(member) and (member.__module__ or "").startswith("jourdain"):
                yield f"{name}.{attribute}", member


FUNCTIONS = dict(functions())


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_argument_and_result_is_typed(name: str) -> None:
    function = inspect.unwrap(FUNCTIONS[name])
    signature = inspect.signature(function)
    bare = [p.name for p in signature.parameters.values() if p.annotation is p.empty and p.name not in ("self", "cls")]
    assert bare == []
    assert signature.return_annotation is not inspect.Signature.empty


# Parameters of public functions that may be anything, and why no type says what they are.
ANYTHING = {
    "cell": "of a Matplotlib grid, whose types do not know its figure",
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_any_stands_only_where_anything_goes(name: str) -> None:
    """A parameter has a type or an alias that says what it may be (`StateLike`, `Expression`), not plain Any."""
    parameters = inspect.signature(inspect.unwrap(FUNCTIONS[name])).parameters.values()
    plain = [p.name for p in parameters if p.annotation in (Any, "Any") and p.name not in ANYTHING]
    assert plain == [], f"{name}: give {plain} a type, or a reason in ANYTHING"


def test_the_table_of_what_may_be_anything_is_needed() -> None:
    signatures = [inspect.signature(inspect.unwrap(function)) for function in FUNCTIONS.values()]
    plain = {p.name for one in signatures for p in one.parameters.values() if p.annotation in (Any, "Any")}
    assert set(ANYTHING) <= plain


def test_there_is_something_to_look_at() -> None:
    assert len(FUNCTIONS) > 150
    assert {"jd.transition", "jd.Event.solve", "jd.Mechanism.from_sympy", "jd.plots.curve"} <= set(FUNCTIONS)
