"""Where results go, and bars that show how far the work is."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
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

from nardy.eval.arena import Progress as Report
from nardy.eval.exact.transitions import Progress as StageReport
from nardy.eval.exact.transitions import nothing
from nardy.scripts.settings import CommandError

__all__ = ["progress_bar", "stages_bar", "writing"]


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
