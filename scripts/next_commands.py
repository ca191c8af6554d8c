"""Commands to type next, written so that they start the same installation from the folder we are in."""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path

__all__ = ["command_line", "program"]


def program(name: str) -> str:
    """A program installed beside this Python: by name if the shell finds that one, else by its path."""
    path = Path(sys.executable).with_name(name)
    if shutil.which(name) == str(path):
        return name
    return shlex.quote(str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path))


def command_line(command: str, *words: str) -> str:
    """``scripts/<command>.py`` with ``words`` where this program was started as a script, else ``nardy-<command>``."""
    script = Path(sys.argv[0]).with_name(f"{command}.py")
    if script.is_file():
        start = f"{program(Path(sys.executable).name)} {shlex.quote(str(script))}"
    else:
        start = program(f"nardy-{command}")
    return " ".join([start, *(shlex.quote(word) for word in words)])
