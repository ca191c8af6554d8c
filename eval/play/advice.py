"""What a model says of the decision on the table, as lines of plain text; the figures are those of `eval.review`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...env.notation import GameState, Offer
from ...models import Evaluator
from ..review import Mistake, PositionReview, review_position
from ..review.tables import (
    chances_line,
    cube_headings,
    cube_line,
    cube_rows,
    play_headings,
    play_rows,
    plays_title,
)
from .session import Phase, Session

__all__ = ["hint_lines", "mistake_line", "review_decision", "table_lines"]


def hint_lines(evaluator: Evaluator, session: Session, count: int = 5) -> list[str]:
    """What the person should do: plays, best first, or the cube action with its equities; chances in percent.

    Equities are in units of the cube, at a match score normalised. Before an answer all of it is as the bot, which
    turned the cube, sees it.
    """
    phase = session.phase
    if phase is Phase.OVER:
        return ["There is nothing to decide."]
    review = review_decision(evaluator, session, count)
    if phase is Phase.MOVE:
        return [plays_title(review), *table_lines(play_headings(review.plays), play_rows(review.plays), left=1)]
    cube = review.cube
    seen = "" if phase in (Phase.CUBE, Phase.BEAVERED) else ", as your opponent sees it"
    if phase is Phase.RESIGNED:
        return [f"Chances{seen}: {chances_line(cube)}"]
    rows = table_lines(["", *cube_headings(cube)], cube_rows(cube), left=0)
    return [f"{cube.action}; equities{seen}", *rows, chances_line(cube)]


def review_decision(evaluator: Evaluator, session: Session, count: int) -> PositionReview:
    """The decision on the table reviewed, ``count`` plays of it; not between games.

    The answer to a beaver is "Take" or "Drop" beside the equities of the double before it.
    """
    review = review_position(evaluator, _before_beaver(session), count, session.second_first)
    if session.phase is not Phase.BEAVERED:
        return review
    answer = "Take" if 2 * review.cube.double_take >= -2 else "Drop"  # a drop costs twice the cube (rules.md 2.9)
    return replace(review, cube=replace(review.cube, action=answer))


def _before_beaver(session: Session) -> GameState:
    """The state, of a beaver on offer as before the double that it answers, which a review looks at."""
    state = session.state
    if state.offer is not Offer.BEAVER:
        return state
    value, owner = int(session.games.cube_value[0]), int(session.games.cube_owner[0])
    return replace(state, offer=Offer.NONE, cube_value=value, cube_owner=(None, state.player, 1 - state.player)[owner])


def mistake_line(mistake: Mistake) -> str:
    """What was done, what it lost, and what would have been better."""
    rank = f" (number {mistake.rank})" if mistake.rank else ""
    seen = "" if mistake.player == mistake.state.player else "for who doubled: "
    values = f" ({seen}{cube_line(mistake)})" if mistake.values else ""
    return f"{mistake.done}{rank} lost {mistake.loss:.3f}; better: {mistake.best}{values}"


def table_lines(headings: Sequence[str], rows: Sequence[Sequence[str]], left: int) -> list[str]:
    """A table, the column ``left`` aligned to the left and the others to the right."""
    whole = [headings, *rows]
    widths = [max(len(row[column]) for row in whole) for column in range(len(headings))]
    return [
        "  "
        + "  ".join(
            cell.ljust(width) if column == left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in whole
    ]
