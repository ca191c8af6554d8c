"""What is written here, opened by the program ``gnubg`` (``apt-get install gnubg``); skipped where it is missing."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from nardy.env.notation import (
    GameState,
    MatchRecord,
    Offer,
    fibs_board,
    gnubg_id,
    match_text,
    read_fibs_board,
    read_match_text,
    xgid,
)

from .test_notation_mat import random_match
from .test_notation_states import random_state

GNUBG = shutil.which("gnubg", path=f"{os.environ.get('PATH', '')}:/usr/games")
pytestmark = [
    pytest.mark.peer,
    pytest.mark.skipif(GNUBG is None, reason="the program gnubg is missing: apt-get install gnubg"),
]

SETTINGS = [
    "set player 0 human",
    "set player 1 human",
    "set automatic roll off",
    "set automatic game off",
    "set confirm new off",
    "set confirm save off",
    "set output rawboard on",
    "set jacoby off",  # its default would count a money gammon with a centred cube once, whatever the file says
]


def gnubg(commands: Sequence[str], folder: Path) -> str:
    """What the program prints; its files go to ``folder``."""
    assert GNUBG is not None
    done = subprocess.run(
        [GNUBG, "-t", "-q"],
        input="\n".join([*SETTINGS, *commands, ""]),
        capture_output=True,
        text=True,
        timeout=600,
        cwd=folder,
        env={**os.environ, "HOME": str(folder)},
        check=True,
    )
    return done.stdout


def _without_headers(text: str) -> str:
    return re.sub(r"\A(;[^\n]*\n)+\n", "", text)


def final_score(match: MatchRecord) -> tuple[int, int]:
    """Points of player 0 and player 1 after the last game, surplus points counted."""
    score = list(match.games[-1].score)
    winner = match.games[-1].winner
    assert winner is not None
    score[winner] += match.games[-1].points
    return score[0], score[1]


def last_scores(printed: str) -> list[tuple[int, int]]:
    """The score of every match imported and then shown with "show board": a line by either, the second counts."""
    boards = [line.split(":")[1:] for line in printed.splitlines() if line.startswith("board:")]
    return [(int(fields[4]), int(fields[3])) for fields in boards[1::2]]


def _importable(random: Random, length: int, variant: str) -> MatchRecord:
    """A random match without a dropped beaver: after one, which it exports itself, gnubg 1.07 imports no more games."""
    while True:
        match = random_match(random, length, variant)
        last = [[getattr(action, "kind", "") for action in game.actions[-2:]] for game in match.games]
        if not any(kinds in (["beaver", "drop"], ["raccoon", "drop"]) for kinds in last):
            return match


@pytest.mark.parametrize("variant", ["backgammon", "sprintgammon"])
def test_matches_are_imported_and_exported_unchanged(variant: str, tmp_path: Path, scale: Callable[[int], int]) -> None:
    random = Random(20)  # noqa: S311  # not for secrets
    lengths = [7, 0, 3, 1, 5]
    matches = [_importable(random, lengths[i % 5], variant) for i in range(max(3, scale(50)))]
    commands = []
    for index, match in enumerate(matches):
        (tmp_path / f"{index}.mat").write_text(match_text(match), encoding="utf-8")
        commands += [f"import mat {index}.mat", "show board", f"export match mat {index}.out"]

    printed = gnubg(commands, tmp_path)

    assert not re.search(r"warning|illegal|invalid|error|record", printed, re.IGNORECASE), printed
    for index, match in enumerate(matches):
        exported = (tmp_path / f"{index}.out").read_text(encoding="utf-8")
        assert _without_headers(exported) == _without_headers(match_text(match))
        assert replace(read_match_text(exported, variant), headers=match.headers) == match
    assert last_scores(printed) == [final_score(match) for match in matches]


def _settable(random: Random) -> GameState:
    """A state that gnubg keeps: it takes offers back, ends finished games, and has matches to 64 at most."""
    while True:
        state = random_state(random)
        unfinished = all(side[0] < 15 for side in state.board)
        known = state.match_length <= 64 and not (state.crawford and state.match_length == 1)  # no Crawford game at 1
        if state.offer is Offer.NONE and unfinished and known:
            return state


def test_identifiers_and_board_lines_are_those_of_gnubg(tmp_path: Path, scale: Callable[[int], int]) -> None:
    random = Random(21)  # noqa: S311  # not for secrets
    states = [_settable(random) for _ in range(scale(400))]
    commands = []
    for state in states:
        commands += [
            "set output rawboard off",
            f"set gnubgid {gnubg_id(state)}",
            "set output rawboard on",
            "show board",
        ]

    printed = gnubg(["new match 3", *commands], tmp_path)

    ids = re.findall(r"Position ID: (\S+).*?Match ID +: (\S+)", printed, re.DOTALL)
    shown = [":".join(pair) for pair in ids]
    assert [gnubg_id(state) for state in states if gnubg_id(state) not in shown] == []
    lines = [line.split(":")[3:] for line in printed.splitlines() if line.startswith("board:")]  # it renames players
    for state in states:
        assert fibs_board(state).split(":")[3:] in lines


def test_xgids_are_understood_by_gnubg(tmp_path: Path, scale: Callable[[int], int]) -> None:
    random = Random(22)  # noqa: S311  # not for secrets
    states = [_settable(random) for _ in range(scale(400))]

    printed = gnubg(["new match 3", *[f"set xgid XGID={xgid(state)}" for state in states]], tmp_path)

    lines = [read_fibs_board(line)[0] for line in printed.splitlines() if line.startswith("board:")]
    for state in states:
        seen = state if state.player == 1 else state.swap_seats()  # gnubg seats the player on roll at the bottom
        rules = False if state.match_length else None
        assert replace(seen, jacoby=rules, beavers=rules) in lines
