"""Whether velocities of a mechanism move no mass of their own, so that its rows must hold them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from jourdain.algebra.lapack import SEMIDEFINITE, positive_definite, smallest_eigenvalue
from jourdain.compute.evaluate import Evaluator
from jourdain.inputs import typical_parameters
from jourdain.mechanism.mechanism import Mechanism

N_POSES = 8


def is_singular(mechanism: Mechanism, parameters: Mapping[str, float | None]) -> bool:
    """Whether M is only semidefinite at generic poses, with these numbers of its parameters (None: any)."""
    s, rng = mechanism.symbols, np.random.default_rng(8)
    q = rng.uniform(-np.pi, np.pi, (N_POSES, len(s.q_names)))
    p = typical_parameters({name: parameters.get(name) for name in s.p_names}, rng)
    inputs = q, np.broadcast_to(p, (N_POSES, len(p))), np.zeros((N_POSES, 1))
    M = Evaluator([s.q, s.p, s.t], {"M": mechanism.M})(*inputs)["M"]
    M = M[np.isfinite(M).all(axis=(-2, -1))]
    with np.errstate(all="ignore"):
        singular = ~positive_definite(M) & (smallest_eigenvalue(M) >= -SEMIDEFINITE)
    return bool(singular.any() and singular.all())
