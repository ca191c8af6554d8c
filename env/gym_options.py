"""The options of ``reset`` in the Gymnasium faces: a position, dice and a cube to start from, read and checked.

``board``: ``[2, 26]``, side 0 the player on roll. ``dice``: two numbers. ``cube``: a `Cube` or its fields as a dict, as
the player on roll sees it; automatic doubles come only where none of these options is given. ``player``: who is on
roll, 0 or 1, by default 0 if any of the others is given. Where there are several games, each may also be given for
every game: ``[N, 2, 26]``, ``[N, 2]``, tensors in the cube, ``[N]``.
In longgammon it is the second player's first roll where only his own checkers have not moved yet. Errors are
`ValueError` and name the option.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .board import check_boards, check_dice, outcome
from .cube import CENTRED, Cube, CubeTensors
from .games import GameOptions
from .variants import get_variant

__all__ = ["OPTION_KEYS", "SetUp", "read_options"]

OPTION_KEYS = ("board", "dice", "cube", "player")


@dataclass(frozen=True)
class SetUp:
    """What to start from, None for what a new game has anyway. Shapes as for `Games.place`."""

    boards: Tensor | None
    player: Tensor | None
    dice: Tensor | None
    cube: Cube | None


def read_options(options: Mapping[str, Any], game: GameOptions, num_games: int, device: torch.device) -> SetUp | None:
    """Read the options of a reset of ``num_games`` games; None if they ask for nothing."""
    for key in options:
        if key not in OPTION_KEYS:
            raise ValueError(f"options: found {key!r}, wanted any of {', '.join(OPTION_KEYS)}")
    given = {key: value for key, value in options.items() if value is not None}
    if not given:
        return None
    boards = _boards(given["board"], game, num_games) if "board" in given else None
    dice = _dice(given["dice"], num_games) if "dice" in given else None
    if boards is not None and dice is None:
        dice = torch.zeros((num_games, 2), dtype=torch.int8)  # before the roll
    player = _player(given.get("player", 0), num_games)
    cube = Cube() if game.automatic_doubles else None
    if "cube" in given:
        cube = _cube(given["cube"], game, num_games)
    boards, dice = (None if tensor is None else tensor.to(device) for tensor in (boards, dice))
    return SetUp(boards, player.to(device), dice, cube)


def _tensor(name: str, value: Any) -> Tensor:
    if isinstance(value, Tensor):
        return value.cpu()
    try:
        array = np.asarray(value)
    except ValueError as error:  # lists of different lengths
        raise ValueError(f"options[{name!r}]: {error}") from None
    if not np.issubdtype(array.dtype, np.integer):
        raise ValueError(f"options[{name!r}]: found {value!r}, wanted whole numbers")
    return torch.from_numpy(array.astype(np.int64))


def _spread(name: str, value: Any, num_games: int, *shape: int) -> Tensor:
    """``value`` for every game, ``[N, *shape]``."""
    tensor = _tensor(name, value)
    if tuple(tensor.shape) == shape:
        return tensor.expand(num_games, *shape)
    if tuple(tensor.shape) == (num_games, *shape):
        return tensor
    wanted = f"{list(shape)}" if num_games == 1 else f"{list(shape)} or {[num_games, *shape]}"
    raise ValueError(f"options[{name!r}]: found shape {list(tensor.shape)}, wanted {wanted}")


def _boards(value: Any, game: GameOptions, num_games: int) -> Tensor:
    boards = _spread("board", value, num_games, 2, 26)
    try:
        boards = check_boards(boards, get_variant(game.variant))
    except ValueError as error:
        raise ValueError(f"options['board']: {error}") from None
    finished = outcome(boards, game.variant) != 0
    if bool(finished.any()):
        row = int(finished.nonzero()[0, 0])
        raise ValueError(f"options['board']: row {row}: found a finished game, wanted one still to be played")
    return boards


def _dice(value: Any, num_games: int) -> Tensor:
    try:
        return check_dice(_spread("dice", value, num_games, 2), num_games)
    except ValueError as error:
        message = str(error)
        raise ValueError(message if message.startswith("options") else f"options['dice']: {message}") from None


def _player(value: Any, num_games: int) -> Tensor:
    player = _spread("player", value, num_games)
    if bool(((player < 0) | (player > 1)).any()):
        raise ValueError(f"options['player']: found {value!r}, wanted 0 or 1")
    return player.to(torch.int8)


def _cube(value: Any, game: GameOptions, num_games: int) -> Cube:
    try:
        if isinstance(value, Mapping):
            fields: dict[str, Any] = {
                key: tuple(field) if isinstance(field, list) else field for key, field in value.items()
            }
            value = Cube(**fields)
        if not isinstance(value, Cube):
            raise ValueError(f"found {type(value).__name__}, wanted a Cube or a dict of its fields")
        cube = value
        if game.match_length and cube.away is None:
            cube = replace(cube, away=(game.match_length, game.match_length))
        _check_cube(cube.as_tensors(num_games), game)
    except (TypeError, ValueError, RuntimeError) as error:
        raise ValueError(f"options['cube']: {error}") from None
    return cube


def _check_cube(cube: CubeTensors, game: GameOptions) -> None:
    """Raise ``ValueError`` if a cube does not fit the game played."""
    if not game.cube and bool(((cube.value != 1) | (cube.owner != CENTRED)).any()):
        raise ValueError("found a turned cube, wanted none: this game is played without")
    if bool((cube.value > game.max_cube).any()):
        raise ValueError(f"value: found {int(cube.value.max())}, wanted at most max_cube, {game.max_cube}")
    if bool(cube.jacoby.any()) and not game.jacoby:
        raise ValueError("jacoby: found it, wanted none: this game is played without")
    if bool(cube.beavers.any()) and not game.beavers:
        raise ValueError("beavers: found them, wanted none: this game is played without")
    if not game.match_length and bool((cube.away != 0).any()):
        raise ValueError("away: found a score, wanted none in a money game")
    if game.match_length and bool(((cube.away < 1) | (cube.away > game.match_length)).any()):
        raise ValueError(f"away: found {cube.away.tolist()}, wanted 1 to {game.match_length}")
    if bool(cube.crawford.any()):
        if not game.crawford:
            raise ValueError("crawford: found it, wanted none: this match is played without the Crawford rule")
        if bool((cube.crawford & ~(cube.away == 1).any(1)).any()):
            raise ValueError("crawford: found it at a score where nobody needs one point")
        if bool((cube.crawford & ((cube.value != 1) | (cube.owner != CENTRED))).any()):
            raise ValueError("crawford: found it with a turned cube, wanted a centred one of value 1")
