"""Train a bot by self-play and evaluate it, all in one folder: ``python scripts/train.py experiment=quick``.

``resume=FOLDER`` goes on with a run that was stopped; other words then change its stored configuration.
``init_from=NAME_OR_PATH`` starts a new run, perhaps of a larger network, from a trained model.
``-m`` trains one run for each combination of several values, ``train.seed=1,2``.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from types import FrameType

import torch
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException
from rich.console import Console
from yaml import YAMLError  # type: ignore[import-untyped]  # OmegaConf passes it on; no stubs needed for one class

from nardy.env.variants import get_variant
from nardy.models import Evaluator, Network, NetworkConfig
from nardy.models.bundle import find_weights, load_network, write_file
from nardy.models.growth import check_growth
from nardy.scripts.command import FAILURE, CommandError, compose, main_guard, to_dataclass, wants_help
from nardy.scripts.command_help import help_text
from nardy.scripts.device import choose_device, choose_threads
from nardy.scripts.final_report import finish_run
from nardy.scripts.next_commands import command_line
from nardy.scripts.settings import first_line
from nardy.scripts.sweep import is_sweep, sweep
from nardy.scripts.train_display import TrainDisplay
from nardy.scripts.train_failures import reason_to_stop, say_stopped
from nardy.train import (
    LostProcessError,
    NotFiniteError,
    TrainConfig,
    Trainer,
    World,
    join_world,
    leave_world,
    newest_checkpoint,
)

__all__ = ["EvaluationOptions", "TrainOptions", "main"]

CONFIG_FILE = "config.yaml"
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)
SignalHandler = Callable[[int, FrameType | None], object] | int | None
TORCHRUN_FILE = "torchrun-id.txt"  # under which `torchrun_id` the run was begun


@dataclass(frozen=True)
class EnvOptions:
    """What training takes of a format of play. ``variant``: name of the discipline.

    Nothing else: every state of the cube is learned at once, whatever a match makes of it.
    """

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
    init_from: str | None = None
    name: str | None = None
    runs: str = "runs"
    device: str = "auto"
    threads: int | None = None

    def folder(self) -> Path:
        """Where the run is kept."""
        return Path(self.runs) / (self.name or self.env.variant)


def compose_run(words: Sequence[str]) -> DictConfig:
    """The configuration of a new run, which takes of a format of play the discipline alone."""
    for key in (word.partition("=")[0] for word in words):
        if key.startswith("env.") and key != "env.variant":
            raise CommandError(f"{key}: found it in training, which takes env.variant alone of a format of play")
    config = compose("train", words, TrainOptions)
    if "env" in config:
        config.env = {"variant": config.env.variant}
    return config


def new_run(words: Sequence[str], world: World | None = None) -> tuple[TrainOptions, Path]:
    """Compose a new run and make its folder, which rank 0 does for all; `CommandError` if that is not empty."""
    config = compose_run(words)
    options = to_dataclass(TrainOptions, config)
    choose_device(options.device)  # before there is a folder, which would stand in the way of the next try
    choose_threads(options.threads)
    initial_network(options)
    folder = options.folder()
    if world is not None and not world.writes:
        world.wait()
        return options, folder
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise CommandError(
            f"{folder}: a run of that name exists; go on with it by resume={folder}, or choose another name=NAME"
        )
    if torchrun_id():
        write_file(folder / TORCHRUN_FILE, torchrun_id().encode())
    write_file(folder / CONFIG_FILE, OmegaConf.to_yaml(config).encode())
    if world is not None:
        world.wait()
    return options, folder


def initial_network(options: TrainOptions) -> Network | None:
    """The trained network that a new run starts from, if any; `CommandError` if it cannot."""
    if options.init_from is None:
        return None
    try:
        network, header = load_network(find_weights(options.init_from))
        if header["variant"] != options.env.variant:
            raise ValueError(f"found a model of {header['variant']}, wanted one of {options.env.variant}")
        check_growth(network.config, options.model)
    except ValueError as error:
        raise CommandError(f"init_from: {error}") from None
    return network


def old_run(folder: Path, words: Sequence[str]) -> tuple[TrainOptions, Path]:
    """Read a run's stored configuration and change it by ``words``; nothing that shapes its network or games."""
    path = folder / CONFIG_FILE
    if not path.is_file():
        raise CommandError(f"{folder}: found no {CONFIG_FILE}, wanted the folder of a run")
    for key in (word.partition("=")[0] for word in words):
        if key in ("init_from", "name", "runs", "train.seed"):
            raise CommandError(f"{key}: found it beside resume=, wanted no other: it stays what it was")
    try:
        changes = OmegaConf.from_dotlist(list(words))
    except (OmegaConfBaseException, YAMLError, ValueError) as error:
        raise CommandError(f"{' '.join(words)}: cannot be read: {first_line(error)}") from None
    try:
        stored = OmegaConf.load(path)
        config = OmegaConf.merge(stored, changes)
    except (OmegaConfBaseException, YAMLError, OSError, ValueError) as error:
        raise CommandError(f"{path}: cannot be used: {' '.join(str(error).split())}") from None
    if not isinstance(stored, DictConfig) or not isinstance(config, DictConfig):
        raise CommandError(f"{path}: found no keys, wanted the configuration of a run")
    try:
        to_dataclass(TrainOptions, stored)
    except CommandError as error:  # what is wrong before any word is the file's fault
        raise CommandError(f"{path}: {error}") from None
    return to_dataclass(TrainOptions, config), folder


