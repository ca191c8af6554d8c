"""What would keep operations from being captured as a CUDA graph, seen without a GPU."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest
import torch
import warp as wp
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

# Operations for which the host waits for a GPU's numbers, or which copy its own there.
_WAITING = ("_local_scalar_dense", "nonzero", "masked_select", "is_nonzero", "equal", "unique", "lift_fresh", "tolist")
_READING = (Tensor.tolist, Tensor.item, Tensor.numpy, Tensor.cpu, Tensor.__array__)
_MAKING = (torch.zeros, torch.ones, torch.full, torch.arange, torch.empty, torch.rand, torch.linspace, torch.randperm)


class _Calls(TorchFunctionMode):
    """Notes what cannot be told from its operations on a CPU: reading, and making tensors that would be the host's."""

    def __init__(self, seen: list[str]) -> None:
        super().__init__()
        self.seen = seen

    def __torch_function__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]  # torch's own
        kwargs = kwargs or {}
        if func in _READING or (func in _MAKING and kwargs.get("device") is None and kwargs.get("out") is None):
            self.seen.append(func.__name__)
        return func(*args, **kwargs)


class _Operations(TorchDispatchMode):
    """Notes the operations themselves."""

    def __init__(self, seen: list[str]) -> None:
        super().__init__()
        self.seen = seen

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]  # torch's own
        name = func.overloadpacket.__name__
        by_mask = name.startswith("index") and any(t.dtype in (torch.bool, torch.uint8) for t in _indices(args))
        by_counts = name == "repeat_interleave" and func._overloadname == "Tensor"
        if name in _WAITING or by_mask or by_counts:
            self.seen.append(name)
        return func(*args, **(kwargs or {}))


def _indices(args: Sequence[Any]) -> list[Tensor]:
    """The tensors that an indexing operation indexes with."""
    lists = [argument for argument in args[1:2] if isinstance(argument, (list, tuple))]
    return [tensor for one in lists for tensor in one if isinstance(tensor, Tensor)]


@contextmanager
def host_traffic() -> Iterator[list[str]]:
    """Lists what makes the host wait for a GPU, or copy its numbers there."""
    seen: list[str] = []
    with _Calls(seen), _Operations(seen):
        yield seen


class Trace(TorchDispatchMode):
    """Every operation with the shapes and numbers that it is given, and every kernel with its rows.

    So too the places of whatever was there before: a graph would read and write them again, wherever they are then.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__()
        self.seen: list[object] = []
        self._made: set[int] = set()
        self._kept: list[Tensor] = []  # so that no place is given twice
        launched = wp.launch

        def launching(kernel: Any, dim: int, inputs: Sequence[Any], **options: Any) -> None:
            numbers = [value for value in inputs if isinstance(value, (bool, int, float))]
            self.seen.append((kernel.key, dim, numbers))
            launched(kernel, dim=dim, inputs=inputs, **options)

        monkeypatch.setattr(wp, "launch", launching)

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]  # torch's own
        kwargs = kwargs or {}
        self.seen.append((str(func), self._described(args), self._described(kwargs)))
        result = func(*args, **kwargs)
        for tensor in torch.utils._pytree.tree_leaves(result):
            if isinstance(tensor, Tensor) and tensor.untyped_storage().data_ptr() not in self._found(args, kwargs):
                self._made.add(tensor.untyped_storage().data_ptr())
                self._kept.append(tensor)
        return result

    def _found(self, *arguments: object) -> set[int]:
        """Places of the tensors among ``arguments``, which a result may be a view of."""
        leaves = torch.utils._pytree.tree_leaves(arguments)
        return {leaf.untyped_storage().data_ptr() for leaf in leaves if isinstance(leaf, Tensor)}

    def _described(self, value: object) -> object:
        if isinstance(value, Tensor):
            place = value.untyped_storage().data_ptr()
            return tuple(value.shape), value.dtype, None if place in self._made else place
        if isinstance(value, dict):
            return {key: self._described(part) for key, part in value.items()}
        if isinstance(value, (list, tuple)):
            return [self._described(part) for part in value]
        numbers = (bool, int, float, str, torch.dtype, torch.device)
        return value if isinstance(value, numbers) else type(value).__name__
