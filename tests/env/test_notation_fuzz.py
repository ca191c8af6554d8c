"""Every reader with any text, and with good texts slightly spoilt: a value or `NotationError`, nothing else.

What is read must also be written again and read as the same, or refused by the writer by name.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nardy.env import start_boards
from nardy.env.notation import (
    GameState,
    NotationError,
    Roll,
    fibs_board,
    find_play,
    gnubg_id,
    match_id,
    match_text,
    position_id,
    position_letters,
    read_fibs_board,
    read_gnubg_id,
    read_match_id,
    read_match_text,
    read_position_id,
    read_position_letters,
    read_xgid,
    xgid,
)

from .test_notation_mat import M1, M2, M3, OTHERS, random_match
from .test_notation_states import FIBS, MATCH_IDS, POSITIONS, XGIDS, random_state

RANDOM = Random(30)  # noqa: S311  # not for secrets
STATES = [random_state(RANDOM) for _ in range(20)]
HEAD = M3[: M3.index("  1)")]

GOOD = {
    "position id": [*POSITIONS, *(position_id(state.board) for state in STATES)],
    "letters": [position_letters(state.board) for state in STATES],
    "match id": [*MATCH_IDS, *(match_id(state) for state in STATES)],
    "gnubg id": [gnubg_id(state) for state in STATES],
    "xgid": [*(text for text, _ in XGIDS), *(xgid(state) for state in STATES)],
    "fibs": [*(f"board:{line}" for line, _ in FIBS), *(fibs_board(state) for state in STATES)],
    "mat": [M1, M2, M3, *(HEAD + rows for rows in OTHERS.values()), match_text(random_match(RANDOM, 2))[:1500]],
    "play": ["8/5 6/5", "bar/22", "24/20*", "6/off(2)", "24/18/13", "13/7(2)", "25/22, 8/3"],
}
LETTERS = "".join(sorted(set("".join("".join(texts) for texts in GOOD.values())))) + "\0\r\t-+²٣é\u2028"


def _same_state(read: Callable[[str], GameState], write: Callable[[GameState], str]) -> Callable[[str], None]:
    def check(text: str) -> None:
        state = read(text)
        try:
            written = write(state)
        except NotationError:
            return
        assert write(read(written)) == written

    return check


def _match(text: str) -> None:
    match = read_match_text(text)
    written = match_text(match)
    assert read_match_text(written) == match
    assert match_text(read_match_text(written)) == written
    assert all(action.dice for game in match.games for action in game.actions if isinstance(action, Roll))


READERS: dict[str, Callable[[str], object]] = {
    "position id": lambda text: _equal(position_id(read_position_id(text)), text),
    "letters": lambda text: _equal(position_letters(read_position_letters(text)), text),
    "match id": _same_state(read_match_id, match_id),
    "gnubg id": _same_state(read_gnubg_id, gnubg_id),
    "xgid": _same_state(read_xgid, xgid),
    "fibs": _same_state(lambda text: read_fibs_board(text)[0], fibs_board),
    "mat": _match,
    "play": lambda text: find_play(text, start_boards(1)[0], (6, 5)),
}


def _equal(found: str, wanted: str) -> None:
    assert found == wanted


@st.composite
def spoilt(draw: st.DrawFn, texts: list[str]) -> str:
    """A good text with a few characters changed, put in, taken out or repeated, or a piece of another put in."""
    text = draw(st.sampled_from(texts))
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.integers(0, len(text)))
        length = draw(st.integers(0, 4))
        piece = draw(st.text(st.sampled_from(LETTERS), max_size=4) | st.sampled_from(texts).map(lambda t: t[:40]))
        kind = draw(st.sampled_from(["change", "change", "insert", "delete", "repeat", "cut"]))
        if kind == "change":
            text = text[:place] + draw(st.sampled_from(LETTERS)) + text[place + 1 :]
        elif kind == "insert":
            text = text[:place] + piece + text[place:]
        elif kind == "delete":
            text = text[:place] + text[place + length :]
        elif kind == "repeat":
            text = text[:place] + text[max(0, place - 30) :]
        else:
            text = text[:place]
    return text


@pytest.mark.parametrize("name", READERS)
def test_spoilt_texts_are_read_or_refused(name: str, full: bool) -> None:
    @settings(max_examples=1500 if full else 250)
    @given(spoilt(GOOD[name]))
    def check(text: str) -> None:
        with suppress(NotationError):
            READERS[name](text)

    check()


@pytest.mark.parametrize("name", READERS)
def test_any_text_is_read_or_refused(name: str, full: bool) -> None:
    @settings(max_examples=500 if full else 100)
    @given(st.text() | st.text(st.sampled_from(LETTERS)) | st.sampled_from([t for ts in GOOD.values() for t in ts]))
    def check(text: str) -> None:
        with suppress(NotationError):
            READERS[name](text)

    check()


@pytest.mark.parametrize("name", [name for name in GOOD if name != "play"])
def test_long_texts_are_refused_quickly_and_with_a_short_message(name: str) -> None:
    for text in (GOOD[name][0] * 10_000, "9" * 100_000, ":" * 100_000, "A" * 100_000):
        with pytest.raises(NotationError) as error:
            READERS[name](text)
        assert len(str(error.value)) < 400


@settings(max_examples=200)
@given(st.integers(0, 2**84 - 1), st.integers(0, 2**72 - 1))
def test_any_bits_are_read_or_refused(position_bits: int, match_bits: int) -> None:
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

    def letters(bits: int, count: int) -> str:
        return "".join(alphabet[bits >> 6 * place & 63] for place in range(count))

    for name, text in (("position id", letters(position_bits, 14)), ("match id", letters(match_bits, 12))):
        with suppress(NotationError):
            READERS[name](text)
