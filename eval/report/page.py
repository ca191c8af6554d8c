"""A report as one HTML page that needs nothing else: no script, no font, no picture from anywhere.

Every text that comes from a file or a name is escaped; a content security policy forbids all but the page's own style.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from ...env.picture import board_picture, board_words
from ...env.shapes import to_svg
from .build import Report
from .chart_svg import chart_svg
from .charts import Chart
from .decisions import ACTIONS, Confusion, WorstPlay
from .files import MatchFigures
from .frame import html_page
from .style import BEST_MOVE, MOVE_MADE

__all__ = ["page_html"]


def page_html(report: Report, made: str = "") -> str:
    """The whole page; ``made`` stands at its foot."""
    sections = {title: body for title, body in _sections(report) if body}
    links = "".join(f'<li><a href="#{_anchor(title)}">{escape(title)}</a></li>' for title in sections)
    bodies = "\n".join(
        f'<section id="{_anchor(title)}">\n<h2>{escape(title)}</h2>\n{body}\n</section>'
        for title, body in sections.items()
    )
    card = "".join(f"<div><dt>{escape(label)}</dt><dd>{escape(text)}</dd></div>" for label, text in report.card)
    body = f"""<header>
<h1>{escape(report.title)}</h1>
<p class="lead">A network that plays {escape(report.variant)}, and what it is worth.</p>
<dl class="card">{card}</dl>
<nav aria-label="Sections"><ul>{links}</ul></nav>
{_missing(report)}
</header>
<main>
{bodies}
</main>
<footer>{escape(made)}</footer>"""
    return html_page(f"{report.title} – nardy report", body)


def _anchor(title: str) -> str:
    return title.lower().replace(" ", "-")


def _sections(report: Report) -> Iterable[tuple[str, str]]:
    charts = report.charts()
    yield "Learning curves", _charts(charts.get("learning", ()))
    yield "Points against opponents", _points(report.matches, charts.get("points", ()))
    yield "Calibration", _calibration(report, charts.get("calibration", ()))
    yield "Losses", _losses(report, charts.get("losses", ()))
    yield "Error rate by another engine", _error_rates(report.error_rates)
    yield "Cube decisions", _cubes(report)
    yield "Worst plays", _worst(report)


def _missing(report: Report) -> str:
    items = [f"<li>{escape(what)}: {escape(why)}</li>" for what, why in report.missing]
    items += [f"<li>file {escape(name)}: {escape(why)}; left out</li>" for name, why in report.ignored.items()]
    if not items:
        return ""
    return f'<div class="missing"><strong>Not in this report</strong><ul>{"".join(items)}</ul></div>'


def _charts(charts: Sequence[Chart]) -> str:
    if not charts:
        return ""
    drawn = "\n".join(chart_svg(chart) for chart in charts)
    return f'<div class="charts">\n{drawn}\n</div>'


def _table(caption: str, heads: Sequence[str], rows: Sequence[Sequence[str]], own: int | None = None) -> str:
    """A table of texts, the first column heading the rows; ``own``: the row to be set off."""
    head = "".join(f'<th scope="col">{escape(text)}</th>' for text in heads)
    body = []
    for number, (first, *cells) in enumerate(rows):
        mark = ' class="own"' if number == own else ""
        inner = "".join(f"<td>{escape(cell)}</td>" for cell in cells)
        body.append(f'<tr{mark}><th scope="row">{escape(first)}</th>{inner}</tr>')
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(caption)}"><table>'
        f"<caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table></div>"
    )


def _tables(tables: Sequence[str], note: str) -> str:
    return f'<div class="tables">{"".join(tables)}</div><p class="note">{escape(note)}</p>'


def _signed(value: float, digits: int = 3) -> str:
    return f"{value:+.{digits}f}".replace("-", "−")


def _points(matches: Sequence[MatchFigures], charts: Sequence[Chart]) -> str:
    if not matches:
        return _charts(charts)
    rows = [
        (
            match.bot,
            match.opponent,
            match.kind,
            _signed(match.mean),
            "" if match.half_width is None else f"± {match.half_width:.3f}",
            *_less_luck(match),
            f"{match.num_games:,}",
            match.file,
        )
        for match in matches
    ]
    heads = ("bot", "opponent", "played", "mean", "95 %", "less luck", "95 %", "games", "from")
    note = "<p>Every deal was played twice with the seats swapped. Points a game; of matches, won less lost.</p>"
    return note + _charts(charts) + _table("All sessions", heads, rows)


def _less_luck(match: MatchFigures) -> tuple[str, str]:
    if match.adjusted is None:
        return "", ""
    width = match.adjusted_half_width
    return _signed(match.adjusted), "" if width is None else f"± {width:.3f}"


def _calibration(report: Report, charts: Sequence[Chart]) -> str:
    if not charts:
        return ""
    number = f"{report.calibration_games:,}"
    return (
        f"<p>What the model predicted before each roll of {number} cubeless games against itself, beside how often it "
        "came true. A tenth of the predictions is in each point; intervals are 95 %, by games. On the dashed line both "
        "are the same.</p>" + _charts(charts)
    )


def _losses(report: Report, charts: Sequence[Chart]) -> str:
    parts = [_charts(charts)]
    if report.reference is not None:
        parts.append(_reference_tables(report.reference, report.reference_source))
    if report.exact is not None:
        parts.append(_exact_tables(report.exact, report.exact_source))
    return "\n".join(part for part in parts if part)


def _reference_tables(values: Mapping[str, Any], source: str) -> str:
    classes = list(values["checker"]["by_class"])
    players = {name: player["checker"] for name, player in values.get("known", {}).items()}
    name = str(values.get("model") or "this model")
    rows = sorted([*players.items(), (name, values["checker"])], key=lambda row: -row[1]["natural"])
    own = next(place for place, row in enumerate(rows) if row[1] is values["checker"])
    cells = [
        (label, *(f"{losses['by_class'].get(part, 0):.1f}" for part in classes), f"{losses['natural']:.1f}")
        for label, losses in rows
    ]
    caption = "Checker plays: millipoints lost a decision, by class and as classes come up in games"
    tables = [_table(caption, ("", *classes, "natural"), cells, own)]
    cube = [
        (state, f"{losses['double']:.1f}", f"{losses['take']:.1f}", str(losses["positions"]))
        for state, losses in values["cube"]["model"].items()
    ]
    heads = ("cube", "double", "take", "positions")
    tables.append(_table("Cube decisions: millipoints lost a decision", heads, cube))
    bearoff = values["bearoff"]
    exact = [("plays", f"{bearoff['play']:.2f}")]
    exact += [(f"equity, {name}, rms error", f"{1000 * error:.1f}") for name, error in bearoff["rms_equity"].items()]
    tables.append(_table("Bear-off against exact databases", ("", "millipoints"), exact))
    return _tables(tables, f"From {source}.")


def _exact_tables(values: Mapping[str, Any], source: str) -> str:
    tables = []
    for part, words in (("games", "games between exact players"), ("legal", "legal positions")):
        sample = values[part]
        rows = []
        for name, plays in sample["plays"].items():
            cube = sample["cube"].get(name)
            answers = ("", "") if cube is None else (f"{cube['double']:.2f}", f"{cube['take']:.2f}")
            rows.append((name, f"{plays['loss']:.2f} ± {1.96 * plays['standard_error']:.2f}", *answers))
        caption = f"Against the exact solution, {words}: millipoints lost a decision"
        tables.append(_table(caption, ("cube", "play", "double", "take"), rows))
    return _tables(tables, f"From {source}.")


def _error_rates(files: Mapping[str, Mapping[str, Any]]) -> str:
    tables = []
    for file, values in files.items():
        rows = []
        for label, key in (
            ("checker play, millipoints a decision", "play"),
            ("cube, millipoints a decision", "cube"),
            ("overall, millipoints a decision", "overall"),
            ("PR", "performance"),
            ("Snowie error rate", "snowie"),
        ):
            rows.append((label, *(_rate(side[key]) for side in values["sides"])))
        caption = f"{values['num_games']} games judged by {values['judge']}, {values['plies']}-ply ({file})"
        tables.append(_table(caption, ("", *map(str, values["names"])), rows))
    return _tables(tables, "± one standard error, by games. PR is half of the overall rate.") if tables else ""


def _rate(values: Mapping[str, Any]) -> str:
    if not values.get("count", 1):
        return "–"
    error = values.get("standard_error")
    return f"{values['mean']:.2f}" + (f" ± {error:.2f}" if isinstance(error, int | float) else "")


def _cubes(report: Report) -> str:
    if not report.cubes:
        return ""
    judge = "GNU Backgammon 2-ply" if report.variant == "backgammon" else report.judge
    tables = "".join(_confusion(name, found) for name, found in report.cubes.items())
    return (
        f"<p>What is right by {escape(judge)}, in rows, and what the model would do on both sides, in columns: "
        "positions, and below the points that they lost all together. What costs "
        "nothing counts as right. “Too good” is a position to play on for a gammon "
        f'because a double would be dropped.</p><div class="confusion">{tables}</div>'
    )


def _confusion(name: str, found: Confusion) -> str:
    heads = "".join(f'<th scope="col">{escape(action)}</th>' for action in ACTIONS)
    body = []
    for right, label in enumerate(ACTIONS):
        cells = []
        for chosen in range(len(ACTIONS)):
            number, lost = found.counts[right][chosen], found.losses[right][chosen]
            kind = "" if not number else (' class="right"' if right == chosen else ' class="wrong"')
            small = f"<small>{lost:.2f}</small>" if lost > 0.005 else ""
            cells.append(f"<td{kind}>{number or '·'}{small}</td>")
        body.append(f'<tr><th scope="row">{escape(label)}</th>{"".join(cells)}</tr>')
    caption = f"Cube {name}, {found.number:,} positions"
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(caption)}"><table>'
        f'<caption>{escape(caption)}</caption><thead><tr><th scope="col">right \\ model</th>{heads}</tr></thead>'
        f"<tbody>{''.join(body)}</tbody></table></div>"
    )


def _worst(report: Report) -> str:
    if not report.worst:
        return ""
    plays = "\n".join(_play(number, play, report.variant) for number, play in enumerate(report.worst, start=1))
    return f"<p>The plays that cost most, cubeless, judged by {escape(report.judge)}. Dark is to play.</p>\n{plays}"


def _play(number: int, play: WorstPlay, variant: str) -> str:
    dice = f"{play.dice[0]}-{play.dice[1]}"
    pictures = []
    for who, text, hops, equity, fill in (
        ("The model", play.chosen_text, play.chosen_hops, play.chosen_equity, MOVE_MADE),
        ("Best", play.best_text, play.best_hops, play.best_equity, BEST_MOVE),
    ):
        picture = board_picture(
            play.board,
            dice=play.dice,
            cube_value=0,
            names=("to play", "opponent"),
            variant=variant,
            hops=hops,
            hops_fill=fill,
        )
        title = f"Worst play {number}, {dice}. {who}: {text}"
        drawn = to_svg(picture, title, board_words(play.board, variant, play.dice))
        pictures.append(
            f"<figure>{drawn}<figcaption>{who}: <strong>{escape(text)}</strong>, equity {_signed(equity)}</figcaption>"
            "</figure>"
        )
    return (
        f'<article class="play"><h3>{number}. {dice}: {play.loss:.3f} points lost</h3>'
        f'<div class="boards">{"".join(pictures)}</div></article>'
    )
