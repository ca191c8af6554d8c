"""Playing against a bot by the clock: a session whose flags can fall, and a reader that shows the time left.

The bot's clock runs while it is asked. The person's runs from when a line is asked of him (`TimedReader`) until he has
done something that counts: looking at the moves, a hint or a slip of the pen take his time. A turn ends with its
play, and only then comes the increment. With a clock nothing is taken back.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

from torch import Tensor

from ...env import Cube
from ...env.clock import Clock
from ...env.formats import Format
from ...env.notation import Play
from ..bots import Bot
from .screen import LineReader, TextWriter
from .session import BOT, PERSON, Event, Phase, Session

__all__ = ["TimedReader", "TimedSession", "new_session"]


class _FlagFallenError(Exception):
    """The bot has no time left."""


class _TimedBot:
    """A bot whose clock runs while it is asked."""

    def __init__(self, bot: Bot, clock: Callable[[], Clock]) -> None:
        self._bot, self._clock = bot, clock

    @property
    def name(self) -> str:
        return self._bot.name

    def double(self, boards: Tensor, cube: Cube) -> Tensor:
        return self._timed(partial(self._bot.double, boards, cube))

    def take(self, boards: Tensor, cube: Cube) -> Tensor:
        return self._timed(partial(self._bot.take, boards, cube))

    def choose(
        self, boards: Tensor, dice: Tensor, cube: Cube | None, uniforms: Tensor, second_first: Tensor | None = None
    ) -> Tensor:
        return self._timed(partial(self._bot.choose, boards, dice, cube, uniforms, second_first))

    def _timed(self, question: Callable[[], Tensor]) -> Tensor:
        clock = self._clock()
        clock.start(BOT)
        answer = question()
        clock.stop()
        if clock.flag(BOT):
            raise _FlagFallenError
        return answer


class TimedSession(Session):
    """A `Session` of matches by the clock.

    Attributes:
        clock: of the match that is played.
    """

    def __init__(self, bot: Bot, options: Format, seed: int, now: Callable[[], float] = time.monotonic) -> None:
        """``options`` has a clock; ``now`` tells the time in seconds."""
        assert options.clock.used
        self._new_clock = partial(Clock, options.clock, now)
        self.clock = self._new_clock()
        super().__init__(bot, options.rules, seed)

    def think(self) -> None:
        """Let the person's clock run, if he has anything to decide."""
        if self.phase is not Phase.OVER:
            self.clock.start(PERSON)

    def play(self, play: Play) -> list[Event]:
        """See `Session`; a lost match if his flag has fallen, like all that the person does."""
        return self._by_the_clock(partial(super().play, play))

    def act(self, action: int) -> list[Event]:
        """See `Session`."""
        return self._by_the_clock(partial(super().act, action))

    def next_game(self) -> list[Event]:
        """See `Session`; a new match has new clocks."""
        if int(self.games.score.max()) >= self.options.match_length:
            self.clock = self._new_clock()
        return super().next_game()

    @property
    def can_undo(self) -> bool:
        """Never."""
        return False

    def undo(self) -> bool:
        """Never."""
        return False

    @property
    def flag_fallen(self) -> bool:
        """Has the person no time left?"""
        return self.clock.flag(PERSON)

    def lose_on_time(self) -> list[Event]:
        """The person, whose flag has fallen, loses the match without doing anything."""
        return self._by_the_clock(list)

    def _ask_once(self) -> None:
        super()._ask_once()  # which may take long, and is none of the match
        self.bot = _TimedBot(self.bot, lambda: self.clock)

    def _go_on(self) -> list[Event]:
        try:
            return super()._go_on()
        except _FlagFallenError:
            return self._lose(BOT)

    def _move(self, after: Tensor, play: Play) -> list[Event]:
        self.clock.press(self.player)
        return super()._move(after, play)

    def _by_the_clock(self, action: Callable[[], list[Event]]) -> list[Event]:
        self.clock.stop()
        if self.clock.flag(PERSON):
            return self._lose(PERSON)
        try:
            return action()
        except _FlagFallenError:  # when asked to answer a double
            return self._lose(BOT)

    def _lose(self, player: int) -> list[Event]:
        """The flag of ``player`` has fallen: the other one has the points that he lacked (rules.md 5.2)."""
        winner = BOT if player == PERSON else PERSON
        self.games.score[0, winner] = self.options.match_length
        self.points[winner] += 1
        self.decisions.phase.fill_(Phase.OVER)
        self.decisions.mask().fill_(False)  # no copy: nothing may be done any more
        return [Event("won_match", winner)]


def new_session(bot: Bot, rules: Format, seed: int) -> Session:
    """A session in the format ``rules``, by the clock where it has one."""
    return TimedSession(bot, rules, seed) if rules.clock.used else Session(bot, rules.rules, seed)


class TimedReader:
    """Reads a person's lines with his clock running, and shows both clocks before each."""

    def __init__(self, reader: LineReader, writer: TextWriter, session: TimedSession) -> None:
        self._reader, self._writer, self._session = reader, writer, session

    def readline(self) -> str:
        """The next line; see `LineReader`."""
        session = self._session
        if session.phase is Phase.OVER:
            return self._reader.readline()
        session.think()
        self._writer.write(f"[{_clock_text(session.clock.left(PERSON))} / {_clock_text(session.clock.left(BOT))}] ")
        self._writer.flush()
        line = self._reader.readline()
        if session.clock.flag(PERSON):
            self._writer.write("Your flag has fallen.\n")
        return line


def _clock_text(seconds: float) -> str:
    """Minutes and seconds, as a clock shows them."""
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"
