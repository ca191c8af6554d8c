"""Self-play to test with, and what two that should be the same are compared by."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from nardy.models import Network, NetworkConfig
from nardy.train.config import SelfPlayConfig
from nardy.train.selfplay import SelfPlay
from nardy.train.window import Window


def selfplay_of(
    num_games: int = 48,
    first_slot: int = 0,
    cubeful: float = 0.5,
    seed: int = 3,
    variant: str = "backgammon",
    device: str = "cpu",
) -> SelfPlay:
    """Games by a small network with opinions."""
    network = Network(NetworkConfig((32,)), seed=1)
    with torch.no_grad():
        network.head.weight.mul_(6)  # opinions strong enough for doubles and drops
        network.context_out.weight.normal_(0, 0.3, generator=torch.Generator().manual_seed(1))
    config = SelfPlayConfig(num_games, window_plies=12, cubeful_fraction=cubeful, stake_fraction=cubeful / 2)
    return SelfPlay(network.to(device), variant, config, seed, torch.device(device), first_slot)


def tensors_of(recorded: object, name: str = "") -> dict[str, Tensor]:
    """All tensors of a window by name, those of its parts too."""
    if isinstance(recorded, Tensor):
        return {name: recorded}
    found: dict[str, Tensor] = {}
    for key, value in vars(recorded).items():
        found |= {} if value is None else tensors_of(value, f"{name}.{key}")
    return found


def assert_same_windows(found: Window, wanted: Window) -> None:
    """What was seen is the same, but for how products round."""
    ours, theirs = tensors_of(found), tensors_of(wanted)
    assert ours.keys() == theirs.keys()
    assert len(ours) > 20
    for name, value in theirs.items():
        assert ours[name].is_contiguous()
        _assert_same(ours[name], value, name)


def assert_same_standing(found: SelfPlay, wanted: SelfPlay) -> None:
    """The games stand alike, and as many were counted."""
    for name, value in wanted.state().items():
        _assert_same(found.state()[name], value, name)
    counted, counts = wanted.counts.take(), found.counts.take()
    assert counted["games"][0] > 0
    for name, numbers in counted.items():
        assert counts[name] == pytest.approx(numbers, rel=1e-4), name


def _assert_same(found: Tensor, wanted: Tensor, name: str) -> None:
    if wanted.dtype.is_floating_point:
        torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-5, msg=name)
    else:
        assert torch.equal(found, wanted), name
