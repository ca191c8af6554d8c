"""The network: a multilayer perceptron with an outcome head and a cube head on one trunk."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor, nn

from .encoding import ENCODING, NUM_INPUTS, input_table
from .kernels.encoding import BLOCK

__all__ = ["NUM_CUBE", "NUM_OUTCOMES", "Network", "NetworkConfig"]

NUM_OUTCOMES = 6
NUM_CUBE = 3


@dataclass(frozen=True)
class NetworkConfig:
    """Shape of a network.

    Attributes:
        hidden: units of each hidden layer, the first a multiple of 16. The first layer is cheap in self-play
            (only what a play changes is computed), the others cost their full products.
        encoding: name of the inputs; there is one.
    """

    hidden: tuple[int, ...] = (256, 64)
    encoding: str = ENCODING

    def __post_init__(self) -> None:
        if self.encoding != ENCODING:
            raise ValueError(f"encoding: found {self.encoding!r}, wanted {ENCODING!r}")
        if not self.hidden or any(units < 1 for units in self.hidden) or self.hidden[0] % BLOCK:
            raise ValueError(
                f"hidden: found {list(self.hidden)}, wanted one or more layers, the first a multiple of {BLOCK}"
            )


class Network(nn.Module):
    """Raw outputs ``[N, 9]`` for positions seen by the player on roll: six outcome logits, then three for the cube.

    `values.probabilities` and `values.no_double_values` give the nine their meaning.
    """

    def __init__(self, config: NetworkConfig, seed: int = 0) -> None:
        super().__init__()
        self.config = config
        self.first = nn.Linear(NUM_INPUTS, config.hidden[0])
        self.rest = nn.ModuleList(nn.Linear(a, b) for a, b in pairwise(config.hidden))
        self.head = nn.Linear(config.hidden[-1], NUM_OUTCOMES + NUM_CUBE)
        generator = torch.Generator().manual_seed(seed)
        for layer in [self.first, *self.rest, self.head]:
            assert isinstance(layer, nn.Linear)
            gain = 2.0 if layer is not self.head else 0.1  # small first outputs: every outcome about equally likely
            with torch.no_grad():
                layer.weight.normal_(0.0, (gain / layer.in_features) ** 0.5, generator=generator)
                layer.bias.zero_()
        with torch.no_grad():
            self.head.bias[NUM_OUTCOMES + 1 :] = -2.0  # owning the cube is worth about 0.13 at first

    def forward(self, inputs: Tensor) -> Tensor:
        """``inputs`` ``[N, 288]`` to raw outputs ``[N, 9]``."""
        return self.after_first_layer(torch.relu(self.first(inputs)))

    def after_first_layer(self, hidden: Tensor, out: Tensor | None = None) -> Tensor:
        """First-layer activations ``[N, hidden[0]]`` to raw outputs ``[N, 9]``, written to ``out`` if given."""
        for layer in self.rest:
            hidden = torch.relu_(layer(hidden))
        if out is not None:
            return torch.addmm(self.head.bias, hidden, self.head.weight.T, out=out)
        raw: Tensor = self.head(hidden)
        return raw

    @torch.no_grad()
    def first_layer_table(self) -> Tensor:
        """What each (cell, number) adds to the first layer, ``[992, hidden[0]]`` float32."""
        return input_table(self.first.weight.device) @ self.first.weight.T
