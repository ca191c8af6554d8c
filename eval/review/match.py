"""A whole match judged: every decision's loss, error rates of both players, the blunders.

Counted are checker plays with more than one legal play, doubles and answers to them, and turns without a double where
the cube could have been turned and the question was close or wrongly decided (`CLOSE`). Not judged: the first roll's
cube, resignations, answers to beavers, a roll that was not played.

Cost: two calls of the model for the whole match, and milliseconds for each blunder shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import torch

from ...env.notation import CubeAction, GameState, MatchRecord, NotationError, Offer, Roll, game_states, play_text
from ...env.notation.hops import apply_hops
from ...env.notation.state import Position
from ...models import Evaluator
from .position import RankedPlay, cube_advice, ranked_plays, state_values
from .source import with_rules
from .values import CubeValues, cube_values, play_values

__all__ = ["CLOSE", "MatchReview", "Mistake", "PlayerReview", "judge_decision", "review_match"]

CLOSE = 0.16  # not doubling is a decision worth counting if doubling would have cost less than this
_PR = 500  # by which the mean error of a decision is multiplied, as usual in match analysis


@dataclass(frozen=True)
class _Decision:
    """One decision of the record: ``row`` of the .mat file; ``action`` what was done; ``second_first`` as ever."""

    game: int
    row: int
    player: int
    state: GameState
    action: Roll | CubeAction
    second_first: bool = False


@dataclass(frozen=True)
class Mistake:
    """A decision that lost equity.

    Attributes:
        game, row: where it stands in the ``.mat`` file, from 1. player: who made it.
        kind: "checker" or "cube".
        done, best: what was done and what the model would have done.
        loss: equity lost. cost: points, or match-winning chance, lost.
        state: before it. plays: the best plays, if it is one, ``rank`` of the one made.
        moves: the single moves of the play made.
        values: equities of no double, double and take, double and drop, if it is about the cube.
    """

    game: int
    row: int
    player: int
    kind: str
    done: str
    best: str
    loss: float
    cost: float
    state: GameState
    rank: int = 0
    plays: tuple[RankedPlay, ...] = ()
    moves: tuple[tuple[int, int], ...] = ()
    values: tuple[float, ...] = ()


@dataclass(frozen=True)
class PlayerReview:
    """One player's figures.

    Attributes:
        checker_decisions, cube_decisions: how many were counted.
        checker_loss, cube_loss: equity lost in all. checker_cost, cube_cost: points or match-winning chance.
        checker_blunders, cube_blunders: decisions that lost ``blunder`` or more.
        by_kind: cube errors by kind: how many and equity lost of "missed double", "wrong double", "wrong take",
            "wrong drop", "wrong beaver", "missed beaver".
    """

    name: str
    checker_decisions: int
    cube_decisions: int
    checker_loss: float
    cube_loss: float
    checker_cost: float
    cube_cost: float
    checker_blunders: int
    cube_blunders: int
    by_kind: dict[str, tuple[int, float]]

    @property
    def checker_rate(self) -> float:
        """Millipoints lost a counted play."""
        return 1000 * self.checker_loss / max(self.checker_decisions, 1)

    @property
    def cube_rate(self) -> float:
        """Millipoints lost a counted cube decision."""
        return 1000 * self.cube_loss / max(self.cube_decisions, 1)

    @property
    def rating(self) -> float:
        """Performance rating, PR: the mean loss of all counted decisions times 500."""
        decisions = self.checker_decisions + self.cube_decisions
        return _PR * (self.checker_loss + self.cube_loss) / max(decisions, 1)

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        rates = {"checker_rate": self.checker_rate, "cube_rate": self.cube_rate, "rating": self.rating}
        return asdict(self) | rates


@dataclass(frozen=True)
class MatchReview:
    """Both players' figures, and the mistakes of ``blunder`` or more, the greatest first."""

    match: MatchRecord
    players: tuple[PlayerReview, PlayerReview]
    blunder: float
    mistakes: tuple[Mistake, ...]

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        mistakes = [asdict(mistake) | {"state": state_values(mistake.state)} for mistake in self.mistakes]
        return {
            "names": list(self.match.names),
            "match_length": self.match.match_length,
            "variant": self.match.variant,
            "games": [{"score": game.score, "winner": game.winner, "points": game.points} for game in self.match.games],
            "players": [player.to_dict() for player in self.players],
            "blunder": self.blunder,
            "mistakes": mistakes,
        }


