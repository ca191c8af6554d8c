"""Any engine that speaks the Universal Backgammon Interface, v0.1 or v0.2, on its standard input and output.

The protocol (shared by several engines and duel tools; lines of text, ``docs/bots.md`` shows a game) has no question
about a take, so these bots play without a cube. Lines that are not asked for are ignored, ``error`` ends the game,
save of an unknown or unsupported command: engines need not know of scores.
"""

from __future__ import annotations

import shlex
import time

from ...env.notation import position_id
from .failure import EngineError, OutsideOptions
from .position_bot import PositionBot, Question
from .process import Child

__all__ = ["UbgiBot"]

_TOLERATED = ("error unknown_command", "error unsupported")


class UbgiBot(PositionBot):
    """One process, started with the first question and again after a failure."""

    knows_cube = False

    def __init__(self, name: str, options: OutsideOptions, command: str) -> None:
        """``command`` is cut as a shell would; ``ValueError`` if that is not possible."""
        super().__init__(name, options)
        try:
            self._command = shlex.split(command)
        except ValueError as error:
            raise ValueError(f"bot: {name}: the command cannot be read: {error}") from None
        self._child: Child | None = None
        self._session: list[str] = []

    def ask_play(self, question: Question) -> str:
        """See `PositionBot`."""
        state = question.state
        assert state.dice is not None
        first, second = state.dice
        deadline = time.monotonic() + self.options.time_limit
        try:
            child = self._started(deadline)
            child.discard()
            if (session := _session(question)) != self._session:
                self._send(child, ["newgame", *session, "isready"], deadline)
                self._expect(child, "readyok", deadline)
                self._session = session
            asked = [f"position gnubgid {position_id(state.board)}", f"dice {first} {second}", "go role chequer"]
            self._send(child, asked, deadline)
            return self._expect(child, "bestmove", deadline)
        except EngineError:
            self._stop()
            raise

    def ask_cube(self, question: Question) -> bool:
        """Never asked."""
        raise AssertionError("asked about the cube")

    def _started(self, deadline: float) -> Child:
        """The engine, after its greeting."""
        if self._child is None:
            self._child = Child(self._command)
            self._session = []
            self._send(self._child, ["ubgi"], deadline)
            self._expect(self._child, "ubgiok", deadline)
        return self._child

    def _stop(self) -> None:
        if self._child is not None:
            self._child.close()
        self._child = None

    @staticmethod
    def _send(child: Child, lines: list[str], deadline: float) -> None:
        child.send("".join(f"{line}\n" for line in lines).encode(), deadline)

    @staticmethod
    def _expect(child: Child, word: str, deadline: float) -> str:
        """What follows ``word`` on the first line that begins with it."""
        while True:
            line = child.read_line(deadline)
            found, _, rest = line.partition(" ")
            if found == word:
                return rest
            if found == "error" and not line.startswith(_TOLERATED):
                raise EngineError(f"answered {line[:200]!r}")


def _session(question: Question) -> list[str]:
    """The lines about what is played: money, or the score of a match with a cube that nobody turns."""
    state = question.state
    if not state.match_length:
        return ["newsession type money jacoby off"]
    crawford = "on" if state.crawford else "off"
    return [
        f"newsession type match length {state.match_length} crawford {crawford}",
        f"setscore {state.score[0]} {state.score[1]}",
        "setcube value 1 owner center",
        "setturn p1",
    ]
