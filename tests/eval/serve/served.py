"""A bot served on a free port of this machine, in a thread, as long as a test needs it."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from nardy.eval.serve import ServerOptions, serve

Answer = Callable[[bytes], bytes]


@contextmanager
def served(new_client: Callable[[], Answer], **limits: Any) -> Iterator[int]:
    """The port."""
    ports: list[int] = []
    listening = threading.Event()
    loop = asyncio.new_event_loop()

    def ready(port: int) -> None:
        ports.append(port)
        listening.set()

    task = loop.create_task(serve(ServerOptions(port=0, **limits), new_client, ready))

    def run() -> None:
        with suppress(asyncio.CancelledError):
            loop.run_until_complete(task)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    assert listening.wait(10)
    try:
        yield ports[0]
    finally:
        loop.call_soon_threadsafe(task.cancel)
        thread.join(10)
        assert not thread.is_alive()
        loop.close()


class Client:
    """Sends bytes as they are, reads line by line."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), 10)
        self.lines = self.socket.makefile("rb")

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.lines.close()
        self.socket.close()

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def read(self) -> bytes:
        """The next line with its end, empty at the end of the connection."""
        return self.lines.readline()

    def ask(self, data: bytes) -> bytes:
        self.send(data)
        return self.read()
