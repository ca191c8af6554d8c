"""Reference positions: our figures equal those of the bench's own script, and its layout is read rightly."""

from __future__ import annotations

import importlib.util
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch

from nardy.env import afterstates, outcome
from nardy.eval.cube_losses import Less, compare_cubes, cube_losses
from nardy.eval.reference import (
    CLASSES,
    CUBES,
    boards_of,
    calibration,
    checker_losses,
    choose_rows,
    cumulative,
    load_decisions,
    losses_by_class,
    read_arrays,
)
from nardy.eval.reference_engines import ENGINES, calibration_table, engines_table, known_players
from nardy.eval.reference_report import reference_report
from tests.eval.fakes import FakeEvaluator

BENCH = Path(__file__).resolve().parents[2].parent / "shared" / "bench"
needs_bench = pytest.mark.skipif(not BENCH.is_dir(), reason="../shared/bench is not here")


@pytest.fixture(scope="module")
def score() -> ModuleType:
    spec = importlib.util.spec_from_file_location("bench_score", BENCH / "score.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_counts_become_boards_with_the_missing_checkers_off() -> None:
    own, opp = np.zeros((1, 25), np.int8), np.zeros((1, 25), np.int8)
    own[0, 0], own[0, 24], opp[0, 23] = 3, 1, 15
    boards = boards_of(own, opp)
    assert boards[0, 0, 1] == 3
    assert boards[0, 0, 25] == 1
    assert boards[0, 0, 0] == 11
    assert boards[0, 1, 24] == 15
    assert boards.sum() == 30


@needs_bench
def test_the_listed_plays_are_the_legal_ones() -> None:
    for name in ("decisions", "bearoff"):
        decisions = load_decisions(BENCH, name)
        game, plays = afterstates(decisions.boards, decisions.dice)
        for mine, theirs in ((game, plays), (decisions.decision, decisions.plays)):
            assert torch.equal(mine.unique(), torch.arange(len(decisions)))
            assert len(theirs) == len(game)
        ours = torch.cat([game[:, None], plays.flatten(1).long()], 1)
        listed = torch.cat([decisions.decision[:, None], decisions.plays.flatten(1).long()], 1)
        assert torch.equal(ours.unique(dim=0), listed.unique(dim=0))


@needs_bench
def test_checker_losses_equal_the_scripts(score: ModuleType) -> None:
    decisions = load_decisions(BENCH)
    counts = decisions.decision.bincount()
    for seed in range(3):
        uniforms = torch.rand(len(decisions), generator=torch.Generator().manual_seed(seed))
        choices = (uniforms * counts).long()
        ours = losses_by_class(decisions, checker_losses(decisions, choices))
        theirs = score.checker(choices.numpy())
        assert ours.natural == pytest.approx(theirs["natural"][0], abs=1e-6)
        for name, label in zip(CLASSES, ("contact", "crashed", "race", "bearoff"), strict=True):
            assert ours.by_class[name] == pytest.approx(theirs[label][0], abs=1e-6)
            assert ours.counts[name] == theirs[label][1]
        best = score.compare(choices.numpy(), np.zeros(len(decisions), np.int64))
        zero = losses_by_class(decisions, checker_losses(decisions, torch.zeros_like(choices)))
        assert zero.natural - ours.natural == pytest.approx(best[0], abs=1e-6)


@needs_bench
def test_the_standard_error_is_the_scripts_against_a_perfect_player(score: ModuleType) -> None:
    decisions = load_decisions(BENCH)
    data = score.load("decisions")
    perfect = np.array([data["eq"][a:b].argmax() for a, b in zip(data["off"], data["off"][1:], strict=False)])
    first = torch.zeros(len(decisions), dtype=torch.int64)
    ours = losses_by_class(decisions, checker_losses(decisions, first))
    difference, error = score.compare(perfect, first.numpy())
    assert ours.natural == pytest.approx(difference, abs=1e-6)
    assert ours.standard_error == pytest.approx(error, abs=1e-6)
    assert losses_by_class(decisions, checker_losses(decisions, torch.from_numpy(perfect))).natural == 0


@needs_bench
def test_cube_losses_equal_the_scripts(score: ModuleType) -> None:
    data = read_arrays(BENCH, "cube", ("own", "g2"))
    equities = torch.from_numpy(data["g2"]).double()
    generator = torch.Generator().manual_seed(1)
    answers = torch.rand((3, len(equities), 2), generator=generator) < 0.5
    names = dict(zip(score.VARIANTS, range(3), strict=True))
    theirs = score.cube(lambda own, opp, name: answers[names[name]].T.numpy())
    for index, (ours, label) in enumerate(zip(CUBES, score.VARIANTS, strict=True)):
        found = cube_losses(*equities[:, index].unbind(1), *answers[index].unbind(1))
        wanted = theirs[label]
        assert found.double == pytest.approx(wanted["double"], abs=1e-6), ours
        assert found.take == pytest.approx(wanted["take"], abs=1e-6)
        assert found.wrong_double == pytest.approx(wanted["wrong_double"])
        assert found.wrong_take == pytest.approx(wanted["wrong_take"])
        assert (found.positions, found.takes) == (wanted["n"], wanted["n_take"])


@needs_bench
def test_calibration_equals_the_scripts(score: ModuleType) -> None:
    data = read_arrays(BENCH, "calib", ("klass", "ref"))
    reference, classes = torch.from_numpy(data["ref"]).double(), torch.from_numpy(data["klass"])
    five = cumulative(torch.rand((len(reference), 6), generator=torch.Generator().manual_seed(2)).softmax(1))
    theirs = score.calib(five.numpy())
    for index, label in enumerate(("contact", "crashed", "race", "bearoff")):
        ours = calibration(five[classes == index], reference[classes == index])
        assert ours.rms_equity == pytest.approx(theirs[label]["rms_equity"])
        assert ours.bias == pytest.approx(theirs[label]["bias"])
        assert ours.rms_probabilities == pytest.approx(theirs[label]["rms_probs"], abs=1e-5)
        assert ours.positions == theirs[label]["n"]


@needs_bench
def test_a_report_equals_the_scripts_for_the_same_model(score: ModuleType) -> None:
    judge = FakeEvaluator()
    report = reference_report(judge, BENCH, "fake")
    decisions = load_decisions(BENCH)
    choices = choose_rows(judge, decisions).numpy()
    assert report.checker.natural == pytest.approx(score.checker(choices)["natural"][0], abs=1e-6)
    bearoff = load_decisions(BENCH, "bearoff")
    theirs = score.bearoff(
        lambda asked: choose_rows(judge, bearoff)[: len(asked)].numpy(),
        lambda own, opp: score.equity(cumulative(judge.outcome(boards_of(own, opp))).numpy()),
    )
    assert report.bearoff.play == pytest.approx(theirs["play"][0], abs=1e-6)
    assert report.bearoff.plays == theirs["play"][1]
    assert report.bearoff.rms_equity["two-sided"] == pytest.approx(theirs["rms_equity_0"][0])
    assert report.bearoff.rms_equity["one-sided"] == pytest.approx(theirs["rms_equity_1"][0])
    assert set(report.cube.model) == set(CUBES)
    assert set(report.calibration) == {*CLASSES, "all"}


class _NoJacoby(FakeEvaluator):
    def cube_action(self, boards, cube, plies=0):  # type: ignore[no-untyped-def]
        if cube.jacoby:
            raise ValueError("cube: jacoby: not learned")
        return super().cube_action(boards, cube, plies)


@needs_bench
def test_a_cube_state_that_the_model_refuses_is_reported_as_such() -> None:
    report = reference_report(_NoJacoby(), BENCH)
    assert set(report.cube.model) == {"centred", "owned"}
    assert report.cube.refused == {"centred, Jacoby": "cube: jacoby: not learned"}


def test_cumulative_probabilities_follow_the_contract() -> None:
    five = cumulative(torch.tensor([[0.3, 0.15, 0.05, 0.25, 0.2, 0.05]]))
    assert five[0].tolist() == pytest.approx([0.5, 0.2, 0.05, 0.25, 0.05])


def test_another_variant_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="found one for sprintgammon"):
        reference_report(FakeEvaluator("sprintgammon"), tmp_path)


