"""A session: whose decision it is, what the bot does, and taking back."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
import torch
from torch import Tensor

from nardy.env import Cube, GameOptions
from nardy.env.decisions import DOUBLE, RESIGN_SINGLE
from nardy.env.notation import NotationError, Offer, Play, read_saved_game, read_xgid, saved_game_text
from nardy.eval.bots import ModelBot, PipCountBot, RandomBot
from nardy.eval.play.opponent import accepts_resignation
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
        if session.phase is Phase.CUBE:
            session.roll()
        elif session.phase is Phase.ANSWER:
            session.answer(True)
        else:
            _first_play(session)


def _finish(session: Session, random: Random, take: bool = True) -> list[Event]:
    """Play at random to the end of a game, never doubling."""
    events: list[Event] = []
    while session.phase is not Phase.OVER:
        if session.phase is Phase.CUBE:
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
    assert phases == {Phase.MOVE}


def test_the_starter_cannot_double_and_the_other_can() -> None:
    starts = {Session(RandomBot("sprintgammon"), SPRINT, seed).phase for seed in range(12)}
    assert starts == {Phase.MOVE, Phase.CUBE}  # the person starts, or answers the bot's first turn


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
    _until(session, Phase.CUBE)
    events = session.double()
    assert [event.kind for event in events] == ["doubled", "dropped", "won"]
    assert (events[-1].player, events[-1].level) == (PERSON, 0)
    assert session.phase is Phase.OVER


def test_a_taken_double_is_rolled_and_owned_by_the_bot() -> None:
    session = Session(RandomBot("sprintgammon"), SPRINT, seed=2)
    _until(session, Phase.CUBE)
    events = session.double()
    assert [event.kind for event in events][:2] == ["doubled", "took"]
    assert int(session.games.cube_value[0]) == 2
    assert not session.may(DOUBLE)


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
            if session.phase is Phase.CUBE:
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


def _decide_at_random(session: Session, random: Random) -> None:
    """One decision of the person, of every kind that is allowed."""
    if session.phase is Phase.OVER:
        session.next_game()
    elif session.phase is Phase.MOVE:
        session.play(random.choice(session.legal_plays()))
    else:
        session.act(random.choice(session.decisions.mask()[0].nonzero()[:, 0].tolist()))


_EVERYTHING = {
    "money": GameOptions("sprintgammon", beavers=True, automatic_doubles=2, resignation=True),
    "match": GameOptions("sprintgammon", match_length=5, resignation=True),
    "longgammon": GameOptions("longgammon", match_length=3),
    "backgammon": GameOptions(jacoby=True, resignation=True),
}


@pytest.mark.parametrize("name", _EVERYTHING)
@pytest.mark.parametrize("seed", range(3))
def test_a_saved_session_is_taken_up_where_it_was_at_any_moment(name: str, seed: int) -> None:
    options, random = _EVERYTHING[name], _random(seed)
    bot = ModelBot(FakeEvaluator(options.variant), "model:fake")
    session = Session(bot, options, seed)
    for _ in range(40):
        _decide_at_random(session, random)
        finished = bool(options.match_length) and max(session.score) >= options.match_length
        if finished:
            continue
        record = session.record()
        again = Session.resume(bot, read_saved_game(saved_game_text(record)), seed=99)
        assert again.points == ([0, 0] if options.match_length else session.points)
        if session.phase is Phase.OVER:
            assert again.record().games[: len(record.games)] == record.games
            continue
        assert again.state == session.state
        assert again.phase is session.phase
        assert again.record().games == record.games
        assert torch.equal(again.decisions.mask(), session.decisions.mask())
        assert (again.games.crawford_done == session.games.crawford_done).all()


def test_a_finished_match_and_one_without_rules_are_not_taken_up() -> None:
    session = Session(PipCountBot("sprintgammon"), GameOptions("sprintgammon", match_length=1), seed=1)
    _finish(session, _random(1))
    with pytest.raises(NotationError, match="found it over at"):
        Session.resume(session.bot, session.record(), seed=1)
    with pytest.raises(NotationError, match="found no rules"):
        Session.resume(session.bot, replace(session.record(), rules=None), seed=1)


def test_undo_takes_the_record_back_too() -> None:
    random = _random(5)
    session = Session(PipCountBot("sprintgammon"), _EVERYTHING["match"], seed=5)
    records = []
    for _ in range(30):
        records.append(session.record())
        _decide_at_random(session, random)
    while records:
        assert session.undo()
        assert session.record() == records.pop()


class _Beaverer(_Doubler):
    """Doubles whenever it may, beavers every double, and plays on when beavered."""

    def take(self, boards: Tensor, cube: Cube) -> Tensor:
        return torch.ones(len(boards), dtype=torch.bool)

    def beaver(self, boards: Tensor, cube: Cube) -> Tensor:
        return self.take(boards, cube)

    def take_beaver(self, boards: Tensor, cube: Cube) -> Tensor:
        return self.take(boards, cube)


def test_the_bot_beavers_and_waits_for_the_persons_answer() -> None:
    options = GameOptions("sprintgammon", beavers=True)
    session = next(
        session
        for seed in range(50)
        if (session := Session(_Beaverer("sprintgammon"), options, seed)).phase is Phase.CUBE
    )
    assert [(event.kind, event.value) for event in session.double()] == [("doubled", 2), ("beavered", 4)]
    assert session.phase is Phase.BEAVERED
    assert session.state.offer is Offer.BEAVER
    dropped = session.answer(False)
    assert [(event.kind, event.value) for event in dropped] == [("dropped", 4), ("won", 2)]
    assert session.undo()
    assert session.answer(True)[0].kind == "took"
    assert int(session.games.cube_value[0]) == 4


def test_the_person_beavers_and_the_bot_plays_on() -> None:
    session = Session(_Beaverer("sprintgammon"), GameOptions("sprintgammon", beavers=True), seed=1)
    _until(session, Phase.ANSWER)
    events = session.beaver()
    assert [(event.kind, event.player, event.value) for event in events[:2]] == [
        ("beavered", PERSON, 4),
        ("took", BOT, 4),
    ]
    assert int(session.games.cube_value[0]) == 4


@pytest.mark.parametrize(
    ("text", "needed"),
    [
        ("XGID=-CCCBBB------------bbbccc-:0:0:1:00:0:0:0:0:10", 2),  # the person's checkers out of the bot's home
        ("XGID=-BBBBBB------------bbbccc-:0:0:1:00:0:0:0:0:10", 1),  # three of his are off
        ("XGID=-b----E-C---eE---c-e----B-:0:0:1:00:0:0:0:0:10", 3),
    ],
)
def test_who_has_not_learned_it_accepts_the_most_that_can_be_lost(text: str, needed: int) -> None:
    session = Session(RandomBot(), GameOptions(resignation=True), seed=1)
    session.set_up(read_xgid(text))
    for level in range(1, needed):
        assert [event.kind for event in session.resign(level)] == ["resigned", "refused"]
        assert not session.may(RESIGN_SINGLE + level - 1)
    events = session.resign(needed)
    assert [event.kind for event in events] == ["resigned", "accepted", "won"]
    assert (events[-1].value, events[-1].level) == (needed, needed)
    assert session.points == [0, needed]


@pytest.mark.parametrize(
    ("score", "needed"),
    [("0:0:0:1", 1), ("0:6:0:7", 1), ("0:5:0:7", 2), ("0:4:0:7", 3), ("6:4:0:7", 3), ("0:0:1:0", 1), ("0:0:0:0", 3)],
)
def test_who_has_not_learned_it_wants_no_more_than_counts(score: str, needed: int) -> None:
    """The last three are a lead of the person's, Jacoby's rule, and money without it."""
    state = read_xgid(f"XGID=-b----E-C---eE---c-e----B-:0:0:1:00:{score}:10")
    assert [accepts_resignation(RandomBot(), state, level) for level in (1, 2, 3)] == [
        level >= needed for level in (1, 2, 3)
    ]


@pytest.mark.parametrize(
    ("outcome", "level", "accepted"),
    [
        ([0, 0, 0, 1, 0, 0], 1, True),
        ([0, 0, 0, 0.9, 0.1, 0], 1, False),
        ([0.1, 0, 0, 0.8, 0.1, 0], 1, True),
        ([0, 0, 0, 0, 0.5, 0.5], 2, False),
        ([0, 0, 0, 0, 0, 1], 3, True),
    ],
)
def test_a_model_compares_a_resignation_with_what_it_expects(outcome: list[float], level: int, accepted: bool) -> None:
    class Fixed(FakeEvaluator):
        def outcome(self, boards: Tensor) -> Tensor:
            return torch.tensor([outcome]).expand(len(boards), 6)

    state = read_xgid("XGID=-b----E-C---eE---c-e----B-:0:0:1:00:0:0:0:0:10")
    bot = ModelBot(Fixed(), "model:fake")
    assert accepts_resignation(bot, state, level) is accepted
    one_away = read_xgid("XGID=-b----E-C---eE---c-e----B-:0:0:1:00:0:2:0:3:10")
    assert accepts_resignation(bot, one_away, level)  # O needs one point, and has it either way


@pytest.mark.parametrize(
    ("text", "phase"),
    [
        ("XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:0:10", Phase.MOVE),
        ("XGID=-b----E-C---eE---c-e----B-:0:0:1:00:0:0:0:0:10", Phase.CUBE),
        ("XGID=-b----E-C---eE---c-e----B-:1:-1:-1:00:0:0:0:0:10", Phase.CUBE),
        ("XGID=-b----E-C---eE---c-e----B-:0:0:-1:D:0:0:0:0:10", Phase.ANSWER),
        ("XGID=-b----E-C---eE---c-e----B-:1:1:-1:31:0:0:0:0:10", Phase.MOVE),
    ],
)
def test_a_position_is_set_up_with_the_person_in_the_place_of_who_decides(text: str, phase: Phase) -> None:
    session = Session(RandomBot(), GameOptions(), seed=1)
    state = read_xgid(text)
    session.set_up(state)
    assert session.phase is phase
    assert int(session.decisions.player()[0]) == PERSON
    found = session.state
    assert (found.board, found.dice, found.offer) == (state.board, state.dice, state.offer)
    assert (found.cube_value, found.cube_owner is None) == (state.cube_value, state.cube_owner is None)
    with pytest.raises(NotationError, match="began from a position"):
        session.record()
    _finish(session, _random(1))
    session.next_game()
    with pytest.raises(NotationError, match="or follows it, wanted all from the start"):
        session.record()


def test_the_match_after_one_that_began_from_a_position_is_recorded() -> None:
    session = Session(PipCountBot("sprintgammon"), GameOptions("sprintgammon", match_length=1), seed=1)
    session.set_up(session.state)
    _finish(session, _random(1))
    session.next_game()
    _finish(session, _random(1))
    assert len(session.record().games) == 1


@pytest.mark.parametrize(
    ("value", "owner", "before"), [(2, None, (1, None)), (4, 1, (2, 1))], ids=["a first double", "a redouble"]
)
def test_a_beaver_on_offer_is_set_up_with_the_cube_as_it_was_before_the_double(
    value: int, owner: int | None, before: tuple[int, int | None]
) -> None:
    session = Session(_Beaverer(), GameOptions(beavers=True), seed=1)
    state = read_xgid("XGID=-b----E-C---eE---c-e----B-:0:0:1:00:0:0:2:0:6")
    beavered = replace(state, offer=Offer.BEAVER, cube_value=value, cube_owner=0)
    session.set_up(beavered)
    assert session.phase is Phase.BEAVERED
    assert session.state == beavered.swap_seats()
    held = (None, PERSON, BOT)[int(session.games.cube_owner[0])]  # the person is on roll
    assert (int(session.games.cube_value[0]), held) == (before[0], None if owner is None else PERSON)
    assert session.answer(False)[0].value == 2 * value


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("XGID=-b----E-C---eE---c-e----B-:0:0:1:31:1:2:0:5:10", "match length: found 5, wanted 0"),
        ("XGID=-b----E-C---eE---c-e----B-:7:0:1:31:0:0:0:0:10", "cube: found 128, wanted at most 64"),
        ("XGID=-A------------------------:0:0:1:31:0:0:0:0:10", "board"),
    ],
)
def test_a_position_that_these_rules_do_not_have_changes_nothing(text: str, message: str) -> None:
    session = Session(RandomBot(), GameOptions(), seed=1)
    before = session.state
    with pytest.raises(NotationError, match=message):
        session.set_up(read_xgid(text))
    assert session.state == before
