"""Move text: written as GNU Backgammon writes it, read as people write it, and always back to the same position."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from nardy.env import afterstates, flip, start_boards
from nardy.env.notation import NotationError, find_play, match_play, play_text, plays

from ..positions import after_play, from_boards, position, to_boards
from ..random_positions import random_decisions
from .test_rule_vectors import LONG_ROWS, ROWS, Row

START = start_boards(1)[0]


def _board(mover: str, opponent: str) -> Tensor:
    return to_boards([position(mover, opponent)])[0]


@pytest.mark.parametrize(
    ("mover", "opponent", "dice", "some"),
    [
        ("24:2 13:5 8:3 6:5", "1:2 12:5 17:3 19:5", (3, 1), ["8/5 6/5", "24/23 24/21", "24/20", "13/9", "8/7 8/5"]),
        ("24:2 13:5 8:3 6:5", "1:2 12:5 17:3 19:5", (2, 2), ["24/20(2)", "24/18 24/22", "24/22(2) 6/4(2)", "13/5"]),
        ("bar:1 6:14", "22:1 19:2 12:12", (3, 1), ["bar/22*/21", "bar/21", "bar/22* 6/5", "bar/24 6/3"]),
        ("13:1 1:2 off:12", "12:2 11:1 10:1 off:11", (3, 2), ["13/10*/8", "13/11*/8"]),
        ("6:2 5:1 3:2 off:10", "24:2 19:3 off:10", (4, 4), ["6/2(2) 5/1 3/off"]),
        ("8:2 6:13", "5:1 3:1 20:13", (3, 3), ["8/5*(2) 6/3*(2)", "8/5* 6/3*(3)"]),
        ("11:2 2:13", "8:1 20:14", (3, 3), ["11/8*/5(2)", "11/8*/2 11/8"]),
        ("20:2 13:5 8:3 6:5", "bar:1 1:2 12:5 17:3 19:4", (6, 4), ["20/10", "20/14 8/4", "20/16 13/7"]),
    ],
)
def test_plays_are_written_as_gnu_backgammon_does(
    mover: str, opponent: str, dice: tuple[int, int], some: list[str]
) -> None:
    texts = [play.text for play in plays(_board(mover, opponent), dice)]
    assert set(some) <= set(texts)
    assert len(set(texts)) == len(texts)


@pytest.mark.parametrize("row", [*ROWS, *LONG_ROWS], ids=lambda row: row.name)
def test_the_plays_of_the_rule_table_are_read(row: Row) -> None:
    board = to_boards([row.before])[0]
    found = [find_play(text, board, row.dice, row.variant, row.second_first) for text in row.plays]
    assert sorted(from_boards(torch.stack(found))) == sorted(row.ends)


@pytest.mark.parametrize("variant", ["backgammon", "sprintgammon", "longgammon"])
def test_every_legal_play_comes_back_from_its_text(variant: str, scale: Callable[[int], int]) -> None:
    for number, (before, dice) in enumerate(random_decisions(scale(2500), seed=11, variant=variant)):
        board, second_first = to_boards([before])[0], number % 2 == 0
        legal = plays(board, dice, variant, second_first)
        _, ends = afterstates(board[None], torch.tensor([dice]), variant, torch.tensor([second_first]))
        assert torch.equal(torch.stack([play.board for play in legal]), ends)
        for play in legal:
            assert match_play(play.text, legal, dice) is play
            assert after_play(before, play.text, variant) == from_boards(play.board[None])[0]


def test_every_single_move_of_a_turn_may_be_written_out(scale: Callable[[int], int]) -> None:
    for before, dice in random_decisions(scale(1000), seed=12):
        legal = plays(to_boards([before])[0], dice)
        for play in legal[:20]:
            for turn in play.turns[:1]:
                hops = [f"{source}/{target}{'*' if target in play.hits else ''}" for source, target in reversed(turn)]
                assert match_play(", ".join(hops) or "pass", legal, dice) is play


def test_text_of_a_position_after() -> None:
    after = find_play("8/5 6/5", START, (3, 1))
    assert play_text(START, after, (1, 3)) == "8/5 6/5"
    with pytest.raises(ValueError, match="not reached by any of the 16 legal plays of 3-1"):
        play_text(START, flip(after[None])[0], (3, 1))


SAME = [
    (START, (3, 1), "8/5 6/5", ["6/5 8/5", "6/5,8/5", "  8/5   6/5 ", "8/5, 6/5"]),
    (START, (3, 1), "24/20", ["24/21/20", "24/23/20", "24/21 21/20", "21/20 24/21"]),
    (START, (2, 2), "24/20(2)", ["24/20 24/20", "24/22(2) 22/20(2)", "24/22/20(2)", "24/22/20 24/20"]),
    (START, (5, 5), "13/3(2)", ["13/8/3(2)", "13/8(2) 8/3(2)", "13/3 13/3"]),
    (
        _board("bar:1 6:14", "22:1 19:2 12:12"),
        (3, 1),
        "bar/22*/21",
        ["25/22/21", "b/22*/21", "BAR/22/21", "25/22* 22/21"],
    ),
    (
        _board("6:2 5:1 3:2 off:10", "24:2 19:3 off:10"),
        (4, 4),
        "6/2(2) 5/1 3/off",
        ["6/2(2) 5/1 3/0", "3/o 5/1 6/2 6/2"],
    ),
    (_board("8:2 6:13", "5:1 3:1 20:13"), (3, 3), "8/5*(2) 6/3*(2)", ["8/5(2) 6/3(2)", "8/5(2)* 6/3* 6/3"]),
]


@pytest.mark.parametrize(("board", "dice", "text", "others"), SAME, ids=[case[2] for case in SAME])
def test_many_spellings_mean_one_play(board: Tensor, dice: Sequence[int], text: str, others: list[str]) -> None:
    wanted = find_play(text, board, dice)
    assert play_text(board, wanted, dice) == text
    for other in others:
        assert torch.equal(find_play(other, board, dice), wanted), other


def test_a_hop_without_a_star_means_the_way_that_does_not_hit() -> None:
    board = _board("13:1 1:2 off:12", "12:2 10:1 off:12")
    quiet, hit = find_play("13/8", board, (3, 2)), find_play("13/10/8", board, (3, 2))
    assert quiet[1, 25] == 0
    assert hit[1, 25] == 1


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("8/5", "'8/5' is not legal with 3-1: wanted one of 16 legal plays"),
        ("8/4 6/5", "not legal with 3-1: wanted one of 16 legal plays"),
        ("8/5* 6/5", "not legal"),
        ("7/4 6/5", "not legal"),
        ("8/5 6/5 6/5", "not legal"),
        ("", "wanted a move: there are 16 legal plays of 3-1"),
        ("pass", "wanted a move: there are 16 legal plays of 3-1"),
        ("hello", "cannot read 'hello' in 'hello', wanted moves such as 8/5 6/5, bar/22"),
        ("8/5 6-5", "cannot read '6-5'"),
        ("5/8 6/5", "cannot read '5/8' in '5/8 6/5', wanted points that go down from 25 to 0"),
        ("99/5", "wanted points that go down"),
        ("off/5", "cannot read 'off/5'"),
        ("8/bar", "cannot read '8/bar'"),
        ("8/7(9)", "found 9 moves in '8/7\\(9\\)', wanted at most 4"),
        ("8/7(0)", "cannot read"),
        ("\x00", "cannot read"),
    ],
)
def test_what_is_wrong_is_said(text: str, wanted: str) -> None:
    with pytest.raises(ValueError, match=wanted):
        find_play(text, START, (3, 1))


def test_an_ambiguous_hop_lists_what_it_may_mean() -> None:
    board = _board("13:1 1:2 off:12", "12:2 11:1 10:1 off:11")
    with pytest.raises(ValueError, match=r"'13/8' is ambiguous, wanted 13/\d+\*/8 or 13/\d+\*/8 \(2 legal plays\)"):
        find_play("13/8", board, (3, 2))


def test_a_turn_without_a_move_is_a_pass() -> None:
    board = _board("13:5 8:4 6:5 bar:1", "24:2 23:2 22:2 21:2 20:2 19:2 12:3")
    for text in ("pass", "", "-", "Cannot Move"):
        assert torch.equal(find_play(text, board, (6, 5)), board)
    assert play_text(board, board, (6, 5)) == "pass"
    with pytest.raises(ValueError, match="6-5 has no legal move here, wanted pass"):
        find_play("13/7", board, (6, 5))


def test_bad_boards_and_dice_are_named() -> None:
    with pytest.raises(ValueError, match="dice"):
        plays(START, (7, 1))
    with pytest.raises(ValueError, match="boards: row 0"):
        plays(torch.zeros_like(START), (3, 1))


@given(st.text("0123456789/*() ,baroff-", max_size=24))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        after = find_play(text, START, (6, 4))
    except NotationError:
        return
    assert play_text(START, after, (6, 4))
