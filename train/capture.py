"""Capturing work as a CUDA graph: the same launches on the same memory, repeated as one."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TypeVar

import torch

__all__ = ["capture", "rehearse"]

_Result = TypeVar("_Result")


@cache
def _stream(device: int) -> torch.cuda.Stream:
    """Where all captures of a GPU are made: each stream keeps a workspace of the libraries."""
    return torch.cuda.Stream(device)  # type: ignore[no-untyped-call]  # torch has no annotations there


def rehearse(work: Callable[[], _Result]) -> _Result:
    """Do ``work`` where it will be captured: libraries allocate what they need in their first call."""
    here, there = torch.cuda.current_stream(), _stream(torch.cuda.current_device())
    there.wait_stream(here)
    with torch.cuda.stream(there):
        result = work()
    here.wait_stream(there)
    return result


def capture(work: Callable[[], _Result]) -> tuple[torch.cuda.CUDAGraph, _Result]:
    """``work`` as a graph, and its result, which each replay makes anew in place; ``RuntimeError`` if it cannot be."""
    graph = torch.cuda.CUDAGraph()
    there = _stream(torch.cuda.current_device())
    # The outer context returns to this stream even if the capture fails at its end. Other threads may go on meanwhile.
    with (
        torch.cuda.stream(torch.cuda.current_stream()),
        torch.cuda.graph(graph, stream=there, capture_error_mode="thread_local"),
    ):
        result = work()
    return graph, result
