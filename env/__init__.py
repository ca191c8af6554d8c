"""Rules, cube and match play of backgammon and its sister games, batched on the device."""

from .board import flip, outcome, pip_counts, start_boards
from .cube import Cube
from .games import GameEnd, GameOptions, Games
from .movegen import afterstates
from .variants import VARIANTS, Variant, get_variant

__all__ = [
    "VARIANTS",
    "Cube",
    "GameEnd",
    "GameOptions",
    "Games",
    "Variant",
    "afterstates",
    "flip",
    "get_variant",
    "outcome",
    "pip_counts",
    "start_boards",
]
