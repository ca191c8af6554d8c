"""A run: it resumes exactly, stops when told, and keeps its last good checkpoint whatever happens."""

from __future__ import annotations

import errno
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors import safe_open

from nardy.models import BundleError, Network, NetworkConfig, load, save_bundle
from nardy.models.bundle import read_header, save_tensors
from nardy.train import (
    LearnerConfig,
    LuckConfig,
    NotFiniteError,
    RankerConfig,
    SelfPlayConfig,
    TargetsConfig,
    TrainConfig,
    Trainer,
    draw_curves,
    newest_checkpoint,
    read_metrics,
)
from nardy.train.learner import Learner
from nardy.train.monitor import Monitor

CONFIG = TrainConfig(
    games=60,
    selfplay=SelfPlayConfig(num_games=48, window_plies=8),
    learner=LearnerConfig(batch_size=128, warmup_games=10),
    checkpoint_games=20,
    keep_checkpoints=2,
    evaluate_games=25,
    log_games=10,
)
NETWORK = NetworkConfig((16,))
CPU = torch.device("cpu")


def _trainer(folder: Path, config: TrainConfig = CONFIG, checkpoint: Path | None = None) -> Trainer:
    folder.mkdir(exist_ok=True)
    return Trainer(config, NETWORK, "backgammon", folder, CPU, {"note": "test"}, checkpoint)


def _run(trainer: Trainer, windows: int | None = None) -> bool:
    seen = 0

    def report(*_: object) -> None:
        nonlocal seen
        seen += 1
        trainer.stop = trainer.stop or seen == windows

    try:
        return trainer.run(report)
    finally:
        trainer.close()


def _tensors(path: Path) -> dict[str, torch.Tensor]:
    with safe_open(str(path), framework="pt") as file:
        return {name: file.get_tensor(name) for name in list(file.keys())}


_COMPANIONS = {"luck": LuckConfig((16, 8)), "ranker": RankerConfig(16, keep=3, warmup_games=0)}
_MUON = {"learner": replace(CONFIG.learner, muon_learning_rate=0.02)}


@pytest.mark.parametrize("changes", [{}, _COMPANIONS, _MUON], ids=["plain", "with luck and ranker", "with Muon"])
def test_a_run_resumed_is_bit_for_bit_the_run_never_stopped(tmp_path: Path, changes: dict[str, Any]) -> None:
    config = replace(CONFIG, games=10_000, **changes)
    _run(_trainer(tmp_path / "straight", config), windows=16)
    _run(_trainer(tmp_path / "halved", config), windows=7)
    checkpoint = newest_checkpoint(tmp_path / "halved" / "checkpoints")
    _run(_trainer(tmp_path / "halved", config, checkpoint), windows=9)
    one = _tensors(newest_checkpoint(tmp_path / "straight" / "checkpoints"))
    two = _tensors(newest_checkpoint(tmp_path / "halved" / "checkpoints"))
    assert one.keys() == two.keys()
    for name, value in one.items():
        assert torch.equal(value, two[name]), name


@pytest.mark.parametrize("player", ["network", "average"])
def test_games_are_played_by_whom_the_settings_name_after_a_resume_too(tmp_path: Path, player: str) -> None:
    config = replace(CONFIG, selfplay=replace(CONFIG.selfplay, player=player))
    trainer = _trainer(tmp_path, config)
    _run(trainer, windows=4)
    resumed = _trainer(tmp_path, config, newest_checkpoint(tmp_path / "checkpoints"))
    for each in (trainer, resumed):
        assert not torch.equal(each.learner.network.first.weight, each.learner.average.first.weight)
        wanted = getattr(each.learner, player)
        assert torch.equal(each.selfplay.network.first.weight, wanted.first.weight)
    with pytest.raises(ValueError, match="player: found both, wanted network or average"):
        SelfPlayConfig(player="both")


