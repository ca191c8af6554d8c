"""Formats of play: what each configured one says, and what does not go together."""

from __future__ import annotations

from pathlib import Path

import pytest

from nardy.env import GameOptions
from nardy.env.clock import ClockOptions
from nardy.env.formats import Format
from nardy.scripts.command import compose, to_dataclass

NAMES = [path.stem for path in sorted((Path(__file__).parents[2] / "configs" / "env").glob("*.yaml"))]


def _configured(name: str, *words: str) -> Format:
    return to_dataclass(Format, compose("train", [f"env={name}", *words])["env"])


def test_the_configured_formats_are_those_of_the_disciplines() -> None:
    assert NAMES == ["backgammon", "blitz", "doubles", "longgammon", "longgammon_blitz", "sprintgammon"]


@pytest.mark.parametrize("variant", ["backgammon", "sprintgammon", "longgammon"])
def test_a_discipline_by_its_name_is_money_games_without_a_clock(variant: str) -> None:
    assert _configured(variant) == Format(variant)


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("blitz", Format("backgammon", 5, clock=ClockOptions(120, 10), breaks=False)),
        ("longgammon_blitz", Format("longgammon", 3, clock=ClockOptions(60, 10), breaks=False)),
        ("doubles", Format("backgammon", 7, pairs=True)),
    ],
)
def test_other_formats_say_what_differs(name: str, wanted: Format) -> None:
    assert _configured(name) == wanted
    assert wanted.refereed


def test_a_key_on_the_command_line_counts_more_than_the_format() -> None:
    found = _configured("blitz", "env.match_length=11", "env.clock.bank=600", "env.breaks=true", "env.illegal=correct")
    assert (found.match_length, found.clock, found.illegal) == (11, ClockOptions(600, 10), "correct")
    assert found.allowed_breaks.count == 2


def test_the_rules_of_the_games_are_part_of_a_format() -> None:
    match = Format("sprintgammon", 3, cube=False, clock=ClockOptions(5))
    assert match.rules == GameOptions("sprintgammon", 3, cube=False)
    assert type(match.rules) is GameOptions


@pytest.mark.parametrize(
    ("found", "refereed"),
    [
        (Format(), False),
        (Format(match_length=5), False),
        (Format(pairs=True), True),
        (Format(illegal="forfeit"), True),
        (Format(match_length=5, clock=ClockOptions(1)), True),
    ],
)
def test_a_referee_is_needed_for_clock_pairs_and_illegal_plays(found: Format, refereed: bool) -> None:
    assert found.refereed == refereed


def test_breaks_follow_match_and_discipline() -> None:
    assert Format(match_length=7).allowed_breaks.count == 1
    assert Format(match_length=7, breaks=False).allowed_breaks.count == 0
    assert Format("sprintgammon", 7).allowed_breaks.common


def test_a_clock_belongs_to_matches() -> None:
    with pytest.raises(ValueError, match="clock: found a bank of 60 seconds with match_length 0, wanted a match"):
        Format(clock=ClockOptions(60))


def test_the_rules_of_the_games_are_checked_too() -> None:
    with pytest.raises(ValueError, match="jacoby: found it with match_length"):
        Format(match_length=3, jacoby=True)
