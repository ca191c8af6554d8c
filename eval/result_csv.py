"""Results as comma-separated values: a line a session, the nested keys of its JSON with dots."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .results import ArenaResult

__all__ = ["csv_text"]


def csv_text(results: Sequence[ArenaResult]) -> str:
    """A line of headings and a line for each of ``results``; what a session does not have stays empty."""
    rows = [dict(_flat(result.to_dict())) for result in results]
    headings = list(dict.fromkeys(key for row in rows for key in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, headings, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _flat(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        elif isinstance(value, (list, tuple)):
            yield from ((f"{prefix}{key}.{place}", entry) for place, entry in zip(("own", "other"), value, strict=True))
        else:
            yield f"{prefix}{key}", value
