"""Self-play: many games in lock step, every ply recorded with what the network thought of it.

Cost model: a ply is one call of `models.plays.evaluate_plays` and about fifty small operations on ``[N]`` tensors. All
stays on the device; the number of afterstates is the ply's only host synchronisation, and captured as a CUDA graph
(`train.ply_graph`) a ply has none. A window's tensors are allocated once a window. Those operations are too small to be
shared among threads, so on a CPU each thread plays a lane of the games by itself, from one window's end to the next.

Some games are played cubeless to the end, some with the cube for money, some with the cube at a stake of their own (a
match score, or Jacoby). A cube decision costs nothing: it needs the position's no-double values, which the network
gave when the position was chosen, so a ply ends with it.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from itertools import pairwise

import torch
from torch import Tensor

from ..env.board import check_boards
from ..env.cube import THEIRS
from ..env.dice import Purpose, uniforms
from ..env.games import GameEnd, GameOptions, Games
from ..env.launch import num_threads, split_rows
from ..env.variants import get_variant
from ..models.janowski import simple_match_equity
from ..models.match_equity import MatchEquityTable
from ..models.network import Network
from ..models.plays import CandidatePass, Capacity, FirstLayer, Plays, evaluate_plays
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
from .ply_graph import PlyGraphs
from .slot_stakes import CUBELESS, MONEY, SlotStakes
from .window import DrawnPlays, StakeWindow, Window, each_tensor, stack_plies

__all__ = ["GameCounts", "SelfPlay"]

_MIN_LANE = 512  # games for which a thread of their own pays


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
    def none(cls, device: torch.device) -> GameCounts:
        """No games yet."""
        sizes = {"levels": (3,), "predicted": (6,), "realised": (6,)}
        return cls(**{f.name: torch.zeros(sizes.get(f.name, ()), device=device) for f in fields(cls)})

    def add(self, other: GameCounts) -> None:
        """Count another's games too."""
        for field in fields(self):
            getattr(self, field.name).add_(getattr(other, field.name))

    def clear(self) -> None:
        """Start again from zero, in the same memory."""
        for field in fields(self):
            getattr(self, field.name).zero_()

    def take(self, world: World | None = None) -> dict[str, list[float]]:
        """The sums so far as lists of numbers, over all ranks; waits for the device and starts again from zero."""
        if world is not None:
            world.add_up([getattr(self, field.name) for field in fields(self)])
        taken = {field.name: getattr(self, field.name).reshape(-1).tolist() for field in fields(self)}
        self.clear()
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
        self.counts = GameCounts.none(device)
        num_games = config.num_games
        self.prediction = torch.zeros((num_games, 6), device=device)
        self.bfloat16 = config.precision == "bfloat16"
        self.has_stakes = network.config.context_units > 0
        stake_fraction = config.stake_fraction if self.has_stakes else 0.0
        table = (table or simple_match_equity()).to(device)
        self.stakes = SlotStakes(self.games, config.cubeful_fraction, stake_fraction, table)
        self.stakes.draw(torch.ones(num_games, dtype=torch.bool, device=device))
        self.graphs = PlyGraphs() if config.cuda_graph and device.type == "cuda" else None

    def state(self) -> dict[str, Tensor]:
        """Everything that changes between windows, by name; the tensors themselves, not copies."""
        state = {f"games.{name}": tensor for name, tensor in self.games.state().items()}
        state |= {f"stakes.{name}": getattr(self.stakes, name) for name in SlotStakes.STATE}
        return state | {"prediction": self.prediction}

    def load_state(self, state: dict[str, Tensor]) -> None:
        """Take up what `state` returned; ``ValueError`` names what does not fit."""
        self.games.load_state(
            {name.removeprefix("games."): value for name, value in state.items() if name.startswith("games.")}
        )
        self._check_games()
        rest = {name: mine for name, mine in self.state().items() if not name.startswith("games.")}
        for name, mine in rest.items():
            found = state.get(name)
            if found is None or found.shape != mine.shape or found.dtype != mine.dtype:
                raise ValueError(f"self-play: {name}: found {found}, wanted shape {tuple(mine.shape)} of {mine.dtype}")
        self.bind({name: state[name].to(mine.device).clone() for name, mine in rest.items()})

    def bind(self, state: Mapping[str, Tensor]) -> None:
        """Go on from the tensors of ``state``, some of those that `state` names, themselves; nothing is checked."""
        holders = {"": self, "games": self.games, "stakes": self.stakes}
        for path, tensor in state.items():
            holder, _, name = path.rpartition(".")
            setattr(holders[holder], name, tensor)

    def _check_games(self) -> None:
        """The kernels of a ply check nothing, and a damaged file may hold anything: ``ValueError`` here instead."""
        games = self.games
        check_boards(games.boards, get_variant(self.variant))
        for name, least, greatest in (("player", 0, 1), ("dice", 0, 6), ("cube_owner", 0, 2)):
            values = getattr(games, name)
            if bool(((values < least) | (values > greatest)).any()):
                raise ValueError(f"games: {name}: found a number that is not {least} to {greatest}")

    def collect(self, candidates: CandidatePass | None = None, draw: bool = False) -> Window:
        """Play ``window_plies`` turns of every game and return what was seen.

        With ``candidates`` only the plays that pass it are valued; with ``draw`` a play of every turn is kept.
        """
        if self.graphs is not None:
            window = self.graphs.collect(self, candidates, draw)
            if window is not None:
                return window
        first = FirstLayer(self.network)
        lanes = self._lanes()
        if not lanes:
            return self._collect(first, candidates, draw)
        windows: dict[int, Window] = {}

        def work(begin: int, end: int) -> None:
            for number in range(begin, end):
                windows[number] = lanes[number]._collect(first, candidates, draw)

        split_rows(work, len(lanes), 1)
        self._join(lanes)
        in_order = [windows[number] for number in range(len(lanes))]
        return each_tensor(lambda *tensors: torch.cat(tensors, 1), *in_order)

    def _lanes(self) -> list[SelfPlay]:
        """The games in equal parts, one for each thread; none if one thread plays them or the parts would be small."""
        number, total = num_threads(), self.config.num_games
        if number == 1 or total // number < _MIN_LANE or self.games.device.type != "cpu":
            return []
        bounds = [total * part // number for part in range(number + 1)]
        return [self.part(begin, end) for begin, end in pairwise(bounds)]

    def part(self, begin: int, end: int) -> SelfPlay:
        """The games from ``begin`` to ``end`` alone, on the same memory, with counts of their own."""
        lane = copy.copy(self)
        lane.graphs = None
        lane.games = self.games.part(begin, end)
        lane.stakes = self.stakes.part(begin, end, lane.games)
        lane.counts = GameCounts.none(self.games.device)
        lane.prediction = self.prediction[begin:end]
        return lane

    def _join(self, lanes: list[SelfPlay]) -> None:
        self.games.join([lane.games for lane in lanes])
        self.stakes.join([lane.stakes for lane in lanes])
        self.prediction = torch.cat([lane.prediction for lane in lanes])
        for lane in lanes:
            self.counts.add(lane.counts)

    @torch.no_grad()
    def _collect(self, first: FirstLayer, candidates: CandidatePass | None, draw: bool) -> Window:
        plies, num_rows = zip(
            *(self.ply(first, candidates, draw) for _ in range(self.config.window_plies)), strict=True
        )
        if self.graphs is not None:
            self.graphs.make_room(torch.stack(num_rows).amax(0).tolist())
        return stack_plies(list(plies))

    def ply(
        self, first: FirstLayer, candidates: CandidatePass | None, draw: bool, capacity: Capacity | None = None
    ) -> tuple[Window, Tensor]:
        """One turn of every game: roll, play, the other side's cube decision, and a new game where it is over.

        Returns:
            What was seen, and the `Plays.num_rows`.
        """
        games, stakes = self.games, self.stakes
        opening = games.dice[:, 0] != 0
        games.roll()
        boards, dice = games.boards, games.dice
        here = stakes.seen_by(games.player) if self.has_stakes else None
        following = None if here is None else here.flip()
        second_first = games.second_first()
        turns = (boards, dice, self.variant, second_first)
        plays = evaluate_plays(self.network, *turns, first, following, candidates, self.bfloat16, capacity)
        best = plays.best()
        column = torch.where(stakes.kind == CUBELESS, 0, games.cube_owner.long() + 1)
        column = column + torch.where(stakes.played(), 3, 0)
        row = best.gather(1, column[:, None])
        outcome = self._outcomes_of(plays, best[:, 0])
        values = plays.values.gather(0, best)
        self.prediction = torch.where(opening[:, None], self._seen_by_player_0(outcome), self.prediction)
        position = self._reached(plays, row[:, 0], following)
        drawn = self._draw(plays) if draw else None
        finish = games.play(position.afterstates)
        drop, turned = self._cube_decision(position, finish.finished)
        end = replace(finish, finished=finish.finished | drop.finished, dropped=drop.dropped)
        self._count(end)
        self._deal(end.finished)
        stake = None
        if here is not None and position.stake is not None:
            stake = StakeWindow(here=here, cube=values[:, 4:], turned=turned, **vars(position.stake))
        seen = Window(
            boards=boards,
            opening=opening,
            second_first=second_first,
            dice=dice,
            outcome=outcome,
            cube=values[:, 1:4],
            followed=best == row,
            next_no_double=position.no_double,
            ended=end.finished,
            stake=stake,
            drawn=drawn,
        )
        return seen, plays.num_rows

    def _draw(self, plays: Plays) -> DrawnPlays:
        """One of each game's ``plays``, all equally likely."""
        games = self.games
        numbers = uniforms(games.seed, games.slots, games.num_rolls, Purpose.LEARNER)
        counts = torch.diff(plays.ends, prepend=plays.ends.new_zeros(1))
        place = torch.minimum((numbers.double() * counts).long(), counts - 1)
        rows = plays.ends - counts + place
        return DrawnPlays(plays.boards[rows], plays.values[rows, 0])

    def _reached(self, plays: Plays, rows: Tensor, following: Stakes | None) -> _Reached:
        """The afterstates of ``rows``, one a game, and their cube values for the player on roll next."""
        raw, afterstates = plays.raw[rows], plays.boards[rows]
        possible = possible_outcomes(afterstates, self.variant, swap=True)
        probs = probabilities(raw, possible)
        no_double = torch.clamp(no_double_values(raw, probs), *bounds(possible))
        stake = None
        if following is not None:
            values = context_no_double(self.network, raw, probs, possible, following)
            stake = _NextStake(*values, following.may_double[:, 0])
        return _Reached(afterstates, no_double, stake)

    def _cube_decision(self, position: _Reached, finished: Tensor) -> tuple[GameEnd, Tensor]:
        """Let the player next on roll double, if the game is played with the cube and not ``finished`` ``[N]``.

        Returns:
            The games that end by a drop, and where the cube was taken, ``[N]`` bool.
        """
        games, stakes = self.games, self.stakes
        owner = games.cube_owner.long()[:, None]
        here = position.no_double.gather(1, owner)[:, 0]
        taken = 2.0 * position.no_double[:, THEIRS]
        allowed = stakes.kind == MONEY
        if position.stake is not None:
            at_stake = position.stake
            played = stakes.played()
            here = torch.where(played, at_stake.next_no_double.gather(1, owner)[:, 0], here)
            taken = torch.where(played, at_stake.next_double_take, taken)
            allowed = allowed | (played & at_stake.next_may_double)
        offer = allowed & ~finished & (torch.clamp(taken, max=1.0) > here)
        take = taken <= 1.0
        turned = offer & take & games.may_double()
        return games.double(offer, take), turned

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


@dataclass(frozen=True)
class _NextStake:
    """What a `StakeWindow` keeps of the positions after one ply's plays."""

    next_no_double: Tensor
    next_double_take: Tensor
    next_may_double: Tensor


@dataclass(frozen=True)
class _Reached:
    """The positions after the plays made, the mover side 0, and their no-double values for the other player."""

    afterstates: Tensor
    no_double: Tensor
    stake: _NextStake | None
