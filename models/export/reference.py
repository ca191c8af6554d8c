"""Positions on which a reader of an exported model can check his work, and the model's answers to them."""

from __future__ import annotations

import random
from typing import Any

import torch
from torch import Tensor

from ...env import afterstates, flip, start_boards
from ..evaluator import Evaluator
from .graph import BoardModel, money_inputs

__all__ = ["answers", "played_positions", "reference"]

_DECIMALS = 7


def played_positions(evaluator: Evaluator, count: int, seed: int = 0) -> tuple[Tensor, Tensor]:
    """``(boards, dice)`` of ``count`` decisions of cubeless games of the model against itself, on the CPU.

    ``boards`` ``[N, 2, 26]`` int8 before the play of ``dice`` ``[N, 2]``; games are side by side, each begun anew as it
    ends. At least fifty turns follow each other, so that all stages of a game are seen.
    """
    slots = min(256, -(-count // 50))
    generator = torch.Generator().manual_seed(seed)
    boards = start_boards(slots, evaluator.variant)
    begun = torch.zeros(slots, dtype=torch.int64)
    seen: list[tuple[Tensor, Tensor]] = []
    start = boards.clone()
    for ply in range(-(-count // slots)):
        dice = torch.randint(1, 7, (slots, 2), generator=generator)
        seen.append((boards, dice))
        second_first = torch.full((slots,), ply, dtype=torch.int64) == begun + 1
        game, ends = afterstates(boards, dice, evaluator.variant, second_first)
        first = torch.searchsorted(game, torch.arange(slots))
        boards = flip(ends[first + evaluator.best(boards, dice, second_first=second_first)])
        over = evaluator.outcome(boards).amax(1) == 1
        over &= (boards[:, :, 0] == start[:, :, 1:].sum(-1)).any(1)
        boards = torch.where(over[:, None, None], start, boards)
        begun = torch.where(over, ply + 1, begun)
    joined = torch.cat([each for each, _ in seen]), torch.cat([each for _, each in seen])
    return joined[0][:count], joined[1][:count]


def answers(evaluator: Evaluator, boards: Tensor) -> dict[str, Tensor]:
    """What the exported forms of the model say, computed by torch on the CPU, by name."""
    model = BoardModel(evaluator.network, evaluator.variant).cpu().eval()
    with torch.no_grad():
        outputs = model(boards.cpu(), *(money_inputs() if model.has_stakes else ()))
    return dict(zip(model.output_names, outputs, strict=True))


def reference(evaluator: Evaluator, count: int = 4) -> dict[str, Any]:
    """The opening position, some others and the model's answers, as JSON values."""
    played, _ = played_positions(evaluator, 100 * count, seed=1)
    chosen = random.Random(1).sample(range(len(played)), count - 1)  # noqa: S311  # not for secrets
    boards = torch.cat([start_boards(1, evaluator.variant), played[chosen]])
    outputs = {name: _rounded(value) for name, value in answers(evaluator, boards).items() if name != "no_double_stake"}
    return {"boards": boards.tolist(), **outputs}


def _rounded(values: Tensor) -> list[list[float]]:
    return [[round(value, _DECIMALS) for value in row] for row in values.tolist()]
