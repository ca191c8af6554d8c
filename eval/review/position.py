"""One position judged: its best plays with equities and chances, its cube action in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import torch

from ...env import board_picture, board_text
from ...env.notation import GameState, Offer, plays
from ...env.picture import board_words
from ...env.shapes import to_svg
from ...models import Evaluator
from ..report.style import BEST_MOVE
from .source import check_position
from .values import CubeValues, PlayValues, cube_values, play_values

__all__ = [
    "CubeReview",
    "PositionReview",
    "RankedPlay",
    "cube_advice",
    "ranked_plays",
    "review_position",
    "state_svg",
    "state_text",
]


@dataclass(frozen=True)
class RankedPlay:
    """A play. ``equity`` as in `values`, ``difference`` from the best's, 0 or less; ``outcome`` for the mover.

    ``chance`` is the match-winning chance, None for money; ``moves`` the single moves in the mover's numbers.
    """

    rank: int
    play: str
    equity: float
    difference: float
    chance: float | None
    outcome: tuple[float, ...]
    moves: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class CubeReview:
    """The cube before the roll, for the player on roll.

    Attributes:
        action: what to do, in words; why not, where the cube cannot be turned.
        available: may the player on roll double?
        no_double, double_take, double_pass: equities.
        chances: the same three as match-winning chances, None for money.
        beaver: equity of a double that is beavered, None where there is no beaver.
        cubeless: money equity without a cube. outcome: probabilities.
    """

    action: str
    available: bool
    no_double: float
    double_take: float
    double_pass: float
    chances: tuple[float, ...] | None
    beaver: float | None
    cubeless: float
    outcome: tuple[float, ...]


@dataclass(frozen=True)
class PositionReview:
    """What a model thinks of a state: ``plays`` if there are dice (``num_plays`` are legal), and the cube before."""

    state: GameState
    plays: tuple[RankedPlay, ...]
    num_plays: int
    cube: CubeReview

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        return {
            "position": state_values(self.state),
            "num_plays": self.num_plays,
            "plays": [asdict(play) for play in self.plays],
            "cube": asdict(self.cube),
        }


def review_position(
    evaluator: Evaluator, state: GameState, count: int = 5, second_first: bool = False
) -> PositionReview:
    """Judge ``state``; the best ``count`` plays are kept. `NotationError` if there is nothing to decide."""
    check_position(state)
    cube = cube_review(cube_values(evaluator, [state]), 0, state)
    if state.dice is None:
        return PositionReview(state, (), 0, cube)
    values = play_values(evaluator, [state], torch.tensor([second_first]))
    return PositionReview(state, ranked_plays(values, state, count, second_first), len(values.game), cube)


def ranked_plays(values: PlayValues, state: GameState, count: int, second_first: bool) -> tuple[RankedPlay, ...]:
    """The best plays of the one state of ``values``."""
    assert state.dice is not None
    legal = plays(state.tensor(), state.dice, state.variant, second_first)
    order = values.equity.argsort(descending=True, stable=True)[:count].tolist()
    return tuple(
        RankedPlay(
            rank=rank,
            play=legal[row].text,
            equity=float(values.equity[row]),
            difference=float(values.equity[row] - values.equity[order[0]]),
            chance=float(values.value[row]) if state.match_length else None,
            outcome=tuple(values.outcome[row].tolist()),
            moves=legal[row].turns[0],
        )
        for rank, row in enumerate(order, start=1)
    )


def cube_review(values: CubeValues, row: int, state: GameState) -> CubeReview:
    """The cube of one of the states judged."""
    return CubeReview(
        action=cube_advice(values, row, state),
        available=bool(values.may_double[row]),
        no_double=float(values.no_double[row]),
        double_take=float(values.double_take[row]),
        double_pass=float(values.double_pass[row]),
        chances=tuple(values.value[row].tolist()) if state.match_length else None,
        beaver=float(values.beaver[row]) if bool(values.may_beaver[row]) else None,
        cubeless=float(values.cubeless[row]),
        outcome=tuple(values.outcome[row].tolist()),
    )


def cube_advice(values: CubeValues, row: int, state: GameState) -> str:
    """The right cube action and answer: "Double, take", "Too good to redouble, drop" and the like.

    For an offer on the table the answer to it. The last word is the opponent's answer if he were doubled.
    """
    here, take, drop = (float(each[row]) for each in (values.no_double, values.double_take, values.double_pass))
    answer = "take" if take <= drop else "drop"
    if answer == "take" and bool(values.may_beaver[row]) and float(values.beaver[row]) < take:
        answer = "beaver"
    if state.offer is Offer.DOUBLE:
        return answer.capitalize()
    if not bool(values.may_double[row]):
        return f"Cube not available ({_why_not(state)})"
    turn = "double" if state.cube_owner is None else "redouble"
    if float(values.offered[row]) > here:
        return f"{turn.capitalize()}, {answer}"
    if here > drop:
        return f"Too good to {turn}, {answer}"
    return f"No {turn}, {answer}"


def _why_not(state: GameState) -> str:
    if state.max_cube == 1:
        return "a game without one"
    if state.cube_owner == 1 - state.player:
        return "the opponent owns it"
    if state.crawford:
        return "Crawford game"
    if state.match_length and state.score[state.player] + state.cube_value >= state.match_length:
        return "dead: it is enough to win the match"
    return f"its limit is {state.max_cube or 64}"


def state_text(state: GameState, names: Sequence[str] | None = None) -> str:
    """The board drawn as text as the player on roll sees it, with what stands beside it."""
    return board_text(state.board, **_drawn(state, names))


def state_svg(
    state: GameState,
    names: Sequence[str] | None,
    title: str,
    moves: Sequence[tuple[int, int]] = (),
    fill: str = BEST_MOVE,
) -> str:
    """The same as SVG, with arrows for ``moves`` in the colour ``fill``; ``title`` for those who do not see it."""
    picture = board_picture(state.board, **_drawn(state, names), hops=moves, hops_fill=fill)
    return to_svg(picture, title, board_words(state.board, state.variant, state.dice))


def _drawn(state: GameState, names: Sequence[str] | None) -> dict[str, Any]:
    """What `board_text` and `board_picture` take beside the board."""
    return {
        "player": state.player,
        "dice": state.dice,
        "cube_value": 0 if state.max_cube == 1 else state.cube_value,
        "cube_owner": 0 if state.cube_owner is None else 1 + (state.cube_owner != state.player),
        "score": state.score,
        "match_length": state.match_length,
        "offered": int(state.offer),
        "names": names,
        "variant": state.variant,
    }


def state_values(state: GameState) -> dict[str, Any]:
    """A state as JSON values."""
    values = {name: getattr(state, name) for name in state.__dataclass_fields__}
    return values | {"offer": state.offer.name.lower(), "status": state.status.name.lower()}
