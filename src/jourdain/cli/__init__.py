"""The command line: one file per command. Angles are in degrees, all else in SI."""
