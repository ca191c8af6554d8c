"""Cube, score and dice of a batch of games: the rows C, K and P of rules.md 2.12 to 2.14, and what a seed fixes."""

from __future__ import annotations

from typing import Any, cast

import pytest
import torch
from torch import Tensor

from nardy.env import Cube, GameEnd, GameOptions, Games, afterstates
from nardy.env.cube import CENTRED, MINE, THEIRS
from nardy.env.dice import Purpose, opening_rolls, random_words, rolls, uniforms

from ..positions import position, to_boards

ALL = torch.ones(1, dtype=torch.bool)


def game_before_roll(options: GameOptions, player: int = 0, cube: Cube | None = None) -> Games:
    """One game, ``player`` on roll and the dice not rolled, the cube as he sees it."""
    games = Games(1, options)
    games.place(ALL, player=torch.tensor([player], dtype=torch.int8), dice=torch.zeros_like(games.dice), cube=cube)
    return games


def won(level: int, variant: str = "backgammon") -> Tensor:
    """A final position, won at ``level`` by side 0."""
    set_of = 3 if variant == "sprintgammon" else 15
    loser = {1: f"18:{set_of - 1} off:1", 2: f"7:{set_of}", 3: f"7:{set_of - 1} bar:1"}[level]
    return to_boards([position(f"off:{set_of}", loser, variant)])


def award(games: Games, winner: int, points: int) -> GameEnd:
    """Let ``winner`` win ``points`` over the board and deal the next game."""
    level, value = {1: (1, 1), 2: (2, 1), 3: (3, 1), 4: (2, 2), 6: (3, 2), 8: (2, 4)}[points]
    games.player.fill_(winner)
    games.cube_value.fill_(value)
    end = games.play(won(level))
    games.deal(end.finished)
    return end


# id, N, me, opponent, cube, owner, Crawford game, dice rolled, may I offer?
CUBE_ROWS = [
    ("C01", 7, 3, 2, 4, "mine", False, False, False),
    ("C02", 7, 3, 2, 2, "mine", False, False, True),
    ("C03", 7, 2, 3, 4, "mine", False, False, True),
    ("C04", 7, 6, 3, 1, "centred", False, False, False),
    ("C05", 7, 3, 6, 1, "centred", False, False, True),
    ("C06", 7, 5, 6, 1, "centred", False, False, True),
    ("C07", 7, 5, 6, 1, "centred", True, False, False),
    ("C08", 7, 6, 6, 1, "centred", False, False, False),
    ("C09", 7, 6, 4, 2, "mine", False, False, False),
    ("C10", 7, 0, 0, 4, "mine", False, False, True),
    ("C11", 7, 0, 0, 8, "mine", False, False, False),
    ("C12", 1, 0, 0, 1, "centred", False, False, False),
    ("C13", 7, 0, 0, 2, "theirs", False, False, False),
    ("C14", 7, 0, 0, 1, "centred", False, True, False),
    ("C16", 7, 0, 0, 1, "centred", False, False, True),
    ("C17", 0, 0, 0, 32, "mine", False, False, True),
    ("C18", 0, 0, 0, 64, "mine", False, False, False),
]


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("row", CUBE_ROWS, ids=[row[0] for row in CUBE_ROWS])
def test_the_cube_may_be_offered_where_the_rules_say_so(row: tuple[Any, ...], player: int) -> None:
    _, length, mine, theirs, value, owner, crawford, rolled, allowed = row
    away = (length - mine, length - theirs) if length else None
    cube = Cube(value, owner, away=away, crawford=crawford)
    games = game_before_roll(GameOptions(match_length=length), player, cube)
    if rolled:
        games.roll()

    assert games.may_double().tolist() == [allowed]
    assert cube.may_double().tolist() == [allowed or rolled]  # the dice apart
    before = {name: tensor.clone() for name, tensor in games.state().items()}
    end = games.double(ALL, take=ALL)
    assert not end.finished.any()
    if allowed:
        assert games.cube_value.tolist() == [2 * value] and games.cube_owner.tolist() == [THEIRS]
    else:
        assert all(torch.equal(before[name], tensor) for name, tensor in games.state().items())


