"""``bundle.json`` is enough: a reader that knows nothing of nardy gets the answers of the model."""

from __future__ import annotations

import json
from itertools import product
from random import Random

import numpy as np
import pytest
import torch

from nardy.env import Cube
from nardy.env.variants import VARIANTS
from nardy.models import Evaluator, Network, NetworkConfig, load
from nardy.models.bundle import BUNDLED
from nardy.models.encoding import ENCODINGS, encode
from nardy.models.export import ExportOptions, export_model
from tests.models.described import Described
from tests.random_positions import random_position


def _evaluator(variant: str, encoding: str) -> Evaluator:
    bundled = load(variant) if (BUNDLED / f"{variant}.safetensors").is_file() else None
    if bundled is not None and bundled.network.config.encoding == encoding:
        return bundled
    network = Network(NetworkConfig((32, 16), encoding))
    with torch.no_grad():
        network.head.weight.mul_(8)
        network.context_out.weight.normal_(generator=torch.Generator().manual_seed(1))
    return Evaluator(network, variant)


@pytest.fixture(scope="module", params=list(product(VARIANTS, ENCODINGS)), ids="-".join)
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Evaluator, Described]:
    folder = tmp_path_factory.mktemp("bundle")
    evaluator = _evaluator(*request.param)
    export_model(evaluator, ExportOptions(format="bundle", positions=20), folder)
    return load(folder), Described(folder / "bundle.json")


def _boards(variant: str, count: int) -> torch.Tensor:
    random = Random(3)  # noqa: S311
    return torch.tensor([random_position(random, variant) for _ in range(count)], dtype=torch.int8)


def test_inputs_and_answers_follow_from_the_description(pair: tuple[Evaluator, Described]) -> None:
    evaluator, described = pair
    boards = _boards(evaluator.variant, 150)
    inputs = encode(boards, evaluator.variant)[:, : evaluator.network.config.num_inputs].numpy()
    outcome = evaluator.outcome(boards).numpy()
    money = [evaluator.cube_action(boards, Cube(owner=o)).no_double.numpy() for o in ("centred", "mine", "theirs")]
    jacoby = evaluator.cube_action(boards, Cube(jacoby=True)).no_double.numpy()
    told = described.text["heads"]["no_double_stake"]["jacoby"]
    for row, board in enumerate(boards.tolist()):
        np.testing.assert_allclose(described.inputs(board), inputs[row], atol=1e-6)
        probs, values = described.answers(board)
        np.testing.assert_allclose(probs, outcome[row], atol=1e-5)
        np.testing.assert_allclose(values, [each[row] for each in money], atol=1e-5)
        _, values = described.answers(board, np.array(told["payoff"]), np.array(told["features"], np.float32))
        np.testing.assert_allclose(values[0], jacoby[row], atol=1e-5)


@pytest.mark.parametrize(("away", "crawford", "cube"), [((5, 3), False, 1), ((2, 7), False, 2), ((1, 4), True, 1)])
def test_match_scores_follow_from_the_documentation(
    pair: tuple[Evaluator, Described], away: tuple[int, int], crawford: bool, cube: int
) -> None:
    evaluator, described = pair
    boards = _boards(evaluator.variant, 40)
    stake = described.stake(away, crawford, cube)
    for column, owner in enumerate(("centred", "mine", "theirs")):
        wanted = evaluator.cube_action(boards, Cube(cube, owner, away=away, crawford=crawford)).no_double
        for row, board in enumerate(boards.tolist()):
            ended = described.over(board)
            if ended is not None:
                points = cube * (1, 2, 3, -1, -2, -3)[ended]
                left = away[0] - max(points, 0), away[1] + min(points, 0)
                assert described.chance(left, crawford or 1 in away) == pytest.approx(float(wanted[row]), abs=1e-6)
                continue
            _, values = described.answers(board, stake["payoff"], stake["features"], stake["may_double"])
            assert stake["middle"] + stake["half"] * values[column] == pytest.approx(float(wanted[row]), abs=1e-5)


def test_a_double_at_a_score_is_the_doubled_stake(pair: tuple[Evaluator, Described]) -> None:
    evaluator, described = pair
    boards = _boards(evaluator.variant, 40)
    action = evaluator.cube_action(boards, Cube(away=(7, 4)))
    doubled = described.stake((7, 4), False, 2)
    for row, board in enumerate(boards.tolist()):
        _, values = described.answers(board, doubled["payoff"], doubled["features"], doubled["may_double"])
        chance = doubled["middle"] + doubled["half"] * values[2]
        if described.over(board) is None:
            assert chance == pytest.approx(float(action.double_take[row]), abs=1e-5)
    assert described.chance((6, 4), False) == pytest.approx(float(action.double_pass[0]), abs=1e-6)


def test_the_reference_in_it_is_met(pair: tuple[Evaluator, Described]) -> None:
    _, described = pair
    reference = described.text["reference"]
    assert len(reference["boards"]) == 4
    for board, outcome, no_double in zip(
        reference["boards"], reference["outcome"], reference["no_double"], strict=True
    ):
        probs, values = described.answers(board)
        np.testing.assert_allclose(probs, outcome, atol=reference["tolerance"])
        np.testing.assert_allclose(values, no_double, atol=reference["tolerance"])


def test_every_input_is_listed_once(pair: tuple[Evaluator, Described]) -> None:
    evaluator, described = pair
    inputs = described.text["encoding"]["inputs"]
    number = evaluator.network.config.num_inputs
    assert [entry["index"] for entry in inputs] == list(range(number))
    assert len({json.dumps({k: v for k, v in entry.items() if k != "index"}) for entry in inputs}) == number
