"""A model as one ONNX file that takes boards: writing it, running it, comparing it with torch, making it small.

The packages ``onnx``, ``onnxscript`` and ``onnxruntime`` are the extra ``nardy[onnx]`` and imported where they are
used. ``docs/export.md`` describes the file.
"""

from __future__ import annotations

import importlib.util
import json
import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..bundle import write_file
from ..evaluator import Evaluator
from .graph import BoardModel, money_inputs
from .reference import reference

__all__ = ["INPUTS", "OPSET", "ExportError", "OnnxModel", "check_packages", "quantize_onnx", "write_onnx"]

OPSET = 18
FORMAT = "nardy-onnx-1"
INPUTS = {
    "boards": "int8 [batch, 2, 26]: side 0 is the player on roll, then the other; each side in its own numbers: 0 the "
    "checkers borne off, 1 to 24 its points (1 the ace point), 25 the bar",
    "stake_features": "float [stakes, 14]: for no_double_stake, what is played for (docs/export.md); one row for all "
    "boards or one each; may be left out, then it is money",
    "stake_payoff": "float [stakes, 6]: the outcomes' normalised worth at that stake; may be left out likewise",
    "stake_may_double": "bool [stakes, 2]: may the player on roll, and the other, turn the cube if it is centred or "
    "his; may be left out likewise",
}
OUTPUTS = {
    "outcome": "float [batch, 6]: probabilities that the player on roll wins single, gammon, backgammon, loses single, "
    "gammon, backgammon; exclusive",
    "no_double": "float [batch, 3]: money equity of rolling without doubling with the cube centred, mine, theirs, in "
    "units of the cube; double and take is worth 2 * theirs, double and drop 1",
    "no_double_jacoby": "float [batch, 3]: the same under the Jacoby rule",
    "no_double_stake": "float [batch, 3]: the same at the stake given, normalised: +1 is a single game won, -1 lost",
}


class ExportError(ValueError):
    """Something that export needs is missing, or what was written does not fit the model; one line says what."""


def check_packages() -> None:
    """`ExportError` says what to install if a package that ONNX files need is missing."""
    missing = [name for name in ("onnx", "onnxscript", "onnxruntime") if importlib.util.find_spec(name) is None]
    if missing:
        raise ExportError(f"onnx: found no package {', '.join(missing)}, wanted them: pip install 'nardy[onnx]'")


def write_onnx(path: Path, evaluator: Evaluator) -> None:
    """Write the model to ``path``; a quarter of a minute on a small machine, most of it torch's tracing."""
    check_packages()
    import onnx

    model = BoardModel(evaluator.network, evaluator.variant).cpu().eval()
    rows = 3  # any number that is not taken for a constant
    boards = torch.tensor(reference(evaluator)["boards"], dtype=torch.int8)[:rows]
    stake = money_inputs(rows) if model.has_stakes else ()
    names = list(INPUTS)[: 1 + len(stake)]
    batch = torch.export.Dim("batch")
    with _quiet():
        program = torch.onnx.export(
            model,
            (boards, *stake),
            dynamo=True,
            input_names=names,
            output_names=model.output_names,
            dynamic_shapes=(*({0: batch} for _ in names),),
            opset_version=OPSET,
            verbose=False,
        )
    assert program is not None
    proto = program.model_proto
    _let_stakes_be_left_out(proto, dict(zip(names[1:], money_inputs(), strict=False)))
    _describe(proto, evaluator)
    onnx.checker.check_model(proto, full_check=True)
    write_file(path, proto.SerializeToString())


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep the tracer's remarks on packages and axes, which ask nothing of a user, off the terminal."""
    logger = logging.getLogger("torch.onnx")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)


