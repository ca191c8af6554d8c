"""The doubling cube as one player sees it, and when it may be turned (rules.md 2.1 to 2.7 and 2.9)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

__all__ = ["CENTRED", "MINE", "THEIRS", "Cube", "CubeTensors", "flip_owner", "may_double", "may_turn_again"]

CENTRED, MINE, THEIRS = 0, 1, 2
_OWNERS = {"centred": CENTRED, "mine": MINE, "theirs": THEIRS}
_NAMES = {number: name for name, number in _OWNERS.items()}


def flip_owner(owner: Tensor) -> Tensor:
    """The owner as the other player sees it: 1 and 2 exchanged, 0 kept."""
    return (3 - owner) % 3


def may_double(value: Tensor, owner: Tensor, away: Tensor, crawford: Tensor, max_cube: int) -> Tensor:
    """May the player on roll offer the cube before rolling? ``[N]`` bool, rules.md 2.2 apart from the dice.

    Args:
        value: ``[N]`` the cube as it stands.
        owner: ``[N]`` 0 centred, 1 the player on roll, 2 the opponent.
        away: ``[N, 2]`` points that the player on roll and the opponent still need; 0 0 is a money game.
        crawford: ``[N]`` bool, this is the Crawford game.
        max_cube: no turn of the cube may go above this.
    """
    money = away[..., 0] == 0
    live = money | (value < away[..., 0])  # 2.4: a dead cube may not be offered
    return (owner != THEIRS) & ~crawford & live & (2 * value <= max_cube)


def may_turn_again(value: Tensor, beavers: bool, raccoons: bool, max_cube: int) -> Tensor:
    """How often a double of a cube at ``value`` ``[N]`` may be turned again at once, ``[N]`` int8, rules.md 2.9.

    0 take or drop only; 1 the doubled player may beaver; 2 the offerer may then raccoon.
    """
    times = torch.zeros_like(value, dtype=torch.int8)
    if beavers:
        times = times + (4 * value <= max_cube)
    if raccoons:
        times = times + (8 * value <= max_cube)
    return times


def _found(field: object, bad: Tensor) -> str:
    """What was found in ``field``, at the first row where ``bad`` holds if it is a batch."""
    if isinstance(field, Tensor) and field.ndim and bad.ndim:
        row = int(bad.nonzero()[0, 0])
        return f"row {row}: found {field[row].tolist()}"
    return f"found {field}"


@dataclass(frozen=True)
class CubeTensors:
    """A `Cube` spread over a batch: the same fields, all ``[N]`` tensors (``away`` ``[N, 2]``) but ``max_cube``."""

    value: Tensor
    owner: Tensor
    jacoby: Tensor
    beavers: Tensor
    away: Tensor
    crawford: Tensor
    max_cube: int

    def may_double(self) -> Tensor:
        """May the player on roll offer the cube, dice apart? ``[N]`` bool."""
        return may_double(self.value, self.owner, self.away, self.crawford, self.max_cube)


@dataclass(frozen=True)
class Cube:
    """The cube and the score as seen by the player on roll (side 0 of the boards it goes with).

    Every field but ``max_cube`` may be a plain value for all games of a batch, or a tensor ``[N]``.

    Attributes:
        value: what the cube shows, a power of two.
        owner: "centred", "mine" or "theirs"; as a tensor int8 0, 1, 2.
        jacoby: money only: gammons and backgammons count only once the cube has been turned.
        beavers: money only: the doubled player may redouble at once and keep the cube.
        away: ``(mine, theirs)``, the points still needed in the match, None for money; as a tensor ``[N, 2]``, 0 0
            is money.
        crawford: this is the Crawford game of a match.
        max_cube: no turn of the cube may go above this.
    """

    value: int | Tensor = 1
    owner: str | Tensor = "centred"
    jacoby: bool | Tensor = False
    beavers: bool | Tensor = False
    away: tuple[int, int] | Tensor | None = None
    crawford: bool | Tensor = False
    max_cube: int = 64

    def __post_init__(self) -> None:
        self._check_owner()
        self._check_value()
        self._check_match()

    @classmethod
    def unchecked(cls, **fields: Any) -> Cube:
        """A cube of fields known to fit, all named; for tensors on a device, which checking would wait for."""
        cube = object.__new__(cls)
        for name, value in fields.items():
            object.__setattr__(cube, name, value)
        return cube

    def _check_owner(self) -> None:
        if isinstance(self.owner, Tensor):
            bad = (self.owner < 0) | (self.owner > 2)
            if bool(bad.any()):
                raise ValueError(f"cube: owner: {_found(self.owner, bad)}, wanted 0 centred, 1 mine, 2 theirs")
        elif self.owner not in _OWNERS:
            raise ValueError(f"cube: owner: found {self.owner!r}, wanted one of {', '.join(_OWNERS)}")

    def _check_value(self) -> None:
        value = torch.as_tensor(self.value)
        if value.is_floating_point() or value.dtype == torch.bool:
            raise ValueError(f"cube: value: found {value.dtype} {self.value}, wanted a whole number")
        bad = (value < 1) | (value > 1 << 24) | (value & (value - 1) != 0)
        if bool(bad.any()):
            raise ValueError(f"cube: value: {_found(self.value, bad)}, wanted a power of two from 1 to 2^24")
        if not 1 <= self.max_cube <= 1 << 24 or self.max_cube & (self.max_cube - 1):
            raise ValueError(f"cube: max_cube: found {self.max_cube}, wanted a power of two from 1 to 2^24")

    def _check_match(self) -> None:
        away = self._away()
        if away.shape[-1:] != (2,):
            raise ValueError(f"cube: away: found shape {tuple(away.shape)}, wanted two numbers, or None for money")
        bad = ((away < 0) | ((away == 0) != (away.flip(-1) == 0))).any(-1)
        if bool(bad.any()):
            raise ValueError(f"cube: away: {_found(self.away, bad)}, wanted two numbers from 1 up, or None for money")
        match = away[..., 0] > 0
        bad = match & (torch.as_tensor(self.jacoby) | torch.as_tensor(self.beavers))
        if bool(bad.any()):
            raise ValueError(
                f"cube: jacoby and beavers belong to money games: {_found(self.away, bad)} points away with one of "
                "them, wanted one or the other"
            )
        bad = ~match & torch.as_tensor(self.crawford)
        if bool(bad.any()):
            raise ValueError(
                f"cube: crawford belongs to matches: {_found(self.crawford, bad)} without away, "
                "wanted away=(mine, theirs)"
            )

    def _away(self) -> Tensor:
        if isinstance(self.away, Tensor):
            return self.away
        return torch.tensor(self.away or (0, 0), dtype=torch.int32)

    def as_tensors(self, num_games: int, device: torch.device | str = "cpu") -> CubeTensors:
        """The same with every field a tensor for ``num_games`` games; ``ValueError`` if a length differs."""

        def spread(value: object, dtype: torch.dtype, *shape: int) -> Tensor:
            tensor = torch.as_tensor(value, dtype=dtype, device=device)
            try:
                return tensor.expand(num_games, *shape)
            except RuntimeError:
                raise ValueError(
                    f"cube: found a field of shape {tuple(tensor.shape)}, wanted one value or {num_games}"
                ) from None

        owner = self.owner if isinstance(self.owner, Tensor) else _OWNERS[self.owner]
        return CubeTensors(
            spread(self.value, torch.int32),
            spread(owner, torch.int8),
            spread(self.jacoby, torch.bool),
            spread(self.beavers, torch.bool),
            spread(self._away(), torch.int32, 2),
            spread(self.crawford, torch.bool),
            self.max_cube,
        )

    def may_double(self) -> Tensor:
        """May the player on roll offer the cube, dice apart? ``[N]`` bool (``[1]`` if no field is a tensor)."""
        fields = (self.value, self.owner, self.jacoby, self.beavers, self.crawford)
        lengths = [field.shape[0] for field in fields if isinstance(field, Tensor) and field.ndim]
        if isinstance(self.away, Tensor) and self.away.ndim == 2:
            lengths.append(self.away.shape[0])
        devices = [field.device for field in (*fields, self.away) if isinstance(field, Tensor)]
        return self.as_tensors(max(lengths, default=1), devices[0] if devices else "cpu").may_double()

    def rows(self, rows: Tensor) -> Cube:
        """The cubes of some games of a batch, by index or mask; fields that are the same for all games stay."""
        changed: dict[str, Any] = {name: value[rows] for name, value in vars(self).items() if isinstance(value, Tensor)}
        return Cube.unchecked(**(vars(self) | changed))

    def flip(self) -> Cube:
        """The same cube as the other player sees it: mine and theirs exchanged, and the two ``away``."""
        if isinstance(self.owner, Tensor):
            owner: str | Tensor = flip_owner(self.owner)
        else:
            owner = _NAMES[(3 - _OWNERS[self.owner]) % 3]
        away: tuple[int, int] | Tensor | None
        away = self.away.flip(-1) if isinstance(self.away, Tensor) else self.away and (self.away[1], self.away[0])
        return Cube.unchecked(**(vars(self) | {"owner": owner, "away": away}))
