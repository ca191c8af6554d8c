"""A match as a referee keeps it: every penalty, the score, the owners of a pair's moves, and the log as match text."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict

import pytest
import torch

from nardy.env.clock import ClockOptions, SimulatedTime
from nardy.env.formats import Format
from nardy.env.notation import NotationError, match_text, read_match_text
from nardy.eval.bots import PipCountBot, RandomBot
from nardy.eval.match import Match
from nardy.eval.match_log import EVENTS, match_record
from nardy.eval.players import BotPlayer
from nardy.eval.referee import Referee
from tests.eval.players import Scripted

NAMES = ("first", "second")
CLOCK = ClockOptions(bank=100, increment=10)
BLITZ = Format("sprintgammon", 5, clock=CLOCK)


def _match(options: Format = BLITZ, now: SimulatedTime | None = None, num_games: int = 1) -> Match:
    return Match(NAMES, options, num_games=num_games, now=now or SimulatedTime())


def _turn_the_cube(match: Match) -> None:
    """The player on roll doubles, and the other one takes."""
    match.games.dice.zero_()
    yes = torch.ones(1, dtype=torch.bool)
    match.ended(match.games.double(yes, yes))


def test_a_warning_is_written_down_and_changes_nothing() -> None:
    match = _match()
    match.warn(1, "two dice on the floor")
    event = match.log.events[0]
    assert (event.kind, event.player, event.game, event.reason) == ("warning", 1, 1, "two dice on the floor")
    assert match.log.score == (0, 0)
    assert match.clock is not None
    assert match.clock.left(1) == 100


def test_up_to_half_of_the_offenders_time_is_taken() -> None:
    match = _match()
    assert match.clock is not None
    match.take_time(0, 50, "slow play")
    assert (match.clock.left(0), match.clock.left(1)) == (50, 100)
    with pytest.raises(ValueError, match="time taken: found 26 seconds, wanted up to half of what is left, 25"):
        match.take_time(0, 26, "slow play")
    with pytest.raises(ValueError, match="time taken: found 0 seconds"):
        match.take_time(0, 0, "slow play")
    assert match.clock.left(0) == 50
    assert [(event.kind, event.amount) for event in match.log.events] == [("time taken", 50)]


def test_or_given_to_the_opponent() -> None:
    match = _match()
    assert match.clock is not None
    match.give_time(0, 30, "noise")
    assert (match.clock.left(0), match.clock.left(1)) == (100, 130)
    with pytest.raises(ValueError, match="time given: found 51 seconds, wanted up to half of what is left, 50"):
        match.give_time(0, 51, "noise")
    assert [(event.kind, event.player, event.amount) for event in match.log.events] == [("time given", 0, 30)]


def test_a_point_of_the_match_score_is_deducted_never_below_none() -> None:
    match = _match()
    match.award_game(0, "late")
    match.award_game(0, "late")
    match.deduct_point(1, "advice from a spectator")
    match.deduct_point(0, "the same")
    assert match.log.score == (0, 1)
    assert match.games.score.tolist() == [[0, 1]]
    assert [event.amount for event in match.log.events if event.kind == "point deducted"] == [1, 0]
    match.award_game(1, "late")
    assert match.log.score == (1, 1)


@pytest.mark.parametrize("match_length", [0, 7])
def test_a_game_is_awarded_as_a_single_one_at_the_cube_as_it_stands(match_length: int) -> None:
    match = _match(Format("sprintgammon", match_length), num_games=2)
    match.award_game(1, "left the table")
    assert match.log.score == (1, 0)
    _turn_the_cube(match)
    match.award_game(0, "left the table")
    assert match.log.score == (1, 2)
    assert [(game.end, game.winner, game.points) for game in match.log.games] == [("awarded", 0, 1), ("awarded", 1, 2)]
    assert [game.turned for game in match.log.games] == [False, True]
    assert match.over == (match_length == 0)


def test_awarded_games_can_win_a_match_and_the_score_is_capped() -> None:
    match = _match(Format("sprintgammon", 2, crawford=False))
    match.award_game(0, "late")
    _turn_the_cube(match)
    match.award_game(0, "late")
    assert (match.over, match.log.winner, match.log.score) == (True, 1, (0, 2))
    assert match.log.games[-1].points == 2


def test_disqualified_the_match_is_lost() -> None:
    match = _match()
    match.award_game(0, "late")
    match.disqualify(0, "a phone at the board")
    assert (match.over, match.log.winner, match.log.score) == (True, 1, (0, 5))
    assert (match.log.games[-1].end, match.log.games[-1].points) == ("disqualified", 4)


@pytest.mark.parametrize(
    ("options", "penalty", "wanted"),
    [
        (Format(match_length=5), lambda match: match.take_time(0, 1, ""), "time taken: found no clock"),
        (Format(match_length=5), lambda match: match.give_time(0, 1, ""), "time given: found no clock"),
        (Format(), lambda match: match.deduct_point(0, ""), "point deducted: found money games, wanted a match"),
        (Format(), lambda match: match.disqualify(0, ""), "disqualified: found money games, wanted a match"),
        (BLITZ, lambda match: match.warn(2, ""), "warning: found player 2, wanted 0 or 1"),
        (BLITZ, lambda match: match.award_game(-1, ""), "game awarded: found player -1, wanted 0 or 1"),
    ],
)
def test_penalties_that_make_no_sense_are_refused(
    options: Format, penalty: Callable[[Match], None], wanted: str
) -> None:
    match = _match(options)
    with pytest.raises(ValueError, match=wanted):
        penalty(match)
    assert not match.log.events
    assert not match.log.games


def test_a_finished_match_knows_no_more_penalties() -> None:
    match = _match()
    match.disqualify(0, "a phone at the board")
    for penalty in (match.warn, match.deduct_point, match.award_game, match.disqualify):
        with pytest.raises(ValueError, match="found the match over"):
            penalty(1, "the same")
    assert match.log.score == (0, 5)


def test_the_crawford_game_follows_an_awarded_point_too_and_comes_once() -> None:
    match = _match(Format("sprintgammon", 3))
    found = []
    for offender in (1, 1, 0, 0):
        found.append(bool(match.games.crawford[0]))
        match.award_game(offender, "late")
    assert found == [False, False, True, False]
    assert [game.crawford for game in match.log.games] == found
    assert match.log.score == (2, 2)


def test_a_deducted_point_brings_no_second_crawford_game() -> None:
    match = _match(Format("sprintgammon", 3))
    for offender in (1, 1, 0):
        match.award_game(offender, "late")
    match.deduct_point(0, "advice")  # from 2-1 to 1-1
    match.award_game(1, "late")
    assert match.log.score == (2, 1)
    assert not match.games.crawford[0]


def test_breaks_are_counted_for_each_player() -> None:
    match = _match(Format("backgammon", 7))
    match.take_break(0)
    match.take_break(1)
    with pytest.raises(ValueError, match="break: found 1 taken, wanted at most 1 in this match"):
        match.take_break(0)
    assert [(event.kind, event.player, event.amount) for event in match.log.events] == [
        ("break", 0, 300),
        ("break", 1, 300),
    ]


def test_the_break_of_sprintgammon_is_common_and_comes_late() -> None:
    time = SimulatedTime()
    match = _match(Format("sprintgammon", 7), time)
    time.advance(44 * 60)
    with pytest.raises(ValueError, match="break: found minute 44 of the match, wanted 45 or later"):
        match.take_break(0)
    time.advance(60)
    match.take_break(1)
    with pytest.raises(ValueError, match="break: found 1 taken"):
        match.take_break(0)


def test_blitz_has_no_break() -> None:
    with pytest.raises(ValueError, match="wanted at most 0"):
        _match(Format("backgammon", 15, breaks=False)).take_break(0)


def test_a_pairs_owner_changes_only_between_games() -> None:
    players = Scripted(lambda view: None, "left", "anna", "boris"), Scripted(lambda view: None, "right", "vera", "gleb")
    referee = Referee(players, Format("sprintgammon", 5, cube=False, pairs=True), seed=1)
    seen: list[tuple[int, tuple[str, str]]] = []
    while not referee.match.over:
        seen.append((len(referee.match.log.games), referee.match.owners))
        referee.turn()
    wanted = [("anna", "vera"), ("boris", "gleb")]
    assert len(referee.match.log.games) > 2
    assert len(seen) > 3 * len(referee.match.log.games)  # asked for in every turn
    assert all(owners == wanted[game % 2] for game, owners in seen)
    assert [game.owners for game in referee.match.log.games] == [
        wanted[number % 2] for number in range(len(referee.match.log.games))
    ]


def test_without_pairs_a_player_owns_his_moves() -> None:
    players = Scripted(lambda view: None, "left", "anna", "boris"), Scripted(lambda view: None, "right")
    log = Referee(players, Format("sprintgammon", 3, cube=False)).play()
    assert {game.owners for game in log.games} == {("left", "right")}


def test_automatic_doubles_are_written_down() -> None:
    options = Format("sprintgammon", automatic_doubles=1)
    matches = [Match(NAMES, options, seed=seed) for seed in range(40)]
    for match in matches:
        match.award_game(0, "late")
    found = [match.log.games[0] for match in matches]
    assert {game.automatic_doubles for game in found} == {0, 1}
    assert all(game.points == 2**game.automatic_doubles for game in found)
    assert not any(game.turned for game in found)


def test_there_is_no_session_of_no_games() -> None:
    with pytest.raises(ValueError, match="games: found 0, wanted at least 1"):
        _match(Format(), num_games=0)


def _played(options: Format, seed: int = 0, num_games: int = 1) -> Referee:
    """A match between two bots that double and drop."""
    bots = PipCountBot(options.variant, take_to=0.1), RandomBot(options.variant)
    return Referee((BotPlayer(bots[0]), BotPlayer(bots[1])), options, seed, num_games=num_games)


@pytest.mark.parametrize("options", [Format("sprintgammon", 7), Format("backgammon", 3), Format("sprintgammon")])
def test_a_match_is_written_and_read_as_match_text(options: Format) -> None:
    log = _played(options, num_games=3).play()
    record = match_record(log)
    read = read_match_text(match_text(record), options.variant)
    assert read.names == ("pipcount", "random")
    assert [(game.score, game.winner, game.points) for game in read.games] == [
        (game.score, game.winner, game.points) for game in log.games
    ]
    assert [len(game.actions) for game in read.games] == [len(game.actions) for game in log.games]


def test_awarded_games_and_fallen_flags_are_written_too() -> None:
    referee = _played(BLITZ, seed=3)
    for _ in range(5):
        referee.turn()
    referee.match.award_game(referee.match.on_roll, "left the table")
    for _ in range(4):
        referee.turn()
    referee.match.flag(0)
    record = match_record(referee.match.log)
    read = read_match_text(match_text(record), "sprintgammon")
    assert [(game.winner, game.points) for game in read.games] == [(record.games[0].winner, 1), (None, 0)]
    assert record.games[0].winner is not None


def test_an_illegal_play_that_stood_cannot_be_recorded() -> None:
    def leap(view: object) -> object:
        return "24/3" if len(player.asked) == 1 else None

    player = Scripted(leap)
    log = Referee((player, Scripted()), Format("sprintgammon", illegal="accept", cube=False)).play()
    assert log.count("accepted", 0) == 1
    with pytest.raises(NotationError, match=r"game 1: turn [12]: play: the position after is not reached"):
        match_record(log)


def test_match_text_refuses_deducted_points() -> None:
    referee = _played(Format("sprintgammon", 25))
    while not referee.match.log.games:
        referee.turn()
    referee.match.deduct_point(0, "advice")
    referee.match.deduct_point(1, "advice")
    log = referee.play()
    assert len(log.games) > 2
    with pytest.raises(NotationError, match="game 3: score: found"):
        match_text(match_record(log))


def test_a_log_is_plain_values() -> None:
    referee = _played(BLITZ)
    for _ in range(4):
        referee.turn()
    referee.match.disqualify(0, "a phone at the board")
    plain = json.loads(json.dumps(asdict(referee.match.log), allow_nan=False))
    assert plain["winner"] == 1
    assert plain["format"]["clock"]["bank"] == 100
    assert len(plain["games"][0]["actions"]) >= 4
    assert {event["kind"] for event in plain["events"]} <= set(EVENTS)
