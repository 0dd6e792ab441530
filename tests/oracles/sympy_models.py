"""The models of SymPy's own tests of mechanics, caught while they are made, and SymPy's numbers for them."""

from __future__ import annotations

import contextlib
import importlib
import pkgutil
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import sympy as sp
import sympy.physics.mechanics.tests
from sympy.physics.mechanics import (
    JointsMethod,
    KanesMethod,
    LagrangesMethod,
    System,
    dynamicsymbols,
)

NO_SYSTEMS = ("test_body", "test_joint", "test_functions", "test_actuator")  # modules that make no system that moves
METHODS = (System, KanesMethod, LagrangesMethod, JointsMethod)


def functions_of_sympy() -> list[str]:
    """All test functions of SymPy's mechanics that may make a system, as "module:function"."""
    names = []
    for module in pkgutil.iter_modules(sympy.physics.mechanics.tests.__path__):
        found = importlib.import_module(f"sympy.physics.mechanics.tests.{module.name}")
        if module.name in NO_SYSTEMS:
            continue
        makes = any(kind.__name__ in vars(found) for kind in METHODS) or module.name == "test_models"
        if makes:
            names += [f"{module.name}:{name}" for name in vars(found) if name.startswith("test_")]
            names += [
                f"{module.name}:{kind}.{name}"
                for kind, own in vars(found).items()
                if kind.startswith("Test")
                for name, one in vars(own).items()
                if name.startswith("test_") and one.__code__.co_argcount == 1
            ]
    return names


def models(function: str) -> list[Any]:
    """The systems that a test function of SymPy makes, in order; those that SymPy makes for another one left out."""
    module, _, name = function.partition(":")
    test: Any = importlib.import_module(f"sympy.physics.mechanics.tests.{module}")
    for part in name.split("."):
        test = getattr(test() if isinstance(test, type) else test, part)
    made: list[Any] = []
    with _caught(made), warnings.catch_warnings(), contextlib.suppress(Exception):
        warnings.simplefilter("ignore")
        test()
    return made


@contextlib.contextmanager
def _caught(made: list[Any]) -> Iterator[None]:
    depth = [0]
    kept = {kind: kind.__init__ for kind in METHODS}
    forming = {(kind, name): getattr(kind, name) for kind in METHODS
               for name in ("form_eoms", "kanes_equations") if name in vars(kind)}  # fmt: skip

    def init(kind: type, own: Any) -> Any:
        def made_one(self: Any, *arguments: Any, **keywords: Any) -> None:
            depth[0] += 1
            try:
                own(self, *arguments, **keywords)
            finally:
                depth[0] -= 1
            if not depth[0] and type(self) in METHODS:
                made.append(self)

        return made_one

    def inner(own: Any) -> Any:
        def formed(self: Any, *arguments: Any, **keywords: Any) -> Any:
            depth[0] += 1
            try:
                return own(self, *arguments, **keywords)
            finally:
                depth[0] -= 1

        return formed

    try:
        for kind, own in kept.items():
            kind.__init__ = init(kind, own)
        for (kind, name), own in forming.items():
            setattr(kind, name, inner(own))
        yield
    finally:
        for kind, own in kept.items():
            kind.__init__ = own
        for (kind, name), own in forming.items():
            setattr(kind, name, own)


