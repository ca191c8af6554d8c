"""Games taken decision by decision: one checker move, one cube decision at a time, for a whole batch.

`Decisions` adds to `Games` what lies inside a turn: whose decision of which kind is next (`Phase`), the position so far
and the dice left. Whole-turn steps go through `Games` and its rules. Every game takes one action a `step`; dice are
rolled as soon as nobody has anything to decide before. Cost of a step: three launches and a few dozen ``[N]``
operations, no host synchronisation.

Actions are numbers, the same in every discipline: a move is ``(die - 1) * 25 + (point - 1)`` with the point in the
mover's numbering and 25 for the bar; the others have the names below. Further kinds are appended at the end.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import torch
from torch import Tensor

from .board import flip
from .cube import THEIRS, Cube, flip_owner
from .games import GameEnd, Games
from .moves import apply_move, dice_to_play, heads_to_move, move_mask, use_die, use_head

__all__ = [
    "ACCEPT",
    "BEAVER",
    "DOUBLE",
    "DROP",
    "NUM_ACTIONS",
    "NUM_MOVES",
    "PASS",
    "RACCOON",
    "REFUSE",
    "RESIGN_BACKGAMMON",
    "RESIGN_GAMMON",
    "RESIGN_SINGLE",
    "ROLL",
    "TAKE",
    "Decisions",
    "Phase",
    "Step",
]

NUM_MOVES = 150
ROLL = 150  # roll without doubling, where there is a choice
DOUBLE = 151
TAKE = 152  # a double, a beaver or a raccoon
DROP = 153
PASS = 154  # no legal move: the only action then
BEAVER = 155
RACCOON = 156
RESIGN_SINGLE = 157
RESIGN_GAMMON = 158
RESIGN_BACKGAMMON = 159
ACCEPT = 160  # a resignation
REFUSE = 161
NUM_ACTIONS = 162


class Phase(IntEnum):
    """What is to be decided next."""

    CUBE = 0  # roll, double or resign, asked only where one of the latter is legal
    ANSWER = 1  # the opponent of the player on roll: take, drop or beaver
    MOVE = 2  # a checker to move, or the forced pass
    OVER = 3  # nothing until `Decisions.deal`
    BEAVERED = 4  # the player on roll, whose double was beavered: take, drop or raccoon
    RACCOONED = 5  # the opponent, whose beaver was answered by a raccoon: take or drop
    RESIGNED = 6  # the opponent: accept or refuse the resignation of the player on roll


@dataclass(frozen=True)
class Step:
    """What one action a game did, all ``[N]``.

    Attributes:
        legal: bool, the action was legal. Where it was not, nothing changed.
        end: the games that ended.
    """

    legal: Tensor
    end: GameEnd


class Decisions:
    """One decision a game at a time over ``games``, which it drives from then on.

    Attributes:
        games: the games; between turns their state is the whole state.
        phase: ``[N]`` int8, a `Phase`.
        boards: ``[N, 2, 26]`` int8, the position with the moves of this turn made; side 0 is the player on roll.
        dice_left: ``[N, 4]`` int8, dice still to play, 0 for none; all 0 outside `Phase.MOVE`.
        heads_left: ``[N]`` int8, how many more checkers may leave point 24 in this turn; counts in longgammon only.
        resignation: ``[N]`` int8, the level that the player on roll offers to lose, 0 outside `Phase.RESIGNED`.
        forced_dice: ``[N, 2]`` int8, the next roll of each game if not 0 0; may be set, is cleared when used. In an
            opening roll the first die is player 0's, and two equal dice count as a tie, with an automatic double if
            those are played: rolled again, at random (rules.md 1.2). Unequal dice are the first roll, so no tie has
            doubled the cube.
    """

    def __init__(self, games: Games) -> None:
        self.games = games
        self.phase = torch.zeros_like(games.player)
        self.boards = games.boards
        self.dice_left = torch.zeros((games.num_games, 4), dtype=torch.int8, device=games.device)
        self.heads_left = torch.zeros_like(games.player)
        self.resignation = torch.zeros_like(games.player)
        self._phases = torch.arange(len(Phase), dtype=torch.int8, device=games.device)
        self.forced_dice = torch.zeros_like(games.dice)
        self._begin(torch.ones_like(games.crawford))

    def mask(self) -> Tensor:
        """The legal actions, ``[N, 162]`` bool; at least one in every game that is not over. Not a copy."""
        return self._mask

    def player(self) -> Tensor:
        """Number of the player who decides, ``[N]`` int8; of a game that is over, who is on roll in `Games`."""
        return torch.where(self._opponent_decides(), 1 - self.games.player, self.games.player)

    def cube_shown(self) -> tuple[Tensor, Tensor]:
        """Value ``[N]`` int32 and owner ``[N]`` int8 of the cube, 1 the player on roll, 2 the opponent.

        While a double, beaver or raccoon waits, as they were before it: the value that a drop costs. From a beaver on
        the cube is the opponent's. `Games` hears of all this when the last answer is given.
        """
        value, owner, times = self.games.cube_value, self.games.cube_owner, self._turned_again()
        if times is None:
            return value, owner
        return value << times, torch.where(times > 0, THEIRS, owner).to(torch.int8)

    def observation(self) -> dict[str, Tensor]:
        """What the player who decides sees, all from his side.

        ``board`` ``[N, 2, 26]`` int8, side 0 he himself; ``dice`` ``[N, 4]`` int8, `dice_left`; ``phase`` ``[N]``
        int8; ``cube_value`` ``[N]`` int32 and ``cube_owner`` ``[N]`` int8, 0 centred, 1 he, 2 the opponent, as
        `cube_shown` says; ``away`` ``[N, 2]`` int32, points that he and the opponent still need, 0 0 for money;
        ``crawford`` ``[N]`` bool; ``resignation`` ``[N]`` int8, the level that the opponent offers to lose, 0 for none.
        """
        answers = self._opponent_decides()
        away = self.games.away()
        value, owner = self.cube_shown()
        return {
            "board": torch.where(answers[:, None, None], flip(self.boards), self.boards),
            "dice": self.dice_left,
            "phase": self.phase,
            "cube_value": value,
            "cube_owner": torch.where(answers, flip_owner(owner), owner),
            "away": torch.where(answers[:, None], away.flip(-1), away),
            "crawford": self.games.crawford,
            "resignation": self.resignation,
        }

    def step(self, actions: Tensor) -> Step:
        """Take one action a game, ``[N]`` of an integer type; an illegal one changes nothing.

        Where the action ends the turn, the other player's begins: `Phase.CUBE` if there is a choice, else his roll. A
        game that ends stays, `Phase.OVER`, until `deal`.
        """
        actions = actions.long()
        known = (actions >= 0) & (actions < NUM_ACTIONS)
        legal = known & self._mask.gather(1, actions.clamp(0, NUM_ACTIONS - 1)[:, None])[:, 0]
        chosen = torch.where(legal, actions, -1)
        end = self._turn_cube(chosen)
        if self.games.options.resignation:
            end = _both(end, self._resign(chosen))
        self._roll((chosen == ROLL) | (chosen == TAKE))
        turn_over = self._move(chosen)
        end = _both(end, self.games.play(self.boards, turn_over))
        self._begin(turn_over | (chosen == REFUSE), end.finished)  # a turn goes on as it began
        return Step(legal, end)

    def play(self, afterstates: Tensor, where: Tensor) -> GameEnd:
        """End the turn on ``afterstates`` ``[N, 2, 26]`` where ``where`` ``[N]`` holds, all its moves at once.

        For those in `Phase.MOVE`; nothing is checked. See `Games.play`.
        """
        end = self.games.play(afterstates, where)
        self._begin(where, end.finished)
        return end

    def deal(self, where: Tensor) -> None:
        """Start the next game, of a finished match the next match, where ``where`` ``[N]`` holds; see `Games.deal`."""
        self.games.deal(where)
        self._opened(where)

    def restart(self, where: Tensor) -> None:
        """Abandon what is played where ``where`` ``[N]`` holds and start a game or match anew at no score."""
        self.games.restart(where)
        self._opened(where)

    def place(
        self,
        where: Tensor,
        boards: Tensor | None = None,
        player: Tensor | None = None,
        dice: Tensor | None = None,
        cube: Cube | None = None,
    ) -> None:
        """Set up positions where ``where`` ``[N]`` holds; see `Games.place`. The turn starts from the beginning."""
        self.games.place(where, boards=boards, player=player, dice=dice, cube=cube)
        self._begin(where)

    def _opened(self, where: Tensor) -> None:
        """Put forced opening rolls in the place of those just drawn, and begin."""
        forced = where & (self.forced_dice[:, 0] > 0)
        decided = forced & (self.forced_dice[:, 0] != self.forced_dice[:, 1])
        starter = (self.forced_dice[:, 1] > self.forced_dice[:, 0]).to(torch.int8)
        games = self.games
        games.place(decided, player=starter, dice=self.forced_dice)
        if games.options.automatic_doubles:
            doubled = (2 * games.cube_value).clamp(max=games.options.max_opening_cube)
            value = torch.where(decided, 1, torch.where(forced, doubled, games.cube_value))
            games.cube_value = value.to(torch.int32)
        self.forced_dice = torch.where(forced[:, None], 0, self.forced_dice)
        self._begin(where)

    def _begin(self, turn: Tensor, finished: Tensor | None = None) -> None:
        """Begin a turn where ``turn`` holds, or leave it there if the game has ``finished``; find what is legal."""
        games = self.games
        if finished is not None:
            turn = turn & ~finished
            self.phase = torch.where(finished, Phase.OVER, self.phase).to(torch.int8)
            self._show(finished)
        self._show(turn)
        doubles, resigns = games.may_double(), games.may_resign()
        asked = turn & (doubles | resigns.any(1))
        self.phase = torch.where(asked, Phase.CUBE, self.phase).to(torch.int8)
        if games.options.resignation:
            self.resignation = torch.where(turn, 0, self.resignation)
        self._roll(turn & ~asked)
        self._mask = self._legal(doubles, resigns)

    def _legal(self, doubles: Tensor, resigns: Tensor) -> Tensor:
        """The legal actions, of those before the roll what ``doubles`` ``[N]`` and ``resigns`` ``[N, 3]`` allow."""
        moves, again = self._moves(), self.games.may_turn_again()
        at_phase = (self.phase[:, None] == self._phases).unbind(1)  # a column each, in the order of `Phase`
        cube, answer, move, _, beavered, raccooned, resigned = at_phase
        turned = answer | beavered | raccooned
        dances = move & ~moves.any(1)
        beaver, raccoon = answer & (again >= 1), beavered & (again >= 2)
        columns = [cube, cube & doubles, turned, turned, dances, beaver, raccoon]
        columns += [*(cube & resigns.T), resigned, resigned]
        return torch.cat([moves, torch.stack(columns, 1)], 1)

    def _show(self, where: Tensor) -> None:
        """Take up the position of `Games` where ``where`` holds, with no dice to play."""
        self.boards = torch.where(where[:, None, None], self.games.boards, self.boards)
        self.dice_left = torch.where(where[:, None], 0, self.dice_left)

    def _roll(self, where: Tensor) -> None:
        """Roll where ``where`` holds, unless the dice lie there already, and go on to the moves."""
        games = self.games
        forced = where & (games.dice[:, 0] == 0) & (self.forced_dice[:, 0] > 0)
        games.dice = torch.where(forced[:, None], self.forced_dice, games.dice)
        self.forced_dice = torch.where(forced[:, None], 0, self.forced_dice)
        games.roll(where)
        self.phase = torch.where(where, Phase.MOVE, self.phase).to(torch.int8)
        self.dice_left = torch.where(where[:, None], dice_to_play(games.dice), self.dice_left)
        heads = heads_to_move(games.dice, games.options.variant, games.second_first())
        self.heads_left = torch.where(where, heads, self.heads_left)

    def _turn_cube(self, chosen: Tensor) -> GameEnd:
        """Turn the cube where that is chosen, and settle what a take or a drop ends."""
        taken = chosen == TAKE
        end = self.games.double(taken | (chosen == DROP), taken, self._turned_again())
        phase = torch.where(chosen == DOUBLE, Phase.ANSWER, self.phase)
        if self.games.options.beavers:
            phase = torch.where(chosen == BEAVER, Phase.BEAVERED, phase)
            phase = torch.where(chosen == RACCOON, Phase.RACCOONED, phase)
        self.phase = phase.to(torch.int8)
        return end

    def _resign(self, chosen: Tensor) -> GameEnd:
        """Offer resignations and settle those answered."""
        accepted = chosen == ACCEPT
        answered = accepted | (chosen == REFUSE)
        end = self.games.resign(torch.where(answered, self.resignation, 0), accepted)
        level = torch.where(answered, 0, self.resignation)
        offered = (chosen >= RESIGN_SINGLE) & (chosen <= RESIGN_BACKGAMMON)
        self.resignation = torch.where(offered, chosen - RESIGN_SINGLE + 1, level).to(torch.int8)
        self.phase = torch.where(offered, Phase.RESIGNED, self.phase).to(torch.int8)
        return end

    def _opponent_decides(self) -> Tensor:
        """Where the opponent of the player on roll decides, ``[N]`` bool."""
        phase = self.phase
        return (phase == Phase.ANSWER) | (phase == Phase.RACCOONED) | (phase == Phase.RESIGNED)

    def _turned_again(self) -> Tensor | None:
        """How often a double that waits was turned again, ``[N]`` int8 as for `Games.double`; None without beavers."""
        if not self.games.options.beavers:
            return None
        return (self.phase == Phase.BEAVERED).to(torch.int8) + 2 * (self.phase == Phase.RACCOONED).to(torch.int8)

    def _moves(self) -> Tensor:
        """The single moves that are legal now, ``[N, 150]`` bool."""
        return move_mask(self.boards, self.dice_left, self.games.options.variant, self.heads_left).flatten(1)

    def _move(self, chosen: Tensor) -> Tensor:
        """Make the chosen moves; where the turn is over then, ``[N]`` bool."""
        moves = (chosen >= 0) & (chosen < NUM_MOVES)
        die = torch.where(moves, chosen // 25 + 1, 0)
        point = chosen % 25 + 1
        self.boards = apply_move(self.boards, die, point, self.games.options.variant)
        self.dice_left = use_die(self.dice_left, die)
        self.heads_left = use_head(self.heads_left, die, point)
        return (chosen == PASS) | (moves & ~self._moves().any(1))


def _both(one: GameEnd, other: GameEnd) -> GameEnd:
    """The ends of two sets of games without a common one, as one."""
    return GameEnd(
        one.finished | other.finished,
        one.points + other.points,
        one.level + other.level,
        one.dropped | other.dropped,
        one.resigned | other.resigned,
        one.match_winner + other.match_winner,
    )
