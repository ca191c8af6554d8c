"""Games taken decision by decision: phases, masks, and that every game gets what the rules give it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from nardy.env import Cube, Decisions, GameOptions, Games, Phase, Step
from nardy.env.cube import THEIRS
from nardy.env.decisions import DOUBLE, DROP, NUM_ACTIONS, NUM_MOVES, PASS, ROLL, TAKE
from nardy.env.dice import Purpose, random_words
from nardy.env.refusals import why_illegal

from ..positions import from_boards, position, text, to_boards
from ..slow_moves import slow_move_mask

ONE = torch.ones(1, dtype=torch.bool)


def move(die: int, point: int) -> int:
    return (die - 1) * 25 + point - 1


def take(decisions: Decisions, *actions: int) -> Step:
    """Take these legal actions one after another in the only game; what the last one did."""
    for action in actions:
        step = decisions.step(torch.tensor([action]))
        assert step.legal.all(), why_illegal(decisions, 0, action)
    return step


def legal(decisions: Decisions, game: int = 0) -> set[int]:
    return set(decisions.mask()[game].nonzero()[:, 0].tolist())


def placed(
    mover: str,
    opponent: str,
    dice: tuple[int, int] = (0, 0),
    options: GameOptions | None = None,
    cube: Cube | None = None,
    player: int = 0,
) -> Decisions:
    """One game in a position, before the roll unless ``dice`` lie on the table."""
    options = options or GameOptions()
    decisions = Decisions(Games(1, options))
    boards = to_boards([position(mover, opponent, options.variant)])
    numbers = torch.tensor([player], dtype=torch.int8)
    decisions.place(ONE, boards, numbers, torch.tensor([dice], dtype=torch.int8), cube)
    return decisions


def longgammon_start(first: tuple[int, int], second: tuple[int, int]) -> Decisions:
    """A game of longgammon after the starter's turn with ``first``, the second player's first roll on the table."""
    decisions = Decisions(Games(1, GameOptions("longgammon", cube=False)))
    decisions.forced_dice = torch.tensor([first], dtype=torch.int8)
    decisions.restart(ONE)
    decisions.forced_dice = torch.tensor([second], dtype=torch.int8)
    while int(decisions.games.turn[0]) == 0:
        take(decisions, min(legal(decisions)))
    return decisions


RACE = ("6:5 5:5 4:5", "19:5 20:5 21:5")


def chosen_actions(decisions: Decisions, number: int, doubling: float = 0.05) -> Tensor:
    """A random legal action a game, drawn from its slot's own stream; doubles offered and dropped seldom."""
    games = decisions.games
    words = random_words(99, games.slots, torch.full_like(games.slots, number), Purpose.POLICY)
    mask = decisions.mask().clone()
    mask[:, DOUBLE] &= words[:, 0] < doubling * 2**32
    mask[:, DROP] &= words[:, 0] < 0.3 * 2**32
    mask[:, ROLL] &= ~mask[:, DOUBLE]
    mask[:, TAKE] &= ~mask[:, DROP]
    rank = words[:, 1] % mask.sum(1).clamp(min=1)
    return ((mask.cumsum(1) == rank[:, None] + 1) & mask).to(torch.int8).argmax(1)


def slow_moves(decisions: Decisions, moving: Tensor) -> Tensor:
    """The legal moves of the games ``moving``, the head's share counted from the position that the turn began with."""
    games = decisions.games
    double, number = games.dice[:, 0] == games.dice[:, 1], games.dice[:, 0]
    exception = (games.turn == 1) & double & ((number == 3) | (number == 4) | (number == 6))
    used = games.boards[:, 0, 24] - decisions.boards[:, 0, 24]
    heads = torch.where(exception, 2, 1) - used
    return slow_move_mask(decisions.boards[moving], decisions.dice_left[moving], games.options.variant, heads[moving])