@dataclass(frozen=True)
class _Judged:
    """A decision with its loss; ``kind`` names a cube error; ``index`` is its row among the values of its sort."""

    decision: _Decision
    loss: float
    cost: float
    counted: bool
    kind: str
    index: int


def review_match(
    evaluator: Evaluator,
    match: MatchRecord,
    blunder: float = 0.08,
    count: int = 3,
    jacoby: bool | None = None,
    beavers: bool | None = None,
) -> MatchReview:
    """Judge every decision of ``match``; `NotationError` if there is none.

    Blunders are shown with ``count`` plays. ``jacoby`` and ``beavers`` are the rules of money games where the record
    does not say them.
    """
    checker, cube = _decisions(match, jacoby, beavers)
    if not checker and not cube:
        raise NotationError("match: found no decision, wanted at least one play")
    plays_judged = _judge_plays(evaluator, checker)
    values = cube_values(evaluator, [decision.state for decision in cube]) if cube else None
    cubes_judged = [_judge_cube(values, index, decision) for index, decision in enumerate(cube)] if values else []
    mistakes = [_play_mistake(evaluator, each, count) for each in plays_judged if each.loss >= blunder]
    mistakes += [_cube_mistake(values, each) for each in cubes_judged if values and each.loss >= blunder]
    mistakes.sort(key=lambda mistake: -mistake.loss)
    players = [_player(name, n, plays_judged, cubes_judged, blunder) for n, name in enumerate(match.names)]
    return MatchReview(match, (players[0], players[1]), blunder, tuple(mistakes))


def judge_decision(
    evaluator: Evaluator, state: GameState, action: Roll | CubeAction, second_first: bool = False, count: int = 3
) -> Mistake:
    """One decision judged as it falls: its loss, 0 if none, and what would have been best; not placed in a match.

    A play is a `Roll` with its moves, and ``state`` has the dice; rolling without a double is one without moves, and
    ``state`` has none. Answers to beavers and resignations are not judged.
    """
    decision = _Decision(0, 0, action.player, state, action, second_first)
    if isinstance(action, Roll) and action.hops is not None:
        return _play_mistake(evaluator, _judge_plays(evaluator, [decision])[0], count)
    values = cube_values(evaluator, [state])
    return _cube_mistake(values, _judge_cube(values, 0, decision))


def _decisions(
    match: MatchRecord, jacoby: bool | None, beavers: bool | None
) -> tuple[list[_Decision], list[_Decision]]:
    """The plays, and the cube decisions, in order."""
    checker: list[_Decision] = []
    cube: list[_Decision] = []
    for number, (game, states) in enumerate(zip(match.games, game_states(match), strict=True), start=1):
        row, column, rolls, turned = 0, 1, 0, True  # nobody may double before the opening roll
        for action, told in zip(game.actions, states, strict=True):
            row += row == 0 or action.player <= column
            column = action.player
            state = with_rules(told, jacoby, beavers)
            if isinstance(action, CubeAction):
                turned = True
                if state.offer in (Offer.NONE, Offer.DOUBLE):
                    cube.append(_Decision(number, row, action.player, state, action))
            elif isinstance(action, Roll):
                if not turned and bool(state.cube().may_double()):
                    cube.append(_Decision(number, row, action.player, state, action))
                if action.hops is not None:
                    checker.append(_Decision(number, row, action.player, state, action, rolls == 1))
                    rolls += 1
                turned = False
    return checker, cube


def _judge_plays(evaluator: Evaluator, decisions: list[_Decision]) -> list[_Judged]:
    """The loss of every play."""
    if not decisions:
        return []
    second_first = torch.tensor([decision.second_first for decision in decisions])
    values = play_values(evaluator, [decision.state for decision in decisions], second_first)
    played = torch.tensor([_board_after(decision) for decision in decisions], dtype=torch.int8)
    made = (values.boards == played[values.game]).flatten(1).all(1).nonzero()[:, 0]
    assert len(made) == len(decisions), "a checked record's plays are legal"
    best = values.best()
    loss = (values.equity[best] - values.equity[made]).clamp(min=0).tolist()
    cost = (values.value[best] - values.value[made]).clamp(min=0).tolist()
    choice = (torch.bincount(values.game, minlength=len(decisions)) > 1).tolist()
    return [
        _Judged(decision, loss[n], cost[n] * _points(decision.state), choice[n], "", n)
        for n, decision in enumerate(decisions)
    ]


