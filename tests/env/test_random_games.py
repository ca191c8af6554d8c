"""Random games of every discipline in lock step through the vector environment, judged from what it shows alone.

Nothing of the engine's state is looked at: boards, dice, masks and rewards are those an agent gets. What has to be
remembered of a turn (its first position, resignations refused) is kept here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch

from nardy.env import BackgammonVectorEnv, Phase
from nardy.env.decisions import (
    ACCEPT,
    BEAVER,
    DOUBLE,
    DROP,
    NUM_ACTIONS,
    NUM_MOVES,
    PASS,
    RACCOON,
    REFUSE,
    RESIGN_BACKGAMMON,
    RESIGN_SINGLE,
    ROLL,
    TAKE,
)

from ..slow_moves import slow_move_mask
from ..slow_rules import level_of_loss

Arrays = dict[str, Any]
OPTIONS: dict[str, dict[str, Any]] = {
    "backgammon": {"jacoby": True, "beavers": True, "raccoons": True, "automatic_doubles": 1, "max_cube": 16},
    "sprintgammon": {"match_length": 3, "resignation": True},
    "longgammon": {"beavers": True, "resignation": True},
}
EVERY, MOST = 16, 1000  # steps between two comparisons with the slow enumerator, the costly part, and games in one


class Watch:
    """What an onlooker remembers of each game's turn, ``[N]``."""

    def __init__(self, observation: Arrays, infos: Arrays) -> None:
        num_games = len(observation["phase"])
        self.start = observation["board"].copy()  # [N, 2, 26], the position that the turn began with
        self.turn = np.zeros(num_games, dtype=np.int64)  # turns of this game before
        self.refused = np.zeros(num_games, dtype=np.int64)  # highest level refused in this turn
        self.on_roll = infos["player"].copy()
        self.rolled = np.zeros((num_games, 4), dtype=np.int64)  # the whole roll, 0 before it
        self._roll(observation)

    def see(self, actions: npt.NDArray[Any], before: Arrays, after: Arrays, infos: Arrays, ended: Any) -> None:
        """Remember what ``actions`` have led to; ``ended`` ``[N]``: another game has begun."""
        self.refused = np.where(actions == REFUSE, before["resignation"], self.refused)
        answered = np.isin(after["phase"], (Phase.ANSWER, Phase.RACCOONED, Phase.RESIGNED))
        on_roll = np.where(answered, 1 - infos["player"], infos["player"])
        fresh: npt.NDArray[np.bool_] = np.logical_or(ended, on_roll != self.on_roll)
        self.turn = np.where(ended, 0, np.where(fresh, self.turn + 1, self.turn))
        self.refused = np.where(fresh, 0, self.refused)
        self.start = np.where(fresh[:, None, None], after["board"], self.start)
        self.rolled = np.where(fresh[:, None], 0, self.rolled)
        self.on_roll = on_roll
        self._roll(after)

    def _roll(self, observation: Arrays) -> None:
        self.rolled = np.where(self.rolled[:, :1] > 0, self.rolled, observation["dice"])

    def heads_left(self, observation: Arrays) -> npt.NDArray[np.int64]:
        """How many checkers may still leave the head, ``[N]``; of interest in longgammon while moving."""
        two = (self.turn == 1) & (self.rolled[:, 3] > 0) & np.isin(self.rolled[:, 0], (3, 4, 6))
        left: npt.NDArray[np.int64] = np.where(two, 2, 1) - (self.start - observation["board"])[:, 0, 24]
        return left


def expected_masks(
    observation: Arrays, watch: Watch, rows: npt.NDArray[np.int64], variant: str, options: dict[str, Any]
) -> npt.NDArray[np.bool_]:
    """The legal actions of some games, ``[n, 162]``, by the plain rules of the tests, from what is shown."""
    heads_left, refused = watch.heads_left(observation)[rows], watch.refused[rows]
    observation = {name: array[rows] for name, array in observation.items()}
    phase, value, owner = observation["phase"], observation["cube_value"][:, 0], observation["cube_owner"]
    mask = np.zeros((len(phase), NUM_ACTIONS), dtype=np.bool_)
    moving = phase == Phase.MOVE
    boards, dice = torch.from_numpy(observation["board"][moving]), torch.from_numpy(observation["dice"][moving])
    mask[moving, :NUM_MOVES] = slow_move_mask(boards, dice, variant, torch.from_numpy(heads_left[moving])).numpy()
    mask[:, PASS] = moving & ~mask[:, :NUM_MOVES].any(1)
    room, away = options.get("max_cube", 64), observation["away"][:, 0]
    before_roll = phase == Phase.CUBE
    mask[:, ROLL] = before_roll
    live = (away == 0) | (value < away)
    mask[:, DOUBLE] = before_roll & live & (owner != 2) & (observation["crawford"] == 0) & (2 * value <= room)
    mask[:, TAKE] = mask[:, DROP] = np.isin(phase, (Phase.ANSWER, Phase.BEAVERED, Phase.RACCOONED))
    mask[:, BEAVER] = (phase == Phase.ANSWER) & options.get("beavers", False) & (4 * value <= room)
    mask[:, RACCOON] = (phase == Phase.BEAVERED) & options.get("raccoons", False) & (4 * value <= room)
    for level in range(1, 3 if variant == "longgammon" else 4):
        allowed = before_roll & options.get("resignation", False) & (level > refused)
        mask[:, RESIGN_SINGLE + level - 1] = allowed
    mask[:, ACCEPT] = mask[:, REFUSE] = phase == Phase.RESIGNED
    return mask


