"""The ways in which a session begins besides a new game: from a saved game, and from a position's identifier."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ...env import GameOptions
from ...env.notation import GameState, NotationError, gnubg_id, read_gnubg_id, xgid
from ...env.notation.errors import naming
from ...models import Evaluator
from ..bots import Bot
from .files import read_game
from .session import Session

__all__ = ["Beginning", "Opponents", "begin_new", "begin_position", "begin_saved", "identifiers", "position_rules"]

Beginning = tuple[Session, Evaluator | None]
"""A session, and the model that gives hints in it."""

Opponents = Callable[[GameOptions], tuple[Bot, Evaluator | None]]
"""Who plays, and who gives hints, under given rules; ``ValueError`` if nobody knows them."""


def begin_new(rules: GameOptions, opponents: Opponents, seed: int) -> Beginning:
    """A session from the start."""
    bot, adviser = opponents(rules)
    return Session(bot, rules, seed), adviser


def begin_saved(name: str, opponents: Opponents, seed: int) -> Beginning:
    """The saved game in the file ``name``, its rules its own; ``ValueError`` of one line if there is none."""
    match = read_game(name)
    if match.rules is None:
        raise NotationError("game: found no rules, wanted those that were agreed")
    bot, adviser = opponents(match.rules)
    with naming(name):
        return Session.resume(bot, match, seed), adviser


def begin_position(text: str, rules: GameOptions, opponents: Opponents, seed: int) -> Beginning:
    """The position that ``text`` names, an XGID or a GNUbg ID, under `position_rules`; the person decides."""
    state = read_gnubg_id(text.strip(), rules.variant)
    rules = position_rules(state, rules)
    bot, adviser = opponents(rules)
    session = Session(bot, rules, seed)
    session.set_up(state)
    return session, adviser


def position_rules(state: GameState, rules: GameOptions) -> GameOptions:
    """``rules`` with all that ``state`` says of length, cube, Crawford, Jacoby and beavers."""
    money = state.match_length == 0
    highest = state.max_cube
    if highest is None:
        highest = max(state.cube_value, rules.max_cube if rules.cube else 1)
    cube = highest > 1
    beavers = cube and money and (rules.beavers if state.beavers is None else state.beavers)
    return replace(
        rules,
        match_length=state.match_length,
        cube=cube,
        max_cube=highest,
        crawford=rules.crawford or state.crawford,
        jacoby=money and (rules.jacoby if state.jacoby is None else state.jacoby),
        beavers=beavers,
        raccoons=beavers and rules.raccoons,
        automatic_doubles=rules.automatic_doubles if cube and money else 0,
    )


def identifiers(state: GameState) -> list[str]:
    """XGID and GNUbg ID of ``state``, the person at the bottom; in the place of one that cannot say it, why."""
    if state.variant == "longgammon":
        return ["Other programs have no identifiers for longgammon; save keeps the whole game."]
    state = state.swap_seats()
    lines = []
    for prefix, write in (("XGID=", xgid), ("GNUbg ID ", gnubg_id)):
        try:
            lines.append(f"{prefix}{write(state)}")
        except NotationError as error:
            lines.append(str(error))
    return lines
