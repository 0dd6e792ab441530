"""The Python that makes what a report shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from keyword import iskeyword
from typing import TYPE_CHECKING, Any

from jourdain.reports.matrices import array_script, assigned
from jourdain.reports.record import Code, Part

if TYPE_CHECKING:
    from jourdain.events.transition import Transition
    from jourdain.experiment.strike import Strike
    from jourdain.motion.gait import Gait
    from jourdain.motion.hybrid import Hybrid
    from jourdain.motion.trajectory import Trajectory
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
    steps = [f"steps={gait.steps}"] if gait.steps != 1 else []
    given = ["near=(q, v)", *steps, f"topology={gait.topology!r}", *_changed(gait.hybrid, gait.parameters)]
    found = f"gait = system.gait({', '.join(given)})"
    return _of_hybrid(gait.hybrid, gait.coordinate, gait.velocity, found, "gait")


def of_motion(run: Trajectory) -> list[Part]:
    """How to follow a motion again, from where it started."""
    first, symbols = run.segments[0], run.hybrid.mechanism.symbols
    q, v = (dict(zip(names, state[0], strict=True))
            for names, state in ((symbols.q_names, run.q), (symbols.v_names, run.v)))  # fmt: skip
    parameters = dict(zip(run.hybrid.parameters, map(float, first.parameters), strict=True))
    given = [f"q, v, until={run.end!r}, topology={first.topology!r}", *_changed(run.hybrid, parameters)]
    return _of_hybrid(run.hybrid, q, v, f"run = system.simulate({', '.join(given)})", "run")


def _changed(hybrid: Hybrid, parameters: Mapping[str, float]) -> list[str]:
    """The parameters that are not the system's own, as arguments."""
    others = {name: value for name, value in parameters.items() if value != hybrid.parameters.get(name)}
    return [f"**{assigned(others)}"] if others else []


def _of_hybrid(hybrid: Hybrid, q: Mapping[str, Any], v: Mapping[str, Any], call: str, found: str) -> list[Part]:
    origin = hybrid.origin
    first = f"system = {origin.call}" if origin is not None else "# system: your jd.Hybrid"
    path = f"{found if origin is None else origin.name}.html"
    lines = ["import jourdain as jd", "", first, f"q = {assigned(q)}", f"v = {assigned(v)}", call, f"print({found})",
             f"{found}.report({path!r})"]  # fmt: skip
    said = "which writes this page too" if origin is not None else "with the system that this page does not hold"
    return [Code(f"In Python, {said}:", "\n".join(lines))]


def of_strikes(strikes: Sequence[Strike]) -> list[Part]:
    """How to read strikes again."""
    rig = strikes[0].rig
    needed = "# event: your jd.Event, or the event of your jd.Scenario; columns= and units= as you gave them"
    lines = ["import jourdain as jd", "", needed, f"parameters = {assigned(rig.parameters)}", "strikes = ["]
    for one in strikes:
        source = repr(one.log.source) if one.log.source else "table"
        lines.append(f"    jd.experiment.read({source}, event, normal={rig.normal!r}, parameters=parameters)"
                     f".strike({one.number}),")  # fmt: skip
    lines += ["]", "print(strikes[0].compare())" if len(strikes) == 1 else "print(jd.experiment.average(strikes))"]
    return [Code("In Python, with the log and the event, which this page does not hold:", "\n".join(lines))]


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
