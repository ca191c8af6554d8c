"""A tutor: looks at each decision of the person and says what it lost, and counts over all that was played.

Judged are plays, doubles, rolls where a double was possible, and answers to a double, by `review.judge_decision`;
answers to a beaver and resignations are not. Cost: a call of the model a decision, some ten milliseconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...env.decisions import BEAVER, DOUBLE, DROP, ROLL, TAKE
from ...env.notation import CubeAction, GameState, MatchRecord, Play, Roll
from ...models import Evaluator
from ..review import PlayerReview, judge_decision, review_match
from ..review.tables import match_rows
from .advice import mistake_line, table_lines
from .session import PERSON, Phase, Session

__all__ = ["LEAST", "Decision", "Tutor", "checked_least", "rate_text", "stats_lines"]

LEAST = 0.02  # equity; less is within what a second look by the same model, some plies deeper, may change
_SHOWN = 0.0005  # less is written as 0.000
_WORDS = {DOUBLE: "double", TAKE: "take", DROP: "drop", BEAVER: "beaver"}
_WANTED = "wanted on, off, or the least equity lost to speak of, such as 0.05"


def checked_least(least: float) -> float:
    """``least`` if it can be one; ``ValueError`` if not."""
    if not 0 <= least <= 1:
        raise ValueError(f"tutor_least: found {least}, wanted a number from 0 to 1")
    return least


@dataclass(frozen=True)
class Decision:
    """What the person decides in ``state``; ``second_first`` as in `env.afterstates`."""

    state: GameState
    action: Roll | CubeAction
    second_first: bool


class Tutor:
    """Speaks, while it is ``on``, of decisions that lose ``least`` or more."""

    def __init__(self, on: bool = False, least: float = LEAST) -> None:
        self.on = on
        self.least = checked_least(least)

    def switch(self, text: str) -> str:
        """Obey "on", "off" or a number; nothing turns it round. What it does then, in words."""
        if text in ("on", "off", ""):
            self.on = text == "on" or (not text and not self.on)
        else:
            try:
                self.least, self.on = checked_least(float(text)), True
            except ValueError:
                raise ValueError(f"tutor: found {text[:20]!r}, {_WANTED}") from None
        return f"The tutor speaks of losses from {self.least:g} up." if self.on else "The tutor is silent."

    def look(self, session: Session, done: Play | int) -> Decision | None:
        """The decision of the person to make the play or to take the action ``done``; None if it is not judged."""
        if isinstance(done, Play):
            action: Roll | CubeAction = Roll(PERSON, session.dice, done.turns[0])
        elif done == ROLL and session.may(DOUBLE):
            action = Roll(PERSON, (1, 1), None)  # the dice are not looked at
        elif done in _WORDS and session.phase is not Phase.BEAVERED:
            action = CubeAction(PERSON, _WORDS[done])
        else:
            return None
        return Decision(session.state, action, session.second_first)

    def verdict(self, evaluator: Evaluator, decision: Decision) -> str | None:
        """What it lost, if that is worth speaking of; ``ValueError`` if the model has not learned such games."""
        mistake = judge_decision(evaluator, decision.state, decision.action, decision.second_first)
        if mistake.loss < max(self.least, _SHOWN):
            return None
        return f"Tutor: {mistake_line(mistake)}"


def rate_text(evaluator: Evaluator, match: MatchRecord) -> str | None:
    """The person's mean loss, None without a decision of his; `NotationError` if nothing was played."""
    player = review_match(evaluator, match).players[PERSON]
    decisions = player.checker_decisions + player.cube_decisions
    if not decisions:
        return None
    text = f"You lost {_rate(player):.1f} millipoints a decision"
    return f"{text} in {decisions} decision{'' if decisions == 1 else 's'} (PR {player.rating:.2f})."


def stats_lines(evaluator: Evaluator, match: MatchRecord) -> Sequence[str]:
    """Figures of both sides; `NotationError` if nothing was played."""
    review = review_match(evaluator, match)
    rows = match_rows(review)
    rows.append(["all decisions, millipoints each", *(f"{_rate(player):.1f}" for player in review.players)])
    return table_lines(["", *match.names], rows, left=0)


def _rate(player: PlayerReview) -> float:
    decisions = player.checker_decisions + player.cube_decisions
    return 1000 * (player.checker_loss + player.cube_loss) / max(decisions, 1)
