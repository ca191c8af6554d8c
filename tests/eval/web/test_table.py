"""A table: what the page is told, and that whatever it asks is allowed by the rules or refused."""

from __future__ import annotations

import json
from functools import partial
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from nardy.env import Cube
from nardy.env.clock import ClockOptions, SimulatedTime
from nardy.env.formats import Format
from nardy.env.notation import match_text, read_match_text, read_saved_game, read_xgid
from nardy.env.variants import VARIANTS
from nardy.eval.bots import Bot, ModelBot, PipCountBot, RandomBot
from nardy.eval.play.advice import review_decision
from nardy.eval.play.timed import TimedSession
from nardy.eval.review import review_match
from nardy.eval.web.lobby import Lobby, NoTableError
from nardy.eval.web.table import HINT_PLAYS, RefusedError, StaleError, Table
from nardy.models import Evaluator, load
from tests.eval.play.driving import Cubist

ACTIONS = ("roll", "double", "take", "drop", "beaver", "resign", "next", "move", "take_back", "done", "undo", "tutor")


def _random(seed: int) -> Random:
    return Random(seed)  # noqa: S311  # not for secrets


@pytest.fixture(scope="module")
def model() -> Evaluator:
    return load("sprintgammon")


def _table(rules: Format, bot: Bot | None = None, seed: int = 1, adviser: Evaluator | None = None) -> Table:
    bot = bot or PipCountBot(rules.variant)
    return Table.new(bot, rules, seed, bot.name, adviser, tutor=adviser is not None)


def _choose(state: dict[str, Any], random: Random) -> dict[str, Any]:
    """One of the choices that a state offers, mostly forward."""
    can = state["can"]
    offered: list[dict[str, Any]] = [
        {"action": word} for word in ("roll", "double", "take", "drop", "beaver", "done", "next") if can[word]
    ]
    offered += [{"action": "move", "moves": one["moves"]} for one in state["reach"]]
    if random.random() < 0.1:
        offered += [{"action": word} for word in ("undo", "take_back") if can[word]]
        offered += [{"action": "resign", "level": level} for level in can["resign"]]
    return random.choice(offered)


def _act(table: Table, values: dict[str, Any]) -> dict[str, Any]:
    table.act(values["action"], table.version, values)
    return table.state()


def _finish(table: Table, random: Random, most: int = 5000) -> dict[str, Any]:
    """Play until the match (or a money game) is over."""
    state = table.state()
    for _ in range(most):
        if state["phase"] == "over" and (state["match_over"] or not state["length"]):
            return state
        state = _act(table, _choose(state, random))
    raise AssertionError("no end")


RULES = {
    "money": Format("sprintgammon", beavers=True, resignation=True),
    "jacoby": Format("sprintgammon", jacoby=True, resignation=True),
    "match": Format("sprintgammon", match_length=3, resignation=True),
    "cubeless": Format("sprintgammon", cube=False, resignation=True),
    "longgammon": Format("longgammon", match_length=1, resignation=True),
    "backgammon": Format("backgammon", match_length=1, resignation=True),
}


@pytest.mark.parametrize("name", RULES)
def test_whatever_is_offered_can_be_done_and_the_state_tells_a_whole_position(name: str, model: Evaluator) -> None:
    rules, random = RULES[name], _random(1)
    bot = ModelBot(load(rules.variant), "model:bundled")
    table = _table(rules, bot, seed=3)
    state = table.state()
    for _ in range(150):
        json.dumps(state)
        assert sum(state["mine"]) == sum(state["theirs"]) == VARIANTS[rules.variant].num_checkers
        assert not any(mine and theirs for mine, theirs in zip(state["mine"][1:25], state["theirs"][1:25], strict=True))
        for one in state["reach"]:
            assert state["mine"][one["from"]]
        can = state["can"]
        if state["phase"] == "move":
            assert bool(state["reach"]) is not can["done"]
            assert len(state["dice"]) in (2, 4)
        else:
            assert state["reach"] == []
            assert any(can[word] for word in ("roll", "take", "next"))
        state = _act(table, _choose(state, random))


