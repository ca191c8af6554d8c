"""Write a trained model as files for other programs: a bundle with its description, an ONNX file, both."""

from __future__ import annotations

import sys
from pathlib import Path

from nardy.eval.bots import newest_model
from nardy.models import load
from nardy.models.export import Exported, ExportOptions, export_model
from nardy.scripts.command import compose, main_guard, to_dataclass, wants_help
from nardy.scripts.command_help import help_text


@main_guard
def main(argv: list[str]) -> None:
    """Load the model, write the files, say what was checked."""
    if wants_help(argv):
        print(help_text("nardy-export", "writes a model for other programs.", "export", argv))
        return
    options = to_dataclass(ExportOptions, compose("export", argv, ExportOptions))
    name = options.run or newest_model()
    evaluator = load(name)
    folder = Path(options.output or Path("exports") / run_name(name))
    for file in export_model(evaluator, options, folder):
        print(described(file, options.positions))


def run_name(name: str) -> str:
    """What to call the export of a run, checkpoint, bundle or bundled model."""
    path = Path(name).resolve()
    return path.parent.name if path.stem == "bundle" else path.stem if path.suffix == ".safetensors" else path.name


def described(file: Exported, positions: int) -> str:
    """A line on a file, and one on its loss."""
    line = f"{file.path}: {file.num_bytes:,} bytes"
    if file.difference is not None:
        line += f", at most {file.difference:.2g} from torch on {positions:,} positions"
    if file.loss is not None:
        line += (
            f"\n  of {file.loss.decisions:,} decisions of its own games {file.loss.changed:.2%} changed, "
            f"{file.loss.equity_lost:.3f} millipoints lost a decision, equities {file.loss.equity_rms:.4f} rms apart"
        )
    return line


if __name__ == "__main__":
    sys.exit(main())
