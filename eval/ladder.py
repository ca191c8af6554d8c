"""A ladder: a pool of bots and checkpoints plays, every pair or all against anchors, and gets ratings.

Every pair is a session of its own, with dice of its own that depend on the seed and the two names alone: a pool can
grow, and results that were kept stay.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..models.bundle import BundleError, find_weights, read_header
from .ratings import PairResult, Ratings, elo_ratings, point_ratings
from .results import ArenaResult

__all__ = ["Entry", "Ladder", "list_entries", "list_pairs", "pair_seed", "rate"]


@dataclass(frozen=True)
class Entry:
    """One of the pool.

    Attributes:
        spec: as `make_bot` takes it.
        label: what tables call it.
        run: folder of the training run that it is a checkpoint of, None if it is none.
        trained_games: games that a model of ours was trained on, None where that is not known.
    """

    spec: str
    label: str
    run: str | None = None
    trained_games: int | None = None


@dataclass(frozen=True)
class Ladder:
    """A pool's ratings with the results they come from.

    Attributes:
        entries: the pool. ratings: in the same order.
        results: of every pair that was played, each from the view of ``pairs``' first.
        pairs: numbers of the two entries of each result.
    """

    entries: tuple[Entry, ...]
    ratings: Ratings
    results: tuple[ArenaResult, ...]
    pairs: tuple[tuple[int, int], ...]

    @property
    def unit(self) -> str:
        """What ratings are in."""
        return "Elo" if self.results[0].options.match_length else "points a game"

    def order(self) -> list[int]:
        """Numbers of the entries, the strongest first."""
        return sorted(range(len(self.entries)), key=lambda bot: -self.ratings.values[bot].mean)

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        rated = zip(self.entries, self.ratings.values, strict=True)
        played = zip(self.pairs, self.results, self.ratings.residuals, strict=True)
        return {
            "unit": self.unit,
            "zero": self.entries[self.ratings.zero].label,
            "misfit": self.ratings.misfit,
            "misfit_by_chance": self.ratings.by_chance,
            "bots": [{**asdict(entry), "rating": rating.to_dict()} for entry, rating in rated],
            "pairs": [{"pair": pair, "residual": residual, **result.to_dict()} for pair, result, residual in played],
        }


def list_entries(specs: str, most: int) -> list[Entry]:
    """The pool that ``specs``, parted by commas, names; ``run:FOLDER`` are at most ``most`` checkpoints of a run.

    ``ValueError`` for a bot named twice or a folder without checkpoints.
    """
    entries: list[Entry] = []
    for spec in filter(None, (spec.strip() for spec in specs.split(","))):
        folder = spec.removeprefix("run:")
        entries += _checkpoints(Path(folder), most) if spec.startswith("run:") else [_entry(spec)]
    for place, entry in enumerate(entries):
        if entry.spec in (other.spec for other in entries[:place]):
            raise ValueError(f"bots: found {entry.spec!r} twice, wanted every bot once")
    return entries


def _entry(spec: str) -> Entry:
    kind, _, name = spec.partition(":")
    trained = _trained_games(find_weights(name)) if kind in ("model", "janowski") and name else None
    return Entry(spec, spec, trained_games=trained)


def _checkpoints(folder: Path, most: int) -> list[Entry]:
    """Checkpoints spread evenly over a run, the last one among them."""
    paths = sorted((folder / "checkpoints").glob("*.safetensors"))
    if not paths:
        raise ValueError(f"bots: run:{folder}: found no checkpoints there, wanted the folder of a training run")
    number = min(most, len(paths))
    chosen = [paths[len(paths) - 1 - (len(paths) - 1) * place // max(1, number - 1)] for place in range(number)]
    entries = []
    for path in reversed(chosen):
        games = _trained_games(path)
        label = path.stem if games is None else f"{folder.name} at {games:,}"
        entries.append(Entry(f"model:{path}", label, str(folder), games))
    return entries


def _trained_games(path: Path) -> int | None:
    try:
        games = read_header(path).get("facts", {}).get("games")
    except BundleError:
        return None  # said better by whoever loads it
    return games if isinstance(games, int) else None


def list_pairs(entries: Sequence[Entry], anchors: str | None) -> tuple[list[tuple[int, int]], int]:
    """Who plays whom, and the number of the bot that is rated 0.

    Without ``anchors`` every pair, and the first bot is 0; with them, specifications or labels parted by commas, every
    other bot plays each of them, they play each other, and the first one is 0.
    """
    if len(entries) < 2:
        raise ValueError(f"bots: found {len(entries)}, wanted two or more, parted by commas")
    everyone = range(len(entries))
    if anchors is None:
        return [(one, other) for one in everyone for other in everyone if one < other], 0
    fixed = []
    for name in (name.strip() for name in anchors.split(",")):
        found = [bot for bot in everyone if name in (entries[bot].spec, entries[bot].label)]
        if not found:
            raise ValueError(f"anchors: found {name!r}, wanted one of {', '.join(entry.label for entry in entries)}")
        fixed.append(found[0])
    pairs = [(one, other) for one in everyone for other in everyone if one < other and {one, other} & set(fixed)]
    return pairs, fixed[0]


def pair_seed(seed: int, first: Entry, second: Entry) -> int:
    """The seed of a pair's dice, the same whoever else is in the pool."""
    text = "\n".join([str(seed), *sorted([first.spec, second.spec])])
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")


def rate(
    entries: Sequence[Entry],
    pairs: Sequence[tuple[int, int]],
    zero: int,
    play: Callable[[int, int], ArenaResult | None],
) -> Ladder:
    """Play all ``pairs`` by ``play``, which may have nothing to say of one, and rate the pool.

    Of each pair the narrower one of result and luck-adjusted result counts. ``ValueError`` if some bot is left without
    a chain of results to the one rated 0.
    """
    played = [(pair, result) for pair in pairs if (result := play(*pair)) is not None]
    if not played:
        raise ValueError("ladder: found no pair with a result, wanted one")
    found, results = zip(*played, strict=True)
    matches = results[0].options.match_length > 0
    compared = [
        PairResult(one, other, result.best.scaled(0.5, 0.5) if matches else result.best, 2 * result.num_deals)
        for (one, other), result in played
    ]
    ratings = (elo_ratings if matches else point_ratings)(compared, len(entries), zero)
    return Ladder(tuple(entries), ratings, results, found)
