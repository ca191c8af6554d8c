"""A session: whose decision it is, what the bot does, and taking back."""

from __future__ import annotations

from random import Random

import pytest
import torch
from torch import Tensor

from nardy.env import Cube, GameOptions
from nardy.env.notation import Play
from nardy.eval.bots import ModelBot, PipCountBot, RandomBot
from nardy.eval.play.session import BOT, PERSON, Event, Phase, Session
from tests.eval.fakes import FakeEvaluator

SPRINT = GameOptions("sprintgammon")
CUBELESS = GameOptions("sprintgammon", cube=False)


class _Doubler(RandomBot):
    """Doubles whenever it may, and drops every double."""

    def double(self, boards: Tensor, cube: Cube) -> Tensor:
        return cube.as_tensors(len(boards)).may_double()

    def take(self, boards: Tensor, cube: Cube) -> Tensor:
        return torch.zeros(len(boards), dtype=torch.bool)


def _random(seed: int) -> Random:
    return Random(seed)  # noqa: S311  # not for secrets


def _first_play(session: Session) -> list[Event]:
    return session.play(session.legal_plays()[0])


def _until(session: Session, phase: Phase) -> None:
    """Play to the person's next decision of that kind."""
    while session.phase is not phase:
        if session.phase is Phase.ROLL:
            session.roll()
        elif session.phase is Phase.ANSWER:
            session.answer(True)
        else:
            _first_play(session)


def _finish(session: Session, random: Random, take: bool = True) -> list[Event]:
    """Play at random to the end of a game, never doubling."""
    events: list[Event] = []
    while session.phase is not Phase.OVER:
        if session.phase is Phase.ROLL:
            events += session.roll()
        elif session.phase is Phase.ANSWER:
            events += session.answer(take)
        else:
            events += session.play(random.choice(session.legal_plays()))
    return events


def test_without_a_cube_the_person_only_plays() -> None:
    session = Session(RandomBot("sprintgammon"), CUBELESS, seed=1)
    phases = set()
    while session.phase is not Phase.OVER:
        phases.add(session.phase)
        assert session.player == PERSON
        assert session.cube is None
        _first_play(session)
    assert phases == {Phase.PLAY}


def test_the_starter_cannot_double_and_the_other_can() -> None:
    starts = {Session(RandomBot("sprintgammon"), SPRINT, seed).phase for seed in range(12)}
    assert starts == {Phase.PLAY, Phase.ROLL}  # the person starts, or answers the bot's first turn


@pytest.mark.parametrize("seed", range(6))
def test_games_end_with_the_points_of_their_level(seed: int) -> None:
    session = Session(PipCountBot("sprintgammon"), SPRINT, seed)
    events = _finish(session, _random(seed))
    won = events[-1]
    assert won.kind == "won"
    assert won.value == max(won.level, 1) * int(session.games.cube_value[0])
    assert session.points[won.player] == won.value
    assert session.points[1 - won.player] == 0
    session.next_game()
    _finish(session, _random(seed))
    assert sum(session.points) > won.value


def test_a_dropped_double_ends_the_game_for_one_point() -> None:
    session = Session(_Doubler("sprintgammon"), SPRINT, seed=2)
    _until(session, Phase.ROLL)
    events = session.double()
    assert [event.kind for event in events] == ["doubled", "dropped", "won"]
    assert (events[-1].player, events[-1].level) == (PERSON, 0)
    assert session.phase is Phase.OVER


def test_a_taken_double_is_rolled_and_owned_by_the_bot() -> None:
    session = Session(RandomBot("sprintgammon"), SPRINT, seed=2)
    _until(session, Phase.ROLL)
    events = session.double()
    assert [event.kind for event in events][:2] == ["doubled", "took"]
    assert int(session.games.cube_value[0]) == 2
    assert not session.may_double


def test_the_bots_double_waits_for_an_answer() -> None:
    session = Session(_Doubler("sprintgammon"), SPRINT, seed=1)
    _until(session, Phase.ANSWER)
    assert session.player == BOT
    value = int(session.games.cube_value[0])
    dropped = session.answer(False)
    assert [event.kind for event in dropped] == ["dropped", "won"]
    assert session.points == [0, value]
    assert session.undo()
    assert session.phase is Phase.ANSWER
    assert session.points == [0, 0]
    assert session.answer(True)[0].kind == "took"
    assert int(session.games.cube_value[0]) == 2 * value


def test_undo_goes_back_to_the_first_decision_and_the_same_rolls_come_again() -> None:
    def play_through() -> tuple[list[Event], int]:
        random, events, count = _random(3), [], 0
        while session.phase is not Phase.OVER:
            count += 1
            if session.phase is Phase.ROLL:
                events += session.roll()
            elif session.phase is Phase.ANSWER:
                events += session.answer(True)
            else:
                events += session.play(random.choice(session.legal_plays()))
        return events, count

    session = Session(PipCountBot("sprintgammon"), SPRINT, seed=4)
    before = {name: tensor.clone() for name, tensor in session.games.state().items()}
    phase = session.phase
    events, count = play_through()
    assert sum(session.points) > 0
    for _ in range(count):
        assert session.undo()
    assert not session.undo()
    assert session.phase is phase
    assert session.points == [0, 0]
    assert all(torch.equal(tensor, before[name]) for name, tensor in session.games.state().items())
    assert play_through() == (events, count)


def test_the_board_is_always_seen_by_the_person() -> None:
    session = Session(_Doubler("sprintgammon"), SPRINT, seed=1)
    _until(session, Phase.ANSWER)
    assert torch.equal(session.board, session.games.boards[0].flip(0))


def test_a_match_is_won_and_the_next_begins() -> None:
    options = GameOptions("sprintgammon", match_length=3)
    session = Session(PipCountBot("sprintgammon"), options, seed=1)
    random = _random(1)
    while _finish(session, random)[-1].kind != "won_match":
        session.next_game()
    assert sum(session.points) == 1
    assert session.games.score[0].max() == 3
    session.next_game()
    assert session.games.score[0].tolist() == [0, 0]


def test_a_match_without_a_cube_is_never_doubled() -> None:
    options = GameOptions("sprintgammon", match_length=3, cube=False)
    session = Session(_Doubler("sprintgammon"), options, seed=1)
    _finish(session, _random(1))
    assert int(session.games.cube_value[0]) == 1
    assert session.options.max_cube == 1


def test_a_model_plays_too() -> None:
    session = Session(ModelBot(FakeEvaluator("sprintgammon"), "model:fake"), SPRINT, seed=5)
    assert _finish(session, _random(5))[-1].kind == "won"


def test_rules_that_the_bot_has_not_learned_are_refused_at_once() -> None:
    class Unlearned(RandomBot):
        def double(self, boards: Tensor, cube: Cube) -> Tensor:
            raise ValueError("cube: away: not learned")

    with pytest.raises(ValueError, match="not learned"):
        Session(Unlearned("sprintgammon"), GameOptions("sprintgammon", match_length=3), seed=1)


def test_plays_offered_are_the_legal_ones() -> None:
    session = Session(RandomBot(), GameOptions(cube=False), seed=7)
    legal = session.legal_plays()
    assert all(isinstance(play, Play) for play in legal)
    assert len({play.text for play in legal}) == len(legal) > 1
