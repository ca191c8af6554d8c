"""Bots, arena, luck, statistics, ladders and reference positions."""

from .arena import Record, play_deals
from .bots import Bot, ModelBot, PipCountBot, RandomBot, make_bot, newest_model
from .ladder import Ladder
from .luck import Luck, make_luck
from .reference_report import ReferenceReport, reference_report
from .results import ArenaResult, SideResult, compare_bots
from .session import SessionOptions
from .session_file import SessionFile
from .statistics import Interval, normal_interval
from .tables import arena_table, reference_table

__all__ = [
    "ArenaResult",
    "Bot",
    "Interval",
    "Ladder",
    "Luck",
    "ModelBot",
    "PipCountBot",
    "RandomBot",
    "Record",
    "ReferenceReport",
    "SessionFile",
    "SessionOptions",
    "SideResult",
    "arena_table",
    "compare_bots",
    "make_bot",
    "make_luck",
    "newest_model",
    "normal_interval",
    "play_deals",
    "reference_report",
    "reference_table",
]
