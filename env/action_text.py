"""Actions as text: every number of `env.decisions` has one text, and a tolerant reader finds the number again.

A text says its action wherever it is taken, whatever the position and the discipline:

- a move in the mover's numbers, ``13/8``, ``bar/22``, ``6/off``. The die is the distance. Where a checker is borne off
  with a larger die than it needs, the die stands before it as in match text: ``6:4/off`` is a 6 from the 4 point, while
  ``4/off`` is a 4. (``4/off(2)`` would be two checkers, as in a play.)
- ``roll``, ``double``, ``beaver``, ``raccoon``, ``take``, ``drop``; ``pass`` for a turn without a legal move;
- ``resign single``, ``resign gammon``, ``resign backgammon``, ``accept``, ``refuse``.

Hits are not marked: what is hit depends on the position. `env.notation` has whole turns.
"""

from __future__ import annotations

import re

from .decisions import (
    ACCEPT,
    BEAVER,
    DOUBLE,
    DROP,
    NUM_ACTIONS,
    NUM_MOVES,
    PASS,
    RACCOON,
    REFUSE,
    RESIGN_BACKGAMMON,
    RESIGN_GAMMON,
    RESIGN_SINGLE,
    ROLL,
    TAKE,
)
from .notation.errors import NotationError, shown

__all__ = ["action_text", "parse_action"]

_BAR, _OFF = 25, 0
_WORDS = {
    ROLL: "roll",
    DOUBLE: "double",
    TAKE: "take",
    DROP: "drop",
    PASS: "pass",
    BEAVER: "beaver",
    RACCOON: "raccoon",
    RESIGN_SINGLE: "resign single",
    RESIGN_GAMMON: "resign gammon",
    RESIGN_BACKGAMMON: "resign backgammon",
    ACCEPT: "accept",
    REFUSE: "refuse",
}
# Words of the field that mean one action only. "reject", "decline" and a bare "resign" do not; "accept" answers a
# resignation, never a double.
_SYNONYMS = {
    "redouble": DOUBLE,
    "dance": PASS,
    "no move": PASS,
    "cannot move": PASS,
    "resign normal": RESIGN_SINGLE,
    "resign 1": RESIGN_SINGLE,
    "resign 2": RESIGN_GAMMON,
    "resign 3": RESIGN_BACKGAMMON,
}
_NUMBERS = {text: action for action, text in _WORDS.items()} | _SYNONYMS
_THIRD_PERSON = {"passes": "pass"} | {
    f"{verb}s": verb for verb in ("roll", "double", "redouble", "take", "drop", "beaver", "raccoon", "dance", "resign")
}
_THIRD_PERSON |= {"accepts": "accept", "refuses": "refuse"}
_MOVE = re.compile(r"(?:([1-6]) ?: ?)?(bar|b|[0-9]{1,2}) ?/ ?(off|o|[0-9]{1,2})")
_WANTED = "wanted a move such as 13/8, bar/22, 6/off or 6:4/off, or one of " + ", ".join(_WORDS.values())


def action_text(action: int) -> str:
    """The text of ``action``; `NotationError` if there is no such number."""
    if action in _WORDS:
        return _WORDS[action]
    if not 0 <= action < NUM_MOVES:
        raise NotationError(f"action: found {action}, wanted 0 to {NUM_ACTIONS - 1}")
    die, point = action // 25 + 1, action % 25 + 1
    source = "bar" if point == _BAR else str(point)
    if die < point:
        return f"{source}/{point - die}"
    return f"{source}/off" if die == point else f"{die}:{source}/off"


def parse_action(text: str) -> int:
    """The number of the action that ``text`` says, in any case, with any blanks and with the field's usual synonyms.

    Among them "redouble", "dance", the third person ("takes") and ``25``, ``b``, ``0``, ``o`` for bar and off. A die
    before any move is taken if it fits. Whether the action is legal now is not asked. `NotationError` for all else.
    """
    cleaned = " ".join(text.lower().split())
    match = _MOVE.fullmatch(cleaned)
    if match is not None:
        return _move(text, *match.groups())
    first, _, rest = cleaned.partition(" ")
    action = _NUMBERS.get(f"{_THIRD_PERSON.get(first, first)} {rest}".rstrip())
    if action is None:
        raise NotationError(f"action: found {shown(text)}, {_WANTED}")
    return action


def _move(text: str, die_text: str | None, source_text: str, target_text: str) -> int:
    source = _BAR if source_text in ("bar", "b") else int(source_text)
    target = _OFF if target_text in ("off", "o") else int(target_text)
    die = int(die_text) if die_text else source - target
    if not 1 <= source <= _BAR or not 1 <= die <= 6:
        raise NotationError(f"action: found {shown(text)}, wanted a move down by 1 to 6 points from 25 (bar) or lower")
    if die != source - target and (target != _OFF or die < source):
        raise NotationError(f"action: found {shown(text)}, but a {die} leads to {max(source - die, _OFF)}")
    return (die - 1) * 25 + source - 1
