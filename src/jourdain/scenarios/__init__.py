"""Scenarios: an event at a pose that depends on parameters; sweeps and optima."""
