"""`jd.transition`: what it refuses and in which words, bad lanes and their neighbours, semidefinite M, ways out."""

from __future__ import annotations

import pickle
from typing import Any

import casadi as ca
import numpy as np
import pytest
from hypothesis import assume, given, settings
from numpy.typing import NDArray

import jourdain as jd
from cases import ON, batch, draw, seeds

Array = NDArray[np.float64]
Status = jd.Status

I2 = np.eye(2)
V = np.array([1.0, 2.0])
ROW = [[1.0, 0.0]]
NAN, INF = np.nan, np.inf

# Shapes and forms: raised with and without batch axes

SHAPES: dict[str, tuple[dict[str, Any], type[jd.Error], str]] = {
    "M is a vector": ({"M": [1.0, 2.0]}, jd.ShapeError, r"M has shape \(2,\); it must be \(…, n, n\)"),
    "M is not square": ({"M": np.ones((2, 3))}, jd.ShapeError, r"M has shape \(2, 3\); it must be \(…, n, n\)"),
    "M is a number": ({"M": 1.0}, jd.ShapeError, r"M has shape \(\)"),
    "M has no velocities": ({"M": np.zeros((0, 0)), "v": []}, jd.ShapeError, r"with at least one velocity"),
    "M is ragged": ({"M": [[1.0, 0.0], [0.0]]}, jd.ShapeError, r"M must be a number or an array of numbers"),
    "M is text": ({"M": "M"}, jd.ShapeError, r"M must be a number or an array of numbers, not 'M'"),
    "v is too long": ({"v": [1.0, 2.0, 3.0]}, jd.ShapeError, r"v has shape \(3,\); its last axis must be 2"),
    "v is a number": ({"v": 1.0}, jd.ShapeError, r"v has shape \(\); its last axis must be 2"),
    "v is complex": ({"v": np.array([1.0 + 1j, 2.0])}, jd.Error, r"v must be .*numbers"),
    "inert is a vector": (
        {"inert": [1.0, 0.0]},
        jd.ShapeError,
        r"The rows of inert have shape \(2,\); they must be \(…, k, 2\)",
    ),
    "inert is too wide": ({"inert": [[1.0, 0.0, 0.0]]}, jd.ShapeError, r"The rows of inert have shape \(1, 3\)"),
    "inert is ragged": (
        {"inert": [[1.0, 0.0], [0.0]]},
        jd.ShapeError,
        r"inert must be a number or an array of numbers",
    ),
    "inert with a bias is ragged": (
        {"inert": ([[1.0, 0.0], [0.0]], 0.0)},
        jd.ShapeError,
        r"inert must be .*array of numbers",
    ),
    "inert with too much": ({"inert": (ROW, 0.0, 0.0)}, jd.Error, r"inert"),
    "inert is empty": ({"inert": ()}, jd.ShapeError, r"The rows of inert have shape \(0,\)"),
    "regular is too wide": ({"regular": [[0.0, 0.0, 0.0]]}, jd.ShapeError, r"The rows of regular have shape \(1, 3\)"),
    "released is too wide": (
        {"released": [[0.0, 0.0, 0.0]]},
        jd.ShapeError,
        r"The rows of released have shape \(1, 3\)",
    ),
    "elastic rows are too wide": (
        {"elastic": ([[1.0, 0.0, 0.0]], 0.5)},
        jd.ShapeError,
        r"The rows of elastic have shape \(1, 3\)",
    ),
    "live rows are too wide": (
        {"live": ([[1.0, 0.0, 0.0]], 0.0, 0.0)},
        jd.ShapeError,
        r"The rows of live have shape \(1, 3\)",
    ),
    "nonideal rows are too wide": (
        {"nonideal": ([[1.0, 0.0, 0.0]], 0.5)},
        jd.ShapeError,
        r"The rows of nonideal have shape \(1, 3\)",
    ),
    "too many biases": (
        {"inert": (ROW, [0.0, 0.0])},
        jd.ShapeError,
        r"b of inert has shape \(2,\); give one number, or \(…, 1\)",
    ),
    "too many biases of regular": ({"regular": (ROW, [0.0, 0.0])}, jd.ShapeError, r"b of regular has shape \(2,\)"),
    "too many biases of released": ({"released": (ROW, [0.0, 0.0])}, jd.ShapeError, r"b of released has shape \(2,\)"),
    "too many κ": ({"elastic": (ROW, [0.5, 0.5])}, jd.ShapeError, r"κ of elastic has shape \(2,\)"),
    "too many biases of elastic": (
        {"elastic": (ROW, 0.5, [0.0, 0.0])},
        jd.ShapeError,
        r"b of elastic has shape \(2,\)",
    ),
    "κ is text": ({"elastic": (ROW, "half")}, jd.ShapeError, r"κ of elastic must be a number"),
    "too many b_minus": ({"live": (ROW, [0.0, 0.0], 0.0)}, jd.ShapeError, r"b_minus of live has shape \(2,\)"),
    "too many b_plus": ({"live": (ROW, 0.0, [0.0, 0.0])}, jd.ShapeError, r"b_plus of live has shape \(2,\)"),
    "too many β̄": ({"nonideal": (ROW, [0.0, 0.0])}, jd.ShapeError, r"β̄ of nonideal has shape \(2,\)"),
    "impulse is too long": (
        {"impulse": [1.0, 2.0, 3.0]},
        jd.ShapeError,
        r"impulse has shape \(3,\); its last axis must be 2",
    ),
    "impulse is a number": ({"impulse": 1.0}, jd.ShapeError, r"impulse has shape \(\)"),
    "impulse is text": ({"impulse": "kick"}, jd.ShapeError, r"impulse must be a number or an array of numbers"),
    "elastic without κ": ({"elastic": ROW}, jd.BadEvent, r"elastic is a tuple \(rows, κ\) or \(rows, κ, b\)"),
    "elastic as a list": ({"elastic": [ROW, 0.5]}, jd.BadEvent, r"elastic is a tuple"),
    "elastic with too much": ({"elastic": (ROW, 0.5, 0.0, 0.0)}, jd.BadEvent, r"elastic is a tuple"),
    "live without biases": ({"live": ROW}, jd.BadEvent, r"live is a tuple \(rows, b_minus, b_plus\)"),
    "live with one bias": ({"live": (ROW, 0.0)}, jd.BadEvent, r"live is a tuple"),
    "nonideal without β̄": ({"nonideal": ROW}, jd.BadEvent, r"nonideal is a tuple \(rows, β̄\)"),
    "nonideal with too much": ({"nonideal": (ROW, 0.5, 0.0)}, jd.BadEvent, r"nonideal is a tuple"),
    "M and v do not broadcast": (
        {"M": np.stack([I2] * 3), "v": np.ones((2, 2))},
        jd.ShapeError,
        r"leading shapes .*do not broadcast",
    ),
    "v and rows do not broadcast": (
        {"v": np.ones((3, 2)), "inert": np.ones((2, 1, 2))},
        jd.ShapeError,
        r"do not broadcast",
    ),
    "v and κ do not broadcast": (
        {"v": np.ones((3, 2)), "elastic": (ROW, np.ones((2, 1)))},
        jd.ShapeError,
        r"do not broadcast",
    ),
    "v and impulse do not broadcast": (
        {"v": np.ones((3, 2)), "impulse": np.ones((2, 2))},
        jd.ShapeError,
        r"do not broadcast",
    ),
}


