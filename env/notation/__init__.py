"""Positions, plays, states and whole matches as text that people and other programs read."""

from .errors import NotationError
from .fibs import fibs_board, read_fibs_board
from .mat import match_text
from .mat_reader import read_match_text
from .match_id import gnubg_id, match_id, read_gnubg_id, read_match_id
from .match_walk import game_states
from .moves import Play, find_play, match_play, play_text, play_to, plays, turn_text
from .open_turn import Hand, Reach
from .position_id import position_id, position_letters, read_position_id, read_position_letters
from .record import (
    CubeAction,
    GameRecord,
    MatchRecord,
    Resignation,
    Roll,
    recorded_roll,
    under_rules,
)
from .recorder import Recorder
from .resume import resume, set_up
from .saved import saved_game_text
from .saved_reader import read_saved_game
from .state import GameState, GameStatus, Offer
from .xgid import read_xgid, xgid

__all__ = [
    "CubeAction",
    "GameRecord",
    "GameState",
    "GameStatus",
    "Hand",
    "MatchRecord",
    "NotationError",
    "Offer",
    "Play",
    "Reach",
    "Recorder",
    "Resignation",
    "Roll",
    "fibs_board",
    "find_play",
    "game_states",
    "gnubg_id",
    "match_id",
    "match_play",
    "match_text",
    "play_text",
    "play_to",
    "plays",
    "position_id",
    "position_letters",
    "read_fibs_board",
    "read_gnubg_id",
    "read_match_id",
    "read_match_text",
    "read_position_id",
    "read_position_letters",
    "read_saved_game",
    "read_xgid",
    "recorded_roll",
    "resume",
    "saved_game_text",
    "set_up",
    "turn_text",
    "under_rules",
    "xgid",
]
