"""The luck of a roll, learned: most of the noise taken out of a target without touching its mean.

What a roll is worth in a position, Q(s, d), is the value of the best play, which self-play computes anyway. A small
network learns it for all 21 rolls at once. The luck of the roll d that came is then Q(s, d) less the mean of Q(s, .)
over the rolls. Dice do not depend on anything, so this number has mean 0 in every position, however well or badly Q is
known: taking it off a sampled target leaves the mean as it is and removes the variance that Q explains. (A control
variate; in the evaluation of games the same idea with an exact look at all rolls is called luck adjustment.) An exact
mean over the rolls costs twenty turns of play a position; this costs about one evaluation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor, nn

from ..env.launch import over_rows
from ..models.constants import constant
from ..models.encoding import encode
from ..models.network import NUM_CUBE, NUM_OUTCOMES, Network
from ..models.rolls import NUM_ROLLS, roll_chances, roll_numbers
from ..models.stakes import Stakes
from ..models.values import LEVELS, equity, log_probabilities, possible_outcomes, probabilities
from .companion import Companion
from .config import LuckConfig
from .distributed import World
from .window import Window

__all__ = ["Luck", "LuckLearner", "LuckNetwork", "explained_by_luck"]

_CHUNK = 512  # positions at once: their 21 rolls' numbers fit the cache


@dataclass(frozen=True)
class Luck:
    """What the roll of every ply of a window gained for the player on roll, over the mean roll.

    Attributes:
        outcome: ``[T, N, 6]`` in outcome probabilities, each row's sum 0.
        no_double: ``[T, N, 3]`` in points, with the cube centred, mine, theirs.
        stake: ``[T, N, 3]`` the same at each game's own stake, normalised; None where it has to follow from the others.
    """

    outcome: Tensor
    no_double: Tensor
    stake: Tensor | None = None

    def at_stakes(self, stakes: Stakes) -> Tensor:
        """The same at each game's ``stakes`` ``[T, N, ...]``, normalised: ``[T, N, 3]``.

        If it is not known: money's luck, changed by what the outcomes are worth here; where the cube is dead, the
        outcomes' alone.
        """
        if self.stake is not None:
            return self.stake
        payoff = stakes.payoff
        mine, theirs = stakes.may_double.unbind(-1)
        live = torch.stack([mine | theirs, mine, theirs], -1)
        cubeless = (self.outcome * payoff).sum(-1, keepdim=True)
        change = (self.outcome * (payoff - constant(LEVELS, payoff.device))).sum(-1, keepdim=True)
        return torch.where(live, self.no_double + change, cubeless)


class LuckNetwork(nn.Module):
    """Values of all 21 rolls, ``[N, 21, 9]``, for encoded positions ``[N, 618]`` seen by the player on roll.

    Of each roll six outcome logits and the three no-double values of the best plays. At first all rolls are alike.
    """

    def __init__(self, config: LuckConfig, trunk: Network, seed: int) -> None:
        """The hidden layers begin as those of ``trunk`` as far as they have the same shapes."""
        super().__init__()
        sizes = (trunk.config.num_inputs, *config.hidden)
        self.num_inputs = sizes[0]
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in pairwise(sizes))
        self.head = nn.Linear(sizes[-1], NUM_ROLLS * (NUM_OUTCOMES + NUM_CUBE))
        generator = torch.Generator().manual_seed(seed)
        known = [trunk.first, *trunk.rest]
        with torch.no_grad():
            for parameter in self.head.parameters():
                parameter.zero_()
            for place, layer in enumerate(self.layers):
                assert isinstance(layer, nn.Linear)
                if place < len(known) and layer.weight.shape == known[place].weight.shape:
                    layer.load_state_dict(known[place].state_dict())
                else:
                    known = []
                    layer.weight.normal_(0.0, (2.0 / layer.in_features) ** 0.5, generator=generator)
                    layer.bias.zero_()

    def forward(self, inputs: Tensor) -> Tensor:
        """``[N, 618]`` to ``[N, 21, 9]``."""
        hidden = inputs[:, : self.num_inputs]
        for layer in self.layers:
            hidden = torch.relu_(layer(hidden))
        raw: Tensor = self.head(hidden)
        return raw.view(-1, NUM_ROLLS, NUM_OUTCOMES + NUM_CUBE)


class LuckLearner(Companion):
    """Learns a `LuckNetwork` beside the network that plays, and estimates the luck of windows with it."""

    def __init__(self, config: LuckConfig, network: Network, variant: str, seed: int) -> None:
        """``network`` is the one that plays: its hidden layers are a good start."""
        self.config = config
        self.variant = variant
        self.network = LuckNetwork(config, network, seed).to(network.first.weight.device)
        super().__init__(self.network, config.learning_rate)

    @torch.no_grad()
    def estimate(self, window: Window) -> Luck:
        """The luck of a window's rolls; 0 for opening rolls, which come from other chances.

        To be asked before `learn` has seen the window: an estimate that knows the outcome would not have mean 0.
        """
        boards = window.boards.flatten(0, 1)
        number, device = len(boards), boards.device
        outcome = torch.empty((number, NUM_OUTCOMES), device=device)
        no_double = torch.empty((number, NUM_CUBE), device=device)
        # What the values of the rolls are multiplied with: 1 for the one that came, less the chances of all.
        rolled = torch.nn.functional.one_hot(roll_numbers(window.dice).flatten(), NUM_ROLLS)
        weights = (rolled - roll_chances(device)) * (~window.opening).flatten()[:, None]

        def work(begin: int, end: int) -> None:
            part = slice(begin, end)
            with torch.no_grad():  # the mode belongs to a thread
                possible = possible_outcomes(boards[part], self.variant)
                raw = self.network(encode(boards[part], self.variant))
                probs = log_probabilities(raw, possible[:, None]).exp()
                torch.bmm(weights[part, None], probs, out=outcome[part, None])
                torch.bmm(weights[part, None], raw[..., NUM_OUTCOMES:], out=no_double[part, None])

        over_rows(work, number, _CHUNK // 2, _CHUNK, device=device)
        return Luck(outcome.view_as(window.outcome), no_double.view_as(window.cube))

    def learn(self, window: Window, order: Tensor, batch_size: int, pace: float, world: World) -> Tensor:
        """One pass over the first of the window's positions in ``order`` ``[K]``, at ``pace`` times the full rate."""
        number = window.opening.numel()
        rows = order[: max(1, round(self.config.share * number))]
        # Of the estimates no roll is left out: they are exact and cost nothing more.
        samples = {
            "boards": window.boards.flatten(0, 1)[rows],
            "weights": torch.ones(len(rows), device=rows.device),
            "rolled": roll_numbers(window.dice).flatten()[rows],
            "outcome": window.outcome.flatten(0, 1)[rows],
            "no_double": window.cube.flatten(0, 1)[rows],
        }
        return self.learn_from(samples, batch_size, pace, world)

    def losses(self, batch: Mapping[str, Tensor]) -> tuple[Tensor, Tensor]:
        """Cross-entropy of the outcomes and squared error of the cube values of the roll that came."""
        boards, weights = batch["boards"], batch["weights"]
        raw = self.network(encode(boards, self.variant))
        raw = raw[torch.arange(len(raw), device=raw.device), batch["rolled"]]
        log_probs = log_probabilities(raw, possible_outcomes(boards, self.variant))
        cross_entropy = (weights * -(batch["outcome"] * log_probs).sum(-1)).sum()
        squared = (weights * (raw[:, NUM_OUTCOMES:] - batch["no_double"]).square().mean(-1)).sum()
        return cross_entropy + squared, torch.stack([cross_entropy, squared])


@torch.no_grad()
def explained_by_luck(network: Network, window: Window, luck: Luck, variant: str) -> float:
    """Share of the variance of a turn's change of cubeless equity that ``luck`` explains, on a window's last turn."""
    boards = window.boards[-1]
    before = equity(probabilities(network(encode(boards, variant)), possible_outcomes(boards, variant)))
    ordinary = ~window.opening[-1]
    change = (equity(window.outcome[-1]) - before)[ordinary]
    rest = change - equity(luck.outcome[-1])[ordinary]
    return 1.0 - float(rest.square().mean() / change.square().mean().clamp(min=1e-12))
