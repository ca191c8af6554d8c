"""Bots: what each plays, doubles and takes, and how ties are settled."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import torch

from nardy.env import Cube, afterstates, pip_counts, start_boards
from nardy.eval.bots import ModelBot, PipCountBot, RandomBot, make_bot, newest_model, pick_highest
from nardy.models import Network, NetworkConfig, save_bundle
from tests.eval.fakes import FakeEvaluator
from tests.positions import position, to_boards


def test_highest_value_is_picked_in_every_game() -> None:
    game = torch.tensor([0, 0, 0, 1, 2, 2])
    values = torch.tensor([1.0, 3.0, 2.0, -5.0, 0.0, 4.0])
    assert pick_highest(game, values, torch.zeros(3)).tolist() == [1, 3, 5]
    assert pick_highest(game, values, torch.full((3,), 0.999999)).tolist() == [1, 3, 5]


def test_ties_are_settled_by_the_number_alone() -> None:
    game = torch.zeros(5, dtype=torch.int64)
    values = torch.tensor([7, 1, 7, 7, 0])
    picked = [int(pick_highest(game, values, torch.tensor([u]))[0]) for u in (0.0, 0.32, 0.34, 0.65, 0.67, 1 - 2**-24)]
    assert picked == [0, 0, 2, 2, 3, 3]


def test_tied_rows_are_equally_likely() -> None:
    uniforms = (torch.arange(3000) + 0.5) / 3000
    game = torch.arange(3000).repeat_interleave(3)
    picked = pick_highest(game, torch.zeros(9000), uniforms) % 3
    assert picked.bincount().tolist() == [1000, 1000, 1000]


def test_random_bot_plays_every_afterstate_equally_often() -> None:
    boards, dice = start_boards(1600), torch.tensor([[3, 1]]).expand(1600, 2)
    uniforms = (torch.arange(1600) + 0.5) / 1600
    chosen = RandomBot().choose(boards, dice, None, uniforms)
    _, counts = chosen.unique(dim=0, return_counts=True)
    assert counts.tolist() == [100] * 16


def test_random_bot_never_doubles_and_always_takes() -> None:
    boards = start_boards(2)
    assert RandomBot().double(boards, Cube()).tolist() == [False, False]
    assert RandomBot().take(boards, Cube()).tolist() == [True, True]


def test_pip_count_bot_goes_furthest_ahead_and_breaks_ties_at_random() -> None:
    boards, dice = start_boards(500), torch.tensor([[6, 4]]).expand(500, 2)
    chosen = PipCountBot().choose(boards, dice, None, (torch.arange(500) + 0.5) / 500)
    pips = pip_counts(chosen)
    _, plays = afterstates(boards[:1], dice[:1])
    leads = pip_counts(plays)[:, 1] - pip_counts(plays)[:, 0]
    assert (pips[:, 1] - pips[:, 0] == leads.max()).all()
    assert len(chosen.unique(dim=0)) == int((leads == leads.max()).sum())


def test_pip_count_bot_hits_since_that_gains_most_pips() -> None:
    boards = to_boards([position("24:2 13:3 6:10", "20:1 12:14")])
    chosen = PipCountBot().choose(boards, torch.tensor([[4, 1]]), None, torch.zeros(1))
    assert chosen[0, 1, 25] == 1


@pytest.mark.parametrize(
    ("theirs", "owner", "doubles"), [(108, 0, True), (107, 0, False), (108, 1, False), (109, 1, True)]
)
def test_pip_count_bot_doubles_by_the_share_of_its_own_pips(theirs: int, owner: int, doubles: bool) -> None:
    boards = _race(100, theirs)
    cube = Cube(owner=torch.tensor([owner]))
    assert PipCountBot().double(boards, cube).tolist() == [doubles]


@pytest.mark.parametrize(("theirs", "takes"), [(112, True), (113, False), (90, True)])
def test_pip_count_bot_takes_to_twelve_percent_of_the_doublers_pips(theirs: int, takes: bool) -> None:
    assert PipCountBot().take(_race(100, theirs), Cube()).tolist() == [takes]


def test_thresholds_are_parameters() -> None:
    bot = PipCountBot(double_at=0.2, take_to=0.0)
    assert not bot.double(_race(100, 110), Cube()).item()
    assert not bot.take(_race(100, 101), Cube()).item()


def test_model_bot_plays_what_its_evaluator_says() -> None:
    boards, dice = start_boards(6), torch.tensor([[1, 2], [6, 5], [3, 3], [4, 2], [1, 1], [6, 3]])
    judge = FakeEvaluator()
    chosen = ModelBot(judge, "model:fake").choose(boards, dice, None, torch.zeros(6))
    best = judge.best(boards, dice)
    for i in range(6):
        _, plays = afterstates(boards[i : i + 1], dice[i : i + 1])
        assert torch.equal(chosen[i], plays[best[i]])


def test_model_bot_answers_for_the_other_side() -> None:
    bot = ModelBot(FakeEvaluator(), "model:fake")
    behind, ahead = _race(100, 130), _race(130, 100)
    assert bot.double(behind, Cube()).tolist() == [True]
    assert bot.take(behind, Cube()).tolist() == [False]
    assert bot.double(ahead, Cube()).tolist() == [False]
    assert bot.take(ahead, Cube()).tolist() == [True]


@pytest.mark.parametrize("spec", ["", "rand", "model", "model:", "pipcount:3", "random "])
def test_unknown_specification_lists_what_exists(spec: str) -> None:
    with pytest.raises(ValueError, match="wanted one of random, pipcount, model:NAME_OR_PATH"):
        make_bot(spec)


def test_specifications_make_bots_of_that_name() -> None:
    for spec in ("random", "pipcount"):
        assert make_bot(spec).name == spec


def test_a_model_is_loaded_by_path_and_its_variant_checked(tmp_path: Path) -> None:
    path = tmp_path / "bundle.safetensors"
    save_bundle(path, Network(NetworkConfig((16,))), "backgammon")
    assert make_bot(f"model:{path}").name == f"model:{path}"
    with pytest.raises(ValueError, match="found a model for backgammon, wanted one for sprintgammon"):
        make_bot(f"model:{path}", "sprintgammon")
    with pytest.raises(ValueError, match="nothing"):
        make_bot(f"model:{tmp_path}/nothing")


def test_newest_model_is_the_newest_run_of_the_variant(tmp_path: Path) -> None:
    assert newest_model("backgammon", tmp_path / "none") == "backgammon"
    for age, (name, variant) in enumerate([("old", "backgammon"), ("new", "backgammon"), ("sprint", "sprintgammon")]):
        (tmp_path / name).mkdir()
        file = tmp_path / name / "bundle.safetensors"
        save_bundle(file, Network(NetworkConfig((16,))), variant)
        os.utime(file, (1000 + age, 1000 + age))
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("x")
    assert newest_model("backgammon", tmp_path) == str(tmp_path / "new")
    assert newest_model("sprintgammon", tmp_path) == str(tmp_path / "sprint")


def _race(mine: int, theirs: int) -> torch.Tensor:
    """A position ``[1, 2, 26]`` in which the sides have these pip counts."""
    boards = torch.zeros((1, 2, 26), dtype=torch.int8)
    for side, left in ((0, mine), (1, theirs)):
        pips = left
        for others in range(14, -1, -1):
            point = min(12, pips - others)
            boards[0, side, point] += 1
            pips -= point
    assert pip_counts(boards).tolist() == [[mine, theirs]]
    return boards
