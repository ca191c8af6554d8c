"""What the small networks have in common that are learned beside the one that plays."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping

import torch
from torch import Tensor, nn

from .distributed import World
from .step_graph import StepGraph
from .steps import adamw, gradient_step, load_optimizer_state, optimizer_state, set_pace

__all__ = ["Companion"]

_MAX_GRADIENT_NORM = 5.0


class Companion(ABC):
    """A network with an optimiser of its own, AdamW without decay, whose samples come from self-play's windows."""

    def __init__(self, module: nn.Module, learning_rate: float) -> None:
        self.module = module
        self.optimizer = adamw(list(module.parameters()), learning_rate, weight_decay=0.0)
        self._graph: StepGraph | None = None

    @abstractmethod
    def losses(self, batch: Mapping[str, Tensor]) -> tuple[Tensor, Tensor]:
        """What is minimised, and the losses ``[K]``: sums over the rows of ``batch`` by its ``weights``."""

    def capture(self) -> None:
        """Take each step as a CUDA graph from now on; the processes must not be several."""
        self._graph = StepGraph(lambda batch: self._step(batch, World()))

    def learn_from(self, samples: Mapping[str, Tensor], batch_size: int, pace: float, world: World) -> Tensor:
        """One pass over ``samples`` ``[K, ...]``, ``weights`` among them, at ``pace`` times the full rate.

        Returns the mean losses and gradients' norm, ``[L + 1]``: not finite if the network is spoiled.
        """
        set_pace([self.optimizer], pace)
        batches = [
            {name: tensor[begin : begin + batch_size] for name, tensor in samples.items()}
            for begin in range(0, len(samples["weights"]), batch_size)
        ]
        step = self._graph or (lambda batch: self._step(batch, world))
        return torch.stack([step(batch) for batch in batches]).mean(0)

    def _step(self, batch: Mapping[str, Tensor], world: World) -> Tensor:
        return gradient_step(self.module, [self.optimizer], batch, self.losses, _MAX_GRADIENT_NORM, world)

    def state(self) -> dict[str, Tensor]:
        """Weights and AdamW's moments by name."""
        return dict(self.module.state_dict()) | optimizer_state(self.module, self.optimizer)

    def load_state(self, state: Mapping[str, Tensor]) -> None:
        """Take up what `state` returned; ``RuntimeError``, ``KeyError`` or ``ValueError`` if it is of another shape."""
        self.module.load_state_dict({name: value for name, value in state.items() if not name.startswith("adamw.")})
        load_optimizer_state(self.module, self.optimizer, state)
