"""Play against a bot in the terminal: the board as text, commands as words, moves in the usual notation.

The face of a `Session`. It reads lines and writes text, so a test can drive it; whatever is typed, it answers with a
line and goes on. The end of the input and Ctrl-C leave politely. `commands` says what can be typed, `screen` how it
looks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ...env import GameOptions
from ...env.decisions import RESIGN_BACKGAMMON, RESIGN_SINGLE
from ...env.notation import Play, match_play
from ...env.refusals import why_illegal
from ...models import Evaluator
from ..bots import Bot
from ..results import check_bots
from .advice import hint_lines
from .beginnings import Beginning, Opponents, begin_new, begin_position, begin_saved, identifiers
from .commands import LEVELS, Command, find_command, help_text, prompt
from .files import write_game, write_match
from .screen import (
    LineReader,
    Screen,
    TextWriter,
    display_name,
    event_text,
    history_lines,
    is_crawford,
    pips_text,
    score_text,
)
from .session import Event, Phase, Session
from .timed import TimedSession
from .tutor import Tutor, rate_text, stats_lines

__all__ = ["Terminal"]

_NO_MODEL = "There is no model to ask; name one with adviser=."
_BY_THE_CLOCK = "By the clock this match is played to its end: nothing is taken back, saved or begun anew."
_NOT_BY_THE_CLOCK = ("undo", "save", "load", "position", "new")


class Terminal:
    """Drives a session with lines from ``reader`` and tells on ``writer`` what happens."""

    def __init__(
        self,
        session: Session,
        reader: LineReader,
        writer: TextWriter,
        adviser: Evaluator | None = None,
        ascii_only: bool = False,
        tutor: Tutor | None = None,
        opponents: Opponents | None = None,
    ) -> None:
        """``adviser`` answers ``hint`` and is the ``tutor``.

        ``ascii_only`` draws the board without other characters; ``opponents`` are asked for a bot when other rules are
        loaded or set up, without them the bot of ``session`` stays.
        """
        self.session = session
        self.adviser = adviser
        self.tutor = tutor or Tutor()
        self._reader, self._screen = reader, Screen(writer, ascii_only)
        self._say = self._screen.say
        self._opponents = opponents or self._the_same
        self._commands: dict[str, Callable[[str], None]] = {
            "resign": self._resign,
            "next": lambda _: self._next(),
            "moves": self._list_moves,
            "hint": lambda _: self._advised(lambda model: hint_lines(model, self.session)),
            "tutor": self._switch_tutor,
            "stats": lambda _: self._advised(lambda model: stats_lines(model, self.session.record())),
            "undo": lambda _: self._undo(),
            "board": lambda _: self._screen.draw(self.session),
            "score": lambda _: self._say(score_text(self.session)),
            "pips": lambda _: self._say(pips_text(self.session)),
            "history": lambda _: self._history(),
            "id": lambda _: self._identify(),
            "position": lambda text: self._begin(begin_position(text, self.session.options, *self._next_seat())),
            "save": lambda name: self._say(f"Saved {write_game(name, self.session.record())}."),
            "save!": lambda name: self._say(f"Saved {write_game(name, self.session.record(), replace=True)}."),
            "load": lambda name: self._begin(begin_saved(name, *self._next_seat())),
            "mat": lambda name: self._say(f"Wrote {write_match(name, self.session.record())}."),
            "mat!": lambda name: self._say(f"Wrote {write_match(name, self.session.record(), replace=True)}."),
            "new": self._new,
            "help": lambda _: self._say(help_text()),
        }

    @property
    def _bot(self) -> str:
        return display_name(self.session.bot.name)

    def run(self) -> None:
        """Play until the person leaves."""
        try:
            self._greet()
            while True:
                line = self._ask()
                if line is None or not self._obey(line):
                    break
            if not self._match_over():
                self._tell_rate()
        except KeyboardInterrupt:
            self._say("")
        self._say(f"Goodbye. {score_text(self.session)}")

    def _greet(self) -> None:
        self._say(f"You play against {self._bot}; help lists the commands.")
        self._tell(self.session.opening)

    def _obey(self, line: str) -> bool:
        """Carry out one line; False to leave."""
        words = line.split(maxsplit=1)
        word, rest = words[0] if words else "", words[1].strip() if len(words) > 1 else ""
        command = find_command(word, self.session.phase)
        if command is not None and command.name == "quit":
            return False
        try:
            if command is not None:
                self._carry_out(command, word.lower(), rest)
            elif self.session.phase is Phase.MOVE:
                self._play(line)
            else:
                self._say(f"Found {line.strip()[:40]!r}, wanted {prompt(self.session)}; help lists the commands.")
        except ValueError as error:  # what cannot be read, is illegal, or the model has not learned
            self._say(str(error))
        return True

    def _carry_out(self, command: Command, word: str, rest: str) -> None:
        if command.name in _NOT_BY_THE_CLOCK and isinstance(self.session, TimedSession):
            self._say(_BY_THE_CLOCK)
        elif command.action is not None:
            self._act(command.action)
        else:
            self._commands[word if word.endswith("!") else command.name](rest)

    def _act(self, action: int) -> None:
        """Take an action that is no play, or say why not."""
        if self.session.may(action):
            self._decide(action, lambda: self.session.act(action))
        else:
            self._say(f"That cannot be done: {why_illegal(self.session.decisions, 0, action)}.")

    def _play(self, line: str) -> None:
        legal = self.session.legal_plays()
        forced = not line.strip() and len(legal) == 1
        play = legal[0] if forced else match_play(line, legal, self.session.dice)
        self._decide(play, lambda: self.session.play(play))

    def _decide(self, done: Play | int, carry_out: Callable[[], list[Event]]) -> None:
        """A decision of the person: what the tutor says of it, then what follows."""
        decision = self.tutor.look(self.session, done) if self.tutor.on else None
        events = carry_out()
        if decision is not None and self.adviser is not None:
            try:
                verdict = self.tutor.verdict(self.adviser, decision)
            except ValueError as error:  # what the model has not learned; the game goes on
                verdict = f"Tutor: {error}"
            if verdict is not None:
                self._say(verdict)
        self._tell(events)

    def _resign(self, text: str) -> None:
        level = text.lower() or LEVELS[0]
        if level not in LEVELS:
            raise ValueError(f"resign: found {level[:20]!r}, wanted {', '.join(LEVELS[:-1])} or {LEVELS[-1]}")
        actions = dict(zip(LEVELS, range(RESIGN_SINGLE, RESIGN_BACKGAMMON + 1), strict=True))
        self._act(actions[level])

    def _next(self) -> None:
        if self.session.phase is not Phase.OVER:
            self._say(f"The game is not over, wanted {prompt(self.session)}.")
            return
        events = self.session.next_game()
        if is_crawford(self.session):
            self._say("This is the Crawford game, played without the cube.")
        self._tell(events)

    def _undo(self) -> None:
        if self.session.undo():
            self._screen.draw(self.session)
        else:
            self._say("There is nothing to take back.")

    def _list_moves(self, text: str) -> None:
        if self.session.phase is not Phase.MOVE:
            self._say("There are no dice to play.")
            return
        legal = self.session.legal_plays()
        point = text.lower().replace("25", "bar")
        shown = [play for play in legal if not point or point in _sources(play)]
        heading = f"{len(legal)} legal play{'' if len(legal) == 1 else 's'}"
        self._say(heading + (f", {len(shown)} from {point[:8]}:" if point else ":"))
        self._screen.say_columns([play.text for play in shown])

    def _history(self) -> None:
        match = self.session.record()
        for line in history_lines(match, self._bot) if match.games else ():
            self._say(line)

    def _identify(self) -> None:
        if self.session.phase is Phase.OVER:
            self._say("The game is over, and no position waits.")
            return
        for line in identifiers(self.session.state):
            self._say(line)

    def _advised(self, ask: Callable[[Evaluator], Sequence[str]]) -> None:
        """Say what the adviser answers."""
        for line in (_NO_MODEL,) if self.adviser is None else ask(self.adviser):
            self._say(line)

    def _switch_tutor(self, text: str) -> None:
        self._say(_NO_MODEL if self.adviser is None else self.tutor.switch(text.lower()))

    def _tell_rate(self) -> None:
        """The person's error rate, if the tutor is on and there is one."""
        if not self.tutor.on or self.adviser is None:
            return
        try:
            text = rate_text(self.adviser, self.session.record())
        except ValueError:  # nothing played yet, or from a position: nobody has asked for it
            return
        if text is not None:
            self._say(text)

    def _new(self, text: str) -> None:
        rules = self.session.options
        if text:
            if not text.isascii() or not text.isdecimal() or len(text) > 4:
                raise ValueError(f"new: found {text[:20]!r}, wanted the points of a match, 0 for money games")
            if int(text):  # what is for money games alone
                rules = replace(rules, jacoby=False, beavers=False, raccoons=False, automatic_doubles=0)
            rules = replace(rules, match_length=int(text))
        self._begin(begin_new(rules, *self._next_seat()))

    def _next_seat(self) -> tuple[Opponents, int]:
        """Who is asked to play next, and the seed of the dice then."""
        return self._opponents, (self.session.games.seed + 1) % 2**64

    def _begin(self, beginning: Beginning) -> None:
        """Go over to another session."""
        self.session, self.adviser = beginning
        self._greet()

    def _the_same(self, rules: GameOptions) -> tuple[Bot, Evaluator | None]:
        if rules.variant != self.session.options.variant:
            raise ValueError(f"discipline: found {rules.variant}, wanted {self.session.options.variant}")
        check_bots(rules, self.session.bot)
        return self.session.bot, self.adviser

    def _match_over(self) -> bool:
        session = self.session
        length = session.options.match_length
        return session.phase is Phase.OVER and length > 0 and max(session.score) >= length

    def _tell(self, events: Sequence[Event]) -> None:
        """Say what happened, and draw the board for the next decision."""
        for event in events:
            if event.kind != "rolled":
                self._say(event_text(event, self._bot))
        if self.session.phase is Phase.OVER:
            self._say(score_text(self.session))
            if self._match_over():
                self._tell_rate()
        self._screen.draw(self.session)

    def _ask(self) -> str | None:
        """One line of input, None at its end."""
        self._screen.ask(prompt(self.session))
        line = self._reader.readline()
        if not line:
            self._say("")
            return None
        return line


def _sources(play: Play) -> set[str]:
    """The places that a play's checkers start from, as they are written."""
    return {way.partition("/")[0] for way in play.text.split()}
