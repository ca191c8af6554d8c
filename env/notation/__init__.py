"""Positions and plays as text that people and other programs read."""

from .moves import Play, find_play, match_play, play_text, plays

__all__ = ["Play", "find_play", "match_play", "play_text", "plays"]
