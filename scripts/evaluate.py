"""What a bot is worth: ``match`` plays two bots, ``reference`` asks a model about positions with known equities."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from nardy.eval.arena import Progress as Report
from nardy.eval.bots import make_bot, newest_model
from nardy.eval.options import MatchOptions, ReferenceOptions
from nardy.eval.refereed import compare_refereed
from nardy.eval.reference_report import reference_report
from nardy.eval.results import compare_bots
from nardy.eval.tables import arena_table, reference_table
from nardy.models import load
from nardy.scripts.command import CommandError, compose, main_guard, split_task, to_dataclass, wants_help
from nardy.scripts.command_help import help_text
from nardy.scripts.device import choose_device, choose_threads

TASKS = {
    "match": "play bot= against opponent= (the default task)",
    "reference": "measure model= on the reference positions in path=",
}


@main_guard
def main(argv: list[str]) -> None:
    """Run one task."""
    task, words = split_task(argv, TASKS, default="match")
    words = [f"eval={task}", *words]
    if wants_help(words):
        print(help_text("nardy-evaluate", "measures what a bot is worth.", "evaluate", words, TASKS))
    elif task == "match":
        play_match(to_dataclass(MatchOptions, compose("evaluate", words, MatchOptions)))
    else:
        ask_reference(to_dataclass(ReferenceOptions, compose("evaluate", words, ReferenceOptions)))


def play_match(options: MatchOptions) -> None:
    """Play, print the table, write the JSON."""
    device = choose_device(options.device).device
    choose_threads(options.threads)
    rules = options.env
    spec = options.bot or f"model:{newest_model(rules.variant)}"
    bot = make_bot(spec, rules.variant, device)
    opponent = make_bot(options.opponent, rules.variant, device)
    with writing(options.output) as result_file, progress_bar(f"{bot.name} - {opponent.name}") as report:
        if rules.refereed:
            result = compare_refereed(bot, opponent, options.games, rules, options.seed, report)
        else:
            arguments = (options.games, rules.rules, options.seed, options.batch, device, report)
            result = compare_bots(bot, opponent, *arguments)
        result_file.update(result.to_dict())
    Console().print(arena_table({"match" if rules.match_length else "money": result}))


def ask_reference(options: ReferenceOptions) -> None:
    """Ask the model, print the tables, write the JSON."""
    name = options.model or newest_model()
    choose_threads(options.threads)
    evaluator = load(name, choose_device(options.device).device)
    with writing(options.output) as result_file:
        report = reference_report(evaluator, Path(options.path), name)
        result_file.update(report.to_dict())
    for table in reference_table(report):
        Console().print(table)


@contextmanager
def progress_bar(title: str) -> Iterator[Report]:
    """A bar on standard error that counts games or matches."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    console = Console(stderr=True)
    if not console.is_interactive:  # rich would leave an empty line
        yield lambda done, wanted: None
        return
    with Progress(*columns, TimeElapsedColumn(), TimeRemainingColumn(), console=console, transient=True) as progress:
        task = progress.add_task(title, total=None)
        yield lambda done, wanted: progress.update(task, completed=done, total=wanted)


@contextmanager
def writing(output: str | None) -> Iterator[dict[str, Any]]:
    """A dictionary that is written to the file ``output`` as JSON when all went well.

    The file is opened first: a path that cannot be written is an error before the work, not after it.
    """
    values: dict[str, Any] = {}
    if output is None:
        yield values
        return
    path = Path(output)
    if not path.parent.is_dir() or path.is_dir():
        raise CommandError(f"output: found {output!r}, wanted a file in a folder that exists")
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with open(temporary, "w", encoding="utf-8") as file:
            yield values
            json.dump(values, file, indent=2, allow_nan=False)
            file.write("\n")
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


if __name__ == "__main__":
    sys.exit(main())
