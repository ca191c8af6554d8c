"""Reads match text (``.mat``) as GNU Backgammon and other programs write it; `mat` writes it.

Accepted besides the exact layout: CRLF, a byte order mark, blank lines or none, blanks cut off at line ends, hits not
marked, ``bar`` and ``off``, ``Cannot Move``, ``(2)``, several moves of a checker in one hop, any case, unknown comment
lines, words after the points won, and ``???`` for a roll resigned. Nothing else is passed over: rows are numbered
without a gap, every action must be its player's, every play legal, every score the sum of the games before.
"""

from __future__ import annotations

import re

import torch

from .errors import NotationError, naming, read_integer, shown
from .hops import apply_hops, one_die_each
from .mat import HYPERGAMMON, check_names
from .match_walk import check_length, check_score, crawford_game
from .moves import PASSES, Hop, covers, match_play, parse_moves, plays
from .record import CubeAction, GameRecord, MatchRecord, Resignation, Roll
from .state import MAX_CUBE, MAX_SCORE, Offer, writable_rules_of
from .walk import Walk

__all__ = ["read_match_text"]

MAX_TEXT = 4_000_000
MAX_LINE = 500
MAX_HEADERS = 100
MAX_POINTS = 3 * MAX_CUBE

_HEADER = re.compile(r'; ?\[([A-Za-z0-9]+) "([^"]*)"\]')
_LENGTH = re.compile(r" *([0-9]{1,6}) point match", re.IGNORECASE)
_GAME = re.compile(r" *Game ([0-9]{1,6})", re.IGNORECASE)
_NAMES = re.compile(r" *([^: ][^:]*?) : ([0-9]{1,6})  +([^: ][^:]*?) : ([0-9]{1,6})")
_ROW = re.compile(r" *([0-9]{1,6})\)(.*)")
_CELL = re.compile(r"(?<!\S)(?:[0-9]{2}:|(?:doubles|beavers|takes|drops|wins)\b)", re.IGNORECASE)
_TURN = re.compile(r"(?:doubles|beavers) => ([0-9]{1,6})")
_WINS = re.compile(r"wins ([0-9]{1,6}) points?(?: .*)?")
_RIGHT_HALF = 20  # a result that starts at this column or after is the right player's


def read_match_text(text: str, variant: str = "backgammon") -> MatchRecord:
    """The match of a ``.mat`` file's text, every action of it checked against the rules.

    `NotationError` names the line, what was found and what was wanted.
    """
    with naming("mat"):
        writable_rules_of(variant)
        if len(text) > MAX_TEXT:
            raise NotationError(f"found {len(text)} characters, wanted at most {MAX_TEXT}")
        reader = _Reader(variant)
        for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), start=1):
            with naming(f"line {number}"):
                reader.line(line.removesuffix("\r").rstrip(" "))
        return reader.match()


