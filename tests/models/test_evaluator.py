"""The contract of `nardy.models.load(...)`: outcomes, equities, best plays and cube actions."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import Tensor

from nardy.env import Cube, afterstates, flip, outcome, start_boards
from nardy.models import Evaluator, Network, NetworkConfig, load, save_bundle
from nardy.models.evaluator import CubeAction
from nardy.models.stakes import Stakes
from tests.positions import position, to_boards


def _opinionated(context_units: int) -> Evaluator:
    """A network whose values differ much from position to position and from stake to stake."""
    network = Network(NetworkConfig((32, 16), context_units=context_units), seed=4)
    with torch.no_grad():
        network.head.weight.mul_(8)
        if context_units:
            network.context_out.weight.normal_(0, 0.3, generator=torch.Generator().manual_seed(2))
    return Evaluator(network.requires_grad_(False))


@pytest.fixture(scope="module", params=[8, 0], ids=["all stakes", "money only"])
def evaluator(request: pytest.FixtureRequest) -> Evaluator:
    return _opinionated(request.param)


@pytest.fixture(scope="module", params=["learned", "formula for what is not", "formula"])
def versed(request: pytest.FixtureRequest) -> Evaluator:
    """An evaluator that judges every stake: by its cube head, or by Janowski's formula where it has learned none."""
    evaluator = _opinionated(8 if request.param == "learned" else 0)
    evaluator.cube_life = 0.6 if request.param == "formula" else None
    return evaluator


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


STAKES = [
    Cube(jacoby=True),
    Cube(2, "mine", jacoby=True),
    Cube(away=(5, 7)),
    Cube(2, "mine", away=(3, 7)),
    Cube(2, "theirs", away=(3, 7)),
    Cube(4, "mine", away=(3, 7)),
    Cube(away=(1, 4), crawford=True),
    Cube(away=(1, 4)),
    Cube(away=(4, 1)),
    Cube(away=(40, 30)),
    Cube(32, "mine", away=(60, 70), max_cube=32),
]


@pytest.mark.parametrize("cube", STAKES, ids=str)
def test_at_every_stake_the_best_play_has_the_highest_value_seen_from_the_other_side(
    versed: Evaluator, boards: Tensor, cube: Cube
) -> None:
    running = boards[outcome(boards) == 0]
    dice = torch.randint(1, 7, (len(running), 2), generator=torch.Generator().manual_seed(0))
    game, after = afterstates(running, dice)
    theirs = versed.equity(flip(after), cube.flip())
    values = 1 - theirs if cube.away else -theirs
    best = versed.best(running, dice, cube)
    for row in range(len(running)):
        own = values[game == row]
        assert float(own[best[row]]) == pytest.approx(float(own.max()), abs=1e-5)


@pytest.mark.parametrize("cube", STAKES, ids=str)
def test_at_every_stake_a_cube_action_keeps_its_identities(versed: Evaluator, boards: Tensor, cube: Cube) -> None:
    running = boards[outcome(boards) == 0]
    action = versed.cube_action(running, cube)
    may = bool(cube.may_double()[0])
    gains = torch.minimum(action.double_take, action.double_pass) > action.no_double
    assert torch.equal(action.double, gains & may)
    assert torch.equal(action.take, action.double_take <= action.double_pass)
    if cube.away:
        after = versed.table.after_points(
            torch.tensor([cube.away]), torch.tensor([cube.crawford]), torch.tensor([[cube.value]])
        )
        torch.testing.assert_close(action.double_pass, after[0].expand(len(running)), atol=1e-6, rtol=0)
        for values in (action.no_double, action.double_take):
            assert bool(((values >= -1e-6) & (values <= 1 + 1e-6)).all())
    value = torch.where(action.double, torch.minimum(action.double_take, action.double_pass), action.no_double)
    torch.testing.assert_close(versed.equity(running, cube), value)


@pytest.mark.parametrize(
    "cube", [Cube(4, "mine", away=(3, 7)), Cube(8, "theirs", away=(9, 8)), Cube(away=(1, 4), crawford=True)], ids=str
)
def test_a_cube_dead_at_the_score_leaves_the_chances_of_the_outcomes_alone(
    versed: Evaluator, boards: Tensor, cube: Cube
) -> None:
    probs = versed.outcome(boards)
    points = cube.value * torch.tensor([[1, 2, 3, -1, -2, -3]])
    worth = versed.table.after_points(torch.tensor([cube.away]), torch.tensor([cube.crawford]), points)[0]
    torch.testing.assert_close(versed.equity(boards, cube), probs @ worth, atol=1e-5, rtol=0)


def test_scores_and_money_may_stand_in_one_batch(versed: Evaluator, boards: Tensor) -> None:
    some = boards[outcome(boards) == 0][:9]
    away = torch.tensor([[0, 0], [3, 5], [1, 2]]).repeat(3, 1)
    whole = versed.equity(some, Cube(owner=torch.tensor([0, 1, 2]).repeat_interleave(3), value=2, away=away))
    for row, board in enumerate(some):
        pair = (int(away[row, 0]), int(away[row, 1])) if row % 3 else None
        cube = Cube(2, ("centred", "mine", "theirs")[row // 3], away=pair)
        assert float(versed.equity(board[None], cube)[0]) == pytest.approx(float(whole[row]), abs=1e-5)


def test_without_the_cube_turned_jacoby_counts_no_gammons(versed: Evaluator) -> None:
    """Two checkers left against fifteen at home: a gammon that Jacoby does not pay, unless the cube was turned."""
    won = to_boards([position("1:1 off:14", "19:15")])
    centred = versed.cube_action(won, Cube(jacoby=True))
    assert float(centred.no_double[0]) <= 1.0
    turned = versed.equity(won, Cube(2, "theirs", jacoby=True))
    assert float(turned[0]) == pytest.approx(float(versed.equity(won, Cube(2, "theirs"))[0]))


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

    def _cube_values(self, raw: Tensor, probs: Tensor, possible: Tensor, stakes: Stakes) -> tuple[Tensor, Tensor]:
        no_double = torch.full((len(raw), 3), self._centred)
        no_double[:, 2] = self._theirs
        return no_double, 2 * self._theirs


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


def test_a_bundle_keeps_the_table_of_match_chances(tmp_path: Path, versed: Evaluator) -> None:
    save_bundle(tmp_path / "x.safetensors", versed.network, "backgammon", table=versed.table)
    assert versed.table.size == 25
    loaded = load(tmp_path / "x.safetensors")
    assert torch.equal(loaded.table.before, versed.table.before)
    assert torch.equal(loaded.table.after, versed.table.after)
