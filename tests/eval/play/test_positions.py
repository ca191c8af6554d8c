"""Positions taken up in the terminal by their identifiers, and shown as such."""

from __future__ import annotations

import io
import re
from dataclasses import replace

import pytest

from nardy.env import GameOptions
from nardy.env.notation import (
    Offer,
    read_gnubg_id,
    read_xgid,
)
from nardy.eval.bots import ModelBot, PipCountBot
from nardy.eval.play import Session, Terminal
from nardy.eval.play.beginnings import begin_position
from nardy.eval.play.session import PERSON
from tests.eval.fakes import FakeEvaluator
from tests.eval.play.driving import OPENING, SPRINT, Cubist, finished, person_to_roll, run


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        (OPENING, GameOptions(max_cube=1024)),
        (OPENING.replace(":0:0:10", ":3:0:10"), GameOptions(max_cube=1024, jacoby=True, beavers=True)),
        (OPENING.replace(":0:0:10", ":2:0:0"), GameOptions(max_cube=1, cube=False)),
        ("-b----E-C---eE---c-e----B-:0:0:1:41:6:3:1:7:10", GameOptions(match_length=7, max_cube=1024)),
        ("4HPwATDgc/ABMA:8AnmADAAMAAE", GameOptions(match_length=7)),
        ("cAnmADAAMAAE", GameOptions(match_length=7)),
        ("4HPwATDgc/ABMA:cAkAAAAAAAAA", GameOptions(jacoby=True)),
        ("2M3gCSCMz+ANAA:UQkgATAAKAAE", GameOptions(match_length=9)),
        ("-BBB-------------------aa-:3:1:1:00:0:0:0:0:10", GameOptions(max_cube=1024)),
        ("BQAA2AYAAAAAAA:UwkAAAAAAAAE", GameOptions()),
    ],
)
def test_the_person_goes_on_from_it_under_its_rules(text: str, rules: GameOptions) -> None:
    variant = rules.variant
    terminal = Terminal(
        Session(Cubist(variant), GameOptions(variant), seed=1),
        io.StringIO(f"position {text}\n"),
        io.StringIO(),
    )
    terminal.run()
    state, found = read_gnubg_id(text.removeprefix("XGID="), variant), terminal.session.state
    assert terminal.session.options == rules
    assert int(terminal.session.decisions.player()[0]) == PERSON
    assert (found.board, found.dice, found.offer) == (state.board, state.dice, state.offer)
    mine = state if state.decides == PERSON else state.swap_seats()
    assert (found.cube_value, found.cube_owner) == (state.cube_value, mine.cube_owner)
    if state.match_length:
        assert (found.score, found.crawford) == (mine.score, mine.crawford)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", "gnubg id: found '', wanted"),
        ("chess", "gnubg id: found 'chess', wanted"),
        ("XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:0", "found 9 fields"),
        (OPENING.replace(":31:", ":B:"), "dice: found 'B'"),
        (OPENING.replace(":0:0:10", ":0:2000:10"), "match_length: found 2000"),
        ("XGID=-A------------------------:0:0:1:31:0:0:0:0:10", "board"),
        ("XGID=-A----------------------a-:0:0:1:31:0:0:0:0:a", "cube limit: found 'a'"),
    ],
)
def test_what_is_wrong_with_it_is_said_and_changes_nothing(text: str, wanted: str) -> None:
    session = Session(PipCountBot(), GameOptions(), seed=1)
    terminal = Terminal(session, io.StringIO(f"position {text}\n"), writer := io.StringIO())
    terminal.run()
    assert wanted in writer.getvalue().partition("> ")[2].partition("\n")[0]
    assert terminal.session is session


def test_identifiers_lead_back_to_the_position() -> None:
    session = person_to_roll(GameOptions(match_length=5))
    text = run("id\n", session)
    for name in (r"XGID=\S+", r"(?<=GNUbg ID )\S+"):
        found = re.search(name, text)
        assert found is not None
        again, _ = begin_position(found[0], session.options, lambda rules: (session.bot, None), 5)
        assert again.state == replace(session.state, max_cube=again.options.max_cube)


def test_where_there_is_no_identifier_it_is_said() -> None:
    assert "Other programs have no identifiers for longgammon" in run(
        "id\n", Session(PipCountBot("longgammon"), GameOptions("longgammon"), seed=1)
    )
    assert "The game is over, and no position waits." in run("id\n", finished(SPRINT))
    longgammon = Session(PipCountBot("longgammon"), GameOptions("longgammon"), seed=1)
    assert "variant: found 'longgammon'" in run(f"position {OPENING}\n", longgammon)
    session = Session(ModelBot(FakeEvaluator(), "model:fake"), GameOptions(beavers=True), seed=1)
    state = read_xgid("XGID=-b----E-C---eE---c-e----B-:1:-1:1:00:0:0:2:0:10")
    session.set_up(replace(state, offer=Offer.BEAVER, max_cube=64))
    text = run("id\n", session)
    assert "xgid: cannot say a beaver on offer" in text
    found = re.search(r"(?<=GNUbg ID )\S+", text)
    assert found is not None
    again, _ = begin_position(found[0], session.options, lambda rules: (session.bot, None), 5)
    assert again.state == session.state
