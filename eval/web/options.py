"""What can be set for ``scripts/play.py web``; the values come from ``configs``."""

from __future__ import annotations

from dataclasses import dataclass

from ...env.variants import get_variant
from ..outside.external_line import check_address

__all__ = ["WebOptions"]


@dataclass(frozen=True)
class WebOptions:
    """Where the page is served, and whom against.

    Attributes:
        host: address to listen on. port: 0 takes a free one.
        any_host: may ``host`` be one that other machines reach? Nothing is encrypted, and nobody is asked who he is.
        bot: the opponent offered first, for its own discipline ``variant``; None is the newest model.
        variant: the discipline of ``bot``.
        device: where models compute.
        tables: games kept at once, one a browser; the one not touched for longest makes room.
        open: show the page in the user's browser.
    """

    host: str = "127.0.0.1"
    port: int = 8080
    any_host: bool = False
    bot: str | None = None
    variant: str = "backgammon"
    device: str = "cpu"
    tables: int = 64
    open: bool = True

    def __post_init__(self) -> None:
        get_variant(self.variant)
        check_address(self.host, self.port, self.any_host)
        if not 1 <= self.tables <= 10_000:
            raise ValueError(f"tables: found {self.tables}, wanted 1 to 10000")
