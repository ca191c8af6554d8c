"""A model's match equity table shown, compared and written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from nardy.eval.match_equity_report import match_equity_report
from nardy.models import MatchEquityTable, Network, NetworkConfig, read_match_equity, save_bundle, simple_match_equity
from nardy.scripts.evaluate import main


def test_a_table_is_nowhere_apart_from_itself() -> None:
    table = simple_match_equity(9)
    assert set(match_equity_report(table, table).differences.values()) == {0.0}


def test_differences_are_counted_once_for_each_pair_of_scores() -> None:
    table = simple_match_equity(9)
    before, after = table.before.clone(), table.after.clone()
    before[0, 3] += 0.02
    before[3, 0] -= 0.02
    after[2] += 0.03
    found = match_equity_report(MatchEquityTable.checked(before, after), table).differences
    assert list(found.values()) == pytest.approx([0.02 / 21**0.5, 0.03 / 6**0.5, 0.03], rel=1e-4)


def test_the_command_shows_compares_and_writes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save_bundle(tmp_path / "m.safetensors", Network(NetworkConfig((16,), context_units=4)), "sprintgammon")
    words = ["table", f"model={tmp_path / 'm.safetensors'}", f"xml={tmp_path / 'a.xml'}", "threads=1"]
    assert main(words) in (None, 0)
    again = [*words[:2], f"against={tmp_path / 'a.xml'}", f"output={tmp_path / 'a.json'}", "threads=1"]
    assert main(again) in (None, 0)
    assert "Differences from" in capsys.readouterr().out
    result = json.loads((tmp_path / "a.json").read_text())
    assert max(result["differences"].values()) < 1e-5
    written = read_match_equity(tmp_path / "a.xml")
    torch.testing.assert_close(torch.tensor(result["before"]), written.before, atol=1e-5, rtol=0)


def test_a_file_that_is_no_table_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.xml").write_text("<met>")
    assert main(["table", "model=backgammon", f"against={tmp_path / 'a.xml'}", "threads=1"]) == 2
    captured = capsys.readouterr()
    assert "a.xml" in captured.err
    assert captured.err.count("\n") == 1
