"""Numbers from expressions: evaluation, compiled kernels, the Runge–Kutta tableau, what fits in memory."""
