"""A stored solution is read as it was written, and nothing else is taken for one."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from nardy.eval.exact import Solution, StoreError, find_or_solve, load_solution, save_solution, solution_path


@pytest.fixture
def path(solution: Solution, tmp_path: Path) -> Path:
    file = solution_path(tmp_path, "one checker")
    save_solution(file, solution)
    return file


def test_what_was_stored_is_read(solution: Solution, path: Path) -> None:
    read = load_solution(path, "one checker")

    assert read.variant == solution.variant
    assert read.facts == solution.facts
    assert torch.equal(read.values, solution.values)
    assert torch.equal(read.outcomes, solution.outcomes)


def test_a_solution_is_made_once(solution: Solution, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "new" / "folder"

    made = find_or_solve(folder, "one checker")

    monkeypatch.setattr("nardy.eval.exact.store.solve", None)
    found = find_or_solve(folder, "one checker")
    assert [file.name for file in folder.iterdir()] == ["exact-one checker.safetensors"]
    assert torch.equal(found.values, made.values)
    assert torch.equal(found.values, solution.values)


def test_a_folder_that_cannot_be_made_is_named_before_the_work(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(StoreError, match=r"folder: found '.*file/folder' \(.*\), wanted one that can be made"):
        find_or_solve(tmp_path / "file" / "folder", "one checker")


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


def change_a_number(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[-6] ^= 1
    path.write_bytes(data)


def write_text(path: Path) -> None:
    path.write_text("not a solution", encoding="utf-8")


def write_weights(path: Path) -> None:
    save_file({"network.first.weight": torch.zeros(3)}, path, metadata={"nardy": "{}"})


def rewrite(path: Path, change: Callable[[dict[str, torch.Tensor]], object], **header: object) -> None:
    tensors = load_file(path)
    length = int.from_bytes(path.read_bytes()[:8], "little")
    metadata = json.loads(path.read_bytes()[8 : 8 + length])["__metadata__"]
    change(tensors)
    save_file(tensors, path, {"nardy-exact": json.dumps(json.loads(metadata["nardy-exact"]) | header)})


def drop_rows(path: Path) -> None:
    rewrite(path, lambda tensors: tensors.update(values=tensors["values"][:-1].contiguous()))


def drop_outcomes(path: Path) -> None:
    rewrite(path, lambda tensors: tensors.pop("outcomes"))


def number_otherwise(path: Path) -> None:
    rewrite(path, lambda tensors: None, numbering="by chance")


def be_of_tomorrow(path: Path) -> None:
    rewrite(path, lambda tensors: None, format="nardy-exact-2")


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (cut, "found no readable safetensors file .*, wanted an exact solution"),
        (change_a_number, "found numbers with the checksum .*, wanted .* damaged"),
        (write_text, "found no readable safetensors file .*, wanted an exact solution"),
        (write_weights, "found a safetensors file without a solution's header, wanted format 'nardy-exact-1'"),
        (drop_rows, r"values: found shape \(650, 11\) of torch.float32, wanted shape \(651, 11\)"),
        (drop_outcomes, r"outcomes: found nothing, wanted shape \(651, 6\)"),
        (number_otherwise, "numbering: found 'by chance', wanted 'side on roll"),
        (be_of_tomorrow, "format: found 'nardy-exact-2', wanted 'nardy-exact-1'"),
    ],
)
def test_a_file_that_is_no_solution_is_refused(path: Path, damage: Callable[[Path], None], message: str) -> None:
    damage(path)

    with pytest.raises(StoreError, match=f"^{re.escape(str(path))}: {message}"):
        find_or_solve(path.parent, "one checker")


def test_the_solution_of_another_game_is_refused(solution: Solution, tmp_path: Path) -> None:
    path = solution_path(tmp_path, "two checkers")
    save_solution(path, replace(solution))

    with pytest.raises(StoreError, match="variant: found 'one checker', wanted 'two checkers'"):
        find_or_solve(tmp_path, "two checkers")
