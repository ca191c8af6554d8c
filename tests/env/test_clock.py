"""Clocks on simulated time: what runs, what a turn adds, when a flag has fallen; and the table of breaks."""

from __future__ import annotations

import pytest

from nardy.env.clock import Breaks, Clock, ClockOptions, SimulatedTime, breaks


def _clock(bank: float = 60, increment: float = 8) -> tuple[Clock, SimulatedTime]:
    time = SimulatedTime()
    return Clock(ClockOptions(bank, increment), time), time


def test_only_the_clock_that_was_started_runs() -> None:
    clock, time = _clock()
    time.advance(5)
    clock.start(1)
    time.advance(7)
    assert (clock.left(0), clock.left(1)) == (60, 53)
    clock.start(0)
    time.advance(2)
    assert (clock.left(0), clock.left(1)) == (58, 53)
    clock.stop()
    time.advance(100)
    assert (clock.left(0), clock.left(1)) == (58, 53)
    assert clock.running is None


def test_the_end_of_a_turn_adds_the_increment_and_handing_over_does_not() -> None:
    clock, time = _clock()
    clock.start(0)
    time.advance(10)
    clock.start(1)  # a cube offer: the other one thinks
    time.advance(3)
    clock.start(0)
    time.advance(1)
    clock.press(0)
    assert (clock.left(0), clock.left(1)) == (60 - 11 + 8, 57)
    assert clock.running is None


def test_pressing_for_a_standing_clock_adds_the_increment_too() -> None:
    clock, time = _clock()
    clock.start(0)
    time.advance(1)
    clock.press(1)
    assert (clock.left(0), clock.left(1), clock.running) == (59, 68, 0)


@pytest.mark.parametrize(("seconds", "fallen"), [(59.5, False), (60, True), (75, True)])
def test_the_flag_falls_when_no_time_is_left(seconds: float, fallen: bool) -> None:
    clock, time = _clock()
    clock.start(0)
    time.advance(seconds)
    assert (clock.flag(0), clock.flag(1)) == (fallen, False)
    assert clock.left(0) == max(0, 60 - seconds)


def test_neither_an_increment_nor_a_gift_raises_a_fallen_flag() -> None:
    clock, time = _clock()
    clock.start(1)
    time.advance(61)
    clock.press(1)
    clock.add_time(1, 30)
    assert clock.flag(1)
    assert clock.left(1) == 0


def test_a_clock_can_be_set_back() -> None:
    clock, time = _clock()
    clock.start(0)
    time.advance(20)
    clock.restore(0, 60)
    assert clock.left(0) == 60
    assert clock.running is None


def test_time_can_be_taken_and_given() -> None:
    clock, _ = _clock()
    clock.take_time(0, 25)
    clock.add_time(1, 25)
    assert (clock.left(0), clock.left(1)) == (35, 85)
    clock.take_time(0, 36)
    assert clock.flag(0)


def test_simulated_time_never_goes_back() -> None:
    with pytest.raises(ValueError, match="time: found -1 seconds to go by, wanted 0 or more"):
        SimulatedTime().advance(-1)


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        ({"bank": -1.0}, "bank: found -1.0, wanted seconds, 0 or more"),
        ({"bank": float("inf")}, "bank: found inf"),
        ({"bank": 60.0, "increment": float("nan")}, "increment: found nan"),
        ({"increment": 8.0}, "increment: found 8 without a bank"),
        ({"per_decision": -0.5}, "per_decision: found -0.5"),
    ],
)
def test_times_that_are_none_are_refused(values: dict[str, float], wanted: str) -> None:
    with pytest.raises(ValueError, match=wanted):
        ClockOptions(**values)  # type: ignore[arg-type]  # only floats are passed


def test_breaks_by_match_length() -> None:
    counts = {length: breaks(length).count for length in (0, 1, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 25)}
    assert counts == {0: 0, 1: 0, 3: 0, 5: 0, 6: 1, 7: 1, 8: 1, 9: 1, 10: 2, 11: 2, 12: 2, 13: 2, 14: 3, 15: 3, 25: 3}
    assert breaks(9) == breaks(9, "longgammon") == Breaks(1, common=False, minutes=5, not_before=0)


def test_sprintgammon_has_one_common_break_and_blitz_none() -> None:
    assert breaks(15, "sprintgammon") == Breaks(1, common=True, minutes=5, not_before=45)
    assert breaks(15, blitz=True) == breaks(15, "sprintgammon", blitz=True) == Breaks(0)