@pytest.mark.parametrize("name", RULES)
def test_whatever_is_not_offered_is_refused_and_changes_nothing(name: str) -> None:
    rules, random = RULES[name], _random(2)
    table = _table(rules, ModelBot(load(rules.variant), "model:bundled"), seed=4)
    state = table.state()
    for _ in range(60):
        for word in ACTIONS:
            allowed = state["can"].get(word)
            if word in ("move", "tutor") or allowed:
                continue
            for level in (1, 2, 3, True, 1.0, 4) if word == "resign" else (None,):
                with pytest.raises(RefusedError):
                    table.act(word, table.version, {"level": level})
        offered = {tuple(one["moves"]) for one in state["reach"] if len(one["moves"]) == 1}
        for move in range(-2, 153, 7):
            if (move,) not in offered:
                with pytest.raises(RefusedError):
                    table.act("move", table.version, {"moves": [move]})
        assert table.state() == state
        state = _act(table, _choose(state, random))


_JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=150)
@given(st.sampled_from(ACTIONS) | st.text(max_size=8), _JUNK, _JUNK, _JUNK, st.integers(0, 30))
def test_no_junk_breaks_a_table(action: str, level: object, moves: object, on: object, steps: int) -> None:
    table = _table(RULES["match"], RandomBot("sprintgammon"), seed=steps)
    random = _random(steps)
    for _ in range(steps % 6):
        _act(table, _choose(table.state(), random))
    before = table.state()
    try:
        table.act(action, table.version, {"level": level, "moves": moves, "on": on})
    except RefusedError:
        assert table.state() == before
    json.dumps(table.state())


def test_a_state_that_is_no_longer_the_games_is_not_acted_on() -> None:
    table = _table(RULES["match"])
    old = table.version
    _act(table, _choose(table.state(), _random(1)))
    with pytest.raises(StaleError):
        table.act("roll", old, {})


def test_part_of_a_move_list_that_is_illegal_is_not_made() -> None:
    table = next(table for seed in range(20) if (table := _table(RULES["match"], seed=seed)).state()["reach"])
    state = table.state()
    first = state["reach"][0]["moves"][0]
    with pytest.raises(RefusedError, match="move: found 149"):
        table.act("move", table.version, {"moves": [first, 149]})
    assert table.state() == state


@pytest.mark.parametrize("variant", ["sprintgammon", "longgammon", "backgammon"])
def test_the_bots_moves_are_told_in_the_persons_numbers(variant: str) -> None:
    table, random, seen = _table(Format(variant, cube=False), RandomBot(variant), seed=2), _random(2), 0
    before = table.state()
    while before["phase"] != "over" and seen < 20:
        choice = _choose(before, random)
        after = _act(table, choice)
        plays = [event for event in after["events"] if event["kind"] == "played" and event["player"] == 1]
        if choice["action"] == "done" and len(plays) == 1:
            seen += 1
            theirs = list(before["theirs"])  # those hit by the person are on the bar already
            for source, target in plays[0]["moves"]:
                assert theirs[source] > 0
                theirs[source] -= 1
                theirs[target] += 1
            assert theirs == after["theirs"]
            assert after["last"] == plays[0]
        before = after
    assert seen > 4


def test_a_match_is_played_to_its_end_and_the_next_begins(model: Evaluator) -> None:
    table, random = _table(RULES["match"], adviser=model), _random(3)
    state = _finish(table, random)
    assert max(state["score"]) == 3
    assert state["events"][-1]["kind"] == "won_match"
    state = _act(table, {"action": "next"})
    assert state["score"] == [0, 0]


def test_the_hint_is_the_reviews(model: Evaluator) -> None:
    bot = ModelBot(model, "model:sprintgammon")
    table, random, phases = _table(RULES["money"], bot, 5, model), _random(5), set()
    for _ in range(60):
        state = table.state()
        if state["can"]["hint"]:
            found, review = table.hint(), review_decision(model, table.session, HINT_PLAYS)
            assert [play["equity"] for play in found["plays"]] == [play.equity for play in review.plays]
            assert (found["cube"] is None) is (state["phase"] == "move")
            if found["cube"] is not None:
                assert found["cube"]["action"] == review.cube.action
            phases.add(state["phase"])
        else:
            with pytest.raises(RefusedError):
                table.hint()
        _act(table, _choose(state, random))
    assert {"move", "cube"} <= phases


def test_the_answer_to_a_beaver_has_a_hint(model: Evaluator) -> None:
    table = _table(RULES["money"], Cubist("sprintgammon"), adviser=model)
    table.set_up(read_xgid("XGID=-A----------------------a-:0:0:1:00:0:0:2:0:10", "sprintgammon"))
    state = _act(table, {"action": "double"})
    assert state["phase"] == "beavered"
    assert state["can"]["hint"]
    cube = table.hint()["cube"]
    assert cube["action"] == ("Take" if 2 * cube["double_take"] >= -2 else "Drop")