def test_exact_luck_is_that_of_the_player_and_resumes(tmp_path: Path) -> None:
    targets = TargetsConfig(bellman_from=0.0, bellman_share=0.25, bellman_lambda=0.9, bellman_passes=2)
    config = replace(CONFIG, targets=targets, selfplay=replace(CONFIG.selfplay, player="average"))
    straight = _trainer(tmp_path / "straight", config)
    _run(straight, windows=6)
    _run(_trainer(tmp_path / "parts", config), windows=3)
    resumed = _trainer(tmp_path / "parts", config, newest_checkpoint(tmp_path / "parts" / "checkpoints"))
    _run(resumed, windows=3)
    one, other = straight.learner.state(), resumed.learner.state()
    assert all(torch.equal(one[name], other[name]) for name in one)


def test_a_run_ends_with_its_budget_and_leaves_its_files(tmp_path: Path) -> None:
    trainer = _trainer(tmp_path / "run")
    evaluations: list[int] = []

    def evaluate(network: Network) -> dict[str, float]:
        assert network is trainer.learner.average
        evaluations.append(trainer.progress.games)
        return {"points": 0.5, "margin": 0.1}

    assert trainer.run(lambda *_: None, evaluate)
    trainer.close()
    assert trainer.progress.games >= 60
    assert len(evaluations) >= 2
    metrics = read_metrics(tmp_path / "run")
    assert [entry["games"] for entry in metrics] == sorted(entry["games"] for entry in metrics)
    names = set().union(*metrics)
    wanted = {
        "loss/outcome",
        "loss/cube",
        "speed/decisions_per_second",
        "games/plies",
        "games/gammon_rate",
        "games/backgammon_rate",
        "games/win_rate",
        "cube/turned_rate",
        "calibration/win",
        "evaluation/points",
    }
    assert wanted <= names
    assert len(list((tmp_path / "run" / "checkpoints").iterdir())) == 2
    assert list((tmp_path / "run" / "tensorboard").iterdir())
    draw_curves(tmp_path / "run", tmp_path / "curves.png")
    assert (tmp_path / "curves.png").read_bytes().startswith(b"\x89PNG")
    assert load(tmp_path / "run").header["config"] == {"note": "test"}


def test_a_time_limit_stops_early_and_the_run_is_saved(tmp_path: Path) -> None:
    trainer = _trainer(tmp_path / "run", replace(CONFIG, games=10**9, max_minutes=1e-9))
    assert not _run(trainer)
    assert newest_checkpoint(tmp_path / "run" / "checkpoints").is_file()


def test_a_loss_that_is_not_a_number_leaves_the_last_good_checkpoint(tmp_path: Path) -> None:
    trainer = _trainer(tmp_path / "run", replace(CONFIG, games=10_000))
    _run(trainer, windows=8)
    checkpoint = newest_checkpoint(tmp_path / "run" / "checkpoints")
    before = checkpoint.read_bytes()
    trainer = _trainer(tmp_path / "run", replace(CONFIG, games=10_000), checkpoint)
    with torch.no_grad():
        trainer.learner.network.head.bias[7] = float("inf")
    with pytest.raises(NotFiniteError):
        _run(trainer)
    assert newest_checkpoint(tmp_path / "run" / "checkpoints") == checkpoint
    assert checkpoint.read_bytes() == before


def test_a_full_disk_leaves_the_last_good_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trainer = _trainer(tmp_path / "run", replace(CONFIG, games=10_000))
    _run(trainer, windows=8)
    folder = tmp_path / "run" / "checkpoints"
    before = {path.name: path.read_bytes() for path in folder.iterdir()}

    def full(_: int) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(os, "fsync", full)
    trainer.progress.games += 1
    with pytest.raises(OSError, match="No space left"):
        trainer.save()
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_what_a_killed_process_left_half_written_is_removed(tmp_path: Path) -> None:
    trainer = _trainer(tmp_path / "run", replace(CONFIG, games=10_000))
    left = tmp_path / "run" / "checkpoints" / ".games-000000000009.safetensors.77.tmp"
    left.parent.mkdir()
    left.write_bytes(b"half")
    trainer.save()
    assert [path.name for path in left.parent.iterdir()] == ["games-000000000000.safetensors"]


def test_a_damaged_newest_checkpoint_is_passed_over_for_the_one_before(tmp_path: Path) -> None:
    trainer = _trainer(tmp_path / "run", replace(CONFIG, games=10_000))
    _run(trainer, windows=6)
    folder = tmp_path / "run" / "checkpoints"
    good = newest_checkpoint(folder)
    (folder / "games-999999999999.safetensors").write_bytes(good.read_bytes()[:1000])
    assert newest_checkpoint(folder) == good
    good.write_bytes(b"")
    for path in folder.iterdir():
        path.write_bytes(b"junk")
    with pytest.raises(BundleError, match="wanted games-"):
        newest_checkpoint(folder)


