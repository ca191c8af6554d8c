"""An engine that speaks the Universal Backgammon Interface, v0.2 and v0.1, on two streams of lines.

The protocol is a list of commands that set what is known of a game, and ``go``, which asks. Nothing is said that it
does not know, every fault has its ``error CODE TEXT``, and a command that fails changes nothing. ``go role take`` is an
extension: the protocol has no question to the player who is doubled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import BinaryIO, TypeVar

from ...env.notation import GameState, Offer, read_position_id, read_xgid, turn_text
from ...env.notation.moves import PASS
from ...env.notation.state import Position
from .decisions import Decider

__all__ = ["UbgiEngine", "converse"]

T = TypeVar("T")

_MAX_LINE = 1024  # bytes of a command
_MAX_ERROR = 200
_PLAYERS = {"p0": 0, "p1": 1}
_OWNERS: dict[str, int | None] = {"center": None, "centre": None, **_PLAYERS}
_SWITCH = {"on": True, "off": False}
_KEYS = {"game.variant": ("enum", "backgammon", "backgammon"), "engine.ply": ("int", "0..0", "0")}
_OLD_TYPES = {  # of v0.1
    "game.variant": "combo default backgammon var backgammon",
    "engine.ply": "spin default 0 min 0 max 0",
}


class _UbgiError(Exception):
    """A command that is answered by ``error CODE TEXT``."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(f"error {code} {_printable(text)}")


@dataclass(frozen=True)
class _Known:
    """What the commands have said; the fields are those of `GameState`."""

    board: Position | None = None
    dice: tuple[int, int] | None = None
    player: int = 0
    cube_value: int = 1
    cube_owner: int | None = None
    match_length: int = 0
    score: tuple[int, int] = (0, 0)
    crawford: bool = False
    jacoby: bool = True

    def state(self, dice: tuple[int, int] | None = None, offer: Offer = Offer.NONE) -> GameState:
        """The state asked about."""
        if self.board is None:
            raise _UbgiError("missing_context", "position")
        fields = vars(self) | {"dice": dice, "jacoby": self.jacoby and not self.match_length}
        # Some programs say "crawford on" of a match that has the rule, whatever the score.
        fields["crawford"] = self.crawford and self.match_length - 1 in self.score
        return GameState(offer=offer, beavers=False, **fields)


