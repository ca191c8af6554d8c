"""The cube as one player sees it."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from nardy.env import Cube


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"value": 3}, "cube: value: found 3"),
        ({"value": 0}, "cube: value: found 0"),
        ({"value": 1.5}, "cube: value: found torch.float32 1.5, wanted a whole number"),
        ({"value": 2**40}, "cube: value: found 1099511627776"),
        ({"max_cube": 2**40}, "cube: max_cube: found 1099511627776"),
        ({"value": torch.tensor([1, 6])}, "cube: value: row 1: found 6, wanted a power of two"),
        ({"owner": "me"}, "cube: owner: found 'me', wanted one of centred, mine, theirs"),
        ({"owner": torch.tensor([0, 2, 3])}, "cube: owner: row 2: found 3"),
        ({"max_cube": 0}, "cube: max_cube: found 0"),
        ({"max_cube": 24}, "cube: max_cube: found 24"),
        ({"away": (0, 3)}, "cube: away: found"),
        ({"away": (3,)}, "cube: away: found"),
        ({"away": (-1, 3)}, "cube: away: found"),
        ({"away": (3, 3), "jacoby": True}, "cube: jacoby and beavers belong to money games"),
        ({"away": (3, 3), "beavers": True}, "cube: jacoby and beavers belong to money games"),
        ({"crawford": True}, "cube: crawford belongs to matches"),
        ({"away": torch.tensor([[3, 4], [0, 2]])}, r"cube: away: row 1: found \[0, 2\]"),
        ({"away": torch.tensor([[0, 0], [2, 1]]), "jacoby": True}, r"row 1: found \[2, 1\] points away"),
        ({"crawford": torch.tensor([False, True])}, "row 1: found True without away"),
    ],
)
def test_an_impossible_cube_is_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Cube(**fields)


def test_an_owned_cube_of_value_one_is_accepted() -> None:
    assert Cube(1, "mine").may_double().tolist() == [True]
    assert Cube(1, "theirs").may_double().tolist() == [False]


def test_the_cap_forbids_only_the_double() -> None:
    assert Cube(64, "mine").may_double().tolist() == [False]
    assert Cube(64, "mine", max_cube=128).may_double().tolist() == [True]
    assert Cube(256, "mine").may_double().tolist() == [False]


def test_flipping_exchanges_owner_and_score_and_is_its_own_inverse() -> None:
    cube = Cube(4, "mine", away=(5, 2))
    assert cube.flip() == Cube(4, "theirs", away=(2, 5))
    assert cube.flip().flip() == cube
    assert Cube(jacoby=True).flip() == Cube(jacoby=True)
    batch = Cube(torch.tensor([1, 2]), torch.tensor([0, 2], dtype=torch.int8), away=torch.tensor([[3, 4], [5, 6]]))
    flipped = batch.flip().as_tensors(2)
    assert flipped.owner.tolist() == [0, 1] and flipped.away.tolist() == [[4, 3], [6, 5]]


def test_plain_fields_are_spread_over_a_batch() -> None:
    cube = Cube(2, "theirs", jacoby=True).as_tensors(3)
    assert cube.value.tolist() == [2, 2, 2] and cube.owner.tolist() == [2, 2, 2]
    assert cube.away.tolist() == [[0, 0]] * 3 and cube.jacoby.all() and not cube.crawford.any()


def test_fields_of_different_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="cube: found a field of shape"):
        Cube(torch.tensor([1, 2])).as_tensors(3)
