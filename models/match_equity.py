"""Chances of winning a match from its score: the table, what a game's points change in it, and filling it.

A side's score is the number of points it still needs, its *away*. The table is symmetric: it belongs to two players of
equal strength. Files are read and written by `match_equity_xml`; what a single game is worth at a score is left to
whoever calls `from_game_chances` (`janowski` has one answer, a trained model another).

Looking up is a gather on the table's device, without waiting for it; tables are made rarely, on the CPU.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

__all__ = ["GameChance", "MatchEquityError", "MatchEquityTable", "from_game_chances"]

# Entries that add to one may miss it by the rounding of two float32 numbers.
_TOLERANCE = 1e-6


class MatchEquityError(ValueError):
    """A table that is none, or a file that cannot be read as one; the message says what was found and wanted."""


@dataclass(frozen=True, eq=False)
class MatchEquityTable:
    """Match-winning chances at the start of a game, before anybody is on roll.

    Attributes:
        before: ``[S, S]`` float32, ``before[a - 1, b - 1]`` is the chance of the side that needs ``a`` points against
            one that needs ``b``, before the Crawford game, or in it where ``a`` or ``b`` is 1.
        after: ``[S]`` float32, ``after[b - 1]`` is the chance of the trailer who needs ``b`` points against 1, after
            the Crawford game.
        name: whose table it is, for files and logs.
    """

    before: Tensor
    after: Tensor
    name: str = ""

    @classmethod
    def checked(cls, before: Tensor, after: Tensor, name: str = "") -> MatchEquityTable:
        """A table of these entries as float32; `MatchEquityError` names the first that no table can hold."""
        before, after = before.detach().to(torch.float32), after.detach().to(torch.float32)
        size = before.shape[0] if before.ndim else 0
        if size == 0 or before.shape != (size, size) or after.shape != (size,):
            raise MatchEquityError(
                f"match equity table: found shapes {tuple(before.shape)} and {tuple(after.shape)}, "
                "wanted (S, S) and (S,)"
            )
        for what, entries in (("before", before), ("after", after)):
            bad = ~((entries >= 0) & (entries <= 1))
            if bool(bad.any()):
                place = bad.nonzero()[0]
                raise MatchEquityError(
                    f"match equity table: {what} at {_away(place)} away: found {float(entries[tuple(place)]):.6g}, "
                    "wanted a chance from 0 to 1"
                )
        bad = (before + before.T - 1).abs() > _TOLERANCE
        if bool(bad.any()):
            a, b = (int(index) for index in bad.nonzero()[0])
            raise MatchEquityError(
                f"match equity table: found {float(before[a, b]):.6g} at {a + 1}, {b + 1} away and "
                f"{float(before[b, a]):.6g} at {b + 1}, {a + 1} away, wanted two chances that add to 1"
            )
        if abs(float(after[0]) - 0.5) > _TOLERANCE:
            raise MatchEquityError(f"match equity table: after at 1 away: found {float(after[0]):.6g}, wanted 0.5")
        return cls(before, after, name)

    @property
    def size(self) -> int:
        """Most points that a side can need in this table."""
        return self.before.shape[0]

    def to(self, device: torch.device | str) -> MatchEquityTable:
        """The same table on a device."""
        return MatchEquityTable(self.before.to(device), self.after.to(device), self.name)

    def chance(self, away: Tensor, post_crawford: Tensor) -> Tensor:
        """Chance of the first side ``[...]`` before the next game.

        A side that needs more points than the table holds counts as needing the most it holds, each side by itself:
        in a match longer than the table, points far from the end are worth nothing. `from_game_chances` continues one.

        Args:
            away: ``[..., 2]`` whole numbers, points that the first side and the other need; 0 or less has won.
            post_crawford: ``[...]`` bool, the Crawford game has been played; ignored where nobody needs 1.
        """
        mine, theirs = (away.clamp(1, self.size).long() - 1).unbind(-1)
        after = torch.where(mine == 0, 1 - self.after[theirs], self.after[mine])
        chance = torch.where(post_crawford & ((mine == 0) | (theirs == 0)), after, self.before[mine, theirs])
        chance = torch.where(away[..., 0] <= 0, 1.0, chance)
        return torch.where(away[..., 1] <= 0, 0.0, chance)

    def after_points(self, away: Tensor, crawford: Tensor, points: Tensor) -> Tensor:
        """Chance of the first side once a game is over, in the shape of ``points``.

        Whether the Crawford game is then behind them follows: it is if this was it, or if somebody needed 1 already.

        Args:
            away: ``[N, 2]`` points needed before the game.
            crawford: ``[N]`` bool, this is the Crawford game.
            points: ``[N]`` or ``[N, K]``, won by the first side, negative if the other won them.
        """
        over = crawford | (away == 1).any(-1)
        if points.ndim > over.ndim:
            away, over = away[:, None], over[:, None].expand(points.shape)
        left = torch.stack([away[..., 0] - points.clamp(min=0), away[..., 1] + points.clamp(max=0)], -1)
        return self.chance(left, over)


# What the start of one game is worth: (table, away [N, 2], crawford [N]) -> match-winning chance [N] of the first side.
GameChance = Callable[[MatchEquityTable, Tensor, Tensor], Tensor]


def from_game_chances(
    game: GameChance, size: int = 25, known: MatchEquityTable | None = None, name: str = ""
) -> MatchEquityTable:
    """Fill a table from what one game is worth at each score, the scores nearest to the end first.

    ``game`` is asked for scores at which the first side needs more points than the other (whose small chance float32
    holds better than its complement), with the table filled as far as any result of that game can lead; other entries
    are NaN, and the table changes after the call. Where the other side needs 1 it is the Crawford game if ``crawford``,
    else one after it. ``known`` is kept and only continued.
    """
    before, after = torch.full((size, size), torch.nan), torch.full((size,), torch.nan)
    before.fill_diagonal_(0.5)
    after[0] = 0.5
    if known is not None:
        kept = min(size, known.size)
        before[:kept, :kept], after[:kept] = known.before[:kept, :kept].cpu(), known.after[:kept].cpu()
    table = MatchEquityTable(before, after, name)
    for trailer in range(2, size + 1):
        if bool(after[trailer - 1].isnan()):
            after[trailer - 1] = game(table, torch.tensor([[trailer, 1]]), torch.tensor([False])).cpu()[0]
    for total in range(3, 2 * size):
        away = torch.tensor([[total - leader, leader] for leader in range(max(1, total - size), (total + 1) // 2)])
        away = away[before[away[:, 0] - 1, away[:, 1] - 1].isnan()]
        if len(away):
            chance = game(table, away, away[:, 1] == 1).cpu().to(before.dtype)
            a, b = (away - 1).unbind(-1)
            before[a, b], before[b, a] = chance, 1 - chance
    return MatchEquityTable.checked(before, after, name)


def _away(place: Tensor) -> str:
    """The points needed at the indices of an entry, for messages."""
    return ", ".join(str(int(index) + 1) for index in place)
