"""What can be set for ``scripts/play.py gnubg`` and ``scripts/play.py ubgi``; the values come from ``configs``."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...env.formats import Format
from .socket_server import ServerOptions

__all__ = ["GnubgServerOptions", "UbgiOptions"]


@dataclass(frozen=True)
class UbgiOptions:
    """``bot`` as an engine; None is the newest model. ``env`` holds what the protocol does not say."""

    env: Format = field(default_factory=Format)
    bot: str | None = None
    device: str = "cpu"

    def __post_init__(self) -> None:
        _check_can_be_said(self.env)


@dataclass(frozen=True)
class GnubgServerOptions(ServerOptions):
    """``bot`` as an external player; None is the newest model. ``env`` holds what the protocol does not say."""

    env: Format = field(default_factory=Format)
    bot: str | None = None
    device: str = "cpu"

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_can_be_said(self.env)


def _check_can_be_said(rules: Format) -> None:
    if rules.variant != "backgammon":
        raise ValueError(f"env.variant: found {rules.variant}, wanted backgammon, which is all the protocol can say")
    if rules.refereed or rules.match_length:
        raise ValueError("env: found a match, a clock, pairs or a referee, wanted none: who asks says what is played")
