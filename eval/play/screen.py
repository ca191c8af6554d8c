"""A session as text: what a terminal is told and how the board, the score and what happened are worded.

It knows nothing of commands, and judges nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from typing import Protocol

from ...env import pip_counts
from ...env.drawing import RESIGNED, board_text
from ...env.notation import CubeAction, MatchRecord, Resignation, Roll, turn_text
from .session import PERSON, Event, Phase, Session

__all__ = [
    "LineReader",
    "Screen",
    "TextWriter",
    "display_name",
    "event_text",
    "history_lines",
    "is_crawford",
    "pips_text",
    "score_text",
]

LEVELS = ("by a drop", *RESIGNED)
_OFFERED = {Phase.ANSWER: 1, Phase.BEAVERED: 2}


class LineReader(Protocol):
    """What lines come from: standard input, or a test."""

    def readline(self) -> str:
        """The next line with its end; an empty text when there are no more."""
        ...


class TextWriter(Protocol):
    """What text goes to."""

    def write(self, text: str, /) -> object:
        """Add ``text``."""
        ...

    def flush(self) -> None:
        """Show what was added."""
        ...


class Screen:
    """Writes lines, columns and boards to ``writer``; ``ascii_only`` draws without other characters."""

    def __init__(self, writer: TextWriter, ascii_only: bool = False) -> None:
        self._writer, self._ascii = writer, ascii_only

    def say(self, text: str) -> None:
        """A line."""
        self._writer.write(f"{text}\n")

    def ask(self, prompt: str) -> None:
        """A prompt, shown at once."""
        self._writer.write(f"{prompt}> ")
        self._writer.flush()

    def say_columns(self, texts: Sequence[str]) -> None:
        """Short texts side by side."""
        width = max((len(text) for text in texts), default=0) + 3
        columns = max(1, 100 // width)
        for start in range(0, len(texts), columns):
            self.say("  " + "".join(f"{text:<{width}}" for text in texts[start : start + columns]).rstrip())

    def draw(self, session: Session) -> None:
        """The board as the person sees it."""
        value, owner = (int(each[0]) for each in session.decisions.cube_shown())
        if owner and session.player != PERSON:
            owner = 3 - owner  # 1 is the side on roll, and side 0 is drawn as the person
        text = board_text(
            session.board,
            player=PERSON,
            dice=sorted(session.dice, reverse=True),
            cube_value=value if session.options.cube else 0,
            cube_owner=owner,
            score=session.score,
            match_length=session.options.match_length,
            variant=session.options.variant,
            ascii=self._ascii,
            on_roll=session.player,
            offered=_OFFERED.get(session.phase, 0),
            resignation=int(session.decisions.resignation[0]) if session.phase is Phase.RESIGNED else 0,
            names=("you", display_name(session.bot.name)),
        )
        self.say(f"\n{text}")


def display_name(spec: str) -> str:
    """A bot's specification, a model's path cut to the name of its file or run."""
    path = PurePath(spec.removeprefix("model:"))
    return path.parent.name if path.name == "bundle.safetensors" and path.parent.name else path.name or spec


def event_text(event: Event, bot: str) -> str:
    """What happened, in words; ``bot`` is what the bot is called. Of a roll, which the board shows, nothing."""
    who = "You" if event.player == PERSON else bot
    points = f"{event.value} point{'' if event.value == 1 else 's'}"
    roll = "{}-{}".format(*sorted(event.dice, reverse=True))
    return {
        "rolled": "",
        "played": f"{who}: {roll}, {'no legal move' if event.text == 'pass' else event.text}",
        "doubled": f"{who} doubled to {event.value}.",
        "took": f"{who} took.",
        "dropped": f"{who} dropped.",
        "beavered": f"{who} beavered to {event.value}.",
        "resigned": f"{who} offered to lose {LEVELS[event.level]}.",
        "accepted": f"{who} accepted.",
        "refused": f"{who} refused.",
        "won": f"{who} won {LEVELS[event.level]}: {points}.",
        "won_match": f"{who} won the match.",
    }[event.kind]


def score_text(session: Session) -> str:
    """How the match, or the session of money games, stands."""
    bot = display_name(session.bot.name)
    mine, theirs = session.points
    if not session.options.match_length:
        return f"Points so far: you {mine}, {bot} {theirs}."
    score = session.score
    crawford = " This is the Crawford game." if is_crawford(session) else ""
    return f"Match score: you {score[0]}, {bot} {score[1]}.{crawford} Matches won: you {mine}, {bot} {theirs}."


def is_crawford(session: Session) -> bool:
    """Is the Crawford game being played?"""
    return bool(session.games.crawford[0]) and session.phase is not Phase.OVER


def pips_text(session: Session) -> str:
    """Both pip counts."""
    mine, theirs = pip_counts(session.board[None])[0].tolist()
    return f"Pips: you {mine}, {display_name(session.bot.name)} {theirs}."


def history_lines(match: MatchRecord, bot: str) -> list[str]:
    """What was done in the last game, a line each."""
    lines = []
    for number, action in enumerate(match.games[-1].actions, start=1):
        who = "You" if action.player == PERSON else bot
        if isinstance(action, Roll):
            done = "to play" if action.hops is None else turn_text(action.hops) or "no legal move"
            text = f"{who}: {action.dice[0]}-{action.dice[1]}, {done}"
        elif isinstance(action, Resignation):
            answer = {True: "accepted", False: "refused", None: "not answered"}[action.accepted]
            text = f"{who}: resign {RESIGNED[action.level - 1]}, {answer}"
        else:
            assert isinstance(action, CubeAction)
            text = f"{who}: {action.kind}"
        lines.append(f"{number:4d}. {text}")
    return lines
