"""The page of a report: what it shows is what was found, it needs nothing from elsewhere, it says what is missing."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from torch import Tensor

from nardy.env import Cube
from nardy.eval.error_rates import ErrorRates, SideErrors
from nardy.eval.ratios import Rate, rate
from nardy.eval.reference import checker_losses, choose_rows, load_decisions, read_arrays
from nardy.eval.reference_report import reference_report
from nardy.eval.report import Report, build_report, write_report
from nardy.eval.report.chart_png import charts_png
from nardy.eval.report.chart_svg import chart_svg
from nardy.eval.report.charts import Curve, Curves, Row, Rows, number_text, ticks
from nardy.eval.report.curves import PANELS, learning_curves
from nardy.eval.report.decisions import ACTIONS, reference_decisions
from nardy.eval.report.files import Found, read_results
from nardy.eval.report.outcomes import OUTCOMES, Predictions, outcome_bins, play_predictions
from nardy.eval.report.page import page_html
from nardy.models import CubeAction, Evaluator, Network, NetworkConfig
from tests.eval.fakes import FakeEvaluator
from tests.eval.test_reference import BENCH, needs_bench

EVIL = '<script>alert("1")</script> & "x" \'y\' http://example.org/'


def untrained(variant: str = "backgammon", header: dict[str, Any] | None = None) -> Evaluator:
    return Evaluator(Network(NetworkConfig((16,))), variant, header)


def match(**changes: Any) -> dict[str, Any]:
    values: dict[str, Any] = {
        "bot": "model",
        "opponent": "pipcount",
        "options": {"variant": "backgammon", "match_length": 0, "cube": False, "jacoby": False},
        "points": {"mean": 2.5, "half_width": 0.1},
        "num_games": 4000,
    }
    return values | changes


def bot(label: str, mean: float) -> dict[str, Any]:
    return {"label": label, "spec": label, "rating": {"mean": mean, "half_width": 5.0}}


class Page(HTMLParser):
    """Tags, attributes and texts of a page, and whether every tag is closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.texts: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag != "meta":
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """A report with every section, all its texts evil."""
    if not BENCH.is_dir():
        pytest.skip("../shared/bench is not here")
    folder = tmp_path_factory.mktemp("results")
    (folder / "a.json").write_text(json.dumps(match(opponent=EVIL)))
    (folder / "b.json").write_text(json.dumps(rates(EVIL).to_dict()))
    (folder / "c.json").write_text(json.dumps({"x": EVIL}))
    log = [
        {"games": games, **{name: 0.1 * games for panel in PANELS for name in panel[2]}, "evaluation/margin": 0.2}
        for games in (1000, 2000, 3000)
    ]
    return build_report(untrained(), EVIL, log, read_results([folder]), BENCH, games=20)


def rates(name: str = "a") -> ErrorRates:
    one = Rate(7.0, 1.0, 10)
    side = SideErrors(one, one, one, one, one, one, None, Rate(0.0, None, 1))
    return ErrorRates((name, "b"), "GNU Backgammon 1.0", 2, 3, 0, True, (side, side))


def test_the_page_takes_nothing_from_elsewhere_and_forbids_it(full: Report) -> None:
    text = page_html(full, "made by")

    page = Page(text)
    links = [value for _, name, value in page.attributes if name in ("src", "href", "xlink:href", "srcset", "action")]
    assert links and all(link.startswith("#") for link in links)
    assert not {"script", "link", "img", "iframe", "object", "embed", "image", "use"} & set(page.tags)
    assert "url(" not in text and "@import" not in text
    assert not [name for _, name, _ in page.attributes if name.startswith("on") or name == "style"]
    policy = next(value for _, name, value in page.attributes if name == "content" and "default-src" in value)
    style = re.search(r"<style>(.*?)</style>", text, re.DOTALL)
    assert style is not None
    digest = base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()
    assert policy == f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


def test_every_text_that_comes_from_outside_is_escaped(full: Report) -> None:
    page = Page(page_html(full))

    assert "script" not in page.tags
    assert [text for text in page.texts if text == EVIL]  # the title, at least


