"""What a run tells while it goes on: TensorBoard, one JSON line an entry, and the curves drawn from those lines."""

from __future__ import annotations

import io
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from torch.utils.tensorboard import SummaryWriter

from ..models.bundle import write_file

__all__ = ["Monitor", "draw_curves", "read_metrics"]

METRICS_FILE = "metrics.jsonl"


class Monitor:
    """Writes numbers by name and number of games to ``folder``; opened again, it goes on behind ``games``."""

    def __init__(self, folder: Path, games: int = 0) -> None:
        self._path = folder / METRICS_FILE
        kept = [entry for entry in read_metrics(folder) if entry["games"] <= games]
        write_file(self._path, "".join(json.dumps(entry) + "\n" for entry in kept).encode())
        self._curves = folder / "tensorboard"
        _quieten_writer_threads()
        with _naming(self._curves):
            self._writer = SummaryWriter(str(self._curves), purge_step=games or None)

    def record(self, games: int, values: dict[str, float]) -> None:
        """Add an entry; names with a slash group curves in TensorBoard."""
        with _naming(self._curves):
            for name, value in values.items():
                self._writer.add_scalar(name, value, games)
            self._writer.flush()
        with _naming(self._path), open(self._path, "a", encoding="utf-8") as file:
            file.write(json.dumps({"games": games, **values}) + "\n")

    def close(self) -> None:
        """Finish the files."""
        with _naming(self._curves):
            self._writer.close()


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """An ``OSError`` inside names ``path``: a full disk is not worth much without saying which."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from None


def _quieten_writer_threads() -> None:
    """TensorBoard's thread hands its ``OSError`` to the next call of the writer; it need not print a traceback too."""
    show = threading.excepthook

    def hook(args: threading.ExceptHookArgs) -> None:
        if not (isinstance(args.exc_value, OSError) and type(args.thread).__name__ == "_AsyncWriterThread"):
            show(args)

    if getattr(show, "__module__", None) != __name__:
        threading.excepthook = hook


def read_metrics(folder: Path) -> list[dict[str, Any]]:
    """The entries of a run's log, oldest first; a last line cut short by a crash is left out."""
    path = folder / METRICS_FILE
    if not path.is_file():
        return []
    entries = []
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
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
    image = io.BytesIO()
    FigureCanvasAgg(figure).print_figure(image, dpi=110)
    write_file(path, image.getvalue())
