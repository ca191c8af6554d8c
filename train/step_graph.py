"""An optimiser's step as one CUDA graph, in the place of some hundreds of operations launched one by one.

What a step reads and writes besides its batch must lie in memory that stays: weights, moments, averages, and rates that
are tensors. The batch is copied to where the captured step reads it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping

import torch
from torch import Tensor

from .capture import capture, rehearse

__all__ = ["Step", "StepGraph"]

# From a batch, ``[B, ...]`` tensors by name, to the losses ``[K]`` that are reported.
Step = Callable[[Mapping[str, Tensor]], Tensor]


_SETTLED = 4  # batches of another size in a row after which that is the size to capture


class StepGraph:
    """Does ``step`` on batches of the usual size by a graph, on others, such as a window's last, as it is."""

    def __init__(self, step: Step, captured: bool = True) -> None:
        """Not ``captured``, as on a CPU, the batch is copied all the same and the step launched anew every time."""
        self._step = step
        self._captured = captured
        self._batch: dict[str, Tensor] = {}
        self._unusual = 0
        self._losses: Tensor | None = None
        self._graph: torch.cuda.CUDAGraph | None = None

    def __call__(self, batch: Mapping[str, Tensor]) -> Tensor:
        """One step on ``batch``; the losses."""
        if not self._batch or self._unusual == _SETTLED:
            self._batch = {name: tensor.clone() for name, tensor in batch.items()}
            self._unusual, self._graph, self._losses = 0, None, None
            # In earnest: optimisers make their moments now.
            return rehearse(lambda: self._step(batch)) if self._captured else self._step(batch)
        if _sizes(batch) != _sizes(self._batch):
            self._unusual += 1
            return self._step(batch)
        self._unusual = 0
        for name, tensor in self._batch.items():
            tensor.copy_(batch[name])
        if self._captured and self._graph is None:
            self._try_to_capture()
        if self._graph is None or self._losses is None:
            return self._step(self._batch)
        self._graph.replay()
        return self._losses.clone()

    def _try_to_capture(self) -> None:
        """Capture the step, or warn, once, that it cannot be."""
        try:
            self._graph, self._losses = capture(lambda: self._step(self._batch))
        except RuntimeError as error:
            warnings.warn(f"CUDA graph: found {error}; learning goes on without one", stacklevel=3)
            self._captured = False


def _sizes(batch: Mapping[str, Tensor]) -> dict[str, torch.Size]:
    return {name: tensor.shape for name, tensor in batch.items()}
