"""What a game is worth at a cube and a score: the context in which a network judges doubling.

A stake is what the game is played for: the cube's value at a match score, or money. At each stake values are
*normalised*: winning a single game is +1, losing one -1, and whatever is worth the same match-winning chance (or
points) in between lies on the same straight line. So a gammon is +2 for money, about +1 where the cube is already
enough to win the match, and more than +2 where the points after the first count most. Money is the special case of
points a unit of the cube.

Everything here is from the view of one player, usually the one on roll; `Stakes` of the other player are made anew
from the flipped score.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from .constants import constant

if TYPE_CHECKING:
    from .match_equity import MatchEquityTable

__all__ = ["NUM_FEATURES", "Stakes", "match_stakes", "money_stakes"]

# Signed levels of the six outcomes.
_LEVELS = (1, 2, 3, -1, -2, -3)
# Normalised gammons beyond this say no more, and a learned table may be rough where little is left to win.
_MOST = 8.0
NUM_FEATURES = 14
# The other player's columns: outcomes won and lost exchanged; of the features gammons, then shift, then dead cubes.
_FLIPPED_OUTCOMES = (3, 4, 5, 0, 1, 2)
_FLIPPED_FEATURES = (2, 3, 0, 1, 6, 7, 4, 5, 8, 9, 11, 10, 13, 12)
_FEATURE_SIGNS = (-1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, 1.0, -1.0, 1.0, 1.0, 1.0, 1.0)


@dataclass(frozen=True)
class Stakes:
    """N games' stakes from the view of one player; several plies of them have ``[T, N, ...]`` everywhere.

    Attributes:
        payoff: ``[N, 6]`` normalised worth of the six outcomes at the present cube.
        doubled_payoff: ``[N, 6]`` the same at twice the cube, on its own scale.
        scale, shift: ``[N]``: a value x on the doubled scale is ``shift + scale * x`` on the present one.
        may_double: ``[N, 2]`` bool, this player may turn the cube if it is centred or his; the same for the other.
        may_redouble: ``[N, 2]`` bool, this player, and the other, may turn the doubled cube if it is his.
        features: ``[N, 14]``, `NUM_FEATURES` numbers near 0 that describe all this to a network; all 0 for money
            without Jacoby, whatever the cap.
        doubled_features: ``[N, 14]``, those of the doubled stake.
        middle, half: ``[N]``: a normalised value x stands for ``middle + half * x`` match-winning chance, or points.
        total: ``[N]``: what both players' chances add up to, 1 in a match, 0 for points.
    """

    payoff: Tensor
    doubled_payoff: Tensor
    scale: Tensor
    shift: Tensor
    may_double: Tensor
    may_redouble: Tensor
    features: Tensor
    doubled_features: Tensor
    middle: Tensor
    half: Tensor
    total: Tensor

    def rows(self, where: Tensor | slice) -> Stakes:
        """The stakes of some of the games, by index, mask or range."""
        return self._each(lambda field: field[where])

    def flatten(self, first: int, last: int) -> Stakes:
        """Dimensions ``first`` to ``last`` as one."""
        return self._each(lambda field: field.flatten(first, last))

    def _each(self, change: Callable[[Tensor], Tensor]) -> Stakes:
        """Every field changed alike."""
        return Stakes(**{name: change(getattr(self, name)) for name in self.__dataclass_fields__})

    @staticmethod
    def cat(stakes: Sequence[Stakes]) -> Stakes:
        """The stakes of several batches in a row."""
        names = Stakes.__dataclass_fields__
        return Stakes(**{name: torch.cat([getattr(one, name) for one in stakes]) for name in names})

    def flip(self) -> Stakes:
        """The same stakes from the view of the other player."""
        signs = constant(_FEATURE_SIGNS, self.features.device)
        return Stakes(
            payoff=-_columns(self.payoff, _FLIPPED_OUTCOMES),
            doubled_payoff=-_columns(self.doubled_payoff, _FLIPPED_OUTCOMES),
            scale=self.scale,
            shift=-self.shift,
            may_double=self.may_double.flip(-1),
            may_redouble=self.may_redouble.flip(-1),
            features=_columns(self.features, _FLIPPED_FEATURES) * signs,
            doubled_features=_columns(self.doubled_features, _FLIPPED_FEATURES) * signs,
            middle=self.total - self.middle,
            total=self.total,
            half=self.half,
        )

    @staticmethod
    def where(condition: Tensor, first: Stakes, second: Stakes) -> Stakes:
        """``first`` where ``condition`` ``[N]`` holds, else ``second``."""
        chosen = {}
        for name in first.__dataclass_fields__:
            a, b = getattr(first, name), getattr(second, name)
            chosen[name] = torch.where(condition.view(-1, *[1] * (a.ndim - 1)), a, b)
        return Stakes(**chosen)


def _columns(tensor: Tensor, order: tuple[int, ...]) -> Tensor:
    """The last dimension's columns in another ``order``."""
    return tensor.index_select(-1, constant(order, tensor.device, torch.int64))


