"""A bundle described in JSON, so that its weights can be used without this package: ``docs/export.md``.

Every input is listed, every tensor has a name, every head a formula; a reference lets a reader check what he has made
of it. A test follows the description with plain NumPy.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import Any

from ...env.variants import Variant, get_variant
from ..evaluator import Evaluator
from ..kernels.cells import BASIC_SIZES, COUNTED_SIZES
from ..network import NUM_CUBE, NUM_OUTCOMES, Network, NetworkConfig
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
    "checkers at home": "the side's checkers on its points 1 to 6, at most 15",
    "checkers deep at home": "the side's checkers on its points 1 to 3",
    "pips": "an eighth, rounded down, of the sum over points 1 to 25 of point times checkers of the side, at most 15",
    "rolls escaping": "a third, rounded up, of the rolls of 36 by which a checker on the side's rear, moving alone by "
    "one die or both, by doubles up to four times, gets past the farthest closed point among the seven ahead of it, "
    "never landing on a closed one; points below 1 are open; 36 if none of the seven is closed or no checker is left",
    "rolls escaping next": "the same for the next checker: the rear once a checker is taken away from it",
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
    "closed": "a point of 1 to 24 is closed to a side if the other holds it with two or more, 25 - q in its numbers",
    "checkers to pass": "the side's checkers on points above 25 - the other side's rear, the bar being 25; at most 15",
    "rolls hitting": "a third, rounded up, of the rolls of 36 by which one checker of the side can land on a single "
    "one of the other, on the side's points 1 to 24. It moves by one die or both, in either order, by doubles up to "
    "four times, and never lands on a closed point. With one checker on the bar that one enters first, on 25 - die, "
    "and any checker plays the other die; with more only entering checkers hit, but by doubles all may move on with "
    "the moves that are left when those on the bar are in",
}
_DETAILS = (
    "checkers to pass",
    "checkers at home",
    "checkers deep at home",
    "pips",
    "rolls hitting",
    "rolls escaping",
    "rolls escaping next",
)
_BLOCKING = {
    "opposite": "point + 12 up to 12, point - 12 above",
    "race": "1 if the rears of both sides are 12 or less, else 0",
    "home points": "how many of the side's points 1 to 6 hold one or more of its checkers",
    "longest prime": "length of the longest run of neighbouring points held by it, in the other side's numbers 1 to 24 "
    "(see opposite), at most 7",
    "points closed ahead": "how many of the six points below the side's rear the other side holds (in this side's "
    "numbers, see opposite); at most 4",
    "closed": "a point of 1 to 24 is closed to a side if the other holds it (in this side's numbers, see opposite)",
    "checkers to pass": "the side's checkers on points 13 to 24; at most 15",
    "rolls hitting": "always 0",
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
        "encoding": _encoding(rules, evaluator.network.config),
        "layers": _layers(evaluator.network),
        "masks": _masks(rules),
        "heads": _heads(evaluator.network),
        "facts": evaluator.header.get("facts", {}),
        "reference": {"tolerance": 1e-4, **reference(evaluator)},
    }


def _encoding(rules: Variant, config: NetworkConfig) -> dict[str, Any]:
    texts = _COMMON | (_BLOCKING if rules.blocking else _MEETING)
    fourth = "points closed ahead" if rules.blocking else "blots in range"
    names = ("home points", "longest prime", "rearmost", fourth)
    cells = ["race", *(f"{name} of side {side}" for side in (0, 1) for name in names), "pip lead"]
    cells += [f"{name} of side {side}" for side in (0, 1) for name in _DETAILS]
    counted: list[dict[str, Any]] = [
        {"cell": cell, "values": size, "rule": texts[cell.partition(" of side")[0]]}
        for cell, size in zip(cells, COUNTED_SIZES, strict=True)
    ]
    values = [
        [{"kind": "counted", "cell": cell["cell"], "value": n} for n in range(cell["values"])] for cell in counted
    ]
    num_basic = len(BASIC_SIZES)
    parts = [_side_inputs(0), _side_inputs(1), *values[:num_basic]]
    parts += [_detailed_side_inputs(0), _detailed_side_inputs(1), *values[num_basic:]]
    inputs = [entry for part in parts for entry in part][: config.num_inputs]
    used = {entry["cell"] for entry in inputs if entry["kind"] == "counted"}
    return {
        "name": config.encoding,
        "kinds": _KINDS,
        "rear": texts["rear"],
        "closed": texts["closed"],
        "counted_cells": [cell for cell in counted if cell["cell"] in used],
        "inputs": [{"index": index, **entry} for index, entry in enumerate(inputs)],
    }


def _one(side: int, kind: str, cell: int, threshold: int, scale: float = 1.0) -> dict[str, Any]:
    return {"kind": kind, "side": side, "cell": cell, "threshold": threshold, "scale": scale}


def _detailed_side_inputs(side: int) -> list[dict[str, Any]]:
    """The 62 detailed inputs of a side, in order."""
    inputs = [_one(side, "at_least", point, least) for point in range(1, 25) for least in (4, 5)]
    return inputs + [_one(side, "at_least", 0, least) for least in range(2, 16)]


def _side_inputs(side: int) -> list[dict[str, Any]]:
    """The 101 inputs of a side, in order."""
    one = partial(_one, side)
    inputs = []
    for point in range(1, 25):
        inputs += [one("equal", point, 1), one("at_least", point, 2), one("at_least", point, 3)]
        inputs.append(one("excess", point, 3, 0.5))
    inputs += [one("at_least", 25, 1), one("excess", 25, 0, 0.5), one("at_least", 0, 1), one("excess", 0, 0, 1 / 15)]
    return [*inputs, {"kind": "pips", "side": side, "scale": 1 / 167}]


def _layers(network: Network) -> list[dict[str, Any]]:
    """The layers from the inputs to the raw outputs."""
    sizes = list(pairwise((network.config.num_inputs, *network.config.hidden, network.head.out_features)))
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