def test_unusable_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"decisions\.npz"):
        load_decisions(tmp_path)
    (tmp_path / "decisions.npz").write_text("no archive")
    with pytest.raises(ValueError, match=r"decisions\.npz: found no readable archive"):
        load_decisions(tmp_path)
    np.savez(tmp_path / "decisions.npz", own=np.zeros((1, 25)))
    with pytest.raises(ValueError, match=r"decisions\.npz: found no opp, wanted own, opp"):
        load_decisions(tmp_path)


def test_a_play_that_is_not_listed_is_an_error(tmp_path: Path) -> None:
    own = np.zeros((1, 25), np.int8)
    own[0, 3] = 2
    after = own.copy()
    after[0, 3] = 0
    wrong = own.copy()
    arrays: dict[str, Any] = {
        "own": own,
        "opp": own,
        "dice": np.array([[6, 5]]),
        "off": np.array([0, 1]),
        "eq": np.zeros(1),
    }
    more: dict[str, Any] = {"klass": np.array([3]), "natural": np.array([0, 0, 0, 1])}
    np.savez(tmp_path / "decisions.npz", a_own=after, a_opp=own, **arrays, **more)
    assert choose_rows(FakeEvaluator(), load_decisions(tmp_path)).tolist() == [0]
    np.savez(tmp_path / "decisions.npz", a_own=wrong, a_opp=own, **arrays, **more)
    assert (outcome(load_decisions(tmp_path).plays) == 0).all()
    with pytest.raises(ValueError, match="not among those listed"):
        choose_rows(FakeEvaluator(), load_decisions(tmp_path))


