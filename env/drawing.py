"""A board as text for a terminal: numbers, checkers, bar, cube, dice, score and pips.

Everything is drawn as side 0 of the board sees it: its home board is at the bottom right, the numbers on the frame
are its own. Which checkers a side has goes by player: player 0's are filled discs (``X`` in ASCII), player 1's are
rings (``O``), so that they stay the same when the sides change. In longgammon both sides travel towards the numbers'
fall; the opponent's home is at the top left. `env.picture` draws the same as an image.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from .cube import CENTRED, MINE
from .variants import Variant, get_variant

__all__ = ["RESIGNED", "BoardLike", "board_text", "checker_counts", "cube_turner"]

BoardLike = Any  # tensor, array or nested list of shape [2, 26]

RESIGNED = ("a single game", "a gammon", "a backgammon")  # by level

_ROWS = 5  # checkers drawn of a stack; a higher one shows its number


def checker_counts(board: BoardLike) -> tuple[list[int], list[int]]:
    """Both sides of one board ``[2, 26]`` as lists of 26 numbers, each in its own numbering; ``ValueError`` if not."""
    sides = torch.as_tensor(board)
    if tuple(sides.shape) != (2, 26):
        raise ValueError(f"board: found shape {tuple(sides.shape)}, wanted [2, 26]")
    mine, theirs = sides.tolist()
    return [int(n) for n in mine], [int(n) for n in theirs]


def _stack(count: int, checker: str) -> list[str]:
    """The ``_ROWS`` cells of a stack from the edge inwards, three characters each."""
    cells = [f" {checker} " if row < count else "   " for row in range(_ROWS)]
    if count > _ROWS:
        cells[-1] = f"{count:>2} "
    return cells


def _point_stack(
    sides: tuple[list[int], list[int]], point: int, checkers: tuple[str, str], rules: Variant
) -> list[str]:
    """The stack on side 0's ``point``, whoever holds it."""
    mine, theirs = sides
    if mine[point]:
        return _stack(mine[point], checkers[0])
    return _stack(theirs[rules.opposite(point)], checkers[1])


def _half(
    sides: tuple[list[int], list[int]],
    points: Sequence[int],
    bar: list[str],
    checkers: tuple[str, str],
    side: str,
    rules: Variant,
) -> list[str]:
    """Five rows of the frame from the edge inwards: twelve points, the bar between them."""
    stacks = [_point_stack(sides, point, checkers, rules) for point in points]
    rows = []
    for row in range(_ROWS):
        left, right = ("".join(stack[row] for stack in part) for part in (stacks[:6], stacks[6:]))
        rows.append(f"{side}{left}{side}{bar[row]}{side}{right}{side}")
    return rows


def _cube_line(cube_value: int, cube_owner: int, checkers: tuple[str, str]) -> str:
    if cube_owner == CENTRED:
        return f"cube {cube_value}, centred"
    return f"cube {cube_value}, {checkers[0 if cube_owner == MINE else 1]} owns it"


def cube_turner(on_roll: int, offered: int) -> int:
    """The side that turned the cube last: a double and a raccoon are the side's on roll, a beaver is the other's."""
    return 1 - on_roll if offered == 2 else on_roll


def _deed(rolled: Sequence[str], cube_value: int, offered: int, resignation: int) -> str:
    """What the side does that acts or has just acted."""
    if rolled:
        return f"to play {' '.join(rolled)}"
    if offered:
        return f"{('doubles', 'beavers', 'raccoons')[offered - 1]} to {2 * cube_value}"
    if resignation:
        return f"resigns {RESIGNED[resignation - 1]}"
    return "on roll"


def _frame(ascii_only: bool) -> dict[str, str]:
    if ascii_only:
        return {"line": "-", "side": "|", "top": "++++", "bottom": "++++", "middle": "++++"}
    return {"line": "─", "side": "│", "top": "┌┬┬┐", "bottom": "└┴┴┘", "middle": "├┼┼┤"}


