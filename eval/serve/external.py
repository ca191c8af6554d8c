"""An external player of GNU Backgammon: one line asks, one line answers (``docs/playing.md``)."""

from __future__ import annotations

from ...env.notation import Offer, turn_text
from ..outside import BotFailedError
from ..outside.external_line import MAX_ANSWER, line_text, read_line
from .decisions import Decider

__all__ = ["ExternalPlayer", "error_line"]


class ExternalPlayer:
    """The player behind one connection."""

    def __init__(self, decider: Decider) -> None:
        self._decider = decider
        self._resigned_at = ""

    def answer(self, request: bytes) -> bytes:
        """The line that answers ``request``, one line, its end included; ``Error: ...`` for what cannot be read."""
        try:
            text = self._answer(line_text(request))
        except (ValueError, BotFailedError) as error:
            return error_line(str(error))
        return f"{text}\n".encode("ascii")

    def _answer(self, line: str) -> str:
        question = read_line(line)
        state = question.state
        if question.resignation:
            return "accept" if question.resignation == 3 else "reject"  # GNU Backgammon's own policy for guests
        if state.offer is not Offer.NONE:
            return self._decider.answer(state)
        # Only to GNU Backgammon itself: who adds words asks as one asks its server, which does not resign. Who is
        # asked the same again has been refused.
        if question.bare and self._decider.is_lost(state) and line != self._resigned_at:
            self._resigned_at = line
            return "resign normal"
        if state.dice is None:
            return "double" if self._decider.double(state) else "roll"
        return turn_text(self._decider.play(state).turns[0])


def error_line(reason: str) -> bytes:
    """What tells GNU Backgammon that there is no answer; it prints the line and stops the game."""
    text = " ".join(f"Error: {reason}".split()).encode("ascii", "backslashreplace")
    return text[: MAX_ANSWER - 1] + b"\n"
