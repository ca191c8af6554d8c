"""How much of a ply of self-play, and of training, is the network's own arithmetic.

Everything is measured in one run on the same positions, in rounds that take turns, so that what disturbs the machine
disturbs all alike:

- *network alone*: the dense network on the encoded afterstates of a ply, in whichever chunk size is fastest. Nothing
  can beat it that multiplies every input of every afterstate.
- *listing*: finding the afterstates. *valuing*: listing and valuing them (`evaluate_plays`), with ``keep`` only those
  that a first pass leaves.
- *ply*: a whole turn of self-play, what is recorded included. *learning*: targets and updates, a turn's share of them.

Figures are microseconds a decision; command lines are left to ``scripts/benchmark.py``.
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.progress import track
from rich.table import Table
from torch import Tensor

from ..env.launch import over_rows, threads_in_use
from ..env.movegen import list_afterstates
from ..models.bundle import find_weights, load_network
from ..models.encoding import encode
from ..models.network import Network, NetworkConfig
from ..models.plays import CandidatePass, FirstLayer, evaluate_plays
from .config import LearnerConfig, RankerConfig, SelfPlayConfig
from .learner import Learner
from .selfplay import SelfPlay
from .targets import td_lambda

__all__ = ["SelfPlaySettings", "run_learner_benchmark", "run_selfplay_benchmark"]

_CHUNKS = (512, 1024, 2048, 4096)


@dataclass(frozen=True)
class SelfPlaySettings:
    """What ``benchmark.py selfplay`` and ``learner`` measure."""

    hidden: str = "256,64"  # units of each layer, separated by commas
    context_units: int = 32  # 0 leaves match scores and Jacoby out
    model: str = ""  # a trained model to play with; its shape then counts
    keep: int = 0  # plays of a position that a first pass by a ranker of 32 units leaves; 0 values all
    games: int = 1024  # games side by side
    threads: int = 1  # CPU threads
    precision: str = "float32"  # or bfloat16: of the products, the network's alone too
    cuda_graph: int = 0  # 1 plays and learns by CUDA graphs
    repetitions: int = 5  # windows timed; the median counts
    warm_up: int = 3  # windows played before, so that the games are at all stages
    device: str = "cpu"  # cpu or cuda
    output: str = ""  # file for the figures as JSON; none if empty

    def __post_init__(self) -> None:
        if not 0 <= self.keep <= 1000:
            raise ValueError(f"keep: found {self.keep}, wanted 0 (all) to 1000")
        for name in ("games", "threads", "repetitions", "warm_up"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}: found {getattr(self, name)}, wanted 1 or more")
        if self.output and not Path(self.output).resolve().parent.is_dir():
            raise ValueError(f"output: found no folder {str(Path(self.output).parent)!r}, wanted an existing one")
        if self.cuda_graph not in (0, 1) or (self.cuda_graph and self.device != "cuda"):
            raise ValueError(f"cuda_graph: found {self.cuda_graph}, wanted 0, or 1 with device=cuda")
        self.selfplay_config()  # which checks the precision
        if self.device not in ("cpu", "cuda") or (self.device == "cuda" and not torch.cuda.is_available()):
            raise ValueError(f"device: found {self.device!r}, wanted cpu, or cuda where there is a GPU")
        self.network()

    def selfplay_config(self) -> SelfPlayConfig:
        """How the games are played."""
        return SelfPlayConfig(self.games, precision=self.precision, cuda_graph=bool(self.cuda_graph))

    def network(self) -> Network:
        """The network to measure, on its device."""
        if self.model:
            network, _ = load_network(find_weights(self.model))
        else:
            try:
                hidden = tuple(int(units) for units in self.hidden.split(","))
            except ValueError:
                raise ValueError(f"hidden: found {self.hidden!r}, wanted numbers such as 256,64") from None
            network = Network(NetworkConfig(hidden, context_units=self.context_units), seed=1)
        return network.to(self.device)


class _Bench:
    """A game in progress at every stage, and the pieces of a ply to time."""

    def __init__(self, settings: SelfPlaySettings) -> None:
        self.settings = settings
        self.device = torch.device(settings.device)
        network = settings.network()
        ranker = RankerConfig(32, max(1, settings.keep), warmup_games=0) if settings.keep else None
        learner = LearnerConfig(precision=settings.precision, cuda_graph=bool(settings.cuda_graph))
        parts = (network.requires_grad_(True), "backgammon", learner, 0)
        self.learner = Learner(*parts, ranker=ranker)
        self.selfplay = SelfPlay(network, "backgammon", settings.selfplay_config(), 0, self.device)
        self.rounded = settings.precision == "bfloat16"
        for _ in track(range(settings.warm_up), "warming up", transient=True):
            self.ply()
        self.decisions = self.window.opening.numel()
        self.dice = torch.randint(1, 7, (self.decisions, 2), generator=torch.Generator().manual_seed(0))
        self.dice = self.dice.to(torch.int8).to(self.device)
        self.boards = self.window.boards.flatten(0, 1).contiguous()

    def _plies(self) -> list[tuple[Tensor, Tensor]]:
        games = self.settings.games
        return list(zip(torch.split(self.boards, games), torch.split(self.dice, games), strict=True))

    def num_afterstates(self) -> int:
        """Afterstates of the window's positions with the dice used here."""
        return sum(len(list_afterstates(*ply).game) for ply in self._plies())

    def listing(self) -> None:
        """List the afterstates of every ply."""
        for boards, dice in self._plies():
            list_afterstates(boards, dice)

    def valuing(self) -> None:
        """List and value plays, for money and at each game's stake."""
        network = self.selfplay.network
        first, candidates = FirstLayer(network), self._candidates()
        player = self.selfplay.games.player
        stakes = self.selfplay.stakes.seen_by(player) if self.selfplay.has_stakes else None
        for boards, dice in self._plies():
            evaluate_plays(network, boards, dice, "backgammon", None, first, stakes, candidates, self.rounded)

    def _candidates(self) -> CandidatePass | None:
        return None if self.learner.ranker is None else self.learner.ranker.candidates(0)

    def ply(self) -> None:
        """Play a window."""
        self.window = self.selfplay.collect(self._candidates(), draw=self.learner.ranker is not None)

    def learning(self) -> None:
        """Learn from a window."""
        self.learner.learn(self.window, td_lambda(self.window, 0.7), 1e-9)

    def network_alone(self, chunk: int) -> Callable[[], None]:
        """The dense network on one ply's afterstates, encoded beforehand, in chunks."""
        afterstates = list_afterstates(*self._plies()[0]).boards
        inputs = encode(afterstates.flip(1).contiguous())
        network = self.selfplay.network
        plies = self.num_afterstates() / len(inputs)

        def work(begin: int, end: int) -> None:
            with torch.no_grad(), torch.autocast(self.device.type, torch.bfloat16, enabled=self.rounded):
                network(inputs[begin:end])

        def run() -> None:
            for _ in range(round(plies)):
                over_rows(work, len(inputs), chunk // 2, chunk, device=self.device)

        return run

    def seconds(self, work: Callable[[], None]) -> float:
        """Time of one call, the device's work included."""
        self._wait()
        begin = time.perf_counter()
        work()
        self._wait()
        return time.perf_counter() - begin

    def _wait(self) -> None:
        if self.device.type == "cuda":
            torch.cuda.synchronize()


def _measure(settings: SelfPlaySettings, console: Console, learner: bool) -> dict[str, Any]:
    with threads_in_use(settings.threads):
        bench = _Bench(settings)
        per_decision = bench.num_afterstates() / bench.decisions
        alone = {chunk: bench.network_alone(chunk) for chunk in _CHUNKS}
        fastest = min(alone, key=lambda chunk: bench.seconds(alone[chunk]))
        parts: dict[str, Callable[[], None]] = {
            "network alone": alone[fastest],
            "listing": bench.listing,
            "valuing": bench.valuing,
            "ply": bench.ply,
        }
        if learner:
            parts["learning"] = bench.learning
        times: dict[str, list[float]] = {name: [] for name in parts}
        for _ in track(range(settings.repetitions), "measuring", console=console, transient=True):
            for name, work in parts.items():
                times[name].append(1e6 * bench.seconds(work) / bench.decisions)
    rows = {name: {"median": statistics.median(t), "least": min(t), "most": max(t)} for name, t in times.items()}
    return {
        "settings": asdict(settings),
        "hidden": list(bench.selfplay.network.config.hidden),
        "machine": {
            "processor": platform.processor() or platform.machine(),
            "cores": os.cpu_count(),
            "load": os.getloadavg()[0],
        },
        "afterstates_a_decision": per_decision,
        "fastest_chunk": fastest,
        "microseconds_a_decision": rows,
        "turns_a_game": 56.0,
    }


def _print(result: dict[str, Any], console: Console, title: str) -> None:
    rows = result["microseconds_a_decision"]
    whole = rows["ply"]["median"] + rows.get("learning", {"median": 0.0})["median"]
    alone = rows["network alone"]["median"]
    table = Table(
        title=f"{title}: {'-'.join(map(str, result['hidden']))}, {result['settings']['threads']} CPU threads",
        caption=f"{result['afterstates_a_decision']:.1f} afterstates a decision; network alone in chunks of "
        f"{result['fastest_chunk']}",
    )
    for heading in ("part", "µs a decision", "least", "most", "share"):
        table.add_column(heading, justify="left" if heading == "part" else "right", no_wrap=True)
    for name, row in rows.items():
        numbers = (f"{row[key]:.1f}" for key in ("median", "least", "most"))
        table.add_row(name, *numbers, f"{row['median'] / whole:.0%}")
    console.print(table)
    result["ratio"] = alone / whole
    result["decisions_per_second"] = 1e6 / whole
    games = 1e6 / whole / result["turns_a_game"]
    console.print(
        f"network alone / {'self-play and learning' if 'learning' in rows else 'ply'}: {alone / whole:.2f}; "
        f"{1e6 / whole:,.0f} decisions/s, {games:,.0f} games/s at 56 turns a game, the network alone would allow "
        f"{1e6 / alone / result['turns_a_game']:,.0f}; load {result['machine']['load']:.1f}"
    )


def _run(settings: SelfPlaySettings, console: Console, learner: bool) -> dict[str, Any]:
    name = "learner" if learner else "selfplay"
    result = {"task": name, **_measure(settings, console, learner)}
    _print(result, console, "Self-play and learning" if learner else "Self-play")
    if settings.output:
        Path(settings.output).write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    return result


def run_selfplay_benchmark(settings: SelfPlaySettings, console: Console) -> dict[str, Any]:
    """Measure self-play alone, print the table, write ``settings.output`` if it is set, and return what was written."""
    return _run(settings, console, learner=False)


def run_learner_benchmark(settings: SelfPlaySettings, console: Console) -> dict[str, Any]:
    """The same for self-play with learning."""
    return _run(settings, console, learner=True)
