"""Mechanisms and their constraints, from SymPy bodies or CasADi models."""
