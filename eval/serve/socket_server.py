"""A socket on which a line asks and a line answers, for a bounded number of clients with bounded requests.

One thread serves all clients, one question after the other, so a bot is never asked twice at a time. Kept for a client:
what it has sent of one request, and the end of an answer that it has not read.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from ..outside.external_line import MAX_REQUEST, check_address
from .external import error_line

__all__ = ["ServerOptions", "serve"]

Answer = Callable[[bytes], bytes]


@dataclass(frozen=True)
class ServerOptions:
    """Where to listen, and what a client may use up.

    Attributes:
        host: address to listen on. port: 0 takes a free one.
        any_host: may ``host`` be one that other machines reach? Nothing is encrypted, and nobody is asked who he is.
        clients: so many at once; the next one is sent away.
        idle_limit: seconds until the connection of a client is closed that asks nothing, or does not read its answer.
    """

    host: str = "127.0.0.1"
    port: int = 4321
    any_host: bool = False
    clients: int = 16
    idle_limit: float = 3600.0

    def __post_init__(self) -> None:
        check_address(self.host, self.port, self.any_host)
        if not 1 <= self.clients <= 1000:
            raise ValueError(f"clients: found {self.clients}, wanted 1 to 1000")
        if not 0 < self.idle_limit <= 86_400:
            raise ValueError(f"idle_limit: found {self.idle_limit:g}, wanted seconds above 0, at most a day")


async def serve(options: ServerOptions, new_client: Callable[[], Answer], ready: Callable[[int], None]) -> None:
    """Serve until cancelled.

    Args:
        options: where and how.
        new_client: called for each connection, makes what answers its requests.
        ready: called once with the port, as soon as clients can connect.
    """
    conversations: dict[asyncio.Task[None], asyncio.StreamWriter] = {}

    async def meet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        try:
            if len(conversations) >= options.clients:
                writer.write(error_line(f"found {options.clients} clients here already, wanted fewer"))
                return
            conversations[task] = writer
            await _converse(reader, writer, new_client(), options.idle_limit)
        except asyncio.TimeoutError:  # before OSError, which it is one of since Python 3.11
            writer.transport.abort()  # it may not read what is still to be sent
        except OSError:
            pass  # it has gone
        finally:
            conversations.pop(task, None)
            writer.close()

    server = await asyncio.start_server(meet, options.host, options.port, limit=MAX_REQUEST)
    async with server:
        ready(server.sockets[0].getsockname()[1])
        try:
            await server.serve_forever()
        finally:
            for writer in conversations.values():
                writer.transport.abort()  # which ends them; `wait_for` may lose a cancellation (bpo-37658)
            await asyncio.gather(*conversations, return_exceptions=True)


async def _converse(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, answer: Answer, idle_limit: float
) -> None:
    """Answer request after request, in order, until the client leaves or sends too long a one."""
    while True:
        try:
            request = await asyncio.wait_for(reader.readuntil(b"\n"), idle_limit)
        except asyncio.IncompleteReadError:
            return
        except asyncio.LimitOverrunError:
            writer.write(error_line(f"found a request of more than {MAX_REQUEST} bytes"))
            return
        writer.write(answer(request))
        await asyncio.wait_for(writer.drain(), idle_limit)
        await asyncio.sleep(0)  # a client with many requests in one packet lets the others in between