class Reference:
    """SymPy's numbers of a system at states of the mechanism that was read from it."""

    def __init__(self, system: Any, mechanism: Any) -> None:
        self.system, self.mechanism = system, mechanism
        self.method = getattr(system, "eom_method", None) or getattr(system, "method", None) or system
        t = dynamicsymbols._t
        self.q = [one for one in system.q if one.func.__name__ != "dummy_q"]
        rates = [one.diff(t) for one in self.q]
        self.u = rates if isinstance(self.method, LagrangesMethod) else [*system.u, *self._auxiliary()]
        self.rates = [rate for rate in rates if rate not in self.u]
        self.is_rate = [rate not in self.u for rate in rates]

    def _auxiliary(self) -> list[Any]:
        return list(getattr(self.method, "_uaux", ()) or getattr(self.system, "u_aux", ()))

    @property
    def lagrange(self) -> bool:
        return isinstance(self.method, LagrangesMethod)

    def form(self) -> None:
        """Let SymPy form the equations of motion, if it has not yet."""
        if getattr(self.method, "_fr", None) is not None or getattr(self.method, "eom", None) is not None:
            return
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                self.system.form_eoms() if hasattr(self.system, "form_eoms") else self.method._form_eoms()
            except (ValueError, TypeError):  # speeds that are rates of q are for Lagrange only
                self.system.form_eoms(LagrangesMethod)
        self.method = getattr(self.system, "eom_method", None) or getattr(self.system, "method", None) or self.system

    def function(self, expression: Any) -> Any:
        """(q, v, rates, p) → an array. Symbols that the mechanism does not have must cancel."""
        still = {one.diff(dynamicsymbols._t): 0 for one in self.u}
        still |= {one.diff(dynamicsymbols._t, 2): 0 for one in self.q} if self.lagrange else {}
        expression = sp.Matrix(expression).doit().xreplace(still)
        known_rates = {*self.rates, *self.u}
        given = [one for one in expression.atoms(sp.Derivative) if one not in known_rates]
        expression = expression.xreplace(dict.fromkeys(given, sp.Integer(0)))  # functions of time are held
        known = [*self.rates, *self.u, *self.q]
        free = sorted(expression.free_symbols | expression.atoms(sp.core.function.AppliedUndef), key=str)
        others = [one for one in free if one not in known and one != dynamicsymbols._t]
        dummies = {one: sp.Dummy() for one in [*known, *others, dynamicsymbols._t]}
        plain = sp.Matrix([[entry.xreplace(_ordered(dummies)) for entry in row] for row in expression.tolist()])
        names = [str(one).removesuffix("(t)") for one in others]
        evaluate = sp.lambdify(list(dummies.values()), plain, cse=True, modules="numpy")

        def at(q: Any, v: Any, rates: Any, p: dict[str, float]) -> Any:
            listed = [rate for rate, free in zip(rates, self.is_rate, strict=True) if free]
            return np.array(evaluate(*listed, *v, *q, *(p.get(name, 0.7) for name in names), 0.0), dtype=float)

        return at

    def kinetic_energy(self) -> Any:
        """(q, v, rates, p) → T, an array (1, 1)."""
        if self.lagrange:
            L = self.method._L[0]
            return self.function([L - L.xreplace(dict.fromkeys(self.u, 0))])
        frame = self.system.frame if hasattr(self.system, "frame") else self.method._inertial
        return self.function([sum(body.kinetic_energy(frame) for body in self.system.bodies)])

    def residual(self) -> Any:
        """(q, v, rates, p) → (A, f), (D, E, e): A v̇ = f along the independent speeds, and rows E v̇ + e = 0."""
        self.form()
        m = self.method
        if self.lagrange:
            rows = m.coneqs.jacobian(m._qdots) if m.coneqs else sp.zeros(0, len(m.q))
            parts = [m._m_d, m._f_d, rows, -m._f_cd if m.coneqs else sp.zeros(0, 1)]
        else:
            rows = m._k_dnh if m._k_dnh else sp.zeros(0, len(m.u))
            parts = [m._k_d, -m._f_d, rows, m._f_dnh if m._k_dnh else sp.zeros(0, 1)]
        shapes = [part.shape for part in parts]
        functions = [self.function(part) if 0 not in part.shape else None for part in parts]

        def at(*state: Any) -> list[Any]:
            return [np.zeros(shape) if f is None else f(*state) for f, shape in zip(functions, shapes, strict=True)]

        return at


def _ordered(dummies: dict[Any, Any]) -> dict[Any, Any]:
    """Derivatives first, so that the functions in them are not replaced before."""
    return dict(sorted(dummies.items(), key=lambda pair: not pair[0].is_Derivative))


