"""What would keep operations from being captured as a CUDA graph, seen without a GPU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
import torch
import warp as wp
from torch.utils._python_dispatch import TorchDispatchMode


class HostTraffic(TorchDispatchMode):
    """Operations that would make the host wait for a GPU, or copy its numbers there."""

    WAITING = ("_local_scalar_dense", "nonzero", "masked_select", "is_nonzero", "equal", "unique", "lift_fresh")

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]  # torch's own
        name = func.overloadpacket.__name__
        if name in self.WAITING:
            self.seen.append(name)
        return func(*args, **(kwargs or {}))


class Trace(TorchDispatchMode):
    """Every operation with the shapes and numbers that it is given, and every kernel with its rows."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__()
        self.seen: list[object] = []
        launched = wp.launch

        def launching(kernel: Any, dim: int, inputs: Sequence[Any], **options: Any) -> None:
            numbers = [value for value in inputs if isinstance(value, (bool, int, float))]
            self.seen.append((kernel.key, dim, numbers))
            launched(kernel, dim=dim, inputs=inputs, **options)

        monkeypatch.setattr(wp, "launch", launching)

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]  # torch's own
        self.seen.append((str(func), _described(args), _described(kwargs or {})))
        return func(*args, **(kwargs or {}))


def _described(value: object) -> object:
    if isinstance(value, torch.Tensor):
        return tuple(value.shape), value.dtype
    if isinstance(value, dict):
        return {key: _described(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_described(part) for part in value]
    numbers = (bool, int, float, str, torch.dtype, torch.device)
    return value if isinstance(value, numbers) else type(value).__name__
