"""Exact targets: a position's value as the mean over its 21 rolls of the best play, with the exact cube decision.

One sampled roll is most of the noise in a lambda-return; here there is none, at some twenty times the cost of a turn of
self-play. So only a share of a window's positions is valued so, late in a run, when the values are good enough for the
noise to matter.

Such a mean knows no more than the network does one turn later. `luckless_returns` follow the games on: each roll's
exact luck, its value less the mean, is taken out of the lambda-return, which leaves the sum of the network's own errors
along the way. So the news of how games end reaches all their positions at once and nearly without noise: luck is some
98 % of the variance of a game's result.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from ..env.launch import over_rows
from ..models.network import Network
from ..models.plays import CandidatePass, FirstLayer, evaluate_plays
from ..models.rolls import NUM_ROLLS, every_roll, roll_chances
from ..models.stakes import Stakes
from ..models.values import exact_probabilities, flip_probabilities, possible_outcomes, probabilities
from .luck import Luck
from .targets import Targets, td_lambda
from .window import Window

__all__ = ["bellman", "exact_luck", "luckless_returns", "roll_means"]

_CHUNK = 1024  # positions at once, 21 times as many turns
_MIN_CHUNK = 64  # positions for which another thread pays


def bellman(
    window: Window,
    targets: Targets,
    network: Network,
    variant: str,
    rows: Tensor,
    keep_rest: bool,
    candidates: CandidatePass | None = None,
    bfloat16: bool = False,
) -> Targets:
    """``targets`` with those of the positions ``rows`` ``[K]`` (of T * N, row t * N + n) made exact by ``network``.

    Without ``keep_rest`` the other positions are left out of learning. ``candidates`` sorts plays out, products
    are rounded with ``bfloat16``.
    """
    outcome, no_double = targets.outcome.flatten(0, 1).clone(), targets.no_double.flatten(0, 1).clone()
    stake = None if targets.stake is None else targets.stake.flatten(0, 1).clone()
    probs, values = _means_of(window, rows, network, variant, candidates, bfloat16)
    outcome[rows], no_double[rows] = probs, values[:, 1:4]
    if stake is not None:
        stake[rows] = values[:, 4:]
    return replace(
        targets,
        outcome=outcome.view_as(targets.outcome),
        no_double=no_double.view_as(targets.no_double),
        stake=None if stake is None else stake.view_as(targets.no_double),
        rows=None if keep_rest else rows,
    )


def luckless_returns(
    window: Window,
    targets: Targets,
    network: Network,
    variant: str,
    trace: float,
    slots: Tensor,
    keep_rest: bool,
    candidates: CandidatePass | None = None,
    bfloat16: bool = False,
) -> Targets:
    """``targets`` with those of the games ``slots`` ``[K]`` (of N) replaced by lambda-returns less all exact luck.

    ``network``, ``candidates`` and ``bfloat16`` must be those that played ``window``; ``trace`` is lambda, with 0 the
    targets of `bellman`. Without ``keep_rest`` the other games are left out of learning.
    """
    part = window.slots(slots)
    luck = exact_luck(part, network, variant, candidates, bfloat16)
    returns = td_lambda(part, trace, luck)
    outcome, no_double = targets.outcome.clone(), targets.no_double.clone()
    outcome[:, slots] = _near_means(returns.outcome, part.outcome - luck.outcome)
    no_double[:, slots] = returns.no_double
    stake = None
    if targets.stake is not None and returns.stake is not None:
        stake = targets.stake.clone()
        stake[:, slots] = returns.stake
    plies, number = window.opening.shape
    rows = (torch.arange(plies, device=slots.device)[:, None] * number + slots).flatten()
    return Targets(outcome, no_double, stake, None if keep_rest else rows)


def _near_means(outcome: Tensor, means: Tensor) -> Tensor:
    """``outcome`` ``[..., 6]`` kept so near to ``means`` that a probability neither changes sign nor more than doubles.

    Errors from along the way are alike for a backgammon that is likely later and hardly possible now, where they would
    throw the logit about. They may be cut on both sides alike; the likeliest outcome makes up for what is cut.
    """
    change = torch.clamp(outcome - means, -means, means)
    likeliest = means.argmax(-1, keepdim=True)
    change.scatter_(-1, likeliest, 0.0)
    return means + change.scatter(-1, likeliest, -change.sum(-1, keepdim=True))


def exact_luck(
    window: Window, network: Network, variant: str, candidates: CandidatePass | None = None, bfloat16: bool = False
) -> Luck:
    """What every roll of ``window`` gained over the mean of all rolls, by the ``network`` that played it.

    Nothing where the position lies before an opening roll, which comes from other chances.
    """
    every = torch.arange(window.opening.numel(), device=window.boards.device)
    probs, all_values = _means_of(window, every, network, variant, candidates, bfloat16)
    outcome, values = probs.view_as(window.outcome), all_values.view(*window.opening.shape, -1)
    rolled = (~window.opening)[..., None]
    return Luck(
        (window.outcome - outcome) * rolled,
        (window.cube - values[..., 1:4]) * rolled,
        None if window.stake is None else (window.stake.cube - values[..., 4:]) * rolled,
    )


def _means_of(
    window: Window, rows: Tensor, network: Network, variant: str, candidates: CandidatePass | None, bfloat16: bool
) -> tuple[Tensor, Tensor]:
    """`roll_means` of the positions ``rows`` ``[K]`` (of T * N) of a window, in chunks.

    On a CPU the threads take a chunk each, so that its hundreds of small operations are shared out too.
    """
    first = FirstLayer(network)
    boards, second_first = window.boards.flatten(0, 1), window.second_first.flatten(0, 1)
    stakes = None if window.stake is None else window.stake.here.flatten(0, 1)
    means: dict[int, tuple[Tensor, Tensor]] = {}

    def work(begin: int, end: int) -> None:
        part = rows[begin:end]
        here = None if stakes is None else stakes.rows(part)
        parts = (boards[part], variant, second_first[part], here, first, candidates, bfloat16)
        means[begin] = roll_means(network, *parts)

    over_rows(work, len(rows), _MIN_CHUNK, _CHUNK, device=rows.device, gpu_rows=_CHUNK)
    probs, values = zip(*(means[begin] for begin in sorted(means)), strict=True)
    return torch.cat(probs), torch.cat(values)


@torch.no_grad()
def roll_means(
    network: Network,
    boards: Tensor,
    variant: str,
    second_first: Tensor,
    stakes: Stakes | None = None,
    first: FirstLayer | None = None,
    candidates: CandidatePass | None = None,
    bfloat16: bool = False,
) -> tuple[Tensor, Tensor]:
    """Means over the 21 rolls, for the player on roll who does not double now.

    Args:
        network: judges the positions after the turn.
        boards: ``[N, 2, 26]`` int8, side 0 on roll. variant: the discipline.
        second_first: ``[N]`` bool, as for `env.afterstates`.
        stakes: of the player on roll, for networks with context units.
        first: the network's first layer as a table, if at hand.
        candidates: sorts plays out before the network sees them; None values all.
        bfloat16: round the products, as `evaluate_plays` does.

    Returns:
        ``(outcome, values)``: ``[N, 6]`` outcome probabilities of the cubeless best plays; ``[N, 4]``, with stakes
        ``[N, 7]``, the means of `Plays.values` of the best play by each column.
    """
    number, rolls = len(boards), NUM_ROLLS
    dice = every_roll(number, boards.device)
    following = None if stakes is None else stakes.flip()
    plays = evaluate_plays(network, boards, dice, variant, second_first, first, following, candidates, bfloat16)
    best = plays.best()
    chances = roll_chances(boards.device)
    values = plays.values.gather(0, best).view(number, rolls, -1)
    after = plays.boards[best[:, 0]]
    probs = flip_probabilities(probabilities(plays.raw[best[:, 0]], possible_outcomes(after, variant, swap=True)))
    done, exact = exact_probabilities(after, variant)
    probs = torch.where(done[:, None], exact, probs).view(number, rolls, 6)
    return torch.einsum("nrk,r->nk", probs, chances), torch.einsum("nrk,r->nk", values, chances)
