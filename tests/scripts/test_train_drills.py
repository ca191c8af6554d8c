"""Training never stops silently: whatever ends it says so in one line and leaves a checkpoint to go on from."""

from __future__ import annotations

import os
import random
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch
from torch import Tensor

from nardy.env import launch
from nardy.models import Network
from nardy.models.bundle import read_tensors
from nardy.scripts.train import main
from nardy.train import Trainer, newest_checkpoint
from nardy.train.learner import Learner

SMALL = [
    "experiment=smoke",
    "train.games=1000000",
    "train.checkpoint_games=20",
    "train.log_games=20",
    "train.evaluate_games=0",
    "train.learner.learning_rate=0.005",
    "evaluation.final_games=4",
    "threads=1",
    "device=cpu",
]
SCRIPT = str(Path(__file__).resolve().parents[2] / "scripts" / "train.py")
_DEADLINE = 120  # seconds, many times what is needed


@pytest.fixture(autouse=True)
def _keep_threads() -> Iterator[None]:
    with launch.threads_in_use(1):
        yield


def _wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _DEADLINE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _checkpoints(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (folder / "checkpoints").glob("games-*")}


def _begun(tmp_path: Path) -> Path:
    """A run that has stopped early with some checkpoints."""
    assert main([*SMALL, "train.max_minutes=0.01", f"runs={tmp_path}"]) == 0
    return tmp_path / "smoke"


def _goes_on(folder: Path) -> None:
    before = newest_checkpoint(folder / "checkpoints")
    assert main([f"resume={folder}", "train.max_minutes=0.01"]) == 0
    assert newest_checkpoint(folder / "checkpoints").name > before.name


def _failing_after(
    calls: int, failure: Callable[[], Tensor], instead_of: Callable[..., Tensor]
) -> Callable[..., Tensor]:
    """``instead_of`` for some calls, then ``failure``."""
    seen = 0

    def call(*arguments: object, **named: object) -> Tensor:
        nonlocal seen
        seen += 1
        return instead_of(*arguments, **named) if seen <= calls else failure()

    return call


def _lost_device() -> Tensor:
    kind = getattr(torch, "AcceleratorError", RuntimeError)
    raise kind("CUDA error: an illegal memory access was encountered\nCUDA kernel errors might be reported later")


@pytest.mark.parametrize(
    ("owner", "name", "failure", "reason"),
    [
        (Learner, "_update", lambda: torch.full((4,), float("nan")), "loss: found nan"),
        (Network, "forward", _lost_device, "the device is lost (CUDA error: an illegal memory access"),
    ],
    ids=["not a number", "lost device"],
)
def test_a_failure_is_one_line_and_the_last_checkpoint_stays(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    owner: type,
    name: str,
    failure: Callable[[], Tensor],
    reason: str,
) -> None:
    folder = _begun(tmp_path)
    before = _checkpoints(folder)
    capsys.readouterr()
    with monkeypatch.context() as patched:
        patched.setattr(owner, name, _failing_after(3, failure, getattr(owner, name)))
        assert main([f"resume={folder}", "train.max_minutes=null", "train.checkpoint_games=10000"]) == 1
    error = capsys.readouterr().err.strip()
    assert f"{folder}: training stopped: {reason}" in error
    assert f"the last good checkpoint is {max(before)}, go on with:" in error
    assert "\n" not in error
    assert _checkpoints(folder) == before
    _goes_on(folder)


def test_the_line_is_said_even_if_torchrun_ends_the_process_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = _begun(tmp_path)
    ended: list[int] = []
    monkeypatch.setattr(Learner, "_update", lambda *_: torch.full((4,), float("nan")))
    monkeypatch.setattr(Trainer, "close", lambda _: os.kill(os.getpid(), signal.SIGTERM))
    before = signal.signal(signal.SIGTERM, lambda number, _: ended.append(number))
    try:
        assert main([f"resume={folder}", "train.max_minutes=null"]) == 1
        assert not ended
        os.kill(os.getpid(), signal.SIGTERM)
        assert ended == [signal.SIGTERM]  # and afterwards it is the caller's again
    finally:
        signal.signal(signal.SIGTERM, before)
    assert "training stopped: loss: found nan" in capsys.readouterr().err


