"""The board line of GNU Backgammon's external players, as its client writes it and its server reads it.

It is a FIBS board line in a frame of its own. Player 1 has the positive cells, but names and points are those of
player 0 first, save where player 1 or 0 has doubled: then they are those of player 1 first. Neither line nor frame says
Jacoby or beavers; words behind the line may.
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, replace

from ...env.notation import GameState, NotationError, Offer, fibs_board, read_fibs_board

__all__ = [
    "MAX_ANSWER",
    "MAX_REQUEST",
    "ExternalQuestion",
    "check_address",
    "external_line",
    "is_loopback",
    "line_text",
    "read_line",
]

MAX_ANSWER = 255  # bytes, the protocol's own
MAX_REQUEST = 1024  # bytes: twice the longest line that 52 fields with two long names make

_SWITCH = {"on": True, "off": False}
_ALLOWED = {
    "jacobyrule": tuple(_SWITCH),
    "crawfordrule": tuple(_SWITCH),
    "beavers": tuple(_SWITCH),
    "resignation": ("0", "1", "2", "3"),
}


@dataclass(frozen=True)
class ExternalQuestion:
    """What a line asks.

    Attributes:
        state: the player who `GameState.decides` is asked; Jacoby and beavers are None where nothing was said of them.
        resignation: the level at which the other player offers to lose, 0 for none.
        bare: the line came without words, as GNU Backgammon's client sends it to an external player.
    """

    state: GameState
    resignation: int
    bare: bool


def line_text(data: bytes | bytearray) -> str:
    """One line as text, without its end and the zero bytes that GNU Backgammon sends behind each request."""
    return data.decode("utf-8", "replace").strip("\0\r\n \t")


def is_loopback(host: str) -> bool:
    """Is ``host`` this machine, and reached by nobody else?"""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def check_address(host: str, port: int, any_host: bool) -> None:
    """``ValueError`` unless a server may listen there: on this machine alone if not ``any_host``."""
    if not 0 <= port <= 65_535:
        raise ValueError(f"port: found {port}, wanted 0 to 65535")
    if not any_host and not is_loopback(host):
        raise ValueError(
            f"host: found {host}, wanted localhost: nothing is encrypted and whoever asks is served; "
            "any_host=true allows others"
        )


def external_line(state: GameState, names: tuple[str, str]) -> str:
    """The line and the words about ``state`` as GNU Backgammon's server reads it; ``names`` of player 0 and player 1.

    The words say that there are no beavers.
    """
    swapped = _in_frame(state)
    board = fibs_board(swapped, names if swapped is state else names[::-1])
    return f"{board} jacobyrule {'on' if state.jacoby else 'off'} beavers off"


def read_line(text: str) -> ExternalQuestion:
    """What a line from GNU Backgammon or `external_line` asks; ``NotationError`` if it cannot be read."""
    head, colon, tail = text.rpartition(":")  # names may hold blanks
    last, *words = tail.split() or [""]
    state = _in_frame(read_fibs_board(f"{head}{colon}{last}")[0])
    if state.offer is Offer.RACCOON:  # it writes 1 whoever answers, and sends raccoons as doubles
        state = replace(state, offer=Offer.BEAVER)
    said = _said(words)
    if not state.match_length:
        jacoby, beavers = (_SWITCH.get(said.get(word, "")) for word in ("jacobyrule", "beavers"))
        state = replace(state, jacoby=jacoby, beavers=beavers)
    return ExternalQuestion(state, int(said.get("resignation", "0")), bare=not words)


def _in_frame(state: GameState) -> GameState:
    """From the frame of `fibs_board` to that of the protocol, or back."""
    return state if state.offer is Offer.DOUBLE else replace(state, score=state.score[::-1])


def _said(words: list[str]) -> dict[str, str]:
    said = dict(zip(words[::2], words[1::2], strict=False))
    for word, value in said.items():
        if value not in _ALLOWED.get(word, ()):
            raise NotationError(f"found {f'{word} {value}'[:60]!r} behind the board, wanted a rule of the session")
    if len(words) % 2:
        raise NotationError(f"found {words[-1][:60]!r} behind the board without a value, wanted on or off")
    return said
