"""Playing by the clock in the terminal: whose clock runs when, what a fallen flag costs, what the person is shown."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from nardy.env import Cube
from nardy.env.clock import ClockOptions, SimulatedTime
from nardy.env.decisions import NUM_ACTIONS
from nardy.env.formats import Format
from nardy.eval.bots import RandomBot
from nardy.eval.play import Terminal
from nardy.eval.play.session import BOT, PERSON, Event, Phase
from nardy.eval.play.timed import TimedReader, TimedSession

BLITZ = Format("sprintgammon", 3, clock=ClockOptions(bank=60, increment=10))


class _SlowBot(RandomBot):
    """Takes ``seconds`` for everything, and drops what it is offered."""

    def __init__(self, time: SimulatedTime, seconds: float) -> None:
        super().__init__("sprintgammon")
        object.__setattr__(self, "wait", lambda: time.advance(seconds))

    wait: Callable[[], None]

    def double(self, boards: Tensor, cube: Cube) -> Tensor:
        self.wait()
        return super().double(boards, cube)

    def take(self, boards: Tensor, cube: Cube) -> Tensor:
        self.wait()
        return torch.zeros(len(boards), dtype=torch.bool)

    def choose(
        self, boards: Tensor, dice: Tensor, cube: Cube | None, uniforms: Tensor, second_first: Tensor | None = None
    ) -> Tensor:
        self.wait()
        return super().choose(boards, dice, cube, uniforms, second_first)


def _session(phase: Phase, seconds: float = 3) -> tuple[TimedSession, SimulatedTime]:
    """A match in which the person's first decision is of that kind."""
    for seed in range(20):
        time = SimulatedTime()
        session = TimedSession(_SlowBot(time, seconds), BLITZ, seed, time)
        if session.phase is phase:
            return session, time
    raise AssertionError(f"no seed begins with {phase}")


def _think(session: TimedSession, time: SimulatedTime, seconds: float) -> None:
    session.think()
    time.advance(seconds)


def _act(session: TimedSession) -> None:
    """The person does something that counts."""
    if session.phase is Phase.CUBE:
        session.roll()
    else:
        session.play(session.legal_plays()[0])


def test_the_bots_clock_runs_while_it_is_asked() -> None:
    starts, _ = _session(Phase.MOVE)
    assert (starts.clock.left(PERSON), starts.clock.left(BOT)) == (60, 60)  # nothing asked yet
    answers, _ = _session(Phase.CUBE)
    assert (answers.clock.left(PERSON), answers.clock.left(BOT)) == (60, 60 - 3 + 10)


def test_the_persons_clock_runs_until_his_play_which_brings_the_increment() -> None:
    session, time = _session(Phase.MOVE)
    _think(session, time, 4)
    session.legal_plays()
    _think(session, time, 1)  # a line that was no play
    events = session.play(session.legal_plays()[0])
    assert events[0].kind == "played"
    assert session.clock.left(PERSON) == 60 - 5 + 10
    assert session.clock.running is None


def test_a_roll_ends_no_turn() -> None:
    session, time = _session(Phase.CUBE)
    _think(session, time, 4)
    session.roll()
    assert session.phase is Phase.MOVE
    assert session.clock.left(PERSON) == 56


def test_a_person_whose_flag_falls_loses_the_match_whatever_he_plays() -> None:
    session, time = _session(Phase.MOVE)
    _think(session, time, 60)
    board = session.games.boards.clone()
    assert session.play(session.legal_plays()[0]) == [Event("won_match", BOT)]
    assert session.phase is Phase.OVER
    assert session.games.score.tolist() == [[0, 3]]
    assert session.points == [0, 1]
    assert torch.equal(session.games.boards, board)


@pytest.mark.parametrize("phase", [Phase.CUBE, Phase.MOVE])
@pytest.mark.parametrize("loser", [PERSON, BOT])
def test_after_a_fallen_flag_nothing_may_be_done(phase: Phase, loser: int) -> None:
    # given
    session, time = _session(phase)
    if loser == PERSON:
        _think(session, time, 100)
        session.lose_on_time()
    else:
        session.clock.start(BOT)
        time.advance(100)
        while session.phase is not Phase.OVER:
            _act(session)
    assert session.points == [loser == BOT, loser == PERSON]
    # when and then
    assert not any(session.may(action) for action in range(NUM_ACTIONS))
    writer = io.StringIO()
    Terminal(session, io.StringIO("roll\ndouble\nresign\ntake\n"), writer).run()
    assert writer.getvalue().count("That cannot be done: the game is over.") == 4
    assert session.points == [loser == BOT, loser == PERSON]


def test_the_bots_flag_falls_too() -> None:
    session, time = _session(Phase.MOVE, seconds=25)
    _think(session, time, 1)
    session.play(session.legal_plays()[0])
    assert session.phase is Phase.CUBE  # 20 left, and the next turn costs it 50
    session.roll()
    events = session.play(session.legal_plays()[0])
    assert events[-1] == Event("won_match", PERSON)
    assert session.points == [1, 0]


def test_the_bots_flag_falls_over_a_double() -> None:
    session, _ = _session(Phase.CUBE, seconds=40)
    assert session.clock.left(BOT) == 30
    assert session.double() == [Event("doubled", PERSON, value=2), Event("won_match", PERSON)]
    assert session.games.score.tolist() == [[3, 0]]


def test_a_bot_may_lose_on_its_first_turn() -> None:
    time = SimulatedTime()
    sessions = [TimedSession(_SlowBot(time, 70), BLITZ, seed, time) for seed in range(6)]
    assert [Event("won_match", PERSON)] in [session.opening for session in sessions]


def test_a_new_match_has_new_clocks_and_the_next_game_has_not() -> None:
    session, time = _session(Phase.CUBE)
    _think(session, time, 20)
    session.double()  # dropped
    assert session.phase is Phase.OVER
    session.think()
    time.advance(1000)  # between games nobody's clock runs
    session.next_game()
    assert session.clock.left(PERSON) == 40
    _think(session, time, 100)
    _act(session)
    assert session.phase is Phase.OVER
    session.next_game()
    assert session.clock.left(PERSON) == 60
    assert session.games.score.tolist() == [[0, 0]]


def test_nothing_is_taken_back() -> None:
    session, time = _session(Phase.MOVE)
    _think(session, time, 1)
    session.play(session.legal_plays()[0])
    assert not session.undo()


class _Sleeper:
    """Lines of which each takes its time to come."""

    def __init__(self, time: SimulatedTime, *lines: tuple[str, float]) -> None:
        self.time, self.lines = time, list(lines)

    def readline(self) -> str:
        if not self.lines:
            return ""
        line, seconds = self.lines.pop(0)
        self.time.advance(seconds)
        return f"{line}\n"


def test_the_terminal_shows_both_clocks_and_says_when_the_flag_falls() -> None:
    session, time = _session(Phase.MOVE)
    page = io.StringIO()
    reader = TimedReader(_Sleeper(time, ("moves", 15.5), ("board", 44), ("roll", 1), ("quit", 0)), page, session)
    Terminal(session, reader, page, ascii_only=True).run()
    text = page.getvalue()
    assert "your play> [1:00 / 1:00] " in text
    assert "your play> [0:44 / 1:00] " in text
    assert "your play> [0:00 / 1:00] " in text
    assert "Your flag has fallen." in text