@needs_bench
def test_bear_off_cubes_are_judged_by_the_exact_database() -> None:
    report = reference_report(FakeEvaluator(), BENCH)
    found = report.bearoff.cube.model
    assert {losses.positions for losses in found.values()} == {107}
    data = np.load(BENCH / "bearoff.npz")
    two_sided = data["source"] == 0
    _, mine, centred, theirs = data["cubeful"][two_sided].astype(float).T
    boards = boards_of(data["own"][two_sided], data["opp"][two_sided])
    for name, no_double in (("centred", centred), ("centred, Jacoby", centred), ("owned", mine)):
        doubled = FakeEvaluator().cube_action(boards, CUBES[name]).double.numpy()
        offered = np.minimum(2 * theirs, 1)
        lost = np.maximum(no_double, offered) - np.where(doubled, offered, no_double)
        assert found[name].double == pytest.approx(1000 * lost.mean())
    assert not report.bearoff.cube.formula


@needs_bench
def test_a_model_beside_itself_loses_no_less() -> None:
    report = reference_report(FakeEvaluator(), BENCH, formula=FakeEvaluator())
    for found in (report.cube, report.bearoff.cube):
        assert set(found.formula) == set(CUBES)
        for name, compared in found.formula.items():
            assert compared.other == found.model[name]
            assert compared.double == compared.take == Less(0.0, 0.0)


def test_less_is_the_mean_of_paired_differences_with_its_standard_error() -> None:
    no_double = torch.tensor([0.2, 0.8, 0.5, 0.9], dtype=torch.float64)
    double_take = torch.tensor([0.4, 1.2, 0.1, 0.6], dtype=torch.float64)
    right = torch.tensor([True, True, False, False]), torch.tensor([True, False, True, True])
    never = torch.zeros(4, dtype=torch.bool), torch.zeros(4, dtype=torch.bool)

    found = compare_cubes(no_double, double_take, right, never)

    # Not doubling costs 0.2 in each of the first two; dropping costs 0.6 in the first, and the last two are no doubles
    # by more than 0.1, so that their takes are not judged.
    assert found.double.mean == pytest.approx(100)
    assert found.double.standard_error == pytest.approx(100 / 4**0.5)
    assert found.other.takes == 2
    assert found.other.take == pytest.approx(300)
    assert found.take.mean == pytest.approx(300)
    assert found.take.standard_error == pytest.approx(300 / 2**0.5)


@needs_bench
def test_known_engines_lose_what_the_script_says_of_their_choices(score: ModuleType) -> None:
    found = known_players(BENCH)
    data = score.load("decisions")
    pairs = list(pairwise(data["off"]))
    for key, name in ENGINES.items():
        choices = np.array([data[key][a:b].argmax() for a, b in pairs])
        theirs = score.checker(choices)
        assert found[name].checker.natural == pytest.approx(theirs["natural"][0], abs=1e-6)
        cubes = score.load("cube")[key].astype(float)
        doubles = np.minimum(cubes[:, :, 1], 1) > cubes[:, :, 0], cubes[:, :, 1] <= 1
        answers = score.cube(lambda own, opp, v, a=doubles: [part[:, score.VARIANTS.index(v)] for part in a])
        for ours, label in zip(CUBES, score.VARIANTS, strict=True):
            assert found[name].cube[ours].double == pytest.approx(answers[label]["double"], abs=1e-4)
            assert found[name].cube[ours].take == pytest.approx(answers[label]["take"], abs=1e-4)
        calib = found[name].calibration
        assert calib is not None
        assert calib.rms_equity == pytest.approx(score.calib(score.load("calib")[key])["all"]["rms_equity"], abs=1e-6)


@needs_bench
def test_random_and_pip_count_stand_where_the_benchs_table_has_them(score: ModuleType) -> None:
    found = known_players(BENCH)
    data = score.load("decisions")
    even = [np.full(b - a, 1 / (b - a)) for a, b in pairwise(data["off"])]
    assert found["random"].checker.natural == pytest.approx(score.checker(even)["natural"][0], abs=1e-6)
    assert 150 < found["pip count alone"].checker.natural < found["random"].checker.natural


@needs_bench
def test_a_model_is_shown_among_known_players_by_strength() -> None:
    report = reference_report(FakeEvaluator(), BENCH, "fake")
    names = list(engines_table(report).columns[0].cells)
    assert names[0] == "random"
    assert names[-1] == "Open Sage 2-ply"
    assert "fake" in names
    rows = list(calibration_table(report).columns[0].cells)
    assert rows[:5] == [*CLASSES, "all"]
    assert rows[5:] == list(ENGINES.values())


@needs_bench
def test_files_without_engines_have_none_of_them(tmp_path: Path) -> None:
    for name in ("decisions", "cube", "calib"):
        with np.load(BENCH / f"{name}.npz") as data:
            np.savez(tmp_path / f"{name}.npz", **{key: data[key] for key in data.files if key not in ENGINES})
    assert list(known_players(tmp_path)) == ["random", "pip count alone"]
