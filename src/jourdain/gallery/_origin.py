"""Problems of the gallery know where they come from: the Python that makes them stands in reports."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import fields, replace
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from jourdain.laws.law import is_law
from jourdain.motion.hybrid import Hybrid
from jourdain.naming import Origin
from jourdain.scenarios.scenario import Scenario

P = ParamSpec("P")
Model = TypeVar("Model", Scenario, Hybrid)


def problem(make: Callable[P, Model]) -> Callable[P, Model]:
    """A decorator of the functions of the gallery: what they return has an `origin`, if a script can make it again."""

    @wraps(make)
    def made(*args: P.args, **kwargs: P.kwargs) -> Model:
        model = make(*args, **kwargs)
        given = inspect.signature(make).bind(*args, **kwargs).arguments
        if not all(map(_is_plain, given.values())):
            return model
        call = f"jd.gallery.{make.__name__}({', '.join(f'{name}={_written(one)}' for name, one in given.items())})"
        origin = Origin(make.__name__, call, (make.__doc__ or "").partition("\n")[0].replace("`", ""))
        if isinstance(model, Scenario):
            return replace(model, origin=origin)
        model.origin = origin
        return model

    return made


def _is_plain(value: Any) -> bool:
    """Whether Python can be written that makes the value: numbers, texts, sequences of them, laws with such numbers."""
    if is_law(value):
        ours = type(value).__module__.startswith("jourdain.laws")
        return ours and all(_is_plain(getattr(value, one.name)) for one in fields(value))
    if isinstance(value, list | tuple):
        return all(map(_is_plain, value))
    return value is None or type(value) in (str, bool, int, float)  # NumPy's numbers are written in another way


def _written(value: Any) -> str:
    return f"jd.laws.{value!r}" if is_law(value) else repr(value)
