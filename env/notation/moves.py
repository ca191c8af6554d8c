"""Move text: a whole turn written as GNU Backgammon writes it, and read as people write it.

A turn is a list of checkers' ways in the mover's own numbering, highest first: ``8/5 6/5``, ``bar/22``, ``24/20*``,
``6/off(2)``. A checker that moves on with another die is written once, ``24/13``; a point it hits on its way is kept,
``13/10*/8``. Which plays are legal is asked of `afterstates` and `move_mask`; here is only what they are called.
One position at a time, for people and files: a few kernel launches a call.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import torch
from torch import Tensor

from ..movegen import afterstates
from ..moves import apply_move, dice_to_play, heads_to_move, move_mask, use_die, use_head
from ..variants import get_variant
from .errors import NotationError, shown

__all__ = ["PASS", "Play", "find_play", "match_play", "play_text", "play_to", "plays", "turn_text"]

BAR, OFF = 25, 0
PASS = "pass"  # noqa: S105  # the text of a turn without a legal move

Hop = tuple[int, int]  # one checker with one die: from a point to a lower one, 25 the bar, 0 off
Turn = tuple[Hop, ...]  # highest source first

_EXAMPLES = "8/5 6/5, bar/22, 24/20*, 6/off(2)"
_TOKEN = re.compile(r"(bar|b|[0-9]{1,2})((?:/(?:off|o|[0-9]{1,2})\*?)+)(?:\(([1-9])\))?(\*?)")
PASSES = {"", PASS, "-", "cannot move", "no move", "nomove", "dance", "dances"}


@dataclass(frozen=True)
class Play:
    """One legal turn.

    Attributes:
        text: how it is written.
        board: ``[2, 26]`` int8, the position after it, the mover still side 0.
        turns: every sequence of single moves that leads there, each as (from, to) pairs, highest source first.
        hits: per element of ``turns``, the points hit, in the mover's numbering; all alike, as the board is.
    """

    text: str
    board: Tensor = field(compare=False)
    turns: tuple[Turn, ...]
    hits: frozenset[int]


def plays(board: Tensor, dice: Sequence[int], variant: str = "backgammon", second_first: bool = False) -> list[Play]:
    """Every legal play of one position, in the order of `afterstates`; a turn without a legal move is one, "pass".

    ``board`` ``[2, 26]``, side 0 on roll; ``ValueError`` as for `afterstates`.
    """
    boards, roll = torch.as_tensor(board).cpu()[None], torch.tensor([list(dice)])
    second = torch.tensor([second_first])
    _, ends = afterstates(boards, roll, variant, second)
    boards, roll = boards.to(torch.int8).contiguous(), roll.to(torch.int8)
    turns = _turns(boards, dice_to_play(roll), variant, heads_to_move(roll, variant, second))
    blots = _blots(boards[0, 1], variant)
    found = []
    for end in ends:
        ways = tuple(sorted(turns[_key(end)], reverse=True))
        text = min((_text(way, blots) for way in ways), key=lambda text: (len(text), text))
        hits = blots & {target for _, target in ways[0]}
        found.append(Play(text, end, ways, hits))
    return found


def play_text(
    before: Tensor, after: Tensor, dice: Sequence[int], variant: str = "backgammon", second_first: bool = False
) -> str:
    """The text of the play that leads from ``before`` to ``after``, both ``[2, 26]`` with the mover side 0.

    `NotationError` if no legal play does.
    """
    return play_to(after, plays(before, dice, variant, second_first), dice).text


def play_to(after: Tensor, legal: Sequence[Play], dice: Sequence[int]) -> Play:
    """The one of ``legal`` plays that leads to ``after`` ``[2, 26]``, the mover side 0; `NotationError` if none."""
    wanted = torch.as_tensor(after).cpu().to(torch.int8)
    for play in legal:
        if torch.equal(play.board, wanted):
            return play
    raise NotationError(f"play: the position after is not reached by any of the {_count(legal)} of {_roll(dice)}")


def turn_text(turn: Turn) -> str:
    """One move a die as other programs read it, without joined ways, hits and repetition; empty without a move."""
    return " ".join(f"{_place(source)}/{_place(target)}" for source, target in turn)


def find_play(
    text: str, board: Tensor, dice: Sequence[int], variant: str = "backgammon", second_first: bool = False
) -> Tensor:
    """The afterstate ``[2, 26]`` int8, the mover side 0, of a play written by a person or another program.

    Moves come in any order, separated by blanks or commas; ``*`` may be left out; bar may be ``25`` or ``b``, off
    ``0`` or ``o``; a checker may be written move by move, as a chain (``24/18/13``) or in one hop (``24/13``); ``(2)``
    repeats. Where one hop without ``*`` has a way that hits and one that does not, it means the latter.

    Raises:
        NotationError: unreadable, illegal or ambiguous, with the number of legal plays.
    """
    return match_play(text, plays(board, dice, variant, second_first), dice).board


def match_play(text: str, legal: Sequence[Play], dice: Sequence[int]) -> Play:
    """The one of ``legal`` plays that ``text`` means; see `find_play`."""
    cleaned = " ".join(text.lower().replace(",", " ").split())
    if cleaned in PASSES:
        if legal[0].text == PASS:
            return legal[0]
        raise NotationError(
            f"play: found {shown(text.strip())}, wanted a move: there are {_count(legal)} of {_roll(dice)}"
        )
    segments, stars = parse_moves(cleaned, text)
    if legal[0].text == PASS:
        raise NotationError(
            f"play: found {shown(text.strip())}, but {_roll(dice)} has no legal move here, wanted {PASS}"
        )
    found = [play for play in legal if stars <= play.hits and any(covers(segments, turn) for turn in play.turns)]
    exact = [play for play in found if play.hits == stars]
    if len(found) > 1 and len(exact) == 1:
        return exact[0]
    if len(found) > 1:
        texts = " or ".join(play.text for play in found)
        raise NotationError(f"play: {shown(text.strip())} is ambiguous, wanted {texts} ({_count(legal)})")
    if not found:
        raise NotationError(
            f"play: {shown(text.strip())} is not legal with {_roll(dice)}: wanted one of {_count(legal)}"
        )
    return found[0]


def _count(legal: Sequence[Play]) -> str:
    return f"{len(legal)} legal play{'' if len(legal) == 1 else 's'}"


def _roll(dice: Sequence[int]) -> str:
    return "-".join(str(int(die)) for die in dice)


def _key(board: Tensor) -> bytes:
    return bytes(board.flatten().to(torch.int16).to(torch.uint8).numpy())


def _blots(theirs: Tensor, variant: str) -> frozenset[int]:
    """The points in the mover's numbers on which landing hits, of those where the other side ``[26]`` stands."""
    rules = get_variant(variant)
    if rules.blocking:
        return frozenset()
    return frozenset(point for point in range(1, 25) if theirs[rules.opposite(point)] > 0)


