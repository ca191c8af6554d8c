"""A terminal driven through its streams, and the sessions that tests drive it with."""

from __future__ import annotations

import functools
import io
import re
from random import Random

from torch import Tensor

from nardy import models
from nardy.env import Cube, GameOptions
from nardy.env.decisions import BEAVER, DOUBLE, DROP, RESIGN_GAMMON, RESIGN_SINGLE, ROLL, TAKE
from nardy.eval.bots import Bot, ModelBot, PipCountBot, RandomBot
from nardy.eval.play import Phase, Session, Terminal
from tests.eval.fakes import FakeEvaluator

load = functools.cache(models.load)

SPRINT = GameOptions("sprintgammon")
BOTS: dict[str, Bot] = {
    "random": RandomBot("sprintgammon"),
    "pipcount": PipCountBot("sprintgammon"),
    "model": ModelBot(FakeEvaluator("sprintgammon"), "model:fake"),
}


def run(lines: str, session: Session | None = None, adviser: bool = True) -> str:
    """All that is told to a person who types ``lines`` and is gone; without an ``adviser`` there are no hints."""
    writer = io.StringIO()
    session = session or Session(PipCountBot(), GameOptions(), seed=1)
    judge = load(session.options.variant) if adviser else None
    Terminal(session, io.StringIO(lines), writer, judge).run()
    return writer.getvalue()


def person_to_play(options: GameOptions = SPRINT) -> Session:
    """A session in which the person has the first roll."""
    return next(
        session
        for seed in range(50)
        if (session := Session(RandomBot(options.variant), options, seed)).phase is Phase.MOVE
    )


def person_to_roll(options: GameOptions = SPRINT) -> Session:
    """A session in which the person comes second, and may double."""
    return next(
        session
        for seed in range(50)
        if (session := Session(RandomBot(options.variant), options, seed)).phase is Phase.CUBE
    )


class RandomPerson:
    """Answers whatever is asked, at random, by words that the prompt offers, until so many games are over."""

    def __init__(self, writer: io.StringIO, session: Session, num_games: int, one_match: bool = False) -> None:
        self.writer, self.session, self.left, self.one_match = writer, session, num_games, one_match
        self.random = Random(1)  # noqa: S311  # not for secrets

    def readline(self) -> str:
        phase = self.session.phase
        if phase is Phase.OVER:
            self.left -= 1
            if self.one_match and max(self.session.score) >= self.session.options.match_length:
                return "quit\n"
            return "\n" if self.left else "quit\n"
        if phase is Phase.MOVE:
            return f"{self.random.choice(self.session.legal_plays()).text}\n"
        offered = re.split(", | or ", self.writer.getvalue().rpartition("\n")[2].removesuffix("> "))
        legal = self.session.decisions.mask()[0].nonzero()[:, 0].tolist()
        assert [WORDS[action] for action in legal if action in WORDS] == [word for word in offered if word != "resign"]
        assert (RESIGN_SINGLE in legal or RESIGN_GAMMON in legal) == ("resign" in offered)
        if "resign" in offered and self.random.random() < 0.9:
            offered.remove("resign")
        return f"{self.random.choice(offered)}\n"


WORDS = {ROLL: "roll", DOUBLE: "double", TAKE: "take", DROP: "drop", BEAVER: "beaver"}


class Cubist(RandomBot):
    """Doubles now and then, takes all, beavers every double and plays on when beavered."""

    def double(self, boards: Tensor, cube: Cube) -> Tensor:
        return cube.as_tensors(len(boards)).may_double() & (boards[:, 0].argmax(1) % 3 == 0)

    def beaver(self, boards: Tensor, cube: Cube) -> Tensor:
        return self.take(boards, cube)

    def take_beaver(self, boards: Tensor, cube: Cube) -> Tensor:
        return self.take(boards, cube)


GAMES = {
    "backgammon": GameOptions("backgammon", match_length=3, resignation=True),
    "sprintgammon": GameOptions("sprintgammon", match_length=3),
    "longgammon": GameOptions("longgammon", match_length=2),
    "money": GameOptions("sprintgammon", jacoby=True, beavers=True, automatic_doubles=1, resignation=True),
}


def finished(options: GameOptions) -> Session:
    """A session whose game is over."""
    session = Session(RandomBot(options.variant), options, seed=1)
    while session.phase is not Phase.OVER:
        if session.phase is Phase.MOVE:
            session.play(session.legal_plays()[0])
        else:
            session.roll()
    return session


OPENING = "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:0:10"
