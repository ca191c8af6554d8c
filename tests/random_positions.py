"""Random legal positions, reachable or not: bars on both sides, bear-offs, closed boards, few checkers left.

Those of longgammon have full and empty heads, runs of about six points, and opponents behind and ahead of them.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from hypothesis import strategies as st

from .positions import BAR, NUM_CHECKERS, OFF, Position, Side, opposite

Places = Callable[[Random], list[int]]  # places one side's checkers may be drawn from, repetitions being weights


def _anywhere(random: Random) -> list[int]:
    return [*range(1, 25), BAR, OFF][random.randrange(4) :]


def _few_points(random: Random) -> list[int]:
    return random.sample(range(1, 25), random.randint(2, 8)) + [OFF] * random.randrange(3)


def _home(random: Random) -> list[int]:
    """Bearing off, perhaps with a straggler or a checker on the bar."""
    straggler = random.choice([[], [], [random.randint(7, 24)], [BAR]])
    return [*range(1, 7)] * random.randint(1, 6) + [OFF] * random.randint(0, 12) + straggler


def _closed(random: Random) -> list[int]:
    """Points of the own home held, the opponent's entry closed or nearly so."""
    return random.sample(range(1, 7), random.randint(4, 6)) * 3 + random.sample(range(7, 25), 2)


def _many_on_the_bar(random: Random) -> list[int]:
    return [BAR] * random.randint(1, 10) + random.sample(range(1, 25), 6)


def _head(random: Random) -> list[int]:
    """Many checkers on the head, some on their way."""
    return [24] * random.randint(1, 12) + random.sample(range(1, 24), random.randint(1, 6))


def _run(random: Random) -> list[int]:
    """A run of some five to seven points of the opponent's route, perhaps with a gap, and a few checkers more."""
    first, length = random.randint(1, 19), random.randint(5, 7)
    run = [(point + 11) % 24 + 1 for point in range(first, min(first + length, 25))]
    if random.random() < 0.5:
        run.remove(random.choice(run))
    return run * random.randint(1, 3) + random.sample(range(1, 25), random.randint(1, 4)) + [24] * random.randrange(3)


def _late_run(random: Random) -> list[int]:
    """Most checkers on the low points, where a run is made and bearing off begins."""
    return [*range(1, 8)] * random.randint(1, 3) + random.sample(range(8, 16), random.randint(0, 3))


_LONG_KINDS: list[Places] = [_anywhere, _few_points, _home, _head, _head, _run, _run, _run, _late_run]
_KINDS: list[Places] = [_anywhere, _few_points, _home, _closed, _many_on_the_bar]


def _side(places: list[int], taken: Side, variant: str, random: Random) -> Side:
    """Draw a side's checkers from ``places`` that the other side, ``taken``, does not hold; the rest are off."""
    bar = [] if variant == "longgammon" else [BAR]
    free = [place for place in places if place in (*bar, OFF) or (place < BAR and not taken[opposite(place, variant)])]
    number = NUM_CHECKERS[variant]
    counts = [0] * 26
    if len(set(free)) <= number and variant == "longgammon" and random.random() < 0.7:
        for place in set(free):  # a run is worth little with holes
            counts[place] += 1
    for _ in range(number - sum(counts)):
        counts[random.choice(free) if free else OFF] += 1
    return tuple(counts)


def random_position(random: Random, variant: str = "backgammon") -> Position:
    """One position; at most one side has borne off everything."""
    kinds = _LONG_KINDS if variant == "longgammon" else _KINDS
    while True:
        first = _side(random.choice(kinds)(random), (0,) * 26, variant, random)
        second = _side(random.choice(kinds)(random), first, variant, random)
        if not first[OFF] == second[OFF] == NUM_CHECKERS[variant]:
            return (first, second) if random.random() < 0.5 else (second, first)


def random_dice(random: Random) -> tuple[int, int]:
    """A roll; doubles, which list most, a little more often than in play."""
    first = random.randint(1, 6)
    return first, first if random.random() < 0.25 else random.randint(1, 6)


def random_decisions(number: int, seed: int, variant: str = "backgammon") -> list[tuple[Position, tuple[int, int]]]:
    """``number`` positions with a roll each."""
    random = Random(seed)  # noqa: S311  # not for secrets
    return [(random_position(random, variant), random_dice(random)) for _ in range(number)]


@st.composite
def positions(draw: st.DrawFn, variant: str = "backgammon") -> Position:
    """Any legal position, drawn so that a failing one shrinks to few checkers on the board."""
    num_checkers = NUM_CHECKERS[variant]
    owner = draw(st.lists(st.booleans(), min_size=24, max_size=24))  # of each point, in the mover's numbers
    sides: list[Side] = []
    for side in (0, 1):
        own = [point for point in range(1, 25) if owner[point - 1] == bool(side)]
        bar = [] if variant == "longgammon" else [BAR]
        places = [OFF, *([opposite(point, variant) for point in own] if side else own), *bar]
        counts = [0] * 26
        for place in draw(st.lists(st.sampled_from(places), min_size=num_checkers, max_size=num_checkers)):
            counts[place] += 1
        sides.append(tuple(counts))
    if sides[0][OFF] == sides[1][OFF] == num_checkers:
        sides[0] = (num_checkers - 1, 1) + (0,) * 24
    return sides[0], sides[1]


dice = st.tuples(st.integers(1, 6), st.integers(1, 6))
