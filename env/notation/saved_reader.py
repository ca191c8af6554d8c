"""Reads saved games; `saved` writes them and says what is in them.

Any layout of the JSON is read; unknown versions, keys missing or too many, values of another kind and content that
contradicts itself are refused. Every game is played through the rules, so an error names the game and the action.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import fields
from typing import Any, NoReturn

from .. import action_text as actions  # the module: it may be half loaded while this one is
from ..games import GameOptions
from .errors import NotationError, naming, shown
from .match_walk import walk_games
from .moves import Hop
from .record import Action, CubeAction, GameRecord, MatchRecord, Resignation, Roll
from .saved import (
    FORMAT,
    LEVELS,
    MAX_GAMES,
    MAX_HEADERS,
    MAX_TEXT,
    PASS,
    VERSION,
    check_texts,
    result_object,
    state_object,
)
from .state import BAR, MAX_CUBE, MAX_SCORE, OFF
from .walk import MAX_ACTIONS, Walk

__all__ = ["read_saved_game"]

_KEYS = ("format", "version", "rules", "players", "metadata", "games", "state")
_GAME_KEYS = ("score", "crawford", "automatic_doubles", "opening", "actions", "result")
_RESULT_KEYS = ("winner", "points", "by", "level")
_ACTION_KEYS = {
    "play": ("player", "dice", "play"),
    "moves": ("player", "dice", "moves"),
    "cube": ("player", "cube"),
    "resign": ("player", "resign", "accepted"),
}
_BOUNDS = {"match_length": (0, 1000), "max_cube": (1, MAX_CUBE), "automatic_doubles": (0, 24)}
_HOP = re.compile(r"(bar|[0-9]{1,2})/(off|[0-9]{1,2})")


def read_saved_game(text: str) -> MatchRecord:
    """The match or session of a saved game's text, every action of it checked against the rules.

    `NotationError` says where, what was found and what was wanted.
    """
    with naming("saved game"):
        if len(text) > MAX_TEXT:
            raise NotationError(f"found {len(text)} characters, wanted at most {MAX_TEXT}")
        whole = _parsed(text)
        _check_version(whole)
        found = _object(whole, "top level", _KEYS)
        rules = _rules(found["rules"])
        names = [_text(name, "players") for name in _list(found["players"], "players", 2, 2)]
        games = [
            _game(game, f"game {number}")
            for number, game in enumerate(_list(found["games"], "games", 1, MAX_GAMES), start=1)
        ]
        records = tuple(record for record, _ in games)
        headers = _metadata(found["metadata"])
        match = MatchRecord((names[0], names[1]), rules.match_length, records, headers, rules.variant, rules)
        check_texts(match)
        walks = walk_games(match)
        for number, ((record, said), walk) in enumerate(zip(games, walks, strict=True), start=1):
            with naming(f"game {number}"):
                _check_said(record, said, walk)
        _check_same("state", found["state"], state_object(match, walks[-1]))
        return match


def _parsed(text: str) -> Any:
    """The value of a JSON text without repeated keys and numbers that are none."""
    try:
        return json.loads(text.removeprefix("\ufeff"), object_pairs_hook=_pairs, parse_constant=_constant)
    except NotationError:
        raise
    except json.JSONDecodeError as error:
        raise NotationError(f"found no JSON: {error.msg} in line {error.lineno}, column {error.colno}") from None
    except (ValueError, RecursionError) as error:  # a number of thousands of digits; brackets a thousand deep
        raise NotationError(f"found JSON that is out of bounds ({type(error).__name__})") from None


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        [(key, _)] = Counter(key for key, _ in pairs).most_common(1)
        raise NotationError(f"found {shown(key)} twice, wanted it once")
    return found


def _constant(text: str) -> NoReturn:
    raise NotationError(f"found {text}, wanted a number")


def _check_version(whole: Any) -> None:
    if not isinstance(whole, dict) or whole.get("format") != FORMAT:
        raise NotationError(f'found something else, wanted an object with "format": "{FORMAT}"')
    version = whole.get("version")
    if type(version) is not int or version != VERSION:
        raise NotationError(f"version: found {_kind(version)}, wanted {VERSION}")


def _rules(value: Any) -> GameOptions:
    names = {field.name: field.default for field in fields(GameOptions)}
    found = _object(value, "rules", tuple(names))
    for name, default in names.items():
        if isinstance(default, bool):
            _flag(found[name], f"rules: {name}")
        elif isinstance(default, int):
            _integer(found[name], f"rules: {name}", *_BOUNDS[name])
        else:
            _text(found[name], f"rules: {name}")
    try:
        return GameOptions(**found)
    except ValueError as error:
        raise NotationError(f"rules: {error}") from None


def _metadata(value: Any) -> tuple[tuple[str, str], ...]:
    if not isinstance(value, dict) or len(value) > MAX_HEADERS:
        raise NotationError(f"metadata: found {_kind(value)}, wanted an object of at most {MAX_HEADERS} texts")
    return tuple((key, _text(text, "metadata")) for key, text in value.items())


def _game(value: Any, name: str) -> tuple[GameRecord, dict[str, Any]]:
    """A game, not yet checked against the rules, and its object."""
    with naming(name):
        found = _object(value, "game", _GAME_KEYS)
        score = [_integer(points, "score", 0, MAX_SCORE) for points in _list(found["score"], "score", 2, 2)]
        doubles = _integer(found["automatic_doubles"], "automatic_doubles", 0, 24)
        taken = [
            _action(action, f"action {number}")
            for number, action in enumerate(_list(found["actions"], "actions", 0, MAX_ACTIONS), start=1)
        ]
        winner, points = None, 0
        if found["result"] is not None:
            result = _object(found["result"], "result", _RESULT_KEYS)
            winner = _integer(result["winner"], "result: winner", 0, 1)
            points = _integer(result["points"], "result: points", 1, 3 * MAX_CUBE)
        return GameRecord((score[0], score[1]), tuple(taken), winner, points, doubles), found


def _action(value: Any, name: str) -> Action:
    with naming(name):
        kinds = [kind for kind in _ACTION_KEYS if isinstance(value, dict) and kind in value]
        if len(kinds) != 1:
            raise NotationError(f"found {_kind(value)}, wanted an object with one of {', '.join(_ACTION_KEYS)}")
        kind = kinds[0]
        found = _object(value, kind, _ACTION_KEYS[kind])
        player = _integer(found["player"], "player", 0, 1)
        if kind == "cube":
            return CubeAction(player, _text(found["cube"], "cube"))
        if kind == "resign":
            level = _text(found["resign"], "resign")
            if level not in LEVELS:
                raise NotationError(f"resign: found {shown(level)}, wanted one of {', '.join(LEVELS)}")
            accepted = found["accepted"] if found["accepted"] is None else _flag(found["accepted"], "accepted")
            return Resignation(player, LEVELS.index(level) + 1, accepted)
        dice = [_integer(die, "dice", 1, 6) for die in _list(found["dice"], "dice", 2, 2)]
        if kind == "play":
            return Roll(player, (dice[0], dice[1]), _hops(_text(found["play"], "play")))
        moves = [actions.parse_action(_text(move, "moves")) for move in _list(found["moves"], "moves", 0, 3)]
        return Roll(player, (dice[0], dice[1]), None, tuple(moves))


def _hops(text: str) -> tuple[Hop, ...]:
    if text == PASS:
        return ()
    words = text.split(" ")
    matches = [match for match in map(_HOP.fullmatch, words) if match is not None]
    if not len(matches) == len(words) <= 4:
        raise NotationError(f"play: found {shown(text)}, wanted {PASS} or up to four moves such as 13/8 bar/22 6/off")
    return tuple((_point(match[1]), _point(match[2])) for match in matches)


def _point(text: str) -> int:
    return {"bar": BAR, "off": OFF}[text] if text.isalpha() else int(text)


def _check_said(record: GameRecord, said: dict[str, Any], walk: Walk) -> None:
    """``NotationError`` unless what a game says of itself is what playing it through gives."""
    first = record.actions[0] if record.actions else None
    _check_same("opening", said["opening"], [*first.dice] if isinstance(first, Roll) else None)
    _check_same("crawford", said["crawford"], walk.state.crawford)
    _check_same("result", said["result"], result_object(walk))


def _check_same(name: str, found: Any, wanted: Any) -> None:
    """``NotationError`` names the first part that differs, in kind too: JSON's true is not 1."""
    if isinstance(wanted, dict):
        for key, part in _object(found, name, tuple(wanted)).items():
            _check_same(f"{name}: {key}", part, wanted[key])
    elif isinstance(wanted, list) and isinstance(found, list) and len(found) == len(wanted):
        for number, (part, one) in enumerate(zip(found, wanted, strict=True)):
            _check_same(f"{name}: {number}", part, one)
    elif type(found) is not type(wanted) or found != wanted:
        raise NotationError(f"{name}: found {_kind(found)}, wanted {_kind(wanted)}")


