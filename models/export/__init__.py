"""Models in forms that other programs read: a bundle with its description in JSON, and ONNX files."""

from .description import describe_bundle
from .files import Exported, ExportOptions, export_model
from .losses import PlayLoss, play_loss
from .onnx_file import ExportError, OnnxModel, quantize_onnx, write_onnx
from .reference import played_positions

__all__ = [
    "ExportError",
    "ExportOptions",
    "Exported",
    "OnnxModel",
    "PlayLoss",
    "describe_bundle",
    "export_model",
    "play_loss",
    "played_positions",
    "quantize_onnx",
    "write_onnx",
]
