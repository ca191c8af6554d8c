"""Where results go: JSON, CSV, the file of a session; and bars that show how far the work is."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
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
from nardy.eval.session_file import SessionFile
from nardy.scripts.settings import CommandError

__all__ = ["Outputs", "check_file", "keeping", "progress_bar", "replacing", "stages_bar", "writing"]


_KINDS = {".csv": "csv", ".jsonl": "session", ".png": "plot"}


@dataclass(frozen=True)
class Outputs:
    """The files that ``output=`` asks for; None for what was not asked for."""

    json: Path | None = None
    csv: Path | None = None
    session: Path | None = None
    plot: Path | None = None

    @classmethod
    def of(cls, output: str | None, *kinds: str) -> Outputs:
        """By the ending of the name, one of ``kinds`` or else JSON; a folder, which is made, takes all of them.

        `CommandError` if it cannot be written to, or is of another kind.
        """
        if output is None:
            return cls()
        path = Path(output)
        if output.endswith("/") or path.is_dir():
            path.mkdir(exist_ok=True)
            inside = {"csv": path / "result.csv", "session": path / "session.jsonl", "plot": path / "ladder.png"}
            return cls(path / "result.json", **{kind: inside[kind] for kind in kinds})
        kind = _KINDS.get(path.suffix, "json")
        if kind not in ("json", *kinds):
            wanted = [ending for ending, other in _KINDS.items() if other in kinds]
            raise CommandError(
                f"output: found {output!r}, wanted a name in {', '.join(('.json', *wanted))}, or FOLDER/"
            )
        check_file(output)
        return cls(**{kind: path})

    @property
    def folder(self) -> Path | None:
        """The folder that takes all, None if there is none."""
        return self.json.parent if self.json is not None and self.csv is not None else None


@contextmanager
def keeping(path: Path | None, settings: Mapping[str, Any]) -> Iterator[SessionFile | None]:
    """The file of a session, opened or begun, see `SessionFile`; without ``path`` none."""
    with nullcontext() if path is None else SessionFile(path, settings) as file:
        yield file


def check_file(output: str, key: str = "output") -> None:
    """`CommandError` if there cannot be such a file."""
    path = Path(output)
    if not path.parent.is_dir() or path.is_dir():
        raise CommandError(f"{key}: found {output!r}, wanted a file in a folder that exists")


@contextmanager
def replacing(path: Path | None) -> Iterator[Path]:
    """A temporary file that becomes ``path`` when all went well; without ``path``, the null device.

    It is opened first: a path that cannot be written is an error before the work, not after it.
    """
    if path is None:
        yield Path(os.devnull)
        return
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.touch()
        yield temporary
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def writing(output: str | Path | None) -> Iterator[dict[str, Any]]:
    """A dictionary that is written to the file ``output`` as JSON when all went well."""
    values: dict[str, Any] = {}
    if output is not None:
        check_file(str(output))
    with replacing(None if output is None else Path(output)) as temporary:
        yield values
        temporary.write_text(json.dumps(values, indent=2, allow_nan=False) + "\n", encoding="utf-8")


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
