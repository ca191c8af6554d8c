"""Saved games: what they hold, that they come back, agree with the engine at every decision, and refuse all else."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import fields, replace
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from nardy.env import Decisions, GameOptions, Games, Phase
from nardy.env.decisions import (
    BEAVER,
    DOUBLE,
    DROP,
    RACCOON,
    RESIGN_BACKGAMMON,
    RESIGN_GAMMON,
    RESIGN_SINGLE,
    ROLL,
    TAKE,
)
from nardy.env.notation import (
    CubeAction,
    GameRecord,
    MatchRecord,
    NotationError,
    Recorder,
    Resignation,
    Roll,
    game_states,
    match_text,
    read_match_text,
    read_saved_game,
    resume,
    saved_game_text,
    under_rules,
)

from .recorded_games import HEADERS, NAMES, observed, play_recorded
from .test_notation_mat import M1

MONEY = {"jacoby": True, "beavers": True, "raccoons": True, "automatic_doubles": 2, "resignation": True, "max_cube": 16}
RULES = [
    GameOptions(variant, **options)
    for variant in ("backgammon", "sprintgammon", "longgammon")
    for options in (MONEY, {"match_length": 3, "resignation": True}, {"cube": False})
] + [
    GameOptions("sprintgammon"),
    GameOptions("sprintgammon", match_length=1),
    GameOptions("sprintgammon", match_length=5, crawford=False),
    GameOptions("sprintgammon", match_length=7),
]
SETTLED = {DOUBLE: "double", TAKE: "take", DROP: "drop", BEAVER: "beaver", RACCOON: "raccoon"}
RESIGNED = {RESIGN_SINGLE: 1, RESIGN_GAMMON: 2, RESIGN_BACKGAMMON: 3}


def _ids(rules: GameOptions) -> str:
    return f"{rules.variant} {rules.match_length}{' options' if rules.resignation else ''}"


def allowed(match: MatchRecord, action: Any) -> bool:
    """May the last game of ``match`` go on with ``action``?"""
    game = match.games[-1]
    longer = replace(match, games=(*match.games[:-1], replace(game, actions=(*game.actions, action))))
    try:
        game_states(longer)
    except NotationError as error:
        return "winner: found no winner" in str(error)  # allowed, and the game is over by it
    return True


def agrees(decisions: Decisions, game: int, recorder: Recorder) -> None:
    """A look in the middle of a game: text and record are the same thing, and both are the engine's game."""
    match = recorder.record()
    text = saved_game_text(match)
    assert read_saved_game(text) == match and saved_game_text(read_saved_game(text)) == text
    again = resume(match, seed=3)
    for name, tensor in decisions.observation().items():
        assert torch.equal(tensor[game], again.observation()[name][0]), (name, text)
    assert torch.equal(decisions.mask()[game], again.mask()[0])
    for name in ("boards", "player", "dice", "cube_value", "cube_owner", "score", "crawford", "crawford_done", "turn"):
        assert torch.equal(getattr(decisions.games, name)[game], getattr(again.games, name)[0]), (name, text)
    assert torch.equal(decisions.heads_left[game], again.heads_left[0]) or decisions.phase[game] != Phase.MOVE
    _check_state(json.loads(text)["state"], decisions, game)
    mask, player = decisions.mask()[game], int(decisions.player()[game])
    for number, kind in SETTLED.items():
        assert allowed(match, CubeAction(player, kind)) == bool(mask[number]), (kind, text)
        assert not allowed(match, CubeAction(1 - player, kind)), (kind, text)
    for number, level in RESIGNED.items():
        assert allowed(match, Resignation(player, level, None)) == bool(mask[number]), (level, text)


