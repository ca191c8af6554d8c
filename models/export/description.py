"""A bundle described in JSON, so that its weights can be used without this package: ``docs/export.md``.

Every input is listed, every tensor has a name, every head a formula; a reference lets a reader check what he has made
of it. A test follows the description with plain NumPy.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from ...env.variants import Variant, get_variant
from ..encoding import ENCODING, NUM_INPUTS
from ..evaluator import Evaluator
from ..kernels.encoding import COUNTED_SIZES
from ..network import NUM_CUBE, NUM_OUTCOMES, Network
from ..stakes import NUM_FEATURES
from .reference import reference

__all__ = ["describe_bundle"]

FORMAT = "nardy-description-1"

_BOARD = (
    "int8 [2, 26]. Side 0 is the player on roll, side 1 the other; each side counts in its own numbers: index 0 the "
    "checkers borne off, 1 to 24 its points (1 the ace point), 25 the bar."
)
_KINDS = {
    "equal": "1 if the number of checkers in the cell is the threshold, else 0",
    "at_least": "1 if the number of checkers in the cell is the threshold or more, else 0",
    "excess": "scale times what the number exceeds the threshold by, 0 if it does not",
    "pips": "scale times the sum over points 1 to 25 of point times checkers of the side",
    "counted": "1 if the counted cell has this value, else 0",
}
_COMMON = {
    "rear": "the highest of a side's points 1 to 25 with a checker, 0 if all are off",
    "pip lead": "pips of side 1 less pips of side 0; the cell is floor((lead + 85) / 10), at least 0 and at most 15",
    "rearmost": "(rear + 1) / 2, rounded down",
}
_MEETING = {
    "opposite": "25 - point",
    "race": "1 if the rears of both sides add up to 25 or less, else 0",
    "home points": "how many of the side's points 1 to 6 hold two or more of its checkers",
    "longest prime": "length of the longest run of neighbouring points among 1 to 24 with two or more of its checkers, "
    "at most 7",
    "blots in range": "how many of the side's points 1 to 24 with exactly one of its checkers have a checker of the "
    "other side 1 to 6 below them, a checker on the other's point q standing at 25 - q here, one on his bar at "
    "0; at most 4",
}
_BLOCKING = {
    "opposite": "point + 12 up to 12, point - 12 above",
    "race": "1 if the rears of both sides are 12 or less, else 0",
    "home points": "how many of the side's points 1 to 6 hold one or more of its checkers",
    "longest prime": "length of the longest run of neighbouring points held by it, in the other side's numbers 1 to 24 "
    "(see opposite), at most 7",
    "points closed ahead": "how many of the six points below the side's rear the other side holds (in this side's "
    "numbers, see opposite); at most 4",
}


def describe_bundle(evaluator: Evaluator, file: str) -> dict[str, Any]:
    """The description of the bundle ``file`` that holds ``evaluator``, as JSON values."""
    rules = get_variant(evaluator.variant)
    return {
        "format": FORMAT,
        "file": file,
        "file_format": "safetensors: an 8-byte little-endian length, a JSON header of that length, then the tensors; "
        "all weights float32, a linear layer is weight @ input + bias",
        "variant": {
            "name": rules.name,
            "checkers": rules.num_checkers,
            "highest_win": rules.max_level,
            "opposite": (_BLOCKING if rules.blocking else _MEETING)["opposite"],
        },
        "board": _BOARD,
        "encoding": _encoding(rules),
        "layers": _layers(evaluator.network),
        "masks": _masks(rules),
        "heads": _heads(evaluator.network),
        "facts": evaluator.header.get("facts", {}),
        "reference": {"tolerance": 1e-4, **reference(evaluator)},
    }


def _encoding(rules: Variant) -> dict[str, Any]:
    texts = _COMMON | (_BLOCKING if rules.blocking else _MEETING)
    fourth = "points closed ahead" if rules.blocking else "blots in range"
    names = ("home points", "longest prime", "rearmost", fourth)
    cells = ["race", *(f"{name} of side {side}" for side in (0, 1) for name in names), "pip lead"]
    counted: list[dict[str, Any]] = [
        {"cell": cell, "values": size, "rule": texts[cell.partition(" of side")[0]]}
        for cell, size in zip(cells, COUNTED_SIZES, strict=True)
    ]
    inputs = [*_side_inputs(0), *_side_inputs(1)]
    inputs += [
        {"kind": "counted", "cell": cell["cell"], "value": value} for cell in counted for value in range(cell["values"])
    ]
    assert len(inputs) == NUM_INPUTS
    return {
        "name": ENCODING,
        "kinds": _KINDS,
        "rear": texts["rear"],
        "counted_cells": counted,
        "inputs": [{"index": index, **values} for index, values in enumerate(inputs)],
    }


def _side_inputs(side: int) -> list[dict[str, Any]]:
    """The 101 inputs of a side, in order."""

    def one(kind: str, cell: int, threshold: int, scale: float = 1.0) -> dict[str, Any]:
        return {"kind": kind, "side": side, "cell": cell, "threshold": threshold, "scale": scale}

    inputs = []
    for point in range(1, 25):
        inputs += [one("equal", point, 1), one("at_least", point, 2), one("at_least", point, 3)]
        inputs.append(one("excess", point, 3, 0.5))
    inputs += [one("at_least", 25, 1), one("excess", 25, 0, 0.5), one("at_least", 0, 1), one("excess", 0, 0, 1 / 15)]
    return [*inputs, {"kind": "pips", "side": side, "scale": 1 / 167}]


def _layers(network: Network) -> list[dict[str, Any]]:
    """The layers from the inputs to the raw outputs."""
    sizes = list(pairwise((NUM_INPUTS, *network.config.hidden, network.head.out_features)))
    names = ["first", *(f"rest.{index}" for index in range(len(network.rest))), "head"]
    return [
        {
            "weight": f"network.{name}.weight",
            "bias": f"network.{name}.bias",
            "shape": [size_out, size_in],
            "activation": "none" if name == "head" else "relu",
        }
        for name, (size_in, size_out) in zip(names, sizes, strict=True)
    ]


def _masks(rules: Variant) -> dict[str, Any]:
    """Which outcomes can still happen."""
    return {
        "outcomes": ["win single", "win gammon", "win backgammon", "lose single", "lose gammon", "lose backgammon"],
        "rule": "the highest level that a side can still lose is 1 if it has a checker off; else 3 if the rears of "
        "both sides add up to more than 25 or its own rear is 19 or more; else 2; and never more than highest_win. "
        "What side 1 can lose, side 0 can win. Other outcomes have probability exactly 0",
        "highest_win": rules.max_level,
        "over": "a side with all its checkers off has won: a single game if the other has one off, else a backgammon "
        "if the other has one on its points 19 to 25 (and highest_win is 3), else a gammon; that outcome has "
        "probability 1, and every value is what it is worth",
    }


def _heads(network: Network) -> dict[str, Any]:
    """What the raw outputs mean."""
    heads: dict[str, Any] = {
        "outcome": {
            "columns": [0, NUM_OUTCOMES],
            "formula": "softmax over the possible outcomes of these columns",
        },
        "no_double": {
            "columns": [NUM_OUTCOMES, NUM_OUTCOMES + NUM_CUBE],
            "formula": "with (a, b, c) these columns and E = sum of probability times points (1, 2, 3, -1, -2, -3): "
            "centred E + a, mine E + a + softplus(b), theirs E + a - softplus(c); softplus(x) = log(1 + exp(x)). Each "
            "is kept between minus the highest level that side 0 can lose and the highest that it can win",
            "meaning": "money equity of the player on roll if he rolls without doubling, in units of the cube",
            "decisions": "double and take is worth 2 * theirs, double and drop 1; double where the smaller of them "
            "exceeds no_double, take where the first does not exceed the second",
        },
    }
    if network.config.context_units:
        heads["no_double_stake"] = {
            "columns": [NUM_OUTCOMES + NUM_CUBE, network.head.out_features],
            "context_in": "network.context_in.weight",
            "context_out": "network.context_out.weight",
            "features": NUM_FEATURES,
            "formula": "at another stake than money, with u these columns and f the stake's features: add "
            "context_out @ (relu(u + context_in @ f) - relu(u)) to (a, b, c), and take E as the sum of probability "
            "times payoff. Where neither side may turn the cube the value is E. Each is kept between the worst "
            "possible payoff and the best. docs/export.md says what features and payoff are at a match score",
            "jacoby": {
                "payoff": [1, 1, 1, -1, -1, -1],
                "features": [-0.5, -1, 0.5, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
                "meaning": "the Jacoby rule with a centred cube; owned cubes are as without it",
            },
            "match_tables": "tensors match.before [S, S] and match.after [S], if the file has them: the chance of a "
            "side that needs a points against b is before[a - 1, b - 1], after the Crawford game after[a - 1] "
            "against 1",
        }
    return heads
