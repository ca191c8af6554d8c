"""Charts as SVG inside an HTML page. Colours are the page's: classes ``s0`` to ``s5``, ``grid``, ``axis``, ``text``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

from .charts import Chart, Curve, Curves, Rows, number_text, ticks

__all__ = ["NUM_STYLES", "chart_svg"]

NUM_STYLES = 6
_WIDTH, _HEIGHT = 420, 270
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 14, 10, 42
_ROW = 30
_CHARACTER = 6.6  # width of one, about
_LONG_LABEL = 14  # characters; longer ones stand above their row


def chart_svg(chart: Chart) -> str:
    """One figure: the drawing, named for those who do not see it, its legend and note."""
    lines = _curves(chart) if isinstance(chart, Curves) else _rows(chart)
    labels = [curve.label for curve in chart.curves] if isinstance(chart, Curves) else list(chart.series)
    height = _HEIGHT if isinstance(chart, Curves) else _rows_height(chart)
    unit = f" <small>{escape(chart.y_label)}</small>" if isinstance(chart, Curves) and chart.y_label else ""
    described = escape(_description(chart))
    parts = [
        "<figure>",
        f"<h3>{escape(chart.title)}{unit}</h3>",
        f'<svg class="chart" viewBox="0 0 {_WIDTH} {height}" role="img">',
        f"<title>{escape(chart.title)}</title>",
        f"<desc>{described}</desc>",
        *lines,
        "</svg>",
    ]
    if any(labels):
        keys = "".join(
            f'<li><svg class="key" viewBox="0 0 26 10" aria-hidden="true"><path class="line s{place % NUM_STYLES}" '
            f'd="M1 5H25"/><circle class="dot s{place % NUM_STYLES}" cx="13" cy="5" r="3.4"/></svg>{escape(label)}</li>'
            for place, label in enumerate(labels)
        )
        parts.append(f'<ul class="legend">{keys}</ul>')
    if chart.note:
        parts.append(f"<figcaption>{escape(chart.note)}</figcaption>")
    return "\n".join([*parts, "</figure>"])


def _description(chart: Chart) -> str:
    """The chart in words: first and last point of each curve, or every row."""
    if isinstance(chart, Curves):
        words = [
            f"{curve.label or chart.y_label}: from {curve.y[0]:.3g} at {chart.x_label} {curve.x[0]:.3g} "
            f"to {curve.y[-1]:.3g} at {curve.x[-1]:.3g}"
            for curve in chart.curves
        ]
        return f"{chart.y_label} over {chart.x_label}. " + "; ".join(words) + "."
    words = []
    for row in chart.rows:
        values = [
            f"{series} {value:.3g}".strip()
            for series, value in zip(chart.series, row.values, strict=True)
            if value is not None
        ]
        words.append(f"{row.label}: {', '.join(values)}")
    return f"{chart.x_label}. " + "; ".join(words) + "."


def _text(x: float, y: float, text: str, anchor: str = "middle", kind: str = "text") -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _span(values: Sequence[float], padded: bool = True) -> tuple[float, float]:
    """From the lowest to the highest of the values, a little wider."""
    low, high = min(values), max(values)
    pad = 0.06 * (high - low) if padded else 0.0
    return low - pad, high + pad


def _heights(curve: Curve) -> list[float]:
    """All values of y that have to be seen, ends of intervals included."""
    return [*curve.y, *(end for interval in curve.intervals or () for end in interval)]


def _together(spans: Sequence[tuple[float, float]]) -> tuple[float, float]:
    low, high = min(low for low, _ in spans), max(high for _, high in spans)
    if high > low:
        return low, high
    pad = 0.5 * abs(high) or 0.5  # all alike: something has to be above and below
    return low - pad, high + pad


def _scale(span: tuple[float, float], begin: float, end: float) -> Callable[[float], float]:
    low, high = span
    return lambda value: begin + (value - low) / (high - low) * (end - begin)


def _curves(chart: Curves) -> list[str]:
    x_span = _together([_span(curve.x, padded=not curve.line) for curve in chart.curves])
    y_span = _together([_span(_heights(curve)) for curve in chart.curves])
    if chart.zero:
        y_span = min(y_span[0], 0.0), max(y_span[1], 0.0)
    if chart.diagonal:
        whole = max(0.0, min(x_span[0], y_span[0])), max(x_span[1], y_span[1])
        x_span = y_span = whole
    x, y = _scale(x_span, _LEFT, _WIDTH - _RIGHT), _scale(y_span, _HEIGHT - _BOTTOM, _TOP)
    lines = []
    marks = ticks(*y_span)
    for mark in marks:
        lines.append(f'<path class="grid" d="M{_LEFT} {y(mark):.1f}H{_WIDTH - _RIGHT}"/>')
        lines.append(_text(_LEFT - 6, y(mark) + 4, number_text(mark, marks), "end"))
    marks = ticks(*x_span)
    for mark in marks:
        lines.append(_text(x(mark), _HEIGHT - _BOTTOM + 16, number_text(mark, marks)))
    lines.append(f'<path class="axis" d="M{_LEFT} {_HEIGHT - _BOTTOM}H{_WIDTH - _RIGHT}"/>')
    if chart.zero and y_span[0] < 0 < y_span[1]:
        lines.append(f'<path class="axis" d="M{_LEFT} {y(0):.1f}H{_WIDTH - _RIGHT}"/>')
    if chart.diagonal:
        ends = x_span
        lines.append(
            f'<path class="diagonal" d="M{x(ends[0]):.1f} {y(ends[0]):.1f}L{x(ends[1]):.1f} {y(ends[1]):.1f}"/>'
        )
    for place, curve in enumerate(chart.curves):
        lines += _curve(curve, place % NUM_STYLES, x, y)
    lines.append(_text((_LEFT + _WIDTH - _RIGHT) / 2, _HEIGHT - 6, chart.x_label, kind="label"))
    return lines


def _curve(curve: Curve, style: int, x: Callable[[float], float], y: Callable[[float], float]) -> list[str]:
    points = [(x(a), y(b)) for a, b in zip(curve.x, curve.y, strict=True)]
    lines = []
    for (at, _), (low, high) in zip(points, curve.intervals or (), strict=curve.intervals is not None):
        lines.append(f'<path class="whisker s{style}" d="M{at:.1f} {y(low):.1f}V{y(high):.1f}"/>')
    if curve.line and len(points) > 1:
        path = "L".join(f"{a:.1f} {b:.1f}" for a, b in points)
        lines.append(f'<path class="line s{style}" d="M{path}"/>')
    if not curve.line or len(points) == 1 or curve.intervals:
        lines += [f'<circle class="dot s{style}" cx="{a:.1f}" cy="{b:.1f}" r="3.4"/>' for a, b in points]
    return lines


def _stacked(chart: Rows) -> bool:
    return any(len(row.label) > _LONG_LABEL for row in chart.rows)


def _rows_height(chart: Rows) -> int:
    return _TOP + _BOTTOM + len(chart.rows) * _row_height(chart)


def _row_height(chart: Rows) -> int:
    return max(_ROW, 13 * len(chart.series) + 8) + (14 if _stacked(chart) else 0)


def _rows(chart: Rows) -> list[str]:
    stacked = _stacked(chart)
    left = 14.0 if stacked else 18 + _CHARACTER * max(len(row.label) for row in chart.rows)
    height, each = _rows_height(chart), _row_height(chart)
    ends = [0.0]
    for row in chart.rows:
        for value, margin in zip(row.values, row.margins, strict=True):
            if value is not None:
                ends += [value - (margin or 0), value + (margin or 0)]
    low, high = min(ends), max(ends)
    pad = 0.06 * (high - low) or 0.5
    span = low - (pad if low < 0 else 0), high + pad
    right = _WIDTH - (44 if chart.bars else _RIGHT)  # a bar's number stands behind it
    x = _scale(span, left, right)
    lines = []
    marks = ticks(*span)
    for mark in marks:
        lines.append(f'<path class="grid" d="M{x(mark):.1f} {_TOP}V{height - _BOTTOM}"/>')
        lines.append(_text(x(mark), height - _BOTTOM + 16, number_text(mark, marks)))
    lines.append(f'<path class="axis" d="M{x(0):.1f} {_TOP}V{height - _BOTTOM}"/>')
    for number, row in enumerate(chart.rows):
        top: float = _TOP + number * each
        most = int((_WIDTH - 2 * left) / _CHARACTER) if stacked else _LONG_LABEL
        label = row.label if len(row.label) <= most else row.label[: most - 1] + "…"
        if stacked:
            lines.append(_text(left + 4, top + 13, label, "start", "label"))
            top += 14
        else:
            lines.append(_text(left - 8, top + each / 2 + 4, label, "end", "label"))
        step = (each - (20 if stacked else 6)) / len(chart.series)
        for place, (value, margin) in enumerate(zip(row.values, row.margins, strict=True)):
            if value is not None:
                lines += _value(chart, value, margin, place % NUM_STYLES, x, top + 3 + place * step, step)
    lines.append(_text((left + right) / 2, height - 6, chart.x_label, kind="label"))
    return lines


def _value(
    chart: Rows, value: float, margin: float | None, style: int, x: Callable[[float], float], top: float, step: float
) -> list[str]:
    middle = top + step / 2
    if chart.bars:
        begin, end = sorted((x(0), x(value)))
        thick = min(step - 2, 16.0)
        bar = f'<rect class="bar s{style}" x="{begin:.1f}" y="{middle - thick / 2:.1f}" '
        bar += f'width="{max(end - begin, 0.5):.1f}" height="{thick:.1f}" rx="2"/>'
        digits = 0 if abs(value) >= 100 else 1
        return [bar, _text(end + 4, middle + 4, f"{value:.{digits}f}", "start")]
    lines = []
    if margin:
        lines.append(
            f'<path class="whisker s{style}" d="M{x(value - margin):.1f} {middle:.1f}H{x(value + margin):.1f}"/>'
        )
    lines.append(f'<circle class="dot s{style}" cx="{x(value):.1f}" cy="{middle:.1f}" r="4"/>')
    return lines
