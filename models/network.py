"""The network: a multilayer perceptron with an outcome head and a cube head on one trunk.

The cube head speaks of money; what differs at another stake (Jacoby, a match score, a cube near its end) is added by a
small layer that joins the stake's description to the trunk's last layer, so one trunk pass serves every stake.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor, nn

from .encoding import ENCODING, ENCODINGS
from .kernels.encoding import BLOCK
from .stakes import NUM_FEATURES

__all__ = ["NUM_CUBE", "NUM_OUTCOMES", "Network", "NetworkConfig"]

NUM_OUTCOMES = 6
NUM_CUBE = 3


@dataclass(frozen=True)
class NetworkConfig:
    """Shape of a network.

    Attributes:
        hidden: units of each hidden layer, the first a multiple of 16. The first layer is cheap in self-play
            (only what a play changes is computed), the others cost their full products.
        encoding: name of the inputs, one of `encoding.ENCODINGS`.
        context_units: units that join a stake (`models.stakes`) to the trunk; 0 for a network that knows money alone.
    """

    hidden: tuple[int, ...] = (256, 64)
    encoding: str = ENCODING
    context_units: int = 32

    def __post_init__(self) -> None:
        if self.encoding not in ENCODINGS:
            raise ValueError(f"encoding: found {self.encoding!r}, wanted {' or '.join(map(repr, ENCODINGS))}")
        if not self.hidden or any(units < 1 for units in self.hidden) or self.hidden[0] % BLOCK:
            raise ValueError(
                f"hidden: found {list(self.hidden)}, wanted one or more layers, the first a multiple of {BLOCK}"
            )
        if not 0 <= self.context_units <= 1024:
            raise ValueError(f"context_units: found {self.context_units}, wanted 0 to 1024")

    @property
    def num_inputs(self) -> int:
        """How many of the inputs that `encoding.encode` gives it takes, the first ones."""
        return ENCODINGS[self.encoding]


class Network(nn.Module):
    """Raw outputs ``[N, 9 + U]`` for positions seen by the player on roll.

    Six outcome logits, three numbers for the cube in money games, and what U context units receive from the position;
    `values.probabilities`, `values.no_double_values` and `context_heads` give them their meaning.
    """

    def __init__(self, config: NetworkConfig, seed: int = 0) -> None:
        super().__init__()
        self.config = config
        self.first = nn.Linear(config.num_inputs, config.hidden[0])
        self.rest = nn.ModuleList(nn.Linear(a, b) for a, b in pairwise(config.hidden))
        self.head = nn.Linear(config.hidden[-1], NUM_OUTCOMES + NUM_CUBE + config.context_units)
        if config.context_units:
            self.context_in = nn.Linear(NUM_FEATURES, config.context_units, bias=False)
            self.context_out = nn.Linear(config.context_units, NUM_CUBE, bias=False)
        generator = torch.Generator().manual_seed(seed)
        for layer in [self.first, *self.rest, self.head]:
            assert isinstance(layer, nn.Linear)
            gain = 2.0 if layer is not self.head else 0.1  # small first outputs: every outcome about equally likely
            with torch.no_grad():
                layer.weight.normal_(0.0, (gain / layer.in_features) ** 0.5, generator=generator)
                layer.bias.zero_()
        with torch.no_grad():
            self.head.bias[NUM_OUTCOMES + 1 : NUM_OUTCOMES + NUM_CUBE] = -2.0  # owning the cube: about 0.13 at first
            if config.context_units:
                units = self.head.weight[NUM_OUTCOMES + NUM_CUBE :]
                units.normal_(0.0, (1.0 / config.hidden[-1]) ** 0.5, generator=generator)
                self.context_in.weight.normal_(0.0, NUM_FEATURES**-0.5, generator=generator)
                self.context_out.weight.zero_()  # at first every stake is judged as money

    def forward(self, inputs: Tensor) -> Tensor:
        """``inputs`` ``[N, 618]``, of which it takes its own, to raw outputs ``[N, 9 + U]``."""
        return self.after_first_layer(torch.relu(self.first(inputs[:, : self.config.num_inputs])))

    def after_first_layer(self, hidden: Tensor, out: Tensor | None = None) -> Tensor:
        """First-layer activations ``[N, hidden[0]]`` to raw outputs ``[N, 9 + U]``, written to ``out`` if given.

        An ``out`` of 9 columns takes the first nine alone. In autocast the products are rounded as it says but for the
        head's, which are few and would round the values themselves; the outputs are float32.
        """
        for layer in self.rest:
            hidden = torch.relu_(layer(hidden))
        with torch.autocast(hidden.device.type, enabled=False):
            hidden = hidden.float()
            if out is not None:
                weight, bias = self.head.weight[: out.shape[1]], self.head.bias[: out.shape[1]]
                return torch.addmm(bias, hidden, weight.T, out=out)
            raw: Tensor = self.head(hidden)
        return raw

    def hidden_weights(self) -> list[Tensor]:
        """Weights ``[out, in]`` of the layers before the head, the first among them."""
        return [layer.weight for layer in (self.first, *self.rest) if isinstance(layer, nn.Linear)]

    def context_heads(self, raw: Tensor, features: Tensor) -> Tensor:
        """The cube head's three numbers at other stakes, ``[N, 3]``; money's own where the features are 0.

        From ``raw`` ``[N, 9 + U]`` and the stakes' ``features`` ``[N, 14]``.
        """
        units = raw[:, NUM_OUTCOMES + NUM_CUBE :]
        change: Tensor = self.context_out(torch.relu(units + self.context_in(features)) - torch.relu(units))
        return raw[:, NUM_OUTCOMES : NUM_OUTCOMES + NUM_CUBE] + change
