"""Play against a bot in the terminal or a browser, or serve one to GNU Backgammon or a UBGI program."""

from __future__ import annotations

import io
import secrets
import sys

from nardy.env.formats import Format
from nardy.eval.bots import Bot, Judge, ModelBot, make_bot, newest_model
from nardy.eval.options import PlayOptions
from nardy.eval.play import Session, Terminal
from nardy.eval.play.terminal import LineReader
from nardy.eval.play.timed import TimedReader, TimedSession
from nardy.eval.results import check_bots
from nardy.eval.serve.options import GnubgServerOptions, UbgiOptions
from nardy.eval.web import WebOptions
from nardy.models import BundleError, load
from nardy.scripts.command import compose, main_guard, split_task, to_dataclass, wants_help
from nardy.scripts.command_help import help_text
from nardy.scripts.device import choose_device
from nardy.scripts.play_servers import serve_gnubg, serve_ubgi
from nardy.scripts.play_web import serve_web

TASKS = {
    "terminal": "play here (the default task)",
    "web": "show a page to play on in a browser",
    "gnubg": "answer GNU Backgammon on port=, which then plays against the bot",
    "ubgi": "be a UBGI engine on standard input and output",
}
_CONFIGS = {"terminal": "play", "web": "play_web", "gnubg": "play_gnubg", "ubgi": "play_ubgi"}


@main_guard
def main(argv: list[str]) -> None:
    """Run one task."""
    task, words = split_task(argv, TASKS, default="terminal")
    config = _CONFIGS[task]
    if wants_help(words):
        print(help_text("nardy-play", "play against a bot.", config, words, TASKS))
    elif task == "web":
        serve_web(to_dataclass(WebOptions, compose(config, words, WebOptions)))
    elif task == "gnubg":
        serve_gnubg(to_dataclass(GnubgServerOptions, compose(config, words, GnubgServerOptions)))
    elif task == "ubgi":
        serve_ubgi(to_dataclass(UbgiOptions, compose(config, words, UbgiOptions)))
    else:
        play_here(to_dataclass(PlayOptions, compose(config, words, PlayOptions)))


def play_here(options: PlayOptions) -> None:
    """Set up a session and hand it to the terminal."""
    device = choose_device(options.device).device
    bot = make_bot(options.bot or f"model:{newest_model(options.env.variant)}", options.env.variant, device)
    check_bots(options.env, bot)
    seed = secrets.randbits(32) if options.seed is None else options.seed
    for stream in (sys.stdin, sys.stdout):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # whatever is typed or piped in
    print(f"seed={seed}")
    adviser = choose_adviser(options, bot)
    session, reader = seat(bot, options.env, seed)
    Terminal(session, reader, sys.stdout, adviser, options.ascii or not draws_circles(sys.stdout.encoding)).run()


def seat(bot: Bot, rules: Format, seed: int) -> tuple[Session, LineReader]:
    """The session and what it reads from; with a clock where the format has one."""
    if not rules.clock.used:
        return Session(bot, rules.rules, seed), sys.stdin
    session = TimedSession(bot, rules, seed)
    return session, TimedReader(sys.stdin, sys.stdout, session)


def choose_adviser(options: PlayOptions, bot: Bot) -> Judge | None:
    """The model that gives hints: the one named, the bot's own, the newest one; None if there is none."""
    if options.adviser is None and isinstance(bot, ModelBot):
        return bot.evaluator
    try:
        return load(options.adviser or newest_model(options.env.variant), choose_device(options.device).device)
    except BundleError:
        if options.adviser is not None:
            raise
        return None


def draws_circles(encoding: str) -> bool:
    """Has the terminal's encoding the signs that the board is drawn with?"""
    try:
        "●○─│".encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True


if __name__ == "__main__":
    sys.exit(main())
