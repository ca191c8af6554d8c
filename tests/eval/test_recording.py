"""Recorded games: what the arena writes down is what a referee would, and other programs can read it."""

from __future__ import annotations

from pathlib import Path

import pytest

from nardy.env import GameOptions
from nardy.env.formats import Format
from nardy.env.notation import CubeAction, Resignation, Roll, read_match_text
from nardy.eval.arena import Record, play_deals
from nardy.eval.bots import Bot, PipCountBot, RandomBot
from nardy.eval.recording import mat_texts, match_of_bots
from nardy.eval.refereed import play_match
from nardy.eval.results import compare_bots
from nardy.eval.session import SessionOptions
from nardy.eval.session_file import SessionFile, session_settings
from tests.eval.outside.test_ubgi import CUBELESS, bot


def _bots(variant: str) -> tuple[Bot, Bot]:
    return PipCountBot(variant), RandomBot(variant)


def _recorded(options: GameOptions, deals: int = 3, batch: int = 4096) -> Record:
    return play_deals(*_bots(options.variant), 6, options, seed=5, batch=batch, recorded_deals=deals)


@pytest.mark.parametrize("batch", [1, 6])
@pytest.mark.parametrize(
    ("variant", "match_length", "deals"), [("sprintgammon", 0, 3), ("sprintgammon", 3, 3), ("longgammon", 0, 1)]
)
def test_the_arena_records_what_a_referee_does(variant: str, match_length: int, deals: int, batch: int) -> None:
    options = Format(variant, match_length)
    found = _recorded(options.rules, deals, batch).matches
    assert len(found) == 2 * deals
    bots = _bots(variant)
    for number, record in enumerate(found):
        deal, seating = divmod(number, 2)
        log = play_match(bots[::-1] if seating else bots, options, 5, deal)
        assert record == match_of_bots(log, seating)
        assert record.names == ("pipcount", "random")


@pytest.mark.parametrize(
    "options", [GameOptions("sprintgammon", 3), GameOptions("sprintgammon"), GameOptions("sprintgammon", cube=False)]
)
def test_records_agree_with_the_counts_and_can_be_read(options: GameOptions) -> None:
    record = _recorded(options, 6)
    texts = mat_texts(record.matches)
    assert len(texts) == (12 if options.match_length else 1)
    matches = [read_match_text(text, options.variant) for text in texts]
    games = [game for match in matches for game in match.games]
    assert len(games) == int(record.games[..., 0].sum())
    actions = [action for game in games for action in game.actions]
    assert sum(isinstance(action, Roll) for action in actions) == int(record.games[..., 1].sum())
    for place, kind in ((4, "double"), (5, "take")):
        found = [action for action in actions if isinstance(action, CubeAction) and action.kind == kind]
        assert [sum(action.player == player for action in found) for player in (0, 1)] == record.seats[..., place].sum(
            (0, 1)
        ).tolist()
    if not options.match_length:
        won = sum(game.points * (1 if game.winner == 0 else -1) for game in games)
        assert won == int(record.points.sum())


def test_recorded_games_survive_the_file_of_a_session(tmp_path: Path) -> None:
    options, session = GameOptions("sprintgammon", 3), SessionOptions(part_deals=2, recorded_deals=3)
    bots, path = _bots("sprintgammon"), tmp_path / "session.jsonl"
    whole = compare_bots(*bots, 12, options, 5, session=session)
    assert whole.matches == _recorded(options).matches
    for games in (4, 12, 12):
        with SessionFile(path, session_settings(*bots, options, 5, 1, session, None)) as keeper:
            kept = compare_bots(*bots, games, options, 5, session=session, keeper=keeper)
    assert kept.matches == whole.matches
    assert "matches" not in kept.to_dict()


def test_a_game_lost_without_an_answer_is_recorded_as_resigned() -> None:
    record = play_deals(bot("exit 3"), RandomBot(), 1, CUBELESS, seed=1, recorded_deals=1)
    for match in record.matches:
        last = match.games[0].actions[-1]
        assert isinstance(last, Resignation)
        assert last.player == 1 - (match.games[0].winner or 0)
    assert read_match_text(mat_texts(record.matches)[0]).games


def test_names_are_made_to_fit_and_to_differ() -> None:
    same = RandomBot("sprintgammon", "model:runs/a (b), c" + "x" * 40)
    record = play_deals(same, same, 1, GameOptions("sprintgammon"), recorded_deals=1)
    names = read_match_text(mat_texts(record.matches)[0], "sprintgammon").names
    assert names[0] != names[1]
    assert max(map(len, names)) <= 20
