"""Rules, cube and match play of backgammon and its sister games, batched on the device.

Importing this registers the Gymnasium environments ``nardy/Backgammon-v0``, ``nardy/Sprintgammon-v0`` and
``nardy/Longgammon-v0``.
"""

from .board import flip, outcome, pip_counts, start_boards
from .cube import Cube
from .decisions import Decisions, Phase, Step
from .drawing import board_text
from .games import GameEnd, GameOptions, Games
from .gym import BackgammonEnv
from .gym_vector import BackgammonVectorEnv
from .movegen import afterstates
from .moves import apply_move, move_mask
from .picture import board_picture, board_words
from .variants import VARIANTS, Variant, get_variant

__all__ = [
    "VARIANTS",
    "BackgammonEnv",
    "BackgammonVectorEnv",
    "Cube",
    "Decisions",
    "GameEnd",
    "GameOptions",
    "Games",
    "Phase",
    "Step",
    "Variant",
    "afterstates",
    "apply_move",
    "board_picture",
    "board_text",
    "board_words",
    "flip",
    "get_variant",
    "move_mask",
    "outcome",
    "pip_counts",
    "start_boards",
]
