"""Reviews as one HTML page that fetches nothing: style inside, boards as text, every text escaped."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from .match import MatchReview
from .position import PositionReview, state_text
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

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
table { border-collapse: collapse; margin: 1rem 0; display: block; overflow-x: auto; }
th, td { padding: .2rem .8rem; border-bottom: 1px solid #ccc; text-align: right; white-space: nowrap; }
th:first-child, td:first-child, td.play { text-align: left; }
pre { font: 14px/1.2 ui-monospace, monospace; overflow-x: auto; background: #f4f1ea; padding: 1rem; }
@media (prefers-color-scheme: dark) { body { background: #1b1b1b; color: #ddd; } pre { background: #2a2a2a; } }
"""


def position_page(review: PositionReview) -> str:
    """The page of one position."""
    parts = ["<h1>Position</h1>", _board(state_text(review.state))]
    if review.plays:
        parts.append(f"<h2>{escape(plays_title(review))}</h2>")
        parts.append(_table(play_headings(review.plays), play_rows(review.plays)))
    parts.append(f"<h2>Cube: {escape(review.cube.action)}</h2>")
    parts.append(_table(["", *cube_headings(review.cube)], cube_rows(review.cube)))
    parts.append(f"<p>{escape(chances_line(review.cube))}</p>")
    return _page("Position", parts)


def match_page(review: MatchReview) -> str:
    """The page of a match."""
    title = " - ".join(review.match.names)
    parts = [f"<h1>{escape(title)}</h1>", _table(["", *review.match.names], match_rows(review))]
    parts.append(f"<h2>{len(review.mistakes)} blunders</h2>")
    for mistake in review.mistakes:
        parts.append(f"<h3>{escape(mistake_title(review, mistake))}</h3>")
        parts.append(_board(state_text(mistake.state, review.match.names)))
        if mistake.plays:
            parts.append(_table(play_headings(mistake.plays), play_rows(mistake.plays)))
        else:
            parts.append(f"<p>{escape(cube_line(mistake))}</p>")
    return _page(title, parts)


def _board(text: str) -> str:
    return f"<pre>{escape(text)}</pre>"


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(heading)}</th>" for heading in headings)
    lines = []
    for row in rows:
        marks = [' class="play"' if heading == "play" else "" for heading in headings]
        cells = "".join(f"<td{mark}>{escape(cell)}</td>" for mark, cell in zip(marks, row, strict=False))
        lines.append(f"<tr>{cells}</tr>")
    return f"<table><tr>{head}</tr>{''.join(lines)}</table>"


def _page(title: str, parts: Sequence[str]) -> str:
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
    body = "\n".join(parts)
    return (
        f'<!doctype html>\n<html lang="en"><head>{head}<title>{escape(title)}</title><style>{_STYLE}</style></head>\n'
        f"<body>\n{body}\n</body></html>\n"
    )
