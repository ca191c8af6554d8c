"""The training command as a newcomer meets it: the whole path, and one line for everything that is wrong."""

from __future__ import annotations

import io
import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import pytest
from omegaconf import OmegaConf
from rich.console import Console

from nardy.env import launch
from nardy.models import load
from nardy.scripts.command import CommandError
from nardy.scripts.next_commands import command_line
from nardy.scripts.train import EvaluationOptions, alone_in, main, new_run, old_run
from nardy.scripts.train_display import TrainDisplay
from nardy.train import Losses, Progress

# An untrained bot hardly ever brings its checkers home: some learning makes the evaluation short.
SMALL = [
    "experiment=smoke",
    "train.games=160",
    "train.checkpoint_games=80",
    "train.evaluate_games=0",
    "train.learner.learning_rate=0.005",
    "evaluation.final_games=4",
    "threads=1",
    "device=cpu",
]


@pytest.fixture(autouse=True)
def _keep_threads() -> Iterator[None]:
    with launch.threads_in_use(1):
        yield


def test_a_run_leaves_all_it_promises_and_says_what_to_do_next(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*SMALL, "train.evaluate_games=150", "evaluation.games=2", f"runs={tmp_path}"]) == 0
    folder = tmp_path / "smoke"
    for name in ("config.yaml", "metrics.jsonl", "evaluation.json", "bundle.safetensors", "curves.png"):
        assert (folder / name).stat().st_size > 0, name
    assert list((folder / "tensorboard").iterdir())
    assert list((folder / "checkpoints").iterdir())
    results = json.loads((folder / "evaluation.json").read_text())
    assert {name: result["options"]["cube"] for name, result in results.items()} == {"cubeless": False, "cubeful": True}
    assert all(result["num_games"] == 4 for result in results.values())
    assert load(folder).header["facts"]["games"] >= 160
    printed = capsys.readouterr().out
    assert "CPU" in printed
    for word in ("play bot=", "tensorboard --logdir", "evaluate bot=", "pipcount"):
        assert word in printed


def test_a_larger_network_starts_from_a_trained_one(tmp_path: Path) -> None:
    assert main([*SMALL, f"runs={tmp_path}"]) == 0
    start = f"init_from={tmp_path / 'smoke'}"
    assert main([*SMALL, start, "name=grown", "model.hidden=[48,32]", f"runs={tmp_path}"]) == 0
    assert load(tmp_path / "grown").network.config.hidden == (48, 32)


@pytest.mark.parametrize("discipline", ["sprintgammon", "longgammon"])
def test_every_discipline_is_trained_and_evaluated_by_the_same_words(tmp_path: Path, discipline: str) -> None:
    assert main([*SMALL, f"env={discipline}", f"runs={tmp_path}"]) == 0
    assert load(tmp_path / "smoke").variant == discipline


def test_training_takes_the_discipline_alone_of_a_format(tmp_path: Path) -> None:
    options, folder = new_run(["env=longgammon_blitz", "name=x", f"runs={tmp_path}"])
    assert asdict(options.env) == {"variant": "longgammon"}
    assert OmegaConf.select(OmegaConf.load(folder / "config.yaml"), "env") == {"variant": "longgammon"}
    assert old_run(folder, [])[0] == options


def test_help_lists_the_keys_that_training_takes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help", "env=sprintgammon"]) == 0
    page = capsys.readouterr().out
    assert "env.variant=sprintgammon  " in page
    assert "discipline" in page
    assert "env.match_length" not in page


def test_a_finished_run_goes_on_with_a_larger_budget(tmp_path: Path) -> None:
    assert main([*SMALL, f"runs={tmp_path}"]) == 0
    before = load(tmp_path / "smoke").header["facts"]["games"]
    assert main([f"resume={tmp_path / 'smoke'}", "train.games=300"]) == 0
    assert load(tmp_path / "smoke").header["facts"]["games"] >= 300 > before
    assert old_run(tmp_path / "smoke", [])[0].train.games == 300  # a later resume keeps what this one was told


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["train.gmaes=5"], "train.gmaes"),
        (["experiment=smok"], "did you mean smoke?"),
        (["train.games=many"], "train.games: found 'many'"),
        (["train.games=0"], "train.games: found 0"),
        (["train.selfplay.cubeful_fraction=2"], "train.selfplay.cubeful_fraction: found 2"),
        (["model.hidden=[100]"], "model.hidden: found [100]"),
        (["env.variant=chess"], "variant: found 'chess'"),
        (["env=blitz", "env.match_length=7"], "env.match_length: found it in training, which takes env.variant alone"),
        (["env=blitzz"], "env: found 'blitzz', wanted one of backgammon, blitz"),
        (["evaluation.games=3"], "evaluation.games: found 3"),
        (["device=tpu"], "device: found 'tpu'"),
        (["device=cuda:99"], "device: found no cuda:99"),
        (["threads=0"], "threads: found 0"),
        (["init_from=nowhere"], "init_from: model: found no file 'nowhere'"),
        (["init_from=backgammon"], "init_from: hidden: found [32], wanted every layer at least as wide"),
        (
            ["init_from=backgammon", "env=longgammon"],
            "init_from: found a model of backgammon, wanted one of longgammon",
        ),
        (["resume=nowhere"], "nowhere: found no config.yaml"),
        (["--fast"], "--fast"),
        (["quick"], "quick"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], reason: str
) -> None:
    assert main(["experiment=smoke", f"runs={tmp_path}", *words]) != 0
    error = capsys.readouterr().err.strip()
    assert reason in error
    assert "\n" not in error
    assert not list(tmp_path.iterdir())  # nothing that stands in the way of the next try


