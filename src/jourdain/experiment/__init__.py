"""Measured logs to mechanics: what a strike was, by encoders and a force sensor; and a testbed that makes such logs."""

from jourdain.experiment.compare import Comparison, Repeats, average
from jourdain.experiment.logs import Log, read
from jourdain.experiment.sensors import Recording, Sensors
from jourdain.experiment.strike import Strike
from jourdain.experiment.testbed import Run, Surface, Testbed

__all__ = [
    "Comparison",
    "Log",
    "Recording",
    "Repeats",
    "Run",
    "Sensors",
    "Strike",
    "Surface",
    "Testbed",
    "average",
    "read",
]
