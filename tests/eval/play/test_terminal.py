"""The terminal, driven through its streams: commands, mistakes, and never a crash."""

from __future__ import annotations

import functools
import io
import os
import re
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch import Tensor

from nardy import models
from nardy.env import Cube, GameOptions
from nardy.env.clock import ClockOptions
from nardy.env.decisions import BEAVER, DOUBLE, DROP, RESIGN_GAMMON, RESIGN_SINGLE, ROLL, TAKE
from nardy.env.formats import Format
from nardy.env.notation import (
    Offer,
    Resignation,
    read_gnubg_id,
    read_match_text,
    read_saved_game,
    read_xgid,
    saved_game_text,
)
from nardy.eval.bots import Bot, ModelBot, PipCountBot, RandomBot
from nardy.eval.play import Phase, Session, Terminal, Tutor
from nardy.eval.play.beginnings import begin_position
from nardy.eval.play.files import read_game
from nardy.eval.play.session import BOT, PERSON
from nardy.eval.play.timed import TimedReader, TimedSession
from nardy.eval.review import review_match, review_position
from nardy.models import Evaluator
from tests.eval.fakes import FakeEvaluator

load = functools.cache(models.load)

SPRINT = GameOptions("sprintgammon")
BOTS: dict[str, Bot] = {
    "random": RandomBot("sprintgammon"),
    "pipcount": PipCountBot("sprintgammon"),
    "model": ModelBot(FakeEvaluator("sprintgammon"), "model:fake"),
}


def _run(lines: str, session: Session | None = None, adviser: bool = True) -> str:
    writer = io.StringIO()
    session = session or Session(PipCountBot(), GameOptions(), seed=1)
    judge = load(session.options.variant) if adviser else None
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


def test_hint_says_what_the_review_says() -> None:
    session = _person_to_play(GameOptions())
    review = review_position(load("backgammon"), session.state, second_first=session.second_first)
    text = _run("hint\n", session)
    assert f"5 of {review.num_plays} legal plays" in text
    for play in review.plays:
        assert re.search(rf" {play.rank}  {re.escape(play.play)} +{re.escape(f'{play.equity:+.3f}')} ", text)
    session = _person_to_roll(GameOptions())
    review = review_position(load("backgammon"), session.state)
    text = _run("hint\n", session)
    assert f"{review.cube.action}; equities\n" in text
    assert f"double, take  {review.cube.double_take:+.3f}" in text
    assert "There is no model to ask" in _run("hint\n", _person_to_play(), adviser=False)


def test_hint_in_a_match_has_the_match_winning_chance_too() -> None:
    text = _run("hint\n", _person_to_play(GameOptions(match_length=3)))
    assert re.search(r"equity +diff +match +win", text)


def test_hint_answers_a_double_a_beaver_and_a_resignation() -> None:
    session = Session(RandomBot(), GameOptions(beavers=True), seed=1)
    session.set_up(read_xgid("XGID=-b----E-C---eE---c-e----B-:0:0:1:D:0:0:2:0:10"))
    text = _run("hint\n", session)
    assert "take, drop or beaver> Beaver; equities, as your opponent sees it\n" in text
    assert "double, beaver  -" in text
    session.set_up(replace(session.state, offer=Offer.BEAVER, player=PERSON, cube_value=2, cube_owner=BOT))
    text = _run("hint\n", session)
    assert "take or drop> Take; equities\n" in text
    lost = read_xgid("XGID=-BBBBBBa------------------:0:0:1:00:0:0:2:0:10")
    session.set_up(replace(lost.swap_seats(), offer=Offer.BEAVER, cube_value=2, cube_owner=1))
    assert "Drop; equities\n" in _run("hint\n", session)


def test_what_the_adviser_has_not_learned_is_said() -> None:
    class Refusing(Evaluator):
        def equity(self, boards: Tensor, cube: Cube | None = None) -> Tensor:
            raise ValueError("cube: jacoby: not learned")

    known = load("sprintgammon")
    writer = io.StringIO()
    session = _person_to_play()
    lines = io.StringIO(f"hint\ntutor on\n{session.legal_plays()[0].text}\n")
    Terminal(session, lines, writer, Refusing(known.network, "sprintgammon")).run()
    assert "cube: jacoby: not learned" in writer.getvalue()
    assert "Tutor: cube: jacoby: not learned\nYou: " in writer.getvalue()