def _check_state(state: dict[str, Any], decisions: Decisions, game: int) -> None:
    games, in_turn = decisions.games, int(decisions.phase[game]) == Phase.MOVE
    value, owner = decisions.cube_shown()
    on_roll = int(games.player[game])
    assert state["phase"] == Phase(int(decisions.phase[game])).name.lower()
    assert (state["player"], state["decides"]) == (on_roll, int(decisions.player()[game]))
    assert state["board"] == decisions.boards[game].tolist()
    assert state["dice"] == (games.dice[game].tolist() if in_turn else None)
    assert state["dice_left"] == [die for die in decisions.dice_left[game].tolist() if die]
    long = games.options.variant == "longgammon" and in_turn
    assert state["heads_left"] == (int(decisions.heads_left[game]) if long else None)
    assert state["second_first"] == bool(games.second_first()[game])
    assert state["cube_value"] == int(value[game])
    assert state["cube_owner"] == {0: None, 1: on_roll, 2: 1 - on_roll}[int(owner[game])]
    assert state["resignation"] == int(decisions.resignation[game])
    assert state["refused"] == (0 if in_turn else int(games.refused[game]))
    if games.options.match_length > 1:  # money sessions have a score here, and the only game of 1 no Crawford rule
        assert state["score"] == games.score[game].tolist()
        assert (state["crawford"], state["crawford_done"]) == (
            bool(games.crawford[game]),
            bool(games.crawford_done[game]),
        )


@pytest.mark.parametrize("rules", RULES, ids=_ids)
def test_records_of_random_play_come_back_and_agree_with_the_engine_at_every_decision(
    rules: GameOptions, scale: Callable[[int], int]
) -> None:
    short = rules.variant == "sprintgammon"
    num_games = scale(80 if short else 40)
    looks = 0.01 if not short or num_games == 80 else 0.05 if rules.match_length else 0.3  # some ten milliseconds each
    for match in play_recorded(rules, num_games, seed=5, look=agrees, looks=looks):
        text = saved_game_text(match)
        assert read_saved_game(text) == match and (match.names, match.headers) == (NAMES, HEADERS)
        assert read_saved_game(json.dumps(json.loads(text))) == match
        last, state = match.games[-1], json.loads(text)["state"]
        assert state["phase"] == "over" and last.winner is not None
        if rules.match_length:
            assert state["score"][last.winner] == rules.match_length > state["score"][1 - last.winner]
        with pytest.raises(NotationError, match="resume: found it over at"):
            resume(match)


@pytest.mark.parametrize("variant", ["backgammon", "sprintgammon"])
def test_a_saved_game_becomes_match_text_and_comes_back_from_it(variant: str, scale: Callable[[int], int]) -> None:
    rules = GameOptions(variant, match_length=3)
    for match in play_recorded(rules, scale(60), seed=2):
        foreign = read_match_text(match_text(replace(match, headers=())), variant)
        assert [(game.winner, game.points, game.score) for game in foreign.games] == [
            (game.winner, game.points, game.score) for game in match.games
        ]
        assert replace(under_rules(foreign, rules), headers=HEADERS) == match
        assert read_saved_game(saved_game_text(under_rules(foreign, rules))).games == match.games
    with pytest.raises(NotationError, match="variant: found 'longgammon'"):
        match_text(play_recorded(GameOptions("longgammon", cube=False), 1)[0])


def test_match_text_leaves_out_what_it_has_no_place_for_and_refuses_automatic_doubles() -> None:
    rules = GameOptions(resignation=True)
    refused = (Roll(0, (2, 1), ((13, 11), (6, 5))), Resignation(1, 1, False), CubeAction(1, "double"))
    match = MatchRecord(NAMES, 0, (GameRecord((0, 0), refused, None, 0),), rules=rules)
    assert read_match_text(match_text(match)).games[0].actions == (refused[0], refused[2])
    doubled = replace(
        match, games=(replace(match.games[0], automatic_doubles=1),), rules=GameOptions(automatic_doubles=1)
    )
    with pytest.raises(NotationError, match="game 1: cannot say automatic doubles"):
        match_text(replace(doubled, games=(replace(doubled.games[0], actions=refused[:1]),)))


