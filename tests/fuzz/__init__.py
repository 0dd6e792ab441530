"""Inputs that are broken at random: robot files, logs, command lines and model files."""
