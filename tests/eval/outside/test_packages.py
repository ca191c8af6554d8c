"""Engines from Python packages: their processes, and what they play where they are installed."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from nardy.env import Cube, GameOptions, afterstates, flip, start_boards
from nardy.eval.bots import Bot, RandomBot, make_bot
from nardy.eval.outside import BotFailedError, OutsideOptions
from nardy.eval.outside.failure import Patience
from nardy.eval.outside.formula_bot import _exclusive, _highest
from nardy.eval.outside.workers import Workers
from nardy.eval.results import compare_bots
from nardy.eval.turns import play_turns
from tests.positions import position, to_boards

CUBELESS = GameOptions(cube=False)


def workers(monkeypatch: pytest.MonkeyPatch, crash: str = "lose", number: int = 2) -> Workers:
    monkeypatch.setattr("nardy.eval.outside.workers._SCRIPT", Path(__file__).with_name("worker.py"))
    options = OutsideOptions(1.0, crash)  # type: ignore[arg-type]  # one of the two
    return Workers("any", (), options, Patience("any", options), number)


def test_parts_are_answered_in_their_places(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = torch.arange(100, 200)[:, None].expand(100, 3)
    answers, faults = workers(monkeypatch).ask(0, rows, 1, 7)
    assert answers[:, 0].tolist() == [2.0 * number for number in range(100, 200)]
    assert faults == {}


def test_one_bad_position_costs_one_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = torch.arange(10, 20)[:, None]
    answers, faults = workers(monkeypatch).ask(0, rows, 1, 8)
    assert answers[:, 0].tolist() == [20, 22, 24, 0, 0, 0, 32, 34, 36, 38]
    assert sorted(faults) == [3, 4, 5]
    assert faults[3] == "exited with status 1: thirteen"
    assert "time limit" in faults[4]
    assert "not a number" in faults[5]


def test_a_stopped_session_asks_no_further(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BotFailedError, match="any: exited with status 1: thirteen"):
        workers(monkeypatch, "stop").ask(0, torch.tensor([[12], [13]]), 1, 8)


def test_an_engine_that_always_fails_ends_the_session(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BotFailedError, match="failed 5 times in a row"):
        workers(monkeypatch).ask(0, torch.full((9, 1), 13), 1, 9)


def test_cumulative_chances_become_exclusive_ones() -> None:
    exclusive = _exclusive(torch.tensor([[0.6, 0.2, 0.05, 0.1, 0.02]]))
    assert exclusive[0].tolist() == pytest.approx([0.4, 0.15, 0.05, 0.3, 0.08, 0.02])


def test_the_highest_of_each_game_are_kept_in_order() -> None:
    game = torch.tensor([0, 0, 0, 1, 2, 2, 2, 2])
    values = torch.tensor([3.0, 1, 2, 0, 5, 7, 5, 6])
    assert _highest(game, values, 2).tolist() == [0, 2, 3, 5, 7]


@pytest.fixture(scope="module")
def decisions() -> tuple[torch.Tensor, torch.Tensor]:
    boards, dice = play_turns(8, 40, seed=5).decisions(320)
    return boards[::4].contiguous(), dice[::4].contiguous()


@pytest.mark.peer
class TestGnubgNn:
    @pytest.fixture(autouse=True)
    def _package(self) -> None:
        pytest.importorskip("gnubg_nn", reason="gnubg_nn is missing: pip install gnubg-nn")

    @pytest.mark.parametrize(("spec", "plies", "number"), [("gnubg-nn", 0, 80), ("gnubg-nn:1", 1, 6)])
    def test_without_a_cube_it_plays_as_the_package_does(
        self, spec: str, plies: int, number: int, decisions: tuple[torch.Tensor, torch.Tensor]
    ) -> None:
        import gnubg_nn

        boards, dice = (part[:number] for part in decisions)
        chosen = make_bot(spec).choose(boards, dice, None, torch.zeros(number))

        def worth(after: list[list[int]]) -> float:  # ties may be settled either way
            if after[0][0] == 15:
                return 3.0
            win, gammon, backgammon, lost_gammon, lost = gnubg_nn.probabilities([after[0][1:], after[1][1:]], plies)
            return float(-(2 * win - 1 + gammon + backgammon - lost_gammon - lost))

        for board, roll, after in zip(boards.tolist(), dice.tolist(), chosen.tolist(), strict=True):
            key = gnubg_nn.best_move([board[1][1:], board[0][1:]], *roll, n=plies, b=1)[1]
            mine, theirs = (list(side) for side in gnubg_nn.board_from_position_key(key))
            best = [[15 - sum(mine), *mine], [15 - sum(theirs), *theirs]]
            assert worth(after) == pytest.approx(worth(best), abs=2e-5)

    def test_it_doubles_and_takes_by_the_formula(self) -> None:
        bot = make_bot("gnubg-nn")
        far = to_boards([position("6:3 5:3 4:3 3:2 2:2 1:2", "18:1 19:5 20:4 21:3 22:2")])
        boards = torch.cat([start_boards(1), far])
        assert bot.double(boards, Cube(jacoby=True)).tolist() == [False, True]
        assert bot.take(boards, Cube()).tolist() == [True, False]
        assert bot.double(start_boards(1), Cube(away=(3, 1))).tolist() == [True]
        assert bot.double(start_boards(1), Cube(away=(3, 3))).tolist() == [False]

    def test_at_double_match_point_gammons_do_not_count(self) -> None:
        boards, dice = start_boards(1), torch.tensor([[2, 1]])
        _, plays = afterstates(boards, dice)
        bot = make_bot("gnubg-nn")
        for cube in (None, Cube(away=(1, 1))):
            assert (plays == bot.choose(boards, dice, cube, torch.zeros(1))).flatten(1).all(1).any()

    def test_pubeval_lies_between_random_play_and_gnubg(self) -> None:
        pubeval, gnubg = make_bot("pubeval"), make_bot("gnubg-nn")
        assert compare_bots(pubeval, RandomBot(), 40, CUBELESS).points.low > 1.5
        assert compare_bots(gnubg, pubeval, 200, CUBELESS).points.low > 0.2

    @pytest.mark.parametrize("options", [CUBELESS, GameOptions(jacoby=True), GameOptions(match_length=3)])
    def test_against_itself_it_scores_exactly_zero(self, options: GameOptions) -> None:
        bot = make_bot("gnubg-nn")
        result = compare_bots(bot, bot, 4, options, seed=2)
        assert (result.points.mean, result.points.half_width) == (0, 0)


@pytest.mark.peer
class TestOpenSage:
    @pytest.fixture
    def sage(self) -> Bot:
        pytest.importorskip("bgsage", reason="bgsage is missing: pip install bgsage")
        return make_bot("bgsage")

    def test_its_plays_are_legal_and_its_best(self, sage: Bot, decisions: tuple[torch.Tensor, torch.Tensor]) -> None:
        boards, dice = decisions
        for cube in (None, Cube(), Cube(away=(3, 2)), Cube(value=2, owner="theirs", jacoby=True)):
            sage.choose(boards, dice, cube, torch.zeros(len(boards)))  # an illegal play would be an error
        chosen = sage.choose(start_boards(1), torch.tensor([[3, 1]]), None, torch.zeros(1))
        assert torch.equal(chosen, to_boards([position("24:2 13:5 8:2 6:4 5:2", "1:2 12:5 17:3 19:5")]))

    def test_it_doubles_and_takes(self, sage: Bot) -> None:
        ahead = to_boards([position("6:3 5:3 4:3 3:2 2:2 1:2", "18:1 19:5 20:4 21:3 22:2")])
        boards = torch.cat([ahead, flip(ahead)])
        assert sage.double(boards, Cube(jacoby=True)).tolist() == [True, False]
        assert sage.take(boards, Cube()).tolist() == [False, True]

    def test_it_plays_a_session(self, sage: Bot) -> None:
        result = compare_bots(sage, RandomBot(), 4, GameOptions(), seed=1)
        assert result.side.wins == result.num_games == 4
