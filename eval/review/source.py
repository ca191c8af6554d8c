"""What a user hands over for analysis: an identifier of a position, or a file with a match."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ...env.notation import (
    GameState,
    GameStatus,
    MatchRecord,
    NotationError,
    Offer,
    read_gnubg_id,
    read_match_text,
    read_saved_game,
    read_xgid,
)
from ...env.notation.mat import HYPERGAMMON

__all__ = ["check_position", "file_names_variant", "read_source", "with_rules"]

_SUFFIXES = (".mat", ".txt", ".json")
_MAX_BYTES = 16_000_000
_WANTED = "an XGID, a GNUbg id (Position ID, Match ID or both) or a match file (.mat, or .json of a saved game)"


def read_source(text: str, variant: str | None = None) -> GameState | MatchRecord:
    """The position or the match that ``text`` names; ``variant`` None takes the file's own, else backgammon.

    `NotationError` says what was found and wanted, ``OSError`` that a file cannot be read.
    """
    path = Path(text)
    if path.suffix.lower() in _SUFFIXES or _is_file(path):
        return _read_file(path, variant)
    if text.startswith("XGID=") or text.count(":") > 1:
        return read_xgid(text, variant or "backgammon")
    if all(len(part) in (12, 14) for part in text.split(":")):
        return read_gnubg_id(text, variant or "backgammon")
    shown = text if len(text) <= 60 else f"{text[:57]}..."
    raise NotationError(f"found {shown!r}, wanted {_WANTED}")


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a text that cannot be a name
        return False


def _read_file(path: Path, variant: str | None) -> MatchRecord:
    size = path.stat().st_size
    if size > _MAX_BYTES:
        raise NotationError(f"{path}: found {size} bytes, wanted at most {_MAX_BYTES}")
    data = path.read_bytes()
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = data.decode("latin-1")  # names in old files
    try:
        if path.suffix.lower() == ".json":
            match = read_saved_game(text)
        else:
            match = read_match_text(text, variant or file_names_variant(text))
    except NotationError as error:
        raise NotationError(f"{path}: {error}") from None
    if variant not in (None, match.variant):
        raise NotationError(f"{path}: found {match.variant}, wanted {variant}")
    return match


def file_names_variant(text: str) -> str:
    """The variant that a ``.mat`` file's headers name, backgammon if none."""
    head = text[:4000].lower()
    return "sprintgammon" if f'[variation "{HYPERGAMMON[1].lower()}' in head else "backgammon"


def check_position(state: GameState) -> None:
    """``NotationError`` unless somebody has a play or a cube decision to make in ``state``."""
    found = None
    if state.status is not GameStatus.PLAYING:
        found = "a game that is not played"
    elif any(side[0] == sum(side) for side in state.board):
        found = "a game that is over"
    elif state.resignation:
        found = "a resignation on offer"
    elif state.offer > Offer.DOUBLE:
        found = f"a {state.offer.name.lower()} on offer"
    if found is not None:
        raise NotationError(f"position: found {found}, wanted dice, a player about to roll, or a double on offer")


def with_rules(state: GameState, jacoby: bool | None, beavers: bool | None) -> GameState:
    """A money game under these rules where it does not say them itself."""
    return replace(
        state,
        jacoby=jacoby if state.jacoby is None else state.jacoby,
        beavers=beavers if state.beavers is None else state.beavers,
    )
