"""The terminal, driven through its streams: commands, mistakes, and never a crash."""

from __future__ import annotations

import io
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nardy.env import GameOptions
from nardy.eval.bots import Bot, ModelBot, PipCountBot, RandomBot
from nardy.eval.play import Phase, Session, Terminal
from tests.eval.fakes import FakeEvaluator

SPRINT = GameOptions("sprintgammon")
BOTS: dict[str, Bot] = {
    "random": RandomBot("sprintgammon"),
    "pipcount": PipCountBot("sprintgammon"),
    "model": ModelBot(FakeEvaluator("sprintgammon"), "model:fake"),
}


def _run(lines: str, session: Session | None = None, adviser: bool = True) -> str:
    writer = io.StringIO()
    session = session or Session(PipCountBot(), GameOptions(), seed=1)
    judge = FakeEvaluator(session.options.variant) if adviser else None
    Terminal(session, io.StringIO(lines), writer, judge).run()
    return writer.getvalue()


def _person_to_play(options: GameOptions = SPRINT) -> Session:
    return next(
        session
        for seed in range(50)
        if (session := Session(RandomBot(options.variant), options, seed)).phase is Phase.MOVE
    )


def _person_to_roll(options: GameOptions = SPRINT) -> Session:
    return next(
        session
        for seed in range(50)
        if (session := Session(RandomBot(options.variant), options, seed)).phase is Phase.CUBE
    )


@pytest.mark.parametrize("lines", ["", "quit\n", "q", "EXIT\nroll\n", "board\n"])
def test_quit_and_the_end_of_input_leave_politely(lines: str) -> None:
    assert _run(lines).endswith("Goodbye. Points so far: you 0, pipcount 0.\n")


def test_ctrl_c_leaves_politely() -> None:
    class Interrupted:
        def readline(self) -> str:
            raise KeyboardInterrupt

    writer = io.StringIO()
    Terminal(Session(PipCountBot(), GameOptions(), seed=1), Interrupted(), writer).run()
    assert writer.getvalue().endswith("Goodbye. Points so far: you 0, pipcount 0.\n")


def test_help_and_the_board_are_shown() -> None:
    text = _run("help\nboard\n")
    assert "bar/22 to enter" in text
    assert text.count("13 14 15 16 17 18") >= 2


def test_moves_are_listed_and_may_be_narrowed() -> None:
    session = _person_to_play(GameOptions())
    legal = session.legal_plays()
    text = _run("moves\n", session)
    assert f"{len(legal)} legal plays:" in text
    assert all(play.text in text for play in legal)
    narrowed = _run("moves 24\n", session).partition(" from 24:\n")[2].partition("\nyour play")[0]
    assert "24/" in narrowed
    assert "13/10 8/" not in narrowed
    assert "0 from 99" in _run("moves 99\n", session)
    assert "There are no dice to play." in _run("moves\n", _person_to_roll())


def test_a_move_is_played_and_the_bot_answers() -> None:
    session = _person_to_play()
    play = session.legal_plays()[0]
    text = _run(f"{play.text}\n", session)
    assert f", {play.text}\n" in text
    assert "random: " in text


def test_wrong_moves_and_words_are_explained_and_change_nothing() -> None:
    session = _person_to_play(GameOptions())
    before = session.games.boards.clone()
    text = _run("24/24\n1/off\nfoo\n\ndouble\ntake\n", session)
    assert "wanted points that go down" in text
    assert "is not legal with" in text
    assert "cannot read 'foo'" in text
    assert "wanted a move" in text
    assert (session.games.boards == before).all()
    assert "Found 'jump', wanted roll or double" in _run("jump\n", _person_to_roll())


def test_enter_rolls_and_double_doubles() -> None:
    session = _person_to_roll()
    assert session.phase is Phase.CUBE
    _run("\n", session)
    assert session.phase is not Phase.CUBE or session.player == 0
    text = _run("double\n", _person_to_roll())
    assert "You doubled to 2." in text
    assert "random took." in text


