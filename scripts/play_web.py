"""The page to play on, the task ``web`` of ``scripts/play.py``."""

from __future__ import annotations

import errno
import ipaddress
import socket
import sys
import webbrowser
from contextlib import suppress

from nardy.eval.bots import make_bot, newest_model
from nardy.eval.web import WebOptions
from nardy.scripts.device import choose_device

__all__ = ["is_any", "own_names", "serve_web"]

_CONNECTIONS = 64


def serve_web(options: WebOptions) -> None:
    """Listen until Ctrl-C; ``ValueError`` if the web server's packages are missing."""
    try:
        import uvicorn

        from nardy.eval.web.app import make_app
        from nardy.eval.web.connection import Connection
    except ImportError as error:
        raise ValueError(f'web: found no package {error.name}, wanted: pip install "nardy[web]"') from None
    from nardy.eval.web.lobby import Lobby

    bot = make_bot(
        options.bot or f"model:{newest_model(options.variant)}", options.variant, choose_device(options.device).device
    )
    listener = _listen(options.host, options.port)
    port = listener.getsockname()[1]
    shown = f"[{options.host}]" if ":" in options.host else options.host
    names = None if options.any_host else own_names(shown, port)
    lobby = Lobby(bot, options.variant, options.device, options.tables)
    app = make_app(lobby, names, cookie=f"nardy-{port}")
    address = f"http://{'localhost' if is_any(options.host) else shown}:{port}/"
    print(f"Play at {address}, Ctrl-C ends it.", flush=True)
    if options.open and sys.stdout.isatty():
        webbrowser.open(address)
    server = uvicorn.Server(
        uvicorn.Config(
            app,
            http=Connection,
            log_level="critical",  # of what breaks the protocol nothing is said; what fails here `make_app` logs
            access_log=False,
            server_header=False,
            proxy_headers=False,
            ws="none",
            limit_concurrency=_CONNECTIONS,
            timeout_graceful_shutdown=1,
        )
    )
    with suppress(KeyboardInterrupt):  # which uvicorn raises again once it has stopped
        server.run(sockets=[listener])
    print("Stopped.")


def own_names(shown: str, port: int) -> frozenset[str]:
    """What browsers on this machine call the server in ``Host``; of port 80 they do not speak."""
    hosts = {"localhost", "127.0.0.1", "[::1]", shown}
    return frozenset({f"{host}:{port}" for host in hosts} | (hosts if port == 80 else set()))


def is_any(host: str) -> bool:
    """Does ``host`` stand for all addresses of this machine, and for none that a browser could go to?"""
    try:
        return ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return not host


def _listen(host: str, port: int) -> socket.socket:
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise OSError(f"port: found {port} in use, wanted a free one; port=0 takes one") from None
        why = (error.strerror or str(error)).partition(" (")[0]
        raise OSError(f"host: found {host}, port {port}: {why}; wanted an address of this machine") from None