class _Reader:
    """What was read so far, line by line."""

    def __init__(self, variant: str) -> None:
        self.variant = variant
        self.headers: list[tuple[str, str]] = []
        self.length: int | None = None
        self.names: tuple[str, str] | None = None
        self.games: list[GameRecord] = []
        self.game: _GameReader | None = None
        self.number = 0  # of the last game line
        self.names_wanted = False

    def line(self, line: str) -> None:
        if len(line) > MAX_LINE:
            raise NotationError(f"found {len(line)} characters, wanted at most {MAX_LINE}")
        if not line:
            return
        if line.startswith(";"):
            self._comment(line)
        elif self.length is None:
            self._length(line)
        elif (match := _GAME.fullmatch(line)) is not None:
            self._finish()
            self._game(match[1])
        elif self.names_wanted:
            self._names(line)
        elif self.game is None:
            raise NotationError(f"found {shown(line)}, wanted a line such as 'Game 1'")
        else:
            self.game.line(line)

    def match(self) -> MatchRecord:
        if self.length is None or self.names is None or self.names_wanted:
            missing = "a line such as ' 7 point match'" if self.length is None else "a game with its line of names"
            raise NotationError(f"found the end of the text, wanted {missing}")
        self._finish()
        return MatchRecord(self.names, self.length, tuple(self.games), tuple(self.headers), self.variant)

    def _comment(self, line: str) -> None:
        match = _HEADER.fullmatch(line)
        if match is None or self.length is not None:
            return
        if len(self.headers) >= MAX_HEADERS:
            raise NotationError(f"found more than {MAX_HEADERS} headers")
        key, value = match.groups()
        if key == "Variation":
            wanted = HYPERGAMMON[1] if self.variant == "sprintgammon" else "Backgammon"
            if value.lower() != wanted.lower():
                raise NotationError(f"variation: found {shown(value)}, wanted {wanted} for {self.variant}")
            value = wanted
        self.headers.append((key, value.strip()))

    def _length(self, line: str) -> None:
        match = _LENGTH.fullmatch(line)
        if match is None:
            raise NotationError(f"found {shown(line)}, wanted a line such as ' 7 point match'")
        self.length = int(match[1])
        check_length(self.length)

    def _game(self, number: str) -> None:
        if self.names is not None and int(number) != self.number + 1:
            raise NotationError(f"found game {int(number)}, wanted game {self.number + 1}")
        self.number = int(number)
        self.names_wanted = True

    def _names(self, line: str) -> None:
        match = _NAMES.fullmatch(line)
        if match is None:
            raise NotationError(f"found {shown(line)}, wanted two names and scores such as ' A : 0      B : 0'")
        names = match[1].strip(), match[3].strip()
        if self.names is not None and names != self.names:
            raise NotationError(f"names: found {names}, wanted {self.names}")
        score = read_integer(match[2], "score", 0, MAX_SCORE), read_integer(match[4], "score", 0, MAX_SCORE)
        self.names = names
        self.names_wanted = False
        length = self.length or 0
        so_far = MatchRecord(names, length, (*self.games, GameRecord(score, (), None, 0)), (), self.variant)
        check_names(so_far)
        if self.games:
            check_score(self.games[-1], score, length)
        walk = Walk(length, score, crawford_game(so_far, len(self.games)), self.variant)
        self.game = _GameReader(walk, score, names)

    def _finish(self) -> None:
        """The game so far ends here."""
        if self.names_wanted:
            raise NotationError("found another game, wanted the line of names")
        if self.game is not None:
            with naming(f"game {self.number}"):
                self.games.append(self.game.record())
        self.game = None


