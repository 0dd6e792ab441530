"""What figures of the measured cases share: points, names of the cases, the key above the axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from jourdain.plots.style import BLACK, SMALL
from jourdain.studies.papers.measured import Case

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def measured_points(ax: Axes, values: ArrayLike) -> None:
    """White points, one for each case."""
    looks: dict[str, Any] = {"color": BLACK, "markerfacecolor": "white", "markersize": 6}
    ax.plot(np.arange(np.size(values)), values, "o", label="measured", **looks)


def label_ticks(ax: Axes, cases: Sequence[Case]) -> None:
    """The names of the cases along x."""
    ax.set_xticks(np.arange(len(cases)), [case.label for case in cases], rotation=60, ha="right", fontsize=SMALL)


def key_above(ax: Axes, columns: int, middle: float = 0.5, **looks: Any) -> None:
    """The legend over the axes."""
    looks = {"frameon": False, "fontsize": SMALL, **looks}
    ax.legend(ncols=columns, loc="lower center", bbox_to_anchor=(middle, 1.0), **looks)
