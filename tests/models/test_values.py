"""What the network's outputs mean, and that the fast paths say the same as the plain ones."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from nardy.env import afterstates, flip, launch, outcome, start_boards
from nardy.models import Network, NetworkConfig
from nardy.models.encoding import encode, input_table
from nardy.models.plays import evaluate_plays
from nardy.models.values import (
    before_roll,
    bounds,
    equity,
    exact_probabilities,
    flip_probabilities,
    no_double_values,
    possible_outcomes,
    probabilities,
)
from tests.models.rolls_by_hand import details
from tests.positions import Side, from_boards, position, text, to_boards


def _network(seed: int = 0, hidden: tuple[int, ...] = (48, 16)) -> Network:
    """A network whose outputs differ from position to position by about a point."""
    network = Network(NetworkConfig(hidden), seed)
    with torch.no_grad():
        network.head.weight.mul_(8)
    return network


def _played(num_games: int, plies: int, variant: str = "backgammon", seed: int = 0) -> Tensor:
    """Positions from random play, games at different stages, finished ones among them."""
    generator = torch.Generator().manual_seed(seed)
    boards, seen = start_boards(num_games, variant), []
    for _ in range(plies):
        dice = torch.randint(1, 7, (num_games, 2), generator=generator)
        game, after = afterstates(boards, dice, variant)
        counts = torch.bincount(game, minlength=num_games)
        drawn = (torch.rand(num_games, generator=generator) * counts).long()
        boards = flip(after[counts.cumsum(0) - counts + drawn])
        seen.append(boards)
    return torch.cat(seen[:: max(1, plies // 8)])


def _slow_counted_cells(mine: Side, theirs: Side) -> list[int]:
    """The ten counted cells of a position, written from their description."""

    def of_side(own: Side, other: Side) -> list[int]:
        made = [1 <= point <= 24 and own[point] >= 2 for point in range(26)]
        prime = max((b - a for a in range(26) for b in range(a, 26) if all(made[a:b])), default=0)
        rear = max((point for point in range(26) if point and own[point]), default=0)
        others = {25 - point for point in range(1, 26) if other[point]}  # in own numbers, the bar at 0
        blots = [p for p in range(1, 25) if own[p] == 1 and any(p - d in others for d in range(1, 7))]
        return [sum(made[1:7]), min(prime, 7), (rear + 1) // 2, min(len(blots), 4)]

    rears = [max((point for point in range(1, 26) if side[point]), default=0) for side in (mine, theirs)]
    lead = sum(point * (theirs[point] - mine[point]) for point in range(1, 26))
    tenths = min(15, max(0, int((lead + 85) / 10)))
    return [int(sum(rears) <= 25), *of_side(mine, theirs), *of_side(theirs, mine), tenths]


def _other_way(point: int) -> int:
    """Longgammon: the other side's number of a point."""
    return point + 12 if point <= 12 else point - 12