@pytest.mark.parametrize(
    ("stored", "words", "reason"),
    [
        ("", [], "config.yaml: env: found nothing"),
        ("train: {games: x}", [], "config.yaml: "),
        ("train: {}", ["train.games=["], "train.games=["),
        ("train: {}", ["train.seed=3"], "train.seed: found it beside resume="),
        ("train: {}", ["name=other"], "name: found it beside resume="),
        ("train: [", [], "config.yaml: cannot be used"),
        ("- 1", [], "config.yaml: cannot be used"),
    ],
)
def test_a_resume_that_cannot_be_read_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], stored: str, words: list[str], reason: str
) -> None:
    (tmp_path / "config.yaml").write_text(stored)
    assert main([f"resume={tmp_path}", *words]) == 2
    error = capsys.readouterr().err.strip()
    assert reason in error
    assert "\n" not in error


def test_two_processes_do_not_train_in_one_folder(tmp_path: Path) -> None:
    with alone_in(tmp_path), pytest.raises(CommandError, match="another process"), alone_in(tmp_path):
        pass
    with alone_in(tmp_path):  # free again
        pass


@pytest.mark.parametrize("command", ["train", "play", "evaluate"])
def test_a_printed_command_runs_as_it_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    root = Path(__file__).parents[2]
    monkeypatch.chdir(root)
    monkeypatch.setattr(sys, "argv", ["scripts/train.py"])
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    line = command_line(command, f"resume={tmp_path} a;b")
    done = subprocess.run(["sh", "-c", f"{line} --help"], capture_output=True, text=True, check=False)
    assert done.returncode in (0, 2), done.stderr  # found, started, and read as one word
    assert "not found" not in done.stderr


def test_the_bar_shows_its_numbers_on_80_columns() -> None:
    file = io.StringIO()
    display = TrainDisplay(Console(width=80, file=file), 150_000, "backgammon", EvaluationOptions())
    with display:
        display.report(Progress(games=20_480), Losses(0.0123, 0.123, 0.1, 1.0), 93_517.0)
    for word in ("20480/150000", "93,517 decisions/s", "loss 0.012 + 0.123", "left"):
        assert word in file.getvalue()


def test_a_run_of_that_name_is_not_touched(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "smoke").mkdir()
    (tmp_path / "smoke" / "mine").write_text("kept")
    assert main(["experiment=smoke", f"runs={tmp_path}"]) == 2
    assert "exists" in capsys.readouterr().err
    assert [path.name for path in (tmp_path / "smoke").iterdir()] == ["mine"]


def test_a_run_without_a_good_checkpoint_cannot_be_resumed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*SMALL, f"runs={tmp_path}"]) == 0
    for path in (tmp_path / "smoke" / "checkpoints").iterdir():
        path.write_bytes(b"junk")
    capsys.readouterr()
    assert main([f"resume={tmp_path / 'smoke'}"]) == 2
    error = capsys.readouterr().err.strip()
    assert "wanted games-" in error
    assert "\n" not in error


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_saves_and_the_run_can_be_resumed(tmp_path: Path, number: signal.Signals, code: int) -> None:
    command = [sys.executable, "-m", "nardy.scripts.train", *SMALL, "train.games=1000000", f"runs={tmp_path}"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    metrics = tmp_path / "smoke" / "metrics.jsonl"
    deadline = time.monotonic() + 120
    while not (metrics.is_file() and metrics.stat().st_size) and time.monotonic() < deadline:
        time.sleep(0.2)
    process.send_signal(number)
    printed, _ = process.communicate(timeout=120)
    assert process.returncode == code, printed
    assert "Traceback" not in printed
    assert "resume=" in printed
    assert main([f"resume={tmp_path / 'smoke'}", "train.games=10"]) == 0
