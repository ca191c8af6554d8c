"""What can be set for ``scripts/evaluate.py`` and ``scripts/play.py``; the values come from ``configs``."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..env.dice import check_seed
from ..env.formats import Format
from ..env.variants import get_variant
from .outside import OutsideOptions
from .outside.gnubg_analysis import GnubgOptions
from .play.tutor import LEAST, checked_least
from .results import check_num_games
from .session import SessionOptions
from .statistics import IntervalMethod

__all__ = [
    "AnalysisOptions",
    "ExactOptions",
    "LadderOptions",
    "MatchOptions",
    "PlayOptions",
    "ReferenceOptions",
    "ReportOptions",
    "TableOptions",
]


@dataclass(frozen=True)
class MatchOptions:
    """Two bots against each other in the format ``env``.

    ``bot`` None is the newest model; ``games`` counts matches if the format has a length; ``part`` None is
    `part_deals`; ``luck`` is as for `make_luck`; ``outside`` is for bots that are other programs.
    """

    env: Format = field(default_factory=Format)
    device: str = "auto"
    threads: int | None = None
    output: str | None = None
    bot: str | None = None
    opponent: str = "pipcount"
    games: int = 4000
    batch: int = 4096
    seed: int = 0
    luck: str | None = None
    interval: IntervalMethod = "normal"
    until: float | None = None
    part: int | None = None
    mat: str | None = None
    mat_games: int = 10
    outside: OutsideOptions = field(default_factory=OutsideOptions)

    def __post_init__(self) -> None:
        check_num_games(self.games)
        if self.batch < 1:
            raise ValueError(f"batch: found {self.batch}, wanted at least 1")
        _check_part(self.part)
        if self.mat_games < 1:
            raise ValueError(f"mat_games: found {self.mat_games}, wanted at least 1")
        check_seed(self.seed)
        _check_bots_can_play(self.env, beavers=True)
        if self.mat is not None and (self.env.variant == "longgammon" or self.env.automatic_doubles):
            raise ValueError(
                "mat: found longgammon or automatic doubles, for which match text has no words; wanted none"
            )
        self.session("cpu")

    def session(self, device_type: str) -> SessionOptions:
        """How the session is divided, judged and ended on a device."""
        recorded = 0 if self.mat is None else -(-self.mat_games // 2)
        return SessionOptions(self.interval, self.until, part_deals(self.part, self.batch, device_type), recorded)


@dataclass(frozen=True)
class LadderOptions:
    """A pool of bots rated by playing each other in the format ``env``.

    ``bots`` and ``anchors`` are parted by commas, see `ladder.list_entries` and `ladder.list_pairs`; ``games`` are
    those of a pair; of a run at most ``checkpoints`` take part; the rest is as for `MatchOptions`.
    """

    env: Format = field(default_factory=Format)
    device: str = "auto"
    threads: int | None = None
    output: str | None = None
    bots: str = ""
    anchors: str | None = None
    checkpoints: int = 8
    games: int = 1000
    batch: int = 4096
    seed: int = 0
    luck: str | None = None
    interval: IntervalMethod = "normal"
    until: float | None = None
    part: int | None = None
    outside: OutsideOptions = field(default_factory=OutsideOptions)

    def __post_init__(self) -> None:
        if self.checkpoints < 1:
            raise ValueError(f"checkpoints: found {self.checkpoints}, wanted at least 1")
        self.pair("", "", 0)

    def pair(self, bot: str, opponent: str, seed: int) -> MatchOptions:
        """What one pair plays."""
        shared = ("env", "games", "batch", "luck", "interval", "until", "part", "outside")
        return MatchOptions(bot=bot, opponent=opponent, seed=seed, **{name: getattr(self, name) for name in shared})


_PART_DEALS = 1000  # on a CPU; playing out the last games of a part costs some 2 % of it


def part_deals(part: int | None, batch: int, device_type: str) -> int:
    """Deals played and kept together: half the games ``part``, None for what costs little on the device."""
    if part is not None:
        return part // 2
    return _PART_DEALS if device_type == "cpu" else max(batch, _PART_DEALS)


def _check_part(part: int | None) -> None:
    if part is not None and (part < 2 or part % 2):
        raise ValueError(f"part: found {part}, wanted an even number of games from 2 up, or null")


def _check_bots_can_play(options: Format, beavers: bool = False, resignation: bool = False) -> None:
    """Refuse rules that a bot would have to know of to make use of them.

    ``beavers`` are left to each bot; ``resignation`` is allowed where only a person resigns, and a bot is answered for.
    """
    for name, why in (
        *(() if beavers else (("beavers", "bots answer a double by a take or a drop"),)),
        ("raccoons", "bots answer a double, but not a beaver of their opponent, by a turn of the cube"),
        *(() if resignation else (("resignation", "bots play to the end"),)),
    ):
        if getattr(options, name):
            raise ValueError(f"env.{name}: found true, wanted false: {why}")


def _check_cube_life(life: float | None) -> None:
    if life is not None and not 0 <= life <= 1:
        raise ValueError(f"cube_life: found {life}, wanted a number from 0 to 1, or null")


@dataclass(frozen=True)
class ReferenceOptions:
    """One model on the reference positions in the folder ``path``; ``model`` None is the newest one.

    ``cube_life`` is Janowski's, beside whose formula the cube head is shown; None is GNU Backgammon's by position.
    """

    device: str = "auto"
    threads: int | None = None
    output: str | None = None
    model: str | None = None
    path: str = "../shared/bench"
    cube_life: float | None = None

    def __post_init__(self) -> None:
        _check_cube_life(self.cube_life)


@dataclass(frozen=True)
class ExactOptions:
    """One model of sprintgammon against its exact solution, which is kept in ``folder`` and made if it is not there.

    ``model`` None is the newest one. ``decisions`` unforced plays are judged in games between exact players, and
    ``positions`` legal positions, None for all. ``cube_life`` as in `ReferenceOptions`.
    """

    device: str = "auto"
    threads: int | None = None
    output: str | None = None
    model: str | None = None
    folder: str = "~/.cache/nardy"
    decisions: int = 100_000
    positions: int | None = 1_000_000
    seed: int = 0
    cube_life: float | None = None

    def __post_init__(self) -> None:
        if self.decisions < 1:
            raise ValueError(f"decisions: found {self.decisions}, wanted 1 or more")
        if self.positions is not None and self.positions < 1:
            raise ValueError(f"positions: found {self.positions}, wanted 1 or more, or null for all")
        check_seed(self.seed)
        _check_cube_life(self.cube_life)


@dataclass(frozen=True)
class ReportOptions:
    """All that is known of ``model``, as a page and plots in ``folder``.

    ``model`` None is the newest of ``variant``. ``run``: folder of its training run, None for the model's own if it is
    one. ``results``: JSON files, or folders of them, that other tasks have written. ``path``: reference positions.
    ``exact``: folder of the exact solution of sprintgammon. ``games`` against itself for the calibration, 0 for none;
    ``worst`` plays are drawn.
    """

    device: str = "auto"
    threads: int | None = None
    output: str | None = None
    model: str | None = None
    variant: str = "backgammon"
    run: str | None = None
    results: tuple[str, ...] = ()
    path: str = "../shared/bench"
    exact: str | None = None
    games: int = 2000
    worst: int = 10
    seed: int = 0
    folder: str = "report"

    def __post_init__(self) -> None:
        get_variant(self.variant)
        if self.games < 0 or self.worst < 0:
            raise ValueError(f"games, worst: found {self.games} and {self.worst}, wanted 0 or more")
        check_seed(self.seed)


@dataclass(frozen=True)
class TableOptions:
    """The match equity table of ``model`` (None: the newest), compared with a file ``against``, written to ``xml``."""

    device: str = "auto"
    threads: int | None = None
    output: str | None = None
    model: str | None = None
    against: str | None = None
    xml: str | None = None


@dataclass(frozen=True)
class AnalysisOptions:
    """GNU Backgammon on the mistakes of ``bot`` and ``opponent`` in ``games`` games (matches, if ``env`` has a length).

    ``bot`` None is the newest model. ``mat``: a file of recorded games to judge instead. ``save``: where to keep the
    games that were played, as ``.mat``; of matches there are several, numbered.
    """

    env: Format = field(default_factory=Format)
    device: str = "cpu"
    threads: int | None = None
    output: str | None = None
    bot: str | None = None
    opponent: str = "gnubg-nn"
    games: int = 30
    seed: int = 0
    mat: str | None = None
    save: str | None = None
    gnubg: GnubgOptions = field(default_factory=GnubgOptions)
    outside: OutsideOptions = field(default_factory=OutsideOptions)

    def __post_init__(self) -> None:
        if self.games < 1:
            raise ValueError(f"games: found {self.games}, wanted at least 1")
        if self.mat is not None and self.save is not None:
            raise ValueError("save: found it with mat, wanted one of them: what is in a file need not be kept again")
        check_seed(self.seed)
        if self.env.variant != "backgammon":
            raise ValueError(f"env: found {self.env.variant}, wanted backgammon: gnubg judges nothing else")
        _check_bots_can_play(self.env)


@dataclass(frozen=True)
class PlayOptions:
    """A person against ``bot`` in the terminal, in the format ``env``; None is the newest model.

    ``seed`` None draws one. ``adviser`` is the model that gives hints and is the tutor, which speaks of decisions that
    lose ``tutor_least`` or more; None takes the bot's own or, if it has none, the newest model. ``load``: a file with a
    saved game to go on with. ``position``: an identifier to begin from.
    """

    env: Format = field(default_factory=Format)
    bot: str | None = None
    adviser: str | None = None
    device: str = "cpu"
    seed: int | None = None
    ascii: bool = False
    tutor: bool = False
    tutor_least: float = LEAST
    load: str | None = None
    position: str | None = None

    def __post_init__(self) -> None:
        if self.seed is not None:
            check_seed(self.seed)
        checked_least(self.tutor_least)
        if self.load is not None and self.position is not None:
            raise ValueError("position: found it with load, wanted one of them")
        for name in ("load", "position"):
            if getattr(self, name) is not None and self.env.clock.used:
                raise ValueError(f"{name}: found it with a clock, wanted none: nothing says what time was left")
        _check_bots_can_play(self.env, beavers=True, resignation=True)
        if self.env.clock.used and self.env.clock.time != "real":
            raise ValueError("env.clock.time: found simulated, wanted real: a person thinks in real time")
