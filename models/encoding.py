"""From boards to network inputs.

Encoding "units-202", for each side (first the player on roll, then the other) 101 inputs: for each of its points 1 to
24 four (exactly one checker; two or more; three or more; half of what exceeds three), then bar (any; half their
number), off (any; a fifteenth of their number), pip count / 167. Every input depends on one (side, point) and its
number of checkers, or is a sum of such terms: `input_table` has all of them, which is what lets the first layer of an
afterstate be computed from the few points that a play changes.
"""

from __future__ import annotations

import torch
from torch import Tensor

from ..env.launch import launch_rows
from .kernels.encoding import encode as encode_kernel

__all__ = ["ENCODING", "NUM_INPUTS", "encode", "input_table"]

ENCODING = "units-202"
NUM_INPUTS = 202
_MAX_COUNT = 16


def encode(boards: Tensor) -> Tensor:
    """Inputs of ``boards`` ``[N, 2, 26]`` (side 0 on roll) as ``[N, 202]`` float32, on the same device."""
    num_boards = boards.shape[0]
    flat = boards.contiguous().view(num_boards, 52)
    inputs = torch.empty((num_boards, NUM_INPUTS), dtype=torch.float32, device=boards.device)
    launch_rows(encode_kernel, num_boards, flat, inputs, device=boards.device)
    return inputs


def input_table(device: torch.device | str = "cpu") -> Tensor:
    """What n checkers in a cell add to the inputs, ``[2 * 26 * 16, 202]``: row ``(side * 26 + point) * 16 + n``.

    The inputs of a position are the sum of its 52 rows.
    """
    boards = torch.zeros((2 * 26 * _MAX_COUNT, 52), dtype=torch.int8, device=device)
    row = torch.arange(boards.shape[0], device=device)
    boards[row, row // _MAX_COUNT] = (row % _MAX_COUNT).to(torch.int8)
    return encode(boards.view(-1, 2, 26))
