"""Stands in for ``package_worker.py``: twice the first number of a row, but it dies at 13, hangs at 14, and more."""

from __future__ import annotations

import struct
import sys
import time
from array import array

while header := sys.stdin.buffer.read(12):
    _, num_rows, width = struct.unpack("<III", header)
    numbers = array("i", sys.stdin.buffer.read(4 * num_rows * width))
    first = numbers[::width]
    if 13 in first:
        sys.exit("thirteen")
    if 14 in first:
        time.sleep(600)
    answers = array("f", [float("nan") if number == 15 else 2.0 * number for number in first])
    sys.stdout.buffer.write(answers.tobytes())
    sys.stdout.buffer.flush()
