"""Games of the engine played at random and recorded as they go, for the tests of saved games."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from nardy.env import Decisions, GameOptions, Games
from nardy.env.decisions import DROP, RESIGN_BACKGAMMON, RESIGN_SINGLE
from nardy.env.notation import MatchRecord, Recorder

NAMES = ("Otto", "Xena")
HEADERS = (("Event", 'A test: "quoted", naïve'), ("Seed", "17"))

Look = Callable[[Decisions, int, Recorder], None]


def observed(decisions: Decisions, game: int) -> tuple[dict[str, Any], int]:
    """What the player who decides in ``game`` observes, and who he is."""
    return {name: tensor[game] for name, tensor in decisions.observation().items()}, int(decisions.player()[game])


def play_recorded(
    rules: GameOptions, num_games: int, seed: int = 0, look: Look | None = None, looks: float = 0.0
) -> list[MatchRecord]:
    """``num_games`` games or matches side by side to their ends; ``look`` is called at a share ``looks`` of steps.

    Every action is tried, doubles and resignations less often than moves so that games last.
    """
    decisions = Decisions(Games(num_games, rules, seed))
    generator = torch.Generator().manual_seed(seed)
    recorders = [Recorder(rules, *observed(decisions, game), NAMES, HEADERS) for game in range(num_games)]
    running = set(range(num_games))
    points: list[list[int]] = [[] for _ in running]  # won by player 0 in each game, as the engine counts
    for _ in range(100_000):
        if look is not None:
            for game in sorted(running):
                if torch.rand((), generator=generator) < looks:
                    look(decisions, game, recorders[game])
        weights = decisions.mask().float()
        weights[:, DROP] *= 0.3
        weights[:, RESIGN_SINGLE : RESIGN_BACKGAMMON + 1] *= 0.05
        weights[weights.sum(1) == 0, 0] = 1  # over: taken as illegal
        actions = torch.multinomial(weights, 1, generator=generator)[:, 0]
        end = decisions.step(actions).end
        over = end.finished & ((end.match_winner != 0) if rules.match_length else end.finished)
        decisions.deal(end.finished & ~over)
        observation, player = decisions.observation(), decisions.player()
        for game in sorted(running):
            points[game] += [int(end.points[game])] if end.finished[game] else []
            seen = {name: tensor[game] for name, tensor in observation.items()}
            recorders[game].step(int(actions[game]), seen, int(player[game]))
        running -= set(over.nonzero()[:, 0].tolist())
        if not running:
            matches = [recorder.record() for recorder in recorders]
            assert points == [[one.points * (-1 if one.winner else 1) for one in match.games] for match in matches]
            return matches
    raise AssertionError("games without an end")
