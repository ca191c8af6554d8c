"""The training loop: play a window, learn from it, and now and then log, evaluate and save."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from ..models.growth import grow
from ..models.learned_table import learned_table
from ..models.network import Network, NetworkConfig
from ..models.plays import CandidatePass
from .bellman import bellman, luckless_returns
from .checkpoint import Progress, load_checkpoint, save_checkpoint
from .config import TrainConfig
from .distributed import World
from .learner import Learner, Losses, learning_rate
from .luck import Luck, explained_by_luck
from .monitor import Monitor
from .ranking import lost_by_ranking
from .selfplay import SelfPlay
from .targets import Targets, td_lambda
from .window import Window

__all__ = ["Evaluate", "Report", "Trainer"]

# Given the averaged network, returns named figures; "points" and "margin" are drawn.
Evaluate = Callable[[Network], dict[str, float]]
# Called after every window with the progress, the latest losses and the decisions a second.
Report = Callable[[Progress, Losses, float], None]


class Trainer:
    """One run in one folder.

    Attributes:
        progress: how far it is. stop: set it to True and the loop ends after the window it is in.
    """

    def __init__(
        self,
        config: TrainConfig,
        network: NetworkConfig,
        variant: str,
        folder: Path,
        device: torch.device,
        settings: Mapping[str, Any],
        checkpoint: Path | None = None,
        initial: Network | None = None,
        world: World | None = None,
    ) -> None:
        """``settings`` is the whole configuration, kept in every checkpoint; ``checkpoint`` is one to go on from.

        ``initial`` is a trained network to start from; a larger one of shape ``network`` begins with its judgement
        (`models.growth`). ``world``: the processes that share the games; all call every method alike.
        """
        self.world = world or World()
        self.config = config
        self.folder = folder
        self.settings = settings
        start = Network(network, config.seed) if initial is None else grow(initial, network, config.seed)
        parts = (start.to(device), variant, config.learner, config.seed, self.world, config.luck, config.ranker)
        self.learner = Learner(*parts)
        share = replace(config.selfplay, num_games=self.world.share(config.selfplay.num_games, "num_games"))
        first_slot = self.world.rank * share.num_games
        player = self.learner.average if share.player == "average" else self.learner.network
        self.selfplay = SelfPlay(player, variant, share, config.seed, device, first_slot)
        # Untrained play says nothing, at length, and an untrained network knows nothing of matches.
        self.progress = Progress(next_evaluation=config.evaluate_games, next_table=config.table_games)
        self.stop = False
        if checkpoint is not None:
            self.progress = load_checkpoint(checkpoint, self.learner, self.selfplay)
        self.monitor = Monitor(folder, self.progress.games) if self.world.writes else None
        self._log = _LogSums()

    def run(self, report: Report, evaluate: Evaluate | None = None) -> bool:
        """Train until the budget of games is spent; False if stopped before (by `stop` or the time limit).

        The state is saved at the end either way. ``NotFiniteError`` leaves the last good checkpoint as it is.
        """
        limit = self.config.max_minutes
        begun = time.monotonic()
        stop = self._agreed(self.stop)
        while self.progress.games < self.config.games and not stop:
            losses, rate = self._window()
            report(self.progress, losses, rate)
            if self.progress.games >= self.progress.next_log:
                self._write_log()
            if evaluate is not None and self._evaluation_due() and self.monitor is not None:
                figures = evaluate(self.learner.average)
                self.monitor.record(self.progress.games, {f"evaluation/{k}": v for k, v in figures.items()})
            if self.selfplay.has_stakes and self.progress.games >= self.progress.next_table:
                self._learn_table()
            if self.progress.games >= self.progress.next_checkpoint:
                self.save()
            late = limit is not None and time.monotonic() - begun > 60 * limit
            stop = self._agreed(self.stop or late)
        self._write_log()
        self.save()
        return self.progress.games >= self.config.games

    def save(self) -> Path:
        """Write a checkpoint now."""
        self.progress.next_checkpoint = self.progress.games + self.config.checkpoint_games
        keep, folder = self.config.keep_checkpoints, self.folder / "checkpoints"
        return save_checkpoint(folder, self.learner, self.selfplay, self.progress, self.settings, keep)

    def close(self) -> None:
        """Finish the log files."""
        if self.monitor is not None:
            self.monitor.close()

    def _agreed(self, stop: bool) -> bool:
        """Stop if any rank has been told to."""
        return self.world.any(stop, self.selfplay.games.device)

    def _window(self) -> tuple[Losses, float]:
        """Play and learn one window; its losses and the decisions a second."""
        begun = time.monotonic()
        fraction = self.progress.games / self.config.games
        ranker = self.learner.ranker
        candidates = None if ranker is None else ranker.candidates(self.progress.games)
        window = self.selfplay.collect(candidates, draw=ranker is not None)
        luck = self._estimated_luck(window, fraction)
        targets = self._targets(window, fraction, luck, candidates)
        rate = learning_rate(self.config.learner, self.progress.games, self.config.games)
        passes = 1 if targets.rows is None else self.config.targets.bellman_passes
        losses = self.learner.learn(window, targets, rate, passes)
        counts = self.selfplay.counts.take(self.world)
        seconds = time.monotonic() - begun
        decisions = window.opening.numel() * self.world.size
        self.progress.games += int(counts["games"][0])
        self.progress.decisions += decisions
        self.progress.seconds += seconds
        self._log.add(losses, counts, decisions, seconds, rate)
        if self.progress.games >= self.progress.next_log:
            self._log.extra = self._companions_figures(window, luck, candidates)
        return losses, decisions / seconds

    def _sampled(self, fraction: float) -> bool:
        """Are all targets those of the one roll that came, when ``fraction`` of the games are over?"""
        start = self.config.targets.bellman_from
        return fraction < start or start == 1

    def _estimated_luck(self, window: Window, fraction: float) -> Luck | None:
        """The luck to be taken out of the targets, if it is known and any target has it."""
        learned = self.learner.luck
        wanted = self._sampled(fraction) or self.config.targets.bellman_rest
        return learned.estimate(window) if learned is not None and wanted else None

    def _targets(self, window: Window, fraction: float, luck: Luck | None, candidates: CandidatePass | None) -> Targets:
        """What to learn from a window when ``fraction`` of the games are over."""
        config = self.config.targets
        targets = td_lambda(window, config.at(fraction), luck)
        if self._sampled(fraction):
            return targets
        if config.bellman_lambda:
            games = window.opening.shape[1]
            slots = self.learner.draw_rows(games, max(1, round(config.bellman_share * games))).to(window.boards.device)
            parts = (config.bellman_lambda, slots, config.bellman_rest, candidates, self.selfplay.bfloat16)
            return luckless_returns(window, targets, self.selfplay.network, self.selfplay.variant, *parts)
        number = window.opening.numel()
        rows = self.learner.draw_rows(number, max(1, round(config.bellman_share * number))).to(window.boards.device)
        teacher = self.learner.average if config.bellman_teacher == "average" else self.learner.network
        variant = self.selfplay.variant
        how = (config.bellman_rest, candidates, self.selfplay.bfloat16)
        return bellman(window, targets, teacher, variant, rows, *how)

    def _companions_figures(
        self, window: Window, luck: Luck | None, candidates: CandidatePass | None
    ) -> dict[str, float]:
        """How good the networks are that are learned beside the one that plays."""
        network, variant = self.selfplay.network, self.selfplay.variant
        figures = {} if candidates is None else lost_by_ranking(network, candidates, window, variant)
        if luck is not None:
            figures["luck/explained"] = explained_by_luck(network, window, luck, variant)
        return figures

    def _learn_table(self) -> None:
        """Let the chances at match scores follow from the averaged network."""
        self.progress.next_table = self.progress.games + self.config.table_games
        self.selfplay.stakes.table = learned_table(self.learner.average, self.selfplay.variant)

    def _evaluation_due(self) -> bool:
        every = self.config.evaluate_games
        if not every or self.progress.games < self.progress.next_evaluation:
            return False
        self.progress.next_evaluation = self.progress.games + every
        return True

    def _write_log(self) -> None:
        self.progress.next_log = self.progress.games + self.config.log_games
        values = self._log.take()
        if values and self.monitor is not None:
            self.monitor.record(self.progress.games, values)


class _LogSums:
    """Gathers windows into one entry of the log."""

    def __init__(self) -> None:
        self._losses: list[Losses] = []
        self._counts: dict[str, list[float]] = {}
        self._decisions = 0
        self._seconds = 0.0
        self._rate = 0.0
        self.extra: dict[str, float] = {}  # of the window that the entry ends with

    def add(self, losses: Losses, counts: dict[str, list[float]], decisions: int, seconds: float, rate: float) -> None:
        self._losses.append(losses)
        for name, values in counts.items():
            before = self._counts.get(name, [0.0] * len(values))
            self._counts[name] = [a + b for a, b in zip(before, values, strict=True)]
        self._decisions += decisions
        self._seconds += seconds
        self._rate = rate

    def take(self) -> dict[str, float]:
        """Means since the last call; rates that no game has contributed to are left out."""
        if not self._losses:
            return {}
        windows = len(self._losses)
        values = {
            "loss/outcome": sum(loss.outcome for loss in self._losses) / windows,
            "loss/cube": sum(loss.cube for loss in self._losses) / windows,
            "loss/stake": sum(loss.stake for loss in self._losses) / windows,
            "learner/gradient_norm": sum(loss.gradient_norm for loss in self._losses) / windows,
            "learner/learning_rate": self._rate,
            "speed/decisions_per_second": self._decisions / self._seconds,
            **self.extra,
        }
        counts = self._counts
        games, cubeful, cubeless = counts["games"][0], counts["cubeful"][0], counts["cubeless"][0]
        if games:
            values["speed/games_per_second"] = games / self._seconds
            values["games/plies"] = counts["plies"][0] / games
        over_the_board = sum(counts["levels"])
        if over_the_board:
            values["games/gammon_rate"] = counts["levels"][1] / over_the_board
            values["games/backgammon_rate"] = counts["levels"][2] / over_the_board
        if cubeful:
            values["cube/turned_rate"] = counts["turned"][0] / cubeful
            values["cube/drop_rate"] = counts["dropped"][0] / cubeful
            values["cube/mean_value"] = counts["cube_sum"][0] / cubeful
        if cubeless:
            # Of player 0, over the cubeless games: predicted after the first play, less what happened.
            bias = [(p - r) / cubeless for p, r in zip(counts["predicted"], counts["realised"], strict=True)]
            values["games/win_rate"] = sum(counts["realised"][:3]) / cubeless
            values["calibration/win"] = sum(bias[:3])
            values["calibration/gammon"] = bias[1] + bias[2] + bias[4] + bias[5]
            values["calibration/backgammon"] = bias[2] + bias[5]
        self.__init__()  # type: ignore[misc]  # start again
        return values
