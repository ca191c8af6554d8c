"""Reviews as one HTML page that fetches nothing: style and drawings inside, every text escaped."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from ..report.frame import html_page
from ..report.style import BEST_MOVE, MOVE_MADE
from .match import MatchReview, Mistake
from .position import PositionReview, RankedPlay, state_svg
from .tables import (
    chances_line,
    cube_headings,
    cube_line,
    cube_rows,
    match_rows,
    mistake_title,
    play_headings,
    play_rows,
    plays_title,
)

__all__ = ["match_page", "position_page"]


def position_page(review: PositionReview) -> str:
    """The page of one position."""
    best = review.plays[0].moves if review.plays else ()
    caption = f"Best: {review.plays[0].play}" if review.plays else review.cube.action
    board = state_svg(review.state, None, caption, best, BEST_MOVE)
    parts = [_boards([(board, caption)])]
    if review.plays:
        parts.append(_plays(plays_title(review), review.plays))
    parts.append(_table(f"Cube: {review.cube.action}", ["", *cube_headings(review.cube)], cube_rows(review.cube)))
    parts.append(f'<p class="note">{escape(chances_line(review.cube))}</p>')
    return _page("Position", parts)


def match_page(review: MatchReview) -> str:
    """The page of a match."""
    names = review.match.names
    parts = [_table("Figures", ["", *names], match_rows(review)), f"<h2>{len(review.mistakes)} blunders</h2>"]
    parts += [_mistake(review, mistake) for mistake in review.mistakes]
    return _page(" – ".join(names), parts)


def _mistake(review: MatchReview, mistake: Mistake) -> str:
    """One blunder: the board with what was played beside that with the best play; equities."""
    names, title = review.match.names, mistake_title(review, mistake)
    if not mistake.plays:
        board = state_svg(mistake.state, names, title)
        caption = f"{mistake.done}; better: {mistake.best}"
        return f"<article><h3>{escape(title)}</h3>{_boards([(board, caption)])}<p>{cube_line(mistake)}</p></article>"
    pairs = (
        ("Played", mistake.done, mistake.moves, MOVE_MADE),
        ("Best", mistake.best, mistake.plays[0].moves, BEST_MOVE),
    )
    boards = [
        (state_svg(mistake.state, names, f"{title}. {who}: {text}", moves, fill), f"{who}: {text}")
        for who, text, moves, fill in pairs
    ]
    return f"<article><h3>{escape(title)}</h3>{_boards(boards)}{_plays('Best plays', mistake.plays)}</article>"


def _boards(boards: Sequence[tuple[str, str]]) -> str:
    """Drawings side by side, each with a caption."""
    figures = (f"<figure>{drawn}<figcaption>{escape(caption)}</figcaption></figure>" for drawn, caption in boards)
    return f'<div class="boards">{"".join(figures)}</div>'


def _plays(caption: str, plays: Sequence[RankedPlay]) -> str:
    """The plays, each heading its row."""
    heads, rows = play_headings(plays)[1:], [row[1:] for row in play_rows(plays)]
    return _table(caption, heads, rows)


def _table(caption: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f'<th scope="col">{escape(text)}</th>' for text in heads)
    body = []
    for first, *cells in rows:
        inner = "".join(f"<td>{escape(cell)}</td>" for cell in cells)
        label = escape(first).replace("  ", "&emsp;")  # what belongs to the row above
        body.append(f'<tr><th scope="row">{label}</th>{inner}</tr>')
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(caption)}"><table>'
        f"<caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table></div>"
    )


def _page(title: str, parts: Sequence[str]) -> str:
    body = "\n".join(parts)
    return html_page(f"{title} – nardy", f"<header><h1>{escape(title)}</h1></header>\n<main>\n{body}\n</main>")