def _slow_longgammon_cells(mine: Side, theirs: Side) -> list[int]:
    """The ten counted cells of a longgammon position, written from their description."""

    def of_side(own: Side, other: Side) -> list[int]:
        rear = max((point for point in range(1, 25) if own[point]), default=0)
        route = [own[_other_way(point)] > 0 for point in range(1, 25)]  # along the other side's route
        prime = max((b - a for a in range(24) for b in range(a, 25) if all(route[a:b])), default=0)
        closed = [point for point in range(max(1, rear - 6), rear) if other[_other_way(point)]]
        return [sum(own[p] > 0 for p in range(1, 7)), min(prime, 7), (rear + 1) // 2, min(len(closed), 4)]

    race = all(not any(side[13:25]) for side in (mine, theirs))
    lead = sum(point * (theirs[point] - mine[point]) for point in range(1, 25))
    tenths = min(15, max(0, int((lead + 85) / 10)))
    return [int(race), *of_side(mine, theirs), *of_side(theirs, mine), tenths]


def _slow_details(mine: Side, theirs: Side, variant: str) -> list[int]:
    """The fourteen detailed cells of a position, written from their description."""
    rules = (False, _other_way) if variant == "longgammon" else (True, lambda point: 25 - point)
    sides = (list(mine), list(theirs)), (list(theirs), list(mine))
    return [value for own, other in sides for value in details(own, other, *rules).values()]


VARIANTS = ["backgammon", "sprintgammon", "longgammon"]


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_inputs_of_a_position_are_the_sum_of_its_table_rows(variant: str) -> None:
    boards = _played(64, 160, variant)
    count = _slow_longgammon_cells if variant == "longgammon" else _slow_counted_cells
    counted = torch.tensor([count(*sides) + _slow_details(*sides, variant) for sides in from_boards(boards)])
    cells = torch.cat([boards.view(-1, 52).long(), counted], 1)
    rows = torch.arange(76) * 16 + cells
    torch.testing.assert_close(encode(boards, variant), input_table()[rows].sum(1), atol=1e-5, rtol=0)


def test_the_inputs_tell_every_position_from_every_other() -> None:
    boards = _played(256, 200).unique(dim=0)
    assert len(encode(boards).unique(dim=0)) == len(boards)


def test_the_inputs_see_bar_and_off_of_both_sides() -> None:
    base = position("6:14 bar:1", "20:15")
    changed = [position("6:13 bar:2", "20:15"), position("6:14 off:1", "20:15"), position("6:14 bar:1", "20:14 bar:1")]
    boards = to_boards([base, *changed, position("6:14 bar:1", "20:14 off:1")])
    assert len(encode(boards).unique(dim=0)) == 5


def _slowly_possible(boards: Tensor) -> list[list[bool]]:
    rows = []
    for mine, theirs in from_boards(boards):
        rear = [max((p for p in range(1, 26) if side[p]), default=0) for side in (mine, theirs)]
        row = []
        for loser, winner_passed in ((theirs, sum(rear) <= 25), (mine, sum(rear) <= 25)):
            gammon = loser[0] == 0
            stuck = any(loser[p] for p in range(19, 26))
            row += [True, gammon, gammon and (stuck or not winner_passed)]
        rows.append(row)
    return rows


def test_possible_outcomes_follow_from_checkers_off_and_contact() -> None:
    boards = _played(128, 160)
    assert possible_outcomes(boards, "backgammon").tolist() == _slowly_possible(boards)
    assert possible_outcomes(boards, "backgammon", swap=True).tolist() == _slowly_possible(flip(boards))


def test_no_backgammon_is_possible_in_longgammon_and_a_checker_off_saves_the_gammon() -> None:
    boards = _played(128, 200, "longgammon")
    mine_off, theirs_off = (boards[:, :, 0] > 0).unbind(1)
    possible = possible_outcomes(boards, "longgammon")
    assert bool(mine_off.any()) and bool((~mine_off).any())
    assert not bool(possible[:, (2, 5)].any()) and bool(possible[:, (0, 3)].all())
    assert torch.equal(possible[:, 1], ~theirs_off) and torch.equal(possible[:, 4], ~mine_off)


def test_probabilities_sum_to_one_and_are_zero_where_impossible() -> None:
    boards = _played(64, 160)
    possible = possible_outcomes(boards, "backgammon")
    probs = probabilities(_network()(encode(boards)), possible)
    torch.testing.assert_close(probs.sum(1), torch.ones(len(boards)))
    assert bool((probs[~possible] == 0).all())
    assert bool((probs[possible] > 0).all())


@pytest.mark.parametrize("variant", VARIANTS)
def test_incremental_first_layer_and_value_kernel_agree_with_the_plain_way(variant: str) -> None:
    network = _network()
    boards = _played(96, 160, variant)
    boards = boards[outcome(boards, variant) == 0].contiguous()
    dice = torch.randint(1, 7, (len(boards), 2), generator=torch.Generator().manual_seed(1)).to(torch.int8)

    second_first = torch.arange(len(boards)) % 2 == 0
    plays = evaluate_plays(network, boards, dice, variant, second_first)

    game, ends = afterstates(boards, dice, variant, second_first)
    assert torch.equal(plays.game, game)
    assert torch.equal(plays.boards, ends)
    with torch.no_grad():
        raw = network(encode(flip(plays.boards), variant))
        possible = possible_outcomes(plays.boards, variant, swap=True)
        probs = probabilities(raw, possible)
        no_double = torch.clamp(no_double_values(raw, probs), *bounds(possible))
        value = before_roll(no_double, 2.0 * no_double[:, 2])
    expected = -torch.stack([equity(probs), value[:, 0], value[:, 2], value[:, 1]], 1)
    level = outcome(plays.boards, variant)
    assert bool((level != 0).any())
    expected = torch.where((level != 0)[:, None], level[:, None].float(), expected)
    torch.testing.assert_close(plays.raw, raw[:, :9], atol=2e-5, rtol=0)
    torch.testing.assert_close(plays.values, expected, atol=5e-5, rtol=0)


def test_best_rows_are_the_first_highest_of_each_game() -> None:
    network = _network()
    boards = _played(48, 80)
    dice = torch.randint(1, 7, (len(boards), 2), generator=torch.Generator().manual_seed(2)).to(torch.int8)
    plays = evaluate_plays(network, boards, dice, "backgammon")
    best = plays.best()
    for game in range(len(boards)):
        rows = (plays.game == game).nonzero()[:, 0]
        for column in range(4):
            values = plays.values[rows, column]
            assert best[game, column] == rows[int((values == values.max()).nonzero()[0, 0])]


def test_plays_do_not_depend_on_the_number_of_threads() -> None:
    network, boards = _network(), _played(96, 160)
    dice = torch.randint(1, 7, (len(boards), 2), generator=torch.Generator().manual_seed(3)).to(torch.int8)
    results = []
    for threads in (1, 3):
        with launch.threads_in_use(threads):
            results.append(evaluate_plays(network, boards, dice, "backgammon"))
    assert torch.equal(results[0].boards, results[1].boards)
    torch.testing.assert_close(results[0].values, results[1].values, atol=1e-5, rtol=0)


def test_owning_the_cube_is_never_worse_and_a_value_stays_between_the_worst_and_the_best_outcome() -> None:
    boards = _played(64, 160)
    raw = _network(3)(encode(boards))
    possible = possible_outcomes(boards, "backgammon")
    no_double = torch.clamp(no_double_values(raw, probabilities(raw, possible)), *bounds(possible))
    worst, best = bounds(possible)
    assert bool((no_double[:, 1] >= no_double[:, 0]).all())
    assert bool((no_double[:, 0] >= no_double[:, 2]).all())
    assert bool(((no_double >= worst) & (no_double <= best)).all())


@pytest.mark.parametrize(
    ("no_double", "value"),
    [
        ((0.2, 0.3, 0.1), (0.2, 0.3, 0.1)),  # doubling to 0.2 gains nothing over 0.2
        ((0.4, 0.3, 0.25), (0.5, 0.5, 0.25)),  # double and take, from the centre and owned
        ((0.8, 0.9, 0.7), (1.0, 1.0, 0.7)),  # double and drop
        ((1.2, 1.3, 0.9), (1.2, 1.3, 0.9)),  # too good to double
        ((-0.5, -0.4, -0.6), (-0.5, -0.4, -0.6)),
    ],
)
def test_the_value_before_the_roll_is_the_better_of_rolling_and_doubling(
    no_double: tuple[float, ...], value: tuple[float, ...]
) -> None:
    values = torch.tensor([no_double])
    assert before_roll(values, 2.0 * values[:, 2])[0].tolist() == pytest.approx(value)


def test_flipping_probabilities_negates_the_equity_and_undoes_itself() -> None:
    probs = torch.softmax(torch.randn(50, 6, generator=torch.Generator().manual_seed(0)), 1)
    torch.testing.assert_close(equity(flip_probabilities(probs)), -equity(probs))
    assert torch.equal(flip_probabilities(flip_probabilities(probs)), probs)


def test_what_can_happen_never_grows_as_a_game_goes_on() -> None:
    """An outcome that the mask rules out may not come back: each turn's possibilities are among those before."""
    generator = torch.Generator().manual_seed(5)
    boards = start_boards(128)
    before = possible_outcomes(boards, "backgammon")
    for _ in range(300):
        dice = torch.randint(1, 7, (128, 2), generator=generator)
        game, after = afterstates(boards, dice)
        counts = torch.bincount(game, minlength=128)
        pick = counts.cumsum(0) - counts + (torch.rand(128, generator=generator) * counts).long()
        boards = flip(after[pick])
        now = possible_outcomes(boards, "backgammon")
        back = now[:, (3, 4, 5, 0, 1, 2)] & ~before
        assert not bool(back.any()), text(from_boards(boards[back.any(1)][:1])[0])
        done, exact = exact_probabilities(boards, "backgammon")
        assert bool((now | ~exact.bool())[done].all())
        before = now
