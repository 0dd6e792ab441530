"""The one table of cases: random events of every kind, with and without redundant rows, used by all test files.

An event is drawn from a seeded generator. Its rows are independent by construction; `with_redundancy` adds rows that
depend on them (and ask for nothing new), and keeps the event without them as `plain`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, get_type_hints

import casadi as ca
import numpy as np
import pandas as pd
from hypothesis import strategies as st
from numpy.typing import NDArray

import jourdain as jd
from jourdain import gallery
from jourdain.algebra.problem import Block, Problem
from jourdain.kinds import Kind
from jourdain.scenarios.scenario import Scenario

Array = NDArray[Any]

ON = ("regular", "live", "inert", "elastic")  # on during the event
PRIOR = ("regular", "live", "released")  # on before it
KINDS = (*ON, "released", "nonideal")
WAYS = ("duplicate", "scaled", "combination", "zero", "across")  # how a redundant row comes about
SPREADS = (1.0, 1e3, 1e4, 1e6)  # ratio of the coefficients of a combination

# The problems of the gallery that are one event, and those that move; robots have dozens of parameters and tests of
# their own.
ROBOTS = ["capture", "touchdown"]
MOTIONS = [name for name in gallery.__all__ if get_type_hints(getattr(gallery, name))["return"] is not Scenario]
EVENTS = [name for name in gallery.__all__ if name not in (*MOTIONS, *ROBOTS)]

# docs/theory.md §6, degrees by rho: from there on the rear foot of the walker does not lift.
REAR_FOOT_LIMITS = {0.0: 44.48, 0.05: 46.84, 0.1: 49.51, 0.25: 60.08, 0.5: 102.3}


@dataclass(frozen=True)
class Rows:
    """u = C v + b of one constraint, with what its kind needs besides."""

    C: Array  # (k, n)
    b_minus: Array  # (k,)
    b_plus: Array  # (k,)
    kappa: Array | None = None  # (k,)
    beta: Array | None = None  # (k,)

    def changed(self, change: Any) -> Rows:
        """`change` applied to every column, with the rows first."""
        parts = (self.C, self.b_minus, self.b_plus, self.kappa, self.beta)
        return Rows(*(None if part is None else change(part) for part in parts))


@dataclass(frozen=True, eq=False)
class Case:
    """An event as plain arrays."""

    M: Array
    v: Array
    rows: Mapping[str, Rows]
    impulse: Array | None = None
    plain: Case | None = field(default=None, repr=False)  # the same event without its redundant rows

    @property
    def n(self) -> int:
        return self.M.shape[-1]

    def stacked(self, kinds: Sequence[str], what: str = "C") -> Array:
        """`what` of all rows of these kinds, below one another in the order of KINDS."""
        parts = [getattr(self.rows[kind], what) for kind in KINDS if kind in kinds and kind in self.rows]
        return np.concatenate([np.zeros((0, self.n) if what == "C" else 0), *parts])

    @property
    def target(self) -> Array:
        """What u⁺ must be, for the rows that are on."""
        parts = [np.zeros(0)]
        for kind in ON:
            if kind in self.rows:
                r = self.rows[kind]
                parts.append(-r.kappa * (r.C @ self.v + r.b_minus) if kind == "elastic" else np.zeros(len(r.C)))
        return np.concatenate(parts)

    @property
    def f(self) -> Array:
        """f̄_A + f̄_N."""
        f = np.zeros(self.n) if self.impulse is None else self.impulse.copy()
        return f + self.rows["nonideal"].C.T @ self.rows["nonideal"].beta if "nonideal" in self.rows else f

    def arguments(self) -> dict[str, Any]:
        """The keywords of `jd.transition`."""
        arguments: dict[str, Any] = {}
        for kind, r in self.rows.items():
            if kind == "live":
                arguments[kind] = (r.C, r.b_minus, r.b_plus)
            elif kind == "elastic":
                arguments[kind] = (r.C, r.kappa, r.b_plus)
            elif kind == "nonideal":
                arguments[kind] = (r.C, r.beta)
            else:
                arguments[kind] = (r.C, r.b_plus)
        return arguments if self.impulse is None else arguments | {"impulse": self.impulse}

    def solve(self, **options: Any) -> jd.Transition:
        return jd.transition(self.M, self.v, **self.arguments(), **options)

    def problem(self) -> Problem:
        """The same event for `jourdain.algebra.outcome`."""
        columns = {
            kind: r.changed(lambda part: part if part.ndim == 2 else part[:, None]) for kind, r in self.rows.items()
        }
        blocks = [Block(Kind(kind), *vars(columns[kind]).values()) for kind in KINDS if kind in columns]
        return Problem(self.M, self.v[:, None], tuple(blocks), () if self.impulse is None else (self.impulse[:, None],))

    def with_rows(self, **rows: Rows | None) -> Case:
        """With these constraints put in place of those of the same kind; None takes one away."""
        kept = {kind: r for kind, r in ({**self.rows, **rows}).items() if r is not None}
        return replace(self, rows=kept, plain=None)

    @property
    def signature(self) -> tuple[tuple[str, int], ...]:
        """The shapes: cases with one signature can be stacked into a batch."""
        counts = [("n", self.n), *((kind, len(self.rows[kind].C)) for kind in KINDS if kind in self.rows)]
        return (*counts, ("impulse", int(self.impulse is not None)))


def batch(cases: Sequence[Case]) -> tuple[Array, Array, dict[str, Any]]:
    """M, v and the keywords of `jd.transition` for cases of one signature, stacked along a leading axis."""
    keywords: dict[str, Any] = {}
    for kind, first in cases[0].arguments().items():
        values = [case.arguments()[kind] for case in cases]
        several = isinstance(first, tuple)
        keywords[kind] = tuple(np.stack(part) for part in zip(*values, strict=True)) if several else np.stack(values)
    return np.stack([case.M for case in cases]), np.stack([case.v for case in cases]), keywords


# Drawing


def mass_matrix(rng: np.random.Generator, n: int, decades: float = 6.0) -> Array:
    """Symmetric positive definite with cond ≤ 10^decades."""
    Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
    eigenvalues = 10.0 ** rng.uniform(0, decades * rng.uniform(), n)
    M = 10.0 ** rng.uniform(-2, 2) * (Q * eigenvalues) @ Q.T
    return (M + M.T) / 2


def counts(rng: np.random.Generator, n: int, kinds: Sequence[str] = KINDS) -> dict[str, int]:
    """How many rows of each kind: some kinds absent, some room left before and during the event."""
    found: dict[str, int] = {}
    room_on, room_prior = max(n - 1, 1), n - 1
    for kind in rng.permutation(list(kinds)):
        room = min(room_on if kind in ON else n, room_prior if kind in PRIOR else n)
        k = int(rng.integers(0, min(room, 2 + n // 4) + 1)) if room else 0
        if k:
            found[str(kind)] = k
            room_on -= k * (kind in ON)
            room_prior -= k * (kind in PRIOR)
    return found


def draw(
    rng: np.random.Generator,
    n: int | None = None,
    kinds: Sequence[str] = KINDS,
    sizes: Mapping[str, int] | None = None,
    biased: bool = True,
    applied: bool | None = None,
    one_kappa: bool = False,
    decades: float = 6.0,
) -> Case:
    """A random event with rows of some of `kinds` (of just `sizes`, if given)."""
    n = int(rng.integers(2, 13)) if n is None else n
    sizes = counts(rng, n, kinds) if sizes is None else sizes
    M = mass_matrix(rng, n, decades)
    kappa = rng.uniform()
    rows = {}
    drawn = independent_rows(rng, n, sizes)
    for kind, C in drawn.items():
        k = len(C)
        b = rng.standard_normal(k) if biased and kind != "nonideal" else np.zeros(k)
        b_plus = rng.standard_normal(k) if kind == "live" and biased else b
        kappas = np.full(k, kappa) if one_kappa else rng.uniform(size=k)
        rows[kind] = Rows(
            C, b, b_plus, kappas if kind == "elastic" else None, rng.standard_normal(k) if kind == "nonideal" else None
        )
    impulse = rng.standard_normal(n) if (rng.uniform() < 0.5 if applied is None else applied) else None
    case = Case(M, rng.standard_normal(n), rows, impulse)
    return replace(case, v=held(case.M, case.v, case.stacked(PRIOR), case.stacked(PRIOR, "b_minus")))


def independent_rows(rng: np.random.Generator, n: int, sizes: Mapping[str, int]) -> dict[str, Any]:
    """Rows of each kind; those that are on together are independent, and not only just."""
    sparse = rng.uniform() < 0.3  # rows that touch few velocities, as those of mechanisms do
    while True:
        rows = {kind: rng.standard_normal((sizes[kind], n)) for kind in KINDS if sizes.get(kind)}
        if sparse:
            rows = {kind: C * (rng.uniform(size=C.shape) < 0.6) for kind, C in rows.items()}
        together = [[C for kind, C in rows.items() if kind in phase] for phase in (ON, PRIOR, ["nonideal"])]
        if all(not phase or well_conditioned(np.concatenate(phase)) for phase in together):
            return rows


def well_conditioned(C: Array) -> bool:
    singular = np.linalg.svd(C, compute_uv=False)
    return len(C) <= C.shape[1] and bool(singular[-1] > 1e-2 * singular[0])


def held(M: Array, v: Array, C: Array, b: Array) -> Array:
    """The velocity nearest to v, in the norm of M, with C v + b = 0."""
    if not len(C):
        return v
    MinvCT = np.linalg.solve(M, C.T)
    for _ in range(2):  # the second time takes away the rounding of the first
        v = v - MinvCT @ np.linalg.lstsq(C @ MinvCT, C @ v + b, rcond=None)[0]
    return v


# Redundant rows


def with_redundancy(case: Case, rng: np.random.Generator, way: str, spread: float = 1.0) -> Case:
    """The event with one more row, somewhere among those of its kind, that the others imply.

    Combinations have coefficients `spread` apart, the large ones on any of the rows. "across": a combination of
    regular rows and rows of another kind, added to the other kind.
    """
    present = [kind for kind in ON if kind in case.rows]
    if way == "across":
        present = [kind for kind in ("live", "inert", "elastic") if kind in case.rows] if "regular" in case.rows else []
    if not present:
        return case
    kind = str(rng.choice(present))
    plain = case.plain or case
    own = plain.rows[kind]
    donors = rng.permutation(len(own.C))[: 1 if way in ("duplicate", "scaled") else 3]
    if kind == "elastic":  # a combination of rows with different κ would ask for something new
        donors = donors[own.kappa[donors] == own.kappa[donors[0]]]
    lent: Any = rng.permutation(len(plain.rows["regular"].C))[:2] if way == "across" else []
    size = {"duplicate": 1.0, "scaled": rng.choice([-1.0, 1.0]) * spread ** rng.choice([-1, 1]), "zero": 0.0}.get(way)
    if size is None:
        exponents = rng.permutation(np.linspace(0, 1, max(len(donors) + len(lent), 2)))[: len(donors) + len(lent)]
        weights = rng.choice([-1.0, 1.0], len(exponents)) * rng.uniform(0.5, 2, len(exponents)) * spread**exponents
    else:
        weights = np.full(len(donors), size)

    def combined(part: str) -> Any:
        value = sum(w * getattr(own, part)[i] for w, i in zip(weights, donors, strict=False))
        return value + sum(
            w * getattr(plain.rows["regular"], part)[i] for w, i in zip(weights[len(donors) :], lent, strict=True)
        )

    new = Rows(
        combined("C"), combined("b_minus"), combined("b_plus"), None if own.kappa is None else own.kappa[donors[0]]
    )
    before = case.rows[kind]
    place = int(rng.integers(0, len(before.C) + 1))
    longer = Rows(
        *(
            None if old is None else np.insert(old, place, entry, axis=0)
            for old, entry in zip(vars(before).values(), vars(new).values(), strict=True)
        )
    )
    return replace(case, rows={**case.rows, kind: longer}, plain=plain)


# Hypothesis: a case is a function of one integer.

seeds = st.integers(0, 2**32 - 1)


def events(**options: Any) -> st.SearchStrategy[Case]:
    """Random events; `options` are those of `draw`."""
    return seeds.map(lambda seed: draw(np.random.default_rng(seed), **options))


def large_events() -> st.SearchStrategy[Case]:
    """n from 13 to 40."""
    return st.tuples(seeds, st.integers(13, 40)).map(lambda drawn: draw(np.random.default_rng(drawn[0]), n=drawn[1]))


def redundant_events(
    ways: Sequence[str] = WAYS, spreads: Sequence[float] = SPREADS, **options: Any
) -> st.SearchStrategy[Case]:
    """Events with one to three redundant rows."""

    def build(drawn: tuple[int, list[tuple[str, float]]]) -> Case:
        seed, added = drawn
        rng = np.random.default_rng(seed)
        case = draw(rng, **options)
        for way, spread in added:
            case = with_redundancy(case, rng, way, spread)
        return case

    added = st.lists(st.tuples(st.sampled_from(ways), st.sampled_from(spreads)), min_size=1, max_size=3)
    return st.tuples(seeds, added).map(build).filter(lambda case: case.plain is not None)


@cache
def puck() -> jd.Mechanism:
    """A particle in a plane, of mass m = 0.7 kg, above a rough floor."""
    x, z, m = ca.SX.sym("x"), ca.SX.sym("z"), ca.SX.sym("m")
    rates = ca.vertcat(ca.SX.sym("vx"), ca.SX.sym("vz"))
    units = {"x": "m", "z": "m"}
    made = jd.Mechanism.from_casadi(ca.vertcat(x, z), rates, m * ca.SX.eye(2), parameters=[(m, 0.7)], units=units)
    made.contact("floor", normal=z, tangent=[x], level="position", units="m")
    return made


def read_csv(path: Path) -> pd.DataFrame:
    """A table, its numbers with all their digits: those that pandas reads by itself lose some in older versions."""

    def numbers(texts: pd.Series) -> pd.Series:
        try:
            return texts.map(lambda text: float(text or "nan"))
        except ValueError:
            return texts

    return pd.read_csv(path, dtype=str, keep_default_na=False).apply(numbers)
