"""A trained network as a player's judgement: outcomes, equities, best plays, cube actions, at the network's own depth.

All values are from the view of the player on roll (side 0 of the boards), in points per unit of the cube as it stands.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from ..env.board import check_boards, check_dice
from ..env.cube import THEIRS, Cube
from ..env.variants import get_variant
from .bundle import find_weights, load_network
from .encoding import encode
from .network import Network
from .plays import FirstLayer, Plays, evaluate_plays
from .values import LEVELS, bounds, equity, exact_probabilities, no_double_values, possible_outcomes, probabilities

__all__ = ["CubeAction", "Evaluator", "load"]

_CHUNK_ROWS = 1 << 16


@dataclass(frozen=True)
class CubeAction:
    """Doubling and answering before the roll, all ``[N]``, from the view of the player on roll.

    Attributes:
        no_double: equity of rolling without doubling, in units of the cube as it stands.
        double_take: equity of doubling if the opponent takes, twice the value with the opponent owning the cube.
        double_pass: equity if the opponent drops: 1.
        double: bool, doubling is allowed and better than rolling.
        take: bool, the opponent, if doubled, should take.
    """

    no_double: Tensor
    double_take: Tensor
    double_pass: Tensor
    double: Tensor
    take: Tensor


class Evaluator:
    """A network with the rules it plays by.

    Attributes:
        variant: the discipline it was trained for.
        network: the network, not to be changed.
        header: what its file says of it; empty for one made in memory.
    """

    def __init__(self, network: Network, variant: str = "backgammon", header: dict[str, Any] | None = None) -> None:
        self.variant = get_variant(variant).name
        self.network = network
        self.header = header or {}
        self._first = FirstLayer(network)

    @property
    def device(self) -> torch.device:
        """Where the network is; answers are returned on the device of the boards asked about."""
        return self._first.table.device

    def outcome(self, boards: Tensor) -> Tensor:
        """Exclusive probabilities ``[N, 6]`` that side 0 wins single, gammon, backgammon, then loses those.

        They sum to 1; what can no longer happen is exactly 0, and a finished board has its exact outcome. ``boards``
        ``[N, 2, 26]`` before side 0's roll; ``ValueError`` names the first bad row.
        """
        return self._outputs(self._check(boards))[0].to(boards.device)

    def equity(self, boards: Tensor, cube: Cube | None = None) -> Tensor:
        """Equity ``[N]``: cubeless for money without a ``cube``; with one, its value before side 0's roll.

        With a cube the right to double now is included. ``ValueError`` for what this model has not learned (Jacoby,
        match scores).
        """
        checked = self._check(boards)
        probs, no_double, level = self._outputs(checked)
        if cube is None:
            return equity(probs).to(boards.device)
        state = self._cube(cube, len(checked))
        action = self._action(probs, no_double, state)
        value = torch.where(action.double, self._doubled(action, state), action.no_double)
        return torch.where(level != 0, level, value).to(boards.device)

    def best(
        self,
        boards: Tensor,
        dice: Tensor,
        cube: Cube | None = None,
        plies: int = 0,
        second_first: Tensor | None = None,
    ) -> Tensor:
        """Best play: ``[N]`` int64, the index within each game's own rows of `env.afterstates`, ties to the lowest.

        Without ``cube`` the cubeless equity decides, with it the value at that cube.
        """
        plays = self.plays(boards, dice, plies, second_first)
        rows = plays.best().gather(1, self.column(cube, len(boards))[:, None])[:, 0]
        begins = torch.cat([plays.ends.new_zeros(1), plays.ends[:-1]])
        return (rows - begins).to(boards.device)

    def plays(self, boards: Tensor, dice: Tensor, plies: int = 0, second_first: Tensor | None = None) -> Plays:
        """Every legal play of every game with its values, on the network's device."""
        _check_plies(plies)
        checked = self._check(boards)
        dice = check_dice(dice, len(checked)).to(self.device)
        if second_first is not None and second_first.shape != boards.shape[:1]:
            raise ValueError(f"second_first: found shape {tuple(second_first.shape)}, wanted ({boards.shape[0]},)")
        if second_first is not None:
            second_first = second_first.to(self.device, torch.bool)
        return evaluate_plays(self.network, checked, dice, self.variant, second_first, self._first)

    def column(self, cube: Cube | None, num_games: int) -> Tensor:
        """The column of `Plays.values` by which a player with ``cube`` chooses, ``[N]`` int64."""
        if cube is None:
            return torch.zeros(num_games, dtype=torch.int64, device=self.device)
        state = self._cube(cube, num_games)
        return torch.where(state.dead, 0, state.owner.long() + 1)

    def cube_action(self, boards: Tensor, cube: Cube, plies: int = 0) -> CubeAction:
        """Should side 0 double before rolling, and should the other take? All fields are filled for every row."""
        _check_plies(plies)
        checked = self._check(boards)
        probs, no_double, _ = self._outputs(checked)
        action = self._action(probs, no_double, self._cube(cube, len(checked)))
        moved = {name: getattr(action, name).to(boards.device) for name in CubeAction.__dataclass_fields__}
        return CubeAction(**moved)

    def _check(self, boards: Tensor) -> Tensor:
        return check_boards(boards, get_variant(self.variant)).to(self.device)

    @torch.no_grad()
    def _outputs(self, boards: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Probabilities ``[N, 6]``, no-double values ``[N, 3]`` and the exact level of finished boards ``[N]``."""
        parts = [self._outputs_of(part) for part in torch.split(boards, _CHUNK_ROWS)] or [self._outputs_of(boards)]
        probs, no_double, level = (torch.cat(columns) for columns in zip(*parts, strict=True))
        return probs, no_double, level

    def _outputs_of(self, boards: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        raw = self.network(encode(boards, self.variant))
        possible = possible_outcomes(boards, self.variant)
        probs = probabilities(raw, possible)
        no_double = torch.clamp(no_double_values(raw, probs), *bounds(possible))
        done, exact = exact_probabilities(boards, self.variant)
        level = torch.where(done, exact @ exact.new_tensor(LEVELS), 0.0)
        probs = torch.where(done[:, None], exact, probs)
        return probs, torch.where(done[:, None], level[:, None], no_double), level

    def _cube(self, cube: Cube, num_games: int) -> _CubeState:
        state = cube.as_tensors(num_games, self.device)
        if bool((state.away > 0).any()):
            raise ValueError("cube: away: found a match score, but this model has learned money games only")
        if bool(state.jacoby.any()):
            raise ValueError("cube: jacoby: found it on, but this model has learned money games without it")
        return _CubeState(
            owner=state.owner,
            may_double=state.may_double(),
            beavers=state.beavers & (4 * state.value <= cube.max_cube),
            dead=2 * state.value > cube.max_cube,
            dead_after=4 * state.value > cube.max_cube,
        )

    def _action(self, probs: Tensor, no_double: Tensor, cube: _CubeState) -> CubeAction:
        cubeless = equity(probs)
        here = no_double.gather(1, cube.owner.long()[:, None])[:, 0]
        here = torch.where(cube.dead, cubeless, here)
        double_take = 2.0 * torch.where(cube.dead_after, cubeless, no_double[:, THEIRS])
        double_pass = torch.ones_like(here)
        action = CubeAction(here, double_take, double_pass, cube.may_double, double_take <= double_pass)
        better = self._doubled(action, cube) > here
        return CubeAction(here, double_take, double_pass, cube.may_double & better, action.take)

    @staticmethod
    def _doubled(action: CubeAction, cube: _CubeState) -> Tensor:
        """Value of offering the cube: the opponent answers with what costs the player on roll most.

        A beaver puts the cube at 4 for 2 in the opponent's hands, so it is worth twice a take; the player on roll may
        drop it and lose 2 (rules.md 2.9).
        """
        answered = torch.minimum(action.double_take, action.double_pass)
        beaver = torch.clamp(2.0 * action.double_take, min=-2.0)
        return torch.where(cube.beavers, torch.minimum(answered, beaver), answered)


@dataclass(frozen=True)
class _CubeState:
    """A cube as the arithmetic needs it, all ``[N]``; a dead cube is one that nobody can turn any more."""

    owner: Tensor
    may_double: Tensor
    beavers: Tensor
    dead: Tensor
    dead_after: Tensor


def _check_plies(plies: int) -> None:
    if plies != 0:
        raise ValueError(f"plies: found {plies}, wanted 0: search is not built yet")


def load(name_or_path: str | Path, device: torch.device | str = "cpu") -> Evaluator:
    """Load a model: a bundled one by name, or the path of a run, a checkpoint or a bundle.

    Raises:
        BundleError: (a ``ValueError``) naming the file, what was found and what was wanted.
    """
    network, header = load_network(find_weights(name_or_path), device)
    return Evaluator(network, header["variant"], header)
