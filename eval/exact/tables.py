"""A report against the exact solution as tables for a terminal (rich)."""

from __future__ import annotations

from rich.table import Table

from .report import ExactReport, SampleReport

__all__ = ["exact_tables"]


def exact_tables(report: ExactReport) -> list[Table]:
    """One table a sample, one row a state of the cube."""
    return [
        _table(report.games, f"{report.model} in games between exact players of {report.variant}"),
        _table(report.legal, f"{report.model} on legal positions, one roll each"),
    ]


def _table(sample: SampleReport, title: str) -> Table:
    table = Table(title=f"{title}: millipoints lost a decision, share of wrong ones", title_justify="left")
    headings = ("cube", "play", "wrong", "double", "wrong", "take", "wrong", "equity, rms")
    for heading in headings:
        table.add_column(heading, justify="left" if heading == "cube" else "right", no_wrap=heading == "cube")
    for name, play in sample.plays.items():
        cells = [f"{play.loss:.2f} ± {1.96 * play.standard_error:.2f}", f"{play.wrong:.1%}"]
        cube = sample.cube.get(name)
        if cube is None:
            cells += [""] * 4
        else:
            cells += [f"{cube.double:.2f}", f"{cube.wrong_double:.1%}", f"{cube.take:.2f}", f"{cube.wrong_take:.1%}"]
        table.add_row(name, *cells, f"{sample.equity[name].rms:.4f}")
    for name in sample.refused:
        table.add_row(name, "not learned", *([""] * (len(headings) - 2)))
    first = next(iter(sample.plays.values()), None)
    if first is not None:
        positions = next(iter(sample.equity.values())).positions
        table.caption = f"{first.decisions:,} unforced plays, {positions:,} positions"
        table.caption_justify = "left"
    return table
