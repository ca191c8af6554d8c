"""Beavers, raccoons, automatic doubles and resignation (rules.md 1.8 and 2.9), against a plain model of one game."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
import torch
from torch import Tensor

from nardy.env import Cube, Decisions, GameOptions, Games, Phase
from nardy.env.cube import CENTRED, MINE, THEIRS
from nardy.env.decisions import (
    ACCEPT,
    BEAVER,
    DOUBLE,
    DROP,
    NUM_ACTIONS,
    PASS,
    RACCOON,
    REFUSE,
    RESIGN_BACKGAMMON,
    RESIGN_GAMMON,
    RESIGN_SINGLE,
    ROLL,
    TAKE,
)
from nardy.env.dice import Purpose, opening_ties, random_words
from nardy.env.refusals import why_illegal
from nardy.env.variants import VARIANTS

from ..positions import position, to_boards
from .test_decisions import ONE, RACE, legal, move, placed, take

RESIGNATIONS = {RESIGN_SINGLE, RESIGN_GAMMON, RESIGN_BACKGAMMON}
MONEY = GameOptions(beavers=True, raccoons=True)
ALL = GameOptions(jacoby=True, beavers=True, raccoons=True, automatic_doubles=2, resignation=True)
RESIGN = GameOptions(resignation=True)


@dataclass
class SlowGame:
    """One game's cube and resignations, written as the rules are told. Players by number; moves are left out.

    ``value`` and ``owner`` are those before the turn of the cube that waits; ``waiting`` is what must be answered.
    """

    options: GameOptions
    player: int
    value: int
    score: list[int]
    crawford: bool
    owner: int | None = None
    rolled: bool = True
    waiting: str = ""
    level: int = 0
    refused: list[int] = field(default_factory=list)

    def may_double(self) -> bool:
        options = self.options
        if not options.cube or self.crawford or self.owner not in (None, self.player):
            return False
        if options.match_length and self.score[self.player] + self.value >= options.match_length:
            return False
        return self.value * 2 <= options.max_cube

    def levels(self) -> list[int]:
        if not self.options.resignation:
            return []
        most = 2 if self.options.variant == "longgammon" else 3
        return [level for level in range(1, most + 1) if all(level > other for other in self.refused)]

    def legal(self) -> set[int] | None:
        """The legal actions, None where there is no choice but to move (the dice are rolled)."""
        options, beyond = self.options, self.value * 4 > self.options.max_cube  # the turn after the one that waits
        if self.waiting == "double":
            return {TAKE, DROP, BEAVER} if options.beavers and not beyond else {TAKE, DROP}
        if self.waiting == "beaver":
            return {TAKE, DROP, RACCOON} if options.raccoons and not beyond else {TAKE, DROP}
        if self.waiting == "raccoon":
            return {TAKE, DROP}
        if self.waiting == "resignation":
            return {ACCEPT, REFUSE}
        if self.rolled:
            return None
        actions = {RESIGN_SINGLE + level - 1 for level in self.levels()}
        if self.may_double():
            actions.add(DOUBLE)
        return {ROLL} | actions if actions else None

    def decides(self) -> int:
        return self.player if self.waiting in ("", "beaver") else 1 - self.player

    def act(self, action: int) -> int | None:
        """Take an action, of moves nothing; the points of player 0 if it ends the game."""
        decider = self.decides()
        if action == ROLL:
            self.rolled = True
        elif action == DOUBLE:
            self.waiting = "double"
        elif action in (BEAVER, RACCOON):
            self.owner = 1 - self.player  # the beaverer, whoever turns now
            self.value *= 2
            self.waiting = "beaver" if action == BEAVER else "raccoon"
        elif action == TAKE:
            self.owner = 1 - self.player
            self.value *= 2
            self.waiting, self.rolled = "", True
        elif action == DROP:
            return self.points(1 - decider, self.value)
        elif action in RESIGNATIONS:
            self.waiting, self.level = "resignation", action - RESIGN_SINGLE + 1
        elif action == REFUSE:
            self.refused.append(self.level)
            self.waiting, self.level = "", 0
        elif action == ACCEPT:
            return self.won(1 - self.player, self.level)
        return None

    def won(self, winner: int, level: int) -> int:
        counted = 1 if self.options.jacoby and self.owner is None else level
        return self.points(winner, counted * self.value)

    def points(self, winner: int, points: int) -> int:
        if self.options.match_length:
            self.score[winner] = min(self.score[winner] + points, self.options.match_length)
        return points if winner == 0 else -points

    def pass_turn(self) -> None:
        self.player, self.rolled, self.refused = 1 - self.player, False, []


def agree(models: list[SlowGame], decisions: Decisions, able: list[set[int]]) -> None:
    """The legal actions ``able``, who decides and what he sees are those of the models."""
    names = ("phase", "cube_value", "cube_owner", "resignation")
    seen = decisions.observation()
    rows = zip(*(tensor.tolist() for tensor in (decisions.player(), *(seen[name] for name in names))), strict=True)
    for model, found, (player, phase, value, owner, level) in zip(models, able, rows, strict=True):
        wanted = model.legal()
        if wanted is None:
            assert found and (found == {PASS} or max(found) < ROLL) and phase == Phase.MOVE
        else:
            assert found == wanted
        holder = CENTRED if model.owner is None else MINE if model.owner == model.decides() else THEIRS
        assert (player, value, owner, level) == (model.decides(), model.value, holder, model.level)


def some_actions(able_of: list[set[int]], slots: Tensor, seed: int, number: int) -> list[int]:
    """One of the legal actions a game; before the roll mostly that, the more so in games with an odd number."""
    words = random_words(seed, slots, torch.full_like(slots, number), Purpose.POLICY)
    actions = []
    for game, (bold, doubling, choice, _) in enumerate((words / 2**32).tolist()):
        able = sorted(able_of[game])
        if ROLL in able and bold > (0.03 if game % 2 else 0.4):
            able = [ROLL]
        elif DOUBLE in able and doubling < 0.7:
            able = [DOUBLE]
        actions.append(able[int(choice * len(able))])
    return actions


@pytest.mark.parametrize(("variant", "seed"), list(zip(VARIANTS, (1, 2, 3), strict=True)))
@pytest.mark.parametrize(
    "options",
    [ALL, replace(ALL, max_cube=8, jacoby=False), GameOptions(match_length=4, resignation=True), RESIGN],
    ids=["all", "cap 8", "match", "resignation"],
)
def test_masks_and_points_are_those_of_a_plain_model(
    options: GameOptions, variant: str, seed: int, scale: Callable[[int], int]
) -> None:
    options = replace(options, variant=variant)
    num_games = 16
    decisions = Decisions(Games(num_games, options, seed=seed))
    games = decisions.games
    done = [False] * num_games  # the Crawford game of the match

    def dealt(game: int, score: list[int]) -> SlowGame:
        length, value = options.match_length, int(games.cube_value[game])
        assert value in [1, 2, 4][: options.automatic_doubles + 1]
        crawford = length > 0 and max(score) == length - 1 and not done[game]
        done[game] |= crawford
        return SlowGame(options, int(games.player[game]), value, score, crawford)

    models = [dealt(game, [0, 0]) for game in range(num_games)]
    told: Counter[tuple[str, int]] = Counter()
    for number in range(scale(2400)):
        able = [{action for action, can in enumerate(row) if can} for row in decisions.mask().tolist()]
        agree(models, decisions, able)
        turns = games.turn.clone()
        actions = some_actions(able, games.slots, seed, number)
        step = decisions.step(torch.tensor(actions))
        end = step.end
        assert step.legal.all() and torch.equal(end.finished, end.points != 0)
        for game, model in enumerate(models):
            action, level = actions[game], int(end.level[game])
            told[model.waiting, action] += 1
            points = model.act(action)
            if points is None and level:
                points = model.won(int(level < 0), abs(level))
            assert int(end.points[game]) == (points or 0)
            assert bool(end.dropped[game]) == (action == DROP) and bool(end.resigned[game]) == (action == ACCEPT)
            if action in (ACCEPT, DROP):
                assert abs(level) == model.level
            if turns[game] != games.turn[game]:
                model.pass_turn()
            assert games.score[game].tolist() == model.score
        decisions.deal(end.finished)
        for game in end.finished.nonzero()[:, 0].tolist():
            score = models[game].score
            over = options.match_length and max(score) == options.match_length
            assert int(end.match_winner[game]) == (0 if not over else 1 if score[0] > score[1] else -1)
            done[game] &= not over
            models[game] = dealt(game, [0, 0] if over else score)
    assert {action for _, action in told} >= {DOUBLE, TAKE, DROP, ACCEPT, REFUSE, RESIGN_SINGLE}
    if options.raccoons:
        assert min(told[waiting, answer] for waiting in ("beaver", "raccoon") for answer in (TAKE, DROP)) > 0


# Beavers and raccoons


def money(value: int = 1, player: int = 0, options: GameOptions = MONEY) -> Decisions:
    """A race before the roll, the cube at ``value`` in the hands of the player on roll, or centred at 1."""
    return placed(*RACE, options=options, cube=Cube(value, "mine" if value > 1 else "centred"), player=player)


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("value", [1, 2, 8])
@pytest.mark.parametrize(
    ("actions", "times"),
    [
        ((DOUBLE, DROP), 1),
        ((DOUBLE, BEAVER, DROP), -2),  # P11: the offerer drops
        ((DOUBLE, BEAVER, RACCOON, DROP), 4),  # P11: the beaverer drops
    ],
    ids=["double", "beaver", "raccoon"],
)
def test_a_drop_costs_the_value_before_the_last_turn_of_the_cube(
    actions: tuple[int, ...], times: int, value: int, player: int
) -> None:
    decisions = money(value, player)

    end = take(decisions, *actions).end

    assert end.points.tolist() == [times * value * (1 - 2 * player)]
    assert end.finished.all() and end.dropped.all() and not end.level.any() and not end.resigned.any()
    assert decisions.phase.tolist() == [Phase.OVER] and decisions.games.cube_value.tolist() == [abs(times) * value]
    kept = CENTRED if value == 1 else MINE
    assert decisions.games.cube_owner.tolist() == [kept if times == 1 else THEIRS]  # a beaver has turned it


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("value", [1, 2, 8])
@pytest.mark.parametrize(
    ("actions", "times"),
    [((DOUBLE, TAKE), 2), ((DOUBLE, BEAVER, TAKE), 4), ((DOUBLE, BEAVER, RACCOON, TAKE), 8)],
    ids=["double", "beaver", "raccoon"],
)
def test_a_take_lets_the_offerer_roll_with_the_cube_in_the_hands_of_the_doubled_player(
    actions: tuple[int, ...], times: int, value: int, player: int
) -> None:
    decisions = money(value, player)

    end = take(decisions, *actions).end

    assert not end.finished.any() and decisions.phase.tolist() == [Phase.MOVE]
    assert decisions.player().tolist() == [player] and decisions.games.cube_owner.tolist() == [THEIRS]
    assert decisions.observation()["cube_value"].tolist() == [times * value]


def test_each_answer_is_given_by_the_other_side_who_sees_what_a_drop_would_cost() -> None:
    decisions = money(2, player=1)
    phases, value = (Phase.ANSWER, Phase.BEAVERED, Phase.RACCOONED), 2
    for action, phase in zip((DOUBLE, BEAVER, RACCOON), phases, strict=True):
        take(decisions, action)
        seen = decisions.observation()
        assert decisions.phase.tolist() == [phase] and seen["cube_value"].tolist() == [value]
        assert decisions.player().tolist() == [int(phase is Phase.BEAVERED)]
        beaverer = MINE if phase is Phase.RACCOONED else THEIRS
        assert seen["cube_owner"].tolist() == [beaverer]  # of the double the offerer, who is the other one
        assert torch.equal(seen["board"], decisions.boards if phase is Phase.BEAVERED else decisions.boards.flip(1))
        value *= 2


@pytest.mark.parametrize(
    ("max_cube", "beaver", "raccoon"),
    [(2, False, False), (4, True, False), (8, True, True), (16, True, True)],
)
def test_no_step_may_go_above_the_cap(max_cube: int, beaver: bool, raccoon: bool) -> None:
    decisions = money(options=replace(MONEY, max_cube=max_cube))
    take(decisions, DOUBLE)
    assert legal(decisions) == {TAKE, DROP} | ({BEAVER} if beaver else set())
    if not beaver:
        assert f"may not go above {max_cube}" in why_illegal(decisions, 0, BEAVER)
        return
    take(decisions, BEAVER)
    assert legal(decisions) == {TAKE, DROP} | ({RACCOON} if raccoon else set())
    if not raccoon:
        assert f"may not go above {max_cube}" in why_illegal(decisions, 0, RACCOON)


@pytest.mark.parametrize("value", [16, 32])
def test_an_owned_cube_is_beavered_within_the_cap_too(value: int) -> None:
    decisions = money(value)
    take(decisions, DOUBLE)
    assert (BEAVER in legal(decisions)) == (value == 16)
    if value == 16:
        take(decisions, BEAVER)
        assert legal(decisions) == {TAKE, DROP}


def test_without_raccoons_a_beaver_is_taken_or_dropped() -> None:
    decisions = money(options=GameOptions(beavers=True))
    take(decisions, DOUBLE, BEAVER)
    assert legal(decisions) == {TAKE, DROP}
    assert "without raccoons" in why_illegal(decisions, 0, RACCOON)


def test_the_beaverer_may_redouble_when_his_turn_comes_and_be_beavered() -> None:
    decisions = money()
    take(decisions, DOUBLE, BEAVER, TAKE)
    while decisions.player().tolist() == [0]:
        take(decisions, min(legal(decisions)))
    assert legal(decisions) == {ROLL, DOUBLE}
    take(decisions, DOUBLE)
    assert legal(decisions) == {TAKE, DROP, BEAVER}
    take(decisions, BEAVER, TAKE)
    assert decisions.observation()["cube_value"].tolist() == [16]


@pytest.mark.parametrize(("times", "take_it"), [(again, taken) for again in range(3) for taken in (True, False)])
def test_a_whole_turn_settles_a_beaver_as_single_decisions_do(times: int, take_it: bool) -> None:
    stepped = money(2, player=1)
    whole = Games(1, MONEY)
    whole.load_state({name: tensor.clone() for name, tensor in stepped.games.state().items()})

    end = whole.double(ONE, torch.tensor([take_it]), torch.tensor([times], dtype=torch.int8))
    wanted = take(stepped, DOUBLE, *(BEAVER, RACCOON)[:times], TAKE if take_it else DROP).end

    assert all(torch.equal(value, vars(wanted)[name]) for name, value in vars(end).items())
    for name in ("cube_value", "cube_owner", "score"):
        assert torch.equal(getattr(whole, name), getattr(stepped.games, name)), name


def test_a_beaver_that_is_not_allowed_counts_as_none() -> None:
    for options in (GameOptions(), replace(MONEY, max_cube=2)):
        games = money(options=options).games
        games.double(ONE, ONE, torch.ones(1, dtype=torch.int8))
        assert games.cube_value.tolist() == [2]


def test_the_cube_tells_evaluators_of_beavers() -> None:
    assert money().games.cube().as_tensors(1).beavers.all()
    assert not Games(1).cube().as_tensors(1).beavers.any()


def test_jacoby_counts_every_level_of_a_game_that_was_beavered() -> None:
    options = replace(MONEY, jacoby=True)
    decisions = placed("1:1 off:14", "12:15", options=options)
    take(decisions, DOUBLE, BEAVER, TAKE)
    assert take(decisions, min(legal(decisions))).end.points.tolist() == [8]


# Automatic doubles


def test_ties_of_the_opening_roll_are_as_frequent_as_the_dice_make_them() -> None:
    slots = torch.arange(300_000)
    found = torch.bincount(opening_ties(3, slots, torch.zeros_like(slots), 4), minlength=5)
    wanted = torch.tensor([5 / 6, 5 / 36, 5 / 216, 5 / 1296, 1 / 1296]) * len(slots)
    assert float(((found - wanted) ** 2 / wanted).sum()) < 18.5  # chi-square, 4 degrees, 0.1 %


@pytest.mark.parametrize(
    ("automatic_doubles", "max_cube", "highest"), [(0, 64, 1), (1, 64, 2), (3, 64, 8), (99, 64, 64), (3, 2, 2)]
)
def test_ties_double_the_centred_cube_up_to_their_number_and_the_cap(
    automatic_doubles: int, max_cube: int, highest: int
) -> None:
    slots = 20_000 if highest > 8 else 3_000
    games = Games(slots, GameOptions(automatic_doubles=automatic_doubles, max_cube=max_cube), seed=1)
    values = games.cube_value.unique().tolist()
    assert values == [2**power for power in range(len(values))] and min(highest, 32) <= values[-1] <= highest
    assert not games.cube_owner.any()


def test_automatic_doubles_leave_all_dice_as_they_are() -> None:
    plain, doubled = Games(500, seed=4), Games(500, GameOptions(automatic_doubles=2), seed=4)
    for _ in range(3):
        assert torch.equal(plain.dice, doubled.dice) and torch.equal(plain.player, doubled.player)
        for games in (plain, doubled):
            games.deal(torch.ones(500, dtype=torch.bool))
    assert torch.equal(plain.num_rolls, doubled.num_rolls) and bool((doubled.cube_value > 1).any())


@pytest.mark.parametrize(("value", "points"), [(1, 1), (2, 2)])
def test_an_automatic_double_is_no_turn_of_the_cube_for_jacoby(value: int, points: int) -> None:  # P10
    options = GameOptions(jacoby=True, automatic_doubles=1)
    decisions = placed("1:1 off:14", "12:15", (2, 1), options, Cube(value))

    end = take(decisions, move(2, 1)).end

    assert end.points.tolist() == [points] and end.level.tolist() == [2]


def test_an_automatic_double_leaves_the_cube_to_both_sides() -> None:
    decisions = placed(*RACE, options=GameOptions(automatic_doubles=1), cube=Cube(2))
    take(decisions, DOUBLE, TAKE)
    assert decisions.games.cube_value.tolist() == [4] and decisions.games.cube_owner.tolist() == [THEIRS]


def test_a_forced_tie_of_the_opening_roll_doubles_and_a_forced_roll_does_not() -> None:
    num_games = 400
    decisions = Decisions(Games(num_games, GameOptions(automatic_doubles=1), seed=6))
    forced = torch.tensor([[4, 4], [2, 5]], dtype=torch.int8)
    decisions.forced_dice = forced.repeat(num_games // 2, 1)
    decisions.restart(torch.ones(num_games, dtype=torch.bool))
    assert decisions.games.cube_value.tolist() == [2, 1] * (num_games // 2)
    decisions.restart(torch.ones(num_games, dtype=torch.bool))
    assert set(decisions.games.cube_value.tolist()) == {1, 2}


# Resignation


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("level", [1, 2, 3])
@pytest.mark.parametrize(("value", "jacoby"), [(1, False), (1, True), (4, False), (4, True)])
def test_an_accepted_resignation_pays_its_level_times_the_cube(
    value: int, jacoby: bool, level: int, player: int
) -> None:
    decisions = money(value, player, GameOptions(resignation=True, jacoby=jacoby))

    end = take(decisions, RESIGN_SINGLE + level - 1, ACCEPT).end

    sign = 2 * player - 1  # the other side wins
    assert end.points.tolist() == [sign * value * (1 if jacoby and value == 1 else level)]
    assert end.level.tolist() == [sign * level] and end.resigned.all() and not end.dropped.any()
    assert decisions.phase.tolist() == [Phase.OVER] and not decisions.resignation.any()


def test_a_resignation_is_answered_by_the_opponent_who_sees_its_level() -> None:
    decisions = placed("6:5 5:5 4:5", "19:5 20:5 24:4 off:1", options=RESIGN)
    assert legal(decisions) == {ROLL, DOUBLE} | RESIGNATIONS
    take(decisions, RESIGN_GAMMON)
    seen = decisions.observation()
    assert decisions.phase.tolist() == [Phase.RESIGNED] and legal(decisions) == {ACCEPT, REFUSE}
    assert decisions.player().tolist() == [1] and seen["resignation"].tolist() == [2]
    assert seen["board"][0, 0].nonzero()[:, 0].tolist() == [0, 1, 5, 6]


def test_what_was_refused_cannot_be_offered_again_in_this_turn_but_in_the_next() -> None:
    decisions = placed(*RACE, options=RESIGN)
    take(decisions, RESIGN_GAMMON, REFUSE)
    assert decisions.player().tolist() == [0] and legal(decisions) == {ROLL, DOUBLE, RESIGN_BACKGAMMON}
    assert "a gammon has been refused in this turn" in why_illegal(decisions, 0, RESIGN_SINGLE)
    take(decisions, RESIGN_BACKGAMMON, REFUSE)
    assert legal(decisions) == {ROLL, DOUBLE}
    for player in (1, 0):
        take(decisions, ROLL)
        assert not RESIGNATIONS & legal(decisions)
        while int(decisions.games.turn[0]) % 2 != player:
            take(decisions, min(legal(decisions)))
        assert decisions.player().tolist() == [player] and legal(decisions) >= RESIGNATIONS | {ROLL, DOUBLE}


def test_the_cube_may_be_offered_after_a_refusal() -> None:
    decisions = placed(*RACE, options=RESIGN)
    take(decisions, RESIGN_SINGLE, REFUSE, DOUBLE)
    assert legal(decisions) == {TAKE, DROP}
    take(decisions, TAKE)
    assert decisions.phase.tolist() == [Phase.MOVE]


def test_nobody_resigns_after_the_roll_and_so_not_in_the_starters_first_turn() -> None:
    decisions = Decisions(Games(40, RESIGN, seed=2))
    assert (decisions.phase == Phase.MOVE).all()
    assert not decisions.mask()[:, RESIGN_SINGLE : RESIGN_BACKGAMMON + 1].any()


@pytest.mark.parametrize(
    ("options", "cube"),
    [
        (GameOptions(resignation=True, cube=False), None),
        (RESIGN, Cube(2, "theirs")),
        (RESIGN, Cube(64, "mine")),
        (GameOptions(resignation=True, match_length=7), Cube(4, "mine", away=(4, 5))),
        (GameOptions(resignation=True, match_length=7), Cube(away=(2, 1), crawford=True)),
    ],
    ids=["no cube", "the opponent's cube", "cap", "dead cube", "Crawford"],
)
def test_one_may_resign_where_the_cube_cannot_be_turned(options: GameOptions, cube: Cube | None) -> None:
    decisions = placed(*RACE, options=options, cube=cube)
    assert decisions.phase.tolist() == [Phase.CUBE] and legal(decisions) == {ROLL} | RESIGNATIONS


def test_longgammon_has_no_backgammon_to_resign() -> None:
    decisions = placed("24:14 20:1", "12:14 1:1", options=GameOptions("longgammon", resignation=True))
    assert legal(decisions) == {ROLL, DOUBLE, RESIGN_SINGLE, RESIGN_GAMMON}
    assert "longgammon has no backgammon" in why_illegal(decisions, 0, RESIGN_BACKGAMMON)


@pytest.mark.parametrize("player", [0, 1])
def test_a_resignation_counts_in_a_match_as_any_result(player: int) -> None:
    options = GameOptions(match_length=5, resignation=True)
    decisions = placed(*RACE, options=options, cube=Cube(2, "mine", away=(3, 4)), player=player)

    end = take(decisions, RESIGN_SINGLE, REFUSE, RESIGN_GAMMON, ACCEPT).end

    assert end.points.tolist() == [4 * (2 * player - 1)] and end.match_winner.tolist() == [2 * player - 1]
    assert decisions.games.score[0, 1 - player].item() == 5
    decisions.deal(end.finished)
    assert not decisions.games.score.any()


def test_a_resignation_may_bring_about_the_crawford_game() -> None:
    options = GameOptions(match_length=3, resignation=True)
    decisions = placed(*RACE, options=options, cube=Cube(away=(3, 3)))
    end = take(decisions, RESIGN_GAMMON, ACCEPT).end
    decisions.deal(end.finished)
    assert decisions.games.score.tolist() == [[0, 2]] and decisions.games.crawford.all()


def test_a_whole_turn_resigns_only_what_is_allowed() -> None:
    games = money(options=RESIGN).games
    assert games.may_resign().tolist() == [[True, True, True]]
    assert not games.resign(torch.tensor([2]), ~ONE).finished.any() and games.refused.tolist() == [2]
    assert games.may_resign().tolist() == [[False, False, True]]
    assert not games.resign(torch.tensor([1]), ONE).finished.any()
    assert not games.resign(torch.tensor([0]), ONE).finished.any()
    end = games.resign(torch.tensor([3]), ONE)
    assert end.resigned.all() and end.points.tolist() == [-3]
    assert not money(options=GameOptions()).games.resign(torch.tensor([1]), ONE).finished.any()


def test_refusals_belong_to_the_state_and_are_forgotten_by_a_new_position() -> None:
    decisions = placed(*RACE, options=RESIGN)
    take(decisions, RESIGN_GAMMON, REFUSE)
    games = Games(1, RESIGN)
    games.load_state({name: tensor.clone() for name, tensor in decisions.games.state().items()})
    assert RESIGNATIONS & legal(Decisions(games)) == {RESIGN_BACKGAMMON}
    decisions.place(ONE, to_boards([position(*RACE)]), dice=torch.zeros((1, 2), dtype=torch.int8))
    assert legal(decisions) >= RESIGNATIONS
    take(decisions, RESIGN_GAMMON)
    decisions.restart(ONE)
    assert not decisions.resignation.any() and not decisions.games.refused.any()


# Masks, reasons, options


def test_without_the_options_their_actions_are_never_legal() -> None:
    decisions = money(options=GameOptions())
    assert decisions.mask().shape == (1, NUM_ACTIONS) and legal(decisions) == {ROLL, DOUBLE}
    take(decisions, DOUBLE)
    assert legal(decisions) == {TAKE, DROP}


def at(*actions: int, **options: Any) -> Decisions:
    """A race in which ``actions`` have been taken."""
    decisions = placed(*RACE, options=GameOptions(**options))
    if actions:
        take(decisions, *actions)
    return decisions


ON: dict[str, Any] = {"beavers": True, "raccoons": True, "resignation": True}
REASONS = [
    (at(DOUBLE), BEAVER, "this game is played without beavers (rule 2.9)"),
    (at(DOUBLE, match_length=5), BEAVER, "there are no beavers in a match (rule 2.9)"),
    (at(**ON), BEAVER, "only a double is answered by a beaver (rule 2.9)"),
    (at(DOUBLE, **ON), RACCOON, "only a beaver is answered by a raccoon (rule 2.9)"),
    (at(DOUBLE, **ON), RESIGN_SINGLE, "a double is offered: take or drop it first (rule 2.3)"),
    (at(DOUBLE, BEAVER, **ON), ROLL, "the double was beavered: take or drop that first (rule 2.9)"),
    (at(DOUBLE, BEAVER, RACCOON, **ON), DOUBLE, "the beaver was raccooned: take or drop that first (rule 2.9)"),
    (at(DOUBLE, BEAVER, RACCOON, **ON), RACCOON, "only a beaver is answered by a raccoon (rule 2.9)"),
    (at(**ON), PASS, "the dice are not rolled yet: roll first (rule 1.3)"),
    (at(**ON), ACCEPT, "no resignation is offered (rule 1.8)"),
    (at(), RESIGN_SINGLE, "this game is played without resignations (rule 1.8)"),
    (at(ROLL, **ON), RESIGN_SINGLE, "the dice are rolled already, and resigning comes before (rule 1.8)"),
    (at(RESIGN_SINGLE, REFUSE, ROLL, **ON), RESIGN_SINGLE, "the dice are rolled already"),
    (
        at(RESIGN_GAMMON, REFUSE, **ON),
        RESIGN_GAMMON,
        "a gammon has been refused in this turn, only more may be resigned",
    ),
    (at(RESIGN_SINGLE, **ON), DOUBLE, "the opponent resigns: accept or refuse first (rule 1.8)"),
    (at(RESIGN_SINGLE, **ON), BEAVER, "the opponent resigns: accept or refuse first (rule 1.8)"),
]


@pytest.mark.parametrize(("decisions", "action", "reason"), REASONS, ids=[reason for *_, reason in REASONS])
def test_a_refused_action_says_which_rule_it_breaks(decisions: Decisions, action: int, reason: str) -> None:
    assert action not in legal(decisions)
    assert reason in why_illegal(decisions, 0, action)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"beavers": True, "match_length": 5}, "beavers: found it with match_length"),
        ({"beavers": True, "raccoons": True, "match_length": 5}, "beavers: found it with match_length"),
        ({"automatic_doubles": 1, "match_length": 5}, "automatic_doubles: found it with match_length"),
        ({"automatic_doubles": -1}, "automatic_doubles: found -1"),
        ({"raccoons": True}, "raccoons: found it without beavers"),
        ({"beavers": True, "cube": False}, "beavers: found it without a cube"),
        ({"automatic_doubles": 2, "cube": False}, "automatic_doubles: found it without a cube"),
    ],
)
def test_options_that_exclude_each_other_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        GameOptions(**options)


def test_a_state_saved_before_there_were_resignations_is_taken_up() -> None:
    games, other = Games(5, RESIGN, seed=2), Games(5, RESIGN, seed=3)
    other.refused[:] = 2
    state = {name: tensor.clone() for name, tensor in games.state().items() if name != "refused"}

    other.load_state(state)

    assert all(torch.equal(tensor, other.state()[name]) for name, tensor in games.state().items())
    assert not other.refused.any()
