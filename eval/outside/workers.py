"""The processes that engines from Python packages run in, and questions to them about many positions at once.

A question of N rows is cut into parts, which the processes take one after the other. Where a part fails, its rows are
asked again one at a time, so that one bad position costs one game. Costs a round trip of some 50 µs a part.
"""

from __future__ import annotations

import struct
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import torch
from torch import Tensor

from .failure import EngineError, OutsideOptions, Patience
from .process import Child

__all__ = ["Workers"]

_HEADER = struct.Struct("<III")
_SCRIPT = Path(__file__).with_name("package_worker.py")


class Workers:
    """Up to ``num_workers`` processes of one engine, started when they are first needed."""

    def __init__(
        self, engine: str, arguments: tuple[str, ...], options: OutsideOptions, patience: Patience, num_workers: int
    ) -> None:
        """``engine`` and its ``arguments`` are those of ``package_worker.py``."""
        self._command = [sys.executable, str(_SCRIPT), engine, *arguments]
        self._options = options
        self._patience = patience
        self._children: list[Child | None] = [None] * num_workers
        self._pool = ThreadPoolExecutor(num_workers, "nardy-outside") if num_workers > 1 else None

    def ask(self, kind: int, rows: Tensor, width: int, rows_a_part: int) -> tuple[Tensor, dict[int, str]]:
        """Answers ``[N, width]`` float32 to ``rows`` ``[N, C]``, zeros where there is none, and why there is none.

        A part of ``rows_a_part`` rows has to be answered within the time limit.
        """
        rows = rows.to(torch.int32).contiguous()
        answers = torch.zeros((len(rows), width))
        parts = iter(range(0, len(rows), rows_a_part))
        lock = threading.Lock()
        failed: list[int] = []

        def work(worker: int) -> None:
            for begin in _locked(parts, lock):
                part = slice(begin, min(begin + rows_a_part, len(rows)))
                try:
                    answers[part] = self._ask(worker, kind, rows[part], width)
                except EngineError:
                    failed.append(begin)

        if self._pool is None or len(rows) <= rows_a_part:
            work(0)
        else:
            list(self._pool.map(work, range(len(self._children))))
        faults: dict[int, str] = {}
        for begin in sorted(failed):
            part = rows[begin : begin + rows_a_part]

            def ask_one(row: int, part: Tensor = part) -> Tensor:
                return self._ask(0, kind, part[row : row + 1], width)

            found, missing = self._patience.each(len(part), ask_one)
            for row, answer in found.items():
                answers[begin + row] = answer[0]
            faults |= {begin + row: reason for row, reason in missing.items()}
        return answers, faults

    def _ask(self, worker: int, kind: int, rows: Tensor, width: int) -> Tensor:
        """Put one question to one process; `EngineError` closes it."""
        deadline = time.monotonic() + self._options.time_limit
        child = self._children[worker]
        try:
            if child is None:
                child = self._children[worker] = Child(self._command)
            child.send(_HEADER.pack(kind, *rows.shape) + rows.numpy().tobytes(), deadline)
            data = bytearray(child.read_exactly(4 * len(rows) * width, deadline))
            answer = torch.frombuffer(data, dtype=torch.float32).view(len(rows), width)
            if not bool(answer.isfinite().all()):
                raise EngineError("found an answer that is not a number")
        except EngineError:
            if child is not None:
                child.close()
            self._children[worker] = None
            raise
        return answer


def _locked(parts: Iterator[int], lock: threading.Lock) -> Iterator[int]:
    """The next part for whoever asks."""
    while True:
        with lock:
            part = next(parts, None)
        if part is None:
            return
        yield part
