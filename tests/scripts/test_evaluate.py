"""``nardy-evaluate`` as a user types it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nardy.models import Network, NetworkConfig, save_bundle
from nardy.scripts.evaluate import main
from tests.eval.test_reference import BENCH, needs_bench


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "a (b), c=d" / "bundle.safetensors"
    path.parent.mkdir()
    save_bundle(path, Network(NetworkConfig((16,))), "sprintgammon")
    return path


def test_match_prints_a_table_and_writes_json(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "result.json"
    words = [f"bot=model:{model}", "opponent=random", "games=4", "variant=sprintgammon", f"output={output}"]
    assert main([*words, "cube=false"]) == 0
    assert "points a game, 95 % interval" in capsys.readouterr().out
    result = json.loads(output.read_text())
    assert result["num_games"] == 4
    assert result["bot"] == f"model:{model}"
    assert [path.name for path in tmp_path.iterdir() if path.name.endswith(".tmp")] == []


@needs_bench
def test_reference_prints_losses_and_writes_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bundle.safetensors"
    save_bundle(path, Network(NetworkConfig((16,))), "backgammon")
    assert main(["reference", f"model={path}", f"path={BENCH}", f"output={tmp_path / 'r.json'}"]) == 0
    assert "natural" in capsys.readouterr().out
    assert json.loads((tmp_path / "r.json").read_text())["checker"]["natural"] > 0


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (["bot=chess"], "bot: found 'chess', wanted one of random, pipcount, model:NAME_OR_PATH"),
        (["games=3"], "games: found 3, wanted an even number"),
        (["gamse=4"], "gamse: found no such key"),
        (["cube=maybe"], "cube: found 'maybe', wanted true or false"),
        (["device=gpu"], "device: found 'gpu', wanted auto, cpu"),
        (["variant=chess"], "variant: found 'chess'"),
        (["match_length=3", "jacoby=true"], "jacoby: found it with match_length"),
        (["bot=model:/nothing/here"], "'/nothing/here'"),
        (["bot=random", "output=/nothing/here.json"], "output: found '/nothing/here.json'"),
        (["rate"], "task: found 'rate', wanted one of match, reference"),
        (["reference", "bot=random"], "bot: found no such key"),
    ],
)
def test_what_does_not_fit_is_one_line_and_exit_code_2(
    words: list[str], wanted: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    captured = capsys.readouterr()
    assert wanted in captured.err
    assert captured.err.count("\n") == 1


def test_a_missing_file_is_exit_code_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bundle.safetensors"
    save_bundle(path, Network(NetworkConfig((16,))), "backgammon")
    assert main(["reference", f"model={path}", f"path={tmp_path}"]) == 1
    assert "decisions.npz: found no such file" in capsys.readouterr().err


def test_help_shows_the_tasks_and_the_keys_of_the_chosen_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    assert "opponent=pipcount" in capsys.readouterr().out
    assert main(["reference", "--help"]) == 0
    page = capsys.readouterr().out
    assert "path=" in page
    assert "opponent=pipcount" not in page
