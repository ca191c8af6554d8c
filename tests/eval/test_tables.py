"""Tables on a terminal of the usual width."""

from __future__ import annotations

import io

from rich.console import Console

from nardy.eval.cube_losses import CubeComparison, CubeLosses, Less
from nardy.eval.tables import formula_table


def test_standard_errors_are_whole_in_eighty_columns() -> None:
    losses = CubeLosses(10.25, 12.75, 0.1, 0.1, 500, 100)
    compared = CubeComparison(CubeLosses(21.5, 33.5, 0.2, 0.2, 500, 100), Less(11.25, 13.31), Less(20.75, 10.16))
    out = io.StringIO()
    console = Console(file=out, width=80)
    console.print(formula_table({"centred, Jacoby": losses}, {"centred, Jacoby": compared}))
    text = out.getvalue()
    assert "…" not in text
    for number in ("centred, Jacoby", "10.25", "21.50", "+11.25 ± 13.31", "12.75", "33.50", "+20.75 ± 10.16"):
        assert number in text
