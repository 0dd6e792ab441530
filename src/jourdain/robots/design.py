"""Masses, lengths and inertias of a robot that are left open as parameters."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from jourdain.errors import BadRobot, unknown
from jourdain.naming import refuse_clash
from jourdain.robots.description import Body, Description
from jourdain.robots.joint_tree import length

AXES = "xyz"
TENSOR = ("xx", "yy", "zz", "xy", "xz", "yz")
WHAT = ("mass", "length", *AXES, *(f"com.{axis}" for axis in AXES), *(f"inertia.{axes}" for axes in TENSOR))
# "BODY.what", several of them, or name → one or several.
OpenedParameters: TypeAlias = str | Collection[str] | Mapping[str, str | Sequence[str]]
SAME = 1e-9  # relative: values that share a parameter


def opened(description: Description, parameters: OpenedParameters) -> Description:
    """The description with these parameters: a list of "BODY.what", or name → one of them or several."""
    if isinstance(parameters, str):
        parameters = [parameters]
    if not isinstance(parameters, Mapping | list | tuple | set):
        raise BadRobot(f"parameters is a list of texts as 'BODY.mass', or a dict of such by name, not {parameters!r}.")
    named = parameters if isinstance(parameters, Mapping) else {text: text for text in parameters}
    refuse_clash((name, "parameter") for name in named)
    found = {}
    for name, several in named.items():
        texts = [several] if isinstance(several, str) else several
        if not isinstance(texts, list | tuple) or not texts or not all(isinstance(text, str) for text in texts):
            raise BadRobot(f"Parameter '{name}' stands for texts as 'BODY.mass', one or several, not {several!r}.")
        found[str(name)] = tuple(_part(description, text) for text in texts)
    seen: dict[tuple[str, str], str] = {}
    for name, parts in found.items():
        for part in parts:
            if part in seen:
                raise BadRobot(
                    f"'{'.'.join(part)}' is given to the parameters '{seen[part]}' and '{name}'; leave one out."
                )
            seen[part] = name
    made = replace(description, parameters=found)
    defaults(made)
    return made


def _part(description: Description, text: str) -> tuple[str, str]:
    """(body, what) of "BODY.what"."""
    bodies = {body.name: body for body in description.bodies}
    for what in WHAT:
        name = text.removesuffix(f".{what}")
        if name != text and name in bodies:
            if what in AXES and any(joint.kind == "free" for joint in bodies[name].joints):
                raise BadRobot(f"Where '{name}' is placed is a coordinate, not a parameter: it floats.")
            if what == "length" and not length(description, name) > 0:
                raise BadRobot(
                    f"Body '{name}' carries nothing away from its origin, so it has no length; open its com instead."
                )
            return name, what
    for what in WHAT:
        if text.endswith(f".{what}"):
            raise unknown("body", text.removesuffix(f".{what}"), bodies)
    raise BadRobot(
        f"'{text}' is no parameter of a body; write BODY.mass, BODY.length, BODY.x, BODY.com.x or BODY.inertia.xx."
    )


def defaults(description: Description) -> dict[str, float | None]:
    """Of the open parameters, as the file has them."""
    bodies = {body.name: body for body in description.bodies}
    found: dict[str, float | None] = {}
    for name, parts in description.parameters.items():
        values = [_written(description, bodies[body], what) for body, what in parts]
        if np.ptp(values) > SAME * max(map(abs, values)):
            raise BadRobot(
                f"Parameter '{name}' stands for values from {min(values):g} to {max(values):g}; open them one by one."
            )
        found[name] = values[0]
    return found


def _written(description: Description, body: Body, what: str) -> float:
    kind, _, part = what.partition(".")
    if kind == "mass":
        return body.mass
    if kind == "length":
        return length(description, body.name)
    if kind == "com":
        return float(body.com[AXES.index(part)])
    if kind == "inertia":
        return float(body.inertia[AXES.index(part[0]), AXES.index(part[1])])
    return float(body.position[AXES.index(kind)])
