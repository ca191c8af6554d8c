"""Launching Warp kernels on tensors, the same call for CPU and CUDA.

Every kernel here takes ``first`` as its first argument and handles row ``first + wp.tid()``. A CPU launch
runs on the calling thread but releases the interpreter lock, so the rows are split over a pool of `num_threads`
threads; on CUDA it is one launch on torch's current stream. Nothing is allocated, nothing
waits for the device. Tensors are passed as they are: the memory is shared, and must be contiguous.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from itertools import pairwise
from typing import Any

import torch
import warp as wp
from torch import Tensor

__all__ = ["launch_rows", "num_threads", "over_rows", "share", "split_rows", "threads_in_use", "use_threads"]


def _initialise_warp() -> None:
    """Start Warp without its banner, and without the native library's warning where there is no GPU."""
    wp.config.log_level = wp.LOG_ERROR
    if torch.cuda.is_available():
        wp.init()  # type: ignore[no-untyped-call]  # Warp has no annotations there
        return
    sys.stderr.flush()
    saved, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        wp.init()  # type: ignore[no-untyped-call]  # as above
    finally:
        os.dup2(saved, 2)
        os.close(saved)
        os.close(nowhere)


_initialise_warp()

_BLOCK_DIM = 256

# Below this many rows a second thread costs more than it brings.
_MIN_ROWS_PER_THREAD = 256
_pool: ThreadPoolExecutor | None = None
_num_threads = 0
_local = threading.local()
_part_lock = threading.Lock()
_load_lock = threading.Lock()
_loaded: set[tuple[str, str]] = set()


def use_threads(num_threads: int) -> None:
    """Split rows over so many CPU threads from now on, and let torch itself use one.

    Torch's own threads wait for each other by spinning: where another program needs a core, one small operation can
    take a hundred times its time. Threads that each work through a large share do not.
    """
    global _num_threads  # noqa: PLW0603  # a setting of the process
    if num_threads < 1:
        raise ValueError(f"threads: found {num_threads}, wanted 1 or more")
    torch.set_num_threads(1)
    _num_threads = num_threads


@contextmanager
def threads_in_use(num_threads: int) -> Iterator[None]:
    """`use_threads` for a while; afterwards all is as before."""
    global _num_threads  # noqa: PLW0603  # as above
    before = _num_threads, torch.get_num_threads()
    use_threads(num_threads)
    try:
        yield
    finally:
        _num_threads = before[0]
        torch.set_num_threads(before[1])


def num_threads() -> int:
    """Threads that rows are split over: as `use_threads` said, else as many as torch uses; one inside a part."""
    if getattr(_local, "is_worker", False):
        return 1
    return _num_threads or torch.get_num_threads()


def _become_worker() -> None:
    _local.is_worker = True
    torch.set_num_threads(1)


def _thread_pool() -> ThreadPoolExecutor:
    global _pool  # noqa: PLW0603  # one pool a process, made at the first use
    if _pool is None:
        _pool = ThreadPoolExecutor(32, "nardy-rows", initializer=_become_worker)
    return _pool


def split_rows(work: Callable[[int, int], None], num_rows: int, min_rows: int, max_rows: int | None = None) -> None:
    """Run ``work(begin, end)`` over 0 to ``num_rows`` on `num_threads` threads, the caller's among them, and wait.

    No part is smaller than ``min_rows`` unless all is. With ``max_rows`` no part is larger: the threads take the parts
    one after the other, so that one whose core is busy elsewhere takes fewer, and there are as many for each thread.
    ``work`` must release the interpreter lock to gain anything.
    """
    if num_rows == 0:
        return
    num_parts = min(num_threads(), max(1, num_rows // min_rows))
    if max_rows is not None:
        least = max(num_parts, -(-num_rows // max_rows))
        num_parts = min(num_rows, -(-least // num_parts) * num_parts)
    bounds = [num_rows * part // num_parts for part in range(num_parts + 1)]
    parts = pairwise(bounds)
    if num_threads() == 1 or num_parts == 1:
        for part in parts:
            work(*part)
        return

    def take_parts() -> None:
        while True:
            with _part_lock:
                part = next(parts, None)
            if part is None:
                return
            work(*part)

    helpers = [_thread_pool().submit(take_parts) for _ in range(min(num_threads(), num_parts) - 1)]
    torch_threads = torch.get_num_threads()
    try:
        _become_worker()
        take_parts()
    finally:
        _local.is_worker = False
        torch.set_num_threads(torch_threads)
        for helper in helpers:
            helper.result()


def over_rows(
    work: Callable[[int, int], None],
    num_rows: int,
    min_rows: int,
    max_rows: int | None = None,
    *,
    device: torch.device,
    gpu_rows: int | None = None,
) -> None:
    """`split_rows` where ``device`` is a CPU; on a GPU the caller works on ``gpu_rows`` at once, all if None."""
    if device.type == "cpu":
        split_rows(work, num_rows, min_rows, max_rows)
        return
    for begin in range(0, num_rows, gpu_rows or max(1, num_rows)):
        work(begin, min(num_rows, begin + (gpu_rows or num_rows)))


def share(kernel: Any, *arguments: Any) -> tuple[Any, ...]:
    """The arguments of ``kernel`` that follow ``first``, or the first ones of them, ready for more than one launch.

    Tensors become views of their memory, which they must outlive; what is ready already stays.
    """
    types = [parameter.type for parameter in kernel.adj.args][1:]
    return tuple(map(_as_warp, arguments, types))  # perhaps only the first ones


def _as_warp(argument: Any, kernel_type: Any) -> Any:
    if not isinstance(argument, Tensor):
        return argument
    return wp.from_torch(argument, dtype=kernel_type.dtype, return_ctype=True)


@cache
def _warp_stream(stream: torch.cuda.Stream) -> Any:
    """The same stream as Warp has it; made once, for each registers an event with the driver."""
    return wp.stream_from_torch(stream)  # type: ignore[no-untyped-call]  # as above


def launch_rows(kernel: Any, num_rows: int, *arguments: Any, device: torch.device, first_row: int = 0) -> None:
    """Run ``kernel`` for ``num_rows`` rows from ``first_row`` on ``device``; returns before CUDA has finished.

    Tensor arguments must be contiguous and live on ``device``, or have been through `share`; others go by value.
    """
    if num_rows == 0:
        return
    values = share(kernel, *arguments)
    if device.type == "cuda":
        stream = _warp_stream(torch.cuda.current_stream(device))
        wp.launch(kernel, dim=num_rows, inputs=[first_row, *values], stream=stream, block_dim=_BLOCK_DIM)
        return
    key = (kernel.module.name, kernel.key)
    if key not in _loaded:  # compiling is not safe from several threads at once
        with _load_lock:
            kernel.module.load("cpu", block_dim=1)  # as a CPU launch does, or it is compiled twice
            _loaded.add(key)

    def work(begin: int, end: int) -> None:
        wp.launch(kernel, dim=end - begin, inputs=[first_row + begin, *values], device="cpu")

    split_rows(work, num_rows, _MIN_ROWS_PER_THREAD)
