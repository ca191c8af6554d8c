"""What is installed: every folder, configuration file and command, under one name that has no folder of its own."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("env", "models", "train", "eval", "scripts", "configs")
# tomli is what pytest itself needs where Python has no tomllib.
tomllib: Any = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LISTED: list[str] = PROJECT["tool"]["setuptools"]["packages"]


def package_name(folder: Path) -> str:
    return ".".join(("nardy", *folder.relative_to(ROOT).parts))


def package_folders() -> list[Path]:
    return [init.parent for folder in FOLDERS for init in sorted((ROOT / folder).rglob("__init__.py"))]


def config_groups() -> list[Path]:
    return sorted({path.parent for path in (ROOT / "configs").rglob("*.yaml")} - {ROOT / "configs"})


def test_every_package_and_every_config_group_is_listed() -> None:
    wanted = {package_name(folder) for folder in (*package_folders(), *config_groups())}

    assert wanted - set(LISTED) == set()
    assert {f"nardy.{folder}" for folder in FOLDERS} <= wanted


@pytest.mark.parametrize("name", LISTED)
def test_every_listed_package_is_a_folder_with_something_in_it(name: str) -> None:
    folder = ROOT.joinpath(*name.split(".")[1:])

    assert any(folder.glob("*.py")) or any(folder.glob("*.yaml")), f"git keeps no empty folder: {folder}"


def test_folders_are_mapped_under_one_name() -> None:
    assert PROJECT["tool"]["setuptools"]["package-dir"] == {f"nardy.{folder}": folder for folder in FOLDERS}
    assert not (ROOT / "nardy").exists(), "a nardy folder hides the installed package"


def test_configuration_files_are_package_data() -> None:
    patterns = PROJECT["tool"]["setuptools"]["package-data"]["*"]
    files = sorted((ROOT / "configs").rglob("*.y*ml"))

    assert files
    assert "*.yaml" in patterns
    assert [path.name for path in files if path.suffix != ".yaml"] == []
    assert {package_name(path.parent) for path in files} <= set(LISTED)


@pytest.mark.parametrize("folder", ["env", "models", "train", "eval"])
def test_annotations_are_offered_to_the_checkers_of_others(folder: str) -> None:
    assert (ROOT / folder / "py.typed").is_file()
    assert "py.typed" in PROJECT["tool"]["setuptools"]["package-data"]["*"]


@pytest.mark.parametrize("folder", FOLDERS)
def test_type_checkers_are_led_to_the_folder(folder: str) -> None:
    link = ROOT / ".typing" / "nardy" / folder

    assert link.is_symlink()
    assert link.resolve() == ROOT / folder


def test_no_link_in_the_repository_leads_out_of_it() -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("needs the repository")
    listed = subprocess.run(
        ["git", "-c", "safe.directory=*", "ls-files", "-s", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    links = [ROOT / line.partition("\t")[2] for line in listed.split("\0") if line.startswith("120000 ")]
    assert len(links) >= len(FOLDERS)
    for link in links:
        assert not link.readlink().is_absolute(), link
        assert link.resolve(strict=True).is_relative_to(ROOT.resolve()), link


def test_the_version_is_written_once() -> None:
    assigned = [
        path.relative_to(ROOT)
        for folder in FOLDERS
        for path in sorted((ROOT / folder).rglob("*.py"))
        if "__version__ = " in path.read_text(encoding="utf-8")
    ]

    assert version("nardy") == PROJECT["project"]["version"]
    assert assigned == []


@pytest.mark.parametrize("command", sorted(PROJECT["project"]["scripts"]))
def test_every_command_has_something_to_call(command: str) -> None:
    module, _, function = PROJECT["project"]["scripts"][command].partition(":")

    assert callable(getattr(importlib.import_module(module), function))


@pytest.mark.parametrize("folder", package_folders(), ids=package_name)
def test_every_init_states_public_names_that_exist(folder: Path) -> None:
    body = ast.parse((folder / "__init__.py").read_text(encoding="utf-8")).body
    module = importlib.import_module(package_name(folder))

    names = getattr(module, "__all__", None)

    if names is None:
        assert len(body) <= 1, f"{folder.name}: code but no __all__"
    else:
        assert len(set(names)) == len(names)
        assert [name for name in names if not hasattr(module, name)] == []


def test_known_versions_pin_torch_for_any_build() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()

    pins = [line for line in lines if line and not line.startswith("#")]

    assert all("==" in pin for pin in pins)
    assert [pin for pin in pins if pin.startswith("torch==") and "+" not in pin]