def _let_stakes_be_left_out(proto: Any, defaults: dict[str, Tensor]) -> None:
    """Give the inputs of a stake a size of their own and money as their value where they are not given."""
    from onnx import numpy_helper

    del proto.graph.value_info[:]  # traced with a stake for every board; one for all is broadcast
    for value in proto.graph.input:
        if value.name in defaults:
            value.type.tensor_type.shape.dim[0].dim_param = "stakes"
    for name, tensor in defaults.items():
        proto.graph.initializer.append(numpy_helper.from_array(tensor.numpy(), name))


def _describe(proto: Any, evaluator: Evaluator) -> None:
    """Names, meaning and a reference into the file's metadata."""
    proto.graph.name = f"nardy-{evaluator.variant}"
    proto.graph.doc_string = f"nardy's {evaluator.variant}: boards in, probabilities and cube values out"
    for values, texts in ((proto.graph.input, INPUTS), (proto.graph.output, OUTPUTS)):
        for value in values:
            value.doc_string = texts[value.name]
    for node in proto.graph.node:  # where in torch each came from; as much text as weights
        del node.metadata_props[:]
        node.ClearField("doc_string")
    del proto.metadata_props[:]
    shown = {value.name: value.doc_string for value in (*proto.graph.input, *proto.graph.output)}
    entries = {
        "format": FORMAT,
        "variant": evaluator.variant,
        "encoding": evaluator.network.config.encoding,
        "opset": str(OPSET),
        "network": json.dumps(
            {"hidden": evaluator.network.config.hidden, "context": evaluator.network.config.context_units}
        ),
        "facts": json.dumps(evaluator.header.get("facts", {})),
        "values": json.dumps(shown),
        "reference": json.dumps(reference(evaluator)),
    }
    for key, text in entries.items():
        entry = proto.metadata_props.add()
        entry.key, entry.value = key, text


class OnnxModel:
    """An exported file, run by ``onnxruntime`` on the CPU.

    Attributes:
        metadata: the texts in the file, by key.
    """

    def __init__(self, path: Path, threads: int = 1) -> None:
        check_packages()
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.log_severity_level = 3
        self._session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        self.metadata: dict[str, str] = dict(self._session.get_modelmeta().custom_metadata_map)
        self.output_names = [output.name for output in self._session.get_outputs()]

    def __call__(self, boards: Tensor, *stake: Tensor) -> dict[str, Tensor]:
        """All outputs for ``boards`` ``[N, 2, 26]`` int8, by name; ``stake`` as `money_inputs` has it."""
        feed = {name: value.numpy() for name, value in zip(INPUTS, (boards, *stake), strict=False)}
        outputs = self._session.run(None, feed)
        return {n: torch.from_numpy(np.asarray(v)) for n, v in zip(self.output_names, outputs, strict=True)}

    def difference(self, wanted: dict[str, Tensor], boards: Tensor) -> dict[str, float]:
        """The greatest difference from ``wanted`` of each output."""
        found = self(boards)
        return {name: float((found[name] - wanted[name]).abs().max()) for name in wanted}


def quantize_onnx(path: Path, smaller: Path) -> None:
    """Write the model at ``path`` to ``smaller`` with the matrices of its layers in 8 bits."""
    check_packages()
    import onnx
    from onnxruntime.quantization import QuantType, quantize_dynamic

    proto = onnx.load(str(path))
    temporary = smaller.with_name(f".{smaller.name}.tmp")
    logger = logging.getLogger()
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        quantize_dynamic(
            proto,
            str(temporary),
            op_types_to_quantize=["MatMul", "Gemm"],
            nodes_to_exclude=[node.name for node in proto.graph.node if node.op_type == "MatMul"],  # no layer
            weight_type=QuantType.QInt8,
            per_channel=True,
        )
        quantized = onnx.load(str(temporary))
    finally:
        logger.setLevel(level)
        temporary.unlink(missing_ok=True)
    del quantized.metadata_props[:]
    for entry in proto.metadata_props:
        quantized.metadata_props.add(key=entry.key, value=entry.value)
    quantized.metadata_props.add(key="quantized", value="int8 weights, activations in 8 bits at run time")
    write_file(smaller, quantized.SerializeToString())
