"""What the single and the vector environment share: `Decisions` with NumPy at its face.

Observation (a dictionary, everything from the side of the player who decides):

- ``board`` ``[2, 26]`` int8: side 0 he himself, side 1 the opponent; each side in its own numbering, 1 to 24 the
  points, 25 the bar, 0 the checkers off. Within a turn the position so far.
- ``dice`` ``[4]`` int8: the dice left to play, 0 for none; two after a roll, four after a double.
- ``phase``: 0 roll, double or resign; 1 he is doubled: take, drop or beaver; 2 move (or pass); 3 the game is over;
  4 his double was beavered: take, drop or raccoon; 5 his beaver was raccooned: take or drop; 6 the opponent resigns:
  accept or refuse. See `Phase`.
- ``cube_value`` ``[1]`` int32: what the cube shows; while a double, beaver or raccoon waits (phases 1, 4, 5) what it
  showed before that one, which is what a drop costs; a take doubles it. ``cube_owner``: 0 centred, 1 he, 2 the
  opponent; in phases 4 and 5 it is who beavered.
- ``away`` ``[2]`` int32: points that he and the opponent still need, 0 0 in a money game. ``crawford``: 0 or 1.
- ``resignation``: the level that the opponent offers to lose, in phase 6, else 0.

Information: ``player`` who decides, 0 or 1; ``action_mask`` ``[162]`` int8, 1 for a legal action; in a match ``score``
``[2]`` int32 by player; when a game has just ended its signed ``points`` and ``level`` (positive for player 0, level 0
after a drop) and whether it was ``dropped`` or ``resigned``; after an illegal action ``illegal``, the reason in words.
The reward is what player 0 wins, only at the end of the episode: points of a money game, 1 or -1 for a match.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from gymnasium import spaces
from torch import Tensor

from .board import flip
from .decisions import Decisions, Phase
from .drawing import board_text
from .games import GameEnd, GameOptions, Games
from .gym_options import read_options
from .picture import board_picture
from .refusals import why_illegal
from .shapes import to_pixels
from .variants import get_variant

__all__ = ["GymBatch", "Stepped", "game_options", "observation_space"]

Arrays = dict[str, npt.NDArray[Any]]

# How often the cube has been turned without an answer, as drawings want to know.
_TURNED: dict[int, int] = {Phase.ANSWER: 1, Phase.BEAVERED: 2, Phase.RACCOONED: 3}

# The key of the dice here, so that they are not those of a training run; seeds select streams under it.
_KEY = int.from_bytes(b"nardy", "big")


def game_options(
    variant: str,
    match_length: int | None,
    cube: bool,
    jacoby: bool,
    crawford: bool,
    max_cube: int,
    beavers: bool = False,
    raccoons: bool = False,
    automatic_doubles: int = 0,
    resignation: bool = False,
) -> GameOptions:
    """The keyword arguments of an environment as `GameOptions`; ``match_length`` None is money too."""
    length = match_length or 0
    return GameOptions(
        variant, length, cube, jacoby, crawford, max_cube, beavers, raccoons, automatic_doubles, resignation
    )


def observation_space(options: GameOptions) -> spaces.Dict:
    """The space of one game's observation."""
    checkers = get_variant(options.variant).num_checkers
    return spaces.Dict(
        {
            "board": spaces.Box(0, checkers, (2, 26), np.int8),
            "dice": spaces.Box(0, 6, (4,), np.int8),
            "phase": spaces.Discrete(len(Phase)),
            "cube_value": spaces.Box(1, max(2, options.max_cube), (1,), np.int32),
            "cube_owner": spaces.Discrete(3),
            "away": spaces.Box(0, max(1, options.match_length), (2,), np.int32),
            "crawford": spaces.Discrete(2),
            "resignation": spaces.Discrete(4),
        }
    )


def _stream(seed: int) -> tuple[int, int]:
    """Slot and first roll number of a seed's dice: different seeds below 2^63 share no roll."""
    if seed >= 2**63:
        seed = int(np.random.default_rng(seed).integers(2**63))
    return seed & 0xFFFFFFFF, seed >> 32 << 32


def _array(tensor: Tensor, dtype: type[np.generic] | None = None) -> npt.NDArray[Any]:
    """A NumPy copy that shares nothing with the state."""
    array: npt.NDArray[Any] = tensor.cpu().numpy().astype(dtype) if dtype else tensor.cpu().numpy().copy()
    return array


@dataclass(frozen=True)
class Stepped:
    """What a step did, before any new game: ``reward`` ``[N]`` float64, ``terminated`` and ``legal`` ``[N]`` bool.

    ``ended`` ``[N]`` bool: a game, perhaps not the last of its match, has ended, as `end` tells.
    """

    reward: npt.NDArray[np.float64]
    terminated: npt.NDArray[np.bool_]
    legal: npt.NDArray[np.bool_]
    ended: npt.NDArray[np.bool_]
    end: Arrays


