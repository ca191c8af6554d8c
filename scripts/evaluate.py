"""What a bot is worth: ``match`` plays two bots, ``reference`` and ``exact`` ask a model where equities are known.

``table`` shows the match equity table that a model plays by.
"""

from __future__ import annotations

import sys
from pathlib import Path

from rich.console import Console

from nardy.eval.bots import make_bot, newest_model
from nardy.eval.exact import exact_report, exact_tables, load_exact
from nardy.eval.luck import make_luck
from nardy.eval.match_equity_report import match_equity_report
from nardy.eval.options import ExactOptions, MatchOptions, ReferenceOptions, TableOptions
from nardy.eval.outside import OutsideBot
from nardy.eval.refereed import compare_in_format
from nardy.eval.reference_report import reference_report
from nardy.eval.result_csv import csv_text
from nardy.eval.session_file import session_settings
from nardy.eval.tables import arena_table, reference_table
from nardy.models import load, read_match_equity, write_match_equity
from nardy.scripts.command import compose, main_guard, split_task, to_dataclass, wants_help
from nardy.scripts.command_help import help_text
from nardy.scripts.device import choose_device, choose_threads
from nardy.scripts.outputs import Outputs, progress_bar, replacing, stages_bar, writing

TASKS = {
    "match": "play bot= against opponent= (the default task)",
    "reference": "measure model= on the reference positions in path=",
    "table": "show the match equity table of model=, compare it with against=, write it to xml=",
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
    elif task == "table":
        show_table(to_dataclass(TableOptions, compose("evaluate", words, TableOptions)))
    else:
        ask_exact(to_dataclass(ExactOptions, compose("evaluate", words, ExactOptions)))
    return 0


def play_match(options: MatchOptions) -> int:
    """Play, print the table, write the files; the exit code: not 0 if the session was stopped."""
    device = choose_device(options.device).device
    choose_threads(options.threads)
    outputs = Outputs.of(options.output)
    rules = options.env
    spec = options.bot or f"model:{newest_model(rules.variant)}"
    bot = make_bot(spec, rules.variant, device, options.outside)
    opponent = make_bot(options.opponent, rules.variant, device, options.outside)
    luck = make_luck(options.luck, rules.variant, device)
    session = options.session(device.type)
    settings = session_settings(bot, opponent, rules, options.seed, options.batch, session.part_deals, luck)
    with (
        writing(outputs.json) as result_file,
        replacing(outputs.csv) as csv_file,
        outputs.keeper(settings) as keeper,
        progress_bar(f"{bot.name} - {opponent.name}") as report,
    ):
        how = (rules, options.seed, options.batch, device, report, session, luck, keeper)
        result = compare_in_format(bot, opponent, options.games, *how)
        result_file.update(result.to_dict())
        csv_file.write_text(csv_text([result]), encoding="utf-8")
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
    for table in reference_table(report):
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
