"""The Gymnasium vector environment: many episodes in lock step over one batch, on any device.

Made by ``gymnasium.make_vec("nardy/Backgammon-v0", num_envs=..., vectorization_mode="vector_entry_point")``.
Observations, rewards and infos are NumPy arrays laid out as `gymnasium.vector.SyncVectorEnv` lays them out; the games
themselves are tensors on ``device``. An episode that ends starts anew in the same step: its last observation and info
are in ``infos["final_obs"]`` and ``infos["final_info"]``. Game i with seed s plays what one environment seeded s + i
plays.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from .board import check_dice
from .decisions import NUM_ACTIONS
from .gym import RENDER_MODES
from .gym_batch import Arrays, GymBatch, Stepped, game_options, observation_space

__all__ = ["BackgammonVectorEnv"]

Rows = npt.NDArray[np.bool_]


class BackgammonVectorEnv(VectorEnv[Arrays, npt.NDArray[np.int64], npt.NDArray[Any]]):
    """``num_envs`` episodes; the arguments are those of `BackgammonEnv`, and ``device``, where the games live."""

    metadata: dict[str, Any] = {  # noqa: RUF012  # as in the base
        "render_modes": list(RENDER_MODES),
        "render_fps": 4,
        "autoreset_mode": AutoresetMode.SAME_STEP,
    }

    def __init__(
        self,
        num_envs: int = 1,
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
        device: torch.device | str = "cpu",
    ) -> None:
        if num_envs < 1:
            raise ValueError(f"num_envs: found {num_envs}, wanted 1 or more")
        if render_mode is not None and render_mode not in RENDER_MODES:
            raise ValueError(f"render_mode: found {render_mode!r}, wanted one of {', '.join(RENDER_MODES)}")
        options = game_options(
            variant, match_length, cube, jacoby, crawford, max_cube, beavers, raccoons, automatic_doubles, resignation
        )
        self.num_envs = num_envs
        self.render_mode = render_mode
        self.single_action_space = spaces.Discrete(NUM_ACTIONS)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.single_observation_space = observation_space(options)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self._batch = GymBatch(num_envs, options, device)
        self._seeded = False

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Arrays, dict[str, Any]]:
        """Start new episodes, in all games or in those of ``options["reset_mask"]`` ``[N]`` bool.

        ``seed`` is one for all, game i taking ``seed`` + i, or a list of one a game; without one the dice go on.
        """
        options = dict(options or {})
        rows = self._reset_rows(options.pop("reset_mask", None))
        self._seed(seed, rows)
        self._batch.reset(rows, options)
        infos: dict[str, Any] = {}
        self._put(infos, self._batch.info(), rows)
        return self._batch.observation(), infos

    def force_dice(self, dice: Any) -> None:
        """Make ``dice`` ``[N, 2]`` the next roll of each game instead of a random one; see `Decisions.forced_dice`."""
        forced = check_dice(torch.from_numpy(np.asarray(dice)), self.num_envs)
        self._batch.decisions.forced_dice = forced.to(self._batch.device)

    def step(self, actions: npt.NDArray[Any]) -> tuple[Arrays, npt.NDArray[np.float64], Rows, Rows, dict[str, Any]]:
        """Take one decision in each game, ``actions`` ``[N]``; an episode that ends starts anew at once."""
        actions = np.asarray(actions)
        if actions.shape != (self.num_envs,) or not np.issubdtype(actions.dtype, np.integer):
            raise ValueError(
                f"actions: found shape {actions.shape} of {actions.dtype}, wanted ({self.num_envs},) integers"
            )
        result = self._batch.step(actions)
        infos: dict[str, Any] = {}
        refused = self._reasons(result, actions)
        if result.terminated.any():
            final = self._step_infos(result, refused, result.terminated)
            infos["final_obs"] = self._final_observations(result.terminated)
            infos["final_info"] = final
            infos["_final_obs"] = result.terminated.copy()
            infos["_final_info"] = result.terminated.copy()
            self._batch.reset(result.terminated)
        running = ~result.terminated
        infos.update(self._step_infos(result, refused, running))
        self._put(infos, self._batch.info(), np.ones(self.num_envs, dtype=np.bool_))
        truncated = np.zeros(self.num_envs, dtype=np.bool_)
        return self._batch.observation(), result.reward, result.terminated, truncated, infos

    def render(self) -> tuple[Any, ...] | None:
        """Every game as text or image, by ``render_mode``."""
        if self.render_mode is None:
            return None
        return tuple(self._batch.render(game, self.render_mode) for game in range(self.num_envs))

    def _reset_rows(self, mask: Any) -> Rows:
        if mask is None:
            return np.ones(self.num_envs, dtype=np.bool_)
        rows = np.asarray(mask)
        if rows.shape != (self.num_envs,) or rows.dtype != np.bool_ or not rows.any():
            raise ValueError(
                f"options['reset_mask']: found shape {rows.shape} of {rows.dtype}, wanted ({self.num_envs},) booleans, "
                "one at least true"
            )
        return rows

    def _seed(self, seed: int | list[int | None] | None, rows: Rows) -> None:
        if isinstance(seed, int | np.integer):
            super().reset(seed=int(seed))
            seeds: list[int | None] = [int(seed) + game for game in range(self.num_envs)]
        elif seed is not None:
            seeds = list(seed)
            if len(seeds) != self.num_envs:
                raise ValueError(f"seed: found {len(seeds)}, wanted one or {self.num_envs}")
        else:
            seeds = [None] * self.num_envs
        if not self._seeded:
            drawn = self.np_random.integers(2**63, size=self.num_envs).tolist()
            seeds = [fresh if given is None else given for given, fresh in zip(seeds, drawn, strict=True)]
            rows = np.ones(self.num_envs, dtype=np.bool_)
            self._seeded = True
        self._batch.seed([given if row else None for given, row in zip(seeds, rows, strict=True)])

    def _reasons(self, result: Stepped, actions: npt.NDArray[Any]) -> npt.NDArray[np.object_]:
        """Why the illegal actions were, in words, ``[N]``; None for the others."""
        reasons = np.full(self.num_envs, None, dtype=object)
        for game in np.flatnonzero(~result.legal):
            reasons[game] = self._batch.why_illegal(int(game), int(actions[game]))
        return reasons

    def _step_infos(self, result: Stepped, reasons: npt.NDArray[np.object_], rows: Rows) -> dict[str, Any]:
        """What the step itself has to tell of the games in ``rows``; with the position's info where it has ended."""
        infos: dict[str, Any] = {}
        if rows is result.terminated:
            self._put(infos, self._batch.info(), rows)
        self._put(infos, result.end, rows & result.ended)
        self._put(infos, {"illegal": reasons}, rows & ~result.legal)
        return infos

    def _put(self, infos: dict[str, Any], arrays: Arrays, rows: Rows) -> None:
        """Enter arrays ``[N, ...]`` for ``rows``, with zeros or None elsewhere, as `VectorEnv._add_info` would."""
        if not rows.any():
            return
        for name, array in arrays.items():
            kept = array if rows.all() else np.zeros_like(array)
            if array.dtype == object:
                kept = np.full_like(array, None)
            kept[rows] = array[rows]
            infos[name], infos[f"_{name}"] = kept, rows.copy()

    def _final_observations(self, rows: Rows) -> npt.NDArray[np.object_]:
        batch = self._batch.observation()
        observations = np.full(self.num_envs, None, dtype=object)
        for game in np.flatnonzero(rows):
            observations[game] = {name: array[game].copy() for name, array in batch.items()}
        return observations
