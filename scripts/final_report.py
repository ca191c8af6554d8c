"""The end of a training run: table against the pip-count bot, exported bundle, curves, and what to do next."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import torch
from rich.console import Console
from rich.progress import Progress as Bar

from nardy.env import GameOptions
from nardy.eval.bots import ModelBot, PipCountBot
from nardy.eval.results import ArenaResult, compare_bots
from nardy.eval.tables import arena_table
from nardy.models import Evaluator, save_bundle
from nardy.models.bundle import write_file
from nardy.scripts.next_commands import command_line, program
from nardy.train import Progress, draw_curves

__all__ = ["finish_run"]


def finish_run(folder: Path, evaluator: Evaluator, games: int, seed: int, progress: Progress, console: Console) -> None:
    """Evaluate money games and write ``evaluation.json``, ``bundle.safetensors`` and ``curves.png``."""
    results = _evaluate(evaluator, games, seed, console)
    evaluation = {name: result.to_dict() for name, result in results.items()}
    write_file(folder / "evaluation.json", json.dumps(evaluation, indent=1).encode())
    facts: dict[str, object] = {"games": progress.games, "decisions": progress.decisions}
    facts |= {"seconds": round(progress.seconds, 1), "evaluation": evaluation}
    table = evaluator.table if evaluator.network.config.context_units else None
    save_bundle(folder / "bundle.safetensors", evaluator.network, evaluator.variant, facts, table)
    draw_curves(folder, folder / "curves.png")
    speed = progress.decisions / max(progress.seconds, 1e-9)
    console.print(arena_table(results))
    console.print(
        f"{progress.games:,} games in {progress.seconds / 60:.1f} minutes, {speed:,.0f} decisions/s; "
        f"all in {folder}/ (curves.png, evaluation.json, bundle.safetensors)\n"
    )
    model, other = f"bot=model:{folder}", [] if evaluator.variant == "backgammon" else [f"env={evaluator.variant}"]
    for what, command in (
        ("play it", command_line("play", model, *other)),
        ("watch it", f"{program('tensorboard')} --logdir {shlex.quote(str(folder / 'tensorboard'))}"),
        ("measure it", command_line("evaluate", model, "opponent=random", *other)),
    ):
        console.print(f"  {what + ':':12} {command}", highlight=False, soft_wrap=True)


def _evaluate(evaluator: Evaluator, games: int, seed: int, console: Console) -> dict[str, ArenaResult]:
    """Cubeless, then cubeful money games against the pip-count bot."""
    variant, device = evaluator.variant, evaluator.device
    bots = ModelBot(evaluator, "model"), PipCountBot(variant)
    results = {}
    with Bar(console=console, transient=True) as bar:
        for name, cube in (("cubeless", False), ("cubeful", True)):
            task = bar.add_task(f"evaluating, {name}", total=games)

            def report(finished: int, _wanted: int, task_id: object = task) -> None:
                bar.update(task_id, completed=finished)  # type: ignore[arg-type]

            options = GameOptions(variant, cube=cube)
            results[name] = compare_bots(*bots, games, options, seed, device=torch.device(device), progress=report)
    return results
