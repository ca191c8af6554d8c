"""An optimiser's step as one CUDA graph, in the place of some hundreds of operations launched one by one.

What a step reads and writes besides its batch must lie in memory that stays: weights, moments, averages, and rates that
are tensors. The batch is copied to where the captured step reads it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping

import torch
from torch import Tensor

__all__ = ["Step", "StepGraph"]

# From a batch, ``[B, ...]`` tensors by name, to the losses ``[K]`` that are reported.
Step = Callable[[Mapping[str, Tensor]], Tensor]


class StepGraph:
    """Does ``step`` on batches of the size of the first one by a graph, on others as it is."""

    def __init__(self, step: Step, capture: bool = True) -> None:
        """Without ``capture``, as on a CPU, the batch is copied all the same and the step launched anew every time."""
        self._step = step
        self._capture = capture
        self._batch: dict[str, Tensor] = {}
        self._losses: Tensor | None = None
        self._graph: torch.cuda.CUDAGraph | None = None

    def __call__(self, batch: Mapping[str, Tensor]) -> Tensor:
        """One step on ``batch``; the losses."""
        if not self._batch:  # a step in earnest, in which optimisers make their moments and libraries their workspace
            self._batch = {name: tensor.clone() for name, tensor in batch.items()}
            return self._beside(batch) if self._capture else self._step(batch)
        if any(batch[name].shape != tensor.shape for name, tensor in self._batch.items()):
            return self._step(batch)
        for name, tensor in self._batch.items():
            tensor.copy_(batch[name])
        if self._capture and self._graph is None:
            self._try_to_capture()
        if self._graph is None or self._losses is None:
            return self._step(self._batch)
        self._graph.replay()
        return self._losses.clone()

    def _try_to_capture(self) -> None:
        """Capture the step, or warn, once, that it cannot be."""
        try:
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, capture_error_mode="thread_local"):
                self._losses = self._step(self._batch)
            self._graph = graph
        except RuntimeError as error:
            warnings.warn(f"CUDA graph: found {error}; learning goes on without one", stacklevel=3)
            self._capture = False

    def _beside(self, batch: Mapping[str, Tensor]) -> Tensor:
        """The step on another stream than the default one, as a capture will be."""
        stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]  # torch has no annotations there
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            losses = self._step(batch)
        torch.cuda.current_stream().wait_stream(stream)
        return losses
