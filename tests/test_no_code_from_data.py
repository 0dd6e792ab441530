"""No text that is given as data is run: every public entry, every argument, texts in all kinds of containers.

SymPy reads texts as Python, also those inside tuples and dicts that are only compared with one of its symbols.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import Particle, Point, ReferenceFrame, dynamicsymbols

import jourdain as jd
from test_public_api import PACKAGES

CODE = "__import__('pathlib').Path('executed').touch()"
HOSTILE: list[Any] = [
    CODE, (CODE,), {"a": CODE}, [CODE], {CODE: 1.0}, {CODE}, [(CODE,), 1.0], ({"a": [CODE]},), np.array([CODE]),
    np.array([CODE, 1.0], dtype=object), np.array(CODE, dtype=object),
]  # fmt: skip

N_WRAPPED = 4  # of them are tried within other containers too


def ball() -> dict[str, Any]:
    """The arguments of `Mechanism.from_sympy` for a ball with a quasi-velocity."""
    N, O, P = ReferenceFrame("N"), Point("O"), Point("P")
    z, w, m = dynamicsymbols("z"), dynamicsymbols("w"), sp.Symbol("m")
    O.set_vel(N, 0)
    P.set_pos(O, z * N.z)
    return {"bodies": [Particle("ball", P, m)], "frame": N, "q": [z], "v": [w], "kinematics": {w: z.diff()},
            "parameters": {m: 2.0}, "points": {"P": P}, "origin": O}  # fmt: skip


GIVEN = ball()
N, P, z, w, m = GIVEN["frame"], GIVEN["points"]["P"], GIVEN["q"][0], GIVEN["v"][0], sp.Symbol("m")
KEYS = ("floor", "foot", "P", "ball", "w", "m", w, z, m, P, z.diff())


def containers(value: Any) -> Iterator[Any]:
    """The value in the places where arguments hold expressions."""
    yield [value]
    yield (P, value)
    yield [(P, value), (N, value)]
    for key in KEYS:
        yield {key: value}
    yield {"floor": {"m": (value, value)}}


class Samples:
    """One of each public kind, made anew so that calls do not disturb each other."""

    def __init__(self) -> None:
        self.mechanism = jd.Mechanism.from_sympy(**GIVEN)
        self.floor = self.mechanism.constraint("floor", w)
        self.contact = self.mechanism.contact("foot", w, tangent=[2 * w])
        self.event = self.mechanism.event(elastic={"floor": "kappa"})
        self.scenario = self.event.at(q={"z": 0}, v={"w": "speed"}, defaults={"kappa": 0.5, "speed": -1.0})
        self.hybrid = jd.Hybrid(self.mechanism, {"air": []}, [jd.Switch("air", "air", -z, self.event)])
        self.transition = self.scenario.solve()


GOOD: dict[str, dict[str, Any]] = {
    "mechanism.from_sympy": GIVEN,
    "mechanism.constraint": {"name": "row", "expression": w},
    "mechanism.contact": {"name": "row", "normal": w},
    "scenario.gradient": {"of": "loss", "wrt": "speed"},
    "scenario.minimize": {"of": "loss", "over": {"speed": (-2, -1)}, "starts": 1},
    "scenario.maximize": {"of": "loss", "over": {"speed": (-2, -1)}, "starts": 1},
    "event.gradient": {"of": "loss", "wrt": "kappa", "kappa": 0.5},
    "event.solve": {"kappa": 0.5, "v": [-1.0]},
    "hybrid.simulate": {"until": 0.01},
    "Switch": {"source": "air", "target": "air", "guard": z},
    "transition": {"M": [[1.0]], "v": [-1.0], "inert": [[1.0]]},
}


def entries(samples: Samples) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Every public function, class and method, by name; and laws and switches in what they are made for."""
    owners = [(name, getattr(jd, name)) for name in jd.__all__ if name not in PACKAGES]
    owners += [(f"{p}.{name}", getattr(getattr(jd, p), name)) for p in PACKAGES for name in getattr(jd, p).__all__]
    for name, thing in owners:
        if callable(thing) and not (isinstance(thing, type) and issubclass(thing, Exception)):
            yield name, thing
    for what, one in samples.__dict__.items():
        for name, _ in inspect.getmembers(type(one), callable):
            if not name.startswith("_"):
                yield f"{what}.{name}", getattr(one, name)

    def contact(law: Any, **numbers: Any) -> None:
        samples.mechanism.event(contacts={"foot": law(**numbers)}).solve(v=[-1.0])

    def switched(forces: Any = {}, **kinds: Any) -> None:
        switch = jd.Switch(**{"source": "air", "target": "air", "guard": z, "event": samples.event, **kinds})
        hybrid = jd.Hybrid(samples.mechanism, {"air": []}, [switch], forces)
        assert hybrid.flows("air").fast is not None
        assert hybrid.jump(switch).expressions

    yield "event with Frictionless", lambda restitution: contact(jd.laws.Frictionless, restitution=restitution)
    yield "event with Coulomb", lambda friction: contact(jd.laws.Coulomb, friction=friction)
    yield "Hybrid with guard", lambda guard: switched(guard=guard)
    yield "Hybrid with relabel", lambda relabel: switched(relabel=relabel)
    yield "Hybrid with parameters", lambda parameters: switched(parameters=parameters)
    yield "Hybrid with forces", lambda forces: switched(forces)


def arguments(entry: Callable[..., Any]) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(entry).parameters.values())
    except ValueError:
        return []


def names() -> list[str]:
    return sorted(name for name, entry in entries(Samples()) if arguments(entry))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.usefixtures("own_cache")
@pytest.mark.parametrize("name", names())
def test_no_text_is_run(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    entry = dict(entries(Samples()))[name]
    good, given = GOOD.get(name, {}), arguments(entry)
    named = [one for one in given if one.kind not in (one.VAR_KEYWORD, one.VAR_POSITIONAL)]
    required = [one.name for one in named if one.default is one.empty]
    simple = name.partition(".")[0] in ("plots", "experiment", "files", "gallery")  # take no expressions by name
    for one in given:
        at = one.name if one in named else "m"
        for i, hostile in enumerate(HOSTILE[:3] if name.startswith("gallery") else HOSTILE):
            for value in (hostile, *(() if simple or i >= N_WRAPPED else containers(hostile))):
                with suppress(Exception):  # whatever it raises
                    entry(**{**dict.fromkeys(required, hostile), **good, at: value})
                assert not Path("executed").exists(), f"{name}({at}={value!r}) ran the text"
    plt.close("all")
