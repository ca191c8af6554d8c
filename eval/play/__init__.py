"""Playing against a bot."""

from .session import Event, Phase, Session
from .terminal import Terminal

__all__ = ["Event", "Phase", "Session", "Terminal"]
