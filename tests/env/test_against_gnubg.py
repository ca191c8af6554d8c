"""The engine against GNU Backgammon's own list of plays, on whole games played in different ways.

Random play meets what good players avoid, the race to the front hits much and breaks points, sensible play makes
primes and anchors; a bundled model, once there is one, meets what matters.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import pytest
import torch
from torch import Tensor

from nardy.env import afterstates, flip, pip_counts
from nardy.eval.turns import Turns, play_turns
from nardy.models import load
from nardy.models.bundle import BUNDLED

from ..positions import Position, difference, from_boards

TURNS_A_GAME = 100
Play = Callable[[Tensor], Tensor]


@pytest.fixture(scope="module")
def gnubg() -> ModuleType:
    module: ModuleType = pytest.importorskip("gnubg_nn", reason='gnubg_nn is missing: pip install "nardy[peers]"')
    return module


def race(ends: Tensor) -> Tensor:
    """Pips ahead of the opponent: runs and hits whenever it can."""
    pips = pip_counts(ends)
    return (pips[:, 1] - pips[:, 0]).float()


def sensible(ends: Tensor) -> Tensor:
    """Points made in front of the opponent count, blots that can be hit cost, pips decide the rest."""
    mine, theirs = ends[:, 0].float(), ends[:, 1].float()
    worth_of_point = torch.tensor([0, 1, 1, 2, 3, 4, 4, 3, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 3, 3, 2, 2, 1, 0])
    opponents_behind = theirs.flip(1)[:, :26].cumsum(1)  # his checkers on my points up to each, bar first
    made = ((mine >= 2) * worth_of_point).sum(1)
    exposed = ((mine == 1) & (opponents_behind > 0))[:, 1:25].sum(1)
    stacked = (mine[:, 1:25] - 3).clamp(min=0).sum(1)
    return race(ends) / 20 + made - 1.5 * exposed - 0.3 * stacked + 3 * theirs[:, 25] + 0.5 * mine[:, 0]


def trained(variant: str) -> Play:
    """What a bundled model plays; the test is skipped by name while there is none."""
    if not (BUNDLED / f"{variant}.safetensors").is_file():
        pytest.skip(f"no bundled model for {variant} yet")
    evaluator = load(variant)
    return lambda ends: -evaluator.equity(flip(ends))


def disagreement(gnubg: ModuleType, turns: Turns, number: int, variant: str) -> str:
    """A message with the first board whose afterstates gnubg-nn lists differently; empty if none."""
    boards, dice = turns.decisions(number)
    game, ends = afterstates(boards, dice, variant)
    counts = torch.bincount(game, minlength=number).tolist()
    found = iter(from_boards(ends))
    for before, roll, count in zip(from_boards(boards), dice.tolist(), counts, strict=True):
        ours = [next(found) for _ in range(count)]
        message = difference(before, roll, ours, gnubgs_ends(gnubg, before, roll))
        if message:
            return message
    return ""


def gnubgs_ends(gnubg: ModuleType, before: Position, roll: list[int]) -> list[Position]:
    """Its board is the opponent's 25 counts, then the mover's, the bar last; none means a pass."""
    keys = gnubg.moves([list(before[1][1:]), list(before[0][1:])], *roll)
    set_size = sum(before[0])

    def side(counts: tuple[int, ...]) -> tuple[int, ...]:
        return (set_size - sum(counts), *counts)

    both = [gnubg.board_from_position_key(key) for key in keys]
    return [(side(mine), side(theirs)) for theirs, mine in both] or [before]


@pytest.mark.peer
@pytest.mark.parametrize("variant", ["backgammon", "sprintgammon"])
@pytest.mark.parametrize("way", ["random", "race", "sensible", "trained"])
def test_gnu_backgammon_lists_the_same_afterstates(
    gnubg: ModuleType, variant: str, way: str, scale: Callable[[int], int]
) -> None:
    number = scale(100_000)
    play = trained(variant) if way == "trained" else {"random": None, "race": race, "sensible": sensible}[way]
    turns = play_turns(number // TURNS_A_GAME, TURNS_A_GAME, seed=1, variant=variant, value=play)

    assert not disagreement(gnubg, turns, number, variant)


def test_sensible_play_makes_points_and_the_race_hits() -> None:
    # Otherwise the three ways of playing would meet much the same positions.
    def shares(play: Play | None) -> tuple[float, float]:
        boards = play_turns(50, TURNS_A_GAME, seed=2, value=play).boards.flatten(0, 1)
        made = (boards[:, :, 1:7] >= 2).sum((1, 2)).float().mean()
        return float(made), float((boards[:, 0, 25] > 0).float().mean())

    points_of_random, _ = shares(None)
    points_of_race, hit_by_race = shares(race)
    points_of_sensible, hit_by_sensible = shares(sensible)

    assert points_of_sensible > 1.3 * max(points_of_random, points_of_race)
    assert hit_by_race > hit_by_sensible
