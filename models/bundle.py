"""Saving and loading networks: one safetensors file with a JSON header, and nothing that could run code.

A bundle holds the weights ``network.*``. A training checkpoint is the same file with more tensors in it, among them
the averaged weights ``ema.*``, which are preferred on loading. The header (metadata key ``nardy``) says the
format, the variant, the network's shape and encoding, and how it was trained.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from ..env.variants import VARIANTS
from .match_equity import MatchEquityTable
from .network import Network, NetworkConfig

__all__ = [
    "BUNDLED",
    "BundleError",
    "find_weights",
    "load_network",
    "load_table",
    "read_header",
    "read_tensors",
    "save_bundle",
    "write_file",
]

FORMAT = "nardy-1"
MAX_FILE_BYTES = 4 << 30
_NETWORK_FIELDS = {"hidden", "context_units", "encoding"}
BUNDLED = Path(__file__).parent / "bundled"


class BundleError(ValueError):
    """A file that is not a usable bundle or checkpoint; the message names it, what was found and what was wanted."""


def write_file(path: Path, data: bytes) -> None:
    """Write a file whole or not at all: to a temporary name beside it, flushed to the disk, then renamed.

    ``OSError`` names ``path``; what was there stays.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with open(temporary, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
    finally:
        temporary.unlink(missing_ok=True)


def save_tensors(path: Path, tensors: dict[str, Tensor], header: dict[str, Any]) -> None:
    """Write ``tensors`` under a JSON header, by `write_file`."""
    data = save(
        {name: tensor.detach().to("cpu").contiguous() for name, tensor in tensors.items()},
        metadata={"nardy": json.dumps({"format": FORMAT, **header}, sort_keys=True)},
    )
    write_file(path, data)


def save_bundle(
    path: Path,
    network: Network,
    variant: str,
    facts: dict[str, Any] | None = None,
    table: MatchEquityTable | None = None,
) -> None:
    """Write ``network``'s weights and what a reader needs to use them; ``facts`` (JSON values) go into the header.

    ``table`` has the match-winning chances it plays by, if it has learned match play.
    """
    header = {"kind": "bundle", "variant": variant, "network": asdict(network.config), "facts": facts or {}}
    tensors = {f"network.{name}": tensor for name, tensor in network.state_dict().items()}
    save_tensors(path, tensors | table_tensors(table), header)


def table_tensors(table: MatchEquityTable | None) -> dict[str, Tensor]:
    """The tensors by which a file holds a match equity table."""
    return {} if table is None else {"match.before": table.before, "match.after": table.after}


def load_table(path: Path, device: torch.device | str = "cpu") -> MatchEquityTable | None:
    """The match equity table in a bundle or checkpoint, None if it has none; `BundleError` if it makes no sense."""
    tensors = read_tensors(path, "match.")
    if not tensors:
        return None
    if set(tensors) != {"before", "after"}:
        raise BundleError(f"{path}: match: found {', '.join(sorted(tensors))}, wanted before and after")
    try:
        return MatchEquityTable.checked(tensors["before"], tensors["after"]).to(device)
    except ValueError as error:
        raise BundleError(f"{path}: match: {error}") from None


def read_header(path: Path) -> dict[str, Any]:
    """The JSON header of a bundle or checkpoint; `BundleError` if the file is something else."""
    try:
        size = path.stat().st_size
        if size > MAX_FILE_BYTES:
            raise BundleError(f"{path}: found {size} bytes, wanted at most {MAX_FILE_BYTES}")
        with safe_open(str(path), framework="pt") as file:
            metadata = file.metadata() or {}
    except (OSError, SafetensorError) as error:
        raise BundleError(f"{path}: found no readable safetensors file ({error}), wanted a nardy bundle") from None
    try:
        header = json.loads(metadata.get("nardy", ""))
    except (json.JSONDecodeError, RecursionError):
        header = None
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        found = header.get("format") if isinstance(header, dict) else None
        raise BundleError(f"{path}: found format {found!r}, wanted {FORMAT!r}")
    if header.get("variant") not in list(VARIANTS):  # a list: what a file holds may be unhashable
        raise BundleError(f"{path}: found variant {header.get('variant')!r}, wanted one of {', '.join(VARIANTS)}")
    return header


def read_tensors(path: Path, prefix: str = "") -> dict[str, Tensor]:
    """The tensors whose names begin with ``prefix``, named without it, on the CPU."""
    try:
        with safe_open(str(path), framework="pt") as file:
            names = [name for name in list(file.keys()) if name.startswith(prefix)]
            return {name[len(prefix) :]: file.get_tensor(name) for name in names}
    except (OSError, SafetensorError) as error:
        raise BundleError(f"{path}: found a damaged file ({error}), wanted a nardy bundle") from None


def network_config(path: Path, header: dict[str, Any]) -> NetworkConfig:
    """The network's shape from a header; `BundleError` if it makes no sense."""
    fields = header.get("network")
    try:
        if not isinstance(fields, dict) or not {"hidden", "encoding"} <= set(fields) <= _NETWORK_FIELDS:
            raise ValueError(f"found {fields!r}, wanted {', '.join(sorted(_NETWORK_FIELDS))}")
        if not all(isinstance(units, int) and 0 < units <= 1 << 16 for units in fields["hidden"]):
            raise ValueError(f"found hidden {fields['hidden']!r}, wanted numbers from 1 to 65536")
        context_units = fields.get("context_units", 0)  # before there were any, files did not name them
        if not isinstance(context_units, int):
            raise ValueError(f"found context_units {context_units!r}, wanted a whole number")
        config = NetworkConfig(tuple(fields["hidden"]), fields["encoding"], context_units)
        num_weights = sum(a * b for a, b in pairwise((config.num_inputs, *config.hidden)))
        if num_weights > path.stat().st_size:  # before anything of that size is allocated
            raise ValueError(f"found hidden {fields['hidden']!r} in {path.stat().st_size} bytes, wanted its weights")
        return config
    except (TypeError, ValueError) as error:
        raise BundleError(f"{path}: network: {error}") from None


def load_weights(path: Path, network: Network, tensors: dict[str, Tensor]) -> None:
    """Copy ``tensors`` into ``network``; `BundleError` names the first that is missing, foreign or misshapen."""
    wanted = network.state_dict()
    for name in sorted(set(wanted) | set(tensors)):
        if name not in tensors:
            raise BundleError(f"{path}: found no tensor {name}, wanted shape {tuple(wanted[name].shape)}")
        if name not in wanted:
            raise BundleError(f"{path}: found tensor {name}, wanted only those of a network {network.config.hidden}")
        if tensors[name].shape != wanted[name].shape or tensors[name].dtype != wanted[name].dtype:
            raise BundleError(
                f"{path}: {name}: found shape {tuple(tensors[name].shape)} of {tensors[name].dtype}, "
                f"wanted {tuple(wanted[name].shape)} of {wanted[name].dtype}"
            )
        if not bool(torch.isfinite(tensors[name]).all()):
            raise BundleError(f"{path}: {name}: found a value that is not finite, wanted finite weights")
    network.load_state_dict(tensors)


def load_network(path: Path, device: torch.device | str = "cpu") -> tuple[Network, dict[str, Any]]:
    """The network in a bundle or checkpoint (averaged weights where there are any) and the file's header."""
    header = read_header(path)
    network = Network(network_config(path, header))
    load_weights(path, network, read_tensors(path, "ema.") or read_tensors(path, "network."))
    return network.to(device).eval().requires_grad_(False), header


def find_weights(name_or_path: str | Path) -> Path:
    """The file meant by a bundled model's name, a bundle, a checkpoint, or a run's folder (its newest weights)."""
    try:
        return _find_weights(name_or_path)
    except OSError as error:  # a name too long, a folder that may not be read
        raise BundleError(f"model: {str(name_or_path)[:200]!r} cannot be opened: {error.strerror}") from None


def _find_weights(name_or_path: str | Path) -> Path:
    bundled = BUNDLED / f"{name_or_path}.safetensors"
    if str(name_or_path).isidentifier() and bundled.is_file():
        return bundled
    path = Path(name_or_path)
    if path.is_dir():
        if (path / "bundle.safetensors").is_file():
            return path / "bundle.safetensors"
        checkpoints = sorted(path.glob("checkpoints/*.safetensors")) or sorted(path.glob("*.safetensors"))
        if not checkpoints:
            raise BundleError(f"{path}: found no bundle.safetensors and no checkpoints, wanted the folder of a run")
        return checkpoints[-1]
    if not path.is_file():
        names = ", ".join(sorted(file.stem for file in BUNDLED.glob("*.safetensors"))) or "none yet"
        raise BundleError(
            f"model: found no file {str(name_or_path)!r}, wanted a path of a run, checkpoint or bundle, "
            f"or a bundled model ({names})"
        )
    return path
