"""Several processes training one network: who they are, and the few things they say to one another.

Every process (rank) plays its own share of the game slots and holds the same weights. After each batch the gradients
are added up over all ranks, so all take the same step; rank 0 alone writes files. ``torchrun`` starts the processes and
says who is who in the environment. Without it there is one rank, and nothing here costs anything.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

__all__ = ["LostProcessError", "World", "join_world", "leave_world"]

# Others wait while rank 0 evaluates. A process that dies breaks its connections and is missed at once; this is for one
# that hangs, or a machine that vanishes without a word.
_PATIENCE = timedelta(minutes=30)
_SOURCE_PLACE = re.compile(r"^\[[^\]]*\] ?")  # where in the backend's own source an error was met


class LostProcessError(RuntimeError):
    """Another process of the run cannot be reached any more: it has died, hangs, or the network has failed."""


@dataclass(frozen=True)
class World:
    """The processes of a run, seen from one of them.

    Attributes:
        rank: number of this process. size: how many there are. local_rank: number of this process on its machine.
    """

    rank: int = 0
    size: int = 1
    local_rank: int = 0

    @property
    def writes(self) -> bool:
        """Is this the one process that writes files and speaks?"""
        return self.rank == 0

    def share(self, total: int, what: str) -> int:
        """This rank's equal share of ``total``; ``ValueError`` names ``what`` cannot be divided."""
        if total % self.size:
            raise ValueError(f"{what}: found {total} for {self.size} processes, wanted a multiple of {self.size}")
        return total // self.size

    def add_up(self, tensors: Sequence[Tensor]) -> None:
        """Replace every tensor by its sum over all ranks, all in one message."""
        if self.size == 1:
            return
        flat = torch.cat([tensor.reshape(-1) for tensor in tensors])
        with _reaching_others():
            dist.all_reduce(flat)
        _spread(flat, tensors)

    def follow_first(self, tensors: Sequence[Tensor]) -> None:
        """Replace every tensor by that of rank 0, all in one message."""
        if self.size == 1:
            return
        flat = torch.cat([tensor.reshape(-1) for tensor in tensors])
        with _reaching_others():
            dist.broadcast(flat, 0)
        _spread(flat, tensors)

    def any(self, flag: bool, device: torch.device | str = "cpu") -> bool:
        """Does the flag hold in some rank?"""
        if self.size == 1:
            return flag
        count = torch.tensor([float(flag)], device=device)
        with _reaching_others():
            dist.all_reduce(count)
        return bool(count.item() > 0)

    def gather(self, tensor: Tensor) -> Tensor:
        """The ranks' tensors ``[N, ...]`` one after the other, ``[size * N, ...]``, in every rank."""
        if self.size == 1:
            return tensor
        sent = tensor.contiguous()
        if sent.dtype == torch.bool:  # backends know no truth values
            return self.gather(sent.to(torch.uint8)).to(torch.bool)
        parts = [torch.empty_like(sent) for _ in range(self.size)]
        with _reaching_others():
            dist.all_gather(parts, sent)
        return torch.cat(parts)

    def part(self, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """This rank's part of what `gather` put together, perhaps in a run of another number of ranks."""

        def mine(tensor: Tensor) -> Tensor:
            total = len(tensor)
            return tensor[total * self.rank // self.size : total * (self.rank + 1) // self.size]

        return {name: mine(tensor) for name, tensor in tensors.items()}

    def wait(self) -> None:
        """Go on when all ranks have come here."""
        self.any(False)


def _spread(flat: Tensor, tensors: Sequence[Tensor]) -> None:
    """Copy what lies in ``flat`` one after the other into ``tensors``."""
    parts = torch.split(flat, [tensor.numel() for tensor in tensors])
    for tensor, part in zip(tensors, parts, strict=True):
        tensor.copy_(part.view_as(tensor))


@contextmanager
def _reaching_others() -> Iterator[None]:
    """Backends raise plain ``RuntimeError`` where another process does not answer; say what that means."""
    try:
        yield
    except RuntimeError as error:
        if "CUDA error" in str(error):  # our own device, met here because this waits for it
            raise
        what = _SOURCE_PLACE.sub("", str(error).strip()).partition(". ")[0].partition("\n")[0]
        raise LostProcessError(f"another process of the run cannot be reached ({what})") from error


def join_world(on_gpu: bool) -> World:
    """Join the processes that ``torchrun`` has started, if it has; ``ValueError`` if its variables make no sense."""
    if "WORLD_SIZE" not in os.environ or "RANK" not in os.environ:
        return World()
    try:
        size, rank = int(os.environ["WORLD_SIZE"]), int(os.environ["RANK"])
        local_rank = int(os.environ.get("LOCAL_RANK", "0"))
    except ValueError as error:
        names = "RANK, WORLD_SIZE and LOCAL_RANK"
        raise ValueError(f"torchrun's environment: {error}, wanted whole numbers in {names}") from None
    if size == 1:
        return World()
    if on_gpu and local_rank < torch.cuda.device_count():
        torch.cuda.set_device(local_rank)  # before the first message, for which every rank needs a GPU of its own
    with _reaching_others():
        backend, store = "cpu:gloo,cuda:nccl" if on_gpu else "gloo", _store_of_this_start()
        if store is None:
            dist.init_process_group(backend, timeout=_PATIENCE)
        else:
            dist.init_process_group(backend, timeout=_PATIENCE, store=store, rank=rank, world_size=size)
    return World(rank, size, local_rank)


def _store_of_this_start() -> Any:
    """Where the processes of one machine find each other; None for what torch finds itself.

    ``torchrun`` keeps one store over all restarts, in which those who start again would find the addresses of the dead
    and wait for them (pytorch issue 135712). On one machine the number of the restart keeps them apart. Of several
    machines each counts for itself, so torchrun must be told to make a new store each time.
    """
    environment = os.environ
    if environment.get("TORCHELASTIC_USE_AGENT_STORE") != "True":
        return None
    if environment.get("GROUP_WORLD_SIZE", "1") != "1":
        if environment.get("TORCHELASTIC_MAX_RESTARTS", "0") == "0":
            return None
        raise ValueError(
            "torchrun: found --max-restarts on several machines with one store for all restarts, which would wait for "
            "the dead; wanted the variable TORCH_DISABLE_SHARE_RDZV_TCP_STORE=1 set for torchrun on every machine"
        )
    from torch.distributed import PrefixStore, TCPStore  # type: ignore[attr-defined]  # torch does not say it has them

    address, port = environment["MASTER_ADDR"], int(environment["MASTER_PORT"])
    store = TCPStore(address, port, is_master=False, timeout=_PATIENCE)
    return PrefixStore(f"start-{environment.get('TORCHELASTIC_RESTART_COUNT', '0')}", store)


def leave_world(world: World, failed: bool = False) -> None:
    """Close the connections to the other ranks; ``failed``: without waiting for any of them, which may be dead."""
    if world.size == 1 or not dist.is_initialized():
        return
    if failed and "nccl" in dist.get_backend_config():  # closing it waits for the others; the end of the process does
        return
    dist.destroy_process_group()
