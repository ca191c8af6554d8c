"""Reviews for a terminal: boards as text, tables by rich."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from .match import MatchReview, Mistake
from .position import CubeReview, PositionReview, RankedPlay, state_text

__all__ = [
    "chances_line",
    "cube_headings",
    "cube_line",
    "cube_rows",
    "match_rows",
    "match_tables",
    "mistake_title",
    "play_headings",
    "play_rows",
    "plays_title",
    "position_tables",
]


def position_tables(review: PositionReview) -> Iterator[RenderableType]:
    """The board, the plays, the cube."""
    yield Text(state_text(review.state))
    if review.plays:
        yield _table(plays_title(review), play_headings(review.plays), play_rows(review.plays), left=(1,))
    title = f"{'Cube before the roll' if review.state.dice else 'Cube'}: {review.cube.action}"
    yield _table(title, ["", *cube_headings(review.cube)], cube_rows(review.cube), left=(0,))
    yield Text(chances_line(review.cube))


def plays_title(review: PositionReview) -> str:
    """How many plays are shown."""
    return f"{len(review.plays)} of {review.num_plays} legal plays, chances in percent"


def chances_line(cube: CubeReview) -> str:
    """Probabilities before the roll, and what they are worth without a cube."""
    labels = ("win", "gammon", "bg", "lose gammon", "lose bg")
    chances = zip(labels, cumulative(cube.outcome), strict=True)
    return f"{', '.join(f'{label} {_percent(chance)}' for label, chance in chances)}; cubeless {cube.cubeless:+.3f}"


def play_headings(plays: Sequence[RankedPlay]) -> list[str]:
    """Heads of `play_rows`; chances are in percent and cumulative, gammons among the wins."""
    chance = ["match"] if plays and plays[0].chance is not None else []
    return ["", "play", "equity", "diff", *chance, "win", "g", "bg", "lose g", "bg"]


def play_rows(plays: Sequence[RankedPlay]) -> list[list[str]]:
    """A row a play."""
    return [
        [
            *(str(play.rank), play.play, f"{play.equity:+.3f}", f"{play.difference:+.3f}" if play.rank > 1 else ""),
            *([] if play.chance is None else [_number(play.chance)]),
            *map(_number, cumulative(play.outcome)),
        ]
        for play in plays
    ]


def cumulative(outcome: Sequence[float]) -> tuple[float, ...]:
    """Win, win a gammon or more, win a backgammon; lose a gammon or more, lose a backgammon."""
    win, gammon, backgammon, _, lose_gammon, lose_backgammon = outcome
    return win + gammon + backgammon, gammon + backgammon, backgammon, lose_gammon + lose_backgammon, lose_backgammon


def cube_headings(cube: CubeReview) -> list[str]:
    """Heads of `cube_rows` but the first."""
    return ["equity", "diff", *([] if cube.chances is None else ["match"])]


def cube_rows(cube: CubeReview) -> list[list[str]]:
    """No double, double and take, double and drop, a beaver; differences from the right action's."""
    labels = ["no double", "double, take", "double, drop"]
    values = [cube.no_double, cube.double_take, cube.double_pass]
    if cube.beaver is not None:
        labels.append("double, beaver")
        values.append(cube.beaver)
    answered = min(values[1:])
    best = max(values[0], answered) if cube.available else values[0]
    rows = [[label, f"{value:+.3f}", f"{value - best:+.3f}"] for label, value in zip(labels, values, strict=True)]
    for row, chance in zip(rows, cube.chances or (), strict=False):
        row.append(_number(chance))
    return rows


def match_tables(review: MatchReview) -> Iterator[RenderableType]:
    """Both players' figures, then the mistakes."""
    match = review.match
    length = f"match to {match.match_length}" if match.match_length else "money games"
    games = f"{len(match.games)} game{'' if len(match.games) == 1 else 's'}"
    yield _table(f"{match.variant}, {length}, {games}", ["", *match.names], match_rows(review), left=(0,))
    for mistake in review.mistakes:
        yield Text(f"\n{mistake_title(review, mistake)}", style="bold")
        yield Text(state_text(mistake.state, match.names))
        if mistake.plays:
            yield _table(None, play_headings(mistake.plays), play_rows(mistake.plays), left=(1,))
        else:
            yield Text(cube_line(mistake))


def match_rows(review: MatchReview) -> list[list[str]]:
    """A row a figure."""
    cost = "match chance lost" if review.match.match_length else "points lost"
    percent = bool(review.match.match_length)

    def lost(value: float) -> str:
        return _percent(value) if percent else f"{value:.3f}"

    kinds = sorted({kind for player in review.players for kind in player.by_kind})
    rows = [
        ["checker plays counted", *(str(p.checker_decisions) for p in review.players)],
        ["  millipoints a play", *(f"{p.checker_rate:.1f}" for p in review.players)],
        ["  equity lost", *(f"{p.checker_loss:.3f}" for p in review.players)],
        [f"  {cost}", *(lost(p.checker_cost) for p in review.players)],
        [f"  blunders ({review.blunder:g} or more)", *(str(p.checker_blunders) for p in review.players)],
        ["cube decisions counted", *(str(p.cube_decisions) for p in review.players)],
        ["  millipoints a decision", *(f"{p.cube_rate:.1f}" for p in review.players)],
        ["  equity lost", *(f"{p.cube_loss:.3f}" for p in review.players)],
        [f"  {cost}", *(lost(p.cube_cost) for p in review.players)],
        ["  blunders", *(str(p.cube_blunders) for p in review.players)],
    ]
    for kind in kinds:
        found = [player.by_kind.get(kind, (0, 0.0)) for player in review.players]
        rows.append([f"  {kind}: times, equity", *(f"{times}, {equity:.3f}" for times, equity in found)])
    rows.append(["performance rating (PR)", *(f"{p.rating:.2f}" for p in review.players)])
    return rows


def mistake_title(review: MatchReview, mistake: Mistake) -> str:
    """Where it was, what was done, what would have been better."""
    name = review.match.names[mistake.player]
    dice = f" {mistake.state.dice[0]}{mistake.state.dice[1]}:" if mistake.state.dice else ":"
    where = f"game {mistake.game}, row {mistake.row}, {name}{dice}"
    rank = f" (number {mistake.rank})" if mistake.rank else ""
    return f"{where} {mistake.done}{rank} lost {mistake.loss:.3f}; better: {mistake.best}"


def cube_line(mistake: Mistake) -> str:
    """The equities of a cube decision."""
    labels = ("no double", "double, take", "double, drop")
    return "; ".join(f"{label} {value:+.3f}" for label, value in zip(labels, mistake.values, strict=True))


def _number(chance: float) -> str:
    """In percent, under a heading that says so."""
    return f"{100 * chance:.1f}"


def _percent(chance: float) -> str:
    return f"{_number(chance)} %"


def _table(title: str | None, headings: list[str], rows: list[list[str]], left: tuple[int, ...]) -> RenderableType:
    """A table under its title; a table's own title would be broken where the columns are narrow."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0))
    for column, heading in enumerate(headings):
        is_left = column in left
        table.add_column(Text(heading), justify="left" if is_left else "right", no_wrap=not is_left)
    for row in rows:
        table.add_row(*map(Text, row))
    return Group("", *([] if title is None else [Text(title, style="bold")]), table)
