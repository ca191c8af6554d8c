"""The README's Python runs as it stands, and prints what it says it prints."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

README = (Path(__file__).resolve().parents[1] / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_a_block_runs(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(BLOCKS[number], f"README, block {number + 1}", "exec"), {})  # noqa: S102  # our own text
    printed = capsys.readouterr().out
    for wanted in re.findall(r"^print\(.*\)  # (.*)$", BLOCKS[number], re.MULTILINE):
        assert wanted in printed


def test_five_lines_load_a_model_and_ask_for_a_play_and_the_cube() -> None:
    assert len(BLOCKS) >= 3
    lines = [line for line in BLOCKS[0].splitlines() if line]
    assert len(lines) == 5
    assert "load(" in BLOCKS[0]
    assert "plays[0]" in BLOCKS[0]
    assert "cube.action" in BLOCKS[0]
