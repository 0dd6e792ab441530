"""The tangential impulse of [FK-b]: friction inside the event, its coefficient fitted to the nine cases.

Coulomb's law with one coefficient μ is the library's own event. What the cases say beyond it is tried with a friction
that grows with the slip, f(u_t) = c u_t, on a plate that is tilted by a little: with the normal impulse p as the clock,

    u_t' = W_nt − W_tt c u_t,   u_n' = W_nn − W_nt c u_t,   until u_n = 0

is linear, so that u_t(p) = s + (u_t⁻ − s) e^(−c W_tt p), s = W_nt/(c W_tt).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from jourdain import gallery
from jourdain.inputs import Array
from jourdain.laws import Coulomb
from jourdain.studies.papers.measured import Prediction

if TYPE_CHECKING:
    from jourdain.events.event import Event

PAPER = "FK-b"
ANY_FRICTION = np.linspace(0.0, 3.0, 301)  # coefficients among which a reversal is looked for
REVERSED = 7  # the case in which the paper infers one


@dataclass(frozen=True)
class Fitted:
    """A law with its numbers by least squares: name → (value, standard deviation), and what it makes of the cases."""

    numbers: Mapping[str, tuple[float, float]]
    tangential: Array  # N s, by case
    normal: Array  # N s
    rms: float  # N s, of what is left


@dataclass(frozen=True)
class Friction:
    """What friction makes of the nine cases. Slips that γ does not tell are against the measured impulse."""

    measured: Array  # N s
    slip_minus: Array  # m/s
    coulomb: Fitted
    by_slip: Fitted
    reversed_at_most: float  # N s, the largest tangential impulse of case 7 among `ANY_FRICTION`
    ideal: Array  # N s, the normal impulse without friction

    def right_signs(self, law: Fitted) -> NDArray[np.bool_]:
        """In which cases the tangential impulse of a law has the measured direction."""
        return np.equal(np.sign(law.tangential), np.sign(self.measured))


def friction(predicted: Prediction, given: Mapping[str, Any]) -> Friction:
    """Both laws, fitted."""
    chosen = np.array([case.paper == PAPER for case in predicted.cases])
    cases = [case for case in predicted.cases if case.paper == PAPER]
    measured = np.array([case.tangential for case in cases])
    q, v = (part[chosen] for part in states(predicted))
    event = coulomb_event()
    own = {name: value for name, value in given.items() if name in event.parameters}

    def coulomb(x: Array) -> Array:
        return plate_impulses(event, q, v, given, abs(x[0]))

    place = [case.number for case in cases].index(REVERSED)
    any_mu = plate_impulses(event, q[place], v[place], given, ANY_FRICTION)[1:, 1]
    one, other = (event.mechanism.find_constraint(name).rows(q, **own)[0] for name in ("wall", "slide"))
    rows, M = np.concatenate([one, other], axis=1), event.mechanism.mass_matrix(q, **own)
    W = rows @ np.linalg.solve(M, np.swapaxes(rows, 1, 2))
    u = (rows @ v[..., None])[..., 0]
    tilted = np.array([case.d > 0 for case in cases]).astype(int)

    def by_slip(x: Array) -> Array:
        return np.array([_slipping(W[i], u[i], x[0], x[1 + tilted[i]]) for i in range(len(cases))])

    slow = ("c", "tilt, d = 0", "tilt, d = 0.2 m")
    return Friction(
        measured,
        u[:, 1],
        fit(coulomb, ("μ",), np.array([0.05]), measured),
        fit(by_slip, slow, np.array([0.5, 0.0, 0.0]), measured),
        float(any_mu.max()),
        plate_impulses(event, q, v, given, 0.0)[:, 0],
    )


def states(predicted: Prediction) -> tuple[Array, Array]:
    """The q and v⁻ of all cases; a slip whose sign γ does not tell is against the impulse that it must have caused."""
    v = predicted.outcome.v_minus.copy()
    measured = np.array([case.tangential for case in predicted.cases])
    against = np.sign(predicted.outcome.u_minus["slide"]) != np.sign(measured)
    other = ~np.array(predicted.sign_known) & ~against
    v[other] = predicted.mirrored.v_minus[other]
    return np.asarray(predicted.outcome.q), v


def coulomb_event() -> Event:
    """The pantograph's wall as a rough plate; friction is a parameter."""
    mechanism = gallery.pantograph().event.mechanism
    v = mechanism.symbols.v
    wall, slide = (mechanism.find_constraint(name) for name in ("wall", "slide"))
    plate = mechanism.contact("plate", normal=wall.C @ v, tangent=[slide.C @ v], units="m/s")
    return mechanism.event(contacts={plate: Coulomb("friction", 0.0)})


def plate_impulses(event: Event, q: Array, v: Array, given: Mapping[str, Any], mu: Any) -> Array:
    """Normal and tangential impulses `(cases, 2)`, N s, with Coulomb's friction inside the event of rigid bodies."""
    own = {name: value for name, value in given.items() if name in event.parameters}
    return np.asarray(event.solve(q, v, parameters=own, friction=mu).impulse["plate"])


def fit(law: Callable[[Array], Array], names: tuple[str, ...], start: Array, measured: Array) -> Fitted:
    """Least squares; deviations from what is left over. `law`: its numbers → impulses `(cases, 2)`."""
    from scipy.optimize import least_squares

    found = least_squares(lambda x: (law(x)[:, 1] - measured) * 1e3, start, diff_step=1e-4, xtol=1e-12, ftol=1e-12)
    free = len(measured) - len(names)
    spread = np.sqrt(np.diag(np.linalg.inv(found.jac.T @ found.jac)) * 2 * found.cost / free)
    normal, tangential = law(found.x).T
    numbers = {name: (float(x), float(s)) for name, x, s in zip(names, found.x, spread, strict=True)}
    return Fitted(numbers, tangential, normal, float(np.sqrt(np.mean((tangential - measured) ** 2))))


def _slipping(W: Array, u: Array, c: float, tilt: float) -> Array:
    """(normal, tangential) impulse along y and x, N s, for friction c u_t on a plate tilted by `tilt`."""
    from scipy.optimize import brentq

    # Turned so that the plate's push has a part tilt towards +x.
    turn = np.array([[np.cos(tilt), np.sin(tilt)], [-np.sin(tilt), np.cos(tilt)]])
    W, u = turn @ W @ turn.T, turn @ u
    rate = c * W[1, 1]
    steady = W[0, 1] / rate

    def slid(p: float) -> float:
        """∫ u_t dp."""
        return float(steady * p + (u[1] - steady) * -np.expm1(-rate * p) / rate)

    p = brentq(lambda p: u[0] + W[0, 0] * p - W[0, 1] * c * slid(p), 0.0, -4 * u[0] / W[0, 0], xtol=1e-15)
    return np.asarray(turn.T @ [p, -c * slid(p)])
