"""One recorded game played through against the rules, action by action.

Plays are only applied as they come; `Walk.check_plays` checks all of them in one call of `afterstates`. Where the rules
agreed on are not known (match text does not say them), all is allowed that some agreement allows, dead cubes included.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch

from ..board import outcome, start_boards
from ..games import GameOptions
from ..movegen import afterstates
from .errors import NotationError, naming
from .hops import apply_hops
from .open_turn import OpenTurn, open_turn
from .record import Action, CubeAction, Resignation, Roll
from .state import MAX_CUBE, OFF, GameState, GameStatus, Offer, Position, rules_of

__all__ = ["Walk"]

MAX_ACTIONS = 20_000
_CUBE_ACTIONS = ("double", "beaver", "raccoon", "take", "drop")


class Walk:
    """One game from its first roll on.

    Attributes:
        states: the state in which each action was taken.
        state: the state after all of them.
        winner: a player number, None while the game goes on.
        level: of a win over the board or by resignation; 1 after a drop.
        rolled: the last roll, if no whole play was made with it.
        num_plays: how many plays were made.
        refused: the highest level of a resignation refused in this turn.
    """

    def __init__(
        self,
        match_length: int,
        score: tuple[int, int],
        crawford: bool,
        variant: str,
        rules: GameOptions | None = None,
        automatic_doubles: int = 0,
    ) -> None:
        rules_of(variant)
        mine, theirs = start_boards(1, variant)[0].tolist()
        self.rules = rules
        self.states: list[GameState] = []
        unknown = None if rules is None and not match_length else False
        self.state = GameState(
            (tuple(mine), tuple(theirs)),
            cube_value=_opening_cube(rules, automatic_doubles),
            match_length=match_length,
            score=score,
            crawford=crawford,
            jacoby=unknown if rules is None else rules.jacoby,
            beavers=unknown if rules is None else rules.beavers,
            max_cube=None if rules is None else (rules.max_cube if rules.cube else 1),
            variant=variant,
        )
        self.level = 0
        self.winner: int | None = None
        self.rolled: Roll | None = None
        self.refused = 0
        self._taken = False  # was a double taken in this turn?
        self._rolls: list[tuple[int, GameState, Position]] = []  # action, state before, board after

    @property
    def num_plays(self) -> int:
        """How many plays were made."""
        return len(self._rolls)

    def play(self, actions: Sequence[Action]) -> None:
        """Take all ``actions`` and check the plays; the first fault in order of play is raised."""
        fault: NotationError | None = None
        for number, action in enumerate(actions, start=1):
            try:
                with naming(f"action {number}"):
                    self.add(action)
            except NotationError as error:
                fault = error
                break
        self.check_plays()
        if fault is not None:
            raise fault
        self.open_turn()

    def add(self, action: Action) -> None:
        """Take one action; ``NotationError`` if it is not its player's or not allowed now."""
        if len(self.states) >= MAX_ACTIONS:
            raise NotationError(f"found more than {MAX_ACTIONS} actions in a game")
        if action.player not in (0, 1):
            raise NotationError(f"player: found {action.player}, wanted 0 or 1")
        self._check_running()
        if isinstance(action, Resignation):
            self._resign(action)
        elif isinstance(action, Roll):
            self._roll(action)
        else:
            self._turn_or_answer(action)

    def check_roll(self, player: int) -> None:
        """``NotationError`` unless ``player`` may roll now."""
        self._check_turn(player, "a roll")
        if self.state.offer:
            raise NotationError("found a roll while a double is on offer, wanted an answer to it")

    def is_dance(self, dice: tuple[int, int]) -> bool:
        """Has the player on roll no legal move with these dice?"""
        second_first = torch.tensor([self.num_plays == 1])
        board = self.state.tensor()[None]
        _, ends = afterstates(board, torch.tensor([dice]), self.state.variant, second_first)
        return bool((ends == board).all())

    def check_plays(self) -> None:
        """``NotationError`` names the first play that is not legal."""
        if not self._rolls:
            return
        boards = torch.stack([before.tensor() for _, before, _ in self._rolls])
        dice = torch.tensor([before.dice for _, before, _ in self._rolls])
        wanted = torch.tensor([after for *_, after in self._rolls], dtype=torch.int8)
        second_first = torch.arange(len(boards)) == 1
        game, ends = afterstates(boards, dice, self.state.variant, second_first)
        reached = torch.zeros(len(boards), dtype=torch.bool)
        reached[game[(ends == wanted[game]).flatten(1).all(1)]] = True
        if not bool(reached.all()):
            index = int((~reached).nonzero()[0, 0])
            number, before, _ = self._rolls[index]
            roll = "-".join(map(str, before.dice or ()))
            count = int((game == index).sum())
            raise NotationError(
                f"action {number}: the play of {roll} by player {before.player} is not legal, "
                f"wanted one of {count} legal play{'' if count == 1 else 's'}"
            )

    def open_turn(self) -> OpenTurn | None:
        """The turn that has begun and is not finished, if the game goes on; ``NotationError`` if a move is illegal."""
        if self.rolled is None or self.winner is not None:
            return None
        with naming(f"action {len(self.states)}"):
            board, roll = self.state.tensor(), self.rolled
            return open_turn(board, roll.dice, roll.moves, self.state.variant, self.num_plays == 1)

    def points(self) -> int:
        """What the winner gets, 0 while the game goes on; unless the rules say so, a gammon counts with any cube."""
        counted = self.level
        if self.rules is not None and self.rules.jacoby and self.state.cube_owner is None:
            counted = min(counted, 1)
        return self.state.cube_value * counted

    def check_result(self, winner: int | None, points: int) -> None:
        """``NotationError`` unless the game ended so, or is unfinished and ``winner`` None."""
        if winner != self.winner:
            found, wanted = ("no winner" if player is None else f"player {player}" for player in (winner, self.winner))
            raise NotationError(f"winner: found {found}, wanted {wanted}")
        wanted_points = [self.points()]
        if self._jacoby_possible():
            wanted_points.append(self.state.cube_value)
        if points not in wanted_points:
            raise NotationError(f"points: found {points}, wanted {' or '.join(map(str, wanted_points))}")

    def _jacoby_possible(self) -> bool:
        """A gammon over the board, money, the cube never turned: one point if the Jacoby rule was in use."""
        over_the_board = self.state.status is GameStatus.OVER and self.level > 1
        return self.rules is None and over_the_board and not self.state.match_length and self.state.cube_owner is None

    def _resign(self, action: Resignation) -> None:
        state = self.state
        if not self.states:
            raise NotationError("found a resignation before the first roll, wanted a roll")
        if state.offer:
            raise NotationError("found the end of the game while a double is on offer, wanted an answer to it")
        highest = rules_of(state.variant).max_level
        if not 1 <= action.level <= highest:
            raise NotationError(f"resignation: found level {action.level}, wanted 1 to {highest}")
        if self.rolled is not None and self.rolled.player != action.player:
            raise NotationError("found a roll of the player who won without a play, wanted the play")
        if self.rolled is not None and not action.accepted:
            raise NotationError("found a resignation after a roll and not accepted, wanted it before the roll")
        if self.rules is not None:
            self._check_resignation(action)
        if action.level <= self.refused:
            raise NotationError(f"resignation: found level {action.level}, wanted more than the {self.refused} refused")
        self.states.append(state)
        if action.accepted:
            self._end(1 - action.player, action.level, GameStatus.RESIGNED)
        elif action.accepted is None:
            self.state = replace(state, resignation=action.level)
        else:
            self.refused = action.level

    def _check_resignation(self, action: Resignation) -> None:
        """1.8: before rolling, by the player on roll."""
        if self.rules is not None and not self.rules.resignation:
            raise NotationError("found a resignation, wanted none: this game is played without")
        if action.player != self.state.player:
            raise NotationError(f"found a resignation of player {action.player}, wanted player {self.state.player}'s")
        if self.rolled is not None or self._taken:
            raise NotationError("found a resignation, wanted it before rolling and doubling")

    def _end(self, winner: int, level: int, status: GameStatus) -> None:
        self.winner, self.level = winner, level
        self.state = replace(self.state, status=status, offer=Offer.NONE, dice=None)

    def _roll(self, roll: Roll) -> None:
        self.check_roll(roll.player)
        if self.rules is not None and not self.states:
            _check_opening(roll)
        before = replace(self.state, dice=roll.dice)
        self.states.append(before)
        self._taken, self.refused = False, 0
        if roll.hops is None:
            self.rolled = roll
            self.state = before
            return
        if roll.moves:
            raise NotationError("found moves beside a whole play, wanted one or the other")
        after, _ = apply_hops(before.board, roll.hops, before.variant)
        self._rolls.append((len(self.states), before, after))
        self.state = replace(self.state, board=after[::-1], player=1 - roll.player)
        if after[0][OFF] == sum(after[0]):
            level = int(outcome(torch.tensor([after], dtype=torch.int8), self.state.variant))
            self._end(roll.player, level, GameStatus.OVER)

    def _check_running(self) -> None:
        if self.winner is not None:
            raise NotationError("found an action after the end of the game, wanted none")
        if self.state.resignation:
            raise NotationError("found an action while a resignation is on offer, wanted an answer to it")

    def _check_turn(self, player: int, what: str) -> None:
        """It must be ``player``'s turn; whoever acts first has begun the game."""
        self._check_running()
        if self.rolled is not None:
            raise NotationError("found an action after a roll without a play, wanted a resignation")
        if not self.states:
            self.state = replace(self.state, player=player)
        if player != self.state.decides:
            raise NotationError(f"found {what} of player {player}, wanted an action of player {self.state.decides}")

    def _turn_or_answer(self, action: CubeAction) -> None:
        if action.kind not in _CUBE_ACTIONS:
            raise NotationError(f"cube action: found {action.kind!r}, wanted one of {', '.join(_CUBE_ACTIONS)}")
        if not self.states:
            raise NotationError(f"found a {action.kind} before the first roll, wanted a roll")
        self._check_turn(action.player, f"a {action.kind}")
        state = self.state
        if action.kind == "double":
            self._double()
        elif not state.offer:
            raise NotationError(f"found a {action.kind} without a double on offer, wanted a roll or a double")
        elif action.kind == "drop":
            self.states.append(state)
            self._end(1 - action.player, 1, GameStatus.DROPPED)
        else:
            self._accept(action.kind)

    def _double(self) -> None:
        state, rules = self.state, self.rules
        if state.offer:
            raise NotationError("found a double while one is on offer, wanted an answer to it")
        if state.cube_owner == 1 - state.player or state.crawford:
            why = "in the Crawford game" if state.crawford else "with the opponent's cube"
            raise NotationError(f"found a double {why}, wanted a roll")
        if rules is not None:
            if not rules.cube:
                raise NotationError("found a double, wanted none: this game is played without a cube")
            if state.match_length and state.score[state.player] + state.cube_value >= state.match_length:
                raise NotationError(f"found a double of a dead cube at {state.cube_value}, wanted a roll")
            _check_value(2 * state.cube_value, rules)
        self.states.append(state)
        self.state = replace(state, offer=Offer.DOUBLE)

    def _accept(self, kind: str) -> None:
        """Take, or turn the cube once more: the double before is then taken, the cube the beaverer's."""
        state, rules = self.state, self.rules
        if kind != "take" and (state.match_length or {"beaver": 1, "raccoon": 2}[kind] != state.offer):
            raise NotationError(
                f"found a {kind} after a {state.offer.name.lower()}, wanted a take or a drop"
                + (" (match play has no beavers)" if state.match_length else "")
            )
        if kind != "take" and rules is not None:
            if not (rules.beavers if kind == "beaver" else rules.raccoons):
                raise NotationError(f"found a {kind}, wanted none: this game is played without")
            _check_value(4 * state.cube_value, rules)
        self.states.append(state)
        self._taken = kind == "take"
        owner = 1 - state.player if state.offer is Offer.DOUBLE else state.cube_owner
        offer = {"take": Offer.NONE, "beaver": Offer.BEAVER, "raccoon": Offer.RACCOON}[kind]
        self.state = replace(state, cube_value=2 * state.cube_value, cube_owner=owner, offer=offer)


def _opening_cube(rules: GameOptions | None, automatic_doubles: int) -> int:
    """What the cube shows at the start."""
    most = 0
    if rules is not None:
        if rules.max_cube > MAX_CUBE:
            raise NotationError(f"cube limit: found {rules.max_cube}, wanted at most {MAX_CUBE}")
        most = rules.max_opening_cube.bit_length() - 1
    if not 0 <= automatic_doubles <= most:
        raise NotationError(f"automatic doubles: found {automatic_doubles}, wanted 0 to {most}")
    return 1 << automatic_doubles


def _check_opening(roll: Roll) -> None:
    """1.2: a die each, player 0's first, and who has the higher one starts."""
    first, second = roll.dice
    if first == second or roll.player != int(second > first):
        raise NotationError(
            f"opening: found {first}-{second} and player {roll.player} on roll, wanted the player with the higher die "
            "to start"
        )


def _check_value(value: int, rules: GameOptions) -> None:
    """2.5: no turn of the cube goes above the limit."""
    if value > rules.max_cube:
        raise NotationError(f"found the cube turned to {value}, wanted at most {rules.max_cube}")
