"""Formulas that a person reads: fractions of polynomials in sines and cosines of the angles as they were written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import sympy as sp
from sympy.simplify.fu import TR8, TR10i

from jourdain.errors import BadEvent, listing

SMALL = 250  # expressions with more operations than this are left as they are
MOST = 400  # the same for sums of angles
FEW = 30  # operations of what SymPy's own simplification, which is slow, is tried on
MOST_TERMS = 40  # sums with more terms are not factored
HALF = sp.Rational(1, 2)


def canonical(e: sp.Expr) -> sp.Expr:
    """`readable` for longer expressions, in sines and cosines of single angles."""
    if e.is_number or e.is_Symbol or e.has(sp.Piecewise) or sp.count_ops(e) > MOST:
        return e
    return readable(sp.expand_trig(e), MOST)


def readable(e: sp.Expr, most: int = SMALL) -> sp.Expr:
    """A factored fraction of polynomials in sines and cosines, with sin² + cos² = 1; long and other ones as they are.

    Working on polynomials is faster than sp.simplify and keeps the angles that the user wrote.
    """
    if e.is_number or e.is_Symbol or sp.count_ops(e) > most or e.has(sp.Piecewise):
        return e
    names, relations = _generators(e)
    named = e.xreplace(names)
    if not named.is_rational_function(*named.free_symbols):  # arcs, roots of roots
        return e
    reduced = sp.cancel(named)
    for squares, relation in relations:
        candidates = [reduced, *(_without_square(reduced, square, relation) for square in squares)]
        reduced = min(candidates, key=lambda fraction: _n_terms(sp.fraction(fraction)))
    shortest = sp.factor(reduced) if _n_terms(sp.fraction(reduced)) <= MOST_TERMS else sp.factor_terms(reduced)
    return shortest.xreplace({symbol: function for function, symbol in names.items() if symbol.is_Symbol})


def _generators(e: sp.Expr) -> tuple[dict[sp.Expr, sp.Expr], list[tuple[tuple[sp.Symbol, ...], sp.Expr]]]:
    """Symbols for sines, cosines and square roots, and what is 0: (variables whose squares it gives, polynomial)."""
    names: dict[sp.Expr, sp.Expr] = {}
    relations: list[tuple[tuple[sp.Symbol, ...], sp.Expr]] = []
    for argument in sorted({t.args[0] for t in e.atoms(sp.sin, sp.cos)}, key=sp.default_sort_key):
        s, c = sp.Dummy("s"), sp.Dummy("c")
        names |= {sp.sin(argument): s, sp.cos(argument): c}
        relations.append(((s, c), s**2 + c**2 - 1))
    halves = [p for p in e.atoms(sp.Pow) if p.exp.is_Rational and p.exp.q == 2 and p.free_symbols]
    for base in sorted({p.base for p in halves}, key=sp.default_sort_key):
        root = sp.Dummy("root")
        names[sp.sqrt(base)] = root
        names |= {p: root ** (2 * p.exp) for p in halves if p.base == base and p.exp != HALF}
        relations.append(((root,), root**2 - base.xreplace(names)))
    return names, relations


def _without_square(fraction: sp.Expr, variable: sp.Symbol, relation: sp.Expr) -> sp.Expr:
    """The fraction with squares of one variable replaced by means of relation = 0, above and below the line alike."""
    above, below = (sp.rem(part, sp.numer(sp.together(relation)), variable) for part in sp.fraction(fraction))
    return sp.cancel(above / below)


def _n_terms(polynomials: Iterable[sp.Expr]) -> int:
    return sum(len(sp.Add.make_args(polynomial)) for polynomial in polynomials)


def shortest(e: sp.Expr) -> sp.Expr:
    """The shortest of what polynomials in sines and cosines, and sums of angles, make of it; long ones as they are.

    >>> a, b = sp.symbols("a b")
    >>> shortest(sp.cos(a) * sp.cos(b) + sp.sin(a) * sp.sin(b))
    cos(a - b)
    """
    if e.is_number or e.is_Symbol or e.has(sp.Piecewise) or sp.count_ops(e) > MOST:
        return e
    forms = list(dict.fromkeys((e, readable(e), canonical(e)) if sp.expand_trig(e) != e else (e, canonical(e))))
    best = min([*forms, *map(_turned, forms)], key=sp.count_ops)
    return min((best, sp.simplify(best)), key=sp.count_ops) if sp.count_ops(best) <= FEW else best


def _turned(e: sp.Expr) -> sp.Expr:
    """With sums and multiples of angles, and common factors, in each factor where they make it shorter."""
    if sp.count_ops(e) > SMALL:
        return e
    parts = []
    for part in sp.fraction(sp.together(e)):
        factors = (factor.as_base_exp() for factor in sp.Mul.make_args(part))
        parts.append(sp.Mul(*(_turned_sum(base) ** exponent for base, exponent in factors)))
    return parts[0] / parts[1]


def _turned_sum(e: sp.Expr) -> sp.Expr:
    """The shortest of a sum as it is, with products of sines and cosines as sums, and these as polynomials."""
    if not e.is_Add:
        return e
    found = [e]
    if e.has(sp.sin, sp.cos):
        sums = TR8(sp.expand_mul(e))
        found += [sums, sp.factor_terms(sums), TR10i(e)]
        found += [readable(sums)] if sp.count_ops(sums) <= SMALL else []
    return _collected(min(found, key=sp.count_ops))


def _collected(e: sp.Expr) -> sp.Expr:
    """With what occurs in several terms taken out of them, as long as it makes the sum shorter."""
    best = e
    if not e.is_Add or sp.count_ops(e) > SMALL:
        return e
    for factor in sorted(e.atoms(sp.Symbol, sp.sin, sp.cos), key=sp.default_sort_key):
        best = min((best, sp.collect(best, factor)), key=sp.count_ops)
    return best


def with_short_roots(e: sp.Expr) -> sp.Expr:
    """With what stands under roots as short as can be.

    >>> a, l = sp.Symbol("a"), sp.Symbol("l", positive=True)
    >>> with_short_roots(1 / sp.sqrt(l**2 * sp.sin(a) ** 2 + l**2 * sp.cos(a) ** 2))
    1/l
    """
    roots = {root: shortest(root.base) ** root.exp for root in e.atoms(sp.Pow) if root.exp in (HALF, -HALF)}
    return e.xreplace(roots)


def limit(e: sp.Expr, vanishing: Sequence[sp.Symbol]) -> sp.Expr:
    """The value of a formula where positive symbols go to 0 together, as the masses of light feet.

    Raises BadEvent where it depends on their ratios.

    >>> m, M = sp.symbols("m M")
    >>> limit((m**2 + m * M) / (2 * m), [m])
    M/2
    """
    if not e.free_symbols & set(vanishing):
        return e
    small = sp.Dummy("small", positive=True)
    fraction = sp.cancel(sp.together(e.xreplace({symbol: small * symbol for symbol in vanishing})))
    value = fraction.subs(small, 0)
    value = sp.limit(fraction, small, 0, "+") if value.has(sp.nan, sp.zoo, sp.oo) else value
    if value.free_symbols & set(vanishing) and not value.has(sp.oo, sp.zoo, sp.nan):
        names = listing(str(symbol).removeprefix("_") for symbol in vanishing)
        raise BadEvent(f"What comes out depends on how {names} go to 0 beside each other; insert one, as a multiple of "
                       "the others if need be.")  # fmt: skip
    return value
