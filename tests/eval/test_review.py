"""Positions and matches judged: what is said follows from the model's values, and errors are where they were made."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from math import isfinite
from pathlib import Path
from typing import Any

import pytest
import torch

from nardy.env import VARIANTS, Cube, GameOptions, afterstates, flip
from nardy.env.formats import Format
from nardy.env.notation import (
    CubeAction,
    GameState,
    GameStatus,
    MatchRecord,
    NotationError,
    Offer,
    Roll,
    game_states,
    match_text,
    read_gnubg_id,
    read_match_text,
    read_saved_game,
    read_xgid,
    saved_game_text,
    under_rules,
)
from nardy.eval.bots import ModelBot, PipCountBot
from nardy.eval.match_log import match_record
from nardy.eval.players import BotPlayer
from nardy.eval.referee import Referee
from nardy.eval.review import (
    MatchReview,
    judge_decision,
    match_page,
    match_tables,
    position_page,
    position_tables,
    read_source,
    review_match,
    review_position,
    with_rules,
)
from nardy.eval.review.match import _Decision, _decisions, _judge_cube
from nardy.eval.review.position import cube_advice
from nardy.eval.review.values import CubeValues
from nardy.models import Evaluator, load
from tests.env.recorded_games import play_recorded

OPENING = "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:0:10"
SCORE = "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:2:3:0:5:10"


@pytest.fixture(scope="module")
def model() -> Evaluator:
    return load("backgammon")


def _match(evaluator: Evaluator, length: int, names: tuple[str, str] = ("Otto", "Pip")) -> MatchRecord:
    """The model as player 0 against the pip count."""
    bots = ModelBot(evaluator, "model"), PipCountBot(evaluator.variant)
    referee = Referee((BotPlayer(bots[0]), BotPlayer(bots[1])), Format(evaluator.variant, length, illegal="correct"), 1)
    while not referee.match.over:
        referee.turn()
    return replace(match_record(referee.match.log), names=names)


@pytest.fixture(scope="module")
def match(model: Evaluator) -> MatchRecord:
    return read_match_text(match_text(_match(model, 3)))


@pytest.fixture(scope="module")
def review(model: Evaluator, match: MatchRecord) -> MatchReview:
    return review_match(model, match, blunder=0.1)


class TestPosition:
    def test_plays_are_ranked_by_the_models_own_values(self, model: Evaluator) -> None:
        state = read_xgid(OPENING)
        found = review_position(model, state, count=100)
        assert found.num_plays == len(found.plays) == 16
        assert found.plays[0].play == "8/5 6/5"
        _, after = afterstates(state.tensor()[None], torch.tensor([[3, 1]]))
        wanted = sorted((-model.equity(flip(after), Cube())).tolist(), reverse=True)
        assert [play.equity for play in found.plays] == pytest.approx(wanted, abs=1e-6)
        assert [play.difference for play in found.plays] == pytest.approx([w - wanted[0] for w in wanted], abs=1e-6)
        assert all(play.chance is None and sum(play.outcome) == pytest.approx(1) for play in found.plays)
        assert found.cube.action == "No double, take"

    def test_at_a_score_equities_are_normalised_chances(self, model: Evaluator) -> None:
        found = review_position(model, read_xgid(SCORE), count=100)
        away = torch.tensor([[3, 2]])
        crawford = torch.tensor([False])
        won, lost = model.table.after_points(away, crawford, torch.tensor([[1, -1]]))[0].tolist()
        for play in found.plays:
            assert play.chance == pytest.approx((won + lost) / 2 + (won - lost) / 2 * play.equity, abs=1e-6)
        assert found.cube.double_pass == pytest.approx(1, abs=1e-5)
        assert found.cube.chances is not None
        assert found.cube.chances[2] == pytest.approx(won, abs=1e-6)

    def test_a_double_on_offer_is_answered(self, model: Evaluator) -> None:
        waiting = read_xgid("XGID=-b----E-C---eE---c-e----B-:0:0:1:D:0:0:0:0:10")
        assert review_position(model, waiting).cube.action == "Take"
        assert review_position(model, replace(waiting, beavers=True)).cube.action == "Beaver"

    @pytest.mark.parametrize(
        "change",
        [
            {"status": GameStatus.DROPPED},
            {"resignation": 1},
            {"offer": Offer.BEAVER, "cube_value": 2, "cube_owner": 0, "beavers": True},
        ],
    )
    def test_where_nobody_has_to_decide_is_refused(self, model: Evaluator, change: dict[str, Any]) -> None:
        state = replace(read_gnubg_id("4HPwATDgc/ABMA"), **change)
        with pytest.raises(NotationError, match=r"position: found .*, wanted dice, a player about to roll"):
            review_position(model, state)

    def test_rules_fill_in_what_is_not_said(self) -> None:
        silent = read_gnubg_id("4HPwATDgc/ABMA")
        assert with_rules(silent, jacoby=True, beavers=True).jacoby is True
        assert with_rules(read_xgid(OPENING), jacoby=True, beavers=True).jacoby is False


def _values(here: float, take: float, drop: float = 1.0, may: bool = True, beavers: bool = False) -> CubeValues:
    def one(value: float) -> torch.Tensor:
        return torch.tensor([value])

    beaver = max(2 * take, -2.0)
    offered = min(take, drop, beaver) if beavers else min(take, drop)
    flags = torch.tensor([may]), torch.tensor([beavers])
    empty = torch.zeros(1, 6)
    return CubeValues(
        *(one(here), one(take), one(drop), one(beaver), one(offered)), *flags, empty, one(0.5), empty, one(0)
    )


STATE = read_xgid("XGID=-b----E-C---eE---c-e----B-:0:0:1:00:0:0:0:0:10")
OWNED = replace(STATE, cube_owner=1, cube_value=2)


@pytest.mark.parametrize(
    ("state", "values", "wanted"),
    [
        (STATE, _values(0.5, 0.7), "Double, take"),
        (OWNED, _values(0.5, 0.7), "Redouble, take"),
        (STATE, _values(0.8, 1.2), "Double, drop"),
        (OWNED, _values(0.8, 1.2), "Redouble, drop"),
        (STATE, _values(1.1, 1.4), "Too good to double, drop"),
        (OWNED, _values(1.1, 1.4), "Too good to redouble, drop"),
        (STATE, _values(1.1, 0.9), "Too good to double, take"),
        (STATE, _values(0.5, 0.3), "No double, take"),
        (OWNED, _values(0.5, 0.3), "No redouble, take"),
        (STATE, _values(0.1, -0.2), "No double, take"),
        (STATE, _values(0.1, -0.2, beavers=True), "No double, beaver"),
        (STATE, _values(-0.9, -0.2, beavers=True), "Double, beaver"),
        (replace(STATE, cube_owner=0, cube_value=2), _values(0, 0, may=False), "Cube not available (the opponent ow"),
        (replace(STATE, max_cube=1), _values(0, 0, may=False), "Cube not available (a game without one)"),
        (replace(STATE, cube_owner=1, cube_value=64, max_cube=64), _values(0, 0, may=False), "(its limit is 64)"),
        (read_xgid(SCORE.replace(":2:3:", ":4:3:").replace(":0:5:", ":1:5:")), _values(0, 0, may=False), "Crawford"),
        (replace(read_xgid(SCORE), cube_value=4, cube_owner=1), _values(0, 0, may=False), "dead"),
        (replace(STATE, offer=Offer.DOUBLE), _values(0.5, 0.7), "Take"),
        (replace(STATE, offer=Offer.DOUBLE), _values(0.5, 1.7), "Drop"),
        (replace(STATE, offer=Offer.DOUBLE), _values(0.5, -0.7, beavers=True), "Beaver"),
    ],
)
def test_the_cube_in_words(state: GameState, values: CubeValues, wanted: str) -> None:
    assert wanted in cube_advice(values, 0, state)


ROLLED = Roll(1, (3, 1), ())


@pytest.mark.parametrize(
    ("action", "values", "loss", "kind", "counted"),
    [
        (ROLLED, _values(0.5, 0.7), 0.2, "missed double", True),
        (ROLLED, _values(0.5, 0.45), 0, "", True),
        (ROLLED, _values(0.5, 0.2), 0, "", False),
        (CubeAction(1, "double"), _values(0.5, 0.2), 0.3, "wrong double", True),
        (CubeAction(1, "double"), _values(1.3, 1.6), 0.3, "wrong double", True),
        (CubeAction(1, "double"), _values(0.5, 0.6), 0, "", True),
        (CubeAction(0, "take"), _values(0.5, 1.25), 0.25, "wrong take", True),
        (CubeAction(0, "drop"), _values(0.5, 0.6), 0.4, "wrong drop", True),
        (CubeAction(0, "drop"), _values(0.5, 1.6), 0, "", True),
        (CubeAction(0, "beaver"), _values(0.5, 0.6, beavers=True), 0.6, "wrong beaver", True),
        (CubeAction(0, "take"), _values(0.5, -0.4, beavers=True), 0.4, "missed beaver", True),
        (CubeAction(0, "beaver"), _values(0.5, -0.4, beavers=True), 0, "", True),
    ],
)
def test_cube_errors_by_hand(
    action: Roll | CubeAction, values: CubeValues, loss: float, kind: str, counted: bool
) -> None:
    found = _judge_cube(values, 0, _Decision(1, 1, action.player, STATE, action))
    assert found.loss == pytest.approx(loss, abs=1e-6)
    assert (found.kind, found.counted) == (kind, counted)
    assert found.cost == pytest.approx(loss / 2, abs=1e-6)  # half a point an equity of 1


class TestMatch:
    def test_the_model_loses_nothing_by_its_own_judgement(self, review: MatchReview) -> None:
        own, other = review.players
        assert own.checker_loss == own.cube_loss == own.rating == 0
        assert other.checker_loss > 0.5
        assert other.rating == pytest.approx(
            500 * (other.checker_loss + other.cube_loss) / (other.checker_decisions + other.cube_decisions)
        )
        assert {mistake.player for mistake in review.mistakes} == {1}

    def test_plays_with_a_choice_are_counted(self, review: MatchReview, match: MatchRecord) -> None:
        wanted = [0, 0]
        for game, states in zip(match.games, game_states(match), strict=True):
            for action, state in zip(game.actions, states, strict=True):
                if isinstance(action, Roll):
                    _, after = afterstates(state.tensor()[None], torch.tensor([action.dice]))
                    wanted[action.player] += len(after) > 1
        assert [player.checker_decisions for player in review.players] == wanted

    def test_blunders_are_the_greatest_first_and_found_in_the_file(
        self, review: MatchReview, match: MatchRecord
    ) -> None:
        losses = [mistake.loss for mistake in review.mistakes]
        assert losses == sorted(losses, reverse=True)
        assert min(losses) >= 0.1
        other = review.players[1]
        assert len(losses) == other.checker_blunders + other.cube_blunders
        games = match_text(match).split(" Game ")[1:]
        for mistake in review.mistakes:
            if mistake.kind == "checker":
                assert mistake.state.dice is not None
                assert mistake.plays[0].play == mistake.best
                assert mistake.rank > 1
                row = next(
                    line for line in games[mistake.game - 1].splitlines() if line.startswith(f"{mistake.row:3d})")
                )
                assert f"{mistake.state.dice[0]}{mistake.state.dice[1]}:" in row[33:]

    def test_it_is_written_as_json_and_as_a_page_that_fetches_nothing(
        self, model: Evaluator, match: MatchRecord, review: MatchReview
    ) -> None:
        told = json.loads(json.dumps(review.to_dict(), allow_nan=False))
        assert told["players"][1]["rating"] == review.players[1].rating
        assert len(told["mistakes"]) == len(review.mistakes)
        bold = replace(review, match=replace(match, names=("<b>Otto</b>", "Pip")))
        page = match_page(bold)
        assert "&lt;b&gt;Otto" in page
        assert "<b>" not in page
        bare = page.replace('xmlns="http://www.w3.org/2000/svg"', "")
        assert not re.search(r"https?:|src=|href=|url\(|@import|<script", bare)
        assert page.count("<svg") == sum(2 if mistake.kind == "checker" else 1 for mistake in review.mistakes)
        assert page.count("<article") == len(review.mistakes)
        position = review_position(model, read_xgid(SCORE))
        assert "8/5 6/5" in position_page(position)
        assert len(list(match_tables(review))) > len(list(position_tables(position)))

    def test_longgammon_from_a_saved_game(self, tmp_path: Path) -> None:
        evaluator = load("longgammon")
        record = under_rules(_match(evaluator, 1), Format("longgammon", 1).rules)
        path = tmp_path / "game.json"
        path.write_text(saved_game_text(record))
        source = read_source(str(path))
        assert source == read_saved_game(path.read_text())
        assert isinstance(source, MatchRecord)
        found = review_match(evaluator, source)
        assert found.players[0].checker_loss == 0
        assert found.players[1].checker_decisions > 5

    @pytest.mark.parametrize("length", [0, 5])
    @pytest.mark.parametrize("variant", VARIANTS)
    def test_whatever_can_be_recorded_can_be_judged(self, variant: str, length: int) -> None:
        options: dict[str, Any] = (
            {} if length else {"beavers": True, "raccoons": True, "jacoby": True, "automatic_doubles": 2}
        )
        rules = GameOptions(variant, match_length=length, resignation=True, **options)
        evaluator = load(variant)
        for record in play_recorded(rules, 3, seed=length):
            found = review_match(evaluator, record, blunder=0.5)
            assert json.dumps(found.to_dict(), allow_nan=False)
            assert match_page(found)
            assert all(isfinite(player.rating) and player.rating >= 0 for player in found.players)
            counted = sum(player.cube_decisions for player in found.players)
            cubes = [each for game in record.games for each in game.actions if isinstance(each, CubeAction)]
            assert counted >= sum(each.kind == "double" for each in cubes)

    @pytest.mark.parametrize("variant", VARIANTS)
    def test_a_decision_judged_by_itself_is_judged_the_same(self, variant: str) -> None:
        evaluator = load(variant)
        rules = {
            "match": GameOptions(variant, match_length=3, resignation=True),
            "money": GameOptions(variant, beavers=True, jacoby=True, automatic_doubles=1),
        }
        for options in rules.values():
            record = play_recorded(options, 2, seed=3)[-1]
            listed = review_match(evaluator, record, blunder=0).mistakes
            wanted = {(each.game, each.row, each.player, each.kind): each for each in listed}
            checker, cube = _decisions(record, None, None)
            assert len(wanted) == len(checker) + len(cube) > 10
            for decision in [*checker, *cube]:
                state, action, kind = decision.state, decision.action, "checker"
                if decision in cube:
                    kind = "cube"
                    state = replace(state, dice=None)  # as it is before the roll
                    action = replace(action, hops=None) if isinstance(action, Roll) else action
                alone = judge_decision(evaluator, state, action, decision.second_first)
                other = wanted[decision.game, decision.row, decision.player, kind]
                assert alone.loss == pytest.approx(other.loss, abs=1e-5)
                assert alone.cost == pytest.approx(other.cost, rel=1e-3, abs=1e-5)
                assert alone.values == pytest.approx(other.values, abs=1e-5)
                assert (alone.done, alone.best, alone.rank) == (other.done, other.best, other.rank)
                assert (alone.moves, alone.state) == (other.moves, other.state)

    def test_a_record_without_plays_is_refused(self, model: Evaluator, match: MatchRecord) -> None:
        with pytest.raises(NotationError, match="match: found no decision"):
            review_match(model, replace(match, games=()))


class TestSource:
    def test_texts_are_told_apart(self, tmp_path: Path, match: MatchRecord) -> None:
        path = tmp_path / "a b.mat"
        path.write_bytes(match_text(match).replace("Otto", "Jos\xe9").encode("latin-1"))
        found = read_source(str(path))
        assert isinstance(found, MatchRecord)
        assert found.names[0] == "Jos\xe9"
        assert read_source(OPENING) == read_xgid(OPENING)
        assert read_source(OPENING.removeprefix("XGID=")) == read_xgid(OPENING)
        for text in ("4HPwATDgc/ABMA", "4HPwATDgc/ABMA:cAkAAAAAAAAA", "cAkAAAAAAAAA"):
            assert read_source(text) == read_gnubg_id(text)

    def test_a_file_says_its_discipline(self, tmp_path: Path) -> None:
        text = '; [Variation "HyperGammon (3)"]\n\n 1 point match\n\n Game 1\n A : 0    B : 0\n  1) 31: 24/20\n'
        (tmp_path / "h.mat").write_text(text)
        assert read_source(str(tmp_path / "h.mat")).variant == "sprintgammon"
        with pytest.raises(NotationError, match=r"h\.mat: mat: line 1: variation: found"):
            read_source(str(tmp_path / "h.mat"), "backgammon")

    @pytest.mark.parametrize("text", ["chess", "", "e4 e5", "\0", "a" * 5000, "4HPwATDgc/ABM"])
    def test_anything_else_is_refused(self, text: str) -> None:
        with pytest.raises(NotationError, match="wanted an XGID, a GNUbg id"):
            read_source(text)
