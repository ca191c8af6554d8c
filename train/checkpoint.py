"""Checkpoints: everything a run needs to go on exactly where it was, one safetensors file each.

Files are written whole or not at all and named by the games they have seen, so that names sort by age. The newest few
are kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..models.bundle import (
    BundleError,
    load_table,
    network_config,
    read_header,
    read_tensors,
    save_tensors,
    table_tensors,
)
from ..models.network import NetworkConfig
from .learner import Learner
from .selfplay import SelfPlay

__all__ = ["Progress", "load_checkpoint", "newest_checkpoint", "save_checkpoint"]


@dataclass
class Progress:
    """How far a run is.

    Attributes:
        games: finished games. decisions: checker plays made. seconds: time spent, evaluations left out.
        next_evaluation, next_log, next_checkpoint, next_table: the numbers of games at which they are due.
    """

    games: int = 0
    decisions: int = 0
    seconds: float = 0.0
    next_evaluation: int = 0
    next_log: int = 0
    next_checkpoint: int = 0
    next_table: int = 0


def save_checkpoint(
    folder: Path, learner: Learner, selfplay: SelfPlay, progress: Progress, config: Mapping[str, Any], keep: int
) -> Path:
    """Write a checkpoint to ``folder`` and remove all but the newest ``keep``; its path.

    ``config`` is the run's whole configuration as JSON values. ``OSError`` if the disk refuses; what was there stays.
    All ranks call it and rank 0 writes, the games of all in the order of their slots: so the number of ranks may
    change when the run is resumed.
    """
    world = learner.world
    games = {f"selfplay.{name}": world.gather(value) for name, value in selfplay.state().items()}
    if not world.writes:
        return folder / f"games-{progress.games:012d}.safetensors"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"games-{progress.games:012d}.safetensors"
    tensors = learner.state() | games
    if selfplay.has_stakes:
        tensors |= table_tensors(selfplay.stakes.table)
    network: NetworkConfig = learner.network.config
    header = {
        "kind": "checkpoint",
        "variant": selfplay.variant,
        "network": asdict(network),
        "progress": asdict(progress),
        "config": dict(config),
        "facts": {"games": progress.games, "seconds": round(progress.seconds, 1)},
    }
    for unfinished in folder.glob(".games-*.tmp"):  # left by a process that was killed as it wrote
        unfinished.unlink(missing_ok=True)
    save_tensors(path, tensors, header)
    for old in sorted(folder.glob("games-*.safetensors"))[:-keep]:
        old.unlink(missing_ok=True)
    return path


def newest_checkpoint(folder: Path) -> Path:
    """The newest checkpoint in ``folder`` that can be read; `BundleError` if there is none."""
    damaged: list[str] = []
    for path in sorted(folder.glob("games-*.safetensors"), reverse=True):
        try:
            read_header(path)
            read_tensors(path)
        except BundleError as error:
            damaged.append(str(error))
            continue
        return path
    found = "; ".join(damaged) or "no checkpoint"
    raise BundleError(f"{folder}: found {found}, wanted games-*.safetensors of a run to resume")


def _shape(config: NetworkConfig) -> str:
    return f"{list(config.hidden)} with {config.context_units} context units"


def load_checkpoint(path: Path, learner: Learner, selfplay: SelfPlay) -> Progress:
    """Put ``learner`` and ``selfplay`` where the checkpoint left them.

    Raises:
        BundleError: the file is damaged, or belongs to a run of another shape.
    """
    header = read_header(path)
    if header.get("kind") != "checkpoint":
        raise BundleError(f"{path}: found a {header.get('kind')}, wanted a checkpoint: a bundle cannot be resumed")
    if header["variant"] != selfplay.variant:
        raise BundleError(f"{path}: found variant {header['variant']}, wanted {selfplay.variant}")
    found, wanted = network_config(path, header), learner.network.config
    if found != wanted:
        raise BundleError(f"{path}: found a network {_shape(found)}, wanted {_shape(wanted)}")
    tensors = read_tensors(path)
    games = {name.removeprefix("selfplay."): value for name, value in tensors.items() if name.startswith("selfplay.")}
    try:
        learner.load_state(tensors)
        selfplay.load_state(learner.world.part(games))
        table = load_table(path, selfplay.stakes.table.before.device)
        if table is not None:
            selfplay.stakes.table = table
        progress = Progress(**header["progress"])
        if not all(isinstance(value, int | float) for value in asdict(progress).values()):
            raise ValueError(f"progress: found {header['progress']}, wanted numbers")
        return progress
    except (KeyError, RuntimeError, TypeError, ValueError) as error:
        reason = f"{error} is missing" if isinstance(error, KeyError) else " ".join(str(error).split())
        raise BundleError(f"{path}: found a checkpoint that does not fit this run: {reason}") from None
