"""Imports point one way: scripts → train | eval → models → env. The sources are read, never imported."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

# What each folder may import from. Whatever is not named here is an edge too many.
MAY_IMPORT: dict[str, frozenset[str]] = {
    "env": frozenset(),
    "models": frozenset({"env"}),
    "train": frozenset({"env", "models"}),
    "eval": frozenset({"env", "models"}),
    "scripts": frozenset({"env", "models", "train", "eval"}),
}
# What each folder must do without: `env` knows no networks and keeps no log, `models` no optimisers.
MUST_NOT_USE: dict[str, frozenset[str]] = {
    "env": frozenset({"torch.nn", "torch.optim", "torch.utils.tensorboard", "tensorboard", "logging"}),
    "models": frozenset({"torch.optim", "torch.utils.tensorboard", "tensorboard"}),
}


@dataclass(frozen=True)
class Import:
    """One imported name: ``target`` is absolute, `nardy.env.board.flip` for `from ..env.board import flip`."""

    line: int
    target: str
    relative: bool

    @property
    def folder(self) -> str | None:
        """The folder of this repository that the import reaches, if any."""
        parts = self.target.split(".")
        return parts[1] if parts[0] == "nardy" and len(parts) > 1 else None


def list_imports(tree: ast.Module, package: tuple[str, ...]) -> Iterator[Import]:
    """Every name that a module of ``package`` imports, wherever in the module it does so."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(node.lineno, alias.name, relative=False)
        elif isinstance(node, ast.ImportFrom):
            base = package[: max(0, len(package) - node.level + 1)] if node.level else ()
            module = (*base, *([node.module] if node.module else []))
            for alias in node.names:
                yield Import(node.lineno, ".".join((*module, alias.name)), relative=node.level > 0)


def list_uses(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Every dotted name that a module mentions outside its import statements, such as `torch.nn`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            yield node.lineno, ast.unparse(node)


def _is_within(name: str, modules: frozenset[str]) -> bool:
    return any(name == module or name.startswith(module + ".") for module in modules)


def _wrong_edge(folder: str, found: Import) -> str | None:
    if not found.relative and found.target.split(".")[0] in {*MAY_IMPORT, "configs"}:
        return f"{found.target} is named nardy.{found.target}"
    if folder == "tests":  # they may import everything, and help each other as they like
        return None
    if found.relative and found.folder is None:
        return f"{found.target} lies outside nardy"
    if found.folder not in {None, folder, *MAY_IMPORT[folder]}:
        return f"{folder} must not import from {found.folder}"
    if found.folder is not None and found.relative == (folder == "scripts"):
        return f"an import of {found.target} must be {'absolute' if folder == 'scripts' else 'relative'} here"
    return None


def list_violations(root: Path) -> list[str]:
    """Read every module under ``root`` and say, as `file:line: reason`, what breaks the order of the folders."""
    violations = []
    for folder in (*MAY_IMPORT, "tests"):
        for path in sorted((root / folder).rglob("*.py")):
            tree = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
            package = ("nardy", *path.relative_to(root).parent.parts)
            reasons: set[tuple[int, str]] = set()
            forbidden = MUST_NOT_USE.get(folder, frozenset())
            for found in list_imports(tree, package):
                reason = _wrong_edge(folder, found)
                if reason is not None:
                    reasons.add((found.line, reason))
                if _is_within(found.target, forbidden):
                    reasons.add((found.line, f"{folder} must not use {found.target}"))
            for line, name in list_uses(tree):
                if name in forbidden:
                    reasons.add((line, f"{folder} must not use {name}"))
            violations += [f"{path.relative_to(root)}:{line}: {reason}" for line, reason in sorted(reasons)]
    return violations


def write_tree(root: Path, sources: dict[str, str]) -> None:
    for name, source in sources.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source, encoding="utf-8")


def test_imports_point_one_way() -> None:
    violations = list_violations(ROOT)

    assert not violations, "\n" + "\n".join(violations)


def test_the_walker_sees_this_repository() -> None:
    path = ROOT / "env" / "board.py"

    found = list(list_imports(ast.parse(path.read_text(encoding="utf-8")), ("nardy", "env")))

    assert any(each.target == "nardy.env.variants.get_variant" and each.relative for each in found)


def test_a_tree_in_order_has_no_violations(tmp_path: Path) -> None:
    write_tree(
        tmp_path,
        {
            "env/__init__.py": "from .board import flip\n",
            "env/board.py": "import torch\nfrom torch import Tensor\nfrom .kernels.plays import list_plays\n",
            "env/kernels/plays.py": "import warp as wp\nfrom ..variants import Variant\n",
            "models/network.py": "import torch.nn as nn\nfrom ..env import flip\n",
            "train/learner.py": "import logging\nfrom torch import optim\nfrom ..models import Network\n",
            "eval/play/terminal.py": "from ... import env\nfrom ..arena import play_match\n",
            "scripts/train.py": "from nardy.eval.arena import play_match\nfrom nardy.train import learner\n",
            "tests/env/test_board.py": "import nardy.env\nfrom .positions import read\n",
        },
    )

    assert list_violations(tmp_path) == []


@pytest.mark.parametrize(
    ("name", "source", "reason"),
    [
        ("env/board.py", "from ..models import Evaluator", "env must not import from models"),
        ("env/kernels/plays.py", "from ...train.learner import step", "env must not import from train"),
        ("models/network.py", "from .. import train", "models must not import from train"),
        ("models/network.py", "def f():\n    from ..eval.arena import play", "models must not import from eval"),
        ("train/learner.py", "from ..eval.arena import play", "train must not import from eval"),
        ("eval/arena.py", "if TYPE_CHECKING:\n    from ..train import Trainer", "eval must not import from train"),
        ("eval/arena.py", "from ..scripts.train import main", "eval must not import from scripts"),
        ("env/board.py", "import nardy.models", "env must not import from models"),
        ("train/learner.py", "from .. import *", "train must not import from *"),
        ("models/network.py", "from nardy.env import flip", "must be relative here"),
        ("scripts/train.py", "from ..env import flip", "must be absolute here"),
        ("train/learner.py", "from ... import env", "env lies outside nardy"),
        ("scripts/train.py", "from env.board import flip", "is named nardy.env.board.flip"),
        ("tests/test_board.py", "import env", "is named nardy.env"),
        ("env/batch.py", "import torch.nn.functional as F", "env must not use torch.nn.functional"),
        ("env/batch.py", "from torch import nn", "env must not use torch.nn"),
        ("env/batch.py", "import torch\ntorch.nn.functional.pad(x)", "env must not use torch.nn"),
        ("env/batch.py", "from logging import getLogger", "env must not use logging"),
        ("env/batch.py", "from torch.utils.tensorboard import SummaryWriter", "env must not use torch.utils"),
        ("models/network.py", "from torch import optim", "models must not use torch.optim"),
    ],
)
def test_an_edge_too_many_is_named_with_its_file(tmp_path: Path, name: str, source: str, reason: str) -> None:
    write_tree(tmp_path, {name: source + "\n"})

    violations = list_violations(tmp_path)

    assert len(violations) == 1, violations
    assert violations[0].startswith(f"{name}:")
    assert reason in violations[0]
