"""What the texts of [FK-a], [FK-b] and [FK-c] say of their experiments, beside measurement and model."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from jourdain.data.numbers import fixed
from jourdain.studies.papers.measured import MILLI, Prediction
from jourdain.studies.papers.pantograph import Results
from jourdain.studies.papers.record import Claim, verdict


def claims(found: Results) -> list[Claim]:
    """What the texts say, what was measured, what the model has."""
    p = found.predicted
    at = {case.label: i for i, case in enumerate(p.cases)}
    case = {label: p.cases[i] for label, i in at.items()}
    b = {n: case[f"FK-b {n}"] for n in range(1, 10)}
    a = {n: case[f"FK-a {n}"] for n in range(1, 7)}
    change = {label: (one.T_a_plus - one.T_a_minus) / MILLI for label, one in case.items()}
    model = {label: float(p.outcome.T_a_plus[i] - p.outcome.T_a_minus[i]) / MILLI for label, i in at.items()}
    slides = {label: (p.outcome.u_minus["slide"][i], p.outcome.u_plus["slide"][i]) for label, i in at.items()}

    def slip(label: str) -> str:
        return "ẋ from {} to {} m/s".format(*(fixed(v, 3) for v in slides[label]))

    by_T_c = [sorted((b[n] for n in group), key=lambda one: one.T_c_minus) for group in (range(1, 5), range(5, 10))]
    rising = all(x.normal < y.normal for group in by_T_c for x, y in pairwise(group))
    model_gain = p.ideal.impulse["wall"][at["FK-b 5"]] / p.ideal.impulse["wall"][at["FK-b 6"]] - 1
    normal = [one.normal / MILLI for one in a.values()]
    predicted = [float(p.outcome.impulse["wall"][at[one.label]]) / MILLI for one in a.values()]
    norms = [float(np.hypot(*P.P_cT_BT[:, 0])) for P in found.projectors.values()]
    return [
        Claim("[FK-b] §6.1, 6.2", "F̄_n is clearly correlated with T_c⁻", verdict(rising),
              "in each configuration the order of the cases is the same"),
        Claim("[FK-b] §6.2, [FK-c]", "the largest F̄_n is that of ξ = 1, not of γ = 0",
              verdict(b[5].normal > b[6].normal),
              f"measured {_percent(b[5].normal / b[6].normal - 1)} above case 6; the model, at the measured energies, "
              f"{_percent(model_gain)}, much less than its error"),
        Claim("[FK-b] §6.2, [FK-c]", "the largest change of T_a is that of the highest tangential impulse",
              verdict(min(range(5, 10), key=lambda n: change[f"FK-b {n}"]) == 9
                       == max(range(5, 10), key=lambda n: abs(b[n].tangential))),
              f"case 9: {fixed(change['FK-b 9'], 3)} mJ; the model has {fixed(model['FK-b 9'], 3)} mJ"),
        Claim("[FK-b] §6.2, [FK-c]", "in case 6 the end effector slips towards −x, since F̄_t > 0",
              "not in the model" if min(slides["FK-b 6"]) > -1e-6 else "holds", slip("FK-b 6")),
        Claim("[FK-b] §6.2, [FK-c]", "in case 7 the slip reverses, since F̄_t > 0",
              "not in the model" if min(slides["FK-b 7"]) > 0 else "holds", slip("FK-b 7")),
        Claim("[FK-a]", "T_a⁺ < T_a⁻ in cases 2, 4 and 6",
              verdict(all(change[f"FK-a {n}"] < 0 and model[f"FK-a {n}"] < 0 for n in (2, 4, 6))),
              "measured and in the model"),
        Claim("[FK-a]", "λ̄ does not change significantly from case to case",
              verdict(max(normal) / min(normal) < 1.1),
              f"measured {_range(normal)}, model {_range(predicted)} N ms"),
        Claim("[FK-a]", "P_cᵀBᵀ grows with d", verdict(norms == sorted(norms)),
              ", ".join(f"{value:.4f}" for value in norms) + " m in length"),
        Claim("[FK-a]", "β̄ may explain that λ̄ falls from case 5 to case 6",
              "not in the model" if _shift(p, at["FK-a 6"]) > _shift(p, at["FK-a 5"]) else "holds",
              f"measured {fixed((a[6].normal - a[5].normal) / MILLI, 2)} N ms; β̄ changes λ̄ by "
              f"{fixed(_shift(p, at['FK-a 5']), 2)} in case 5 and by {fixed(_shift(p, at['FK-a 6']), 2)} in case 6"),
    ]  # fmt: skip


def _range(values: list[float]) -> str:
    return f"{min(values):.1f} to {max(values):.1f}"


def _percent(ratio: float) -> str:
    return f"{fixed(100 * ratio)} %"


def _shift(p: Prediction, i: int) -> float:
    """What β̄ does to λ̄ in the model, N ms."""
    return float(p.outcome.impulse["wall"][i] - p.ideal.impulse["wall"][i]) / MILLI
