"""Any event as Python that needs no model: its mass matrix and rows at the state, for `jd.transition`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING

import numpy as np
from casadi import SX

from jourdain.algebra.problem import Block, Problem
from jourdain.compute.evaluate import Evaluator
from jourdain.inputs import Array
from jourdain.kinds import Kind
from jourdain.laws.law import is_law

if TYPE_CHECKING:
    from jourdain.events.event import Event
    from jourdain.events.transition import Transition

IN_LINE = 4  # names and numbers in one line
NARROW = 8  # numbers in one line
MOST = 24  # velocities: larger matrices are no longer a script


def array_script(event: Event, t: Transition, p: Array) -> str:
    """Python that gives the same outcome from numbers; "" where it would be too long, or the event has no such form."""
    problem = _numbers(event, t, p)
    contacts = [_contact(block) for block in problem.of_kind(Kind.CONTACT)]
    if len(problem.M) > MOST or not all(contacts):
        return ""
    arguments = [(str(kind), _argument(kind, problem.of_kind(kind)), _names(event, kind))
                 for kind in Kind if kind != Kind.CONTACT and problem.of_kind(kind)]  # fmt: skip
    if problem.applied:
        f = np.sum([applied[:, 0] for applied in problem.applied], axis=0)
        arguments.append(("impulse", _list(f), ", ".join(event.applied)))
    if contacts:
        arguments.append(("contacts", f"[{', '.join(contacts)}]", _names(event, Kind.CONTACT)))
    return "\n".join([
        "import jourdain as jd",
        "",
        f"# velocities: {', '.join(_line(name) for name in t.layout.velocities)}",
        f"M = {_matrix(problem.M)}",
        f"v = {_list(problem.v_minus[:, 0])}",
        "t = jd.transition(",
        "    M,",
        "    v,",
        *(f"    {name}={text},  # {_line(said)}" for name, text, said in arguments),
        ")",
        "print(t)",
    ])  # fmt: skip


def _numbers(event: Event, t: Transition, p: Array) -> Problem[Array]:
    """The event over numbers, at the state of its outcome."""
    named: dict[str, SX] = {}

    def note(array: SX) -> str:
        named[str(len(named))] = array
        return str(len(named) - 1)

    keys = event.numbers_only.changed(note)
    found = Evaluator(event.inputs, named)(t.q, t.v_minus, p)
    return keys.changed(lambda key: np.asarray(found[key]) + 0.0)


def _argument(kind: Kind, blocks: Sequence[Block[Array]]) -> str:
    """Rows of one kind, and what belongs to them, as `jd.transition` takes them."""
    rows = _matrix(np.concatenate([block.C for block in blocks]))

    def column(name: str) -> str:
        return _list(np.concatenate([np.ravel(getattr(block, name)) for block in blocks]))

    if kind == Kind.LIVE:
        return f"({rows}, {column('b_minus')}, {column('b_plus')})"
    if kind == Kind.ELASTIC:
        return f"({rows}, {column('kappa')}, {column('b_plus')})"
    if kind == Kind.NONIDEAL:
        return f"({rows}, {column('beta')})"
    return f"({rows}, {column('b_plus')})"


def _contact(block: Block[Array]) -> str:
    """A one-sided contact; "" where its support moves, or its law is none of the library's."""
    law = block.law
    if not is_law(law) or np.any(block.b_minus) or np.any(block.b_plus):
        return ""
    own = {one.name for one in fields(law)}
    if not (type(law).__module__.startswith("jourdain.laws") and {*block.numbers} <= own):
        return ""
    fixed = replace(law, **{name: float(np.ravel(value)[0]) for name, value in block.numbers.items()})
    tangent = f"tangent={_matrix(block.C[1:])}, " if block.n_rows > 1 else ""
    return f"jd.Contact(normal={_list(block.C[0])}, {tangent}law=jd.laws.{fixed!r})"


def _names(event: Event, kind: Kind) -> str:
    return ", ".join(role.constraint.name for role in event.roles if role.block.kind == kind)


def _matrix(rows: Array) -> str:
    """Rows as nested lists; wide ones on lines of their own."""
    lists = [_list(row) for row in rows]
    between = ",\n     " if rows.size > NARROW else ", "
    return f"[{between.join(lists)}]"


def _list(numbers: Array) -> str:
    return f"[{', '.join(repr(float(x)) for x in numbers)}]"


def _line(text: str) -> str:
    """A name in a comment, which must not leave it."""
    return " ".join(text.split())


def assigned(values: Mapping[str, object]) -> str:
    """Names and numbers as a dict in Python, with all digits; many on several lines."""
    pairs = [f"{name!r}: {float(np.asarray(value))!r}" for name, value in values.items()]
    lines = [", ".join(pairs[i : i + IN_LINE]) for i in range(0, len(pairs), IN_LINE)]
    return f"{{{(',' + chr(10) + '     ').join(lines)}}}"
