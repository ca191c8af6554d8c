"""A child process that is talked to through its standard input and output, every wait and every read bounded.

Nothing goes through a shell. What the child writes to standard error is read too, so that it never blocks on it, and
its last line is quoted where the child fails. One child belongs to one thread at a time.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
import weakref
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from .failure import EngineError

__all__ = ["MAX_LINE", "Child"]

MAX_LINE = 4096
_MAX_TAIL = 2000
_GRACE = 1.0  # seconds from closing a child's input to killing it
_BLOCK = 1 << 16
_MAX_BUFFER = 1 << 24


class Child:
    """A running program.

    Attributes:
        command: program and arguments.
    """

    def __init__(
        self, command: Sequence[str], folder: Path | None = None, environment: Mapping[str, str] | None = None
    ) -> None:
        """Start it, in ``folder`` and with ``environment`` if they are given; `EngineError` if that fails."""
        self.command = list(command)
        pipe = subprocess.PIPE
        try:
            # A session of its own: Ctrl-C reaches us alone, and the children of a wrapper script end with it.
            self._process = subprocess.Popen(  # noqa: S603  # the command is the user's own, no shell reads it
                self.command,
                stdin=pipe,
                stdout=pipe,
                stderr=pipe,
                bufsize=0,
                start_new_session=True,
                cwd=folder,
                env=environment,
            )
        except OSError as error:
            raise EngineError(f"cannot start {self.command[0]}: {error.strerror or error}") from None
        process = self._process
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        self._in, self._out, self._err = (stream.fileno() for stream in (process.stdin, process.stdout, process.stderr))
        self._selector = selectors.DefaultSelector()
        for descriptor in (self._in, self._out, self._err):
            os.set_blocking(descriptor, False)
        for descriptor in (self._out, self._err):
            self._selector.register(descriptor, selectors.EVENT_READ)
        self._buffer = bytearray()
        self._tail = bytearray()
        self.close = weakref.finalize(self, _end, process, self._selector)

    def send(self, data: bytes, deadline: float) -> None:
        """Write all of ``data``; `EngineError` if the child has not taken it at ``deadline`` (`time.monotonic`)."""
        self._selector.register(self._in, selectors.EVENT_WRITE)
        rest = memoryview(data)
        try:
            while rest:
                self._wait(deadline)
                try:
                    rest = rest[os.write(self._in, rest) :]
                except BlockingIOError:
                    continue
                except OSError:
                    self._ended(deadline)
        finally:
            self._selector.unregister(self._in)

    def read_line(self, deadline: float) -> str:
        """The next line without its end; `EngineError` if there is none in time, or it is too long."""
        while (end := self._buffer.find(b"\n", 0, MAX_LINE + 1)) < 0:
            if len(self._buffer) > MAX_LINE:
                raise EngineError(f"found a line of more than {MAX_LINE} characters")
            self._fill(deadline)
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        return line.decode("utf-8", "replace").strip("\r\n\0 \t")

    def read_exactly(self, num_bytes: int, deadline: float) -> bytes:
        """So many bytes; `EngineError` if they have not come in time."""
        while len(self._buffer) < num_bytes:
            self._fill(deadline)
        data = bytes(self._buffer[:num_bytes])
        del self._buffer[:num_bytes]
        return data

    def discard(self) -> None:
        """Forget what it has written unasked."""
        while ready := [key.fd for key, _ in self._selector.select(0)]:
            if self._out in ready and not self._read(self._out, self._buffer):
                break  # ended, as the next question will show
            if self._err in ready:
                self._read(self._err, self._tail)
        self._buffer.clear()

    def _fill(self, deadline: float) -> None:
        """Read what is there of standard output, waiting for it."""
        size = len(self._buffer)
        while len(self._buffer) == size:
            self._wait(deadline)

    def _wait(self, deadline: float) -> None:
        """Wait until the child can be written to (while that is registered) or has written something."""
        left = deadline - time.monotonic()
        if left <= 0 or not (ready := self._selector.select(left)):  # also while it goes on and on
            raise EngineError("no answer within the time limit")
        for key, _ in ready:
            if key.fd == self._err:
                self._read(self._err, self._tail)
            elif key.fd == self._out and not self._read(self._out, self._buffer):
                self._ended(deadline)

    def _read(self, descriptor: int, into: bytearray) -> bool:
        """Append what can be read now; False at the end of the stream."""
        try:
            data = os.read(descriptor, _BLOCK)
        except BlockingIOError:
            return True
        into += data
        if into is self._tail:
            del into[:-_MAX_TAIL]
        if len(into) > _MAX_BUFFER:
            raise EngineError("found more output than was asked for")
        if not data and descriptor == self._err:
            self._selector.unregister(descriptor)
        return bool(data)

    def _ended(self, deadline: float) -> None:
        """The child has closed its output or does not read any more: say how it ended."""
        try:
            code = self._process.wait(max(0.0, min(_GRACE, deadline - time.monotonic())))
        except subprocess.TimeoutExpired:
            raise EngineError("closed its standard output") from None
        while self._err in self._selector.get_map():  # what it said at last
            if not self._selector.select(0) or not self._read(self._err, self._tail):
                break
        words = self._tail.decode("utf-8", "replace").strip().splitlines()
        status = f"was ended by signal {-code}" if code < 0 else f"exited with status {code}"
        raise EngineError(status + (f": {words[-1].strip()[:200]}" if words else ""))


def _end(process: subprocess.Popen[bytes], selector: selectors.BaseSelector) -> None:
    """Close the child's input, and kill what has not ended soon after."""
    selector.close()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            stream.close()
    with suppress(subprocess.TimeoutExpired):
        process.wait(_GRACE)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)  # the group outlives its leader where that has left children
    process.wait()