class UbgiEngine:
    """One game's worth of what has been said, and the decider who answers.

    Attributes:
        over: ``quit`` has been said.
    """

    def __init__(self, decider: Decider) -> None:
        self.over = False
        self._decider = decider
        self._known = _Known()
        self._commands: dict[str, Callable[[list[str]], list[str]]] = {
            "ubgi": self._greet,
            "isready": lambda _: ["readyok"],
            "keys": lambda _: _key_lines(),
            "get": self._get,
            "set": self._set,
            "setoption": self._set_option,
            "newgame": self._new_game,
            "position": self._position,
            "dice": self._dice,
            "newsession": self._new_session,
            "setscore": self._score,
            "setcube": self._cube,
            "setturn": self._turn,
            "go": self._go,
            "stop": lambda _: [],
            "quit": self._quit,
        }

    def answer(self, line: str) -> list[str]:
        """The lines that answer one command."""
        word, *rest = line.split() or [""]
        try:
            if not word:
                return []
            if word not in self._commands:
                raise _UbgiError("unknown_command", word)
            return self._commands[word](rest)
        except _UbgiError as error:
            return [str(error)]
        except ValueError as error:  # a position or a score that cannot be, or that the model has not learned
            return [str(_UbgiError("bad_value", str(error)))]
        except Exception as error:  # whatever it is: an engine that ends in the middle of a game has lost it
            return [str(_UbgiError("internal", f"{type(error).__name__}: {error}"))]

    def _greet(self, rest: list[str]) -> list[str]:
        names = [f"id name nardy {_printable(self._decider.bot.name)}", "id author the authors of nardy"]
        old = [f"option name {name} type {kind}" for name, kind in _OLD_TYPES.items()]
        return [*names, f"id version {version('nardy')}", "proto 0.2", *_key_lines(), *old, "ubgiok"]

    def _get(self, rest: list[str]) -> list[str]:
        name = _one(rest, "get")
        return [f"value {name} {_key(name)[2]}"]

    def _set(self, rest: list[str]) -> list[str]:
        if len(rest) != 2:
            raise _UbgiError("bad_argument", "set")
        name, value = rest
        if value != _key(name)[2]:  # each has one value: search is not built yet, and neither are other games
            raise _UbgiError("bad_value", name)
        return []

    def _set_option(self, rest: list[str]) -> list[str]:
        """v0.1: with or without the words ``name`` and ``value``."""
        return self._set([rest[1], rest[3]] if len(rest) == 4 and rest[::2] == ["name", "value"] else rest)

    def _new_game(self, rest: list[str]) -> list[str]:
        self._known = _Known(match_length=self._known.match_length)  # the session goes on
        return []

    def _position(self, rest: list[str]) -> list[str]:
        if len(rest) != 2 or rest[0] not in ("gnubgid", "xgid"):
            raise _UbgiError("bad_argument", "position")
        if rest[0] == "gnubgid":
            mine, theirs = read_position_id(rest[1]).tolist()
            self._known = replace(self._known, board=(tuple(mine), tuple(theirs)))
            return []
        state = read_xgid(rest[1])
        fields = {name: getattr(state, name) for name in vars(self._known)}
        self._known = _Known(**fields | {"jacoby": bool(state.jacoby)})
        return []

    def _dice(self, rest: list[str]) -> list[str]:
        if len(rest) != 2 or not all(die in tuple("123456") for die in rest):
            raise _UbgiError("bad_argument", "dice")
        self._known = replace(self._known, dice=(int(rest[0]), int(rest[1])))
        return []

    def _new_session(self, rest: list[str]) -> list[str]:
        said = _pairs(rest, "newsession", ("type", "length", "jacoby", "crawford"))
        if said.get("type") not in ("money", "match") or (said["type"] == "match") != ("length" in said):
            raise _UbgiError("bad_argument", "newsession")
        self._known = replace(
            self._known,
            match_length=_number(said["length"], "length", 1) if "length" in said else 0,
            score=(0, 0),
            cube_value=1,
            cube_owner=None,
            jacoby=_choice(said.get("jacoby", "on"), _SWITCH, "jacoby"),
            crawford=_choice(said.get("crawford", "off"), _SWITCH, "crawford"),
        )
        return []

    def _score(self, rest: list[str]) -> list[str]:
        if len(rest) != 2:
            raise _UbgiError("bad_argument", "setscore")
        self._known = replace(self._known, score=(_number(rest[0], "setscore"), _number(rest[1], "setscore")))
        return []

    def _cube(self, rest: list[str]) -> list[str]:
        said = _pairs(rest, "setcube", ("value", "owner"))
        if len(said) != 2:
            raise _UbgiError("bad_argument", "setcube")
        value = _number(said["value"], "setcube", 1)
        if value & (value - 1):
            raise _UbgiError("bad_value", "setcube")
        self._known = replace(self._known, cube_value=value, cube_owner=_choice(said["owner"], _OWNERS, "owner"))
        return []

    def _turn(self, rest: list[str]) -> list[str]:
        self._known = replace(self._known, player=_choice(_one(rest, "setturn"), _PLAYERS, "setturn"))
        return []

    def _go(self, rest: list[str]) -> list[str]:
        """Limits are read and not needed: an answer takes milliseconds."""
        role, limits = (rest[1], rest[2:]) if len(rest) > 1 and rest[0] == "role" else ("chequer", rest)
        numbers = [word for word in limits if word != "infinite"]
        if len(numbers) % 2 or not all(word.isalpha() for word in numbers[::2]):
            raise _UbgiError("bad_argument", "go")
        for name, value in zip(numbers[::2], numbers[1::2], strict=True):
            _number(value, name)
        if role == "chequer":
            return [f"bestmove {self._play()}"]
        if role == "cube":
            return [f"bestcube {self._double()}"]
        if role == "turn":
            double = self._double()
            return [f"bestturn cube={double} move={self._play()}"]
        if role == "take":
            return [f"besttake {self._decider.answer(self._known.state(offer=Offer.DOUBLE))}"]
        raise _UbgiError("unsupported", f"role {role}")

    def _play(self) -> str:
        """Play the dice, which are used up then."""
        if self._known.board is not None and self._known.dice is None:
            raise _UbgiError("missing_context", "dice")
        play = self._decider.play(self._known.state(self._known.dice))
        self._known = replace(self._known, dice=None)
        return turn_text(play.turns[0]) or PASS

    def _double(self) -> str:
        return "double" if self._decider.double(self._known.state()) else "nodouble"

    def _quit(self, rest: list[str]) -> list[str]:
        self.over = True
        return []


def converse(engine: UbgiEngine, source: BinaryIO, sink: BinaryIO) -> None:
    """Answer the lines of ``source`` on ``sink`` until ``quit`` or the end."""
    for line in _lines(source):
        answers = engine.answer(line) if line is not None else ["error bad_command found too long a line"]
        if answers:
            sink.write("".join(f"{answer}\n" for answer in answers).encode())
            sink.flush()
        if engine.over:
            return


def _lines(source: BinaryIO) -> Iterator[str | None]:
    """Line by line, None for one that is too long: it is read over and never held."""
    while data := source.readline(_MAX_LINE + 1):
        if len(data) <= _MAX_LINE or data.endswith(b"\n"):
            yield data.decode("utf-8", "replace")
            continue
        while data and not data.endswith(b"\n"):
            data = source.readline(_MAX_LINE)
        yield None


def _key_lines() -> list[str]:
    return [f"key {name} {' '.join(fields)}" for name, fields in _KEYS.items()]


def _key(name: str) -> tuple[str, str, str]:
    if name not in _KEYS:
        raise _UbgiError("unsupported", f"key {name}")
    return _KEYS[name]


def _one(rest: list[str], command: str) -> str:
    if len(rest) != 1:
        raise _UbgiError("bad_argument", command)
    return rest[0]


def _pairs(rest: list[str], command: str, names: tuple[str, ...]) -> dict[str, str]:
    """``NAME VALUE`` again and again."""
    if len(rest) % 2 or len(set(rest[::2])) != len(rest) // 2 or not set(rest[::2]) <= set(names):
        raise _UbgiError("bad_argument", command)
    return dict(zip(rest[::2], rest[1::2], strict=True))


def _number(text: str, name: str, low: int = 0) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 9 and int(text) >= low):
        raise _UbgiError("bad_value", name)
    return int(text)


def _choice(text: str, allowed: dict[str, T], name: str) -> T:
    if text not in allowed:
        raise _UbgiError("bad_value", name)
    return allowed[text]


def _printable(text: str) -> str:
    """One line of what a person or a program sent, shortened, with nothing in it that a terminal obeys."""
    shown = "".join(sign if sign.isprintable() else "?" for sign in " ".join(text.split()))
    return shown[:_MAX_ERROR]
