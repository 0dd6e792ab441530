"""A dataset as a table in LaTeX: one line per event, columns by address."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from jourdain.data.addresses import parts
from jourdain.data.columns import Column, Columns
from jourdain.data.numbers import degree_unit, significant
from jourdain.errors import BadArgument, unknown
from jourdain.output import latex
from jourdain.quantities import QUANTITIES

if TYPE_CHECKING:
    import xarray

MOST_LINES = 200  # of a table that somebody prints
MOST_COLUMNS = 12
USUAL = ("T_minus", "T_plus", "T_c_minus", "xi", "loss")  # what is shown of all that an event has


def table(
    ds: xarray.Dataset | Columns, keep: Sequence[str] | None = None, degrees: bool = False, digits: int = 5
) -> str:
    r"""A sweep, or the dataset of a transition, as a LaTeX `tabular` with the rules of the package booktabs.

    Parameters
    ----------
    ds
        A dataset of this library: of `sweep`, `to_dataset`, or one that was read again.
    keep
        Addresses of the columns, as `["theta", "loss", "impulse.heel.normal"]`. Default: what was swept, and all
        quantities; of more than a page holds, the energies.
    degrees
        Show angles in degrees; else radians.
    digits
        Significant digits of the numbers.

    Returns
    -------
    str
        From `\begin{tabular}` to `\end{tabular}`. Symbols and units stand in the header.

    Raises
    ------
    UnknownName
        If `keep` names a column that is not there.
    BadArgument
        If the table has more lines or columns than a page holds.

    Examples
    --------
    >>> import jourdain as jd
    >>> print(table(jd.gallery.particle().sweep(kappa=[0.0, 0.5], keep=["loss"]), keep=["kappa", "loss"]))
    \begin{tabular}{lr}
    \toprule
    $\kappa$ & $T^- - T^+$ ($\mathrm{J}$) \\
    \midrule
    $0$ & $4.5$ \\
    $0.5$ & $3.375$ \\
    \bottomrule
    \end{tabular}

    """
    tidy = ds if isinstance(ds, Columns) else Columns(ds)
    if tidy.n_lines > MOST_LINES:
        raise BadArgument(f"A table of {tidy.n_lines:,} lines is too long to print; take {MOST_LINES} of them at most, "
                          "as with ds.isel, or write a .csv.")  # fmt: skip
    chosen = _chosen(tidy, keep)
    if len(chosen) > MOST_COLUMNS:
        raise BadArgument(f"A table of {len(chosen)} columns is too wide to print; choose {MOST_COLUMNS} of them at "
                          'most, as with keep=["theta", "loss"].')  # fmt: skip
    header, cells = [], []
    for column in chosen:
        unit, size = degree_unit(column.unit) if degrees else (column.unit, 1.0)
        header.append(latex.named(_symbol(column.address), unit))
        cells.append(_cells(column, size, digits))
    return latex.tabular((header, list(zip(*cells, strict=True))))


def _chosen(tidy: Columns, keep: Sequence[str] | None) -> list[Column]:
    if keep is None:
        shown = [column for column in tidy.columns if column.kind != "fixed" or column.address in tidy.axes]
        if len(shown) > MOST_COLUMNS:
            shown = [column for column in shown if column.kind in ("swept", "status") or column.address in USUAL]
        return shown
    known = {column.address: column for column in tidy.columns}
    for address in keep:
        if address not in known:
            raise unknown("column", address, known)
    return [known[address] for address in keep]


def _cells(column: Column, size: float, digits: int) -> list[str]:
    values = column.values
    if values.dtype.kind not in "fiub":
        return [latex.prose(str(value)) for value in values]
    scaled = values.astype(float) * size
    zero = 1e-13 * float(np.max(np.abs(np.nan_to_num(scaled)), initial=0.0)) if column.kind == "quantity" else 0.0
    return [latex.number(significant(value, digits, zero)) for value in scaled]


def _symbol(address: str) -> str:
    """The symbol of an address: of a parameter its own, of "v_plus.theta" the table's with an index."""
    name, label = parts(address)
    if name not in QUANTITIES:
        return latex.symbol(address)
    return QUANTITIES[name].latex + (f"_{{{latex.symbol(label)}}}" if label else "")
