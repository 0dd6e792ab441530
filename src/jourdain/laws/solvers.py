"""The solvers that a law can take, and what one of your own is made of.

A solver gets the contacts of an event (`Contacts`) and returns their impulses (`ContactSolution`); `by_formula` makes
that of impulses alone. It is written over `contacts.la`, so that it serves numbers, batches and derivatives.
"""

from jourdain.algebra.contacts.contacts import Contacts, ContactSolution, ContactSolver
from jourdain.algebra.contacts.held import by_formula
from jourdain.laws.coulomb import COULOMB
from jourdain.laws.frictionless import MOREAU, POISSON
from jourdain.laws.moreau_coulomb import MOREAU_COULOMB
from jourdain.laws.no_slip import NO_SLIP

__all__ = ["COULOMB", "MOREAU", "MOREAU_COULOMB", "NO_SLIP", "POISSON", "ContactSolution", "ContactSolver", "Contacts",
           "by_formula"]  # fmt: skip
