"""Outside bots by their specifications."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Callable
from importlib.util import find_spec

from .bot import OutsideBot
from .failure import OutsideOptions
from .formula_bot import GnubgNnBot
from .gnubg_socket import GnubgSocketBot
from .package_bots import BgsageBot, PubevalBot
from .ubgi import UbgiBot

__all__ = ["OUTSIDE_BOTS", "make_outside_bot"]

OUTSIDE_BOTS = ("pubeval", "gnubg-nn[:PLIES]", "bgsage[:PLIES]", "ubgi:COMMAND", "gnubg-socket:HOST:PORT")


def make_outside_bot(spec: str, variant: str, options: OutsideOptions | None = None) -> OutsideBot | None:
    """The bot that ``spec`` names, None if it is none of `OUTSIDE_BOTS`.

    ``ValueError`` in one line where it cannot be had: another discipline, a package or a command that is missing.
    """
    kind, colon, argument = spec.partition(":")
    makers: dict[str, Callable[[str, OutsideOptions, str], OutsideBot]] = {
        "pubeval": _make_pubeval,
        "gnubg-nn": _make_gnubg_nn,
        "bgsage": _make_bgsage,
        "ubgi": _make_ubgi,
        "gnubg-socket": GnubgSocketBot,
    }
    if kind not in makers or (colon and not argument) or (kind in ("ubgi", "gnubg-socket") and not argument):
        return None
    if variant != "backgammon":
        raise ValueError(f"bot: {spec}: found {variant}, wanted backgammon, which is all it plays")
    return makers[kind](spec, options or OutsideOptions(), argument)


def _make_pubeval(spec: str, options: OutsideOptions, argument: str) -> OutsideBot:
    if argument:
        raise ValueError(f"bot: found {spec!r}, wanted pubeval")
    _want_package("gnubg_nn", "gnubg-nn", spec)
    return PubevalBot(spec, options)


def _make_gnubg_nn(spec: str, options: OutsideOptions, argument: str) -> OutsideBot:
    plies = _plies(argument, spec, 0, (0, 1))
    _want_package("gnubg_nn", "gnubg-nn", spec)
    return GnubgNnBot(spec, options, plies)


def _make_bgsage(spec: str, options: OutsideOptions, argument: str) -> OutsideBot:
    plies = _plies(argument, spec, 1, (1, 2, 3, 4))
    _want_package("bgsage", "bgsage", spec)
    return BgsageBot(spec, options, plies)


def _make_ubgi(spec: str, options: OutsideOptions, argument: str) -> OutsideBot:
    bot = UbgiBot(spec, options, argument)
    program = shlex.split(argument)[:1]
    if not program or shutil.which(program[0]) is None:
        raise ValueError(f"bot: {spec}: found no program {''.join(program)!r}: install the engine or give its path")
    return bot


def _plies(argument: str, spec: str, default: int, allowed: tuple[int, ...]) -> int:
    if argument and argument not in map(str, allowed):
        raise ValueError(f"bot: {spec}: found {argument!r} plies, wanted one of {', '.join(map(str, allowed))}")
    return int(argument) if argument else default


def _want_package(module: str, package: str, spec: str) -> None:
    if find_spec(module) is None:
        raise ValueError(f"bot: {spec}: the package {package} is missing: pip install '{package}'")
