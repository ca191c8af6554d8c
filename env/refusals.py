"""Why an action is illegal, in words, with the number of the rule it breaks (rules.md).

For people and logs: one game at a time, on plain numbers. What is legal is decided by `Decisions.mask` alone; here a
refused action is only explained.
"""

from __future__ import annotations

import torch
from torch import Tensor

from .cube import THEIRS
from .decisions import (
    ACCEPT,
    BEAVER,
    DOUBLE,
    DROP,
    NUM_ACTIONS,
    PASS,
    RACCOON,
    REFUSE,
    RESIGN_BACKGAMMON,
    RESIGN_SINGLE,
    ROLL,
    TAKE,
    Decisions,
    Phase,
)
from .drawing import RESIGNED
from .moves import HEAD, apply_move, move_mask, use_die, use_head
from .variants import Variant, get_variant

__all__ = ["why_illegal", "why_no_double"]


def why_no_double(decisions: Decisions, game: int) -> str | None:
    """Why the player on roll of ``game`` may not double at all this turn, the dice apart; None if he may (2.2)."""
    games = decisions.games
    options = games.options
    if not options.cube:
        return "this game is played without a cube"
    if bool(games.crawford[game]):
        return "this is the Crawford game, played without the cube (rule 2.6)"
    if int(games.cube_owner[game]) == THEIRS:
        return "the cube is the opponent's, only its owner may double (rule 2.2)"
    value = int(games.cube_value[game])
    if options.match_length:
        away = int(games.away()[game, 0])
        if value >= away:
            return f"the cube is dead: at {value} it already wins the {away} missing points (rule 2.4)"
    if 2 * value > options.max_cube:
        return f"the cube may not go above {options.max_cube} (rule 2.5)"
    return None


def _why_not_again(decisions: Decisions, game: int, action: int, phase: Phase) -> str:
    """Why there can be no beaver or raccoon now (2.9)."""
    options = decisions.games.options
    name, allowed, waits, times = "beaver", options.beavers, phase is Phase.ANSWER, 4
    if action == RACCOON:
        name, allowed, waits, times = "raccoon", options.raccoons, phase is Phase.BEAVERED, 8
    if options.match_length:
        return f"there are no {name}s in a match (rule 2.9)"
    if not allowed:
        return f"this game is played without {name}s (rule 2.9)"
    if not waits:
        return f"only {'a double' if action == BEAVER else 'a beaver'} is answered by a {name} (rule 2.9)"
    assert times * int(decisions.games.cube_value[game]) > options.max_cube
    return f"the cube may not go above {options.max_cube} (rule 2.5)"


def _why_no_resignation(decisions: Decisions, game: int, level: int) -> str:
    """Why the player on roll cannot offer to lose at ``level`` now (1.8), if nothing waits for an answer."""
    games = decisions.games
    rules = get_variant(games.options.variant)
    if not games.options.resignation:
        return "this game is played without resignations (rule 1.8)"
    if level > rules.max_level:
        return f"{rules.name} has no {RESIGNED[level - 1].removeprefix('a ')} (rule 4.4)"
    refused = int(games.refused[game])
    if level <= refused and not bool(games.dice[game].any()):
        return f"{RESIGNED[refused - 1]} has been refused in this turn, only more may be resigned now (rule 1.8)"
    return "the dice are rolled already, and resigning comes before (rule 1.8)"


_WAITING = {
    Phase.ANSWER: "a double is offered: take or drop it first (rule 2.3)",
    Phase.BEAVERED: "the double was beavered: take or drop that first (rule 2.9)",
    Phase.RACCOONED: "the beaver was raccooned: take or drop that first (rule 2.9)",
    Phase.RESIGNED: "the opponent resigns: accept or refuse first (rule 1.8)",
}


