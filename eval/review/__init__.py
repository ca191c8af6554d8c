"""A model's opinion of positions and of whole matches, for people: best plays, cube actions, error rates, blunders."""

from .match import MatchReview, Mistake, PlayerReview, judge_decision, review_match
from .options import AnalyzeOptions
from .page import match_page, position_page
from .position import CubeReview, PositionReview, RankedPlay, review_position
from .source import read_source, with_rules
from .tables import match_tables, position_tables

__all__ = [
    "AnalyzeOptions",
    "CubeReview",
    "MatchReview",
    "Mistake",
    "PlayerReview",
    "PositionReview",
    "RankedPlay",
    "judge_decision",
    "match_page",
    "match_tables",
    "position_page",
    "position_tables",
    "read_source",
    "review_match",
    "review_position",
    "with_rules",
]
