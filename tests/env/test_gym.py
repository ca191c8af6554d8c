"""The Gymnasium environments: the contract, what reset and step accept, single and vector alike."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
import pytest
import torch
from gymnasium.utils.env_checker import check_env, data_equivalence
from gymnasium.vector import AutoresetMode

from nardy.env import BackgammonEnv, BackgammonVectorEnv, Cube, Phase
from nardy.env.decisions import (
    ACCEPT,
    BEAVER,
    DOUBLE,
    DROP,
    NUM_ACTIONS,
    PASS,
    RACCOON,
    REFUSE,
    RESIGN_BACKGAMMON,
    RESIGN_GAMMON,
    RESIGN_SINGLE,
    ROLL,
    TAKE,
)

from ..positions import from_boards, position, text

IDS = ("nardy/Backgammon-v0", "nardy/Sprintgammon-v0", "nardy/Longgammon-v0")
MONEY_OPTIONS = {"jacoby": True, "beavers": True, "raccoons": True, "automatic_doubles": 2, "resignation": True}
RESIGNATIONS = {RESIGN_SINGLE, RESIGN_GAMMON, RESIGN_BACKGAMMON}
RACE = position("6:5 5:5 4:5", "19:5 20:5 21:5")


def make(name: str = IDS[0], **arguments: Any) -> BackgammonEnv:
    env = gymnasium.make(name, **arguments).unwrapped
    assert isinstance(env, BackgammonEnv)
    return env


def make_vector(num_envs: int, name: str = IDS[0], **arguments: Any) -> BackgammonVectorEnv:
    env = gymnasium.make_vec(name, num_envs=num_envs, vectorization_mode="vector_entry_point", **arguments)
    assert isinstance(env, BackgammonVectorEnv)
    return env


def move(die: int, point: int) -> int:
    return (die - 1) * 25 + point - 1


def legal(info: dict[str, Any]) -> set[int]:
    return set(np.flatnonzero(info["action_mask"]).tolist())


def board(observation: dict[str, Any]) -> str:
    return text(from_boards(torch.from_numpy(observation["board"][None]))[0])


def some_action(mask: npt.NDArray[np.int8], random: np.random.Generator, doubling: float = 0.05) -> int:
    """A random legal action; the cube is turned seldom, a double mostly taken, a game seldom resigned."""
    if mask[ROLL] and random.random() > doubling:
        return ROLL
    if mask[TAKE] and random.random() < 0.7:
        return TAKE
    return int(random.choice(np.flatnonzero(mask)))


@pytest.mark.parametrize("name", IDS)
@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"match_length": 5},
        {"match_length": None, "jacoby": True},
        {"cube": False},
        {"match_length": 1},
        {"max_cube": 1},
        {"match_length": 3, "resignation": True},
        MONEY_OPTIONS,
    ],
    ids=str,
)
def test_the_environment_checker_is_content(name: str, arguments: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(make(name, **arguments), skip_render_check=bool(arguments))


@pytest.mark.parametrize(("name", "length"), [(IDS[0], 0), (IDS[1], 0), (IDS[1], 3), (IDS[2], 0)])
def test_an_episode_pays_player_0_what_the_games_were_worth_and_only_at_the_end(name: str, length: int) -> None:
    env = make(name, match_length=length)
    random = np.random.default_rng(1)
    for seed in range(6 if name == IDS[1] else 2):
        observation, info = env.reset(seed=seed)
        total, reward, terminated = 0, 0.0, False
        while not terminated:
            assert observation in env.observation_space and legal(info) and reward == 0
            assert (observation["phase"] == Phase.ANSWER) == (legal(info) == {TAKE, DROP})
            observation, reward, terminated, truncated, info = env.step(some_action(info["action_mask"], random))
            assert not truncated and "illegal" not in info
            total += info.get("points", 0)
        assert observation in env.observation_space and observation["phase"] == Phase.OVER and not legal(info)
        if length:
            assert reward == (1 if info["score"][0] == length else -1)
            assert sorted(info["score"])[1] == length > sorted(info["score"])[0]
        else:
            assert reward == total != 0
            assert info["dropped"] == (info["level"] == 0) and not info["resigned"]


@pytest.mark.parametrize("arguments", [MONEY_OPTIONS, {"match_length": 3, "resignation": True}], ids=["money", "match"])
def test_an_episode_with_every_option_pays_what_its_games_were_worth(arguments: dict[str, Any]) -> None:
    env = make(IDS[1], **arguments)
    random = np.random.default_rng(4)
    seen: set[int] = set()
    ends: set[str] = set()
    for seed in range(12):
        observation, info = env.reset(seed=seed)
        total, reward, terminated = 0, 0.0, False
        while not terminated:
            assert observation in env.observation_space and legal(info) and reward == 0
            assert (observation["resignation"] > 0) == (observation["phase"] == Phase.RESIGNED)
            seen.add(int(observation["phase"]))
            able = sorted(legal(info) - (RESIGNATIONS if random.random() < 0.8 else set()))
            observation, reward, terminated, _, info = env.step(int(random.choice(able)))
            total += info.get("points", 0)
            ends |= {name for name in ("dropped", "resigned") if info.get(name)}
        assert reward == (total if arguments is MONEY_OPTIONS else 2 * (info["score"][0] == 3) - 1)
    assert seen >= {Phase.CUBE, Phase.ANSWER, Phase.MOVE, Phase.RESIGNED} and ends == {"dropped", "resigned"}
    assert arguments is not MONEY_OPTIONS or seen >= {Phase.BEAVERED, Phase.RACCOONED}


def test_a_seed_fixes_this_episode_and_those_after_it() -> None:
    def episodes(env: BackgammonEnv, seed: int) -> list[Any]:
        random = np.random.default_rng(3)
        observation, info = env.reset(seed=seed)
        seen = []
        for _ in range(3):
            for _ in range(20):
                seen.append((board(observation), observation["dice"].tolist(), info["player"]))
                observation, _, terminated, _, info = env.step(some_action(info["action_mask"], random))
                if terminated:
                    break
            observation, info = env.reset()
        return seen

    env = make()
    first = episodes(env, 7)
    assert episodes(env, 7) == first == episodes(make(), 7)
    assert episodes(env, 8) != first != episodes(env, 7 + 2**32)


def test_without_a_seed_two_environments_play_different_dice() -> None:
    starts = [make().reset()[0]["dice"].tolist() for _ in range(12)]
    assert len({tuple(dice) for dice in starts}) > 1


def test_a_position_is_taken_up_before_the_roll() -> None:
    observation, info = make().reset(options={"board": RACE})
    assert board(observation) == text(RACE) and info["player"] == 0
    assert legal(info) == {ROLL, DOUBLE} and not observation["dice"].any()


def test_a_position_with_dice_starts_with_the_moves() -> None:
    before = position("13:1 1:3 off:11", "20:4 12:3 2:2 off:6")  # B08
    observation, info = make().reset(options={"board": np.array(before), "dice": (6, 5), "player": 1})
    assert info["player"] == 1 and observation["dice"].tolist() == [6, 5, 0, 0]
    assert legal(info) == {move(6, 13)}


def test_dice_without_a_position_are_the_first_roll() -> None:
    observation, info = make().reset(options={"dice": [3, 1]})
    assert observation["dice"].tolist() == [3, 1, 0, 0] and info["player"] == 0
    assert move(3, 8) in legal(info)


@pytest.mark.parametrize("cube", [Cube(2, "theirs"), {"value": 2, "owner": "theirs"}])
def test_a_cube_is_given_as_the_player_on_roll_sees_it(cube: Any) -> None:
    observation, info = make().reset(options={"board": RACE, "cube": cube, "player": 1})
    assert info["player"] == 1 and observation["cube_value"] == [2] and observation["cube_owner"] == 2
    assert observation["phase"] == Phase.MOVE


def test_a_cube_brings_the_score_of_a_match() -> None:
    env = make(match_length=7)
    observation, info = env.reset(options={"board": RACE, "cube": {"away": [2, 1], "crawford": True}, "player": 1})
    assert observation["away"].tolist() == [2, 1] and observation["crawford"] == 1
    assert info["score"].tolist() == [6, 5] and observation["phase"] == Phase.MOVE
    observation, info = env.reset()
    assert info["score"].tolist() == [0, 0] and observation["crawford"] == 0


def test_a_cube_with_beavers_is_accepted_where_they_are_played() -> None:
    env = make(beavers=True)
    observation, info = env.reset(options={"board": RACE, "cube": Cube(2, "mine", beavers=True)})
    assert legal(info) == {ROLL, DOUBLE} and observation["cube_value"] == [2]


def test_a_position_that_is_set_up_has_no_automatic_double() -> None:
    env = make(automatic_doubles=3)
    assert {int(env.reset(seed=seed)[0]["cube_value"][0]) for seed in range(40)} > {1}
    for given in ({"board": RACE}, {"dice": (3, 1)}, {"player": 1}):
        assert all(env.reset(seed=seed, options=given)[0]["cube_value"] == [1] for seed in range(40))
    assert env.reset(options={"board": RACE, "cube": Cube(2)})[0]["cube_value"] == [2]


def test_a_beaver_a_raccoon_and_a_resignation_are_shown_to_who_must_answer() -> None:
    env = make(beavers=True, raccoons=True, resignation=True, render_mode="ansi")
    env.reset(options={"board": RACE, "player": 1})
    for action, player, phase, value, owner, words in (
        (RESIGN_GAMMON, 0, Phase.RESIGNED, 1, 0, "○ resigns a gammon"),
        (REFUSE, 1, Phase.CUBE, 1, 0, "○ on roll"),
        (DOUBLE, 0, Phase.ANSWER, 1, 0, "○ doubles to 2"),
        (BEAVER, 1, Phase.BEAVERED, 2, 2, "● beavers to 4"),
        (RACCOON, 0, Phase.RACCOONED, 4, 1, "○ raccoons to 8"),
    ):
        observation, *_, info = env.step(action)
        assert (info["player"], observation["phase"], observation["cube_owner"]) == (player, phase, owner)
        assert observation["cube_value"] == [value] and words in env.render()
        assert observation["resignation"] == (2 if phase is Phase.RESIGNED else 0)
    _, reward, terminated, _, info = env.step(DROP)
    assert (reward, terminated, info["dropped"], info["resigned"], info["level"]) == (-4, True, True, False, 0)


def test_an_accepted_resignation_ends_the_episode() -> None:
    env = make(resignation=True)
    env.reset(options={"board": RACE})
    env.step(RESIGN_GAMMON)
    _, reward, terminated, _, info = env.step(ACCEPT)
    assert (reward, terminated, info["points"], info["level"], info["resigned"]) == (-2, True, -2, -2, True)


SIXTEEN = ((1, *RACE[0][1:]), RACE[1])  # one more off
BAD_OPTIONS: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    ({}, {"bord": RACE}, "options: found 'bord', wanted any of board, dice, cube, player"),
    ({}, {"board": np.zeros((26, 2), dtype=int)}, "options['board']: found shape [26, 2]"),
    ({}, {"board": np.zeros((2, 26))}, "options['board']: found array"),
    ({}, {"board": [[1], [2, 3]]}, "options['board']: "),
    ({}, {"board": SIXTEEN}, "options['board']: boards: row 0: found 16 and 15 checkers"),
    ({}, {"board": (RACE[0], (0,) * 20 + (15,) + (0,) * 5)}, "found both sides on side 0's point 5"),
    ({}, {"board": position("off:15", "7:15")}, "options['board']: row 0: found a finished game"),
    ({}, {"dice": (7, 1)}, "options['dice']: dice: row 0: found [7, 1]"),
    ({}, {"dice": 3}, "options['dice']: found shape []"),
    ({}, {"dice": "31"}, "options['dice']: found '31'"),
    ({}, {"player": 2}, "options['player']: found 2"),
    ({}, {"cube": {"value": 3}}, "options['cube']: cube: value: found 3"),
    ({}, {"cube": {"worth": 2}}, "options['cube']: "),
    ({}, {"cube": 2}, "options['cube']: found int, wanted a Cube or a dict"),
    ({}, {"cube": Cube(128)}, "options['cube']: value: found 128, wanted at most max_cube, 64"),
    ({}, {"cube": Cube(away=(2, 3))}, "options['cube']: away: found a score, wanted none in a money game"),
    ({}, {"cube": Cube(jacoby=True)}, "options['cube']: jacoby: found it"),
    ({}, {"cube": Cube(beavers=True)}, "options['cube']: beavers: found them"),
    ({"cube": False}, {"cube": Cube(2)}, "options['cube']: found a turned cube"),
    ({"match_length": 5}, {"cube": Cube(away=(6, 3))}, "options['cube']: away: found [[6, 3]], wanted 1 to 5"),
    ({"match_length": 5}, {"cube": Cube(away=(2, 3), crawford=True)}, "nobody needs one point"),
    ({"match_length": 5, "crawford": False}, {"cube": Cube(away=(1, 3), crawford=True)}, "without the Crawford rule"),
]


@pytest.mark.parametrize(("arguments", "options", "message"), BAD_OPTIONS, ids=[row[2] for row in BAD_OPTIONS])
def test_impossible_options_are_refused_by_name(
    arguments: dict[str, Any], options: dict[str, Any], message: str
) -> None:
    env = make(**arguments)
    with pytest.raises(ValueError, match=re.escape(message)):
        env.reset(options=options)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"match_length": -3}, "match_length: found -3"),
        ({"jacoby": True, "match_length": 3}, "jacoby: found it with match_length"),
        ({"max_cube": 63}, "max_cube: found 63"),
        ({"beavers": True, "match_length": 3}, "beavers: found it with match_length"),
        ({"raccoons": True}, "raccoons: found it without beavers"),
        ({"automatic_doubles": -1}, "automatic_doubles: found -1"),
    ],
)
def test_impossible_arguments_are_refused_by_name(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make(**arguments)
    with pytest.raises(ValueError, match=message):
        make_vector(2, **arguments)


def test_an_unknown_render_mode_is_refused() -> None:
    with pytest.raises(ValueError, match="render_mode: found 'human'"):
        BackgammonEnv(render_mode="human")


def test_an_illegal_action_changes_nothing_and_says_why() -> None:
    env = make()
    before, info = env.reset(options={"dice": (3, 1)})
    for action, reason in (
        (move(3, 7), "no checker on point 7"),
        (ROLL, "rolled already"),
        (162, "no action 162"),
        (-1, ""),
    ):
        after, reward, terminated, truncated, now = env.step(action)
        assert reason in now.pop("illegal")
        assert (reward, terminated, truncated) == (0, False, False)
        assert data_equivalence(before, after, exact=True) and data_equivalence(info, now, exact=True)


def test_the_both_dice_rule_is_in_the_mask_and_named_when_broken() -> None:  # B12
    env = make()
    options = {"board": position("10:1 8:1 off:13", "3:2 2:2 1:2 off:9"), "dice": (6, 1)}
    _, info = env.reset(options=options)
    assert legal(info) == {move(6, 10), move(1, 8)}
    assert "both dice can be played" in env.step(move(1, 10))[4]["illegal"]


def test_a_step_after_the_end_changes_nothing() -> None:
    env = make()
    env.reset(options={"board": RACE})
    env.step(DOUBLE)
    observation, reward, terminated, _, info = env.step(DROP)
    assert (reward, terminated, info["points"], info["dropped"]) == (1, True, 1, True)
    again, reward, terminated, _, info = env.step(ROLL)
    assert (reward, terminated) == (0, True) and "over" in info["illegal"]
    assert data_equivalence(observation, again, exact=True)


def test_the_second_player_winning_is_a_negative_reward() -> None:
    env = make()
    env.reset(options={"board": position("1:1 off:14", "12:15"), "dice": (2, 1), "cube": Cube(2, "mine"), "player": 1})
    _, reward, terminated, _, info = env.step(move(2, 1))
    assert (reward, terminated, info["points"], info["level"]) == (-4, True, -4, -2)


def test_forced_dice_are_rolled_in_their_order_until_reset() -> None:
    env = make(cube=False)
    observation, info = env.reset(options={"dice": (3, 1)})
    env.force_dice((6, 6), (2, 5))
    rolled: list[tuple[int, list[int]]] = []
    random = np.random.default_rng(0)
    while len(rolled) < 3:
        if not rolled or info["player"] != rolled[-1][0]:
            rolled.append((info["player"], observation["dice"].tolist()))
        observation, *_, info = env.step(some_action(info["action_mask"], random))
    assert rolled == [(0, [3, 1, 0, 0]), (1, [6, 6, 6, 6]), (0, [2, 5, 0, 0])]
    env.force_dice((1, 1))
    env.reset(options={"board": RACE})
    assert not env._batch.decisions.forced_dice.any()
    with pytest.raises(ValueError, match="dice: row 1: found"):
        env.force_dice((1, 1), (0, 3))


def test_a_dance_is_a_forced_pass() -> None:  # B03
    env = make(cube=False)
    options = {"board": position("13:5 8:4 6:5 bar:1", "24:2 23:2 22:2 21:2 20:2 19:2 12:3"), "dice": (6, 5)}
    _, info = env.reset(options=options)
    assert legal(info) == {PASS} and env.action_space.sample(info["action_mask"]) == PASS
    assert env.step(PASS)[4]["player"] == 1


def test_longgammon_is_played_with_its_own_rules() -> None:  # L02
    env = make(IDS[2], cube=False, render_mode="ansi")
    observation, info = env.reset(options={"board": position("24:15", "12:14 1:1", "longgammon"), "dice": (6, 6)})
    assert legal(info) == {move(6, 24)}
    env.step(move(6, 24))
    assert "BAR" not in env.render()
    observation, *_, info = env.step(move(6, 24))
    assert info["player"] == 1 and observation["board"][1, 24] == 13
    with pytest.raises(ValueError, match="longgammon has no bar"):
        env.reset(options={"board": position("24:14 bar:1", "12:15", "longgammon")})


def test_rendering_shows_the_board_as_player_0_sees_it() -> None:
    env = make(render_mode="ansi", match_length=5)
    env.reset(options={"board": RACE, "dice": (6, 5), "player": 1, "cube": Cube(2, "mine", away=(5, 2))})
    drawn = env.render()
    assert "○ to play 6 5" in drawn and "cube 2, ○ owns it" in drawn and "● player 0, 75 pips, 3 points" in drawn
    image = make(render_mode="rgb_array")
    image.reset(seed=1)
    pixels = image.render()
    assert pixels.dtype == np.uint8 and pixels.ndim == 3 and pixels.shape[2] == 3


# The vector environment


def same_infos(found: dict[str, Any], wanted: dict[str, Any]) -> None:
    assert found.keys() == wanted.keys()
    for key, value in wanted.items():
        if isinstance(value, dict):
            same_infos(found[key], value)
        elif value.dtype == object:
            assert all(data_equivalence(a, b, exact=True) for a, b in zip(found[key], value, strict=True)), key
        else:
            assert data_equivalence(found[key], value, exact=True), key


@pytest.mark.parametrize(
    ("name", "arguments", "steps"),
    [
        (IDS[0], {"jacoby": True}, 250),
        (IDS[0], MONEY_OPTIONS, 150),
        (IDS[1], {"match_length": 3}, 250),
        (IDS[1], {}, 150),
        (IDS[2], {}, 250),
    ],
)
def test_the_vector_environment_plays_what_single_ones_play(name: str, arguments: dict[str, Any], steps: int) -> None:
    vector = make_vector(4, name, **arguments)
    single = gymnasium.make_vec(name, 4, "sync", vector_kwargs={"autoreset_mode": AutoresetMode.SAME_STEP}, **arguments)
    random = np.random.default_rng(2)
    assert vector.observation_space == single.observation_space and vector.action_space == single.action_space
    (found, infos), (wanted, wanted_infos) = vector.reset(seed=5), single.reset(seed=5)
    ends = 0
    for step in range(steps):
        assert data_equivalence(found, wanted, exact=True) and found in vector.observation_space
        same_infos(infos, wanted_infos)
        actions = np.array([some_action(mask, random, 0.3) for mask in infos["action_mask"]])
        if step % 10 == 0:
            actions[step // 10 % 4] = random.integers(NUM_ACTIONS)  # mostly illegal
        found, *results, infos = vector.step(actions)
        wanted, *wanted_results, wanted_infos = single.step(actions)
        assert data_equivalence(results, wanted_results, exact=True)
        ends += int(results[1].sum())
    assert ends > 0
    single.close()


def test_an_episode_that_ends_starts_anew_in_the_same_step() -> None:
    env = make_vector(3)
    assert env.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    env.reset(seed=1, options={"board": RACE})
    env.step(np.array([DOUBLE, ROLL, DOUBLE]))

    observation, reward, terminated, truncated, infos = env.step(np.array([DROP, ROLL, TAKE]))

    assert terminated.tolist() == [True, False, False] and not truncated.any() and reward.tolist() == [1, 0, 0]
    assert infos["_final_obs"].tolist() == infos["_final_info"].tolist() == [True, False, False]
    assert infos["final_obs"][0]["phase"] == Phase.OVER and infos["final_obs"][1] is None
    assert infos["final_info"]["points"].tolist() == [1, 0, 0]
    assert infos["_illegal"].tolist() == [False, True, False] and "rolled already" in infos["illegal"][1]
    assert observation["phase"].tolist() == [Phase.MOVE] * 3 and observation["cube_value"][:, 0].tolist() == [1, 1, 2]
    assert infos["action_mask"].shape == (3, NUM_ACTIONS) and infos["action_mask"].any(1).all()


def test_each_game_of_the_vector_can_have_its_own_position_dice_cube_and_seed() -> None:
    env = make_vector(2)
    boards = np.array([RACE, position("13:1 1:3 off:11", "20:4 12:3 2:2 off:6")])
    cube = Cube(torch.tensor([2, 4]), torch.tensor([1, 2], dtype=torch.int8))
    options = {"board": boards, "dice": [[3, 1], [6, 5]], "cube": cube, "player": [1, 0]}
    observation, infos = env.reset(seed=[4, None], options=options)
    assert np.array_equal(observation["board"], boards) and infos["player"].tolist() == [1, 0]
    assert observation["cube_value"][:, 0].tolist() == [2, 4] and observation["cube_owner"].tolist() == [1, 2]
    assert np.flatnonzero(infos["action_mask"][1]).tolist() == [move(6, 13)]
    with pytest.raises(ValueError, match="found 3, wanted one or 2"):
        env.reset(seed=[1, 2, 3])


def test_some_games_of_the_vector_can_be_reset_alone() -> None:
    env = make_vector(3, match_length=3)
    env.reset(seed=1)
    before = env.step(np.array([ROLL] * 3))[0]
    rows = np.array([False, True, False])

    after, infos = env.reset(seed=9, options={"reset_mask": rows, "board": RACE})

    assert infos["_player"].tolist() == rows.tolist()
    for row in (0, 2):
        assert np.array_equal(before["board"][row], after["board"][row]) and np.array_equal(
            before["dice"][row], after["dice"][row]
        )
    assert np.array_equal(after["board"][1], RACE)
    with pytest.raises(ValueError, match="reset_mask"):
        env.reset(options={"reset_mask": np.zeros(3, dtype=np.bool_)})


def test_forced_dice_of_the_vector_are_each_games_next_roll() -> None:
    env = make_vector(2)
    env.reset(options={"board": RACE})
    env.force_dice([[1, 2], [5, 5]])
    observation, *_ = env.step(np.array([ROLL, DOUBLE]))
    assert observation["dice"].tolist() == [[1, 2, 0, 0], [0, 0, 0, 0]]
    observation, *_ = env.step(np.array([move(1, 6), TAKE]))
    assert observation["dice"].tolist() == [[0, 2, 0, 0], [5, 5, 5, 5]]


def test_the_vector_refuses_actions_of_another_shape() -> None:
    env = make_vector(2)
    env.reset()
    with pytest.raises(ValueError, match="actions: found shape"):
        env.step(np.array([ROLL]))


def test_the_vector_renders_every_game() -> None:
    env = make_vector(2, render_mode="ansi")
    env.reset(seed=1)
    frames = env.render()
    assert frames is not None and len(frames) == 2 and "to play" in frames[0]


@pytest.mark.gpu
@pytest.mark.parametrize("arguments", [{"match_length": 3}, MONEY_OPTIONS], ids=["match", "money"])
def test_the_vector_environment_plays_the_same_on_a_gpu(arguments: dict[str, Any], scale: Callable[[int], int]) -> None:
    on_cpu, on_gpu = make_vector(64, **arguments), make_vector(64, device="cuda", **arguments)
    (found, infos), (wanted, _) = on_gpu.reset(seed=5), on_cpu.reset(seed=5)
    random = np.random.default_rng(2)
    for _ in range(scale(4000)):
        actions = np.array([some_action(mask, random) for mask in infos["action_mask"]])
        found, reward, *_, infos = on_gpu.step(actions)
        wanted, wanted_reward, *_ = on_cpu.step(actions)
        assert data_equivalence(found, wanted, exact=True) and np.array_equal(reward, wanted_reward)
