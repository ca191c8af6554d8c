"""Playing against a bot."""

from .session import Event, Phase, Session
from .terminal import Terminal
from .tutor import Tutor

__all__ = ["Event", "Phase", "Session", "Terminal", "Tutor"]