def test_undo_takes_back_or_says_that_it_cannot() -> None:
    session = _person_to_play()
    before = session.games.boards.clone()
    text = _run(f"undo\n{session.legal_plays()[0].text}\nundo\n", session)
    assert "There is nothing to take back." in text
    assert (session.games.boards == before).all()
    assert session.phase is Phase.MOVE


class _Player:
    """Answers whatever is asked, at random, by words that the prompt offers, until so many games are over."""

    def __init__(self, writer: io.StringIO, session: Session, num_games: int, one_match: bool = False) -> None:
        self.writer, self.session, self.left, self.one_match = writer, session, num_games, one_match
        self.random = Random(1)  # noqa: S311  # not for secrets

    def readline(self) -> str:
        phase = self.session.phase
        if phase is Phase.OVER:
            self.left -= 1
            if self.one_match and max(self.session.score) >= self.session.options.match_length:
                return "quit\n"
            return "\n" if self.left else "quit\n"
        if phase is Phase.MOVE:
            return f"{self.random.choice(self.session.legal_plays()).text}\n"
        offered = re.split(", | or ", self.writer.getvalue().rpartition("\n")[2].removesuffix("> "))
        legal = self.session.decisions.mask()[0].nonzero()[:, 0].tolist()
        assert [WORDS[action] for action in legal if action in WORDS] == [word for word in offered if word != "resign"]
        assert (RESIGN_SINGLE in legal or RESIGN_GAMMON in legal) == ("resign" in offered)
        if "resign" in offered and self.random.random() < 0.9:
            offered.remove("resign")
        return f"{self.random.choice(offered)}\n"


WORDS = {ROLL: "roll", DOUBLE: "double", TAKE: "take", DROP: "drop", BEAVER: "beaver"}


@pytest.mark.parametrize("options", [SPRINT, GameOptions("sprintgammon", match_length=2)], ids=["money", "match"])
@pytest.mark.parametrize("name", BOTS)
def test_whole_games_are_played(name: str, options: GameOptions) -> None:
    session = Session(BOTS[name], options, seed=3)
    writer = io.StringIO()
    Terminal(session, _Player(writer, session, 4), writer, ascii_only=True).run()
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
    Terminal(session, _Player(writer, session, 1), writer, load("longgammon"), ascii_only=True).run()
    text = writer.getvalue()
    assert text.count(" won ") == 1
    assert "/18" in text
    assert "bar/" not in text


class _Cubist(RandomBot):
    """Doubles now and then, takes all, beavers every double and plays on when beavered."""

    def double(self, boards: Tensor, cube: Cube) -> Tensor:
        return cube.as_tensors(len(boards)).may_double() & (boards[:, 0].argmax(1) % 3 == 0)

    def beaver(self, boards: Tensor, cube: Cube) -> Tensor:
        return self.take(boards, cube)

    def take_beaver(self, boards: Tensor, cube: Cube) -> Tensor:
        return self.take(boards, cube)


_GAMES = {
    "backgammon": GameOptions("backgammon", match_length=3, resignation=True),
    "sprintgammon": GameOptions("sprintgammon", match_length=3),
    "longgammon": GameOptions("longgammon", match_length=2),
    "money": GameOptions("sprintgammon", jacoby=True, beavers=True, automatic_doubles=1, resignation=True),
}


