"""The PettingZoo environment: PettingZoo's own tests, and that it is the game of the Gymnasium environment."""

from __future__ import annotations

import subprocess
import sys
import warnings
from functools import partial
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces
from pettingzoo.test import api_test, seed_test
from pettingzoo.test.render_test import render_test

from nardy.env import BackgammonEnv, Cube, Phase
from nardy.env.decisions import ACCEPT, BEAVER, DOUBLE, DROP, NUM_ACTIONS, RESIGN_GAMMON, ROLL, TAKE
from nardy.env.pettingzoo import AGENTS, env, raw_env

from ..positions import position

RACE = position("6:5 5:5 4:5", "19:5 20:5 21:5")
GAMES: list[dict[str, Any]] = [
    {"variant": variant, **options}
    for variant in ("backgammon", "sprintgammon", "longgammon")
    for options in (
        {},
        {"match_length": 3, "resignation": True},
        {"jacoby": True, "beavers": True, "raccoons": True, "automatic_doubles": 1, "resignation": True},
    )
]


def some_action(mask: np.ndarray[Any, Any], random: np.random.Generator) -> int:
    """A random legal action; games are seldom given up or doubled, so that they last."""
    weights = np.where(mask > 0, 1.0, 0.0)
    weights[DOUBLE:] *= 0.1
    weights[TAKE] *= 10
    return int(random.choice(NUM_ACTIONS, p=weights / weights.sum()))


