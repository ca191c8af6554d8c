"""Actions as text: one text a number, read back from whatever a person makes of it, refused where it says nothing."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st

from nardy.env import VARIANTS, Decisions, GameOptions, Games
from nardy.env.action_text import action_text, parse_action
from nardy.env.decisions import (
    ACCEPT,
    BEAVER,
    DOUBLE,
    DROP,
    NUM_ACTIONS,
    NUM_MOVES,
    PASS,
    RACCOON,
    REFUSE,
    RESIGN_BACKGAMMON,
    RESIGN_GAMMON,
    RESIGN_SINGLE,
    ROLL,
    TAKE,
)
from nardy.env.notation import NotationError


def move(die: int, point: int) -> int:
    return (die - 1) * 25 + point - 1


TEXTS = {
    move(5, 13): "13/8",
    move(3, 25): "bar/22",
    move(1, 2): "2/1",
    move(6, 6): "6/off",
    move(4, 4): "4/off",
    move(6, 4): "6:4/off",
    move(2, 1): "2:1/off",
    ROLL: "roll",
    DOUBLE: "double",
    TAKE: "take",
    DROP: "drop",
    PASS: "pass",
    BEAVER: "beaver",
    RACCOON: "raccoon",
    RESIGN_SINGLE: "resign single",
    RESIGN_GAMMON: "resign gammon",
    RESIGN_BACKGAMMON: "resign backgammon",
    ACCEPT: "accept",
    REFUSE: "refuse",
}


@pytest.mark.parametrize(("action", "text"), TEXTS.items())
def test_the_texts(action: int, text: str) -> None:
    assert action_text(action) == text
    assert parse_action(text) == action


def test_every_action_has_a_text_of_its_own_that_leads_back() -> None:
    texts = [action_text(action) for action in range(NUM_ACTIONS)]

    assert len(set(texts)) == NUM_ACTIONS
    assert [parse_action(text) for text in texts] == list(range(NUM_ACTIONS))
    assert [parse_action(f"  {text.upper()}\t") for text in texts] == list(range(NUM_ACTIONS))


@pytest.mark.parametrize("action", [-1, NUM_ACTIONS, 10**9])
def test_a_number_that_is_no_action_has_no_text(action: int) -> None:
    with pytest.raises(NotationError, match=f"action: found {action}, wanted 0 to {NUM_ACTIONS - 1}"):
        action_text(action)


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("13 / 8", move(5, 13)),
        ("5:13/8", move(5, 13)),
        ("5 : 13/8", move(5, 13)),
        ("25/22", move(3, 25)),
        ("b/22", move(3, 25)),
        ("Bar/22", move(3, 25)),
        ("4/0", move(4, 4)),
        ("4/o", move(4, 4)),
        ("4:4/off", move(4, 4)),
        ("6: 4/OFF", move(6, 4)),
        ("Redouble", DOUBLE),
        ("redoubles", DOUBLE),
        ("takes", TAKE),
        ("passes", PASS),
        ("dance", PASS),
        ("Cannot  Move", PASS),
        ("resigns a", None),
        ("resign normal", RESIGN_SINGLE),
        ("resigns 2", RESIGN_GAMMON),
        ("accepts", ACCEPT),
        ("refuses", REFUSE),
    ],
)
def test_what_people_write(text: str, action: int | None) -> None:
    if action is None:
        with pytest.raises(NotationError):
            parse_action(text)
    else:
        assert parse_action(text) == action


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "action: found '', wanted a move such as 13/8"),
        ("resign", "found 'resign'"),  # at what level?
        ("reject", "found 'reject'"),  # a double or a resignation?
        ("fold", "found 'fold'"),
        ("150", "found '150'"),
        ("13/8*", "found '13/8*'"),
        ("6/off(2)", "found '6/off(2)'"),
        ("24/18/13", "found '24/18/13'"),
        ("8/5 6/5", "found '8/5 6/5'"),
        ("13/6", "wanted a move down by 1 to 6 points"),
        ("8/13", "wanted a move down by 1 to 6 points"),
        ("8/8", "wanted a move down by 1 to 6 points"),
        ("26/20", "wanted a move down by 1 to 6 points"),
        ("0/off", "wanted a move down by 1 to 6 points"),
        ("7/off", "wanted a move down by 1 to 6 points"),
        ("3:13/8", "but a 3 leads to 10"),
        ("3:5/off", "but a 3 leads to 2"),
        ("6:4/1", "but a 6 leads to 0"),
        ("7:6/off", "found '7:6/off'"),
        ("٦/2", "found '٦/2'"),
        ("take 2", "found 'take 2'"),
        ("x" * 100_000, "found 'xxx"),
    ],
)
def test_what_says_no_action_is_refused(text: str, reason: str) -> None:
    with pytest.raises(NotationError, match=re.escape(reason)) as error:
        parse_action(text)
    assert len(str(error.value)) < 400


WORDS = [action_text(action) for action in range(NUM_ACTIONS)]
PIECES = st.sampled_from(
    [*WORDS, "/", ":", " ", "(2)", "*", "off", "bar", "resign", "1", "25", "0", "\u2028", "\0", "²"]
)


@given(st.text(max_size=20) | st.lists(PIECES, max_size=4).map("".join))
@example("6:4/off")
def test_any_text_is_an_action_whose_own_text_means_the_same_or_refused(text: str) -> None:
    try:
        action = parse_action(text)
    except NotationError:
        return
    assert parse_action(action_text(action)) == action


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_legal_action_of_random_play_is_found_again(variant: str, scale: Callable[[int], int]) -> None:
    money = GameOptions(variant, beavers=True, raccoons=True, resignation=True)
    decisions = Decisions(Games(32, money, seed=1))
    generator = torch.Generator().manual_seed(2)
    met: set[int] = set()
    for _ in range(scale(4000)):
        mask = decisions.mask().clone()
        met.update(mask.any(0).nonzero()[:, 0].tolist())
        rare = torch.rand((32, 1), generator=generator) < 0.1  # so that games last
        mask[:, RESIGN_SINGLE : RESIGN_BACKGAMMON + 1] &= rare
        mask[:, DROP : DROP + 1] &= rare
        end = decisions.step(torch.multinomial(mask.float(), 1, generator=generator)[:, 0]).end
        decisions.deal(end.finished)
    wanted = {ROLL, DOUBLE, TAKE, DROP, BEAVER, RACCOON, RESIGN_SINGLE, ACCEPT, REFUSE}
    assert wanted | ({PASS} if variant != "sprintgammon" else set()) <= met  # with three checkers a dance is rare
    assert len([action for action in met if action < NUM_MOVES]) > 50
    assert all(parse_action(action_text(action)) == action for action in met)
