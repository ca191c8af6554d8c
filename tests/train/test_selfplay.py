"""Self-play records games as the rules have them."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from nardy.env import Cube, afterstates, flip, launch, outcome, start_boards
from nardy.models import Evaluator
from nardy.models.encoding import encode
from nardy.models.plays import FirstLayer
from nardy.models.values import before_roll, context_no_double, possible_outcomes, probabilities
from nardy.train.selfplay import SelfPlay
from nardy.train.slot_stakes import STAKE
from nardy.train.window import StakeWindow, Window

from .captured import host_traffic
from .windows import assert_same_standing, assert_same_windows, selfplay_of


def _windows(selfplay: SelfPlay, number: int) -> list[Window]:
    return [selfplay.collect() for _ in range(number)]


@pytest.mark.parametrize("variant", ["backgammon", "sprintgammon", "longgammon"])
def test_every_position_follows_from_the_one_before_unless_the_game_ended(variant: str) -> None:
    rolls = torch.tensor([(a, b) for a in range(1, 7) for b in range(1, a + 1)])
    for window in _windows(selfplay_of(variant=variant), 3):
        second = window.opening.roll(1, 0)
        for t in range(len(window.boards) - 1):
            for n in range(window.boards.shape[1]):
                before, after = window.boards[t, n], window.boards[t + 1, n]
                if window.ended[t, n]:
                    assert torch.equal(after, start_boards(1, variant)[0])
                    assert window.opening[t + 1, n]
                else:
                    assert not window.opening[t + 1, n]
                    first_roll = second[t, n].expand(21)
                    _, reachable = afterstates(before.expand(21, 2, 26).contiguous(), rolls, variant, first_roll)
                    assert bool((flip(reachable) == after).all((1, 2)).any())


def test_no_finished_position_is_ever_recorded() -> None:
    for window in _windows(selfplay_of(), 8):
        assert bool((outcome(window.boards.flatten(0, 1)) == 0).all())


def test_estimates_are_those_of_the_best_play_and_the_cubes_values() -> None:
    selfplay = selfplay_of()
    evaluator = Evaluator(selfplay.network)
    for window in _windows(selfplay, 2):
        for t in range(len(window.boards) - 1):
            goes_on = ~window.ended[t]
            boards = window.boards[t + 1][goes_on]
            probs = evaluator.outcome(boards)[:, (3, 4, 5, 0, 1, 2)]
            followed = window.followed[t][goes_on][:, 0]
            torch.testing.assert_close(window.outcome[t][goes_on][followed], probs[followed], atol=2e-5, rtol=0)
            for state, owner in enumerate((0, 2, 1)):
                followed = window.followed[t][goes_on][:, 1 + state]
                value = -evaluator.equity(boards, Cube(owner=torch.full((len(boards),), owner, dtype=torch.int8)))
                torch.testing.assert_close(
                    window.cube[t][goes_on][:, state][followed], value[followed], atol=5e-5, rtol=0
                )
            assert bool(window.followed[t].any(1).all())


def test_what_is_kept_of_a_stake_is_what_the_network_says_of_the_position_after() -> None:
    """One ply at a time, so that the stake before it is known; games whose cube may have been turned are left out."""
    selfplay = selfplay_of(96)
    selfplay.config = replace(selfplay.config, window_plies=1)
    network, compared = selfplay.network, 0
    for _ in range(40):
        judged = selfplay.stakes.kind != STAKE
        theirs = selfplay.stakes.seen_by(1 - selfplay.games.player)
        turn = selfplay.games.turn
        window = selfplay.collect()
        stake = window.stake
        assert stake is not None
        same = judged & (selfplay.games.turn == turn + 1)
        boards = selfplay.games.boards
        raw, possible = network(encode(boards)), possible_outcomes(boards, "backgammon")
        no_double, taken = context_no_double(network, raw, probabilities(raw, possible), possible, theirs)
        torch.testing.assert_close(stake.next_no_double[0][same], no_double[same], atol=1e-3, rtol=1e-3)
        torch.testing.assert_close(stake.next_double_take[0][same], taken[same], atol=1e-3, rtol=1e-3)
        before = -before_roll(no_double, taken, theirs.may_double[:, 0])[:, (0, 2, 1)]
        followed = same[:, None] & window.followed[0][:, 4:]
        compared += int(followed.sum())
        torch.testing.assert_close(stake.cube[0][followed], before[followed], atol=1e-3, rtol=1e-3)
    assert compared > 1000


def test_stakes_cover_every_score_and_jacoby_and_stay_for_the_game() -> None:
    selfplay = selfplay_of(512, cubeful=0.4)
    stakes = selfplay.stakes
    away, kind = stakes.away.clone(), stakes.kind
    jacoby = away[:, 0] == 0
    assert 0.06 < float(jacoby.float().mean()) < 0.2
    assert torch.equal(jacoby, away[:, 1] == 0)
    assert int(away.max()) > 20
    assert len(away.unique(dim=0)) > 150
    assert set(stakes.cube.tolist()) == {1, 2, 4, 8}
    live = ~jacoby & ~stakes.crawford
    assert bool((stakes.cube < away.amax(1))[live & (stakes.cube > 1)].all())  # not dead for both
    assert not bool((stakes.crawford & ((away == 1).sum(1) != 1)).any())
    assert 0.3 < float((kind == 1).float().mean()) < 0.5
    assert 0.12 < float((kind == STAKE).float().mean()) < 0.28
    turns = selfplay.games.turn.clone()
    selfplay.collect()
    going_on = selfplay.games.turn == turns + selfplay.config.window_plies
    assert torch.equal(stakes.away[going_on], away[going_on])


def test_cubeless_games_are_always_played_by_the_cubeless_best() -> None:
    for window in _windows(selfplay_of(cubeful=0.0), 3):
        assert bool(window.followed[..., 0].all())


def test_games_do_not_depend_on_how_the_slots_are_split() -> None:
    whole = _windows(selfplay_of(32), 4)
    first, second = _windows(selfplay_of(16), 4), _windows(selfplay_of(16, first_slot=16), 4)
    for window, left, right in zip(whole, first, second, strict=True):
        assert torch.equal(window.boards, torch.cat([left.boards, right.boards], 1))
        assert torch.equal(window.ended, torch.cat([left.ended, right.ended], 1))


@pytest.mark.parametrize("number", [2, 3])
def test_threads_that_play_a_lane_each_play_the_same_games(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    monkeypatch.setattr("nardy.train.selfplay._MIN_LANE", 8)
    alone, shared = selfplay_of(), selfplay_of()
    for window in range(6):
        with launch.threads_in_use(1):
            wanted = alone.collect(draw=window % 2 == 0)
        with launch.threads_in_use(number):
            found = shared.collect(draw=window % 2 == 0)
        assert_same_windows(found, wanted)
    assert_same_standing(shared, alone)


def test_a_fault_in_a_lane_is_not_swallowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nardy.train.selfplay._MIN_LANE", 8)
    selfplay = selfplay_of()
    whole = SelfPlay.ply

    def faulty(lane: SelfPlay, *arguments: object) -> object:
        if lane.games.slots[0] > 0:
            raise RuntimeError("in the second lane")
        return whole(lane, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(SelfPlay, "ply", faulty)
    with launch.threads_in_use(2), pytest.raises(RuntimeError, match="in the second lane"):
        selfplay.collect()


def test_another_seed_gives_other_games() -> None:
    a, b = selfplay_of(seed=1).collect(), selfplay_of(seed=2).collect()
    assert not torch.equal(a.boards, b.boards)


def test_a_restored_state_goes_on_as_if_never_stopped() -> None:
    straight = selfplay_of()
    straight.collect()
    state = {name: value.clone() for name, value in straight.state().items()}
    expected = straight.collect()
    resumed = selfplay_of()
    resumed.load_state(state)
    window = resumed.collect()
    for kind, one, other in ((Window, window, expected), (StakeWindow, window.stake, expected.stake)):
        for name in kind.__dataclass_fields__:
            if name not in ("stake", "here", "drawn"):
                assert torch.equal(getattr(one, name), getattr(other, name)), name


def test_counts_add_up() -> None:
    selfplay = selfplay_of(96)
    _windows(selfplay, 12)
    counts = selfplay.counts.take()
    games, dropped = counts["games"][0], counts["dropped"][0]
    assert games == sum(counts["levels"]) + dropped
    assert 0.1 * games < games - counts["cubeful"][0] - counts["cubeless"][0] < 0.4 * games  # at a stake
    assert dropped > 0
    assert counts["turned"][0] > 0
    assert sum(counts["realised"]) == counts["cubeless"][0]
    assert abs(sum(counts["predicted"]) - counts["cubeless"][0]) < 1e-2
    assert all(value[0] == 0 for value in selfplay.counts.take().values())


def _as_sets(boards: Tensor) -> set[bytes]:
    return {row.numpy().tobytes() for row in boards}


def test_samples_before_an_opening_roll_are_start_positions_of_the_starter() -> None:
    window = selfplay_of().collect()
    assert bool(window.opening[0].all())
    assert _as_sets(window.boards[window.opening]) == _as_sets(start_boards(1))


def test_a_ply_reads_one_number_from_the_device_and_no_more() -> None:
    """The number of afterstates, which sizes their buffer; all else stays where it is."""
    selfplay = selfplay_of()
    first = FirstLayer(selfplay.network)
    with torch.no_grad(), launch.threads_in_use(1):
        selfplay.ply(first, None, draw=True)  # constants are made once
        with host_traffic() as traffic:
            for _ in range(5):
                selfplay.ply(first, None, draw=True)
    assert traffic == ["_local_scalar_dense"] * 5
