"""The figures of a report: what is known of a model, what can be asked of it now, and what is missing.

Nothing is taken for granted: whatever has no source is named under `Report.missing` with the command that makes it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from ...models import Evaluator
from ...models.bundle import write_file
from ..exact import ExactEvaluator
from ..exact.report import play_games
from ..reference_report import reference_report
from .charts import Chart, Curve, Curves, Row, Rows
from .curves import learning_curves
from .decisions import Confusion, WorstPlay, exact_decisions, reference_decisions
from .files import Found, LadderFigures, MatchFigures, add_evaluation
from .outcomes import Bin, outcome_bins, play_predictions

__all__ = ["Report", "build_report", "write_report"]

Progress = Callable[[int, int], None]

_EXACT_DECISIONS = 20_000
_REFERENCE_JUDGE = "the mean of GNU Backgammon 2-ply and Open Sage 3-ply"
_CLASS_PLAYERS = ("gnubg 0-ply", "Open Sage 1-ply")  # shown beside the model in the chart of losses


@dataclass(frozen=True)
class Report:
    """Everything that a page shows.

    Attributes:
        title: what the model is called. variant: what it plays.
        card: facts of the model, as label and text.
        curves: of the run's log.
        matches: its games against others. ladders: ratings of pools, by file.
        calibration: by outcome; calibration_games: of how many games against itself.
        reference: the JSON of `ReferenceReport`, if there is one; source: where it comes from.
        exact: the JSON of `ExactReport` likewise.
        error_rates: the JSON of `ErrorRates` by file.
        cubes: cube decisions by the state of the cube. worst: the plays that cost most. judge: who says so.
        missing: what is not shown, and how to get it.
        ignored: files that were none of ours, and why.
    """

    title: str
    variant: str
    card: tuple[tuple[str, str], ...]
    curves: tuple[Curves, ...]
    matches: tuple[MatchFigures, ...]
    ladders: Mapping[str, LadderFigures]
    calibration: Mapping[str, tuple[Bin, ...]]
    calibration_games: int
    reference: Mapping[str, Any] | None
    reference_source: str
    exact: Mapping[str, Any] | None
    exact_source: str
    error_rates: Mapping[str, Mapping[str, Any]]
    cubes: Mapping[str, Confusion]
    worst: tuple[WorstPlay, ...]
    judge: str
    missing: tuple[tuple[str, str], ...]
    ignored: Mapping[str, str]

    def charts(self) -> dict[str, tuple[Chart, ...]]:
        """What is drawn, by section; sections with nothing to draw are left out."""
        found: dict[str, tuple[Chart, ...]] = {
            "learning": self.curves,
            "points": (*_points_charts(self.matches), *_ladder_charts(self.ladders)),
            "calibration": _calibration_charts(self.calibration),
            "losses": _loss_charts(self),
        }
        return {name: charts for name, charts in found.items() if charts}

    def to_dict(self) -> dict[str, Any]:
        """Its own figures as JSON values, without those that other files hold."""
        return {
            "title": self.title,
            "variant": self.variant,
            "calibration_games": self.calibration_games,
            "calibration": {name: [asdict(part) for part in bins] for name, bins in self.calibration.items()},
            "cube_decisions": {name: asdict(found) for name, found in self.cubes.items()},
            "worst_plays": [asdict(play) for play in self.worst],
            "judge": self.judge,
            "missing": dict(self.missing),
        }


def build_report(
    evaluator: Evaluator,
    name: str,
    log: Sequence[Mapping[str, Any]] = (),
    found: Found | None = None,
    reference: Path | None = None,
    exact: ExactEvaluator | None = None,
    games: int = 2000,
    worst: int = 10,
    seed: int = 0,
    progress: Progress | None = None,
) -> Report:
    """Gather all figures of ``evaluator``, called ``name``.

    Args:
        log: entries of its run's log. found: what earlier commands have written.
        reference: folder of reference positions, asked where the discipline is backgammon.
        exact: the solution of sprintgammon, asked where that is the discipline.
        games: against itself, for the calibration; 0 for none.
        worst: how many of the worst plays to show. seed: of all games.
        progress: told of the games against itself.
    """
    found = found or Found()
    variant = evaluator.variant
    add_evaluation(found, evaluator.header, "the model's file")
    missing: dict[str, str] = {}
    calibration = {}
    if games:
        predictions = play_predictions(evaluator, games, seed, evaluator.device, progress)
        calibration = outcome_bins(predictions, variant)
    reference_json, reference_source = _own(found.reference, name, found.ignored)
    exact_json, exact_source = _own(found.exact, name, found.ignored)
    plays: list[WorstPlay] = []
    cubes: dict[str, Confusion] = {}
    judge = ""
    if variant == "backgammon" and reference is not None:
        plays, cubes = reference_decisions(evaluator, reference, worst)
        judge = _REFERENCE_JUDGE
        reference_json = reference_report(evaluator, reference, name).to_dict()
        reference_source = f"the positions in {reference}, asked now"
    if variant == "sprintgammon" and exact is not None:
        sample = play_games(exact, _EXACT_DECISIONS, torch.Generator().manual_seed(seed), lambda share: None)
        plays, cubes = exact_decisions(evaluator, exact, sample, worst)
        judge = "the exact solution"
    matches = tuple(match for match in found.matches if match.variant == variant)
    curves = learning_curves(log)
    if not curves:
        missing["learning curves"] = "no log; give run=FOLDER of a training run"
    if not matches:
        missing["points against opponents"] = "no results; make some by: evaluate.py bot=... opponent=... output=F.json"
    if not calibration:
        missing["calibration"] = "games=0"
    if variant == "backgammon":
        reference_missing = "no reference positions; give path=FOLDER of them"
        if reference_json is None:
            missing["losses by class"] = reference_missing
        if not judge:
            missing["cube decisions, worst plays"] = reference_missing
        if not found.error_rates:
            missing["error rate by GNU Backgammon"] = "no results; make one by: evaluate.py analysis output=F.json"
    elif variant == "sprintgammon":
        if exact_json is None:
            missing["losses against the exact solution"] = "no results; make one by: evaluate.py exact output=F.json"
        if not judge:
            missing["cube decisions, worst plays"] = "no exact solution; give exact=FOLDER of it"
    else:
        missing["losses, cube decisions, worst plays"] = f"nobody knows the right ones of {variant}"
    own_reference = reference_json if variant == "backgammon" else None
    return Report(
        title=name,
        variant=variant,
        card=model_card(evaluator),
        curves=curves,
        matches=matches,
        ladders=found.ladders,
        calibration=calibration,
        calibration_games=games,
        reference=own_reference,
        reference_source=reference_source if own_reference else "",
        exact=exact_json if variant == "sprintgammon" else None,
        exact_source=exact_source,
        error_rates=found.error_rates if variant == "backgammon" else {},
        cubes=cubes,
        worst=tuple(plays),
        judge=judge,
        missing=tuple(missing.items()),
        ignored=found.ignored,
    )


def _own(files: Mapping[str, dict[str, Any]], name: str, ignored: dict[str, str]) -> tuple[dict[str, Any] | None, str]:
    """The figures of the model called ``name`` and their file; those of others are not ours to show."""
    own = ""
    for file, values in files.items():
        if values.get("model") == name:
            own = file
        else:
            ignored[file] = f"of the model {values.get('model')!s}, wanted {name}"
    return files.get(own), own


def model_card(evaluator: Evaluator) -> tuple[tuple[str, str], ...]:
    """Facts of a model: its shape, and what its file says of its training."""
    config = evaluator.network.config
    facts = evaluator.header.get("facts", {})
    facts = facts if isinstance(facts, Mapping) else {}
    weights = sum(parameter.numel() for parameter in evaluator.network.parameters())
    card = [
        ("discipline", evaluator.variant),
        ("hidden layers", " – ".join(str(units) for units in config.hidden)),
        ("encoding", config.encoding),
        ("weights", f"{weights:,}"),
        ("cube", "every stake" if config.context_units else "money alone"),
    ]
    for key, label in (("games", "games of training"), ("decisions", "decisions")):
        if isinstance(facts.get(key), int):
            card.append((label, f"{facts[key]:,}"))
    seconds = facts.get("seconds")
    if isinstance(seconds, int | float):
        card.append(("time of training", f"{seconds / 60:,.1f} minutes"))
    return tuple(card)


def _points_charts(matches: Sequence[MatchFigures]) -> tuple[Chart, ...]:
    several = len({match.bot for match in matches}) > 1

    def rows(part: Sequence[MatchFigures], scale: float, with_luck: bool) -> tuple[Row, ...]:
        found = []
        for match in part:
            label = f"{_short(match.bot)} – {_short(match.opponent)}" if several else _short(match.opponent)
            known = ((match.mean, match.half_width), (match.adjusted, match.adjusted_half_width))
            values, widths = zip(*known[: 1 + with_luck], strict=True)
            found.append(Row(label, _scaled(values, scale), _scaled(widths, scale)))
        return tuple(found)

    charts: list[Chart] = []
    for kind in dict.fromkeys(match.kind for match in matches):
        part = [match for match in matches if match.kind == kind]
        with_luck = any(match.adjusted is not None for match in part)
        series = ("as they fell", "less luck") if with_luck else ("",)
        if kind.startswith("to "):
            found = Rows(f"Matches {kind}", "matches won less lost, percent", series, rows(part, 100, with_luck))
        else:
            found = Rows(f"Money games, {kind}", "points a game", series, rows(part, 1, with_luck))
        charts.append(found)
    return tuple(charts)


def _scaled(values: Sequence[float | None], scale: float) -> tuple[float | None, ...]:
    return tuple(None if value is None else scale * value for value in values)


def _ladder_charts(ladders: Mapping[str, LadderFigures]) -> tuple[Chart, ...]:
    return tuple(
        Rows(
            f"Ladder, {file}",
            f"rating, {ladder.unit}",
            ("",),
            tuple(Row(_short(label), (mean,), (width,)) for label, mean, width in ladder.ratings),
        )
        for file, ladder in ladders.items()
    )


def _short(bot: str) -> str:
    """A bot's specification without the folders of its model."""
    kind, colon, path = bot.partition(":")
    return f"{kind}{colon}{path.rstrip('/').rpartition('/')[2]}" if "/" in path else bot