def test_a_checkpoint_of_another_shape_is_refused_by_name(tmp_path: Path) -> None:
    trainer = _trainer(tmp_path / "run", replace(CONFIG, games=10_000))
    _run(trainer, windows=2)
    checkpoint = newest_checkpoint(tmp_path / "run" / "checkpoints")
    more = replace(CONFIG, selfplay=SelfPlayConfig(num_games=32, window_plies=8))
    with pytest.raises(BundleError, match="found shape"):
        _trainer(tmp_path / "other", more, checkpoint)
    (tmp_path / "wide").mkdir()
    with pytest.raises(BundleError, match=r"found a network \[16\] with .*, wanted \[32\]"):
        Trainer(CONFIG, NetworkConfig((32,)), "backgammon", tmp_path / "wide", CPU, {}, checkpoint)
    with pytest.raises(BundleError, match="variant"):
        Trainer(CONFIG, NETWORK, "sprintgammon", tmp_path / "wide", CPU, {}, checkpoint)
    save_bundle(tmp_path / "bundle.safetensors", Network(NETWORK), "backgammon")
    with pytest.raises(BundleError, match="cannot be resumed"):
        _trainer(tmp_path / "other", CONFIG, tmp_path / "bundle.safetensors")


def test_the_log_goes_on_behind_the_checkpoint_it_resumes_from(tmp_path: Path) -> None:
    config = replace(CONFIG, games=10_000)
    _run(_trainer(tmp_path / "run", config), windows=8)
    checkpoint = newest_checkpoint(tmp_path / "run" / "checkpoints")
    path = tmp_path / "run" / "metrics.jsonl"
    path.write_text(path.read_text() + '{"games": 999999, "loss/outcome": 1.0}\n{"games": 9', encoding="utf-8")
    _run(_trainer(tmp_path / "run", config, checkpoint), windows=4)
    games = [entry["games"] for entry in read_metrics(tmp_path / "run")]
    assert 999999 not in games
    assert games == sorted(games)


def test_a_first_seed_gives_the_same_run_twice_and_another_a_different_one(tmp_path: Path) -> None:
    weights = []
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        trainer = _trainer(tmp_path / name, replace(CONFIG, seed=seed, games=10_000))
        _run(trainer, windows=3)
        assert isinstance(trainer.learner, Learner)
        weights.append(trainer.learner.network.first.weight)
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[0], weights[2])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("adamw.exp_avg.head.bias", torch.zeros(3)),
        ("muon.momentum.first.weight", torch.zeros(3)),
        ("selfplay.games.boards", torch.full((48, 2, 26), -7, dtype=torch.int8)),
        ("selfplay.games.cube_owner", torch.full((48,), 7, dtype=torch.int8)),
        ("selfplay.games.dice", torch.full((48, 2), 100, dtype=torch.int8)),
        ("learner.num_updates", torch.zeros(3)),
    ],
)
def test_a_damaged_tensor_is_refused_before_a_kernel_meets_it(tmp_path: Path, name: str, value: torch.Tensor) -> None:
    config = replace(CONFIG, learner=replace(CONFIG.learner, muon_learning_rate=0.02))
    _run(_trainer(tmp_path, config), 2)
    path = newest_checkpoint(tmp_path / "checkpoints")
    save_tensors(path, _tensors(path) | {name: value}, read_header(path))
    with pytest.raises(BundleError, match="does not fit this run"):
        _trainer(tmp_path, config, path)


def test_a_full_disk_names_the_file_and_prints_no_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monitor = Monitor(tmp_path)

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("tensorboard.summary.writer.record_writer.RecordWriter.write", full)
    many = {f"loss/{number}": 1.0 for number in range(200)}  # the thread's error is met at a later write
    with pytest.raises(OSError, match="tensorboard") as caught:
        monitor.record(0, many)
    assert caught.value.errno == errno.ENOSPC
    assert "Traceback" not in capsys.readouterr().err
