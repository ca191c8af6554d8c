"""XGID, the one-line text of eXtreme Gammon: position, cube, dice, score and rules, from the bottom player's side.

The bottom player is player 1, the top one player 0. It does not say a resignation, a game that is not played or, read
here, a beaver on offer (its letters ``B`` and ``R`` are refused, as GNU Backgammon refuses them).
"""

from __future__ import annotations

from .errors import NotationError, naming, read_integer, shown
from .state import MAX_CUBE, MAX_SCORE, GameState, GameStatus, Offer, with_off, writable_rules_of

__all__ = ["read_xgid", "xgid"]

_PREFIX = "XGID="
_FIELDS = "position:cube:owner:turn:dice:bottom score:top score:rules:length:cube limit"
_USUAL_LIMIT = 10  # as a power of two
_MAX_LOG = MAX_CUBE.bit_length() - 1


def xgid(state: GameState) -> str:
    """The XGID of ``state``, without the prefix ``XGID=``; ``NotationError`` names what it cannot say."""
    with naming("xgid"):
        _check_sayable(state)
        top, bottom = state.board if state.player == 0 else state.board[::-1]
        letters = [_letter(bottom[point], top[25 - point]) for point in range(1, 25)]
        position = "".join([_letter(0, top[25]), *letters, _letter(bottom[25], 0)])
    dice = "D" if state.offer else "".join(map(str, state.dice or (0, 0)))
    rules = int(state.crawford) if state.match_length else bool(state.jacoby) + 2 * bool(state.beavers)
    owner = {None: 0, 0: -1, 1: 1}[state.cube_owner]
    limit = _USUAL_LIMIT if state.max_cube is None else state.max_cube.bit_length() - 1
    fields = [
        *(position, state.cube_value.bit_length() - 1, owner, 1 if state.player else -1, dice),
        *(state.score[1], state.score[0], rules, state.match_length, limit),
    ]
    return ":".join(map(str, fields))


def read_xgid(text: str, variant: str = "backgammon") -> GameState:
    """The state of an XGID, with or without ``XGID=``; checkers not named are borne off."""
    with naming(f"xgid {shown(text)}"):
        fields = text.removeprefix(_PREFIX).split(":")
        if len(fields) != _FIELDS.count(":") + 1:
            raise NotationError(f"found {len(fields)} fields, wanted {_FIELDS}")
        position, cube, owner, turn, dice, bottom_score, top_score, rules, length, limit = fields
        if turn not in ("1", "-1"):
            raise NotationError(f"turn: found {shown(turn)}, wanted 1 or -1")
        if owner not in ("1", "0", "-1"):
            raise NotationError(f"cube owner: found {shown(owner)}, wanted 1, 0 or -1")
        match_length = read_integer(length, "match length", 0, MAX_SCORE)
        rule_bits = read_integer(rules, "rules", 0, 1 if match_length else 3)
        top, bottom = _sides(position, variant)
        return GameState(
            board=(bottom, top) if turn == "1" else (top, bottom),
            player=int(turn == "1"),
            dice=_dice(dice),
            cube_value=1 << read_integer(cube, "cube", 0, _MAX_LOG),
            cube_owner={"1": 1, "0": None, "-1": 0}[owner],
            offer=Offer.DOUBLE if dice == "D" else Offer.NONE,
            match_length=match_length,
            score=(read_integer(top_score, "score", 0, MAX_SCORE), read_integer(bottom_score, "score", 0, MAX_SCORE)),
            crawford=match_length > 0 and rule_bits == 1,
            jacoby=match_length == 0 and rule_bits & 1 > 0,
            beavers=match_length == 0 and rule_bits & 2 > 0,
            max_cube=1 << read_integer(limit, "cube limit", 0, _MAX_LOG),
            variant=variant,
        )


def _check_sayable(state: GameState) -> None:
    writable_rules_of(state.variant)
    if state.status is not GameStatus.PLAYING:
        raise NotationError(f"cannot say a game that is {state.status.name.lower()}, wanted one that is played")
    if state.resignation:
        raise NotationError("cannot say a resignation on offer, wanted none")
    if state.offer > Offer.DOUBLE:
        raise NotationError(f"cannot say a {state.offer.name.lower()} on offer, wanted a double or none")
    for name, value in (("jacoby", state.jacoby), ("beavers", state.beavers)):
        if value is None:
            raise NotationError(f"{name}: found a state that does not say, wanted yes or no")


def _letter(bottom: int, top: int) -> str:
    if bottom:
        return chr(ord("A") + bottom - 1)
    return chr(ord("a") + top - 1) if top else "-"


def _sides(position: str, variant: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Top and bottom player, 26 numbers each in their own numbering."""
    if len(position) != 26:
        raise NotationError(f"position: found {len(position)} characters, wanted 26")
    bottom, top = [0] * 26, [0] * 26
    for index, letter in enumerate(position):
        if "A" <= letter <= "O" and index > 0:
            bottom[index] = ord(letter) - ord("A") + 1
        elif "a" <= letter <= "o" and index < 25:
            top[25 - index] = ord(letter) - ord("a") + 1
        elif letter != "-":
            side = {0: " or a to o (the top player's bar)", 25: " or A to O (the bottom player's bar)"}
            wanted = side.get(index, ", A to O or a to o")
            raise NotationError(f"position: found {letter!r} at index {index}, wanted -{wanted}")
    return with_off(top[1:], variant), with_off(bottom[1:], variant)


def _dice(text: str) -> tuple[int, int] | None:
    if text in ("00", "D"):
        return None
    if len(text) != 2 or not all("1" <= die <= "6" for die in text):
        raise NotationError(f"dice: found {shown(text)}, wanted 00, D or two numbers from 1 to 6")
    return int(text[0]), int(text[1])
