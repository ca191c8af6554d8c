"""A backgammon engine for tests, in plain Python: it plays legally, until it misbehaves as it was told.

Run as a program it speaks UBGI: ``engine.py [MISBEHAVIOUR [PLAYS]] [--old] [--log FILE]``. After so many plays it
hangs, prints garbage, plays illegally, exits in mid-game, reports an error, floods the line or says too long a line.
Nothing but the standard library is imported, so that it starts at once.
"""

from __future__ import annotations

import base64
import sys
import time
from collections.abc import Iterator

Side = tuple[int, ...]
Board = tuple[Side, Side]  # the mover and the other, each by its own points, 0 off, 25 the bar
Hops = tuple[tuple[int, int], ...]

MISBEHAVIOURS = ("hang", "garbage", "illegal", "exit", "error", "flood", "long")


def single_moves(board: Board, die: int) -> Iterator[tuple[tuple[int, int], Board]]:
    """Every move of one checker with ``die``."""
    mine, theirs = board
    for point in [25] if mine[25] else range(24, 0, -1):
        target = max(0, point - die)
        if not mine[point] or (target and theirs[25 - target] > 1):
            continue
        if not target and (any(mine[7:]) or (point < die and any(mine[point + 1 :]))):
            continue
        one, other = list(mine), list(theirs)
        one[point] -= 1
        one[target] += 1
        if target and other[25 - target]:
            other[25 - target], other[25] = 0, other[25] + 1
        yield (point, target), (tuple(one), tuple(other))


def turns(board: Board, dice: tuple[int, ...]) -> Iterator[tuple[Hops, tuple[int, ...]]]:
    """Every sequence of moves that cannot go on, with the dice used."""
    went_on = False
    for die in sorted(set(dice)) if sum(board[0]) > board[0][0] else ():
        left = list(dice)
        left.remove(die)
        for hop, after in single_moves(board, die):
            went_on = True
            for hops, used in turns(after, tuple(left)):
                yield (hop, *hops), (die, *used)
    if not went_on:
        yield (), ()


def first_play(board: Board, dice: tuple[int, int]) -> Hops:
    """A legal play: as many dice as possible, of one die the larger; of those the greatest list of moves."""
    every = (dice[0],) * 4 if dice[0] == dice[1] else dice
    _, _, hops = max(
        (len(used), max(used, default=0) if len(used) == 1 else 0, hops) for hops, used in turns(board, every)
    )
    return hops


def text(hops: Hops, bar: str = "bar", off: str = "off") -> str:
    """``8/5 6/5``."""
    names = {25: bar, 0: off}
    return " ".join(f"{names.get(source, source)}/{names.get(target, target)}" for source, target in hops)


def read_position_id(identifier: str) -> Board:
    """The opponent's points 1 to 24 and bar, then the mover's: so many ones and a zero for each."""
    bits = "".join(f"{byte:08b}"[::-1] for byte in base64.b64decode(identifier + "=="))
    counts = [len(run) for run in bits.split("0")[:50]]
    theirs, mine = counts[:25], counts[25:]
    return (15 - sum(mine), *mine), (15 - sum(theirs), *theirs)


def misbehave(how: str) -> None:
    """Do what an engine should not."""
    if how == "hang":
        time.sleep(600)
    elif how == "garbage":
        print("bestmove 8/5 tulips")
    elif how == "illegal":
        print("bestmove 24/1 24/1")
    elif how == "exit":
        print("out of luck", file=sys.stderr)
        sys.exit(3)
    elif how == "error":
        print("error internal no idea")
    elif how == "long":
        print("x" * 1_000_000)
    while how == "flood":
        print("info thinking")


def main(arguments: list[str]) -> None:
    """Speak UBGI until ``quit`` or the end of the input."""
    log = open(arguments[arguments.index("--log") + 1], "a", encoding="utf-8") if "--log" in arguments else None  # noqa: SIM115
    how, plays = (arguments[0], int(arguments[1])) if arguments[:1] and arguments[0] in MISBEHAVIOURS else ("", -1)
    board, dice = read_position_id("4HPwATDgc/ABMA"), (0, 0)
    for line in sys.stdin:
        if log is not None:
            log.write(line)
            log.flush()
        word, *rest = line.split()
        if word == "ubgi":
            print("id name a test")
            print("ubgiok")
        elif word == "isready":
            print("readyok")
        elif word == "position":
            board = read_position_id(rest[1])
        elif word == "dice":
            dice = int(rest[0]), int(rest[1])
        elif word == "go" and how and plays == 0:
            misbehave(how)
        elif word == "go":
            plays -= 1
            print("info about to play")
            print(f"bestmove {text(first_play(board, dice)) or 'pass'}")
        elif word == "quit":
            return
        elif "--old" in arguments and word != "newgame":
            print(f"error unknown_command {word}")
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
