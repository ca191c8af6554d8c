"""What the plays and cube decisions of two bots cost by another engine's judgement: games played, judged, summed up.

Rates are in millipoints a decision of equity normalised to a cube of 1 (GNU Backgammon's mEMG), standard errors by
games (`ratios`). GNU Backgammon counts plays that had a choice, and cube decisions that were close or were taken.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import torch
from rich.table import Table

from ..env.formats import Format
from ..env.notation import MatchRecord, Roll, match_text
from .bots import Bot
from .match_log import MatchLog, match_record
from .outside import BotFailedError
from .outside.failure import EngineError
from .outside.gnubg_analysis import GameStatistics, GnubgOptions, SideStatistics, analyse_games, find_gnubg
from .players import BotPlayer
from .ratios import Rate, rate
from .referee import Referee

__all__ = ["ErrorRates", "SideErrors", "error_table", "judge_games", "play_games", "record_names"]

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class SideErrors:
    """One bot's mistakes.

    Attributes:
        play: millipoints an unforced play. cube: millipoints a cube decision that was close or taken.
        overall: millipoints a decision of either kind.
        performance: half of that, the number that is called PR: 500 times what a decision loses.
        snowie: all that was lost, in millipoints, by the plays of both sides, forced ones included.
        loss_per_game: points lost by mistakes, a game.
        luck_adjusted: points a game less the luck of the dice, by the same judge; None for matches.
        result: points a game as they fell; None for matches.
    """

    play: Rate
    cube: Rate
    overall: Rate
    performance: Rate
    snowie: Rate
    loss_per_game: Rate
    result: Rate | None
    luck_adjusted: Rate | None


@dataclass(frozen=True)
class ErrorRates:
    """A session, judged.

    Attributes:
        names: of the two sides. judge: name and version of the engine. plies: how deep it looked.
        num_games: games judged.
        match_length: 0 for money games. jacoby: were they played by that rule?
        sides: what either side lost.
        stopped: why not all games were judged, an empty text if they were.
    """

    names: tuple[str, str]
    judge: str
    plies: int
    num_games: int
    match_length: int
    jacoby: bool
    sides: tuple[SideErrors, SideErrors]
    stopped: str = ""

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        return asdict(self)


def record_names(first: str, second: str) -> tuple[str, str]:
    """Two names that ``.mat`` can hold and that differ, from the specifications of two bots."""
    one, other = (" ".join(re.findall(r"[\w.-]+", name))[:22].strip() or "bot" for name in (first, second))
    return one, f"{other} 2" if other == one else other


def play_games(
    bots: tuple[Bot, Bot], options: Format, num_games: int, seed: int = 0, progress: Progress | None = None
) -> tuple[list[MatchRecord], str]:
    """Records of ``num_games`` money games in one session, or of as many matches; and why there are fewer, if so.

    A bot that stops the session leaves the finished games; `BotFailedError` if there are none.
    """
    names = record_names(bots[0].name, bots[1].name)
    logs: list[MatchLog] = []
    done, stopped = 0, ""
    for slot in range(num_games if options.match_length else 1):
        money = 1 if options.match_length else num_games
        referee = Referee((BotPlayer(bots[0]), BotPlayer(bots[1])), options, seed, slot, money)
        logs.append(referee.match.log)
        try:
            while not referee.match.over:
                referee.turn()
                finished = slot if options.match_length else len(referee.match.log.games)
                if progress is not None and finished > done:
                    done = finished
                    progress(done, num_games)
        except BotFailedError as failure:
            stopped = str(failure)
            if not any(log.games for log in logs):
                raise
            break
    return [match_record(log, names) for log in logs if log.games], stopped


def judge_games(
    matches: Sequence[MatchRecord],
    options: GnubgOptions,
    progress: Progress | None = None,
    jacoby: bool = False,
    cube: bool = True,
) -> ErrorRates:
    """Let GNU Backgammon judge all games of ``matches``, which are of the same two sides and rules.

    ``jacoby``: were money games played by that rule? ``cube``: was there one? Without it plays alone are judged.

    If it fails in the midst, the games before count and `ErrorRates.stopped` says why.

    Raises:
        ValueError: the program is missing, or these are no games that it can judge.
        EngineError: it failed before the first game was judged.
    """
    find_gnubg(options.command)
    for match in matches:
        if match.variant != "backgammon":
            raise ValueError(f"analysis: found {match.variant}, wanted backgammon: gnubg judges nothing else")
    found: list[GameStatistics] = []
    version, stopped = "", ""
    total = sum(len(match.games) for match in matches)
    try:
        for match in matches:
            whole = replace(match, games=tuple(game for game in match.games if game.winner is not None))
            judged = analyse_games(match_text(whole), len(whole.games), options, jacoby, cube)
            for game, (version, statistics) in zip(whole.games, judged, strict=True):  # noqa: B007  # the last one counts
                _check_plays(statistics, [action for action in game.actions if isinstance(action, Roll)])
                found.append(statistics if cube else _without_cubes(statistics))
                if progress is not None:
                    progress(len(found), total)
    except EngineError as error:
        if not found:
            raise EngineError(f"gnubg: {error}") from None
        stopped = f"gnubg: {error}"
    length = matches[0].match_length
    sides = [_sum_up(found, player, money=not length) for player in (0, 1)]
    judge = f"GNU Backgammon {version}"
    return ErrorRates(matches[0].names, judge, options.plies, len(found), length, jacoby, (sides[0], sides[1]), stopped)


def _without_cubes(statistics: GameStatistics) -> GameStatistics:
    """GNU Backgammon always judges cubes; where there was none to turn, nothing was missed."""
    first, second = (replace(side, cubes=0, cube_loss=0.0) for side in statistics)
    return first, second


def _check_plays(statistics: GameStatistics, rolls: Sequence[Roll]) -> None:
    """GNU Backgammon drops what it cannot read and goes on; then it has judged another game than was played."""
    for player, side in enumerate(statistics):
        wanted = sum(roll.player == player and roll.hops is not None for roll in rolls)
        if side.plays != wanted:
            raise EngineError(f"has read {side.plays} plays of player {player}, wanted {wanted}")


def _sum_up(games: Sequence[GameStatistics], player: int, money: bool) -> SideErrors:
    own = [game[player] for game in games]

    def column(read: Callable[[SideStatistics], float], sides: Sequence[SideStatistics] = own) -> torch.Tensor:
        return torch.tensor([read(side) for side in sides], dtype=torch.float64)

    play_loss, cube_loss = column(lambda side: side.play_loss), column(lambda side: side.cube_loss)
    unforced, cubes = column(lambda side: side.unforced), column(lambda side: side.cubes)
    all_plays = sum(column(lambda side: side.plays, [game[seat] for game in games]) for seat in (0, 1))
    assert isinstance(all_plays, torch.Tensor)
    ones, loss = torch.ones(len(own), dtype=torch.float64), play_loss + cube_loss
    overall = rate(loss, unforced + cubes)
    return SideErrors(
        play=rate(play_loss, unforced).times(1000),
        cube=rate(cube_loss, cubes).times(1000),
        overall=overall.times(1000),
        performance=overall.times(500),
        snowie=rate(loss, all_plays).times(1000),
        loss_per_game=rate(loss, ones),
        result=rate(column(lambda side: side.result), ones) if money else None,
        luck_adjusted=rate(column(lambda side: side.luck_adjusted), ones) if money else None,
    )


def error_table(rates: ErrorRates) -> Table:
    """Both sides beside each other, ± one standard error."""
    what = f"matches to {rates.match_length}" if rates.match_length else "money games"
    title = f"{rates.num_games} games ({what}) judged by {rates.judge}, {rates.plies}-ply"
    table = Table(title=title, title_justify="left", caption_justify="left")
    table.caption = "millipoints a decision (mEMG), ± one standard error by games"
    table.add_column("")
    for name in rates.names:
        table.add_column(name, justify="right")
    rows = {
        "checker play": [str(side.play) for side in rates.sides],
        "  unforced plays": [str(side.play.count) for side in rates.sides],
        "cube": [str(side.cube) for side in rates.sides],
        "  close or actual decisions": [str(side.cube.count) for side in rates.sides],
        "overall": [str(side.overall) for side in rates.sides],
        "PR (half of that)": [str(side.performance) for side in rates.sides],
        "Snowie error rate": [str(side.snowie) for side in rates.sides],
        "lost by mistakes, points a game": [str(side.loss_per_game) for side in rates.sides],
    }
    if not rates.match_length:
        rows["points a game"] = [str(side.result) for side in rates.sides]
        rows["  less luck"] = [str(side.luck_adjusted) for side in rates.sides]
    for label, cells in rows.items():
        table.add_row(label, *cells)
    return table
