"""What a bot is worth: ``match`` plays two bots, ``reference`` and ``exact`` ask a model where equities are known.

``analysis`` lets GNU Backgammon judge the games of two bots.
``table`` shows the match equity table that a model plays by.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from nardy.env import GameOptions
from nardy.env.notation import MatchRecord, NotationError, match_text, read_match_text, under_rules
from nardy.eval.arena import Progress as Report
from nardy.eval.bots import make_bot, newest_model
from nardy.eval.error_rates import error_table, judge_games, play_games
from nardy.eval.exact import exact_report, exact_tables, load_exact
from nardy.eval.exact.transitions import Progress as StageReport
from nardy.eval.exact.transitions import nothing
from nardy.eval.match_equity_report import match_equity_report
from nardy.eval.options import AnalysisOptions, ExactOptions, MatchOptions, ReferenceOptions, TableOptions
from nardy.eval.outside import OutsideBot
from nardy.eval.outside.failure import EngineError
from nardy.eval.outside.gnubg_analysis import find_gnubg
from nardy.eval.refereed import compare_refereed
from nardy.eval.reference_engines import calibration_table, engines_table
from nardy.eval.reference_report import reference_report
from nardy.eval.results import check_bots, compare_bots
from nardy.eval.tables import arena_table, reference_table
from nardy.models import load, read_match_equity, write_match_equity
from nardy.models.bundle import write_file
from nardy.scripts.command import CommandError, compose, main_guard, split_task, to_dataclass, wants_help
from nardy.scripts.command_help import help_text
from nardy.scripts.device import choose_device, choose_threads

TASKS = {
    "match": "play bot= against opponent= (the default task)",
    "reference": "measure model= on the reference positions in path=",
    "table": "show the match equity table of model=, compare it with against=, write it to xml=",
    "analysis": "let GNU Backgammon judge games of bot= and opponent=, or those in mat=",
    "exact": "measure model= of sprintgammon against the exact solution, which is made if folder= has none",
}


@main_guard
def main(argv: list[str]) -> int:
    """Run one task."""
    task, words = split_task(argv, TASKS, default="match")
    words = [f"eval={task}", *words]
    if wants_help(words):
        print(help_text("nardy-evaluate", "measures what a bot is worth.", "evaluate", words, TASKS))
    elif task == "match":
        return play_match(to_dataclass(MatchOptions, compose("evaluate", words, MatchOptions)))
    elif task == "reference":
        ask_reference(to_dataclass(ReferenceOptions, compose("evaluate", words, ReferenceOptions)))
    elif task == "analysis":
        return judge_bots(to_dataclass(AnalysisOptions, compose("evaluate", words, AnalysisOptions)))
    elif task == "table":
        show_table(to_dataclass(TableOptions, compose("evaluate", words, TableOptions)))
    else:
        ask_exact(to_dataclass(ExactOptions, compose("evaluate", words, ExactOptions)))
    return 0


def play_match(options: MatchOptions) -> int:
    """Play, print the table, write the JSON; the exit code: not 0 if the session was stopped."""
    device = choose_device(options.device).device
    choose_threads(options.threads)
    rules = options.env
    spec = options.bot or f"model:{newest_model(rules.variant)}"
    bot = make_bot(spec, rules.variant, device, options.outside)
    opponent = make_bot(options.opponent, rules.variant, device, options.outside)
    with writing(options.output) as result_file, progress_bar(f"{bot.name} - {opponent.name}") as report:
        if rules.refereed:
            result = compare_refereed(bot, opponent, options.games, rules, options.seed, report)
        else:
            arguments = (options.games, rules.rules, options.seed, options.batch, device, report)
            result = compare_bots(bot, opponent, *arguments)
        result_file.update(result.to_dict())
    Console().print(arena_table({"match" if rules.match_length else "money": result}))
    for each in (bot, opponent):
        if isinstance(each, OutsideBot) and each.patience.last_fault:
            print(f"{each.name}: the last failure: {each.patience.last_fault}", file=sys.stderr)
    if result.stopped:
        print(f"stopped after {2 * result.num_deals:,} of {options.games:,}: {result.stopped}", file=sys.stderr)
    return int(bool(result.stopped))


def ask_reference(options: ReferenceOptions) -> None:
    """Ask the model, print the tables, write the JSON."""
    name = options.model or newest_model()
    choose_threads(options.threads)
    evaluator = load(name, choose_device(options.device).device)
    with writing(options.output) as result_file:
        report = reference_report(evaluator, Path(options.path), name, evaluator.by_formula(options.cube_life))
        result_file.update(report.to_dict())
    for table in (*reference_table(report), calibration_table(report), engines_table(report)):
        Console().print(table)


def judge_bots(options: AnalysisOptions) -> int:
    """Play or read games, have them judged, print the table, write the JSON; the exit code: not 0 if stopped."""
    program = find_gnubg(options.gnubg.command)  # before the games are played
    choose_threads(options.threads)
    stopped = ""
    with writing(options.output) as result_file:
        if options.mat is not None:
            matches = [read_match(Path(options.mat), options.env.jacoby)]
        else:
            device = choose_device(options.device).device
            specs = options.bot or f"model:{newest_model()}", options.opponent
            first, second = (make_bot(spec, "backgammon", device, options.outside) for spec in specs)
            check_bots(options.env, first, second)
            with progress_bar(f"{first.name} - {second.name}") as report:
                matches, stopped = play_games((first, second), options.env, options.games, options.seed, report)
            save_matches(matches, options.save)
        with progress_bar(Path(program).name) as report:
            try:
                rates = judge_games(matches, options.gnubg, report)
            except EngineError as error:
                raise CommandError(str(error)) from None
        rates = replace(rates, stopped=rates.stopped or stopped)
        result_file.update(rates.to_dict())
    Console().print(error_table(rates))
    if rates.stopped:
        print(f"stopped after {rates.num_games:,} games: {rates.stopped}", file=sys.stderr)
    return int(bool(rates.stopped))


def read_match(path: Path, jacoby: bool) -> MatchRecord:
    """The games of a ``.mat`` file; the rule for money games is not told there."""
    try:
        match = read_match_text(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        raise CommandError(f"mat: {path}: found no text, wanted a .mat file") from None
    except NotationError as error:
        raise CommandError(f"mat: {path}: {error}") from None
    return under_rules(match, GameOptions(match_length=match.match_length, jacoby=jacoby and not match.match_length))


def save_matches(matches: Sequence[MatchRecord], save: str | None) -> None:
    """Write ``.mat``: one file for a session of money games, one a match."""
    if save is None:
        return
    path = Path(save)
    for number, match in enumerate(matches, start=1):
        name = path if len(matches) == 1 else path.with_name(f"{path.stem}-{number}{path.suffix or '.mat'}")
        write_file(name, match_text(match).encode())


def show_table(options: TableOptions) -> None:
    """Show and compare the model's match equity table, write it as XML, write the JSON."""
    choose_threads(options.threads)
    other = read_match_equity(options.against) if options.against else None
    table = load(options.model or newest_model(), choose_device(options.device).device).table
    with writing(options.output) as result_file:
        report = match_equity_report(table, other)
        result_file.update(report.to_dict())
    if options.xml:
        write_match_equity(options.xml, table)
    for shown in report.tables():
        Console().print(shown)


def ask_exact(options: ExactOptions) -> None:
    """Find or make the exact solution, ask the model, print the tables, write the JSON."""
    name = options.model or newest_model("sprintgammon")
    device = choose_device(options.device).device
    choose_threads(options.threads)
    evaluator = load(name, device)
    with writing(options.output) as result_file, stages_bar() as report:
        exact = load_exact(options.folder, evaluator.variant, report, device)
        asked = (options.decisions, options.positions, options.seed, report, evaluator.by_formula(options.cube_life))
        found = exact_report(evaluator, exact, name, *asked)
        result_file.update({"solution": exact.solution.facts, **found.to_dict()})
    for table in exact_tables(found):
        Console().print(table)


@contextmanager
def stages_bar() -> Iterator[StageReport]:
    """A bar on standard error for each stage of some work."""
    console = Console(stderr=True)
    if not console.is_interactive:
        yield nothing
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn())
    with Progress(*columns, TimeElapsedColumn(), TimeRemainingColumn(), console=console, transient=True) as progress:
        tasks: dict[str, TaskID] = {}

        def report(what: str, share: float) -> None:
            if what not in tasks:
                tasks[what] = progress.add_task(what, total=1.0)
            progress.update(tasks[what], completed=share)

        yield report


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
