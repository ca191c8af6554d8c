"""The PettingZoo environment (AEC): the game of `BackgammonEnv` with an agent for either side.

Needs ``pip install 'nardy[pettingzoo]'``. ``env()`` is for play: an illegal action ends the episode with -1 for the
agent who took it, as `TerminateIllegalWrapper` does. ``raw_env()`` is without wrappers: there an illegal action changes
nothing and ``infos[agent]["illegal"]`` says which rule it breaks.

An agent observes a dictionary: ``observation``, a vector of whole numbers seen from its own side, and ``action_mask``,
1 for a legal action (`env.decisions` numbers them), all 0 for the agent who does not decide now. The vector is
`BackgammonEnv`'s observation (`env.gym_batch`) flattened; ``gymnasium.spaces.unflatten(env.parts, vector)`` gives its
parts by name. An agent may decide several times in a row: a turn is one action a checker.

Rewards come at the end of the episode only and sum to zero: the points of a money game, 1 and -1 for a match. ``infos``
hold in a match the ``score``, and after a game has ended ``points``, ``level``, ``dropped`` and ``resigned``, as in
`env.gym_batch`, all by player number.
"""

from __future__ import annotations

import operator
import sys
import warnings
from typing import Any

import numpy as np
from gymnasium import spaces

from .action_text import action_text
from .decisions import NUM_ACTIONS
from .gym import RENDER_MODES, BackgammonEnv
from .gym_options import OPTION_KEYS as OPTIONS

try:
    from pettingzoo import AECEnv
    from pettingzoo.utils import wrappers
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        f"nardy.env.pettingzoo: {error.name} is missing: pip install 'nardy[pettingzoo]'", name=error.name
    ) from None

__all__ = ["AGENTS", "BackgammonAEC", "env", "raw_env"]

AGENTS = ("player_0", "player_1")
ILLEGAL_REWARD = -1

Observation = dict[str, Any]


def env(**arguments: Any) -> Any:
    """The environment for play, checked by PettingZoo's usual wrappers; arguments as for `BackgammonAEC`."""
    wrapped = wrappers.TerminateIllegalWrapper(raw_env(**arguments), illegal_reward=ILLEGAL_REWARD)
    return wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(wrapped))


def raw_env(**arguments: Any) -> BackgammonAEC:
    """The environment without wrappers."""
    return BackgammonAEC(**arguments)


class BackgammonAEC(AECEnv):  # type: ignore[misc]  # PettingZoo is not typed
    """One money game, or one match, an episode.

    Args:
        render_mode: "ansi" (text), "rgb_array" (an image) or "human" (every action and the text after it are written
            to the terminal); all as player 0 sees the board.
        arguments: those of `BackgammonEnv`.

    Attributes:
        parts: the space of the named parts that ``observation`` consists of.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012  # as in the base
        "render_modes": ["human", *RENDER_MODES],
        "name": "nardy_v0",
        "is_parallelizable": False,
        "render_fps": 4,
    }

    def __init__(self, render_mode: str | None = None, **arguments: Any) -> None:
        super().__init__()
        self.render_mode = render_mode
        self._game = BackgammonEnv(render_mode="ansi" if render_mode == "human" else render_mode, **arguments)
        self.parts = self._game.observation_space
        space = spaces.Dict(
            {
                "observation": spaces.flatten_space(self.parts),
                "action_mask": spaces.Box(0, 1, (NUM_ACTIONS,), np.int8),
            }
        )
        self.possible_agents = list(AGENTS)
        self.agents: list[str] = []
        self.observation_spaces = dict.fromkeys(AGENTS, space)
        self.action_spaces = {agent: spaces.Discrete(NUM_ACTIONS) for agent in AGENTS}

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """What ``agent`` observes; the same for both."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Discrete:
        """The actions, as `env.decisions` numbers them."""
        return self.action_spaces[agent]

    def force_dice(self, *rolls: tuple[int, int]) -> None:
        """Make these the next rolls; see `BackgammonEnv.force_dice`."""
        self._game.force_dice(*rolls)

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start a new episode; ``options`` are those of `env.gym_options`, others are left alone with a warning.

        Without a seed the dice go on where the last episode's ended.
        """
        options = options or {}
        unknown = sorted(set(options) - set(OPTIONS))
        if unknown:  # PettingZoo's own `api_test` passes one
            warnings.warn(f"options: {', '.join(map(repr, unknown))} not known and ignored", stacklevel=2)
        own = {key: value for key, value in options.items() if key in OPTIONS}
        self._seen, info = self._game.reset(seed=seed, options=own)
        self.agents = list(AGENTS)
        self.rewards = dict.fromkeys(AGENTS, 0.0)
        self._cumulative_rewards = dict.fromkeys(AGENTS, 0.0)
        self.terminations = dict.fromkeys(AGENTS, False)
        self.truncations = dict.fromkeys(AGENTS, False)
        self._take_up(info)

    def observe(self, agent: str) -> Observation:
        """What ``agent`` sees now, whoever's decision it is."""
        decides = agent == AGENTS[self._decider]
        seen = self._seen if decides else _other_side(self._seen)
        mask = self._mask.copy() if decides else np.zeros_like(self._mask)
        return {"observation": spaces.flatten(self.parts, seen), "action_mask": mask}

    def step(self, action: int | np.integer[Any] | None) -> None:
        """Take one decision for ``agent_selection``; None for an agent whose episode is over."""
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        if action is None:
            raise ValueError(f"action: found None, wanted one of {agent}'s legal actions: the game goes on")
        number = operator.index(action)
        self._cumulative_rewards[agent] = 0.0
        self._seen, reward, terminated, _, info = self._game.step(number)
        if self.render_mode == "human" and "illegal" not in info:
            sys.stdout.write(f"{agent}: {action_text(number)}\n")
        self.rewards = {AGENTS[0]: reward, AGENTS[1]: 0.0 - reward}
        self.terminations = dict.fromkeys(AGENTS, terminated)
        self._accumulate_rewards()
        self._take_up(info)

    def render(self) -> Any:
        """The board by ``render_mode``; "human" writes it and returns None."""
        drawn = self._game.render()
        if self.render_mode != "human":
            return drawn
        sys.stdout.write(f"{drawn}\n")
        return None

    def close(self) -> None:
        """There is nothing to close."""

    def _take_up(self, info: dict[str, Any]) -> None:
        """Hand on what a step or reset has told; ``_seen`` is taken up already."""
        self._decider, self._mask = info.pop("player"), info.pop("action_mask")
        self.agent_selection = AGENTS[self._decider]
        if "score" in info:
            info["score"] = tuple(info["score"].tolist())
        reason = info.pop("illegal", None)
        self.infos = {agent: dict(info) for agent in AGENTS}
        if reason is not None:
            self.infos[self.agent_selection]["illegal"] = reason
        if self.render_mode == "human":
            self.render()


def _other_side(seen: Observation) -> Observation:
    """The observation of the one who decides, as the other sees it."""
    return seen | {
        "board": seen["board"][::-1],
        "cube_owner": np.int64((3 - seen["cube_owner"]) % 3),
        "away": seen["away"][::-1],
    }
