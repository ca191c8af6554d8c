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
from ..models.values import log_probabilities, no_double_values, possible_outcomes, stake_no_double
from .config import LearnerConfig
from .distributed import World
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
        stake: the same at match scores and Jacoby, normalised; 0 for a network that knows money alone.
        gradient_norm: before scaling.
    """

    outcome: float
    cube: float
    stake: float
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

    def __init__(
        self, network: Network, variant: str, config: LearnerConfig, seed: int, world: World | None = None
    ) -> None:
        """``world``: the processes that learn together, each from its own windows."""
        self.world = world or World()
        self.batch_size = self.world.share(config.batch_size, "batch_size")
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
        samples = _samples(window, targets)
        number = len(samples["boards"])
        order = self.draw_rows(number, number).to(window.boards.device)
        losses = [
            self._update({name: tensor[part] for name, tensor in samples.items()})
            for part in torch.split(order, self.batch_size)
        ]
        self.num_windows += 1
        means = torch.stack(losses).mean(0).tolist()  # the one host synchronisation of a window's learning
        if not all(math.isfinite(value) for value in means):
            raise NotFiniteError(
                f"loss: found {means[0]} (outcome), {means[1]} and {means[2]} (cube), wanted finite numbers"
            )
        return Losses(*means)

    def draw_rows(self, num_samples: int, number: int) -> Tensor:
        """``number`` of ``num_samples`` rows at random, in random order, ``[number]`` int64 on the CPU.

        They depend on the seed and the window's number alone, so that a resumed run repeats them.
        """
        generator = torch.Generator().manual_seed((self.seed * 1_000_003 + self.num_windows) % 2**63)
        return torch.randperm(num_samples, generator=generator)[:number]

    def _update(self, batch: dict[str, Tensor]) -> Tensor:
        """One optimiser step; ``[4]`` outcome loss, cube loss, stake loss, gradient norm.

        On a CPU the batch is shared among the threads, and their gradients are added in a fixed order.
        """
        total = batch["weights"].sum()
        self.world.add_up([total])
        batch["weights"] = batch["weights"] / total.clamp(min=1.0)
        device = batch["weights"].device
        parts: dict[int, tuple[tuple[Tensor, ...], Tensor]] = {}

        def work(begin: int, end: int) -> None:
            parts[begin] = self._gradients({name: tensor[begin:end] for name, tensor in batch.items()})

        if device.type == "cpu":
            split_rows(work, len(batch["weights"]), _MIN_PART)
        else:
            work(0, len(batch["weights"]))
        gradients, losses = zip(*(parts[begin] for begin in sorted(parts)), strict=True)
        for parameter, *shares in zip(self.network.parameters(), *gradients, strict=True):
            parameter.grad = shares[0] if len(shares) == 1 else torch.stack(shares).sum(0)
        sums = torch.stack(losses).sum(0)
        self.world.add_up([sums, *(p.grad for p in self.network.parameters() if p.grad is not None)])
        norm = torch.nn.utils.clip_grad_norm_(self.network.parameters(), self.config.max_gradient_norm)
        self.optimizer.step()
        self._update_average()
        return torch.cat([sums, norm.detach()[None]])

    def _gradients(self, batch: dict[str, Tensor]) -> tuple[tuple[Tensor, ...], Tensor]:
        """Gradients of the weighted sum of losses, and the three losses ``[3]``."""
        boards, weights, outcome = batch["boards"], batch["weights"], batch["outcome"]
        raw = self.network(encode(boards, self.variant))
        possible = possible_outcomes(boards, self.variant)
        log_probs = log_probabilities(raw, possible)
        entropy = -torch.special.xlogy(outcome, outcome).sum(-1)
        cross_entropy = -(outcome * log_probs).sum(-1)
        outcome_loss = (weights * (cross_entropy - entropy)).sum()
        probs = log_probs.exp()
        errors = no_double_values(raw, probs) - batch["no_double"]
        cube_loss = (weights * errors.square().mean(-1)).sum()
        stake_loss = torch.zeros_like(cube_loss)
        if "stake" in batch:
            values, live = stake_no_double(
                self.network, raw, probs, batch["payoff"], batch["features"], batch["may_double"]
            )
            errors = (values - batch["stake"]) * live
            stake_loss = (weights * errors.square().mean(-1)).sum()
        loss = outcome_loss + self.config.cube_weight * (cube_loss + stake_loss)
        gradients = torch.autograd.grad(loss, list(self.network.parameters()))
        return gradients, torch.stack([outcome_loss.detach(), cube_loss.detach(), stake_loss.detach()])

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


def _samples(window: Window, targets: Targets) -> dict[str, Tensor]:
    """The positions to learn from and their targets, ``[K, ...]`` each, by name; opening positions have weight 0."""
    fields = {
        "boards": window.boards,
        "weights": (~window.opening).float(),
        "outcome": targets.outcome,
        "no_double": targets.no_double,
    }
    if targets.stake is not None and window.stake is not None:
        fields["stake"] = targets.stake
        fields |= {name: getattr(window.stake.here, name) for name in ("payoff", "features", "may_double")}
    samples = {name: tensor.flatten(0, 1) for name, tensor in fields.items()}
    return samples if targets.rows is None else {name: tensor[targets.rows] for name, tensor in samples.items()}


def _without_prefix(state: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): value for name, value in state.items() if name.startswith(prefix)}
