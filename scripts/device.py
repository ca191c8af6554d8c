"""Choosing where to compute, and saying so."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass

import torch

from nardy.env.launch import use_threads
from nardy.scripts.settings import CommandError

__all__ = ["Device", "choose_device", "choose_threads"]


@dataclass(frozen=True)
class Device:
    """A torch device and what to call it."""

    device: torch.device
    description: str


def choose_device(name: str, local_rank: int | None = None) -> Device:
    """The device called ``auto`` (a GPU if there is one), ``cpu``, ``cuda`` or ``cuda:1``, or a `CommandError`.

    Of several processes on a machine each takes the GPU of its ``local_rank`` where the name has no number.
    """
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        device = torch.device(name)
    except RuntimeError:
        raise CommandError(f"device: found {name!r}, wanted auto, cpu, cuda or cuda:N") from None
    if device.type == "cpu":
        return Device(device, f"the CPU ({platform.processor() or platform.machine()})")
    if device.type == "cuda" and ":" not in name and local_rank is not None:
        device = torch.device("cuda", local_rank)
    if device.type != "cuda":
        raise CommandError(f"device: found {name!r}, wanted auto, cpu, cuda or cuda:N")
    if not torch.cuda.is_available() or (device.index or 0) >= torch.cuda.device_count():
        raise CommandError(f"device: found no {name} here ({torch.cuda.device_count()} GPUs), wanted auto or cpu")
    device = torch.device("cuda", device.index or 0)
    if local_rank is not None:
        torch.cuda.set_device(device)
    return Device(device, f"{torch.cuda.get_device_name(device)} ({device})")


def choose_threads(threads: int | None, processes: int = 1) -> int:
    """Let everything use so many CPU threads, None for all cores shared by the ``processes`` here; the number."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if threads is not None and not 1 <= threads <= 1024:
        raise CommandError(f"threads: found {threads}, wanted 1 to 1024, or null for all cores")
    chosen = threads or max(1, cores // processes)
    use_threads(chosen)
    return chosen