def _numbers(points: Sequence[int], rules: Variant) -> str:
    left, right = ("".join(f"{point:>2} " for point in part) for part in (points[:6], points[6:]))
    return f" {left} {'   ' if rules.blocking else 'BAR'} {right}".rstrip()


def board_text(
    board: BoardLike,
    *,
    player: int = 0,
    dice: Sequence[int] | None = None,
    cube_value: int = 1,
    cube_owner: int = 0,
    score: Sequence[int] | None = None,
    match_length: int = 0,
    ascii: bool = False,  # the natural word for the caller
    on_roll: int = 0,
    offered: int = 0,
    resignation: int = 0,
    names: Sequence[str] | None = None,
    variant: str = "backgammon",
) -> str:
    """Draw one board as several lines of text, without a final newline, as side 0 sees it.

    Args:
        board: ``[2, 26]``, tensor, array or nested list.
        player: number of the player who is side 0; his checkers are ``●`` (``X``) for 0, ``○`` (``O``) for 1.
        dice: the dice on the table or still to be played; zeros are left out.
        cube_value: what the cube shows, without the turn of it that waits; 0 draws no cube.
        cube_owner: 0 centred, 1 side 0, 2 side 1.
        score: match points of player 0 and player 1.
        match_length: points to win the match, 0 for money.
        ascii: use plain ASCII only.
        on_roll: the side whose dice these are, 0 or 1.
        offered: 1 (or True) the side on roll has offered the cube, 2 the other has beavered, 3 it has raccooned then.
        resignation: the level that the side on roll offers to lose, 0 for none.
        names: what to call player 0 and player 1.
        variant: name of the discipline, which says where a side's points are.
    """
    rules = get_variant(variant)
    sides = checker_counts(board)
    mine, theirs = sides
    symbols = ("X", "O") if ascii else ("●", "○")
    checkers = (symbols[player], symbols[1 - player])
    names = names or ("player 0", "player 1")
    frame = _frame(ascii)
    six, three = frame["line"] * 18, frame["line"] * 3

    def border(corners: str) -> str:
        return f"{corners[0]}{six}{corners[1]}{three}{corners[2]}{six}{corners[3]}"

    def player_line(side: int) -> str:
        number = player if side == 0 else 1 - player
        counts = sides[side]
        pips = sum(point * count for point, count in enumerate(counts))
        line = f"{checkers[side]} {names[number]}, {pips} pips"
        if counts[0]:
            line += f", {counts[0]} off"
        if match_length and score is not None:
            line += f", {score[number]} point{'' if score[number] == 1 else 's'}"
        return line

    rolled = [str(die) for die in dice or () if die]
    acts = cube_turner(on_roll, offered)
    if any(not any(side[1:]) for side in sides):
        acts = on_roll
        roll_line = f"{checkers[0 if not any(mine[1:]) else 1]} has won"
    else:
        roll_line = f"{checkers[acts]} {_deed(rolled, cube_value, offered, resignation)}"
    stakes = [f"match to {match_length}" if match_length else "money game"]
    if cube_value:
        stakes.append(_cube_line(cube_value, cube_owner, checkers))
    # A side's checkers on the bar wait in the half where they enter: side 0's at the top.
    top = _half(sides, range(13, 25), _stack(mine[25], checkers[0]), checkers, frame["side"], rules)
    bottom = _half(sides, range(12, 0, -1), _stack(theirs[25], checkers[1]), checkers, frame["side"], rules)[::-1]
    lines = [border(frame["top"]), *top, border(frame["middle"]), *bottom, border(frame["bottom"])]
    notes = {1: player_line(1), (3 if acts else 9): roll_line, 6: "; ".join(stakes), 11: player_line(0)}
    lines = [f"{line}  {notes[row]}" if row in notes else line for row, line in enumerate(lines)]
    return "\n".join([_numbers(range(13, 25), rules), *lines, _numbers(range(12, 0, -1), rules)])
