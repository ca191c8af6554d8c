"""GNU Backgammon's server for tests: answers board lines in a thread, until it misbehaves as it was told."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from .engine import Board, first_play, text


@dataclass
class Server:
    """What it has been asked, and how it misbehaves after so many answers on a connection."""

    how: str = ""
    answers: int = -1
    lines: list[str] = field(default_factory=list)
    port: int = 0
    connection: socket.socket | None = None

    def answer(self, line: str) -> str:
        """It never doubles and takes every double."""
        fields = line.split(" ", maxsplit=1)[0].split(":")
        dice = int(fields[33]), int(fields[34])
        if fields[40] != "0":
            return "take"
        if dice == (0, 0):
            return "roll"
        return text(first_play(board_of(fields), dice), "bar", "off")


def board_of(fields: list[str]) -> Board:
    """The mover has the positive checkers."""
    cells = [int(cell) for cell in fields[6:32]]
    mine = [max(0, cell) for cell in cells[1:]]
    theirs = [max(0, -cell) for cell in cells[24::-1]]
    return (15 - sum(mine), *mine), (15 - sum(theirs), *theirs)


@contextmanager
def serving(how: str = "", answers: int = -1) -> Iterator[Server]:
    """A server on a free port of this machine."""
    server = Server(how, answers)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server.port = listening.getsockname()[1]
        stop = threading.Event()
        thread = threading.Thread(target=_serve, args=(server, listening, stop), daemon=True)
        thread.start()
        yield server
        stop.set()
        listening.shutdown(socket.SHUT_RDWR)
        if server.connection is not None:
            with suppress(OSError):
                server.connection.shutdown(socket.SHUT_RDWR)
        thread.join(5)


def _serve(server: Server, listening: socket.socket, stop: threading.Event) -> None:
    while True:
        try:
            connection, _ = listening.accept()
        except OSError:
            return
        server.connection = connection
        with connection:
            try:
                _converse(server, connection, stop)
            except OSError:
                continue


def _converse(server: Server, connection: socket.socket, stop: threading.Event) -> None:
    left = server.answers
    for line in connection.makefile("r", encoding="ascii", newline="\n"):
        server.lines.append(line.rstrip("\n"))
        if server.how and left == 0:
            if server.how == "exit":
                return
            while server.how == "hang" and not stop.is_set():
                if not connection.recv(1):
                    return
            replies = {
                "garbage": b"\xff\x00\xfe tulips\n",
                "illegal": b"24/1 24/1\n",
                "error": b"Error: no idea\n",
                "long": b"8/5 " * 100_000,
                "twice": b"24/23\n24/22\n",
            }
            connection.sendall(replies[server.how])
            continue
        left -= 1
        connection.sendall(server.answer(line).encode() + b" \n")
