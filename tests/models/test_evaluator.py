"""The contract of `nardy.models.load(...)`: outcomes, equities, best plays and cube actions."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import Tensor

from nardy.env import Cube, afterstates, flip, outcome, start_boards
from nardy.models import Evaluator, Network, NetworkConfig, load, save_bundle
from nardy.models.evaluator import CubeAction
from tests.positions import position, to_boards


@pytest.fixture(scope="module")
def evaluator() -> Evaluator:
    network = Network(NetworkConfig((32, 16)), seed=4)
    with torch.no_grad():
        network.head.weight.mul_(8)
    return Evaluator(network.requires_grad_(False))


@pytest.fixture(scope="module")
def boards() -> Tensor:
    """Positions of random games at every stage."""
    generator = torch.Generator().manual_seed(9)
    position_, seen = start_boards(32), []
    for _ in range(120):
        dice = torch.randint(1, 7, (32, 2), generator=generator)
        game, after = afterstates(position_, dice)
        counts = torch.bincount(game, minlength=32)
        pick = counts.cumsum(0) - counts + (torch.rand(32, generator=generator) * counts).long()
        position_ = flip(after[pick])
        seen.append(position_)
    return torch.cat(seen[::10])


def test_outcomes_are_exclusive_probabilities(evaluator: Evaluator, boards: Tensor) -> None:
    probs = evaluator.outcome(boards)
    assert probs.shape == (len(boards), 6)
    assert probs.dtype == torch.float32
    torch.testing.assert_close(probs.sum(1), torch.ones(len(boards)))


def test_no_gammon_is_lost_with_a_checker_off(evaluator: Evaluator) -> None:
    given = to_boards([position("6:14 off:1", "19:15"), position("6:15", "19:14 off:1")])
    probs = evaluator.outcome(given)
    assert probs[0, 4:].tolist() == [0, 0]
    assert float(probs[0, 1]) > 0
    assert probs[1, 1:3].tolist() == [0, 0]
    assert float(probs[1, 4]) > 0


@pytest.mark.parametrize(
    ("mover", "opponent", "column"),
    [
        ("off:15", "19:14 off:1", 0),
        ("off:15", "18:15", 1),
        ("off:15", "6:1 19:14", 2),
        ("6:14 off:1", "off:15", 3),
        ("7:15", "off:15", 4),
        ("bar:1 6:14", "off:15", 5),
    ],
)
def test_a_finished_board_has_its_exact_outcome(evaluator: Evaluator, mover: str, opponent: str, column: int) -> None:
    given = to_boards([position(mover, opponent)])
    probs = evaluator.outcome(given)[0]
    assert probs.tolist() == [float(i == column) for i in range(6)]
    points = float(outcome(given)[0])
    for cube in (None, Cube(), Cube(owner="mine"), Cube(4, "theirs")):
        assert float(evaluator.equity(given, cube)[0]) == points


def test_cubeless_equity_counts_gammons(evaluator: Evaluator, boards: Tensor) -> None:
    levels = torch.tensor([1.0, 2.0, 3.0, -1.0, -2.0, -3.0])
    torch.testing.assert_close(evaluator.equity(boards), evaluator.outcome(boards) @ levels)


@pytest.mark.parametrize(
    "cube", [None, Cube(), Cube(owner="mine"), Cube(2, "theirs"), Cube(64, "mine"), Cube(max_cube=1)]
)
def test_the_best_play_has_the_highest_value_seen_from_the_other_side(
    evaluator: Evaluator, boards: Tensor, cube: Cube | None
) -> None:
    running = boards[outcome(boards) == 0]
    dice = torch.randint(1, 7, (len(running), 2), generator=torch.Generator().manual_seed(0))
    game, after = afterstates(running, dice)
    values = -evaluator.equity(flip(after), cube and cube.flip())
    best = evaluator.best(running, dice, cube)
    for row in range(len(running)):
        own = values[game == row]
        assert float(own[best[row]]) == pytest.approx(float(own.max()), abs=1e-5)


def test_a_batch_is_answered_as_its_rows_are_one_by_one(evaluator: Evaluator, boards: Tensor) -> None:
    some = boards[outcome(boards) == 0][:12]
    dice = torch.randint(1, 7, (len(some), 2), generator=torch.Generator().manual_seed(1))
    owner = torch.tensor([0, 1, 2] * 4, dtype=torch.int8)
    whole = evaluator.cube_action(some, Cube(owner=owner))
    best = evaluator.best(some, dice, Cube(owner=owner))
    for row in range(len(some)):
        one = evaluator.cube_action(some[row : row + 1], Cube(owner=owner[row : row + 1]))
        for name in CubeAction.__dataclass_fields__:
            torch.testing.assert_close(getattr(one, name)[0], getattr(whole, name)[row], atol=1e-5, rtol=0)
        assert evaluator.best(some[row : row + 1], dice[row : row + 1], Cube(owner=owner[row : row + 1])) == best[row]


def test_the_identities_of_a_cube_action_hold(evaluator: Evaluator, boards: Tensor) -> None:
    running = boards[outcome(boards) == 0]
    centred = evaluator.cube_action(running, Cube())
    mine = evaluator.cube_action(running, Cube(2, "mine"))
    theirs = evaluator.cube_action(running, Cube(2, "theirs"))
    assert bool((mine.no_double >= centred.no_double).all())
    assert bool((centred.no_double >= theirs.no_double).all())
    assert not bool(theirs.double.any())
    for action in (centred, mine, theirs):
        torch.testing.assert_close(action.double_take, 2 * theirs.no_double)
        assert torch.equal(action.double_pass, torch.ones(len(running)))
        assert torch.equal(action.take, action.double_take <= 1)
    gains = torch.minimum(centred.double_take, centred.double_pass) > centred.no_double
    assert torch.equal(centred.double, gains)
    assert bool(centred.double.any())
    assert not bool(centred.double.all())
    value = torch.where(centred.double, torch.minimum(centred.double_take, centred.double_pass), centred.no_double)
    torch.testing.assert_close(evaluator.equity(running, Cube()), value)


def test_a_cube_at_its_cap_is_dead_and_the_one_before_becomes_so(evaluator: Evaluator, boards: Tensor) -> None:
    cubeless = evaluator.equity(boards)
    for owner in ("mine", "theirs"):
        action = evaluator.cube_action(boards, Cube(64, owner))
        torch.testing.assert_close(action.no_double, cubeless)
        assert not bool(action.double.any())
        torch.testing.assert_close(evaluator.equity(boards, Cube(64, owner)), cubeless)
    running = outcome(boards) == 0
    action = evaluator.cube_action(boards, Cube(32, "mine"))
    torch.testing.assert_close(action.double_take[running], 2 * cubeless[running])


def test_the_equity_with_a_cube_does_not_depend_on_its_value_below_the_cap(
    evaluator: Evaluator, boards: Tensor
) -> None:
    one = evaluator.equity(boards, Cube(1, "mine"))
    assert torch.equal(one, evaluator.equity(boards, Cube(16, "mine")))


class _Fixed(Evaluator):
    """An evaluator with given no-double values, to try the arithmetic of the cube."""

    def __init__(self, theirs: list[float], centred: float = -2.0) -> None:
        super().__init__(Network(NetworkConfig((16,))))
        self._theirs = torch.tensor(theirs)
        self._centred = centred

    def _outputs(self, boards: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        no_double = torch.full((len(boards), 3), self._centred)
        no_double[:, 2] = self._theirs
        return torch.zeros(len(boards), 6), no_double, torch.zeros(len(boards))


def test_beavers_turn_a_doubled_value_below_zero_into_twice_that_but_no_less_than_losing_two() -> None:
    """Taken at v the opponent beavers when 4 ND_theirs is less than 2 ND_theirs, that is below 0; dropped at -2."""
    theirs = [0.4, 0.0, -0.1, -0.4, -0.6, 0.7]
    fixed = _Fixed(theirs)
    given = start_boards(len(theirs))
    without = fixed.equity(given, Cube())
    beavers = fixed.equity(given, Cube(beavers=True))
    assert without.tolist() == pytest.approx([0.8, 0.0, -0.2, -0.8, -1.2, 1.0])
    # A beaver's 4 x -0.6 is worse than dropping it; at -2 doubling gains nothing over not doubling (-2).
    assert beavers.tolist() == pytest.approx([0.8, 0.0, -0.4, -1.6, -2.0, 1.0])
    assert fixed.cube_action(given, Cube(beavers=True)).double.tolist() == [True, True, True, True, False, True]
    assert torch.equal(
        fixed.cube_action(given, Cube(beavers=True)).double_take, fixed.cube_action(given, Cube()).double_take
    )


def test_a_beaver_beyond_the_cap_is_not_available() -> None:
    fixed = _Fixed([-0.4])
    given = start_boards(1)
    assert float(fixed.equity(given, Cube(16, "mine", beavers=True))[0]) == pytest.approx(-1.6)
    assert float(fixed.equity(given, Cube(16, "mine", beavers=True, max_cube=32))[0]) > -1.6


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (lambda e: e.best(start_boards(1), torch.tensor([[3, 1]]), plies=1), "plies"),
        (lambda e: e.cube_action(start_boards(1), Cube(), plies=2), "plies"),
        (lambda e: e.best(start_boards(2), torch.tensor([[3, 1], [7, 1]])), r"row 1: found \[7, 1\]"),
        (lambda e: e.outcome(start_boards(1).long() + 1), "row 0"),
        (lambda e: e.equity(start_boards(1), Cube(jacoby=True)), "jacoby"),
        (lambda e: e.equity(start_boards(1), Cube(away=(3, 5))), "away"),
        (lambda e: e.equity(start_boards(3), Cube(owner=torch.tensor([0, 1]))), "wanted one value or 3"),
    ],
)
def test_what_cannot_be_answered_is_refused_with_the_reason(evaluator: Evaluator, call, reason: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match=reason):
        call(evaluator)


def test_no_boards_have_no_answers(evaluator: Evaluator) -> None:
    nothing = start_boards(0)
    assert evaluator.outcome(nothing).shape == (0, 6)
    assert evaluator.best(nothing, torch.zeros(0, 2, dtype=torch.int8)).shape == (0,)
    assert evaluator.cube_action(nothing, Cube()).double.shape == (0,)


def test_a_loaded_bundle_answers_as_the_network_saved(tmp_path: Path, evaluator: Evaluator, boards: Tensor) -> None:
    save_bundle(tmp_path / "x.safetensors", evaluator.network, "backgammon", {"games": 7})
    loaded = load(tmp_path / "x.safetensors")
    assert loaded.variant == "backgammon"
    assert loaded.header["facts"] == {"games": 7}
    assert torch.equal(loaded.outcome(boards), evaluator.outcome(boards))
