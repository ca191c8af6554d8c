"""Bots served to other programs, the tasks ``gnubg`` and ``ubgi`` of ``scripts/play.py``."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO

from nardy.env.formats import Format
from nardy.eval.bots import make_bot, newest_model
from nardy.eval.results import check_bots
from nardy.eval.serve import Decider, ExternalPlayer, UbgiEngine, converse, serve
from nardy.eval.serve.options import GnubgServerOptions, UbgiOptions
from nardy.scripts.device import choose_device

__all__ = ["serve_gnubg", "serve_ubgi"]


def serve_gnubg(options: GnubgServerOptions) -> None:
    """Listen until Ctrl-C."""
    decider = _decider(options.bot, options.env, options.device)

    def ready(port: int) -> None:
        host = "localhost" if options.host == "127.0.0.1" else options.host
        print(f"{decider.bot.name} listens on {options.host}:{port}, Ctrl-C ends it.")
        print(f"In GNU Backgammon: set player 0 external {host}:{port}", flush=True)

    with suppress(KeyboardInterrupt):
        asyncio.run(serve(options, lambda: ExternalPlayer(decider).answer, ready))
    print("Stopped.")


def serve_ubgi(options: UbgiOptions) -> None:
    """Answer standard input until it ends or says ``quit``."""
    with _own_output() as sink, suppress(KeyboardInterrupt, BrokenPipeError):
        converse(UbgiEngine(_decider(options.bot, options.env, options.device)), sys.stdin.buffer, sink)


def _decider(name: str | None, rules: Format, device: str) -> Decider:
    bot = make_bot(name or f"model:{newest_model(rules.variant)}", rules.variant, choose_device(device).device)
    check_bots(rules, bot)
    return Decider(bot, rules.rules)


@contextmanager
def _own_output() -> Iterator[BinaryIO]:
    """Standard output for the protocol alone: whatever else is printed, by any library, goes to standard error."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        with os.fdopen(os.dup(kept), "wb") as sink:
            yield sink
    finally:
        os.dup2(kept, 1)
        os.close(kept)
