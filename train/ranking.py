"""Learning to sort plays out, beside the network that will judge the rest.

From every turn of self-play one of the plays that the network has valued is drawn at random, and the ranker learns its
cubeless equity. What the ranker overrates gets among the candidates, is valued and learned, and so falls back.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from ..env.board import flip, outcome
from ..models.encoding import encode
from ..models.network import Network
from ..models.plays import CandidatePass, evaluate_plays
from ..models.ranker import Ranker
from .companion import Companion
from .config import RankerConfig
from .distributed import World
from .window import Window

__all__ = ["RankerLearner", "lost_by_ranking"]


class RankerLearner(Companion):
    """Learns a `Ranker` and gives the candidate pass made of it."""

    def __init__(self, config: RankerConfig, variant: str, seed: int, device: torch.device) -> None:
        self.config = config
        self.variant = variant
        self.ranker = Ranker(config.units, seed).to(device)
        super().__init__(self.ranker, config.learning_rate)

    def candidates(self, games: int) -> CandidatePass | None:
        """The pass to use after ``games`` games of the run; None while the ranker knows too little."""
        return CandidatePass(self.ranker, self.config.keep) if games >= self.config.warmup_games else None

    def learn(self, window: Window, batch_size: int, pace: float, world: World) -> Tensor:
        """One pass over the plays drawn in a window; those that ended a game need no ranking."""
        assert window.drawn is not None
        plays = window.drawn.boards.flatten(0, 1)
        samples = {
            "boards": flip(plays),
            "weights": (outcome(plays, self.variant) == 0).float(),
            "equity": -window.drawn.equity.flatten(),
        }
        return self.learn_from(samples, batch_size, pace, world)

    def losses(self, batch: Mapping[str, Tensor]) -> tuple[Tensor, Tensor]:
        """Squared error of the equity."""
        errors = self.ranker(encode(batch["boards"], self.variant)) - batch["equity"]
        loss = (batch["weights"] * errors.square()).sum()
        return loss, loss[None]


def lost_by_ranking(network: Network, candidates: CandidatePass, window: Window, variant: str) -> dict[str, float]:
    """What sorting out has cost on the last turn of ``window``, by what ``network`` thinks of all plays.

    Returns:
        ``ranker/loss``: millipoints of cubeless equity a decision; ``ranker/best_kept``: share of decisions whose best
        play stayed; ``ranker/plays``: plays valued a decision, ``ranker/all_plays``: plays there were.
    """
    turns = (window.boards[-1], window.dice[-1], variant, window.second_first[-1])
    everything = evaluate_plays(network, *turns)
    few = evaluate_plays(network, *turns, candidates=candidates)
    best = [plays.values[plays.best()[:, 0], 0] for plays in (everything, few)]
    lost = best[0] - best[1]
    return {
        "ranker/loss": 1000 * float(lost.mean()),
        "ranker/best_kept": float((lost <= 1e-6).float().mean()),
        "ranker/plays": len(few.game) / len(lost),
        "ranker/all_plays": len(everything.game) / len(lost),
    }
