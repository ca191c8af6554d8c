"""What a run tells while it goes on: TensorBoard, one JSON line an entry, and the curves drawn from those lines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from torch.utils.tensorboard import SummaryWriter

__all__ = ["Monitor", "draw_curves", "read_metrics"]

METRICS_FILE = "metrics.jsonl"


class Monitor:
    """Writes numbers by name and number of games to ``folder``; opened again, it goes on behind ``games``."""

    def __init__(self, folder: Path, games: int = 0) -> None:
        self._path = folder / METRICS_FILE
        kept = [entry for entry in read_metrics(folder) if entry["games"] <= games]
        self._path.write_text("".join(json.dumps(entry) + "\n" for entry in kept), encoding="utf-8")
        self._writer = SummaryWriter(str(folder / "tensorboard"), purge_step=games or None)

    def record(self, games: int, values: dict[str, float]) -> None:
        """Add an entry; names with a slash group curves in TensorBoard."""
        for name, value in values.items():
            self._writer.add_scalar(name, value, games)
        self._writer.flush()
        with open(self._path, "a", encoding="utf-8") as file:
            file.write(json.dumps({"games": games, **values}) + "\n")

    def close(self) -> None:
        """Finish the files."""
        self._writer.close()


def read_metrics(folder: Path) -> list[dict[str, Any]]:
    """The entries of a run's log, oldest first; a last line cut short by a crash is left out."""
    path = folder / METRICS_FILE
    if not path.is_file():
        return []
    entries = []
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            entries.append(json.loads(line))
        except json.JSONDecodeError:
            continue
    return [entry for entry in entries if isinstance(entry, dict) and isinstance(entry.get("games"), int)]


_PANELS = (
    ("Points a game against pipcount", {"evaluation/points": "cubeless"}, "evaluation/margin"),
    ("Loss", {"loss/outcome": "outcomes (nats)", "loss/cube": "cube (points squared)"}, None),
    ("Wins by level", {"games/gammon_rate": "gammons", "games/backgammon_rate": "backgammons"}, None),
    ("Predicted less realised", {"calibration/win": "win", "calibration/gammon": "gammon"}, None),
)


def draw_curves(folder: Path, path: Path) -> None:
    """Draw a run's learning curves to a PNG file."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.ticker import EngFormatter

    entries = read_metrics(folder)
    figure = Figure(figsize=(11, 7), layout="constrained")
    axes = figure.subplots(2, 2)
    for axis, (title, curves, margin) in zip(axes.flat, _PANELS, strict=True):
        for name, label in curves.items():
            points = [entry for entry in entries if name in entry]
            games = [entry["games"] for entry in points]
            values = [entry[name] for entry in points]
            if margin is not None:
                axis.errorbar(games, values, [entry.get(margin, 0.0) for entry in points], label=label, capsize=3)
            else:
                axis.plot(games, values, label=label)
        axis.set_title(title)
        axis.set_xlabel("games")
        axis.xaxis.set_major_formatter(EngFormatter(sep=""))
        axis.grid(alpha=0.3)
        axis.legend()
    figure.suptitle(folder.name)
    FigureCanvasAgg(figure).print_figure(str(path), dpi=110)
