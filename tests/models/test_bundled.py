"""Every bundled model is what its name says, small enough to ship, and has a card."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from nardy.env import Cube, outcome, start_boards
from nardy.env.variants import VARIANTS
from nardy.models import load
from nardy.models.bundle import BUNDLED

_CARDS = Path(__file__).resolve().parents[2] / "docs" / "models.md"


@pytest.mark.parametrize("name", sorted(file.stem for file in BUNDLED.iterdir()))
def test_a_bundled_model_is_found_by_the_name_of_its_discipline(name: str) -> None:
    assert name in VARIANTS
    assert (BUNDLED / f"{name}.safetensors").stat().st_size <= 4_000_000
    model = load(name)
    assert model.variant == name
    boards = start_boards(2, name)
    assert model.outcome(boards).sum(1).tolist() == pytest.approx([1, 1])
    assert 0 < float(model.equity(boards, Cube())[0]) < 1
    assert not bool(model.cube_action(boards, Cube()).double.any())
    assert model.best(boards, torch.tensor([[3, 1], [6, 5]])).shape == (2,)
    assert not bool(outcome(boards, name).any())
    assert f"\n## {name}\n" in _CARDS.read_text(encoding="utf-8")