# One small file, every part of it in sight. Player 1 opens with 2-1; the match goes on in player 0's turn.

SMALL = """{
 "format": "nardy-game",
 "version": 1,
 "rules": {"variant": "backgammon", "match_length": 3, "cube": true, "jacoby": false, "crawford": true, \
"max_cube": 64, "beavers": false, "raccoons": false, "automatic_doubles": 0, "resignation": true},
 "players": ["Otto", "Xena"],
 "metadata": {"Event": "Tea"},
 "games": [
  {"score": [0, 0], "crawford": false, "automatic_doubles": 0, "opening": [1, 2], "actions": [
    {"player": 1, "dice": [1, 2], "play": "13/11 6/5"},
    {"player": 0, "resign": "gammon", "accepted": false},
    {"player": 0, "cube": "double"},
    {"player": 1, "cube": "drop"}
   ], "result": {"winner": 0, "points": 1, "by": "drop", "level": 0}},
  {"score": [1, 0], "crawford": false, "automatic_doubles": 0, "opening": [3, 1], "actions": [
    {"player": 0, "dice": [3, 1], "play": "8/5 6/5"},
    {"player": 1, "cube": "double"},
    {"player": 0, "cube": "take"},
    {"player": 1, "dice": [6, 6], "play": "24/18 24/18 13/7 13/7"},
    {"player": 0, "dice": [5, 2], "moves": ["13/8"]}
   ], "result": null}
 ],
 "state": {"phase": "move", "player": 0, "decides": 0, \
"board": [[0, 0, 0, 0, 0, 2, 4, 0, 3, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0], \
[0, 0, 0, 0, 0, 0, 5, 2, 3, 0, 0, 0, 0, 3, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0]], \
"dice": [5, 2], "dice_left": [2], "heads_left": null, "second_first": false, "cube_value": 2, "cube_owner": 0, \
"resignation": 0, "refused": 0, "score": [1, 0], "crawford": false, "crawford_done": false}
}
"""


def test_the_text_of_a_match_in_the_middle_of_a_turn() -> None:
    match = read_saved_game(SMALL)

    assert saved_game_text(match) == SMALL
    assert match.games[1].actions[-1] == Roll(0, (5, 2), None, (4 * 25 + 12,))
    assert match.games[0].actions[1] == Resignation(0, 2, False)
    assert (match.names, match.headers) == (("Otto", "Xena"), (("Event", "Tea"),))
    assert read_saved_game("\ufeff" + SMALL.replace("\n", "\r\n")) == match


def test_every_option_is_saved() -> None:
    """A new option changes the format: it needs another version, and a reader that knows both."""
    assert [field.name for field in fields(GameOptions)] == list(json.loads(SMALL)["rules"])


def changed(*path: Any, to: Any = None, without: bool = False) -> str:
    """`SMALL` with one place changed, added or taken out."""
    whole = json.loads(SMALL)
    place = whole
    for key in path[:-1]:
        place = place[key]
    if without:
        del place[path[-1]]
    elif path[-1] == "append":
        place.append(to)
    else:
        place[path[-1]] = to
    return json.dumps(whole)


def action(game: int, number: int) -> tuple[Any, ...]:
    return ("games", game - 1, "actions", number - 1)


