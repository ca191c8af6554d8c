"""A board as a picture: where the shapes of a position lie, and in which colours.

Drawn as side 0 of the board sees it, like `env.drawing`: its home board at the bottom right. Player 0's checkers are
dark, player 1's light. A `Picture` becomes pixels by `to_pixels` and SVG by `to_svg`; `board_words` says the same to
those who cannot see it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from .cube import CENTRED, MINE
from .drawing import RESIGNED, BoardLike, checker_counts, cube_turner
from .shapes import Circle, Picture, Polygon, Rectangle, Shape, Text
from .variants import get_variant

__all__ = ["board_picture", "board_words"]

# Measures and colours of the board.
_POINT = 52  # width of a point
_CHECKER = 24  # radius
_HALF = 6 * _POINT
_BAR = 60
_TRAY = 72
_FRAME = 26
_TOP = 44  # heading above and below
_FIELD = 500  # height of the playing field
_POINT_HEIGHT = 212
_LEFT = _FRAME
_RIGHT = _LEFT + _HALF + _BAR
_TRAY_LEFT = _RIGHT + _HALF + _FRAME // 2
_WIDTH = _TRAY_LEFT + _TRAY + _FRAME
_HEIGHT = _FIELD + 2 * _TOP + 2 * _FRAME
_FIELD_TOP = _TOP + _FRAME
_FIELD_BOTTOM = _FIELD_TOP + _FIELD
_MIDDLE = _FIELD_TOP + _FIELD / 2

_PAGE = "#f4f0e8"
_INK = "#3b3029"
_WOOD = "#5a3d2b"
_WOOD_LIGHT = "#7a5640"
_TRAY_WOOD = "#7d5c45"
_FELT = "#2f5d50"
_POINTS = ("#d8c39a", "#a4553d")
_NUMBER = "#e9dcc4"
_CHECKERS = (("#2b2624", "#0f0d0c", "#5c524d"), ("#f3ead8", "#a3937a", "#d9ccb2"))  # fill, rim, ring; by player
_WHITE = "#fdfaf3"
_ARROW, _ARROW_RIM = "#ffb02e", "#2b1a0a"


def _point_x(point: int) -> float:
    """The middle of side 0's ``point``."""
    column = point - 13 if point > 12 else 12 - point
    return _LEFT + column * _POINT + _POINT / 2 + (_BAR if column > 5 else 0)


def _field() -> list[Shape]:
    shapes: list[Shape] = [
        Rectangle(0, 0, _WIDTH, _HEIGHT, _PAGE),
        Rectangle(0, _TOP, _WIDTH, _FIELD + 2 * _FRAME, _WOOD, radius=10),
        Rectangle(_LEFT, _FIELD_TOP, _HALF, _FIELD, _FELT),
        Rectangle(_RIGHT, _FIELD_TOP, _HALF, _FIELD, _FELT),
        Rectangle(_LEFT + _HALF + _BAR / 2 - 1, _FIELD_TOP, 2, _FIELD, _WOOD_LIGHT),
    ]
    for top in (_FIELD_TOP, _FIELD_BOTTOM - _POINT_HEIGHT):
        shapes.append(Rectangle(_TRAY_LEFT, top, _TRAY, _POINT_HEIGHT, _TRAY_WOOD, radius=5))
    for point in range(1, 25):
        x, upper = _point_x(point), point > 12
        edge = _FIELD_TOP if upper else _FIELD_BOTTOM
        tip = edge + (_POINT_HEIGHT if upper else -_POINT_HEIGHT)
        corners = ((x - _POINT / 2 + 1, edge), (x + _POINT / 2 - 1, edge), (x, tip))
        shapes.append(Polygon(corners, _POINTS[point % 2]))
        shapes.append(Text(x, edge + (-_FRAME / 2 if upper else _FRAME / 2), str(point), 14, _NUMBER))
    return shapes


def _stack_y(edge: float, direction: int, place: int) -> float:
    """The middle of the checker at ``place``, from 0, of a stack."""
    return edge + direction * (_CHECKER + 1 + place * 2 * (_CHECKER - 1))


def _checkers(x: float, edge: float, direction: int, count: int, player: int, most: int = 5) -> list[Shape]:
    """A stack of checkers from ``edge``, up (-1) or down (+1); a number on the last if there are more than ``most``."""
    fill, rim, ring = _CHECKERS[player]
    shapes: list[Shape] = []
    y = edge
    for place in range(min(count, most)):
        y = _stack_y(edge, direction, place)
        shapes.append(Circle(x, y, _CHECKER, fill, rim, 2))
        shapes.append(Circle(x, y, _CHECKER * 0.68, fill, ring, 1.5))
    if count > most:
        shapes.append(Text(x, y, str(count), 20, _CHECKERS[1 - player][0]))
    return shapes


