"""Several processes training one network: who they are, and the few things they say to one another.

Every process (rank) plays its own share of the game slots and holds the same weights. After each batch the gradients
are added up over all ranks, so all take the same step; rank 0 alone writes files. ``torchrun`` starts the processes and
says who is who in the environment. Without it there is one rank, and nothing here costs anything.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import Tensor

__all__ = ["World", "join_world", "leave_world"]

# Others wait while rank 0 evaluates; a rank that says nothing for longer is dead.
_PATIENCE = timedelta(minutes=30)


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
        dist.all_reduce(flat)
        begin = 0
        for tensor in tensors:
            tensor.copy_(flat[begin : begin + tensor.numel()].view_as(tensor))
            begin += tensor.numel()

    def any(self, flag: bool, device: torch.device) -> bool:
        """Does the flag hold in some rank?"""
        if self.size == 1:
            return flag
        count = torch.tensor([float(flag)], device=device)
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
        dist.all_gather(parts, sent)
        return torch.cat(parts)

    def wait(self) -> None:
        """Go on when all ranks have come here."""
        if self.size > 1:
            dist.barrier()


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
    dist.init_process_group("nccl" if on_gpu else "gloo", timeout=_PATIENCE)
    return World(rank, size, local_rank)


def leave_world(world: World) -> None:
    """Close the connections to the other ranks."""
    if world.size > 1 and dist.is_initialized():
        dist.destroy_process_group()
