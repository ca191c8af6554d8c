"""``nardy-evaluate`` as a user types it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nardy.env.variants import VARIANTS, Variant
from nardy.models import Network, NetworkConfig, save_bundle
from nardy.scripts.evaluate import main
from tests.eval.test_reference import BENCH, needs_bench


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "a (b), c=d" / "bundle.safetensors"
    path.parent.mkdir()
    save_bundle(path, Network(NetworkConfig((16,))), "sprintgammon")
    return path


def test_match_prints_a_table_and_writes_json(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "result.json"
    words = [f"bot=model:{model}", "opponent=random", "games=4", "env=sprintgammon", f"output={output}"]
    assert main([*words, "env.cube=false"]) == 0
    assert "points a game, 95 % interval" in capsys.readouterr().out
    result = json.loads(output.read_text())
    assert result["num_games"] == 4
    assert result["bot"] == f"model:{model}"
    assert [path.name for path in tmp_path.iterdir() if path.name.endswith(".tmp")] == []


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (["env=blitz", "env.match_length=1", "env.variant=sprintgammon"], "120 s + 10 s a turn, real"),
        (["env=longgammon_blitz", "env.match_length=1"], "60 s + 10 s a turn, real"),
        (["env=doubles", "env.match_length=1", "env.variant=sprintgammon"], "pairs                       │  yes"),
        (["env=sprintgammon", "env.illegal=forfeit"], "forfeit"),
    ],
)
def test_other_formats_go_through_a_referee(
    words: list[str], wanted: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "result.json"
    assert main(["bot=pipcount", "opponent=random", "games=2", f"output={output}", *words]) == 0
    table = capsys.readouterr().out
    assert " ".join(wanted.split()) in " ".join(table.split())
    assert json.loads(output.read_text())["events"]["flag"] == [0, 0]


def test_flags_fall_by_simulated_time(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["env=blitz", "env.variant=sprintgammon", "env.clock.time=simulated", "env.clock.per_decision=40"]
    assert main(["bot=pipcount", "opponent=random", "games=2", f"output={tmp_path / 'result.json'}", *words]) == 0
    own, other = json.loads((tmp_path / "result.json").read_text())["events"]["flag"]
    assert own + other == 2
    assert f"{own} / {other}" in next(line for line in capsys.readouterr().out.splitlines() if "flag" in line)


def test_a_pair_is_a_bot_like_others(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pair = f"pair:model:{model}+model:{model}"
    assert main([f"bot={pair}", "opponent=random", "games=2", "env=sprintgammon", "env.pairs=true"]) == 0
    assert main([f"bot={pair}", "opponent=random", "games=2", "env=sprintgammon"]) == 0
    first, second = capsys.readouterr().out.split("decisions a second")[:2]
    assert "pairs" in first
    assert "pairs" not in second.partition("games")[2]


@needs_bench
def test_reference_prints_losses_and_writes_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bundle.safetensors"
    save_bundle(path, Network(NetworkConfig((16,))), "backgammon")
    assert main(["reference", f"model={path}", f"path={BENCH}", f"output={tmp_path / 'r.json'}"]) == 0
    assert "natural" in capsys.readouterr().out
    assert json.loads((tmp_path / "r.json").read_text())["checker"]["natural"] > 0


def test_exact_prints_losses_and_writes_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(VARIANTS, "one checker", Variant("one checker", start=((24, 1),)))
    save_bundle(tmp_path / "bundle.safetensors", Network(NetworkConfig((16,))), "one checker")
    words = [f"model={tmp_path}/bundle.safetensors", f"folder={tmp_path}/new", f"output={tmp_path}/r.json"]
    for _ in range(2):  # made, then found
        assert main(["exact", *words, "decisions=50", "positions=100"]) == 0
        assert "in games between exact players of one checker" in " ".join(capsys.readouterr().out.split())
        result = json.loads((tmp_path / "r.json").read_text())
        assert result["games"]["plays"]["cubeless"]["decisions"] >= 50
        assert result["legal"]["equity"]["cubeless"]["positions"] == 100
        assert result["solution"]["transitions"] == 13_231
    (tmp_path / "new" / "exact-one checker.safetensors").write_text("nothing")
    assert main(["exact", *words]) == 2
    assert "found no readable safetensors file" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (["bot=chess"], "bot: found 'chess', wanted one of random, pipcount, model:NAME_OR_PATH"),
        (["games=3"], "games: found 3, wanted an even number"),
        (["gamse=4"], "gamse: found no such key"),
        (["env.cube=maybe"], "env.cube: found 'maybe', wanted true or false"),
        (["cube=false"], "cube: found no such key, wanted one that --help lists; did you mean env.cube?"),
        (
            ["match_length=5"],
            "match_length: found no such key, wanted one that --help lists; did you mean env.match_len",
        ),
        (["variant=sprintgammon"], "did you mean env.variant?"),
        (["jacoby=true"], "did you mean env.jacoby?"),
        (["env=blits"], "env: found 'blits', wanted one of backgammon, blitz, doubles"),
        (["env.clock.bank=60"], "env.clock: found a bank of 60 seconds with match_length 0, wanted a match"),
        (["env=blitz", "env.clock.bank=-1"], "env.clock.bank: found -1.0, wanted seconds, 0 or more"),
        (["env=blitz", "env.clock.time=fast"], "env.clock.time: found 'fast', wanted one of real, simulated"),
        (["env.illegal=ignore"], "env.illegal: found 'ignore', wanted one of reject, correct, accept, forfeit"),
        (["env.pairs=2"], "env.pairs: found 2, wanted true or false"),
        (["env.beavers=true"], "bot: pipcount has no answer to a beaver: found env.beavers=true, wanted false"),
        (
            ["env.beavers=true", "env.raccoons=true"],
            "env.raccoons: found true, wanted false: bots answer a double, but",
        ),
        (["env.resignation=true"], "env.resignation: found true, wanted false: bots play to the end"),
        (["bot=pair:model:a+random"], "wanted two models, which have equities to average: pair:model:A+model:B"),
        (["device=gpu"], "device: found 'gpu', wanted auto, cpu"),
        (["env.variant=chess"], "env.variant: found 'chess'"),
        (["env.match_length=3", "env.jacoby=true"], "env.jacoby: found it with match_length"),
        (["bot=model:/nothing/here"], "'/nothing/here'"),
        (["bot=random", "output=/nothing/here.json"], "output: found '/nothing/here.json'"),
        (
            ["bot=random", "output=curve.png"],
            "output: found 'curve.png', wanted a name in .json, .csv, .jsonl, or FOLDER/",
        ),
        (["bot=random", "until=0"], "until: found 0, wanted a half width above 0, or null"),
        (["bot=random", "part=3"], "part: found 3, wanted an even number of games from 2 up, or null"),
        (["bot=random", "interval=wide"], "interval: found 'wide', wanted one of normal, bootstrap"),
        (["bot=random", "luck=pipcount"], "luck: found 'pipcount', wanted none, auto or model:NAME_OR_PATH"),
        (["bot=random", "mat=/nothing/x.mat"], "mat: found '/nothing/x.mat', wanted a file in a folder that exists"),
        (["env=longgammon", "mat=x.mat"], "mat: found longgammon or automatic doubles, for which match text has no"),
        (["ladder"], "bots: found 0, wanted two or more, parted by commas"),
        (["ladder", "bots=random,random"], "bots: found 'random' twice, wanted every bot once"),
        (["ladder", "bots=random,pipcount", "anchors=x"], "anchors: found 'x', wanted one of random, pipcount"),
        (
            ["ladder", "bots=random,pipcount", "output=x.jsonl"],
            "output: found 'x.jsonl', wanted a name in .json, .csv, ",
        ),
        (["ladder", "bots=random,run:/nothing"], "bots: run:/nothing: found no checkpoints there"),
        (["rate"], "task: found 'rate', wanted one of match, ladder, reference, table, analysis, report, exact"),
        (["reference", "bot=random"], "bot: found no such key"),
        (["exact", "decisions=0"], "decisions: found 0, wanted 1 or more"),
        (["exact", "positions=0"], "positions: found 0, wanted 1 or more, or null for all"),
        (["exact", "model=backgammon"], "exact: backgammon: found 15 checkers a side, wanted"),
    ],
)
def test_what_does_not_fit_is_one_line_and_exit_code_2(
    words: list[str], wanted: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    captured = capsys.readouterr()
    assert wanted in captured.err
    assert captured.err.count("\n") == 1


def test_a_missing_file_is_exit_code_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bundle.safetensors"
    save_bundle(path, Network(NetworkConfig((16,))), "backgammon")
    assert main(["reference", f"model={path}", f"path={tmp_path}"]) == 1
    assert "decisions.npz: found no such file" in capsys.readouterr().err


def test_help_shows_the_tasks_and_the_keys_of_the_chosen_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    page = capsys.readouterr().out
    assert "opponent=pipcount" in page
    assert "env.clock.bank=0 " in page
    assert main(["env=blitz", "--help"]) == 0
    page = capsys.readouterr().out
    assert "env=NAME (now blitz):" in page
    lines = [line.split(maxsplit=1) for line in page.splitlines() if line.startswith("  env.")]
    assert {"env.match_length=5", "env.clock.bank=120", "env.breaks=false"} <= {line[0] for line in lines}
    assert all(len(line) == 2 for line in lines)  # each with its comment
    assert main(["reference", "--help"]) == 0
    page = capsys.readouterr().out
    assert "path=" in page
    assert "env" not in page
    assert "opponent=pipcount" not in page


def test_a_folder_takes_everything_and_the_same_command_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "session"
    words = ["bot=pipcount", "opponent=random", "env=sprintgammon", "part=4", f"output={folder}/", "interval=bootstrap"]
    assert main([*words, "games=8", f"mat={tmp_path}/games.mat", "mat_games=3"]) == 0
    assert "bootstrap" in capsys.readouterr().out
    first = json.loads((folder / "result.json").read_text())
    assert first["points"]["method"] == "bootstrap"
    assert (folder / "result.csv").read_text().startswith("bot,opponent,")
    assert (folder / "session.jsonl").read_text().count("\n") == 3
    assert (tmp_path / "games.mat").read_text().count(" Game ") == 3

    assert main([*words, "games=12", f"mat={tmp_path}/games.mat", "mat_games=3"]) == 0
    assert (folder / "session.jsonl").read_text().count("\n") == 4
    assert json.loads((folder / "result.json").read_text())["num_deals"] == 6
    assert main([*words, "games=12", "seed=1"]) == 2
    assert "seed: found 0 in the file, wanted 1" in capsys.readouterr().err


def test_luck_is_shown_beside_the_result(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["bot=pipcount", "opponent=random", "env=sprintgammon", "games=4", f"luck=model:{model}"]
    for options in ([], ["env.match_length=2"], ["env.cube=false"], ["env.jacoby=true"], ["env.illegal=forfeit"]):
        assert main([*words, *options, f"output={tmp_path}/r.json"]) == 0
        table = capsys.readouterr().out
        assert "less luck" in table
        assert "the narrower one" in table
        result = json.loads((tmp_path / "r.json").read_text())
        assert result["points"]["mean"] - result["luck"]["mean"] == pytest.approx(result["adjusted"]["mean"])


def test_a_ladder_is_rated_drawn_and_goes_on(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    checkpoints = tmp_path / "run" / "checkpoints"
    checkpoints.mkdir(parents=True)
    for games in (10, 20):
        network = Network(NetworkConfig((16,)), games)
        save_bundle(checkpoints / f"games-{games}.safetensors", network, "sprintgammon", {"games": games})
    words = ["ladder", f"bots=random,pipcount,run:{tmp_path}/run", "env=sprintgammon", "games=4"]
    assert main([*words, f"output={tmp_path}/ladder/"]) == 0
    table = capsys.readouterr().out
    assert "run at 20" in table
    assert {path.name for path in (tmp_path / "ladder").iterdir()} == {
        "result.json",
        "result.csv",
        "ladder.png",
        "sessions",
    }
    result = json.loads((tmp_path / "ladder" / "result.json").read_text())
    assert len(result["pairs"]) == 6
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "ladder" / "sessions").iterdir()}
    assert main([*words, f"output={tmp_path}/ladder/", "anchors=pipcount"]) == 0
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "ladder" / "sessions").iterdir()} == before
    assert "pipcount is 0" in capsys.readouterr().out
    assert main([*words, "env.match_length=1", f"output={tmp_path}/ladder.png"]) == 0
    assert "Ratings in Elo" in capsys.readouterr().out
    assert (tmp_path / "ladder.png").read_bytes().startswith(b"\x89PNG")
