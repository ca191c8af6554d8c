"""GNU Backgammon's Match ID: cube, score, dice and who decides in 12 letters; and it together with a Position ID.

It does not say the position, the beavers or the limit of the cube: they are read as the starting position, None and
None.
"""

from __future__ import annotations

from torch import Tensor

from ..board import start_boards
from .bits import from_letters, to_letters
from .errors import NotationError, naming, shown
from .position_id import position_id, read_position_id
from .state import GameState, GameStatus, Offer, writable_rules_of
from .xgid import read_xgid

__all__ = ["gnubg_id", "match_id", "read_gnubg_id", "read_match_id"]

_BYTES = 9
_CENTRED = 3
_WIDTHS = {  # from the lowest bit up
    "cube": 4,
    "owner": 2,
    "player": 1,
    "crawford": 1,
    "status": 3,
    "decides": 1,
    "doubled": 1,
    "resignation": 2,
    "larger die": 3,
    "smaller die": 3,
    "match length": 15,
    "score 0": 15,
    "score 1": 15,
    "no jacoby": 1,
    "spare": 5,
}


def match_id(state: GameState) -> str:
    """The Match ID of ``state``, as GNU Backgammon 1.07 writes it (the last bit set in match play).

    ``NotationError`` for a money game that does not say whether the Jacoby rule is in use.
    """
    with naming("match id"):
        writable_rules_of(state.variant)
    if state.jacoby is None:
        raise NotationError("match id: jacoby: found a state that does not say, wanted yes or no")
    larger, smaller = sorted(state.dice, reverse=True) if state.dice else (0, 0)
    fields = {
        "cube": state.cube_value.bit_length() - 1,
        "owner": _CENTRED if state.cube_owner is None else state.cube_owner,
        "player": state.player,
        "crawford": int(state.crawford),
        "status": int(state.status),
        "decides": state.decides,
        "doubled": int(state.offer is not Offer.NONE),
        "resignation": state.resignation,
        "larger die": larger,
        "smaller die": smaller,
        "match length": state.match_length,
        "score 0": state.score[0],
        "score 1": state.score[1],
        "no jacoby": int(not state.jacoby),
        "spare": 0,
    }
    number = place = 0
    for name, width in _WIDTHS.items():
        number |= fields[name] << place
        place += width
    return to_letters(number, _BYTES)


def read_match_id(text: str, board: Tensor | None = None, variant: str = "backgammon") -> GameState:
    """The state of a Match ID; ``board`` ``[2, 26]``, side 0 on roll, is the position, the starting one if None."""
    with naming(f"match id {shown(text)}"):
        writable_rules_of(variant)
        if board is None:
            board = start_boards(1, variant)[0]
        return _state(from_letters(text, _BYTES), board, variant)


def gnubg_id(state: GameState) -> str:
    """Position ID and Match ID joined by a colon, what GNU Backgammon calls a GNUbg ID."""
    return f"{position_id(state.board, state.variant)}:{match_id(state)}"


def read_gnubg_id(text: str, variant: str = "backgammon") -> GameState:
    """A Position ID and a Match ID joined by a colon in either order, either of them alone, or an XGID.

    A Position ID alone is a money game before the roll with player 1 on roll; of its rules nothing is known.
    """
    parts = text.split(":")
    if len(parts) > 2:
        return read_xgid(text, variant)
    lengths = sorted(map(len, parts))
    if lengths not in ([12], [14], [12, 14]):
        raise NotationError(
            f"gnubg id: found {shown(text)}, wanted an XGID, a Position ID of 14 letters, a Match ID of 12, or both"
        )
    parts.sort(key=len)
    if lengths == [12]:
        return read_match_id(text, None, variant)
    board = read_position_id(parts[-1], variant)
    if lengths == [14]:
        with naming("gnubg id"):
            return GameState(_numbers(board), jacoby=None, beavers=None, variant=variant)
    return read_match_id(parts[0], board, variant)


def _numbers(board: Tensor) -> tuple[tuple[int, ...], tuple[int, ...]]:
    mine, theirs = board.tolist()
    return tuple(mine), tuple(theirs)


def _state(number: int, board: Tensor, variant: str) -> GameState:
    fields = {}
    for name, width in _WIDTHS.items():
        fields[name] = number & ((1 << width) - 1)
        number >>= width
    if fields["spare"]:
        raise NotationError("found bits set after the last field, wanted none")
    owner = fields["owner"]
    if owner == 2:
        raise NotationError("cube owner: found 2, wanted 0, 1 or 3 (centred)")
    if fields["status"] > max(GameStatus):
        raise NotationError(f"game state: found {fields['status']}, wanted 0 to {max(GameStatus):d}")
    money = fields["match length"] == 0
    state = GameState(
        board=_numbers(board),
        player=fields["player"],
        dice=_dice(fields["larger die"], fields["smaller die"]),
        cube_value=1 << fields["cube"],
        cube_owner=None if owner == _CENTRED else owner,
        offer=_offer(fields),
        resignation=fields["resignation"],
        match_length=fields["match length"],
        score=(fields["score 0"], fields["score 1"]),
        crawford=bool(fields["crawford"]),
        jacoby=not fields["no jacoby"] if money else False,  # older programs leave the bit out in matches
        beavers=None if money else False,
        status=GameStatus(fields["status"]),
        variant=variant,
    )
    if state.status is GameStatus.PLAYING and state.decides != fields["decides"]:
        raise NotationError(f"player who decides: found {fields['decides']}, wanted {state.decides}")
    return state


def _dice(first: int, second: int) -> tuple[int, int] | None:
    if first == second == 0:
        return None
    if not (1 <= first <= 6 and 1 <= second <= 6):
        raise NotationError(f"dice: found {first} and {second}, wanted two numbers from 1 to 6, or 0 and 0")
    return max(first, second), min(first, second)


def _offer(fields: dict[str, int]) -> Offer:
    """Once the opponent of the player on roll owns the cube, what waits is a beaver or a raccoon."""
    if not fields["doubled"]:
        return Offer.NONE
    if fields["owner"] != 1 - fields["player"]:
        return Offer.DOUBLE
    answers = fields["decides"] ^ (fields["resignation"] > 0)
    return Offer.BEAVER if answers == fields["player"] else Offer.RACCOON
