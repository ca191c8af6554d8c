"""The exact values of a game with few checkers, found plainly and apart from `nardy.eval.exact`.

Plays come from `tests.slow_rules`, one position and roll at a time. The values of all positions are then computed from
each other over and over until they stand still. All states of the cube and of the score are written out as formulas;
nothing is shared with what is tested. Values are money equities, or match-winning chances for the match states.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations_with_replacement

import numpy as np

from tests.positions import OFF, Position, Side, opposite
from tests.slow_rules import ends_of_turn, is_over, level_of_loss

Array = np.ndarray
Values = dict[str, Array]  # by the name of a state, for all positions or for the running ones
ROLLS = [(high, low) for high in range(1, 7) for low in range(1, high + 1)]


def all_sides(num_checkers: int) -> list[Side]:
    """Every way to place one side's checkers."""
    sides = []
    for places in combinations_with_replacement(range(26), num_checkers):
        counts = [0] * 26
        for place in places:
            counts[place] += 1
        sides.append(tuple(counts))
    return sides


def all_positions(num_checkers: int) -> list[Position]:
    """Every position without a shared point; at most one side is off."""
    return [
        (mine, theirs)
        for mine in all_sides(num_checkers)
        for theirs in all_sides(num_checkers)
        if not any(mine[point] and theirs[opposite(point)] for point in range(1, 25))
        and not mine[OFF] == theirs[OFF] == num_checkers
    ]


@dataclass(frozen=True)
class SlowGame:
    """All positions, and for every running one and every roll the positions it leads to.

    ``ends`` are numbers of positions, the opponent on roll, those of running position i and roll j from
    ``begins[21 * i + j]`` on; ``level`` is what the player on roll has lost in a finished position, else 0.
    """

    positions: list[Position]
    running: Array
    ends: Array
    begins: Array
    level: Array

    @classmethod
    def of(cls, num_checkers: int) -> SlowGame:
        """Enumerate everything."""
        positions = all_positions(num_checkers)
        number = {position: index for index, position in enumerate(positions)}
        running = [index for index, position in enumerate(positions) if not is_over(position)]
        ends: list[int] = []
        begins: list[int] = []
        for index in running:
            for roll in ROLLS:
                begins.append(len(ends))
                ends += sorted(number[end[1], end[0]] for end in ends_of_turn(positions[index], roll)[1])
        level = [
            level_of_loss(mine) if theirs[OFF] == num_checkers else 0 for mine, theirs in positions
        ]  # those that the player on roll has won are led to by nothing
        return cls(positions, np.array(running), np.array(ends), np.array(begins), np.array(level))

    def roll(self, for_the_mover: Array) -> Array:
        """The average over the rolls of the best play, for all running positions, given what a play's end is worth."""
        best = np.maximum.reduceat(for_the_mover[self.ends], self.begins).reshape(-1, len(ROLLS))
        weights = np.array([1 if high == low else 2 for high, low in ROLLS]) / 36
        average: Array = best @ weights
        return average

    def lost(self, single: float, gammon: float, backgammon: float) -> Array:
        """Values of the finished positions for the player on roll, who has lost; 0 elsewhere."""
        values: Array = np.array([0.0, single, gammon, backgammon])[self.level]
        return values

    def iterate(self, step: Callable[[Values], Values], start: Values) -> Values:
        """Apply ``step`` to the values of all positions until none moves by more than 1e-11."""
        values = start
        for _ in range(2000):
            after = {name: values[name].copy() for name in values}
            for name, running in step(values).items():
                after[name][self.running] = running
            if max(np.abs(after[name] - values[name]).max() for name in values) < 1e-11:
                return after
            values = after
        raise AssertionError("the values do not settle")


def cubeless(game: SlowGame) -> Array:
    """Cubeless equities of all positions, the player on roll about to roll."""
    start = {"e": game.lost(-1, -2, -3)}
    return game.iterate(lambda now: {"e": game.roll(-now["e"])}, start)["e"]


def money(game: SlowGame, jacoby: bool) -> Values:
    """Values of not doubling with the cube ``centred``, ``mine``, ``theirs``, no cap."""
    lost = game.lost(-1, -2, -3)
    start = {"centred": game.lost(-1, -1, -1) if jacoby else lost, "mine": lost, "theirs": lost}

    def step(now: Values) -> Values:
        cash = np.minimum(2 * now["theirs"], 1.0)
        over = game.level > 0
        centred = np.where(over, now["centred"], np.maximum(now["centred"], cash))
        mine = np.where(over, now["mine"], np.maximum(now["mine"], cash))
        return {"centred": game.roll(-centred), "mine": game.roll(-now["theirs"]), "theirs": game.roll(-mine)}

    return game.iterate(step, start)


def match_point(game: SlowGame) -> Array:
    """Chances to win the match at 1-away 1-away."""
    return game.iterate(lambda now: {"p": game.roll(1 - now["p"])}, {"p": game.lost(0, 0, 0)})["p"]


def crawford(game: SlowGame) -> Values:
    """Chances to win the match of the ``leader``, 1-away, and of the ``trailer``, 2-away, in the Crawford game."""
    start = {"leader": game.lost(0.5, 0, 0), "trailer": game.lost(0, 0, 0)}

    def step(now: Values) -> Values:
        return {"leader": game.roll(1 - now["trailer"]), "trailer": game.roll(1 - now["leader"])}

    return game.iterate(step, start)


def opening(game: SlowGame, start: Position, for_the_mover: Array) -> float:
    """The value of a game for the winner of the opening roll, given what a play's end is worth to the mover."""
    number = {position: index for index, position in enumerate(game.positions)}
    worths = []
    for roll in ROLLS:
        if roll[0] != roll[1]:
            ends = ends_of_turn(start, roll)[1]
            worths.append(max(for_the_mover[number[end[1], end[0]]] for end in ends))
    return float(np.mean(worths))


def two_away(game: SlowGame, ahead: float) -> Array:
    """Chances to win the match at 2-away 2-away without doubling now; ``ahead`` after a single game won.

    A cube turned is dead and decides the match.
    """
    dead = match_point(game)

    def step(now: Values) -> Values:
        doubled = np.maximum(now["p"], np.minimum(dead, ahead))
        return {"p": game.roll(1 - np.where(game.level > 0, now["p"], doubled))}

    return game.iterate(step, {"p": game.lost(1 - ahead, 0, 0)})["p"]


def after_crawford(game: SlowGame) -> Values:
    """As `crawford` for a game after it: the trailer may double, which decides the match; dropping loses a point."""
    dead = match_point(game)
    start = {"leader": game.lost(0.5, 0, 0), "trailer": game.lost(0, 0, 0)}

    def step(now: Values) -> Values:
        doubled = np.maximum(now["trailer"], np.minimum(dead, 0.5))
        trailer = np.where(game.level > 0, now["trailer"], doubled)
        return {"leader": game.roll(1 - trailer), "trailer": game.roll(1 - now["leader"])}

    return game.iterate(step, start)
