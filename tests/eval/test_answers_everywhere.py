"""One position, asked of the bundle in Python, as ONNX and through every server: one answer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from nardy.env import Cube, GameOptions, afterstates, flip
from nardy.env.formats import Format
from nardy.env.notation import GameState, find_play, plays, xgid
from nardy.eval.bots import Bot, make_bot
from nardy.eval.match_log import position
from nardy.eval.outside.external_line import external_line
from nardy.eval.play import Session
from nardy.eval.review import review_position
from nardy.eval.serve import Decider, ExternalPlayer, UbgiEngine
from nardy.eval.web import Table
from nardy.models import Evaluator, load
from nardy.models.export import OnnxModel, played_positions, write_onnx
from tests.eval.play.driving import run

NAMES = ("Otto", "Xena")
MONEY = GameOptions()


@pytest.fixture(scope="module")
def model() -> Evaluator:
    return load("backgammon")


@pytest.fixture(scope="module")
def bot() -> Bot:
    return make_bot("model:backgammon")


@pytest.fixture(scope="module")
def onnx(tmp_path_factory: pytest.TempPathFactory, model: Evaluator) -> OnnxModel:
    for package in ("onnx", "onnxscript", "onnxruntime"):
        pytest.importorskip(package, reason=f"needs {package}: pip install 'nardy[onnx]'")
    path: Path = tmp_path_factory.mktemp("onnx") / "model.onnx"
    write_onnx(path, model)
    return OnnxModel(path)


@pytest.fixture(scope="module")
def states(model: Evaluator) -> list[GameState]:
    """Positions of the model's own games, player 1 on roll: with dice, and before the roll doubles and no doubles."""
    boards, dice = played_positions(model, 2000)
    chosen = [row for row in range(0, len(boards), 122) if len(plays(boards[row], dice[row].tolist())) > 1]
    rolled = [GameState(position(boards[row]), dice=(int(dice[row, 0]), int(dice[row, 1]))) for row in chosen]
    doubles = model.cube_action(boards, Cube()).double
    found = [torch.nonzero(doubles == double).flatten().tolist() for double in (True, False)]
    before = [row for rows in found for row in rows[:: max(1, len(rows) // 8)]]
    return rolled + [GameState(position(boards[row])) for row in before]


def _of_python(model: Evaluator, state: GameState) -> torch.Tensor | bool:
    """The position after the best play; before the roll, is it a double?"""
    board = state.tensor()[None]
    if state.dice is None:
        return bool(model.cube_action(board, Cube()).double[0])
    dice = torch.tensor([state.dice])
    _, after = afterstates(board, dice)
    return after[int(model.best(board, dice, Cube()))]


def _of_onnx(onnx: OnnxModel, state: GameState) -> torch.Tensor | bool:
    """The same by the rules of docs/export.md, from the graph's outputs alone."""
    if state.dice is None:
        centred, _, theirs = onnx(state.tensor()[None])["no_double"][0].tolist()
        return bool(min(2 * theirs, 1.0) > centred)
    _, after = afterstates(state.tensor()[None], torch.tensor([state.dice]))
    found = onnx(flip(after))
    centred, _, theirs = found["no_double"].unbind(1)
    value = torch.maximum(centred, (2 * theirs).clamp(max=1.0))
    levels = torch.tensor([1.0, 2, 3, -1, -2, -3])
    over = (flip(after)[:, :, 0] == 15).any(1)
    return after[torch.where(over, found["outcome"] @ levels, value).argmin()]


def _of_gnubg_server(bot: Bot, state: GameState) -> torch.Tensor | bool:
    line = external_line(state, NAMES)
    said = ExternalPlayer(Decider(bot, MONEY)).answer(f"{line}\n\0".encode()).decode().strip("\0\n")
    return said == "double" if state.dice is None else find_play(said, state.tensor(), state.dice)


def _of_ubgi(bot: Bot, state: GameState) -> torch.Tensor | bool:
    engine = UbgiEngine(Decider(bot, MONEY))
    engine.answer("newsession type money jacoby off")
    engine.answer(f"position xgid {xgid(state)}")
    (said,) = engine.answer("go role cube" if state.dice is None else "go role chequer")
    if state.dice is None:
        return said == "bestcube double"
    return find_play(said.removeprefix("bestmove "), state.tensor(), state.dice)


def _of_page(bot: Bot, model: Evaluator, state: GameState) -> torch.Tensor | bool:
    table = Table.new(bot, Format(), 1, "model:backgammon", model, tutor=False)
    table.set_up(state)
    hint = table.hint()
    if state.dice is None:
        return bool(hint["cube"]["action"].startswith("Double"))
    return find_play(hint["plays"][0]["play"], state.tensor(), state.dice)


def _of_terminal(bot: Bot, state: GameState) -> torch.Tensor | bool:
    session = Session(bot, MONEY, seed=1)
    session.set_up(state)
    text = run("hint\n", session)
    if state.dice is None:
        return "> Double, " in text
    return min(plays(state.tensor(), state.dice), key=lambda play: _place(text, play.text)).board


def _place(text: str, play: str) -> int:
    found = text.find(f" {play}  ")
    return found if found >= 0 else len(text)


def _answers(
    model: Evaluator, bot: Bot, onnx: OnnxModel, state: GameState
) -> Iterator[tuple[str, torch.Tensor | bool]]:
    yield "python", _of_python(model, state)
    yield "onnx", _of_onnx(onnx, state)
    yield "gnubg", _of_gnubg_server(bot, state)
    yield "ubgi", _of_ubgi(bot, state)
    yield "page", _of_page(bot, model, state)
    yield "terminal", _of_terminal(bot, state)
    review = review_position(model, state, count=1)
    if state.dice is None:
        yield "analyze", review.cube.action.startswith("Double")
    else:
        yield "analyze", find_play(review.plays[0].play, state.tensor(), state.dice)


def test_every_way_to_ask_gives_the_same_answer(
    model: Evaluator, bot: Bot, onnx: OnnxModel, states: list[GameState]
) -> None:
    doubles = set()
    for state in states:
        answers = dict(_answers(model, bot, onnx, state))
        wanted = answers["python"]
        for name, answer in answers.items():
            same = torch.equal(answer, wanted) if isinstance(wanted, torch.Tensor) else answer == wanted  # type: ignore[arg-type]
            assert same, f"{name}: {answer} for {xgid(state)}, wanted {wanted}"
        if isinstance(wanted, bool):
            doubles.add(wanted)
    assert doubles == {True, False}
