"""Two processes that share a run do together what one does alone."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from nardy.models import BundleError, Network, NetworkConfig
from nardy.models.bundle import read_tensors
from nardy.train.checkpoint import Progress, load_checkpoint, save_checkpoint
from nardy.train.config import LearnerConfig, SelfPlayConfig
from nardy.train.distributed import World
from nardy.train.learner import Learner
from nardy.train.selfplay import SelfPlay
from nardy.train.targets import td_lambda

_PROGRAM = """
import sys
import torch
from nardy.env.launch import use_threads
from tests.train.test_distributed import learn_once
from nardy.train import join_world, leave_world

use_threads(1)
world = join_world(on_gpu=False)
learn_once(world, sys.argv[1])
leave_world(world)
"""


def learn_once(world: World, folder: str) -> None:
    """Play a window in this rank's slots, learn from it in one batch, and write down what came of it."""
    network = Network(NetworkConfig((32,), context_units=8), seed=1)
    number = world.share(64, "num_games")
    config = SelfPlayConfig(number, window_plies=8)
    selfplay = SelfPlay(network, "backgammon", config, 3, torch.device("cpu"), world.rank * number)
    learner = Learner(network, "backgammon", LearnerConfig(batch_size=64 * 8, muon_learning_rate=0.02), 0, world)
    window = selfplay.collect()
    losses = learner.learn(window, td_lambda(window, 0.7), 1e-3)
    gradients = [p.grad for p in network.parameters()]
    weights = [p.detach().clone() for p in network.parameters()]
    with torch.no_grad():
        network.first.weight += 1e-3 * world.rank  # as if its machine rounded otherwise
    learner.learn(window, td_lambda(window, 0.7), 1e-3)
    torch.save(  # read back by this test alone
        {
            "boards": window.boards,
            "gradients": gradients,
            "weights": weights,
            "weights later": [p.detach() for p in network.parameters()],
            "losses": torch.tensor([losses.outcome, losses.cube, losses.stake]),
            "gathered": world.gather(selfplay.games.boards),
            "games": torch.tensor(selfplay.counts.take(world)["plies"]),
        },
        f"{folder}/rank{world.rank}of{world.size}.pt",
    )


def _environment() -> dict[str, str]:
    root = str(Path(__file__).resolve().parents[2])
    return os.environ | {"PYTHONPATH": os.pathsep.join([root, os.environ.get("PYTHONPATH", "")])}


def _torchrun(number: int, *arguments: str) -> subprocess.CompletedProcess[str]:
    launch = [sys.executable, "-m", "torch.distributed.run", f"--nproc-per-node={number}", "--standalone"]
    return subprocess.run(
        [*launch, *arguments], env=_environment(), capture_output=True, text=True, timeout=300, check=False
    )


def test_two_ranks_play_the_same_games_and_take_the_same_step_as_one(tmp_path: Path) -> None:
    learn_once(World(), str(tmp_path))
    program = tmp_path / "program.py"
    program.write_text(_PROGRAM)
    finished = _torchrun(2, str(program), str(tmp_path))
    assert finished.returncode == 0, finished.stderr[-2000:]
    alone = torch.load(tmp_path / "rank0of1.pt")
    ranks = [torch.load(tmp_path / f"rank{rank}of2.pt") for rank in range(2)]
    assert torch.equal(torch.cat([rank["boards"] for rank in ranks], 1), alone["boards"])
    for rank in ranks:
        assert torch.equal(rank["gathered"], alone["gathered"])
        assert torch.equal(rank["games"], alone["games"])
        torch.testing.assert_close(rank["losses"], alone["losses"], rtol=1e-4, atol=0)
        for one, other in zip(rank["gradients"], alone["gradients"], strict=True):
            assert float((one - other).norm()) <= 1e-5 * float(other.norm())
    for when in ("weights", "weights later"):
        for one, other in zip(ranks[0][when], ranks[1][when], strict=True):
            assert torch.equal(one, other)


def test_torchrun_trains_a_whole_run_and_one_process_goes_on_with_it(tmp_path: Path) -> None:
    script = str(Path(__file__).resolve().parents[2] / "scripts" / "train.py")
    words = [
        "experiment=smoke",
        "train.games=150",
        "train.evaluate_games=0",
        "train.learner.learning_rate=0.005",
        "evaluation.final_games=4",
        "device=cpu",
        f"runs={tmp_path}",
    ]
    finished = _torchrun(2, script, *words, "train.max_minutes=0.0001")
    assert finished.returncode == 0, finished.stderr[-2000:]
    assert "in each of 2 processes" in finished.stdout
    assert finished.stdout.count("the time limit is reached") == 1
    checkpoint = next((tmp_path / "smoke" / "checkpoints").iterdir())
    assert read_tensors(checkpoint, "selfplay.games.")["boards"].shape[0] == 128
    alone = [sys.executable, script, f"resume={tmp_path / 'smoke'}", "train.max_minutes=null"]
    resumed = subprocess.run(alone, env=_environment(), capture_output=True, text=True, timeout=300, check=False)
    assert resumed.returncode == 0, resumed.stderr[-2000:]
    assert (tmp_path / "smoke" / "bundle.safetensors").is_file()


@pytest.mark.parametrize("size", [1, 2, 3, 4, 7])
def test_the_parts_of_any_number_of_ranks_are_the_whole(size: int) -> None:
    whole = {"boards": torch.arange(42).view(21, 2), "player": torch.arange(8)}
    parts = [World(rank, size).part(whole) for rank in range(size)]
    for name, tensor in whole.items():
        assert torch.equal(torch.cat([part[name] for part in parts]), tensor)


def test_games_of_another_number_are_not_cut_down_to_a_ranks_share(tmp_path: Path) -> None:
    """Slots that a smaller run leaves out would be lost without a word."""

    def parts(number: int, world: World) -> tuple[Learner, SelfPlay]:
        network = Network(NetworkConfig((16,)), seed=1)
        selfplay = SelfPlay(network, "backgammon", SelfPlayConfig(number), 3, torch.device("cpu"))
        return Learner(network, "backgammon", LearnerConfig(), 0, world), selfplay

    path = save_checkpoint(tmp_path, *parts(12, World()), Progress(), {}, 1)
    for rank in range(2):
        load_checkpoint(path, *parts(6, World(rank, 2)))
        with pytest.raises(BundleError, match=r"does not fit this run: .*boards"):
            load_checkpoint(path, *parts(4, World(rank, 2)))


def test_what_cannot_be_shared_equally_is_named() -> None:
    with pytest.raises(ValueError, match="num_games: found 100 for 3 processes, wanted a multiple of 3"):
        World(rank=1, size=3).share(100, "num_games")
