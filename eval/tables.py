"""Results as tables for a terminal (rich), one column a session."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from rich.table import Table

from ..env.formats import Format
from .arena import MAX_TURNS
from .cube_losses import CubeComparison, CubeLosses, Less
from .match_log import EVENTS
from .reference import CLASSES
from .reference_report import CubeReport, ReferenceReport
from .results import ArenaResult
from .statistics import Interval

__all__ = ["arena_table", "formula_table", "reference_table"]


def arena_table(results: Mapping[str, ArenaResult], title: str | None = None) -> Table:
    """Sessions of the same two bots side by side; the keys of ``results`` head the columns ("cubeless", "cubeful")."""
    first = next(iter(results.values()))
    table = Table(title=title or f"{first.bot} against {first.opponent}", title_justify="left")
    table.add_column("")
    for heading in results:
        table.add_column(heading, justify="right")

    def row(label: str, cell: str, end_section: bool = False) -> None:
        cells = [cell.format(r=result, **_figures(result)) for result in results.values()]
        table.add_row(label, *cells, end_section=end_section)

    matches = [bool(result.options.match_length) for result in results.values()]
    adjusted = any(result.adjusted is not None for result in results.values())
    if any(matches):
        row("matches won, 95 % interval", "{match_wins}")
        if adjusted:
            row("  less luck", "{adjusted_wins}")
            row("  luck", "{luck_wins}")
    if not all(matches):
        row("points a game, 95 % interval", "{points}")
        if adjusted:
            row("  less luck", "{adjusted}")
            row("  luck", "{luck}")
    if adjusted:
        row("luck by", "{r.luck_by}")
        row("the narrower one", "{narrower}")
    row("intervals by", "{r.points.method}")
    if any(result.until is not None for result in results.values()):
        row("until", "{until}")
    row("games", "{r.num_games}", end_section=True)
    row("won / lost", "{r.side.wins} / {r.other.wins}")
    row("  single games", "{r.side.singles} / {r.other.singles}")
    row("  gammons", "{r.side.gammons} / {r.other.gammons}")
    row("  backgammons", "{r.side.backgammons} / {r.other.backgammons}")
    if any(result.options.cube for result in results.values()):
        row("  by a drop", "{r.side.drop_wins} / {r.other.drop_wins}", end_section=True)
        row("doubled, own / opponent", "{r.side.doubles} / {r.other.doubles}")
        row("taken by opponent / own", "{r.other.takes} / {r.side.takes}")
        if any(result.options.beavers for result in results.values()):
            row("beavered by opponent / own", "{r.other.beavers} / {r.side.beavers}")
        row("games with a turned cube", "{turned:.1%}")
        row("cube at the end, mean", "{r.mean_cube:.2f}", end_section=True)
    if any(result.events is not None for result in results.values()):
        _referee_rows(table, list(results.values()))
    if any(result.side.forfeits or result.other.forfeits for result in results.values()):
        row("forfeited, own / opponent", "{r.side.forfeits} / {r.other.forfeits}")
    if any(result.abandoned_games for result in results.values()):
        row(f"given up after {MAX_TURNS:,} plies", "{r.abandoned_games}")
    row("plies a game", "{r.plies_per_game:.1f}")
    row("decisions a second", "{r.decisions_per_second:,.0f}")
    return table


def _referee_rows(table: Table, results: Sequence[ArenaResult]) -> None:
    """How the matches were conducted, and what was noted of either bot: fallen flags, and whatever else there was."""
    formats = [result.options if isinstance(result.options, Format) else Format() for result in results]
    table.add_row("clock", *(_clock(conduct) for conduct in formats))
    table.add_row("pairs", *("yes" if conduct.pairs else "no" for conduct in formats))
    table.add_row("illegal plays", *(conduct.illegal for conduct in formats))
    noted = [result.events or {} for result in results]
    for kind, words in EVENTS.items():
        counts = [events.get(kind, (0, 0)) for events in noted]
        if kind == "flag" or any(map(any, counts)):
            table.add_row(f"{words}, own / opponent", *(f"{own} / {other}" for own, other in counts))


def _clock(conduct: Format) -> str:
    if not conduct.clock.used:
        return "none"
    return f"{conduct.clock.bank:g} s + {conduct.clock.increment:g} s a turn, {conduct.clock.time}"


def _figures(result: ArenaResult) -> dict[str, object]:
    def shown(found: Interval | None, won: bool, shift: float = 0.5) -> str:
        if found is None or won != bool(result.options.match_length):
            return ""
        return _share(found.scaled(0.5, shift)) if won else str(found)

    narrower = ""
    if result.adjusted is not None:
        narrower = "less luck" if result.best is result.adjusted else "as played: luck explains little of it"
        narrower = narrower if math.isfinite(result.best.half_width) else ""
    return {
        "turned": result.turned_games / max(1, result.num_games),
        "points": shown(result.points, won=False),
        "adjusted": shown(result.adjusted, won=False),
        "luck": shown(result.luck, won=False),
        "match_wins": shown(result.points, won=True),
        "adjusted_wins": shown(result.adjusted, won=True),
        "luck_wins": shown(result.luck, won=True, shift=0.0),
        "narrower": narrower,
        "until": _until(result),
    }


def _share(found: Interval) -> str:
    return f"{100 * found.mean:.1f} ± {100 * found.half_width:.1f} %"


def _until(result: ArenaResult) -> str:
    """The half width wanted, and whether it was reached."""
    if result.until is None:
        return ""
    factor = 0.5 if result.options.match_length else 1.0
    reached = factor * result.best.half_width <= result.until
    return f"± {result.until:g} {'reached' if reached else 'not reached'}"


def reference_table(report: ReferenceReport) -> list[Table]:
    """Losses by class and calibration, then cube decisions."""
    checker = Table(title=f"{report.model} on {report.path}: millipoints lost a decision", title_justify="left")
    for heading in ("", *CLASSES, "natural"):
        checker.add_column(heading, justify="right" if heading else "left", no_wrap=not heading)
    losses, all_positions = report.checker, report.calibration["all"]
    natural = f"{losses.natural:.2f} ± {1.96 * losses.standard_error:.2f}"
    checker.add_row("checker play", *(_number(losses.by_class.get(name)) for name in CLASSES), natural)
    checker.add_row(
        "  decisions", *(str(losses.counts.get(name, 0)) for name in CLASSES), str(sum(losses.counts.values()))
    )
    errors = {name: 1000 * found.rms_equity for name, found in report.calibration.items()}
    checker.add_row(
        "equity, rms error",
        *(_number(errors.get(name)) for name in CLASSES),
        f"{1000 * all_positions.rms_equity:.2f} (all)",
    )
    exact = report.bearoff
    checker.add_row("exact bear-off play", "", "", "", f"{exact.play:.2f}", "")
    for name, error in exact.rms_equity.items():
        checker.add_row(f"exact {name}, rms error", "", "", "", f"{1000 * error:.2f}", "")

    return [
        checker,
        *_cube_tables(report.cube, "cube decisions"),
        *_cube_tables(exact.cube, "cube decisions in the exact two-sided bear-off"),
    ]


def _cube_tables(report: CubeReport, title: str) -> list[Table]:
    """The model's cube decisions and, if it was asked, those of Janowski's formula beside them."""
    cube = Table(title=f"{title}: millipoints lost, share of wrong ones", title_justify="left")
    for heading in ("cube", "double", "wrong", "take", "wrong", "positions"):
        cube.add_column(heading, justify="left" if heading == "cube" else "right")
    for name, found in report.model.items():
        shares = (f"{found.wrong_double:.1%}", f"{found.wrong_take:.1%}")
        cube.add_row(name, f"{found.double:.2f}", shares[0], f"{found.take:.2f}", shares[1], str(found.positions))
    for name in report.refused:
        cube.add_row(name, *("not learned", "", "", "", ""))
    return [cube, formula_table(report.model, report.formula)] if report.formula else [cube]


def formula_table(losses: Mapping[str, CubeLosses], compared: Mapping[str, CubeComparison]) -> Table:
    """A cube head's decisions beside those of Janowski's formula over the same outcomes, by cube state."""
    title = "the same by Janowski's formula over the same outcomes, and how much less the cube head loses"
    table = Table(title=title, title_justify="left", padding=0)  # seven columns on 80
    for heading in ("cube", "double", "Janowski", "less", "take", "Janowski", "less"):
        table.add_column(heading, justify="left" if heading == "cube" else "right", no_wrap=True)
    for name, found in compared.items():
        own, other = losses[name], found.other
        doubles = (f"{own.double:.2f}", f"{other.double:.2f}", _less(found.double))
        table.add_row(name, *doubles, f"{own.take:.2f}", f"{other.take:.2f}", _less(found.take))
    table.caption = "millipoints a decision; paired by position, ± one standard error"
    table.caption_justify = "left"
    return table


def _less(less: Less) -> str:
    return f"{less.mean:+.2f} ± {less.standard_error:.2f}"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"
