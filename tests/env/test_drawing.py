"""Boards as text and as pictures."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest

from nardy.env import board_picture, board_text, board_words, start_boards
from nardy.env.shapes import Circle, Picture, Polygon, Rectangle, Text, to_pixels, to_svg

from ..positions import position

START = start_boards(1)[0]


def test_the_opening_position_reads_as_a_board() -> None:
    assert board_text(START, dice=(3, 1), ascii=True) == (
        " 13 14 15 16 17 18  BAR 19 20 21 22 23 24\n"
        "+------------------+---+------------------+\n"
        "| X           O    |   | O              X |  O player 1, 167 pips\n"
        "| X           O    |   | O              X |\n"
        "| X           O    |   | O                |\n"
        "| X                |   | O                |\n"
        "| X                |   | O                |\n"
        "+------------------+---+------------------+  money game; cube 1, centred\n"
        "| O                |   | X                |\n"
        "| O                |   | X                |\n"
        "| O           X    |   | X                |  X to play 3 1\n"
        "| O           X    |   | X              O |\n"
        "| O           X    |   | X              O |  X player 0, 167 pips\n"
        "+------------------+---+------------------+\n"
        " 12 11 10  9  8  7  BAR  6  5  4  3  2  1"
    )


def test_a_board_of_longgammon_has_no_bar_and_the_opponents_head_at_the_lower_left() -> None:
    board = position("24:13 13:1 1:1", "12:12 6:2 18:1", "longgammon")

    assert board_text(board, dice=(3, 1), ascii=True, variant="longgammon") == (
        " 13 14 15 16 17 18      19 20 21 22 23 24\n"
        "+------------------+---+------------------+\n"
        "| X              O |   |                X |  O player 1, 330 pips\n"
        "|                  |   |                X |\n"
        "|                  |   |                X |\n"
        "|                  |   |                X |\n"
        "|                  |   |               13 |\n"
        "+------------------+---+------------------+  money game; cube 1, centred\n"
        "|12                |   |                  |\n"
        "| O                |   |                  |\n"
        "| O                |   |                  |  X to play 3 1\n"
        "| O                |   | O                |\n"
        "| O                |   | O              X |  X player 0, 326 pips\n"
        "+------------------+---+------------------+\n"
        " 12 11 10  9  8  7       6  5  4  3  2  1"
    )


def test_a_picture_of_longgammon_has_each_side_where_its_route_puts_it() -> None:
    def stacks(variant: str) -> set[tuple[float, float]]:
        board = position("24:15", "12:15", "longgammon")
        shapes = board_picture(board, cube_value=0, variant=variant).shapes
        return {(shape.x, shape.y) for shape in shapes if isinstance(shape, Circle) and shape.radius > 20}

    (right, top), (left, bottom) = sorted(stacks("longgammon"), reverse=True)[0], sorted(stacks("longgammon"))[0]
    assert left < right and top != bottom
    assert {x for x, _ in stacks("longgammon")} == {left, right}
    assert {x for x, _ in stacks("backgammon")} == {right}  # 24 and its own 24 there: the upper and the lower right


def test_bar_checkers_off_and_high_stacks_are_shown() -> None:
    lines = board_text(position("6:12 bar:2 off:1", "23:7 bar:6 off:2"), ascii=True).splitlines()
    assert [line[20:23] for line in lines[2:7]] == [" X ", " X ", "   ", "   ", "   "]
    assert [line[20:23] for line in lines[8:13]] == [" 6 ", " O ", " O ", " O ", " O "]
    assert lines[8][24:27] == "12 " and lines[6][36:39] == " 7 "
    assert "O player 1, 164 pips, 2 off" in lines[2] and "X player 0, 122 pips, 1 off" in lines[12]


def test_score_cube_and_whose_turn_it_is_are_shown_for_either_player() -> None:
    drawn = board_text(
        START, player=1, on_roll=1, cube_value=4, cube_owner=1, score=(3, 1), match_length=7, names=("Ann", "Bob")
    )
    lines = drawn.splitlines()
    assert "● Ann, 167 pips, 3 points" in lines[2] and "○ Bob, 167 pips, 1 point" in lines[12]
    assert "● on roll" in lines[4] and "match to 7; cube 4, ○ owns it" in lines[7]
    assert "● doubles to 8" in board_text(START, player=1, on_roll=1, cube_value=4, offered=True)
    assert "● beavers to 16" in board_text(START, player=1, cube_value=8, cube_owner=2, offered=2).splitlines()[4]
    assert "○ raccoons to 32" in board_text(START, player=1, cube_value=16, cube_owner=2, offered=3).splitlines()[10]
    assert "● resigns a gammon" in board_text(START, player=1, on_roll=1, resignation=2)
    assert "○ has won" in board_text(position("6:15", "off:15"))
    assert "cube" not in board_text(START, cube_value=0)


def test_ascii_is_ascii() -> None:
    assert board_text(START, ascii=True).isascii() and not board_text(START).isascii()


@pytest.mark.parametrize("board", [START.numpy(), START.tolist(), START])
def test_a_board_may_be_a_tensor_an_array_or_lists(board: object) -> None:
    assert board_text(board) == board_text(START)


def test_a_board_of_another_shape_is_refused() -> None:
    with pytest.raises(ValueError, match=r"board: found shape \(1, 2, 26\)"):
        board_text(start_boards(1))


def test_a_picture_holds_every_checker_die_and_number() -> None:
    board = position("6:4 13:5 8:3 24:1 bar:1 off:1", "19:5 17:3 12:5 bar:2")
    shapes = board_picture(board, dice=(6, 3), score=(2, 5), match_length=7, cube_value=2, cube_owner=2).shapes
    texts = [shape.text for shape in shapes if isinstance(shape, Text)]
    assert [str(point) for point in range(1, 25)] == texts[:24]
    assert "2" in texts[24:] and "player 1, 5 of 7 points" in texts
    rings = [shape for shape in shapes if isinstance(shape, Circle) and shape.radius > 20]
    assert len(rings) == 29
    assert len([shape for shape in shapes if isinstance(shape, Circle) and shape.radius == 4]) == 9  # pips of the dice


def test_a_picture_becomes_pixels_in_the_colours_given() -> None:
    shapes = (
        Rectangle(0, 0, 40, 30, "#102030"),
        Rectangle(20, 0, 20, 30, "#ff0000", radius=3, outline="#00ff00", line_width=2),
        Circle(10, 10, 6, "#ffffff"),
        Polygon(((0, 30), (10, 30), (0, 20)), "#0000ff"),
        Text(30, 15, "8", 12, "#000000"),
    )
    pixels = to_pixels(Picture(40, 30, shapes))
    assert pixels.shape == (30, 40, 3) and pixels.dtype == np.uint8
    assert pixels[0, 0].tolist() == [0x10, 0x20, 0x30] and pixels[10, 10].tolist() == [255, 255, 255]
    assert pixels[28, 1].tolist() == [0, 0, 255] and pixels[15, 23].tolist() == [255, 0, 0]
    assert pixels[15, 20].tolist() == [0, 255, 0] and pixels[10:20, 26:34].min() == 0


def test_a_picture_becomes_a_well_formed_svg() -> None:
    picture = board_picture(START, names=("A & B", "<C>"), dice=(4, 4, 4, 0), on_roll=1, offered=False)
    root = ElementTree.fromstring(to_svg(picture))  # noqa: S314  # our own text
    tags = [child.tag.rpartition("}")[2] for child in root]
    assert len(tags) == len(picture.shapes) and set(tags) == {"rect", "circle", "polygon", "text"}
    assert {"A & B", "<C>"} <= {child.text for child in root}


def test_a_turned_cube_lies_in_the_half_of_who_must_answer() -> None:
    def cube(value: int, offered: int, on_roll: int) -> Text:
        shapes = board_picture(START, cube_value=value, cube_owner=2, offered=offered, on_roll=on_roll).shapes
        return [shape for shape in shapes if isinstance(shape, Text) and shape.text == str(2 * value)][-1]

    for on_roll in (0, 1):
        double, beaver, raccoon = (cube(32 << turns, turns + 1, on_roll) for turns in range(3))
        assert double.x == raccoon.x != beaver.x and (double.x < beaver.x) == (on_roll == 0)


def test_a_resignation_is_written_on_the_board() -> None:
    shapes = board_picture(START, resignation=3).shapes
    assert "resigns a backgammon" in {shape.text for shape in shapes if isinstance(shape, Text)}


def test_no_picture_leaves_its_frame() -> None:
    picture = board_picture(position("1:14 bar:1", "24:14 bar:1"), offered=True)
    for shape in picture.shapes:
        if isinstance(shape, Circle):
            assert shape.radius <= shape.x <= picture.width - shape.radius
            assert shape.radius <= shape.y <= picture.height - shape.radius


def test_a_picture_is_named_and_described_for_those_who_cannot_see_it() -> None:
    board = position("6:4 13:5 8:3 24:1 bar:1 off:1", "19:5 17:3 12:5 bar:2")
    words = board_words(board, dice=(6, 3))
    root = ElementTree.fromstring(to_svg(board_picture(board), "A & B", words))  # noqa: S314  # our own text
    assert root.attrib["role"] == "img"
    assert [child.text for child in list(root)[:2]] == ["A & B", words]
    assert words == (
        "Side on the bottom: 1 on 24, 5 on 13, 3 on 8, 4 on 6, 1 on the bar, 1 off; "
        "other side: 5 on 13, 3 on 8, 5 on 6, 2 on the bar. Dice: 6 and 3."
    )


@pytest.mark.parametrize("variant", ["backgammon", "longgammon"])
def test_arrows_lead_from_the_checker_that_moves_to_where_it_comes_to_lie(variant: str) -> None:
    board = position("24:2 6:3 bar:1 off:9", "12:15" if variant == "longgammon" else "1:15", variant)
    plain = board_picture(board, cube_value=0, variant=variant).shapes
    hops = [(25, 20), (24, 18), (6, 0)]
    arrows = board_picture(board, cube_value=0, variant=variant, hops=hops, hops_fill="#123456").shapes[len(plain) :]
    drawn = [shape for shape in arrows if isinstance(shape, Polygon) and shape.fill == "#123456"]
    assert len(drawn) == len(hops) == len(arrows) / 2
    dark = {(s.x, s.y) for s in plain if isinstance(s, Circle) and s.radius > 20 and s.fill == "#2b2624"}
    for arrow in drawn:
        (ax, ay), (bx, by) = arrow.points[0], arrow.points[-1]
        assert min(abs((ax + bx) / 2 - x) + abs((ay + by) / 2 - y) for x, y in dark) < 0.01