@pytest.mark.parametrize("why", SHAPES)
def test_shapes_and_forms_are_refused(why: str) -> None:
    arguments, error, message = SHAPES[why]
    with pytest.raises(error, match=message):
        jd.transition(**{"M": I2, "v": V} | arguments)


@pytest.mark.parametrize("why", [why for why in SHAPES if not why.startswith(("v ", "M "))])
def test_shapes_and_forms_are_refused_in_a_batch_too(why: str) -> None:
    arguments, error, message = SHAPES[why]
    with pytest.raises(error, match=message):
        jd.transition(**{"M": I2, "v": np.stack([V] * 4)} | arguments)


# Numbers: raised for one event, a status of the lane in a batch

NUMBERS: dict[str, tuple[dict[str, Any], type[jd.Error], Status, str]] = {
    "M has NaN": (
        {"M": [[1.0, NAN], [NAN, 1.0]]},
        jd.NotFinite,
        Status.NOT_FINITE,
        r"M.*nan; every number must be finite",
    ),
    "M has inf": (
        {"M": [[INF, 0.0], [0.0, 1.0]]},
        jd.NotFinite,
        Status.NOT_FINITE,
        r"M.*inf; every number must be finite",
    ),
    "v has NaN": ({"v": [1.0, NAN]}, jd.NotFinite, Status.NOT_FINITE, r"^v\[1\] is nan"),
    "v has inf": ({"v": [-INF, 1.0]}, jd.NotFinite, Status.NOT_FINITE, r"^v\[0\] is -inf"),
    "inert has NaN": ({"inert": [[1.0, NAN]]}, jd.NotFinite, Status.NOT_FINITE, r"inert.*nan"),
    "the bias of inert is NaN": ({"inert": (ROW, NAN)}, jd.NotFinite, Status.NOT_FINITE, r"inert.*nan"),
    "regular has inf": ({"regular": [[INF, 0.0]]}, jd.NotFinite, Status.NOT_FINITE, r"regular.*inf"),
    "released has NaN": ({"released": [[NAN, 0.0]]}, jd.NotFinite, Status.NOT_FINITE, r"released.*nan"),
    "elastic has NaN": ({"elastic": ([[NAN, 0.0]], 0.5)}, jd.NotFinite, Status.NOT_FINITE, r"elastic.*nan"),
    "κ is NaN": ({"elastic": (ROW, NAN)}, jd.NotFinite, Status.NOT_FINITE, r"elastic.*nan"),
    "the bias of elastic is inf": ({"elastic": (ROW, 0.5, INF)}, jd.NotFinite, Status.NOT_FINITE, r"elastic.*inf"),
    "b_minus is NaN": ({"live": (ROW, NAN, 0.0)}, jd.NotFinite, Status.NOT_FINITE, r"live.*nan"),
    "b_plus is inf": ({"live": (ROW, 0.0, INF)}, jd.NotFinite, Status.NOT_FINITE, r"live.*inf"),
    "β̄ is NaN": ({"nonideal": (ROW, NAN)}, jd.NotFinite, Status.NOT_FINITE, r"nonideal.*nan"),
    "nonideal has NaN": ({"nonideal": ([[NAN, 0.0]], 1.0)}, jd.NotFinite, Status.NOT_FINITE, r"nonideal.*nan"),
    "impulse has NaN": ({"impulse": [NAN, 0.0]}, jd.NotFinite, Status.NOT_FINITE, r"^impulse\[0\] is nan"),
    "M is not symmetric": (
        {"M": [[2.0, 0.5], [0.4, 1.0]]},
        jd.NotPositiveDefinite,
        Status.NOT_POSITIVE_DEFINITE,
        r"M is not symmetric: M\[0, 1\] = 0\.5 but M\[1, 0\] = 0\.4",
    ),
    "M is negative": ({"M": -I2}, jd.NotPositiveDefinite, Status.NOT_POSITIVE_DEFINITE, r"not positive definite"),
    "M is indefinite": (
        {"M": [[1.0, 2.0], [2.0, 1.0]]},
        jd.NotPositiveDefinite,
        Status.NOT_POSITIVE_DEFINITE,
        r"not positive definite",
    ),
    "M is indefinite under rows": (
        {"M": np.diag([1.0, -1.0]), "inert": [[0.0, 1.0]]},
        jd.NotPositiveDefinite,
        Status.NOT_POSITIVE_DEFINITE,
        r"not positive definite",
    ),
    "M is singular": (
        {"M": np.ones((2, 2))},
        jd.NotPositiveDefinite,
        Status.NOT_POSITIVE_DEFINITE,
        r"not positive definite",
    ),
    "M is zero": (
        {"M": np.zeros((2, 2))},
        jd.NotPositiveDefinite,
        Status.NOT_POSITIVE_DEFINITE,
        r"not positive definite",
    ),
    "κ is negative": (
        {"elastic": (ROW, -0.1)},
        jd.BadRestitution,
        Status.BAD_RESTITUTION,
        r"restitution of 'elastic\.0' is -0\.1; it must lie in \[0, 1\]",
    ),
    "κ is above one": (
        {"elastic": (I2, [0.5, 1.1])},
        jd.BadRestitution,
        Status.BAD_RESTITUTION,
        r"'elastic\.1' is 1\.1",
    ),
    "v breaks regular": (
        {"regular": ROW},
        jd.PriorViolated,
        Status.PRIOR_VIOLATED,
        r"breaks 'regular\.0' \(regular\): u_minus = 1, but it must be 0",
    ),
    "v breaks regular with a bias": ({"regular": (ROW, 1.0)}, jd.PriorViolated, Status.PRIOR_VIOLATED, r"u_minus = 2"),
    "v breaks live": (
        {"live": (ROW, 0.0, -1.0)},
        jd.PriorViolated,
        Status.PRIOR_VIOLATED,
        r"breaks 'live\.0' \(live\)",
    ),
    "v breaks released": (
        {"released": ROW},
        jd.PriorViolated,
        Status.PRIOR_VIOLATED,
        r"breaks 'released\.0' \(released\).*declare the rows with u_minus ≠ 0 elastic or inert",
    ),
    "v breaks regular by little": (
        {"regular": ([[0.0, 1.0]], -2.0 - 1e-6)},
        jd.PriorViolated,
        Status.PRIOR_VIOLATED,
        r"u_minus = -1e-06",
    ),
}


