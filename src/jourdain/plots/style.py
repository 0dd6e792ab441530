"""How figures look: colours, line styles, symbols, units and the factor that turns SI into what is shown."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from jourdain.data.numbers import amount, shown_in, significant

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

# Okabe and Ito's colours without the yellow, which white paper swallows: told apart by colour-blind people.
BLUE, VERMILION, GREEN, ORANGE, PURPLE, SKY, BLACK = PALETTE = (
    "#0072B2", "#D55E00", "#009E73", "#E69F00", "#CC79A7", "#56B4E9", "#000000",
)  # fmt: skip
YELLOW = "#F0E442"  # theirs too: for areas only
GREY = "#999999"
# In black and white these tell apart what the colours do.
LINE_STYLES: tuple[Any, ...] = ("-", "--", "-.", ":", (0, (8, 2)), (0, (3, 1, 1, 1, 1, 1)), (0, (1, 3)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
COLOUR_MAP = "cividis"  # grows evenly in brightness, also for colour-blind people and in black and white
DIGITS = 4  # significant ones of a number in a figure
SMALL = 9  # points: legends and numbers in a drawing
ROUNDING = 1e-9  # numbers this small beside the others of their kind are drawn as 0

_GREEK = (
    "alpha|beta|gamma|delta|epsilon|zeta|eta|theta|iota|kappa|lambda|mu|nu|xi|pi|rho|sigma|tau|upsilon|phi|chi|psi|omega|"
    "Gamma|Delta|Theta|Lambda|Xi|Pi|Sigma|Upsilon|Phi|Psi|Omega"
)
_LETTER = re.compile(rf"(?:(?P<greek>{_GREEK})|(?P<latin>[A-Za-z]))(?:_?(?P<number>\d+)|_(?P<index>.+))?")
_SIDES = {"_minus": "^-", "_plus": "^+"}
_ENERGY_UNITS = ((1e-3, "kJ"), (1.0, "J"), (1e3, "mJ"), (1e6, "µJ"))


def new_figure(width: float, height: float) -> Figure:
    """An empty figure that needs no display; sizes in inches."""
    from matplotlib.figure import Figure

    show_in_notebooks()
    return Figure(figsize=(width, height), layout="constrained")


def show_in_notebooks() -> None:
    """Let a notebook show a figure, or the figure of axes, that pyplot does not know; pyplot shows its own."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if shell is None:
        return
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    formatter = shell.display_formatter.formatters["image/png"]
    for kind, shown in ((Axes, _png_of_axes), (Figure, _png)):
        if formatter.for_type(kind) is None:
            formatter.for_type(kind, shown)


def _png_of_axes(ax: Axes) -> bytes | None:
    figure: Any = ax.figure.figure if ax.figure else None
    return None if figure is None or hasattr(figure, "number") else _png(figure)  # pyplot numbers its figures


def _png(figure: Any) -> bytes:
    from io import BytesIO

    picture = BytesIO()
    figure.savefig(picture, format="png", dpi=110)
    return picture.getvalue()


def new_axes(width: float = 6.0, height: float = 3.4, projection: str | None = None) -> Axes:
    """Axes of a figure of their own that needs no display; sizes in inches."""
    return new_figure(width, height).add_subplot(projection=projection)


@dataclass(frozen=True)
class Display:
    """How a number is shown: `factor` × its SI value, in `unit`, under `symbol` (text that Matplotlib typesets)."""

    symbol: str
    unit: str = ""
    factor: float = 1.0

    @property
    def label(self) -> str:
        r"""As an axis carries it.

        >>> display("theta", "rad").label
        '$\\theta$ in degrees'
        """
        unit = "degrees" if self.unit == "°" else self.unit  # a lone ° is easily overlooked
        return f"{self.symbol} in {unit}" if unit else self.symbol

    def assigned(self, value: float) -> str:
        r"""As a legend carries it, from the SI value.

        >>> display("rho").assigned(0.25), display("torso", "rad").assigned(-np.pi / 6)
        ('$\\rho$ = 0.25', 'torso = −30°')
        """
        return f"{self.symbol} = {self.number(value)}"

    def number(self, value: float) -> str:
        """The SI value, shown with its unit."""
        return amount(self.factor * value, self.unit, DIGITS)


