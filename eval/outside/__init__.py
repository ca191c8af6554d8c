"""Bots that are somebody else's program: a process, a package in a process of its own, a server."""

from .bot import OutsideBot
from .failure import BotFailedError, OutsideOptions
from .specification import OUTSIDE_BOTS, make_outside_bot

__all__ = ["OUTSIDE_BOTS", "BotFailedError", "OutsideBot", "OutsideOptions", "make_outside_bot"]
