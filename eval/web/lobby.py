"""Who may be played against, and the games that are being played: one a browser, so many at once.

One question is answered at a time, whoever asks: models are not asked by two threads at once.
"""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from threading import Lock
from typing import Any, TypeVar

from ...env import GameOptions
from ...env.clock import ClockOptions
from ...env.formats import Format
from ...env.notation import GameState, read_gnubg_id, read_saved_game
from ...env.variants import VARIANTS
from ...models import BundleError, Evaluator
from ...models.bundle import find_weights
from ..bots import Bot, ModelBot, make_bot, newest_model
from ..play.beginnings import position_rules
from .table import RefusedError, Table

__all__ = ["CLOCKS", "LENGTHS", "Lobby", "NoTableError"]

LENGTHS = (0, 1, 3, 5, 7, 9, 11, 15, 21, 25)
CLOCKS = ((120, 10), (300, 12), (600, 15))  # bank and increment in seconds; the first is blitz's (rules.md 5.3)
_MOST_LENGTH, _MOST_BANK, _MOST_SEED = 99, 36_000, 2**53  # as far as a page counts exactly

T = TypeVar("T")


class NoTableError(Exception):
    """The browser has no game here."""


@dataclass(frozen=True)
class _Request:
    """What a page asks for, read with care: every part may be missing or of any kind."""

    values: Mapping[str, Any]

    def flag(self, name: str) -> bool:
        value = self.values.get(name, False)
        if type(value) is not bool:
            raise RefusedError(f"{name}: found {_shown(value)}, wanted true or false")
        return value

    def number(self, name: str, low: int, high: int, default: int | None) -> int | None:
        value = self.values.get(name)
        if value is None:
            return default
        if type(value) is not int or not low <= value <= high:
            raise RefusedError(f"{name}: found {_shown(value)}, wanted a whole number from {low} to {high}")
        return value

    def text(self, name: str, default: str = "", most: int = 200) -> str:
        value = self.values.get(name)
        if value is None:
            return default
        if not isinstance(value, str) or len(value) > most:
            raise RefusedError(f"{name}: found {_shown(value)}, wanted a text of at most {most} characters")
        return value


