"""Whole studies made with the library: the touchdown of a robot, four papers recomputed, benchmarks."""