def test_a_fault_of_the_program_keeps_its_traceback(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fault() -> Tensor:
        raise RuntimeError("The size of tensor a (3) must match the size of tensor b (4)")

    monkeypatch.setattr(Learner, "_update", _failing_after(0, fault, Learner._update))
    with pytest.raises(RuntimeError, match="must match"):
        main([*SMALL, f"runs={tmp_path}"])


def test_a_full_disk_is_one_line_and_the_last_checkpoint_stays(tmp_path: Path) -> None:
    folder = _begun(tmp_path)
    before = _checkpoints(folder)
    smaller = min(map(len, before.values())) // 2

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (smaller, smaller))

    command = [sys.executable, SCRIPT, f"resume={folder}", "train.max_minutes=null"]
    ended = subprocess.run(command, preexec_fn=limit, capture_output=True, text=True, timeout=_DEADLINE, check=False)
    assert ended.returncode == 1
    (line,) = ended.stderr.strip().splitlines()
    assert "training stopped:" in line
    assert "no file may become so large here" in line
    assert f"the last good checkpoint is {max(before)}" in line
    assert _checkpoints(folder) == before
    assert not [path for path in (folder / "checkpoints").iterdir() if path.name not in before]
    _goes_on(folder)


def _ranks(folder: Path) -> dict[int, int]:
    """The process ids of the ranks that train in ``folder``, from what the system tells of every process."""
    found = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
            environment = (entry / "environ").read_bytes().split(b"\0")
        except OSError:  # gone, or not ours
            continue
        rank = [line for line in environment if line.startswith(b"RANK=")]
        if f"runs={folder.parent}".encode() in words and rank:
            found[int(rank[0].partition(b"=")[2])] = int(entry.name)
    return found


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs /proc")
def test_a_killed_process_is_missed_at_once_and_torchrun_goes_on_from_the_checkpoint(tmp_path: Path) -> None:
    folder = tmp_path / "smoke"
    launch_words = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", "--max-restarts=1"]
    words = [word for word in SMALL if not word.startswith("threads")]
    command = [sys.executable, *launch_words, SCRIPT, *words, f"runs={tmp_path}"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        _wait_for(lambda: len(_checkpoints(folder)) > 1)
        first, before = _ranks(folder), max(_checkpoints(folder))
        os.kill(first[1], signal.SIGKILL)
        _wait_for(lambda: not set(first.values()) & set(_ranks(folder).values()) and len(_ranks(folder)) == 2)
        _wait_for(lambda: max(_checkpoints(folder)) > before)
        os.kill(_ranks(folder)[0], signal.SIGKILL)  # the one that writes
        printed, errors = process.communicate(timeout=_DEADLINE)
    finally:
        process.kill()
    assert process.returncode != 0
    assert printed.count("going on from") == 1
    lines = [line for line in errors.splitlines() if "training stopped:" in line]
    assert ["process 0 of 2:" in lines[0], "process 1 of 2:" in lines[-1]] == [True, True]
    assert all("another process of the run cannot be reached" in line for line in lines)
    assert 'Traceback (most recent call last):\n  File "' + SCRIPT not in errors
    assert main([f"resume={folder}", "train.max_minutes=0.01"]) == 0


def test_a_run_killed_at_any_moment_and_resumed_is_bit_for_bit_the_run_never_stopped(tmp_path: Path) -> None:
    for name in ("straight", "killed"):
        (tmp_path / name).mkdir()
    words = [*SMALL, "train.games=240", "train.keep_checkpoints=50", "train.selfplay.stake_fraction=0.5"]
    words += ["train.table_games=80"]
    assert main([*words, f"runs={tmp_path / 'straight'}"]) == 0
    folder = tmp_path / "killed" / "smoke"
    process = subprocess.Popen(
        [sys.executable, SCRIPT, *words, f"runs={tmp_path / 'killed'}"], stdout=subprocess.DEVNULL
    )
    _wait_for(lambda: len(_checkpoints(folder)) > 2)
    time.sleep(0.5 * random.random())  # noqa: S311  # any moment will do; what it was does not matter
    process.kill()
    assert process.wait() == -signal.SIGKILL
    at = newest_checkpoint(folder / "checkpoints").name
    assert main([f"resume={folder}"]) == 0
    one, two = (newest_checkpoint(tmp_path / name / "smoke" / "checkpoints") for name in ("straight", "killed"))
    assert at < one.name == two.name
    ours, theirs = read_tensors(one), read_tensors(two)
    assert ours.keys() == theirs.keys()
    assert any(key.startswith("network.") for key in ours)
    for key, value in ours.items():
        assert torch.equal(value, theirs[key]), key


def test_a_run_that_ended_before_its_first_checkpoint_begins_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = _begun(tmp_path)
    for path in (folder / "checkpoints").iterdir():
        path.unlink()
    assert main([f"resume={folder}"]) == 0
    assert "there is no checkpoint yet" in capsys.readouterr().out
    assert _checkpoints(folder)
