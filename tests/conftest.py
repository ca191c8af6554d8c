"""What every test shares: ``--full``, the marks that skip, the kernels compiled once a session."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
import torch
from hypothesis import settings

from nardy.env import afterstates, start_boards

# Compiling and a busy machine make single examples slow; what is tested here has no time limit.
settings.register_profile("nardy", deadline=None, derandomize=True)
settings.load_profile("nardy")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--full", action="store_true", help="full counts and slow tests; without it a twentieth")


def pytest_configure() -> None:
    # Batches here are small: more threads would wait for each other, the more so beside pytest-xdist's workers.
    # Tests of threads ask for `torch_threads`.
    torch.set_num_threads(1)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    skips = []
    if not config.getoption("--full"):
        skips.append(("slow", "slow: needs --full"))
    if not torch.cuda.is_available():
        skips.append(("gpu", "gpu: needs a CUDA device"))
    for item in items:
        for mark, reason in skips:
            if mark in item.keywords:
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session")
def full(request: pytest.FixtureRequest) -> bool:
    """Was ``--full`` given?"""
    return bool(request.config.getoption("--full"))


@pytest.fixture(scope="session")
def scale(full: bool) -> Callable[[int], int]:
    """Turns a full count into the count of this session: all of it with ``--full``, else a twentieth."""
    return lambda count: count if full else max(1, count // 20)


@pytest.fixture(scope="session", autouse=True)
def _kernels() -> None:
    """Compile or load the move generator before the first test, so that no test pays for it."""
    afterstates(start_boards(1), torch.tensor([[3, 1]]))


@pytest.fixture
def torch_threads() -> Iterator[Callable[[int], None]]:
    """``torch.set_num_threads``, set back after the test."""
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)
