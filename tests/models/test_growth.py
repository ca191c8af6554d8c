"""A grown network says what the small one said, and can learn more."""

from __future__ import annotations

import pytest
import torch

from nardy.models import Network, NetworkConfig
from nardy.models.encoding import BASIC_ENCODING, ENCODING, NUM_INPUTS
from nardy.models.growth import grow

LARGER = [
    ((48, 16), (48, 16), 8),
    ((48, 16), (96, 16), 8),
    ((48, 16), (64, 32), 0),
    ((48, 16), (64, 48, 32, 16), 16),
    ((32,), (32, 32), 0),
    ((32,), (64, 40), 4),
]


def _small(hidden: tuple[int, ...], context_units: int = 0) -> Network:
    network = Network(NetworkConfig(hidden, context_units=context_units), seed=1)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.normal_(0, 0.2, generator=torch.Generator().manual_seed(5))
    return network


@pytest.mark.parametrize(("old", "new", "context_units"), LARGER)
def test_a_grown_network_says_what_the_small_one_said(
    old: tuple[int, ...], new: tuple[int, ...], context_units: int
) -> None:
    small = _small(old)
    grown = grow(small, NetworkConfig(new, context_units=context_units), seed=2)
    inputs = torch.randn(200, NUM_INPUTS, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(grown(inputs)[:, :9], small(inputs), atol=1e-4, rtol=1e-4)
    if context_units:  # at first every stake is judged as money
        features = torch.randn(200, 14, generator=torch.Generator().manual_seed(1))
        torch.testing.assert_close(grown.context_heads(grown(inputs), features), grown(inputs)[:, 6:9])


def test_a_network_grows_into_more_inputs_but_not_into_fewer() -> None:
    small = Network(NetworkConfig((32, 16), BASIC_ENCODING), seed=1)
    grown = grow(small, NetworkConfig((48, 16), ENCODING), seed=2)
    inputs = torch.randn(200, NUM_INPUTS, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(grown(inputs)[:, :9], small(inputs)[:, :9], atol=1e-5, rtol=1e-4)
    with pytest.raises(ValueError, match="encoding: found 'cells-618' to start from, wanted 'cells-288'"):
        grow(grown, NetworkConfig((48, 16), BASIC_ENCODING))


def test_known_stakes_stay_known() -> None:
    small = _small((32, 16), context_units=4)
    grown = grow(small, NetworkConfig((64, 32), context_units=12))
    generator = torch.Generator().manual_seed(0)
    inputs, features = torch.randn(100, NUM_INPUTS, generator=generator), torch.randn(100, 14, generator=generator)
    wanted = small.context_heads(small(inputs), features)
    torch.testing.assert_close(grown.context_heads(grown(inputs), features), wanted, atol=1e-4, rtol=1e-4)


def test_every_new_unit_can_learn() -> None:
    """After two steps no weight of the grown network is stuck where it was put, but for unused context features."""
    grown = grow(_small((32, 16)), NetworkConfig((48, 32, 16), context_units=4))
    before = {name: value.clone() for name, value in grown.state_dict().items()}
    optimizer = torch.optim.SGD(grown.parameters(), lr=0.05)
    generator = torch.Generator().manual_seed(3)
    for _ in range(3):
        inputs, features = torch.rand(256, NUM_INPUTS, generator=generator), torch.rand(256, 14, generator=generator)
        raw = grown(inputs)
        loss = raw[:, :6].square().mean() + (grown.context_heads(raw, features) - 1).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    for name, value in grown.state_dict().items():
        moved = (value != before[name]).flatten(1).any(1) if value.ndim > 1 else value != before[name]
        assert float(moved.float().mean()) > 0.5, name


@pytest.mark.parametrize(
    ("new", "reason"),
    [
        (NetworkConfig((32, 64)), "hidden: found .32, 64., wanted every layer at least as wide as in .48, 16."),
        (NetworkConfig((48,)), "hidden: found"),
        (NetworkConfig((48, 16, 8)), "further ones of 16 or more"),
        (NetworkConfig((48, 16), context_units=2), "context_units: found 2, wanted the 4"),
    ],
)
def test_a_network_does_not_shrink(new: NetworkConfig, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        grow(_small((48, 16), context_units=4), new)
