"""A reader of exported bundles that knows ``bundle.json``, ``docs/export.md`` and NumPy, and nothing of nardy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.models.rolls_by_hand import details

Array = NDArray[Any]


def read_safetensors(path: Path) -> dict[str, Array]:
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    tensors = {}
    for name, entry in header.items():
        if name != "__metadata__":
            assert entry["dtype"] == "F32"
            begin, end = (8 + length + offset for offset in entry["data_offsets"])
            tensors[name] = np.frombuffer(data[begin:end], "<f4").reshape(entry["shape"])
    return tensors


def softplus(x: Array) -> Array:
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


class Described:
    """A model by its description."""

    def __init__(self, description: Path) -> None:
        self.text = json.loads(description.read_text(encoding="utf-8"))
        self.tensors = read_safetensors(description.parent / self.text["file"])
        self.variant = self.text["variant"]

    def opposite(self, point: int) -> int:
        if self.variant["opposite"] == "25 - point":
            return 25 - point
        assert self.variant["opposite"] == "point + 12 up to 12, point - 12 above"
        return point + 12 if point <= 12 else point - 12

    def rear(self, side: list[int]) -> int:
        return max((point for point in range(1, 26) if side[point]), default=0)

    def counted(self, board: list[list[int]]) -> dict[str, int]:
        meeting = self.opposite(1) == 24
        rears = [self.rear(side) for side in board]
        pips = [sum(point * side[point] for point in range(26)) for side in board]
        race = sum(rears) <= 25 if meeting else max(rears) <= 12
        cells = {"race": int(race), "pip lead": min(max((pips[1] - pips[0] + 85) // 10, 0), 15)}
        for number in (0, 1):
            side, other = board[number], board[1 - number]
            least = 2 if meeting else 1
            cells[f"home points of side {number}"] = sum(side[point] >= least for point in range(1, 7))
            made = [point for point in range(1, 25) if side[point] >= least]
            made = made if meeting else [self.opposite(point) for point in made]
            runs = [n for n in range(25) for first in range(1, 26 - n) if set(range(first, first + n)) <= set(made)]
            cells[f"longest prime of side {number}"] = min(max(runs), 7)
            cells[f"rearmost of side {number}"] = (rears[number] + 1) // 2
            if meeting:
                others = {25 - point for point in range(1, 26) if other[point]}
                blots = [p for p in range(1, 25) if side[p] == 1 and any(p - d in others for d in range(1, 7))]
                cells[f"blots in range of side {number}"] = min(len(blots), 4)
            else:
                ahead = [p for p in range(rears[number] - 6, rears[number]) if p > 0 and other[self.opposite(p)]]
                cells[f"points closed ahead of side {number}"] = min(len(ahead), 4)
            found = details(side, other, meeting, self.opposite)
            cells |= {f"{name} of side {number}": value for name, value in found.items()}
        return cells

    def inputs(self, board: list[list[int]]) -> Array:
        cells = self.counted(board)
        found = []
        for number, entry in enumerate(self.text["encoding"]["inputs"]):
            assert entry["index"] == number
            if entry["kind"] == "counted":
                found.append(float(cells[entry["cell"]] == entry["value"]))
                continue
            side = board[entry["side"]]
            if entry["kind"] == "pips":
                found.append(entry["scale"] * sum(point * side[point] for point in range(26)))
                continue
            count, threshold = side[entry["cell"]], entry["threshold"]
            found.append(
                {
                    "equal": float(count == threshold),
                    "at_least": float(count >= threshold),
                    "excess": entry["scale"] * max(count - threshold, 0),
                }[entry["kind"]]
            )
        return np.array(found, np.float32)

    def raw(self, board: list[list[int]]) -> Array:
        x = self.inputs(board)
        for layer in self.text["layers"]:
            x = self.tensors[layer["weight"]] @ x + self.tensors[layer["bias"]]
            if layer["activation"] == "relu":
                x = np.maximum(x, 0)
        return x

    def possible(self, board: list[list[int]]) -> list[bool]:
        rears = [self.rear(side) for side in board]
        most = []
        for side, rear in zip(board, rears, strict=True):
            level = 1 if side[0] else 3 if sum(rears) > 25 or rear >= 19 else 2
            most.append(min(level, self.text["masks"]["highest_win"]))
        return [level <= most[1] for level in (1, 2, 3)] + [level <= most[0] for level in (1, 2, 3)]

    def over(self, board: list[list[int]]) -> int | None:
        """The column of the outcome of a game that is over."""
        for winner in (0, 1):
            if board[winner][0] == self.variant["checkers"]:
                loser = board[1 - winner]
                behind = any(loser[19:26]) and self.variant["highest_win"] == 3
                return 3 * winner + (0 if loser[0] else 2 if behind else 1)
        return None

    def answers(
        self,
        board: list[list[int]],
        payoff: Array | None = None,
        features: Array | None = None,
        may_double: tuple[bool, bool] = (True, True),
    ) -> tuple[Array, Array]:
        """Outcome probabilities ``[6]`` and no-double values ``[3]`` at a stake, money if none is given."""
        points = np.array([1, 2, 3, -1, -2, -3], np.float32)
        payoff = points if payoff is None else payoff
        raw, possible = self.raw(board), np.array(self.possible(board))
        ended = self.over(board)
        if ended is not None:
            return np.eye(6)[ended], np.full(3, payoff[ended])
        logits = np.where(possible, raw[slice(*self.text["heads"]["outcome"]["columns"])], -np.inf)
        probs = np.exp(logits - logits.max())
        probs /= probs.sum()
        a, b, c = raw[slice(*self.text["heads"]["no_double"]["columns"])]
        if features is not None:
            head = self.text["heads"]["no_double_stake"]
            u = raw[slice(*head["columns"])]
            into, out = self.tensors[head["context_in"]], self.tensors[head["context_out"]]
            change = out @ (np.maximum(u + into @ features, 0) - np.maximum(u, 0))
            a, b, c = a + change[0], b + change[1], c + change[2]
        cubeless = float((probs * payoff).sum())
        values = np.array([cubeless + a, cubeless + a + softplus(b), cubeless + a - softplus(c)])
        live = [any(may_double), *may_double]
        values = np.where(live, values, cubeless)
        worth = payoff[possible]
        return probs, values.clip(worth.min(), worth.max())

    def chance(self, away: tuple[int, int], after_crawford: bool) -> float:
        """Match-winning chance before a game of the side that needs ``away[0]`` points."""
        mine, theirs = away
        if mine <= 0 or theirs <= 0:
            return float(mine <= 0)
        before, after = self.tensors["match.before"], self.tensors["match.after"]
        mine, theirs = min(mine, len(before)), min(theirs, len(before))
        if after_crawford and min(away) == 1:
            return float(after[mine - 1]) if theirs == 1 else 1 - float(after[theirs - 1])
        return float(before[mine - 1, theirs - 1])

    def stake(self, away: tuple[int, int], crawford: bool, cube: int) -> dict[str, Any]:
        """Payoff ``[6]`` and features ``[14]`` at a match score, who may double, and the scale of values."""
        scales, live = [], []
        for factor in (1, 2, 4):
            worth = []
            for level in (1, 2, 3, -1, -2, -3):
                points = level * factor * cube
                left = away[0] - max(points, 0), away[1] + min(points, 0)
                worth.append(self.chance(left, crawford or min(away) == 1))
            middle, half = (worth[0] + worth[3]) / 2, max(worth[0] - worth[3], 1e-7) / 2
            normal = [(value - middle) / half for value in worth]
            payoff = [min(max(x, 1), 8) for x in normal[:3]] + [max(min(x, -1), -8) for x in normal[3:]]
            scales.append((payoff, middle, half))
            turned = 2 * factor * cube <= 64 and not crawford
            live.append([turned and factor * cube < needed for needed in away])
        (here, middle, half), (doubled, its_middle, its_half), _ = scales
        gammons = [[(payoff[k] - (2, 3, 0, -2, -3)[k - 1]) / 2 for k in (1, 2, 4, 5)] for payoff in (here, doubled)]
        line = [its_half / half - 2, (its_middle - middle) / half]
        dead = [1.0 - flag for flag in (*live[0], *live[1])]
        features = [*gammons[0], *gammons[1], *(min(max(x, -8), 8) for x in line), *dead]
        return {
            "payoff": np.array(here, np.float32),
            "features": np.array(features, np.float32),
            "may_double": tuple(live[0]),
            "middle": middle,
            "half": half,
        }