class Lobby:
    """The bots on offer and the tables."""

    def __init__(self, bot: Bot, variant: str, device: str = "cpu", tables: int = 64) -> None:
        """``bot``, which plays ``variant``, is the first choice there."""
        self._bots: dict[tuple[str, str], Bot] = {(variant, bot.name): bot}
        self._first = (variant, bot.name)
        self._advisers: dict[str, Evaluator | None] = {}
        self._device = device
        self._most = tables
        self._tables: OrderedDict[str, Table] = OrderedDict()
        self._lock = Lock()
        self._levels = {name: self._list_levels(name) for name in VARIANTS}

    def choices(self) -> dict[str, Any]:
        """What a new game can be, as JSON values; the first discipline and level are those to be offered first."""
        first = self._first[0]
        names = [first, *(name for name in VARIANTS if name != first)]
        return {
            "disciplines": [
                {
                    "name": name,
                    "hits": not VARIANTS[name].blocking,
                    "levels": [{"name": level, "kind": level.partition(":")[0]} for level in self._levels[name]],
                }
                for name in names
            ],
            "lengths": list(LENGTHS),
            "clocks": [None, *({"bank": bank, "increment": increment} for bank, increment in CLOCKS)],
        }

    def new(self, token: str | None, values: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        """A game as ``values`` ask, in the place of the one ``token`` had; ``(token, state)``. ``ValueError``."""
        request = _Request(values)
        state = self._position(request)
        rules = self._rules(request, state)
        level, tutor = self._level(request, rules.variant), request.flag("tutor")
        seed = request.number("seed", 0, _MOST_SEED, None)
        with self._lock:
            bot = self._bot(level, rules.variant)
            adviser = self._adviser(rules.variant)
            seed = secrets.randbits(32) if seed is None else seed
            table = Table.new(bot, rules, seed, level, adviser, tutor)
            if state is not None:
                table.set_up(state)
            return self._seat(token, table)

    def load(self, token: str | None, text: str, values: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        """A saved game taken up again; as `new`."""
        request, match = _Request(values), read_saved_game(text)
        level, tutor = self._level(request, match.variant), request.flag("tutor")
        with self._lock:
            bot, adviser = self._bot(level, match.variant), self._adviser(match.variant)
            seed = secrets.randbits(32)
            return self._seat(token, Table.resume(bot, match, seed, level, adviser, tutor))

    def ask(self, token: str | None, question: Callable[[Table], T]) -> T:
        """Ask the table of ``token``; `NoTableError` if it has none."""
        with self._lock:
            table = self._tables.get(token or "")
            if table is None:
                raise NoTableError
            self._tables.move_to_end(token or "")
            return question(table)

    def _seat(self, token: str | None, table: Table) -> tuple[str, dict[str, Any]]:
        if token not in self._tables:
            token = secrets.token_urlsafe(24)
        assert token is not None
        if token in self._tables:  # or a tab that shows the game before might act on this one
            table.version += self._tables[token].version + 1
        self._tables[token] = table
        self._tables.move_to_end(token)
        while len(self._tables) > self._most:
            self._tables.popitem(last=False)
        return token, table.state()

    def _list_levels(self, variant: str) -> list[str]:
        """Specifications of bots for ``variant``, the one to offer first at the head."""
        levels = [self._first[1]] if self._first[0] == variant else []
        for name in (newest_model(variant), variant):
            try:
                find_weights(name)
                levels.append(f"model:{name}")
            except BundleError:
                continue  # none has been trained
        return list(dict.fromkeys([*levels, "pipcount", "random"]))

    def _level(self, request: _Request, variant: str) -> str:
        level = request.text("level", self._levels[variant][0])
        if level not in self._levels[variant]:
            raise RefusedError(f"level: found {level!r}, wanted one of {', '.join(self._levels[variant])}")
        return level

    def _bot(self, level: str, variant: str) -> Bot:
        key = (variant, level)
        if key not in self._bots:
            self._bots[key] = make_bot(level, variant, self._device)
        return self._bots[key]

    def _adviser(self, variant: str) -> Evaluator | None:
        """The model that hints: that of the first level which has one."""
        if variant not in self._advisers:
            models = (level for level in self._levels[variant] if level.startswith("model:"))
            bot = next((self._bot(level, variant) for level in models), None)
            judge = bot.evaluator if isinstance(bot, ModelBot) else None
            self._advisers[variant] = judge if isinstance(judge, Evaluator) else None
        return self._advisers[variant]

    def _position(self, request: _Request) -> GameState | None:
        text = request.text("position").strip()
        if not text:
            return None
        return read_gnubg_id(text, self._discipline(request))

    def _discipline(self, request: _Request) -> str:
        name = request.text("discipline", self._first[0])
        if name not in VARIANTS:
            raise RefusedError(f"discipline: found {name[:30]!r}, wanted one of {', '.join(VARIANTS)}")
        return name

    def _rules(self, request: _Request, state: GameState | None) -> Format:
        """What is asked for; of a position, what it says itself."""
        rules = GameOptions(
            variant=self._discipline(request),
            match_length=request.number("length", 0, _MOST_LENGTH, 0) or 0,
            cube=request.flag("cube") if "cube" in request.values else True,
            jacoby=request.flag("jacoby"),
            beavers=request.flag("beavers"),
            resignation=True,
        )
        if state is not None:
            rules = position_rules(state, rules)
        return Format(**asdict(rules), clock=self._clock(request))

    @staticmethod
    def _clock(request: _Request) -> ClockOptions:
        found = request.values.get("clock")
        if found is None:
            return ClockOptions()
        if not isinstance(found, dict):
            raise RefusedError(f"clock: found {_shown(found)}, wanted null or bank and increment")
        times = _Request(found)
        bank = times.number("bank", 1, _MOST_BANK, None)
        increment = times.number("increment", 0, _MOST_BANK, 0)
        if bank is None:
            raise RefusedError("clock: found no bank, wanted seconds")
        return ClockOptions(bank=bank, increment=increment or 0)


def _shown(value: object) -> str:
    return repr(value)[:30]
