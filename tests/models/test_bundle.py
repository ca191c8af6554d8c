"""Files of weights: what is written is read back, and anything else is refused in one line that names it."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file

from nardy.models import BundleError, Network, NetworkConfig, load, save_bundle
from nardy.models.bundle import FORMAT, read_tensors, write_file

CONFIG = NetworkConfig((16, 8))


def _write(path: Path, header: Any, **tensors: torch.Tensor) -> None:
    state = {f"network.{name}": tensor for name, tensor in Network(CONFIG).state_dict().items()}
    save_file(state | tensors, str(path), metadata={"nardy": header if isinstance(header, str) else json.dumps(header)})


GOOD = {
    "format": FORMAT,
    "kind": "bundle",
    "variant": "backgammon",
    "network": {"hidden": [16, 8], "encoding": CONFIG.encoding, "context_units": 32},
}


def test_a_good_file_loads(tmp_path: Path) -> None:
    _write(tmp_path / "m.safetensors", GOOD)
    assert load(tmp_path / "m.safetensors").network.config == CONFIG


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        ("", "format None"),
        ("[" * 100_000, "format None"),
        ("[1]", "format None"),
        (GOOD | {"format": "nardy-9"}, "format 'nardy-9', wanted 'nardy-1'"),
        (GOOD | {"variant": "chess"}, "variant 'chess'"),
        (GOOD | {"variant": []}, r"variant \[\]"),
        (GOOD | {"variant": {}}, r"variant \{\}"),
        (GOOD | {"network": None}, "network: found None"),
        (GOOD | {"network": {"hidden": [16, 8], "encoding": "other"}}, "encoding: found 'other'"),
        (GOOD | {"network": {"hidden": [], "encoding": CONFIG.encoding, "context_units": 32}}, "hidden: found"),
        (GOOD | {"network": {"hidden": ["a"], "encoding": CONFIG.encoding, "context_units": 32}}, "hidden"),
        (GOOD | {"network": {"hidden": 3, "encoding": CONFIG.encoding, "context_units": 32}}, "network"),
        (GOOD | {"network": {"hidden": [1 << 40], "encoding": CONFIG.encoding, "context_units": 32}}, "hidden"),
        (
            GOOD | {"network": {"hidden": [65536, 65536], "encoding": CONFIG.encoding, "context_units": 32}},
            "wanted its weights",
        ),
        (
            GOOD | {"network": {"hidden": [32, 8], "encoding": CONFIG.encoding, "context_units": 32}},
            "first.bias: found shape",
        ),
    ],
)
def test_a_foreign_header_is_refused(tmp_path: Path, header: Any, reason: str) -> None:
    path = tmp_path / "m.safetensors"
    _write(path, header)
    with pytest.raises(BundleError, match=reason) as caught:
        load(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("tensors", "reason"),
    [
        ({"network.extra": torch.zeros(1)}, "found tensor extra"),
        ({"network.head.bias": torch.full((41,), float("nan"))}, "head.bias: found a value that is not finite"),
        ({"network.head.bias": torch.zeros(8)}, "head.bias: found shape"),
        ({"network.head.bias": torch.zeros(41, dtype=torch.float64)}, "head.bias: found shape"),
    ],
)
def test_foreign_weights_are_refused(tmp_path: Path, tensors: dict[str, torch.Tensor], reason: str) -> None:
    path = tmp_path / "m.safetensors"
    _write(path, GOOD, **tensors)
    with pytest.raises(BundleError, match=reason):
        load(path)


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.safetensors"
    _write(path, GOOD)
    data = path.read_bytes()
    for damaged in (b"", b"hello", data[:20], data[: len(data) // 2], b"\xff" * 64):
        path.write_bytes(damaged)
        with pytest.raises(BundleError, match="wanted a nardy bundle"):
            load(path)


def test_what_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(BundleError, match="no file"):
        load(tmp_path / "nothing")
    with pytest.raises(BundleError, match="wanted the folder of a run"):
        load(tmp_path)


def test_a_run_gives_its_bundle_else_its_newest_checkpoint_with_averaged_weights(tmp_path: Path) -> None:
    (tmp_path / "checkpoints").mkdir()
    plain, averaged = Network(CONFIG, 1), Network(CONFIG, 2)
    for games, network in ((1, plain), (2, averaged)):
        state = {f"ema.{name}": tensor for name, tensor in network.state_dict().items()}
        _write(tmp_path / "checkpoints" / f"games-{games:012d}.safetensors", GOOD, **state)
    assert torch.equal(load(tmp_path).network.first.weight, averaged.first.weight)
    save_bundle(tmp_path / "bundle.safetensors", plain, "backgammon")
    assert torch.equal(load(tmp_path).network.first.weight, plain.first.weight)


def test_a_full_disk_leaves_the_old_file_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "m.safetensors"
    save_bundle(path, Network(CONFIG, 1), "backgammon")
    before = path.read_bytes()

    def full(_: int) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        save_bundle(path, Network(CONFIG, 2), "backgammon")
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["m.safetensors"]


def test_only_the_tensors_asked_for_are_read(tmp_path: Path) -> None:
    _write(tmp_path / "m.safetensors", GOOD)
    assert set(read_tensors(tmp_path / "m.safetensors", "network.")) == set(Network(CONFIG).state_dict())


def test_a_name_too_long_for_a_file_is_refused() -> None:
    with pytest.raises(BundleError, match="cannot be opened"):
        load("x" * 5000)


def test_a_file_that_cannot_be_written_is_named_and_the_old_one_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "config.yaml"
    write_file(path, b"old")

    def full(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=str(path)):
        write_file(path, b"new")
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["config.yaml"]