def _calibration_charts(calibration: Mapping[str, tuple[Bin, ...]]) -> tuple[Chart, ...]:
    charts = []
    for name, bins in calibration.items():
        predicted = tuple(part.predicted for part in bins)
        realised = tuple(part.realised for part in bins)
        intervals = tuple((part.low, part.high) for part in bins)
        curve = Curve("", predicted, realised, intervals, line=False)
        charts.append(Curves(name.capitalize(), "predicted", "came true", (curve,), diagonal=True))
    return tuple(charts)


def _loss_charts(report: Report) -> tuple[Chart, ...]:
    charts: list[Chart] = []
    if report.reference is not None:
        players = {"this model": report.reference["checker"]}
        known = report.reference.get("known", {})
        players |= {name: known[name]["checker"] for name in _CLASS_PLAYERS if name in known}
        classes = list(report.reference["checker"]["by_class"])
        rows = [
            Row(label, tuple(player["by_class"].get(label) for player in players.values()), (None,) * len(players))
            for label in classes
        ]
        rows.append(Row("natural", tuple(player["natural"] for player in players.values()), (None,) * len(players)))
        unit = "millipoints a decision"
        charts.append(Rows("Checker plays by class of position", unit, tuple(players), tuple(rows), bars=True))
    if report.exact is not None:
        parts = {"games": "in games between exact players", "legal": "on all kinds of legal positions"}
        for part, words in parts.items():
            plays = report.exact[part]["plays"]
            rows = [Row(name, (losses["loss"],), (None,)) for name, losses in plays.items()]
            if rows:
                title = f"Checker plays {words}"
                charts.append(Rows(title, "millipoints a decision", ("",), tuple(rows), bars=True))
    return tuple(charts)


def write_report(report: Report, folder: Path, made: str = "") -> list[Path]:
    """Write ``report.html`` and a PNG for every section with charts into ``folder``; the files written.

    ``made``: what made it and when, for the foot of the page.
    """
    from .chart_png import charts_png
    from .page import page_html

    folder.mkdir(parents=True, exist_ok=True)
    files = {folder / "report.html": page_html(report, made).encode(errors="replace")}
    for name, charts in report.charts().items():
        files[folder / f"{name}.png"] = charts_png(charts, report.title)
    for path, data in files.items():
        write_file(path, data)
    return list(files)