def test_hint_ranks_plays_and_advises_on_the_cube() -> None:
    text = _run("hint\n", _person_to_play(GameOptions()))
    assert "equity" in text
    assert text.count(". -") + text.count(". +") == 5
    text = _run("hint\n", _person_to_roll())
    assert "no double" in text
    assert "double, take" in text
    assert "There is no model to ask" in _run("hint\n", _person_to_play(), adviser=False)


def test_hint_in_a_match_is_a_winning_chance() -> None:
    session = _person_to_play(GameOptions(match_length=3))
    assert "match-winning chance" in _run("hint\n", session)


def test_what_the_adviser_has_not_learned_is_said() -> None:
    class Refusing(FakeEvaluator):
        def equity(self, boards, cube=None):  # type: ignore[no-untyped-def]
            raise ValueError("cube: jacoby: not learned")

    writer = io.StringIO()
    Terminal(_person_to_play(), io.StringIO("hint\n"), writer, Refusing("sprintgammon")).run()
    assert "cube: jacoby: not learned" in writer.getvalue()


def test_undo_takes_back_or_says_that_it_cannot() -> None:
    session = _person_to_play()
    before = session.games.boards.clone()
    text = _run(f"undo\n{session.legal_plays()[0].text}\nundo\n", session)
    assert "There is nothing to take back." in text
    assert (session.games.boards == before).all()
    assert session.phase is Phase.MOVE


class _Player:
    """Answers whatever is asked, at random, until so many games are over."""

    def __init__(self, session: Session, num_games: int) -> None:
        self.session, self.left = session, num_games
        self.random = Random(1)  # noqa: S311  # not for secrets

    def readline(self) -> str:
        phase = self.session.phase
        if phase is Phase.OVER:
            self.left -= 1
            return "\n" if self.left else "quit\n"
        if phase is Phase.MOVE:
            return f"{self.random.choice(self.session.legal_plays()).text}\n"
        return self.random.choice(["roll\n", "double\n"] if phase is Phase.CUBE else ["take\n", "drop\n"])


@pytest.mark.parametrize("options", [SPRINT, GameOptions("sprintgammon", match_length=2)], ids=["money", "match"])
@pytest.mark.parametrize("name", BOTS)
def test_whole_games_are_played(name: str, options: GameOptions) -> None:
    session = Session(BOTS[name], options, seed=3)
    writer = io.StringIO()
    Terminal(session, _Player(session, 4), writer, ascii_only=True).run()
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
    Terminal(session, _Player(session, 1), writer, FakeEvaluator("longgammon"), ascii_only=True).run()
    text = writer.getvalue()
    assert text.count(" won ") == 1
    assert "/18" in text
    assert "bar/" not in text


_COMMANDS = [
    "roll",
    "double",
    "take",
    "drop",
    "pass",
    "moves",
    "moves 24",
    "hint",
    "undo",
    "board",
    "help",
    "next",
    "n",
]
_LINES = st.one_of(
    st.sampled_from([*_COMMANDS, "", "24/23", "bar/20", "22/off", "6/off(2)", "\x00"]),
    st.text(max_size=12).filter(lambda line: line.strip().lower() not in ("q", "quit", "exit", "bye")),
    st.just("!play"),
)


@settings(max_examples=40)
@given(st.lists(_LINES, max_size=30), st.sampled_from(sorted(BOTS)), st.integers(0, 5), st.booleans())
def test_nothing_that_is_typed_breaks_it(lines: list[str], name: str, seed: int, match: bool) -> None:
    options = GameOptions("sprintgammon", match_length=2) if match else SPRINT
    session = Session(BOTS[name], options, seed)

    class Typist:
        def readline(self) -> str:
            if not lines:
                return ""
            line = lines.pop(0).replace("\n", " ")
            if line == "!play" and session.phase is Phase.MOVE:
                line = session.legal_plays()[-1].text
            return f"{line}\n"

    writer = io.StringIO()
    Terminal(session, Typist(), writer, FakeEvaluator("sprintgammon")).run()
    assert "Goodbye." in writer.getvalue()