def _borne_off(count: int, top: float, direction: int, player: int) -> list[Shape]:
    """Checkers off, lying on their edges in the tray, and their number."""
    fill, rim, _ = _CHECKERS[player]
    shapes: list[Shape] = []
    height = 11
    for place in range(count):
        y = top + 6 + place * (height + 1.5) if direction > 0 else top - 6 - height - place * (height + 1.5)
        shapes.append(Rectangle(_TRAY_LEFT + 8, y, _TRAY - 16, height, fill, 3, rim, 1))
    return shapes


_PIPS = {
    1: ((0, 0),),
    2: ((-1, -1), (1, 1)),
    3: ((-1, -1), (0, 0), (1, 1)),
    4: ((-1, -1), (-1, 1), (1, -1), (1, 1)),
    5: ((-1, -1), (-1, 1), (0, 0), (1, -1), (1, 1)),
    6: ((-1, -1), (-1, 0), (-1, 1), (1, -1), (1, 0), (1, 1)),
}


def _die(x: float, y: float, number: int, player: int) -> list[Shape]:
    """A die in the colour of ``player``, centred on x, y."""
    fill, rim, _ = _CHECKERS[player]
    shapes: list[Shape] = [Rectangle(x - 21, y - 21, 42, 42, fill, 8, rim, 1.5)]
    for column, row in _PIPS[number]:
        shapes.append(Circle(x + 11 * column, y + 11 * row, 4, _CHECKERS[1 - player][0]))
    return shapes


def _dice(dice: Sequence[int], on_roll: int, player: int) -> list[Shape]:
    """The dice in the right half for side 0, in the left half for side 1."""
    rolled = [die for die in dice if die]
    centre = (_RIGHT if on_roll == 0 else _LEFT) + _HALF / 2
    shapes: list[Shape] = []
    for place, die in enumerate(rolled):
        x = centre + (place - (len(rolled) - 1) / 2) * 52
        shapes += _die(x, _MIDDLE, die, player if on_roll == 0 else 1 - player)
    return shapes


def _cube(value: int, owner: int, on_roll: int, offered: int) -> list[Shape]:
    """The cube on the bar: in the middle, or at its owner's edge; offered, in the half of whoever must answer."""
    x: float = _LEFT + _HALF + _BAR / 2
    y = _MIDDLE
    shown = 64 if value == 1 else value
    if offered:
        shown = 2 * value
        x = (_LEFT if cube_turner(on_roll, offered) == 0 else _RIGHT) + _HALF / 2
    elif owner != CENTRED:
        y = _FIELD_BOTTOM - 26 if owner == MINE else _FIELD_TOP + 26
    size = 20 if shown < 100 else 15
    return [Rectangle(x - 21, y - 21, 42, 42, _WHITE, 6, _INK, 2), Text(x, y, str(shown), size, _INK)]


def _spot(point: int, place: int) -> tuple[float, float]:
    """Where side 0's checker number ``place``, from 0, of its ``point`` lies: 25 is the bar, 0 the tray."""
    if point == 25:
        return _LEFT + _HALF + _BAR / 2, _stack_y(_MIDDLE - 26, -1, min(place, 2))
    if point == 0:
        return _TRAY_LEFT + _TRAY / 2, _FIELD_BOTTOM - 12 - place * 12.5
    edge, direction = (_FIELD_TOP, 1) if point > 12 else (_FIELD_BOTTOM, -1)
    return _point_x(point), _stack_y(edge, direction, min(place, 4))


def _arrows(mine: Sequence[int], hops: Sequence[tuple[int, int]], fill: str) -> list[Shape]:
    """Side 0's single moves, one after the other, each from the checker that moves to where it comes to lie."""
    counts = list(mine)
    shapes: list[Shape] = []
    for source, target in hops:
        begin, end = _spot(source, counts[source] - 1), _spot(target, counts[target])
        counts[source] -= 1
        counts[target] += 1
        shapes += [_arrow(begin, end, 7, _ARROW_RIM), _arrow(begin, end, 4, fill)]
    return shapes


