"""The tutor in the terminal says of each decision what a review of the whole game says of it."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest

from nardy.env import GameOptions
from nardy.env.notation import (
    read_match_text,
    read_saved_game,
    read_xgid,
    saved_game_text,
)
from nardy.eval.bots import RandomBot
from nardy.eval.play import Session, Terminal, Tutor
from nardy.eval.play.session import PERSON
from nardy.eval.review import review_match, review_position
from tests.eval.play.driving import GAMES, Cubist, RandomPerson, load, person_to_play, run


@pytest.mark.parametrize("name", GAMES)
def test_it_says_what_a_review_of_the_whole_game_says(name: str, tmp_path: Path) -> None:
    options = GAMES[name]
    evaluator, writer = load(options.variant), io.StringIO()
    session = Session(Cubist(options.variant), options, seed=7)
    player = RandomPerson(writer, session, 9, True) if options.match_length else RandomPerson(writer, session, 3)
    Terminal(session, player, writer, evaluator, tutor=Tutor(True, 0.001)).run()
    text = writer.getvalue()
    match = read_saved_game(saved_game_text(session.record()))
    if name in ("backgammon", "sprintgammon"):
        run(f"mat {tmp_path}/played.mat\n", session)
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


def test_it_is_switched_and_speaks_from_a_threshold_on() -> None:
    session = person_to_play(GameOptions())
    evaluator = load("backgammon")
    ranked = review_position(evaluator, session.state, 100, session.second_first).plays
    best, worst = ranked[0].play, ranked[-1].play
    assert "Tutor:" not in run(f"{worst}\n", session)
    assert session.undo()
    text = run(f"tutor\n{worst}\n", session)
    assert "The tutor speaks of losses from 0.02 up." in text
    assert f"Tutor: {worst} (number {len(ranked)}) lost {-ranked[-1].difference:.3f}; better: {best}\n" in text
    assert session.undo()
    assert "Tutor:" not in run(f"tutor on\n{best}\n", session)
    assert session.undo()
    text = run(f"tutor 1\n{worst}\n", session)
    assert "The tutor speaks of losses from 1 up." in text
    assert "Tutor:" not in text
    assert session.undo()
    text = run(f"tutor on\ntutor OFF\n{worst}\n", session)
    assert "The tutor is silent." in text
    assert "Tutor:" not in text


@pytest.mark.parametrize("word", ["loud", "-1", "nan", "2", "inf", "0,05", "on off"])
def test_other_words_are_refused(word: str) -> None:
    assert f"tutor: found '{word}', wanted on, off, or the least equity lost" in run(f"tutor {word}\n")


def test_without_a_model_there_is_none() -> None:
    text = run("tutor on\nstats\n", adviser=False)
    assert text.count("There is no model to ask") == 2


def test_cube_decisions_are_judged() -> None:
    session = Session(RandomBot(), GameOptions(), seed=1)
    session.set_up(read_xgid("XGID=-A--A-------------------a-:0:0:1:D:0:0:0:0:10"))
    text = run("tutor on\ntake\n", session)
    assert re.search(r"Tutor: Take lost \d\.\d+; better: Drop \(for who doubled: no double \+", text)
    session.set_up(read_xgid("XGID=-b----E-C---eE---c-e----B-:0:0:1:D:0:0:0:0:10"))
    assert re.search(r"Tutor: Drop lost \d\.\d+; better: Take", run("tutor on\ndrop\n", session))
    session.set_up(read_xgid("XGID=-b----E-C---eE---c-e----B-:0:0:1:00:0:0:0:0:10"))
    assert "Tutor: Double lost" in run("tutor on\ndouble\n", session)
    session.set_up(read_xgid("XGID=-A--A-------------------a-:0:0:1:00:0:0:0:0:10"))
    assert "Tutor: No double lost" in run("tutor on\nroll\n", session)


def test_stats_are_those_of_a_review() -> None:
    session = person_to_play(GameOptions())
    session.play(session.legal_plays()[-1])
    review = review_match(load("backgammon"), session.record())
    text = run("stats\n", session)
    for label, values in (
        ("millipoints a play", [f"{player.checker_rate:.1f}" for player in review.players]),
        (r"performance rating \(PR\)", [f"{player.rating:.2f}" for player in review.players]),
    ):
        assert re.search(rf"{label} +{values[0]} +{values[1]}\n", text)
    assert "you" in text
