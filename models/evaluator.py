"""A trained network as a player's judgement: outcomes, equities, best plays, cube actions, at the network's own depth.

All values are from the view of the player on roll (side 0 of the boards): points per unit of the cube as it stands, or
match-winning chances at a match score.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from ..env.board import check_boards, check_dice
from ..env.cube import CENTRED, THEIRS, Cube, CubeTensors
from ..env.variants import get_variant
from .bundle import find_weights, load_network, load_table
from .encoding import encode
from .janowski import CubeEquities, CubeLife, cube_equities, simple_match_equity
from .judgement import CubeAction, Judgement, cube_rows, flip_cube, settled
from .learned_table import learned_table
from .match_equity import MatchEquityTable
from .network import Network
from .plays import CONTEXT_COLUMNS, MONEY_COLUMNS, FirstLayer, Plays, evaluate_plays
from .stakes import Stakes, match_stakes, money_stakes
from .values import (
    bounds,
    context_no_double,
    equity,
    exact_probabilities,
    no_double_values,
    possible_outcomes,
    probabilities,
)

__all__ = ["CubeAction", "Evaluator", "load"]

_CHUNK_ROWS = 1 << 16


class Evaluator:
    """A network with the rules it plays by.

    Attributes:
        variant: the discipline it was trained for.
        network: the network, not to be changed.
        header: what its file says of it; empty for one made in memory.
        cube_life: if set, cubes are judged by Janowski's formula over the outcomes with this life of the cube, not by
            the network's cube head; a number from 0 to 1, or a `CubeLife`.
    """

    def __init__(
        self,
        network: Network,
        variant: str = "backgammon",
        header: dict[str, Any] | None = None,
        table: MatchEquityTable | None = None,
        cube_life: float | CubeLife | None = None,
    ) -> None:
        """``table``: chances at match scores.

        If None they follow from the network when they are first needed, and from constant rates where the network has
        learned money alone; then scores and Jacoby are judged by Janowski's formula.
        """
        self.variant = get_variant(variant).name
        self.network = network
        self.header = header or {}
        self.cube_life = cube_life
        self._first = FirstLayer(network)
        self._table = table

    def by_formula(self, cube_life: float | CubeLife | None = None) -> Evaluator:
        """The same outcomes with all cubes judged by Janowski's formula; None is `CubeLife`'s life of the cube."""
        life = CubeLife() if cube_life is None else cube_life
        return Evaluator(self.network, self.variant, self.header, self.table, life)

    @property
    def device(self) -> torch.device:
        """Where the network is; answers are returned on the device of the boards asked about."""
        return self._first.table.device

    @property
    def table(self) -> MatchEquityTable:
        """The match equity table it plays by."""
        if self._table is None:
            if self.network.config.context_units:
                self._table = learned_table(self.network, self.variant)
            else:
                self._table = simple_match_equity().to(self.device)
        return self._table

    def outcome(self, boards: Tensor) -> Tensor:
        """Exclusive probabilities ``[N, 6]`` that side 0 wins single, gammon, backgammon, then loses those.

        They sum to 1; what can no longer happen is exactly 0, and a finished board has its exact outcome. ``boards``
        ``[N, 2, 26]`` before side 0's roll; ``ValueError`` names the first bad row.
        """
        return self._probabilities(self._check(boards)).to(boards.device)

    def equity(self, boards: Tensor, cube: Cube | None = None) -> Tensor:
        """Equity ``[N]``: cubeless for money without a ``cube``; with one, its value before side 0's roll.

        With a cube the right to double now is included; at a match score it is the match-winning chance.
        """
        checked = self._check(boards)
        if cube is None:
            return equity(self._probabilities(checked)).to(boards.device)
        return self._judge(checked, cube.as_tensors(len(checked), self.device)).value().to(boards.device)

    def best(
        self,
        boards: Tensor,
        dice: Tensor,
        cube: Cube | None = None,
        plies: int = 0,
        second_first: Tensor | None = None,
    ) -> Tensor:
        """Best play: ``[N]`` int64, the index within each game's own rows of `env.afterstates`, ties to the lowest.

        Without ``cube`` the cubeless equity decides, with it the value at that cube.
        """
        plays = self.plays(boards, dice, plies, second_first, cube)
        rows = plays.best().gather(1, self.column(cube, len(boards))[:, None])[:, 0]
        begins = torch.cat([plays.ends.new_zeros(1), plays.ends[:-1]])
        return (rows - begins).to(boards.device)

    def plays(
        self,
        boards: Tensor,
        dice: Tensor,
        plies: int = 0,
        second_first: Tensor | None = None,
        cube: Cube | None = None,
    ) -> Plays:
        """Every legal play of every game with its values, on the network's device; `column` says which to choose by."""
        _check_plies(plies)
        checked = self._check(boards)
        dice = check_dice(dice, len(checked)).to(self.device)
        if second_first is not None:
            if second_first.shape != boards.shape[:1]:
                raise ValueError(f"second_first: found shape {tuple(second_first.shape)}, wanted ({boards.shape[0]},)")
            second_first = second_first.to(self.device, torch.bool)
        state = None if cube is None else cube.as_tensors(len(checked), self.device)
        formula = state is not None and bool(self._by_formula(state).any())
        stakes = None
        if state is not None and not formula and bool(_beside_money(state).any()):
            stakes = self._stakes(flip_cube(state))
        plays = evaluate_plays(self.network, checked, dice, self.variant, second_first, self._first, stakes)
        return self._with_formula(plays, state) if state is not None and formula else plays

    def roll_value(
        self, boards: Tensor, dice: Tensor, cube: Cube | None = None, second_first: Tensor | None = None
    ) -> Tensor:
        """What side 0's roll is worth if it is played best, ``[N]``: points per unit of the cube, or the chance to win.

        Without ``cube`` it is the cubeless equity of the best play by it.
        """
        plays = self.plays(boards, dice, 0, second_first, cube)
        column = self.column(cube, len(boards))
        values = plays.values[plays.best().gather(1, column[:, None])[:, 0], column]
        if cube is not None and plays.values.shape[1] == CONTEXT_COLUMNS:  # on the normalised scale of the stakes
            stakes = self._stakes(cube.as_tensors(len(boards), self.device))
            values = torch.where(column >= MONEY_COLUMNS, stakes.middle + stakes.half * values, values)
        return values.to(boards.device)

    def column(self, cube: Cube | None, num_games: int) -> Tensor:
        """The column of `Plays.values` by which a player with ``cube`` chooses, ``[N]`` int64."""
        if cube is None:
            return torch.zeros(num_games, dtype=torch.int64, device=self.device)
        state = cube.as_tensors(num_games, self.device)
        money = torch.where(2 * state.value > state.max_cube, 0, state.owner.long() + 1)
        formula = self._by_formula(state)
        if bool(formula.any()):
            return torch.where(formula, MONEY_COLUMNS, money)
        return state.owner.long() + MONEY_COLUMNS if bool(_beside_money(state).any()) else money

    def cube_action(self, boards: Tensor, cube: Cube, plies: int = 0) -> CubeAction:
        """Should side 0 double before rolling, and should the other take? All fields are filled for every row."""
        _check_plies(plies)
        checked = self._check(boards)
        action = self._judge(checked, cube.as_tensors(len(checked), self.device)).action()
        moved = {name: getattr(action, name).to(boards.device) for name in CubeAction.__dataclass_fields__}
        return CubeAction(**moved)

    def _check(self, boards: Tensor) -> Tensor:
        return check_boards(boards, get_variant(self.variant)).to(self.device)

    def _by_formula(self, state: CubeTensors) -> Tensor:
        """Which cubes are judged by Janowski's formula, ``[N]``: as told to, or as the network has not learned them."""
        if self.cube_life is not None:
            return torch.ones_like(state.jacoby)
        return torch.zeros_like(state.jacoby) if self.network.config.context_units else _beside_money(state)

    def _stakes(self, state: CubeTensors) -> Stakes:
        """The stakes seen by the player who sees the cube so."""
        stakes = money_stakes(state.value, state.max_cube, state.jacoby & (state.owner == CENTRED))
        match = state.away[:, 0] > 0
        if not self.network.config.context_units or not bool(match.any()):
            return stakes
        away = state.away.clamp(min=1)
        played = match_stakes(state.value, away, state.crawford, state.max_cube, self.table)
        return Stakes.where(match, played, stakes)

    def _probabilities(self, boards: Tensor) -> Tensor:
        """Outcome probabilities ``[N, 6]``, exact where the game is over."""
        return torch.cat([self._outputs(part)[0] for part in _parts(boards)])

    @torch.no_grad()
    def _outputs(self, boards: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Probabilities exact where ``done``; ``done``; the network's raw output and what can still happen."""
        raw = self.network(encode(boards, self.variant))
        possible = possible_outcomes(boards, self.variant)
        done, exact = exact_probabilities(boards, self.variant)
        return torch.where(done[:, None], exact, probabilities(raw, possible)), done, raw, possible

    def _judge(self, boards: Tensor, state: CubeTensors) -> Judgement:
        """What the network says of positions before the roll, at their cubes."""
        formula = self._by_formula(state)
        any_formula, stakes = bool(formula.any()), self._stakes(state)
        judged: list[CubeEquities] = []
        over: list[Tensor] = []
        begin = 0
        for part in _parts(boards):
            rows = slice(begin, begin + len(part))
            begin += len(part)
            probs, done, raw, possible = self._outputs(part)
            cubes = cube_rows(state, rows)
            equities = self._learned(raw, probs, possible, stakes.rows(rows), cubes.owner)
            if any_formula:
                equities = _choose(formula[rows], self._formula(probs, part, cubes), equities)
            judged.append(settled(equities, probs, done, cubes, self._table_if_needed(cubes)))
            over.append(done)
        names = CubeEquities.__dataclass_fields__
        joined = CubeEquities(**{name: torch.cat([getattr(part, name) for part in judged]) for name in names})
        return Judgement(joined, torch.cat(over), state)

    def _table_if_needed(self, state: CubeTensors) -> MatchEquityTable | None:
        return self.table if bool((state.away > 0).any()) else None

    def _learned(self, raw: Tensor, probs: Tensor, possible: Tensor, stakes: Stakes, owner: Tensor) -> CubeEquities:
        """The cube head's values, in points or match-winning chances."""
        values, taken = self._cube_values(raw, probs, possible, stakes)
        here = values.gather(1, owner.long()[:, None])[:, 0]
        cash = torch.ones_like(here)
        return CubeEquities(*(stakes.middle + stakes.half * value for value in (here, taken, cash)))

    @torch.no_grad()
    def _cube_values(self, raw: Tensor, probs: Tensor, possible: Tensor, stakes: Stakes) -> tuple[Tensor, Tensor]:
        """No-double values ``[N, 3]`` and double-take ``[N]``, normalised; see `values.context_no_double`."""
        if self.network.config.context_units:
            return context_no_double(self.network, raw, probs, possible, stakes)
        values = torch.clamp(no_double_values(raw, probs), *bounds(possible))
        cubeless = equity(probs)[:, None]
        may = stakes.may_double[:, :1]  # only the cap can forbid it, and it is the same for both
        doubled = torch.where(stakes.may_redouble[:, 1:], values[:, THEIRS:], cubeless)
        return torch.where(may, values, cubeless), 2.0 * doubled[:, 0]

    def _formula(self, probs: Tensor, boards: Tensor, state: CubeTensors) -> CubeEquities:
        """Janowski's values."""
        life = CubeLife() if self.cube_life is None else self.cube_life
        x = life.of(boards, self.variant) if isinstance(life, CubeLife) else life
        return cube_equities(probs, state, self._table_if_needed(state), x)

    def _with_formula(self, plays: Plays, state: CubeTensors) -> Plays:
        """``plays`` with one column more: the values at each game's own cube by Janowski's formula."""
        theirs = cube_rows(flip_cube(state), plays.game)
        boards = plays.boards.flip(1)
        possible = possible_outcomes(boards, self.variant)
        done, exact = exact_probabilities(boards, self.variant)
        probs = torch.where(done[:, None], exact, probabilities(plays.raw, possible))
        table = self._table_if_needed(theirs)
        equities = settled(self._formula(probs, boards, theirs), probs, done, theirs, table)
        value = Judgement(equities, done, theirs).value()
        mine = torch.where(theirs.away[:, 0] > 0, 1.0 - value, -value)
        return replace(plays, values=torch.cat([plays.values, mine[:, None]], 1))


def _choose(condition: Tensor, first: CubeEquities, second: CubeEquities) -> CubeEquities:
    """``first`` where ``condition`` ``[N]`` holds, else ``second``."""
    names = CubeEquities.__dataclass_fields__
    return CubeEquities(**{n: torch.where(condition, getattr(first, n), getattr(second, n)) for n in names})


def _parts(boards: Tensor) -> Sequence[Tensor]:
    """Boards in parts that fit into memory; one part at least."""
    return torch.split(boards, _CHUNK_ROWS) or [boards]


def _beside_money(state: CubeTensors) -> Tensor:
    """Which games are played at a score, or for money with the Jacoby rule and a centred cube, ``[N]`` bool."""
    return (state.away[:, 0] > 0) | (state.jacoby & (state.owner == CENTRED))


def _check_plies(plies: int) -> None:
    if plies != 0:
        raise ValueError(f"plies: found {plies}, wanted 0: search is not built yet")


def load(name_or_path: str | Path, device: torch.device | str = "cpu") -> Evaluator:
    """Load a model: a bundled one by name, or the path of a run, a checkpoint or a bundle.

    Raises:
        BundleError: (a ``ValueError``) naming the file, what was found and what was wanted.
    """
    path = find_weights(name_or_path)
    network, header = load_network(path, device)
    return Evaluator(network, header["variant"], header, load_table(path, device))
