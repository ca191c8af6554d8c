"""Sprintgammon with one and with two checkers a side, and the solution of the smaller, made once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from nardy.env.variants import VARIANTS, Variant
from nardy.eval.exact import ExactEvaluator, Solution, solve

SMALL = (Variant("one checker", start=((24, 1),)), Variant("two checkers", start=((24, 1), (23, 1))))


@pytest.fixture(scope="package", autouse=True)
def _small_games() -> Iterator[None]:
    """Known by name while these tests run."""
    VARIANTS.update({rules.name: rules for rules in SMALL})
    yield
    for rules in SMALL:
        del VARIANTS[rules.name]


@pytest.fixture(scope="package")
def solution(_small_games: None) -> Solution:
    """One checker a side."""
    return solve("one checker")


@pytest.fixture(scope="package")
def exact(solution: Solution) -> ExactEvaluator:
    """The same as a player."""
    return ExactEvaluator(solution)
