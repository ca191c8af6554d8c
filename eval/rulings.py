"""Is an answer legal, and if not: why, and what position would it leave? One decision at a time, for a referee."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from torch import Tensor

from ..env import get_variant
from ..env.board import check_boards
from ..env.notation import NotationError, find_play
from ..env.notation.moves import parse_moves
from ..env.variants import Variant
from .players import View

__all__ = ["Ruling", "rule_on_play", "rule_on_word"]

T = TypeVar("T")


@dataclass(frozen=True)
class Ruling(Generic[T]):
    """What becomes of an answer.

    Attributes:
        value: what it means; of an illegal play the position it leaves, None if that is none to play on from.
        fault: why it is illegal, an empty text where it is legal.
    """

    value: T | None
    fault: str = ""


def rule_on_word(answer: object, choices: tuple[str, ...]) -> Ruling[str]:
    """A word about the cube or a resignation: one of ``choices``."""
    word = answer.strip().lower() if isinstance(answer, str) else None
    if word in choices:
        return Ruling(word)
    return Ruling(None, f"found {_shown(answer)}, wanted one of {', '.join(choices)}")


def rule_on_play(answer: object, view: View, legal: Tensor) -> Ruling[Tensor]:
    """The play that ``view`` asks for, as a board or a text; ``legal`` ``[K, 2, 26]`` are the afterstates.

    The value is ``[2, 26]`` int8, the mover still side 0.
    """
    rules = get_variant(view.variant)
    if isinstance(answer, str):
        try:
            return Ruling(find_play(answer, view.board, view.dice, view.variant, view.second_first))
        except NotationError as error:
            return Ruling(_moved(answer, view.board, rules), str(error))
    if not isinstance(answer, Tensor):
        return Ruling(None, f"play: found {_shown(answer)}, wanted a board or a text")
    try:
        after = check_boards(answer[None].cpu(), rules)[0]
    except ValueError as error:
        return Ruling(None, f"play: {error}")
    if bool((legal == after).flatten(1).all(1).any()):
        return Ruling(after)
    roll = "-".join(map(str, view.dice))
    plays = f"{len(legal)} legal play{'' if len(legal) == 1 else 's'}"
    return Ruling(after, f"play: found a position that {roll} does not lead to, wanted one of {plays}")


def _moved(text: str, board: Tensor, rules: Variant) -> Tensor | None:
    """The position after moves that nobody has checked; None if they cannot be read, or leave none to play on from."""
    try:
        hops, _ = parse_moves(" ".join(text.lower().replace(",", " ").split()), text)
    except NotationError:
        return None
    after = board.clone()
    for source, target in hops:
        after[0, source] -= 1
        after[0, target] += 1
        there = rules.opposite(target) if target else 0
        if target and not rules.blocking and int(after[1, there]) == 1:
            after[1, there] -= 1
            after[1, 25] += 1
    try:
        return check_boards(after[None], rules)[0]
    except ValueError:
        return None


def _shown(answer: object) -> str:
    """An answer for a message, shortened where it is long."""
    if isinstance(answer, str):
        return repr(answer if len(answer) <= 60 else f"{answer[:57]}...")
    return f"a {type(answer).__name__}"
