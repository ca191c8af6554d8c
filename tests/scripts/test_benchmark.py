"""The benchmark's command line: what it takes, and one readable line for what it does not."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from nardy.eval import engine_benchmark
from nardy.scripts import benchmark

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs the command with these words: exit code, standard output, standard error."""

    def call(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["benchmark.py", *words])
        code = benchmark.main()
        out, err = capsys.readouterr()
        return code, out, err

    return call


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "benchmark: task: found none, wanted one of: engine"),
        (["engin"], "benchmark: task: found 'engin', wanted one of: engine"),
        (
            ["engine", "poistions=3"],
            "benchmark engine: found 'poistions=3', wanted key=value with a key of: positions,",
        ),
        (["engine", "positions"], "benchmark engine: found 'positions', wanted key=value"),
        (["engine", "positions=many"], "benchmark engine: positions: found 'many', wanted int"),
        (["engine", "threads=0"], "benchmark engine: threads: found 0, wanted 1 or more"),
        (["selfplay", "games=0"], "benchmark selfplay: games: found 0, wanted 1 or more"),
        (["learner", "hidden=wide"], "benchmark learner: hidden: found 'wide', wanted numbers such as 256,64"),
        (["learner", "hidden=10"], "benchmark learner: hidden: found [10], wanted one or more layers"),
        (["learner", "precision=half"], "benchmark learner: precision: found half, wanted float32 or bfloat16"),
        (["selfplay", "cuda_graph=1"], "benchmark selfplay: cuda_graph: found 1, wanted 0, or 1 with device=cuda"),
        (["selfplay", "cuda_graph=yes"], "benchmark selfplay: cuda_graph: found 'yes', wanted int"),
        (["selfplay", "model=/nothing"], "benchmark selfplay: model: found no file '/nothing'"),
        (["engine", "output=/no/such/folder/x.json"], "benchmark engine: output: found no folder '/no/such/folder'"),
    ],
)
def test_words_it_does_not_know_are_answered_in_one_line_and_code_2(run: Run, words: list[str], message: str) -> None:
    code, out, err = run(*words)

    assert (code, out) == (2, "")
    assert err.startswith(message)
    assert err.count("\n") == 1


def test_help_names_the_tasks_and_their_keys(run: Run) -> None:
    code, out, _ = run("--help")

    assert code == 0
    assert "engine: listing a turn's afterstates" in out
    assert "positions=4096 threads=1 seed=0" in out


def test_the_engine_task_prints_and_writes_its_figures(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_benchmark, "_SHORTEST_TIMING", 0.0)
    file = tmp_path / "figures.json"

    code, out, err = run("engine", "positions=40", "repetitions=1", "seed=3", f"output={file}")

    assert (code, err) == (0, "")
    assert "nardy, 1 thread" in out
    assert json.loads(file.read_text())["settings"]["seed"] == 3


def test_a_failed_measurement_is_one_line_and_code_1(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        engine_benchmark, "_gnubg", lambda boards, dice: engine_benchmark._Contender("gnubg-nn", len(boards), lambda: 7)
    )

    code, _, err = run("engine", "positions=10", "repetitions=1")

    assert code == 1
    assert err.startswith("benchmark engine: gnubg-nn lists 7 afterstates")


@pytest.mark.parametrize("task", ["selfplay", "learner"])
def test_self_play_is_measured_beside_the_network_alone(run: Run, tmp_path: Path, task: str) -> None:
    path = tmp_path / "result.json"
    code, out, err = run(task, "hidden=32", "games=64", "repetitions=1", "warm_up=1", f"output={path}")

    assert (code, err) == (0, "")
    result = json.loads(path.read_text())
    times = {name: row["median"] for name, row in result["microseconds_a_decision"].items()}
    assert set(times) == {"network alone", "listing", "valuing", "ply"} | ({"learning"} if task == "learner" else set())
    whole = times["ply"] + times.get("learning", 0.0)
    assert result["ratio"] == pytest.approx(times["network alone"] / whole)
    assert 10 < result["afterstates_a_decision"] < 60
    assert "network alone" in out