def _turns(boards: Tensor, dice_left: Tensor, variant: str, heads_left: Tensor) -> dict[bytes, set[Turn]]:
    """Every legal turn from ``boards`` ``[1, 2, 26]``, by the position it ends in: one level of moves after another."""
    ways: list[set[Turn]] = [{()}]  # of each row
    ended: dict[bytes, set[Turn]] = {}
    while len(boards):
        mask = move_mask(boards, dice_left, variant, heads_left)
        for row in (~mask.flatten(1).any(1)).nonzero()[:, 0].tolist():
            ended.setdefault(_key(boards[row]), set()).update(ways[row])
        rows, dice, points = mask.nonzero().unbind(1)
        dice, points = dice + 1, points + 1
        moved = apply_move(boards[rows].contiguous(), dice, points, variant)
        left, heads = use_die(dice_left[rows], dice), use_head(heads_left[rows], dice, points)
        place: dict[bytes, int] = {}
        merged: list[set[Turn]] = []
        kept: list[int] = []
        hops = zip(rows.tolist(), points.tolist(), dice.tolist(), strict=True)
        for number, (row, point, die) in enumerate(hops):
            key = _key(moved[number]) + _key(left[number]) + bytes([int(heads[number])])
            if key not in place:
                place[key] = len(merged)
                merged.append(set())
                kept.append(number)
            hop = (point, max(point - die, OFF))
            merged[place[key]].update(tuple(sorted((*way, hop), reverse=True)) for way in ways[row])
        boards, dice_left, heads_left, ways = moved[kept], left[kept], heads[kept], merged
    return ended