def slow_mask(decisions: Decisions) -> Tensor:
    """The legal actions from the state alone, by the plain rules of the tests; no beavers, no resignation."""
    games, options = decisions.games, decisions.games.options
    moving = decisions.phase == Phase.MOVE
    moves = torch.zeros((games.num_games, NUM_MOVES), dtype=torch.bool)
    moves[moving] = slow_moves(decisions, moving)
    asked, answers = decisions.phase == Phase.CUBE, decisions.phase == Phase.ANSWER
    mine = torch.where(games.player[:, None] == 0, games.score, games.score.flip(1))[:, 0]
    dead = (mine + games.cube_value >= options.match_length) if options.match_length else torch.zeros_like(asked)
    double = asked & ~dead & ~games.crawford & (games.cube_owner != THEIRS) & (2 * games.cube_value <= options.max_cube)
    columns = [asked, double, answers, answers, moving & ~moves.any(1), *[torch.zeros_like(asked)] * 7]
    return torch.cat([moves, torch.stack(columns, 1)], 1)


@pytest.mark.parametrize(
    ("options", "full_count"),
    [
        (GameOptions(), 4_000),
        (GameOptions(match_length=5), 3_000),
        (GameOptions(jacoby=True, max_cube=4), 1_500),
        (GameOptions(cube=False), 1_500),
        (GameOptions("sprintgammon"), 10_000),
        (GameOptions("longgammon"), 10_000),
    ],
    ids=["money", "match", "jacoby", "no cube", "sprintgammon", "longgammon"],
)
def test_random_games_have_the_masks_that_the_rules_give_at_every_step(
    options: GameOptions, full_count: int, scale: Callable[[int], int], torch_threads: Callable[[int], None]
) -> None:
    torch_threads(1)  # the batches are small
    num_games = scale(full_count)
    decisions = Decisions(Games(num_games, options, seed=5))
    ended = torch.zeros(num_games, dtype=torch.bool)
    points = torch.zeros(num_games, dtype=torch.int64)
    number = 0
    while not ended.all():
        found, wanted = decisions.mask(), slow_mask(decisions)
        for row in (found != wanted).any(1).nonzero()[:, 0].tolist():
            board = text(from_boards(decisions.boards[row : row + 1])[0], options.variant)
            difference = (found[row] != wanted[row]).nonzero()[:, 0].tolist()
            pytest.fail(f"{board}, dice left {decisions.dice_left[row].tolist()}: differs at {difference}")
        assert (found.any(1) | (decisions.phase == Phase.OVER)).all(), "a step without a legal action"
        actions = chosen_actions(decisions, number)
        step = decisions.step(actions)
        assert torch.equal(step.legal, ~ended)
        assert torch.equal(step.end.finished, decisions.phase.eq(Phase.OVER) & ~ended)
        assert (step.end.points[step.end.finished] != 0).all() and (step.end.points[~step.end.finished] == 0).all()
        ended |= step.end.finished
        points += step.end.points
        number += 1
        assert number < 10_000
    assert (points != 0).all()
    assert ((decisions.boards.long().sum(2)) == (3 if options.variant == "sprintgammon" else 15)).all()


def test_a_batch_plays_what_its_slots_play_alone(torch_threads: Callable[[int], None]) -> None:
    torch_threads(1)
    options = GameOptions(match_length=3)
    batch = Decisions(Games(5, options, seed=8, first_slot=20))
    alone = [Decisions(Games(1, options, seed=8, first_slot=20 + slot)) for slot in range(5)]
    for number in range(150):
        end = batch.step(chosen_actions(batch, number, 0.2)).end
        batch.deal(end.finished)
        for decisions in alone:
            decisions.deal(decisions.step(chosen_actions(decisions, number, 0.2)).end.finished)
        for name, tensor in batch.observation().items():
            assert torch.equal(tensor, torch.cat([each.observation()[name] for each in alone])), (number, name)
        assert torch.equal(batch.mask(), torch.cat([each.mask() for each in alone]))
        assert torch.equal(batch.games.score, torch.cat([each.games.score for each in alone]))


def test_a_game_starts_with_the_moves_of_the_opening_roll() -> None:
    decisions = Decisions(Games(50, seed=4))
    assert (decisions.phase == Phase.MOVE).all()
    assert torch.equal(decisions.dice_left[:, :2], decisions.games.dice) and not decisions.dice_left[:, 2:].any()
    assert not decisions.mask()[:, NUM_MOVES:].any()


