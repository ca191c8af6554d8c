"""Sharing rows among threads: every row once, whatever the sizes, and errors arrive."""

from __future__ import annotations

import threading

import pytest
import torch

from nardy.env import launch
from nardy.env.launch import over_rows, split_rows, threads_in_use, use_threads


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("max_rows", [None, 1, 7, 1000])
@pytest.mark.parametrize("num_rows", [0, 1, 6, 50, 333])
def test_every_row_is_worked_on_exactly_once(num_rows: int, max_rows: int | None, threads: int) -> None:
    counts = torch.zeros(num_rows, dtype=torch.int64)
    sizes: list[int] = []
    lock = threading.Lock()

    def work(begin: int, end: int) -> None:
        with lock:
            counts[begin:end] += 1
            sizes.append(end - begin)

    with threads_in_use(threads):
        split_rows(work, num_rows, 4, max_rows)
    assert bool((counts == 1).all())
    assert all(size > 0 for size in sizes)
    if max_rows is not None:
        assert max(sizes, default=0) <= max_rows


@pytest.mark.parametrize(
    ("threads", "num_rows", "parts"), [(2, 100, 10), (2, 101, 12), (3, 100, 12), (3, 35, 6), (1, 101, 11)]
)
def test_every_thread_gets_as_many_parts_of_one_size(threads: int, num_rows: int, parts: int) -> None:
    sizes: list[int] = []
    lock = threading.Lock()

    def work(begin: int, end: int) -> None:
        with lock:
            sizes.append(end - begin)

    with threads_in_use(threads):
        split_rows(work, num_rows, 2, 10)
    assert len(sizes) == parts
    assert max(sizes) - min(sizes) <= 1


def test_inside_a_part_everything_runs_on_one_thread() -> None:
    seen: list[tuple[int, int]] = []

    def work(_begin: int, _end: int) -> None:
        seen.append((launch.num_threads(), torch.get_num_threads()))

    with threads_in_use(3):
        split_rows(work, 30, 1)
        assert launch.num_threads() == 3
    assert seen == [(1, 1)] * 3


@pytest.mark.parametrize("where", [0, 1, 2])
def test_an_error_in_any_part_reaches_the_caller_and_the_threads_stay_usable(where: int) -> None:
    def work(begin: int, _end: int) -> None:
        if begin == where * 10:
            raise RuntimeError(f"part {where}")

    with threads_in_use(3):
        with pytest.raises(RuntimeError, match=f"part {where}"):
            split_rows(work, 30, 10)
        assert launch.num_threads() == 3
        done: list[int] = []
        split_rows(lambda begin, end: done.append(end - begin), 30, 10)
        assert sum(done) == 30


def test_threads_are_set_back_and_less_than_one_is_refused() -> None:
    before = launch.num_threads(), torch.get_num_threads()
    with threads_in_use(4):
        assert launch.num_threads() == 4
        assert torch.get_num_threads() == 1
    assert (launch.num_threads(), torch.get_num_threads()) == before
    with pytest.raises(ValueError, match="threads: found 0"):
        use_threads(0)


@pytest.mark.parametrize("num_rows", [0, 1, 7, 8, 9, 40])
@pytest.mark.parametrize("gpu_rows", [None, 8])
def test_a_gpus_rows_are_launched_in_order_by_the_callers_thread(num_rows: int, gpu_rows: int | None) -> None:
    parts: list[tuple[int, int]] = []
    threads: set[int] = set()

    def work(begin: int, end: int) -> None:
        parts.append((begin, end))
        threads.add(threading.get_ident())

    with threads_in_use(3):
        over_rows(work, num_rows, 1, 2, device=torch.device("cuda"), gpu_rows=gpu_rows)
    step = gpu_rows or max(1, num_rows)
    assert parts == [(begin, min(begin + step, num_rows)) for begin in range(0, num_rows, step)]
    assert threads <= {threading.get_ident()}
    with threads_in_use(3):
        parts.clear()
        over_rows(work, num_rows, 1, 2, device=torch.device("cpu"), gpu_rows=gpu_rows)
    assert sum(end - begin for begin, end in parts) == num_rows
    assert all(end - begin <= 2 for begin, end in parts)
