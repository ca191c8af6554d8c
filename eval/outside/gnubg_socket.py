"""GNU Backgammon as a server: the program runs ``external HOST:PORT`` and answers board lines.

It serves one client at a time, one line a question and one line an answer, as deep as its own settings say. The
connection is made with the first question and again after a failure.
"""

from __future__ import annotations

import ipaddress
import socket
import time
from dataclasses import replace

from ...env.notation import fibs_board
from .failure import EngineError, OutsideOptions
from .position_bot import PositionBot, Question

__all__ = ["GnubgSocketBot"]

_MAX_LINE = 255  # the protocol's own
_ERROR = "error"


class GnubgSocketBot(PositionBot):
    """One connection to one server."""

    def __init__(self, name: str, options: OutsideOptions, address: str) -> None:
        """``address`` is ``HOST:PORT``; ``ValueError`` if it is not, or another machine's and that is not allowed."""
        super().__init__(name, options)
        host, _, port = address.rpartition(":")
        if not host or not port.isascii() or not port.isdigit() or not 1 <= int(port) <= 65_535:
            raise ValueError(f"bot: {name}: found the address {address!r}, wanted HOST:PORT such as localhost:1234")
        self._address = host.strip("[]"), int(port)
        if not options.any_host and not _is_loopback(self._address[0]):
            raise ValueError(
                f"bot: {name}: found the host {host}, wanted localhost: the line is not encrypted; "
                "outside.any_host=true allows others"
            )
        self._socket: socket.socket | None = None
        self._buffer = b""

    def ask_play(self, question: Question) -> str:
        """See `PositionBot`."""
        return self._ask(_line(question))

    def ask_cube(self, question: Question) -> bool:
        """See `PositionBot`."""
        answers = {"take": True, "drop": False} if question.state.offer else {"double": True, "roll": False}
        answer = self._ask(_line(question))
        if answer.lower() not in answers:
            self._close()
            raise EngineError(f"found {answer[:80]!r}, wanted {' or '.join(answers)}")
        return answers[answer.lower()]

    def _ask(self, line: str) -> str:
        """The answer to one line."""
        deadline = time.monotonic() + self.options.time_limit
        try:
            connection = self._connected(deadline)
            self._expect_silence(connection)
            connection.settimeout(_left(deadline))
            connection.sendall(line.encode("ascii") + b"\n")
            while b"\n" not in self._buffer:
                if len(self._buffer) > _MAX_LINE:
                    raise EngineError(f"found a line of more than {_MAX_LINE} characters")
                connection.settimeout(_left(deadline))
                data = connection.recv(4096)
                if not data:
                    raise EngineError("the server closed the connection")
                self._buffer += data
            answer, _, rest = self._buffer.partition(b"\n")
            if rest.strip(b"\0"):
                raise EngineError("found more than one line in answer to one")
            self._buffer = b""
            text = answer.decode("utf-8", "replace").strip("\0\r \t")
            if text.lower().startswith(_ERROR):
                raise EngineError(f"answered {text[:200]!r}")
        except TimeoutError:
            self._close()
            raise EngineError("no answer within the time limit") from None
        except OSError as error:
            self._close()
            raise EngineError(f"{self._address[0]}:{self._address[1]}: {error.strerror or error}") from None
        except EngineError:
            self._close()
            raise
        return text

    @staticmethod
    def _expect_silence(connection: socket.socket) -> None:
        """Nothing is said unasked: it would be taken for the next answer."""
        connection.setblocking(False)
        try:
            data = connection.recv(_MAX_LINE)
        except BlockingIOError:
            return
        raise EngineError("found a line that was not asked for" if data else "the server closed the connection")

    def _connected(self, deadline: float) -> socket.socket:
        if self._socket is None:
            self._buffer = b""
            self._socket = socket.create_connection(self._address, _left(deadline))
        return self._socket

    def _close(self) -> None:
        if self._socket is not None:
            self._socket.close()
        self._socket = None


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _line(question: Question) -> str:
    """The board line: the mover is player 1, whose checkers are positive.

    The server takes the points of the player with the positive checkers from the second place, where our line has those
    of the player named second; so the score is written the other way round.
    """
    state = question.state
    rules = f"jacobyrule {'on' if state.jacoby else 'off'} beavers off"
    board = fibs_board(replace(state, score=state.score[::-1]), ("nardy", "gnubg"))
    return f"{board} {rules}"
