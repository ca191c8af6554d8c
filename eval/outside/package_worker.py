"""Engines that are Python packages, each in a process of its own: this file is run by its path, never imported.

It reads questions about N positions from standard input and writes N answers to standard output. A question is a header
of three numbers (kind, N, numbers a row) and its rows as int32, an answer the rows as float32; both sides know how wide
they are. Only numpy and the engine's package are imported, so that a process starts in a fraction of a second.

Boards are two rows of 26 numbers as in `nardy.env`, side 0 on roll.
"""

from __future__ import annotations

import os
import struct
import sys
from collections.abc import Callable, Sequence
from typing import Any, BinaryIO

import numpy as np

Array = Any  # numpy's arrays: this file must not cost an annotation library
Answer = Callable[[int, Array], Array]

HEADER = struct.Struct("<III")
OWNERS = ("centered", "player", "opponent")


def gnubg_nn(arguments: Sequence[str]) -> Answer:
    """Kind = depth in plies, rows ``[N, 52]``: chances to win, win a gammon, a backgammon, lose those, ``[N, 5]``."""
    import gnubg_nn

    del arguments

    def answer(kind: int, rows: Array) -> Array:
        boards = rows.reshape(-1, 2, 26)[:, ::-1, 1:].tolist()  # the opponent first, points and bar
        return np.array([gnubg_nn.probabilities(board, kind) for board in boards], dtype=np.float32)

    return answer


def pubeval(arguments: Sequence[str]) -> Answer:
    """Rows ``[N, 54]``, board and dice: the board after the best play, ``[N, 52]``."""
    import gnubg_nn

    del arguments

    def answer(kind: int, rows: Array) -> Array:
        del kind
        after = rows[:, :52].reshape(-1, 2, 26).copy()
        boards = after[:, ::-1, 1:].tolist()
        for board, (first, second), (mine, theirs) in zip(boards, rows[:, 52:].tolist(), after, strict=True):
            moves = gnubg_nn.pub_best_move(board, first, second)  # from, to, from, to ...: point - 1, so -1 is off
            for source, target in zip(moves[::2], moves[1::2], strict=True):
                mine[source + 1] -= 1
                mine[target + 1] += 1
                if target >= 0 and theirs[24 - target] == 1:
                    theirs[24 - target] = 0
                    theirs[25] += 1
        return after.reshape(-1, 52)

    return answer


def bgsage(arguments: Sequence[str]) -> Answer:
    """Kind 0, rows ``[N, 61]``: the board after the best play, ``[N, 52]``; kind 1: double, take, 0 or 1, ``[N, 2]``.

    A row is a board, the dice, the cube's value and owner (0 centred, 1 mine, 2 theirs), the points that both sides
    need (0 0 money), Crawford, Jacoby, and whether there is a cube at all.
    """
    import bgsage as engine

    level, threads = f"{arguments[0]}ply", int(arguments[1])
    label = f"{arguments[0]}-ply"

    def answer(kind: int, rows: Array) -> Array:
        answers = np.zeros((len(rows), (52, 2)[kind]), dtype=np.float32)
        for jacoby in (0, 1):
            chosen = np.flatnonzero(rows[:, 59] == jacoby)
            if len(chosen):
                positions = [position(row) for row in rows[chosen]]
                common = {"eval_level": level, "n_threads": threads, "jacoby": bool(jacoby)}
                answers[chosen] = (plays if kind == 0 else cube)(positions, rows[chosen, 60], common)
        return answers

    def plays(positions: list[dict[str, Any]], with_cube: Array, common: dict[str, Any]) -> list[list[int]]:
        found = engine.batch_checker_play(positions, **common)
        return [two_sides(best(result.moves, bool(cubeful))) for result, cubeful in zip(found, with_cube, strict=True)]

    def best(moves: Sequence[Any], cubeful: bool) -> Sequence[int]:
        """The board after the first of the plays, which are sorted by their worth with a cube, or the best without."""
        if cubeful:
            first: Sequence[int] = moves[0].board
            return first
        deepest = [move for move in moves if move.eval_level == label] or moves
        highest: Sequence[int] = max(deepest, key=lambda move: move.cubeless_equity).board
        return highest

    def cube(positions: list[dict[str, Any]], with_cube: Array, common: dict[str, Any]) -> list[list[bool]]:
        del with_cube
        found = engine.batch_cube_action(positions, beaver=False, **common)
        return [[result.should_double, result.should_take] for result in found]

    return answer


def position(row: Array) -> dict[str, Any]:
    """A row as Open Sage takes it: 26 numbers, the mover's checkers positive, place 0 the opponent's bar."""
    mine, theirs = row[:26], row[26:52]
    board = mine - theirs[[25, *range(24, 0, -1), 0]]
    board[0], board[25] = theirs[25], mine[25]
    first, second, value, owner, away, their_away, crawford = row[52:59].tolist()
    return {
        "board": board.tolist(),
        "die1": first,
        "die2": second,
        "cube_value": value,
        "cube_owner": OWNERS[owner],
        "away1": away,
        "away2": their_away,
        "is_crawford": bool(crawford),
    }


def two_sides(board: Sequence[int]) -> list[int]:
    """The inverse: 52 numbers."""
    mine = [0, *(max(0, count) for count in board[1:26])]
    theirs = [0, *(max(0, -board[25 - point]) for point in range(1, 25)), board[0]]
    mine[0], theirs[0] = 15 - sum(mine), 15 - sum(theirs)
    return mine + theirs


ENGINES: dict[str, Callable[[Sequence[str]], Answer]] = {"gnubg-nn": gnubg_nn, "pubeval": pubeval, "bgsage": bgsage}


def serve(answer: Answer, questions: BinaryIO, answers: BinaryIO) -> None:
    """Answer until the input ends."""
    while len(header := questions.read(HEADER.size)) == HEADER.size:
        kind, num_rows, width = HEADER.unpack(header)
        data = questions.read(4 * num_rows * width)
        if len(data) < 4 * num_rows * width:
            return
        rows = np.frombuffer(data, dtype=np.int32).reshape(num_rows, width)
        answers.write(np.ascontiguousarray(answer(kind, rows), dtype=np.float32).tobytes())
        answers.flush()


if __name__ == "__main__":
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what an engine prints must not get among the answers
    serve(ENGINES[sys.argv[1]](sys.argv[2:]), sys.stdin.buffer, replies)
