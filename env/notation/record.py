"""Games and matches as they were played: what each player did, in order, checked against the rules.

A record says nothing of what was thought. Points of view: players by number, 0 at the top and named first; the moves
of a play in the mover's own numbering, 25 the bar, 0 off. Checking a game costs one call of `afterstates`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from ..board import outcome, start_boards
from ..movegen import afterstates
from .errors import NotationError, naming
from .moves import Hop, play_text, plays
from .state import BAR, MAX_SCORE, OFF, GameState, GameStatus, Offer, Position, rules_of

__all__ = ["CubeAction", "GameRecord", "MatchRecord", "Resignation", "Roll", "game_states", "recorded_roll"]

MAX_ACTIONS = 20_000
_CUBE_ACTIONS = ("double", "beaver", "raccoon", "take", "drop")


@dataclass(frozen=True)
class Roll:
    """A roll and the play made with it.

    Attributes:
        player: who rolled.
        dice: in the order rolled.
        hops: single moves (from, to), in any order, empty where none is legal; None where the game ended before a
            play, by a resignation or unfinished.
    """

    player: int
    dice: tuple[int, int]
    hops: tuple[Hop, ...] | None


@dataclass(frozen=True)
class CubeAction:
    """A turn of the cube or the answer to one: "double", "beaver", "raccoon", "take" or "drop".

    A beaver that is played on with is taken, by the player who doubled, like any other turn of the cube.
    """

    player: int
    kind: str


@dataclass(frozen=True)
class Resignation:
    """``player`` gives the game up and loses ``level`` (1 to 3) times the cube; it was accepted."""

    player: int
    level: int


Action = Roll | CubeAction | Resignation


@dataclass(frozen=True)
class GameRecord:
    """One game.

    Attributes:
        score: points of player 0 and player 1 before it.
        actions: everything done, in order.
        winner: a player number, None if the game was not finished.
        points: what the winner got, 0 if unfinished. Under the Jacoby rule a gammon counts 1 with a centred cube.
    """

    score: tuple[int, int]
    actions: tuple[Action, ...]
    winner: int | None
    points: int


@dataclass(frozen=True)
class MatchRecord:
    """A match, or a session of money games.

    Attributes:
        names: of player 0 and player 1.
        match_length: points to win, 0 for money.
        games: in order; only the last may be unfinished.
        headers: pairs such as ("Event", "…"), in the order of the file.
        variant: name of the discipline.
    """

    names: tuple[str, str]
    match_length: int
    games: tuple[GameRecord, ...]
    headers: tuple[tuple[str, str], ...] = ()
    variant: str = "backgammon"


def recorded_roll(player: int, dice: Sequence[int], before: Tensor, after: Tensor, variant: str = "backgammon") -> Roll:
    """The `Roll` of a play known by the boards ``[2, 26]`` before and after it, the mover side 0 of both.

    `NotationError` if no legal play leads there. Lists every legal play with its moves, milliseconds a call.
    """
    rules_of(variant)
    text = play_text(before, after, dice, variant)
    play = next(play for play in plays(before, dice, variant) if play.text == text)
    return Roll(player, (int(dice[0]), int(dice[1])), play.turns[0])


def game_states(match: MatchRecord) -> list[list[GameState]]:
    """For each game the state in which each action was taken, dice on the table where it is a play.

    `NotationError` names game and action where the record breaks a rule.
    """
    games = []
    for walk in walk_games(match):
        games.append(walk.states)
    return games


def walk_games(match: MatchRecord) -> list[Walk]:
    """Play every game of ``match`` through, checking actions, scores and results."""
    check_length(match.match_length)
    walks: list[Walk] = []
    for number, game in enumerate(match.games, start=1):
        with naming(f"game {number}"):
            walk = Walk(match.match_length, game.score, crawford_game(match, number - 1), match.variant)
            if number > 1:
                check_score(match.games[number - 2], game.score, match.match_length)
            walk.play(game.actions)
            walk.check_result(game.winner, game.points)
            if game.winner is None and number < len(match.games):
                raise NotationError("found it unfinished, wanted only the last game so")
        walks.append(walk)
    return walks


def check_length(match_length: int) -> None:
    """``NotationError`` unless it is 0 or the length of a match."""
    if not 0 <= match_length <= MAX_SCORE:
        raise NotationError(f"match length: found {match_length}, wanted 0 to {MAX_SCORE}")


def check_score(previous: GameRecord, score: tuple[int, int], match_length: int) -> None:
    """``NotationError`` unless ``score`` follows from the game before and leaves the match open."""
    if previous.winner is None:
        raise NotationError("found a game after an unfinished one, wanted none")
    wanted = list(previous.score)
    wanted[previous.winner] += previous.points
    if list(score) != wanted:
        raise NotationError(f"score: found {score[0]}-{score[1]}, wanted {wanted[0]}-{wanted[1]} after the game before")
    if match_length and max(score) >= match_length:
        raise NotationError(f"score: found {score[0]}-{score[1]}, wanted no game after the match to {match_length}")


def crawford_game(match: MatchRecord, index: int) -> bool:
    """Is that the Crawford game: the first recorded one that exactly one side starts one point short?"""
    length = match.match_length
    short = [(length - 1 in game.score) and game.score[0] != game.score[1] for game in match.games[: index + 1]]
    return length > 1 and short[-1] and not any(short[:-1])


class Walk:
    """One game played through, action by action. Plays are only applied; `check_plays` checks them all at once."""

    def __init__(self, match_length: int, score: tuple[int, int], crawford: bool, variant: str) -> None:
        rules_of(variant)
        mine, theirs = start_boards(1, variant)[0].tolist()
        self.states: list[GameState] = []
        self.state = GameState(
            (tuple(mine), tuple(theirs)),
            match_length=match_length,
            score=score,
            crawford=crawford,
            jacoby=False if match_length else None,
            beavers=False if match_length else None,
            variant=variant,
        )
        self.level = 0  # of a win over the board or by resignation; 1 after a drop
        self.winner: int | None = None
        self.rolled: Roll | None = None  # the last roll, if no play was made with it
        self._rolls: list[tuple[int, GameState, Position]] = []  # action, state before, board after

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

    def add(self, action: Action) -> None:
        """Take one action; ``NotationError`` if it is not its player's or not allowed now."""
        if len(self.states) >= MAX_ACTIONS:
            raise NotationError(f"found more than {MAX_ACTIONS} actions in a game")
        if action.player not in (0, 1):
            raise NotationError(f"player: found {action.player}, wanted 0 or 1")
        if isinstance(action, Resignation):
            self._check_running()
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
        _, ends = afterstates(self.state.tensor()[None], torch.tensor([dice]), self.state.variant)
        return bool((ends == self.state.tensor()).all())

    def check_plays(self) -> None:
        """``NotationError`` names the first play that is not legal."""
        if not self._rolls:
            return
        boards = torch.stack([before.tensor() for _, before, _ in self._rolls])
        dice = torch.tensor([before.dice for _, before, _ in self._rolls])
        wanted = torch.tensor([after for *_, after in self._rolls], dtype=torch.int8)
        game, ends = afterstates(boards, dice, self.state.variant)
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

    def check_result(self, winner: int | None, points: int) -> None:
        """``NotationError`` unless the game ended so, or is unfinished and ``winner`` None."""
        if winner != self.winner:
            found, wanted = ("no winner" if player is None else f"player {player}" for player in (winner, self.winner))
            raise NotationError(f"winner: found {found}, wanted {wanted}")
        cube = self.state.cube_value
        wanted_points = [cube * self.level] if winner is not None else [0]
        if self._jacoby_possible():
            wanted_points.append(cube)
        if points not in wanted_points:
            raise NotationError(f"points: found {points}, wanted {' or '.join(map(str, wanted_points))}")

    def _jacoby_possible(self) -> bool:
        """A gammon over the board, money, the cube never turned: one point if the Jacoby rule was in use."""
        over_the_board = self.state.status is GameStatus.OVER and self.level > 1
        return over_the_board and not self.state.match_length and self.state.cube_owner is None

    def _resign(self, action: Resignation) -> None:
        if not self.states:
            raise NotationError("found a resignation before the first roll, wanted a roll")
        if self.state.offer:
            raise NotationError("found the end of the game while a double is on offer, wanted an answer to it")
        if not 1 <= action.level <= 3:
            raise NotationError(f"resignation: found level {action.level}, wanted 1 to 3")
        if self.rolled is not None and self.rolled.player != action.player:
            raise NotationError("found a roll of the player who won without a play, wanted the play")
        self.states.append(self.state)
        self._end(1 - action.player, action.level, GameStatus.RESIGNED)

    def _end(self, winner: int, level: int, status: GameStatus) -> None:
        self.winner, self.level = winner, level
        self.state = replace(self.state, status=status, offer=Offer.NONE, dice=None)

    def _roll(self, roll: Roll) -> None:
        self.check_roll(roll.player)
        before = replace(self.state, dice=roll.dice)
        self.states.append(before)
        if roll.hops is None:
            self.rolled = roll
            self.state = before
            return
        after, _ = apply_hops(before.board, roll.hops)
        self._rolls.append((len(self.states), before, after))
        self.state = replace(self.state, board=after[::-1], player=1 - roll.player)
        if after[0][OFF] == sum(after[0]):
            level = int(outcome(torch.tensor([after], dtype=torch.int8), self.state.variant))
            self._end(roll.player, level, GameStatus.OVER)

    def _check_running(self) -> None:
        if self.winner is not None:
            raise NotationError("found an action after the end of the game, wanted none")

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
        state = self.state
        if state.offer:
            raise NotationError("found a double while one is on offer, wanted an answer to it")
        if state.cube_owner == 1 - state.player or state.crawford:
            why = "in the Crawford game" if state.crawford else "with the opponent's cube"
            raise NotationError(f"found a double {why}, wanted a roll")
        self.states.append(state)
        self.state = replace(state, offer=Offer.DOUBLE)

    def _accept(self, kind: str) -> None:
        """Take, or turn the cube once more: the double before is then taken, the cube the beaverer's."""
        state = self.state
        if kind != "take" and (state.match_length or {"beaver": 1, "raccoon": 2}[kind] != state.offer):
            raise NotationError(
                f"found a {kind} after a {state.offer.name.lower()}, wanted a take or a drop"
                + (" (match play has no beavers)" if state.match_length else "")
            )
        self.states.append(state)
        owner = 1 - state.player if state.offer is Offer.DOUBLE else state.cube_owner
        offer = {"take": Offer.NONE, "beaver": Offer.BEAVER, "raccoon": Offer.RACCOON}[kind]
        self.state = replace(state, cube_value=2 * state.cube_value, cube_owner=owner, offer=offer)


