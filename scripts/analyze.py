"""What a model thinks of a position (XGID or GNUbg id), or of a match (.mat, or .json of a saved game)."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

from rich.console import Console

from nardy.env.notation import GameState, MatchRecord
from nardy.eval.bots import newest_model
from nardy.eval.review import (
    AnalyzeOptions,
    MatchReview,
    PositionReview,
    match_page,
    match_tables,
    position_page,
    position_tables,
    read_source,
    review_match,
    review_position,
    with_rules,
)
from nardy.models import Evaluator, load
from nardy.models.bundle import write_file
from nardy.scripts.command import CommandError, compose, main_guard, to_dataclass, wants_help
from nardy.scripts.command_help import help_text
from nardy.scripts.device import choose_device

# A word of the configuration. An XGID is none, which may begin with XGID= or with an empty bar, a minus sign.
_KEY = re.compile(r"[~+]?[a-z_.]+=|-[^:]*$")
_WANTED = "an XGID, a GNUbg id or a match file"


@main_guard
def main(argv: list[str]) -> None:
    """Read, judge, print, write."""
    sources = [word for word in argv if not _KEY.match(word)]
    words = [word for word in argv if _KEY.match(word)]
    if wants_help(words):
        text = help_text("nardy-analyze", "judges a position or a match.", "analyze", words)
        print(text.replace("nardy-analyze [key", "nardy-analyze XGID|GNUBG_ID|FILE.mat [key", 1))
        return
    options = to_dataclass(AnalyzeOptions, compose("analyze", words, AnalyzeOptions))
    if len(sources) != 1:
        raise CommandError(f"found {len(sources)} texts to analyse, wanted one: {_WANTED}; see --help")
    for name, path in (("json", options.json), ("html", options.html)):
        if path is not None and (not Path(path).parent.is_dir() or Path(path).is_dir()):
            raise CommandError(f"{name}: found {path!r}, wanted a file in a folder that exists")
    source, evaluator = prepare(sources[0], options)
    review = judge(source, evaluator, options)
    if options.json is not None:
        write_file(Path(options.json), (json.dumps(review.to_dict(), indent=1, allow_nan=False) + "\n").encode())
    if options.html is not None:
        write_file(
            Path(options.html),
            (match_page(review) if isinstance(review, MatchReview) else position_page(review)).encode(),
        )
    console = Console()
    for part in match_tables(review) if isinstance(review, MatchReview) else position_tables(review):
        console.print(part)


def prepare(text: str, options: AnalyzeOptions) -> tuple[GameState | MatchRecord, Evaluator]:
    """What ``text`` says, and a model of its discipline."""
    device = choose_device(options.device).device
    if options.model is None:
        source = read_source(text, options.variant)
        return source, load(newest_model(source.variant), device)
    evaluator = load(options.model, device)
    is_file = Path(text).suffix != ""  # which says itself what it is of
    source = read_source(text, options.variant or (None if is_file else evaluator.variant))
    if source.variant != evaluator.variant:
        raise CommandError(f"model: found one for {evaluator.variant}, wanted one for {source.variant}")
    return source, evaluator


def judge(
    source: GameState | MatchRecord, evaluator: Evaluator, options: AnalyzeOptions
) -> PositionReview | MatchReview:
    """The review of what was read."""
    rules = options.jacoby, options.beavers
    if isinstance(source, MatchRecord):
        return review_match(evaluator, source, options.blunder, min(options.plays, 3), *rules)
    return review_position(evaluator, with_rules(source, *rules), options.plays)


if __name__ == "__main__":
    sys.exit(main())
