"""What a chart shows, as plain values: curves over an axis, or values with intervals beside names.

`chart_svg` draws one for a page, `chart_png` for a file; neither decides what is drawn.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Chart", "Curve", "Curves", "Row", "Rows", "number_text", "ticks"]


@dataclass(frozen=True)
class Curve:
    """One curve: points ``(x, y)`` in order, joined by a line or not; ``intervals`` have the ends of y's intervals.

    ``label`` may be empty where there is only one.
    """

    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    intervals: tuple[tuple[float, float], ...] | None = None
    line: bool = True


@dataclass(frozen=True)
class Curves:
    """Curves over one axis.

    Attributes:
        title: what is shown. x_label, y_label: what the axes count, with units.
        curves: at least one, each of at least one point.
        diagonal: draw the line on which x and y are equal.
        zero: draw the line y = 0.
        note: a sentence below.
    """

    title: str
    x_label: str
    y_label: str
    curves: tuple[Curve, ...]
    diagonal: bool = False
    zero: bool = False
    note: str = ""


@dataclass(frozen=True)
class Row:
    """One name with a value for each series; None where there is none. ``margins``: half widths of intervals."""

    label: str
    values: tuple[float | None, ...]
    margins: tuple[float | None, ...]


@dataclass(frozen=True)
class Rows:
    """Values beside names: points with intervals, or bars from 0.

    Attributes:
        series: what the values of a row are, an empty text where there is only one.
        bars: bars instead of points.
    """

    title: str
    x_label: str
    series: tuple[str, ...]
    rows: tuple[Row, ...]
    bars: bool = False
    note: str = ""


Chart = Curves | Rows


def ticks(low: float, high: float, wanted: int = 5) -> list[float]:
    """Round numbers from ``low`` to ``high``, about ``wanted`` of them."""
    if not math.isfinite(low) or not math.isfinite(high) or high <= low:
        return [low]
    rough = (high - low) / wanted
    scale = 10.0 ** math.floor(math.log10(rough))
    step = next(scale * factor for factor in (1, 2, 5, 10) if scale * factor >= rough * 0.999)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [number * step for number in range(first, last + 1)]


def number_text(value: float, all_values: Sequence[float] = ()) -> str:
    """A tick's number, as short as its neighbours ``all_values`` allow: 250k, 1.5M, 0.05."""
    largest = max((abs(each) for each in (*all_values, value)), default=0.0)
    for unit, sign in ((1e6, "M"), (1e3, "k")):
        if largest >= unit:
            return f"{value / unit:g}{sign}" if value else "0"
    return f"{round(value, 10):g}".replace("-", "−")
