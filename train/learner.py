"""The learner: steps of AdamW and Muon on the targets of a window, and the average of the weights."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from ..models.encoding import encode
from ..models.network import Network
from ..models.values import equity, log_probabilities, no_double_values, possible_outcomes, stake_no_double
from .companion import Companion
from .config import LearnerConfig, LuckConfig, RankerConfig
from .distributed import World
from .luck import LuckLearner
from .muon import Muon
from .ranking import RankerLearner
from .step_graph import Step, StepGraph
from .steps import adamw, gradient_step, load_optimizer_state, optimizer_state, set_pace
from .targets import Targets
from .window import Window

__all__ = ["Learner", "Losses", "NotFiniteError", "learning_rate"]


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
        num_updates: optimiser steps so far. luck: learns what rolls are worth, see `train.luck`; None without it.
        ranker: learns to sort plays out, see `train.ranking`; None without it.
    """

    def __init__(
        self,
        network: Network,
        variant: str,
        config: LearnerConfig,
        seed: int,
        world: World | None = None,
        luck: LuckConfig | None = None,
        ranker: RankerConfig | None = None,
    ) -> None:
        """``world``: the processes that learn together, each from its own windows.

        ``luck`` and ``ranker``: what is learned beside the network.
        """
        self.world = world or World()
        self.batch_size = self.world.share(config.batch_size, "batch_size")
        self.network = network
        self.variant = variant
        self.average = copy.deepcopy(network).requires_grad_(False)
        self.config = config
        self.seed = seed
        self.num_updates = 0
        self.num_windows = 0
        self.luck = LuckLearner(luck, network, variant, seed) if luck is not None and luck.hidden else None
        device = network.first.weight.device
        self.ranker = RankerLearner(ranker, variant, seed, device) if ranker is not None and ranker.units else None
        self.optimizers = _optimizers(network, config)
        self._news = torch.ones((), device=device)  # the share that the next step's weights have in the average
        self._step: Step = self._learn_batch
        if config.cuda_graph and device.type == "cuda" and self.world.size == 1:
            self.capture()

    def capture(self) -> None:
        """Take each step as a CUDA graph from now on; the processes must not be several."""
        self._step = StepGraph(self._learn_batch)
        for companion in self._companions().values():
            companion.capture()

    def learn(self, window: Window, targets: Targets, rate: float, passes: int = 1) -> Losses:
        """``passes`` times over the positions in random order; positions before an opening roll are left out.

        Raises:
            NotFiniteError: before any weight has been spoiled by this window's last update.
        """
        pace = rate / self.config.learning_rate
        set_pace(self.optimizers, pace)
        samples = _samples(window, targets)
        number = len(samples["boards"])
        order = torch.cat([self.draw_rows(number, number, turn) for turn in range(passes)]).to(window.boards.device)
        losses = [
            self._update({name: tensor[part] for name, tensor in samples.items()})
            for part in torch.split(order, self.batch_size)
        ]
        means = torch.stack(losses).mean(0)
        # All ranks take the same steps, but products on unlike machines, Muon's among them, may round them otherwise.
        self.world.follow_first([parameter.detach() for parameter in self.network.parameters()])
        beside = self._learn_beside(window, targets, order, pace)
        self.num_windows += 1
        numbers = torch.cat([means, *beside]).tolist()  # the one host synchronisation of a window's learning
        if not all(math.isfinite(value) for value in numbers):
            found = ", ".join(f"{value:.4g}" for value in numbers)
            raise NotFiniteError(
                f"loss: found {found} (outcome, cube, stake, gradient, then luck, ranker), wanted finite numbers"
            )
        return Losses(*numbers[:4])

    def draw_rows(self, num_samples: int, number: int, turn: int = 0) -> Tensor:
        """``number`` of ``num_samples`` rows at random, in random order, ``[number]`` int64 on the CPU.

        They depend on the seed, the window's number and ``turn`` alone, so that a resumed run repeats them.
        """
        key = (self.seed + 7_368_787 * turn) * 1_000_003 + self.num_windows
        generator = torch.Generator().manual_seed(key % 2**63)
        return torch.randperm(num_samples, generator=generator)[:number]

    def _update(self, batch: dict[str, Tensor]) -> Tensor:
        """One optimiser step; ``[4]`` outcome loss, cube loss, stake loss, gradient norm."""
        self.num_updates += 1
        # A short memory at first, so that the average does not carry the random first weights along.
        self._news.fill_(1.0 - min(self.config.ema_decay, self.num_updates / (self.num_updates + 9.0)))
        return self._step(batch)

    def _learn_batch(self, batch: Mapping[str, Tensor]) -> Tensor:
        step = (self.network, self.optimizers, batch, self._losses, self.config.max_gradient_norm, self.world)
        losses = gradient_step(*step)
        self._update_average()
        return losses

    def _losses(self, batch: Mapping[str, Tensor]) -> tuple[Tensor, Tensor]:
        """The weighted sum of losses, and the three losses ``[3]``."""
        boards, weights, outcome = batch["boards"], batch["weights"], batch["outcome"]
        rounded = self.config.precision == "bfloat16"
        with torch.autocast(boards.device.type, torch.bfloat16, enabled=rounded):
            raw = self.network(encode(boards, self.variant))
        possible = possible_outcomes(boards, self.variant)
        log_probs = log_probabilities(raw, possible)
        # A target less its luck may leave 0 to 1; the gradient is as good there, and the entropy only a yardstick.
        entropy = -torch.special.xlogy(outcome, outcome.clamp(min=1e-9)).sum(-1)
        cross_entropy = -(outcome * log_probs).sum(-1)
        outcome_loss = (weights * (cross_entropy - entropy)).sum()
        probs = log_probs.exp()
        equity_errors = equity(probs) - equity(outcome)
        equity_loss = (weights * equity_errors.square()).sum()
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
        loss = loss + self.config.equity_weight * equity_loss
        return loss, torch.stack([outcome_loss, cube_loss, stake_loss])

    def _learn_beside(self, window: Window, targets: Targets, order: Tensor, pace: float) -> list[Tensor]:
        """Let the companions learn from the window; their losses."""
        common = (self.batch_size, pace, self.world)
        losses = []
        if self.luck is not None and targets.rows is None:  # after its estimates for this window have been used
            losses.append(self.luck.learn(window, order, *common))
        if self.ranker is not None:
            losses.append(self.ranker.learn(window, *common))
        return losses

    def _companions(self) -> dict[str, Companion]:
        """What is learned beside the network, by the prefix of its names."""
        found = {"luck.": self.luck, "ranker.": self.ranker}
        return {prefix: companion for prefix, companion in found.items() if companion is not None}

    @torch.no_grad()
    def _update_average(self) -> None:
        averages: list[Tensor] = list(self.average.parameters())
        current: list[Tensor] = list(self.network.parameters())
        torch._foreach_lerp_(averages, current, [self._news] * len(current))

    def state(self) -> dict[str, Tensor]:
        """Weights, averages, the optimisers' moments and counters, by name."""
        state = {f"network.{name}": value for name, value in self.network.state_dict().items()}
        state |= {f"ema.{name}": value for name, value in self.average.state_dict().items()}
        for optimizer in self.optimizers:
            state |= optimizer_state(self.network, optimizer)
        for prefix, companion in self._companions().items():
            state |= {prefix + name: value for name, value in companion.state().items()}
        state["learner.num_updates"] = torch.tensor(self.num_updates)
        state["learner.num_windows"] = torch.tensor(self.num_windows)
        return state

    def load_state(self, state: dict[str, Tensor]) -> None:
        """Take up what `state` returned, before the first step.

        ``KeyError`` or ``RuntimeError`` if it is not from such a learner.
        """
        self.network.load_state_dict(_without_prefix(state, "network."))
        self.average.load_state_dict(_without_prefix(state, "ema."))
        for optimizer in self.optimizers:
            load_optimizer_state(self.network, optimizer, state)
        for prefix, companion in self._companions().items():
            known = _without_prefix(state, prefix)
            if known:  # a run begun without it starts to learn it now
                companion.load_state(known)
        self.num_updates = int(state["learner.num_updates"])
        self.num_windows = int(state["learner.num_windows"])


def _optimizers(network: Network, config: LearnerConfig) -> list[torch.optim.Optimizer]:
    """AdamW, and Muon for the hidden layers' weights if it has a rate."""
    hidden = network.hidden_weights() if config.muon_learning_rate else []
    known = {id(weight) for weight in hidden}
    others = [parameter for parameter in network.parameters() if id(parameter) not in known]
    optimizers: list[torch.optim.Optimizer] = [adamw(others, config.learning_rate, config.weight_decay)]
    if hidden:
        precision = getattr(torch, config.precision)
        rate, decay = config.muon_learning_rate, config.weight_decay
        optimizers.append(Muon(hidden, lr=rate, weight_decay=decay, precision=precision))
    return optimizers


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