REFUSED = [
    ("", "found no JSON: Expecting value in line 1, column 1"),
    ("[]", 'found something else, wanted an object with "format": "nardy-game"'),
    ('{"format": "nardy-game", "format": 1}', "found 'format' twice"),
    ('{"a": NaN}', "found NaN, wanted a number"),
    ("[" * 100_000, "found JSON that is out of bounds"),
    ('{"format": "nardy-game", "version": ' + "[" * 200 + "]" * 200 + "}", "version: found a list of 1, wanted 1"),
    ("9" * 5000, "found JSON that is out of bounds"),
    (" " * 4_000_001, "found 4000001 characters, wanted at most 4000000"),
    (changed("format", to="mat"), "found something else"),
    (changed("version", to=2), "version: found 2, wanted 1"),
    (changed("version", to=1.0), "version: found 1.0, wanted 1"),
    (changed("version", to=True), "version: found true, wanted 1"),
    (changed("clock", to=None), "top level: found 'clock', wanted only format, version"),
    (changed("state", without=True), "top level: found no 'state'"),
    (changed("rules", "cap", to=1), "rules: found 'cap', wanted only variant"),
    (changed("rules", "cube", without=True), "rules: found no 'cube'"),
    (changed("rules", "cube", to=1), "rules: cube: found 1, wanted true or false"),
    (changed("rules", "match_length", to=True), "rules: match_length: found true, wanted a number from 0 to 1000"),
    (changed("rules", "match_length", to=10**30), "rules: match_length: found 1000000000"),
    (changed("rules", "variant", to="nackgammon"), "rules: variant: found 'nackgammon'"),
    (changed("rules", "jacoby", to=True), "rules: jacoby: found it with match_length"),
    (changed("rules", "max_cube", to=65536), "rules: max_cube: found 65536, wanted a number from 1 to 32768"),
    (changed("players", to=["Otto"]), "players: found a list of 1, wanted a list of 2"),
    (changed("players", 0, to="x" * 101), "name: found 'xxxx"),
    (changed("players", 0, to="\ud800"), "name: found '\\ud800', wanted at most 100 printable characters"),
    (changed("metadata", "Event", to=3), "metadata: found 3, wanted a text"),
    (changed("metadata", "Event", to="x" * 1001), "metadata: found 'xxxx"),
    (changed("metadata", to={str(number): "" for number in range(101)}), "metadata: found an object of 101"),
    (changed("games", to=[]), "games: found a list of 0, wanted a list of 1 to 10000"),
    (changed("games", 0, "score", to=[1, 0]), "game 1: score: found 1-0, wanted 0-0 in the first game"),
    (changed("games", 1, "score", to=[2, 0]), "game 2: score: found 2-0, wanted 1-0 after the game before"),
    (changed("games", 1, "crawford", to=True), "game 2: crawford: found true, wanted false"),
    (changed("games", 1, "automatic_doubles", to=1), "game 2: automatic doubles: found 1, wanted 0 to 0"),
    (changed("games", 1, "opening", to=[1, 3]), "game 2: opening: 0: found 1, wanted 3"),
    (changed("games", 1, "opening", to=None), "game 2: opening: found null, wanted a list of 2"),
    (changed("games", 1, "winner", to=0), "game 2: game: found 'winner', wanted only score"),
    (changed("games", 0, "result", to=None), "game 1: winner: found no winner, wanted player 0"),
    (changed("games", 0, "result", "points", to=2), "game 1: points: found 2, wanted 1"),
    (changed("games", 0, "result", "by", to="play"), 'game 1: result: by: found "play", wanted "drop"'),
    (changed("games", 0, "result", "level", to=1), "game 1: result: level: found 1, wanted 0"),
    (changed("games", 1, "result", to={"winner": 0}), "game 2: result: found no 'points'"),
    (changed(*action(1, 1), "dice", to=[2, 1]), "game 1: action 1: opening: found 2-1 and player 1 on roll"),
    (changed(*action(1, 1), "dice", to=[2, 2]), "game 1: action 1: opening: found 2-2"),
    (changed(*action(1, 1), "play", to="13/11 6/4"), "game 1: action 1: the play of 1-2 by player 1 is not legal"),
    (changed(*action(1, 1), "play", to="13/11  6/5"), "game 1: action 1: play: found '13/11  6/5'"),
    (changed(*action(1, 1), "play", to="pass"), "game 1: action 1: the play of 1-2 by player 1 is not legal"),
    (changed(*action(1, 1), "moves", to=[]), "game 1: action 1: found an object of 4, wanted an object with one of"),
    (changed(*action(1, 1), to={"player": 1, "dice": [1, 2], "play": None}), "game 1: action 1: play: found null"),
    (changed(*action(1, 1), to=7), "game 1: action 1: found 7, wanted an object with one of play, moves, cube, resign"),
    (changed(*action(1, 2), "resign", to="double"), "game 1: action 2: resign: found 'double'"),
    (changed(*action(1, 2), "accepted", to=0), "game 1: action 2: accepted: found 0, wanted true or false"),
    (changed(*action(1, 2), "accepted", to=True), "game 1: action 3: found an action after the end of the game"),
    (changed(*action(1, 2), "accepted", to=None), "game 1: action 3: found an action while a resignation is on offer"),
    (changed(*action(1, 2), "player", to=1), "game 1: action 2: found a resignation of player 1, wanted player 0's"),
    (changed("rules", "resignation", to=False), "game 1: action 2: found a resignation, wanted none"),
    (changed(*action(1, 3), "cube", to="beaver"), "game 1: action 3: found a beaver without a double on offer"),
    (changed(*action(1, 3), "cube", to="redouble"), "game 1: action 3: cube action: found 'redouble'"),
    (changed(*action(1, 4), "cube", to="beaver"), "game 1: action 4: found a beaver after a double"),
    (changed("rules", "cube", to=False), "game 1: action 3: found a double, wanted none: this game is played without"),
    (changed("rules", "max_cube", to=1), "game 1: action 3: found the cube turned to 2, wanted at most 1"),
    (changed("rules", "match_length", to=1), "game 1: action 3: found a double of a dead cube at 1"),
    (changed(*action(2, 5), "moves", to=["13/11", "13/8"]), "game 2: action 5: found 2 moves that finish the turn"),
    (changed(*action(2, 5), "moves", to=["6/off"]), "game 2: action 5: move 1 of the turn is not legal, wanted one of"),
    (changed(*action(2, 5), "moves", to=["roll"]), "game 2: action 5: move 1 of the turn is not legal"),
    (changed(*action(2, 5), "moves", to=["13-8"]), "game 2: action 5: action: found '13-8'"),
    (changed("games", 1, "actions", "append", to={"player": 1, "cube": "double"}), "game 2: action 6: found an action"),
    (changed("games", "append", to=json.loads(SMALL)["games"][0]), "game 2: found it unfinished, wanted only the last"),
    (changed("state", "phase", to="over"), 'state: phase: found "over", wanted "move"'),
    (changed("state", "board", 0, 24, to=1), "state: board: 0: 24: found 1, wanted 2"),
    (changed("state", "board", to=[]), "state: board: found a list of 0, wanted a list of 2"),
    (changed("state", "dice_left", to=[5]), "state: dice_left: 0: found 5, wanted 2"),
    (changed("state", "cube_owner", to=False), "state: cube_owner: found false, wanted 0"),
    (changed("state", "refused", without=True), "state: found no 'refused'"),
]


