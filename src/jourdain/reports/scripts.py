"""The Python that makes what a report shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from keyword import iskeyword
from typing import TYPE_CHECKING

from jourdain.reports.matrices import array_script, assigned
from jourdain.reports.record import Code, Part

if TYPE_CHECKING:
    from jourdain.events.transition import Transition
    from jourdain.motion.gait import Gait
    from jourdain.scenarios.scenario import Scenario


TAKEN = ("check", "parameters", "path", "title")  # arguments of `solve` and `report` themselves


def command_line(words: Sequence[str]) -> list[Part]:
    """A line for a terminal; nothing where there was none."""
    from shlex import join

    return [Code("From a terminal:", join(words))] if words else []


def of_scenario(scenario: Scenario, t: Transition, given: Mapping[str, float], check: bool | str) -> list[Part]:
    """How to make an event again: the problem of the gallery, or the matrices of the event."""
    if scenario.origin is not None:
        first = [] if check is True else [repr(check)]
        call = f"event.solve({', '.join([*first, *keywords(given)])})"
        page = f"event.report({', '.join([repr(f'{scenario.origin.name}.html'), *_checked(check), *keywords(given)])})"
        lines = ["import jourdain as jd", "", f"event = {scenario.origin.call}", f"t = {call}", "print(t)", page]
        return [Code("In Python, which writes this page too:", "\n".join(lines))]
    script = array_script(scenario.event, t, scenario.state(given)[2])
    if not script:
        return [_state("The model is not of the gallery, and too large to be written down here. Its state is:", t)]
    said = "The model is not of the gallery. This script needs none: it has the mass matrix and the rows at this state."
    return [Code(said, script)]


def of_outcome(t: Transition) -> list[Part]:
    """The state, of an outcome that does not know its event."""
    return [_state("An outcome does not know its model, so this page cannot make it. With your own, its state is:", t)]


def _state(caption: str, t: Transition) -> Code:
    lines = ["# event: your jd.Event; add the parameters that you gave", f"q = {assigned(t.coordinate)}",
             f"v = {assigned(t.velocity_minus)}", "t = event.solve(q, v)"]  # fmt: skip
    if not t.coordinate:
        lines = [f"v = {assigned(t.velocity_minus)}  # before; the matrices are yours"]
    return Code(caption, "\n".join(lines))


def of_gait(gait: Gait) -> list[Part]:
    """How to find a gait again: from its own state, so that no other one is found."""
    origin = gait.hybrid.origin
    walk = f"walk = {origin.call}" if origin is not None else "# walk: your jd.Hybrid"
    q, v = (assigned(state) for state in (gait.coordinate, gait.velocity))
    changed = {name: value for name, value in gait.parameters.items() if value != gait.hybrid.parameters.get(name)}
    steps = [f"steps={gait.steps}"] if gait.steps != 1 else []
    found = ", ".join(["near=(q, v)", *steps, f"topology={gait.topology!r}", *keywords(changed)])
    lines = ["import jourdain as jd", "", walk, f"q = {q}", f"v = {v}", f"gait = walk.gait({found})", "print(gait)",
             f"gait.report({origin.name + '.html' if origin else 'gait.html'!r})"]  # fmt: skip
    if origin is None:
        return [Code("In Python, with the system that this page does not hold:", "\n".join(lines))]
    return [Code("In Python, which writes this page too:", "\n".join(lines))]


def keywords(given: Mapping[str, float]) -> list[str]:
    """Parameters as arguments of a call; those whose names Python does not take as keywords stand in a dict."""
    plain = {name: float(value) for name, value in given.items()
             if name.isidentifier() and not iskeyword(name) and name not in TAKEN}  # fmt: skip
    others = {name: value for name, value in given.items() if name not in plain}
    return [
        *([f"parameters={assigned(others)}"] if others else []),
        *(f"{name}={value!r}" for name, value in plain.items()),
    ]


def _checked(check: bool | str) -> list[str]:
    return [] if check is True else [f"check={check!r}"]
