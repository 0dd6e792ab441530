"""Problems that are solved in the literature, one per file. Each function returns a Scenario and lists its parameters."""

from jourdain.gallery.sleigh import sleigh

__all__ = ["sleigh"]