@pytest.mark.parametrize(("text", "reason"), REFUSED, ids=[reason[:60] for _, reason in REFUSED])
def test_files_that_are_refused(text: str, reason: str) -> None:
    with pytest.raises(NotationError, match="saved game: ") as error:
        read_saved_game(text)
    assert reason in str(error.value)
    assert len(str(error.value)) < 400


def test_a_resignation_is_refused_once_the_cube_was_turned_or_the_same_level_refused() -> None:
    start = Roll(1, (1, 2), ((13, 11), (6, 5)))
    rules = GameOptions(resignation=True)

    def judged(*actions: Any) -> None:
        game_states(MatchRecord(NAMES, 0, (GameRecord((0, 0), (start, *actions), None, 0),), rules=rules))

    judged(Resignation(0, 1, False), Resignation(0, 3, None))
    judged(Resignation(0, 1, False), CubeAction(0, "double"), CubeAction(1, "take"))
    for actions, reason in (
        ((Resignation(0, 2, False), Resignation(0, 1, None)), "found level 1, wanted more than the 2 refused"),
        ((CubeAction(0, "double"), Resignation(0, 1)), "while a double is on offer"),
        ((CubeAction(0, "double"), CubeAction(1, "take"), Resignation(0, 1)), "wanted it before rolling and doubling"),
        ((Roll(0, (6, 5), None), Resignation(0, 1)), "wanted it before rolling and doubling"),
        ((Roll(0, (6, 5), None), Resignation(0, 1, False)), "found a resignation after a roll and not accepted"),
    ):
        with pytest.raises(NotationError, match=re.escape(reason)):
            judged(*actions)


