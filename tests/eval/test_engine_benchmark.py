"""The comparison of engines: equal work before any time, absent peers left out, figures written."""

from __future__ import annotations

import json
import re
import sys
from io import StringIO
from pathlib import Path

import pytest
import torch
from rich.console import Console

from nardy.eval import engine_benchmark
from nardy.eval.engine_benchmark import EngineSettings, run_engine_benchmark


@pytest.fixture(autouse=True)
def _short_timings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_benchmark, "_SHORTEST_TIMING", 0.0)


def console() -> tuple[Console, StringIO]:
    text = StringIO()
    return Console(file=text, width=100), text


@pytest.mark.peer
def test_every_engine_is_timed_on_the_same_positions_and_lists_the_same(tmp_path: Path) -> None:
    pytest.importorskip("gnubg_nn")
    pytest.importorskip("pyspiel")
    printed, text = console()

    run_engine_benchmark(EngineSettings(positions=150, repetitions=3, output=str(tmp_path / "figures.json")), printed)

    figures = json.loads((tmp_path / "figures.json").read_text())
    rows = {row["engine"]: row for row in figures["rows"]}
    assert list(rows) == [
        "nardy, 1 thread",
        "nardy unchecked, 1 thread",
        "nardy, 2 threads",
        "nardy unchecked, 2 threads",
        "gnubg-nn",
        "OpenSpiel",
        "OpenSpiel, actions only",
    ]
    assert {row["positions"] for row in rows.values()} == {150}
    listed = {name: row["listed_a_decision"] for name, row in rows.items() if name != "OpenSpiel, actions only"}
    assert len(set(listed.values())) == 1
    for row in rows.values():
        assert 0 < row["least"] <= row["microseconds_a_decision"] <= row["most"]
        assert row["engine"] in text.getvalue()
    assert rows["gnubg-nn"]["times_gnubg_nn"] == pytest.approx(1)
    assert figures["settings"]["positions"] == 150


def test_an_absent_peer_is_named_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gnubg_nn", None)
    monkeypatch.setitem(sys.modules, "pyspiel", None)
    printed, text = console()

    result = run_engine_benchmark(EngineSettings(positions=10, repetitions=1), printed)

    assert [row["times_gnubg_nn"] for row in result["rows"]] == [None] * 4
    lines = text.getvalue().splitlines()
    assert 'gnubg-nn is not installed and left out: pip install "nardy[peers]"' in lines
    assert 'OpenSpiel is not installed and left out: pip install "nardy[peers]"' in lines


def test_no_time_is_given_where_an_engine_lists_another_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        engine_benchmark, "_gnubg", lambda boards, dice: engine_benchmark._Contender("gnubg-nn", len(boards), lambda: 7)
    )
    monkeypatch.setitem(sys.modules, "pyspiel", None)

    with pytest.raises(RuntimeError, match=r"gnubg-nn lists 7 afterstates, nardy, 1 thread \d+, on the same 10"):
        run_engine_benchmark(EngineSettings(positions=10, repetitions=1), console()[0])


def test_the_number_of_threads_is_set_back() -> None:
    before = torch.get_num_threads()

    run_engine_benchmark(EngineSettings(positions=10, repetitions=1, threads=3), console()[0])

    assert torch.get_num_threads() == before


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"positions": 0}, "positions: found 0, wanted 1 or more"),
        ({"threads": -1}, "threads: found -1, wanted 1 or more"),
        ({"repetitions": 0}, "repetitions: found 0, wanted 1 or more"),
        ({"device": "tpu"}, "device: found 'tpu', wanted cpu or cuda"),
    ],
)
def test_settings_that_cannot_be_run_are_refused(values: dict[str, int | str], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        EngineSettings(**values)  # type: ignore[arg-type]  # wrong on purpose