class _GameReader:
    """One game, row by row."""

    def __init__(self, walk: Walk, score: tuple[int, int], names: tuple[str, str]) -> None:
        self.walk = walk
        self.score = score
        self.names = names
        self.actions: list[Roll | CubeAction | Resignation] = []
        self.rows = 0
        self.points: int | None = None

    def line(self, line: str) -> None:
        if self.points is not None:
            raise NotationError(f"found {shown(line)} after the result, wanted another game or the end")
        try:
            row = _ROW.fullmatch(line)
            if row is None:
                self._result(line)
            else:
                self._row(int(row[1]), row[2], offset=row.start(2))
        except NotationError:
            self.walk.check_plays()  # an illegal play before is the first fault
            raise

    def record(self) -> GameRecord:
        self.walk.check_plays()
        if self.walk.winner is not None and self.points is None:
            raise NotationError("found no result, wanted a line such as 'Wins 1 point'")
        return GameRecord(self.score, tuple(self.actions), self.walk.winner, self.points or 0)

    def _row(self, number: int, text: str, offset: int) -> None:
        if number != self.rows + 1:
            raise NotationError(f"found row {number}, wanted row {self.rows + 1}")
        self.rows = number
        starts = [match.start() for match in _CELL.finditer(text)]
        before = text[: starts[0]] if starts else text
        if before.strip(" ") or not starts:
            raise NotationError(f"found {shown(before.strip())}, wanted dice such as 31: or a cube action")
        player = int(starts[0] > 4)  # the left cell is empty
        for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
            cell = text[start:end].strip(" ")
            if cell.lower().startswith("wins"):
                self._wins(cell, column=offset + start)
            elif player > 1 or self.points is not None:
                raise NotationError(f"found {shown(cell)}, wanted two cells in a row at most")
            else:
                with naming(self.names[player]):
                    self._cell(cell, player)
                player += 1

    def _cell(self, cell: str, player: int) -> None:
        lower = cell.lower()
        if lower[0].isdigit():
            self._implied_take()
            self.walk.check_roll(player)
            self._add(self._roll(cell, player))
        elif lower in ("takes", "drops"):
            self._add(CubeAction(player, lower[:-1]))
        else:
            self._turn(lower, player)

    def _add(self, action: Roll | CubeAction | Resignation) -> None:
        self.walk.add(action)
        self.actions.append(action)

    def _implied_take(self) -> None:
        """The layout has no cell for the take of a beaver, and an empty one for that of a raccoon."""
        if self.walk.state.offer in (Offer.BEAVER, Offer.RACCOON):
            self._add(CubeAction(self.walk.state.decides, "take"))

    def _turn(self, lower: str, player: int) -> None:
        match = _TURN.fullmatch(lower)
        if match is None:
            raise NotationError(f"found {shown(lower)}, wanted Takes, Drops, Doubles => 2 or Beavers => 4")
        state = self.walk.state
        kind = {Offer.NONE: "double", Offer.DOUBLE: "beaver"}.get(state.offer, "raccoon")
        if lower.startswith("doubles") != (kind == "double"):
            raise NotationError(f"found {shown(lower)}, wanted {'Doubles' if kind == 'double' else 'Beavers or Takes'}")
        turned = state.cube_value * (2 if kind == "double" else 4)
        if int(match[1]) != turned:
            raise NotationError(f"cube: found {shown(lower)}, wanted {turned}")
        self._add(CubeAction(player, kind))

    def _roll(self, cell: str, player: int) -> Roll:
        first, second = (read_integer(die, "die", 1, 6) for die in cell[:2])
        dice = first, second
        text = " ".join(cell[3:].lower().replace(",", " ").split())
        if text and not text.strip("?"):
            return Roll(player, dice, None)
        if not text and not self.walk.is_dance(dice):
            return Roll(player, dice, None)
        return Roll(player, dice, () if text in PASSES else self._hops(text, dice))

    def _hops(self, text: str, dice: tuple[int, int]) -> tuple[Hop, ...]:
        """The single moves of a play, in the order written where they are written out."""
        moves, stars = parse_moves(text, text)
        board = self.walk.state.board
        if not one_die_each(moves, dice):
            legal = plays(torch.tensor(board), dice, self.walk.state.variant)
            turns = match_play(text, legal, dice).turns
            return next(turn for turn in turns if covers(moves, turn))
        _, hits = apply_hops(board, moves)
        if not stars <= hits:
            raise NotationError(f"play: found {shown(text)}, but nothing is hit on {min(stars - hits)}")
        return tuple(moves)

    def _result(self, line: str) -> None:
        if not line.strip(" ").lower().startswith("wins"):
            raise NotationError(f"found {shown(line)}, wanted a numbered row or the result")
        self._wins(line.strip(" "), column=len(line) - len(line.lstrip(" ")))

    def _wins(self, text: str, column: int) -> None:
        """Who won is known from the last action, and after a resignation alone from the column."""
        match = _WINS.fullmatch(text.lower())
        if match is None:
            raise NotationError(f"found {shown(text)}, wanted a result such as 'Wins 1 point'")
        points = read_integer(match[1], "points", 1, MAX_POINTS)
        if self.walk.winner is None:
            if self.walk.state.offer:
                raise NotationError("found the end of the game while a double is on offer, wanted an answer to it")
            winner = int(column >= _RIGHT_HALF)
            cube = self.walk.state.cube_value
            if points % cube or not 1 <= points // cube <= 3:
                raise NotationError(f"points: found {points}, wanted 1, 2 or 3 times the cube, {cube}")
            self._add(Resignation(1 - winner, points // cube))
        self.walk.check_result(self.walk.winner, points)
        self.points = points