@pytest.mark.parametrize("why", NUMBERS)
def test_bad_numbers_are_refused(why: str) -> None:
    arguments, error, _, message = NUMBERS[why]
    with pytest.raises(error, match=message) as caught:
        jd.transition(**{"M": I2, "v": V} | arguments)
    assert isinstance(caught.value, jd.Error)
    assert isinstance(caught.value, ValueError)


GOOD: dict[str, Any] = {
    "M": np.array([[2.0, 0.3], [0.3, 1.0]]),
    "v": np.array([0.0, 0.7]),
    "inert": (np.array([[0.2, 1.0]]), np.array([0.1])),
    "regular": (np.array([[1.0, 0.0]]), np.array([0.0])),
    "released": (np.array([[1.0, 0.0]]), np.array([0.0])),
    "elastic": (np.array([[0.3, 1.0]]), np.array([0.5]), np.array([0.2])),
    "live": (np.array([[1.0, 0.0]]), np.array([0.0]), np.array([0.4])),
    "nonideal": (np.array([[1.0, 1.0]]), np.array([-0.1])),
    "impulse": np.array([0.3, -0.2]),
}


def as_parts(name: str, value: Any) -> list[Array]:
    """The arrays of an argument, with their full shapes."""
    if not isinstance(value, tuple):
        value = (value,) if name in ("M", "v", "impulse") else (value, 0.0)
    parts = [np.asarray(part, dtype=float) for part in value]
    if name not in ("M", "v", "impulse"):
        parts = [parts[0], *(np.broadcast_to(part, len(parts[0])) for part in parts[1:])]
        if name == "elastic" and len(parts) == 2:
            parts.append(np.zeros(len(parts[0])))
    return parts


@pytest.mark.parametrize("why", NUMBERS)
def test_in_a_batch_a_bad_number_is_the_status_of_its_lane_and_neighbours_do_not_notice(why: str) -> None:
    arguments, _, code, _ = NUMBERS[why]
    bad = {"M": I2, "v": V} | arguments
    rows = len(as_parts("elastic", arguments["elastic"])[0]) if "elastic" in arguments else 1
    good = GOOD | {"elastic": tuple(np.concatenate([part] * rows) for part in GOOD["elastic"])}
    stacked: dict[str, Any] = {}
    for name in bad:
        lanes = [
            as_parts(name, good[name]),
            as_parts(name, bad[name]),
            as_parts(name, 0.5 * good[name] if name == "v" else good[name]),
        ]
        parts = tuple(np.stack(part) for part in zip(*lanes, strict=True))
        stacked[name] = parts if len(parts) > 1 else parts[0]
    t = jd.transition(**stacked)
    assert t.status.dtype == np.int8
    assert t.status.tolist() == [Status.OK, code, Status.OK]
    assert t.ok.tolist() == [True, False, True]
    assert_all_nan(t, 1)
    for lane in (0, 2):
        alone = jd.transition(**{name: pick(value, lane) for name, value in stacked.items()})
        assert_identical_lane(t, lane, alone, 0)


