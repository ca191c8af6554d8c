"""Optimisers, and one step of them: a batch shared among threads and processes, and its gradients added up."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor, nn

from ..env.launch import over_rows
from .distributed import World

__all__ = ["LossesOf", "adamw", "gradient_step", "load_optimizer_state", "optimizer_state", "set_pace"]

_MIN_PART = 128  # rows of a batch for which another thread pays

# From rows of a batch, by name, to what is minimised and to the losses ``[K]`` that are reported, all weighted sums.
LossesOf = Callable[[Mapping[str, Tensor]], tuple[Tensor, Tensor]]


def adamw(parameters: Sequence[Tensor], learning_rate: float, weight_decay: float) -> torch.optim.AdamW:
    """AdamW, fused; its rate is a tensor, so that a captured step follows it (`set_pace`)."""
    device = parameters[0].device
    rate = torch.tensor(learning_rate, device=device)
    on_gpu = device.type == "cuda"
    optimizer = torch.optim.AdamW(parameters, lr=rate, weight_decay=weight_decay, fused=True, capturable=on_gpu)
    optimizer.param_groups[0]["full_lr"] = learning_rate
    return optimizer


def set_pace(optimizers: Sequence[torch.optim.Optimizer], pace: float) -> None:
    """Let each go on at ``pace`` times the rate that it was made with, in place."""
    for optimizer in optimizers:
        for group in optimizer.param_groups:
            group["lr"].fill_(pace * group["full_lr"])


def gradient_step(
    module: nn.Module,
    optimizers: Sequence[torch.optim.Optimizer],
    batch: Mapping[str, Tensor],
    losses_of: LossesOf,
    max_norm: float,
    world: World,
) -> Tensor:
    """One step of all ``optimizers`` on ``batch``, tensors ``[B, ...]`` by name.

    Its ``weights`` are made to sum to 1.
    ``losses_of`` gives the scalar to minimise and the losses ``[K]`` to report. On a CPU the batch is shared among the
    threads, and their gradients are added in a fixed order. Gradients longer than ``max_norm`` are scaled down.

    Returns:
        ``[K + 1]``: the losses over all ranks and the gradients' norm.
    """
    total = batch["weights"].sum()
    world.add_up([total])
    scaled = {**batch, "weights": batch["weights"] / total.clamp(min=1.0)}
    parameters = list(module.parameters())
    parts: dict[int, tuple[tuple[Tensor, ...], Tensor]] = {}

    def work(begin: int, end: int) -> None:
        loss, losses = losses_of({name: tensor[begin:end] for name, tensor in scaled.items()})
        parts[begin] = torch.autograd.grad(loss, parameters), losses.detach()

    over_rows(work, len(batch["weights"]), _MIN_PART, device=total.device)
    gradients, losses = zip(*(parts[begin] for begin in sorted(parts)), strict=True)
    for parameter, *shares in zip(parameters, *gradients, strict=True):
        parameter.grad = shares[0] if len(shares) == 1 else torch.stack(shares).sum(0)
    sums = torch.stack(losses).sum(0)
    world.add_up([sums, *(p.grad for p in parameters if p.grad is not None)])
    norm = torch.nn.utils.clip_grad_norm_(parameters, max_norm)
    for optimizer in optimizers:
        optimizer.step()
    return torch.cat([sums, norm.detach()[None]])


# What an optimiser remembers of a parameter, by the optimiser's name in a state.
_MOMENTS = {"adamw": ("step", "exp_avg", "exp_avg_sq"), "muon": ("momentum",)}


def optimizer_state(module: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """The optimiser's moments of ``module``, as ``adamw.MOMENT.PARAMETER`` or ``muon.MOMENT.PARAMETER``."""
    return {
        f"{_name(optimizer)}.{key}.{name}": value
        for name, parameter in module.named_parameters()
        for key, value in optimizer.state.get(parameter, {}).items()
    }


def load_optimizer_state(module: nn.Module, optimizer: torch.optim.Optimizer, state: Mapping[str, Tensor]) -> None:
    """Take up what `optimizer_state` returned; ``ValueError`` or ``KeyError`` if it is of another module.

    Parameters that another optimiser has moved until now begin anew.
    """
    prefix = _name(optimizer)
    keys = _MOMENTS[prefix]
    own = {id(parameter) for group in optimizer.param_groups for parameter in group["params"]}
    for name, parameter in module.named_parameters():
        if id(parameter) not in own or f"{prefix}.{keys[0]}.{name}" not in state:
            continue
        loaded = {key: state[f"{prefix}.{key}.{name}"] for key in keys}
        for key, value in loaded.items():  # the fused step would read past the end of a shorter one
            wanted = torch.Size() if key == "step" else parameter.shape
            if value.shape != wanted or value.dtype != torch.float32:
                raise ValueError(f"{prefix}.{key}.{name}: found {tuple(value.shape)}, wanted {tuple(wanted)}")
        # A fused optimiser counts its steps on the parameter's device.
        optimizer.state[parameter] = {key: value.to(parameter.device).clone() for key, value in loaded.items()}


def _name(optimizer: torch.optim.Optimizer) -> str:
    return type(optimizer).__name__.lower()