class TestTutor:
    @pytest.mark.parametrize("name", _GAMES)
    def test_it_says_what_a_review_of_the_whole_game_says(self, name: str, tmp_path: Path) -> None:
        options = _GAMES[name]
        evaluator, writer = load(options.variant), io.StringIO()
        session = Session(_Cubist(options.variant), options, seed=7)
        player = _Player(writer, session, 9, True) if options.match_length else _Player(writer, session, 3)
        Terminal(session, player, writer, evaluator, tutor=Tutor(True, 0.001)).run()
        text = writer.getvalue()
        match = read_saved_game(saved_game_text(session.record()))
        if name in ("backgammon", "sprintgammon"):
            _run(f"mat {tmp_path}/played.mat\n", session)
            match = read_match_text((tmp_path / "played.mat").read_text(), options.variant)
        review = review_match(evaluator, match, blunder=0)
        wanted = [
            (mistake.done, mistake.best, f"{mistake.loss:.3f}")
            for mistake in review.mistakes
            if mistake.player == PERSON and mistake.loss >= 0.001
        ]
        told = re.findall(r"^(?:.*> )?Tutor: (.*?)(?: \(number \d+\))? lost ([0-9.]+); better: (.*)$", text, re.M)
        found = [(done, best.partition(" (")[0] if done[0].isupper() else best, loss) for done, loss, best in told]
        assert len(found) > 5
        assert sorted(found) == sorted(wanted)
        rates = re.findall(r"You lost ([0-9.]+) millipoints a decision in \d+ decisions \(PR ([0-9.]+)\)", text)
        player_review = review.players[PERSON]
        assert [rate[1] for rate in rates] == [f"{player_review.rating:.2f}"]
        assert max(session.score) >= options.match_length

    def test_it_is_switched_and_speaks_from_a_threshold_on(self) -> None:
        session = _person_to_play(GameOptions())
        evaluator = load("backgammon")
        ranked = review_position(evaluator, session.state, 100, session.second_first).plays
        best, worst = ranked[0].play, ranked[-1].play
        assert "Tutor:" not in _run(f"{worst}\n", session)
        assert session.undo()
        text = _run(f"tutor\n{worst}\n", session)
        assert "The tutor speaks of losses from 0.02 up." in text
        assert f"Tutor: {worst} (number {len(ranked)}) lost {-ranked[-1].difference:.3f}; better: {best}\n" in text
        assert session.undo()
        assert "Tutor:" not in _run(f"tutor on\n{best}\n", session)
        assert session.undo()
        text = _run(f"tutor 1\n{worst}\n", session)
        assert "The tutor speaks of losses from 1 up." in text
        assert "Tutor:" not in text
        assert session.undo()
        text = _run(f"tutor on\ntutor OFF\n{worst}\n", session)
        assert "The tutor is silent." in text
        assert "Tutor:" not in text

    @pytest.mark.parametrize("word", ["loud", "-1", "nan", "2", "inf", "0,05", "on off"])
    def test_other_words_are_refused(self, word: str) -> None:
        assert f"tutor: found '{word}', wanted on, off, or the least equity lost" in _run(f"tutor {word}\n")

    def test_without_a_model_there_is_none(self) -> None:
        text = _run("tutor on\nstats\n", adviser=False)
        assert text.count("There is no model to ask") == 2

    def test_cube_decisions_are_judged(self) -> None:
        session = Session(RandomBot(), GameOptions(), seed=1)
        session.set_up(read_xgid("XGID=-A--A-------------------a-:0:0:1:D:0:0:0:0:10"))
        text = _run("tutor on\ntake\n", session)
        assert re.search(r"Tutor: Take lost \d\.\d+; better: Drop \(for who doubled: no double \+", text)
        session.set_up(read_xgid("XGID=-b----E-C---eE---c-e----B-:0:0:1:D:0:0:0:0:10"))
        assert re.search(r"Tutor: Drop lost \d\.\d+; better: Take", _run("tutor on\ndrop\n", session))
        session.set_up(read_xgid("XGID=-b----E-C---eE---c-e----B-:0:0:1:00:0:0:0:0:10"))
        assert "Tutor: Double lost" in _run("tutor on\ndouble\n", session)
        session.set_up(read_xgid("XGID=-A--A-------------------a-:0:0:1:00:0:0:0:0:10"))
        assert "Tutor: No double lost" in _run("tutor on\nroll\n", session)

    def test_stats_are_those_of_a_review(self) -> None:
        session = _person_to_play(GameOptions())
        session.play(session.legal_plays()[-1])
        review = review_match(load("backgammon"), session.record())
        text = _run("stats\n", session)
        for label, values in (
            ("millipoints a play", [f"{player.checker_rate:.1f}" for player in review.players]),
            (r"performance rating \(PR\)", [f"{player.rating:.2f}" for player in review.players]),
        ):
            assert re.search(rf"{label} +{values[0]} +{values[1]}\n", text)
        assert "you" in text