def some_actions(masks: npt.NDArray[np.int8], random: np.random.Generator) -> npt.NDArray[np.int64]:
    """A random legal action a game; the cube is turned and games given up less often than by chance, so they last."""
    weights = masks * random.random(masks.shape)
    weights[:, DOUBLE] *= 0.3
    weights[:, DROP] *= 0.3
    weights[:, RESIGN_SINGLE : RESIGN_BACKGAMMON + 1] *= 0.2
    chosen: npt.NDArray[np.int64] = weights.argmax(1)
    return chosen


def worth(board: npt.NDArray[np.int8], variant: str, value: int, centred: bool, jacoby: bool) -> int:
    """What a game that is over on ``board`` ``[2, 26]`` is worth to its side 0; 0 if it is not over on the board."""
    sides = board.tolist()
    for winner, loser in (sides, sides[::-1]):
        if winner[0] == sum(winner):
            level = level_of_loss(loser, variant)
            points = value * (1 if jacoby and centred else level)
            return points if winner is sides[0] else -points
    return 0


@pytest.mark.parametrize("variant", OPTIONS)
def test_random_games_in_lock_step_are_legal_and_pay_what_they_are_worth(
    variant: str, scale: Callable[[int], int]
) -> None:
    options, num_games = OPTIONS[variant], scale(10_000)
    env, random = BackgammonVectorEnv(num_games, variant, **options), np.random.default_rng(3)
    seen, infos = env.reset(seed=11)
    watch, finished, kinds = Watch(seen, infos), np.zeros(num_games, dtype=np.int64), set()
    dances = compared = step = 0
    while not finished.all():
        masks, player = infos["action_mask"], infos["player"]
        assert masks.any(1).all(), "a decision without a legal action"
        if step % EVERY == 0:
            rows = np.arange(step * MOST, step * MOST + min(MOST, num_games)) % num_games  # each in its turn
            assert np.array_equal(masks[rows], expected_masks(seen, watch, rows, variant, options))
            compared += len(rows)
        dance = masks[:, PASS] == 1
        assert (masks[dance].sum(1) == 1).all() and (seen["phase"][dance] == Phase.MOVE).all()
        dances += int(dance.sum())
        actions = some_actions(masks, random)
        kinds |= set(actions.tolist())

        after, reward, terminated, truncated, infos = env.step(actions)

        assert not truncated.any() and "illegal" not in infos and not reward[~terminated].any()
        passed = dance & ~terminated
        assert (infos["player"][passed] == 1 - player[passed]).all()
        assert np.array_equal(after["board"][passed], seen["board"][passed][:, ::-1])
        ended = terminated | infos.get("_points", np.zeros_like(terminated))
        for game in np.flatnonzero(terminated):
            last, info = infos["final_obs"][game], {key: values[game] for key, values in infos["final_info"].items()}
            gain = _gain(last, info, variant, options)
            # Player 0's gain from his side and player 1's from his: both from the final position, summing to zero.
            assert gain[0] + gain[1] == 0 and reward[game] == gain[0] != 0
        finished += terminated
        watch.see(actions, seen, after, infos, ended)
        seen, step = after, step + 1
    assert compared >= 4 * min(MOST, num_games) and (dances > 0 or variant == "sprintgammon")
    assert {ROLL, DOUBLE, TAKE, DROP} <= kinds
    assert (BEAVER in kinds) == options.get("beavers", False) and (REFUSE in kinds) == options.get("resignation", False)


def _gain(last: Arrays, info: Arrays, variant: str, options: dict[str, Any]) -> tuple[int, int]:
    """What the last game of an episode, or its match, brought each player."""
    if "match_length" in options:
        length = options["match_length"]
        assert sorted(info["score"])[1] == length > sorted(info["score"])[0]
        won = [1 if points == length else -1 for points in info["score"]]
        return won[0], won[1]
    points = int(info["points"])
    if info["dropped"] or info["resigned"]:
        assert bool(info["dropped"]) == (info["level"] == 0)
        return points, -points
    value, centred = int(last["cube_value"][0]), last["cube_owner"] == 0
    mine = worth(last["board"], variant, value, centred, options.get("jacoby", False))
    theirs = worth(last["board"][::-1], variant, value, centred, options.get("jacoby", False))
    return (mine, theirs) if info["player"] == 0 else (theirs, mine)
