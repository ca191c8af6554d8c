"""Small tensors of fixed numbers, made once a device.

A tensor made from Python numbers is copied from the host: on a GPU that waits, and within a CUDA graph it is forbidden.
"""

from __future__ import annotations

from functools import cache

import torch
from torch import Tensor

__all__ = ["constant"]


@cache
def constant(values: tuple[float, ...], device: torch.device, dtype: torch.dtype = torch.float32) -> Tensor:
    """``values`` as a tensor ``[K]``, the same one in every call; not to be written to."""
    with torch.inference_mode(False):
        return torch.tensor(values, dtype=dtype, device=device)