def _text(turn: Turn, blots: frozenset[int]) -> str:
    """The turn as GNU Backgammon formats it; ``blots`` are the points on which landing hits."""
    if not turn:
        return PASS
    ways: list[tuple[int, ...]] = list(turn)  # the points of each checker's way; empty once joined to another's
    for i in range(len(ways)):
        for j in range(i + 1, len(ways)):
            if ways[i] and ways[j] and ways[i][-1] == ways[j][0]:
                kept = ways[i] if ways[i][-1] in blots else ways[i][:-1]
                ways[i], ways[j] = kept + ways[j][1:], ()
    words: list[str] = []
    marked: set[int] = set()  # an end point is marked as hit only where it is first named
    left = [way for way in ways if way]
    for way in dict.fromkeys(left):
        passed = "".join(f"{_place(point)}*/" for point in way[1:-1])
        star = "*" if way[-1] in blots - marked - set(way[1:-1]) else ""
        marked |= blots & set(way[1:])
        count = left.count(way)
        words.append(f"{_place(way[0])}/{passed}{_place(way[-1])}{star}{f'({count})' if count > 1 else ''}")
    return " ".join(words)


def _place(point: int) -> str:
    return {BAR: "bar", OFF: "off"}.get(point, str(point))


def parse_moves(cleaned: str, text: str) -> tuple[list[Hop], set[int]]:
    """The segments (from, to) that a text names, and the points it marks as hit."""
    segments: list[Hop] = []
    stars: set[int] = set()
    for token in cleaned.split():
        match = _TOKEN.fullmatch(token)
        if match is None:
            raise NotationError(
                f"play: cannot read {shown(token)} in {shown(text.strip())}, wanted moves such as {_EXAMPLES}"
            )
        source, rest, repeat, star = match.groups()
        places = [source, *rest[1:].split("/")]
        points = [
            {"bar": BAR, "b": BAR, "off": OFF, "o": OFF}.get(p, -1) if p.isalpha() else int(p)
            for p in (place.rstrip("*") for place in places)
        ]
        if any(high <= low for high, low in pairwise(points)) or points[0] > BAR:
            raise NotationError(
                f"play: cannot read {shown(token)} in {shown(text.strip())}, wanted points that go down from 25 to 0"
            )
        stars.update(point for point, place in zip(points, places, strict=True) if place.endswith("*"))
        stars.update(points[-1:] if star else ())
        segments += list(pairwise(points)) * int(repeat or 1)
    if len(segments) > 4:
        raise NotationError(f"play: found {len(segments)} moves in {shown(text.strip())}, wanted at most 4")
    return segments, stars


def covers(segments: Sequence[Hop], turn: Turn) -> bool:
    """Can the single moves of ``turn``, each used once, be joined to exactly these segments?"""
    if not segments:
        return not turn
    return any(covers(segments[1:], rest) for rest in _chains(*segments[0], turn))


def _chains(source: int, target: int, turn: Turn) -> Iterator[Turn]:
    """What is left of ``turn`` after taking away moves that lead a checker from ``source`` to ``target``."""
    for hop in dict.fromkeys(turn):
        if hop[0] != source or hop[1] < target:
            continue
        index = turn.index(hop)
        rest = turn[:index] + turn[index + 1 :]
        if hop[1] == target:
            yield rest
        else:
            yield from _chains(hop[1], target, rest)
