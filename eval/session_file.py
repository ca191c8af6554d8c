"""The file of a session: a line of settings, then a line of JSON for every part, written as it comes.

Whatever ends a session, the same command goes on with its file: whole lines count, a last one cut short is dropped and
its part played again. Deals are numbered and a part's results depend on the settings alone, so the outcome is that of
an uninterrupted session (with the same number of threads on the same machine, since rounding may differ elsewhere).
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any

import torch

from ..env import GameOptions
from ..models import Evaluator
from .arena import Record
from .bots import Bot, ModelBot
from .luck import Luck
from .pairs import ConsultingPair
from .recording import match_from_json
from .session import SessionOptions

__all__ = ["SessionFile", "SessionFileError", "session_settings", "weights_digest"]

_KIND = {"nardy": "session of deals", "version": 1}


class SessionFileError(ValueError):
    """A file that is no session, or another one; the message says what was found and what was wanted."""


class SessionFile:
    """The parts of one session in a file, which is this process's alone while it is open; a `Keeper`."""

    def __init__(self, path: Path, settings: Mapping[str, Any]) -> None:
        """Open or begin the file ``path``; `SessionFileError` if it holds something else than ``settings``, as JSON."""
        self._path = path
        self._settings = json.loads(json.dumps({**_KIND, **settings}))
        self._file = open(path, "a+b")  # noqa: SIM115  # closed by `close`
        try:
            self._lock()
            self._parts = self._read()
        except BaseException:
            self._file.close()
            raise

    def parts(self) -> list[Record]:
        """Those kept so far."""
        return list(self._parts)

    def keep(self, part: Record) -> None:
        """Append one more and wait until it is on the disk."""
        self._append(_to_json(part))
        self._parts.append(part)

    def close(self) -> None:
        """Let others have the file."""
        self._file.close()

    def __enter__(self) -> SessionFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _lock(self) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise SessionFileError(f"{self._path}: found another process at work on it, wanted it alone") from None

    def _append(self, values: Mapping[str, Any]) -> None:
        self._file.write(json.dumps(values, allow_nan=False, separators=(",", ":")).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def _read(self) -> list[Record]:
        """The parts; what a killed process left of a line is cut off."""
        self._file.seek(0)
        text = self._file.read()
        whole = text[: text.rfind(b"\n") + 1]
        if not whole and text and not b'{"nardy":'.startswith(text[:9]):
            raise SessionFileError(f"{self._path}: found no session of games, wanted one, or no file")
        if whole != text:
            self._file.truncate(len(whole))
        lines = whole.splitlines()
        if not lines:
            self._append(self._settings)
            return []
        self._check(self._value(lines[0], 1))
        return [self._part(line, number) for number, line in enumerate(lines[1:], start=2)]

    def _value(self, line: bytes, number: int) -> Any:
        try:
            return json.loads(line)
        except ValueError:
            raise SessionFileError(f"{self._path}: line {number}: found no JSON, wanted a session of games") from None

    def _check(self, found: Any) -> None:
        if not isinstance(found, dict) or any(found.get(key) != value for key, value in _KIND.items()):
            raise SessionFileError(f"{self._path}: found no session of games, wanted one, or no file")
        for key, here, there in _differences(self._settings, found):
            raise SessionFileError(
                f"{self._path}: {key}: found {there!r} in the file, wanted {here!r} as asked for: another session; "
                "go on with its own settings, or choose another file"
            )

    def _part(self, line: bytes, number: int) -> Record:
        try:
            return _from_json(self._value(line, number))
        except (KeyError, TypeError, RuntimeError):
            raise SessionFileError(f"{self._path}: line {number}: found no part of a session, wanted one") from None


def _differences(wanted: Mapping[str, Any], found: Mapping[str, Any], prefix: str = "") -> list[tuple[str, Any, Any]]:
    """``(key, wanted, found)`` of all values that differ, nested keys with dots."""
    differences: list[tuple[str, Any, Any]] = []
    for key in [*wanted, *(key for key in found if key not in wanted)]:
        here, there = wanted.get(key), found.get(key)
        if isinstance(here, dict) and isinstance(there, dict):
            differences += _differences(here, there, f"{prefix}{key}.")
        elif here != there:
            differences.append((f"{prefix}{key}", here, there))
    return differences


def _to_json(part: Record) -> dict[str, Any]:
    tensors = {name: getattr(part, name).tolist() for name in ("points", "seats", "games")}
    luck = None if part.luck is None else part.luck.tolist()
    matches = [asdict(match) for match in part.matches]
    return {**tensors, "luck": luck, "events": part.events, "seconds": part.seconds, "matches": matches}


def _from_json(values: Mapping[str, Any]) -> Record:
    points, seats, games = (torch.tensor(values[name], dtype=torch.int64) for name in ("points", "seats", "games"))
    luck, events = values["luck"], values["events"]
    return Record(
        points,
        seats,
        games,
        values["seconds"],
        None if luck is None else torch.tensor(luck, dtype=torch.float64),
        None if events is None else {kind: (own, other) for kind, (own, other) in events.items()},
        tuple(match_from_json(match) for match in values["matches"]),
    )


def session_settings(
    bot: Bot, opponent: Bot, options: GameOptions, seed: int, batch: int, session: SessionOptions, luck: Luck | None
) -> dict[str, Any]:
    """What makes a session the same session; how many games it has, and when it ends, may change."""
    return {
        "bot": bot.name,
        "bot_weights": weights_digest(bot),
        "opponent": opponent.name,
        "opponent_weights": weights_digest(opponent),
        "env": asdict(options),
        "seed": seed,
        "batch": batch,
        "part_deals": session.part_deals,
        "recorded_deals": session.recorded_deals,
        "luck": None if luck is None else luck.name,
        "luck_weights": None if luck is None else _digest(luck.judge),
    }


def weights_digest(bot: Bot) -> str | None:
    """A short text that changes when the weights a bot plays by do; None for bots without weights of ours."""
    if isinstance(bot, ModelBot):
        return _digest(bot.evaluator)
    if isinstance(bot, ConsultingPair):
        return _digest(*bot.judges)
    return None


def _digest(*judges: object) -> str | None:
    digest = hashlib.sha256()
    for judge in judges:
        if not isinstance(judge, Evaluator):
            return None
        for name, value in sorted(judge.network.state_dict().items()):
            digest.update(name.encode() + value.cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()[:16]