def _board_after(decision: _Decision) -> Position:
    assert isinstance(decision.action, Roll) and decision.action.hops is not None
    board, _ = apply_hops(decision.state.board, decision.action.hops, decision.state.variant)
    return board


def _points(state: GameState) -> int:
    """What a value of 1 stands for: points for money, itself in a match."""
    return 1 if state.match_length else state.cube_value


def _judge_cube(values: CubeValues, index: int, decision: _Decision) -> _Judged:
    """The loss of doubling or not, or of an answer."""
    here, take, drop, beaver, offered, half = (
        float(each[index])
        for each in (
            *(values.no_double, values.double_take, values.double_pass),
            *(values.beaver, values.offered, values.half),
        )
    )
    counted = True
    if isinstance(decision.action, Roll):
        loss, kind = max(offered - here, 0.0), "missed double"
        counted = here - offered < CLOSE
    elif decision.action.kind == "double":
        loss, kind = max(here - offered, 0.0), "wrong double"
    else:
        answer = decision.action.kind
        loss = {"take": take, "drop": drop, "beaver": beaver}[answer] - offered
        kind = "missed beaver" if answer == "take" and take <= drop else f"wrong {answer}"
    return _Judged(decision, loss, loss * half * _points(decision.state), counted, kind if loss > 0 else "", index)


def _player(name: str, number: int, plays: Sequence[_Judged], cubes: Sequence[_Judged], blunder: float) -> PlayerReview:
    plays = [each for each in plays if each.decision.player == number and each.counted]
    cubes = [each for each in cubes if each.decision.player == number and each.counted]
    by_kind: dict[str, tuple[int, float]] = {}
    for each in cubes:
        if each.kind:
            times, lost = by_kind.get(each.kind, (0, 0.0))
            by_kind[each.kind] = times + 1, lost + each.loss
    return PlayerReview(
        name=name,
        checker_decisions=len(plays),
        cube_decisions=len(cubes),
        checker_loss=sum(each.loss for each in plays),
        cube_loss=sum(each.loss for each in cubes),
        checker_cost=sum(each.cost for each in plays),
        cube_cost=sum(each.cost for each in cubes),
        checker_blunders=sum(each.loss >= blunder for each in plays),
        cube_blunders=sum(each.loss >= blunder for each in cubes),
        by_kind=by_kind,
    )


def _play_mistake(evaluator: Evaluator, judged: _Judged, count: int) -> Mistake:
    """A play with the best ones beside it."""
    decision, state = judged.decision, judged.decision.state
    assert state.dice is not None and isinstance(decision.action, Roll) and decision.action.hops is not None
    after = torch.tensor(_board_after(decision), dtype=torch.int8)
    done = play_text(state.tensor(), after, state.dice, state.variant, decision.second_first)
    values = play_values(evaluator, [state], torch.tensor([decision.second_first]))
    rank = 1 + int((values.equity > values.equity[(values.boards == after).flatten(1).all(1)]).sum())
    plays = ranked_plays(values, state, count, decision.second_first)
    where = (decision.game, decision.row, decision.player)
    return Mistake(
        *where, "checker", done, plays[0].play, judged.loss, judged.cost, state, rank, plays, decision.action.hops
    )


def _cube_mistake(values: CubeValues, judged: _Judged) -> Mistake:
    """A cube decision with the equities it turned on; the state is shown without the dice rolled after it."""
    decision = judged.decision
    state = replace(decision.state, dice=None)
    turn = "double" if state.cube_owner is None else "redouble"
    done = f"No {turn}"
    if isinstance(decision.action, CubeAction):
        done = turn.capitalize() if decision.action.kind == "double" else decision.action.kind.capitalize()
    shown = tuple(float(each[judged.index]) for each in (values.no_double, values.double_take, values.double_pass))
    best = cube_advice(values, judged.index, state)
    where = (decision.game, decision.row, decision.player)
    return Mistake(*where, "cube", done, best, judged.loss, judged.cost, state, values=shown)