def checkpoint_to_resume(folder: Path) -> Path | None:
    """The newest good checkpoint, None if the run ended before its first; `BundleError` if none can be read."""
    checkpoints = folder / "checkpoints"
    return newest_checkpoint(checkpoints) if any(checkpoints.glob("games-*.safetensors")) else None


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Keep other processes from training in ``folder``; `CommandError` if one is at it."""
    try:
        import fcntl
    except ImportError:  # Windows has no such locks
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise CommandError(f"{folder}: another process is training there; wait for it or stop it") from None
    finally:
        os.close(descriptor)  # and with it the lock


def train(options: TrainOptions, folder: Path, resume: bool, console: Console, world: World) -> int:
    """Train in ``folder`` to the end, or until something from outside ends it: then one line says so."""
    handlers = {number: signal.getsignal(number) for number in STOP_SIGNALS}
    try:
        return train_to_the_end(options, folder, resume, console, world)
    except (RuntimeError, OSError, MemoryError) as error:
        reason = reason_to_stop(error)
        if reason is None:
            raise
        if world.writes or not isinstance(error, NotFiniteError):  # that one all processes meet alike
            say_stopped(folder, reason, world)
        return 1
    finally:
        handle_signals(handlers)  # only now: torchrun ends all processes once it misses one, before the line is out


def handle_signals(handlers: Mapping[signal.Signals, SignalHandler]) -> None:
    """Let each signal be answered by its handler, one of those that ``signal.getsignal`` returns."""
    for number, handler in handlers.items():
        signal.signal(number, handler)


def train_to_the_end(options: TrainOptions, folder: Path, resume: bool, console: Console, world: World) -> int:
    """Train in ``folder`` and, once the budget is spent, evaluate, export and print the results."""
    device = choose_device(options.device, world.local_rank if world.size > 1 else None)
    threads = choose_threads(options.threads, processes_here() if world.size > 1 else 1)
    of = f" in each of {world.size} processes" if world.size > 1 else ""
    console.print(f"run [bold]{folder}[/bold] on {device.description}, {threads} CPU threads{of}")
    checkpoint = checkpoint_to_resume(folder) if resume else None
    if resume:
        console.print(f"going on from {checkpoint}" if checkpoint else "beginning again: there is no checkpoint yet")
    initial = None if checkpoint else initial_network(options)
    parts = (options.train, options.model, options.env.variant, folder, device.device, asdict(options))
    trainer = Trainer(*parts, checkpoint, initial, world)
    if resume and world.writes:  # what was changed holds from now on, also for the next resume
        write_file(folder / CONFIG_FILE, OmegaConf.to_yaml(OmegaConf.create(asdict(options))).encode())
    display = TrainDisplay(console, options.train.games, options.env.variant, options.evaluation)

    code = 0

    def stop(number: int, _frame: FrameType | None) -> None:
        nonlocal code
        trainer.stop, code = True, 128 + number
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a second Ctrl-C does not wait
        display.say("stopping once the run is saved (Ctrl-C again to stop at once)")

    handlers = {number: signal.signal(number, stop) for number in STOP_SIGNALS}
    try:
        with display:
            done = trainer.run(display.report, display.evaluate)
    finally:
        with suppress(OSError):  # a full disk has been told of, or the run is saved and only curves are cut short
            trainer.close()
    handle_signals(handlers)
    network: Network = trainer.learner.average
    evaluator = Evaluator(network, options.env.variant)
    if not world.writes:
        return code
    if not done:
        why = "stopped" if trainer.stop else "the time limit is reached"
        go_on = command_line("train", f"resume={folder}")
        console.print(f"{why} after {trainer.progress.games:,} games; go on with: {go_on}", soft_wrap=True)
        return code
    finish_run(folder, evaluator, options.evaluation.final_games, options.evaluation.seed, trainer.progress, console)
    return 0


@main_guard
def main(argv: list[str]) -> int:
    """Console command nardy-train."""
    if wants_help(argv):
        words = [word for word in argv if not is_sweep([word])]
        print(help_text("nardy-train", "Train a bot by self-play.", "train", words, schema=TrainOptions))
        return 0
    if is_sweep(argv):
        return sweep(argv)
    resumes = [word.partition("=")[2] for word in argv if word.startswith("resume=")]
    words = [word for word in argv if not word.startswith("resume=")]
    world = World()
    code = FAILURE
    try:
        world = join_world(torch.cuda.is_available())
        # Each machine counts restarts for itself, and the first process may have died before it had made the folder:
        # all must come to one answer.
        restart = world.any(restarted()) or world.any(torchrun_knows(words))
        if restart and not resumes and not world.any(not (run_folder(words) / CONFIG_FILE).is_file()):
            resumes = [str(run_folder(words))]
        if resumes:
            options, folder = old_run(Path(resumes[-1]), [] if restart else words)
        else:
            options, folder = new_run(words, world)
        console = Console(quiet=not world.writes)
        with alone_in(folder) if world.writes else nullcontext():
            code = train(options, folder, bool(resumes), console, world)
    except LostProcessError as error:
        print(f"training did not begin: {error}", file=sys.stderr)
    finally:
        leave_world(world, failed=code != 0)
    return code


def restarted() -> bool:
    """Has ``torchrun`` started this again because a process died?"""
    return int(os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")) > 0


def torchrun_id() -> str:
    """What ``torchrun`` calls its run (``--rdzv-id``); empty without it or if it has no name of its own."""
    name = os.environ.get("TORCHELASTIC_RUN_ID", "none")
    return "" if name == "none" else name


def torchrun_knows(words: Sequence[str]) -> bool:
    """Was the run that these words would begin begun under this `torchrun_id`?

    So it is where a machine was replaced, or SLURM has queued a job again.
    """
    if not torchrun_id() or any(word.startswith("resume=") for word in words):
        return False
    path = run_folder(words) / TORCHRUN_FILE
    return path.is_file() and path.read_text(encoding="utf-8") == torchrun_id()


def processes_here() -> int:
    """How many processes ``torchrun`` has started on this machine."""
    return int(os.environ.get("LOCAL_WORLD_SIZE", "1"))


def run_folder(words: Sequence[str]) -> Path:
    """The folder of the run that these words would begin."""
    return to_dataclass(TrainOptions, compose_run(words)).folder()


if __name__ == "__main__":
    sys.exit(main())
