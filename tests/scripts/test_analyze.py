"""``nardy-analyze`` as a user types it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nardy.models import Network, NetworkConfig, save_bundle
from nardy.scripts.analyze import main

OPENING = "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:0:10"


def test_a_position(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["model=backgammon", "plays=3", f"json={tmp_path / 'p.json'}", f"html={tmp_path / 'p.html'}"]
    assert main([OPENING, *words]) == 0
    page = capsys.readouterr().out
    assert "3 of 16 legal plays" in page
    assert "8/5 6/5" in page
    assert "No double, take" in page
    assert max(map(len, page.splitlines())) <= 80
    told = json.loads((tmp_path / "p.json").read_text())
    assert [play["rank"] for play in told["plays"]] == [1, 2, 3]
    assert told["position"]["dice"] == [3, 1]
    assert "8/5 6/5" in (tmp_path / "p.html").read_text()


def test_an_xgid_may_begin_with_an_empty_bar(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([OPENING.removeprefix("XGID="), "model=backgammon"]) == 0
    assert "8/5 6/5" in capsys.readouterr().out
    assert main(["--plays"]) == 2
    assert "--plays: found an unknown option" in capsys.readouterr().err


def test_a_match(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = "  1) 31: 24/20\n"
    path = tmp_path / "m.mat"
    path.write_text(f" 3 point match\n\n Game 1\n Otto : 0    Xena : 0\n{rows}")
    assert main([str(path), "model=backgammon", "blunder=0.01"]) == 0
    page = capsys.readouterr().out
    assert "performance rating (PR)" in page
    assert "game 1, row 1, Otto 31: 24/20" in page
    assert "better: 8/5 6/5" in page


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ([], "found 0 texts to analyse, wanted one: an XGID, a GNUbg id or a match file"),
        (["a", "b"], "found 2 texts"),
        (["chess"], "found 'chess', wanted an XGID, a GNUbg id"),
        (["XGID=1:2:3"], "found 3 fields, wanted position:cube"),
        ([OPENING.replace(":31:", ":71:")], "dice: found '71'"),
        (["4HPwATDgc/ABM!"], "position id"),
        ([OPENING, "plays=0"], "plays: found 0"),
        ([OPENING, "blunder=-1"], "blunder: found -1"),
        ([OPENING, "variant=chess"], "variant: found 'chess'"),
        ([OPENING, "model=longgammon"], "variant: found 'longgammon', wanted one of backgammon, sprintgammon"),
        ([OPENING, "model=longgammon", "variant=backgammon"], "model: found one for longgammon, wanted one for backg"),
        ([OPENING, "play=3"], "did you mean plays?"),
        ([OPENING, "json=/nothing/p.json"], "json: found '/nothing/p.json', wanted a file in a folder that exists"),
    ],
)
def test_what_does_not_fit_is_one_line(words: list[str], wanted: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    captured = capsys.readouterr()
    assert wanted in captured.err
    assert captured.err.count("\n") == 1
    assert captured.out == ""


def test_a_missing_file_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path / "m.mat")]) == 1
    assert "m.mat: found no such file or folder" in capsys.readouterr().err


def test_a_faulty_match_names_the_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "m.mat"
    path.write_text(" 3 point match\n\n Game 1\n Otto : 0    Xena : 0\n  1) 31: 24/10\n")
    assert main([str(path)]) == 2
    assert "m.mat: mat: line 5: Otto:" in capsys.readouterr().err


def test_a_model_of_ones_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save_bundle(tmp_path / "bundle.safetensors", Network(NetworkConfig((16,))), "sprintgammon")
    state = "XGID=-----------------------c-C:0:0:1:21:0:0:0:0:10".replace("-c-C", "---C")
    assert main([state, f"model={tmp_path}"]) == 2  # the bar is full and nobody opposes: over, and said so
    assert capsys.readouterr().err.count("\n") == 1
    assert main(["XGID=-aaa------------------AAA-:0:0:1:21:0:0:0:0:10", f"model={tmp_path}"]) == 0
    assert "legal plays" in capsys.readouterr().out


def test_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    page = capsys.readouterr().out
    assert "usage: nardy-analyze XGID|GNUBG_ID|FILE.mat" in page
    assert "blunder=0.08" in page
