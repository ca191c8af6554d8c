"""Exported models: plain tensor operations say what the kernels say, and an ONNX file what torch says."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
import torch
from torch import Tensor

from nardy.env import Cube
from nardy.env.variants import VARIANTS, get_variant
from nardy.models import Evaluator, Network, NetworkConfig, load
from nardy.models.encoding import NUM_BASIC_INPUTS, NUM_INPUTS, encode
from nardy.models.export import (
    ExportError,
    ExportOptions,
    OnnxModel,
    export_model,
    play_loss,
    played_positions,
    quantize_onnx,
    write_onnx,
)
from nardy.models.export.cells import exact_outcomes, plain_encode, plain_possible
from nardy.models.export.graph import BoardModel, money_inputs
from nardy.models.stakes import match_stakes
from nardy.models.values import exact_probabilities, possible_outcomes
from tests.random_positions import random_position


def _random_boards(variant: str, count: int) -> Tensor:
    random = Random(1)  # noqa: S311
    return torch.tensor([random_position(random, variant) for _ in range(count)], dtype=torch.int8)


@pytest.mark.parametrize("variant", VARIANTS)
def test_plain_operations_equal_the_kernels(variant: str, scale: Callable[[int], int]) -> None:
    boards, rules = _random_boards(variant, scale(60_000)), get_variant(variant)
    inputs = encode(boards, variant)
    assert torch.equal(plain_encode(boards, rules, NUM_INPUTS), inputs)
    assert torch.equal(plain_encode(boards[:100], rules, NUM_BASIC_INPUTS), inputs[:100, :NUM_BASIC_INPUTS])
    assert torch.equal(plain_possible(boards, rules), possible_outcomes(boards, variant))
    (done, exact), (wanted_done, wanted) = exact_outcomes(boards, rules), exact_probabilities(boards, variant)
    assert bool(done.any())
    assert torch.equal(done, wanted_done)
    assert torch.equal(exact[done], wanted[done])


def test_a_board_model_says_what_the_evaluator_says() -> None:
    evaluator, boards = load("backgammon"), _random_boards("backgammon", 500)
    with torch.no_grad():
        outcome, money, jacoby, stake = BoardModel(evaluator.network, "backgammon")(boards, *money_inputs())
    assert torch.allclose(outcome, evaluator.outcome(boards), atol=1e-6)
    for column, owner in enumerate(("centred", "mine", "theirs")):
        for found, cube in ((money, Cube(owner=owner)), (jacoby, Cube(owner=owner, jacoby=True))):
            assert torch.allclose(found[:, column], evaluator.cube_action(boards, cube).no_double, atol=1e-5)
    assert torch.allclose(stake, money, atol=1e-5)


def test_played_positions_are_legal_and_repeat() -> None:
    evaluator = load("longgammon")
    boards, dice = played_positions(evaluator, 700)
    again, _ = played_positions(evaluator, 700)
    assert torch.equal(boards, again)
    assert boards.shape == (700, 2, 26)
    assert not bool(exact_probabilities(boards, "longgammon")[0].any())
    assert evaluator.best(boards, dice).shape == (700,)


def test_missing_packages_are_named_with_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    network = Evaluator(Network(NetworkConfig((16,))), "backgammon")
    with pytest.raises(ExportError, match=r"found no package onnx, .*: pip install 'nardy\[onnx\]'"):
        export_model(network, ExportOptions(), tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_what_does_not_fit_together_is_refused() -> None:
    with pytest.raises(ValueError, match="quantize: found true with format bundle"):
        ExportOptions(format="bundle", quantize=True)
    with pytest.raises(ValueError, match="positions: found 0"):
        ExportOptions(positions=0)


def _needs_onnx() -> None:
    for package in ("onnx", "onnxscript", "onnxruntime"):
        pytest.importorskip(package, reason=f"needs {package}: pip install 'nardy[onnx]'")


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    _needs_onnx()
    path = tmp_path_factory.mktemp("onnx") / "model.onnx"
    write_onnx(path, load("backgammon"))
    return path


class TestOnnx:
    def test_it_says_what_torch_says_for_any_batch(self, file: Path, scale: Callable[[int], int]) -> None:
        evaluator, model = load("backgammon"), OnnxModel(file)
        played, _ = played_positions(evaluator, scale(10_000))
        boards = torch.cat([played, _random_boards("backgammon", scale(4_000))])
        found = model(boards)
        with torch.no_grad():
            wanted = BoardModel(evaluator.network, "backgammon")(boards, *money_inputs())
        for name, values in zip(model.output_names, wanted, strict=True):
            assert torch.allclose(found[name], values, rtol=0, atol=1e-5), name
            assert torch.allclose(model(boards[3:4])[name], values[3:4], rtol=0, atol=1e-5), name
            assert model(boards[:0])[name].shape == (0, values.shape[1])

    def test_match_play_by_its_stake(self, file: Path) -> None:
        evaluator, model = load("backgammon"), OnnxModel(file)
        boards = _random_boards("backgammon", 60)
        score = torch.tensor([[4, 2]])
        stakes = match_stakes(torch.tensor([2]), score, torch.tensor([False]), 64, evaluator.table)
        one = model(boards, stakes.features, stakes.payoff, stakes.may_double)["no_double_stake"]
        every = stakes.rows(torch.zeros(60, dtype=torch.int64))
        each = model(boards, every.features, every.payoff, every.may_double)["no_double_stake"]
        assert torch.equal(one, each)
        for column, owner in enumerate(("centred", "mine", "theirs")):
            chance = stakes.middle + stakes.half * one[:, column]
            wanted = evaluator.cube_action(boards, Cube(2, owner, away=(4, 2))).no_double
            assert torch.allclose(chance, wanted, rtol=0, atol=1e-5)

    def test_it_describes_itself_and_holds_a_reference(self, file: Path) -> None:
        model = OnnxModel(file)
        assert model.metadata["encoding"] == "cells-618"
        assert model.metadata["variant"] == "backgammon"
        assert model.metadata["opset"] == "18"
        assert set(json.loads(model.metadata["values"])) > {"boards", "outcome", "no_double"}
        assert json.loads(model.metadata["facts"])["games"] > 0
        reference = json.loads(model.metadata["reference"])
        found = model(torch.tensor(reference.pop("boards"), dtype=torch.int8))
        assert set(reference) == {"outcome", "no_double", "no_double_jacoby"}
        for name, wanted in reference.items():
            assert torch.allclose(found[name], torch.tensor(wanted), rtol=0, atol=1e-5)

    def test_eight_bits_lose_little(self, file: Path, tmp_path: Path) -> None:
        evaluator, smaller = load("backgammon"), tmp_path / "small.onnx"
        quantize_onnx(file, smaller)
        assert smaller.stat().st_size < 0.6 * file.stat().st_size
        model, whole = OnnxModel(smaller), OnnxModel(file)
        assert model.metadata["quantized"].startswith("int8")
        loss = play_loss(evaluator, lambda boards: model(boards)["outcome"], 300)
        assert 200 < loss.decisions <= 300
        assert 0 < loss.changed < 0.1
        assert 0 < loss.equity_lost < 2
        assert 0 < loss.equity_rms < 0.1
        assert play_loss(evaluator, lambda boards: whole(boards)["outcome"], 300).changed == 0


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["sprintgammon", "longgammon"])
def test_other_disciplines_and_networks_without_context(variant: str, tmp_path: Path) -> None:
    _needs_onnx()
    network = Network(NetworkConfig((16, 8), context_units=8 if variant == "longgammon" else 0))
    evaluator = Evaluator(network, variant)
    written = export_model(evaluator, ExportOptions(format="onnx", positions=500), tmp_path)
    assert written[0].difference is not None
    assert written[0].difference < 1e-5
    assert len(OnnxModel(written[0].path).output_names) == (4 if variant == "longgammon" else 2)
