"""Train a bot by self-play and evaluate it, all in one folder: ``python scripts/train.py experiment=quick``.

``resume=FOLDER`` goes on with a run that was stopped; other words then change its stored configuration.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import FrameType

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException
from rich.console import Console

from nardy.env import get_variant
from nardy.models import Evaluator, Network, NetworkConfig
from nardy.scripts.command import CommandError, compose, main_guard, to_dataclass, wants_help
from nardy.scripts.command_help import help_text
from nardy.scripts.device import choose_device, choose_threads
from nardy.scripts.final_report import finish_run
from nardy.scripts.train_display import TrainDisplay
from nardy.train import NotFiniteError, TrainConfig, Trainer, newest_checkpoint

__all__ = ["EvaluationOptions", "TrainOptions", "main"]

CONFIG_FILE = "config.yaml"


@dataclass(frozen=True)
class EnvOptions:
    """What is played. ``variant``: name of the discipline."""

    variant: str = "backgammon"

    def __post_init__(self) -> None:
        get_variant(self.variant)


@dataclass(frozen=True)
class EvaluationOptions:
    """Games against the pip-count bot: at each evaluation while training, for each line of the final table, and the

    seed of their dice.
    """

    games: int = 1000
    final_games: int = 4000
    seed: int = 1

    def __post_init__(self) -> None:
        for name, games in (("games", self.games), ("final_games", self.final_games)):
            if games < 2 or games % 2:
                raise ValueError(f"{name}: found {games}, wanted an even number from 2 up")


@dataclass(frozen=True)
class TrainOptions:
    """Everything that ``configs/train.yaml`` says, checked."""

    env: EnvOptions
    model: NetworkConfig
    train: TrainConfig
    evaluation: EvaluationOptions
    name: str | None = None
    runs: str = "runs"
    device: str = "auto"
    threads: int | None = None

    def folder(self) -> Path:
        """Where the run is kept."""
        return Path(self.runs) / (self.name or self.env.variant)


def new_run(words: Sequence[str]) -> tuple[TrainOptions, Path]:
    """Compose a new run and make its folder; `CommandError` if that exists."""
    config = compose("train", words, TrainOptions)
    options = to_dataclass(TrainOptions, config)
    folder = options.folder()
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        raise CommandError(
            f"{folder}: a run of that name exists; go on with it by resume={folder}, or choose another name=NAME"
        ) from None
    OmegaConf.save(config, folder / CONFIG_FILE)
    return options, folder


def old_run(folder: Path, words: Sequence[str]) -> tuple[TrainOptions, Path]:
    """Read a run's stored configuration and change it by ``words``; nothing that shapes its network or games."""
    path = folder / CONFIG_FILE
    if not path.is_file():
        raise CommandError(f"{folder}: found no {CONFIG_FILE}, wanted the folder of a run")
    try:
        config = OmegaConf.merge(OmegaConf.load(path), OmegaConf.from_dotlist(list(words)))
    except (OmegaConfBaseException, OSError, ValueError) as error:
        raise CommandError(f"{path}: cannot be used: {' '.join(str(error).split())}") from None
    if not isinstance(config, DictConfig):
        raise CommandError(f"{path}: found no keys, wanted the configuration of a run")
    return to_dataclass(TrainOptions, config), folder


def train(options: TrainOptions, folder: Path, resume: bool, console: Console) -> int:
    """Train in ``folder`` and, once the budget is spent, evaluate, export and print the results."""
    device = choose_device(options.device)
    threads = choose_threads(options.threads)
    console.print(f"run [bold]{folder}[/bold] on {device.description}, {threads} CPU threads")
    checkpoint = newest_checkpoint(folder / "checkpoints") if resume else None
    if checkpoint is not None:
        console.print(f"going on from {checkpoint}")
    trainer = Trainer(
        options.train, options.model, options.env.variant, folder, device.device, asdict(options), checkpoint
    )
    display = TrainDisplay(console, options.train.games, options.env.variant, options.evaluation)

    def stop(_signal: int, _frame: FrameType | None) -> None:
        trainer.stop = True
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a second Ctrl-C does not wait
        display.say("stopping after this window; the run is saved first (Ctrl-C again to stop at once)")

    previous = signal.signal(signal.SIGINT, stop)
    try:
        with display:
            done = trainer.run(display.report, display.evaluate)
    except NotFiniteError as error:
        print(f"{folder}: training stopped: {error}; the last good checkpoint is untouched", file=sys.stderr)
        return 1
    finally:
        signal.signal(signal.SIGINT, previous)
        trainer.close()
    network: Network = trainer.learner.average
    evaluator = Evaluator(network, options.env.variant)
    if not done:
        why = "stopped" if trainer.stop else "the time limit is reached"
        console.print(f"{why} after {trainer.progress.games:,} games; go on with: train.py resume={folder}")
        return 130 if trainer.stop else 0
    finish_run(folder, evaluator, options.evaluation.final_games, options.evaluation.seed, trainer.progress, console)
    return 0


@main_guard
def main(argv: list[str]) -> int:
    """Console command nardy-train."""
    if wants_help(argv):
        print(help_text("nardy-train", "Train a bot by self-play.", "train", argv))
        return 0
    resumes = [word.partition("=")[2] for word in argv if word.startswith("resume=")]
    words = [word for word in argv if not word.startswith("resume=")]
    if resumes:
        options, folder = old_run(Path(resumes[-1]), words)
    else:
        options, folder = new_run(words)
    return train(options, folder, bool(resumes), Console())


if __name__ == "__main__":
    sys.exit(main())
