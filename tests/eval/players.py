"""Players for a referee whose every answer a test decides."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from nardy.env import afterstates
from nardy.eval.players import View

Decide = Callable[[View], object]


def legal_plays(view: View) -> Tensor:
    """All afterstates of the play that is asked for."""
    return afterstates(view.board[None], torch.tensor([view.dice]), view.variant, torch.tensor([view.second_first]))[1]


def obliging(view: View) -> Tensor | str:
    """The first legal play; before the roll it rolls, it takes every double and accepts every resignation."""
    return view.choices[0] if view.choices else legal_plays(view)[0]


class Scripted:
    """Answers as ``decide`` says, and where that says None as `obliging`; remembers what it was asked."""

    def __init__(self, decide: Decide = lambda view: None, name: str = "scripted", *partners: str) -> None:
        self.name = name
        self.partners = partners or (name,)
        self.asked: list[View] = []
        self._decide = decide

    def decide(self, view: View) -> Tensor | str:
        self.asked.append(view)
        answer = self._decide(view)
        return obliging(view) if answer is None else answer  # type: ignore[return-value]  # tests answer nonsense too
