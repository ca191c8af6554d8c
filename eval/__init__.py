"""Bots, arena, statistics and reference positions."""

from .arena import Record, play_deals
from .bots import Bot, ModelBot, PipCountBot, RandomBot, make_bot, newest_model
from .reference_report import ReferenceReport, reference_report
from .results import ArenaResult, SideResult, compare_bots
from .statistics import Interval, normal_interval
from .tables import arena_table, reference_table

__all__ = [
    "ArenaResult",
    "Bot",
    "Interval",
    "ModelBot",
    "PipCountBot",
    "RandomBot",
    "Record",
    "ReferenceReport",
    "SideResult",
    "arena_table",
    "compare_bots",
    "make_bot",
    "newest_model",
    "normal_interval",
    "play_deals",
    "reference_report",
    "reference_table",
]
