"""The terminal, driven through its streams: commands, mistakes, and never a crash."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch import Tensor

from nardy.env import Cube, GameOptions
from nardy.env.notation import (
    Offer,
    Resignation,
    read_xgid,
)
from nardy.eval.bots import PipCountBot, RandomBot
from nardy.eval.play import Phase, Session, Terminal
from nardy.eval.play.session import BOT, PERSON
from nardy.eval.review import review_position
from nardy.models import Evaluator
from tests.eval.play.driving import (
    BOTS,
    GAMES,
    OPENING,
    SPRINT,
    Cubist,
    RandomPerson,
    load,
    person_to_play,
    person_to_roll,
    run,
)


@pytest.mark.parametrize("lines", ["", "quit\n", "q", "EXIT\nroll\n", "board\n"])
def test_quit_and_the_end_of_input_leave_politely(lines: str) -> None:
    assert run(lines).endswith("Goodbye. Points so far: you 0, pipcount 0.\n")


def test_ctrl_c_leaves_politely() -> None:
    class Interrupted:
        def readline(self) -> str:
            raise KeyboardInterrupt

    writer = io.StringIO()
    Terminal(Session(PipCountBot(), GameOptions(), seed=1), Interrupted(), writer).run()
    assert writer.getvalue().endswith("Goodbye. Points so far: you 0, pipcount 0.\n")


def test_help_and_the_board_are_shown() -> None:
    text = run("help\nboard\n")
    assert "bar/22 to enter" in text
    assert text.count("13 14 15 16 17 18") >= 2


def test_moves_are_listed_and_may_be_narrowed() -> None:
    session = person_to_play(GameOptions())
    legal = session.legal_plays()
    text = run("moves\n", session)
    assert f"{len(legal)} legal plays:" in text
    assert all(play.text in text for play in legal)
    narrowed = run("moves 24\n", session).partition(" from 24:\n")[2].partition("\nyour play")[0]
    assert "24/" in narrowed
    assert "13/10 8/" not in narrowed
    assert "0 from 99" in run("moves 99\n", session)
    assert "There are no dice to play." in run("moves\n", person_to_roll())


def test_a_move_is_played_and_the_bot_answers() -> None:
    session = person_to_play()
    play = session.legal_plays()[0]
    text = run(f"{play.text}\n", session)
    assert f", {play.text}\n" in text
    assert "random: " in text


def test_wrong_moves_and_words_are_explained_and_change_nothing() -> None:
    session = person_to_play(GameOptions())
    before = session.games.boards.clone()
    text = run("24/24\n1/off\nfoo\n\ndouble\ntake\n", session)
    assert "wanted points that go down" in text
    assert "is not legal with" in text
    assert "cannot read 'foo'" in text
    assert "wanted a move" in text
    assert (session.games.boards == before).all()
    assert "Found 'jump', wanted roll or double" in run("jump\n", person_to_roll())


def test_enter_rolls_and_double_doubles() -> None:
    session = person_to_roll()
    assert session.phase is Phase.CUBE
    run("\n", session)
    assert session.phase is not Phase.CUBE or session.player == 0
    text = run("double\n", person_to_roll())
    assert "You doubled to 2." in text
    assert "random took." in text


def test_hint_says_what_the_review_says() -> None:
    session = person_to_play(GameOptions())
    review = review_position(load("backgammon"), session.state, second_first=session.second_first)
    text = run("hint\n", session)
    assert f"5 of {review.num_plays} legal plays" in text
    for play in review.plays:
        assert re.search(rf" {play.rank}  {re.escape(play.play)} +{re.escape(f'{play.equity:+.3f}')} ", text)
    session = person_to_roll(GameOptions())
    review = review_position(load("backgammon"), session.state)
    text = run("hint\n", session)
    assert f"{review.cube.action}; equities\n" in text
    assert f"double, take  {review.cube.double_take:+.3f}" in text
    assert "There is no model to ask" in run("hint\n", person_to_play(), adviser=False)


def test_hint_in_a_match_has_the_match_winning_chance_too() -> None:
    text = run("hint\n", person_to_play(GameOptions(match_length=3)))
    assert re.search(r"equity +diff +match +win", text)


def test_hint_answers_a_double_a_beaver_and_a_resignation() -> None:
    session = Session(Cubist(), GameOptions(beavers=True), seed=1)
    session.set_up(read_xgid("XGID=-b----E-C---eE---c-e----B-:0:0:1:D:0:0:2:0:10"))
    text = run("hint\n", session)
    assert "take, drop or beaver> Beaver; equities, as your opponent sees it\n" in text
    assert "double, beaver  -" in text
    session.set_up(replace(session.state, offer=Offer.BEAVER, player=PERSON, cube_value=2, cube_owner=BOT))
    text = run("hint\n", session)
    assert "take or drop> Take; equities\n" in text
    lost = read_xgid("XGID=-BBBBBBa------------------:0:0:1:00:0:0:2:0:10")
    session.set_up(replace(lost.swap_seats(), offer=Offer.BEAVER, cube_value=2, cube_owner=1))
    assert "Drop; equities\n" in run("hint\n", session)


def test_what_the_adviser_has_not_learned_is_said() -> None:
    class Refusing(Evaluator):
        def equity(self, boards: Tensor, cube: Cube | None = None) -> Tensor:
            raise ValueError("cube: jacoby: not learned")

    known = load("sprintgammon")
    writer = io.StringIO()
    session = person_to_play()
    lines = io.StringIO(f"hint\ntutor on\n{session.legal_plays()[0].text}\n")
    Terminal(session, lines, writer, Refusing(known.network, "sprintgammon")).run()
    assert "cube: jacoby: not learned" in writer.getvalue()
    assert "Tutor: cube: jacoby: not learned\nYou: " in writer.getvalue()


def test_undo_takes_back_or_says_that_it_cannot() -> None:
    session = person_to_play()
    before = session.games.boards.clone()
    text = run(f"undo\n{session.legal_plays()[0].text}\nundo\n", session)
    assert "There is nothing to take back." in text
    assert (session.games.boards == before).all()
    assert session.phase is Phase.MOVE


@pytest.mark.parametrize("options", [SPRINT, GameOptions("sprintgammon", match_length=2)], ids=["money", "match"])
@pytest.mark.parametrize("name", BOTS)
def test_whole_games_are_played(name: str, options: GameOptions) -> None:
    session = Session(BOTS[name], options, seed=3)
    writer = io.StringIO()
    Terminal(session, RandomPerson(writer, session, 4), writer, ascii_only=True).run()
    text = writer.getvalue()
    assert text.count(" won ") - text.count(" won the match") == 4
    assert "Goodbye." in text
    assert text.isascii()
    if not options.match_length:
        mine, theirs = session.points
        assert f"Points so far: you {mine}, {session.bot.name.removeprefix('model:')} {theirs}." in text


def test_a_game_of_longgammon_is_played_and_drawn_with_both_sides_going_the_same_way() -> None:
    session = Session(PipCountBot("longgammon"), GameOptions("longgammon"), seed=5)
    writer = io.StringIO()
    Terminal(session, RandomPerson(writer, session, 1), writer, load("longgammon"), ascii_only=True).run()
    text = writer.getvalue()
    assert text.count(" won ") == 1
    assert "/18" in text
    assert "bar/" not in text


class TestCube:
    def test_beavers_are_typed_where_the_rules_have_them(self) -> None:
        offered = read_xgid("XGID=-b----E-C---eE---c-e----B-:0:0:1:D:0:0:0:0:6")
        session = Session(Cubist(), GameOptions(beavers=True), seed=1)
        session.set_up(offered)
        text = run("beaver\n", session)
        assert "take, drop or beaver> You beavered to 4.\nrandom took.\n" in text
        session = Session(Cubist(), GameOptions(), seed=1)
        session.set_up(offered)
        text = run("beaver\n", session)
        assert "take or drop> That cannot be done: this game is played without beavers (rule 2.9)." in text
        assert session.phase is Phase.ANSWER

    def test_a_beaver_of_the_bot_is_answered(self) -> None:
        seed = person_to_roll(SPRINT).games.seed
        session = Session(Cubist("sprintgammon"), GameOptions("sprintgammon", beavers=True), seed)
        text = run("double\ndrop\n", session)
        assert "random beavered to 4." in text
        assert "○ beavers to 4" in text
        assert "take or drop> You dropped.\nrandom won by a drop: 2 points." in text

    def test_resignations_have_levels_and_may_be_refused(self) -> None:
        session = Session(RandomBot(), GameOptions(resignation=True), seed=1)
        session.set_up(read_xgid("XGID=-b----E-C---eE---c-e----B-:0:0:1:00:0:0:0:0:6"))
        text = run("resign\nresign\nresign x\nresign GAMMON\nresign backgammon\n", session)
        assert "roll, double or resign> You offered to lose a single game.\nrandom refused.\n" in text
        assert "That cannot be done: " in text
        assert "resign: found 'x', wanted single, gammon or backgammon" in text
        assert "You offered to lose a backgammon.\nrandom accepted.\nrandom won a backgammon: 3 points." in text
        assert "found" not in run("resign\n", person_to_roll())
        assert "That cannot be done: " in run("resign\n", person_to_roll())

    def test_enter_rolls_where_only_resigning_is_the_alternative(self) -> None:
        session = Session(RandomBot(), GameOptions(cube=False, resignation=True), seed=1)
        session.set_up(read_xgid("XGID=-b----E-C---eE---c-e----B-:0:0:1:00:0:0:0:0:6"))
        assert "roll or resign> That cannot be done: this game is played without a cube." in run("double\n", session)
        run("\n", session)
        assert session.phase is Phase.MOVE

    def test_a_resignation_of_the_other_side_is_answered(self) -> None:
        session = next(
            session
            for seed in range(50)
            if (session := Session(RandomBot(), GameOptions(resignation=True), seed)).phase is Phase.MOVE
        )
        session.play(session.legal_plays()[0])
        match = session.record()
        game = match.games[0]
        first = next(n for n, action in enumerate(game.actions) if action.player == BOT)
        game = replace(game, actions=(*game.actions[:first], Resignation(BOT, 2, None)))
        waiting = replace(match, games=(game,))
        session = Session.resume(RandomBot(), waiting, seed=1)
        text = run("take\nhint\nrefuse\n", session)
        assert "accept or refuse> That cannot be done: " in text
        assert "Chances, as your opponent sees it: win " in text
        assert session.phase is not Phase.RESIGNED
        session = Session.resume(RandomBot(), waiting, seed=1)
        assert "○ resigns a gammon" in run("board\n", session)
        assert "You won a gammon: 2 points." in run("accept\n", session)
        assert session.points == [2, 0]


def test_small_commands() -> None:
    session = person_to_play(GameOptions(match_length=3))
    session.play(session.legal_plays()[0])
    text = run("score\npips\nhistory\nnext\n", session)
    assert "Match score: you 0, random 0. Matches won" in text
    assert re.search(r"Pips: you \d+, random \d+\.", text)
    assert re.search(r"   1\. You: \d-\d, \d+/", text)
    assert "   2. random: " in text
    assert "The game is not over, wanted " in text


def test_a_new_match_of_any_length_begins() -> None:
    session = Session(Cubist("sprintgammon"), GAMES["money"], seed=1)
    terminal = Terminal(session, io.StringIO("new 5\n"), writer := io.StringIO())
    terminal.run()
    assert terminal.session.options == GameOptions("sprintgammon", match_length=5, resignation=True)
    assert "match to 5" in writer.getvalue()
    terminal = Terminal(session, io.StringIO("new\n"), io.StringIO())
    terminal.run()
    assert terminal.session is not session
    assert terminal.session.options == session.options
    for word in ("x", "-1", "1001", "99999", "1.5", "²"):
        terminal = Terminal(session, io.StringIO(f"new {word}\n"), writer := io.StringIO())
        terminal.run()
        assert "found " in writer.getvalue()
        assert terminal.session is session


def test_the_crawford_game_is_announced() -> None:
    session = Session(PipCountBot("sprintgammon"), GameOptions("sprintgammon", match_length=3), seed=1)
    session.set_up(replace(read_xgid(_SPRINT_LAST, "sprintgammon"), max_cube=64))
    text = run("roll\n1/off\n1/off\n\nscore\n", session)
    assert "Match score: you 2, pipcount 0." in text
    assert "This is the Crawford game, played without the cube." in text
    assert "pipcount 0. This is the Crawford game." in text


_SPRINT_LAST = "XGID=-A----------------------a-:0:0:1:00:1:0:0:3:6"

_COMMANDS = [
    *("roll", "double", "take", "drop", "pass", "beaver", "resign", "resign gammon", "resign backgammon", "accept"),
    *("refuse", "moves", "moves 24", "hint", "undo", "board", "help", "next", "n", "score", "pips", "history", "stats"),
    *("tutor", "tutor on", "tutor 0", "tutor x", "id", "new", "new 2", "new 0", f"position {OPENING}", "position x"),
    *("position BQAA2AYAAAAAAA:UwkAAAAAAAAE", "position cAkAAAAAAAAA", "save @a", "save! @a.json", "load @a", "mat @a"),
    *("mat! @a", "save", "load @b", "mat @", "save! @", "load @a.mat", "save @c/d"),
]
_LINES = st.one_of(
    st.sampled_from([*_COMMANDS, "", "24/23", "bar/20", "22/off", "6/off(2)", "\x00"]),
    st.tuples(st.sampled_from(["tutor", "position", "new", "resign", "moves"]), st.text(max_size=12)).map(" ".join),
    st.text(max_size=12).filter(lambda line: line.strip().lower() not in ("q", "quit", "exit", "bye")),
    st.just("!play"),
)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(_LINES, max_size=30), st.sampled_from(sorted(BOTS)), st.integers(0, 5), st.booleans())
def test_nothing_that_is_typed_breaks_it(tmp_path: Path, lines: list[str], name: str, seed: int, match: bool) -> None:
    options = GameOptions("sprintgammon", match_length=2) if match else replace(GAMES["money"], beavers=False)
    session = Session(BOTS[name], options, seed)

    class Typist:
        def readline(self) -> str:
            if not lines:
                return ""
            line = lines.pop(0).replace("\n", " ")
            if line == "!play" and terminal.session.phase is Phase.MOVE:
                line = terminal.session.legal_plays()[-1].text
            return f"{line.replace('@', f'{tmp_path}/')}\n"

    writer = io.StringIO()
    terminal = Terminal(session, Typist(), writer, load("sprintgammon"))
    terminal.run()
    assert "Goodbye." in writer.getvalue()
