"""Several drawings in one figure, with one legend."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from jourdain.plots import drawing
from jourdain.plots.style import new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from jourdain.scenarios.scenario import Scenario


def drawings(shown: Sequence[tuple[str, Scenario, Mapping[str, float]]]) -> Figure:
    """(title, scenario, parameters) of each; two in a row, the legend after the last."""
    n_rows = (len(shown) + 1) // 2
    figure = new_figure(7.2, 3.1 * n_rows)
    axes = list(figure.subplots(n_rows, 2).flat)
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