class GymBatch:
    """``num_games`` episodes side by side. An episode is a money game, or a match of which each game follows at once.

    The dice of an episode follow from its seed; later episodes of a game without a new seed go on in the same stream.
    """

    def __init__(self, num_games: int, options: GameOptions, device: torch.device | str = "cpu") -> None:
        self.options = options
        self.decisions = Decisions(Games(num_games, options, _KEY, device=device))
        self.device = self.decisions.games.device

    @property
    def num_games(self) -> int:
        """The number of games."""
        return self.decisions.games.num_games

    def _where(self, rows: npt.NDArray[np.bool_] | None) -> Tensor:
        if rows is None:
            return torch.ones(self.num_games, dtype=torch.bool, device=self.device)
        return torch.from_numpy(rows).to(self.device)

    def seed(self, seeds: Sequence[int | None]) -> None:
        """Give each game with a seed its own stream of dice."""
        games = self.decisions.games
        slots, numbers = games.slots.tolist(), games.num_rolls.tolist()
        for row, seed in enumerate(seeds):
            if seed is not None:
                slots[row], numbers[row] = _stream(seed)
        games.slots = torch.tensor(slots, dtype=torch.int64, device=self.device)
        games.num_rolls = torch.tensor(numbers, dtype=torch.int64, device=self.device)

    def reset(self, rows: npt.NDArray[np.bool_] | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Start new episodes in the games of ``rows`` ``[N]`` bool (all), as ``options`` say; see `gym_options`."""
        set_up = read_options(options or {}, self.options, self.num_games, self.device)
        where = self._where(rows)
        self.decisions.forced_dice = torch.where(where[:, None], 0, self.decisions.forced_dice)
        self.decisions.restart(where)
        if set_up is not None:
            self.decisions.place(where, set_up.boards, set_up.player, set_up.dice, set_up.cube)

    def step(self, actions: npt.NDArray[Any]) -> Stepped:
        """Take one action a game. Games of a match follow each other; episodes that end stay until `reset`."""
        over = _array(self.decisions.phase == Phase.OVER)
        result = self.decisions.step(torch.from_numpy(actions.astype(np.int64)).to(self.device))
        end: GameEnd = result.end
        won = end.match_winner if self.options.match_length else end.points
        terminated = end.finished & (won != 0)
        self.decisions.deal(end.finished & ~terminated)
        return Stepped(
            _array(won, np.float64),
            _array(terminated) | over,
            _array(result.legal),
            _array(end.finished),
            {
                "points": _array(end.points, np.int64),
                "level": _array(end.level, np.int64),
                "dropped": _array(end.dropped),
                "resigned": _array(end.resigned),
            },
        )

    def observation(self) -> Arrays:
        """The observations ``[N, ...]``, fresh arrays."""
        seen = self.decisions.observation()
        whole = ("phase", "cube_owner", "crawford", "resignation")
        arrays = {name: _array(tensor, np.int64 if name in whole else None) for name, tensor in seen.items()}
        arrays["cube_value"] = arrays["cube_value"][:, None]
        return arrays

    def info(self) -> Arrays:
        """Whose decision it is and what is legal, ``[N, ...]``, fresh arrays."""
        arrays = {
            "player": _array(self.decisions.player(), np.int64),
            "action_mask": _array(self.decisions.mask(), np.int8),
        }
        if self.options.match_length:
            arrays["score"] = _array(self.decisions.games.score)
        return arrays

    def why_illegal(self, game: int, action: int) -> str:
        """Why ``action``, which was refused, is illegal in ``game``."""
        return why_illegal(self.decisions, game, action)

    def view(self, game: int) -> dict[str, Any]:
        """One game as player 0 sees it: the arguments of `board_text` and `board_picture`."""
        decisions, games = self.decisions, self.decisions.games
        player = int(games.player[game])
        board = decisions.boards[game : game + 1]
        value, owner = (int(shown[game]) for shown in decisions.cube_shown())
        return {
            "board": (flip(board) if player else board)[0].cpu(),
            "dice": decisions.dice_left[game].tolist(),
            "cube_value": value if self.options.cube else 0,
            "cube_owner": (3 - owner) % 3 if player else owner,
            "score": games.score[game].tolist(),
            "match_length": self.options.match_length,
            "on_roll": player,
            "offered": _TURNED.get(int(decisions.phase[game]), 0),
            "resignation": int(decisions.resignation[game]),
            "variant": self.options.variant,
        }

    def render(self, game: int, mode: str) -> str | npt.NDArray[np.uint8]:
        """One game as text (``ansi``) or as an image ``[height, width, 3]`` (``rgb_array``)."""
        view = self.view(game)
        return board_text(**view) if mode == "ansi" else to_pixels(board_picture(**view))