def pick(value: Any, lane: int) -> Any:
    """One lane, as a batch of one."""
    return tuple(part[lane : lane + 1] for part in value) if isinstance(value, tuple) else value[lane : lane + 1]


NUMERIC = (
    "v_minus",
    "v_plus",
    "T_minus",
    "T_plus",
    "T_c_minus",
    "T_a_minus",
    "T_r_minus",
    "T_c_plus",
    "T_a_plus",
    "T_r_plus",
    "xi",
    "loss",
    "drive_work",
    "dissipated",
    "energy_created",
)
BY_NAME = ("impulse", "Lambda", "u_minus", "u_plus", "effective_mass", "ledger", "velocity_plus")


def assert_all_nan(t: jd.Transition, lane: int) -> None:
    for name in NUMERIC:
        assert np.all(np.isnan(getattr(t, name)[lane])), name
    for name in BY_NAME:
        for key, value in getattr(t, name).items():
            assert np.all(np.isnan(value[lane])), f"{name}[{key}]"


def assert_identical_lane(t: jd.Transition, lane: int, other: jd.Transition, other_lane: int) -> None:
    for name in NUMERIC:
        np.testing.assert_array_equal(getattr(t, name)[lane], getattr(other, name)[other_lane], err_msg=name)
    for name in BY_NAME:
        for key, value in getattr(t, name).items():
            np.testing.assert_array_equal(value[lane], getattr(other, name)[key][other_lane], err_msg=f"{name}[{key}]")


def test_lanes_are_as_if_solved_alone(rng: np.random.Generator) -> None:
    sizes = {"regular": 1, "live": 1, "inert": 2, "elastic": 1, "released": 1, "nonideal": 1}
    cases = [draw(rng, n=7, sizes=sizes, applied=True, decades=1) for _ in range(5)]
    M, v, keywords = batch(cases)
    t = jd.transition(M, v, **keywords)
    for i, case in enumerate(cases):
        alone = jd.transition(M[i : i + 1], v[i : i + 1], **{name: pick(value, i) for name, value in keywords.items()})
        assert_identical_lane(t, i, alone, 0)
        single = case.solve()
        np.testing.assert_allclose(t.v_plus[i], single.v_plus, rtol=0, atol=1e-13 * np.abs(single.v_plus).max())
        np.testing.assert_allclose(t.impulse["inert"][i], single.impulse["inert"], rtol=1e-11)


def test_several_bad_lanes_each_have_their_own_status() -> None:
    M = np.stack([I2, I2 * NAN, -I2, I2, I2, I2])
    v = np.array([[0.0, 1.0], [0.0, 1.0], [0.0, 1.0], [1.0, 1.0], [0.0, 1.0], [0.0, 1.0]])
    kappa = np.array([0.5, 0.5, 0.5, 0.5, 2.0, 0.5])[:, None]
    b = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 1.0])[:, None]
    t = jd.transition(M, v, regular=[[1.0, 0.0]], inert=([[1.0, 0.0]], b), elastic=([[0.0, 1.0]], kappa))
    assert [Status(code).name for code in t.status] == [
        "OK",
        "NOT_FINITE",
        "NOT_POSITIVE_DEFINITE",
        "PRIOR_VIOLATED",
        "BAD_RESTITUTION",
        "CONTRADICTION",
    ]
    for lane in range(1, 6):
        assert_all_nan(t, lane)
        assert Status(t.status[lane]).message
    np.testing.assert_allclose(t.v_plus[0], [0.0, -0.5], atol=1e-15)


def test_an_asymmetric_lane_is_refused_whatever_else_is_said_of_it() -> None:
    """Mixed restitution would create energy in both lanes; M of the second is not symmetric."""
    M = np.array([I2, [[1.0, 0.5], [-0.2, 1.0]]])
    t = jd.transition(M, [-1.0, 0.0], elastic=([[1.0, 0.0], [0.6, 0.8]], [1.0, 0.0]))
    assert t.status.tolist() == [Status.ENERGY_CREATED, Status.NOT_POSITIVE_DEFINITE]
    assert np.isnan(t.v_plus[1]).all()


def test_energy_created_keeps_its_numbers_in_a_batch() -> None:
    t = jd.transition(I2, [[-1.0, 0.0], [0.0, -1.0]], elastic=([[1.0, 0.0], [0.6, 0.8]], [1.0, 0.0]))
    assert t.status.tolist() == [Status.ENERGY_CREATED, Status.OK]
    np.testing.assert_allclose(t.v_plus, [[1.0, -0.75], [0.0, 0.0]], atol=1e-15)
    np.testing.assert_allclose(t.energy_created, [0.28125, 0.0], rtol=1e-14)


@pytest.mark.parametrize("v", [[1e200, 1.0], [1e160, 0.0]])
def test_what_overflows_is_refused_as_not_finite(v: list[float]) -> None:
    """T = ½ v² is no float64."""
    with pytest.raises(jd.NotFinite, match="overflows"):
        jd.transition(I2, v, inert=ROW)
    t = jd.transition(I2, [v, [1.0, 1.0]], inert=ROW)
    assert t.status.tolist() == [Status.NOT_FINITE, Status.OK]