def display(name: str, unit: str = "", values: ArrayLike = (), symbol: str = "") -> Display:
    """Of a parameter or quantity in SI: angles in degrees, energies in the unit in which the largest reads well.

    `symbol`: what to typeset; that of a parameter follows from its name.
    """
    shown, size = shown_in(unit)
    factor, shown = energy_scale(values) if unit == "J" else (1 / size, shown)
    return Display(symbol or symbol_of(name), shown, factor)


def energy_scale(values: ArrayLike) -> tuple[float, str]:
    """The factor and the unit in which the largest of these energies reads well."""
    sizes = np.abs(np.asarray(values, dtype=float))
    largest = np.max(sizes, where=np.isfinite(sizes), initial=0.0)
    if largest == 0:
        return 1.0, "J"
    return next((scale for scale in _ENERGY_UNITS if largest * scale[0] >= 1), _ENERGY_UNITS[-1])


def symbol_of(name: str) -> str:
    r"""A parameter's name, typeset: Greek letters, single letters with their indices; words stay words.

    >>> symbol_of("rho"), symbol_of("l1"), symbol_of("m_W"), symbol_of("v_px_minus"), symbol_of("foot_x")
    ('$\\rho$', '$l_{1}$', '$m_{W}$', '$v_{\\mathrm{px}}^-$', 'foot x')
    """
    side = next((side for side in _SIDES if name.endswith(side)), "")
    found = _LETTER.fullmatch(name.removesuffix(side))
    if found is None:
        return name.replace("_", " ")
    letter = f"\\{found['greek']}" if found["greek"] else found["latin"]
    index = (found["number"] or found["index"] or "").replace("_", ",")
    if len(index) > 1:
        index = f"\\mathrm{{{index}}}"
    return f"${letter}{f'_{{{index}}}' if index else ''}{_SIDES.get(side, '')}$"


def short(value: float) -> str:
    """A number as a reader wants it in a figure.

    >>> short(-0.123456), short(30.000000000000004)
    ('−0.1235', '30')
    """
    return significant(value, DIGITS)


def legend(ax: Axes, keys: Sequence[Any], above: bool = False, title: str = "") -> None:
    """Above the axes, or beside them where the figure makes room for it, else where it hides least.

    A title that it had stays, when keys are added.
    """
    known = ax.get_legend()
    title = title or (known.get_title().get_text() if known else "")
    looks: dict[str, Any] = {"handles": list(keys), "fontsize": SMALL, "handlelength": 3.0}
    looks |= {"title": title or None, "title_fontsize": SMALL, "alignment": "left"}
    if above:
        ax.legend(**looks, loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0.2, ncols=2, frameon=False)
    elif ax.get_figure().get_layout_engine() is None:  # type: ignore[union-attr]
        ax.legend(**looks)
    else:
        ax.legend(**looks, loc="upper left", bbox_to_anchor=(1.01, 1), borderaxespad=0.0, frameon=False)


def bar_looks(colour: str, hatch: str) -> dict[str, Any]:
    """Hatched in white, without an edge: a white one would hide a narrow bar."""
    return {"color": colour, "hatch": hatch, "edgecolor": "white", "linewidth": 0}


def bare(ax: Axes) -> None:
    """Bars with names need no frame."""
    for edge in ("top", "right", "left"):
        ax.spines[edge].set_visible(False)
    ax.tick_params(axis="y", length=0)


def zero(ax: Axes) -> None:
    """A thin line where y is 0."""
    ax.axhline(0, color=BLACK, linewidth=0.8)


def degree_ticks(axis: Axis, shown: ArrayLike) -> None:
    """Ticks where one looks for them on a wide angle: every 10, 15, 30, 45 or 90 degrees."""
    from matplotlib.ticker import MultipleLocator

    width = float(np.ptp(shown)) if np.size(shown) else 0.0
    if 40 <= width <= 720:
        axis.set_major_locator(MultipleLocator(next(step for step in (10, 15, 30, 45, 90) if width / step <= 8)))