def test_a_cube_decision_is_asked_only_where_doubling_is_legal() -> None:
    assert legal(placed(*RACE)) == {ROLL, DOUBLE}
    assert placed(*RACE, options=GameOptions(cube=False)).phase.tolist() == [Phase.MOVE]
    assert placed(*RACE, cube=Cube(2, "theirs")).phase.tolist() == [Phase.MOVE]
    assert placed(*RACE, cube=Cube(64, "mine")).phase.tolist() == [Phase.MOVE]
    match = GameOptions(match_length=7)
    assert placed(*RACE, options=match, cube=Cube(4, "mine", away=(4, 5))).phase.tolist() == [Phase.MOVE]
    assert placed(*RACE, options=match, cube=Cube(away=(2, 1), crawford=True)).phase.tolist() == [Phase.MOVE]
    assert placed(*RACE, options=match, cube=Cube(away=(2, 1))).phase.tolist() == [Phase.CUBE]


@pytest.mark.parametrize("player", [0, 1])
def test_a_take_doubles_the_cube_and_gives_the_roll_back(player: int) -> None:
    decisions = placed(*RACE, player=player)
    take(decisions, DOUBLE)
    assert decisions.player().tolist() == [1 - player] and legal(decisions) == {TAKE, DROP}
    seen = decisions.observation()
    assert seen["cube_owner"].tolist() == [0] and seen["cube_value"].tolist() == [1]

    take(decisions, TAKE)

    assert decisions.player().tolist() == [player] and decisions.phase.tolist() == [Phase.MOVE]
    seen = decisions.observation()
    assert seen["cube_owner"].tolist() == [THEIRS] and seen["cube_value"].tolist() == [2]


def test_who_answers_sees_board_score_and_cube_from_his_side() -> None:
    decisions = placed(
        "6:5 5:5 4:5", "19:5 20:5 24:4 off:1", options=GameOptions(match_length=9), cube=Cube(2, "mine", away=(8, 5))
    )
    take(decisions, DOUBLE)
    seen = decisions.observation()
    assert seen["board"][0, 0].nonzero()[:, 0].tolist() == [0, 1, 5, 6]
    assert seen["away"].tolist() == [[5, 8]] and seen["cube_owner"].tolist() == [THEIRS]


@pytest.mark.parametrize("player", [0, 1])
def test_a_drop_ends_the_game_for_the_old_value(player: int) -> None:
    decisions = placed(*RACE, cube=Cube(4, "mine"), player=player)
    end = take(decisions, DOUBLE, DROP).end
    assert end.dropped.all() and end.points.tolist() == [4 * (1 - 2 * player)]
    assert decisions.phase.tolist() == [Phase.OVER] and not legal(decisions)


def test_a_dance_is_a_forced_pass() -> None:  # B03
    closed = ("24:2 23:2 22:2 21:2 20:2 19:2 12:3",)
    decisions = placed("13:5 8:4 6:5 bar:1", *closed, dice=(6, 5), cube=Cube(2, "mine"))
    assert legal(decisions) == {PASS}
    before = decisions.boards.clone()

    take(decisions, PASS)

    assert decisions.player().tolist() == [1] and decisions.phase.tolist() == [Phase.MOVE]  # the cube is the other's
    assert torch.equal(decisions.boards, before.flip(1))


def test_a_turn_ends_by_itself_when_no_die_can_be_played_any_more() -> None:  # B13: three of four 5s
    decisions = placed("24:1 8:1 off:13", "12:5 9:2 off:8", dice=(5, 5))
    take(decisions, move(5, 24), move(5, 8))
    assert decisions.player().tolist() == [0] and decisions.dice_left.tolist() == [[0, 0, 5, 5]]

    take(decisions, move(5, 19))

    assert decisions.player().tolist() == [1] and legal(decisions) == {ROLL, DOUBLE}


def test_a_turn_is_played_checker_by_checker_with_hits_on_the_way() -> None:  # S04
    decisions = placed("22:1 bar:1 off:1", "20:1 19:2", (6, 5), GameOptions("sprintgammon"))
    assert legal(decisions) == {move(5, 25)}
    take(decisions, move(5, 25))
    assert legal(decisions) == {move(6, 22), move(6, 20)}
    take(decisions, move(6, 20), ROLL)
    assert text(from_boards(decisions.boards)[0]) == text(position("6:2 bar:1", "3:1 11:1 off:1", "sprintgammon"))


