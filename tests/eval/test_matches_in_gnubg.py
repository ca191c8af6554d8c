"""Matches that bots play, written as ``.mat`` and imported by the program ``gnubg``; skipped where it is missing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from nardy.env import Cube, GameEnd, GameOptions, Games
from nardy.env.notation import CubeAction, GameRecord, MatchRecord, Roll, match_text, read_match_text, recorded_roll
from nardy.env.notation.record import Action
from nardy.eval.bots import Bot, ModelBot, make_bot

from ..env.test_notation_gnubg import GNUBG, final_score, gnubg, last_scores

NAMES = ("Otto", "Xena")


class _Match:
    """A match or a session of two money games between two bots, a turn at a time, written down as it goes."""

    def __init__(self, bots: tuple[Bot, Bot], options: GameOptions, seed: int) -> None:
        self.bots, self.games = bots, Games(1, options, seed)
        self.generator = torch.Generator().manual_seed(seed)
        self.records: list[GameRecord] = []
        self.actions: list[Action] = []

    def play(self) -> MatchRecord:
        """The whole of it; of a match the score is compared with the engine's."""
        options, score = self.games.options, [0, 0]
        while True:
            end = self._turn()
            if not bool(end.finished[0]):
                continue
            points = int(end.points[0])
            self.records.append(GameRecord((score[0], score[1]), tuple(self.actions), int(points < 0), abs(points)))
            self.actions = []
            score[points < 0] += abs(points)
            if bool(end.match_winner[0]) or (not options.match_length and len(self.records) == 2):
                break
            self.games.deal(torch.ones(1, dtype=torch.bool))
        if options.match_length:
            assert self.games.score[0].tolist() == [min(points, options.match_length) for points in score]
        return MatchRecord(NAMES, options.match_length, tuple(self.records), variant=options.variant, rules=options)

    def _turn(self) -> GameEnd:
        games, player = self.games, int(self.games.player[0])
        if bool(games.may_double()[0]) and bool(self.bots[player].double(games.boards, games.cube())[0]):
            take = bool(self.bots[1 - player].take(games.boards, games.cube())[0])
            end = games.double(torch.tensor([True]), torch.tensor([take]))
            self.actions += [CubeAction(player, "double"), CubeAction(1 - player, "take" if take else "drop")]
            if not take:
                return end
        games.roll()
        before, dice, variant = games.boards[0].clone(), games.dice[0].tolist(), games.options.variant
        cube: Cube = games.cube()
        tie = torch.rand(1, generator=self.generator)
        after = self.bots[player].choose(games.boards, games.dice, cube, tie, games.second_first())
        self.actions.append(recorded_roll(player, dice, before, after[0], variant))
        return games.play(after)


@pytest.mark.peer
@pytest.mark.skipif(GNUBG is None, reason="the program gnubg is missing: apt-get install gnubg")
@pytest.mark.parametrize("variant", ["backgammon", "sprintgammon"])
def test_gnubg_finds_the_scores_of_bots_matches(variant: str, tmp_path: Path, scale: Callable[[int], int]) -> None:
    pairs = {
        # Not pipcount against itself in backgammon: both always hit, and a game can take ten thousand turns.
        "backgammon": [("pipcount", "random"), ("model:backgammon", "pipcount")],
        "sprintgammon": [("pipcount", "pipcount"), ("random", "pipcount")],
    }[variant]
    played, commands = [], []
    for number in range(max(2, scale(50))):
        first, second = (make_bot(name, variant) for name in pairs[number % 2])
        length = 0 if isinstance(first, ModelBot) else (3, 5, 1, 7)[number // 2 % 4]  # the model knows money games
        match = _Match((first, second), GameOptions(variant, match_length=length), seed=number).play()
        played.append(match)
        (tmp_path / f"{number}.mat").write_text(match_text(match), encoding="utf-8")
        commands += [f"import mat {number}.mat", "show board", f"export match mat {number}.out"]

    printed = gnubg(commands, tmp_path)

    assert last_scores(printed) == [final_score(match) for match in played]
    for number, match in enumerate(played):
        exported = read_match_text((tmp_path / f"{number}.out").read_text(encoding="utf-8"), variant)
        assert exported.games == match.games
    doubles = [a.kind for match in played for game in match.games for a in game.actions if isinstance(a, CubeAction)]
    plays = [a for match in played for game in match.games for a in game.actions if isinstance(a, Roll)]
    assert "double" in doubles and len(plays) > (100 if variant == "backgammon" else 30)
