"""Consulting pairs: decisions by the mean of two models, and how a pair is named on a command line."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import Tensor

from nardy.env import Cube, afterstates, flip, start_boards
from nardy.eval.bots import ModelBot, make_bot
from nardy.eval.pairs import ConsultingPair
from nardy.models import CubeAction, Evaluator, Network, NetworkConfig, save_bundle
from tests.eval.fakes import FakeEvaluator


def _evaluator(seed: int, variant: str = "backgammon") -> Evaluator:
    """A network with opinions; a new one has none."""
    network, generator = Network(NetworkConfig((32,))), torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for weights in network.parameters():
            weights.copy_(0.1 * torch.randn(weights.shape, generator=generator))
    return Evaluator(network, variant)


def _pair(*evaluators: Evaluator) -> ConsultingPair:
    one, other = evaluators
    return ConsultingPair((one, other), ("model:a", "model:b"))


@pytest.mark.parametrize(
    "cube", [None, Cube(), Cube(2, "mine"), Cube(4, "theirs")], ids=["none", "1", "mine", "theirs"]
)
def test_a_pair_plays_what_is_best_on_the_mean(cube: Cube | None) -> None:
    one, other = _evaluator(1), _evaluator(2)
    boards, dice = start_boards(8), torch.randint(1, 7, (8, 2), generator=torch.Generator().manual_seed(0))
    chosen = _pair(one, other).choose(boards, dice, cube, torch.zeros(8))
    differ = 0
    for game in range(8):
        _, plays = afterstates(boards[game : game + 1], dice[game : game + 1])
        seen = None if cube is None else cube.flip()
        values = [-judge.equity(flip(plays), seen) for judge in (one, other)]
        mean = (values[0] + values[1]) / 2
        found = (plays == chosen[game]).flatten(1).all(1)
        assert int(found.sum()) == 1
        assert float(mean[found]) == pytest.approx(float(mean.max()), abs=1e-6)
        differ += bool(values[0][found] < values[0].max() - 1e-6) or bool(values[1][found] < values[1].max() - 1e-6)
    assert differ  # somewhere one of them has given way


def test_every_game_of_a_batch_is_judged_with_its_own_cube() -> None:
    one, other = _evaluator(1), _evaluator(2)
    boards, dice = start_boards(3), torch.tensor([[6, 4]]).expand(3, 2)
    cubes = [Cube(1, "centred"), Cube(2, "mine"), Cube(2, "theirs")]
    together = Cube(torch.tensor([1, 2, 2], dtype=torch.int32), torch.tensor([0, 1, 2], dtype=torch.int8))
    chosen = _pair(one, other).choose(boards, dice, together, torch.zeros(3))
    for game, cube in enumerate(cubes):
        alone = _pair(one, other).choose(boards[game : game + 1], dice[game : game + 1], cube, torch.zeros(1))
        assert torch.equal(chosen[game : game + 1], alone)


@pytest.mark.parametrize(
    "cube", [Cube(2, "mine"), Cube(jacoby=True), Cube(beavers=True), Cube(2, "mine", away=(4, 2)), Cube(away=(5, 5))]
)
def test_two_of_the_same_play_as_the_one_alone(cube: Cube) -> None:
    model = _evaluator(3)
    boards, dice = start_boards(21), torch.combinations(torch.arange(1, 7), with_replacement=True)
    pair, alone = _pair(model, model), ModelBot(model, "model:a")
    ties = torch.zeros(21)
    one, other = (bot.choose(boards, dice, cube, ties) for bot in (pair, alone))
    values = [-model.equity(flip(chosen), cube.flip()) for chosen in (one, other)]
    assert torch.allclose(values[0], values[1], atol=1e-5)
    assert torch.equal(pair.double(boards, cube), alone.double(boards, cube))
    assert torch.equal(pair.take(boards, cube), alone.take(boards, cube))


class _Opinion(FakeEvaluator):
    """Has one opinion of the cube, whatever the position."""

    def __init__(self, no_double: float, double_take: float) -> None:
        super().__init__()
        self.values = no_double, double_take

    def cube_action(self, boards: Tensor, cube: Cube, plies: int = 0) -> CubeAction:
        """The opinion."""
        no_double, double_take, double_pass = (torch.full((len(boards),), value) for value in (*self.values, 1.0))
        better = torch.minimum(double_take, double_pass) > no_double
        return CubeAction(no_double, double_take, double_pass, better, double_take <= double_pass)


@pytest.mark.parametrize(
    ("one", "other", "doubles", "takes"),
    [
        ((0.5, 0.6), (0.5, 0.3), False, True),  # one would double; the mean says no
        ((0.5, 0.8), (0.5, 0.4), True, True),
        ((0.5, 1.2), (0.5, 0.6), True, True),  # one would drop; the mean takes
        ((0.5, 1.6), (0.5, 0.6), True, False),
        ((1.3, 1.6), (0.9, 1.2), False, False),  # too good on the mean
    ],
)
def test_cube_decisions_follow_the_mean(
    one: tuple[float, float], other: tuple[float, float], doubles: bool, takes: bool
) -> None:
    pair = ConsultingPair((_Opinion(*one), _Opinion(*other)), ("model:a", "model:b"))
    boards = start_boards(2)
    assert pair.double(boards, Cube()).tolist() == [doubles] * 2
    assert pair.take(boards, Cube()).tolist() == [takes] * 2


def test_a_pair_does_not_double_where_it_may_not() -> None:
    pair = ConsultingPair((_Opinion(0.0, 0.8), _Opinion(0.0, 0.8)), ("model:a", "model:b"))
    owners = torch.tensor([0, 1, 2], dtype=torch.int8)
    assert pair.double(start_boards(3), Cube(owner=owners)).tolist() == [True, True, False]


def test_a_double_that_would_be_beavered_counts_twice() -> None:
    pair = ConsultingPair((_Opinion(-0.5, -0.3), _Opinion(-0.5, -0.3)), ("model:a", "model:b"))
    assert pair.double(start_boards(1), Cube()).tolist() == [True]
    assert pair.double(start_boards(1), Cube(beavers=True)).tolist() == [False]  # -0.6 after the beaver
    assert pair.double(start_boards(1), Cube(beavers=True, max_cube=2)).tolist() == [True]


def test_partners_play_the_same_discipline() -> None:
    with pytest.raises(ValueError, match="found models for backgammon and sprintgammon"):
        _pair(_evaluator(1), _evaluator(1, "sprintgammon"))


def test_a_pair_is_named_by_its_partners(tmp_path: Path) -> None:
    paths = [tmp_path / name / "bundle.safetensors" for name in ("a+b", "c")]
    for path in paths:
        path.parent.mkdir()
        save_bundle(path, Network(NetworkConfig((16,))), "backgammon")
    spec = f"pair:model:{paths[0]}+model:{paths[1]}"
    pair = make_bot(spec)
    assert isinstance(pair, ConsultingPair)
    assert pair.name == spec
    assert pair.partners == (f"model:{paths[0]}", f"model:{paths[1]}")
    with pytest.raises(ValueError, match="found a model for backgammon, wanted one for sprintgammon"):
        make_bot(spec, "sprintgammon")


@pytest.mark.parametrize(
    "spec",
    ["pair:pipcount+random", "pair:model:a", "pair:model:a+pipcount", "pair:pipcount+model:a", "pair:model:+model:b"],
)
def test_partners_without_equities_are_refused(spec: str) -> None:
    with pytest.raises(ValueError, match=r"found 'pair:.*wanted two models, which have equities to average"):
        make_bot(spec)