def _with_files(lines: str, session: Session, folder: Path) -> str:
    return _run(lines.replace("@", f"{folder}/"), session).replace(f"{folder}/", "@")


class TestFiles:
    @pytest.mark.parametrize("name", _GAMES)
    def test_a_saved_game_goes_on_where_it_was(self, name: str, tmp_path: Path) -> None:
        options = _GAMES[name]
        session = Session(_Cubist(options.variant), options, seed=3)
        for _ in range(12):
            if session.phase is Phase.MOVE:
                session.play(session.legal_plays()[0])
            elif session.phase is Phase.OVER:
                session.next_game()
            else:
                session.act(int(session.decisions.mask()[0].nonzero()[0]))
        assert "Saved @my match.json." in _with_files("save @my match.json\n", session, tmp_path)
        assert read_game(f"{tmp_path}/my match") == session.record()
        writer = io.StringIO()
        other = Session(_Cubist(options.variant), GameOptions(options.variant), seed=8)
        terminal = Terminal(other, io.StringIO(f"load {tmp_path}/my match\n"), writer)
        terminal.run()
        assert terminal.session is not other
        assert terminal.session.options == session.options
        if session.phase is not Phase.OVER:
            assert terminal.session.state == session.state
            assert terminal.session.record().games == session.record().games

    def test_match_text_is_read_back(self, tmp_path: Path) -> None:
        session = _person_to_play(GameOptions(match_length=3))
        session.play(session.legal_plays()[0])
        assert "Wrote @game.mat." in _with_files("mat @game\n", session, tmp_path)
        read = read_match_text((tmp_path / "game.mat").read_text())
        assert read.names == ("you", "bot")
        assert [len(game.actions) for game in read.games] == [len(game.actions) for game in session.record().games]

    def test_what_match_text_has_no_words_for_is_said(self, tmp_path: Path) -> None:
        longgammon = Session(PipCountBot("longgammon"), GameOptions("longgammon"), seed=1)
        assert "variant: found 'longgammon'" in _with_files("mat @x\n", longgammon, tmp_path)
        doubled = next(
            session
            for seed in range(50)
            if int((session := Session(PipCountBot(), GameOptions(automatic_doubles=1), seed)).games.cube_value[0]) > 1
        )
        assert "cannot say automatic doubles" in _with_files("mat @x\n", doubled, tmp_path)
        assert not list(tmp_path.iterdir())

    def test_a_game_from_a_position_is_not_saved(self, tmp_path: Path) -> None:
        session = Session(PipCountBot(), GameOptions(), seed=1)
        text = _with_files(f"position {_OPENING}\nsave @x\nmat @x\nstats\nhistory\n", session, tmp_path)
        assert text.count("game: found one that began from a position") == 4
        assert not list(tmp_path.iterdir())

    def test_files_are_not_overwritten_unless_that_is_said(self, tmp_path: Path) -> None:
        session = _person_to_play()
        (tmp_path / "x.json").write_text("old")
        (tmp_path / "x.mat").write_text("old")
        text = _with_files("save @x\nmat @x.mat\n", session, tmp_path)
        assert text.count("found a file of that name, wanted a new one") == 2
        assert (tmp_path / "x.json").read_text() == (tmp_path / "x.mat").read_text() == "old"
        text = _with_files("save! @x\nMAT! @x.mat\n", session, tmp_path)
        assert "Saved @x.json." in text
        assert "Wrote @x.mat." in text
        assert read_game(f"{tmp_path}/x.json") == session.record()

    @pytest.mark.parametrize(
        ("line", "wanted"),
        [
            ("save", "file: found '', wanted a name in .json"),
            ("save @x.mat", "wanted a name in .json"),
            ("save @..", "wanted a name in .json"),
            ("save @folder.json", "@folder.json: found something that is no file"),
            ("save! @folder.json", "@folder.json: found something that is no file"),
            ("save! @pipe.json", "@pipe.json: found something that is no file"),
            ("save @none/x", "@none/x.json: found no such folder"),
            ("save @x\0", "file: found"),
            ("save @" + 300 * "x", "File name too long"),
            ("mat @x.json", "wanted a name in .mat or .txt"),
            ("mat", "file: found '', wanted a name in .mat"),
            ("load", "file: found '', wanted a name in .json"),
            ("load @x", "@x.json: found no such file"),
            ("load @folder.json", "@folder.json: found something that is no file"),
            ("load @pipe.json", "@pipe.json: found something that is no file"),
            ("load @x.mat", "wanted a name in .json"),
            ("load @" + 300 * "x", "File name too long"),
            ("load @large.json", "@large.json: found more than 4000000 characters"),
            ("load @bytes.json", "@bytes.json: found bytes that are no UTF-8"),
            ("load @text.json", "@text.json: saved game: found no JSON"),
            ("load @deep.json", "@deep.json: saved game: found"),
            ("load @other.json", "@other.json: saved game: found something else"),
            ("load @sprint.json", "discipline: found sprintgammon, wanted backgammon"),
            ("load @over.json", "found it over at"),
            ("load @beavers.json", "bot: pipcount has no answer to a beaver"),
        ],
    )
    def test_what_is_wrong_with_a_file_is_one_line(self, line: str, wanted: str, tmp_path: Path) -> None:
        (tmp_path / "folder.json").mkdir()
        os.mkfifo(tmp_path / "pipe.json")
        with (tmp_path / "large.json").open("wb") as file:
            file.truncate(1 << 33)
        (tmp_path / "bytes.json").write_bytes(b"\xff\xfe")
        (tmp_path / "text.json").write_text(" 3 point match")
        (tmp_path / "deep.json").write_text(100_000 * "[")
        (tmp_path / "other.json").write_text("{}")
        (tmp_path / "sprint.json").write_text(saved_game_text(_person_to_play().record()))
        (tmp_path / "over.json").write_text(saved_game_text(_finished(GameOptions(match_length=1)).record()))
        beavers = Session(_Cubist(), GameOptions(beavers=True), seed=1)
        (tmp_path / "beavers.json").write_text(saved_game_text(beavers.record()))
        before = sorted(tmp_path.iterdir())
        session = Session(PipCountBot(), GameOptions(), seed=1)
        text = _with_files(f"{line}\n", session, tmp_path)
        answer = text.partition("> ")[2].partition("\n")[0]
        assert wanted in answer
        assert sorted(tmp_path.iterdir()) == before

    @pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
    def test_what_is_forbidden_is_said(self, tmp_path: Path) -> None:
        (tmp_path / "x.json").touch(mode=0)
        session = Session(PipCountBot(), GameOptions(), seed=1)
        assert "@x.json: Permission denied" in _with_files("load @x\n", session, tmp_path)
        tmp_path.chmod(0o500)
        assert "@y.json: Permission denied" in _with_files("save @y\n", session, tmp_path)

    def test_a_match_by_the_clock_is_not_saved(self, tmp_path: Path) -> None:
        options = Format("sprintgammon", 3, clock=ClockOptions(bank=3600))
        session, writer = TimedSession(PipCountBot("sprintgammon"), options, seed=1), io.StringIO()
        lines = f"save {tmp_path}/x\nload x\nposition x\nnew\nundo\n"
        Terminal(session, TimedReader(io.StringIO(lines), writer, session), writer).run()
        assert writer.getvalue().count("By the clock this match is played to its end") == 5


