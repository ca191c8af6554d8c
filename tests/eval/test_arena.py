"""The arena as an instrument: zero for equal players, swapped seats negate, the same games however they are split."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from nardy.env import Cube, GameOptions, outcome, start_boards
from nardy.env.dice import rolls
from nardy.eval.arena import GAME_COLUMNS, SEAT_COLUMNS, Record, play_deals
from nardy.eval.bots import Bot, ModelBot, PipCountBot, RandomBot, make_bot
from nardy.eval.results import ArenaResult, compare_bots, summarise
from nardy.models import Evaluator, Network, NetworkConfig
from tests.eval.fakes import FakeEvaluator

SPRINT = GameOptions("sprintgammon")
MATCH = GameOptions("sprintgammon", match_length=3)


def _bot(name: str, options: GameOptions) -> Bot:
    if name == "model":
        return ModelBot(FakeEvaluator(options.variant), "model:fake")
    if name == "network":
        torch.manual_seed(0)
        return ModelBot(Evaluator(Network(NetworkConfig((32,))), options.variant), "model:network")
    return make_bot(name, options.variant)


@pytest.mark.parametrize("name", ["random", "pipcount", "model"])
@pytest.mark.parametrize(
    "options", [SPRINT, MATCH, GameOptions("sprintgammon", cube=False)], ids=["money", "match", "cubeless"]
)
def test_a_bot_against_itself_scores_exactly_zero(name: str, options: GameOptions) -> None:
    bot = _bot(name, options)
    num_games = 16 if name == "model" else 100
    result = compare_bots(bot, bot, num_games, options, seed=3)
    assert result.points.mean == 0
    assert result.points.half_width == 0
    assert result.side == result.other


@pytest.mark.parametrize("options", [SPRINT, GameOptions("sprintgammon", cube=False)], ids=["money", "cubeless"])
def test_two_copies_of_a_network_score_exactly_zero(options: GameOptions) -> None:
    result = compare_bots(_bot("network", options), _bot("network", options), 100, options, seed=3, batch=16)
    assert (result.points.mean, result.points.half_width) == (0, 0)


def test_swapping_the_bots_negates() -> None:
    bots = (PipCountBot("sprintgammon"), RandomBot("sprintgammon"))
    there = play_deals(*bots, 50, SPRINT, seed=1)
    back = play_deals(*bots[::-1], 50, SPRINT, seed=1)
    assert torch.equal(there.points, -back.points.flip(0))
    assert torch.equal(there.seats, back.seats.flip(0).flip(2))


@pytest.mark.parametrize("options", [SPRINT, MATCH], ids=["money", "match"])
def test_games_do_not_depend_on_the_batch_or_on_the_split(options: GameOptions) -> None:
    bots = (PipCountBot("sprintgammon"), RandomBot("sprintgammon"))
    whole = play_deals(*bots, 20, options, seed=5)
    narrow = play_deals(*bots, 20, options, seed=5, batch=7)
    halves = Record.join(
        play_deals(*bots, 8, options, seed=5), play_deals(*bots, 12, options, seed=5, first_deal=8, batch=4)
    )
    for other in (narrow, halves):
        assert torch.equal(whole.points, other.points)
        assert torch.equal(whole.seats, other.seats)
        assert torch.equal(whole.games, other.games)
    assert not torch.equal(whole.points, play_deals(*bots, 20, options, seed=6).points)


def test_every_deal_is_finished_and_counted_once() -> None:
    record = play_deals(PipCountBot("sprintgammon"), RandomBot("sprintgammon"), 50, SPRINT, batch=8)
    columns = dict(zip(GAME_COLUMNS, record.games.unbind(-1), strict=True))
    assert (columns["games"] == 1).all()
    wins = record.seats[..., :4].sum(-1)  # [2, P, 2]
    assert (wins.sum(-1) == 1).all()
    assert torch.equal(record.points > 0, wins[..., 0] == 1)
    turns_of_the_cube = record.seats[..., 5].sum(-1)
    assert torch.equal(columns["cube"], 2**turns_of_the_cube)
    assert torch.equal(columns["turned"], (turns_of_the_cube > 0).long())


@pytest.mark.parametrize("options", [SPRINT, replace(SPRINT, match_length=3)], ids=["money", "match"])
def test_games_without_end_are_drawn_and_counted(options: GameOptions, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nardy.eval.arena.MAX_TURNS", 12)
    bots = (PipCountBot("sprintgammon"), RandomBot("sprintgammon"))
    whole, narrow = (play_deals(*bots, 60, options, seed=2, batch=batch) for batch in (60, 7))
    assert torch.equal(whole.points, narrow.points)
    assert torch.equal(whole.games, narrow.games)
    columns = dict(zip(GAME_COLUMNS, whole.games.unbind(-1), strict=True))
    given_up = columns["abandoned"] > 0
    assert bool(given_up.any())
    assert not bool(given_up.all())
    assert bool((whole.points[given_up] == 0).all())
    assert bool((whole.points[~given_up] != 0).all())
    assert int(columns["abandoned"].max()) == 1
    assert torch.equal(columns["games"], whole.seats[..., :4].sum((-1, -2)) + columns["abandoned"])


def test_pip_counting_beats_random_play() -> None:
    result = compare_bots(PipCountBot("sprintgammon"), RandomBot("sprintgammon"), 400, SPRINT)
    assert result.points.low > 1
    assert result.side.wins + result.other.wins == result.num_games == 400


class _Watcher:
    """Plays as another bot, and remembers every question it was asked."""

    def __init__(self, bot: Bot) -> None:
        self.bot = bot
        self.name = "watcher"
        self.asked: list[tuple[Tensor, Tensor, Cube | None]] = []
        self.cubes: list[Cube] = []

    def double(self, boards: Tensor, cube: Cube) -> Tensor:
        assert cube.as_tensors(len(boards)).may_double().all()
        self.cubes.append(cube)
        return self.bot.double(boards, cube)

    def take(self, boards: Tensor, cube: Cube) -> Tensor:
        assert cube.as_tensors(len(boards)).may_double().all()  # as the doubler saw it
        return self.bot.take(boards, cube)

    def choose(
        self, boards: Tensor, dice: Tensor, cube: Cube | None, uniforms: Tensor, second_first: Tensor | None = None
    ) -> Tensor:
        assert (outcome(boards, "sprintgammon") == 0).all()
        self.asked.append((boards, dice, cube))
        return self.bot.choose(boards, dice, cube, uniforms, second_first)


def test_both_seatings_see_the_same_dice() -> None:
    watcher = _Watcher(RandomBot("sprintgammon"))
    options = GameOptions("sprintgammon", cube=False)
    play_deals(watcher, RandomBot("sprintgammon"), 1, options, seed=9)
    play_deals(RandomBot("sprintgammon"), watcher, 1, options, seed=9)
    openings = [dice for boards, dice, _ in watcher.asked if torch.equal(boards, start_boards(1, "sprintgammon"))]
    slots = torch.zeros(1, dtype=torch.int64)
    wanted = rolls(9, slots, slots, torch.ones(1, dtype=torch.bool))
    assert openings
    assert all(torch.equal(dice, wanted) for dice in openings)


def test_bots_see_no_cube_in_cubeless_money_and_the_score_in_matches() -> None:
    watcher = _Watcher(PipCountBot("sprintgammon"))
    play_deals(watcher, RandomBot("sprintgammon"), 4, GameOptions("sprintgammon", cube=False))
    assert all(cube is None for _, _, cube in watcher.asked)
    watcher = _Watcher(PipCountBot("sprintgammon"))
    play_deals(watcher, RandomBot("sprintgammon"), 4, GameOptions("sprintgammon", match_length=3, cube=False))
    assert not watcher.cubes
    for _, _, cube in watcher.asked:
        assert cube is not None
        assert isinstance(cube.away, Tensor)
        assert (cube.away > 0).all()
        assert not cube.may_double().any()


def test_match_results_are_matches_won() -> None:
    result = compare_bots(PipCountBot("sprintgammon"), RandomBot("sprintgammon"), 60, MATCH)
    assert result.num_games > 60
    assert result.match_wins is not None
    assert result.match_wins.mean == pytest.approx((1 + result.points.mean) / 2)
    assert result.match_wins.mean > 0.5


def test_jacoby_gammons_need_a_turned_cube() -> None:
    options = GameOptions("sprintgammon", jacoby=True)
    never = PipCountBot("sprintgammon", double_at=9.9, redouble_at=9.9)
    record = play_deals(never, never, 20, options)
    assert (record.points.abs() == 1).all()
    assert record.seats[..., 1:3].sum() > 0  # counted as gammons on the board all the same


def test_progress_is_told_and_ends_complete() -> None:
    calls: list[tuple[int, int]] = []
    bot = RandomBot("sprintgammon")
    compare_bots(bot, bot, 20, SPRINT, batch=4, progress=lambda done, wanted: calls.append((done, wanted)))
    assert calls[-1] == (20, 20)
    assert [done for done, _ in calls] == sorted({done for done, _ in calls})


@pytest.mark.parametrize("num_games", [0, -2, 3])
def test_an_odd_number_of_games_is_refused(num_games: int) -> None:
    with pytest.raises(ValueError, match=f"games: found {num_games}, wanted an even number"):
        compare_bots(RandomBot(), RandomBot(), num_games)


def test_results_survive_json() -> None:
    bot = RandomBot("sprintgammon")
    for num_games in (2, 40):
        result = compare_bots(PipCountBot("sprintgammon"), bot, num_games, SPRINT)
        assert ArenaResult.from_dict(json.loads(json.dumps(result.to_dict(), allow_nan=False))) == result


def test_summary_adds_up() -> None:
    seats = torch.zeros((2, 2, 2, len(SEAT_COLUMNS)), dtype=torch.int64)
    seats[0, 0, 0, 1] = 1  # a gammon for the bot
    seats[1, 0, 1, 3] = 1  # it dropped in the return game
    seats[0, 1, 0, 0] = seats[1, 1, 0, 2] = 1
    games = torch.tensor([[[1, 50, 0, 1, 0], [1, 60, 1, 2, 0]], [[1, 40, 0, 1, 0], [1, 50, 1, 4, 1]]])
    record = Record(torch.tensor([[2, 2], [-1, 12]]), seats, games, seconds=2.0)
    result = summarise(record, "a", "b", GameOptions(), seed=1)
    assert result.points.mean == pytest.approx(3.75)  # the pairs gave 0.5 and 7 a game
    assert result.points.half_width == pytest.approx(1.959964 * 4.59619 / 2**0.5, rel=1e-5)
    assert (result.side.wins, result.other.wins) == (3, 1)
    assert (result.plies_per_game, result.turned_games, result.mean_cube) == (50, 2, 2)
    assert result.decisions_per_second == 100
    assert result.abandoned_games == 1
    assert result.match_wins is None
