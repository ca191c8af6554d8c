"""Stakes: normalised worth at every score and cube, against plain arithmetic over the match equity table."""

from __future__ import annotations

from random import Random

import pytest
import torch

from nardy.env import Cube, afterstates, flip, outcome, start_boards
from nardy.env.cube import may_double
from nardy.models import Network, NetworkConfig
from nardy.models.encoding import encode
from nardy.models.janowski import simple_match_equity
from nardy.models.learned_table import learned_table
from nardy.models.plays import CandidatePass, evaluate_plays
from nardy.models.ranker import Ranker
from nardy.models.stakes import Stakes, match_stakes, money_stakes
from nardy.models.values import before_roll, context_no_double, possible_outcomes, probabilities

LEVELS = (1, 2, 3, -1, -2, -3)
TABLE = simple_match_equity()


def _scores(number: int, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Cube values, points away and Crawford flags that can occur."""
    random = Random(seed)  # noqa: S311  # not for secrets
    rows = []
    for _ in range(number):
        mine, theirs = random.randint(1, 25), random.randint(1, 25)
        crawford = 1 in (mine, theirs) and (mine, theirs) != (1, 1) and random.random() < 0.5
        value = 1 if crawford else 2 ** random.randint(0, 4)
        rows.append((value, mine, theirs, crawford))
    value, mine, theirs, crawford = zip(*rows, strict=True)
    return torch.tensor(value), torch.tensor([mine, theirs]).T, torch.tensor(crawford)


def _chance(mine: int, theirs: int, post_crawford: bool) -> float:
    """Match-winning chance at a score, read from the table entry by entry."""
    if mine <= 0:
        return 1.0
    if theirs <= 0:
        return 0.0
    if post_crawford and theirs == 1:
        return float(TABLE.after[mine - 1])
    if post_crawford and mine == 1:
        return 1 - float(TABLE.after[theirs - 1])
    return float(TABLE.before[mine - 1, theirs - 1])


def test_at_a_match_score_normalised_payoffs_stand_for_the_chances_after_the_game() -> None:
    value, away, crawford = _scores(300)
    stakes = match_stakes(value, away, crawford, 64, TABLE)
    compared = 0
    for row in range(300):
        mine, theirs = away[row].tolist()
        post = bool(crawford[row]) or 1 in (mine, theirs)
        for factor, payoff in ((1, stakes.payoff), (2, stakes.doubled_payoff)):
            for column, level in enumerate(LEVELS):
                points = level * factor * int(value[row])
                chance = _chance(mine - max(points, 0), theirs - max(-points, 0), post)
                x = float(payoff[row, column])
                if factor == 2:
                    x = float(stakes.shift[row] + stakes.scale[row] * x)
                if abs(float(payoff[row, column])) < 7.9:  # beyond, it is cut off
                    compared += 1
                    assert float(stakes.middle[row] + stakes.half[row] * x) == pytest.approx(chance, abs=2e-6)
    assert compared > 3000


def test_stakes_turn_round_with_the_score() -> None:
    value, away, crawford = _scores(200, seed=1)
    mine = match_stakes(value, away, crawford, 64, TABLE)
    theirs = match_stakes(value, away.flip(1), crawford, 64, TABLE)
    money = money_stakes(value, 64, crawford)
    for one, other in ((mine.flip(), theirs), (theirs.flip(), mine), (mine.flip().flip(), mine), (money.flip(), money)):
        for name in Stakes.__dataclass_fields__:
            # Chances near 1 lose digits before they are normalised.
            torch.testing.assert_close(getattr(one, name), getattr(other, name), atol=2e-3, rtol=2e-3, msg=name)


def test_a_cube_is_alive_at_a_score_as_the_rules_have_it() -> None:
    value, away, crawford = _scores(300, seed=2)
    stakes = match_stakes(value, away, crawford, 16, TABLE)
    centred = torch.zeros_like(value)
    for seat, score in enumerate((away, away.flip(1))):
        assert torch.equal(stakes.may_double[:, seat], may_double(value, centred, score, crawford, 16))
        assert torch.equal(stakes.may_redouble[:, seat], may_double(2 * value, centred, score, crawford, 16))


def test_money_is_described_by_zeros_and_jacoby_is_not() -> None:
    plain = money_stakes(torch.tensor([1, 32, 64]), 64, torch.zeros(3, dtype=torch.bool))
    assert bool((plain.features == 0).all() and (plain.doubled_features == 0).all())
    assert plain.may_double.tolist() == [[True, True], [True, True], [False, False]]
    assert plain.may_redouble.tolist() == [[True, True], [False, False], [False, False]]
    assert plain.scale.tolist() == [2.0] * 3 and plain.shift.tolist() == [0.0] * 3
    jacoby = money_stakes(torch.tensor([1]), 64, torch.ones(1, dtype=torch.bool))
    assert jacoby.payoff.tolist() == [[1, 1, 1, -1, -1, -1]]
    assert jacoby.doubled_payoff.tolist() == [[1, 2, 3, -1, -2, -3]]
    assert bool((jacoby.features != 0).any() and (jacoby.doubled_features == 0).all())


def _network(context_units: int = 8) -> Network:
    network = Network(NetworkConfig((32, 16), context_units=context_units), seed=3)
    with torch.no_grad():
        network.head.weight.mul_(8)
        network.context_out.weight.normal_(0, 0.3, generator=torch.Generator().manual_seed(0))
    return network.requires_grad_(False)


def _some_boards(variant: str, num_games: int) -> torch.Tensor:
    """Positions from every stage of games between random players."""
    generator = torch.Generator().manual_seed(4)
    boards, seen = start_boards(num_games, variant), []
    for _ in range(200):
        dice = torch.randint(1, 7, (num_games, 2), generator=generator)
        game, after = afterstates(boards, dice, variant)
        counts = torch.bincount(game, minlength=num_games)
        pick = counts.cumsum(0) - counts + (torch.rand(num_games, generator=generator) * counts).long()
        boards = flip(after[pick])
        seen.append(boards)
    some = torch.cat(seen[::9])
    return some[outcome(some, variant) == 0].contiguous()


@pytest.mark.parametrize("variant", ["backgammon", "sprintgammon", "longgammon"])
def test_the_kernel_values_plays_at_every_stake_as_the_plain_way_does(variant: str) -> None:
    network, boards = _network(), _some_boards(variant, 24)
    number = len(boards)
    dice = torch.randint(1, 7, (number, 2), generator=torch.Generator().manual_seed(1)).to(torch.int8)
    value, away, crawford = _scores(number, seed=5)
    jacoby = torch.arange(number) % 7 == 0
    match = match_stakes(value, away, crawford, 64, TABLE)
    stakes = Stakes.where(jacoby, money_stakes(value, 64, jacoby & (value == 1)), match)

    plays = evaluate_plays(network, boards, dice, variant, stakes=stakes)

    raw = network(encode(flip(plays.boards), variant))
    possible = possible_outcomes(plays.boards, variant, swap=True)
    probs = probabilities(raw, possible)
    theirs = stakes.rows(plays.game)
    no_double, double_take = context_no_double(network, raw, probs, possible, theirs)
    value_next = before_roll(no_double, double_take, theirs.may_double[:, 0])
    expected = -value_next[:, (0, 2, 1)]
    level = outcome(plays.boards, variant).long()
    lost = theirs.payoff.gather(1, (2 + level).clamp(min=3)[:, None])
    expected = torch.where(level[:, None] > 0, -lost, expected)
    assert bool((level > 0).any())
    torch.testing.assert_close(plays.raw, raw, atol=2e-5, rtol=0)
    torch.testing.assert_close(plays.values[:, 4:], expected, atol=2e-4, rtol=1e-4)


def test_where_the_stake_is_money_its_columns_are_moneys() -> None:
    network, boards = _network(), _some_boards("backgammon", 8)
    dice = torch.full((len(boards), 2), 3, dtype=torch.int8)
    stakes = money_stakes(torch.ones(len(boards), dtype=torch.int32), 64, torch.zeros(len(boards), dtype=torch.bool))
    plays = evaluate_plays(network, boards, dice, "backgammon", stakes=stakes)
    torch.testing.assert_close(plays.values[:, 4:], plays.values[:, 1:4])


def test_the_learned_table_is_fair_and_more_points_missing_are_worse() -> None:
    table = learned_table(_network(), "sprintgammon", size=6)
    torch.testing.assert_close(table.before + table.before.T, torch.ones(6, 6))
    assert float(table.after[0]) == 0.5
    assert bool((table.before >= 0).all() and (table.before <= 1).all())


def test_each_entry_of_the_learned_table_follows_from_the_opening_rolls() -> None:
    """By the definition: the starter's chance is the mean over the fifteen rolls of his best play."""
    from nardy.models import Evaluator

    network = _network()
    table = learned_table(network, "sprintgammon", size=5)
    evaluator = Evaluator(network, "sprintgammon", table=table)
    rolls = torch.tensor([(a, b) for a in range(1, 7) for b in range(1, a)])

    def started(mine: int, theirs: int, crawford: bool) -> float:
        cube = Cube(away=(mine, theirs), crawford=crawford)
        game, after = afterstates(start_boards(15, "sprintgammon"), rolls, "sprintgammon")
        chances = 1 - evaluator.equity(flip(after), cube.flip())
        return sum(float(chances[game == roll].max()) for roll in range(15)) / 15

    for mine, theirs in ((2, 2), (3, 5), (5, 2), (1, 4), (4, 1)):
        crawford = 1 in (mine, theirs)
        wanted = (started(mine, theirs, crawford) + 1 - started(theirs, mine, crawford)) / 2
        assert float(table.before[mine - 1, theirs - 1]) == pytest.approx(wanted, abs=1e-5)
    for trailer in (2, 3, 5):
        wanted = (started(trailer, 1, False) + 1 - started(1, trailer, False)) / 2
        assert float(table.after[trailer - 1]) == pytest.approx(wanted, abs=1e-5)


@pytest.mark.parametrize("variant", ["backgammon", "longgammon"])
@pytest.mark.parametrize("keep", [None, 3])
def test_several_rolls_of_a_position_are_valued_as_if_it_stood_there_once_for_each(
    variant: str, keep: int | None
) -> None:
    network, boards = _network(), _some_boards(variant, 12)
    number, rolls = len(boards), 4
    dice = torch.randint(1, 7, (number * rolls, 2), generator=torch.Generator().manual_seed(3)).to(torch.int8)
    value, away, crawford = _scores(number, seed=6)
    stakes = match_stakes(value, away, crawford, 64, TABLE)
    second_first = torch.arange(number) % 2 == 0
    candidates = None if keep is None else CandidatePass(Ranker(16, seed=2), keep)

    together = evaluate_plays(network, boards, dice, variant, second_first, None, stakes, candidates)

    each = torch.arange(number).repeat_interleave(rolls)
    apart = (boards[each], dice, variant, second_first[each], None, stakes.rows(each), candidates)
    expected = evaluate_plays(network, *apart)
    for name in ("game", "ends", "boards"):
        assert torch.equal(getattr(together, name), getattr(expected, name)), name
    assert together.game.max() == number * rolls - 1
    torch.testing.assert_close(together.values, expected.values, atol=1e-5, rtol=1e-5)
