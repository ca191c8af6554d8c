"""A ply over buffers of fixed capacity plays the same games, and can be captured: all but the capture is tried here."""

from __future__ import annotations

import pytest
import torch

from nardy.env import afterstates, launch
from nardy.env.movegen import list_afterstates
from nardy.models.match_equity import MatchEquityTable
from nardy.models.plays import CandidatePass, Capacity
from nardy.models.ranker import Ranker
from nardy.train import ply_graph
from nardy.train.config import SelfPlayConfig
from nardy.train.ply_graph import PlyGraph, PlyGraphs
from nardy.train.selfplay import SelfPlay
from nardy.train.window import Window

from ..random_positions import random_decisions
from .captured import Trace, host_traffic
from .windows import assert_same_standing, assert_same_windows, selfplay_of

NUM_GAMES = 48


def _graphed(selfplay: SelfPlay) -> SelfPlay:
    selfplay.graphs = PlyGraphs(captured=False)
    return selfplay


def _candidates(seed: int = 2, keep: int = 4) -> CandidatePass:
    return CandidatePass(Ranker(16, seed), keep)


def _fullest_ply(window: Window, variant: str) -> int:
    """Afterstates of the ply of ``window`` that has most."""
    second_first = window.second_first
    return max(
        len(afterstates(window.boards[t], window.dice[t], variant, second_first[t])[0])
        for t in range(len(window.boards))
    )


@pytest.mark.parametrize("variant", ["backgammon", "sprintgammon", "longgammon"])
def test_the_games_are_those_of_exact_counts(variant: str) -> None:
    """With passes that come, go and change, plays drawn or not, and networks that learn in the same memory."""
    exact, fixed = selfplay_of(NUM_GAMES, variant=variant), _graphed(selfplay_of(NUM_GAMES, variant=variant))
    first, other, few = _candidates(), _candidates(seed=5), _candidates(keep=2)
    played: list[PlyGraph | None] = []
    for candidates in (None, None, None, first, first, first, other, other, few, few, None, None):
        draw = len(played) > 3
        wanted, found = exact.collect(candidates, draw), fixed.collect(candidates, draw)
        assert_same_windows(found, wanted)
        assert fixed.graphs is not None
        played.append(fixed.graphs.graph)
        num_rows = fixed.graphs._needed[-1]
        assert num_rows[0] == _fullest_ply(wanted, variant)
        assert bool(num_rows[1]) == (candidates is not None)
        with torch.no_grad():
            for selfplay in (exact, fixed):
                selfplay.network.first.weight.mul_(1.01)
            first.ranker.first.weight.add_(0.01)
            first.first.refresh()
    assert played[0] is None
    assert len({id(graph) for graph in played if graph is not None}) >= 5
    assert_same_standing(fixed, exact)


@pytest.mark.parametrize(
    ("sorted_out", "small"),
    [(False, Capacity(200, 1)), (True, Capacity(200, 4096)), (True, Capacity(4096, 30)), (True, Capacity(2, 2))],
)
def test_a_window_that_finds_no_room_is_played_by_exact_counts(sorted_out: bool, small: Capacity) -> None:
    exact, fixed = selfplay_of(NUM_GAMES), _graphed(selfplay_of(NUM_GAMES))
    candidates = _candidates() if sorted_out else None
    assert_same_windows(fixed.collect(candidates), exact.collect(candidates))
    assert fixed.graphs is not None
    fixed.graphs._capacity = small
    before = {name: tensor.clone() for name, tensor in fixed.state().items()}
    assert fixed.graphs.collect(fixed, candidates, False) is None
    for name, tensor in fixed.state().items():
        assert torch.equal(tensor, before[name]), name
    assert float(fixed.counts.games) == float(exact.counts.games)
    graph = fixed.graphs.graph
    assert graph is not None
    assert not small.holds(graph.num_rows)
    for _ in range(3):
        assert_same_windows(fixed.collect(candidates), exact.collect(candidates))
    assert fixed.graphs.graph is not graph
    assert_same_standing(fixed, exact)


def test_what_a_window_holds_does_not_change_with_the_next() -> None:
    fixed = _graphed(selfplay_of(NUM_GAMES))
    fixed.collect()
    window = fixed.collect()
    state = {name: tensor.clone() for name, tensor in fixed.state().items()}
    boards = window.boards.clone()
    kept = fixed.state()
    fixed.collect()
    assert torch.equal(window.boards, boards)
    for name, tensor in kept.items():
        assert torch.equal(tensor, state[name]), name


