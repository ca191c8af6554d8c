"""A run's log as charts: the same numbers that TensorBoard shows, by the names that training gives them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from .charts import Curve, Curves

__all__ = ["PANELS", "learning_curves"]

# Title, unit, the curves by their names in the log, the name of their half width of an interval; draw y = 0?
PANELS: tuple[tuple[str, str, dict[str, str], str | None, bool], ...] = (
    ("Points a game against pipcount", "points", {"evaluation/points": ""}, "evaluation/margin", False),
    ("Loss of outcomes", "nats above the targets' own", {"loss/outcome": ""}, None, False),
    ("Loss of the cube", "squared error", {"loss/cube": "money", "loss/stake": "all stakes"}, None, False),
    (
        "Predicted less realised",
        "probability",
        {"calibration/win": "win", "calibration/gammon": "gammon", "calibration/backgammon": "backgammon"},
        None,
        True,
    ),
    (
        "Wins by level in self-play",
        "share",
        {"games/gammon_rate": "gammons", "games/backgammon_rate": "backgammons"},
        None,
        False,
    ),
    ("Cube in self-play", "share", {"cube/turned_rate": "turned", "cube/drop_rate": "dropped"}, None, False),
    ("Length of a game", "plies", {"games/plies": ""}, None, False),
    ("Learning rate", "", {"learner/learning_rate": ""}, None, False),
)
_MAX_POINTS = 300


def learning_curves(entries: Sequence[Mapping[str, Any]]) -> tuple[Curves, ...]:
    """The charts for which the log has numbers; long logs are thinned out.

    Entries from before a two-hundredth of the games are left out: of so few games they say little, and would set the
    scale for all others.
    """
    last = max((entry["games"] for entry in entries if _is_number(entry.get("games"))), default=0)
    entries = [entry for entry in entries if _is_number(entry.get("games")) and entry["games"] >= last / 200]
    charts = []
    for title, unit, names, margin, zero in PANELS:
        curves = [curve for name, label in names.items() if (curve := _curve(entries, name, label, margin))]
        if curves:
            charts.append(Curves(title, "games", unit, tuple(curves), zero=zero))
    return tuple(charts)


def _curve(entries: Sequence[Mapping[str, Any]], name: str, label: str, margin: str | None) -> Curve | None:
    known = [entry for entry in entries if _is_number(entry.get(name))]
    step = max(1, len(known) // _MAX_POINTS)
    known = [*known[:-1:step], *known[-1:]]
    if not known:
        return None
    x, y = (tuple(float(entry[key]) for entry in known) for key in ("games", name))
    if margin is None:
        return Curve(label, x, y)
    margins = [float(entry[margin]) if _is_number(entry.get(margin)) else 0.0 for entry in known]
    return Curve(label, x, y, tuple((at - width, at + width) for at, width in zip(y, margins, strict=True)))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
