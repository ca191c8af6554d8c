"""Bots: what plays a game, always a whole batch at once, and how one is named on a command line.

A bot sees positions only. It answers three questions, each for N games on the device of the boards, without a Python
loop over games and without random numbers of its own: ties are settled by numbers from the game's own stream, so the
same seed gives the same games however they are divided. Cost a decision: one list of afterstates (`env.afterstates`)
and, for a model, its evaluation of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import torch
from torch import Tensor

from ..env import Cube, afterstates, pip_counts
from ..env.cube import CENTRED
from ..models import BundleError, CubeAction, CubeLife, Evaluator, load
from ..models.bundle import find_weights, read_header

if TYPE_CHECKING:
    from .outside import OutsideOptions

__all__ = [
    "BOTS",
    "BeaveringBot",
    "Bot",
    "Judge",
    "ModelBot",
    "PipCountBot",
    "RandomBot",
    "make_bot",
    "newest_model",
    "pick_highest",
]

_ROUNDING = 1e-9  # of pips: 9 % of 100 are 9, whatever the binary fraction

BOTS = ("random", "pipcount", "model:NAME_OR_PATH", "janowski:NAME_OR_PATH", "pair:model:A+model:B")


class Bot(Protocol):
    """What the arena and the terminal ask of a bot. ``cube`` holds tensors ``[N]`` or one value for all games.

    ``name`` is its specification, for tables.
    """

    @property
    def name(self) -> str:
        """Specification by which `make_bot` makes it."""
        ...

    def double(self, boards: Tensor, cube: Cube) -> Tensor:
        """Does the player on roll (side 0 of ``boards`` ``[N, 2, 26]``) double before rolling? ``[N]`` bool.

        Asked only where doubling is allowed.
        """
        ...

    def take(self, boards: Tensor, cube: Cube) -> Tensor:
        """Would the *opponent* (side 1), doubled in this position, take? ``[N]`` bool.

        ``boards`` and ``cube`` are as the doubler saw them when asked by `double`: side 0 has doubled, the cube still
        shows the value before. The bot answers for side 1.
        """
        ...

    def choose(
        self, boards: Tensor, dice: Tensor, cube: Cube | None, uniforms: Tensor, second_first: Tensor | None = None
    ) -> Tensor:
        """The afterstates to play to, ``[N, 2, 26]`` int8 with the mover still side 0.

        Args:
            boards: ``[N, 2, 26]`` int8, side 0 on roll. dice: ``[N, 2]`` int8.
            cube: as side 0 sees it; None in money games without a cube.
            uniforms: ``[N]`` in [0, 1), one number a game to settle ties with.
            second_first: ``[N]`` bool, see `env.afterstates`.
        """
        ...


@runtime_checkable
class BeaveringBot(Bot, Protocol):
    """A bot that also knows what to do with a beaver (money games, rules.md 2.9)."""

    def beaver(self, boards: Tensor, cube: Cube) -> Tensor:
        """Would the *opponent* (side 1), doubled in this position, beaver? ``[N]`` bool, arguments as for `take`.

        Asked only where a beaver is allowed and a drop was not the answer.
        """
        ...

    def take_beaver(self, boards: Tensor, cube: Cube) -> Tensor:
        """Does side 0, who has doubled and was beavered, play on? ``[N]`` bool, arguments as for `take`."""
        ...


class Judge(Protocol):
    """The part of `models.Evaluator` used here, as the contract in ``design.md`` has it."""

    variant: str

    def outcome(self, boards: Tensor) -> Tensor:
        """Exclusive probabilities ``[N, 6]``: win single, gammon, backgammon, lose single, gammon, backgammon."""
        ...

    def equity(self, boards: Tensor, cube: Cube | None = None) -> Tensor:
        """Equity ``[N]`` of the player on roll; with ``away`` the match-winning chance."""
        ...

    def best(
        self,
        boards: Tensor,
        dice: Tensor,
        cube: Cube | None = None,
        plies: int = 0,
        second_first: Tensor | None = None,
    ) -> Tensor:
        """Index of the best play ``[N]`` within each game's own afterstates."""
        ...

    def cube_action(self, boards: Tensor, cube: Cube, plies: int = 0) -> CubeAction:
        """Double and take decisions, see `models.CubeAction`."""
        ...


