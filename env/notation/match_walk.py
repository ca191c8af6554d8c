"""A whole record played through, game by game: scores, the Crawford game, and what every game must lead to."""

from __future__ import annotations

from .errors import NotationError, naming
from .record import GameRecord, MatchRecord
from .state import MAX_SCORE, GameState
from .walk import Walk

__all__ = ["check_length", "check_score", "crawford_game", "game_states", "walk_games"]


def game_states(match: MatchRecord) -> list[list[GameState]]:
    """For each game the state in which each action was taken, dice on the table where it is a play.

    `NotationError` names game and action where the record breaks a rule.
    """
    return [walk.states for walk in walk_games(match)]


def walk_games(match: MatchRecord) -> list[Walk]:
    """Play every game of ``match`` through, checking actions, scores and results."""
    check_length(match.match_length)
    _check_rules(match)
    walks: list[Walk] = []
    for number, game in enumerate(match.games, start=1):
        with naming(f"game {number}"):
            crawford = crawford_game(match, number - 1)
            walk = Walk(match.match_length, game.score, crawford, match.variant, match.rules, game.automatic_doubles)
            if number > 1:
                check_score(match.games[number - 2], game.score, match.match_length)
            elif match.rules is not None and game.score != (0, 0):
                raise NotationError(f"score: found {game.score[0]}-{game.score[1]}, wanted 0-0 in the first game")
            walk.play(game.actions)
            walk.check_result(game.winner, game.points)
            if game.winner is None and number < len(match.games):
                raise NotationError("found it unfinished, wanted only the last game so")
        walks.append(walk)
    return walks


def _check_rules(match: MatchRecord) -> None:
    """``NotationError`` unless the rules, if they are told, are those of the match."""
    if match.rules is None:
        return
    found = match.rules.variant, match.rules.match_length
    if found != (match.variant, match.match_length):
        raise NotationError(f"rules: found {found}, wanted {(match.variant, match.match_length)} as in the match")


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
    if length <= 1 or (match.rules is not None and not match.rules.crawford):
        return False
    short = [(length - 1 in game.score) and game.score[0] != game.score[1] for game in match.games[: index + 1]]
    return short[-1] and not any(short[:-1])