def test_the_tutor_loses_what_the_review_of_the_game_does(model: Evaluator) -> None:
    table, random = _table(RULES["match"], adviser=model, seed=6), _random(6)
    losses = []
    state = table.state()
    while state["phase"] != "over":
        choice = _choose(state, random)
        while choice["action"] in ("undo", "resign"):
            choice = _choose(state, random)
        state = _act(table, choice)
        verdict = state["tutor"]["verdict"]
        if verdict is not None:
            losses.append(verdict["loss"])
    record = read_saved_game(table.saved())
    review = review_match(model, record, blunder=0.001)
    wanted = [mistake.loss for mistake in review.mistakes if mistake.player == 0]
    assert sorted(loss for loss in losses if loss >= 0.001) == pytest.approx(sorted(wanted), abs=1e-5)
    assert wanted


def test_a_saved_game_is_taken_up_again_and_its_match_text_is_read(model: Evaluator) -> None:
    table, random = _table(RULES["match"], seed=7), _random(7)
    for _ in range(12):
        _act(table, _choose(table.state(), random))
    while table.state()["phase"] == "move" and table.state()["can"]["take_back"]:
        _act(table, {"action": "take_back"})
    record = read_saved_game(table.saved())
    again = Table.resume(PipCountBot("sprintgammon"), record, 9, "pipcount", None, tutor=False)
    for name in ("mine", "theirs", "cube", "score", "crawford", "phase", "reach", "xgid", "on_roll"):
        assert again.state()[name] == table.state()[name]
    read = read_match_text(table.mat(), "sprintgammon")
    assert read == read_match_text(match_text(record), "sprintgammon")


def test_a_position_is_set_up_with_the_person_below(model: Evaluator) -> None:
    table = _table(Format())
    text = "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:0:6"
    table.set_up(read_xgid(text))
    state = table.state()
    assert state["xgid"] == text
    assert state["dice"] == [[3, False], [1, False]]
    assert not state["can"]["save"]


def test_a_flag_that_falls_while_nobody_asks_is_told_at_the_next_question() -> None:
    time = SimulatedTime()
    rules = Format("sprintgammon", match_length=3, clock=ClockOptions(bank=60, increment=5), resignation=True)
    session = TimedSession(RandomBot("sprintgammon"), rules, 1, time)
    table = Table(session, "random")
    state = table.state()
    assert state["clock"] == {"left": [60, 60], "running": 0}
    assert not state["can"]["undo"]
    time.advance(61)
    old, state = state["version"], table.state()
    assert state["match_over"]
    assert state["score"] == [0, 3]
    assert state["clock"]["running"] is None
    with pytest.raises(StaleError):
        table.act("roll", old, {})


def test_a_flag_that_has_fallen_makes_the_persons_action_stale() -> None:
    time = SimulatedTime()
    rules = Format("sprintgammon", match_length=3, clock=ClockOptions(bank=60, increment=5), resignation=True)
    for seed in range(4):  # the first decision is a cube's or a play
        table = Table(TimedSession(RandomBot("sprintgammon"), rules, seed, time), "random")
        seen = table.state()
        time.advance(61)
        with pytest.raises(StaleError):
            table.act("roll" if seen["can"]["roll"] else "move", seen["version"], {"moves": [0]})
        state = table.state()
        can = {word for word, possible in state["can"].items() if possible}
        assert can <= {"next", "mat"}
        with pytest.raises(RefusedError, match="save: found a match lost on time"):
            table.saved()
        with pytest.raises(RefusedError):
            table.act("roll", state["version"], {})
        assert table.session.points == [0, 1]


def test_what_the_tutor_has_not_learned_does_not_hold_up_the_game(model: Evaluator) -> None:
    class Refusing(Evaluator):
        def equity(self, boards: Tensor, cube: Cube | None = None) -> Tensor:
            raise ValueError("cube: jacoby: not learned")

    table, random = _table(RULES["match"], adviser=Refusing(model.network, "sprintgammon")), _random(1)
    for _ in range(40):
        before = table.version
        state = _act(table, _choose(table.state(), random))
        assert state["version"] == before + 1
        assert state["tutor"]["verdict"] is None