def test_the_starter_may_not_double_before_his_first_turn() -> None:  # C15
    games = Games(64, GameOptions(match_length=7), seed=3)
    assert not games.may_double().any()

    games.play(games.boards)

    assert games.may_double().all()  # C16: the second player's first turn


def test_without_a_cube_nobody_doubles() -> None:
    assert not game_before_roll(GameOptions(cube=False)).may_double().any()


# id, N, games won before as (player, points), is the game that follows the Crawford game?
CRAWFORD_ROWS = [
    ("K01 4-0", 7, [(0, 4), (0, 2)], True),
    ("K01 5-0", 7, [(0, 4), (0, 1), (0, 1)], True),
    ("K01 0-0", 7, [(0, 6)], True),
    ("K01 2-0", 7, [(0, 2), (0, 4)], True),
    ("K01 3-0", 7, [(0, 3), (0, 3)], True),
    ("K02", 7, [(0, 4), (1, 1), (0, 1), (0, 1)], True),
    ("K03", 7, [(0, 6), (1, 1)], False),
    ("K04 5-3", 7, [(1, 3), (0, 4), (0, 1), (0, 1)], True),
    ("K04 6-1", 7, [(0, 6), (1, 1), (1, 2)], False),
    ("K05 4-4", 7, [(0, 4), (1, 4), (0, 2)], True),
    ("K05 6-2", 7, [(1, 2), (0, 6), (1, 2)], False),
    ("K06 5-5", 7, [(0, 4), (1, 4), (0, 1), (1, 1), (0, 1)], True),
    ("K06 6-4", 7, [(1, 4), (0, 6), (1, 1)], False),
    ("K07 8-3", 11, [(0, 8), (1, 3)], False),
    ("K07 5-2", 7, [(0, 4), (1, 2), (0, 1)], False),
    ("K07 8-4", 13, [(1, 4), (0, 8)], False),
    ("K08", 7, [(0, 6), (1, 4), (1, 1), (1, 1)], False),
    ("once only", 7, [(0, 6), (1, 6)], False),
    ("N = 1", 1, [], True),  # formally met
]


@pytest.mark.parametrize("swapped", [False, True], ids=["leader 0", "leader 1"])
@pytest.mark.parametrize(
    ("length", "history", "crawford"), [r[1:] for r in CRAWFORD_ROWS], ids=[r[0] for r in CRAWFORD_ROWS]
)
def test_the_crawford_game_depends_on_the_history(
    length: int, history: list[tuple[int, int]], crawford: bool, swapped: bool
) -> None:
    games = Games(1, GameOptions(match_length=length))
    for winner, points in history:
        award(games, winner ^ swapped, points)

    assert games.crawford.tolist() == [crawford]
    games.dice.zero_()
    if crawford:
        assert not games.may_double().any()


def test_the_score_alone_does_not_tell_the_crawford_game() -> None:  # K09
    for away in ((1, 6), (1, 4), (1, 3), (1, 2)):
        for crawford in (True, False):
            games = game_before_roll(GameOptions(match_length=7), cube=Cube(away=away, crawford=crawford))
            assert games.crawford.tolist() == [crawford]
            award(games, 1, 1)
            assert not games.crawford.any()  # it has been now, or had been before


