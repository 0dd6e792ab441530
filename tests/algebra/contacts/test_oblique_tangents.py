"""Coulomb contacts in space whose rows are nearly parallel in M: tangents, or all three; masses six decades apart.

Expected values are exact: fractions, or 40 digits. Answers must not lose more digits than rounding of the input does.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath as mp
import numpy as np
import pytest

import jourdain as jd
from jourdain import laws
from jourdain.laws import ContactState

HYPOTHESES: tuple[Any, ...] = ("newton", "poisson", "stronge")
KINDS = ("tangents", "normal", "all", "masses")


def events(rng: np.random.Generator, m: int, kind: str) -> tuple[Any, Any, Any]:
    """(masses (m, 4), rows (m, 3, 4), v) of contacts that approach; rows 1e-4 … 1e-1 apart."""
    masses, C, v = np.ones((m, 4)), rng.normal(size=(m, 3, 4)), rng.normal(size=(m, 4))
    apart = 10 ** rng.uniform(-4, -1, (m, 1))
    if kind == "tangents":
        C[:, 2] = 0.7 * C[:, 1] + apart * C[:, 2]
    elif kind == "normal":
        C[:, 0] = 0.7 * C[:, 1] - 0.4 * C[:, 2] + apart * C[:, 0]
    elif kind == "all":
        C[:, 1:] = rng.normal(size=(m, 2, 1)) * C[:, :1] + apart[:, None] * C[:, 1:]
    else:
        masses = 10 ** rng.uniform(-3, 3, (m, 4))
    C *= -np.sign(np.einsum("mj,mj->m", C[:, 0], v))[:, None, None]
    return masses, C, v


def solved(masses: Any, C: Any, v: Any, law: laws.Law) -> jd.Transition:
    M = masses[..., None] * np.eye(masses.shape[-1])
    return jd.transition(M, v, contacts=[jd.Contact(normal=C[..., 0, :], tangent=C[..., 1:, :], law=law)])


def at_rest_along_tangents(masses: Any, C: Any, v: Any, e: float) -> Any:
    """v⁺ with u_n⁺ = −e u_n⁻ and u_t⁺ = 0, by elimination with fractions."""
    masses, v = [Fraction(x) for x in masses], [Fraction(x) for x in v]
    C = [[Fraction(x) for x in row] for row in C]
    W = [[sum(a * b / m for a, b, m in zip(one, other, masses, strict=True)) for other in C] for one in C]
    u = [sum(a * b for a, b in zip(row, v, strict=True)) for row in C]
    rows = [[*W[i], -u[i] - (Fraction(e) * u[0] if i == 0 else 0)] for i in range(3)]
    for i in range(3):
        rows[i] = [x / rows[i][i] for x in rows[i]]
        for j in range(3):
            if j != i:
                rows[j] = [x - rows[j][i] * y for x, y in zip(rows[j], rows[i], strict=True)]
    impulse = [row[3] for row in rows]
    return [float(v[j] + sum(p * row[j] for p, row in zip(impulse, C, strict=True)) / masses[j]) for j in range(len(v))]


@pytest.mark.parametrize("kind", KINDS)
def test_newtons_hypothesis_where_it_sticks(kind: str, rng: np.random.Generator) -> None:
    """However it came to rest along the tangents, u⁺ = (−e u_n⁻, 0, 0) gives v⁺."""
    m = 300
    masses, C, v = events(rng, m, kind)
    e = rng.choice([0.0, 0.4, 1.0], m)
    t = solved(masses, C, v, laws.Coulomb(10 ** rng.uniform(-0.5, 3.5, m), e, "newton"))
    assert (t.status <= jd.Status.ENERGY_CREATED).all()
    sticks = np.flatnonzero(t.contact["contact 0"] == ContactState.STICKS)
    assert len(sticks) > 30
    exact = np.array([at_rest_along_tangents(masses[i], C[i], v[i], e[i]) for i in sticks])
    mass = masses[sticks]
    speed = np.sqrt(np.sum(mass * (v[sticks] ** 2 + exact**2), axis=-1))
    off = np.sqrt(np.sum(mass * (t.v_plus[sticks] - exact) ** 2, axis=-1)) / speed
    assert off.max() < 2e-11


def slipping_on(masses: Any, C: Any, v: Any, mu: float, e: float) -> Any:
    """v⁺ of a contact that comes without slip and does not stick: it slips on along û, (μ W_tt + c I) û = W_tn.

    Along this straight line all hypotheses are the same.
    """
    with mp.workdps(40):
        rows, inverse = mp.matrix(C.tolist()), mp.diag([1 / mp.mpf(x) for x in masses])
        W, u = rows * inverse * rows.T, rows * mp.matrix(v.tolist())
        assert u[1] == 0
        assert u[2] == 0
        W_tt, W_tn = W[1:, 1:], W[1:, 0]
        low, high = mp.mpf(0), mp.norm(W_tn)
        for _ in range(140):
            c = (low + high) / 2
            along = mp.lu_solve(mu * W_tt + c * mp.eye(2), W_tn)
            low, high = (c, high) if mp.norm(along) > 1 else (low, c)
        push = mp.matrix([1, -mu * along[0], -mu * along[1]])
        n = (W * push)[0]
        p_c = -u[0] / n
        return np.array([float(x) for x in mp.matrix(v.tolist()) + inverse * rows.T * push * p_c * (1 + e)])


@pytest.mark.parametrize("hypothesis", HYPOTHESES)
@pytest.mark.parametrize("bits", [3, 8, 13, 17])
def test_a_slip_that_starts_along_nearly_parallel_tangents(bits: int, hypothesis: Any) -> None:
    """Tangents 2^−bits apart; the contact comes without slip, exactly."""
    masses, v = np.array([1.5, 0.75, 2.0]), np.array([0.0, 0.0, -1.0])
    C = np.array([[1.0, -0.5, 1.0], [1.0, 2.0, 0.0], [1.0, 2.0 + 2.0**-bits, 0.0]])
    for mu in (0.02, 0.1, 0.2):
        t = solved(masses, C, v, laws.Coulomb(mu, 0.5, hypothesis))
        assert t.contact["contact 0"] is ContactState.SLIPS
        np.testing.assert_allclose(t.v_plus, slipping_on(masses, C, v, mu, 0.5), atol=1e-12)


def test_a_slip_that_turns_and_then_goes_straight_on() -> None:
    """A light body between heavy ones; a slip that stops and starts again. Expected: integrated with 34 digits."""
    law = laws.Coulomb(2.766681940152762e-06, 0.45563715382826797, "poisson")
    masses = np.array([3684.4396824898677, 3.891445267819802e-06, 1055.6343916084847])
    C = np.array(
        [
            [0.007464450235858866, -0.013881204812704108, -0.007856382162649741],
            [-12671.28358739416, -1843.127509806493, 5997.5834973764895],
            [6706.332733148365, -17846.617598367902, 4671.856825515808],
        ]
    )
    v = np.array([-45.35327243429871, -4.033492274293337, 20.373041708349074])
    off = solved(masses, C, v, law).v_plus - [-32.319207807208066, -18.861474869455815, -10.842555752339265]
    assert np.sum(masses * off**2) < 1e-18 * np.sum(masses * v**2)

    law = laws.Coulomb(0.002844825195833017, 0.9115564027135419, "newton")
    M = np.array(
        [
            [1.2471386361452368, -0.026611656333273122, -0.0691353327533789, -0.13512341002541622],
            [-0.026611656333273122, 1.723276773865035, 0.13797926950098782, 0.13114482151521203],
            [-0.0691353327533789, 0.13797926950098782, 1.7443099437499359, -0.129423012915417],
            [-0.13512341002541622, 0.13114482151521203, -0.129423012915417, 1.6691499336580504],
        ]
    )
    normal = [0.0012765020857907964, 0.0010269309453958928, -0.006765904327256281, 0.006902390578365685]
    tangents = [
        [0.13876863064616715, -0.26570122025263226, -0.6503503667337166, -0.18248142488688826],
        [0.2291243714108243, -0.4387094572154468, -1.0738152809993706, -0.30130703083054666],
    ]
    before = [6.063219869422138, -0.5917611168678425, 11.306563105626198, -12.790016722342816]
    t = jd.transition(M, before, contacts=[jd.Contact(normal=normal, tangent=tangents, law=law)])
    expected = [12.424898270841194, 5.517407952091335, -3.5841773157088355, 14.187717388484169]
    np.testing.assert_allclose(t.v_plus, expected, rtol=1e-11)


def test_a_slip_that_stops_during_compression() -> None:
    """Poisson: λ = −W⁻¹ u + e p_c (1, −W_tt⁻¹ W_tn); tangents in any units."""
    masses, e = np.array([46.50556424858184, 0.0020638357580915596, 104.87489239465437]), 0.4901110397840588
    v = np.array([3.676669068221051e-05, -3.058886674601809e-05, -3.556768485370947e-05])
    C = np.array(
        [
            [0.2930558941937188, -1.0641464091005897, 1.2768349256239502],
            [3.037110888564301, 1.297802695136394, 3.304193941539176],
            [0.05732417548688457, 2.8219235566419805, 0.25302259115353476],
        ]
    )
    exact = np.array([-1.83120694927253e-05, -1.17872191317722e-06, 1.72948486485088e-05])
    for unit in 10.0 ** np.arange(-6, 7, 3):
        t = solved(masses, C * [[1], [unit], [unit]], v, laws.Coulomb(0.7072933117785211 / unit, e, "poisson"))
        off = np.sqrt(np.sum(masses * (t.v_plus - exact) ** 2) / np.sum(masses * v**2))
        assert off < 1e-10


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_tangents_much_longer_than_the_normal(unit: float) -> None:
    """Expected: SciPy's DOP853, to 1e-9."""
    M = [
        [8.417417131374144e-05, -0.0008410067525838463, 7.427903383536491e-08],
        [-0.0008410067525838463, 3.3518800539279927, -4.521867141208479e-05],
        [7.427903383536491e-08, -4.521867141208479e-05, 6.512805518809153e-07],
    ]
    normal = [0.00012077571324309552, -0.013655423395084167, 5.228352646353677e-05]
    tangents = [
        [-66.10048217780616, 10721.581074528962, -13.374199664842044],
        [-176.21970672748694, 39632.6829004546, 20.573096456155188],
    ]
    law = laws.Coulomb(2.297706319584121e-06 / unit, 0.07894688367967218, "poisson")
    contact = jd.Contact(normal=normal, tangent=unit * np.array(tangents), law=law)
    t = jd.transition(M, [-23.859410684202334, -0.11813787229333995, 23.21587704084485], contacts=[contact])
    np.testing.assert_allclose(t.v_plus, [-23.81239214, -0.11831915, 24.18680622], atol=1e-8)


