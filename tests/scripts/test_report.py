"""``evaluate.py report`` from a run to its page; TensorBoard has the curves that the page shows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator  # type: ignore[import-untyped]

from nardy.env import launch
from nardy.eval.report.curves import PANELS
from nardy.scripts.evaluate import main
from nardy.scripts.train import main as train
from nardy.train import read_metrics

from .test_train import SMALL


def test_a_runs_page_shows_the_curves_that_tensorboard_has(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with launch.threads_in_use(1):
        words = [*SMALL, "train.evaluate_games=150", "evaluation.games=2", "train.games=400"]
        assert train([*words, "env=sprintgammon", f"runs={tmp_path}"]) == 0
        run, folder = tmp_path / "smoke", tmp_path / "page"
        output = tmp_path / "figures.json"
        words = [f"model={run}", f"folder={folder}", f"output={output}", "games=10", "threads=1", "device=cpu"]
        capsys.readouterr()
        assert main(["report", *words]) == 0

    printed = capsys.readouterr()
    assert str(folder / "report.html") in printed.out
    assert "not in it: losses against the exact solution: no results" in printed.err
    page = (folder / "report.html").read_text()
    logged = {name for entry in read_metrics(run) for name in entry}
    events = EventAccumulator(str(run / "tensorboard"))
    events.Reload()
    tags = set(events.Tags()["scalars"])
    for title, _, names, margin, _ in PANELS:
        assert f"<title>{title}</title>" in page
        wanted = {*names, *([margin] if margin else [])}
        assert wanted <= tags and wanted <= logged
    assert "pipcount" in page and "evaluation.json" in page
    assert json.loads(output.read_text())["variant"] == "sprintgammon"


def test_what_cannot_be_read_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["report", "model=backgammon", "games=0", f"folder={tmp_path}"]
    for word, reason in (
        (f"run={tmp_path / 'none'}", "run: found no folder"),
        (f"results=[{tmp_path / 'none.json'}]", "results: found nothing at"),
        ("worst=-1", "games, worst: found 0 and -1"),
        ("variant=chess", "variant: found 'chess'"),
    ):
        assert main([*words, word]) == 2
        lines = capsys.readouterr().err.splitlines()
        assert len(lines) == 1 and lines[0].startswith(reason)
