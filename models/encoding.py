"""From boards to network inputs.

Encoding "cells-288" has 288 inputs. For each side, first the player on roll, then the other, 101: for each of its
points 1 to 24 four (exactly one checker; two or more; three or more; half of what exceeds three), then bar (any; half
their number), off (any; a fifteenth of their number), pip count / 167. Behind them ten counted cells, one input for
each of their values: race, then for either side home points made, longest prime, rearmost checker, blots in range, then
the pip lead (`kernels.encoding.describe`; `describe_blocking` where both sides travel the same way, as in longgammon).

Every input depends on one cell and its number, or is a sum of such terms: `input_table` has all of them, which is what
lets the first layer of an afterstate be computed from the few cells that a play changes.
"""

from __future__ import annotations

import torch
from torch import Tensor

from ..env.launch import launch_rows
from ..env.variants import get_variant
from .kernels.encoding import COUNTED_SIZES, MAX_COUNT
from .kernels.encoding import encode as encode_kernel

__all__ = ["ENCODING", "NUM_INPUTS", "encode", "input_table"]

ENCODING = "cells-288"
_BOARD_INPUTS = 202
NUM_INPUTS = _BOARD_INPUTS + sum(COUNTED_SIZES)


def encode(boards: Tensor, variant: str = "backgammon") -> Tensor:
    """Inputs of ``boards`` ``[N, 2, 26]`` (side 0 on roll) as ``[N, 288]`` float32, on the same device."""
    num_boards = boards.shape[0]
    flat = boards.contiguous().view(num_boards, 52)
    inputs = torch.empty((num_boards, NUM_INPUTS), dtype=torch.float32, device=boards.device)
    blocking = get_variant(variant).blocking
    launch_rows(encode_kernel, num_boards, flat, flat.view(torch.int32), blocking, inputs, device=boards.device)
    return inputs


def input_table(device: torch.device | str = "cpu") -> Tensor:
    """What the number n in a cell adds to the inputs, ``[62 * 16, 288]`` float32: row ``cell * 16 + n``.

    Cells 0 to 51 are those of the board (``side * 26 + point``), the others the counted ones. The inputs of a position
    are the sum of its 62 rows.
    """
    boards = torch.zeros((52 * MAX_COUNT, 52), dtype=torch.int8, device=device)
    row = torch.arange(boards.shape[0], device=device)
    boards[row, row // MAX_COUNT] = (row % MAX_COUNT).to(torch.int8)
    table = torch.zeros(((52 + len(COUNTED_SIZES)) * MAX_COUNT, NUM_INPUTS), device=device)
    table[: len(boards), :_BOARD_INPUTS] = encode(boards.view(-1, 2, 26))[:, :_BOARD_INPUTS]
    column = _BOARD_INPUTS
    for cell, size in enumerate(COUNTED_SIZES):
        first = (52 + cell) * MAX_COUNT
        values = torch.arange(size, device=device)
        table[first + values, column + values] = 1.0
        column += size
    return table
