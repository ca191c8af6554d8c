"""The end of a training run: table against the pip-count bot, exported bundle, curves, and what to do next."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from rich.console import Console

from nardy.models import Evaluator, save_bundle
from nardy.train import Progress, draw_curves

__all__ = ["finish_run"]


def finish_run(folder: Path, evaluator: Evaluator, games: int, seed: int, progress: Progress, console: Console) -> None:
    """Evaluate cubeless and cubeful money games, write ``evaluation.json``, ``bundle.safetensors``, ``curves.png``."""
    facts = {"games": progress.games, "decisions": progress.decisions, "seconds": round(progress.seconds, 1)}
    save_bundle(folder / "bundle.safetensors", evaluator.network, evaluator.variant, facts)
    raise NotImplementedError(json.dumps(asdict(progress)) + str(games + seed) + str(draw_curves) + str(console))
