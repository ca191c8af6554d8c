"""What a bot is worth: ``match`` plays two bots, ``ladder`` many; others ask a model where equities are known.

``reference`` and ``exact`` are those; ``table`` shows the match equity table that a model plays by. ``analysis`` lets
GNU Backgammon judge the games of two bots; ``report`` shows all that is known of a model on one page.
"""

from __future__ import annotations

import sys
from pathlib import Path

from rich.console import Console

from nardy.eval.bots import newest_model
from nardy.eval.exact import exact_report, exact_tables, load_exact
from nardy.eval.match_equity_report import match_equity_report
from nardy.eval.options import (
    AnalysisOptions,
    ExactOptions,
    LadderOptions,
    MatchOptions,
    ReferenceOptions,
    ReportOptions,
    TableOptions,
)
from nardy.eval.reference_engines import calibration_table, engines_table
from nardy.eval.reference_report import reference_report
from nardy.eval.tables import reference_table
from nardy.models import load, read_match_equity, write_match_equity
from nardy.scripts.arena import play_ladder, play_match
from nardy.scripts.command import compose, main_guard, split_task, to_dataclass, wants_help
from nardy.scripts.command_help import help_text
from nardy.scripts.device import choose_device, choose_threads
from nardy.scripts.outputs import stages_bar, writing
from nardy.scripts.report_tasks import judge_bots, make_report

TASKS = {
    "match": "play bot= against opponent= (the default task)",
    "ladder": "let every two of bots= play, and rate them",
    "reference": "measure model= on the reference positions in path=",
    "table": "show the match equity table of model=, compare it with against=, write it to xml=",
    "analysis": "let GNU Backgammon judge games of bot= and opponent=, or those in mat=",
    "report": "write a page and plots of model= to folder=",
    "exact": "measure model= of sprintgammon against the exact solution, which is made if folder= has none",
}


@main_guard
def main(argv: list[str]) -> int:
    """Run one task."""
    task, words = split_task(argv, TASKS, default="match")
    words = [f"eval={task}", *words]
    if wants_help(words):
        print(help_text("nardy-evaluate", "measures what a bot is worth.", "evaluate", words, TASKS))
    elif task == "ladder":
        return play_ladder(to_dataclass(LadderOptions, compose("evaluate", words, LadderOptions)))
    elif task == "match":
        return play_match(to_dataclass(MatchOptions, compose("evaluate", words, MatchOptions)))
    elif task == "reference":
        ask_reference(to_dataclass(ReferenceOptions, compose("evaluate", words, ReferenceOptions)))
    elif task == "analysis":
        return judge_bots(to_dataclass(AnalysisOptions, compose("evaluate", words, AnalysisOptions)))
    elif task == "report":
        make_report(to_dataclass(ReportOptions, compose("evaluate", words, ReportOptions)))
    elif task == "table":
        show_table(to_dataclass(TableOptions, compose("evaluate", words, TableOptions)))
    else:
        ask_exact(to_dataclass(ExactOptions, compose("evaluate", words, ExactOptions)))
    return 0


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


if __name__ == "__main__":
    sys.exit(main())
