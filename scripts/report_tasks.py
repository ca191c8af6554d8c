"""Tasks of ``evaluate.py`` that sum up: another engine's judgement of games, and the report of a model."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from importlib.metadata import version
from pathlib import Path

from rich.console import Console

from nardy.env import GameOptions
from nardy.env.notation import MatchRecord, NotationError, match_text, read_match_text, under_rules
from nardy.eval.bots import make_bot, newest_model
from nardy.eval.error_rates import error_table, judge_games, play_games
from nardy.eval.exact import ExactEvaluator, load_exact
from nardy.eval.options import AnalysisOptions, ReportOptions
from nardy.eval.outside.failure import EngineError
from nardy.eval.outside.gnubg_analysis import find_gnubg
from nardy.eval.report import build_report, write_report
from nardy.eval.report.files import read_results
from nardy.eval.results import check_bots
from nardy.models import load
from nardy.models.bundle import write_file
from nardy.scripts.command import CommandError
from nardy.scripts.device import choose_device, choose_threads
from nardy.scripts.outputs import progress_bar, writing
from nardy.train import read_metrics

__all__ = ["judge_bots", "make_report"]


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
                rates = judge_games(matches, options.gnubg, report, options.env.jacoby, options.env.cube)
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


def make_report(options: ReportOptions) -> None:
    """Gather what is known of the model, write the page and its plots, name the files and what is missing."""
    device = choose_device(options.device).device
    choose_threads(options.threads)
    name = options.model or newest_model(options.variant)
    evaluator = load(name, device)
    run = Path(options.run) if options.run is not None else Path(name)
    if options.run is not None and not run.is_dir():
        raise CommandError(f"run: found no folder {options.run!r}, wanted that of a training run")
    places = [run] if run.is_dir() else []
    for place in options.results:
        if not Path(place).exists():
            raise CommandError(f"results: found nothing at {place!r}, wanted a JSON file or a folder of them")
        places.append(Path(place))
    reference = Path(options.path) if Path(options.path).is_dir() else None
    exact: ExactEvaluator | None = None
    if options.exact is not None and evaluator.variant == "sprintgammon":
        exact = load_exact(options.exact, evaluator.variant, device=device)
    with writing(options.output) as result_file:
        with progress_bar("games against itself") as progress:
            report = build_report(
                evaluator,
                name,
                read_metrics(run),
                read_results(places),
                reference,
                exact,
                options.games,
                options.worst,
                options.seed,
                progress,
            )
        made = f"Made by nardy {version('nardy')}, evaluate.py report, on {date.today().isoformat()}."
        files = write_report(report, Path(options.folder), made)
        result_file.update(report.to_dict())
    for path in files:
        print(path)
    for what, why in (*report.missing, *report.ignored.items()):
        print(f"not in it: {what}: {why}", file=sys.stderr)