class TestLobby:
    @pytest.fixture
    def lobby(self) -> Lobby:
        return Lobby(RandomBot("sprintgammon"), "sprintgammon", tables=3)

    def test_every_choice_on_offer_makes_a_game(self, lobby: Lobby) -> None:
        choices = lobby.choices()
        assert choices["disciplines"][0]["name"] == "sprintgammon"
        assert choices["disciplines"][0]["levels"][0]["name"] == "random"
        for discipline in choices["disciplines"]:
            for level in discipline["levels"]:
                for length, clock in ((0, None), (5, None), (25, choices["clocks"][1])):
                    values = {"discipline": discipline["name"], "level": level["name"], "length": length}
                    _, state = lobby.new(None, {**values, "clock": clock, "cube": True, "seed": 1})
                    assert state["level"] == level["name"]
                    assert state["length"] == length

    def test_tables_are_bounded_and_the_one_not_touched_longest_goes(self, lobby: Lobby) -> None:
        tokens = [lobby.new(None, {"level": "random"})[0] for _ in range(3)]
        lobby.ask(tokens[0], lambda table: table.version)
        lobby.new(None, {"level": "random"})
        lobby.ask(tokens[0], lambda table: table.version)
        with pytest.raises(NoTableError):
            lobby.ask(tokens[1], lambda table: table.version)

    def test_a_new_game_takes_the_place_of_the_old_and_tokens_are_not_chosen_by_the_browser(self, lobby: Lobby) -> None:
        chosen = "mine"
        token, _ = lobby.new(chosen, {"level": "random"})
        assert token != chosen
        assert lobby.new(token, {"level": "pipcount"})[0] == token
        assert lobby.ask(token, lambda table: table.level) == "pipcount"

    def test_a_tab_that_shows_the_game_before_does_not_act_on_the_new_one(self, lobby: Lobby) -> None:
        token, seen = lobby.new(None, {"level": "random"})
        for again in range(3):
            lobby.ask(token, lambda table: table.act("tutor", table.version, {"on": True}))
            _, state = lobby.new(token, {"level": "random", "seed": again})
            assert state["version"] > seen["version"]
            with pytest.raises(StaleError):
                lobby.ask(token, partial(Table.act, action="roll", version=seen["version"], values={}))
            seen = state

    @pytest.mark.parametrize(
        ("values", "message"),
        [
            ({"discipline": "chess"}, "discipline: found 'chess', wanted one of backgammon"),
            ({"level": "model:/etc/passwd"}, "level: found 'model:/etc/passwd', wanted one of random"),
            ({"length": 100}, "length: found 100, wanted a whole number from 0 to 99"),
            ({"length": True}, "length: found True"),
            ({"cube": "yes"}, "cube: found 'yes', wanted true or false"),
            ({"clock": 5}, "clock: found 5, wanted null or bank and increment"),
            ({"clock": {"increment": 5}}, "clock: found no bank"),
            ({"clock": {"bank": 60}}, "wanted a match"),
            ({"beavers": True}, "random has no answer to a beaver"),
            ({"beavers": True, "cube": False}, "beavers: found it without a cube"),
            ({"position": "hello"}, "gnubg id: found 'hello', wanted an XGID, a Position ID"),
            ({"position": "XGID=junk"}, "gnubg id: found 'XGID=junk'"),
            ({"position": 5}, "position: found 5, wanted a text"),
            ({"position": "x" * 201}, "wanted a text of at most 200"),
            ({"seed": -1}, "seed: found -1"),
            ({"seed": 1.5}, "seed: found 1.5"),
            ({"tutor": 1}, "tutor: found 1"),
        ],
    )
    def test_what_cannot_be_played_is_refused_in_words(
        self, lobby: Lobby, values: dict[str, Any], message: str
    ) -> None:
        with pytest.raises(ValueError, match=message):
            lobby.new(None, values)

    def test_a_position_brings_its_own_match(self, lobby: Lobby) -> None:
        text = "XGID=-b----E-C---eE---c-e----B-:1:1:1:00:2:1:0:5:6"
        values = {"discipline": "backgammon", "level": "pipcount", "position": text, "jacoby": True, "length": 0}
        _, state = lobby.new(None, values)
        assert (state["length"], state["score"], state["jacoby"]) == (5, [2, 1], False)
        assert state["cube"] == {"value": 2, "owner": 0, "offered": 0}

    def test_the_seed_gives_the_same_game(self, lobby: Lobby) -> None:
        first, second = (lobby.new(None, {"level": "pipcount", "seed": 12})[1] for _ in range(2))
        assert first == second
        assert sum(first["mine"]) == 3
