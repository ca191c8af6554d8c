"""A browser's connection as uvicorn keeps it, hung up on when the head of a request does not come.

uvicorn itself waits for ever: some dozens of connections that send half a head would shut everybody else out. Bodies
are timed where they are read, in `app`.
"""

from __future__ import annotations

import asyncio
from typing import Any

from h11 import IDLE
from uvicorn.protocols.http.h11_impl import H11Protocol

__all__ = ["HEAD_SECONDS", "Connection"]

HEAD_SECONDS = 10.0


class Connection(H11Protocol):
    """Closed unless the head of each request has come whole ``HEAD_SECONDS`` after it was begun or waited for."""

    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """The first request is waited for."""
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        """See `asyncio.Protocol`."""
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """See `asyncio.Protocol`."""
        super().connection_lost(exc)
        self._stop()

    def _watch(self) -> None:
        """Let the time run while no whole head is there."""
        if self.conn.their_state is not IDLE:
            self._stop()
        elif self._timer is None:
            self._timer = self.loop.call_later(HEAD_SECONDS, self.transport.close)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