def _arrow(begin: tuple[float, float], end: tuple[float, float], half: float, fill: str) -> Polygon:
    """An arrow of half the width ``half``; a wider one of the same ends is its rim."""
    length = math.hypot(end[0] - begin[0], end[1] - begin[1]) or 1.0
    along = (end[0] - begin[0]) / length, (end[1] - begin[1]) / length
    rim, head = half - 4, min(22.0, length / 2)

    def at(forward: float, aside: float) -> tuple[float, float]:
        return begin[0] + forward * along[0] - aside * along[1], begin[1] + forward * along[1] + aside * along[0]

    neck = length - head
    wing = 9.0 + 2.2 * rim
    corners = ((-rim, half), (neck, half), (neck - rim, wing + half), (length + 1.5 * rim, 0))
    mirrored = [(forward, -aside) for forward, aside in corners[2::-1]]
    return Polygon(tuple(at(forward, aside) for forward, aside in (*corners, *mirrored)), fill)


def board_words(board: BoardLike, variant: str = "backgammon", dice: Sequence[int] | None = None) -> str:
    """The position as a sentence, each side's points in its own numbers, side 0 first."""
    get_variant(variant)
    words = []
    for name, counts in zip(("Side on the bottom", "other side"), checker_counts(board), strict=True):
        places = [f"{counts[point]} on {point}" for point in range(24, 0, -1) if counts[point]]
        places += [f"{counts[25]} on the bar"] if counts[25] else []
        places += [f"{counts[0]} off"] if counts[0] else []
        words.append(f"{name}: {', '.join(places)}")
    rolled = f" Dice: {' and '.join(str(die) for die in dice)}." if dice else ""
    return "; ".join(words) + "." + rolled


def board_picture(
    board: BoardLike,
    *,
    player: int = 0,
    dice: Sequence[int] | None = None,
    cube_value: int = 1,
    cube_owner: int = 0,
    score: Sequence[int] | None = None,
    match_length: int = 0,
    on_roll: int = 0,
    offered: int = 0,
    resignation: int = 0,
    names: Sequence[str] | None = None,
    variant: str = "backgammon",
    hops: Sequence[tuple[int, int]] = (),
    hops_fill: str = _ARROW,
) -> Picture:
    """Lay out one board; the arguments are those of `board_text`.

    ``hops``: single moves of side 0, ``(from, to)`` in its numbering, drawn as arrows in the colour ``hops_fill``.
    """
    rules = get_variant(variant)
    sides = checker_counts(board)
    players = (player, 1 - player)
    names = names or ("player 0", "player 1")
    shapes = _field()
    for side, counts in enumerate(sides):
        for point in range(1, 25):
            seen = point if side == 0 else rules.opposite(point)  # in side 0's numbering
            edge, direction = (_FIELD_TOP, 1) if seen > 12 else (_FIELD_BOTTOM, -1)
            shapes += _checkers(_point_x(seen), edge, direction, counts[point], players[side])
        # On the bar a side waits in the half where it enters; off the board it lies beside its home.
        up = -1 if side == 0 else 1
        shapes += _checkers(_LEFT + _HALF + _BAR / 2, _MIDDLE + up * 26, up, counts[25], players[side], most=3)
        edge = _FIELD_BOTTOM if side == 0 else _FIELD_TOP
        shapes += _borne_off(counts[0], edge, up, players[side])
        pips = sum(point * count for point, count in enumerate(counts))
        points = f", {score[players[side]]} of {match_length} points" if match_length and score is not None else ""
        y = _HEIGHT - _TOP / 2 if side == 0 else _TOP / 2
        shapes.append(Circle(_LEFT + 10, y, 9, _CHECKERS[players[side]][0], _CHECKERS[players[side]][1], 1.5))
        shapes.append(Text(_LEFT + 28, y, f"{names[players[side]]}{points}", 18, _INK, "start"))
        shapes.append(Text(_RIGHT + _HALF, y, f"{pips} pips", 18, _INK, "end"))
    if cube_value:
        shapes += _cube(cube_value, cube_owner, on_roll, offered)
    shapes += _dice(dice or (), on_roll, player)
    shapes += _arrows(sides[0], hops, hops_fill)
    if resignation:
        x = (_RIGHT if on_roll == 0 else _LEFT) + _HALF / 2
        shapes.append(Text(x, _MIDDLE, f"resigns {RESIGNED[resignation - 1]}", 18, _WHITE))
    return Picture(_WIDTH, _HEIGHT, tuple(shapes))
