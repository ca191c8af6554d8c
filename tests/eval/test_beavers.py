"""Bots that beaver: who does, when it pays, and what it costs."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from nardy.env import Cube, GameOptions
from nardy.env.formats import Format
from nardy.eval.arena import GAME_COLUMNS, SEAT_COLUMNS, play_deals
from nardy.eval.bots import Bot, ModelBot, PipCountBot, RandomBot
from nardy.eval.outside.bot import OutsideBot
from nardy.eval.outside.failure import BotFailedError, OutsideOptions
from nardy.eval.outside.formula_bot import GnubgNnBot
from nardy.eval.pairs import ConsultingPair
from nardy.eval.recording import match_of_bots
from nardy.eval.refereed import compare_refereed, play_match
from nardy.eval.results import compare_bots
from nardy.models import CubeAction, Evaluator, Network, NetworkConfig
from tests.eval.fakes import FakeEvaluator

OPTIONS = GameOptions("sprintgammon", beavers=True)


class _Rash(ModelBot):
    """Doubles whenever it may, and answers as the network judges."""

    def double(self, boards: Tensor, cube: Cube) -> Tensor:
        return torch.ones(len(boards), dtype=torch.bool)


def _network(seed: int) -> ModelBot:
    return _Rash(Evaluator(Network(NetworkConfig((16,)), seed), "sprintgammon"), f"network {seed}")


class _Sure(FakeEvaluator):
    """Says of every position what it was told; doubles always, and takes."""

    def __init__(self, double_take: float) -> None:
        super().__init__("sprintgammon")
        self.double_take = double_take

    def cube_action(self, boards: Tensor, cube: Cube, plies: int = 0) -> CubeAction:
        value = torch.full((len(boards),), self.double_take)
        sure = torch.ones(len(boards), dtype=torch.bool)
        return CubeAction(value, value, torch.ones_like(value), sure, sure)


@pytest.mark.parametrize(
    ("double_take", "beaver", "take_beaver"),
    [(0.4, False, True), (-0.1, True, True), (-1.0, True, True), (-1.1, True, False)],
)
def test_a_take_that_gains_is_a_beaver(double_take: float, beaver: bool, take_beaver: bool) -> None:
    judge = _Sure(double_take)
    boards = torch.zeros((1, 2, 26), dtype=torch.int8)
    for bot in (ModelBot(judge, "sure"), ConsultingPair((judge, judge), ("a", "b"))):
        assert bot.beaver(boards, Cube(beavers=True)).tolist() == [beaver]
        assert bot.take_beaver(boards, Cube(beavers=True)).tolist() == [take_beaver]


@pytest.mark.parametrize("max_cube", [4, 64])
def test_the_arena_plays_beavers_as_a_referee_does(max_cube: int) -> None:
    bots, options = (_network(0), _network(1)), replace(OPTIONS, max_cube=max_cube)
    record = play_deals(*bots, 20, options, seed=3, batch=1, recorded_deals=3)
    beavers = record.seats[..., SEAT_COLUMNS.index("beavers")]
    assert int(beavers.sum()) > 0
    assert bool((beavers <= record.seats[..., SEAT_COLUMNS.index("takes")]).all())
    assert int(record.games[..., GAME_COLUMNS.index("cube")].max()) <= max_cube
    refereed = compare_refereed(*bots, 40, Format("sprintgammon", beavers=True, max_cube=max_cube), 3)
    arena = compare_bots(*bots, 40, options, 3, batch=1)
    assert arena.points == refereed.points
    assert (arena.side, arena.other) == (refereed.side, refereed.other)
    for number, match in enumerate(record.matches):
        deal, seating = divmod(number, 2)
        form = Format("sprintgammon", beavers=True, max_cube=max_cube)
        assert match == match_of_bots(play_match(bots[::-1] if seating else bots, form, 3, deal), seating)


def test_a_dropped_beaver_costs_two() -> None:
    options = replace(OPTIONS, max_cube=4)
    rash, calm = ModelBot(_Sure(-1.5), "rash"), ModelBot(_Sure(-0.5), "calm")
    record = play_deals(rash, calm, 10, options)
    dropped = record.seats[..., 1, SEAT_COLUMNS.index("drop_wins")] == 1
    assert bool(dropped.any())
    assert bool((record.points[dropped] == -2).all())
    kept = ~dropped
    assert bool((record.games[..., GAME_COLUMNS.index("cube")][kept] == 4).all())


class _Speechless(ModelBot):
    """Doubles, and then has nothing to say to a beaver."""

    def take_beaver(self, boards: Tensor, cube: Cube) -> Tensor:
        failed = torch.ones(len(boards), dtype=torch.bool)
        raise BotFailedError("speechless", failed, failed)


def test_no_answer_to_a_beaver_costs_what_a_drop_does() -> None:
    options = replace(OPTIONS, max_cube=4)
    record = play_deals(_Speechless(_Sure(-0.5), "speechless"), ModelBot(_Sure(-0.5), "calm"), 10, options)
    forfeited = record.seats[..., 0, SEAT_COLUMNS.index("forfeits")] == 1
    assert bool(forfeited.any())
    assert bool((record.points[forfeited] == -2).all())


@pytest.mark.parametrize("bot", [RandomBot("sprintgammon"), PipCountBot("sprintgammon")])
def test_bots_without_an_answer_are_refused(bot: Bot) -> None:
    with pytest.raises(ValueError, match=f"bot: {bot.name} has no answer to a beaver: found env.beavers=true"):
        compare_bots(_network(0), bot, 2, OPTIONS)


def test_a_formula_bot_beavers_by_the_same_arithmetic(monkeypatch: pytest.MonkeyPatch) -> None:
    bot = GnubgNnBot("gnubg-nn", OutsideOptions())
    assert isinstance(bot, OutsideBot)

    def outcomes(boards: Tensor, plies: int) -> tuple[Tensor, Tensor, dict[int, str]]:
        win = torch.tensor([0.9, 0.45, 0.1])
        probs = torch.stack([win, *torch.zeros(2, 3), 1 - win, *torch.zeros(2, 3)], 1)
        return probs, torch.zeros(3, dtype=torch.bool), {}

    monkeypatch.setattr(bot, "_outcomes", outcomes)
    boards = torch.zeros((3, 2, 26), dtype=torch.int8)
    boards[:, :, 1] = 15
    assert bot.beaver(boards, Cube(beavers=True)).tolist() == [False, True, True]
    assert bot.take_beaver(boards, Cube(beavers=True)).tolist() == [True, True, False]