@pytest.mark.parametrize("arguments", GAMES, ids=str)
def test_pettingzoo_is_content(arguments: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        api_test(env(**arguments), num_cycles=60)
    assert "Passed API test" in capsys.readouterr().out
    about = {str(warning.message).split(" for each")[0] for warning in caught}
    # Its test says these of every environment with an action mask, and asks for an option that nobody knows.
    assert about <= {
        "Observation is not a NumPy array",
        "Observation space",
        "options: 'options' not known and ignored",
    }
    seed_test(partial(env, **arguments), num_cycles=30)


def test_pettingzoo_is_content_with_what_is_drawn(capsys: pytest.CaptureFixture[str]) -> None:
    render_test(partial(env, variant="sprintgammon"))
    printed = capsys.readouterr().out
    assert "BAR" in printed and "player_" in printed


@pytest.mark.parametrize("arguments", [GAMES[1], GAMES[2], GAMES[4], GAMES[7], GAMES[8]], ids=str)
def test_it_is_the_game_of_the_gymnasium_environment_seen_from_either_side(arguments: dict[str, Any]) -> None:
    both, single = env(**arguments), BackgammonEnv(**arguments)
    random = np.random.default_rng(4)
    both.reset(seed=3)
    wanted, wanted_info = single.reset(seed=3)
    parts = both.unwrapped.parts
    for agent in both.agent_iter(150):
        observation, _, terminated, truncated, info = both.last()
        assert agent == AGENTS[wanted_info["player"]] and not truncated
        assert observation in both.observation_space(agent)
        seen = spaces.unflatten(parts, observation["observation"])
        assert all(np.array_equal(seen[name], value) for name, value in wanted.items())
        assert np.array_equal(observation["action_mask"], wanted_info["action_mask"])
        assert info.get("score") == (tuple(wanted_info["score"]) if "score" in wanted_info else None)

        other = both.observe(AGENTS[1 - wanted_info["player"]])
        theirs = spaces.unflatten(parts, other["observation"])
        assert other in both.observation_space(agent) and not other["action_mask"].any()
        assert np.array_equal(theirs["board"], seen["board"][::-1])
        assert np.array_equal(theirs["away"], seen["away"][::-1])
        assert (theirs["cube_owner"], seen["cube_owner"]) in {(0, 0), (1, 2), (2, 1)}
        assert np.array_equal(theirs["dice"], seen["dice"]) and theirs["phase"] == seen["phase"]
        if terminated:
            break
        action = some_action(observation["action_mask"], random)
        both.step(action)
        wanted, reward, over, _, wanted_info = single.step(action)
        assert both.rewards == {AGENTS[0]: reward, AGENTS[1]: -reward}
        assert both.terminations == dict.fromkeys(AGENTS, over)


@pytest.mark.parametrize("arguments", GAMES[3:6], ids=str)
def test_rewards_sum_to_zero_and_an_episode_ends_for_both(arguments: dict[str, Any]) -> None:
    game = env(**arguments)
    random = np.random.default_rng(1)
    for seed in range(4):
        game.reset(seed=seed)
        totals = dict.fromkeys(AGENTS, 0.0)
        for agent in game.agent_iter():
            observation, reward, terminated, _, info = game.last()
            totals[agent] += reward
            assert sum(game.rewards.values()) == 0
            if terminated:
                assert set(info) >= {"points", "level", "dropped", "resigned"}
                game.step(None)
                continue
            game.step(some_action(observation["action_mask"], random))
        assert not game.agents and sum(totals.values()) == 0 and totals[AGENTS[0]] != 0


def test_an_illegal_action_loses_in_play() -> None:
    game = env()
    game.reset(options={"board": RACE})
    game.step(TAKE)
    assert all(game.terminations.values()) and game.rewards == {AGENTS[0]: -1, AGENTS[1]: 0}
    game.reset(seed=1)
    with pytest.raises(AssertionError, match="not in action space"):
        game.step(NUM_ACTIONS)


def test_an_illegal_action_changes_nothing_without_wrappers() -> None:
    game = raw_env()
    game.reset(options={"board": RACE})
    before = game.observe(AGENTS[0])
    for action in (TAKE, -1, NUM_ACTIONS):
        game.step(action)
        assert game.agent_selection == AGENTS[0] and not any(game.terminations.values())
        assert np.array_equal(before["observation"], game.observe(AGENTS[0])["observation"])
        assert game.infos[AGENTS[0]]["illegal"] and "illegal" not in game.infos[AGENTS[1]]
    game.step(TAKE)
    assert "no double is offered" in game.infos[AGENTS[0]]["illegal"]
    game.step(ROLL)
    assert "illegal" not in game.infos[AGENTS[0]]
    with pytest.raises(ValueError, match="action: found None"):
        game.step(None)


def test_options_seed_and_forced_dice_reach_the_game() -> None:
    game = env(match_length=5)
    with pytest.warns(UserWarning, match="options: 'bord' not known and ignored"):
        game.reset(options={"bord": 1})
    game.reset(options={"board": RACE, "player": 1, "cube": Cube(2, "mine", away=(5, 2))})
    assert game.agent_selection == AGENTS[1] and game.infos[AGENTS[0]]["score"] == (3, 0)
    game.force_dice((6, 5))
    game.step(ROLL)
    seen = spaces.unflatten(game.unwrapped.parts, game.observe(AGENTS[0])["observation"])
    assert seen["dice"].tolist() == [6, 5, 0, 0] and seen["cube_owner"] == 2 and seen["away"].tolist() == [2, 5]
    with pytest.raises(ValueError, match=r"options\['dice'\]"):
        game.reset(options={"dice": (0, 7)})
    with pytest.raises(ValueError, match="render_mode: found 'brief'"):
        env(render_mode="brief")
    with pytest.raises(TypeError, match="cubes"):
        env(cubes=2)


def test_beavers_and_resignations_are_answered_by_the_other_agent() -> None:
    game = env(beavers=True, resignation=True)
    game.reset(options={"board": RACE})
    agents = [game.agent_selection]
    for action in (DOUBLE, BEAVER, TAKE):
        game.step(action)
        agents.append(game.agent_selection)
    assert agents == ["player_0", "player_1", "player_0", "player_0"]
    game.reset(options={"board": RACE})
    game.step(RESIGN_GAMMON)
    seen = spaces.unflatten(game.unwrapped.parts, game.observe(AGENTS[1])["observation"])
    assert game.agent_selection == AGENTS[1] and (seen["phase"], seen["resignation"]) == (Phase.RESIGNED, 2)
    game.step(ACCEPT)
    assert game.rewards == {AGENTS[0]: -2, AGENTS[1]: 2} and game.infos[AGENTS[0]]["resigned"]


def test_people_see_each_action_and_the_board_after_it(capsys: pytest.CaptureFixture[str]) -> None:
    game = env(render_mode="human")
    game.reset(options={"board": RACE})
    assert "● on roll" in capsys.readouterr().out
    game.step(DOUBLE)
    printed = capsys.readouterr().out
    assert printed.startswith("player_0: double\n") and "● doubles to 2" in printed
    game.step(DROP)
    assert capsys.readouterr().out.startswith("player_1: drop\n")


def test_nardy_does_without_pettingzoo_and_says_what_is_missing() -> None:
    code = """
import sys
sys.modules["pettingzoo"] = None
import nardy.env
try:
    import nardy.env.pettingzoo
except ModuleNotFoundError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "nardy.env.pettingzoo: pettingzoo is missing: pip install 'nardy[pettingzoo]'\n"