@pytest.mark.parametrize("player", [0, 1])
def test_the_last_checker_off_ends_the_game_at_once(player: int) -> None:
    decisions = placed("1:1 off:14", "6:1 12:14", dice=(4, 4), cube=Cube(2, "mine"), player=player)

    end = take(decisions, move(4, 1)).end

    assert end.points.tolist() == [6 * (1 - 2 * player)] and end.level.tolist() == [3 * (1 - 2 * player)]
    assert decisions.phase.tolist() == [Phase.OVER] and not decisions.dice_left.any()
    decisions.deal(end.finished)
    assert decisions.phase.tolist() == [Phase.MOVE] and decisions.games.cube_value.tolist() == [1]


def test_an_illegal_action_changes_nothing() -> None:
    decisions = Decisions(Games(6, seed=1))
    states = {**decisions.games.state(), "phase": decisions.phase, "left": decisions.dice_left, "at": decisions.boards}
    before = {name: tensor.clone() for name, tensor in states.items()}
    mask = decisions.mask().clone()
    unused_die = int(({1, 2, 3, 4, 5, 6} - set(decisions.dice_left[5].tolist())).pop())

    step = decisions.step(torch.tensor([ROLL, DOUBLE, TAKE, NUM_ACTIONS, -1, move(unused_die, 24)]))

    assert not step.legal.any() and not step.end.finished.any()
    now = {**decisions.games.state(), "phase": decisions.phase, "left": decisions.dice_left, "at": decisions.boards}
    assert all(torch.equal(before[name], tensor) for name, tensor in now.items())
    assert torch.equal(mask, decisions.mask())


def test_a_game_that_is_over_waits_for_the_next_deal() -> None:
    decisions = placed(*RACE)
    take(decisions, DOUBLE, DROP)
    step = decisions.step(torch.tensor([ROLL]))
    assert not step.legal.any() and not step.end.finished.any()


def test_forced_dice_are_the_next_roll_and_leave_the_stream_alone() -> None:
    free, forced = (Decisions(Games(1, seed=6)) for _ in range(2))
    for decisions in (free, forced):
        decisions.place(ONE, dice=torch.zeros((1, 2), dtype=torch.int8))
    forced.forced_dice = torch.tensor([[6, 6]], dtype=torch.int8)
    take(forced, ROLL)
    assert forced.dice_left.tolist() == [[6, 6, 6, 6]] and not forced.forced_dice.any()
    take(free, ROLL)
    assert forced.games.num_rolls.tolist() == [1] and free.games.num_rolls.tolist() == [2]


def test_forced_dice_of_an_opening_roll_name_the_starter_unless_they_tie() -> None:
    decisions = Decisions(Games(3, seed=6))
    decisions.forced_dice = torch.tensor([[2, 5], [5, 2], [4, 4]], dtype=torch.int8)
    decisions.restart(torch.ones(3, dtype=torch.bool))
    assert decisions.player().tolist()[:2] == [1, 0]
    assert decisions.dice_left.tolist()[:2] == [[2, 5, 0, 0], [5, 2, 0, 0]]
    assert decisions.games.dice[2, 0] != decisions.games.dice[2, 1] and not decisions.forced_dice.any()


def test_the_second_player_of_longgammon_may_move_two_from_the_head_on_his_first_three_threes() -> None:  # L04
    decisions = longgammon_start((6, 5), (3, 3))
    assert legal(decisions) == {move(3, 24)} and decisions.heads_left.tolist() == [2]
    take(decisions, move(3, 24))
    assert legal(decisions) == {move(3, 24), move(3, 21)} and decisions.heads_left.tolist() == [1]
    take(decisions, move(3, 24))
    assert legal(decisions) == {move(3, 21)} and decisions.heads_left.tolist() == [0]
    assert "leave the head" in why_illegal(decisions, 0, move(3, 24))


def test_the_exception_is_spent_by_the_first_turn_and_is_not_the_starters() -> None:
    decisions = longgammon_start((6, 5), (2, 1))
    for _ in range(4):
        decisions.forced_dice = torch.tensor([[4, 4]], dtype=torch.int8)
        before = int(decisions.games.turn[0])
        while int(decisions.games.turn[0]) == before:
            take(decisions, min(legal(decisions)))
        assert decisions.heads_left.tolist() == [1]


