"""How long listing a turn's afterstates takes, beside two other engines on the same positions.

What is compared, all on positions of the same random play and in the same run:

- nardy: `afterstates` on the whole batch, inputs checked, distinct boards written out; and without the checks, as
  self-play calls it.
- gnubg-nn: ``gnubg_nn.moves`` a position; it returns the distinct afterstates as position keys. Turning boards into
  its lists beforehand and keys into boards afterwards is not timed.
- OpenSpiel: for every legal action ``child``, once more for the second half of a double, equal children removed by
  their text (the fastest way found to do it from Python); and, as a lower bound, ``legal_actions`` alone, which makes
  no afterstates, lists repetitions, and only the first half of a double.

Every engine must find the same number of afterstates before a time is believed. Command lines are left to
``scripts/benchmark.py``.
"""

from __future__ import annotations

import json
import math
import os
import platform
import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.table import Table
from torch import Tensor

from ..env import afterstates, flip, start_boards
from ..env.launch import threads_in_use
from ..env.movegen import list_afterstates
from .openspiel_turns import children_of_turn, replay
from .turns import Turns, play_turns

__all__ = ["EngineSettings", "run_engine_benchmark"]

_TURNS_A_GAME = 128  # more than most games of random play last, so that all their stages are met
_SHORTEST_TIMING = 0.1  # seconds; a repetition goes over the positions until it lasts as long
_INSTALL = 'pip install "nardy[peers]"'


@dataclass(frozen=True)
class EngineSettings:
    """What ``benchmark.py engine`` measures."""

    positions: int = 4096  # decisions in the batch
    threads: int = 1  # nardy runs on so many threads, and on twice as many
    seed: int = 0  # of the random play
    device: str = "cpu"  # cpu, or cuda for one more row
    repetitions: int = 7  # timings of each engine; the median counts
    output: str = ""  # file for the figures as JSON; none if empty

    def __post_init__(self) -> None:
        for name in ("positions", "threads", "repetitions"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}: found {getattr(self, name)}, wanted 1 or more")
        if self.device not in ("cpu", "cuda"):
            raise ValueError(f"device: found {self.device!r}, wanted cpu or cuda")
        if self.device == "cuda" and not torch.cuda.is_available():
            raise ValueError("device: found 'cuda', but this machine has no CUDA device")
        if not Path(self.output).parent.is_dir():
            raise ValueError(f"output: found no folder {str(Path(self.output).parent)!r}, wanted one that exists")


@dataclass(frozen=True)
class _Contender:
    """An engine ready to be timed: ``work`` goes over all its positions once and returns the afterstates listed."""

    name: str
    num_positions: int
    work: Callable[[], int]
    threads: int = 1
    device: str = "cpu"
    same_work: bool = True  # must it list as many afterstates as the others?


def _nardy(boards: Tensor, dice: Tensor, threads: int, device: str) -> list[_Contender]:
    boards, dice = boards.to(device), dice.to(device)
    where = "cuda" if device == "cuda" else f"{threads} thread{'s' if threads > 1 else ''}"
    return [
        _Contender(f"nardy, {where}", len(boards), lambda: len(afterstates(boards, dice)[0]), threads, device),
        _Contender(
            f"nardy unchecked, {where}",
            len(boards),
            lambda: len(list_afterstates(boards, dice).game),
            threads,
            device,
        ),
    ]


def _gnubg(boards: Tensor, dice: Tensor) -> _Contender:
    moves = import_module("gnubg_nn").moves
    both = flip(boards)[:, :, 1:].tolist()  # the mover second, 24 points and the bar
    positions = [(board, *roll) for board, roll in zip(both, dice.tolist(), strict=True)]

    def work() -> int:
        return sum(len(moves(board, first, second)) or 1 for board, first, second in positions)  # () is a pass

    return _Contender("gnubg-nn", len(positions), work)


def _openspiel(turns: Turns, number: int, console: Console) -> list[_Contender]:
    num_games = turns.first.shape[1]
    met = [state for turn, game, state in replay(turns) if turn * num_games + game < number]
    if len(met) < number:
        console.print(f"OpenSpiel could be brought to {len(met)} of the {number} positions only; it is timed on those.")

    def afterstates_listed() -> int:
        return sum(len(children_of_turn(state)) for state in met)

    def actions_listed() -> int:
        return sum(len(state.legal_actions()) for state in met)

    return [
        _Contender("OpenSpiel", len(met), afterstates_listed),
        _Contender("OpenSpiel, actions only", len(met), actions_listed, same_work=False),
    ]


def _timings(contenders: list[_Contender], repetitions: int) -> list[list[float]]:
    """Seconds for one pass over the positions, ``repetitions`` a contender, taken in turn so that drift hits all."""

    def seconds(contender: _Contender, passes: int) -> float:
        with threads_in_use(contender.threads):
            _synchronise(contender.device)
            begin = time.perf_counter()
            for _ in range(passes):
                contender.work()
            _synchronise(contender.device)
            return (time.perf_counter() - begin) / passes

    passes = [max(1, math.ceil(_SHORTEST_TIMING / seconds(contender, 1))) for contender in contenders]  # warm-up
    rounds = [[seconds(c, n) for c, n in zip(contenders, passes, strict=True)] for _ in range(repetitions)]
    return [list(column) for column in zip(*rounds, strict=True)]


