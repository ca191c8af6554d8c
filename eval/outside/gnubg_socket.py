"""GNU Backgammon as a server: the program runs ``external HOST:PORT`` and answers board lines.

It serves one client at a time, one line a question and one line an answer, as deep as its own settings say. The
connection is made with the first question and again after a failure.
"""

from __future__ import annotations

import socket
import time

from .external_line import MAX_ANSWER, external_line, is_loopback, line_text
from .failure import EngineError, OutsideOptions
from .position_bot import PositionBot, Question

__all__ = ["GnubgSocketBot"]

_CLOSED = "the server closed the connection"
_REOPENING, _KNOCK = 2.0, 0.05  # seconds: how long a server may be between two clients, and from try to try


class GnubgSocketBot(PositionBot):
    """One connection to one server."""

    def __init__(self, name: str, options: OutsideOptions, address: str) -> None:
        """``address`` is ``HOST:PORT``; ``ValueError`` if it is not, or another machine's and that is not allowed."""
        super().__init__(name, options)
        host, _, port = address.rpartition(":")
        if not host or not port.isascii() or not port.isdigit() or not 1 <= int(port) <= 65_535:
            raise ValueError(f"bot: {name}: found the address {address!r}, wanted HOST:PORT such as localhost:1234")
        self._address = host.strip("[]"), int(port)
        if not options.any_host and not is_loopback(self._address[0]):
            raise ValueError(
                f"bot: {name}: found the host {host}, wanted localhost: the line is not encrypted; "
                "outside.any_host=true allows others"
            )
        self._socket: socket.socket | None = None

    def ask_play(self, question: Question) -> str:
        """See `PositionBot`."""
        return self._ask(_line(question))

    def ask_cube(self, question: Question) -> bool:
        """See `PositionBot`."""
        yes, no = ("take", "drop") if question.state.offer else ("double", "roll")
        answer = self._ask(_line(question)).lower()
        if answer == "beaver" and question.state.offer:
            return True  # 1.07 beavers although it is told that there are none; it would take all the more
        if answer not in (yes, no):
            self._close()
            raise EngineError(f"found {answer[:80]!r}, wanted {yes} or {no}")
        return answer == yes

    def _ask(self, line: str) -> str:
        """The answer to one line.

        Between two clients gnubg closes its door and opens another: until then whoever knocks is sent away, even after
        being let in, and knocks again.
        """
        start = time.monotonic()
        while True:
            is_new = self._socket is None
            try:
                return self._exchange(line, start + self.options.time_limit)
            except TimeoutError:
                fault = "no answer within the time limit"
            except ConnectionError as error:
                fault = f"{self._address[0]}:{self._address[1]}: {error.strerror or error}"
                if is_new and time.monotonic() < start + min(_REOPENING, self.options.time_limit):
                    self._close()
                    time.sleep(_KNOCK)
                    continue
            except OSError as error:
                fault = f"{self._address[0]}:{self._address[1]}: {error.strerror or error}"
            except EngineError as error:
                fault = str(error)
            self._close()
            raise EngineError(fault)

    def _exchange(self, line: str, deadline: float) -> str:
        connection = self._connected(deadline)
        self._expect_silence(connection)
        connection.settimeout(_left(deadline))
        connection.sendall(line.encode("ascii") + b"\n")
        answer = bytearray()
        while b"\n" not in answer:
            if len(answer) > MAX_ANSWER:
                raise EngineError(f"found a line of more than {MAX_ANSWER} characters")
            connection.settimeout(_left(deadline))
            data = connection.recv(4096)
            if not data:
                raise ConnectionError(_CLOSED)
            answer += data
        first, _, rest = answer.partition(b"\n")
        if rest.strip(b"\0"):
            raise EngineError("found more than one line in answer to one")
        text = line_text(first)
        if text.lower().startswith("error"):
            raise EngineError(f"answered {text[:200]!r}")
        return text

    @staticmethod
    def _expect_silence(connection: socket.socket) -> None:
        """Nothing is said unasked: it would be taken for the next answer."""
        connection.setblocking(False)
        try:
            data = connection.recv(MAX_ANSWER)
        except BlockingIOError:
            return
        if not data:
            raise ConnectionError(_CLOSED)
        raise EngineError("found a line that was not asked for")

    def _connected(self, deadline: float) -> socket.socket:
        if self._socket is None:
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


def _line(question: Question) -> str:
    return external_line(question.state, ("gnubg", "nardy"))
