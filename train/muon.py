"""Muon: momentum whose matrices are made nearly orthogonal before they are taken as a step."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, overload

import torch
from torch import Tensor

from ..env.launch import over_rows

__all__ = ["Muon", "orthogonalize"]

# Odd polynomials a x + b x^3 + c x^5 which, one after another, bring every singular value from 0.001 to 1 as near to 1
# as five of them can: each has the least greatest error over where the one before leaves the values (N. Amsel et al.,
# "The Polar Express", 2025; worked out anew by `tests/train/test_muon.py`). The first four take values for smaller than
# they are by a margin, for rounded products may leave them beyond the end of where the next is good.
_POLYNOMIALS = (
    (8.470329, -25.108075, 18.629276),
    (4.182834, -3.108701, 0.580607),
    (3.961857, -2.954064, 0.562976),
    (3.286587, -2.464720, 0.507358),
    (2.273750, -1.644660, 0.416191),
)
_MARGIN = 1.01
_MARGINS = (_MARGIN, _MARGIN, _MARGIN, _MARGIN, 1.0)
_STEPS = [(a / m, b / m**3, c / m**5) for (a, b, c), m in zip(_POLYNOMIALS, _MARGINS, strict=True)]


def orthogonalize(matrix: Tensor, precision: torch.dtype = torch.float32) -> Tensor:
    """The matrix ``[A, B]`` with all its singular values brought near 1, products computed in ``precision``.

    Near is 0.85 to 1.15, for values from a thousandth of their root sum of squares; smaller ones stay smaller, and a
    matrix of zeros stays one.
    """
    tall = matrix.shape[0] > matrix.shape[1]
    x = matrix.T if tall else matrix
    x = (x / x.norm().clamp(min=1e-12)).to(precision)
    for a, b, c in _STEPS:
        gram = x @ x.T
        x = torch.addmm(x, torch.addmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return (x.T if tall else x).to(matrix.dtype)


class Muon(torch.optim.Optimizer):
    """Steps of equal length in every direction of a weight matrix that the gradients have pointed to of late.

    AdamW scales each weight alone, and the few directions that dominate a layer's gradients dominate its steps; made
    orthogonal, the rare ones are learned as fast (K. Jordan et al., "Muon: an optimizer for hidden layers in neural
    networks", 2024; Nesterov momentum, steps of matrices with more rows than columns longer by the root of the ratio).
    For weights ``[out, in]`` of hidden layers; biases and heads are left to another optimiser. The products can be
    rounded: a step's direction does not need them exact. On a CPU the threads take a matrix each. A group's rate is a
    tensor, so that a captured step follows it.
    """

    def __init__(
        self,
        parameters: Iterable[Tensor],
        lr: float,
        momentum: float = 0.95,
        weight_decay: float = 0.0,
        precision: torch.dtype = torch.float32,
    ) -> None:
        """``ValueError`` if a parameter is no matrix."""
        super().__init__(parameters, {"lr": lr, "momentum": momentum, "weight_decay": weight_decay})
        self.precision = precision
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.ndim != 2:
                    raise ValueError(f"parameter: found shape {tuple(parameter.shape)}, wanted a matrix")
            group["full_lr"] = lr
            first = group["params"][0]
            group["lr"] = torch.tensor(lr, dtype=torch.promote_types(first.dtype, torch.float32), device=first.device)

    @overload
    def step(self, closure: None = None) -> None: ...

    @overload
    def step(self, closure: Callable[[], float]) -> float: ...

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> float | None:
        """One step along the parameters' gradients; those without one stay."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            self._move_all(group)
        return loss

    def _move_all(self, group: dict[str, Any]) -> None:
        parameters = [parameter for parameter in group["params"] if parameter.grad is not None]

        def work(begin: int, end: int) -> None:
            for parameter in parameters[begin:end]:
                self._move(parameter, group)

        if parameters:
            over_rows(work, len(parameters), 1, 1, device=parameters[0].device)

    @torch.no_grad()
    def _move(self, parameter: Tensor, group: dict[str, Any]) -> None:
        rate, decay, gradient = group["lr"], group["momentum"], parameter.grad
        assert gradient is not None
        state = self.state[parameter]
        if not state:
            state["momentum"] = torch.zeros_like(parameter)
        mean = state["momentum"].lerp_(gradient, 1 - decay)
        direction = orthogonalize(gradient.lerp(mean, decay), self.precision)
        rows, columns = parameter.shape
        parameter.mul_(1 - rate * group["weight_decay"])
        parameter.addcmul_(direction, rate, value=-(max(1.0, rows / columns) ** 0.5))
