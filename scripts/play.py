"""Play against a bot in the terminal or a browser, or serve one to GNU Backgammon or a UBGI program."""

from __future__ import annotations

import sys

from nardy.eval.options import PlayOptions
from nardy.eval.serve.options import GnubgServerOptions, UbgiOptions
from nardy.eval.web import WebOptions
from nardy.scripts.command import compose, main_guard, split_task, to_dataclass, wants_help
from nardy.scripts.command_help import help_text
from nardy.scripts.play_servers import serve_gnubg, serve_ubgi
from nardy.scripts.play_terminal import play_here
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


if __name__ == "__main__":
    sys.exit(main())
