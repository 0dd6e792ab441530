"""Moreau's law with Coulomb friction at the final velocity, planar contacts, by Siconos (Debian: python3-siconos).

Siconos lives in the system's Python: problems go there and answers come back as JSON. What comes back is checked here.
Contacts in space are in `spatial_oracle`, which asks by `ask` too.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

import engines

Array = NDArray[np.float64]
SYSTEM_PYTHON = Path("/usr/bin/python3")
SOLVERS = ("NSGS", "CPG", "LEMKE")  # in 300 random problems of 1 to 4 contacts NSGS solved all, the others fewer
THERE = """
import json, os, sys
answer = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # Siconos prints
import numpy as np
import siconos.numerics as sn
print(getattr(sn, "__version__", "of Debian"), file=answer, flush=True)

found = []
for problem in json.load(sys.stdin):
    W, q, mu = (np.array(problem[key]) for key in ("W", "q", "mu"))
    rows = len(q) // len(mu)  # of a contact: 2 or 3
    driver = {2: sn.fc2d_driver, 3: sn.fc3d_driver}[rows]
    tries = []
    for name in problem["solvers"]:
        options = sn.SolverOptions(getattr(sn, "SICONOS_FRICTION_%dD_%s" % (rows, name)))
        options.dparam[sn.SICONOS_DPARAM_TOL] = 1e-14
        options.iparam[sn.SICONOS_IPARAM_MAX_ITER] = 100000
        reaction, velocity = np.zeros(len(q)), np.zeros(len(q))
        given = sn.FrictionContactProblem(rows, W.copy(), q.copy(), mu.copy())
        info = driver(given, reaction, velocity, options)
        tries.append({"solver": name, "info": info, "reaction": reaction.tolist()})
    found.append(tries)
json.dump(found, answer)
"""


class SiconosFailed(RuntimeError):
    """None of Siconos' solvers gave a solution."""


class MoreauCoulomb(NamedTuple):
    """(k, 2) each, (normal, tangent) per contact; residual: by how much the law is broken, of the scale of q."""

    reactions: Array
    velocities: Array
    residual: float
    solver: str


def siconos_moreau_coulomb(W: ArrayLike, q: ArrayLike, mu: ArrayLike, tol: float = 1e-9) -> MoreauCoulomb:
    """0 ≤ λ_n ⊥ w_n ≥ 0, |λ_t| ≤ μ λ_n, λ_t against the slip w_t, w = q + Wλ: one solution, from Siconos.

    W (2k, 2k) with rows n1, t1, n2, t2, …; q (2k,) the velocities without reactions; Newton's restitution: e u_n⁻ added
    to the normal entries of q. The first of the solvers whose residual is below tol.
    """
    (found,) = siconos_moreau_coulomb_many([(W, q, mu)], tol)
    return found


def siconos_moreau_coulomb_many(
    problems: Sequence[tuple[ArrayLike, ArrayLike, ArrayLike]], tol: float = 1e-9, solvers: Sequence[str] = SOLVERS
) -> list[MoreauCoulomb]:
    """Many (W, q, mu) in one process: starting it takes 0.3 s, a problem below 1 ms."""
    given = []
    for W, q, mu in problems:
        W, q = np.asarray(W, float), np.asarray(q, float)
        given.append((W, q, np.broadcast_to(np.asarray(mu, float), len(q) // 2)))
    text = [{"W": W.tolist(), "q": q.tolist(), "mu": mu.tolist(), "solvers": list(solvers)} for W, q, mu in given]
    found = []
    for case, ((W, q, mu), tries) in enumerate(zip(given, ask(text), strict=True)):
        answers = []
        for one in tries:
            reaction = np.array(one["reaction"])
            velocity = q + W @ reaction
            residual = broken(W, q, mu, reaction, velocity)
            answers.append(
                MoreauCoulomb(reaction.reshape(-1, 2), velocity.reshape(-1, 2), residual, str(one["solver"]))
            )
        good = [answer for answer in answers if answer.residual < tol]
        if not good:
            raise SiconosFailed(f"problem {case}: {[(a.solver, a.residual) for a in answers]}")
        found.append(good[0])
    return found


def broken(W: Array, q: Array, mu: Array, reaction: Array, velocity: Array) -> float:
    """How far (λ_n, λ_t) is from the projection of λ − w/W_ii onto its bounds, as a velocity, of the scale of q."""
    if not np.all(np.isfinite(reaction)):
        return np.inf
    diagonal = np.diagonal(W).reshape(-1, 2)
    (n, t), (w_n, w_t) = reaction.reshape(-1, 2).T, (velocity.reshape(-1, 2) / diagonal).T
    wrong_n = (n - np.maximum(n - w_n, 0)) * diagonal[:, 0]
    bound = mu * np.maximum(n, 0)
    wrong_t = (t - np.clip(t - w_t, -bound, bound)) * diagonal[:, 1]
    return float(max(np.max(np.abs(wrong_n)), np.max(np.abs(wrong_t))) / (np.max(np.abs(q)) or 1.0))


def ask(problems: list[dict[str, object]]) -> list[list[dict[str, object]]]:
    """What each of the "solvers" makes of W, q, mu: rows (n, t) or (n, t1, t2) per contact, as mu has entries.

    Skips the test if Siconos cannot be asked.
    """
    command = [str(SYSTEM_PYTHON), "-I", "-c", THERE]
    try:
        done = subprocess.run(command, input=json.dumps(problems), capture_output=True, text=True, timeout=600)
    except OSError as error:
        engines.skip("Siconos", f"{SYSTEM_PYTHON} does not start: {error}")
    version, newline, text = done.stdout.partition("\n")
    if not newline:  # it did not come as far as its first answer: NumPy, Siconos or a library that they load is missing
        reason = (done.stderr.strip().splitlines() or [f"it ended with {done.returncode}"])[-1]
        engines.skip("Siconos", f"{SYSTEM_PYTHON}: {reason} (Debian: python3-siconos, `make oracles`)")
    engines.asked["Siconos"] = version
    if done.returncode:
        raise SiconosFailed(f"Siconos ended with {done.returncode}: {done.stderr[-2000:]}")
    answer: list[list[dict[str, object]]] = json.loads(text)
    return answer
