"""Match equity tables in the XML files of GNU Backgammon (its ``met.dtd``): read, refused with a reason, written.

Only explicit tables are read. A file whose table is a formula (``mec``, ``zadeh``), or whose two players differ in
strength, is refused by name.

A file is input from outside: its size is bounded, a document type with declarations inside it is refused, so no entity
can be declared and none is expanded, and an external one is neither asked for nor fetched. The standard library's expat
parser does that with two handlers, so no further package is needed.
"""

from __future__ import annotations

import re
from pathlib import Path
from xml.parsers import expat
from xml.sax.saxutils import escape

import torch

from .bundle import write_file
from .match_equity import MatchEquityError, MatchEquityTable

__all__ = ["match_equity_text", "parse_match_equity", "read_match_equity", "write_match_equity"]

MAX_FILE_BYTES = 1 << 20
MAX_LENGTH = 64  # the longest match of GNU Backgammon

_PRE, _POST = "pre-crawford-table", "post-crawford-table"
_CHILDREN = {
    "": ("met",),
    "met": ("info", _PRE, _POST),
    "info": ("name", "description", "length"),
    _PRE: ("row",),
    _POST: ("row",),
    "row": ("me",),
}
_LEAVES = ("name", "description", "length", "me")
_NUMBER = re.compile(r"(?:[0-9]{1,20}(?:\.[0-9]{0,40})?|\.[0-9]{1,40})(?:[eE][-+]?[0-9]{1,3})?", re.ASCII)
_NOT_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE met PUBLIC "-//GNU Backgammon//DTD Match Equity Tables//EN" "met.dtd">
"""

Rows = list[list[float]]


def read_match_equity(path: str | Path) -> MatchEquityTable:
    """The table in a file of GNU Backgammon's format; `MatchEquityError` names the file and what is wrong with it."""
    shown = str(path)[:200]
    try:
        with open(path, "rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except (OSError, ValueError) as error:  # ValueError: a null character in the name
        raise MatchEquityError(f"{shown!r} cannot be opened: {getattr(error, 'strerror', error)}") from None
    return parse_match_equity(data, shown)


def write_match_equity(path: str | Path, table: MatchEquityTable, description: str = "") -> None:
    """Write a table as a file that GNU Backgammon loads with ``set matchequitytable``, whole or not at all."""
    write_file(Path(path), match_equity_text(table, description).encode())


def match_equity_text(table: MatchEquityTable, description: str = "") -> str:
    """The table as the text of such a file, with the digits that give the same float32 numbers back.

    `MatchEquityError` if it is longer than the format's 64 points, or a text holds what XML cannot.
    """
    if table.size > MAX_LENGTH:
        raise MatchEquityError(f"match equity file: found {table.size} points, wanted at most {MAX_LENGTH}")
    for what, text in (("name", table.name), ("description", description)):
        if found := _NOT_XML.search(text):
            raise MatchEquityError(f"match equity file: {what}: found {found[0]!a}, wanted characters that XML allows")
    info = f"{_element('name', table.name)}{_element('description', description)}{_element('length', str(table.size))}"
    pre = "".join(_row_text(row) for row in table.before.tolist())
    post = _row_text(table.after.tolist())
    return (
        f"{_HEAD}<met>\n<info>\n{info}</info>\n"
        f'<{_PRE} type="explicit">\n{pre}</{_PRE}>\n'
        f'<{_POST} type="explicit" player="both">\n{post}</{_POST}>\n</met>\n'
    )


def parse_match_equity(data: bytes, source: str = "match equity file") -> MatchEquityTable:
    """The table in the bytes of such a file; `MatchEquityError` and nothing else for any other bytes.

    ``source`` is what messages call the file.

    A post-Crawford row may leave its last entry out, as two of GNU Backgammon's own files do: no match of that length
    reaches it. It is then continued as the program does, by a game at 2 of which a quarter of the wins are gammons.
    """
    contents = _Contents()
    try:
        if len(data) > MAX_FILE_BYTES:
            raise MatchEquityError(f"found more than {MAX_FILE_BYTES} bytes, wanted at most that")
        contents.parse(data)
        return contents.table()
    except MatchEquityError as error:
        raise MatchEquityError(f"{source}: {error}") from None


class _Contents:
    """What the parser has met so far. Its methods are the parser's handlers; each refuses what the format lacks."""

    def __init__(self) -> None:
        self._open = [""]
        self._leaf: list[str] = []
        self._info: dict[str, str] = {}
        self._tables: dict[str, Rows] = {}  # by element, for post-Crawford tables with the player's name
        self._rows: Rows = []

    def parse(self, data: bytes) -> None:
        """Read the whole file."""
        parser = expat.ParserCreate()
        parser.StartDoctypeDeclHandler = self._doctype
        parser.SkippedEntityHandler = self._entity
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text
        try:
            parser.Parse(data, True)
        except MatchEquityError as error:
            raise MatchEquityError(f"line {parser.CurrentLineNumber}: {error}") from None
        except (expat.ExpatError, LookupError, ValueError) as error:  # the latter two: encodings Python does not know
            raise MatchEquityError(f"found no XML ({error}), wanted a match equity table") from None

    def table(self) -> MatchEquityTable:
        """The table once the whole file has been read."""
        length = _length(self._info.get("length", ""))
        pre = self._tables.get(_PRE, [])
        _check_rows(_PRE, pre, length, (length,) * length)
        post = self._post_crawford(length)
        name = self._info.get("name", "")
        return MatchEquityTable.checked(torch.tensor(pre), torch.tensor(post), name)

    def _post_crawford(self, length: int) -> list[float]:
        players = sorted(name.removeprefix(_POST) for name in self._tables if name != _PRE)
        if players not in (["both"], ["0", "1"]):
            raise MatchEquityError(
                f"found {_POST} for players {players}, wanted one for both or one for 0 and one for 1"
            )
        tables = [self._tables[_POST + player] for player in players]
        for rows in tables:
            _check_rows(_POST, rows, length, (length,) if length < 5 else (length - 1,))
        if any(rows != tables[0] for rows in tables):
            raise MatchEquityError(f"found two different {_POST}s, wanted a table of two players of equal strength")
        post = tables[0][0][:length]
        if len(post) < length:
            post = [*post, 0.5 * (0.75 * post[-2] + 0.25 * post[-4])]
        return post

    def _doctype(self, _name: str, _system: str | None, _public: str | None, has_declarations: int) -> None:
        if has_declarations:
            raise MatchEquityError("found a document type with declarations of its own, wanted none")

    def _entity(self, name: str, _is_parameter: int) -> None:
        raise MatchEquityError(f"found the entity {name[:40]!r}, wanted none but those of XML itself")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        parent = self._open[-1]
        wanted = _CHILDREN.get(parent, ())
        if name not in wanted:
            raise MatchEquityError(
                f"found <{name[:40]}> in <{parent or 'the file'}>, wanted {' or '.join(wanted) or 'text'}"
            )
        if name in (_PRE, _POST):
            self._start_table(name, attributes)
        elif name == "row":
            self._rows.append([])
        self._open.append(name)
        self._leaf = []

    def _start_table(self, name: str, attributes: dict[str, str]) -> None:
        kind = attributes.get("type")
        if kind != "explicit":
            raise MatchEquityError(
                f"{name}: found type {kind!a:.60}, wanted 'explicit': tables that are formulas are not computed here"
            )
        player = attributes.get("player", "") if name == _POST else ""
        if name == _POST and player not in ("both", "0", "1"):
            raise MatchEquityError(f"{name}: found player {player[:40]!a}, wanted both, 0 or 1")
        if name + player in self._tables:
            raise MatchEquityError(f"found a second {name}, wanted one")
        self._tables[name + player] = self._rows = []

    def _end(self, name: str) -> None:
        self._open.pop()
        text = " ".join("".join(self._leaf).split())
        if name == "me":
            self._rows[-1].append(_chance(text))
        elif name in _LEAVES:
            if name in self._info:
                raise MatchEquityError(f"found a second <{name}>, wanted one")
            self._info[name] = text
        self._leaf = []

    def _text(self, data: str) -> None:
        if self._open[-1] in _LEAVES:
            self._leaf.append(data)
        elif data.strip():
            raise MatchEquityError(f"found {data.strip()[:40]!a} in <{self._open[-1]}>, wanted no text there")


def _length(text: str) -> int:
    if not re.fullmatch("[0-9]{1,3}", text) or not 1 <= int(text) <= MAX_LENGTH:
        raise MatchEquityError(f"length: found {text[:40]!a}, wanted 1 to {MAX_LENGTH}")
    return int(text)


def _chance(text: str) -> float:
    if not _NUMBER.fullmatch(text) or not 0 <= float(text) <= 1:
        raise MatchEquityError(f"me: found {text[:40]!a}, wanted a chance from 0 to 1")
    return float(text)


def _check_rows(name: str, rows: Rows, length: int, least: tuple[int, ...]) -> None:
    """As many rows as ``least`` has numbers, each from that many entries up to ``length``."""
    if len(rows) != len(least):
        raise MatchEquityError(f"{name}: found {len(rows)} rows, wanted {len(least)}")
    for number, (row, entries) in enumerate(zip(rows, least, strict=True), 1):
        if not entries <= len(row) <= length:
            raise MatchEquityError(f"{name}: row {number}: found {len(row)} entries, wanted {length}")


def _element(name: str, text: str) -> str:
    return f"<{name}>{escape(text)}</{name}>\n"


def _row_text(row: list[float]) -> str:
    return f"<row>\n{''.join(_element('me', f'{chance:.9g}') for chance in row)}</row>\n"