def _synchronise(device: str) -> None:
    if device == "cuda":
        torch.cuda.synchronize()


def _check_same_work(contenders: list[_Contender], counts: list[int]) -> None:
    """Raise unless every engine that went over all positions lists as many afterstates as the first."""
    for contender, count in zip(contenders, counts, strict=True):
        complete = contender.same_work and contender.num_positions == contenders[0].num_positions
        if complete and count != counts[0]:
            raise RuntimeError(
                f"{contender.name} lists {count} afterstates, {contenders[0].name} {counts[0]}, on the same "
                f"{contender.num_positions} positions: an engine is wrong and no time means anything"
            )


def _machine() -> dict[str, Any]:
    """What the figures were measured on."""
    processor = platform.processor()
    if Path("/proc/cpuinfo").exists():
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        processor = next((line.split(":", 1)[1].strip() for line in lines if "model name" in line), processor)
    versions = {}
    for package in ("nardy", "torch", "warp-lang", "gnubg-nn", "open_spiel"):
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            versions[package] = "absent"
    gpu = torch.cuda.get_device_name() if torch.cuda.is_available() else "none"
    return {
        "processor": processor,
        "cores": os.cpu_count(),
        "load_before": os.getloadavg()[0],
        "gpu": gpu,
        "python": platform.python_version(),
        "versions": versions,
    }


def _contenders(settings: EngineSettings, turns: Turns, console: Console) -> list[_Contender]:
    boards, dice = turns.decisions(settings.positions)
    contenders = _nardy(boards, dice, settings.threads, "cpu") + _nardy(boards, dice, 2 * settings.threads, "cpu")
    if settings.device == "cuda":
        contenders += _nardy(boards, dice, settings.threads, "cuda")
    peers: dict[str, Callable[[], list[_Contender]]] = {
        "gnubg-nn": lambda: [_gnubg(boards, dice)],
        "OpenSpiel": lambda: _openspiel(turns, settings.positions, console),
    }
    for name, make in peers.items():
        try:
            contenders += make()
        except ImportError:
            console.print(f"{name} is not installed and left out: {_INSTALL}", markup=False)
    return contenders


def _rows(contenders: list[_Contender], counts: list[int], timings: list[list[float]]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for contender, count, seconds in zip(contenders, counts, timings, strict=True):
        microseconds = [1e6 * pass_seconds / contender.num_positions for pass_seconds in seconds]
        rows.append(
            {
                "engine": contender.name,
                "positions": contender.num_positions,
                "microseconds_a_decision": statistics.median(microseconds),
                "least": min(microseconds),
                "most": max(microseconds),
                "listed_a_decision": count / contender.num_positions,
            }
        )
    gnubg = next((row["microseconds_a_decision"] for row in rows if row["engine"].startswith("gnubg")), None)
    for row in rows:
        row["times_gnubg_nn"] = gnubg / row["microseconds_a_decision"] if gnubg else None
    return rows


def _table(rows: list[dict[str, Any]], settings: EngineSettings) -> Table:
    table = Table(
        title=f"Listing the afterstates of a turn: {settings.positions} positions of random play",
        caption="µs and listed: a decision; speed: times gnubg-nn's",
    )
    for heading in ("engine", "µs", "least", "most", "speed", "listed"):
        table.add_column(heading, justify="left" if heading == "engine" else "right", no_wrap=True)
    for row in rows:
        times = (f"{row[name]:.3f}" for name in ("microseconds_a_decision", "least", "most"))
        speed = "–" if row["times_gnubg_nn"] is None else f"{row['times_gnubg_nn']:.2f}"
        table.add_row(row["engine"], *times, speed, f"{row['listed_a_decision']:.2f}")
    return table


def run_engine_benchmark(settings: EngineSettings, console: Console) -> dict[str, Any]:
    """Measure, print the table, write ``settings.output`` if it is set, and return what was written."""
    begin = time.perf_counter()
    afterstates(start_boards(1, device=settings.device), torch.tensor([[3, 1]]))
    _synchronise(settings.device)
    loading = time.perf_counter() - begin
    machine = _machine()
    num_games = math.ceil(settings.positions / _TURNS_A_GAME)
    turns = play_turns(num_games, math.ceil(settings.positions / num_games), settings.seed)
    contenders = _contenders(settings, turns, console)
    counts = [contender.work() for contender in contenders]
    _check_same_work(contenders, counts)
    rows = _rows(contenders, counts, _timings(contenders, settings.repetitions))
    console.print(_table(rows, settings))
    console.print(
        f"Median of {settings.repetitions} repetitions. Loading the kernels (compiling them if Warp's cache has "
        f"none), not counted: {loading:.2f} s. Machine: {machine['processor']}, {machine['cores']} cores, "
        f"load {machine['load_before']:.1f}, GPU {machine['gpu']}.",
        markup=False,
    )
    result = {
        "task": "engine",
        "settings": asdict(settings),
        "machine": machine,
        "loading_seconds": loading,
        "rows": rows,
    }
    if settings.output:
        Path(settings.output).write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    return result
