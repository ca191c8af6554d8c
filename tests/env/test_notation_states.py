"""States of games, and the identifiers and lines that say them; `random_state` is shared by the other tests here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

import pytest
import torch

from nardy.env import afterstates, start_boards
from nardy.env.notation import (
    GameState,
    GameStatus,
    NotationError,
    Offer,
    fibs_board,
    gnubg_id,
    match_id,
    plays,
    position_id,
    position_letters,
    read_fibs_board,
    read_gnubg_id,
    read_match_id,
    read_position_id,
    read_position_letters,
    read_xgid,
    xgid,
)

from ..positions import Position, position, start
from ..random_positions import random_dice, random_position

START_ID = "4HPwATDgc/ABMA"


def random_state(random: Random, variant: str = "backgammon") -> GameState:
    """A state of a game that is played: match or money, any cube, before or after the roll, perhaps with an offer."""
    length = random.choice([0, 0, 1, 2, 3, 5, 7, 9, 25, 32767])
    score = (random.randrange(length), random.randrange(length)) if length else (random.randrange(99), 3)
    if length and random.random() < 0.3:
        score = random.choice([(length - 1, score[1]), (score[0], length - 1)])
    player = random.randrange(2)
    state = GameState(
        _playable(random, variant),
        player=player,
        cube_value=2 ** random.randrange(8),
        cube_owner=random.choice([None, 0, 1]),
        match_length=length,
        score=score,
        jacoby=not length and random.random() < 0.5,
        beavers=not length and random.random() < 0.5,
        variant=variant,
    )
    if state.one_short() and random.random() < 0.5:
        state = replace(state, crawford=True, cube_value=1, cube_owner=None)
    if random.random() < 0.5:
        first, second = random_dice(random)
        return replace(state, dice=(max(first, second), min(first, second)))
    if not state.crawford and state.cube_owner != 1 - player and random.random() < 0.3:
        return replace(state, offer=Offer.DOUBLE)
    return state


def _playable(random: Random, variant: str) -> Position:
    while True:
        board = random_position(random, variant)
        closed = all(min(side[1:7]) >= 2 and side[25] for side in board)  # no format takes these
        if not closed:
            return board


def _sides(*rows: tuple[str, str]) -> list[Position]:
    """Positions whose two sides are each in their own numbering, as the table of the format is written."""
    found = []
    for mover, opponent in rows:
        words = []
        for word in opponent.split():
            place, count = word.split(":")
            words.append(f"{place if place in ('bar', 'off') else 25 - int(place)}:{count}")
        found.append(position(mover, " ".join(words)))
    return found


START_SIDE = "24:2 13:5 8:3 6:5"
POSITIONS = dict(
    zip(
        [
            START_ID,
            "sGfwATDgc/ABMA",
            "2DbwATDg8+ABUA",
            "2M3gCSCMz+ANAA",
            "BQAA2AYAAAAAAA",
            "DAAACAAAAAAAAA",
            "8N4ZAAbg/xMAIA",
            "4OfgIDBudgCAXA",
        ],
        _sides(
            (START_SIDE, START_SIDE),
            (START_SIDE, "24:2 13:5 8:2 6:4 5:2"),
            ("bar:1 24:1 13:4 8:4 6:5", "24:2 13:5 7:2 6:2 5:2 4:2"),
            ("14:2 13:4 8:2 6:5 3:2", "24:1 15:1 13:4 8:2 6:2 5:3 4:2"),
            ("3:2 2:2 1:2 off:9", "2:1 1:1 off:13"),
            ("1:1 off:14", "3:2 off:13"),
            ("24:1 8:1 6:13", "21:2 9:2 7:3 6:4 5:4"),
            ("bar:1 24:3 22:1 6:3 5:2 3:2 2:3", "24:2 18:1 13:3 8:3 6:6"),
        ),
        strict=True,
    )
)


@pytest.mark.parametrize("name", POSITIONS)
def test_position_ids_of_the_table(name: str) -> None:
    assert read_position_id(name).tolist() == [list(side) for side in POSITIONS[name]]
    assert position_id(POSITIONS[name]) == name
    assert position_id(torch.tensor(POSITIONS[name], dtype=torch.int8)) == name


def test_a_board_in_twenty_letters() -> None:
    assert position_letters(start()) == "OAHDPAABDAOAHDPAABDA"
    assert torch.equal(read_position_letters("OAHDPAABDAOAHDPAABDA"), start_boards(1)[0])


@pytest.mark.parametrize(
    ("name", "dice", "texts"),
    [
        ("8N4ZAAbg/xMAIA", (6, 2), ["24/22 8/2"]),
        ("4OfgIDBudgCAXA", (5, 3), ["bar/20 24/21", "bar/20 6/3", "bar/20 5/2"]),
        ("DAAACAAAAAAAAA", (2, 1), ["1/off"]),
    ],
)
def test_legal_plays_of_an_id(name: str, dice: tuple[int, int], texts: list[str]) -> None:
    assert sorted(play.text for play in plays(read_position_id(name), dice)) == sorted(texts)


@pytest.mark.parametrize(("dice", "count"), [((3, 1), 16), ((6, 5), 7)])
def test_results_of_the_first_roll(dice: tuple[int, int], count: int) -> None:
    game, ends = afterstates(start_boards(1), torch.tensor([dice]))
    assert len(game) == count
    assert len({position_id(end.flip(0)) for end in ends}) == count


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("4HPwATDgc/ABM", "found 13 characters in '4HPwATDgc/ABM', wanted 14"),
        ("ZZZZ", "found 4 characters"),
        ("4HPwATDgc/ABMA=", "found 15 characters"),
        ("4HPwATDgc/ABM-", "found '-'"),
        ("4HPwATDgc/ABMé", "found 'é'"),
        (" HPwATDgc/ABMA", "found ' '"),
        ("4HPwATDgc/ABMB", "bits left over in the last letter"),
        ("BQAA2AYAAAAAgA", "bits left over after both sides"),
        ("//8AAAAAAAAAAA", "found 16 checkers on a side, wanted at most 15"),
        ("//////////////", "found bits left over in the last letter"),
        ("/////////////w", "checkers on a side, wanted at most 15"),
        ("AAAAAAAAAAAAAA", "found both sides borne off, wanted at most one"),
        ("AACABAAAAAAAAA", "found both sides on point"),
    ],
)
def test_position_ids_that_are_refused(text: str, reason: str) -> None:
    with pytest.raises(NotationError, match="position id: ") as error:
        read_position_id(text)
    assert reason in str(error.value)


def test_both_sides_on_the_bar_against_closed_boards_are_refused() -> None:
    closed = [0, *[2] * 6, *[0] * 18, 3]
    with pytest.raises(NotationError, match="both sides on the bar against closed boards"):
        position_id((tuple(closed), tuple(closed)))


def test_sprintgammon_ids_imply_three_checkers() -> None:
    board = start_boards(1, "sprintgammon")[0]
    name = position_id(board, "sprintgammon")
    assert torch.equal(read_position_id(name, "sprintgammon"), board)
    assert read_position_id(name)[:, 0].tolist() == [12, 12]
    with pytest.raises(NotationError, match="found 15 checkers on a side, wanted at most 3"):
        read_position_id(START_ID, "sprintgammon")


@pytest.mark.parametrize("variant", ["longgammon", "nackgammon"])
def test_other_numberings_are_refused_by_name(variant: str) -> None:
    for act in (
        lambda: position_id(start(), variant),
        lambda: position_letters(start(), variant),
        lambda: read_position_id(START_ID, variant),
        lambda: read_match_id("cAnvAAAAAAAE", None, variant),
        lambda: read_gnubg_id(f"{START_ID}:cAnvAAAAAAAE", variant),
        lambda: read_xgid("-b----E-C---eE---c-e----B-:0:0:1:63:0:0:0:7:10", variant),
        lambda: read_fibs_board(f"board:{FIBS[0][0]}", variant),
    ):
        with pytest.raises(NotationError, match=f"variant: found '{variant}'"):
            act()


@pytest.mark.parametrize("write", [match_id, gnubg_id, xgid, fibs_board])
def test_no_foreign_format_says_a_longgammon_state(write: Callable[[GameState], str]) -> None:
    state = GameState(start("longgammon"), match_length=3, jacoby=False, beavers=False, variant="longgammon")
    with pytest.raises(NotationError, match=r"variant: found 'longgammon'.*numbered another way"):
        write(state)


def test_a_longgammon_state_is_checked_by_its_own_numbers() -> None:
    def state(mover: str, opponent: str) -> GameState:
        return GameState(position(mover, opponent, "longgammon"), variant="longgammon")

    assert state("12:15", "1:15").board[1][13] == 15  # 25 - 12: one point in backgammon, two here
    with pytest.raises(NotationError, match="found both sides on point 12 of the mover"):
        state("12:15", "12:15")
    with pytest.raises(NotationError, match="longgammon has no bar"):
        state("24:14 bar:1", "12:15")
    with pytest.raises(NotationError, match="variant: found 'nackgammon', wanted one of backgammon, sprintgammon"):
        GameState(start(), variant="nackgammon")


def _start(**fields: object) -> GameState:
    return GameState(start(), **fields)  # type: ignore[arg-type]  # named fields of one test table


MATCH_IDS = {
    "cAnvAAAAAAAE": _start(match_length=7, dice=(6, 3)),
    "cInlAAAAAAAE": _start(match_length=7, dice=(3, 1)),
    "cAkAAAAAAAAA": _start(jacoby=True, beavers=None),
    "cAkAAAAAAAAE": _start(beavers=None),
    "8AnmADAAMAAE": _start(match_length=7, score=(3, 6), dice=(4, 1), crawford=True),
    "cAnmADAAMAAE": _start(match_length=7, score=(3, 6), dice=(4, 1)),
    "sAFgABAAEAAE": _start(match_length=3, score=(1, 2), player=0, crawford=True),
    "MAFgABAAEAAE": _start(match_length=3, score=(1, 2), player=0),
    "cBEgAUAACAAE": _start(match_length=9, score=(4, 1), offer=Offer.DOUBLE),
    "AhkgAyABSAAE": _start(match_length=25, score=(18, 9), player=0, cube_value=4, cube_owner=0, offer=Offer.DOUBLE),
    "UwkAAAAAAAAE": _start(cube_value=8, cube_owner=1, beavers=None),
    # Printed by GNU Backgammon 1.07.001 after a drop, an accepted gammon, a beaver and a raccoon.
    "cARgAAAACAAE": _start(match_length=3, score=(0, 1), status=GameStatus.DROPPED),
    "MEtgAAAAGAAE": _start(match_length=3, score=(0, 3), player=0, resignation=2, status=GameStatus.RESIGNED),
    "QRkAAAAAAAAA": _start(cube_value=2, cube_owner=0, offer=Offer.BEAVER, jacoby=True, beavers=None),
    "QhEAAAAAAAAA": _start(cube_value=4, cube_owner=0, offer=Offer.RACCOON, jacoby=True, beavers=None),
    "MElgAAAACAAE": _start(match_length=3, score=(0, 1), player=0, resignation=2),
}


@pytest.mark.parametrize("name", MATCH_IDS)
def test_match_ids_of_the_table(name: str) -> None:
    assert read_match_id(name) == MATCH_IDS[name]
    assert match_id(MATCH_IDS[name]) == name


def test_who_decides() -> None:
    decides = {name: state.decides for name, state in MATCH_IDS.items()}
    assert decides["cAnvAAAAAAAE"] == 1
    assert decides["cBEgAUAACAAE"] == 0  # answers the double
    assert decides["AhkgAyABSAAE"] == 1
    assert decides["QRkAAAAAAAAA"] == 1  # the doubler answers the beaver
    assert decides["QhEAAAAAAAAA"] == 0
    assert decides["MElgAAAACAAE"] == 1  # answers the resignation


def test_the_old_form_without_the_last_bit_is_read() -> None:
    wanted = _start(match_length=9, score=(2, 4), cube_value=2, cube_owner=0, dice=(5, 2))
    assert read_match_id("QYkqASAAIAAA") == wanted
    assert match_id(wanted) == "QYkqASAAIAAE"
    assert read_match_id("QYkqASAAIAAE") == wanted


def test_dice_of_a_match_id_are_the_larger_first() -> None:
    assert match_id(_start(match_length=7, dice=(1, 3))) == "cInlAAAAAAAE"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("cAnvAAAAAAA", "found 11 characters"),
        ("cAnvAAAAAAAEA", "found 13 characters"),
        ("cAnvAAAAAA=E", "found '='"),
        ("YAnvAAAAAAAE", "cube owner: found 2"),
        ("cA/vAAAAAAAE", "game state: found 7, wanted 0 to 4"),
        ("cAn/AAAAAAAE", "dice: found 6 and 7"),
        ("cAkDAAAAAAAA", "dice: found 6 and 0"),
        ("8AkAAAAAAAAE", "crawford: found it in a money game"),
        ("8AngABAAEAAE", "wanted a side one point short"),
        ("cAngADAAeAAE", "score: found (3, 15) in a match to 7, wanted less"),
        ("cAHvAAAAAAAE", "player who decides: found 0, wanted 1"),
        ("cBHvAAAAAAAE", "double: found one on offer and dice on the table"),
        ("cAnvAAAAAAAI", "bits set after the last field"),
    ],
)
def test_match_ids_that_are_refused(text: str, reason: str) -> None:
    with pytest.raises(NotationError, match="match id ") as error:
        read_match_id(text)
    assert reason in str(error.value)


def test_ids_together_in_either_order_or_alone() -> None:
    state = MATCH_IDS["cAnvAAAAAAAE"]
    moved = replace(state, board=POSITIONS["sGfwATDgc/ABMA"])
    assert gnubg_id(moved) == "sGfwATDgc/ABMA:cAnvAAAAAAAE"
    assert read_gnubg_id("sGfwATDgc/ABMA:cAnvAAAAAAAE") == moved
    assert read_gnubg_id("cAnvAAAAAAAE:sGfwATDgc/ABMA") == moved
    assert read_gnubg_id("cAnvAAAAAAAE") == state
    assert read_gnubg_id("sGfwATDgc/ABMA").board == moved.board
    assert read_gnubg_id("XGID=-b----E-C---eE---c-e----B-:0:0:1:63:0:0:0:7:10") == replace(state, max_cube=1024)
    for text in ("", ":", f"{START_ID}:{START_ID}", "cAnvAAAAAAAE:cAnvAAAAAAAE", "sGfwATDgc/ABMA cAnvAAAAAAAE"):
        with pytest.raises(NotationError, match="gnubg id: "):
            read_gnubg_id(text)


START_XGID = "-b----E-C---eE---c-e----B-"
XGIDS = [
    (f"{START_XGID}:0:0:1:63:0:0:0:7:10", f"{START_ID}:cAnvAAAAAAAE"),
    (f"{START_XGID}:0:0:1:13:0:0:0:7:10", f"{START_ID}:cInlAAAAAAAE"),
    (f"{START_XGID}:0:0:1:31:0:0:0:7:10", f"{START_ID}:cInlAAAAAAAE"),
    *[(f"{START_XGID}:0:0:1:00:0:0:{rules}:0:10", f"{START_ID}:cAkAAAAAAAAE") for rules in (0, 2)],
    *[(f"{START_XGID}:0:0:1:00:0:0:{rules}:0:10", f"{START_ID}:cAkAAAAAAAAA") for rules in (1, 3)],
    (f"{START_XGID}:0:0:1:41:6:3:1:7:10", f"{START_ID}:8AnmADAAMAAE"),
    ("-a-B--E-B-a-dDB--b-bcb----:1:1:1:00:5:3:0:9:10", "2M3gCSCMz+ANAA:UQkgATAAKAAE"),
    ("-BBB-------------------aa-:3:1:1:00:0:0:0:0:10", "BQAA2AYAAAAAAA:UwkAAAAAAAAE"),
]


@pytest.mark.parametrize(("text", "ids"), XGIDS)
def test_xgids_of_the_table(text: str, ids: str) -> None:
    state = read_xgid(text)
    assert gnubg_id(state) == ids
    assert xgid(state) == text
    assert read_xgid(f"XGID={text}") == state


def test_an_xgid_with_the_top_player_on_roll() -> None:
    text = "aa--BBBB----dE---d-e----B-:1:1:-1:00:2:4:0:9:10"
    state = read_xgid(text)
    assert (state.player, state.cube_owner, state.score) == (0, 1, (4, 2))
    assert xgid(state) == text
    assert gnubg_id(state.swap_seats()) == "2DbwATDg8+ABUA:QQkgASAAIAAE"  # GNU Backgammon swaps the seats


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (f"{START_XGID[:-1]}:0:0:1:00:0:0:0:7:10", "position: found 25 characters, wanted 26"),
        (f"{START_XGID}:0:0:1:00:7:0:0:7:10", "score: found (0, 7) in a match to 7"),
        (f"{START_XGID}:0:0:1:00:0:0:4:0:10", "rules: found '4', wanted a number from 0 to 3"),
        (f"{START_XGID}:0:0:1:00:0:0:2:7:10", "rules: found '2', wanted a number from 0 to 1"),
        (f"{START_XGID}:0:0:1:B:0:0:0:0:10", "dice: found 'B'"),
        (f"{START_XGID}:0:0:1:R:0:0:0:0:10", "dice: found 'R'"),
        (f"{START_XGID}:0:0:1:07:0:0:0:0:10", "dice: found '07'"),
        (f"{START_XGID}:0:0:0:00:0:0:0:0:10", "turn: found '0'"),
        (f"{START_XGID}:0:2:1:00:0:0:0:0:10", "cube owner: found '2'"),
        (f"{START_XGID}:16:0:1:00:0:0:0:0:10", "cube: found '16', wanted a number from 0 to 15"),
        (f"{START_XGID}:3:0:1:00:0:0:0:0:2", "cube: found 8, wanted at most the limit, 4"),
        (f"{START_XGID}:0:0:1:00:0:0:1:7:10", "wanted a side one point short"),
        (f"{START_XGID}:0:0:1:D:6:0:1:7:10", "double: found one on offer in the Crawford game"),
        (f"{START_XGID}:1:-1:1:D:0:0:0:7:10", "double: found one on offer with the opponent's cube"),
        (f"{START_XGID}:0:0:1:00:0:0:0:7", "found 9 fields"),
        (f"{START_XGID}:0:0:1:00:0:0:0:7:10:", "found 11 fields"),
        (f"{START_XGID}:0:0:1:00:0:0:0:７:10", "match length: found"),
        ("Ab----E-C---eE---c-e----B-:0:0:1:00:0:0:0:7:10", "position: found 'A' at index 0"),
        ("-b----E-C---eE---c-e----Ba:0:0:1:00:0:0:0:7:10", "position: found 'a' at index 25"),
        ("-b----P-C---eE---c-e----B-:0:0:1:00:0:0:0:7:10", "position: found 'P' at index 6"),
        ("-b----F-C---eE---c-e----B-:0:0:1:00:0:0:0:7:10", "found 16 checkers on a side, wanted at most 15"),
        ("--------------------------:0:0:1:00:0:0:0:7:10", "both sides borne off"),
    ],
)
def test_xgids_that_are_refused(text: str, reason: str) -> None:
    with pytest.raises(NotationError, match="xgid ") as error:
        read_xgid(text)
    assert reason in str(error.value)


FIBS = [
    (
        "Xena:Otto:7:3:6:0:-2:0:0:0:0:5:0:3:0:0:0:-5:5:0:0:0:-3:0:-5:0:0:0:0:2:0:1:4:1:4:1:1:1:1:0:1:-1:0:25:0:0:0:0:0:0:0:0",
        f"{START_XGID}:0:0:1:41:3:6:1:7:10",
    ),
    (
        "Xena:Otto:7:3:6:0:-2:0:0:0:0:5:0:3:0:0:0:-5:5:0:0:0:-3:0:-5:0:0:0:0:2:0:1:4:1:4:1:1:1:1:0:1:-1:0:25:0:0:0:0:0:0:1:1",
        f"{START_XGID}:0:0:1:41:3:6:0:7:10",
    ),
    (
        "Xena:Otto:9:5:3:0:-1:0:2:0:0:5:0:2:0:-1:0:-4:4:2:0:0:-2:0:-2:-3:-2:0:0:0:0:1:5:2:5:2:2:0:1:0:1:-1:0:25:0:0:0:0:0:0:0:1",
        "-a-B--E-B-a-dDB--b-bcb----:1:-1:1:52:5:3:0:9:10",
    ),
    (
        "Xena:Otto:0:0:0:-2:0:2:2:2:2:2:2:0:0:0:-2:0:0:1:0:0:-3:-2:-2:-2:-2:0:0:2:0:1:6:3:6:3:4:1:0:0:1:-1:0:25:0:0:0:0:0:0:0:1",
        "b-BBBBBB---b--A--cbbbb--B-:2:1:1:63:0:0:0:0:10",
    ),
    (
        "Xena:Otto:0:0:0:0:2:2:2:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:-1:-1:0:1:1:1:1:1:8:1:0:0:1:-1:0:25:9:13:0:0:0:0:0:1",
        "-BBB-------------------aa-:3:1:1:11:0:0:0:0:10",
    ),
]


def _as_fibs_says(state: GameState) -> GameState:
    """What a board line keeps of a state."""
    rules = False if state.match_length else None
    return replace(state, jacoby=rules, beavers=rules, max_cube=None)


@pytest.mark.parametrize(("line", "other"), FIBS)
def test_board_lines_of_gnu_backgammon(line: str, other: str) -> None:
    state, names = read_fibs_board(f"board:{line}")
    assert names == ("Otto", "Xena")
    assert state == _as_fibs_says(read_xgid(other))
    assert fibs_board(state, names) == f"board:{line}"


CELLS = "0:-2:0:0:0:0:5:0:3:0:0:0:-5:5:0:0:0:-3:0:-5:0:0:0:0:2:0"


@pytest.mark.parametrize(
    "line",
    [
        # Printed by GNU Backgammon 1.07.001: player 1 has doubled, player 0 has, player 0 has beavered.
        f"X:O:3:0:0:{CELLS}:1:0:0:0:0:1:1:1:1:1:-1:0:25:0:0:0:0:0:0:0:1",
        f"X:O:3:0:0:{CELLS}:-1:0:0:0:0:1:1:1:-1:1:-1:0:25:0:0:0:0:0:0:0:1",
        f"X:O:0:0:0:{CELLS}:1:0:0:0:0:2:0:1:-1:1:-1:0:25:0:0:0:0:0:0:0:1",
        f"X:O:1:0:0:{CELLS}:1:3:2:3:2:1:1:1:0:1:-1:0:25:0:0:0:0:0:0:1:1",
    ],
)
def test_offers_on_board_lines_of_gnu_backgammon(line: str) -> None:
    state, names = read_fibs_board(f"board:{line}")
    assert fibs_board(state, names) == f"board:{line}"
    offered = line.split(":")[39]
    assert state.offer is {"0": Offer.NONE, "1": Offer.DOUBLE, "-1": state.offer}[offered]
    if offered == "-1":
        assert state.offer is (Offer.DOUBLE if state.player == 0 else Offer.BEAVER)


def _general(state: GameState, names: tuple[str, str], colour: int, direction: int) -> str:
    """The same line as the server sends it to a player of the other colour, or who moves the other way."""
    fields = fibs_board(state, names).removeprefix("board:").split(":")
    cells = [int(cell) * colour for cell in fields[5:31]]
    fields[5:31] = [str(cell) for cell in (cells if direction == -1 else cells[::-1])]
    fields[31] = str(int(fields[31]) * colour)
    mine = 32 if state.player == 1 else 34
    other = 66 - mine
    fields[other : other + 2] = ["0", "0"]
    fields[39] = str(abs(int(fields[39])))
    fields[40:44] = [str(colour), str(direction), *(("0", "25") if direction == -1 else ("25", "0"))]
    top, bottom = state.board if state.player == 0 else state.board[::-1]
    fields[46:48] = [str(bottom[25]), str(top[25])]
    return "board:" + ":".join(fields)


@pytest.mark.parametrize("colour", [1, -1])
@pytest.mark.parametrize("direction", [1, -1])
def test_general_board_lines_are_read_by_colour_and_direction(
    colour: int, direction: int, scale: Callable[[int], int]
) -> None:
    random = Random(5)  # noqa: S311  # not for secrets
    for _ in range(scale(2000)):
        state = random_state(random)
        names = ("someone", "You")
        assert read_fibs_board(_general(state, names, colour, direction)) == (_as_fibs_says(state), names)


def test_a_game_that_is_over_and_unlimited_matches_on_a_board_line() -> None:
    line = f"board:X:O:9999:2:1:{CELLS}:0:0:0:0:0:1:1:1:0:1:-1:0:25:0:0:0:0:0:0:0:0"
    state, _ = read_fibs_board(line)
    assert (state.status, state.match_length, state.score) == (GameStatus.OVER, 0, (1, 2))


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        (1, "", "name: found ''"),
        (3, "x", "match length (field 3): found 'x'"),
        (4, "7", "score: found (6, 7) in a match to 7"),
        (6, "1", "checker on the other side's bar"),
        (7, "-3", "found 16 checkers on a side"),
        (7, "-1", "checkers off (field 46): found 0, wanted 1"),
        (32, "2", "turn (field 32): found '2'"),
        (33, "0", "dice: found (0, 1)"),
        (33, "7", "die (field 33): found '7'"),
        (35, "5", "wanted zeros or the same"),
        (37, "3", "cube: found 3, wanted a power of two"),
        (40, "1", "double: found one on offer and dice"),
        (41, "0", "colour (field 41): found '0'"),
        (42, "0", "direction (field 42): found '0'"),
        (43, "25", "home (field 43): found 25, wanted 0"),
        (44, "0", "bar (field 44): found 0, wanted 25"),
        (45, "1", "checkers off (field 45): found 1, wanted 0"),
        (47, "1", "on the bar (fields 47, 48): found [1, 0]"),
        (50, "", "forced (field 50): found ''"),
    ],
)
def test_board_lines_that_are_refused(field: int, value: str, reason: str) -> None:
    fields = FIBS[0][0].split(":")
    fields[field - 1] = value
    with pytest.raises(NotationError, match="fibs board: ") as error:
        read_fibs_board("board:" + ":".join(fields))
    assert reason in str(error.value)


def test_board_lines_of_another_length_are_refused() -> None:
    line = f"board:{FIBS[0][0]}"
    for text in (line[6:], line[:-2], f"{line}:0", f"\0{line}", ""):
        with pytest.raises(NotationError, match="fibs board: found"):
            read_fibs_board(text)


@pytest.mark.parametrize("field", [38, 39])
def test_a_cube_that_nobody_may_turn_is_refused_outside_the_crawford_game(field: int) -> None:
    fields = FIBS[1][0].split(":")
    fields[37] = fields[38] = "0"
    with pytest.raises(NotationError, match="may double"):
        read_fibs_board("board:" + ":".join(fields))
    fields[50] = fields[51] = "0"
    assert read_fibs_board("board:" + ":".join(fields))[0].cube_owner is None


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        (_start(resignation=1), "cannot say a resignation"),
        (_start(status=GameStatus.OVER), "cannot say a game that is over"),
        (MATCH_IDS["QRkAAAAAAAAA"], "cannot say a beaver"),
        (_start(jacoby=None), "jacoby: found a state that does not say"),
        (_start(beavers=None), "beavers: found a state that does not say"),
    ],
)
def test_what_an_xgid_cannot_say(state: GameState, reason: str) -> None:
    with pytest.raises(NotationError, match=reason):
        xgid(state)


def test_what_the_other_writers_cannot_say() -> None:
    with pytest.raises(NotationError, match="match id: jacoby: found a state that does not say"):
        match_id(_start(jacoby=None))
    for fields, reason in (
        ({"resignation": 2}, "resignation"),
        ({"status": GameStatus.NONE}, "game that is none"),
        ({"match_length": 9999}, "match to 9999"),
    ):
        with pytest.raises(NotationError, match=f"fibs board: cannot say a .*{reason}|{reason}"):
            fibs_board(_start(**fields))
    for name in ("", "a:b", "x" * 65, "a\nb"):
        with pytest.raises(NotationError, match="fibs board: name"):
            fibs_board(_start(), ("Otto", name))


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"player": 2}, "player: found 2"),
        ({"dice": (0, 1)}, "dice: found"),
        ({"cube_value": 3}, "cube: found 3"),
        ({"cube_value": 2**16}, "cube: found 65536"),
        ({"cube_owner": 2}, "cube owner: found 2"),
        ({"max_cube": 2, "cube_value": 4}, "wanted at most the limit, 2"),
        ({"resignation": 4}, "resignation: found 4"),
        ({"resignation": 1, "status": GameStatus.OVER}, "resignation: found one"),
        ({"match_length": 2**15}, "match length: found 32768"),
        ({"score": (-1, 0)}, "score: found -1"),
        ({"match_length": 3, "score": (3, 0)}, "score: found"),
        ({"match_length": 3, "jacoby": True}, "jacoby, beavers: found one in a match"),
        ({"match_length": 3, "crawford": True}, "one point short"),
        ({"crawford": True}, "crawford: found it in a money game"),
        ({"offer": Offer.DOUBLE, "status": GameStatus.OVER}, "double: found one on offer in a game"),
        ({"offer": Offer.BEAVER}, "beavers only"),
        ({"offer": Offer.BEAVER, "beavers": True}, "wanted a turned cube"),
    ],
)
def test_states_that_contradict_themselves(fields: dict[str, object], reason: str) -> None:
    with pytest.raises(NotationError, match=reason):
        _start(**fields)


def test_boards_that_are_no_position() -> None:
    for board, reason in (
        (start_boards(1), "another shape"),
        (start_boards(1)[0] * 2, "found 30 checkers"),
        (-start_boards(1)[0], "negative"),
    ):
        with pytest.raises(NotationError, match=reason):
            position_id(board)


def test_the_cube_as_the_player_on_roll_sees_it() -> None:
    cube = _start(player=0, match_length=7, score=(4, 1), cube_value=2, cube_owner=1).cube()
    assert (cube.value, cube.owner, cube.away) == (2, "theirs", (3, 6))
    assert _start(cube_owner=1, cube_value=2, jacoby=True).cube().owner == "mine"
    assert _start(max_cube=1024).cube().max_cube == 1024


@pytest.mark.parametrize("variant", ["backgammon", "sprintgammon"])
def test_random_states_come_back_from_every_format(variant: str, scale: Callable[[int], int]) -> None:
    random = Random(1)  # noqa: S311  # not for secrets
    for _ in range(scale(20_000)):
        state = random_state(random, variant)
        board, name = state.tensor(), position_id(state.board, variant)
        assert torch.equal(read_position_id(name, variant), board)
        assert torch.equal(read_position_letters(position_letters(board, variant), variant), board)

        as_ids_say = replace(state, beavers=None if state.match_length == 0 else False)
        assert read_gnubg_id(gnubg_id(state), variant) == as_ids_say
        assert position_id(state.swap_seats().board, variant) == name  # mirrored seats, one Position ID

        from_xgid = read_xgid(xgid(state), variant)
        assert replace(from_xgid, max_cube=None) == state
        assert xgid(from_xgid) == xgid(state)

        from_line, names = read_fibs_board(fibs_board(state, ("Otto", "Xena")), variant)
        assert (from_line, names) == (_as_fibs_says(state), ("Otto", "Xena"))
        assert gnubg_id(replace(from_line, jacoby=state.jacoby)) == gnubg_id(state)


@pytest.mark.parametrize("offer", [Offer.BEAVER, Offer.RACCOON])
@pytest.mark.parametrize("player", [0, 1])
def test_beavers_and_raccoons_come_back(offer: Offer, player: int) -> None:
    state = _start(player=player, cube_owner=1 - player, cube_value=4, offer=offer, jacoby=True, beavers=None)
    assert read_gnubg_id(gnubg_id(state)) == state
    assert read_fibs_board(fibs_board(state))[0] == replace(state, jacoby=None)
    resigning = replace(state, resignation=1)
    assert read_gnubg_id(gnubg_id(resigning)) == resigning
