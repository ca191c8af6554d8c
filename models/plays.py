"""Every legal play of a batch of positions, valued by the network: the inner loop of self-play and of 0-ply play.

Cost model, a ply of N games with M afterstates (about 18.6 N): one list of afterstates, one dense first layer for N
positions, then per chunk of rows the changed part of the first layer, the other layers and the values. A chunk fits the
cache of a core; on a CPU the chunks are shared among the threads. The only host synchronisation is the
number of afterstates.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from ..env.launch import launch_rows, share, split_rows
from ..env.movegen import afterstates_unchecked
from ..env.variants import get_variant
from .encoding import encode
from .kernels.choice import best_rows
from .kernels.encoding import BLOCK, COUNTED_SIZES, count_cells, first_layer
from .kernels.values import context_values, play_values
from .network import NUM_CUBE, NUM_OUTCOMES, Network
from .stakes import Stakes

__all__ = ["CONTEXT_COLUMNS", "MONEY_COLUMNS", "FirstLayer", "Plays", "evaluate_plays"]

# Columns of play values: cubeless equity, then for money with the cube centred, mine, theirs (as the mover sees it);
# with stakes three more, the same cube states at each game's own stake.
MONEY_COLUMNS = 4
CONTEXT_COLUMNS = 7
_CHUNK_ROWS = {"cpu": 1024, "cuda": 1 << 18}


class FirstLayer:
    """A network's first layer as a table, to be made anew whenever the weights change."""

    def __init__(self, network: Network) -> None:
        numbers = network.first_layer_table()
        self.table = torch.cat([numbers, numbers.roll(-1, 0) - numbers]).contiguous()

    def blocks(self, tensor: Tensor) -> Tensor:
        """``[N, units]`` as ``[N, units / 16, 16]``, as the kernels take it."""
        return tensor.view(tensor.shape[0], tensor.shape[1] // BLOCK, BLOCK)


@dataclass(frozen=True)
class Plays:
    """The afterstates of N games and what the network says of them; M rows in all.

    Attributes:
        game: ``[M]`` int64, non-decreasing. ends: ``[N]`` int64, one past each game's last row.
        boards: ``[M, 2, 26]`` int8, the mover side 0.
        raw: ``[M, 9]`` float32, the network's outputs for the player on roll next; ``[M, 9 + U]`` if stakes were given.
        values: ``[M, 4]`` float32, for the mover: cubeless equity, then in points per unit of the cube with the cube
            centred, mine, theirs (the opponent's right to double next included). Exact where the game is over. If
            stakes were given ``[M, 7]``: the last three again, normalised at each game's stake (`models.stakes`).
    """

    game: Tensor
    ends: Tensor
    boards: Tensor
    raw: Tensor
    values: Tensor

    def best(self) -> Tensor:
        """The best row for each column of ``values``, ``[N, 4 or 7]`` int64, ties to the lowest."""
        best = torch.empty((self.ends.shape[0], self.values.shape[1]), dtype=torch.int64, device=self.ends.device)
        launch_rows(best_rows, best.shape[0], self.ends, self.values, best, device=best.device)
        return best


def _context(network: Network, stakes: Stakes) -> tuple[Tensor, ...]:
    """What `context_values` takes of each game, and the weights."""
    assert network.config.context_units, "a network without context units knows money alone"
    into = network.context_in
    return (
        stakes.payoff.contiguous(),
        stakes.doubled_payoff.contiguous(),
        torch.stack([stakes.scale, stakes.shift], 1),
        torch.cat([stakes.may_double, stakes.may_redouble[:, 1:]], 1),
        into(stakes.features),
        into(stakes.doubled_features),
        network.context_out.weight.detach(),
    )


@torch.no_grad()
def evaluate_plays(
    network: Network,
    boards: Tensor,
    dice: Tensor,
    variant: str,
    second_first: Tensor | None = None,
    first: FirstLayer | None = None,
    stakes: Stakes | None = None,
) -> Plays:
    """Value every legal play of ``boards`` ``[N, 2, 26]`` int8 contiguous with ``dice`` ``[N, 2]`` int8, unchecked.

    ``second_first`` ``[N]`` bool as for `env.afterstates`. ``stakes`` of the N games, for networks with context units,
    are those of the player on roll *next*, the opponent of side 0.
    """
    if first is None:
        first = FirstLayer(network)
    device = boards.device
    rules = get_variant(variant)
    game, afterstates = afterstates_unchecked(boards, dice, variant, second_first)
    num_rows = afterstates.shape[0]
    ends = torch.searchsorted(game, torch.arange(1, boards.shape[0] + 1, device=device))
    sums = torch.nn.functional.linear(encode(boards.flip(1), variant), network.first.weight, network.first.bias)
    flat = afterstates.view(-1, 52)
    packed_afterstates = flat.view(torch.int32)
    flat_boards = boards.view(-1, 52)
    packed = flat_boards.view(torch.int32)
    counted = torch.empty((boards.shape[0], len(COUNTED_SIZES)), dtype=torch.int32, device=device)
    leads = torch.empty(boards.shape[0], dtype=torch.int32, device=device)
    launch_rows(count_cells, boards.shape[0], flat_boards, packed, 1, rules.blocking, counted, leads, device=device)
    columns = NUM_OUTCOMES + NUM_CUBE if stakes is None else network.head.out_features
    raw = torch.empty((num_rows, columns), dtype=torch.float32, device=device)
    num_columns = MONEY_COLUMNS if stakes is None else CONTEXT_COLUMNS
    values = torch.empty((num_rows, num_columns), dtype=torch.float32, device=device)
    chunk = _CHUNK_ROWS[device.type]
    units = network.config.hidden[0]

    layer = (
        packed,
        counted,
        leads,
        first.blocks(sums),
        game,
        packed_afterstates,
        first.blocks(first.table),
        rules.blocking,
    )
    layer_arguments = share(first_layer, *layer)
    value_arguments = share(play_values, flat, raw, rules.max_level, values)
    context_arguments = None
    if stakes is not None:
        context = _context(network, stakes)
        context_arguments = share(context_values, flat, raw, rules.max_level, game, *context, values)

    def work(begin: int, end: int) -> None:
        hidden = torch.empty((end - begin, units), dtype=torch.float32, device=device)
        arguments = (*layer_arguments, begin, first.blocks(hidden))
        launch_rows(first_layer, end - begin, *arguments, device=device, first_row=begin)
        with torch.no_grad():  # the mode belongs to a thread
            network.after_first_layer(hidden, out=raw[begin:end])
        launch_rows(play_values, end - begin, *value_arguments, device=device, first_row=begin)
        if context_arguments is not None:
            launch_rows(context_values, end - begin, *context_arguments, device=device, first_row=begin)

    if device.type == "cpu":
        split_rows(work, num_rows, chunk // 2, chunk)
    else:
        for begin in range(0, num_rows, chunk):
            work(begin, min(begin + chunk, num_rows))
    return Plays(game, ends, afterstates, raw, values)
