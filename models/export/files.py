"""Which files an export writes, and how each is checked before it is called done."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import torch

from ..bundle import save_bundle, write_file
from ..evaluator import Evaluator, load
from .description import describe_bundle
from .losses import PlayLoss, play_loss
from .onnx_file import ExportError, OnnxModel, check_packages, quantize_onnx, write_onnx
from .reference import answers, played_positions

__all__ = ["ExportOptions", "Exported", "export_model"]

_TOLERANCE = 1e-5


@dataclass(frozen=True)
class ExportOptions:
    """What to export: a run, checkpoint, bundle or bundled model; ``run`` None is the newest run.

    ``output`` None is a folder in ``exports`` named after it. ``positions`` are compared, and as many decisions played
    where 8-bit weights (``quantize``) are measured.
    """

    run: str | None = None
    format: Literal["bundle", "onnx", "all"] = "all"
    output: str | None = None
    quantize: bool = False
    positions: int = 10_000

    def __post_init__(self) -> None:
        if self.positions < 1:
            raise ValueError(f"positions: found {self.positions}, wanted 1 or more")
        if self.quantize and self.format == "bundle":
            raise ValueError("quantize: found true with format bundle, wanted format onnx or all")


@dataclass(frozen=True)
class Exported:
    """A file that was written.

    Attributes:
        path: where it is. num_bytes: its size.
        difference: greatest difference from the model in memory over all positions and outputs, None if not compared.
        loss: what the play of a smaller form costs, None for the others.
    """

    path: Path
    num_bytes: int
    difference: float | None = None
    loss: PlayLoss | None = None


def export_model(evaluator: Evaluator, options: ExportOptions, folder: Path) -> list[Exported]:
    """Write and check what ``options`` ask for in ``folder``, which is made; `ExportError` if a check fails."""
    if options.format != "bundle":
        check_packages()
    folder.mkdir(parents=True, exist_ok=True)
    written: list[Exported] = []
    if options.format in ("bundle", "all"):
        written += _bundle(evaluator, folder, options.positions)
    if options.format in ("onnx", "all"):
        written += _onnx(evaluator, folder, options)
    return written


def _bundle(evaluator: Evaluator, folder: Path, positions: int) -> list[Exported]:
    """``bundle.safetensors`` and ``bundle.json``."""
    path, description = folder / "bundle.safetensors", folder / "bundle.json"
    table = evaluator.table if evaluator.network.config.context_units else None
    save_bundle(path, evaluator.network, evaluator.variant, evaluator.header.get("facts", {}), table)
    boards, _ = played_positions(evaluator, positions)
    difference = float((load(path).outcome(boards) - evaluator.outcome(boards)).abs().max())
    if difference > 0:
        raise ExportError(f"{path}: found answers {difference:.2g} from the model's, wanted the same")
    text = json.dumps(describe_bundle(evaluator, path.name), indent=1)
    write_file(description, text.encode())
    return [Exported(path, path.stat().st_size, difference), Exported(description, description.stat().st_size)]


def _onnx(evaluator: Evaluator, folder: Path, options: ExportOptions) -> list[Exported]:
    """``model.onnx``, and ``model-int8.onnx`` if asked for."""
    path, smaller = folder / "model.onnx", folder / "model-int8.onnx"
    write_onnx(path, evaluator)
    boards, _ = played_positions(evaluator, options.positions)
    wanted = answers(evaluator, boards)
    difference = max(OnnxModel(path).difference(wanted, boards).values())
    if difference > _TOLERANCE:
        raise ExportError(f"{path}: found answers {difference:.2g} from the model's, wanted at most {_TOLERANCE:.0e}")
    written = [Exported(path, path.stat().st_size, difference)]
    if options.quantize:
        quantize_onnx(path, smaller)
        model = OnnxModel(smaller)
        difference = max(model.difference(wanted, boards).values())
        with torch.no_grad():
            loss = play_loss(evaluator, lambda rows: model(rows)["outcome"], options.positions)
        written.append(Exported(smaller, smaller.stat().st_size, difference, loss))
    return written