def test_beavers_and_raccoons_need_their_option_and_room_under_the_limit() -> None:
    turned = (Roll(1, (1, 2), ((13, 11), (6, 5))), CubeAction(0, "double"), CubeAction(1, "beaver"))

    def judged(rules: GameOptions, *actions: Any) -> None:
        game_states(MatchRecord(NAMES, 0, (GameRecord((0, 0), actions, None, 0),), rules=rules))

    judged(GameOptions(beavers=True, max_cube=4), *turned)
    judged(GameOptions(beavers=True, raccoons=True, max_cube=8), *turned, CubeAction(0, "raccoon"))
    for rules, actions, reason in (
        (GameOptions(), turned, "action 3: found a beaver, wanted none"),
        (GameOptions(beavers=True, max_cube=2), turned, "action 3: found the cube turned to 4, wanted at most 2"),
        (GameOptions(beavers=True), (*turned, CubeAction(0, "raccoon")), "action 4: found a raccoon, wanted none"),
        (
            GameOptions(beavers=True, raccoons=True, max_cube=4),
            (*turned, CubeAction(0, "raccoon")),
            "action 4: found the cube turned to 8, wanted at most 4",
        ),
    ):
        with pytest.raises(NotationError, match=reason):
            judged(rules, *actions)


def test_a_gammon_resigned_under_the_jacoby_rule_counts_once_the_cube_was_turned() -> None:
    opened = Roll(1, (1, 2), ((13, 11), (6, 5)))
    doubled = (CubeAction(0, "double"), CubeAction(1, "take"), Roll(0, (6, 5), ((24, 18), (18, 13))))
    rules = GameOptions(jacoby=True, resignation=True, automatic_doubles=1)
    for before, player, points, centred in (((opened,), 0, 2, True), ((opened, *doubled), 1, 8, False)):
        game = GameRecord((0, 0), (*before, Resignation(player, 2)), 1 - player, points, automatic_doubles=1)
        match = MatchRecord(NAMES, 0, (game,), rules=rules)
        assert read_saved_game(saved_game_text(match)) == match
        wrong = points * 2 if centred else points // 2
        with pytest.raises(NotationError, match=f"points: found {wrong}, wanted {points}"):
            saved_game_text(replace(match, games=(replace(game, points=wrong),)))


def test_longgammon_has_no_third_level_and_two_heads_only_for_the_second_player() -> None:
    long, rules = "longgammon", GameOptions("longgammon", resignation=True)
    opened = Roll(0, (6, 5), ((24, 18), (18, 13)))
    heads = ((24, 20), (24, 20), (20, 16), (20, 16))
    for actions, reason in (
        ((opened, Resignation(1, 3, None)), "resignation: found level 3, wanted 1 to 2"),
        ((opened, Roll(1, (4, 4), heads)), ""),
        ((Roll(0, (6, 5), ((24, 18), (24, 19))),), "action 1: the play of 6-5 by player 0 is not legal"),
        (
            (opened, Roll(1, (2, 1), ((24, 22), (22, 21))), Roll(0, (4, 4), heads)),
            "action 3: the play of 4-4 by player 0 is not legal",
        ),
    ):
        match = MatchRecord(NAMES, 0, (GameRecord((0, 0), actions, None, 0),), variant=long, rules=rules)
        if reason:
            with pytest.raises(NotationError, match=reason):
                saved_game_text(match)
        else:
            assert read_saved_game(saved_game_text(match)) == match


