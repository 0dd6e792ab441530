"""Mechanisms that are written down in SymPy or CasADi."""

from __future__ import annotations

from dataclasses import dataclass

from jourdain.inputs import Expression, RowsLike
from jourdain.mechanism.constraint import ContactConstraint, contact
from jourdain.mechanism.mechanism import Mechanism
from jourdain.output.printable import prints
from jourdain.output.tables import names


@dataclass(frozen=True, eq=False, repr=False)
class GeneralMechanism(Mechanism):
    """A mechanism of `Mechanism.from_sympy` or `Mechanism.from_casadi`: its contacts are expressions."""

    def contact(
        self, name: str, normal: Expression, tangent: RowsLike = (), level: str = "velocity", units: str | None = None
    ) -> ContactConstraint:
        """See `Mechanism.contact`."""
        return contact(self, name, normal, tangent, level, units)

    @prints
    def __repr__(self) -> str:
        s = self.symbols
        return f"Mechanism(q=[{names(s.q_names)}], n_v={len(s.v_names)}, parameters=[{names(self.parameters)}])"
