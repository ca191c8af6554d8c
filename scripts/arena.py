"""The tasks ``match`` and ``ladder`` of ``evaluate.py``: sessions of bots, shown and kept."""

from __future__ import annotations

import hashlib
import re
import sys
from pathlib import Path

import torch
from rich.console import Console

from nardy.eval.arena import Progress as Report
from nardy.eval.bots import Bot, make_bot, newest_model
from nardy.eval.ladder import Entry, list_entries, list_pairs, pair_seed, rate
from nardy.eval.ladder_report import draw_ladder, ladder_table
from nardy.eval.luck import Luck, make_luck
from nardy.eval.options import LadderOptions, MatchOptions
from nardy.eval.outside import BotFailedError, OutsideBot
from nardy.eval.recording import mat_texts
from nardy.eval.refereed import compare_in_format
from nardy.eval.result_csv import csv_text
from nardy.eval.results import ArenaResult
from nardy.eval.session_file import session_settings
from nardy.eval.tables import arena_table
from nardy.models.bundle import write_file
from nardy.scripts.device import choose_device, choose_threads
from nardy.scripts.outputs import Outputs, check_file, keeping, progress_bar, replacing, writing

__all__ = ["play_ladder", "play_match"]


def play_match(options: MatchOptions) -> int:
    """Play, print the table, write the files; the exit code: not 0 if the session was stopped."""
    device = choose_device(options.device).device
    choose_threads(options.threads)
    outputs = Outputs.of(options.output, "csv", "session")
    if options.mat is not None:
        check_file(options.mat, "mat")
    variant = options.env.variant
    spec = options.bot or f"model:{newest_model(variant)}"
    bots = [make_bot(each, variant, device, options.outside) for each in (spec, options.opponent)]
    luck = make_luck(options.luck, variant, device)
    with (
        writing(outputs.json) as result_file,
        replacing(outputs.csv) as csv_file,
        progress_bar(f"{bots[0].name} - {bots[1].name}") as report,
    ):
        result = _play(options, bots[0], bots[1], luck, device, outputs.session, report)
        result_file.update(result.to_dict())
        csv_file.write_text(csv_text([result]), encoding="utf-8")
        mats = _match_files(options, result)
    for name, text in mats.items():
        write_file(name, text.encode())
    Console().print(arena_table({"match" if options.env.match_length else "money": result}))
    return _say_what_failed([result], bots)


def play_ladder(options: LadderOptions) -> int:
    """Play all pairs, print the ratings, write the files; the exit code: not 0 if a pair was stopped."""
    device = choose_device(options.device).device
    choose_threads(options.threads)
    outputs = Outputs.of(options.output, "csv", "plot")
    variant = options.env.variant
    entries = list_entries(options.bots, options.checkpoints)
    pairs, zero = list_pairs(entries, options.anchors)
    bots = [make_bot(entry.spec, variant, device, options.outside) for entry in entries]
    luck = make_luck(options.luck, variant, device)
    sessions = None if outputs.folder is None else outputs.folder / "sessions"
    if sessions is not None:
        sessions.mkdir(exist_ok=True)
    failures: list[str] = []
    with (
        writing(outputs.json) as result_file,
        replacing(outputs.csv) as csv_file,
        replacing(outputs.plot) as plot_file,
        progress_bar("ladder") as report,
    ):

        def play(one: int, other: int) -> ArenaResult | None:
            first, second = entries[one], entries[other]
            settings = options.pair(first.spec, second.spec, pair_seed(options.seed, first, second))
            path = None if sessions is None else sessions / _file_name(first, second)
            before = pairs.index((one, other)) * options.games

            def within(done: int, _wanted: int) -> None:
                report(before + done, len(pairs) * options.games)

            try:
                return _play(settings, bots[one], bots[other], luck, device, path, within)
            except BotFailedError as failure:
                failures.append(f"{first.label} - {second.label}: {failure}")
                return None

        ladder = rate(entries, pairs, zero, play)
        result_file.update(ladder.to_dict())
        csv_file.write_text(csv_text(ladder.results), encoding="utf-8")
        if outputs.plot is not None:
            plot_file.write_bytes(draw_ladder(ladder))
    Console().print(ladder_table(ladder))
    for failure in failures:
        print(failure, file=sys.stderr)
    return _say_what_failed(ladder.results, bots) or int(bool(failures))


def _play(
    options: MatchOptions,
    bot: Bot,
    opponent: Bot,
    luck: Luck | None,
    device: torch.device,
    path: Path | None,
    report: Report,
) -> ArenaResult:
    """One session, which goes on from the file ``path`` and is kept there, if there is one."""
    session = options.session(device.type)
    settings = session_settings(bot, opponent, options.env, options.seed, options.batch, session, luck)
    with keeping(path, settings) as keeper:
        how = (options.env, options.seed, options.batch, device, report, session, luck, keeper)
        return compare_in_format(bot, opponent, options.games, *how)


def _match_files(options: MatchOptions, result: ArenaResult) -> dict[Path, str]:
    """The recorded games as match text by the names of their files: one, of several matches numbered."""
    if options.mat is None:
        return {}
    texts, path = mat_texts(result.matches[: options.mat_games]), Path(options.mat)
    if len(texts) < 2:
        return dict.fromkeys([path], *texts) if texts else {}
    return {path.with_name(f"{path.stem}-{number}{path.suffix}"): text for number, text in enumerate(texts, start=1)}


def _file_name(first: Entry, second: Entry) -> str:
    """A name for a pair's file that a person can read, and that no other pair has."""
    names = "-vs-".join(re.sub(r"[^\w.@-]+", "_", entry.label)[-40:].strip("_") for entry in (first, second))
    digest = hashlib.sha256(f"{first.spec}\n{second.spec}".encode()).hexdigest()[:8]
    return f"{names}-{digest}.jsonl"


def _say_what_failed(results: list[ArenaResult] | tuple[ArenaResult, ...], bots: list[Bot]) -> int:
    """Say on standard error which bots failed and which sessions were stopped; 1 if one was."""
    for each in bots:
        if isinstance(each, OutsideBot) and each.patience.last_fault:
            print(f"{each.name}: the last failure: {each.patience.last_fault}", file=sys.stderr)
    stopped = [result for result in results if result.stopped]
    for result in stopped:
        print(
            f"stopped after {2 * result.num_deals:,} of {2 * result.deals_wanted:,}: {result.stopped}", file=sys.stderr
        )
    return int(bool(stopped))
