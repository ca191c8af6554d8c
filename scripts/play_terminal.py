"""A person against a bot on standard input and output, the task ``terminal`` of ``scripts/play.py``."""

from __future__ import annotations

import io
import secrets
import sys
from dataclasses import asdict, replace

import torch

from nardy.env import GameOptions
from nardy.env.formats import Format
from nardy.eval.bots import Bot, ModelBot, make_bot, newest_model
from nardy.eval.options import PlayOptions
from nardy.eval.play import Session, Terminal, Tutor
from nardy.eval.play.beginnings import begin_position, begin_saved
from nardy.eval.play.screen import LineReader
from nardy.eval.play.timed import TimedReader, TimedSession, new_session
from nardy.eval.results import check_bots
from nardy.models import BundleError, Evaluator, load
from nardy.scripts.device import choose_device

__all__ = ["draws_circles", "play_here"]


class Opponents:
    """Makes the bot and the adviser that the options name for whatever is played, once a discipline."""

    def __init__(self, options: PlayOptions) -> None:
        self._options = options
        self._device = choose_device(options.device).device
        self._made: dict[str, tuple[Bot, Evaluator | None]] = {}

    def __call__(self, rules: GameOptions) -> tuple[Bot, Evaluator | None]:
        """For games by ``rules``; ``ValueError`` if they cannot be played, or not by what was named."""
        replace(self._options, env=Format(**asdict(rules)), load=None, position=None)  # are they allowed here?
        if rules.variant not in self._made:
            name = self._options.bot or f"model:{newest_model(rules.variant)}"
            bot = make_bot(name, rules.variant, self._device)
            adviser = choose_adviser(self._options.adviser, rules.variant, bot, self._device)
            self._made[rules.variant] = bot, adviser
        bot, adviser = self._made[rules.variant]
        check_bots(rules, bot)
        return bot, adviser


def play_here(options: PlayOptions) -> None:
    """Set up a session and hand it to the terminal."""
    opponents = Opponents(options)
    seed = secrets.randbits(32) if options.seed is None else options.seed
    session, adviser = seat(options, opponents, seed)
    for stream in (sys.stdin, sys.stdout):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # whatever is typed or piped in
    print(f"seed={seed}")
    reader: LineReader = sys.stdin
    if isinstance(session, TimedSession):
        reader = TimedReader(sys.stdin, sys.stdout, session)
    ascii_only = options.ascii or not draws_circles(sys.stdout.encoding)
    tutor = Tutor(options.tutor, options.tutor_least)
    Terminal(session, reader, sys.stdout, adviser, ascii_only, tutor, opponents).run()


def seat(options: PlayOptions, opponents: Opponents, seed: int) -> tuple[Session, Evaluator | None]:
    """The session, new, from a file or from a position, and who gives hints; by a clock where the format has one."""
    rules = options.env.rules
    if options.load is not None:
        return begin_saved(options.load, opponents, seed)
    if options.position is not None:
        return begin_position(options.position, rules, opponents, seed)
    bot, adviser = opponents(rules)
    return new_session(bot, options.env, seed), adviser


def choose_adviser(name: str | None, variant: str, bot: Bot, device: torch.device) -> Evaluator | None:
    """The model that gives hints: the one named, the bot's own, the newest one; None if there is none."""
    if name is None and isinstance(bot, ModelBot) and isinstance(bot.evaluator, Evaluator):
        return bot.evaluator
    try:
        adviser = load(name or newest_model(variant), device)
    except BundleError:
        if name is not None:
            raise
        return None
    if adviser.variant != variant:
        raise ValueError(f"adviser: {name}: found a model for {adviser.variant}, wanted one for {variant}")
    return adviser


def draws_circles(encoding: str) -> bool:
    """Has the terminal's encoding the signs that the board is drawn with?"""
    try:
        "●○─│".encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True