@dataclass(frozen=True)
class _Scale:
    """One stake: normalised payoffs ``[N, 6]`` and what they are normalised by, ``[N]``."""

    payoff: Tensor
    middle: Tensor
    half: Tensor

    @classmethod
    def of(cls, worth: Tensor) -> _Scale:
        """From the worth of the six outcomes ``[N, 6]``."""
        middle, half = (worth[:, 0] + worth[:, 3]) / 2, (worth[:, 0] - worth[:, 3]).clamp(min=1e-7) / 2
        payoff = (worth - middle[:, None]) / half[:, None]
        wins, losses = payoff[:, :3].clamp(1.0, _MOST), payoff[:, 3:].clamp(-_MOST, -1.0)
        return cls(torch.cat([wins, losses], 1), middle, half)

    def to(self, other: _Scale) -> tuple[Tensor, Tensor]:
        """``(scale, shift)`` that take a value from here to the ``other`` scale."""
        return self.half / other.half, (self.middle - other.middle) / other.half


def _stakes(stakes: list[_Scale], live: list[Tensor], described: list[Tensor], total: float) -> Stakes:
    """From the scales at the present cube, at twice and at four times, and who may turn it at each, ``[N, 2]`` bool.

    ``described`` is the same as the network is told.
    """
    here, doubled, redoubled = stakes
    scale, shift = doubled.to(here)
    return Stakes(
        payoff=here.payoff,
        doubled_payoff=doubled.payoff,
        scale=scale,
        shift=shift,
        may_double=live[0],
        may_redouble=live[1],
        features=_features(here, doubled, described[0], described[1]),
        doubled_features=_features(doubled, redoubled, described[1], described[2]),
        middle=here.middle,
        half=here.half,
        total=torch.full_like(here.half, total),
    )


def _features(here: _Scale, doubled: _Scale, live: Tensor, doubled_live: Tensor) -> Tensor:
    """How this stake and the doubled one differ from money's, ``[N, 14]``."""
    scale, shift = doubled.to(here)
    money = here.payoff.new_tensor([2.0, 3.0, -2.0, -3.0])
    columns = [1, 2, 4, 5]
    gammons = (here.payoff[:, columns] - money) / 2
    doubled_gammons = (doubled.payoff[:, columns] - money) / 2
    scales = torch.stack([scale - 2.0, shift], 1).clamp(-_MOST, _MOST)
    dead = 1.0 - torch.cat([live, doubled_live], 1).to(here.payoff.dtype)
    return torch.cat([gammons, doubled_gammons, scales, dead], 1)


def money_stakes(value: Tensor, max_cube: int, jacoby: Tensor) -> Stakes:
    """Stakes of money games in points a unit of the cube.

    Args:
        value: ``[N]`` the cube as it stands.
        max_cube: no turn of the cube may go above this.
        jacoby: ``[N]`` bool, gammons do not count at the present cube (it is centred and the Jacoby rule holds).
    """
    levels = torch.tensor(_LEVELS, dtype=torch.float32, device=value.device).expand(len(value), 6)
    zero = torch.zeros(len(value), device=value.device)
    here = _Scale(torch.where(jacoby[:, None], levels.sign(), levels), zero, zero + 1)
    higher = [_Scale(levels, zero, zero + factor) for factor in (2.0, 4.0)]
    live = [(2 * factor * value <= max_cube)[:, None].expand(-1, 2) for factor in (1, 2, 4)]
    # A network learns money games far below the cap; that the cube is dead there is arithmetic.
    return _stakes([here, *higher], live, [torch.ones_like(flags) for flags in live], total=0.0)


def match_stakes(value: Tensor, away: Tensor, crawford: Tensor, max_cube: int, table: MatchEquityTable) -> Stakes:
    """Stakes of match games, by the match equity ``table``.

    Args:
        value: ``[N]`` the cube as it stands. away: ``[N, 2]`` points needed by this player and the other.
        crawford: ``[N]`` bool, this is the Crawford game.
        max_cube: no turn of the cube may go above this.
        table: chances at the score after the game.
    """
    levels = torch.tensor(_LEVELS, dtype=torch.long, device=value.device)
    cubes = value.long()[:, None] * torch.tensor([1, 2, 4], device=value.device)  # [N, 3]
    points = cubes[:, :, None] * levels  # [N, 3, 6]
    worth = table.after_points(away, crawford, points.flatten(1)).view(-1, 3, 6).float()
    live = (cubes[:, :, None] < away[:, None, :]) & ~crawford[:, None, None] & (2 * cubes <= max_cube)[:, :, None]
    flags = list(live.unbind(1))
    return _stakes([_Scale.of(worth[:, i]) for i in range(3)], flags, flags, total=1.0)
