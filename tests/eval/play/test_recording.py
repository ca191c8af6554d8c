"""What is written down of games: whole from the start or not, and never changed afterwards."""

from __future__ import annotations

import pytest

from nardy.env.notation import CubeAction, GameRecord, NotationError, Roll
from nardy.eval.play.recording import Recording

ROLL = Roll(0, (3, 1), ((8, 5), (6, 5)))


def test_games_follow_each_other_and_the_one_in_progress_is_last() -> None:
    first = Recording().dealt((0, 0), 1).with_action(ROLL).with_action(CubeAction(1, "double"))
    second = first.with_action(CubeAction(0, "drop")).won(1, 2).dealt((0, 2), 0)
    dropped = (ROLL, CubeAction(1, "double"), CubeAction(0, "drop"))
    assert second.all_games(None) == (GameRecord((0, 0), dropped, 1, 2, 1),)
    assert second.all_games((ROLL,))[1] == GameRecord((0, 2), (ROLL,), None, 0, 0)
    assert first.all_games(()) == (GameRecord((0, 0), dropped[:2], None, 0, 1),)  # as undo needs it


def test_a_game_is_taken_up_without_the_roll_on_the_table() -> None:
    rolled = Roll(1, (2, 2), None)
    done, last = GameRecord((0, 0), (ROLL,), 0, 1, 0), GameRecord((1, 0), (ROLL, rolled), None, 0, 2)
    taken_up = Recording().dealt((0, 0), 0).taken_up((done,), last)
    assert taken_up.all_games((rolled,)) == (done, last)
    between = Recording().dealt((1, 0), 0).taken_up((done,))
    assert between.all_games(()) == (done, GameRecord((1, 0), (), None, 0, 0))


@pytest.mark.parametrize(
    "recording",
    [
        Recording(set_up=True),
        Recording(set_up=True).with_action(ROLL).won(0, 1),
        Recording(set_up=True).won(0, 1).dealt((1, 0), 0),
        Recording(set_up=True).won(0, 1).dealt((1, 0), 0).won(1, 1).dealt((1, 1), 0),
    ],
)
def test_what_began_from_a_position_and_what_follows_is_refused(recording: Recording) -> None:
    assert not recording.is_whole
    with pytest.raises(NotationError, match="began from a position"):
        recording.all_games(())
