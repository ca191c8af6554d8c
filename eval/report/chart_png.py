"""Charts as PNG files, several on one sheet."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

from .charts import Chart, Curves, Rows

__all__ = ["charts_png"]

_COLUMNS = 3
_LONGEST_LABEL = 28


def charts_png(charts: Sequence[Chart], title: str = "") -> bytes:
    """The charts side by side, at least one, as the bytes of a PNG file."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    columns = min(_COLUMNS, len(charts))
    lines = -(-len(charts) // columns)
    figure = Figure(figsize=(5.2 * columns, 3.8 * lines + 0.4), layout="constrained")
    axes = list(figure.subplots(lines, columns, squeeze=False).flat)
    for axis, chart in zip(axes, charts, strict=False):
        if isinstance(chart, Curves):
            _draw_curves(axis, chart)
        else:
            _draw_rows(axis, chart)
        axis.set_title(chart.title, parse_math=False)
    for axis in axes[len(charts) :]:
        axis.set_axis_off()
    if title:
        figure.suptitle(title, parse_math=False)
    image = io.BytesIO()
    FigureCanvasAgg(figure).print_figure(image, dpi=110)
    return image.getvalue()


def _draw_curves(axis: Any, chart: Curves) -> None:
    from matplotlib.ticker import EngFormatter

    for curve in chart.curves:
        style = {"label": curve.label} if curve.label else {}
        if curve.intervals is not None:
            ends = zip(curve.y, curve.intervals, strict=True)
            below, above = zip(*((max(0.0, y - low), max(0.0, high - y)) for y, (low, high) in ends), strict=True)
            shape = "o-" if curve.line else "o"
            axis.errorbar(curve.x, curve.y, (below, above), fmt=shape, markersize=4, capsize=3, **style)
        else:
            axis.plot(curve.x, curve.y, "-" if curve.line else "o", **style)
    if chart.diagonal:
        whole = 0.0, max(max(*curve.x, *curve.y) for curve in chart.curves)
        axis.plot(whole, whole, color="gray", linestyle="--", linewidth=1)
    if chart.zero:
        axis.axhline(0, color="gray", linewidth=0.8)
    axis.set_xlabel(chart.x_label, parse_math=False)
    axis.set_ylabel(chart.y_label, parse_math=False)
    if max(max(curve.x) for curve in chart.curves) >= 1000:
        axis.xaxis.set_major_formatter(EngFormatter(sep=""))
    axis.grid(alpha=0.3)
    if any(curve.label for curve in chart.curves):
        axis.legend()


def _draw_rows(axis: Any, chart: Rows) -> None:
    places = range(len(chart.rows))
    share = 0.8 / len(chart.series)
    for number, series in enumerate(chart.series):
        offset = (number - (len(chart.series) - 1) / 2) * share
        known = [(place, row) for place, row in zip(places, chart.rows, strict=True) if row.values[number] is not None]
        at = [place + offset for place, _ in known]
        values = [row.values[number] for _, row in known]
        style = {"label": series} if series else {}
        if chart.bars:
            axis.barh(at, values, height=0.9 * share, **style)
        else:
            margins = [row.margins[number] or 0.0 for _, row in known]
            axis.errorbar(values, at, xerr=margins, fmt="o", capsize=3, **style)
    axis.axvline(0, color="gray", linewidth=0.8)
    axis.set_yticks(list(places), [_short(row.label) for row in chart.rows], parse_math=False)
    axis.invert_yaxis()
    axis.set_xlabel(chart.x_label, parse_math=False)
    axis.grid(axis="x", alpha=0.3)
    if any(chart.series):
        axis.legend()


def _short(label: str) -> str:
    """What leaves room for the chart."""
    return label if len(label) <= _LONGEST_LABEL else label[: _LONGEST_LABEL - 1] + "…"
