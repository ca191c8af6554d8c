"""How often what a model predicts comes true: the six outcomes over games of the model against itself.

Cubeless money games side by side, played by the model's best plays. Before every roll but the first of a game the
player on roll gets six probabilities; at the end of the game one of them has come true. Positions of one game share its
end, so intervals come from the differences between games. The cost is that of the games, some thousand a minute.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from ...env import GameOptions, Games, afterstates
from ...env.variants import get_variant
from ..bots import Judge
from ..ratios import rate
from ..statistics import Z95

__all__ = ["OUTCOMES", "Bin", "Predictions", "outcome_bins", "play_predictions"]

OUTCOMES = ("win, single", "win, gammon", "win, backgammon", "lose, single", "lose, gammon", "lose, backgammon")

_MAX_TURNS = 1000  # a game of so many turns has gone astray and is left out

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Predictions:
    """K predictions of one game or another.

    Attributes:
        probabilities: ``[K, 6]`` of the player on roll, in the order of `OUTCOMES`.
        realised: ``[K]`` int64, which of the six came true.
        game: ``[K]`` int64, which game it was. num_games: how many there were.
    """

    probabilities: Tensor
    realised: Tensor
    game: Tensor
    num_games: int


@dataclass(frozen=True)
class Bin:
    """Predictions of about the same probability.

    Attributes:
        predicted: their mean. realised: the share that came true. low, high: of its 95 % interval.
        number: of predictions.
    """

    predicted: float
    realised: float
    low: float
    high: float
    number: int


def play_predictions(
    evaluator: Judge,
    num_games: int,
    seed: int = 0,
    device: torch.device | str = "cpu",
    progress: Progress | None = None,
) -> Predictions:
    """Predictions and ends of ``num_games`` games, those left out that did not end."""
    games = Games(num_games, GameOptions(evaluator.variant, cube=False), seed, device=device)
    active = torch.ones(num_games, dtype=torch.bool, device=games.device)
    level = torch.zeros(num_games, dtype=torch.int64, device=games.device)  # won by player 0, lost if negative
    found: list[tuple[Tensor, Tensor, Tensor]] = []
    for turn in range(_MAX_TURNS):
        rows = active.nonzero()[:, 0]
        if not len(rows):
            break
        if turn:  # before its first turn the opening roll is known
            found.append((rows, games.player[rows].long(), evaluator.outcome(games.boards[rows])))
        games.roll(active)
        after = games.boards.clone()
        second_first = games.second_first()[rows]
        asked = games.boards[rows], games.dice[rows]
        best = evaluator.best(*asked, second_first=second_first)
        game, plays = afterstates(*asked, evaluator.variant, second_first)
        after[rows] = plays[torch.searchsorted(game, torch.arange(len(rows), device=game.device)) + best]
        end = games.play(after, active)
        level = torch.where(active & end.finished, end.level.long(), level)
        active = active & ~end.finished
        if progress is not None:
            progress(num_games - int(active.sum()), num_games)
    game_of, player, probabilities = (torch.cat(part).cpu() for part in zip(*found, strict=True))
    own = level.cpu()[game_of] * (1 - 2 * player)
    realised = torch.where(own > 0, own - 1, 2 - own)
    ended = own != 0
    return Predictions(probabilities[ended].double(), realised[ended], game_of[ended], num_games)


def outcome_bins(predictions: Predictions, variant: str, num_bins: int = 10) -> dict[str, tuple[Bin, ...]]:
    """By outcome, the predictions sorted into bins of equal numbers; outcomes that cannot be are left out.

    Certainties are left out too: nothing can be learned from them.
    """
    highest = get_variant(variant).max_level
    found = {}
    for column, name in enumerate(OUTCOMES):
        if column % 3 >= highest:
            continue
        asked = predictions.probabilities[:, column]
        open_rows = ((asked > 0) & (asked < 1)).nonzero()[:, 0]
        order = open_rows[asked[open_rows].argsort(stable=True)]
        parts = [part for part in order.chunk(num_bins) if len(part)]
        found[name] = tuple(_bin(predictions, part, column) for part in parts)
    return {name: bins for name, bins in found.items() if bins}


def _bin(predictions: Predictions, rows: Tensor, column: int) -> Bin:
    def per_game(values: Tensor) -> Tensor:
        return torch.zeros(predictions.num_games, dtype=torch.float64).index_add(0, predictions.game[rows], values)

    came = (predictions.realised[rows] == column).double()
    counts = per_game(torch.ones_like(came))
    played = counts > 0
    share = rate(per_game(came)[played], counts[played])
    predicted = float(predictions.probabilities[rows, column].mean())
    low, high = _wilson(share.mean, share.standard_error or 0.0, float(played.sum()))
    return Bin(predicted, share.mean, low, high, len(rows))


def _wilson(share: float, standard_error: float, games: float) -> tuple[float, float]:
    """Wilson's 95 % interval for as many independent trials as the standard error amounts to.

    It stays between 0 and 1, and has a width where nothing ever came true.
    """
    variance = share * (1 - share)
    trials = variance / standard_error**2 if standard_error and variance else games
    centre = (share + Z95**2 / (2 * trials)) / (1 + Z95**2 / trials)
    width = Z95 / (1 + Z95**2 / trials) * math.sqrt(variance / trials + Z95**2 / (4 * trials**2))
    return max(0.0, centre - width), min(1.0, centre + width)
