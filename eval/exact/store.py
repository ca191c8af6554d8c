"""A solution on disk: one safetensors file with a JSON header, made when it is first asked for.

For sprintgammon it holds 541 MB: 17 float32 numbers for each of 7,959,903 positions. The header (metadata key
``nardy-exact``) says the format, the variant, its start, the numbering of positions, the columns, how exact they are,
and a checksum of the numbers. A reader refuses what differs.
"""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from ...env.variants import get_variant
from ...models.bundle import write_file
from .payoffs import OUTCOMES
from .positions import Positions
from .solve import NAMES, Solution, solve
from .transitions import Progress, nothing

__all__ = ["StoreError", "find_or_solve", "load_solution", "save_solution", "solution_path"]

FORMAT = "nardy-exact-1"
_SHAPES = {"outcomes": len(OUTCOMES), "values": len(NAMES)}


class StoreError(ValueError):
    """A file that is no usable solution; the message names it, what was found and what was wanted."""


def solution_path(folder: str | Path, variant: str = "sprintgammon") -> Path:
    """The file for ``variant`` in ``folder``, in which ``~`` is the home folder."""
    return Path(folder).expanduser() / f"exact-{variant}.safetensors"


def find_or_solve(
    folder: str | Path,
    variant: str = "sprintgammon",
    report: Progress = nothing,
    device: torch.device | str = "cpu",
) -> Solution:
    """Read the solution of ``variant`` in ``folder`` or, if there is none, solve it on ``device`` and store it there.

    Raises:
        StoreError: a file that is there and no solution, or a folder that cannot be made.
    """
    path = solution_path(folder, variant)
    if path.exists():
        return load_solution(path, variant)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        found = f"{str(path.parent)!r} ({error.strerror})"
        raise StoreError(f"folder: found {found}, wanted one that can be made") from None
    solution = solve(variant, report=report, device=device)
    save_solution(path, solution)
    return solution


def save_solution(path: Path, solution: Solution) -> None:
    """Write the file whole or not at all."""
    tensors = {"outcomes": solution.outcomes.contiguous(), "values": solution.values.contiguous()}
    header = _header(solution.variant, len(solution.values)) | {
        "checksum": _checksum(tensors),
        "facts": solution.facts,
    }
    write_file(path, save(tensors, metadata={"nardy-exact": json.dumps(header, sort_keys=True)}))


def load_solution(path: Path, variant: str = "sprintgammon") -> Solution:
    """Read a solution of ``variant``.

    Raises:
        StoreError: the file is damaged, or something else.
    """
    try:
        with safe_open(str(path), framework="pt") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in _SHAPES if name in list(file.keys())}
    except (OSError, SafetensorError) as error:
        raise StoreError(f"{path}: found no readable safetensors file ({error}), wanted an exact solution") from None
    header = _read_header(path, metadata)
    wanted = _header(variant, Positions(variant).count)
    for key, value in wanted.items():
        if header.get(key) != value:
            raise StoreError(f"{path}: {key}: found {header.get(key)!r}, wanted {value!r}")
    for name, columns in _SHAPES.items():
        _check_tensor(path, name, tensors.get(name), (wanted["positions"], columns))
    if header.get("checksum") != _checksum(tensors):
        raise StoreError(
            f"{path}: found numbers with the checksum {_checksum(tensors)}, wanted {header.get('checksum')}: the file "
            "is damaged; delete it to have it made again"
        )
    return Solution(variant, tensors["outcomes"], tensors["values"], header["facts"])


def _header(variant: str, positions: int) -> dict[str, Any]:
    """What must agree for the numbers to mean what they are read as."""
    rules = get_variant(variant)
    return {
        "format": FORMAT,
        "variant": variant,
        "start": [list(point) for point in rules.start],
        "max_level": rules.max_level,
        "numbering": "side on roll, other side; sides by pips, then places",
        "positions": positions,
        "outcomes": [column.name for column in OUTCOMES],
        "values": list(NAMES),
    }


def _read_header(path: Path, metadata: dict[str, str]) -> dict[str, Any]:
    try:
        header = json.loads(metadata.get("nardy-exact", ""))
    except (json.JSONDecodeError, RecursionError):
        header = None
    if not isinstance(header, dict) or not isinstance(header.get("facts"), dict):
        raise StoreError(f"{path}: found a safetensors file without a solution's header, wanted format {FORMAT!r}")
    return header


def _check_tensor(path: Path, name: str, tensor: Tensor | None, shape: tuple[int, int]) -> None:
    found = "nothing" if tensor is None else f"shape {tuple(tensor.shape)} of {tensor.dtype}"
    wanted = f"shape {shape} of {torch.float32}"
    if found != wanted:
        raise StoreError(f"{path}: {name}: found {found}, wanted {wanted}")


def _checksum(tensors: dict[str, Tensor]) -> int:
    """CRC-32 of the numbers."""
    checksum = 0
    for name in _SHAPES:
        checksum = zlib.crc32(tensors[name].contiguous().numpy().data, checksum)
    return checksum
