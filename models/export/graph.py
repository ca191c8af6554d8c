"""A model as one traceable module: from boards as the documentation has them to probabilities and values.

Everything a caller would otherwise rebuild is inside: encoding, masks, games that are over, the bounds of the values.
The arithmetic of the heads is `models.values` itself.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ...env.variants import get_variant
from ..network import Network
from ..stakes import money_stakes
from ..values import LEVELS, bounds, no_double_values, payoff_bounds, probabilities, stake_no_double
from .cells import exact_outcomes, plain_encode, plain_possible

__all__ = ["BoardModel", "money_inputs"]


def money_inputs(rows: int = 1) -> tuple[Tensor, Tensor, Tensor]:
    """Money games as a stake: features ``[R, 14]``, payoff ``[R, 6]``, rights to double ``[R, 2]``."""
    stakes = money_stakes(torch.ones(rows), 64, torch.zeros(rows, dtype=torch.bool))
    return stakes.features, stakes.payoff, stakes.may_double


class BoardModel(nn.Module):
    """Outputs for ``boards`` ``[N, 2, 26]`` with side 0 on roll, all float32 and from the view of that player.

    ``outcome`` ``[N, 6]``; ``no_double`` ``[N, 3]`` in money games, the cube centred, mine, theirs, in points per unit
    of the cube. With context units also ``no_double_jacoby`` ``[N, 3]``, the same under the Jacoby rule, and
    ``no_double_stake`` ``[N, 3]``, normalised, at a stake given by its features, payoff and rights to double (one row
    for all or one each).
    """

    def __init__(self, network: Network, variant: str) -> None:
        super().__init__()
        self.network = network
        self.rules = get_variant(variant)
        self.has_stakes = network.config.context_units > 0
        stakes = money_stakes(torch.ones(1), 64, torch.ones(1, dtype=torch.bool))
        self.register_buffer("levels", torch.tensor(LEVELS))
        self.register_buffer("jacoby_features", stakes.features)
        self.register_buffer("jacoby_payoff", stakes.payoff)
        self.register_buffer("jacoby_may_double", stakes.may_double)

    @property
    def output_names(self) -> list[str]:
        """In the order returned."""
        return ["outcome", "no_double", *(["no_double_jacoby", "no_double_stake"] if self.has_stakes else [])]

    def forward(
        self,
        boards: Tensor,
        stake_features: Tensor | None = None,
        stake_payoff: Tensor | None = None,
        stake_may_double: Tensor | None = None,
    ) -> tuple[Tensor, ...]:
        """See the class; the stake is required if the network knows any."""
        raw = self.network(plain_encode(boards, self.rules, self.network.config.num_inputs))
        possible = plain_possible(boards, self.rules)
        done, exact = exact_outcomes(boards, self.rules)
        probs = torch.where(done[:, None], exact, probabilities(raw, possible))
        assert isinstance(self.levels, Tensor)
        settled = (probs @ self.levels)[:, None]
        money = torch.where(done[:, None], settled, no_double_values(raw, probs).clamp(*bounds(possible)))
        if not self.has_stakes:
            return probs, money
        assert stake_features is not None and stake_payoff is not None and stake_may_double is not None
        assert isinstance(self.jacoby_payoff, Tensor) and isinstance(self.jacoby_features, Tensor)
        assert isinstance(self.jacoby_may_double, Tensor)
        position = raw, probs, possible, done
        single = self._at_stake(*position, self.jacoby_payoff, self.jacoby_features, self.jacoby_may_double)
        jacoby = torch.cat([single[:, :1], money[:, 1:]], 1)
        return probs, money, jacoby, self._at_stake(*position, stake_payoff, stake_features, stake_may_double)

    def _at_stake(
        self,
        raw: Tensor,
        probs: Tensor,
        possible: Tensor,
        done: Tensor,
        payoff: Tensor,
        features: Tensor,
        may_double: Tensor,
    ) -> Tensor:
        """No-double values ``[N, 3]`` at a stake, normalised as `models.stakes` has it."""
        values, _ = stake_no_double(self.network, raw, probs, payoff, features, may_double)
        settled = (probs * payoff).sum(-1, keepdim=True)
        return torch.where(done[:, None], settled, values.clamp(*payoff_bounds(payoff, possible)))