def test_restitution_that_presses_together_is_refused_as_such() -> None:
    """After a jam Poisson's impulse may end before the contact separates; the message does not speak of a wedge."""
    M = np.array(
        [
            [7.475811856232967, 2121.491983752812, -394.01579036739577],
            [2121.491983752812, 13508354.150805915, 569879.4555013876],
            [-394.01579036739577, 569879.4555013876, 67348.41095976952],
        ]
    )
    normal = [-0.10989030509570522, 62.939224481961936, -3.727288813467783]
    tangents = [
        [0.07518673055139821, 60.678890642868645, -5.480434926730528],
        [0.06796523429730951, 19.8164770448513, -1.1036036854192792],
    ]
    v = [1.6625582308415212e-05, -1.4613240143086682e-09, -2.7521973278610492e-08]
    law = laws.Coulomb(7.212539852168197, 0.5008934497685347, "stronge")  # as the message advises
    assert jd.transition(M, v, contacts=[jd.Contact(normal=normal, tangent=tangents, law=law)]).ok
    law = laws.Coulomb(7.212539852168197, 0.5008934497685347, "poisson")
    with pytest.raises(jd.Infeasible, match="approaches again during restitution"):
        jd.transition(M, v, contacts=[jd.Contact(normal=normal, tangent=tangents, law=law)])
