"""Every legal play of a batch of positions, valued by the network: the inner loop of self-play and of 0-ply play.

Cost model, a ply of N games with M afterstates (about 18.6 N): one list of afterstates, one dense first layer for N
positions, then per chunk of rows the changed part of the first layer, the other layers and the values. A chunk fits the
cache of a core; on a CPU the chunks are shared among the threads. The only host synchronisation is the
number of afterstates, and of candidates if plays are sorted out first. With a `Capacity` there is none: buffers have a
given size, and what of it is left over is valued too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from ..env.launch import launch_rows, over_rows, share
from ..env.movegen import list_afterstates
from ..env.variants import get_variant
from .encoding import NUM_BASIC_INPUTS, encode, input_table
from .kernels.cells import COUNTED_SIZES
from .kernels.choice import best_rows, keep_rows
from .kernels.encoding import BLOCK, count_cells, first_layer
from .kernels.values import context_values, play_values
from .network import NUM_CUBE, NUM_OUTCOMES, Network
from .ranker import Ranker
from .stakes import Stakes

__all__ = ["CONTEXT_COLUMNS", "MONEY_COLUMNS", "CandidatePass", "Capacity", "FirstLayer", "Plays", "evaluate_plays"]

# Columns of play values: cubeless equity, then for money with the cube centred, mine, theirs (as the mover sees it);
# with stakes three more, the same cube states at each game's own stake.
MONEY_COLUMNS = 4
CONTEXT_COLUMNS = 7
# Rows at once: on a CPU fewer where the layers are wide, so that a chunk's activations stay in a core's cache, but
# enough to make up for what launching costs.
_CUDA_CHUNK_ROWS = 1 << 18
_CHUNK_ACTIVATIONS = 1 << 20
_CPU_CHUNK_ROWS = 1024, 4096
_FIRST_LAYER_ROWS = 256


class FirstLayer:
    """A network's first layer as a table, to be made anew or refreshed whenever the weights change."""

    def __init__(self, network: Network | Ranker) -> None:
        self.linear = network.first
        self.detailed = self.linear.in_features > NUM_BASIC_INPUTS
        self.table = self._made()

    def refresh(self) -> None:
        """Follow the weights, in the same memory."""
        self.table.copy_(self._made())

    @torch.no_grad()
    def _made(self) -> Tensor:
        weight = self.linear.weight
        numbers = input_table(weight.device)[:, : self.linear.in_features] @ weight.T  # what each (cell, number) adds
        return _blocks(torch.cat([numbers, numbers.roll(-1, 0) - numbers]).contiguous())


@dataclass(frozen=True)
class Capacity:
    """Rows of buffers whose sizes do not depend on what is found, one of them to spare.

    Attributes:
        afterstates: of all positions. candidates: of those that a `CandidatePass` leaves; not looked at without one.
    """

    afterstates: int
    candidates: int

    def holds(self, num_rows: Sequence[int]) -> bool:
        """Did it suffice for ``num_rows``, those of `Plays`?"""
        return num_rows[0] < self.afterstates and num_rows[1] < self.candidates


class CandidatePass:
    """Sorts plays out by ``ranker``: at most ``keep`` of a position's stay. Anew whenever its weights change."""

    def __init__(self, ranker: Ranker, keep: int) -> None:
        self.ranker = ranker
        self.keep = keep
        self.first = FirstLayer(ranker)


