"""A wider or deeper network that starts with the judgement of a smaller one.

New units of a layer receive random weights and pass nothing on yet; new layers at the end begin as the identity, which
a ReLU leaves alone, as what it receives is not negative. So the larger network says exactly what the smaller one said,
and learning goes on from there (Net2Net by Chen, Goodfellow and Shlens, 2016, copies units; these are silent at first).
"""

from __future__ import annotations

import torch
from torch import nn

from .network import NUM_CUBE, NUM_OUTCOMES, Network, NetworkConfig

__all__ = ["check_growth", "grow"]


def check_growth(old: NetworkConfig, new: NetworkConfig) -> None:
    """``ValueError`` if a network of shape ``old`` cannot be grown to ``new``."""
    if old.num_inputs > new.num_inputs:
        raise ValueError(f"encoding: found {old.encoding!r} to start from, wanted {new.encoding!r} or a part of it")
    wide = all(a <= b for a, b in zip(old.hidden, new.hidden, strict=False))
    deep = all(units >= old.hidden[-1] for units in new.hidden[len(old.hidden) :])
    if len(old.hidden) > len(new.hidden) or not wide or not deep:
        raise ValueError(
            f"hidden: found {list(new.hidden)}, wanted every layer at least as wide as in {list(old.hidden)}, which it "
            f"starts from, and further ones of {old.hidden[-1]} or more"
        )
    if old.context_units > new.context_units:
        raise ValueError(
            f"context_units: found {new.context_units}, wanted the {old.context_units} it starts from or more"
        )


@torch.no_grad()
def grow(small: Network, config: NetworkConfig, seed: int = 0) -> Network:
    """A network of shape ``config`` on the CPU whose outputs are those of ``small``; see `check_growth`."""
    check_growth(small.config, config)
    grown = Network(config, seed)
    _put(grown.first, small.first, silent_from=small.config.num_inputs)
    units = small.config.hidden[0]
    for index, layer in enumerate(grown.rest):
        assert isinstance(layer, nn.Linear)
        if index < len(small.rest):
            own = small.rest[index]
            assert isinstance(own, nn.Linear)
            _put(layer, own, silent_from=units)
            units = own.out_features
        else:
            identity = nn.Linear(units, units)
            identity.weight.copy_(torch.eye(units))
            identity.bias.zero_()
            _put(layer, identity, silent_from=units)
    _put_head(grown, small, units)
    if small.config.context_units:
        known = small.config.context_units
        grown.context_in.weight[:known] = small.context_in.weight.cpu()
        grown.context_out.weight[:, :known] = small.context_out.weight.cpu()
    return grown


def _put(target: nn.Linear, source: nn.Linear, silent_from: int) -> None:
    """``source``'s weights in the first rows and columns of ``target``; inputs from ``silent_from`` on add nothing."""
    rows, columns = source.weight.shape
    target.weight[:rows, silent_from:] = 0
    target.weight[:rows, :columns] = source.weight.cpu()
    target.bias[:rows] = source.bias.cpu()


def _put_head(grown: Network, small: Network, units: int) -> None:
    """The outcomes, the cube and the known context units of ``small``, from the first ``units`` of the last layer."""
    known = NUM_OUTCOMES + NUM_CUBE + small.config.context_units
    grown.head.weight[:known, units:] = 0
    grown.head.weight[:known, :units] = small.head.weight[:, :units].cpu()
    grown.head.bias[:known] = small.head.bias.cpu()
