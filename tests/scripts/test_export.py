"""``nardy-export`` as a user types it."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest
import torch

from nardy.models import Network, NetworkConfig, load
from nardy.models.bundle import save_tensors
from nardy.scripts.export import main, run_name


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run as a GPU leaves it: a checkpoint with averaged weights, its configuration naming the device."""
    network = Network(NetworkConfig((16, 8)))
    state = network.state_dict()
    tensors = {f"network.{name}": torch.zeros_like(value) for name, value in state.items()}
    tensors |= {f"ema.{name}": value for name, value in state.items()}
    header = {"kind": "checkpoint", "variant": "sprintgammon", "network": asdict(network.config)}
    header |= {"config": {"device": "cuda:3"}, "facts": {"games": 7}}
    folder = tmp_path / "quick" / "checkpoints"
    folder.mkdir(parents=True)
    save_tensors(folder / "games-000000000007.safetensors", tensors, header)
    return tmp_path / "quick"


def test_a_checkpoint_from_a_gpu_is_exported_without_one(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert main([f"run={run}", "format=bundle", f"output={tmp_path / 'out'}", "positions=50"]) == 0
    assert "bundle.safetensors" in capsys.readouterr().out
    model, wanted = load(tmp_path / "out"), load(run)
    assert model.header["kind"] == "bundle"
    assert model.header["facts"] == {"games": 7}
    assert model.device.type == "cpu"
    for name, tensor in wanted.network.state_dict().items():
        assert torch.equal(model.network.state_dict()[name], tensor)
    assert float(model.network.first.weight.abs().sum()) > 0
    assert json.loads((tmp_path / "out" / "bundle.json").read_text())["facts"] == {"games": 7}


def test_names_follow_the_run(run: Path) -> None:
    assert run_name(str(run)) == "quick"
    assert run_name("runs/quick/bundle.safetensors") == "quick"
    assert run_name("a/games-7.safetensors") == "games-7"
    assert run_name("backgammon") == "backgammon"


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (["format=onyx"], "format: found 'onyx', wanted one of bundle, onnx, all"),
        (["run=/nothing"], "found no file '/nothing'"),
        (["positions=0"], "positions: found 0"),
        (["format=bundle", "quantize=true"], "quantize: found true"),
        (["rum=a"], "did you mean run?"),
    ],
)
def test_what_does_not_fit_is_one_line(words: list[str], wanted: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    captured = capsys.readouterr()
    assert wanted in captured.err
    assert captured.err.count("\n") == 1


def test_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    assert "quantize=false" in capsys.readouterr().out