def why_illegal(decisions: Decisions, game: int, action: int) -> str:
    """The reason in words why ``action``, which must be illegal, cannot be taken in ``game`` now."""
    phase = Phase(int(decisions.phase[game]))
    if not 0 <= action < NUM_ACTIONS:
        return f"there is no action {action}: actions are numbered 0 to {NUM_ACTIONS - 1}"
    if phase is Phase.OVER:
        return "the game is over"
    if action in (BEAVER, RACCOON) and phase is not Phase.RESIGNED:
        return _why_not_again(decisions, game, action, phase)
    if phase in _WAITING:
        return _WAITING[phase]
    if action in (TAKE, DROP):
        return "no double is offered (rule 2.10)"
    if action in (ACCEPT, REFUSE):
        return "no resignation is offered (rule 1.8)"
    if RESIGN_SINGLE <= action <= RESIGN_BACKGAMMON:
        return _why_no_resignation(decisions, game, action - RESIGN_SINGLE + 1)
    if action == DOUBLE:
        return why_no_double(decisions, game) or "the dice are rolled already, and doubling comes before (rule 2.2)"
    if phase is Phase.CUBE:
        return "the dice are not rolled yet: roll first (rule 1.3)"
    if action == ROLL:
        return "the dice are rolled already (rule 1.3)"
    if action == PASS:
        return "there is a legal move, and it must be played (rule 1.5)"
    return _why_no_move(decisions, game, action // 25 + 1, action % 25 + 1)


def _why_no_move(decisions: Decisions, game: int, die: int, point: int) -> str:
    mine, theirs = decisions.boards[game].tolist()
    left = [number for number in decisions.dice_left[game].tolist() if number]
    place = "the bar" if point == 25 else f"point {point}"
    target = point - die
    rules = get_variant(decisions.games.options.variant)
    if die not in left:
        return f"there is no {die} left to play, only {' '.join(map(str, left))}"
    if not mine[point]:
        return f"there is no checker on {place}"
    if mine[25] and point != 25:
        return "a checker is on the bar and must enter first (rule 1.4)"
    if target >= 1:
        there = theirs[rules.opposite(target)]
        if rules.blocking and there:
            return f"point {target} is held by the opponent, and nothing is hit in {rules.name} (rule 4.3)"
        if there >= 2:
            return f"point {target} is held by {there} opposing checkers (rule 1.4)"
    elif any(mine[7:]):
        return "no checker may be borne off while one is outside the home board (rule 1.6)"
    elif target < 0 and any(mine[point + 1 :]):
        return f"a {die} may bear off from {place} only if no checker is on a higher point (rule 1.6)"
    if point == HEAD and not int(decisions.heads_left[game]):
        return "no more checkers may leave the head in this turn (rule 4.3)"
    if rules.blocking and _forbidden_run(apply_move(*_one(decisions, game, die, point))[0].tolist(), rules):
        return "six points in a row may not be held in front of all the opponent's checkers (rule 4.3)"
    return _why_not_whole(decisions, game, left)


def _one(decisions: Decisions, game: int, die: int, point: int) -> tuple[Tensor, Tensor, Tensor, str]:
    """One move in one game as `apply_move` takes it."""
    board = decisions.boards[game : game + 1].contiguous()
    dice, points = torch.tensor([die], device=board.device), torch.tensor([point], device=board.device)
    return board, dice, points, decisions.games.options.variant


def _forbidden_run(board: list[list[int]], rules: Variant) -> bool:
    """Does side 0 hold six points in a row on the other's route with none of his checkers ahead or off (4.3)?"""
    mine, theirs = board
    run = 0
    for point in range(24, 0, -1):  # the opponent's route, in his numbering
        run = run + 1 if mine[rules.opposite(point)] else 0
        if run >= 6 and not any(theirs[:point]):
            return True
    return False


def _why_not_whole(decisions: Decisions, game: int, left: list[int]) -> str:
    """Why a move that is possible by itself does not belong to a legal turn (1.5)."""
    if len(set(left)) == 1:
        return "another move lets more of the dice be played (rule 1.5)"
    offered = int(decisions.mask()[game].nonzero()[0, 0])
    move = _one(decisions, game, offered // 25 + 1, offered % 25 + 1)
    _, die, point, variant = move
    dice_left, heads_left = decisions.dice_left[game : game + 1], decisions.heads_left[game : game + 1]
    after = apply_move(*move)
    if bool(move_mask(after, use_die(dice_left, die), variant, use_head(heads_left, die, point)).any()):
        return "both dice can be played, but not after this move (rule 1.5)"
    return "only one of the dice can be played, and it must be the larger (rule 1.5)"
