"""The program ``gnubg`` plays a match against our server; skipped where it is missing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from nardy.env import GameOptions
from nardy.env.notation import CubeAction, Roll, read_match_text
from nardy.eval.bots import make_bot
from nardy.eval.outside.external_line import line_text, read_line
from nardy.eval.serve import Decider, ExternalPlayer

from ...env.test_notation_gnubg import GNUBG, final_score, gnubg
from .served import served

PLAYER = [f"set player 1 {kind} evaluation plies 0" for kind in ("chequerplay", "cubedecision")]


@pytest.mark.peer
@pytest.mark.skipif(GNUBG is None, reason="the program gnubg is missing: apt-get install gnubg")
@pytest.mark.parametrize("seed", [1, 2])
def test_a_match_to_5_has_the_same_score_on_both_sides(tmp_path: Path, seed: int) -> None:
    player = ExternalPlayer(Decider(make_bot("model:backgammon"), GameOptions()))
    asked: list[tuple[str, str]] = []

    def answer(request: bytes) -> bytes:
        said = player.answer(request)
        asked.append((line_text(request), said.decode().strip()))
        return said

    with served(lambda: answer) as port:
        commands = ["set automatic game on", "set automatic roll on", "set player 1 gnubg", *PLAYER]
        commands += ["set rng mersenne", f"set seed {seed}", f"set player 0 external localhost:{port}"]
        printed = gnubg([*commands, "new match 5", "show score", "export match mat played.mat"], tmp_path)

    found = re.findall(r"The score \(after \d+ games?\) is: \S+ (\d+), \S+ (\d+)", printed)
    match = read_match_text((tmp_path / "played.mat").read_text(encoding="utf-8"))  # every play by the rules
    gnubgs = tuple(map(int, found[-1]))
    assert max(gnubgs) >= 5
    assert final_score(match) == gnubgs
    states = [read_line(line).state for line, _ in asked]
    seen = list(dict.fromkeys(state.score for state in states))
    starts = list(dict.fromkeys(game.score for game in match.games))
    assert seen == [score for score in starts if score in seen] and seen[-1] == match.games[-1].score
    # An illegal play would be recorded as none at all, and an answer not understood would be no answer.
    actions = [action for game in match.games for action in game.actions if action.player == 0]
    plays = [said for (_, said), state in zip(asked, states, strict=True) if state.dice and "resign" not in said]
    recorded = [action.hops for action in actions if isinstance(action, Roll) and action.hops is not None]
    assert [len(said.split()) for said in plays] == [len(hops) for hops in recorded]
    for word in ("double", "take", "drop"):
        kinds = [action.kind for action in actions if isinstance(action, CubeAction)]
        assert kinds.count(word) == [said for _, said in asked].count(word)
    assert not any("Warning" in line or "Error" in line for line in printed.splitlines())