def _object(value: Any, name: str, keys: tuple[str, ...]) -> dict[str, Any]:
    """An object with exactly these keys."""
    if not isinstance(value, dict):
        raise NotationError(f"{name}: found {_kind(value)}, wanted an object")
    for key in keys:
        if key not in value:
            raise NotationError(f"{name}: found no {key!r}, wanted {', '.join(keys)}")
    for key in value:
        if key not in keys:
            raise NotationError(f"{name}: found {shown(key)}, wanted only {', '.join(keys)}")
    return value


def _list(value: Any, name: str, fewest: int, most: int) -> list[Any]:
    if not isinstance(value, list) or not fewest <= len(value) <= most:
        wanted = f"{most}" if fewest == most else f"{fewest} to {most}"
        raise NotationError(f"{name}: found {_kind(value)}, wanted a list of {wanted}")
    return value


def _integer(value: Any, name: str, low: int, high: int) -> int:
    if type(value) is not int or not low <= value <= high:
        raise NotationError(f"{name}: found {_kind(value)}, wanted a number from {low} to {high}")
    return value


def _flag(value: Any, name: str) -> bool:
    if not isinstance(value, bool):
        raise NotationError(f"{name}: found {_kind(value)}, wanted true or false")
    return value


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise NotationError(f"{name}: found {_kind(value)}, wanted a text")
    return value


def _kind(value: Any) -> str:
    """A value in a message."""
    if isinstance(value, dict | list):
        return f"{'an object' if isinstance(value, dict) else 'a list'} of {len(value)}"
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
