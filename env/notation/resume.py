"""A recorded game taken up again where it was left, in the engine."""

from __future__ import annotations

from dataclasses import replace

import torch

from ..board import outcome
from ..decisions import BEAVER, DOUBLE, RACCOON, REFUSE, RESIGN_SINGLE, Decisions
from ..games import GameOptions, Games
from .errors import NotationError
from .match_walk import walk_games
from .record import Action, CubeAction, MatchRecord, Resignation, Roll
from .state import GameState, Offer
from .walk import Walk

__all__ = ["resume", "set_up"]

_NUMBERS = {"double": DOUBLE, "beaver": BEAVER, "raccoon": RACCOON}
_ONE = torch.ones(1, dtype=torch.bool)


def resume(match: MatchRecord, seed: int = 0) -> Decisions:
    """One game of `Decisions` as the last of ``match`` stands, its further dice those of ``seed``.

    Between two games of a match, the next one. Dice that the record lacks are rolled where nobody has anything to
    decide before. `NotationError` for a record that breaks a rule, says no rules, or leaves nothing to play.
    """
    if match.rules is None or not match.games:
        raise NotationError("resume: found no rules or no game, wanted both")
    walk, actions = walk_games(match)[-1], match.games[-1].actions
    decisions = Decisions(Games(1, match.rules, seed))
    if walk.winner is not None:
        _deal_next(decisions, match.rules, walk)
        return decisions
    if walk.rolled is not None:
        _place(decisions, match.rules, walk.state, walk.num_plays)
        numbers = list(walk.rolled.moves)
    else:
        since = next((n for n in range(len(actions), 0, -1) if isinstance(actions[n - 1], Roll)), 0)
        _place(decisions, match.rules, [*walk.states, walk.state][since], walk.num_plays)
        numbers = [number for action in actions[since:] for number in _numbers(action)]
    for number in numbers:
        step = decisions.step(torch.tensor([number]))
        assert bool(step.legal), f"{number} was legal in the record"
    return decisions


def set_up(decisions: Decisions, state: GameState) -> None:
    """Put one game where ``state`` says, an offer of the cube on the table included; its rules are those of the game.

    What a state does not say is taken as `Games.place` does. `NotationError` for a game that is over, for a resignation
    on offer, for another discipline or length, and for a cube that these rules do not allow to be so.
    """
    rules = decisions.games.options
    for name, found, wanted in (
        ("discipline", state.variant, rules.variant),
        ("match length", state.match_length, rules.match_length),
        ("resignation", state.resignation, 0),
        ("status", state.status.name.lower(), "playing"),
    ):
        if found != wanted:
            raise NotationError(f"{name}: found {found}, wanted {wanted}")
    if outcome(state.tensor()[None], state.variant).item() or not all(sum(side[1:]) for side in state.board):
        raise NotationError("board: found a game that is over, wanted one to be played on")
    highest = rules.max_cube if rules.cube else 1
    if state.cube_value > highest:
        raise NotationError(f"cube: found {state.cube_value}, wanted at most {highest}")
    _place(decisions, rules, _before_offer(state))
    turned = {Offer.NONE: (), Offer.DOUBLE: (DOUBLE,), Offer.BEAVER: (DOUBLE, BEAVER)}
    if state.offer is Offer.RACCOON:
        raise NotationError("offer: found a raccoon, wanted a double or a beaver")
    for number in turned[state.offer]:
        if not bool(decisions.step(torch.tensor([number])).legal):
            raise NotationError(f"offer: found a {state.offer.name.lower()}, which these rules do not allow here")


def _before_offer(state: GameState) -> GameState:
    """``state``, with the cube as it was before a double that was beavered.

    Who owned it then no format says: a cube of 1 was centred, a higher one is taken as the doubler's.
    """
    if state.offer is not Offer.BEAVER:
        return state
    owner = None if state.cube_value == 2 else state.player
    return replace(state, offer=Offer.NONE, cube_value=state.cube_value // 2, cube_owner=owner)


def _place(decisions: Decisions, rules: GameOptions, state: GameState, num_plays: int | None = None) -> None:
    """Set up the beginning of a turn, or a roll of it."""
    player, dice = torch.tensor([[state.player]], dtype=torch.int8), torch.tensor([state.dice or (0, 0)])
    cube = state.cube()
    if rules.match_length == 1 and rules.crawford:  # its only game is the Crawford game there (rules.md 2.6)
        cube = replace(cube, crawford=True)
    decisions.place(_ONE, state.tensor()[None], player[0], torch.zeros_like(dice).to(torch.int8), cube)
    games = decisions.games
    if num_plays is not None:  # boards alone do not tell
        games.turn = torch.tensor([num_plays], dtype=torch.int32)
    games.crawford_done = games.crawford_done & rules.crawford
    decisions.place(_ONE, dice=dice.to(torch.int8))


def _deal_next(decisions: Decisions, rules: GameOptions, walk: Walk) -> None:
    """Deal the game after the finished one of ``walk``."""
    assert walk.winner is not None
    score = list(walk.state.score)
    score[walk.winner] += walk.points()
    if not rules.match_length or max(score) >= rules.match_length:
        raise NotationError(f"resume: found it over at {score[0]}-{score[1]}, wanted a game to be played on")
    games = decisions.games
    games.score = torch.tensor([score], dtype=torch.int32)
    games.crawford = torch.tensor([walk.state.crawford])
    games.crawford_done = torch.tensor([rules.crawford and rules.match_length - 1 in walk.state.score])
    decisions.deal(_ONE)


def _numbers(action: Action) -> list[int]:
    """An action before the roll as numbers of `env.decisions`."""
    if isinstance(action, CubeAction):
        return [_NUMBERS[action.kind]] if action.kind in _NUMBERS else []
    if isinstance(action, Resignation):
        return [RESIGN_SINGLE + action.level - 1, *([REFUSE] if action.accepted is False else [])]
    return []
