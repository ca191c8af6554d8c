"""Games kept in files: saved ones, which can be gone on with, and match text for other programs.

A file is written whole or not at all. Every error is a ``ValueError`` of one line that names the file.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ...env.notation import MatchRecord, NotationError, match_text, read_saved_game, saved_game_text
from ...env.notation.saved import MAX_TEXT
from ...models.bundle import write_file

__all__ = ["read_game", "write_game", "write_match"]


def write_game(name: str, match: MatchRecord, replace: bool = False) -> Path:
    """Save ``match`` and return where; a file that exists is refused unless it is to be ``replace``d."""
    return _write(name, (".json",), saved_game_text(match), replace)


def write_match(name: str, match: MatchRecord, replace: bool = False) -> Path:
    """Write ``match`` as match text; see `write_game`. `NotationError` for what the layout cannot say."""
    return _write(name, (".mat", ".txt"), match_text(match), replace)


def read_game(name: str) -> MatchRecord:
    """The saved game in a file, of which no more is read than the format allows."""
    path = _path(name, (".json",))
    with _naming(path):
        if not path.is_file():
            what = "something that is no file" if path.exists() else "no such file"
            raise NotationError(f"found {what}, wanted a saved game")
        with path.open(encoding="utf-8") as file:
            text = file.read(MAX_TEXT + 1)
        if len(text) > MAX_TEXT:
            raise NotationError(f"found more than {MAX_TEXT} characters, wanted a saved game")
        return read_saved_game(text)


def _path(name: str, endings: tuple[str, ...]) -> Path:
    """The path that a person has typed, the first of ``endings`` added to a name without any."""
    if not name or not name.isprintable():
        raise NotationError(f"file: found {name!r}, wanted a name in {endings[0]}")
    path = Path(os.path.expanduser(name))  # Path.expanduser fails for unknown users
    if not path.suffix and path.name.strip("."):
        path = path.with_name(f"{path.name}{endings[0]}")
    if path.suffix.lower() not in endings:
        raise NotationError(f"file: found {name!r}, wanted a name in {' or '.join(endings)}")
    return path


def _write(name: str, endings: tuple[str, ...], text: str, replace: bool) -> Path:
    path = _path(name, endings)
    with _naming(path):
        if path.exists() and not path.is_file():
            raise NotationError("found something that is no file, wanted a new name")
        if path.exists() and not replace:
            raise NotationError("found a file of that name, wanted a new one (save! and mat! replace it)")
        if not path.parent.is_dir():
            raise NotationError("found no such folder, wanted one that exists")
        write_file(path, text.encode())
    return path


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Put the path before whatever goes wrong."""
    try:
        yield
    except UnicodeDecodeError:
        raise NotationError(f"{path}: found bytes that are no UTF-8, wanted a saved game") from None
    except NotationError as error:
        raise NotationError(f"{path}: {error}") from None
    except OSError as error:
        raise NotationError(f"{path}: {error.strerror or error}") from None