def pick_highest(game: Tensor, values: Tensor, uniforms: Tensor) -> Tensor:
    """The row of each game's highest value, ``[N]`` int64; among k equal ones each with probability 1 / k.

    Args:
        game: ``[M]`` int64, non-decreasing, every game 0 to N - 1 occurring.
        values: ``[M]``, any number type.
        uniforms: ``[N]`` in [0, 1): the tie is settled by the place this number falls on.
    """
    num_games = uniforms.shape[0]
    highest = torch.empty(num_games, dtype=values.dtype, device=values.device)
    highest = highest.scatter_reduce(0, game, values, "amax", include_self=False)
    tied = (values == highest[game]).long()
    counts = torch.zeros(num_games, dtype=torch.int64, device=values.device).scatter_add(0, game, tied)
    place = torch.minimum((uniforms.double() * counts).long(), counts - 1)
    return torch.searchsorted(tied.cumsum(0), counts.cumsum(0) - counts + place + 1)


def _pip_lead(boards: Tensor) -> Tensor:
    """Side 1's pips less side 0's, ``[M]`` float32 and exact; for many rows several times faster than `pip_counts`."""
    pips = torch.arange(26, dtype=torch.float32, device=boards.device)
    return boards.view(-1, 52).float() @ torch.cat([-pips, pips])


@dataclass(frozen=True)
class RandomBot:
    """Plays uniformly among the distinct afterstates. It never doubles and always takes, for it judges nothing."""

    variant: str = "backgammon"
    name: str = "random"

    def double(self, boards: Tensor, cube: Cube) -> Tensor:
        """Never."""
        return torch.zeros(boards.shape[0], dtype=torch.bool, device=boards.device)

    def take(self, boards: Tensor, cube: Cube) -> Tensor:
        """Always."""
        return torch.ones(boards.shape[0], dtype=torch.bool, device=boards.device)

    def choose(
        self, boards: Tensor, dice: Tensor, cube: Cube | None, uniforms: Tensor, second_first: Tensor | None = None
    ) -> Tensor:
        """Any afterstate, all equally likely."""
        game, plays = afterstates(boards, dice, self.variant, second_first)
        return plays[pick_highest(game, torch.zeros_like(game), uniforms)]


@dataclass(frozen=True)
class PipCountBot:
    """The baseline: the play that leaves it furthest ahead in pips, ties at random; the cube by pips alone.

    The thresholds are the players' 8-9-12 rule for races: double when ahead by 8 % of one's own pips, redouble at
    9 %, take when behind by at most 12 % of the doubler's. The rule is meant for races; this bot uses it everywhere.
    """

    variant: str = "backgammon"
    double_at: float = 0.08
    redouble_at: float = 0.09
    take_to: float = 0.12
    name: str = "pipcount"

    def double(self, boards: Tensor, cube: Cube) -> Tensor:
        """Ahead by at least ``double_at`` (``redouble_at`` for an owned cube) of its own pips?"""
        mine, lead = self._lead(boards)
        centred = cube.as_tensors(boards.shape[0], boards.device).owner == CENTRED
        return lead >= torch.where(centred, mine * self.double_at, mine * self.redouble_at) - _ROUNDING

    def take(self, boards: Tensor, cube: Cube) -> Tensor:
        """Is side 1 behind by at most ``take_to`` of side 0's pips?"""
        mine, lead = self._lead(boards)
        return lead <= mine * self.take_to + _ROUNDING

    def choose(
        self, boards: Tensor, dice: Tensor, cube: Cube | None, uniforms: Tensor, second_first: Tensor | None = None
    ) -> Tensor:
        """The afterstate with the greatest pip lead, ties at random."""
        game, plays = afterstates(boards, dice, self.variant, second_first)
        return plays[pick_highest(game, _pip_lead(plays), uniforms)]

    @staticmethod
    def _lead(boards: Tensor) -> tuple[Tensor, Tensor]:
        pips = pip_counts(boards).double()
        return pips[:, 0], pips[:, 1] - pips[:, 0]