def apply_hops(board: Position, hops: Sequence[Hop]) -> tuple[Position, set[int]]:
    """The board after single moves in any order, the mover still side 0, and the points hit.

    Only what makes no sense at all is refused; whether the whole play is legal is not asked.
    """
    mine, theirs = list(board[0]), list(board[1])
    hits = set()
    for source, target in hops:
        if not OFF <= target < source <= BAR:
            raise NotationError(f"move: found {source}/{target}, wanted points that go down from 25 to 0")
        mine[source] -= 1
        mine[target] += 1
        if target != OFF and board[1][25 - target] > 1:
            raise NotationError(f"move: found {source}/{target}, but point {target} is held by the opponent")
        if target != OFF and board[1][25 - target] == 1:
            hits.add(target)
    if min(mine) < 0:
        raise NotationError(f"move: found no checker on {mine.index(min(mine))} to move, wanted one")
    for point in hits:
        theirs[25 - point] -= 1
        theirs[BAR] += 1
    return (tuple(mine), tuple(theirs)), hits


def one_die_each(hops: Sequence[Hop], dice: tuple[int, int]) -> bool:
    """Can each move be made with a die of its own?"""
    left = Counter(dice if dice[0] != dice[1] else dice * 2)
    over = []
    for source, target in hops:
        if left[source - target] > 0:
            left[source - target] -= 1
        elif target == OFF:
            over.append(source)
        else:
            return False
    remaining = sorted(left.elements(), reverse=True)
    return len(over) <= len(remaining) and all(
        die >= source for source, die in zip(sorted(over, reverse=True), remaining, strict=False)
    )