def test_sections_and_figures_are_named_for_those_who_do_not_see_them(full: Report) -> None:
    text = page_html(full)

    page = Page(text)
    targets = [value for tag, name, value in page.attributes if (tag, name) == ("section", "id")]
    links = [value[1:] for tag, name, value in page.attributes if (tag, name) == ("a", "href")]
    assert links == targets and len(targets) == 7
    drawings = re.findall(r"<svg[^>]*>(?:\n?<title>([^<]+)</title>\n?<desc>([^<]+)</desc>)?", text)
    unnamed = text.count('class="key"')
    assert sum(not title for title, _ in drawings) == unnamed  # the signs of a legend, hidden from readers aloud
    boards = [title for title, _ in drawings if title.startswith("Worst play")]
    assert len(boards) == 2 * len(full.worst) == 20
    assert '<html lang="en">' in text and 'name="viewport"' in text


def test_what_is_missing_is_named(full: Report) -> None:
    assert full.missing == ()
    assert full.ignored == {"c.json": "nothing that evaluate.py writes"}

    bare = build_report(untrained(), "bare", games=0)

    assert [what for what, _ in bare.missing] == [
        "learning curves",
        "points against opponents",
        "calibration",
        "losses by class",
        "cube decisions, worst plays",
        "error rate by GNU Backgammon",
    ]
    assert bare.charts() == {}
    text = page_html(bare)
    assert "Not in this report" in text and "<section" not in text


@pytest.mark.parametrize("variant", ["sprintgammon", "longgammon"])
def test_other_disciplines_have_a_report_without_reference_positions(variant: str, tmp_path: Path) -> None:
    report = build_report(FakeTrained(variant), "m", reference=BENCH, games=30)

    assert report.reference is None and not report.worst
    assert "losses" in " ".join(what for what, _ in report.missing)
    assert len(report.calibration) == (4 if variant == "longgammon" else 6)
    Page(page_html(report))


class FakeTrained(Evaluator):
    """An untrained network's card with the judgement of `FakeEvaluator`, whose games end soon."""

    def __init__(self, variant: str) -> None:
        super().__init__(Network(NetworkConfig((16,))), variant)
        self._fake = FakeEvaluator(variant)

    def best(self, boards, dice, cube=None, plies=0, second_first=None):  # type: ignore[no-untyped-def]
        return self._fake.best(boards, dice, cube, plies, second_first)


def test_plots_are_png_files_beside_the_page(full: Report, tmp_path: Path) -> None:
    files = write_report(full, tmp_path / "new")

    assert [path.name for path in files] == ["report.html", *(f"{name}.png" for name in full.charts())]
    assert set(full.charts()) == {"learning", "points", "calibration", "losses"}
    for path in files[1:]:
        with Image.open(path) as image:
            assert image.format == "PNG" and min(image.size) > 300
    assert json.loads(json.dumps(full.to_dict(), allow_nan=False))["judge"].startswith("the mean of")


@needs_bench
def test_the_worst_plays_are_those_that_lose_most() -> None:
    fake = FakeEvaluator()
    decisions = load_decisions(BENCH)
    losses = checker_losses(decisions, choose_rows(fake, decisions)).sort(descending=True).values

    worst, _ = reference_decisions(fake, BENCH, 5)

    assert [play.loss for play in worst] == pytest.approx(losses[:5].tolist())
    for play in worst:
        assert play.chosen_text != play.best_text
        assert play.dice[0] >= play.dice[1]
        assert sum(play.board[0]) == sum(play.board[1]) == 15
        assert all(1 <= source <= 25 and target < source for source, target in play.chosen_hops)


class _Judge(FakeEvaluator):
    """Answers by the reference's own equities, or the opposite of them."""

    def __init__(self, opposite: bool) -> None:
        super().__init__()
        self._opposite = opposite
        equities = torch.from_numpy(read_arrays(BENCH, "cube", ("g2",))["g2"]).double()
        names = ("centred", "jacoby", "mine")
        self._known = dict(zip(names, equities.unbind(1), strict=True))

    def cube_action(self, boards: Tensor, cube: Cube, plies: int = 0) -> CubeAction:
        known = self._known["mine" if cube.owner == "mine" else "jacoby" if cube.jacoby else "centred"]
        no_double, double_take = known.unbind(1)
        double, take = double_take.clamp(max=1.0) > no_double, double_take <= 1
        one = torch.ones_like(no_double)
        return CubeAction(no_double, double_take, one, double ^ self._opposite, take ^ self._opposite)


