"""Saved games: a whole match or session as JSON, in progress or finished, with all that identifiers cannot say.

The text is one object, every key present and no other:

- ``format`` "nardy-game", ``version`` 1;
- ``rules``: every field of `GameOptions`;
- ``players``: two names; ``metadata``: free texts by name, the headers of a `MatchRecord` (event, seed, …);
- ``games``: each with the ``score`` before it, ``crawford``, ``automatic_doubles``, the ``opening`` roll (player 0's
  die, then player 1's; null if not rolled), its ``actions`` and its ``result`` (null while it goes on): ``winner``,
  ``points``, ``by`` "play", "drop" or "resignation", ``level`` 1 to 3, after a drop 0;
- ``state``: what the last game has come to, for readers that do not want to play it through.

An action has its ``player`` and one of these: ``dice`` and ``play``, one checker and die a word as in ``13/8 bar/22``,
or ``pass``; ``dice`` and ``moves``, the turn not finished, each move as `action_text` writes it; ``cube``: "double",
"take", "drop", "beaver" or "raccoon"; ``resign``: "single", "gammon" or "backgammon", with ``accepted`` true, false,
or null while it waits. Players by number; boards as everywhere, side 0 the player on roll.

`saved_reader` reads it. Writing plays the record through, as reading does.
"""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any

from .. import action_text as actions  # the module: it may be half loaded while this one is
from ..decisions import Phase
from ..games import GameOptions
from ..variants import get_variant
from .errors import NotationError, naming, shown
from .match_walk import walk_games
from .record import Action, CubeAction, GameRecord, MatchRecord, Resignation, Roll
from .state import BAR, OFF, GameStatus, Offer
from .walk import Walk

__all__ = ["saved_game_text"]

FORMAT, VERSION = "nardy-game", 1
MAX_TEXT = 4_000_000
MAX_GAMES = 10_000
MAX_NAME = 100
MAX_HEADERS = 100
MAX_VALUE = 1000
LEVELS = ("single", "gammon", "backgammon")
ENDINGS = {GameStatus.OVER: "play", GameStatus.DROPPED: "drop", GameStatus.RESIGNED: "resignation"}
PASS = "pass"  # noqa: S105  # the play of a turn without a legal move


def saved_game_text(match: MatchRecord) -> str:
    """The text of ``match``, whose rules must be known.

    `NotationError` for a record that breaks a rule and for names and headers that are not printable or too long.
    """
    with naming("saved game"):
        if match.rules is None:
            raise NotationError("rules: found none, wanted what is played (`under_rules` gives a match its rules)")
        check_texts(match)
        walks = walk_games(match)
        games = ",\n".join(_game_text(game, walk) for game, walk in zip(match.games, walks, strict=True))
        parts = {
            "format": json.dumps(FORMAT),
            "version": json.dumps(VERSION),
            "rules": _line(rules_object(match.rules)),
            "players": _line(match.names),
            "metadata": _line(dict(match.headers)),
            "games": f"[\n{games}\n ]",
            "state": _line(state_object(match, walks[-1])),
        }
        text = "{\n" + ",\n".join(f' "{key}": {value}' for key, value in parts.items()) + "\n}\n"
        if len(text) > MAX_TEXT:
            raise NotationError(f"found {len(text)} characters, wanted at most {MAX_TEXT}")
        return text


def check_texts(match: MatchRecord) -> None:
    """``NotationError`` for no game, too many, or names and headers that the format does not hold."""
    if not 1 <= len(match.games) <= MAX_GAMES:
        raise NotationError(f"games: found {len(match.games)}, wanted 1 to {MAX_GAMES}")
    if len(match.headers) > MAX_HEADERS:
        raise NotationError(f"metadata: found {len(match.headers)} entries, wanted at most {MAX_HEADERS}")
    if len(dict(match.headers)) < len(match.headers):
        raise NotationError("metadata: found a name twice, wanted each once")
    for name, texts, longest in (
        ("name", match.names, MAX_NAME),
        ("metadata", [key for key, _ in match.headers], MAX_NAME),
        ("metadata", [value for _, value in match.headers], MAX_VALUE),
    ):
        for text in texts:
            if len(text) > longest or not text.isprintable():
                raise NotationError(f"{name}: found {shown(text)}, wanted at most {longest} printable characters")


