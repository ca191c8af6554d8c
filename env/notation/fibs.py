"""The board line of the First Internet Backgammon Server, ``board:`` and 52 fields.

Written in the fixed frame of GNU Backgammon's ``set output rawboard on``: player 1 is named first and has the
positive cells. Read by the server's own rule, whichever colour and direction the first-named player has; that player
becomes player 1. The line does not say Jacoby, beavers or the limit of the cube, nor a resignation.
"""

from __future__ import annotations

from .errors import NotationError, naming, read_integer, shown
from .state import MAX_CUBE, MAX_SCORE, GameState, GameStatus, Offer, Position, with_off, writable_rules_of

__all__ = ["fibs_board", "read_fibs_board"]

_PREFIX = "board:"
_NUM_FIELDS = 52
_MAX_NAME = 64
_MONEY = 9999  # the server's match length of an unlimited match


def fibs_board(state: GameState, names: tuple[str, str] = ("O", "X")) -> str:
    """The line for ``state`` in GNU Backgammon's frame; ``names`` are those of player 0 and player 1.

    A double on offer is written as the sign of its player (field 40). ``NotationError`` names what it cannot say.
    """
    with naming("fibs board"):
        _check_sayable(state)
        for name in names:
            _check_name(name)
    top, bottom = state.board if state.player == 0 else state.board[::-1]
    cells = [-top[25], *(bottom[point] - top[25 - point] for point in range(1, 25)), bottom[25]]
    offered = 0 if not state.offer else 1 if state.decides == 0 else -1
    fields = [
        *(names[1], names[0], state.match_length, state.score[1], state.score[0], *cells),
        *(1 if state.player else -1, *(state.dice or (0, 0)) * 2),
        *(state.cube_value, int(state.cube_owner != 0), int(state.cube_owner != 1), offered),
        *(1, -1, 0, 25, bottom[0], top[0], 0, 0, 0, 0),
        *(int(state.one_short() and not state.crawford), int(not state.crawford)),
    ]
    return _PREFIX + ":".join(map(str, fields))


def read_fibs_board(text: str, variant: str = "backgammon") -> tuple[GameState, tuple[str, str]]:
    """The state of a board line and the names of player 0 (named second) and player 1 (named first).

    A line whose turn is 0 is a game that is over, seen by player 1.
    """
    with naming("fibs board"):
        if not text.startswith(_PREFIX):
            raise NotationError(f"found {shown(text)}, wanted a line that begins with {_PREFIX}")
        fields = text.removeprefix(_PREFIX).split(":", _NUM_FIELDS)
        if len(fields) != _NUM_FIELDS:
            found = f"more than {_NUM_FIELDS}" if len(fields) > _NUM_FIELDS else len(fields)
            raise NotationError(f"found {found} fields, wanted {_NUM_FIELDS}")
        for name in fields[:2]:
            _check_name(name)
        return _Fields(fields, variant).state(), (fields[1], fields[0])


