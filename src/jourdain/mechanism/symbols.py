"""The CasADi symbols of a mechanism and the names that stand for them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import casadi as ca
from casadi import SX

from jourdain.compute.sampled import differ
from jourdain.errors import NameClash, NotAffine, NotExpressible, Rheonomic, unknown
from jourdain.inputs import Expression
from jourdain.mechanism.expression import is_scalar, to_sx
from jourdain.naming import name_of

if TYPE_CHECKING:
    from sympy.physics.mechanics import Point

    from jourdain.mechanism.exact import ExactNumbers

PointLike: TypeAlias = "Point | str"  # a point that SymPy knows, or the name of one


@dataclass(frozen=True)
class PointMotion:
    """A named point: 3-vectors in the mechanism's frame."""

    position: SX | None  # (3, 1); None where it is not connected to the origin
    velocity: SX  # (3, 1), affine in v
    source: Any = None  # the user's own object, so that it may serve as a key
    beside: SX | None = None  # (3, 1); where it is from the first body, if it is not connected to the origin

    @property
    def place(self) -> SX | None:
        """Where it is drawn: its position, else how it lies beside the first body."""
        return self.beside if self.position is None else self.position


@dataclass(frozen=True)
class Follower:
    """A coordinate that, where it is not given, follows another one: q = offset + slope (q_leader − reference)."""

    name: str
    leader: str
    offset: float
    slope: float
    reference: float


class Loads(Protocol):
    """What acts between events: M v̇ + bias = force."""

    @property
    def force(self) -> SX:
        """(n_v, 1), generalized: gravity and loads."""

    @property
    def bias(self) -> SX | None:
        """(n_v, 1); None: not known."""

    @property
    def potential(self) -> SX | None:
        """J, of gravity and what else has one; None: not known."""

    @property
    def weight(self) -> SX | None:
        """(n_v, 1), the part of `force` that has the potential."""

    @property
    def bias_given(self) -> bool:
        """It may hold forces too, as gravity."""


@dataclass(frozen=True)
class GivenLoads:
    """Loads that are known when a mechanism is made."""

    force: SX
    bias: SX | None = None
    potential: SX | None = None
    weight: SX | None = None
    bias_given: bool = False


def dynamics_time() -> Any:
    """The time of SymPy's `dynamicsymbols`."""
    from sympy.physics.mechanics import dynamicsymbols

    return dynamicsymbols._t


def is_of_time(function: Any) -> bool:
    """Whether an undefined function of SymPy is one of the time t, and of nothing else: q(t), not q(0) or f(q)."""
    return [str(argument) for argument in function.args] == ["t"]


