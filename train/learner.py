"""The learner: AdamW on the targets of a window, and the average of the weights."""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass

import torch
from torch import Tensor

from ..env.launch import split_rows
from ..models.encoding import encode
from ..models.network import Network
from ..models.values import log_probabilities, no_double_values, possible_outcomes
from .config import LearnerConfig
from .selfplay import Window
from .targets import Targets

__all__ = ["Learner", "Losses", "NotFiniteError", "learning_rate"]


_MIN_PART = 128  # rows of a batch for which another thread pays


class NotFiniteError(RuntimeError):
    """A loss that is not a number: the run must stop before its weights are saved."""


@dataclass(frozen=True)
class Losses:
    """Means over a window's updates.

    Attributes:
        outcome: cross-entropy above the targets' own entropy, nats.
        cube: squared error of the cube values, points squared.
        gradient_norm: before scaling.
    """

    outcome: float
    cube: float
    gradient_norm: float


def learning_rate(config: LearnerConfig, games: int, budget: int) -> float:
    """Rate after ``games`` of ``budget`` games: a linear rise, then a cosine down to the final rate."""
    if games < config.warmup_games:
        return config.learning_rate * (games + 1) / (config.warmup_games + 1)
    done = min(1.0, (games - config.warmup_games) / max(1, budget - config.warmup_games))
    span = config.learning_rate - config.final_learning_rate
    return config.final_learning_rate + span * 0.5 * (1 + math.cos(math.pi * done))


