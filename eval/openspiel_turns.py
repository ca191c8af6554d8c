"""OpenSpiel's backgammon at the positions of given games, and the ends of a turn as it finds them.

It takes no positions, so games are played again from their first roll. ``pyspiel`` is imported by `replay`, which
raises ``ImportError`` without it.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

from .turns import Turns

__all__ = ["children_of_turn", "replay"]


def _sides(state: Any, mover: int) -> tuple[list[int], list[int]]:
    """Both sides' 24 points and bar, the mover first, each from its own ace point up."""
    points = [[state.board(player, place) for place in range(24)] for player in (0, 1)]
    ordered = [points[0][::-1], points[1]]  # place 0 is player 0's 24 point and player 1's ace point
    if mover == 1:
        ordered.reverse()
    return ordered[0] + [state.board(mover, 100)], ordered[1] + [state.board(1 - mover, 100)]


def _roll(state: Any, dice: list[int]) -> None:
    """Apply the chance outcome of that roll; in the opening, player 0 starts."""
    wanted = {f"{dice[0]}{dice[1]}", f"{dice[1]}{dice[0]}"}
    for action, _ in state.chance_outcomes():
        words = state.action_to_string(state.current_player(), action)
        if words[-3:-1] in wanted and "O starts" not in words:
            state.apply_action(action)
            return
    raise RuntimeError(f"OpenSpiel: no chance outcome for {dice}")


def children_of_turn(state: Any) -> list[Any]:
    """The distinct states at the end of the turn, both halves of a double played.

    Equal children are removed by their text, before the second half too: of the ways tried from Python the fastest.
    """
    player = state.current_player()
    halfway = {str(child): child for child in (state.child(action) for action in state.legal_actions())}
    ends: dict[str, Any] = {}
    for text, child in halfway.items():
        if child.current_player() == player:
            for end in (child.child(action) for action in child.legal_actions()):
                ends.setdefault(str(end), end)
        else:
            ends.setdefault(text, child)
    return list(ends.values())


def replay(turns: Turns) -> Iterator[tuple[int, int, Any]]:
    """Play the games again in OpenSpiel, as it takes no positions: (turn, game, state after the roll).

    A game is given up until the next one starts where OpenSpiel does not list the play that was made.
    """
    game_rules = import_module("pyspiel").load_game("backgammon", {"max_player_turns": 1_000_000})
    num_turns, num_games = turns.first.shape
    for game in range(num_games):
        state: Any = None
        for turn in range(num_turns):
            if turns.first[turn, game]:
                state = game_rules.new_initial_state()
            if state is None:
                continue
            _roll(state, turns.dice[turn, game].tolist())
            mover = state.current_player()
            yield turn, game, state
            if turn + 1 < num_turns:
                theirs, mine = turns.boards[turn + 1, game, :, 1:].tolist()
                found = (s for s in children_of_turn(state) if _sides(s, mover) == (mine, theirs))
                state = next(found, None)
