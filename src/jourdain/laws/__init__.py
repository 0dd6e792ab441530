"""What a one-sided contact does when it closes: each contact of an event has its law, and a law is one file."""

from jourdain.kinds import ContactState
from jourdain.laws import solvers
from jourdain.laws.coulomb import Coulomb
from jourdain.laws.frictionless import Frictionless
from jourdain.laws.law import Law, approach
from jourdain.laws.moreau_coulomb import MoreauCoulomb
from jourdain.laws.no_slip import NoSlip

__all__ = ["ContactState", "Coulomb", "Frictionless", "Law", "MoreauCoulomb", "NoSlip", "approach", "solvers"]
