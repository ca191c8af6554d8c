"""From boards to network inputs.

Encoding "cells-618" has 618 inputs, encoding "cells-288" the first 288 of them, which are enough for a ranker and were
all that networks had at first. For each side, first the player on roll, then the other, 101: for each of its
points 1 to 24 four (exactly one checker; two or more; three or more; half of what exceeds three), then bar (any; half
their number), off (any; a fifteenth of their number), pip count / 167. Behind them ten counted cells, one input for
each of their values: race, then for either side home points made, longest prime, rearmost checker, blots in range, then
the pip lead (`kernels.cells.describe`; `describe_blocking` where both sides travel the same way, as in longgammon).
The details follow: for each side 62, of each of its points four or more and five or more checkers, and off two or more
up to fifteen or more; then fourteen counted cells (`kernels.cells.detail`), for either side checkers still to pass,
checkers at home and on points 1 to 3, pips, rolls that hit, rolls by which the rearmost checker and the next escape.

Every input depends on one cell and its number, or is a sum of such terms: `input_table` has all of them, which is what
lets the first layer of an afterstate be computed from the few cells that a play changes.
"""

from __future__ import annotations

import torch
from torch import Tensor

from ..env.launch import launch_rows
from ..env.variants import get_variant
from .kernels.cells import BASIC_SIZES, COUNTED_SIZES, DETAIL_SIZES
from .kernels.encoding import MAX_COUNT
from .kernels.encoding import encode as encode_kernel

__all__ = ["BASIC_ENCODING", "ENCODING", "ENCODINGS", "NUM_BASIC_INPUTS", "NUM_INPUTS", "encode", "input_table"]

_BOARD_INPUTS = 202
_DETAILED_BOARD_INPUTS = 124
NUM_BASIC_INPUTS = _BOARD_INPUTS + sum(BASIC_SIZES)
NUM_INPUTS = NUM_BASIC_INPUTS + _DETAILED_BOARD_INPUTS + 2 * sum(DETAIL_SIZES)
BASIC_ENCODING = "cells-288"
ENCODING = "cells-618"
ENCODINGS = {BASIC_ENCODING: NUM_BASIC_INPUTS, ENCODING: NUM_INPUTS}  # each takes the first so many inputs


def encode(boards: Tensor, variant: str = "backgammon") -> Tensor:
    """Inputs of ``boards`` ``[N, 2, 26]`` (side 0 on roll) as ``[N, 618]`` float32, on the same device."""
    num_boards = boards.shape[0]
    flat = boards.contiguous().view(num_boards, 52)
    inputs = torch.empty((num_boards, NUM_INPUTS), dtype=torch.float32, device=boards.device)
    blocking = get_variant(variant).blocking
    launch_rows(encode_kernel, num_boards, flat, flat.view(torch.int32), blocking, inputs, device=boards.device)
    return inputs


def input_table(device: torch.device | str = "cpu") -> Tensor:
    """What the number n in a cell adds to the inputs, ``[76 * 16, 618]`` float32: row ``cell * 16 + n``.

    Cells 0 to 51 are those of the board (``side * 26 + point``), the others the counted ones. The inputs of a position
    are the sum of its 76 rows.
    """
    boards = torch.zeros((52 * MAX_COUNT, 52), dtype=torch.int8, device=device)
    row = torch.arange(boards.shape[0], device=device)
    boards[row, row // MAX_COUNT] = (row % MAX_COUNT).to(torch.int8)
    table = torch.zeros(((52 + len(COUNTED_SIZES)) * MAX_COUNT, NUM_INPUTS), device=device)
    counted_from = NUM_BASIC_INPUTS + _DETAILED_BOARD_INPUTS
    encoded = encode(boards.view(-1, 2, 26))
    for columns in (slice(0, _BOARD_INPUTS), slice(NUM_BASIC_INPUTS, counted_from)):
        table[: len(boards), columns] = encoded[:, columns]
    column = _BOARD_INPUTS
    for cell, size in enumerate(COUNTED_SIZES):
        if cell == len(BASIC_SIZES):
            column = counted_from
        first = (52 + cell) * MAX_COUNT
        values = torch.arange(size, device=device)
        table[first + values, column + values] = 1.0
        column += size
    return table
