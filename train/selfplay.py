"""Self-play: many games in lock step, every ply recorded with what the network thought of it.

Cost model: a ply is one call of `models.plays.evaluate_plays` and about fifty small operations on ``[N]`` tensors. All
stays on the device; the number of afterstates is the ply's only host synchronisation. A window's tensors are
allocated once a window.

Some games are played cubeless to the end, some with the cube for money, some with the cube at a stake of their own (a
match score, or Jacoby). A cube decision costs nothing: it needs the position's no-double values, which the network
gave when the position was chosen.
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
from ..models.janowski import simple_match_equity
from ..models.match_equity import MatchEquityTable
from ..models.network import Network
from ..models.plays import CandidatePass, FirstLayer, Plays, evaluate_plays
from ..models.stakes import Stakes
from ..models.values import (
    bounds,
    context_no_double,
    exact_probabilities,
    flip_probabilities,
    no_double_values,
    possible_outcomes,
    probabilities,
)
from .config import SelfPlayConfig
from .distributed import World
from .slot_stakes import CUBELESS, MONEY, SlotStakes

__all__ = ["DrawnPlays", "GameCounts", "SelfPlay", "StakeWindow", "Window"]


@dataclass(frozen=True)
class StakeWindow:
    """What T plies of N games say of each game's own stake, normalised (`models.stakes`), from the same views.

    Attributes:
        here: the stakes themselves, seen by the player on roll.
        cube: ``[T, N, 3]``, value of the best play with the cube centred, mine, theirs.
        next_no_double: ``[T, N, 3]``, next_double_take: ``[T, N]``, next_may_double: ``[T, N]`` bool: of the position
            after the play made, from its own view.
        turned: ``[T, N]`` bool, the cube was turned before the next ply, whose stake is another.
    """

    here: Stakes
    cube: Tensor
    next_no_double: Tensor
    next_double_take: Tensor
    next_may_double: Tensor
    turned: Tensor

    def slots(self, where: Tensor) -> StakeWindow:
        """The window of some of the games, ``where`` ``[K]`` int64."""
        names = [field.name for field in fields(StakeWindow) if field.name != "here"]
        return StakeWindow(self.here.columns(where), **{name: getattr(self, name)[:, where] for name in names})


@dataclass(frozen=True)
class DrawnPlays:
    """One play of every turn of a window, drawn evenly from those the network valued.

    Attributes:
        boards: ``[T, N, 2, 26]`` int8, the afterstates, mover side 0.
        equity: ``[T, N]``, their cubeless equity for the mover.
    """

    boards: Tensor
    equity: Tensor


@dataclass(frozen=True)
class Window:
    """T plies of N games. Values are from the view of the player on roll at that ply.

    Attributes:
        boards: ``[T, N, 2, 26]`` int8, before the roll, the player on roll side 0.
        opening: ``[T, N]`` bool, the dice were an opening roll, so this is no ordinary position before a roll.
        second_first: ``[T, N]`` bool, it is the second player's first turn.
        dice: ``[T, N, 2]`` int8, what was rolled.
        outcome: ``[T, N, 6]``, outcome probabilities of the play with the best cubeless equity.
        cube: ``[T, N, 3]``, value of the best play with the cube centred, mine, theirs.
        followed: ``[T, N, 4]`` bool, the play made was the best one cubeless, centred, mine, theirs; ``[T, N, 7]``
            with the last three again at the stake.
        next_no_double: ``[T, N, 3]``, no-double values of the position after the play made, from its own view.
        ended: ``[T, N]`` bool, the next ply of this slot does not continue this position.
        stake: the same at each game's own stake; None for a network that knows money alone.
        drawn: a play of every turn, if asked for.
    """

    boards: Tensor
    opening: Tensor
    second_first: Tensor
    dice: Tensor
    outcome: Tensor
    cube: Tensor
    followed: Tensor
    next_no_double: Tensor
    ended: Tensor
    stake: StakeWindow | None = None
    drawn: DrawnPlays | None = None

    def slots(self, where: Tensor) -> Window:
        """The window of some of the games, ``where`` ``[K]`` int64; without the plays drawn."""
        names = [field.name for field in fields(Window) if field.name not in ("stake", "drawn")]
        stake = None if self.stake is None else self.stake.slots(where)
        return Window(**{name: getattr(self, name)[:, where] for name in names}, stake=stake)


@dataclass
class GameCounts:
    """Sums over finished games, as 0-d or ``[6]`` tensors on the device; `take` hands them out and starts again.

    Attributes:
        games: finished games of all kinds. cubeful: those with the cube for money. plies: turns in all of them.
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

    def take(self, world: World | None = None) -> dict[str, list[float]]:
        """The sums so far as lists of numbers, over all ranks; waits for the device and starts again from zero."""
        taken = {}
        if world is not None:
            world.add_up([getattr(self, field.name) for field in fields(self)])
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
        table: MatchEquityTable | None = None,
    ) -> None:
        """``config.num_games`` games in the slots from ``first_slot`` on.

        ``table``: chances at match scores to begin with; `simple_match_equity` if None.
        """
        self.network = network
        self.config = config
        self.variant = get_variant(variant).name
        self.games = Games(config.num_games, GameOptions(variant), seed, first_slot, device)
        self.counts = GameCounts.zero(device)
        num_games = config.num_games
        self.no_double = torch.zeros((num_games, 3), device=device)
        self.stake_no_double = torch.zeros((num_games, 3), device=device)
        self.stake_double_take = torch.zeros(num_games, device=device)
        self.stake_may_double = torch.zeros(num_games, dtype=torch.bool, device=device)
        self.prediction = torch.zeros((num_games, 6), device=device)
        self.bfloat16 = config.precision == "bfloat16"
        self.has_stakes = network.config.context_units > 0
        stake_fraction = config.stake_fraction if self.has_stakes else 0.0
        table = (table or simple_match_equity()).to(device)
        self.stakes = SlotStakes(self.games, config.cubeful_fraction, stake_fraction, table)
        self.stakes.draw(torch.ones(num_games, dtype=torch.bool, device=device))

    _OWN_STATE = ("no_double", "stake_no_double", "stake_double_take", "stake_may_double", "prediction")

    def state(self) -> dict[str, Tensor]:
        """Everything that changes between windows, by name."""
        state = {f"games.{name}": tensor for name, tensor in self.games.state().items()}
        state |= {f"stakes.{name}": getattr(self.stakes, name) for name in SlotStakes.STATE}
        return state | {name: getattr(self, name) for name in self._OWN_STATE}

    def load_state(self, state: dict[str, Tensor]) -> None:
        """Take up what `state` returned; ``ValueError`` names what does not fit."""
        self.games.load_state(
            {name.removeprefix("games."): value for name, value in state.items() if name.startswith("games.")}
        )
        self._check_games()
        for name in (*self._OWN_STATE, *(f"stakes.{name}" for name in SlotStakes.STATE)):
            holder, own = (self.stakes, name.removeprefix("stakes.")) if name.startswith("stakes.") else (self, name)
            mine, found = getattr(holder, own), state.get(name)
            if found is None or found.shape != mine.shape or found.dtype != mine.dtype:
                raise ValueError(f"self-play: {name}: found {found}, wanted shape {tuple(mine.shape)} of {mine.dtype}")
            setattr(holder, own, found.to(mine.device).clone())

    def _check_games(self) -> None:
        """The kernels of a ply check nothing, and a damaged file may hold anything: ``ValueError`` here instead."""
        games = self.games
        check_boards(games.boards, get_variant(self.variant))
        for name, least, greatest in (("player", 0, 1), ("dice", 0, 6), ("cube_owner", 0, 2)):
            values = getattr(games, name)
            if bool(((values < least) | (values > greatest)).any()):
                raise ValueError(f"games: {name}: found a number that is not {least} to {greatest}")

    @torch.no_grad()
    def collect(self, candidates: CandidatePass | None = None, draw: bool = False) -> Window:
        """Play ``window_plies`` turns of every game and return what was seen.

        With ``candidates`` only the plays that pass it are valued; with ``draw`` a play of every turn is kept.
        """
        first = FirstLayer(self.network)
        plies = [self._ply(first, candidates, draw) for _ in range(self.config.window_plies)]
        # A drop or a turned cube at the start of a ply concerns the ply before.
        ended = [ply.ended | later.dropped for ply, later in pairwise(plies)] + [plies[-1].ended]
        turned = [later.turned for later in plies[1:]] + [torch.zeros_like(plies[-1].turned)]

        def stacked(name: str) -> Tensor:
            return torch.stack([getattr(ply, name) for ply in plies])

        return Window(
            boards=stacked("boards"),
            opening=stacked("opening"),
            second_first=stacked("second_first"),
            dice=stacked("dice"),
            outcome=stacked("outcome"),
            cube=stacked("cube"),
            followed=stacked("followed"),
            next_no_double=stacked("next_no_double"),
            ended=torch.stack(ended),
            stake=self._stake_window([ply.stake for ply in plies], torch.stack(turned)),
            drawn=_drawn_window([ply.drawn for ply in plies]),
        )

    def _stake_window(self, plies: list[_StakePly | None], turned: Tensor) -> StakeWindow | None:
        known = [ply for ply in plies if ply is not None]
        if not known:
            return None
        names = [name for name in _StakePly.__dataclass_fields__ if name != "here"]
        stacked = {name: torch.stack([getattr(ply, name) for ply in known]) for name in names}
        return StakeWindow(here=Stakes.stack([ply.here for ply in known]), turned=turned, **stacked)

    def _ply(self, first: FirstLayer, candidates: CandidatePass | None, draw: bool) -> _Ply:
        dropped, turned = self._cube_decision()
        games, stakes = self.games, self.stakes
        opening = games.dice[:, 0] != 0
        games.roll()
        boards, dice = games.boards, games.dice
        here = stakes.seen_by(games.player) if self.has_stakes else None
        following = None if here is None else here.flip()
        second_first = games.second_first()
        turns = (boards, dice, self.variant, second_first)
        plays = evaluate_plays(self.network, *turns, first, following, candidates, self.bfloat16)
        best = plays.best()
        column = torch.where(stakes.kind == CUBELESS, 0, games.cube_owner.long() + 1)
        column = column + torch.where(stakes.played(), 3, 0)
        row = best.gather(1, column[:, None])
        outcome = self._outcomes_of(plays, best[:, 0])
        values = plays.values.gather(0, best)
        self.prediction = torch.where(opening[:, None], self._seen_by_player_0(outcome), self.prediction)
        chosen = self._arrive(plays, row[:, 0], following)
        stake = None
        if here is not None and following is not None:
            stake = _StakePly(
                here=here,
                cube=values[:, 4:],
                next_no_double=self.stake_no_double,
                next_double_take=self.stake_double_take,
                next_may_double=self.stake_may_double,
            )
        drawn = self._draw(plays) if draw else None
        end = games.play(chosen)
        self._count(end)
        self._deal(end.finished)
        return _Ply(
            boards=boards,
            opening=opening,
            second_first=second_first,
            dice=dice,
            outcome=outcome,
            cube=values[:, 1:4],
            followed=best == row,
            next_no_double=self.no_double,
            ended=end.finished,
            dropped=dropped,
            turned=turned,
            stake=stake,
            drawn=drawn,
        )

    def _draw(self, plays: Plays) -> DrawnPlays:
        """One of each game's ``plays``, all equally likely."""
        games = self.games
        numbers = uniforms(games.seed, games.slots, games.num_rolls, Purpose.LEARNER)
        counts = torch.diff(plays.ends, prepend=plays.ends.new_zeros(1))
        place = torch.minimum((numbers.double() * counts).long(), counts - 1)
        rows = plays.ends - counts + place
        return DrawnPlays(plays.boards[rows], plays.values[rows, 0])

    def _arrive(self, plays: Plays, rows: Tensor, following: Stakes | None) -> Tensor:
        """The afterstates of ``rows``, one a game, whose cube values for the player on roll next are kept."""
        raw, afterstates = plays.raw[rows], plays.boards[rows]
        possible = possible_outcomes(afterstates, self.variant, swap=True)
        probs = probabilities(raw, possible)
        self.no_double = torch.clamp(no_double_values(raw, probs), *bounds(possible))
        if following is not None:
            values = context_no_double(self.network, raw, probs, possible, following)
            self.stake_no_double, self.stake_double_take = values
            self.stake_may_double = following.may_double[:, 0].clone()
        return afterstates

    def _cube_decision(self) -> tuple[Tensor, Tensor]:
        """Let the cubeful games double before the roll; where one ended by a drop or was taken, each ``[N]`` bool."""
        games, stakes = self.games, self.stakes
        owner = games.cube_owner.long()[:, None]
        here = self.no_double.gather(1, owner)[:, 0]
        taken = 2.0 * self.no_double[:, THEIRS]
        allowed = stakes.kind == MONEY
        if self.has_stakes:
            played = stakes.played()
            here = torch.where(played, self.stake_no_double.gather(1, owner)[:, 0], here)
            taken = torch.where(played, self.stake_double_take, taken)
            allowed = allowed | (played & self.stake_may_double)
        offer = allowed & (torch.clamp(taken, max=1.0) > here)
        take = taken <= 1.0
        turned = offer & take & games.may_double()
        end = games.double(offer, take)
        self._count(end)
        self._deal(end.finished)
        return end.finished, turned

    def _outcomes_of(self, plays: Plays, rows: Tensor) -> Tensor:
        """Outcome probabilities of one afterstate a game for its mover, ``[N, 6]``; exact where it ends the game."""
        boards = plays.boards[rows]
        probs = flip_probabilities(probabilities(plays.raw[rows], possible_outcomes(boards, self.variant, swap=True)))
        done, exact = exact_probabilities(boards, self.variant)
        return torch.where(done[:, None], exact, probs)

    def _seen_by_player_0(self, outcome: Tensor) -> Tensor:
        return torch.where(self.games.player[:, None] == 0, outcome, flip_probabilities(outcome))

    def _deal(self, where: Tensor) -> None:
        self.games.deal(where)
        self.stakes.draw(where)

    def _count(self, end: GameEnd) -> None:
        counts, games = self.counts, self.games
        done = end.finished
        cubeful = done & (self.stakes.kind == MONEY)
        cubeless = done & (self.stakes.kind == CUBELESS)
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


def _drawn_window(plies: list[DrawnPlays | None]) -> DrawnPlays | None:
    known = [ply for ply in plies if ply is not None]
    if not known:
        return None
    return DrawnPlays(torch.stack([ply.boards for ply in known]), torch.stack([ply.equity for ply in known]))


@dataclass(frozen=True)
class _Ply:
    """One ply of a `Window`, and where a drop ended the game before it or the cube was turned."""

    boards: Tensor
    opening: Tensor
    second_first: Tensor
    dice: Tensor
    outcome: Tensor
    cube: Tensor
    followed: Tensor
    next_no_double: Tensor
    ended: Tensor
    dropped: Tensor
    turned: Tensor
    stake: _StakePly | None
    drawn: DrawnPlays | None


@dataclass(frozen=True)
class _StakePly:
    """One ply of a `StakeWindow`."""

    here: Stakes
    cube: Tensor
    next_no_double: Tensor
    next_double_take: Tensor
    next_may_double: Tensor
