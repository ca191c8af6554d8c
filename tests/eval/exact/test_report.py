"""What a report says of players whose faults are known."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from nardy.env import Cube, outcome, start_boards
from nardy.eval.exact import ExactEvaluator, exact_report
from nardy.eval.exact.report import CUBES, play_games
from nardy.models import CubeAction
from tests.eval.fakes import FakeEvaluator


class Spoilt(ExactEvaluator):
    """Exact, but for one fault: equities too high by a tenth, never a take, or nothing learned of matches."""

    def __init__(self, exact: ExactEvaluator, fault: str) -> None:
        super().__init__(exact.solution)
        self.fault = fault

    def equity(self, boards: Tensor, cube: Cube | None = None) -> Tensor:
        return super().equity(boards, cube) + (0.1 if self.fault == "too high" else 0.0)

    def cube_action(self, boards: Tensor, cube: Cube, plies: int = 0) -> CubeAction:
        action = super().cube_action(boards, cube)
        if self.fault == "no match" and cube.away is not None:
            raise ValueError("money only")
        if self.fault == "never takes":
            return replace(action, take=torch.zeros_like(action.take))
        return action


def test_an_exact_player_loses_nothing(exact: ExactEvaluator) -> None:
    told: list[str] = []

    report = exact_report(exact, exact, "itself", decisions=300, report=lambda what, share: told.append(what))

    for sample in (report.games, report.legal):
        # With one checker every game is a gammon at least, so that a single point is worth nothing at 2-away 2-away.
        assert set(sample.plays) == set(sample.equity) == set(CUBES) - {"2-away 2-away"}
        assert "gains nothing at this score" in sample.refused["2-away 2-away"]
        assert all(found.loss == 0 and found.wrong == 0 for found in sample.plays.values())
        assert all(found.double == found.take == 0 for found in sample.cube.values())
        assert all(found.rms == 0 for found in sample.equity.values())
    assert all(found.decisions >= 300 for found in report.games.plays.values())
    assert report.legal.equity["cubeless"].positions == 601
    assert json.loads(json.dumps(report.to_dict()))["model"] == "itself"
    assert len(set(told)) == 3


def test_equities_too_high_are_seen_and_nothing_else(exact: ExactEvaluator) -> None:
    report = exact_report(Spoilt(exact, "too high"), exact, decisions=100)

    assert report.games.equity["centred"].rms == pytest.approx(0.1, abs=1e-6)
    assert report.games.equity["centred"].bias == pytest.approx(0.1, abs=1e-6)
    assert report.games.plays["centred"].loss == 0
    assert report.games.cube["centred"].double == 0


def test_takes_are_judged_where_doubling_is_right_or_nearly(exact: ExactEvaluator) -> None:
    report = exact_report(Spoilt(exact, "never takes"), exact, decisions=100)

    found = report.legal.cube["centred"]
    boards = exact.positions.boards(torch.arange(exact.positions.count))
    boards = boards[(boards[:, 0, 0] == 0) & (boards[:, 1, 0] == 0)]
    action = exact.cube_action(boards, Cube())
    offered = action.double_take.double().clamp(max=1)
    judged = offered > action.no_double.double() - 0.1
    assert found.takes == int(judged.sum())
    assert found.take == pytest.approx(1000 * float((1 - offered[judged]).mean()), rel=1e-9)
    assert found.double == 0


def test_what_a_model_has_not_learned_is_left_out(exact: ExactEvaluator) -> None:
    report = exact_report(Spoilt(exact, "no match"), exact, decisions=100)

    assert set(report.legal.refused) == {"2-away 2-away", "1-away 1-away"}
    assert set(report.legal.plays) == set(CUBES) - set(report.legal.refused)


def test_a_poor_player_loses(exact: ExactEvaluator) -> None:
    report = exact_report(FakeEvaluator("one checker"), exact, decisions=300)

    assert report.games.plays["cubeless"].loss > 5
    assert 0 < report.games.plays["cubeless"].wrong < 1
    assert report.games.cube["centred"].double > 5


def test_positions_can_be_drawn(exact: ExactEvaluator) -> None:
    report = exact_report(exact, exact, decisions=1, positions=50, seed=2)

    assert report.legal.equity["cubeless"].positions == 50


def test_a_model_for_another_game_is_refused(exact: ExactEvaluator) -> None:
    with pytest.raises(ValueError, match="model: found one for backgammon, wanted one for one checker"):
        exact_report(FakeEvaluator(), exact)


def test_games_are_played_from_the_opening_to_the_end(exact: ExactEvaluator) -> None:
    sample = play_games(exact, 1, torch.Generator().manual_seed(5), lambda share: None)

    opening = ~sample.may_double
    games = int(opening.sum())
    assert torch.equal(sample.boards[opening], start_boards(games, "one checker"))
    assert not bool((sample.dice[opening, 0] == sample.dice[opening, 1]).any())
    assert len(sample.dice[opening].unique(dim=0)) == 30
    plays = exact.plays(sample.boards, sample.dice)
    ends = plays.boards[plays.best()]
    assert int((outcome(ends, "one checker") != 0).sum()) == games


def test_cube_decisions_are_shown_beside_those_of_a_formula(exact: ExactEvaluator) -> None:
    never = Spoilt(exact, "never takes")

    report = exact_report(exact, exact, decisions=100, formula=never)
    turned = exact_report(never, exact, decisions=100, formula=exact)

    alone = exact_report(never, exact, decisions=100).legal.cube
    assert not exact_report(never, exact, decisions=100).legal.formula
    for name, found in report.legal.formula.items():
        assert found.other == alone[name]
        assert found.take.mean == pytest.approx(alone[name].take)
        assert found.double.mean == 0
        assert turned.legal.formula[name].take.mean == pytest.approx(-found.take.mean)
    assert report.legal.formula["centred"].take.standard_error > 0