@dataclass(frozen=True, eq=False)
class Symbols:
    """q, v, parameters and time as SX; q̇ = N(q) v."""

    q_names: tuple[str, ...]
    v_names: tuple[str, ...]
    p_names: tuple[str, ...]
    q: SX
    v: SX
    p: SX
    t: SX = field(default_factory=lambda: SX.sym("t"))
    definitions: Mapping[Any, SX] = field(default_factory=dict)  # expressions that are quasi-velocities by definition
    N: SX = field(default_factory=lambda: SX(0, 0))  # (n_q, n_v); empty while it is being found
    # SymPy symbols that expressions brought, by name, whether or not they are parameters yet; None: they must be.
    met: dict[str, tuple[Any, SX]] | None = None
    sources: dict[str, Any] = field(default_factory=dict)  # SymPy objects by their names, which are theirs alone
    reading: bool = False  # a model: other objects enter `sources`
    exact: dict[float, Any] = field(default_factory=dict)  # numbers that doubles round, by their doubles

    @classmethod
    def named(cls, q_names: Sequence[str], v_names: Sequence[str], p_names: Sequence[str]) -> Symbols:
        def column(names: Sequence[str]) -> SX:
            return ca.vertcat(SX(0, 1), *(SX.sym(name) for name in names))

        return cls(tuple(q_names), tuple(v_names), tuple(p_names), column(q_names), column(v_names), column(p_names))

    def with_kinematics(self, N: SX, kinematics: Mapping[Any, Any]) -> Symbols:
        """Itself, knowing q̇ = N v; an expression that defines a quasi-velocity will be translated to it."""
        defined = {value: self.v[self.v_names.index(name_of(key))] for key, value in kinematics.items()
                   if name_of(key) in self.v_names and name_of(key) not in self.q_names}  # fmt: skip
        return replace(self, N=N, definitions=defined)

    def with_parameters(self, names: Sequence[str]) -> Symbols:
        """Itself with these parameters only, which may be symbols that it met."""
        known = self.parameters | {name: sx for name, (_, sx) in (self.met or {}).items()}
        column = ca.vertcat(SX(0, 1), *(known[name] for name in names))
        return replace(self, p_names=tuple(names), p=column, met=None, reading=False)

    def with_sources(self, symbols: Iterable[Any]) -> Symbols:
        """Itself while it reads a model of SymPy: these have names of their own, and what it meets gets one."""
        own = [symbol.expr if getattr(symbol, "is_Derivative", False) else symbol for symbol in symbols]
        own = [symbol for symbol in own if is_scalar(symbol)]
        times = (symbol.args[0] for symbol in own if symbol.is_Function and is_of_time(symbol))
        sources = {name_of(symbol): symbol for symbol in own}
        return replace(self, sources={"t": next(times, dynamics_time()), **sources}, reading=True)

    @property
    def exact_numbers(self) -> ExactNumbers:
        """Numbers that expressions brought so far and doubles round."""
        from jourdain.mechanism.exact import ExactNumbers

        return ExactNumbers.of(self.exact)

    @cached_property
    def rates(self) -> SX:
        """q̇ = N v, (n_q, 1)."""
        return self.N @ self.v

    @cached_property
    def parameters(self) -> dict[str, SX]:
        """Parameter symbols by name, time included."""
        return {"t": self.t} | {name: self.p[i] for i, name in enumerate(self.p_names)}

    def affine(self, what: str, expression: SX) -> tuple[SX, SX]:
        """(C, b) of an expression C v + b, (k, n_v) and (k, 1); NotAffine with the term that is not."""
        C = ca.jacobian(expression, self.v)
        b = ca.substitute(expression, self.v, SX.zeros(*self.v.shape))
        if ca.depends_on(C, self.v):
            entries = (C[i, j] for i in range(C.shape[0]) for j in range(C.shape[1]))
            quadratic = next(entry for entry in entries if ca.depends_on(entry, self.v))
            raise NotAffine(
                f"The {what} is not affine in the velocities: its derivative {quadratic} still depends on them."
            )
        if differ(expression, C @ self.v + b):
            raise NotAffine(f"The {what} is not affine in the velocities: it jumps with them.")
        return ca.sparsify(C), ca.sparsify(b)

    def translate(self, expression: Expression, rates: SX | None = None, coasting: bool = False) -> SX:
        """An SX for an expression in q, q̇, v, parameters and t. `rates` stands for q̇ while N is being found.

        `coasting`: accelerations may stand in it, and are those for v̇ = 0.
        """
        if rates is None and self.N.shape[1]:
            rates = self.rates
            if self.definitions and is_scalar(expression) and expression in self.definitions:
                return self.definitions[expression]

        def lookup(symbol: Any) -> SX:
            if symbol.is_Derivative:
                return self._coasting(symbol) if coasting and symbol.derivative_count < 3 else self._rate(symbol, rates)
            if symbol.is_Function:
                if not is_of_time(symbol):
                    raise NotExpressible(
                        f"{symbol} is not a function of time alone, at the time t; write it as an expression in "
                        "coordinates, velocities and parameters."
                    )
                return self._function(symbol)
            return self._parameter(symbol)

        if isinstance(expression, SX):
            self._refuse_foreign(expression)
        return to_sx(expression, lookup, self.exact)

    def _coasting(self, symbol: Any) -> SX:
        """What stands for a rate or an acceleration where v̇ = 0: q̈ = Ṅ v."""
        name, rates = name_of(symbol), self.rates
        if symbol.derivative_count == 1:
            return SX(0) if name in self.v_names and name not in self.q_names else self._rate(symbol, rates)
        if name not in self.q_names:
            return self._rate(symbol, rates)
        change = ca.jtimes(rates, self.q, rates) + ca.jacobian(rates, self.t)
        return change[self.q_names.index(name)]

    def _rate(self, symbol: Any, rates: SX | None) -> SX:
        """What stands for the rate of a coordinate."""
        name = name_of(symbol)
        if any(str(one) != "t" for one in symbol.variables) or not (
            symbol.expr.is_Function and is_of_time(symbol.expr)
        ):
            inner = symbol.doit()
            if inner != symbol:
                return self.translate(inner, rates)
            raise NotExpressible(f"{symbol} is not a rate, a derivative by the time t; write the derivative out.")
        if symbol.derivative_count != 1 or name not in self.q_names:
            inner = symbol.doit()
            if inner != symbol:
                return self.translate(inner, rates)
            if name in (*self.q_names, *self.v_names):
                raise NotExpressible(
                    f"{symbol} is an acceleration, but an event knows q and v only; in a load, what multiplies it "
                    "belongs to the mass matrix: describe it as the mass or inertia of a body."
                )
            if self.met is not None:
                raise Rheonomic(
                    f"{symbol} is the rate of a function of time that is no coordinate or speed of the system; a "
                    "motion that it prescribes is not supported, and in a load it must be a function of its own."
                )
            raise NotExpressible(f"{symbol} is not the rate of a coordinate; an event knows q and v only.")
        if rates is None:
            raise NotExpressible(f"{symbol} cannot stand here; write the expression in v.")
        self._check_source(symbol.expr)
        return rates[self.q_names.index(name)]

    def _check_source(self, symbol: Any) -> None:
        """Raise NameClash where another object of SymPy has the same name."""
        name = name_of(symbol)
        known = self.sources.setdefault(name, symbol) if self.reading else self.sources.get(name, symbol)
        if known == symbol or (not self.reading and symbol == dynamics_time()):
            return
        if str(known) != str(symbol) or name == "t":
            what = {True: "the function of time", False: "the symbol"}
            one = "the time" if name == "t" else f"{what[bool(known.is_Function)]} {known}"
            other = "another symbol" if name == "t" else f"{what[bool(symbol.is_Function)]} {symbol}"
            raise NameClash(f"'{name}' is the name of {one} and of {other}; rename one of them.")
        raise NameClash(
            f"Two different {'functions' if symbol.is_Function else 'symbols'} are called '{name}' (their assumptions "
            "differ); use one of them."
        )

    def _function(self, symbol: Any) -> SX:
        """What stands for a function of time: a coordinate, a velocity, or a parameter that can be driven."""
        name = name_of(symbol)
        self._check_source(symbol)
        if name in self.q_names:
            return self.q[self.q_names.index(name)]
        if name in self.v_names:
            return self.v[self.v_names.index(name)]
        if name in self.p_names:
            return self.parameters[name]
        if self.met is not None:
            raise Rheonomic(
                f"'{name}' is a function of time and no coordinate or speed of the system; such functions may stand in "
                "loads, but a motion that they prescribe is not supported: make it a coordinate, held by a constraint."
            )
        raise unknown("coordinate or velocity", name, dict.fromkeys([*self.q_names, *self.v_names]))

    def _parameter(self, symbol: Any) -> SX:
        name = name_of(symbol)
        self._check_source(symbol)
        if self.met is None or name == "t":
            if name not in self.parameters:
                raise unknown("parameter", name, self.p_names)
            return self.parameters[name]
        sx = self.parameters[name] if name in self.parameters else SX.sym(name)
        return self.met.setdefault(name, (symbol, sx))[1]

    def _refuse_foreign(self, expression: SX) -> None:
        """CasADi symbols that are not this mechanism's."""
        own = {symbol.__hash__() for symbol in ca.symvar(ca.vertcat(self.q, self.v, self.p, self.t))}
        for symbol in ca.symvar(expression):
            if symbol.__hash__() not in own:
                raise unknown("symbol", symbol.name(), [*self.q_names, *self.v_names, *self.p_names])
