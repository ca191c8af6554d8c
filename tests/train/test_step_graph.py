"""A step on a batch in memory that stays learns the same, and can be captured: all but the capture is tried here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple

import pytest
import torch
from torch import Tensor

from nardy.env import launch
from nardy.models import Network, NetworkConfig
from nardy.train import step_graph
from nardy.train.config import LearnerConfig, LuckConfig, RankerConfig, SelfPlayConfig
from nardy.train.learner import Learner
from nardy.train.selfplay import SelfPlay
from nardy.train.step_graph import StepGraph
from nardy.train.targets import td_lambda

from .captured import Trace, host_traffic


def _learner(muon_learning_rate: float, device: str = "cpu") -> Learner:
    network = Network(NetworkConfig((32, 16)), seed=1).to(device)
    config = LearnerConfig(batch_size=128, muon_learning_rate=muon_learning_rate)
    return Learner(network, "backgammon", config, 0, None, LuckConfig((32, 16), share=1.0), RankerConfig(16, keep=4))


def _without_capture(learner: Learner) -> None:
    """As `Learner.capture`, but for the capture."""
    learner.capture()
    companions = learner._companions().values()
    assert len(companions) == 2
    for graph in (learner._step, *(companion._graph for companion in companions)):
        assert isinstance(graph, StepGraph)
        graph._captured = False


@pytest.mark.parametrize("muon_learning_rate", [0.0, 0.02])
def test_it_learns_the_same_bit_for_bit(muon_learning_rate: float) -> None:
    plain, fixed = _learner(muon_learning_rate), _learner(muon_learning_rate)
    _without_capture(fixed)
    # 672 positions: the last batch is smaller
    selfplay = SelfPlay(plain.network, "backgammon", SelfPlayConfig(84, window_plies=8), 0, torch.device("cpu"))
    for rate in (1e-3, 5e-4, 0.0):
        window = selfplay.collect(draw=True)
        targets = td_lambda(window, 0.7)
        assert fixed.learn(window, targets, rate) == plain.learn(window, targets, rate)
        wanted = plain.state()
        for name, value in fixed.state().items():
            assert torch.equal(value, wanted[name]), name


@pytest.mark.parametrize("muon_learning_rate", [0.0, 0.02])
def test_every_step_is_the_same_launches_and_no_host_traffic(
    monkeypatch: pytest.MonkeyPatch, muon_learning_rate: float
) -> None:
    learner = _learner(muon_learning_rate)
    selfplay = SelfPlay(learner.network, "backgammon", SelfPlayConfig(64, window_plies=8), 0, torch.device("cpu"))
    steps: dict[str, list[list[object]]] = {}
    companions = learner._companions()

    def watched(name: str, graph: StepGraph) -> None:
        step = graph._step

        def watching(batch: Mapping[str, Tensor]) -> Tensor:
            with host_traffic() as traffic, Trace(monkeypatch) as trace:
                losses = step(batch)
            monkeypatch.undo()
            assert [seen for seen in traffic if seen != "_local_scalar_dense"] == []
            assert len(traffic) <= reads_of_rates
            steps.setdefault(name, []).append(trace.seen)
            return losses

        graph._step = watching

    reads_of_rates = 1  # AdamW on a CPU reads its rate, which a GPU's kernel does itself
    _without_capture(learner)
    assert isinstance(learner._step, StepGraph)
    watched("learner", learner._step)
    for name, companion in companions.items():
        assert companion._graph is not None
        watched(name, companion._graph)
    places = [parameter.data_ptr() for parameter in learner.network.parameters()]
    with launch.threads_in_use(1):
        for rate in (1e-3, 2e-4):
            window = selfplay.collect(draw=True)
            learner.learn(window, td_lambda(window, 0.7), rate)
    assert steps.keys() == {"learner", *companions}
    for seen in steps.values():
        assert len(seen) == 8
        assert len(seen[0]) > 30
        assert all(step == seen[1] for step in seen[1:])  # the first one makes the moments
    assert [parameter.data_ptr() for parameter in learner.network.parameters()] == places


def test_batches_of_another_size_become_the_usual_ones_if_they_stay() -> None:
    sizes = []

    def step(batch: Mapping[str, Tensor]) -> Tensor:
        sizes.append((len(batch["values"]), batch["values"].data_ptr()))
        return batch["values"].sum()[None]

    graph = StepGraph(step, captured=False)
    for size in (8, 8, 8, 3, 8, 8, 3, *[5] * 8):
        assert graph({"values": torch.full((size,), 2.0)}).tolist() == [2.0 * size]
    assert [size for size, _ in sizes] == [8, 8, 8, 3, 8, 8, 3, *[5] * 8]
    places = [place for _, place in sizes]
    assert places[1] == places[2] == places[4] == places[5]
    assert places[-3] == places[-2] == places[-1] != places[1]


def test_without_room_for_a_graph_learning_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(work: object) -> None:
        raise RuntimeError("out of memory")

    step = StepGraph(lambda batch: batch["values"].sum()[None])
    monkeypatch.setattr(step_graph, "rehearse", lambda work: work())
    monkeypatch.setattr(step_graph, "capture", failing)
    assert step({"values": torch.ones(4)}).tolist() == [4.0]
    with pytest.warns(UserWarning, match="out of memory; learning goes on without"):
        assert step({"values": torch.full((4,), 2.0)}).tolist() == [8.0]
    assert step({"values": torch.full((4,), 3.0)}).tolist() == [12.0]


@pytest.mark.gpu
@pytest.mark.parametrize("muon_learning_rate", [0.0, 0.02])
def test_a_captured_step_learns_the_same(muon_learning_rate: float) -> None:
    plain, captured = _learner(muon_learning_rate, "cuda"), _learner(muon_learning_rate, "cuda")
    captured.capture()
    selfplay = SelfPlay(plain.network, "backgammon", SelfPlayConfig(84, window_plies=8), 0, torch.device("cuda"))
    for rate in (1e-3, 5e-4):
        window = selfplay.collect(draw=True)
        targets = td_lambda(window, 0.7)
        found, wanted = captured.learn(window, targets, rate), plain.learn(window, targets, rate)
        assert astuple(found) == pytest.approx(astuple(wanted), rel=1e-4)
        for name, value in plain.state().items():
            torch.testing.assert_close(captured.state()[name], value, rtol=1e-4, atol=1e-5, msg=name)
