"""What a one-sided contact does when it closes: laws are data, and each contact of an event has its own."""

from jourdain.kinds import ContactState
from jourdain.laws.coulomb import Coulomb
from jourdain.laws.frictionless import Frictionless
from jourdain.laws.law import Law
from jourdain.laws.moreau_coulomb import MoreauCoulomb
from jourdain.laws.no_slip import NoSlip

__all__ = ["ContactState", "Coulomb", "Frictionless", "Law", "MoreauCoulomb", "NoSlip"]
