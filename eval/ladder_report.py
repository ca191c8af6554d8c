"""A ladder to look at: a table, and a picture of ratings over training."""

from __future__ import annotations

import io

from rich.table import Table

from .ladder import Ladder
from .statistics import Interval

__all__ = ["draw_ladder", "ladder_table"]


def ladder_table(ladder: Ladder) -> Table:
    """The strongest first."""
    table = Table(title=f"Ratings in {ladder.unit}, 95 % intervals", title_justify="left")
    table.add_column("bot")
    headings = ("rating", "trained games", "pairs", "games")
    for heading in headings:
        table.add_column(heading, justify="right")
    for bot in ladder.order():
        entry, rating = ladder.entries[bot], ladder.ratings.values[bot]
        played = [result for pair, result in zip(ladder.pairs, ladder.results, strict=True) if bot in pair]
        trained = "" if entry.trained_games is None else f"{entry.trained_games:,}"
        games = sum(result.num_games for result in played)
        table.add_row(entry.label, _shown(ladder, rating), trained, str(len(played)), f"{games:,}")
    ratings, elo = ladder.ratings, ladder.unit == "Elo"
    unit, factor = ("% of matches", 100) if elo else ("points a game", 1)
    table.caption = (
        f"{'Bradley-Terry model' if elo else 'least squares'}; {ladder.entries[ratings.zero].label} is 0; results of "
        f"pairs are {factor * ratings.misfit:.2g} {unit} (rms) from what the ratings say, "
        f"{factor * ratings.by_chance:.2g} by chance"
    )
    table.caption_justify = "left"
    return table


def _shown(ladder: Ladder, rating: Interval) -> str:
    if rating.half_width == 0:
        return "0"
    return f"{rating.mean:+.0f} ± {rating.half_width:.0f}" if ladder.unit == "Elo" else str(rating)


def draw_ladder(ladder: Ladder) -> bytes:
    """A PNG: checkpoints over the games they were trained on, a curve a run; the other bots as lines across."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.ticker import EngFormatter

    figure = Figure(figsize=(9, 5.5), layout="constrained")
    axis = figure.subplots()
    runs: dict[str, list[int]] = {}
    for bot, entry in enumerate(ladder.entries):
        if entry.run is not None and entry.trained_games is not None:
            runs.setdefault(entry.run, []).append(bot)
    for run, bots in runs.items():
        ordered = sorted(bots, key=lambda bot: ladder.entries[bot].trained_games or 0)
        games = [ladder.entries[bot].trained_games or 0 for bot in ordered]
        ratings = [ladder.ratings.values[bot] for bot in ordered]
        means, widths = [rating.mean for rating in ratings], [rating.half_width for rating in ratings]
        axis.errorbar(games, means, widths, marker="o", capsize=3, label=run)
    across = [bot for bot in ladder.order() if bot not in {bot for bots in runs.values() for bot in bots}]
    for number, bot in enumerate(across):
        rating, colour = ladder.ratings.values[bot], f"C{(len(runs) + number) % 10}"
        axis.axhline(rating.mean, color=colour, linestyle="--", label=ladder.entries[bot].label)
        axis.axhspan(rating.low, rating.high, color=colour, alpha=0.12, linewidth=0)
    axis.set_xlabel("games trained on")
    axis.xaxis.set_major_formatter(EngFormatter(sep=""))
    axis.set_ylabel(f"rating, {ladder.unit}, 95 % intervals")
    axis.grid(alpha=0.3)
    axis.legend(fontsize="small")
    if not runs:
        axis.set_xticks([])
        axis.set_xlabel("no checkpoints of a run in the pool")
    image = io.BytesIO()
    FigureCanvasAgg(figure).print_figure(image, dpi=110)
    return image.getvalue()
