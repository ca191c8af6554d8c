"""A ply of self-play as one CUDA graph, in the place of some 440 operations that the host launches one by one.

A graph repeats the very launches that were captured, on the same memory and the same numbers of rows. So the games'
state, what is recorded and the first layer's table lie in memory that stays, every ply reads and writes there, and the
afterstates have buffers of a fixed capacity: a little more than any ply of the last sixteen windows needed. How many
rows were needed is read once a window. Where the capacity did not suffice, that window is thrown away before anything
has become of it, and is played again by exact counts; the games are the same, since their dice depend on slot and
number alone.

Cost: what is recorded is copied once more, and the spare rows are valued (7 % of the fullest ply's, and what a window's
plies differ); no synchronisation but one a window.
"""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch

from ..models.plays import CandidatePass, Capacity, FirstLayer
from .capture import capture, rehearse
from .window import Window, each_tensor

if TYPE_CHECKING:
    from .selfplay import SelfPlay

__all__ = ["PlyGraph", "PlyGraphs"]

_SPARE = 1.07  # rows for each that the fullest ply of a window needed
_ROUND = 1024  # rows that a capacity is a multiple of
_TOO_MUCH = 1.15  # times the capacity that would do now: a smaller one pays for another capture
_WINDOWS = 16  # looked back on: games that began together have full and empty plies together for long


class PlyGraph:
    """The plies of one `SelfPlay` over memory that stays.

    Attributes:
        capacity: of its afterstates. num_rows: ``[2]`` rows that the fullest ply of the last window needed.
    """

    def __init__(
        self,
        selfplay: SelfPlay,
        candidates: CandidatePass | None,
        draw: bool,
        capacity: Capacity,
        captured: bool = True,
    ) -> None:
        """Capture a ply as `SelfPlay.ply` with these arguments plays it; ``selfplay`` itself does not move.

        Not ``captured``, as on a CPU, the same ply is launched anew every time.
        """
        self.capacity = capacity
        self.num_rows: Sequence[int] = ()
        self._table = selfplay.stakes.table
        self._draw = draw
        self._first = FirstLayer(selfplay.network)
        self._candidates = None if candidates is None else CandidatePass(candidates.ranker, candidates.keep)
        self._lane = selfplay.part(0, selfplay.games.num_games)
        self._state = {name: tensor.clone() for name, tensor in selfplay.state().items()}
        self._most = torch.zeros(2, dtype=torch.int64, device=selfplay.games.device)
        self._turn = torch.zeros(1, dtype=torch.int64, device=selfplay.games.device)
        self._graph: torch.cuda.CUDAGraph | None = None
        plies = selfplay.config.window_plies
        if captured:
            self._window = rehearse(lambda: self._empty_window(plies))
            self._graph, _ = capture(self._ply)
        else:
            self._window = self._empty_window(plies)

    def plays_for(self, selfplay: SelfPlay, candidates: CandidatePass | None, draw: bool, capacity: Capacity) -> bool:
        """Is it the graph for these arguments, which it was captured with?"""
        mine = self._candidates
        same_pass = (mine is None) == (candidates is None)
        if mine is not None and candidates is not None:
            same_pass = mine.ranker is candidates.ranker and mine.keep == candidates.keep
        same_table = self._table is selfplay.stakes.table
        return same_pass and same_table and self._draw == draw and self.capacity == capacity

    @torch.no_grad()
    def collect(self, selfplay: SelfPlay) -> Window | None:
        """Play a window from where ``selfplay`` stands and move it on; None, and nothing moved, without room for it."""
        for name, tensor in selfplay.state().items():
            self._state[name].copy_(tensor)
        self._first.refresh()
        if self._candidates is not None:
            self._candidates.first.refresh()
        self._lane.counts.clear()
        self._turn.zero_()
        self._most.zero_()
        for _ in range(selfplay.config.window_plies):
            if self._graph is None:
                self._ply()
            else:
                self._graph.replay()
        self.num_rows = self._most.tolist()  # the one host synchronisation of a window
        if not self.capacity.holds(self.num_rows):
            return None
        selfplay.bind({name: tensor.clone() for name, tensor in self._state.items()})
        selfplay.counts.add(self._lane.counts)
        return each_tensor(torch.clone, self._window)

    @torch.no_grad()
    def _empty_window(self, plies: int) -> Window:
        """Memory for what ``plies`` plies record."""
        self._lane.bind(self._state)
        ply, _ = self._lane.ply(self._first, self._candidates, self._draw, self.capacity)
        return each_tensor(lambda tensor: tensor.new_empty((plies, *tensor.shape)), ply)

    @torch.no_grad()
    def _ply(self) -> None:
        """Play one ply from the state in place to the state in place, and record it as the next of the window."""
        self._lane.bind(self._state)
        ply, num_rows = self._lane.ply(self._first, self._candidates, self._draw, self.capacity)
        each_tensor(lambda kept, seen: kept.index_copy_(0, self._turn, seen[None]), self._window, ply)
        for name, tensor in self._lane.state().items():  # only now: what was recorded may be the old state itself
            self._state[name].copy_(tensor)
        self._most.copy_(torch.maximum(self._most, num_rows))
        self._turn.add_(1)


class PlyGraphs:
    """Plays windows by a `PlyGraph`, captured anew whenever another one is needed.

    Attributes:
        graph: the one in use.
    """

    def __init__(self, captured: bool = True) -> None:
        """``captured`` as for `PlyGraph`."""
        self.graph: PlyGraph | None = None
        self._captured = captured
        self._capacity: Capacity | None = None
        self._needed: deque[Sequence[int]] = deque(maxlen=_WINDOWS)
        self._sorted_out = False

    def collect(self, selfplay: SelfPlay, candidates: CandidatePass | None, draw: bool) -> Window | None:
        """A window of ``selfplay``; None if it must be played by exact counts now, then `make_room` is to be told.

        Without room for a capture this warns, once, and leaves all to exact counts from then on.
        """
        if self._sorted_out != (candidates is not None):  # what was needed till now says nothing of the candidates
            self._sorted_out, self._capacity = candidates is not None, None
            self._needed.clear()
        if self._capacity is None:
            return None
        if self.graph is None or not self.graph.plays_for(selfplay, candidates, draw, self._capacity):
            self.graph = None  # its memory is free for the next one
            try:
                self.graph = PlyGraph(selfplay, candidates, draw, self._capacity, self._captured)
            except RuntimeError as error:
                warnings.warn(f"CUDA graph: found {error}; self-play goes on without one", stacklevel=2)
                selfplay.graphs = None
                return None
        window = self.graph.collect(selfplay)
        if window is not None:
            self.make_room(self.graph.num_rows)
        return window

    def make_room(self, num_rows: Sequence[int]) -> None:
        """Choose the capacity for the next window after one whose fullest ply needed ``num_rows`` ``[2]`` rows."""
        self._needed.append(num_rows)
        most = (max(numbers) for numbers in zip(*self._needed, strict=True))
        wanted = Capacity(*(_ROUND * (1 + int(_SPARE * number) // _ROUND) for number in most))
        now = self._capacity
        if now is None or not now.holds(num_rows) or _much_larger(now, wanted):
            self._capacity = wanted


def _much_larger(now: Capacity, wanted: Capacity) -> bool:
    rows = (now.afterstates, wanted.afterstates), (now.candidates, wanted.candidates)
    return any(present > _TOO_MUCH * needed + _ROUND for present, needed in rows)
