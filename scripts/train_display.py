"""What a person sees while a bot trains: one bar, and a line for every evaluation."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Column

from nardy.env import GameOptions
from nardy.eval.bots import ModelBot, PipCountBot
from nardy.eval.results import compare_bots
from nardy.models import Evaluator, Network
from nardy.train import Losses
from nardy.train import Progress as RunProgress

if TYPE_CHECKING:
    from nardy.scripts.train import EvaluationOptions

__all__ = ["TrainDisplay"]


class TrainDisplay:
    """The bar of a training run, and its evaluations against the pip-count bot."""

    def __init__(self, console: Console, games: int, variant: str, evaluation: EvaluationOptions) -> None:
        self._console = console
        self._variant = variant
        self._evaluation = evaluation
        self._games = 0
        self._progress = Progress(
            TextColumn("games"),
            BarColumn(bar_width=10),  # the one that gives way, so that 80 columns are enough
            MofNCompleteColumn(table_column=Column(no_wrap=True)),
            TextColumn("{task.fields[speed]}"),
            TextColumn("{task.fields[loss]}"),
            TextColumn("left"),
            TimeRemainingColumn(table_column=Column(no_wrap=True)),
            console=console,
        )
        self._task = self._progress.add_task("games", total=games, speed="", loss="")

    def __enter__(self) -> TrainDisplay:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._progress.stop()

    def say(self, text: str) -> None:
        """Print a line above the bar."""
        self._console.print(text)

    def report(self, progress: RunProgress, losses: Losses, decisions_per_second: float) -> None:
        """Take in a window: the trainer's `Report`."""
        self._games = progress.games
        self._progress.update(
            self._task,
            completed=progress.games,
            speed=f"{decisions_per_second:,.0f} decisions/s",
            loss=f"loss {losses.outcome:.3f} + {losses.cube:.3f}",
        )

    def evaluate(self, network: Network) -> dict[str, float]:
        """Play cubeless games against the pip-count bot: the trainer's `Evaluate`."""
        evaluation = self._evaluation
        bot = ModelBot(Evaluator(network, self._variant), "model")
        options = GameOptions(self._variant, cube=False)
        device = next(network.parameters()).device
        bots = bot, PipCountBot(self._variant)
        points = compare_bots(*bots, evaluation.games, options, evaluation.seed, device=device).points
        self.say(f"{self._games:>10,} games: {points} points a game against pipcount, cubeless")
        return {"points": points.mean, "margin": points.half_width}
