"""Solvers of one-sided contacts, over numbers: they know rows and coefficients, and no mechanism."""