@needs_bench
def test_a_perfect_player_stands_on_the_diagonal_and_its_opposite_nowhere_on_it() -> None:
    _, right = reference_decisions(_Judge(opposite=False), BENCH, 1)
    _, wrong = reference_decisions(_Judge(opposite=True), BENCH, 1)

    for name in ("centred", "centred, Jacoby", "owned"):
        assert right[name].number == wrong[name].number == 473
        assert sum(right[name].counts[i][i] for i in range(len(ACTIONS))) == 473
        assert np.sum(right[name].losses) == 0
        assert np.sum(wrong[name].losses) > 10
    # With the cube centred hardly anything costs nothing.
    assert sum(wrong["centred"].counts[i][i] for i in range(len(ACTIONS))) < 30


def test_bins_of_true_predictions_come_true_within_their_intervals() -> None:
    generator = torch.Generator().manual_seed(0)
    probabilities = torch.rand((6000, 6), generator=generator, dtype=torch.float64).softmax(1)
    realised = torch.multinomial(probabilities, 1, generator=generator)[:, 0]
    found = outcome_bins(Predictions(probabilities, realised, torch.arange(6000) // 3, 2000), "backgammon")

    assert tuple(found) == OUTCOMES
    parts = [part for bins in found.values() for part in bins]
    assert all(part.low <= part.realised <= part.high for part in parts)
    assert sum(part.low <= part.predicted <= part.high for part in parts) >= 0.85 * len(parts)
    assert all(sum(part.number for part in bins) == 6000 for bins in found.values())


def test_certainties_are_left_out_and_intervals_never_leave_0_to_1() -> None:
    sure = torch.zeros((40, 6), dtype=torch.float64)
    sure[:, 0] = 1
    sure[20:, 0], sure[20:, 3] = 0.999, 0.001
    found = outcome_bins(Predictions(sure, torch.zeros(40, dtype=torch.int64), torch.arange(40), 40), "longgammon")

    assert set(found) == {"win, single", "lose, single"}
    assert sum(part.number for part in found["win, single"]) == 20
    assert all(0 <= part.low < part.high <= 1 for bins in found.values() for part in bins)


def test_games_against_itself_end_as_they_were_predicted_to_end() -> None:
    found = play_predictions(FakeEvaluator("sprintgammon"), 40, seed=1)

    assert found.game.unique().tolist() == list(range(40))
    for game in range(40):
        ends = found.realised[found.game == game].tolist()
        # Every second position is the other player's: what one has won, the other has lost.
        assert {end % 3 for end in ends} == {ends[0] % 3}
        assert all((a < 3) != (b < 3) for a, b in pairwise(ends))
    again = play_predictions(FakeEvaluator("sprintgammon"), 40, seed=1)
    assert torch.equal(again.realised, found.realised)


def test_rates_have_the_standard_error_of_games() -> None:
    amounts, counts = torch.tensor([1.0, 3.0, 2.0, 2.0]), torch.tensor([2.0, 2.0, 2.0, 2.0])

    found = rate(amounts, counts)

    assert found.mean == 1
    assert found.standard_error == pytest.approx(float((amounts / 2).std()) / 2)
    assert rate(amounts[:1], counts[:1]).standard_error is None
    assert rate(amounts, 0 * counts) == Rate(0.0, None, 0)


def test_results_are_told_by_their_content(tmp_path: Path) -> None:
    contents = {
        "arena.json": match(),
        "run.json": {"cubeless": match(), "cubeful": match(points={"mean": 4.0, "half_width": None})},
        "rates.json": rates().to_dict(),
        "ladder.json": {"unit": "Elo", "bots": [bot("b", -3.0), bot("a", 40.0)], "pairs": []},
        "adjusted.json": match(adjusted={"mean": 0.4, "half_width": 0.02, "method": "normal"}),
        "list.json": [1, 2],
        "damaged.json": match(points={"mean": "many", "half_width": 1}),
        "endless.json": match(points={"mean": float("nan"), "half_width": 1}),
    }
    for name, content in contents.items():
        (tmp_path / name).write_text(json.dumps(content))
    (tmp_path / "text.json").write_text("{")

    found = read_results([tmp_path])

    assert [m.file for m in found.matches] == ["adjusted.json", "arena.json", "run.json", "run.json"]
    assert found.matches[3].half_width is None
    assert (found.matches[0].adjusted, found.matches[0].adjusted_half_width) == (0.4, 0.02)
    assert found.ladders["ladder.json"].ratings == (("a", 40.0, 5.0), ("b", -3.0, 5.0))
    report = build_report(untrained(), "m", found=found, games=0)
    titles = [chart.title for chart in report.charts()["points"]]
    assert titles == ["Money games, cubeless", "Ladder, ladder.json"]
    assert "less luck" in page_html(report)
    assert list(found.error_rates) == ["rates.json"]
    assert set(found.ignored) == {"damaged.json", "endless.json", "list.json", "text.json"}
    assert "damaged" in found.ignored["damaged.json"]
    with pytest.raises(FileNotFoundError):
        read_results([tmp_path / "none.json"])


@needs_bench
def test_reference_results_are_read_back(tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text(json.dumps(reference_report(FakeEvaluator(), BENCH, "fake").to_dict()))
    found = read_results([tmp_path])
    assert list(found.reference) == ["r.json"] and not found.ignored
    own = build_report(untrained(), "fake", found=found, games=0)
    assert own.reference_source == "r.json" and "Checker plays by class" in page_html(own)
    other = build_report(untrained(), "another", found=found, games=0)
    assert other.reference is None and other.ignored == {"r.json": "of the model fake, wanted another"}


def test_figures_in_a_models_own_file_are_shown_once() -> None:
    header = {"facts": {"games": 5, "evaluation": {"cubeless": match(), "damaged": match()}}}
    shown = build_report(untrained(header=header), "m", games=0)
    assert [m.file for m in shown.matches] == ["the model's file"] * 2
    found = Found()
    damaged = {"facts": {"evaluation": {"cubeless": {"points": 3}}}}
    again = build_report(untrained(header=damaged), "m", found=found, games=0)
    assert not again.matches and "the model's file" in again.ignored
    assert ("games of training", "5") in shown.card


def test_a_log_becomes_curves_with_intervals_and_few_points() -> None:
    log: list[dict[str, Any]] = [{"games": n, "loss/outcome": 1 / (n + 1)} for n in range(0, 5000, 2)]
    log += [{"games": 2500, "evaluation/points": 1.5, "evaluation/margin": 0.5}, {"games": 4000, "loss/outcome": "x"}]

    points, loss = learning_curves(log)

    assert points.curves[0].intervals == ((1.0, 2.0),)
    assert 100 < len(loss.curves[0].x) <= 700
    assert min(loss.curves[0].x) >= 20 and max(loss.curves[0].x) == 4998
    assert learning_curves([]) == ()


def test_charts_stay_in_their_frame() -> None:
    curve = Curve("a", (0.0, 5e5, 1e6), (0.1, -0.4, 0.9), ((0.0, 0.2), (-1.0, 0.1), (0.8, 2.0)))
    chart = Curves("T", "games", "points", (curve, replace(curve, label="b", line=False)), zero=True, note="n")
    rows = Rows("T", "points", ("x", "y"), (Row("short", (1.0, None), (0.5, None)), Row("s" * 99, (-3.0, 2.0), (1, 1))))
    same = Curves("T", "", "", (Curve("", (3.0,), (0.0,)),), diagonal=True)
    for each in (chart, rows, replace(rows, bars=True), same):
        text = chart_svg(each)
        Page(text)
        box = re.search(r'viewBox="0 0 (\d+) (\d+)" role', text)
        assert box is not None
        width, height = int(box[1]), int(box[2])
        for x, y in re.findall(r'cx="([-\d.]+)" cy="([-\d.]+)" r="[34]', text):
            assert 0 <= float(x) <= width and 0 <= float(y) <= height
        with Image.open(BytesIO(charts_png([each], "t $x$"))) as image:
            assert image.size[0] > 300


def test_ticks_are_round_and_few() -> None:
    assert ticks(0, 600_000) == [0, 200_000, 400_000, 600_000]
    assert ticks(-0.03, 0.031) == pytest.approx([-0.02, 0, 0.02])
    assert ticks(3, 3) == [3]
    assert [number_text(mark, [2e5, 1.5e6]) for mark in (0, 5e5, 1.5e6)] == ["0", "0.5M", "1.5M"]
    assert number_text(-0.02) == "−0.02"
