"""Several training runs from one command: what they are, where they lie, and what is refused before the first."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from omegaconf import OmegaConf

from nardy.env import launch
from nardy.models.bundle import read_header
from nardy.scripts.sweep import expand, train_one
from nardy.scripts.train import main
from nardy.train import newest_checkpoint
from tests.scripts.test_train import SMALL


@pytest.fixture(autouse=True)
def _keep_threads() -> Iterator[None]:
    with launch.threads_in_use(1):
        yield


def _names(words: list[str]) -> list[str]:
    return [run[-1] for run in expand(words)]


def test_every_combination_is_a_run_named_after_what_is_different() -> None:
    assert _names(["experiment=smoke", "train.seed=1,2"]) == ["name=smoke-train.seed=1", "name=smoke-train.seed=2"]
    assert expand(["train.seed=range(1,3)", "model=tiny,small", "threads=1", "name=x"])[2] == [
        "train.seed=2",
        "model=tiny",
        "threads=1",
        "name=x-train.seed=2-model=tiny",
    ]
    assert _names(["env=longgammon"]) == ["name=longgammon"]
    assert len(expand(["train.learner.learning_rate=0.001,0.002", "train.seed=0,1,2"])) == 6


def test_texts_keep_their_commas_and_names_have_no_slash() -> None:
    assert expand(["runs=a,b", "name=c,d"]) == [["runs=a,b", "name=c,d"]]
    assert _names(["init_from=backgammon,x/y"]) == [
        "name=backgammon-init_from=backgammon",
        "name=backgammon-init_from=x_y",
    ]


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["train.seed=1,2", "train.gmaes=3"], "did you mean train.games?"),
        (["train.games=10,x"], "train.games: found 'x'"),
        (["train.seed=interval(1,2)"], "train.seed=interval(1,2): cannot be read as several values"),
        (["resume=runs/x"], "resume=runs/x: found it beside -m"),
        (["hydra/launcher=slurm"], "hydra/launcher=slurm: found no "),
        (["--fast"], "--fast"),
    ],
)
def test_what_is_wrong_is_said_before_the_first_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], reason: str
) -> None:
    assert main(["-m", f"runs={tmp_path}", *words]) == 2
    error = capsys.readouterr().err.strip()
    assert reason in error
    assert "\n" not in error
    assert not list(tmp_path.iterdir())


def test_processes_of_one_run_start_no_sweep(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    assert main(["-m", "train.seed=1,2"]) == 2


def _small(folder: Path) -> list[str]:
    return [*SMALL, "train.max_minutes=0.0001", f"runs={folder}"]


def _seed(folder: Path) -> object:
    return read_header(newest_checkpoint(folder / "checkpoints"))["config"]["train"]["seed"]


def test_a_sweep_trains_its_runs_one_after_the_other(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    home = tmp_path / "with, a 'quote'"
    assert main(["-m", *_small(home), "train.seed=3,4"]) == 0
    assert [_seed(home / f"smoke-train.seed={seed}") for seed in (3, 4)] == [3, 4]
    (file,) = home.glob("sweeps/*/runs.json")
    assert len(json.loads(file.read_text())) == 2
    assert "2 runs:" in capsys.readouterr().out
    assert main(["-m", *_small(home), "train.seed=4,5"]) == 2
    assert "smoke-train.seed=4: a run of that name exists" in capsys.readouterr().err
    assert not (home / "smoke-train.seed=5").exists()


def test_a_run_that_fails_fails_the_sweep_and_the_others_go_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["-m", *_small(tmp_path), "model.hidden=[32],[64]", "init_from=nowhere"]
    assert main(words) == 1
    shown = capsys.readouterr()
    assert shown.err.count("init_from: model: found no file 'nowhere'") == 2
    assert "2 runs, not all to their end" in shown.out


def test_a_job_that_is_queued_again_goes_on_with_its_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (run,) = expand(_small(tmp_path))
    (tmp_path / "runs.json").write_text(json.dumps([run]))
    config = OmegaConf.create({"sweep": {"file": str(tmp_path / "runs.json"), "run": 0}})
    train_one(config)
    monkeypatch.setenv("SLURM_RESTART_COUNT", "1")
    capsys.readouterr()
    train_one(config)
    assert "going on from" in capsys.readouterr().out


def test_jobs_of_submitit_train_in_processes_of_their_own(tmp_path: Path) -> None:
    pytest.importorskip("submitit")
    words = ["-m", "hydra/launcher=submitit_local", "hydra.launcher.timeout_min=5"]
    assert main([*words, *_small(tmp_path), "train.seed=3,4"]) == 0
    assert [_seed(tmp_path / f"smoke-train.seed={seed}") for seed in (3, 4)] == [3, 4]
