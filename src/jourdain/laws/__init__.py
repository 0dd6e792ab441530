"""What a one-sided contact does when it closes: laws are data, and each contact of an event has its own."""

from jourdain.laws.law import Coulomb, Frictionless, Law, MoreauCoulomb, NoSlip
from jourdain.laws.state import ContactState

__all__ = ["ContactState", "Coulomb", "Frictionless", "Law", "MoreauCoulomb", "NoSlip"]
