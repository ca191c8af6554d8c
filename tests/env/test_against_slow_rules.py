"""The engine against the plain enumerator of `tests.slow_rules`, on positions that need not be reachable."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import pytest
import torch
from hypothesis import given, settings

from nardy.env import afterstates, outcome
from nardy.eval.turns import play_turns

from .. import random_positions
from ..positions import BAR, OFF, Position, difference, from_boards, position, text, to_boards
from ..slow_rules import DISCIPLINES, discipline, ends_of_turn, forbidden_run, is_over, level_of_loss

Roll = tuple[int, int]
VARIANTS = list(DISCIPLINES)


def disagreement(decisions: Sequence[tuple[Position, Roll]], variant: str) -> str:
    """A message with the first board whose list differs from the slow one; empty if none does.

    Every third roll counts as a second player's first.
    """
    before = [position for position, _ in decisions]
    dice = [roll for _, roll in decisions]
    first = torch.arange(len(before)) % 3 == 0
    game, boards = afterstates(to_boards(before), torch.tensor(dice), variant, first)
    counts = torch.bincount(game, minlength=len(decisions)).tolist()
    ends = iter(from_boards(boards))
    for given_position, roll, count, marked in zip(before, dice, counts, first.tolist(), strict=True):
        found = [next(ends) for _ in range(count)]
        _, wanted = ends_of_turn(given_position, roll, discipline(variant, roll, marked))
        message = difference(given_position, roll, found, wanted, variant)
        if message:
            return message
    return ""


def longgammon_without_runs(turn_start: Position, now: Position, die: int) -> Iterator[Position]:
    """Longgammon's moves as if the opponent had one checker off: runs are allowed then, and nothing else changes."""
    mine, theirs = now
    for after, _ in DISCIPLINES["longgammon"](turn_start, (mine, (theirs[OFF] + 1, *theirs[1:])), die):
        yield after, theirs


@pytest.mark.parametrize("variant", VARIANTS)
def test_random_positions_have_the_ends_that_the_rules_allow(variant: str, scale: Callable[[int], int]) -> None:
    decisions = random_positions.random_decisions(scale(40_000), seed=1, variant=variant)

    assert not disagreement(decisions, variant)


@pytest.mark.parametrize("variant", VARIANTS)
def test_positions_of_random_play_have_the_ends_that_the_rules_allow(variant: str, scale: Callable[[int], int]) -> None:
    boards, dice = play_turns(32, scale(20_000) // 32, seed=2, variant=variant).decisions(scale(20_000))
    decisions = [
        (given, (first, second)) for given, (first, second) in zip(from_boards(boards), dice.tolist(), strict=True)
    ]

    assert not disagreement(decisions, variant)


@settings(max_examples=150)
@given(before=random_positions.positions(), dice=random_positions.dice)
def test_any_backgammon_position_has_the_ends_that_the_rules_allow(before: Position, dice: Roll) -> None:
    assert not disagreement([(before, dice)], "backgammon")


@settings(max_examples=150)
@given(before=random_positions.positions("sprintgammon"), dice=random_positions.dice)
def test_any_sprintgammon_position_has_the_ends_that_the_rules_allow(before: Position, dice: Roll) -> None:
    assert not disagreement([(before, dice)], "sprintgammon")


@settings(max_examples=150)
@given(before=random_positions.positions("longgammon"), dice=random_positions.dice)
def test_any_longgammon_position_has_the_ends_that_the_rules_allow(before: Position, dice: Roll) -> None:
    assert not disagreement([(before, dice)], "longgammon")


def test_a_single_outside_checker_may_hit_either_of_two_blots_on_its_way() -> None:
    before = position("13:1 off:14", "11:1 10:1 off:13")

    assert not disagreement([(before, (3, 2))], "backgammon")


def test_the_last_checker_must_use_both_dice_where_a_hit_makes_that_another_position() -> None:
    # 5/off wins with one die, but 5/3*/off uses two and leaves a checker on the bar: 1.5 rule 1 taken at its word.
    before = position("5:1 off:14", "3:1 19:14")

    _, ends = afterstates(to_boards([before]), torch.tensor([[6, 2]]))

    assert from_boards(ends) == [position("off:15", "bar:1 19:14")]


def test_random_positions_cover_what_is_hard() -> None:
    met = [before for before, _ in random_positions.random_decisions(2000, seed=1)]

    assert any(mine[BAR] and theirs[BAR] for mine, theirs in met), "both on the bar"
    assert any(mine[BAR] > 4 for mine, _ in met), "more on the bar than can enter"
    assert any(all(theirs[1 + i] > 1 for i in range(6)) and mine[BAR] for mine, theirs in met), "closed out"
    assert any(mine[OFF] and not sum(mine[7:]) and not is_over((mine, theirs)) for mine, theirs in met), "bearing off"
    assert any(is_over(before) for before in met), "finished"


def test_random_longgammon_positions_cover_what_is_hard() -> None:
    decisions = random_positions.random_decisions(1000, seed=1, variant="longgammon")

    assert not any(mine[BAR] or theirs[BAR] for (mine, theirs), _ in decisions)
    assert sum(mine[24] > 1 for (mine, _), _ in decisions) > 100, "a head with checkers left"
    assert sum(forbidden_run(before) for before, _ in decisions) > 10, "a forbidden run already there"
    assert any(mine[OFF] and not sum(mine[7:]) and not is_over((mine, theirs)) for (mine, theirs), _ in decisions)
    passing_through = {True: 0, False: 0}  # turns that only the test after every single move forbids; by double or not
    for before, dice in decisions:
        _, wanted = ends_of_turn(before, dice, longgammon_without_runs)
        _, found = ends_of_turn(before, dice, DISCIPLINES["longgammon"])
        allowed_at_its_end = {end for end in wanted if not forbidden_run(end)}
        passing_through[dice[0] == dice[1]] += bool(allowed_at_its_end - found and found != {before})
    assert passing_through[True] > 2
    assert passing_through[False] > 2


@pytest.mark.parametrize("variant", VARIANTS)
def test_finished_positions_score_as_the_rules_say(variant: str, scale: Callable[[int], int]) -> None:
    decisions = random_positions.random_decisions(scale(40_000), seed=3, variant=variant)
    met = [before for before, _ in decisions]

    for before, level in zip(met, outcome(to_boards(met), variant).tolist(), strict=True):
        mine, theirs = before
        if mine[OFF] == sum(mine):
            wanted = level_of_loss(theirs, variant)
        elif theirs[OFF] == sum(theirs):
            wanted = -level_of_loss(mine, variant)
        else:
            wanted = 0
        assert level == wanted, text(before, variant)
