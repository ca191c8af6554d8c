"""What earlier commands of ``evaluate.py`` have written, found again: every JSON file of a folder, told by its content.

Only what a page shows is read, and checked as it is read: a file that is something else is named, never guessed at.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["Found", "LadderFigures", "MatchFigures", "add_evaluation", "read_results"]

_MAX_BYTES = 1 << 26


@dataclass(frozen=True)
class MatchFigures:
    """Points of one bot against another.

    Attributes:
        bot, opponent: what they are called. variant: what was played. kind: "cubeless", "with the cube", "to 5 points".
        mean: points a game; of matches the mean of +1 for a match won and -1. half_width: of the 95 % interval; None if
            unknown. num_games: how many. file: where it stood.
        adjusted, adjusted_half_width: the same less the luck of the dice; None if nobody asked.
    """

    bot: str
    opponent: str
    variant: str
    kind: str
    mean: float
    half_width: float | None
    num_games: int
    file: str
    adjusted: float | None = None
    adjusted_half_width: float | None = None


@dataclass(frozen=True)
class LadderFigures:
    """Ratings of a pool of bots: what they are in, and each bot's label, rating and half width of its interval."""

    unit: str
    ratings: tuple[tuple[str, float, float | None], ...]


@dataclass
class Found:
    """What was found: figures of matches, and by name of file ladders, and reference, exact and error-rate reports.

    These last are JSON as it was written.

    ``ignored``: files that were none of these, and why.
    """

    matches: list[MatchFigures] = field(default_factory=list)
    ladders: dict[str, LadderFigures] = field(default_factory=dict)
    reference: dict[str, dict[str, Any]] = field(default_factory=dict)
    exact: dict[str, dict[str, Any]] = field(default_factory=dict)
    error_rates: dict[str, dict[str, Any]] = field(default_factory=dict)
    ignored: dict[str, str] = field(default_factory=dict)


def read_results(places: Iterable[Path]) -> Found:
    """All JSON files among ``places``, files or folders of them; ``FileNotFoundError`` for one that is not there."""
    found = Found()
    for place in places:
        for path in sorted(place.glob("*.json")) if place.is_dir() else [place]:
            _read(path, found)
    return found


def _read(path: Path, found: Found) -> None:
    if path.stat().st_size > _MAX_BYTES:
        found.ignored[path.name] = "too large"
        return
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError):
        found.ignored[path.name] = "no JSON"
        return
    try:
        if not _sort(values, path.name, found):
            found.ignored[path.name] = "nothing that evaluate.py writes"
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        found.ignored[path.name] = f"damaged: {type(error).__name__} {error}"


def _sort(values: Any, name: str, found: Found) -> bool:
    """Put ``values`` where they belong; False if they are nothing known."""
    if not isinstance(values, Mapping):
        return False
    if {"checker", "cube", "calibration", "bearoff"} <= set(values):
        _check_reference(values)
        found.reference[name] = dict(values)
    elif {"games", "legal", "variant"} <= set(values):
        _check_exact(values)
        found.exact[name] = dict(values)
    elif {"judge", "sides", "names"} <= set(values):
        _check_error_rates(values)
        found.error_rates[name] = dict(values)
    elif {"unit", "bots", "pairs"} <= set(values):
        found.ladders[name] = _ladder(values)
    elif {"points", "opponent", "options"} <= set(values):
        found.matches.append(_match(values, name))
    elif values and all(isinstance(part, Mapping) and "opponent" in part for part in values.values()):
        found.matches += [_match(part, name) for part in values.values()]  # evaluation.json of a run
    else:
        return False
    return True


def _match(values: Mapping[str, Any], file: str) -> MatchFigures:
    options = values["options"]
    length = int(options["match_length"])
    kind = f"to {length} points" if length else ("with the cube" if options["cube"] else "cubeless")
    if not length and options.get("jacoby"):
        kind += ", Jacoby"
    mean, width = _interval(values["points"])
    adjusted = values.get("adjusted")
    less_luck, less_luck_width = (None, None) if adjusted is None else _interval(adjusted)
    return MatchFigures(
        bot=str(values["bot"]),
        opponent=str(values["opponent"]),
        variant=str(options["variant"]),
        kind=kind,
        mean=mean,
        half_width=width,
        num_games=int(values["num_games"]),
        file=file,
        adjusted=less_luck,
        adjusted_half_width=less_luck_width,
    )


def _interval(values: Mapping[str, Any]) -> tuple[float, float | None]:
    """Mean and half width of an interval as JSON has it."""
    mean, width = values["mean"], values["half_width"]
    _all_numbers([mean] if width is None else [mean, width])
    return float(mean), None if width is None else float(width)


def _ladder(values: Mapping[str, Any]) -> LadderFigures:
    ratings = [(str(bot["label"]), *_interval(bot["rating"])) for bot in values["bots"]]
    if not ratings:
        raise ValueError("wanted bots")
    return LadderFigures(str(values["unit"]), tuple(sorted(ratings, key=lambda rating: -rating[1])))


def _check_reference(values: Mapping[str, Any]) -> None:
    players = [values, *values.get("known", {}).values()]
    for checker in (player["checker"] for player in players):
        _all_numbers([*checker["by_class"].values(), checker["natural"]])
    for losses in values["cube"]["model"].values():
        _all_numbers([losses[key] for key in ("double", "take", "positions")])
    _all_numbers([values["bearoff"]["play"], *values["bearoff"]["rms_equity"].values()])


def _check_exact(values: Mapping[str, Any]) -> None:
    for part in ("games", "legal"):
        _all_numbers([losses[key] for losses in values[part]["plays"].values() for key in ("loss", "standard_error")])
        _all_numbers([losses[key] for losses in values[part]["cube"].values() for key in ("double", "take")])


def _check_error_rates(values: Mapping[str, Any]) -> None:
    if len(values["names"]) != 2 or len(values["sides"]) != 2:
        raise ValueError("wanted two sides")
    _all_numbers([values["num_games"], values["plies"]])
    for side in values["sides"]:
        rates = [side[key] for key in ("play", "cube", "overall", "performance", "snowie")]
        _all_numbers([rate["mean"] for rate in rates])
        _all_numbers([error for rate in rates if (error := rate["standard_error"]) is not None])


def _all_numbers(values: Iterable[Any]) -> None:
    for value in values:
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise ValueError(f"found {value!r}, wanted a finite number")


def add_evaluation(found: Found, header: Mapping[str, Any], source: str) -> None:
    """Add the figures that a model's ``header`` has of its games after training, unless they are there already."""
    facts = header.get("facts")
    evaluation = facts.get("evaluation") if isinstance(facts, Mapping) else None
    if not isinstance(evaluation, Mapping):
        return
    try:
        matches = [_match(part, source) for part in evaluation.values()]
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        found.ignored[source] = f"damaged: {type(error).__name__} {error}"
        return
    there = {(match.opponent, match.kind, match.mean, match.num_games) for match in found.matches}
    found.matches += [m for m in matches if (m.opponent, m.kind, m.mean, m.num_games) not in there]
