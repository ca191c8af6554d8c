"""The ranker: it learns to sort plays out, and a run uses it after its warm-up."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from nardy.env import afterstates
from nardy.models import Network, NetworkConfig
from nardy.models.bundle import read_tensors
from nardy.train import (
    LearnerConfig,
    LuckConfig,
    NotFiniteError,
    RankerConfig,
    SelfPlayConfig,
    TrainConfig,
    Trainer,
    newest_checkpoint,
    read_metrics,
)
from nardy.train.distributed import World
from nardy.train.learner import Learner
from nardy.train.ranking import RankerLearner, lost_by_ranking
from nardy.train.selfplay import SelfPlay
from nardy.train.targets import td_lambda

CPU = torch.device("cpu")


def _selfplay() -> SelfPlay:
    network = Network(NetworkConfig((32,), context_units=8), seed=1)
    network.head.weight.data *= 30  # opinions strong enough to be worth learning
    return SelfPlay(network, "backgammon", SelfPlayConfig(64, window_plies=8), 0, CPU)


def test_a_play_is_drawn_evenly_from_those_of_its_turn() -> None:
    window = _selfplay().collect(draw=True)
    assert window.drawn is not None
    places = []
    for boards, dice, second_first, drawn in zip(
        window.boards, window.dice, window.second_first, window.drawn.boards, strict=True
    ):
        game, plays = afterstates(boards, dice, second_first=second_first)
        for number, board in enumerate(drawn):
            own = plays[game == number].flatten(1)
            (place,) = (own == board.flatten()).all(1).nonzero().flatten().tolist()
            if len(own) > 4:
                places.append(place / (len(own) - 1))
    assert 0.4 < sum(places) / len(places) < 0.6
    assert min(places) == 0.0
    assert max(places) == 1.0


def test_it_learns_to_sort_plays_out() -> None:
    selfplay = _selfplay()
    learner = RankerLearner(RankerConfig(16, keep=4, learning_rate=5e-3), selfplay.variant, 0, CPU)
    figures = []
    for turn in range(60):
        window = selfplay.collect(draw=True)
        candidates = learner.candidates(10_000)
        assert candidates is not None
        if turn in (0, 59):
            figures.append(lost_by_ranking(selfplay.network, candidates, window, selfplay.variant))
        learner.learn(window, 128, 1.0, World())
    untrained, trained = figures
    assert trained["ranker/loss"] < 0.5 * untrained["ranker/loss"]
    assert trained["ranker/plays"] <= 4 < trained["ranker/all_plays"]


def test_a_run_values_all_plays_until_the_ranker_has_learned(tmp_path: Path) -> None:
    config = TrainConfig(
        games=120,
        selfplay=SelfPlayConfig(num_games=48, window_plies=8),
        learner=LearnerConfig(batch_size=128, warmup_games=10),
        ranker=RankerConfig(16, keep=4, warmup_games=60),
        checkpoint_games=1000,
        log_games=20,
    )
    trainer = Trainer(config, NetworkConfig((16,)), "sprintgammon", tmp_path, CPU, {})
    assert trainer.run(lambda *_: None)
    trainer.close()
    entries = read_metrics(tmp_path)
    known = [entry["games"] for entry in entries if "ranker/loss" in entry]
    assert known
    assert min(known) > 60
    assert "ranker.head.weight" in read_tensors(newest_checkpoint(tmp_path / "checkpoints"))


@pytest.mark.parametrize("companion", ["luck", "ranker"])
def test_a_companion_that_is_not_a_number_stops_the_run_before_it_is_saved(companion: str) -> None:
    selfplay = _selfplay()
    parts = (selfplay.network.requires_grad_(True), selfplay.variant, LearnerConfig(batch_size=128), 0, None)
    learner = Learner(*parts, LuckConfig((16,)), RankerConfig(16))
    window = selfplay.collect(draw=True)
    found = {"luck": learner.luck, "ranker": learner.ranker}[companion]
    assert found is not None
    next(found.module.parameters()).data.fill_(float("nan"))
    with pytest.raises(NotFiniteError):
        learner.learn(window, td_lambda(window, 0.7), 1e-3)