def test_an_unfinished_turn_of_longgammon_counts_the_heads_that_may_still_move() -> None:
    opened, four = Roll(0, (6, 5), ((24, 18), (18, 13))), 3 * 25 + 23  # 24/20
    later = (opened, Roll(1, (2, 1), ((24, 22), (22, 21))))
    rules = GameOptions("longgammon", cube=False)
    for before, moves, heads_left in (
        ((opened,), (four,), 1),
        ((opened,), (four, four), 0),
        ((opened,), (four, four, four), None),
        (later, (four,), 0),
        (later, (four, four), None),
    ):
        roll = Roll(1 - before[-1].player, (4, 4), None, moves)
        match = MatchRecord(
            NAMES, 0, (GameRecord((0, 0), (*before, roll), None, 0),), variant="longgammon", rules=rules
        )
        if heads_left is None:
            with pytest.raises(NotationError, match=f"move {len(moves)} of the turn is not legal"):
                saved_game_text(match)
        else:
            assert json.loads(saved_game_text(match))["state"]["heads_left"] == heads_left
            assert resume(match).heads_left.tolist() == [heads_left]


MATCH = read_saved_game(SMALL)


@pytest.mark.parametrize(
    ("match", "reason"),
    [
        (replace(MATCH, rules=None), "rules: found none"),
        (replace(MATCH, rules=GameOptions(match_length=5)), "rules: found ('backgammon', 5), wanted ('backgammon', 3)"),
        (replace(MATCH, games=()), "games: found 0, wanted 1 to 10000"),
        (replace(MATCH, names=("a\nb", "c")), "name: found 'a\\nb'"),
        (replace(MATCH, headers=(("Event", "Tea"), ("Event", "Cake"))), "metadata: found a name twice"),
        (replace(MATCH, headers=(("Event", "x" * 1001),)), "metadata: found 'xxx"),
        (read_match_text(M1), "rules: found none"),
        (replace(read_match_text(M1), rules=GameOptions(match_length=3)), "opening: found 2-1 and player 1 on roll"),
    ],
)
def test_records_that_are_not_saved(match: MatchRecord, reason: str) -> None:
    with pytest.raises(NotationError, match="saved game: ") as error:
        saved_game_text(match)
    assert reason in str(error.value)


def test_a_record_as_long_as_a_file_may_be_is_refused_before_it_is_written() -> None:
    play = Roll(0, (2, 1), ((13, 11), (6, 5)))
    games = tuple(GameRecord((number, 0), (play, Resignation(1, 1)), 0, 1) for number in range(10_001))
    with pytest.raises(NotationError, match="games: found 10001, wanted 1 to 10000"):
        saved_game_text(MatchRecord(NAMES, 0, games, rules=GameOptions(resignation=True)))


def test_between_two_games_the_next_is_dealt_with_the_score_and_the_crawford_rule() -> None:
    finished = replace(
        MATCH, match_length=2, games=MATCH.games[:1], rules=GameOptions(match_length=2, resignation=True)
    )
    decisions = resume(read_saved_game(saved_game_text(finished)), seed=1)
    assert decisions.games.score.tolist() == [[1, 0]] and bool(decisions.games.crawford[0])
    assert int(decisions.phase[0]) == Phase.MOVE and int(decisions.games.turn[0]) == 0
    with pytest.raises(NotationError, match="found no rules or no game"):
        resume(replace(MATCH, games=()))


