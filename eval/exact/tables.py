"""A report against the exact solution as tables for a terminal (rich)."""

from __future__ import annotations

from rich.table import Table

from ..tables import formula_table
from .report import ExactReport, SampleReport

__all__ = ["exact_tables"]


def exact_tables(report: ExactReport) -> list[Table]:
    """One row a state of the cube: a table a sample, and one more of Janowski's formula if it was asked."""
    tables = []
    for sample, title in (
        (report.games, f"{report.model} in games between exact players of {report.variant}"),
        (report.legal, f"{report.model} on legal positions, one roll each"),
    ):
        tables.append(_table(sample, title))
        if sample.formula:
            tables.append(formula_table(sample.cube, sample.formula))
    return tables


def _table(sample: SampleReport, title: str) -> Table:
    table = Table(title=f"{title}: millipoints lost a decision (share of wrong ones)", title_justify="left")
    for heading in ("cube", "play", "double", "take", "rms"):
        table.add_column(heading, justify="left" if heading == "cube" else "right", no_wrap=True)
    for name, play in sample.plays.items():
        cells = [f"{play.loss:.2f} ±{1.96 * play.standard_error:.2f} ({play.wrong:.1%})", "", ""]
        if name in sample.cube:
            cube = sample.cube[name]
            cells[1:] = [f"{cube.double:.2f} ({cube.wrong_double:.1%})", f"{cube.take:.2f} ({cube.wrong_take:.1%})"]
        table.add_row(name, *cells, f"{sample.equity[name].rms:.3f}")
    for name in sample.refused:
        table.add_row(name, "not learned")
    for play, equity in zip(sample.plays.values(), sample.equity.values(), strict=True):
        table.caption = (
            f"{play.decisions:,} unforced plays; rms error of equity in points over {equity.positions:,} positions"
        )
        table.caption_justify = "left"
    return table