class _Fields:
    """The fields of one line by their number, 1 to 52."""

    def __init__(self, fields: list[str], variant: str) -> None:
        self.fields = fields
        self.variant = variant
        self.colour = self.sign(41, "colour")
        self.direction = self.sign(42, "direction")
        self.turn = self.number(32, "turn", -1, 1)
        self.player = 1 if self.turn in (0, self.colour) else 0

    def number(self, field: int, name: str, low: int, high: int) -> int:
        return read_integer(self.fields[field - 1], f"{name} (field {field})", low, high)

    def sign(self, field: int, name: str) -> int:
        if self.fields[field - 1] not in ("1", "-1"):
            raise NotationError(f"{name} (field {field}): found {shown(self.fields[field - 1])}, wanted 1 or -1")
        return int(self.fields[field - 1])

    def state(self) -> GameState:
        length = self.number(3, "match length", 0, MAX_SCORE)
        length = 0 if length == _MONEY else length
        score = self.number(5, "score", 0, MAX_SCORE), self.number(4, "score", 0, MAX_SCORE)
        after_crawford = self.number(51, "Crawford game played", 0, 1)
        no_crawford = self.number(52, "last field", 0, MAX_SCORE)
        crawford = length > 0 and length - 1 in score and not after_crawford and not no_crawford
        self.number(49, "can move", 0, 4)
        self.number(50, "forced", 0, 1)
        owner = self.owner(crawford)
        return GameState(
            board=self.board(),
            player=self.player,
            dice=self.dice(),
            cube_value=self.number(37, "cube", 1, MAX_CUBE),
            cube_owner=owner,
            offer=self.offer(owner),
            match_length=length,
            score=score,
            crawford=crawford,
            jacoby=False if length else None,
            beavers=False if length else None,
            status=GameStatus.PLAYING if self.turn else GameStatus.OVER,
            variant=self.variant,
        )

    def board(self) -> Position:
        cells = [self.number(6 + cell, "cell", -15, 15) * self.colour for cell in range(26)]
        if self.direction == 1:
            cells.reverse()
        home, bar = (0, 25) if self.direction == -1 else (25, 0)
        self.wanted(43, "home", home)
        self.wanted(44, "bar", bar)
        if cells[0] > 0 or cells[25] < 0:
            raise NotationError("bar: found a checker on the other side's bar, wanted it on its own")
        first = with_off([max(0, count) for count in cells[1:]], self.variant)
        second = with_off([max(0, -count) for count in cells[24::-1]], self.variant)
        for field, side in ((45, first), (46, second)):
            self.wanted(field, "checkers off", side[0])
        on_bar = [self.number(field, "on the bar", 0, 15) for field in (47, 48)]
        if on_bar not in ([0, 0], [first[25], second[25]]):  # GNU Backgammon writes zeros
            raise NotationError(
                f"on the bar (fields 47, 48): found {on_bar}, wanted {[first[25], second[25]]} or zeros"
            )
        return (first, second) if self.player else (second, first)

    def wanted(self, field: int, name: str, value: int) -> None:
        if self.number(field, name, 0, 25) != value:
            raise NotationError(f"{name} (field {field}): found {self.fields[field - 1]}, wanted {value}")

    def dice(self) -> tuple[int, int] | None:
        """Those of the player on roll; the other's must be the same or zeros."""
        pairs = [(self.number(field, "die", 0, 6), self.number(field + 1, "die", 0, 6)) for field in (33, 35)]
        mine, theirs = pairs if self.player else pairs[::-1]
        if theirs not in ((0, 0), mine):
            raise NotationError(f"dice: found {mine} of the player on roll and {theirs}, wanted zeros or the same")
        if mine == (0, 0):
            return None
        if 0 in mine:
            raise NotationError(f"dice: found {mine}, wanted two numbers from 1 to 6 or two zeros")
        return mine

    def owner(self, crawford: bool) -> int | None:
        """Who may double owns the cube, both may while it is centred; in the Crawford game the server lets neither."""
        may = self.number(38, "may double", 0, 1), self.number(39, "may double", 0, 1)
        if may == (0, 0) and not crawford:
            raise NotationError("may double (fields 38, 39): found 0 and 0, wanted a player who may")
        return {(1, 0): 1, (0, 1): 0}.get(may)

    def offer(self, owner: int | None) -> Offer:
        """GNU Backgammon writes 1 where player 0 answers and -1 where player 1 does, the server always 1."""
        offered = self.number(40, "double on offer", -1, 1)
        if not offered or not self.turn:
            return Offer.NONE if not offered else Offer.DOUBLE
        if owner == 1 - self.player:
            return Offer.RACCOON if offered == self.turn else Offer.BEAVER
        if offered not in (1, self.turn):
            raise NotationError("double on offer (field 40): found -1 with turn 1, wanted 0 or 1")
        return Offer.DOUBLE


def _check_sayable(state: GameState) -> None:
    writable_rules_of(state.variant)
    if state.status is not GameStatus.PLAYING:
        raise NotationError(f"cannot say a game that is {state.status.name.lower()}, wanted one that is played")
    if state.resignation:
        raise NotationError("cannot say a resignation on offer, wanted none")
    if state.match_length == _MONEY:
        raise NotationError(f"cannot say a match to {_MONEY}, which means money")


def _check_name(name: str) -> None:
    if not 1 <= len(name) <= _MAX_NAME or ":" in name or not name.isprintable():
        raise NotationError(f"name: found {shown(name)}, wanted 1 to {_MAX_NAME} characters without a colon")