def _finished(options: GameOptions) -> Session:
    """A session whose game is over."""
    session = Session(RandomBot(options.variant), options, seed=1)
    while session.phase is not Phase.OVER:
        if session.phase is Phase.MOVE:
            session.play(session.legal_plays()[0])
        else:
            session.roll()
    return session


_OPENING = "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:0:10"


class TestPositions:
    @pytest.mark.parametrize(
        ("text", "rules"),
        [
            (_OPENING, GameOptions(max_cube=1024)),
            (_OPENING.replace(":0:0:10", ":3:0:10"), GameOptions(max_cube=1024, jacoby=True, beavers=True)),
            (_OPENING.replace(":0:0:10", ":2:0:0"), GameOptions(max_cube=1, cube=False)),
            ("-b----E-C---eE---c-e----B-:0:0:1:41:6:3:1:7:10", GameOptions(match_length=7, max_cube=1024)),
            ("4HPwATDgc/ABMA:8AnmADAAMAAE", GameOptions(match_length=7)),
            ("cAnmADAAMAAE", GameOptions(match_length=7)),
            ("4HPwATDgc/ABMA:cAkAAAAAAAAA", GameOptions(jacoby=True)),
            ("2M3gCSCMz+ANAA:UQkgATAAKAAE", GameOptions(match_length=9)),
            ("-BBB-------------------aa-:3:1:1:00:0:0:0:0:10", GameOptions(max_cube=1024)),
            ("BQAA2AYAAAAAAA:UwkAAAAAAAAE", GameOptions()),
        ],
    )
    def test_the_person_goes_on_from_it_under_its_rules(self, text: str, rules: GameOptions) -> None:
        variant = rules.variant
        terminal = Terminal(
            Session(_Cubist(variant), GameOptions(variant), seed=1),
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
            (_OPENING.replace(":31:", ":B:"), "dice: found 'B'"),
            (_OPENING.replace(":0:0:10", ":0:2000:10"), "match_length: found 2000"),
            ("XGID=-A------------------------:0:0:1:31:0:0:0:0:10", "board"),
            ("XGID=-A----------------------a-:0:0:1:31:0:0:0:0:a", "cube limit: found 'a'"),
        ],
    )
    def test_what_is_wrong_with_it_is_said_and_changes_nothing(self, text: str, wanted: str) -> None:
        session = Session(PipCountBot(), GameOptions(), seed=1)
        terminal = Terminal(session, io.StringIO(f"position {text}\n"), writer := io.StringIO())
        terminal.run()
        assert wanted in writer.getvalue().partition("> ")[2].partition("\n")[0]
        assert terminal.session is session

    def test_identifiers_lead_back_to_the_position(self) -> None:
        session = _person_to_roll(GameOptions(match_length=5))
        text = _run("id\n", session)
        for name in (r"XGID=\S+", r"(?<=GNUbg ID )\S+"):
            found = re.search(name, text)
            assert found is not None
            again, _ = begin_position(found[0], session.options, lambda rules: (session.bot, None), 5)
            assert again.state == replace(session.state, max_cube=again.options.max_cube)

    def test_where_there_is_no_identifier_it_is_said(self) -> None:
        assert "Other programs have no identifiers for longgammon" in _run(
            "id\n", Session(PipCountBot("longgammon"), GameOptions("longgammon"), seed=1)
        )
        assert "The game is over, and no position waits." in _run("id\n", _finished(SPRINT))
        longgammon = Session(PipCountBot("longgammon"), GameOptions("longgammon"), seed=1)
        assert "variant: found 'longgammon'" in _run(f"position {_OPENING}\n", longgammon)
        session = Session(RandomBot(), GameOptions(beavers=True), seed=1)
        state = read_xgid("XGID=-b----E-C---eE---c-e----B-:1:-1:1:00:0:0:2:0:10")
        session.set_up(replace(state, offer=Offer.BEAVER, max_cube=64))
        text = _run("id\n", session)
        assert "xgid: cannot say a beaver on offer" in text
        found = re.search(r"(?<=GNUbg ID )\S+", text)
        assert found is not None
        again, _ = begin_position(found[0], session.options, lambda rules: (session.bot, None), 5)
        assert again.state == session.state


