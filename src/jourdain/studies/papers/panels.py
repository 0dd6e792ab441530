"""Several drawings in one figure, with one legend."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from jourdain.plots import drawing
from jourdain.plots.style import new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from jourdain.scenarios.scenario import Scenario


def two_in_a_row(n: int, height: float, **shared: Any) -> tuple[Figure, list[Axes]]:
    """A figure with n panels, or one more; the height of each in inches."""
    n_rows = (n + 1) // 2
    figure = new_figure(7.2, height * n_rows)
    return figure, list(figure.subplots(n_rows, 2, squeeze=False, **shared).flat)


def drawings(shown: Sequence[tuple[str, Scenario, Mapping[str, float]]]) -> Figure:
    """(title, scenario, parameters) of each; two in a row, the legend after the last."""
    figure, axes = two_in_a_row(len(shown), 3.1)
    for ax, (title, scenario, parameters) in zip(axes, shown, strict=False):
        keys: Any = drawing(scenario, ax, parameters).get_legend()
        ax.set_title(title, fontsize=10)
        keys.remove()
    words = [text.get_text().partition("\n")[0] for text in keys.get_texts()]  # the longest arrow differs
    looks = {"frameon": False, "handlelength": 3.2}
    if len(shown) < len(axes):
        axes[-1].axis("off")
        axes[-1].legend(keys.legend_handles, words, loc="center", **looks)
    else:
        figure.legend(keys.legend_handles, words, loc="outside lower center", ncols=3, **looks)
    return figure
