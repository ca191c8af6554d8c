"""Every kernel compiles for CUDA, on machines without a GPU too: Warp brings the compiler with it."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest
import warp as wp

from nardy.env.kernels import __file__ as kernels_file

ROOT = Path(kernels_file).parents[2]
FOLDERS = ("env", "models", "train", "eval", "configs", "scripts")
ARCH = 90  # Hopper; what compiles for it uses nothing that only a CPU has

KERNEL_FILES = sorted(
    file for folder in FOLDERS for file in (ROOT / folder).rglob("kernels/*.py") if file.name != "__init__.py"
)
KERNEL_MODULES = [".".join(("nardy", *file.relative_to(ROOT).with_suffix("").parts)) for file in KERNEL_FILES]
DEFINITION = re.compile(r"^@(?:wp|warp)\.(kernel|func|func_native)\b.*?^def (\w+)", re.MULTILINE | re.DOTALL)


def defined(file: Path, what: str) -> set[str]:
    """Names of the kernels or functions that a source file defines."""
    return {name for kind, name in DEFINITION.findall(file.read_text(encoding="utf-8")) if kind == what}


@pytest.mark.parametrize(("module", "file"), list(zip(KERNEL_MODULES, KERNEL_FILES, strict=True)), ids=KERNEL_MODULES)
def test_a_kernel_module_compiles_for_cuda(module: str, file: Path, tmp_path: Path) -> None:
    kernels = defined(file, "kernel")
    if not kernels:  # functions alone: they are compiled with the kernels that call them
        assert defined(file, "func"), f"{file} defines neither a kernel nor a function"
        return

    made = wp.compile_aot_module(import_module(module), arch=ARCH, module_dir=tmp_path)

    assert [path.suffix for path in made] == [".cubin"]
    assert made[0].stat().st_size > 0
    (source,) = tmp_path.glob("*.cu")
    entries = set(re.findall(r"void (\w+)_cuda_kernel_forward\(", source.read_text(encoding="utf-8")))
    missing = {kernel for kernel in kernels if not any(entry.startswith(kernel) for entry in entries)}
    assert not missing, f"{module}: {missing} not among the compiled {entries}"


def test_no_kernel_is_left_out() -> None:
    files = [file for folder in FOLDERS for file in (ROOT / folder).rglob("*.py")]
    with_kernels = {file for file in files if DEFINITION.search(file.read_text(encoding="utf-8"))}

    assert with_kernels <= set(KERNEL_FILES), "kernels outside the folders named kernels are not compiled here"
    assert KERNEL_FILES, "no kernels found"
    importing = {file for file in KERNEL_FILES if "import warp" in file.read_text(encoding="utf-8")}
    assert importing <= with_kernels, "a module that this test does not know how to read"