class Learner:
    """Trains ``network`` in place and keeps ``average``, its exponential moving average.

    Attributes:
        num_updates: optimiser steps so far.
    """

    def __init__(self, network: Network, variant: str, config: LearnerConfig, seed: int) -> None:
        self.network = network
        self.variant = variant
        self.average = copy.deepcopy(network).requires_grad_(False)
        self.config = config
        self.seed = seed
        self.num_updates = 0
        self.num_windows = 0
        self.optimizer = torch.optim.AdamW(
            network.parameters(), lr=config.learning_rate, weight_decay=config.weight_decay, fused=True
        )

    def learn(self, window: Window, targets: Targets, rate: float) -> Losses:
        """One pass over the window's positions in random order; positions before an opening roll are left out.

        Raises:
            NotFiniteError: before any weight has been spoiled by this window's last update.
        """
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        boards = window.boards.flatten(0, 1)
        weights = (~window.opening).flatten().float()
        outcome = targets.outcome.flatten(0, 1)
        no_double = targets.no_double.flatten(0, 1)
        order = self._order(len(boards)).to(boards.device)
        losses = [
            self._update(boards[part], outcome[part], no_double[part], weights[part])
            for part in torch.split(order, self.config.batch_size)
        ]
        self.num_windows += 1
        means = torch.stack(losses).mean(0).tolist()  # the one host synchronisation of a window's learning
        if not all(math.isfinite(value) for value in means):
            raise NotFiniteError(f"loss: found {means[0]} (outcome) and {means[1]} (cube), wanted finite numbers")
        return Losses(*means)

    def _order(self, num_samples: int) -> Tensor:
        """A permutation that depends on the seed and the window's number alone, so that a resumed run repeats it."""
        generator = torch.Generator().manual_seed((self.seed * 1_000_003 + self.num_windows) % 2**63)
        return torch.randperm(num_samples, generator=generator)

    def _update(self, boards: Tensor, outcome: Tensor, no_double: Tensor, weights: Tensor) -> Tensor:
        """One optimiser step; ``[3]`` outcome loss, cube loss, gradient norm.

        On a CPU the batch is shared among the threads, and their gradients are added in a fixed order.
        """
        total = weights.sum().clamp(min=1.0)
        parts: dict[int, tuple[tuple[Tensor, ...], Tensor]] = {}

        def work(begin: int, end: int) -> None:
            rows = slice(begin, end)
            parts[begin] = self._gradients(boards[rows], outcome[rows], no_double[rows], weights[rows] / total)

        if boards.device.type == "cpu":
            split_rows(work, len(boards), _MIN_PART)
        else:
            work(0, len(boards))
        gradients, losses = zip(*(parts[begin] for begin in sorted(parts)), strict=True)
        for parameter, *shares in zip(self.network.parameters(), *gradients, strict=True):
            parameter.grad = shares[0] if len(shares) == 1 else torch.stack(shares).sum(0)
        norm = torch.nn.utils.clip_grad_norm_(self.network.parameters(), self.config.max_gradient_norm)
        self.optimizer.step()
        self._update_average()
        return torch.cat([torch.stack(losses).sum(0), norm.detach()[None]])

    def _gradients(
        self, boards: Tensor, outcome: Tensor, no_double: Tensor, weights: Tensor
    ) -> tuple[tuple[Tensor, ...], Tensor]:
        """Gradients of the weighted sum of losses, and the two losses ``[2]``."""
        raw = self.network(encode(boards, self.variant))
        log_probs = log_probabilities(raw, possible_outcomes(boards, self.variant))
        entropy = -torch.special.xlogy(outcome, outcome).sum(-1)
        cross_entropy = -(outcome * log_probs).sum(-1)
        outcome_loss = (weights * (cross_entropy - entropy)).sum()
        errors = no_double_values(raw, log_probs.exp()) - no_double
        cube_loss = (weights * errors.square().mean(-1)).sum()
        loss = outcome_loss + self.config.cube_weight * cube_loss
        gradients = torch.autograd.grad(loss, list(self.network.parameters()))
        return gradients, torch.stack([outcome_loss.detach(), cube_loss.detach()])

    @torch.no_grad()
    def _update_average(self) -> None:
        self.num_updates += 1
        # A short memory at first, so that the average does not carry the random first weights along.
        decay = min(self.config.ema_decay, self.num_updates / (self.num_updates + 9.0))
        averages: list[Tensor] = list(self.average.parameters())
        current: list[Tensor] = list(self.network.parameters())
        torch._foreach_lerp_(averages, current, 1.0 - decay)

    def state(self) -> dict[str, Tensor]:
        """Weights, averages, AdamW's moments and counters, by name."""
        state = {f"network.{name}": value for name, value in self.network.state_dict().items()}
        state |= {f"ema.{name}": value for name, value in self.average.state_dict().items()}
        names = [name for name, _ in self.network.named_parameters()]
        for name, parameter in zip(names, self.network.parameters(), strict=True):
            for key, value in self.optimizer.state.get(parameter, {}).items():
                state[f"adamw.{key}.{name}"] = value
        state["learner.num_updates"] = torch.tensor(self.num_updates)
        state["learner.num_windows"] = torch.tensor(self.num_windows)
        return state

    def load_state(self, state: dict[str, Tensor]) -> None:
        """Take up what `state` returned; ``KeyError`` or ``RuntimeError`` if it is not from such a learner."""
        self.network.load_state_dict(_without_prefix(state, "network."))
        self.average.load_state_dict(_without_prefix(state, "ema."))
        moments = self.optimizer.state
        for name, parameter in self.network.named_parameters():
            keys = ("step", "exp_avg", "exp_avg_sq")
            if f"adamw.step.{name}" in state:
                loaded = {key: state[f"adamw.{key}.{name}"] for key in keys}
                for key, value in loaded.items():  # the fused step would read past the end of a shorter one
                    wanted = torch.Size() if key == "step" else parameter.shape
                    if value.shape != wanted or value.dtype != torch.float32:
                        raise ValueError(f"adamw.{key}.{name}: found {tuple(value.shape)}, wanted {tuple(wanted)}")
                # A fused optimiser counts its steps on the parameter's device.
                moments[parameter] = {key: value.to(parameter.device).clone() for key, value in loaded.items()}
        self.num_updates = int(state["learner.num_updates"])
        self.num_windows = int(state["learner.num_windows"])


def _without_prefix(state: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): value for name, value in state.items() if name.startswith(prefix)}