def _blocks(tensor: Tensor) -> Tensor:
    """``[N, units]`` as ``[N, units / 16, 16]``, as the kernels take it."""
    return tensor.view(tensor.shape[0], tensor.shape[1] // BLOCK, BLOCK)


@dataclass(frozen=True)
class Plays:
    """The afterstates of N games and what the network says of them; M rows in all.

    Attributes:
        game: ``[M]`` int64, non-decreasing, one for each roll. ends: ``[N]`` int64, one past each game's last row;
            rows behind the last end belong to no game.
        boards: ``[M, 2, 26]`` int8, the mover side 0.
        raw: ``[M, 9]`` float32, the network's outputs for the player on roll next; ``[M, 9 + U]`` if stakes were given.
        values: ``[M, 4]`` float32, for the mover: cubeless equity, then in points per unit of the cube with the cube
            centred, mine, theirs (the opponent's right to double next included). Exact where the game is over. If
            stakes were given ``[M, 7]``: the last three again, normalised at each game's stake (`models.stakes`).
        num_rows: ``[2]`` int64, on the device: how many afterstates there are, and how many candidates, 0 without a
            pass; where `Capacity.holds` says no to them all this is to be thrown away.
    """

    game: Tensor
    ends: Tensor
    boards: Tensor
    raw: Tensor
    values: Tensor
    num_rows: Tensor

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


class _Turns:
    """Positions before a play as the first layers of their afterstates need them: described once for every network."""

    def __init__(self, boards: Tensor, variant: str) -> None:
        self.rules = get_variant(variant)
        self.device = boards.device
        number = boards.shape[0]
        self.inputs = encode(boards.flip(1), variant)
        flat = boards.view(-1, 52)
        self.packed = flat.view(torch.int32)
        self.counted = torch.empty((number, len(COUNTED_SIZES)), dtype=torch.int32, device=self.device)
        arguments = (self.packed, 1, self.rules.blocking, self.counted)
        launch_rows(count_cells, number, *arguments, device=self.device)


class _Hidden:
    """First-layer activations of ``afterstates`` ``[M, 2, 26]`` of ``turns``, some rows at a time."""

    def __init__(self, turns: _Turns, first: FirstLayer, position: Tensor, afterstates: Tensor) -> None:
        """``position`` ``[M]`` int64: which of ``turns`` each afterstate comes from."""
        self.device = position.device
        linear = first.linear
        self.sums = torch.empty((len(turns.inputs), linear.out_features), device=self.device)
        inputs, weight, bias = turns.inputs[:, : linear.in_features], linear.weight, linear.bias

        def sum_up(begin: int, end: int) -> None:
            with torch.no_grad():  # the mode belongs to a thread
                torch.addmm(bias, inputs[begin:end], weight.T, out=self.sums[begin:end])

        over_rows(sum_up, len(inputs), _FIRST_LAYER_ROWS, device=self.device)
        packed_afterstates = afterstates.view(-1, 52).view(torch.int32)
        described = (turns.packed, turns.counted, _blocks(self.sums), position, packed_afterstates)
        self.memory = (turns, first, position, afterstates)  # what the shared arguments are views of
        self.arguments = share(first_layer, *described, first.table, turns.rules.blocking, first.detailed)

    def rows(self, begin: int, end: int) -> Tensor:
        """``[end - begin, units]``."""
        hidden = torch.empty((end - begin, self.sums.shape[1]), dtype=torch.float32, device=self.device)
        arguments = (*self.arguments, begin, _blocks(hidden))
        launch_rows(first_layer, end - begin, *arguments, device=self.device, first_row=begin)
        return hidden


def _over_chunks(work: Callable[[int, int], None], num_rows: int, units: int, device: torch.device) -> None:
    """``work(begin, end)`` over all rows, by chunks of ``units`` a row, shared among the threads on a CPU."""
    fewest, most = _CPU_CHUNK_ROWS
    chunk = min(max(_CHUNK_ACTIVATIONS // units, fewest), most)
    over_rows(work, num_rows, fewest // 2, chunk, device=device, gpu_rows=_CUDA_CHUNK_ROWS)


def _candidates(
    by: CandidatePass, turns: _Turns, position: Tensor, ends: Tensor, afterstates: Tensor, capacity: int | None
) -> tuple[Tensor, Tensor, Tensor]:
    """``(rows, ends, total)`` of the best plays by the ranker, in the order they had.

    A host synchronisation, unless there is a ``capacity`` for the rows.
    """
    device = position.device
    hidden = _Hidden(turns, by.first, position, afterstates)
    scores = torch.empty(afterstates.shape[0], dtype=torch.float32, device=device)
    weights = -by.ranker.head.weight[0]  # the ranker speaks for the other player, and the offset is everyone's

    def work(begin: int, end: int) -> None:
        with torch.no_grad():  # the mode belongs to a thread
            torch.mv(hidden.rows(begin, end), weights, out=scores[begin:end])

    _over_chunks(work, len(scores), hidden.sums.shape[1], device)
    kept_ends = torch.diff(ends, prepend=ends.new_zeros(1)).clamp(max=by.keep).cumsum(0)
    total = kept_ends[-1]
    if capacity is None:
        rows = torch.empty(int(total), dtype=torch.int64, device=device)
    else:
        rows = torch.zeros(capacity, dtype=torch.int64, device=device)
        kept_ends = kept_ends.clamp(max=capacity - 1)
    arguments = (ends, kept_ends, scores, afterstates.view(-1, 52), turns.rules.num_checkers, rows)
    launch_rows(keep_rows, len(ends), *arguments, device=device)
    return rows, kept_ends, total


@torch.no_grad()
def evaluate_plays(
    network: Network,
    boards: Tensor,
    dice: Tensor,
    variant: str,
    second_first: Tensor | None = None,
    first: FirstLayer | None = None,
    stakes: Stakes | None = None,
    candidates: CandidatePass | None = None,
    bfloat16: bool = False,
    capacity: Capacity | None = None,
) -> Plays:
    """Value every legal play of ``boards`` ``[N, 2, 26]`` int8 contiguous with ``dice`` ``[N, 2]`` int8, unchecked.

    ``dice`` ``[N * R, 2]`` are R rolls of each position in a row, and count as N * R games; what does not depend on the
    roll is computed once. ``second_first`` ``[N]`` bool as for `env.afterstates`. ``stakes`` of the N positions, for
    networks with context units, are those of the player on roll *next*, the opponent of side 0. ``first`` is the
    network's first layer as a table, if at hand. With ``candidates`` only the plays that pass it are valued and
    returned. With ``bfloat16`` the products after the first layer are rounded, for GPUs, which then compute several
    times as fast. With ``capacity`` nothing waits for the device and no size depends on the positions, as a CUDA graph
    needs it.
    """
    device = boards.device
    rolls = len(dice) // max(1, len(boards))
    rolled, rolled_second = boards, second_first
    if rolls > 1:
        rolled = boards.repeat_interleave(rolls, 0)
        rolled_second = None if second_first is None else second_first.repeat_interleave(rolls)
    listed = list_afterstates(rolled, dice, variant, rolled_second, None if capacity is None else capacity.afterstates)
    game, ends, afterstates = listed.game, listed.ends, listed.boards
    num_candidates = torch.zeros_like(listed.total)
    turns = _Turns(boards, variant)
    position = game if rolls == 1 else game // rolls
    if candidates is not None:
        room = None if capacity is None else capacity.candidates
        rows, ends, num_candidates = _candidates(candidates, turns, position, ends, afterstates, room)
        game, position, afterstates = game[rows], position[rows], afterstates[rows]
    num_rows = afterstates.shape[0]
    flat = afterstates.view(-1, 52)
    columns = NUM_OUTCOMES + NUM_CUBE if stakes is None else network.head.out_features
    raw = torch.empty((num_rows, columns), dtype=torch.float32, device=device)
    num_columns = MONEY_COLUMNS if stakes is None else CONTEXT_COLUMNS
    values = torch.empty((num_rows, num_columns), dtype=torch.float32, device=device)
    hidden = _Hidden(turns, first or FirstLayer(network), position, afterstates)
    max_level = turns.rules.max_level
    value_arguments = share(play_values, flat, raw, max_level, values)
    context_arguments = None
    if stakes is not None:
        context_arguments = share(context_values, flat, raw, max_level, position, *_context(network, stakes), values)

    def work(begin: int, end: int) -> None:
        # Both modes belong to a thread.
        with torch.no_grad(), torch.autocast(device.type, torch.bfloat16, enabled=bfloat16):
            network.after_first_layer(hidden.rows(begin, end), out=raw[begin:end])
        launch_rows(play_values, end - begin, *value_arguments, device=device, first_row=begin)
        if context_arguments is not None:
            launch_rows(context_values, end - begin, *context_arguments, device=device, first_row=begin)

    _over_chunks(work, num_rows, max(network.config.hidden), device)
    return Plays(game, ends, afterstates, raw, values, torch.stack([listed.total, num_candidates]))
