"""GNU Backgammon's networks through the package ``gnubg-nn``: its outcome probabilities, and the cube by formula.

Plays and cube are valued by Janowski's formula with GNU Backgammon's cube life over the engine's own probabilities, at
a match score through our match equity table from constant rates. Without a cube the cubeless equity decides, and the
plays are those of the package's own ``best_move``. Cost a decision: some 19 evaluations of 8 µs at 0 plies; at 1 ply 8
more of 1 ms.
"""

from __future__ import annotations

import torch
from torch import Tensor

from ...env import Cube, flip
from ...env.cube import CubeTensors
from ...env.launch import num_threads
from ...models.janowski import CubeLife, cube_equities, simple_match_equity
from ...models.judgement import CubeAction, Judgement, cube_rows, flip_cube, settled
from ...models.match_equity import MatchEquityTable
from ...models.values import equity, exact_probabilities
from ..bots import pick_highest
from .bot import Answers, OutsideBot
from .failure import OutsideOptions
from .workers import Workers

__all__ = ["GnubgNnBot"]

# As many plays as GNU Backgammon's own filter leaves for a look ahead.
_KEPT = 8
_ROWS_A_PART = (2048, 128)  # by plies: a part takes a tenth of a second or less


class GnubgNnBot(OutsideBot):
    """GNU Backgammon's evaluation at 0 or 1 plies."""

    deals_at_once = 2048

    def __init__(self, name: str, options: OutsideOptions, plies: int = 0) -> None:
        super().__init__(name, options)
        self.plies = plies
        self.life = CubeLife()
        self._workers = Workers("gnubg-nn", (), options, self.patience, num_threads())
        self._table: MatchEquityTable | None = None

    def _cube_answers(self, boards: Tensor, cube: CubeTensors, take: bool) -> Answers:
        judgement, faults = self._judge(boards, cube, self.plies)
        action = judgement.action()
        return action.take if take else action.double, faults

    def beaver(self, boards: Tensor, cube: Cube) -> Tensor:
        """See `BeaveringBot`."""
        action, faults = self._action(boards, cube)
        return self.patience.settle(action.beaver.to(boards.device), faults)

    def take_beaver(self, boards: Tensor, cube: Cube) -> Tensor:
        """See `BeaveringBot`."""
        action, faults = self._action(boards, cube)
        return self.patience.settle(action.take_beaver.to(boards.device), faults)

    def _action(self, boards: Tensor, cube: Cube) -> tuple[CubeAction, dict[int, str]]:
        judgement, faults = self._judge(boards.cpu(), cube.as_tensors(len(boards), "cpu"), self.plies)
        return judgement.action(), faults

    def _play_answers(
        self, boards: Tensor, dice: Tensor, cube: CubeTensors | None, game: Tensor, plays: Tensor
    ) -> Answers:
        first = torch.zeros(len(boards))  # ties go to the first
        values, faults = self._values(game, plays, cube, 0)
        if self.plies:
            best = _highest(game, values, _KEPT)
            game, plays = game[best], plays[best]
            values, deeper = self._values(game, plays, cube, self.plies)
            faults |= deeper
        return plays[pick_highest(game, values, first)], faults

    def _values(self, game: Tensor, plays: Tensor, cube: CubeTensors | None, plies: int) -> Answers:
        """What each play is worth to its mover, ``[M]``; faults by game."""
        after = flip(plays)
        if cube is None:
            probs, _, missing = self._outcomes(after, plies)
            values = -equity(probs)
        else:
            theirs = cube_rows(flip_cube(cube), game)
            judgement, missing = self._judge(after, theirs, plies)
            value = judgement.value()
            values = torch.where(theirs.away[:, 0] > 0, 1.0 - value, -value)
        return values, {int(game[row]): reason for row, reason in missing.items()}

    def _judge(self, boards: Tensor, cube: CubeTensors, plies: int) -> tuple[Judgement, dict[int, str]]:
        """Positions before the roll at their cubes."""
        probs, done, faults = self._outcomes(boards, plies)
        table = None
        if bool((cube.away > 0).any()):
            table = self._table = self._table or simple_match_equity()
        equities = settled(cube_equities(probs, cube, table, self.life.of(boards)), probs, done, cube, table)
        return Judgement(equities, done, cube), faults

    def _outcomes(self, boards: Tensor, plies: int) -> tuple[Tensor, Tensor, dict[int, str]]:
        """Exclusive probabilities ``[M, 6]`` of side 0, on roll; where the game is over, exact; faults by row."""
        done, probs = exact_probabilities(boards, "backgammon")
        asked = (~done).nonzero()[:, 0]
        cumulative, missing = self._workers.ask(plies, boards[asked].flatten(1), 5, _ROWS_A_PART[plies])
        probs[asked] = _exclusive(cumulative)
        return probs, done, {int(asked[row]): reason for row, reason in missing.items()}


def _exclusive(cumulative: Tensor) -> Tensor:
    """Six probabilities from chances to win, to win a gammon or more, a backgammon, and to lose those."""
    win, gammon, backgammon, lost_gammon, lost_backgammon = cumulative.unbind(1)
    parts = (win - gammon, gammon - backgammon, backgammon, 1 - win - lost_gammon, lost_gammon - lost_backgammon)
    probs = torch.stack([*parts, lost_backgammon], 1).clamp(min=0)
    return probs / probs.sum(1, keepdim=True)


def _highest(game: Tensor, values: Tensor, number: int) -> Tensor:
    """The rows of each game's ``number`` highest values, ascending."""
    order = values.argsort(descending=True, stable=True)
    order = order[game[order].argsort(stable=True)]  # by game, the best first
    counts = game.bincount()
    place = torch.arange(len(game)) - (counts.cumsum(0) - counts)[game]
    return order[place < number].sort().values