def test_a_session_of_money_games_is_recorded_in_one_file() -> None:
    rules = GameOptions("sprintgammon", resignation=True)
    decisions = Decisions(Games(1, rules, seed=1))
    recorder = Recorder(rules, *observed(decisions, 0))
    for _ in range(2):
        while int(decisions.phase[0]) != Phase.OVER:
            mask = decisions.mask()[0]
            number = next(a for a in (RESIGN_GAMMON, 160, ROLL, *range(162)) if mask[a])
            decisions.step(torch.tensor([number]))
            recorder.step(number, *observed(decisions, 0))
        with pytest.raises(NotationError, match="found an action after the end"):
            recorder.step(ROLL, *observed(decisions, 0))
        decisions.deal(torch.ones(1, dtype=torch.bool))
        recorder.start(*observed(decisions, 0))
    match = recorder.record()
    assert [game.points for game in match.games] == [2, 2, 0]
    assert match.games[2].score == (4, 0) or match.games[2].score in {(2, 2), (0, 4)}
    assert read_saved_game(saved_game_text(match)) == match


# Any change anywhere: refused by name, or another game that comes back as itself.

SOURCES = [SMALL] + [
    saved_game_text(play_recorded(GameOptions("sprintgammon", **options), 1, seed)[0])  # type: ignore[arg-type]
    for seed, options in enumerate((MONEY, {"match_length": 2, "resignation": True}))
]
LEAVES: st.SearchStrategy[Any] = st.sampled_from(
    [
        None,
        True,
        False,
        -1,
        0,
        1,
        2,
        3,
        4,
        6,
        15,
        10**20,
        0.5,
        "",
        "pass",
        "take",
        "drop",
        "double",
        "13/8",
        "4:2/off",
        [],
    ]
)


@st.composite
def altered(draw: st.DrawFn) -> str:
    """A good file with a few values changed, taken out, doubled or put elsewhere."""
    whole = json.loads(draw(st.sampled_from(SOURCES)))
    for _ in range(draw(st.integers(1, 2))):
        place = whole
        while True:
            keys = list(place) if isinstance(place, dict) else list(range(len(place)))
            if not keys:
                break
            key = draw(st.sampled_from(keys))
            if isinstance(place[key], dict | list) and draw(st.integers(0, 4)):
                place = place[key]
                continue
            kind = draw(st.sampled_from(["leaf", "leaf", "leaf", "delete", "copy", "add"]))
            if kind == "delete":
                del place[key]
            elif kind == "copy" and isinstance(place, list):
                place.insert(key, place[draw(st.sampled_from(keys))])
            elif kind == "add" and isinstance(place, dict):
                place[draw(st.sampled_from(["play", "moves", "cube", "score", "x"]))] = draw(LEAVES)
            else:
                place[key] = draw(LEAVES)
            break
    return json.dumps(whole)


def _read_again(text: str) -> None:
    with suppress(NotationError):
        match = read_saved_game(text)
        written = saved_game_text(match)
        assert read_saved_game(written) == match and json.loads(written) == json.loads(text)


def test_altered_files_are_refused_or_say_what_they_say(full: bool) -> None:
    @settings(max_examples=3000 if full else 300)
    @given(altered())
    def check(text: str) -> None:
        _read_again(text)

    check()


def test_spoilt_files_are_read_or_refused(full: bool) -> None:
    @settings(max_examples=1500 if full else 150)
    @given(st.data())
    def check(data: st.DataObject) -> None:
        text = data.draw(st.sampled_from(SOURCES))
        place = data.draw(st.integers(0, len(text)))
        piece = data.draw(st.text(st.sampled_from('{}[]",: 019-+.eEntf\\u\0é'), max_size=3))
        with suppress(NotationError):
            read_saved_game(text[:place] + piece + text[place + data.draw(st.integers(0, 3)) :])

    check()


@settings(max_examples=100)
@given(st.text() | st.recursive(LEAVES, lambda v: st.lists(v) | st.dictionaries(st.text(), v)).map(json.dumps))
def test_any_text_is_read_or_refused(text: str) -> None:
    with suppress(NotationError):
        read_saved_game(text)