def test_another_table_of_match_chances_needs_another_graph() -> None:
    exact, fixed = selfplay_of(NUM_GAMES), _graphed(selfplay_of(NUM_GAMES))
    for selfplay in (exact, fixed):
        selfplay.collect()
        selfplay.collect()
    for selfplay in (exact, fixed):
        table = selfplay.stakes.table
        selfplay.stakes.table = MatchEquityTable(table.before * 0.9 + 0.05, table.after)
    assert_same_windows(fixed.collect(), exact.collect())
    assert_same_windows(fixed.collect(), exact.collect())


@pytest.mark.parametrize("variant", ["backgammon", "longgammon"])
@pytest.mark.parametrize("sorted_out", [False, True])
def test_every_ply_is_the_same_launches_and_no_host_traffic(
    monkeypatch: pytest.MonkeyPatch, variant: str, sorted_out: bool
) -> None:
    """What a CUDA graph repeats must not depend on what was found, nor wait for the host or read its numbers."""
    selfplay = selfplay_of(NUM_GAMES, variant=variant)
    candidates = _candidates() if sorted_out else None
    graph = PlyGraph(selfplay, candidates, True, Capacity(2048, 1024), captured=False)
    plies = []
    with torch.no_grad(), launch.threads_in_use(1):
        for _ in range(4):
            graph._turn.zero_()
            with host_traffic() as traffic, Trace(monkeypatch) as trace:
                graph._ply()
            assert traffic == []
            plies.append(trace.seen)
            monkeypatch.undo()
    assert len(plies[0]) > 100
    assert all(ply == plies[0] for ply in plies)


def test_the_capacity_follows_what_was_needed() -> None:
    graphs = PlyGraphs(captured=False)

    def after(afterstates: int, candidates: int) -> Capacity:
        graphs.make_room([afterstates, candidates])
        assert graphs._capacity is not None
        return graphs._capacity

    first = after(100_000, 100_000)
    assert 105_000 < first.afterstates == first.candidates < 110_000
    assert after(101_000, 99_000) == first  # a little more or less is no reason for another
    larger = after(first.afterstates, 100_000)
    assert larger.afterstates > first.afterstates
    assert larger.candidates == first.candidates
    assert after(50_000, 40_000) == larger  # games that began together come back to their full plies
    for _ in range(20):
        smaller = after(50_000, 40_000)
    assert smaller.afterstates < 55_000


def test_without_room_for_a_graph_self_play_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: object) -> PlyGraph:
        raise RuntimeError("out of memory")

    exact, fixed = selfplay_of(NUM_GAMES), _graphed(selfplay_of(NUM_GAMES))
    monkeypatch.setattr(ply_graph, "PlyGraph", failing)
    assert_same_windows(fixed.collect(), exact.collect())
    with pytest.warns(UserWarning, match="out of memory; self-play goes on without"):
        found = fixed.collect()
    assert_same_windows(found, exact.collect())
    assert_same_windows(fixed.collect(), exact.collect())


@pytest.mark.parametrize("variant", ["backgammon", "longgammon"])
def test_a_buffer_of_given_size_holds_the_first_games(variant: str) -> None:
    decisions = random_decisions(200, 5, variant)
    boards = torch.tensor([position for position, _ in decisions], dtype=torch.int8)
    dice = torch.tensor([roll for _, roll in decisions], dtype=torch.int8)
    game, wanted = afterstates(boards, dice, variant)
    total, ends = len(game), torch.bincount(game, minlength=200).cumsum(0)
    for capacity in (total + 5, total + 1, total, total // 2, 2):
        listed = list_afterstates(boards, dice, variant, capacity=capacity)
        assert int(listed.total) == total
        assert len(listed.boards) == len(listed.game) == capacity
        assert torch.equal(listed.ends, ends.clamp(max=capacity - 1))
        held = int(ends[ends <= capacity].amax()) if bool((ends <= capacity).any()) else 0
        assert torch.equal(listed.boards[:held], wanted[:held])
        assert torch.equal(listed.game[:held], game[:held])
        if capacity > total:  # the rest is the first board as it was
            assert torch.equal(listed.boards[total:], boards[:1].expand(capacity - total, 2, 26))
            assert not bool(listed.game[total:].any())


def test_on_a_cpu_the_setting_changes_nothing() -> None:
    selfplay = selfplay_of(NUM_GAMES)
    config = SelfPlayConfig(NUM_GAMES, cuda_graph=True)
    assert SelfPlay(selfplay.network, "backgammon", config, 0, torch.device("cpu")).graphs is None


@pytest.mark.gpu
def test_a_captured_ply_plays_the_same_games() -> None:
    exact, fixed = (selfplay_of(NUM_GAMES, device="cuda") for _ in range(2))
    fixed.graphs = PlyGraphs()
    for _ in range(4):
        assert_same_windows(fixed.collect(), exact.collect())
    assert fixed.graphs is not None
    assert fixed.graphs.graph is not None
    assert_same_standing(fixed, exact)