class TestCube:
    def test_beavers_are_typed_where_the_rules_have_them(self) -> None:
        offered = read_xgid("XGID=-b----E-C---eE---c-e----B-:0:0:1:D:0:0:0:0:6")
        session = Session(_Cubist(), GameOptions(beavers=True), seed=1)
        session.set_up(offered)
        text = _run("beaver\n", session)
        assert "take, drop or beaver> You beavered to 4.\nrandom took.\n" in text
        session = Session(_Cubist(), GameOptions(), seed=1)
        session.set_up(offered)
        text = _run("beaver\n", session)
        assert "take or drop> That cannot be done: this game is played without beavers (rule 2.9)." in text
        assert session.phase is Phase.ANSWER

    def test_a_beaver_of_the_bot_is_answered(self) -> None:
        session = _person_to_roll(GameOptions("sprintgammon", beavers=True))
        session = Session(_Cubist("sprintgammon"), session.options, session.games.seed)
        text = _run("double\ndrop\n", session)
        assert "random beavered to 4." in text
        assert "○ beavers to 4" in text
        assert "take or drop> You dropped.\nrandom won by a drop: 2 points." in text

    def test_resignations_have_levels_and_may_be_refused(self) -> None:
        session = Session(RandomBot(), GameOptions(resignation=True), seed=1)
        session.set_up(read_xgid("XGID=-b----E-C---eE---c-e----B-:0:0:1:00:0:0:0:0:6"))
        text = _run("resign\nresign\nresign x\nresign GAMMON\nresign backgammon\n", session)
        assert "roll, double or resign> You offered to lose a single game.\nrandom refused.\n" in text
        assert "That cannot be done: " in text
        assert "resign: found 'x', wanted single, gammon or backgammon" in text
        assert "You offered to lose a backgammon.\nrandom accepted.\nrandom won a backgammon: 3 points." in text
        assert "found" not in _run("resign\n", _person_to_roll())
        assert "That cannot be done: " in _run("resign\n", _person_to_roll())

    def test_enter_rolls_where_only_resigning_is_the_alternative(self) -> None:
        session = Session(RandomBot(), GameOptions(cube=False, resignation=True), seed=1)
        session.set_up(read_xgid("XGID=-b----E-C---eE---c-e----B-:0:0:1:00:0:0:0:0:6"))
        assert "roll or resign> That cannot be done: this game is played without a cube." in _run("double\n", session)
        _run("\n", session)
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
        text = _run("take\nhint\nrefuse\n", session)
        assert "accept or refuse> That cannot be done: " in text
        assert "Chances, as your opponent sees it: win " in text
        assert session.phase is not Phase.RESIGNED
        session = Session.resume(RandomBot(), waiting, seed=1)
        assert "○ resigns a gammon" in _run("board\n", session)
        assert "You won a gammon: 2 points." in _run("accept\n", session)
        assert session.points == [2, 0]


