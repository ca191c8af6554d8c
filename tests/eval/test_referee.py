"""The referee: who is asked what, whose clock runs, what becomes of illegal answers and of fallen flags."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from nardy.env.clock import ClockOptions, SimulatedTime
from nardy.env.formats import Format
from nardy.env.notation import CubeAction, Resignation
from nardy.eval.bots import PipCountBot, RandomBot
from nardy.eval.match_log import Turn
from nardy.eval.players import BotPlayer, PlayerFailedError, View
from nardy.eval.referee import REPEATS, Referee
from tests.eval.players import Scripted, legal_plays, obliging

CLOCK = ClockOptions(bank=100, increment=10, time="simulated")


def _by_the_clock(**values: object) -> Format:
    return Format("sprintgammon", 5, clock=CLOCK, **values)  # type: ignore[arg-type]  # of several types


def _once(answer: object, when: Callable[[View], bool] = lambda view: not view.choices) -> Callable[[View], object]:
    """Gives ``answer`` to the first question that ``when`` holds for, then plays on."""
    left = [answer]

    def decide(view: View) -> object:
        return left.pop() if left and when(view) else None

    return decide


def _starter(options: Format, seed: int = 0) -> int:
    return Referee((Scripted(), Scripted()), options, seed).match.on_roll


def _seated(starter: Scripted, other: Scripted, options: Format, now: SimulatedTime | None = None) -> Referee:
    """``starter`` in the seat that begins; seed 0."""
    players = (starter, other) if _starter(options) == 0 else (other, starter)
    return Referee(players, options, now=now or SimulatedTime())


def _slowly(time: SimulatedTime, seconds: float, decide: Callable[[View], object] = lambda view: None) -> Scripted:
    """A player who takes ``seconds`` for every decision."""

    def think(view: View) -> object:
        time.advance(seconds)
        return decide(view)

    return Scripted(think)


def _doubling(view: View) -> object:
    return "double" if "double" in view.choices else None


def _nowhere(view: View) -> Tensor:
    """A board with the right number of checkers that the dice do not lead to: the rearmost is borne off at once."""
    after = view.board.clone()
    rear = int(after[0].nonzero().max())
    after[0, rear] -= 1
    after[0, 0] += 1
    return after


def test_a_player_who_oversleeps_loses_the_match_with_the_missing_points_given_to_the_other() -> None:
    time = SimulatedTime()

    def doze(view: View) -> object:
        time.advance(200 if len(sleepy.asked) == 3 else 1)
        return None

    sleepy = Scripted(doze)
    referee = _seated(Scripted(), sleepy, Format("backgammon", 7, clock=CLOCK), time)
    loser = referee.players.index(sleepy)
    log = referee.play()
    assert (log.winner, log.score[1 - loser], log.score[loser]) == (1 - loser, 7, 0)
    assert [(game.end, game.winner, game.points) for game in log.games] == [("flag", 1 - loser, 7)]
    assert [(event.kind, event.player, event.game) for event in log.events] == [("flag", loser, 1)]
    assert len(sleepy.asked) == 3
    assert log.games[0].left is not None
    assert log.games[0].left[loser] == 0


def test_a_flag_at_4_2_in_a_match_to_7_gives_the_three_missing_points() -> None:
    time = SimulatedTime()
    players = Scripted(), _slowly(time, 200)
    referee = Referee(players, Format("backgammon", 7, clock=CLOCK), now=time)
    for offender in (1, 1, 1, 1, 0, 0):
        referee.match.award_game(offender, "did not appear")
    assert referee.match.log.score == (4, 2)
    log = referee.play()
    assert (log.score, log.winner, log.games[-1].points) == ((7, 2), 0, 3)


def test_a_win_that_comes_after_the_flag_is_lost() -> None:
    time = SimulatedTime()
    late = _slowly(time, 200)
    referee = _seated(late, Scripted(), _by_the_clock(), time)
    boards = torch.zeros((1, 2, 26), dtype=torch.int8)
    boards[0, 0, 1], boards[0, 0, 0], boards[0, 1, 20] = 2, 1, 3
    referee.match.games.place(torch.ones(1, dtype=torch.bool), boards=boards)
    referee.turn()  # any roll bears both checkers off
    assert referee.match.log.winner == 1 - referee.players.index(late)


def test_the_clock_of_whoever_decides_runs_and_a_turn_ends_with_the_increment() -> None:
    time = SimulatedTime()
    double, taker = _slowly(time, 3, _doubling), _slowly(time, 7)
    referee = _seated(taker, double, _by_the_clock(), time)  # the starter cannot double
    clock, first = referee.match.clock, referee.match.on_roll
    assert clock is not None
    referee.turn()
    assert (clock.left(first), clock.left(1 - first)) == (100 - 7 + 10, 100)
    referee.turn()
    assert [view.choices for view in taker.asked] == [(), ("take", "drop")]
    assert clock.left(first) == 103 - 7  # the answer to a double is no turn
    assert clock.left(1 - first) == 100 - 3 - 3 + 10  # double and play are one
    assert clock.running is None
    assert taker.asked[1].left == (103, 97)


def test_a_player_without_a_move_is_not_asked_and_has_his_increment() -> None:
    mover = Scripted()
    referee = _seated(mover, Scripted(), _by_the_clock(cube=False))
    player, games = referee.match.on_roll, referee.match.games
    boards = torch.zeros((1, 2, 26), dtype=torch.int8)
    boards[0, 0, 25], boards[0, 0, 24], boards[0, 1, 6], boards[0, 1, 0] = 1, 2, 2, 1
    games.place(torch.ones(1, dtype=torch.bool), boards=boards, dice=torch.tensor([[6, 6]], dtype=torch.int8))
    referee.turn()
    assert not mover.asked
    assert referee.match.on_roll == 1 - player
    assert referee.match.clock is not None
    assert referee.match.clock.left(player) == 110


def test_rejected_the_player_is_told_why_has_his_time_back_and_is_asked_again() -> None:
    time = SimulatedTime()
    slips = ["8/1", "castle", _nowhere]

    def decide(view: View) -> object:
        time.advance(20)
        slip = slips.pop(0) if slips else None
        return slip(view) if callable(slip) else slip

    clumsy = Scripted(decide)
    referee = _seated(clumsy, Scripted(), _by_the_clock(), time)
    player = referee.match.on_roll
    referee.turn()
    assert referee.match.clock is not None
    assert referee.match.clock.left(player) == 100 - 20 + 10  # for the legal answer alone
    assert [view.left and view.left[0] for view in clumsy.asked] == [100, 100, 100, 100]
    refusals = [view.refusal for view in clumsy.asked]
    assert refusals[0] == ""
    for refusal, part in zip(
        refusals[1:], ("'8/1' is not legal", "cannot read 'castle'", "does not lead to"), strict=True
    ):
        assert part in refusal
    assert referee.match.log.count("illegal", player) == 3
    assert referee.match.on_roll == 1 - player
    assert not referee.match.log.games


@pytest.mark.parametrize("policy", ["reject", "correct", "accept"])
def test_after_three_repeats_the_game_is_lost(policy: str) -> None:
    stubborn = Scripted(lambda view: None if view.choices else "8/1 8/1 8/1 8/1 8/1")
    referee = _seated(stubborn, Scripted(), Format("sprintgammon", 5, illegal=policy))  # type: ignore[arg-type]
    player = referee.match.on_roll
    referee.turn()
    assert len(stubborn.asked) == 1 + REPEATS == 4
    log = referee.match.log
    assert [(game.end, game.winner, game.points) for game in log.games] == [("awarded", 1 - player, 1)]
    assert (log.count("illegal", player), log.count("game awarded", player)) == (4, 1)
    last = log.games[0].actions[-1]
    assert isinstance(last, Turn)
    assert last.after is None


def test_corrected_the_players_time_runs_on() -> None:
    time = SimulatedTime()
    slips = ["8/1", "8/1"]
    clumsy = _slowly(time, 20, lambda view: slips.pop() if slips else None)
    referee = _seated(clumsy, Scripted(), _by_the_clock(illegal="correct"), time)
    player = referee.match.on_roll
    referee.turn()
    assert referee.match.clock is not None
    assert referee.match.clock.left(player) == 100 - 3 * 20 + 10
    assert [view.left and view.left[0] for view in clumsy.asked] == [100, 80, 60]


def test_corrected_the_flag_can_fall_meanwhile() -> None:
    time = SimulatedTime()
    clumsy = _slowly(time, 40, lambda view: "8/1")
    referee = _seated(clumsy, Scripted(), _by_the_clock(illegal="correct"), time)
    player = referee.match.on_roll
    referee.turn()
    assert len(clumsy.asked) == 3
    assert (referee.match.log.winner, referee.match.log.games[0].end) == (1 - player, "flag")


def test_rejected_the_flag_that_falls_before_an_illegal_play_stays_down() -> None:
    time = SimulatedTime()
    referee = _seated(_slowly(time, 100, lambda view: "8/1"), Scripted(), _by_the_clock(), time)
    referee.turn()
    assert referee.match.log.games[0].end == "flag"


def test_accepted_an_illegal_play_stands() -> None:
    played: list[Tensor] = []

    def decide(view: View) -> object:
        if not played and not view.choices:
            played.append(_nowhere(view))
            return played[0]
        return None

    referee = _seated(Scripted(decide), Scripted(), _by_the_clock(illegal="accept"))
    player = referee.match.on_roll
    referee.turn()
    assert torch.equal(referee.match.games.boards[0, 1], played[0][0])
    assert referee.match.on_roll == 1 - player
    log = referee.play()
    turn = log.games[0].actions[0]
    assert isinstance(turn, Turn)
    assert not turn.legal
    assert turn.after == tuple(tuple(side) for side in played[0].tolist())
    assert (log.count("illegal", player), log.count("accepted", player)) == (1, 1)
    assert all(isinstance(action, CubeAction) or action.legal for action in log.games[0].actions[1:])  # type: ignore[union-attr]


def test_accepted_an_illegal_play_in_words_moves_the_checkers_and_hits() -> None:
    referee = _seated(Scripted(_once("24/3")), Scripted(), Format("sprintgammon", illegal="accept"))  # 3 is their 22
    referee.turn()
    mine, theirs = referee.match.games.boards[0].flip(0).tolist()
    assert (mine[24], mine[3], theirs[22], theirs[25]) == (0, 1, 0, 1)


@pytest.mark.parametrize(
    "answer", ["24/2/1 24/20", "castle", torch.zeros((2, 26), dtype=torch.int8), torch.zeros(3), 7]
)
def test_accepted_are_only_positions_with_the_right_checkers(answer: object) -> None:
    clumsy = Scripted(_once(answer))
    referee = _seated(clumsy, Scripted(), Format("sprintgammon", illegal="accept"))
    player = referee.match.on_roll
    referee.turn()
    assert len(clumsy.asked) == 2
    assert referee.match.log.count("illegal", player) == 1
    assert referee.match.log.count("accepted", player) == 0


def test_accepted_is_no_point_of_both_colours() -> None:
    def decide(view: View) -> object:
        shared = view.board.clone()
        shared[0, 24], shared[0, 2] = 0, 1  # their 23
        return shared if not view.refusal else None

    clumsy = Scripted(decide)
    referee = _seated(clumsy, Scripted(), Format("sprintgammon", illegal="accept"))
    referee.turn()
    assert "wanted one owner a point" in clumsy.asked[1].refusal


def test_forfeited_the_game_is_lost_at_once_at_the_cube_as_it_stands() -> None:
    double = Scripted(lambda view: "double" if "double" in view.choices else None if view.choices else "8/1")
    referee = _seated(Scripted(), double, Format("sprintgammon", 5, illegal="forfeit"))
    offender = 1 - referee.match.on_roll
    referee.turn()
    referee.turn()
    game = referee.match.log.games[0]
    assert (game.end, game.winner, game.points, game.cube_value) == ("awarded", 1 - offender, 2, 2)
    assert referee.match.log.score[1 - offender] == 2
    assert not referee.match.over


@pytest.mark.parametrize("answer", ["redouble", "", 3])
def test_a_word_that_is_none_of_the_choices_is_illegal_too(answer: object) -> None:
    clumsy = Scripted(_once(answer, lambda view: "take" in view.choices))
    referee = _seated(clumsy, Scripted(_doubling), Format("sprintgammon"))
    player = referee.match.on_roll
    referee.turn()
    referee.turn()
    assert referee.match.log.count("illegal", player) == 1
    assert "wanted one of take, drop" in clumsy.asked[-1].refusal
    assert referee.match.games.cube_value.tolist() == [2]


def test_a_player_that_fails_loses_the_game_and_may_come_back_in_the_next() -> None:
    def decide(view: View) -> object:
        if len(failing.asked) == 2:
            raise PlayerFailedError("the line was closed")
        return None

    failing = Scripted(decide)
    referee = _seated(Scripted(), failing, Format("sprintgammon", 3))
    player = referee.players.index(failing)
    log = referee.play()
    assert (log.games[0].end, log.games[0].winner, log.games[0].points) == ("awarded", 1 - player, 1)
    failed = log.events[0]
    assert (failed.kind, failed.player, failed.reason) == ("failed", player, "the line was closed")
    assert len(failing.asked) > 2


def test_plays_may_be_said_in_words() -> None:
    def decide(view: View) -> object:
        if view.choices or len(talker.asked) > 1:
            return None
        high, low = max(view.dice), min(view.dice)
        return f"24/{24 - high} 22/{22 - low}"

    talker = Scripted(decide)
    referee = _seated(talker, Scripted(), Format("sprintgammon"))
    referee.turn()
    high, low = max(talker.asked[0].dice), min(talker.asked[0].dice)
    assert sorted(referee.match.games.boards[0, 1].nonzero()[:, 0].tolist()) == sorted([24 - high, 22 - low, 23])
    assert not referee.match.log.events


def test_beavers_and_raccoons_go_to_and_fro() -> None:
    options = Format("sprintgammon", beavers=True, raccoons=True)
    words = {"roll": "double", "take": "beaver"}

    def turn_the_cube(view: View) -> object:
        if "raccoon" in view.choices:
            return "raccoon"
        if view.offered == 8:
            return "take"
        return words.get(view.choices[0]) if view.choices and "double" not in view.choices[2:] else None

    starter, double = Scripted(turn_the_cube), Scripted(turn_the_cube)
    referee = _seated(starter, double, options)
    first = referee.match.on_roll
    referee.turn()
    referee.turn()
    assert [view.choices for view in starter.asked[1:]] == [("take", "drop", "beaver"), ("take", "drop")]
    assert [view.offered for view in starter.asked[1:]] == [2, 8]
    assert [(view.choices, view.offered) for view in double.asked[1:2]] == [(("take", "drop", "raccoon"), 4)]
    games = referee.match.games
    assert (int(games.cube_value[0]), int(games.player[0]), int(games.cube_owner[0])) == (8, first, 1)


def test_a_dropped_beaver_pays_what_was_offered_before() -> None:
    beaver = Scripted(lambda view: "beaver" if "beaver" in view.choices else None)
    double = Scripted(lambda view: "drop" if "drop" in view.choices else _doubling(view))
    referee = _seated(beaver, double, Format("sprintgammon", beavers=True))
    game = referee.play().games[0]
    assert (game.end, game.winner, game.points) == ("drop", referee.players.index(beaver), 2)
    assert [action.kind for action in game.actions if isinstance(action, CubeAction)] == ["double", "beaver", "drop"]


def test_who_owes_an_answer_to_a_beaver_loses_as_much_as_by_a_drop() -> None:
    beaver = Scripted(lambda view: "beaver" if "beaver" in view.choices else None)
    double = Scripted(lambda view: "well" if "take" in view.choices else _doubling(view))
    referee = _seated(beaver, double, Format("sprintgammon", beavers=True))
    game = referee.play().games[0]
    assert (game.end, game.winner, game.points) == ("awarded", referee.players.index(beaver), 2)


def test_a_resignation_is_offered_before_the_roll_refused_or_accepted() -> None:
    options = Format("backgammon", resignation=True)
    answers = {1: "refuse", 2: "accept"}
    offers = iter(["resign single", "resign gammon"])
    loser = Scripted(lambda view: next(offers) if view.choices[:1] == ("roll",) else None)
    winner = Scripted(lambda view: answers.get(view.resigned))
    referee = _seated(winner, loser, options)
    log = referee.play()
    number = referee.players.index(loser)
    game = log.games[0]
    assert (game.end, game.winner, game.points) == ("resignation", 1 - number, 2)
    assert game.actions[1:] == (Resignation(number, 1, False), Resignation(number, 2, True))
    assert loser.asked[1].choices == ("roll", "double", "resign gammon", "resign backgammon")


def test_a_bot_accepts_only_the_highest_level_it_could_win() -> None:
    bot = BotPlayer(RandomBot())
    board = torch.zeros((2, 26), dtype=torch.int8)
    view = View(board, None, "backgammon", ("accept", "refuse"), resigned=1)
    assert bot.decide(view) == "refuse"
    assert bot.decide(View(board, None, "longgammon", ("accept", "refuse"), resigned=2)) == "accept"
    board[1, 0] = 1
    assert bot.decide(view) == "accept"


def test_bots_are_not_seated_where_they_would_have_to_beaver() -> None:
    with pytest.raises(ValueError, match="beavers: found them on, wanted them off: random has no answer"):
        Referee((BotPlayer(RandomBot()), Scripted()), Format(beavers=True))


def test_bots_play_a_match_to_its_end() -> None:
    bots = PipCountBot("sprintgammon"), RandomBot("sprintgammon")
    log = Referee((BotPlayer(bots[0]), BotPlayer(bots[1])), Format("sprintgammon", 5), seed=2).play()
    assert log.winner is not None
    assert log.score[log.winner] == 5 > log.score[1 - log.winner]
    assert [game.number for game in log.games] == list(range(1, len(log.games) + 1))
    assert not log.events


def test_a_match_without_a_cube_is_played_with_one_that_cannot_be_turned() -> None:
    player = Scripted()
    Referee((player, Scripted()), Format("sprintgammon", 3, cube=False)).play()
    assert all(not view.choices for view in player.asked)
    assert player.asked[0].cube is not None
    assert not player.asked[0].cube.may_double().any()


def test_money_games_without_a_cube_show_none_and_there_are_as_many_as_wanted() -> None:
    player = Scripted()
    log = Referee((player, Scripted()), Format("sprintgammon", cube=False), num_games=3).play()
    assert len(log.games) == 3
    assert all(view.cube is None for view in player.asked)
    points = [0, 0]
    for game in log.games:
        assert game.score == tuple(points)
        points[game.winner] += game.points
    assert log.score == tuple(points)


def test_both_sides_see_the_position_from_their_own_side() -> None:
    double = Scripted(_doubling)
    taker = Scripted()
    referee = _seated(taker, double, Format("sprintgammon", 7))
    referee.turn()
    referee.match.games.score[0, referee.match.on_roll] = 2
    referee.turn()
    offered, answered = double.asked[0], taker.asked[-1]
    assert torch.equal(answered.board, offered.board.flip(0))
    assert offered.cube is not None
    assert answered.cube is not None
    assert isinstance(answered.cube.away, Tensor)
    assert answered.cube.away.tolist() == [[7, 5]]
    assert isinstance(offered.cube.away, Tensor)
    assert offered.cube.away.tolist() == [[5, 7]]


def test_longgammon_allows_two_from_the_head_on_the_second_players_first_roll() -> None:
    second = Scripted()
    referee = _seated(Scripted(), second, Format("longgammon", cube=False))
    referee.turn()
    referee.match.games.place(torch.ones(1, dtype=torch.bool), dice=torch.tensor([[6, 6]], dtype=torch.int8))
    referee.turn()
    assert second.asked[0].second_first
    assert referee.match.games.boards[0, 1, 18] == 2
    assert len(legal_plays(second.asked[0])) == 1


def test_obliging_players_finish_a_game() -> None:
    assert obliging(View(torch.zeros((2, 26)), None, "backgammon", ("take", "drop"))) == "take"
    log = Referee((Scripted(), Scripted()), Format("sprintgammon", cube=False)).play()
    assert log.games[0].end in ("single", "gammon", "backgammon")
