"""What can end a training run from outside, said in one line: a loss, a disk, a device, another process."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import torch

from nardy.models import BundleError
from nardy.scripts.command import system_error
from nardy.scripts.next_commands import command_line
from nardy.train import LostProcessError, NotFiniteError, World, newest_checkpoint

__all__ = ["reason_to_stop", "say_stopped"]

# torch raises a type of its own for these only since 2.8, and Warp none: what both write is all there is to go by.
_DEVICE_WORDS = ("CUDA error", "CUDA driver", "cuBLAS", "CUBLAS", "cuDNN", "HIP error")


def reason_to_stop(error: Exception) -> str | None:
    """What ended the run in plain words, None for a fault of the program, whose traceback is wanted."""
    if isinstance(error, NotFiniteError | LostProcessError):
        return str(error)
    if isinstance(error, BrokenPipeError):
        return "the reader of standard output has gone"
    if isinstance(error, OSError):
        return system_error(error)
    if isinstance(error, torch.OutOfMemoryError | MemoryError) or "can't allocate memory" in str(error):
        return f"out of memory, fewer train.selfplay.num_games need less ({_first_line(error)})"
    accelerator = getattr(torch, "AcceleratorError", None)
    lost = accelerator is not None and isinstance(error, accelerator)
    if lost or (isinstance(error, RuntimeError) and any(word in str(error) for word in _DEVICE_WORDS)):
        return f"the device is lost ({_first_line(error)})"
    return None


def say_stopped(folder: Path, reason: str, world: World) -> None:
    """Print, on standard error, why the run in ``folder`` has ended and how to go on with it."""
    who = f"process {world.rank} of {world.size}: " if world.size > 1 else ""
    try:
        checkpoint = newest_checkpoint(folder / "checkpoints")
        state = (
            f"the last good checkpoint is {checkpoint.name}, go on with: {command_line('train', f'resume={folder}')}"
        )
    except (BundleError, OSError):
        state = "there is no checkpoint yet"
    # torchrun ends all processes once it misses one, which must not cut the message short.
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    print(" ".join(f"{folder}: {who}training stopped: {reason}; {state}".split()), file=sys.stderr, flush=True)
    signal.signal(signal.SIGTERM, before)


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
