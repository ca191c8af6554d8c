"""A model's match equity table beside another one: how far apart they are, and the entries as people print them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from rich.table import Table
from torch import Tensor

from ..models import MatchEquityTable

__all__ = ["MatchEquityReport", "match_equity_report"]

_SHOWN = 7  # points away; longer tables are rarely read by eye


@dataclass(frozen=True)
class MatchEquityReport:
    """A table, and how far it is from another.

    Attributes:
        table: the one reported on. other: what it is compared with, if anything.
        differences: root mean squares over the entries to 7-away, ``before`` the Crawford game (each pair of different
            scores once) and ``after`` it, and the ``largest`` difference; empty without ``other``.
    """

    table: MatchEquityTable
    other: MatchEquityTable | None
    differences: dict[str, float]

    def to_dict(self) -> dict[str, Any]:
        """As JSON values; the entries by points away."""
        return {
            "before": self.table.before.cpu().tolist(),
            "after": self.table.after.cpu().tolist(),
            "against": self.other.name if self.other else None,
            "differences": self.differences,
        }

    def tables(self) -> list[Table]:
        """The entries to 7-away in percent, and the differences if there is another table."""
        shown = min(_SHOWN, self.table.size)
        grid = Table(
            title="Match-winning chances in percent, the row's side needing so many points, the column's so many"
        )
        grid.add_column("")
        for away in range(1, shown + 1):
            grid.add_column(str(away), justify="right")
        for row in range(shown):
            grid.add_row(str(row + 1), *(f"{100 * float(entry):.1f}" for entry in self.table.before[row, :shown]))
        grid.add_row("after Crawford", *(f"{100 * float(entry):.1f}" for entry in self.table.after[:shown]))
        if self.other is None:
            return [grid]
        apart = Table(title=f"Differences from {self.other.name or 'the other table'}, to {shown}-away")
        for name in self.differences:
            apart.add_column(name, justify="right")
        apart.add_row(*(f"{value:.4f}" for value in self.differences.values()))
        return [grid, apart]


def match_equity_report(table: MatchEquityTable, other: MatchEquityTable | None = None) -> MatchEquityReport:
    """Compare ``table`` with ``other`` to 7-away, or as far as both go."""
    if other is None:
        return MatchEquityReport(table, None, {})
    size = min(_SHOWN, table.size, other.size)
    upper = torch.triu_indices(size, size, offset=1)
    before = (table.before.cpu() - other.before.cpu())[:size, :size][upper[0], upper[1]]
    after = (table.after.cpu() - other.after.cpu())[1:size]
    largest = torch.cat([before, after]).abs().max() if size > 1 else torch.zeros(())
    differences = {
        "rms before and in the Crawford game": _rms(before),
        "rms after it": _rms(after),
        "largest": float(largest),
    }
    return MatchEquityReport(table, other, differences)


def _rms(values: Tensor) -> float:
    return float(values.square().mean().sqrt()) if len(values) else 0.0