def test_prior_checks_can_be_skipped() -> None:
    t = jd.transition(I2, V, regular=ROW, check=False)
    np.testing.assert_allclose(t.v_plus, [0.0, 2.0], atol=1e-15)
    assert t.ok


@pytest.mark.parametrize("size", [1e-9, 1e-7])
def test_how_far_a_prior_velocity_may_miss_a_row(size: float) -> None:
    """|C v⁻ + b⁻| ≤ 1e-8 (√(2 T⁻ · c M⁻¹ cᵀ) + |b⁻|): here √(2T⁻) = 3, c M⁻¹ cᵀ = 4 (M = 1), b⁻ = 0."""
    v = np.array([3 * size, 3.0])
    row = [[2.0, 0.0]]
    if size < 1e-8:
        assert jd.transition(I2, v, regular=row).ok
    else:
        with pytest.raises(jd.PriorViolated):
            jd.transition(I2, v, regular=row)


def test_no_batch_lane_at_all() -> None:
    """An empty batch gives an empty outcome."""
    t = jd.transition(np.eye(2), np.empty((0, 2)), inert=ROW, elastic=([[0.0, 1.0]], 0.5))
    assert t.v_plus.shape == (0, 2)
    assert t.impulse["inert"].shape == (0, 1)
    assert t.status.shape == (0,)
    assert t.loss.shape == (0,)


def test_no_rows_in_an_argument() -> None:
    t = jd.transition(I2, V, inert=np.empty((0, 2)), elastic=(np.empty((0, 2)), np.empty(0)))
    assert np.array_equal(t.v_plus, V)
    assert t.impulse["inert"].shape == (0,)
    assert t.loss == 0


# Semidefinite M


def semidefinite(rng: np.random.Generator, n: int, rank: int) -> Array:
    """Whole numbers, so that M has its rank exactly; what is not zero in its spectrum is well away from zero."""
    while True:
        G = rng.integers(-3, 4, (n, rank)).astype(float)
        M = G @ G.T
        values = np.linalg.eigvalsh(M)
        if rank == 0 or values[n - rank] > 1e-2 * values[-1]:
            return M


def kkt_matrix(M: Array, C: Array) -> Array:
    return np.block([[M, -C.T], [C, np.zeros((len(C), len(C)))]])


def kkt_solution(M: Array, v: Array, C: Array, right: Array, f: Array) -> tuple[Array, Array]:
    x = np.linalg.solve(kkt_matrix(M, C), np.concatenate([M @ v + f, right]))
    return x[: len(M)], x[len(M) :]


@settings(max_examples=100)
@given(seeds)
def test_a_semidefinite_mass_matrix_is_accepted_where_rows_hold_the_rest(seed: int) -> None:
    """ker M ∩ ker C' = {0}: v⁺ and λ̄ are those of the KKT; the parts of the energy do not exist."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 8))
    rank = int(rng.integers(1, n))
    M = semidefinite(rng, n, rank)
    C = rng.standard_normal((int(rng.integers(n - rank, n + 1)), n))
    assume(np.linalg.cond(kkt_matrix(M, C)) < 1e4)
    v, f = rng.standard_normal(n), rng.standard_normal(n)
    b, kappa = rng.standard_normal(len(C)), rng.uniform(size=len(C))
    inert = len(C) // 2
    target = np.concatenate([np.zeros(inert), -kappa[inert:] * (C @ v + b)[inert:]])
    v_plus, impulse = kkt_solution(M, v, C, target - b, f)
    t = jd.transition(M, v, inert=(C[:inert], b[:inert]), elastic=(C[inert:], kappa[inert:], b[inert:]), impulse=f)
    found = np.concatenate([t.impulse["inert"], t.impulse["elastic"]])
    np.testing.assert_allclose(
        t.v_plus, v_plus, rtol=0, atol=1e-9 * (abs(v_plus).max() + abs(v).max()), err_msg="v_plus"
    )
    np.testing.assert_allclose(
        found, impulse, rtol=0, atol=1e-9 * (abs(impulse).max() + abs(f).max()), err_msg="impulse"
    )
    for name in ("T_c_minus", "T_c_plus", "T_a_minus", "T_a_plus", "T_r_minus", "T_r_plus", "xi"):
        assert np.isnan(getattr(t, name)), name
    T_minus, T_plus = float(v @ M @ v / 2), float(v_plus @ M @ v_plus / 2)
    scale = 1e-9 * float(T_minus + T_plus + abs(impulse) @ abs(C @ (v + v_plus)) + abs(f) @ abs(v + v_plus))
    np.testing.assert_allclose([t.T_minus, t.T_plus, t.loss], [T_minus, T_plus, T_minus - T_plus], rtol=0, atol=scale)
    np.testing.assert_allclose(sum(t.ledger.values()), T_plus - T_minus, rtol=0, atol=scale)
    assert set(t.ledger) == {"inert", "elastic", "impulse"}


@settings(max_examples=30)
@given(seeds)
def test_a_semidefinite_mass_matrix_in_other_units(seed: int) -> None:
    """Rows × 1e-8 … 1e8, each its own, and M × 1e-8 … 1e8 leave v⁺ and the status alone; λ̄ and energies scale."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 8))
    rank = int(rng.integers(1, n))
    M = semidefinite(rng, n, rank)
    C = rng.standard_normal((int(rng.integers(n - rank, n + 1)), n))
    assume(np.linalg.cond(kkt_matrix(M, C)) < 1e3)
    v, f, kappa = rng.standard_normal(n), rng.standard_normal(n), rng.uniform(size=len(C))
    k = int(rng.integers(0, len(C)))  # rows that are on before
    v = v - np.linalg.pinv(C[:k]) @ (C[:k] @ v)
    f = f if k else 0 * f
    target = np.concatenate([np.zeros(k), -kappa[k:] * (C @ v)[k:]])
    v_plus, impulse = kkt_solution(M, v, C, target, f)
    speed, push = np.abs(v).max() + np.abs(v_plus).max(), np.abs(impulse).max() + np.abs(M @ v).max() + np.abs(f).max()
    rows = 10.0 ** rng.uniform(-8, 8, (6, len(C)))
    rows[0] = 1.0
    mass = np.concatenate([[1.0, 1e-8, 1e8], 10.0 ** rng.uniform(-8, 8, 3)])

    def solved(M: Array, C: Array, f: Array) -> jd.Transition:
        return jd.transition(
            M,
            np.broadcast_to(v, (*M.shape[:-2], n)),
            regular=C[..., :k, :],
            elastic=(C[..., k:, :], kappa[k:]),
            impulse=f,
        )

    scaled = mass[:, None, None] * M, rows[..., None] * C, mass[:, None] * f
    together = solved(*scaled)
    outcomes = [solved(*(part[i] for part in scaled)) for i in range(len(mass))]
    for i, alone in enumerate(outcomes):
        assert alone.status == together.status[i] == outcomes[0].status
        for t, place in ((alone, ()), (together, i)):
            found = np.concatenate([t.impulse["regular"][place], t.impulse["elastic"][place]])
            np.testing.assert_allclose(t.v_plus[place], v_plus, rtol=0, atol=1e-10 * speed)
            np.testing.assert_allclose(found * rows[i] / mass[i], impulse, rtol=0, atol=1e-10 * push)
            np.testing.assert_allclose(
                t.T_plus[place] / mass[i], v_plus @ M @ v_plus / 2, rtol=0, atol=1e-9 * speed * push
            )


