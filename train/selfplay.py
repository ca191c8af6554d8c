"""Self-play: many games in lock step, every ply recorded with what the network thought of it.

Cost model: a ply is one call of `models.plays.evaluate_plays` and about fifty small operations on ``[N]`` tensors. All
stays on the device; the number of afterstates is the ply's only host synchronisation. A window's tensors are
allocated once a window.

Some games are played cubeless to the end, the others with the cube. A cube decision costs nothing: it needs the
position's no-double values, which the network gave when the position was chosen.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from itertools import pairwise

import torch
from torch import Tensor

from ..env.board import check_boards
from ..env.cube import THEIRS
from ..env.dice import Purpose, uniforms
from ..env.games import GameEnd, GameOptions, Games
from ..env.variants import get_variant
from ..models.network import Network
from ..models.plays import FirstLayer, Plays, evaluate_plays
from ..models.values import (
    bounds,
    exact_probabilities,
    flip_probabilities,
    no_double_values,
    possible_outcomes,
    probabilities,
)
from .config import SelfPlayConfig

__all__ = ["GameCounts", "SelfPlay", "Window"]


@dataclass(frozen=True)
class Window:
    """T plies of N games. Values are from the view of the player on roll at that ply.

    Attributes:
        boards: ``[T, N, 2, 26]`` int8, before the roll, the player on roll side 0.
        opening: ``[T, N]`` bool, the dice were an opening roll, so this is no ordinary position before a roll.
        outcome: ``[T, N, 6]``, outcome probabilities of the play with the best cubeless equity.
        cube: ``[T, N, 3]``, value of the best play with the cube centred, mine, theirs.
        followed: ``[T, N, 4]`` bool, the play made was the best one cubeless, centred, mine, theirs.
        next_no_double: ``[T, N, 3]``, no-double values of the position after the play made, from its own view.
        ended: ``[T, N]`` bool, the next ply of this slot does not continue this position.
    """

    boards: Tensor
    opening: Tensor
    outcome: Tensor
    cube: Tensor
    followed: Tensor
    next_no_double: Tensor
    ended: Tensor


@dataclass
class GameCounts:
    """Sums over finished games, as 0-d or ``[6]`` tensors on the device; `take` hands them out and starts again.

    Attributes:
        games: finished games, cubeful or not. cubeful: those with the cube. plies: turns in all of them.
        levels: ``[3]`` games won over the board at level 1, 2, 3. dropped: ended by a drop.
        turned: cubeful games whose cube was turned at least once. cube_sum: sum of their final cubes.
        predicted, realised: ``[6]`` sums over cubeless games, seen by player 0: the outcome probabilities after the
            first play and the outcomes.
        cubeless: number of games in those two.
    """

    games: Tensor
    cubeful: Tensor
    plies: Tensor
    levels: Tensor
    dropped: Tensor
    turned: Tensor
    cube_sum: Tensor
    predicted: Tensor
    realised: Tensor
    cubeless: Tensor

    @classmethod
    def zero(cls, device: torch.device) -> GameCounts:
        """No games yet."""
        sizes = {"levels": (3,), "predicted": (6,), "realised": (6,)}
        return cls(**{f.name: torch.zeros(sizes.get(f.name, ()), device=device) for f in fields(cls)})

    def take(self) -> dict[str, list[float]]:
        """The sums so far as lists of numbers; waits for the device and starts again from zero."""
        taken = {}
        for field in fields(self):
            tensor = getattr(self, field.name)
            taken[field.name] = tensor.reshape(-1).tolist()
            tensor.zero_()
        return taken


class SelfPlay:
    """Games that go on from window to window, with the network's last word on every position."""

    def __init__(
        self,
        network: Network,
        variant: str,
        config: SelfPlayConfig,
        seed: int,
        device: torch.device,
        first_slot: int = 0,
    ) -> None:
        self.network = network
        self.config = config
        self.variant = get_variant(variant).name
        self.games = Games(config.num_games, GameOptions(variant), seed, first_slot, device)
        self.counts = GameCounts.zero(device)
        num_games = config.num_games
        self.no_double = torch.zeros((num_games, 3), device=device)
        self.prediction = torch.zeros((num_games, 6), device=device)
        self.cubeful = torch.zeros(num_games, dtype=torch.bool, device=device)
        self._choose_kind(torch.ones_like(self.cubeful))

    def state(self) -> dict[str, Tensor]:
        """Everything that changes between windows, by name."""
        own = {"no_double": self.no_double, "prediction": self.prediction, "cubeful": self.cubeful}
        return {**{f"games.{name}": tensor for name, tensor in self.games.state().items()}, **own}

    def load_state(self, state: dict[str, Tensor]) -> None:
        """Take up what `state` returned; ``ValueError`` names what does not fit."""
        self.games.load_state(
            {name.removeprefix("games."): value for name, value in state.items() if name.startswith("games.")}
        )
        self._check_games()
        for name in ("no_double", "prediction", "cubeful"):
            mine, found = getattr(self, name), state.get(name)
            if found is None or found.shape != mine.shape or found.dtype != mine.dtype:
                raise ValueError(f"self-play: {name}: found {found}, wanted shape {tuple(mine.shape)} of {mine.dtype}")
            setattr(self, name, found.to(mine.device).clone())

    def _check_games(self) -> None:
        """The kernels of a ply check nothing, and a damaged file may hold anything: ``ValueError`` here instead."""
        games = self.games
        check_boards(games.boards, get_variant(self.variant))
        for name, least, greatest in (("player", 0, 1), ("dice", 0, 6), ("cube_owner", 0, 2)):
            values = getattr(games, name)
            if bool(((values < least) | (values > greatest)).any()):
                raise ValueError(f"games: {name}: found a number that is not {least} to {greatest}")

    @torch.no_grad()
    def collect(self) -> Window:
        """Play ``window_plies`` turns of every game and return what was seen."""
        first = FirstLayer(self.network)
        plies = [self._ply(first) for _ in range(self.config.window_plies)]
        # A drop at the start of a ply says that the ply before was not continued.
        ended = [ply.ended | later.dropped for ply, later in pairwise(plies)] + [plies[-1].ended]
        return Window(
            boards=torch.stack([ply.boards for ply in plies]),
            opening=torch.stack([ply.opening for ply in plies]),
            outcome=torch.stack([ply.outcome for ply in plies]),
            cube=torch.stack([ply.cube for ply in plies]),
            followed=torch.stack([ply.followed for ply in plies]),
            next_no_double=torch.stack([ply.next_no_double for ply in plies]),
            ended=torch.stack(ended),
        )

    def _ply(self, first: FirstLayer) -> _Ply:
        dropped = self._cube_decision()
        games = self.games
        opening = games.dice[:, 0] != 0
        games.roll()
        boards = games.boards
        plays = evaluate_plays(self.network, boards, games.dice, self.variant, games.second_first(), first)
        best = plays.best()
        column = torch.where(self.cubeful, games.cube_owner.long() + 1, 0)
        row = best.gather(1, column[:, None])
        outcome = self._outcomes_of(plays, best[:, 0])
        chosen = plays.boards[row[:, 0]]
        self.no_double = self._no_double_after(plays.raw[row[:, 0]], chosen)
        self.prediction = torch.where(opening[:, None], self._seen_by_player_0(outcome), self.prediction)
        end = games.play(chosen)
        self._count(end)
        self._deal(end.finished)
        return _Ply(
            boards=boards,
            opening=opening,
            outcome=outcome,
            cube=plays.values.gather(0, best)[:, 1:],
            followed=best == row,
            next_no_double=self.no_double,
            ended=end.finished,
            dropped=dropped,
        )

    def _cube_decision(self) -> Tensor:
        """Let the cubeful games double before the roll; where the game ended by a drop, ``[N]`` bool."""
        if self.config.cubeful_fraction == 0:
            return torch.zeros_like(self.cubeful)
        here = self.no_double.gather(1, self.games.cube_owner.long()[:, None])[:, 0]
        taken = 2.0 * self.no_double[:, THEIRS]
        offer = self.cubeful & (torch.clamp(taken, max=1.0) > here)
        end = self.games.double(offer, taken <= 1.0)
        self._count(end)
        self._deal(end.finished)
        return end.finished

    def _outcomes_of(self, plays: Plays, rows: Tensor) -> Tensor:
        """Outcome probabilities of one afterstate a game for its mover, ``[N, 6]``; exact where it ends the game."""
        boards = plays.boards[rows]
        probs = flip_probabilities(probabilities(plays.raw[rows], possible_outcomes(boards, self.variant, swap=True)))
        done, exact = exact_probabilities(boards, self.variant)
        return torch.where(done[:, None], exact, probs)

    def _no_double_after(self, raw: Tensor, afterstates: Tensor) -> Tensor:
        """No-double values ``[N, 3]`` of afterstates for the player on roll next."""
        possible = possible_outcomes(afterstates, self.variant, swap=True)
        return torch.clamp(no_double_values(raw, probabilities(raw, possible)), *bounds(possible))

    def _seen_by_player_0(self, outcome: Tensor) -> Tensor:
        return torch.where(self.games.player[:, None] == 0, outcome, flip_probabilities(outcome))

    def _deal(self, where: Tensor) -> None:
        self.games.deal(where)
        self._choose_kind(where)

    def _choose_kind(self, where: Tensor) -> None:
        """Decide by each slot's own stream whether a new game is played with the cube."""
        games = self.games
        drawn = uniforms(games.seed, games.slots, games.num_rolls, Purpose.POLICY)
        self.cubeful = torch.where(where, drawn < self.config.cubeful_fraction, self.cubeful)

    def _count(self, end: GameEnd) -> None:
        counts, games = self.counts, self.games
        done = end.finished
        cubeful = done & self.cubeful
        cubeless = done & ~self.cubeful
        counts.games += done.sum()
        counts.cubeful += cubeful.sum()
        counts.plies += (games.turn * done).sum()
        counts.levels += torch.stack([(end.level.abs() == level).sum() for level in (1, 2, 3)])
        counts.dropped += end.dropped.sum()
        counts.turned += (cubeful & (games.cube_value > 1)).sum()
        counts.cube_sum += (games.cube_value * cubeful).sum()
        column = torch.where(end.level > 0, end.level - 1, 2 - end.level)
        realised = column[:, None] == torch.arange(6, device=done.device)
        counts.predicted += (self.prediction * cubeless[:, None]).sum(0)
        counts.realised += (realised & cubeless[:, None]).sum(0)
        counts.cubeless += cubeless.sum()


@dataclass(frozen=True)
class _Ply:
    """One ply of a `Window`, and where a drop ended the game before it."""

    boards: Tensor
    opening: Tensor
    outcome: Tensor
    cube: Tensor
    followed: Tensor
    next_no_double: Tensor
    ended: Tensor
    dropped: Tensor
