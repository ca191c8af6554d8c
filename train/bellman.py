"""Exact targets: a position's value as the mean over its 21 rolls of the best play, with the exact cube decision.

One sampled roll is most of the noise in a lambda-return; here there is none, at some twenty times the cost of a turn of
self-play. So only a share of a window's positions is valued so, late in a run, when the values are good enough for the
noise to matter.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from ..models.network import Network
from ..models.plays import CandidatePass, FirstLayer, evaluate_plays
from ..models.rolls import NUM_ROLLS, ROLLS, roll_chances
from ..models.stakes import Stakes
from ..models.values import exact_probabilities, flip_probabilities, possible_outcomes, probabilities
from .selfplay import Window
from .targets import Targets

__all__ = ["bellman", "roll_means"]

_CHUNK = 1024  # positions at once, 21 times as many turns


def bellman(
    window: Window,
    targets: Targets,
    network: Network,
    variant: str,
    rows: Tensor,
    keep_rest: bool,
    candidates: CandidatePass | None = None,
) -> Targets:
    """``targets`` with those of the positions ``rows`` ``[K]`` (of T * N, row t * N + n) made exact by ``network``.

    Without ``keep_rest`` the other positions are left out of learning. ``candidates`` sorts plays out.
    """
    outcome, no_double = targets.outcome.flatten(0, 1).clone(), targets.no_double.flatten(0, 1).clone()
    stake = None if targets.stake is None else targets.stake.flatten(0, 1).clone()
    first = FirstLayer(network)
    boards, second_first = window.boards.flatten(0, 1), window.second_first.flatten(0, 1)
    stakes = None if window.stake is None else window.stake.here.flatten(0, 1)
    for part in torch.split(rows, _CHUNK):
        here = None if stakes is None else stakes.rows(part)
        probs, values = roll_means(network, boards[part], variant, second_first[part], here, first, candidates)
        outcome[part], no_double[part] = probs, values[:, 1:4]
        if stake is not None:
            stake[part] = values[:, 4:]
    return replace(
        targets,
        outcome=outcome.view_as(targets.outcome),
        no_double=no_double.view_as(targets.no_double),
        stake=None if stake is None else stake.view_as(targets.no_double),
        rows=None if keep_rest else rows,
    )


@torch.no_grad()
def roll_means(
    network: Network,
    boards: Tensor,
    variant: str,
    second_first: Tensor,
    stakes: Stakes | None = None,
    first: FirstLayer | None = None,
    candidates: CandidatePass | None = None,
) -> tuple[Tensor, Tensor]:
    """Means over the 21 rolls, for the player on roll who does not double now.

    Args:
        network: judges the positions after the turn.
        boards: ``[N, 2, 26]`` int8, side 0 on roll. variant: the discipline.
        second_first: ``[N]`` bool, as for `env.afterstates`.
        stakes: of the player on roll, for networks with context units.
        first: the network's first layer as a table, if at hand.
        candidates: sorts plays out before the network sees them; None values all.

    Returns:
        ``(outcome, values)``: ``[N, 6]`` outcome probabilities of the cubeless best plays; ``[N, 4]``, with stakes
        ``[N, 7]``, the means of `Plays.values` of the best play by each column.
    """
    number, rolls = len(boards), NUM_ROLLS
    turns = boards.repeat_interleave(rolls, 0)
    dice = torch.tensor(ROLLS, dtype=torch.int8, device=boards.device).repeat(number, 1)
    following = None if stakes is None else stakes.flip().repeat(rolls)
    repeated = second_first.repeat_interleave(rolls)
    plays = evaluate_plays(network, turns, dice, variant, repeated, first, following, candidates)
    best = plays.best()
    chances = roll_chances(boards.device)
    values = plays.values.gather(0, best).view(number, rolls, -1)
    after = plays.boards[best[:, 0]]
    probs = flip_probabilities(probabilities(plays.raw[best[:, 0]], possible_outcomes(after, variant, swap=True)))
    done, exact = exact_probabilities(after, variant)
    probs = torch.where(done[:, None], exact, probs).view(number, rolls, 6)
    return torch.einsum("nrk,r->nk", probs, chances), torch.einsum("nrk,r->nk", values, chances)
