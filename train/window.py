"""What self-play records: windows of plies, from which targets and losses are made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar

import torch
from torch import Tensor

from ..models.stakes import Stakes

__all__ = ["DrawnPlays", "StakeWindow", "Window", "each_tensor", "stack_plies"]


@dataclass(frozen=True)
class StakeWindow:
    """What T plies of N games say of each game's own stake, normalised (`models.stakes`), from the same views.

    Attributes:
        here: the stakes themselves, seen by the player on roll.
        cube: ``[T, N, 3]``, value of the best play with the cube centred, mine, theirs.
        next_no_double: ``[T, N, 3]``, next_double_take: ``[T, N]``, next_may_double: ``[T, N]`` bool: of the position
            after the play made, from its own view.
        turned: ``[T, N]`` bool, the cube was turned before the next ply, whose stake is another.
    """

    here: Stakes
    cube: Tensor
    next_no_double: Tensor
    next_double_take: Tensor
    next_may_double: Tensor
    turned: Tensor


@dataclass(frozen=True)
class DrawnPlays:
    """One play of every turn of a window, drawn evenly from those the network valued.

    Attributes:
        boards: ``[T, N, 2, 26]`` int8, the afterstates, mover side 0.
        equity: ``[T, N]``, their cubeless equity for the mover.
    """

    boards: Tensor
    equity: Tensor


@dataclass(frozen=True)
class Window:
    """T plies of N games, or one ply, without T. Values are from the view of the player on roll at that ply.

    Attributes:
        boards: ``[T, N, 2, 26]`` int8, before the roll, the player on roll side 0.
        opening: ``[T, N]`` bool, the dice were an opening roll, so this is no ordinary position before a roll.
        second_first: ``[T, N]`` bool, it is the second player's first turn.
        dice: ``[T, N, 2]`` int8, what was rolled.
        outcome: ``[T, N, 6]``, outcome probabilities of the play with the best cubeless equity.
        cube: ``[T, N, 3]``, value of the best play with the cube centred, mine, theirs.
        followed: ``[T, N, 4]`` bool, the play made was the best one cubeless, centred, mine, theirs; ``[T, N, 7]``
            with the last three again at the stake.
        next_no_double: ``[T, N, 3]``, no-double values of the position after the play made, from its own view.
        ended: ``[T, N]`` bool, the next ply of this slot does not continue this position: it was the last one, or the
            other side's double was dropped.
        stake: the same at each game's own stake; None for a network that knows money alone.
        drawn: a play of every turn, if asked for.
    """

    boards: Tensor
    opening: Tensor
    second_first: Tensor
    dice: Tensor
    outcome: Tensor
    cube: Tensor
    followed: Tensor
    next_no_double: Tensor
    ended: Tensor
    stake: StakeWindow | None = None
    drawn: DrawnPlays | None = None

    def slots(self, where: Tensor) -> Window:
        """The window of some of the games, ``where`` ``[K]`` int64; without the plays drawn."""
        return each_tensor(lambda tensor: tensor[:, where], replace(self, drawn=None))


_Recorded = TypeVar("_Recorded", Window, StakeWindow, DrawnPlays, Stakes)


def each_tensor(change: Callable[..., Tensor], *records: _Recorded) -> _Recorded:
    """A record of what ``change`` makes of each tensor of several like ``records``, taken together."""

    def changed(name: str) -> Any:
        values = [getattr(record, name) for record in records]
        if values[0] is None:
            return None
        return change(*values) if isinstance(values[0], Tensor) else each_tensor(change, *values)

    return type(records[0])(**{field.name: changed(field.name) for field in fields(records[0])})


def stack_plies(plies: list[Window]) -> Window:
    """T windows of one ply as one window of T."""
    return each_tensor(lambda *tensors: torch.stack(tensors), *plies)