def test_a_match_without_the_crawford_rule_has_no_such_game() -> None:
    games = Games(1, GameOptions(match_length=7, crawford=False))
    award(games, 0, 6)
    assert not games.crawford.any()


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize(
    ("mover_off", "loser", "value", "variant", "points"),
    [
        ("off:15", "13:13 off:1 bar:1", 1, "backgammon", 1),  # P01
        ("off:15", "7:5 12:5 24:5", 2, "backgammon", 4),  # P02: the loser's own 1 to 18
        ("off:15", "6:1 12:14", 4, "backgammon", 12),  # P03: on the loser's 19
        ("off:15", "1:1 12:14", 4, "backgammon", 12),  # P03: on the loser's 24
        ("off:15", "12:14 bar:1", 4, "backgammon", 12),  # P03: on the bar
        ("off:15", "12:14 off:1", 2, "backgammon", 2),  # P04
        ("off:15", "12:15", 2, "backgammon", 4),
        ("off:15", "12:14 3:1", 2, "backgammon", 6),
        ("off:15", "12:14 off:1", 4, "backgammon", 4),  # P05
        ("off:15", "12:15", 4, "backgammon", 8),
        ("off:15", "12:14 3:1", 4, "backgammon", 12),
        ("off:3", "3:1 24:2", 1, "sprintgammon", 3),  # P08: on the loser's 22
    ],
)
def test_a_game_is_worth_its_level_times_the_cube(
    mover_off: str, loser: str, value: int, variant: str, points: int, player: int
) -> None:
    games = game_before_roll(GameOptions(variant), player)
    games.cube_value.fill_(value)
    games.roll()

    end = games.play(to_boards([position(mover_off, loser, variant)]))

    sign = 1 - 2 * player
    assert end.finished.all() and not end.dropped.any() and not end.match_winner.any()
    assert end.points.tolist() == [sign * points]
    assert end.level.tolist() == [sign * points // value]


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("value", [1, 2, 4])
def test_a_drop_costs_the_value_before_the_turn_of_the_cube(value: int, player: int) -> None:  # P06
    games = game_before_roll(GameOptions(jacoby=True), player, Cube(value, "mine" if value > 1 else "centred"))

    end = games.double(ALL, take=~ALL)

    assert end.finished.all() and end.dropped.all()
    assert end.points.tolist() == [value * (1 - 2 * player)] and end.level.tolist() == [0]


def test_a_match_ends_with_surplus_points_cut_off_and_the_next_one_starts_afresh() -> None:  # P09
    games = Games(1, GameOptions(match_length=7))
    for winner, points in ((0, 4), (1, 3), (0, 1)):
        assert not award(games, winner, points).match_winner.any()
    assert games.score.tolist() == [[5, 3]]
    games.player.fill_(0)
    games.cube_value.fill_(2)

    end = games.play(won(2))

    assert end.match_winner.tolist() == [1] and end.points.tolist() == [4]
    assert games.score.tolist() == [[7, 3]]
    games.deal(end.finished)
    assert games.score.tolist() == [[0, 0]] and not games.crawford.any() and not games.crawford_done.any()


def test_the_cube_can_be_asked_for_between_the_end_of_a_match_and_the_next_deal() -> None:
    games = Games(1, GameOptions(match_length=3))
    games.player.fill_(0)
    end = games.play(won(3))
    assert end.match_winner.tolist() == [1]
    assert games.cube().as_tensors(1).away.tolist() == [[3, 0]]  # seen by the loser


def test_the_cube_of_a_game_is_the_one_that_its_player_sees() -> None:
    games = game_before_roll(GameOptions(match_length=7), 1, Cube(2, "mine", away=(5, 2)))
    cube = games.cube().as_tensors(1)
    assert (cube.value.tolist(), cube.owner.tolist(), cube.away.tolist()) == ([2], [MINE], [[5, 2]])
    assert games.cube().flip().as_tensors(1).away.tolist() == [[2, 5]]


def test_the_second_player_can_win_a_match_by_a_drop() -> None:
    games = game_before_roll(GameOptions(match_length=3), 1, Cube(2, "mine", away=(3, 3)))
    end = games.double(ALL, take=~ALL)
    assert end.match_winner.tolist() == [0] and games.score.tolist() == [[0, 2]]
    games.deal(end.finished)
    assert games.crawford.all()
    assert award(games, 1, 1).match_winner.tolist() == [-1]


@pytest.mark.parametrize(("value", "owner", "points"), [(1, CENTRED, 1), (2, MINE, 4), (2, THEIRS, 4)])
def test_jacoby_counts_a_gammon_once_the_cube_is_turned(value: int, owner: int, points: int) -> None:  # P10
    games = game_before_roll(GameOptions(jacoby=True))
    games.cube_value.fill_(value)
    games.cube_owner.fill_(owner)

    end = games.play(won(2))

    assert end.points.tolist() == [points] and end.level.tolist() == [2]


def test_turns_pass_and_the_cube_is_seen_from_the_other_side() -> None:
    games = game_before_roll(GameOptions(match_length=5), 0, Cube(away=(4, 2)))
    games.double(ALL, take=ALL)
    games.roll()
    games.play(games.boards)
    assert games.player.tolist() == [1] and games.cube_owner.tolist() == [MINE]
    assert games.away().tolist() == [[2, 4]] and games.score.tolist() == [[1, 3]]
    assert games.dice.tolist() == [[0, 0]] and games.turn.tolist() == [1]


def test_the_second_turn_of_a_game_is_the_second_players_first() -> None:
    games = Games(2, GameOptions("longgammon"), seed=1)
    assert games.second_first().tolist() == [False, False]
    for turn in range(1, 4):
        _, ends = afterstates(games.boards[:1], games.dice[:1], "longgammon", games.second_first()[:1])
        games.play(ends[:1].expand(2, 2, 26), torch.tensor([True, False]))
        games.roll()
        assert games.second_first().tolist() == [turn == 1, False]


@pytest.mark.parametrize("player", [0, 1])
def test_longgammon_pays_two_at_most(player: int) -> None:  # P07
    games = game_before_roll(GameOptions("longgammon"), player, Cube(2, "mine"))
    end = games.play(to_boards([position("off:15", "12:14 1:1", "longgammon")]))
    assert end.level.tolist() == [2 * (1 - 2 * player)] and end.points.tolist() == [4 * (1 - 2 * player)]


def test_cubes_and_cleared_flags_are_reset_by_the_next_deal() -> None:
    games = game_before_roll(GameOptions(), 0, Cube(8, "theirs"))
    games.deal(ALL)
    assert games.cube_value.tolist() == [1] and games.cube_owner.tolist() == [CENTRED]


def test_an_abandoned_match_starts_again_at_no_score() -> None:
    games = Games(2, GameOptions(match_length=7))
    games.score[:] = torch.tensor([6, 2])
    games.crawford[:] = True

    games.restart(torch.tensor([True, False]))

    assert games.score.tolist() == [[0, 0], [6, 2]]
    assert games.crawford.tolist() == [False, True]


def played(first_slot: int, num_games: int, options: GameOptions, turns: int = 60) -> list[dict[str, Tensor]]:
    """The states of games played by offers and answers drawn from the slots' own streams; boards stay as dealt."""
    games = Games(num_games, options, seed=11, first_slot=first_slot)
    history = []
    for turn in range(turns):
        number = torch.full_like(games.slots, turn)
        drawn = uniforms(11, games.slots, number, Purpose.POLICY)
        ended = games.double(drawn < 0.2, drawn < 0.15)
        games.roll(~ended.finished)
        ended_later = games.play(games.boards, ~ended.finished)
        games.deal(ended.finished | ended_later.finished)
        history.append({name: tensor.clone() for name, tensor in games.state().items()})
    return history


def test_games_do_not_depend_on_how_the_slots_are_split() -> None:
    options = GameOptions(match_length=5)
    whole, low, high = played(10, 8, options), played(10, 3, options), played(13, 5, options)
    for together, *parts in zip(whole, low, high, strict=True):
        for name, tensor in together.items():
            assert torch.equal(tensor, torch.cat([part[name] for part in parts])), name
    assert not torch.equal(Games(8, first_slot=10).dice, Games(8, first_slot=11).dice)


def test_a_saved_state_goes_on_as_the_original() -> None:
    options = GameOptions(match_length=3)
    games, other = Games(5, options, seed=2), Games(5, options, seed=2)
    for _ in range(7):
        games.roll()
        games.play(games.boards)
    saved = {name: tensor.clone() for name, tensor in games.state().items()}
    other.load_state(saved)
    for each in (games, other):
        each.roll()
        each.play(each.boards)
        each.deal(torch.ones(5, dtype=torch.bool))
    for name, tensor in games.state().items():
        assert torch.equal(tensor, other.state()[name]), name
        assert name in saved


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"score": None}, "games: score: found nothing"),
        ({"boards": torch.zeros(4, 2, 26, dtype=torch.int8)}, r"games: boards: found shape \(4, 2, 26\)"),
        ({"turn": torch.zeros(5, dtype=torch.int64)}, "games: turn: found shape .* of torch.int64"),
    ],
)
def test_a_state_that_does_not_fit_is_refused(change: dict[str, Tensor | None], message: str) -> None:
    games = Games(5)
    state = {name: tensor for name, tensor in {**games.state(), **change}.items() if tensor is not None}
    with pytest.raises(ValueError, match=message):
        games.load_state(state)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"match_length": -1}, "match_length: found -1"),
        ({"match_length": 5, "jacoby": True}, "jacoby: found it with match_length"),
        ({"max_cube": 48}, "max_cube: found 48"),
        ({"max_cube": 2**25}, "max_cube: found 33554432, wanted a power of two from 1 to"),
        ({"variant": "chess"}, "variant: found 'chess'"),
    ],
)
def test_impossible_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        GameOptions(**options)