@dataclass(frozen=True)
class ModelBot:
    """A trained model at the depth of the network alone. Without a cube it plays by cubeless equity."""

    evaluator: Judge
    name: str

    def double(self, boards: Tensor, cube: Cube) -> Tensor:
        """As the model's `cube_action` says."""
        return self.evaluator.cube_action(boards, cube).double

    def take(self, boards: Tensor, cube: Cube) -> Tensor:
        """As the model's `cube_action` says of side 1."""
        return self.evaluator.cube_action(boards, cube).take

    def beaver(self, boards: Tensor, cube: Cube) -> Tensor:
        """As the model's `cube_action` says of side 1."""
        return self.evaluator.cube_action(boards, cube).beaver

    def take_beaver(self, boards: Tensor, cube: Cube) -> Tensor:
        """As the model's `cube_action` says."""
        return self.evaluator.cube_action(boards, cube).take_beaver

    def choose(
        self, boards: Tensor, dice: Tensor, cube: Cube | None, uniforms: Tensor, second_first: Tensor | None = None
    ) -> Tensor:
        """The model's best play; exact ties go to the first, and ``uniforms`` are not used."""
        index = self.evaluator.best(boards, dice, cube, second_first=second_first)
        game, plays = afterstates(boards, dice, self.evaluator.variant, second_first)
        first = torch.searchsorted(game, torch.arange(boards.shape[0], device=game.device))
        return plays[first + index]


def make_bot(
    spec: str,
    variant: str = "backgammon",
    device: torch.device | str = "cpu",
    outside: OutsideOptions | None = None,
) -> Bot:
    """The bot that ``spec`` names: one of `BOTS` or of `OUTSIDE_BOTS`, which are treated as ``outside`` says.

    ``janowski`` is the model with its cube judged by Janowski's formula.

    Raises:
        ValueError: an unknown specification, a model that cannot be read, or one for another variant; a package or a
            command that is missing, with what to install.
    """
    from .outside import OUTSIDE_BOTS, make_outside_bot  # which are made of what is in this module

    kind, _, argument = spec.partition(":")
    if kind == "model" and argument:
        return ModelBot(_load(argument, spec, variant, device), spec)
    if kind == "janowski" and argument:
        judge = _load(argument, spec, variant, device)
        judge.cube_life = CubeLife()
        return ModelBot(judge, spec)
    if kind == "pair" and argument:
        return _make_pair(argument, spec, variant, device)
    if spec == "random":
        return RandomBot(variant)
    if spec == "pipcount":
        return PipCountBot(variant)
    outside_bot = make_outside_bot(spec, variant, outside)
    if outside_bot is not None:
        return outside_bot
    raise ValueError(f"bot: found {spec!r}, wanted one of {', '.join((*BOTS, *OUTSIDE_BOTS))}")


def _load(name_or_path: str, spec: str, variant: str, device: torch.device | str) -> Evaluator:
    evaluator = load(name_or_path, device)
    if evaluator.variant != variant:
        raise ValueError(f"bot: {spec}: found a model for {evaluator.variant}, wanted one for {variant}")
    return evaluator


def _make_pair(partners: str, spec: str, variant: str, device: torch.device | str) -> Bot:
    from .pairs import ConsultingPair  # which is made of what is in this module

    one, _, other = partners.partition("+model:")
    if not one.startswith("model:") or one == "model:" or not other:
        raise ValueError(f"bot: found {spec!r}, wanted two models, which have equities to average: {BOTS[-1]}")
    first, second = (_load(name, spec, variant, device) for name in (one.removeprefix("model:"), other))
    return ConsultingPair((first, second), (one, f"model:{other}"))


def newest_model(variant: str = "backgammon", runs: Path = Path("runs")) -> str:
    """Name or path of the model to use when none was named: the newest run of ``variant``, else the bundled one."""
    found: list[tuple[float, str]] = []
    for folder in runs.iterdir() if runs.is_dir() else ():
        try:
            weights = find_weights(folder)
            if read_header(weights)["variant"] == variant:
                found.append((weights.stat().st_mtime, str(folder)))
        except (BundleError, OSError):
            continue  # a run without weights yet, or a foreign folder
    return max(found)[1] if found else variant