@settings(max_examples=100)
@given(seeds)
def test_a_semidefinite_mass_matrix_is_refused_where_a_velocity_has_neither_mass_nor_row(seed: int) -> None:
    """Too few rows, or rows that all miss one massless velocity."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 8))
    rank = int(rng.integers(1, n))
    M = semidefinite(rng, n, rank)
    if rng.uniform() < 0.5:
        C = rng.standard_normal((int(rng.integers(0, n - rank)), n))
    else:
        w = np.linalg.svd(M)[2][-1]
        C = rng.standard_normal((n - 1, n)) @ (np.eye(n) - np.outer(w, w))
    v = rng.standard_normal(n)
    with pytest.raises(jd.NotPositiveDefinite, match="every velocity moves"):
        jd.transition(M, v, inert=C)
    t = jd.transition(np.stack([M, np.eye(n)]), v, inert=C)
    assert t.status.tolist() == [Status.NOT_POSITIVE_DEFINITE, Status.OK]
    assert np.isnan(t.v_plus[0]).all()


SINGULAR = (  # exactly, although rounding may leave a positive pivot
    [[2.0, 4.0, -4.0], [4.0, 10.0, -6.0], [-4.0, -6.0, 10.0]],
    [[22.0, 14.0, -1.0, -10.0], [14.0, 9.0, 0.0, -6.0], [-1.0, 0.0, 17.0, 3.0], [-10.0, -6.0, 3.0, 6.0]],
)


@pytest.mark.parametrize("M", SINGULAR)
def test_rounding_does_not_make_a_singular_mass_matrix_regular(M: list[list[float]]) -> None:
    n = len(M)
    v = np.arange(1.0, n + 1)
    with pytest.raises(jd.NotPositiveDefinite, match="not positive definite"):
        jd.transition(M, v)
    held = jd.transition(M, v, inert=(np.eye(n), 0.1 * v))  # every velocity has its row
    np.testing.assert_allclose(held.v_plus, -0.1 * v, rtol=1e-9)
    assert np.isnan(held.T_c_minus)


def test_rows_alone_decide_where_every_velocity_has_one() -> None:
    C = np.array([[-1.0, -3.0, 3.0, 0.0], [-2.0, 2.0, 2.0, -2.0], [-1.0, -3.0, 0.0, 0.0], [-3.0, -2.0, 0.0, -3.0]])
    b = np.array([0.3, -0.8, -0.1, -0.3])
    t = jd.transition(SINGULAR[1], [1.0, 2.0, 3.0, 4.0], inert=(C, b))
    np.testing.assert_allclose(t.v_plus, np.linalg.solve(C, -b), rtol=1e-9)


def test_massless_lanes_do_not_disturb_the_others() -> None:
    """diag(1, 0) beside a usual M; energies of the usual lane stay."""
    M, C = np.array([np.diag([1.0, 0.0]), [[2.0, 0.3], [0.3, 1.0]]]), np.array([[0.5, 1.0]])
    t = jd.transition(M, V, inert=C, impulse=[0.1, 0.2])
    alone = jd.transition(M[1:], V, inert=C, impulse=[0.1, 0.2])
    assert t.ok.all()
    assert set(t.ledger) == {"inert", "impulse"}
    assert_identical_lane(t, 1, alone, 0)
    assert np.isnan(t.T_c_minus[0])
    assert np.isfinite(t.T_c_minus[1])
    assert t.T_minus[0] == 0.5
    v_plus, impulse = kkt_solution(M[0], V, C, np.zeros(1), np.array([0.1, 0.2]))
    np.testing.assert_allclose(t.v_plus[0], v_plus, rtol=1e-13)
    np.testing.assert_allclose(t.impulse["inert"][0], impulse, rtol=1e-13)


def test_no_mass_at_all_but_a_row_for_every_velocity() -> None:
    t = jd.transition(np.zeros((2, 2)), V, inert=(I2, [0.5, -0.5]), impulse=[1.0, 2.0])
    np.testing.assert_allclose(t.v_plus, [-0.5, 0.5], rtol=1e-14)
    np.testing.assert_allclose(t.impulse["inert"], [-1.0, -2.0], rtol=1e-14)
    assert t.T_minus == 0
    assert t.T_plus == 0


def test_a_regular_row_holds_a_massless_velocity() -> None:
    """A massless pulley: v₁ = v₂ before and after, only v₁ has mass; v₁ is struck."""
    t = jd.transition(np.diag([2.0, 0.0]), [0.7, 0.7], regular=[[1.0, -1.0]], impulse=[0.6, 0.0])
    np.testing.assert_allclose(t.v_plus, [1.0, 1.0], rtol=1e-14)
    assert t.ok


def test_a_massless_velocity_at_rest_satisfies_its_regular_row() -> None:
    """T⁻ = 0 and b = 0: u⁻ = 0.1 + 0.2 − 0.3 is rounding."""
    M = np.zeros((3, 3))
    t = jd.transition(M, [0.1, 0.2, 0.3], regular=[[1.0, 1.0, -1.0]], inert=[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    np.testing.assert_allclose(t.v_plus, np.zeros(3), atol=1e-15)


# Ways out


def outcomes() -> dict[str, jd.Transition]:
    case = draw(
        np.random.default_rng(7),
        n=5,
        sizes={"regular": 1, "live": 1, "inert": 2, "elastic": 1, "released": 1},
        applied=True,
    )
    doubled = case.with_rows(inert=case.rows["inert"].changed(lambda part: np.concatenate([part, part])))
    M, v, keywords = batch([case] * 3)
    M[1] = NAN
    return {"one": case.solve(), "redundant": doubled.solve(), "batch": jd.transition(M, v, **keywords)}


@pytest.mark.parametrize("which", ["one", "redundant", "batch"])
def test_an_outcome_survives_pickling(which: str) -> None:
    t = outcomes()[which]
    again = pickle.loads(pickle.dumps(t))
    for name in (*NUMERIC, "status", "dof"):
        np.testing.assert_array_equal(getattr(again, name), getattr(t, name), err_msg=name)
    for name in BY_NAME:
        assert_equal(dict(getattr(again, name)), dict(getattr(t, name)))
    assert_equal(again.redundant, t.redundant)
    assert_equal(again.undetermined, t.undetermined)
    np.testing.assert_array_equal(again.impulse_nullspace, t.impulse_nullspace)
    assert repr(again) == repr(t)


@pytest.mark.parametrize("which", ["one", "redundant", "batch"])
def test_an_outcome_prints(which: str) -> None:
    t = outcomes()[which]
    assert "inert" in str(t)
    assert "inert" in t._repr_html_()


def assert_equal(a: Any, b: Any) -> None:
    if isinstance(a, dict):
        assert list(a) == list(b)
        for key in a:
            assert_equal(a[key], b[key])
    else:
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("which", ["one", "redundant", "batch"])
def test_an_outcome_as_plain_dicts(which: str) -> None:
    t = outcomes()[which]
    found = t.to_dict()
    for name in (
        "T_minus",
        "T_plus",
        "T_c_minus",
        "T_a_minus",
        "T_c_plus",
        "T_a_plus",
        "T_r_minus",
        "T_r_plus",
        "xi",
        "loss",
    ):
        np.testing.assert_array_equal(found[name], getattr(t, name))
    for name in ("impulse", "u_minus", "u_plus", "ledger", "velocity_minus", "velocity_plus", "effective_mass"):
        assert type(found[name]) is dict
        assert set(found[name]) == set(getattr(t, name))
        for key, value in found[name].items():
            np.testing.assert_array_equal(value, getattr(t, name)[key])
    assert set(found["dof"]) == {"prior", "virtual", "posterior"}
    np.testing.assert_array_equal(found["status"], t.status)


@pytest.mark.parametrize("which", ["one", "redundant", "batch"])
def test_an_outcome_as_a_dataset(which: str) -> None:
    t = outcomes()[which]
    ds = t.to_dataset()
    n_batch = len(t.batch_shape)
    for name in ("T_minus", "T_plus", "T_c_minus", "loss", "xi"):
        np.testing.assert_array_equal(ds[name].values, getattr(t, name))
        assert ds[name].ndim == n_batch
    assert ds["loss"].attrs["units"] == "J"
    assert ds["loss"].attrs["long_name"]
    assert ds["v_plus"].dims[-1] == "velocity"
    assert ds["impulse"].dims[-1] == "row"
    np.testing.assert_array_equal(ds["v_plus"].values, t.v_plus)
    for key in ("regular.0", "live.0", "inert.1", "elastic.0", "released.0"):
        np.testing.assert_array_equal(ds["impulse"].sel(row=key).values, t.impulse[key])
        np.testing.assert_array_equal(ds["u_plus"].sel(row=key).values, t.u_plus[key])
    np.testing.assert_array_equal(ds["status"].values, np.asarray(t.status))
    assert ds["ledger"].dims[-1] == "row"
    work = ds["ledger"].sum("row", skipna=False)
    if "applied" in ds.dims:
        work = work + ds["applied_work"].sum("applied", skipna=False)
    np.testing.assert_allclose(work.values, t.T_plus - t.T_minus, rtol=1e-9, atol=1e-12)
    for key, value in t.ledger.items():
        if key in t.layout.slices:
            rows = [row.name for row in t.layout.rows if row.constraint == key]
            np.testing.assert_allclose(ds["ledger"].sel(row=rows).sum("row", skipna=False).values, value, rtol=1e-14)


def test_names_answer_and_unknown_ones_suggest() -> None:
    t = jd.transition(I2, V, inert=[[1.0, 0.0], [0.0, 1.0]])
    assert t.impulse["inert.1"] == t.impulse["inert"][1]
    assert t.velocity_plus["0"] == t.v_plus[0]
    with pytest.raises(jd.UnknownName, match="did you mean 'inert'"):
        t.impulse["inertt"]


def test_inputs_are_not_changed(rng: np.random.Generator) -> None:
    case = draw(rng, n=6, sizes={"regular": 1, "inert": 2, "elastic": 1, "live": 1}, applied=True)
    before = [case.M.copy(), case.v.copy(), case.stacked(ON).copy()]
    t = case.solve()
    for old, new in zip(before, [case.M, case.v, case.stacked(ON)], strict=True):
        np.testing.assert_array_equal(old, new)
    v_minus = t.v_minus.copy()
    case.v[:] = 0  # nor does what is done to the input later reach the outcome
    np.testing.assert_array_equal(t.v_minus, v_minus)


def test_integers_and_lists_do() -> None:
    t = jd.transition([[2, 0], [0, 1]], [3, -1], inert=[[1, 1]])
    np.testing.assert_allclose(t.v_plus, [7 / 3, -7 / 3], rtol=1e-15)
    assert isinstance(t, jd.Transition)


def test_projection_of_the_prior_velocity() -> None:
    """M-orthogonally onto the rows that are on before, semidefinite M included."""
    M, C, v = np.array([[2.0, 0.3], [0.3, 1.0]]), np.array([[1.0, -1.0]]), np.array([1.0, 0.0])
    t = jd.transition(M, v, regular=C, check="project")
    expected = v - np.linalg.solve(M, C.T) @ np.linalg.solve(C @ np.linalg.solve(M, C.T), C @ v)
    np.testing.assert_allclose(t.v_minus, expected, rtol=1e-14)
    massless = jd.transition(np.diag([1.0, 0.0]), [1.0, 5.0], regular=C, check="project")
    np.testing.assert_allclose(massless.v_minus, [1.0, 1.0], rtol=1e-14)  # the massless velocity follows
    with pytest.raises(jd.BadEvent, match="check is True, False or 'project'"):
        jd.transition(M, v, check="maybe")


@pytest.mark.parametrize("n_lanes", [10, 5000])
@pytest.mark.parametrize("where", ["M", "rows", "v"])
def test_projection_leaves_bad_lanes_to_their_status(n_lanes: int, where: str, rng: np.random.Generator) -> None:
    M, v, C = (
        np.tile(np.eye(3), (n_lanes, 1, 1)),
        rng.normal(size=(n_lanes, 3)),
        np.tile([[1.0, 1.0, 0.0]], (n_lanes, 1, 1)),
    )
    {"M": M, "rows": C, "v": v}[where][4] = np.nan if where != "rows" else np.inf
    t = jd.transition(M, v, regular=C, inert=[[0.0, 0.0, 1.0]], check="project")
    assert t.status[4] == jd.Status.NOT_FINITE
    assert np.delete(t.ok, 4).all()
    np.testing.assert_allclose(np.delete(t.v_plus, 4, axis=0) @ [1.0, 1.0, 0.0], 0, atol=1e-14)


def test_what_is_not_finite_is_named_when_projecting() -> None:
    with pytest.raises(jd.NotFinite, match="rows of regular"):
        jd.transition(np.eye(2), [1.0, 2.0], regular=[[np.nan, 1.0]], check="project")


@pytest.mark.parametrize("n_lanes", [9, 5000])
@pytest.mark.parametrize("check", [True, False])
@pytest.mark.parametrize("kind", ["released", "nonideal"])
def test_rows_that_are_infinite_in_some_lanes(n_lanes: int, check: bool, kind: str) -> None:
    q, w = ca.SX.sym("q", 2), ca.SX.sym("w", 2)
    body = jd.Mechanism.from_casadi(q, w, ca.SX.eye(2))
    odd, stop = body.constraint("odd", w[0] / q[0]), body.constraint("stop", w[1])
    more = {"released": [odd]} if kind == "released" else {"nonideal": {odd: 0.0}}
    pose = np.ones((n_lanes, 2))
    pose[3, 0] = 0.0
    t = body.event(inert=[stop], **more).solve(q=pose, v=[0.0 if kind == "released" else 1.0, 2.0], check=check)
    assert t.status[3] == jd.Status.NOT_FINITE
    assert np.delete(t.ok, 3).all()


def test_more_rows_than_velocities_in_a_large_batch(rng: np.random.Generator) -> None:
    C, v = rng.normal(size=(5, 3)), rng.normal(size=(4096, 3))
    t = jd.transition(np.eye(3), v, inert=C)
    assert t.ok.all()
    np.testing.assert_allclose(t.v_plus, 0, atol=1e-13)