def states(mechanism: Any, p: dict[str, float], rng: np.random.Generator, n: int = 3) -> list[tuple[Any, Any, Any]]:
    """Random (q, v, rates) on all constraints of the mechanism; fewer where poses are hard to find."""
    import casadi as ca

    s = mechanism.symbols
    rows = [mechanism.constraints[name] for name in mechanism.joined]
    geometric = [row for row in rows if row.g is not None]
    C = ca.vertcat(ca.SX(0, s.v.numel()), *(row.C for row in rows))
    b = ca.vertcat(ca.SX(0, 1), *(row.b for row in rows))
    at = ca.Function("rows", [s.q, s.p, s.t], [ca.densify(C), ca.densify(b), ca.densify(s.N)])
    found = []
    for _ in range(20 * n):
        q = rng.uniform(-0.9, 0.9, s.q.numel())
        if geometric:
            try:
                q = mechanism.assemble(q, hold=geometric, parameters=p)
            except ValueError:
                continue
        numbers = [np.array(part) for part in at(q, [p[name] for name in s.p_names], 0.0)]
        if not all(np.isfinite(part).all() for part in numbers):
            continue
        rows_C, bias, N = numbers
        v = rng.uniform(-1, 1, s.v.numel())
        if len(rows_C):
            v = v - np.linalg.lstsq(rows_C, rows_C @ v + bias[:, 0], rcond=1e-10)[0]
        found.append((q, v, N @ v))
        if len(found) == n:
            break
    return found


def equations(mechanism: Any, p: dict[str, float]) -> Any:
    """(q, v) → M, h − f, C and Ċ v + ḃ of the mechanism with its own constraints, as arrays."""
    import casadi as ca

    s = mechanism.symbols
    rows = [mechanism.constraints[name] for name in mechanism.joined]
    C = ca.vertcat(ca.SX(0, s.v.numel()), *(row.C for row in rows))
    u = C @ s.v + ca.vertcat(ca.SX(0, 1), *(row.b for row in rows))
    left = ca.jtimes(u, s.q, s.N @ s.v) + ca.jacobian(u, s.t) if u.numel() else ca.SX(0, 1)
    f = mechanism.loads.bias - mechanism.loads.force
    at = ca.Function("parts", [s.q, s.v, s.p, s.t], [ca.densify(part) for part in (mechanism.M, f, C, left)])
    return lambda q, v: [np.array(part) for part in at(q, v, [p[name] for name in s.p_names], 0.0)]


def equations_differ(theirs: list[Any], ours: list[Any], lagrange: bool, rng: np.random.Generator) -> float:
    """By how much SymPy's equations of motion and those of the mechanism differ, relative to their terms."""
    A, f, E, e = theirs
    M, h, C, c = ours
    n = A.shape[1]
    vdot = rng.uniform(-1, 1, len(M))
    vdot = vdot - (np.linalg.lstsq(C, C @ vdot + c[:, 0], rcond=1e-10)[0] if len(C) else 0)
    # The velocities that the rows admit.
    Z = np.linalg.svd(C)[2][np.linalg.matrix_rank(C, 1e-8) :].T if len(C) else np.eye(len(M))
    their, our = A @ vdot[:n] - f[:, 0], M @ vdot + h[:, 0]
    if lagrange:
        their, our = Z.T @ their, Z.T @ our
    else:  # Kane's method has one equation for each independent speed
        D = Z @ np.linalg.pinv(Z[: len(their)])
        our = D.T @ our
    scale = 1 + np.max(np.abs(A), initial=0) + np.max(np.abs(f), initial=0)
    rows = E @ vdot[:n] + e[:, 0]
    row_scale = 1 + np.max(np.abs(E), initial=0) + np.max(np.abs(e), initial=0)
    return float(max(np.max(np.abs(their - our), initial=0) / scale, np.max(np.abs(rows), initial=0) / row_scale))


def mass_matrix_of(kinetic_energy: Any, q: Any, N: Any, p: dict[str, float]) -> Any:
    """M of a quadratic form T(q, v), from its values."""
    n = N.shape[1]
    basis = np.eye(n)

    def T(v: Any) -> float:
        return float(kinetic_energy(q, v, N @ v, p)[0, 0])

    alone = [T(e) for e in basis]
    return np.array([[2 * alone[i] if i == j else T(basis[i] + basis[j]) - alone[i] - alone[j] for j in range(n)]
                     for i in range(n)])  # fmt: skip


def struck(M: Any, C: Any, target: Any, v: Any) -> Any:
    """v⁺ by a dense system: M (v⁺ − v) = Cᵀ λ̄, C v⁺ = target."""
    k, n = C.shape
    matrix = np.block([[M, -C.T], [C, np.zeros((k, k))]])
    return np.linalg.lstsq(matrix, np.concatenate([M @ v, target]), rcond=1e-12)[0][:n]