def test_small_commands() -> None:
    session = _person_to_play(GameOptions(match_length=3))
    session.play(session.legal_plays()[0])
    text = _run("score\npips\nhistory\nnext\n", session)
    assert "Match score: you 0, random 0. Matches won" in text
    assert re.search(r"Pips: you \d+, random \d+\.", text)
    assert re.search(r"   1\. You: \d-\d, \d+/", text)
    assert "   2. random: " in text
    assert "The game is not over, wanted " in text


def test_a_new_match_of_any_length_begins() -> None:
    session = Session(_Cubist("sprintgammon"), _GAMES["money"], seed=1)
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
    text = _run("roll\n1/off\n1/off\n\nscore\n", session)
    assert "Match score: you 2, pipcount 0." in text
    assert "This is the Crawford game, played without the cube." in text
    assert "pipcount 0. This is the Crawford game." in text


_SPRINT_LAST = "XGID=-A----------------------a-:0:0:1:00:1:0:0:3:6"

_COMMANDS = [
    *("roll", "double", "take", "drop", "pass", "beaver", "resign", "resign gammon", "resign backgammon", "accept"),
    *("refuse", "moves", "moves 24", "hint", "undo", "board", "help", "next", "n", "score", "pips", "history", "stats"),
    *("tutor", "tutor on", "tutor 0", "tutor x", "id", "new", "new 2", "new 0", f"position {_OPENING}", "position x"),
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
    options = GameOptions("sprintgammon", match_length=2) if match else replace(_GAMES["money"], beavers=False)
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
