"""Play against a bot in the terminal: the board as text, commands as words, moves in the usual notation.

The face of a `Session`. It reads lines and writes text, so a test can drive it; whatever is typed, it answers with a
line and goes on. The end of the input and Ctrl-C leave politely.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import PurePath
from typing import Protocol

from ...env.cube import flip_owner
from ...env.decisions import DOUBLE
from ...env.drawing import board_text
from ...env.notation import Play, match_play
from ..bots import Judge
from .hints import cube_advice, ranked_plays, unit
from .session import PERSON, Event, Phase, Session

__all__ = ["Terminal"]

LEVELS = ("by a drop", "a single game", "a gammon", "a backgammon")

HELP = """\
  8/5 6/5      play: from/to, bar/22 to enter, 6/off to bear off, 6/4(2) for two; * for hits may be left out
  moves [8]    list the legal plays [those that move from 8]
  roll         roll the dice (or just Enter)        double       offer the cube
  take, drop   answer a double                      hint         the model's five best plays, or its cube decision
  undo         take back your last decision         board        draw the board again
  help         this page                            quit         leave"""

PROMPTS = {
    Phase.CUBE: "roll or double",
    Phase.MOVE: "your play",
    Phase.ANSWER: "take or drop",
    Phase.OVER: "Enter for the next game, or quit",
}

_WORDS = {
    "roll": ("roll", "r"),
    "double": ("double", "d", "redouble"),
    "take": ("take", "t", "accept", "yes", "y"),
    "drop": ("drop", "pass", "p", "decline", "no", "n"),
    "next": ("next", "n"),
    "moves": ("moves", "m", "list"),
    "hint": ("hint", "h"),
    "undo": ("undo", "u", "back"),
    "board": ("board", "show"),
    "help": ("help", "?"),
    "quit": ("quit", "q", "exit", "bye"),
}
_ANYWHERE = ("moves", "hint", "undo", "board", "help", "quit")
_IN_PHASE = {
    Phase.CUBE: ("roll", "double"),
    Phase.MOVE: (),
    Phase.ANSWER: ("take", "drop"),
    Phase.OVER: ("next",),
}
_BY_ENTER = {Phase.CUBE: "roll", Phase.OVER: "next"}


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


class Terminal:
    """Drives a session with lines from ``reader`` and tells on ``writer`` what happens."""

    def __init__(
        self,
        session: Session,
        reader: LineReader,
        writer: TextWriter,
        adviser: Judge | None = None,
        ascii_only: bool = False,
    ) -> None:
        """``adviser`` answers ``hint``; ``ascii_only`` draws the board without other characters."""
        self.session = session
        self.adviser = adviser
        self._reader, self._writer = reader, writer
        self._ascii = ascii_only
        self._bot = _display_name(session.bot.name)
        self._commands: dict[str, Callable[[Sequence[str]], None]] = {
            "roll": lambda _: self._tell(session.roll()),
            "double": lambda _: self._double(),
            "take": lambda _: self._tell(session.answer(True)),
            "drop": lambda _: self._tell(session.answer(False)),
            "next": lambda _: self._tell(session.next_game()),
            "moves": self._list_moves,
            "hint": lambda _: self._hint(),
            "undo": lambda _: self._undo(),
            "board": lambda _: self._draw(),
            "help": lambda _: self._say(HELP),
        }

    def run(self) -> None:
        """Play until the person leaves."""
        try:
            self._say(f"You play against {self._bot}; help lists the commands.")
            self._tell(self.session.opening)
            while True:
                line = self._ask(PROMPTS[self.session.phase])
                if line is None or not self._obey(line):
                    break
        except KeyboardInterrupt:
            self._say("")
        self._say(f"Goodbye. {self._score()}")

    def _obey(self, line: str) -> bool:
        """Carry out one line; False to leave."""
        words = line.lower().split()
        phase = self.session.phase
        if not words and phase in _BY_ENTER:
            words = [_BY_ENTER[phase]]
        command = next(
            (name for name in (*_IN_PHASE[phase], *_ANYWHERE) if words and words[0] in _WORDS[name]),
            None,
        )
        if command == "quit":
            return False
        try:
            if command is not None:
                self._commands[command](words[1:])
            elif phase is Phase.MOVE:
                self._play(line)
            else:
                self._say(f"Found {line.strip()[:40]!r}, wanted {PROMPTS[phase]}; help lists the commands.")
        except ValueError as error:  # an unreadable or illegal move, or what the model has not learned
            self._say(str(error))
        return True

    def _play(self, line: str) -> None:
        legal = self.session.legal_plays()
        if not line.strip() and len(legal) == 1:
            self._tell(self.session.play(legal[0]))
            return
        self._tell(self.session.play(match_play(line, legal, self.session.dice)))

    def _double(self) -> None:
        if self.session.may(DOUBLE):
            self._tell(self.session.double())
        else:
            self._say("You may not double now.")

    def _undo(self) -> None:
        if self.session.undo():
            self._draw()
        else:
            self._say("There is nothing to take back.")

    def _list_moves(self, words: Sequence[str]) -> None:
        if self.session.phase is not Phase.MOVE:
            self._say("There are no dice to play.")
            return
        legal = self.session.legal_plays()
        point = words[0].replace("25", "bar") if words else ""
        shown = [play for play in legal if not point or point in _sources(play)]
        heading = f"{len(legal)} legal play{'' if len(legal) == 1 else 's'}"
        self._say(heading + (f", {len(shown)} from {point[:8]}:" if point else ":"))
        self._say_columns([play.text for play in shown])

    def _hint(self) -> None:
        session = self.session
        if self.adviser is None:
            self._say("There is no model to ask; name one with adviser=.")
        elif session.phase is Phase.MOVE:
            cube = session.cube
            self._say(f"  {unit(cube)}")
            for number, (play, value) in enumerate(ranked_plays(self.adviser, session.legal_plays(), cube), 1):
                self._say(f"  {number}. {value:+.3f}  {play.text}")
        elif session.phase is Phase.OVER or session.cube is None:
            self._say("There is nothing to decide.")
        else:
            if session.phase is Phase.ANSWER:
                self._say(f"As {self._bot} sees it:")
            for line in cube_advice(self.adviser, session.games.boards[0], session.games.cube()):
                self._say(line)

    def _tell(self, events: Sequence[Event]) -> None:
        """Say what happened, and draw the board for the next decision."""
        for event in events:
            if event.kind != "rolled":
                self._say(self._in_words(event))
        if self.session.phase is Phase.OVER:
            self._say(self._score())
        self._draw()

    def _in_words(self, event: Event) -> str:
        who = "You" if event.player == PERSON else self._bot
        roll = "{}-{}".format(*sorted(event.dice, reverse=True))
        if event.kind == "played":
            return f"{who}: {roll}, {'no legal move' if event.text == 'pass' else event.text}"
        if event.kind == "won":
            return f"{who} won {LEVELS[event.level]}: {event.value} point{'' if event.value == 1 else 's'}."
        if event.kind == "won_match":
            return f"{who} won the match."
        return {
            "doubled": f"{who} doubled to {event.value}.",
            "took": f"{who} took.",
            "dropped": f"{who} dropped.",
        }[event.kind]

    def _score(self) -> str:
        mine, theirs = self.session.points
        if not self.session.options.match_length:
            return f"Points so far: you {mine}, {self._bot} {theirs}."
        score = self.session.games.score[0].tolist()
        return f"Match score: you {score[0]}, {self._bot} {score[1]}. Matches won: you {mine}, {self._bot} {theirs}."

    def _draw(self) -> None:
        session = self.session
        games = session.games
        owner = games.cube_owner if session.player == PERSON else flip_owner(games.cube_owner)
        text = board_text(
            session.board,
            player=PERSON,
            dice=sorted(session.dice, reverse=True),
            cube_value=int(games.cube_value[0]) if session.options.cube else 0,
            cube_owner=int(owner[0]),
            score=games.score[0].tolist(),
            match_length=session.options.match_length,
            variant=session.options.variant,
            ascii=self._ascii,
            on_roll=session.player,
            offered=session.phase is Phase.ANSWER,
            names=("you", self._bot),
        )
        self._say(f"\n{text}")

    def _say_columns(self, texts: Sequence[str]) -> None:
        width = max((len(text) for text in texts), default=0) + 3
        columns = max(1, 100 // width)
        for start in range(0, len(texts), columns):
            self._say("  " + "".join(f"{text:<{width}}" for text in texts[start : start + columns]).rstrip())

    def _say(self, text: str) -> None:
        self._writer.write(f"{text}\n")

    def _ask(self, prompt: str) -> str | None:
        """One line of input, None at its end."""
        self._writer.write(f"{prompt}> ")
        self._writer.flush()
        line = self._reader.readline()
        if not line:
            self._say("")
            return None
        return line


def _sources(play: Play) -> set[str]:
    """The places that a play's checkers start from, as they are written."""
    return {way.partition("/")[0] for way in play.text.split()}


def _display_name(spec: str) -> str:
    """A bot's specification, a model's path cut to the name of its file or run."""
    path = PurePath(spec.removeprefix("model:"))
    return path.parent.name if path.name == "bundle.safetensors" and path.parent.name else path.name or spec