def rules_object(rules: GameOptions) -> dict[str, Any]:
    """The rules as JSON has them."""
    return {field.name: getattr(rules, field.name) for field in fields(GameOptions)}


def result_object(walk: Walk) -> dict[str, Any] | None:
    """How a game ended, None while it goes on."""
    if walk.winner is None:
        return None
    by = ENDINGS[walk.state.status]
    return {"winner": walk.winner, "points": walk.points(), "by": by, "level": 0 if by == "drop" else walk.level}


def state_object(match: MatchRecord, walk: Walk) -> dict[str, Any]:
    """What the last game, played through by ``walk``, has come to.

    ``heads_left`` is null where the variant does not limit them; ``refused`` is the highest level of a resignation
    refused in this turn, 0 once the dice are rolled; ``second_first``: this turn is the second player's first;
    ``dice_left`` and ``board`` count the moves made in it.
    """
    state, turn = walk.state, walk.open_turn()
    limited = turn is not None and get_variant(match.variant).head is not None
    score = [*state.score]
    if walk.winner is not None:
        score[walk.winner] += walk.points()
        score = [min(points, match.match_length) if match.match_length else points for points in score]
    return {
        "phase": _phase(walk).name.lower(),
        "player": state.player,
        "decides": state.decides,
        "board": [[*side] for side in (state.board if turn is None else turn.board)],
        "dice": list(state.dice) if state.dice else None,
        "dice_left": [] if turn is None else [*turn.dice_left],
        "heads_left": turn.heads_left if turn is not None and limited else None,
        "second_first": walk.num_plays == 1,
        "cube_value": state.cube_value,
        "cube_owner": state.cube_owner,
        "resignation": state.resignation,
        "refused": walk.refused,
        "score": score,
        "crawford": state.crawford,
        "crawford_done": _crawford_done(match, walk),
    }


def _phase(walk: Walk) -> Phase:
    state = walk.state
    if walk.winner is not None:
        return Phase.OVER
    if walk.rolled is not None:
        return Phase.MOVE
    if state.resignation:
        return Phase.RESIGNED
    phases = {Offer.DOUBLE: Phase.ANSWER, Offer.BEAVER: Phase.BEAVERED, Offer.RACCOON: Phase.RACCOONED}
    return phases.get(state.offer, Phase.CUBE)


def _crawford_done(match: MatchRecord, walk: Walk) -> bool:
    """Was the Crawford game played before this one?"""
    crawford = match.rules is not None and match.rules.crawford and match.match_length > 1
    return crawford and not walk.state.crawford and match.match_length - 1 in walk.state.score


def _game_text(game: GameRecord, walk: Walk) -> str:
    first = game.actions[0] if game.actions else None
    head = {
        "score": [*game.score],
        "crawford": walk.state.crawford,
        "automatic_doubles": game.automatic_doubles,
        "opening": [*first.dice] if isinstance(first, Roll) else None,
    }
    rows = ",\n".join(f"    {_line(action_object(action))}" for action in game.actions)
    listed = f"[\n{rows}\n   ]" if rows else "[]"
    return f'  {_line(head)[:-1]}, "actions": {listed}, "result": {_line(result_object(walk))}}}'


def action_object(action: Action) -> dict[str, Any]:
    """An action as JSON has it."""
    if isinstance(action, CubeAction):
        return {"player": action.player, "cube": action.kind}
    if isinstance(action, Resignation):
        return {"player": action.player, "resign": LEVELS[action.level - 1], "accepted": action.accepted}
    found: dict[str, Any] = {"player": action.player, "dice": [*action.dice]}
    if action.hops is None:
        return found | {"moves": [actions.action_text(move) for move in action.moves]}
    return found | {"play": " ".join(f"{_place(source)}/{_place(target)}" for source, target in action.hops) or PASS}


def _place(point: int) -> str:
    return {BAR: "bar", OFF: "off"}.get(point, str(point))


def _line(value: Any) -> str:
    """JSON in one line."""
    return json.dumps(value, ensure_ascii=False)
