"""A batch of games with cube and match score, one turn at a time, all on one device.

A turn goes: `Games.resign` and `Games.double` (may be skipped), `Games.roll`, `Games.play`; whatever has ended is dealt
again by `Games.deal`. Nothing here decides anything: offers, answers and plays come from outside. Every method changes
the state in place, allocates a few ``[N]`` tensors and never waits for the device.

Points of view: ``boards``, ``cube_owner`` are those of the player on roll; ``score`` and results are by player
number, 0 and 1; ``player`` says who is on roll.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from .board import flip, outcome, start_boards
from .cube import CENTRED, THEIRS, Cube, flip_owner, may_double, may_turn_again
from .dice import check_seed, opening_ties, rolls
from .variants import get_variant

__all__ = ["GameEnd", "GameOptions", "Games"]


@dataclass(frozen=True)
class GameOptions:
    """What is played. ``match_length`` 0 is money: each game for itself.

    Attributes:
        variant: name of the discipline.
        match_length: points to win a match, 0 for money.
        cube: is there a doubling cube?
        jacoby: money only, see `Cube`.
        crawford: matches only: no cube in the first game that a side starts one point short.
        max_cube: no turn of the cube may go above this.
        beavers: money only: who is doubled may turn the cube once more at once and keep it.
        raccoons: money only, with beavers: the offerer may turn it a third time; it stays the beaverer's.
        automatic_doubles: money only: how many ties of an opening roll double the centred cube.
        resignation: before rolling a side may offer to lose at a level; the opponent accepts or play goes on (1.8).
    """

    variant: str = "backgammon"
    match_length: int = 0
    cube: bool = True
    jacoby: bool = False
    crawford: bool = True
    max_cube: int = 64
    beavers: bool = False
    raccoons: bool = False
    automatic_doubles: int = 0
    resignation: bool = False

    def __post_init__(self) -> None:
        get_variant(self.variant)
        if not 0 <= self.match_length <= 1000:
            raise ValueError(f"match_length: found {self.match_length}, wanted 0 (money) to 1000")
        if not 1 <= self.max_cube <= 1 << 24 or self.max_cube & (self.max_cube - 1):
            raise ValueError(f"max_cube: found {self.max_cube}, wanted a power of two from 1 to 2^24")
        if self.automatic_doubles < 0:
            raise ValueError(f"automatic_doubles: found {self.automatic_doubles}, wanted 0 or more")
        for name in ("jacoby", "beavers", "raccoons", "automatic_doubles"):
            if getattr(self, name) and self.match_length:
                raise ValueError(f"{name}: found it with match_length, wanted it in money games only")
        for name in ("beavers", "raccoons", "automatic_doubles"):
            if getattr(self, name) and not self.cube:
                raise ValueError(f"{name}: found it without a cube, wanted it in games with one only")
        if self.raccoons and not self.beavers:
            raise ValueError("raccoons: found it without beavers, which they answer; wanted both or beavers alone")

    @property
    def max_opening_cube(self) -> int:
        """The highest value that automatic doubles may bring."""
        return min(1 << min(self.automatic_doubles, 24), self.max_cube)


@dataclass(frozen=True)
class GameEnd:
    """What ended just now, all ``[N]``; zero or False where a game goes on.

    Attributes:
        finished: bool, this game ended.
        points: int32, signed, points won by player 0 (level x cube, Jacoby applied, surplus of a match counted).
        level: int8, signed, +1 to +3 if player 0 won over the board or was resigned to at that level, negative if
            player 1; 0 after a drop or an award. Jacoby does not change it.
        dropped: bool, it ended by a refused double, beaver or raccoon.
        resigned: bool, it ended by an accepted resignation.
        match_winner: int8, +1 or -1 if a match ended too (player 0 or 1 won it); for money always 0.
    """

    finished: Tensor
    points: Tensor
    level: Tensor
    dropped: Tensor
    resigned: Tensor
    match_winner: Tensor


class Games:
    """``num_games`` games side by side, in slots numbered from ``first_slot``.

    The dice of a slot depend on (``seed``, slot, number of rolls in that slot) alone.

    Attributes:
        boards: ``[N, 2, 26]`` int8, side 0 on roll.
        player: ``[N]`` int8, the number of the player on roll.
        dice: ``[N, 2]`` int8, 0 0 before the roll. After `deal` they hold the opening roll.
        cube_value: ``[N]`` int32. cube_owner: ``[N]`` int8, 0 centred, 1 the player on roll, 2 the other.
        score: ``[N, 2]`` int32, match points by player, capped at the length; always 0 for money.
        crawford: ``[N]`` bool, this game is the Crawford game. crawford_done: it has been played in this match.
        turn: ``[N]`` int32, turns completed in this game.
        num_rolls: ``[N]`` int64, rolls drawn in this slot since the start.
        refused: ``[N]`` int8, the highest level of a resignation refused in this turn, 0 for none.
    """

    def __init__(
        self,
        num_games: int,
        options: GameOptions | None = None,
        seed: int = 0,
        first_slot: int = 0,
        device: torch.device | str = "cpu",
    ) -> None:
        self.options = options or GameOptions()
        self.seed = seed
        check_seed(seed)
        self.device = torch.device(device)
        self.num_games = num_games
        self.slots = torch.arange(first_slot, first_slot + num_games, dtype=torch.int64, device=self.device)
        self._start = start_boards(1, self.options.variant, self.device)

        def zeros(dtype: torch.dtype, *shape: int) -> Tensor:
            return torch.zeros((num_games, *shape), dtype=dtype, device=self.device)

        self.boards = self._start.repeat(num_games, 1, 1)
        self.player = zeros(torch.int8)
        self.dice = zeros(torch.int8, 2)
        self.cube_value = zeros(torch.int32) + 1
        self.cube_owner = zeros(torch.int8)
        self.score = zeros(torch.int32, 2)
        self.crawford = zeros(torch.bool)
        self.crawford_done = zeros(torch.bool)
        self.turn = zeros(torch.int32)
        self.num_rolls = zeros(torch.int64)
        self.refused = zeros(torch.int8)
        self.deal(torch.ones(num_games, dtype=torch.bool, device=self.device))

    _STATE = (
        "boards",
        "player",
        "dice",
        "cube_value",
        "cube_owner",
        "score",
        "crawford",
        "crawford_done",
        "turn",
        "num_rolls",
        "refused",
    )

    def state(self) -> dict[str, Tensor]:
        """Everything that changes, by name; the tensors themselves, not copies."""
        return {name: getattr(self, name) for name in self._STATE}

    def part(self, begin: int, end: int) -> Games:
        """The games from ``begin`` to ``end`` alone, on the same memory; `join` takes back what becomes of them."""
        part = copy.copy(self)
        part.num_games = end - begin
        part.slots = self.slots[begin:end]
        for name, value in self.state().items():
            setattr(part, name, value[begin:end])
        return part

    def join(self, parts: Sequence[Games]) -> None:
        """Take over the state of ``parts``, which together are all the games in their order."""
        for name in self._STATE:
            setattr(self, name, torch.cat([getattr(part, name) for part in parts]))

    def load_state(self, state: dict[str, Tensor]) -> None:
        """Take up a state saved by `state`; ``ValueError`` names what does not fit."""
        state = {"refused": torch.zeros_like(self.refused), **state}  # older states know of no resignations
        for name in self._STATE:
            mine = getattr(self, name)
            if name not in state:
                raise ValueError(f"games: {name}: found nothing, wanted shape {tuple(mine.shape)}")
            found = state[name]
            if found.shape != mine.shape or found.dtype != mine.dtype:
                raise ValueError(
                    f"games: {name}: found shape {tuple(found.shape)} of {found.dtype}, "
                    f"wanted {tuple(mine.shape)} of {mine.dtype}"
                )
            setattr(self, name, found.to(self.device).clone())

    def away(self) -> Tensor:
        """Points still needed by the player on roll and the other, ``[N, 2]`` int32; 0 0 for money."""
        if not self.options.match_length:
            return torch.zeros_like(self.score)
        away = self.options.match_length - self.score
        return torch.where(self.player[:, None] == 0, away, away.flip(-1))

    def second_first(self) -> Tensor:
        """Where the turn is the second player's first of a game, ``[N]`` bool; see `afterstates`."""
        return self.turn == 1

    def cube(self) -> Cube:
        """Cube and score as the player on roll sees them; of a finished match, until `deal`, with 0 points missing."""
        return Cube.unchecked(
            value=self.cube_value,
            owner=self.cube_owner,
            jacoby=self.options.jacoby,
            beavers=self.options.beavers,
            away=self.away() if self.options.match_length else None,
            crawford=self.crawford if self.options.match_length else False,
            max_cube=self.options.max_cube,
        )

    def may_double(self) -> Tensor:
        """Where the player on roll may offer the cube now (rules.md 2.2, the dice included), ``[N]`` bool."""
        if not self.options.cube:
            return torch.zeros_like(self.crawford)
        allowed = may_double(self.cube_value, self.cube_owner, self.away(), self.crawford, self.options.max_cube)
        return allowed & (self.dice[:, 0] == 0)

    def may_turn_again(self) -> Tensor:
        """How often a double may be turned again: 0, 1 by a beaver, 2 by a raccoon too (2.9), ``[N]`` int8."""
        options = self.options
        return may_turn_again(self.cube_value, options.beavers, options.raccoons, options.max_cube)

    def double(self, offer: Tensor, take: Tensor, turned_again: Tensor | None = None) -> GameEnd:
        """Offer the cube where ``offer`` ``[N]`` holds and `may_double` allows; the opponent answers ``take`` ``[N]``.

        A take doubles the cube and gives it to the opponent; a drop ends the game for the value before (2.3). Where
        ``turned_again`` ``[N]`` int8 is 1 the opponent has beavered first, and ``take`` is the offerer's answer to
        that; where it is 2 the offerer has raccooned then, and the opponent answers (2.9). Above `may_turn_again` it
        counts as that.
        """
        offer = offer & self.may_double()
        dropped = offer & ~take
        taken = offer & take
        value, gain, turned = self.cube_value, self._sign() * self.cube_value, taken
        if turned_again is not None:
            times = torch.minimum(turned_again, self.may_turn_again())
            value = torch.where(offer, value << times, value)
            gain = self._sign() * torch.where(times == 1, -value, value)  # the offerer may drop a beaver
            turned = offer & (take | (times > 0))
        points = torch.where(dropped, gain, 0)
        self.cube_value = torch.where(taken, value * 2, value)
        self.cube_owner = torch.where(turned, THEIRS, self.cube_owner).to(torch.int8)
        return self._end(dropped, points, torch.zeros_like(self.player), dropped=dropped)

    def may_resign(self) -> Tensor:
        """Which levels, 1 to 3, the player on roll may offer to lose now (1.8), ``[N, 3]`` bool."""
        if not self.options.resignation:
            return torch.zeros((self.num_games, 3), dtype=torch.bool, device=self.device)
        levels = torch.arange(1, 4, device=self.device)
        possible = levels <= get_variant(self.options.variant).max_level
        return possible & (levels > self.refused[:, None]) & (self.dice[:, :1] == 0)

    def resign(self, level: Tensor, accept: Tensor) -> GameEnd:
        """Offer to lose at ``level`` ``[N]``, 0 for no offer, where `may_resign` allows; the opponent says ``accept``.

        Accepted, it ends the game as if it had been lost so over the board. Refused, the turn goes on; until its end no
        level up to this one may be offered again.
        """
        allowed = self.may_resign().gather(1, (level.long() - 1).clamp(min=0)[:, None])[:, 0]
        offered = torch.where(allowed, level, 0).to(torch.int8)
        self.refused = torch.where((offered > 0) & ~accept, offered, self.refused)
        lost = torch.where(accept, -self._sign() * offered, 0)
        return self._end(lost != 0, self._worth(lost), lost.to(torch.int8), resigned=lost != 0)

    def award(self, where: Tensor, winner: Tensor) -> GameEnd:
        """Award the games where ``where`` ``[N]`` holds to the players ``winner`` ``[N]``, who gain the cube's value.

        For an opponent who owes an answer. It is neither a drop nor a resignation.
        """
        points = torch.where(where, (1 - 2 * winner.int()) * self.cube_value, 0)
        return self._end(where, points, torch.zeros_like(self.player))

    def roll(self, where: Tensor | None = None) -> None:
        """Roll for every game whose dice are not on the table (and, if given, where ``where`` holds)."""
        needed = self.dice[:, 0] == 0
        if where is not None:
            needed = needed & where
        dice = rolls(self.seed, self.slots, self.num_rolls)
        self.dice = torch.where(needed[:, None], dice, self.dice)
        self.num_rolls = self.num_rolls + needed

    def play(self, afterstates: Tensor, where: Tensor | None = None) -> GameEnd:
        """Leave each game on its chosen afterstate ``[N, 2, 26]`` (mover side 0) and pass the turn.

        With ``where`` ``[N]`` bool only those games move. Finished games keep the final position, seen by the loser,
        until `deal`.
        """
        level = outcome(afterstates, self.options.variant)
        if where is None:
            where = torch.ones_like(self.crawford)
        level = self._sign() * torch.where(where, level, 0)
        end = self._end(level != 0, self._worth(level), level.to(torch.int8))
        self.boards = torch.where(where[:, None, None], flip(afterstates), self.boards)
        self.player = torch.where(where, 1 - self.player, self.player)
        self.cube_owner = torch.where(where, flip_owner(self.cube_owner), self.cube_owner)
        self.dice = torch.where(where[:, None], 0, self.dice)
        self.turn = self.turn + where
        self._forget_refusals(where)
        return end

    def deal(self, where: Tensor) -> None:
        """Start the next game where ``where`` ``[N]`` holds, its opening roll on the table (1.2).

        Where a match has ended, a new one begins.
        """
        opening = rolls(self.seed, self.slots, self.num_rolls, where)
        value = self._opening_cube()
        self.num_rolls = self.num_rolls + where
        self.boards = torch.where(where[:, None, None], self._start, self.boards)
        starter = (opening[:, 1] > opening[:, 0]).to(torch.int8)
        self.player = torch.where(where, starter, self.player)
        self.dice = torch.where(where[:, None], opening, self.dice)
        self.cube_value = torch.where(where, value, self.cube_value)
        self.cube_owner = torch.where(where, CENTRED, self.cube_owner).to(torch.int8)
        self.turn = torch.where(where, 0, self.turn)
        self._forget_refusals(where)
        length = self.options.match_length
        if length:
            self.crawford_done = self.crawford_done | (where & self.crawford)
            over = where & (self.score >= length).any(1)
            self.score = torch.where(over[:, None], 0, self.score)
            self.crawford_done = self.crawford_done & ~over
            one_short = (self.score == length - 1).any(1)
            crawford = one_short & ~self.crawford_done if self.options.crawford else torch.zeros_like(one_short)
            self.crawford = torch.where(where, crawford, self.crawford)

    def restart(self, where: Tensor) -> None:
        """Abandon what is played where ``where`` ``[N]`` holds: a new game or match at no score, as by `deal`."""
        self.score = torch.where(where[:, None], 0, self.score)
        self.crawford = self.crawford & ~where
        self.crawford_done = self.crawford_done & ~where
        self.deal(where)

    def place(
        self,
        where: Tensor,
        boards: Tensor | None = None,
        player: Tensor | None = None,
        dice: Tensor | None = None,
        cube: Cube | None = None,
    ) -> None:
        """Set up positions where ``where`` ``[N]`` holds; what is not given stays. Nothing is checked.

        Args:
            where: ``[N]`` bool.
            boards: ``[N, 2, 26]`` int8, side 0 on roll. How many turns have led there is not known: ``turn`` becomes 0
                where both sides stand at the start, 1 where only side 0 does, 2 elsewhere.
            player: ``[N]`` int8, the number of the player on roll.
            dice: ``[N, 2]`` int8, on the table; 0 0 before the roll.
            cube: value, owner and, in a match, score and Crawford as the player on roll sees them. The Crawford game
                counts as played if it is not this one and a side needs one point.
        """
        if boards is not None:
            self.boards = torch.where(where[:, None, None], boards, self.boards)
            mine, theirs = (boards == self._start).all(2).unbind(1)  # not yet moved
            turn = torch.where(mine, torch.where(theirs, 0, 1), 2).to(torch.int32)
            self.turn = torch.where(where, turn, self.turn)
        if player is not None:
            self.player = torch.where(where, player, self.player)
        if dice is not None:
            self.dice = torch.where(where[:, None], dice, self.dice)
        self._forget_refusals(where)
        if cube is None:
            return
        set_up = cube.as_tensors(self.num_games, self.device)
        self.cube_value = torch.where(where, set_up.value, self.cube_value)
        self.cube_owner = torch.where(where, set_up.owner, self.cube_owner)
        if self.options.match_length:
            score = self.options.match_length - set_up.away
            score = torch.where(self.player[:, None] == 0, score, score.flip(-1))
            post_crawford = (set_up.away == 1).any(1) & ~set_up.crawford
            self.score = torch.where(where[:, None], score, self.score)
            self.crawford = torch.where(where, set_up.crawford, self.crawford)
            self.crawford_done = torch.where(where, post_crawford, self.crawford_done)

    def _sign(self) -> Tensor:
        """+1 where player 0 is on roll, -1 where player 1 is, ``[N]`` int32."""
        return 1 - 2 * self.player.int()

    def _opening_cube(self) -> Tensor | int:
        """What the cube shows after the opening rolls drawn now: doubled by each tie that counts (2.9)."""
        highest = self.options.max_opening_cube
        if highest == 1:
            return 1
        ties = opening_ties(self.seed, self.slots, self.num_rolls, highest.bit_length() - 1)
        return (1 << ties).to(torch.int32)

    def _worth(self, level: Tensor) -> Tensor:
        """Points of a win at signed ``level`` ``[N]`` with the cube as it stands, signed, ``[N]`` int32."""
        counted = level.int()
        if self.options.jacoby:  # 2.9: a centred cube was never turned
            counted = torch.where(self.cube_owner == CENTRED, counted.sign(), counted)
        return counted * self.cube_value

    def _forget_refusals(self, where: Tensor) -> None:
        """A new turn begins where ``where`` ``[N]`` holds."""
        if self.options.resignation:
            self.refused = torch.where(where, 0, self.refused)

    def _end(self, finished: Tensor, points: Tensor, level: Tensor, **cause: Tensor) -> GameEnd:
        """Count the games ``finished``; ``cause`` is ``dropped`` or ``resigned``, if one of them."""
        length = self.options.match_length
        match_winner = torch.zeros_like(self.player)
        if length:
            won = torch.stack([points.clamp(min=0), (-points).clamp(min=0)], 1)
            self.score = (self.score + won).clamp(max=length)  # 2.8: surplus points have no effect
            reached = finished[:, None] & (self.score >= length)
            match_winner = reached[:, 0].to(torch.int8) - reached[:, 1].to(torch.int8)
        never = torch.zeros_like(finished)
        causes = {"dropped": never, "resigned": never} | cause
        return GameEnd(finished, points.int(), level, **causes, match_winner=match_winner)
