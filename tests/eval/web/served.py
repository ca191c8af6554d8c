"""The web server as a user starts it, on a free port, as long as a test needs it."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

START = 90  # seconds


@dataclass(frozen=True)
class Server:
    """Where it listens, and its process."""

    port: int
    process: subprocess.Popen[str]

    @property
    def resident(self) -> int:
        """Kilobytes of memory in use; Linux only."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        found = re.search(r"VmRSS:\s+(\d+) kB", status)
        assert found is not None
        return int(found[1])


@contextmanager
def web_server(*words: str) -> Iterator[Server]:
    """``play.py web`` with more ``words``; it must end by Ctrl-C with a word of farewell and nothing on stderr.

    Skips where the web server's packages are missing.
    """
    for package in ("starlette", "uvicorn"):
        pytest.importorskip(package, reason=f"no {package}: pip install nardy[web]")
    command = [sys.executable, "-m", "nardy.scripts.play", "web", "port=0", "open=false", *words]
    process = subprocess.Popen(  # our own interpreter
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None and process.stderr is not None
    try:
        line = process.stdout.readline()
        found = re.search(r"http://[^/]*:(\d+)/", line)
        assert found is not None, f"{line!r}, {process.stderr.read()}"
        yield Server(int(found[1]), process)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=START)
        assert (process.returncode, out, err) == (0, "Stopped.\n", ""), (process.returncode, out, err)
    finally:
        process.kill()
        process.wait()
