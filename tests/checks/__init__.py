"""Long checks that `make test` does not run: random events against other solvers, and mutants of the source."""
