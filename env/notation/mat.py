"""Match text (``.mat``): whole matches in the layout that GNU Backgammon exports, byte for byte.

`mat_reader` reads it. The record is played through first, so what is written is legal from the first roll to the last:
GNU Backgammon drops an illegal move and shifts all that follows.
"""

from __future__ import annotations

from .errors import NotationError, naming, shown
from .hops import apply_hops
from .match_walk import walk_games
from .record import Action, CubeAction, GameRecord, MatchRecord, Resignation, Roll
from .state import GameState, Offer, writable_rules_of
from .walk import Walk

__all__ = ["match_text"]

MAX_NAME_CELL = 29  # name and score; two blanks must follow before column 32
HYPERGAMMON = ("Variation", "HyperGammon (3)")  # what GNU Backgammon calls sprintgammon
_LEFT = 27  # width of a left cell
_AFTER_ROW, _OWN_LINE = " " * 34, " " * 6


def match_text(match: MatchRecord) -> str:
    """The text of ``match``; a sprintgammon match gets the header that says so.

    Left out, since the layout has no place for them: resignations that were refused or wait for an answer, the moves
    made in an unfinished turn, and the rules agreed on. GNU Backgammon 1.07 reads no further game after one that ended
    with a beaver dropped, not even from its own export, and scores money games by its own setting of the Jacoby rule.

    `NotationError` for a record that breaks a rule, for names and headers that the layout cannot hold, for a taken
    beaver without a roll after it (the layout has no cell for that take), and for automatic doubles.
    """
    with naming("mat"):
        writable_rules_of(match.variant)
        walks = walk_games(match)
        check_names(match)
        lines = [f'; [{key} "{value}"]\n' for key, value in _headers(match)]
        text = "".join([*lines, "\n"] if lines else [])
        text += f" {match.match_length} point match\n\n"
        for number, (game, walk) in enumerate(zip(match.games, walks, strict=True), start=1):
            with naming(f"game {number}"):
                if game.automatic_doubles:
                    raise NotationError("cannot say automatic doubles, wanted a cube that starts at 1")
                _check_takes(game, walk)
            cells = [f"{name} : {points}" for name, points in zip(match.names, game.score, strict=True)]
            if max(len(cell) for cell in cells) > MAX_NAME_CELL:
                raise NotationError(f"game {number}: found names longer than {MAX_NAME_CELL} characters with the score")
            text += f" Game {number}\n {_padded(cells[0], 31)}{cells[1]}\n{_game_text(game, walk)}"
        return text


def check_names(match: MatchRecord) -> None:
    """``NotationError`` for no game, or a name that a reader would take for something else."""
    if not match.games:
        raise NotationError("found no game, wanted at least one")
    for name in match.names:
        bad = [part for part in (":", ")", "Game ", "  ", "point match") if part.lower() in name.lower()]
        if bad or not name or name != name.strip() or not name.isprintable() or name.startswith(";"):
            raise NotationError(f"name: found {shown(name)}, wanted printable text without : ) and 'Game '")


def _headers(match: MatchRecord) -> list[tuple[str, str]]:
    headers = list(match.headers)
    if match.variant == "sprintgammon" and HYPERGAMMON not in headers:
        headers.append(HYPERGAMMON)
    for key, value in headers:
        if not (key.isascii() and key.isalnum()) or not value.isprintable() or '"' in value or value != value.strip():
            raise NotationError(f"header: found {shown(key)} {shown(value)}, wanted a word and text without quotes")
        if key == "Variation" and (value == HYPERGAMMON[1]) != (match.variant == "sprintgammon"):
            raise NotationError(f"header: found Variation {shown(value)} in a {match.variant} match")
    return headers


def _padded(text: str, width: int) -> str:
    """Padded as GNU Backgammon pads, by bytes."""
    return text + " " * max(0, width - len(text.encode()))


def _check_takes(game: GameRecord, walk: Walk) -> None:
    following = [*game.actions[1:], None]
    for action, state, after in zip(game.actions, walk.states, following, strict=True):
        taken = isinstance(action, CubeAction) and action.kind == "take"
        if taken and state.offer is not Offer.DOUBLE and not isinstance(after, Roll):
            raise NotationError("cannot say that a beaver was taken and no roll followed, wanted a roll")


def _game_text(game: GameRecord, walk: Walk) -> str:
    written = [
        (action, cell)
        for action, state in zip(game.actions, walk.states, strict=True)
        if (cell := _cell(action, state)) is not None
    ]
    place = written[0][0].player if written else 0  # cells used so far, counting an empty first one
    text = f"{1:3d}) {'':{_LEFT}} " if place else ""
    for _, cell in written:
        text += f"{cell}\n" if place % 2 else f"{place // 2 + 1:3d}) {_padded(cell, _LEFT)} "
        place += 1
    if game.winner is None:
        return text  # the file ends here
    return text + _result(game, walk, row_open=bool(place % 2)) + "\n"


def _result(game: GameRecord, walk: Walk, row_open: bool) -> str:
    """What follows the last cell: who has won how much, at the place that tells who."""
    wins = f"Wins {game.points} point{'' if game.points == 1 else 's'}"
    last = game.actions[-1]
    if isinstance(last, CubeAction) and last.player == 0:
        return f" {wins} \n"  # in the cell of the drop
    if game.winner == 0:
        return f"\n{_OWN_LINE}{wins}\n" if row_open else f"{_OWN_LINE}{wins}\n"
    if not row_open:
        return f"{_AFTER_ROW}{wins}\n"
    return f"{wins}\n" if walk.rolled is not None else f" {wins}\n"


def _cell(action: Action, state: GameState) -> str | None:
    """The text of one action taken in ``state``; None where the layout has no cell for it."""
    if isinstance(action, Roll):
        dice = f"{action.dice[0]}{action.dice[1]}: "
        return dice if action.hops is None else dice + _hops(action, state)
    if isinstance(action, Resignation):
        return None
    if action.kind == "drop":
        return " Drops"
    if action.kind == "take":
        return {Offer.DOUBLE: " Takes", Offer.BEAVER: None, Offer.RACCOON: "  "}[state.offer]
    turned = 2 * state.cube_value * (1 if action.kind == "double" else 2)
    return f" {'Doubles' if action.kind == 'double' else 'Beavers'} => {turned}"


def _hops(roll: Roll, state: GameState) -> str:
    hops = roll.hops or ()
    _, hits = apply_hops(state.board, hops)
    words = []
    for source, target in hops:
        words.append(f"{source}/{target}{'*' if target in hits else ''}")
        hits.discard(target)
    return " ".join(words) + ("" if len(words) in (0, 4) else " ")
