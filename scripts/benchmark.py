"""Speed measurements: ``python scripts/benchmark.py TASK [key=value ...]``, or ``nardy-benchmark``.

A task is a frozen dataclass of settings and the function that measures; both live with what they measure.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any, get_type_hints

from rich.console import Console

from nardy.eval.engine_benchmark import EngineSettings, run_engine_benchmark
from nardy.train.benchmark import SelfPlaySettings, run_learner_benchmark, run_selfplay_benchmark


@dataclass(frozen=True)
class Task:
    """One thing to measure: its settings, whose fields are the keys of the command line, and how it runs."""

    summary: str
    settings: type[Any]
    run: Callable[[Any, Console], object]


TASKS = {
    "engine": Task("listing a turn's afterstates, beside gnubg-nn and OpenSpiel", EngineSettings, run_engine_benchmark),
    "selfplay": Task("a ply of self-play, beside the network alone", SelfPlaySettings, run_selfplay_benchmark),
    "learner": Task("self-play with learning, beside the network alone", SelfPlaySettings, run_learner_benchmark),
}
ALL = "all"  # every task with its default settings


def usage() -> str:
    """The tasks and their keys with the default values."""
    lines = ["usage: benchmark.py TASK [key=value ...]", f"  {ALL}: every task with its default settings"]
    for name, task in TASKS.items():
        keys = " ".join(f"{field.name}={field.default}" for field in fields(task.settings))
        lines.append(f"  {name}: {task.summary}\n    {keys}")
    return "\n".join(lines)


def parse_settings(words: Sequence[str], kind: type[Any]) -> Any:
    """Make the settings of ``kind`` from ``key=value`` words; ``ValueError`` says which word is wrong."""
    types = get_type_hints(kind)
    values: dict[str, Any] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or key not in types:
            raise ValueError(f"found {word!r}, wanted key=value with a key of: {', '.join(types)}")
        try:
            values[key] = types[key](value)
        except ValueError:
            raise ValueError(f"{key}: found {value!r}, wanted {types[key].__name__}") from None
    return kind(**values)


def main() -> int:
    """Run the task that the command line names; the exit code is 2 if the command line is wrong, 1 if it fails."""
    words = sys.argv[1:]
    if words in (["--help"], ["-h"]):
        print(usage())
        return 0
    if words == [ALL]:
        return max(_run(name, []) for name in TASKS)
    if not words or words[0] not in TASKS:
        found = f"found {words[0]!r}" if words else "found none"
        names = ", ".join([*TASKS, ALL])
        print(f"benchmark: task: {found}, wanted one of: {names} (--help lists the keys)", file=sys.stderr)
        return 2
    return _run(words[0], words[1:])


def _run(name: str, words: Sequence[str]) -> int:
    """Run one task; its exit code."""
    task = TASKS[name]
    try:
        settings = parse_settings(words, task.settings)
    except ValueError as error:
        print(f"benchmark {name}: {error}", file=sys.stderr)
        return 2
    try:
        task.run(settings, Console())
    except (RuntimeError, OSError) as error:
        print(f"benchmark {name}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