def test_a_position_that_is_set_up_counts_as_a_first_turn_where_nobody_has_moved_yet() -> None:
    long = GameOptions("longgammon", cube=False)
    assert placed("24:15", "12:14 1:1", (6, 6), long).heads_left.tolist() == [2]  # L02
    assert placed("24:15", "12:15", (6, 6), long).heads_left.tolist() == [1]
    assert placed("24:14 20:1", "12:14 1:1", (6, 6), long).heads_left.tolist() == [1]


REASONS = [
    (placed(*RACE), move(3, 6), "not rolled yet"),
    (placed(*RACE), TAKE, "no double is offered"),
    (placed(*RACE), NUM_ACTIONS, "there is no action 162"),
    (placed(*RACE, dice=(3, 1)), DOUBLE, "rolled already"),
    (placed(*RACE, dice=(3, 1)), ROLL, "rolled already"),
    (placed(*RACE, dice=(3, 1)), PASS, "there is a legal move"),
    (placed(*RACE, dice=(3, 1)), move(5, 6), "no 5 left to play, only 3 1"),
    (placed(*RACE, dice=(3, 1)), move(3, 24), "no checker on point 24"),
    (placed(*RACE, dice=(3, 1)), move(3, 25), "no checker on the bar"),
    (
        placed("24:1 13:5 8:3 6:5 bar:1", "23:2 20:2 19:2 17:2 12:5 1:2", (5, 3)),
        move(3, 13),
        "on the bar and must enter",
    ),
    (placed("24:1 13:5 8:3 6:5 bar:1", "23:2 20:2 19:2 17:2 12:5 1:2", (5, 3)), move(5, 25), "point 20 is held by 2"),
    (placed("8:1 6:2 off:12", "7:2 2:2 off:11", (6, 1)), move(6, 6), "outside the home board"),
    (placed("6:1 5:1 3:2 2:1 off:10", "20:2 19:3 off:10", (4, 1)), move(4, 3), "no checker is on a higher point"),
    (placed("10:1 8:1 off:13", "3:2 2:2 1:2 off:9", (6, 1)), move(1, 10), "both dice can be played, but not after"),
    (placed("13:1 1:3 off:11", "20:4 12:3 2:2 off:6", (6, 5)), move(5, 13), "it must be the larger"),
    (
        placed("24:14 20:1", "17:1 15:1 12:13", (5, 3), GameOptions("longgammon")),
        move(3, 20),
        "nothing is hit in longgammon",
    ),
    (
        placed("11:1 6:1 4:1 3:1 2:1 1:10", "12:14 9:1", (6, 2), GameOptions("longgammon")),
        move(6, 11),
        "six points in a row may not be held",
    ),
    (
        placed("20:1 1:14", "12:14 9:1", (6, 5), GameOptions("longgammon")),
        move(5, 20),
        "only one of the dice can be played, and it must be the larger",
    ),
    (
        placed("7:1 6:2 1:12", "12:15", (6, 1), GameOptions("longgammon")),
        move(6, 6),
        "one is outside the home board",
    ),
    (placed("6:1 1:14", "24:1 12:14", (1, 1), cube=Cube(2, "theirs")), DOUBLE, "the cube is the opponent's"),
    (placed(*RACE, cube=Cube(64, "mine")), DOUBLE, "may not go above 64"),
    (placed(*RACE, options=GameOptions(cube=False)), DOUBLE, "without a cube"),
    (placed(*RACE, options=GameOptions(match_length=7), cube=Cube(4, "mine", away=(4, 5))), DOUBLE, "the cube is dead"),
    (placed(*RACE, options=GameOptions(match_length=7), cube=Cube(away=(2, 1), crawford=True)), DOUBLE, "Crawford"),
]


@pytest.mark.parametrize(("decisions", "action", "reason"), REASONS, ids=[reason for *_, reason in REASONS])
def test_a_refusal_says_which_rule_it_is(decisions: Decisions, action: int, reason: str) -> None:
    assert action not in legal(decisions)
    assert reason in why_illegal(decisions, 0, action)


def test_refusals_while_a_double_is_offered_and_after_the_end() -> None:
    decisions = placed(*RACE)
    take(decisions, DOUBLE)
    for action in (ROLL, DOUBLE, PASS, move(3, 6)):
        assert "take or drop it first" in why_illegal(decisions, 0, action)
    take(decisions, DROP)
    assert "over" in why_illegal(decisions, 0, ROLL)