@pytest.mark.parametrize(
    ("counter", "key", "words"),
    [
        ("00000000 00000000 00000000 00000000", "00000000 00000000", "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
        ("ffffffff ffffffff ffffffff ffffffff", "ffffffff ffffffff", "408f276d 41c83b0e a20bc7c6 6d5451fd"),
        ("243f6a88 85a308d3 13198a2e 03707344", "a4093822 299f31d0", "d16cfe09 94fdcceb 5001e420 24126ea1"),
    ],
)
def test_random_words_are_those_of_philox_4x32_10(counter: str, key: str, words: str) -> None:
    """The known answers of the authors' library Random123."""

    def signed(number: int, bits: int) -> int:
        return number - (1 << bits) if number >> (bits - 1) else number

    low, high, slot, purpose = (int(word, 16) for word in counter.split())
    key_low, key_high = (int(word, 16) for word in key.split())
    number = torch.tensor([signed(high << 32 | low, 64)])

    found = random_words(key_high << 32 | key_low, torch.tensor([slot]), number, cast(Purpose, signed(purpose, 32)))

    assert [f"{word:08x}" for word in found[0].tolist()] == words.split()


def chi_square(counts: Tensor) -> float:
    """Distance of ``counts`` from equal counts; its mean is the number of cells less one."""
    expected = counts.sum() / len(counts)
    return float(((counts - expected) ** 2 / expected).sum())


def test_all_36_rolls_are_equally_likely() -> None:
    slots = torch.arange(360_000)
    dice = rolls(7, slots % 600, slots // 600).long()
    assert chi_square(torch.bincount(dice[:, 0] * 6 + dice[:, 1] - 7, minlength=36)) < 66.6  # 35 degrees, 0.1 %
    following = dice.roll(-1, 0)
    assert chi_square(torch.bincount(dice[:, 0] * 6 + following[:, 0] - 7, minlength=36)) < 66.6


def test_an_opening_roll_is_no_double_and_either_player_starts_equally_often() -> None:
    games = Games(30_000, seed=1)
    dice = games.dice.long()
    assert (dice[:, 0] != dice[:, 1]).all()
    assert torch.equal(games.player.bool(), dice[:, 1] > dice[:, 0])
    pairs = torch.bincount(dice[:, 0] * 6 + dice[:, 1] - 7, minlength=36)
    assert chi_square(pairs[pairs > 0]) < 58.3 and int((pairs > 0).sum()) == 30  # 29 degrees, 0.1 %
    assert torch.equal(dice, opening_rolls(1, games.slots, torch.zeros_like(games.slots)).long())


@pytest.mark.parametrize("seed", [-1, 2**64])
def test_a_seed_beyond_64_bits_is_refused(seed: int) -> None:
    with pytest.raises(ValueError, match="seed: found"):
        Games(1, seed=seed)
