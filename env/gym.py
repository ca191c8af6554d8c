"""The Gymnasium environment of one game, both sides of which are played through ``step``.

Importing `nardy.env` registers ``nardy/Backgammon-v0``, ``nardy/Sprintgammon-v0`` and ``nardy/Longgammon-v0``. An
action is one decision: a checker move ``(die - 1) * 25 + (point - 1)`` (point 25 the bar) or 150 roll, 151 double,
152 take, 153 drop, 154 pass, 155 beaver, 156 raccoon, 157 to 159 resign a single game, a gammon, a backgammon, 160
accept or 161 refuse that. What is legal now is in ``info["action_mask"]``, ready for ``action_space.sample(mask)``;
moves that would break the both-dice rule are not in it. An illegal action changes nothing, has reward 0, and
``info["illegal"]`` says which rule it breaks. `env.gym_batch` describes observation, information and reward,
`env.gym_options` the options of ``reset``.
"""

from __future__ import annotations

import operator
from collections import deque
from typing import Any

import gymnasium
import numpy as np
import torch
from gymnasium import spaces

from .board import check_dice
from .decisions import NUM_ACTIONS
from .gym_batch import GymBatch, game_options, observation_space

__all__ = ["BackgammonEnv"]

RENDER_MODES = ("ansi", "rgb_array")

Observation = dict[str, Any]


class BackgammonEnv(gymnasium.Env[Observation, np.int64]):
    """One money game, or one match, an episode.

    Args:
        variant: name of the discipline.
        match_length: points to win the match; 0 or None for a money game.
        cube: is there a doubling cube?
        jacoby: money only: gammons and backgammons count only once the cube has been turned.
        crawford: matches only: no cube in the first game that a side starts one point short.
        max_cube: no turn of the cube may go above this.
        beavers: money only: who is doubled may turn the cube once more at once and keep it.
        raccoons: money only, with beavers: the offerer may turn it a third time; it stays the beaverer's.
        automatic_doubles: money only: how many ties of the opening roll double the centred cube.
        resignation: before rolling a side may offer to lose at a level; the opponent accepts or play goes on.
        render_mode: "ansi" (text) or "rgb_array" (an image), both as player 0 sees the board.
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": 4}  # noqa: RUF012  # as in the base

    def __init__(
        self,
        variant: str = "backgammon",
        match_length: int | None = 0,
        cube: bool = True,
        jacoby: bool = False,
        crawford: bool = True,
        max_cube: int = 64,
        beavers: bool = False,
        raccoons: bool = False,
        automatic_doubles: int = 0,
        resignation: bool = False,
        render_mode: str | None = None,
    ) -> None:
        if render_mode is not None and render_mode not in RENDER_MODES:
            raise ValueError(f"render_mode: found {render_mode!r}, wanted one of {', '.join(RENDER_MODES)}")
        options = game_options(
            variant, match_length, cube, jacoby, crawford, max_cube, beavers, raccoons, automatic_doubles, resignation
        )
        self.render_mode = render_mode
        self.action_space = spaces.Discrete(NUM_ACTIONS)
        self.observation_space = observation_space(options)
        self._batch = GymBatch(1, options)
        self._seeded = False
        self._forced: deque[tuple[int, int]] = deque()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start a new episode; without a seed its dice go on where the last episode's ended."""
        super().reset(seed=seed)
        if seed is not None or not self._seeded:
            known = self.np_random_seed
            own = known if known is not None and known >= 0 else int(self.np_random.integers(2**63))
            self._batch.seed([own])
            self._seeded = True
        self._forced.clear()
        self._batch.reset(options=options)
        return self._observation(), self._info()

    def force_dice(self, *rolls: tuple[int, int]) -> None:
        """Make these the next rolls, in this order, in place of random ones; `reset` forgets those not yet used.

        A roll happens within the ``step`` that leads to it, so they must be given before. In an opening roll (the
        next game of a match) the first die is player 0's, and a tie is rolled again.
        """
        check_dice(torch.tensor(rolls, dtype=torch.int64).reshape(len(rolls), -1), len(rolls))
        self._forced.extend((int(first), int(second)) for first, second in rolls)

    def step(self, action: int | np.int64) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Take one decision for the side whose it is."""
        number = operator.index(action)
        decisions = self._batch.decisions
        if self._forced:
            decisions.forced_dice = torch.tensor([self._forced[0]], dtype=torch.int8)
        result = self._batch.step(np.array([number if 0 <= number < NUM_ACTIONS else -1]))
        if self._forced and not int(decisions.forced_dice[0, 0]):
            self._forced.popleft()
        info = self._info()
        if result.ended[0]:
            info.update({name: array[0].item() for name, array in result.end.items()})
        if not result.legal[0]:
            info["illegal"] = self._batch.why_illegal(0, number)
        return self._observation(), float(result.reward[0]), bool(result.terminated[0]), False, info

    def render(self) -> Any:
        """The board as text or image, by ``render_mode``."""
        if self.render_mode is None:
            gymnasium.logger.warn("render: there is nothing to do without a render_mode, which is given to make")
            return None
        return self._batch.render(0, self.render_mode)

    def _observation(self) -> Observation:
        return {name: array[0] for name, array in self._batch.observation().items()}

    def _info(self) -> dict[str, Any]:
        info: dict[str, Any] = {name: array[0] for name, array in self._batch.info().items()}
        info["player"] = int(info["player"])
        return info


def _register(name: str, variant: str) -> None:
    identifier = f"nardy/{name}-v0"
    if identifier not in gymnasium.registry:
        gymnasium.register(
            identifier,
            entry_point="nardy.env.gym:BackgammonEnv",
            vector_entry_point="nardy.env.gym_vector:BackgammonVectorEnv",
            kwargs={"variant": variant},
        )


_register("Backgammon", "backgammon")
_register("Sprintgammon", "sprintgammon")
_register("Longgammon", "longgammon")
