"""GNU Backgammon as a judge: its own analysis of recorded games, read from what the program ``gnubg`` prints.

The program is started in an empty folder that is its home too, so that nobody's settings count, and is asked for one
game after the other; every wait is bounded. Its figures are errors in equity normalised to a cube of 1 (EMG), in
matches by the score; here all of them are losses, 0 or more.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from .failure import EngineError
from .process import Child

__all__ = ["GameStatistics", "GnubgOptions", "SideStatistics", "analyse_games", "find_gnubg", "read_statistics"]

_GAMES_FOLDER = "/usr/games"  # where Debian puts it, which is not in everybody's path
_SECTIONS = ("Chequerplay statistics", "Luck statistics", "Cube statistics", "Overall statistics")
_LAST_ROW = "Luck adjusted result"
_MAX_LINES = 400  # of one game's answer
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?")


@dataclass(frozen=True)
class GnubgOptions:
    """How GNU Backgammon judges.

    Attributes:
        plies: how deep it looks at plays and cubes, 0 to 3; its usual filter of candidate plays from 1 on.
        command: the program, a name or a path.
        time_limit: seconds that one game may take.
    """

    plies: int = 2
    command: str = "gnubg"
    time_limit: float = 120.0

    def __post_init__(self) -> None:
        if not 0 <= self.plies <= 3:
            raise ValueError(f"plies: found {self.plies}, wanted 0 to 3")
        if not 0 < self.time_limit <= 86_400:
            raise ValueError(f"time_limit: found {self.time_limit:g}, wanted seconds above 0, at most a day")


@dataclass(frozen=True)
class SideStatistics:
    """One side of one game, as judged.

    Attributes:
        plays: plays that were no choice included. unforced: those with a choice.
        play_loss: EMG lost by them, all together.
        cubes: cube decisions that were close, or taken: the only ones that count.
        cube_loss: EMG lost by cube decisions, all together.
        result: what the game brought, in points, or in chances to win the match.
        luck_adjusted: the same less the luck of the dice.
    """

    plays: int
    unforced: int
    play_loss: float
    cubes: int
    cube_loss: float
    result: float
    luck_adjusted: float


GameStatistics = tuple[SideStatistics, SideStatistics]

# Where each field stands: section, the beginning of the row.
_ROWS = {
    "plays": (_SECTIONS[0], "Total moves"),
    "unforced": (_SECTIONS[0], "Unforced moves"),
    "play_loss": (_SECTIONS[0], "Error total EMG"),
    "cubes": (_SECTIONS[2], "Close or actual cube decisions"),
    "cube_loss": (_SECTIONS[2], "Error total EMG"),
    "result": (_SECTIONS[3], "Actual result"),
    "luck_adjusted": (_SECTIONS[3], _LAST_ROW),
}


def find_gnubg(command: str = "gnubg") -> str:
    """The path of the program; ``ValueError`` says what to install if it is missing."""
    found = shutil.which(command, path=f"{os.environ.get('PATH', os.defpath)}{os.pathsep}{_GAMES_FOLDER}")
    if found is None:
        raise ValueError(f"gnubg: found no program {command!r}; install GNU Backgammon: apt-get install gnubg")
    return str(Path(found).resolve())


def read_statistics(lines: list[str]) -> GameStatistics:
    """What "show statistics game" has printed, by player; `EngineError` if anything is missing or no number."""
    section = ""
    rows: dict[str, tuple[float, float]] = {}
    for line in lines:
        text = line.strip()
        if text in _SECTIONS:
            section = text
        for field, (place, label) in _ROWS.items():
            if section == place and text.startswith(label) and field not in rows:
                rows[field] = _two_numbers(text[len(label) :], text)
    for field, (place, label) in _ROWS.items():
        if field not in rows:
            raise EngineError(f"found no row {label!r} under {place!r}")
    return _side(rows, 0), _side(rows, 1)


def _two_numbers(cells: str, line: str) -> tuple[float, float]:
    """Both players' first numbers; a second form of each, and the unit, stand in brackets."""
    numbers = _NUMBER.findall(re.sub(r"\([^)]*\)", " ", cells))
    if len(numbers) != 2:
        raise EngineError(f"found {line[:80]!r}, wanted two numbers")
    return float(numbers[0]), float(numbers[1])


def _side(rows: dict[str, tuple[float, float]], player: int) -> SideStatistics:
    values = {field: numbers[player] for field, numbers in rows.items()}
    return SideStatistics(
        plays=int(values["plays"]),
        unforced=int(values["unforced"]),
        play_loss=abs(values["play_loss"]),
        cubes=int(values["cubes"]),
        cube_loss=abs(values["cube_loss"]),
        result=values["result"],
        luck_adjusted=values["luck_adjusted"],
    )


def analyse_games(
    text: str, num_games: int, options: GnubgOptions, jacoby: bool = False, cube: bool = True
) -> Iterator[tuple[str, GameStatistics]]:
    """GNU Backgammon's version and its judgement of every game of a match, one after the other.

    Args:
        text: the match as ``.mat``, with ``num_games`` games.
        options: how it judges.
        jacoby: are money games played by that rule? The layout does not say.
        cube: was there one? If not, what it says of cubes means nothing, and plays are judged without.

    Raises:
        ValueError: the program is missing.
        EngineError: it ended, printed something else or took longer than allowed.
    """
    program = find_gnubg(options.command)
    with tempfile.TemporaryDirectory(prefix="nardy-gnubg-") as name:
        folder = Path(name)
        (folder / "games.mat").write_text(text, encoding="utf-8")
        environment = {"PATH": os.environ.get("PATH", os.defpath), "HOME": name, "LC_ALL": "C.UTF-8"}
        child = Child([program, "-t", "-q"], folder, environment)
        try:
            yield from _conversation(child, num_games, _settings(options, jacoby, cube), options.time_limit)
        finally:
            child.close()


def _conversation(
    child: Child, num_games: int, settings: Sequence[str], time_limit: float
) -> Iterator[tuple[str, GameStatistics]]:
    version = ""
    for number in range(num_games):
        deadline = time.monotonic() + time_limit
        commands = ["next game"] if number else [*settings, "import mat games.mat", "first game"]
        script = "\n".join([*commands, "analyse game", "show statistics game", ""])
        child.send(script.encode("ascii"), deadline)
        lines: list[str] = []
        while not (lines and lines[-1].startswith(_LAST_ROW)):
            lines.append(child.read_line(deadline))
            if not version and (banner := re.match(r"GNU Backgammon (\S+)", lines[-1])):
                version = banner[1]
            if len(lines) > _MAX_LINES:
                raise EngineError(f"found more than {_MAX_LINES} lines in answer to one game")
        yield version, read_statistics(lines)


def _settings(options: GnubgOptions, jacoby: bool, cube: bool) -> list[str]:
    return [
        "set player 0 human",
        "set player 1 human",
        "set automatic roll off",
        "set automatic game off",
        "set confirm new off",
        "set confirm save off",
        "set output rawboard off",
        "set threads 1",
        f"set jacoby {'on' if jacoby else 'off'}",
        f"set analysis chequerplay evaluation plies {options.plies}",
        f"set analysis cubedecision evaluation plies {options.plies}",
        f"set analysis chequerplay evaluation cubeful {'on' if cube else 'off'}",
        "set analysis luckanalysis plies 0",
    ]
