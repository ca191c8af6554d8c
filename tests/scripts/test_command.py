"""The shared command helper: what users get wrong becomes one line that names it."""

from __future__ import annotations

import errno
from dataclasses import dataclass, field
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from omegaconf import OmegaConf

from nardy.scripts.command import CommandError, compose, main_guard, split_task, to_dataclass, wants_help
from nardy.scripts.command_help import help_text


@dataclass(frozen=True)
class Inner:
    rate: float = 0.1
    layers: tuple[int, ...] = (8, 8)


@dataclass(frozen=True)
class Options:
    games: int
    bot: str | None = None
    cube: bool = True
    mode: Literal["fast", "slow"] = "fast"
    pair: tuple[int, str] = (1, "a")
    weights: dict[str, float] = field(default_factory=dict)
    inner: Inner = Inner()

    def __post_init__(self) -> None:
        if self.games < 0:
            raise ValueError(f"games: found {self.games}, wanted 0 or more")


@dataclass(frozen=True)
class Texts:
    bot: str | None = None
    model: str | None = None
    output: str | None = None


def test_first_word_without_equals_is_the_task() -> None:
    tasks = ("match", "reference")
    assert split_task(["reference", "path=x"], tasks, "match") == ("reference", ["path=x"])
    assert split_task(["path=x"], tasks, "match") == ("match", ["path=x"])
    assert split_task(["--help"], tasks, "match") == ("match", ["--help"])
    assert split_task([], tasks, "match") == ("match", [])


def test_unknown_task_is_named_with_the_known_ones() -> None:
    with pytest.raises(CommandError, match=r"'refrence', wanted one of match, reference; did you mean reference\?"):
        split_task(["refrence"], ("match", "reference"), "match")


def test_help_is_found_anywhere() -> None:
    assert wants_help(["games=3", "-h"])
    assert not wants_help(["games=3"])


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (["gamez=1"], "gamez: found no such key, .* did you mean games"),
        (["eval.games=1"], "eval.games: found no such key, .* did you mean games"),
        (["eval=reference", "games=3"], "games: found no such key"),
        (["eval=macth"], "eval: found 'macth', wanted one of .*match, .*; did you mean match"),
        (["games=1,2"], "games=1,2: found several values"),
        (["games=[1,"], r"games=\[1,: cannot be read"),
        (["=3"], "found no key before '='"),
        (["--multirun", "games=1"], "several runs in one command are for training alone"),
        (["--gamez"], "found an unknown option"),
        (["word"], "found a word without '='"),
    ],
)
def test_unusable_words_are_named(words: list[str], wanted: str) -> None:
    with pytest.raises(CommandError, match=wanted) as raised:
        compose("evaluate", words)
    assert "\n" not in str(raised.value)


def test_unknown_primary_configuration_is_one_line() -> None:
    with pytest.raises(CommandError, match="nothing_like_it"):
        compose("nothing_like_it", [])


@pytest.mark.parametrize(
    "text", ["model:runs/x", "a=b", "x,y (z)", "it's", 'say "x"', "${x}", "C:\\", "\\'", "[1", "", " "]
)
def test_texts_need_no_quotes(text: str) -> None:
    assert compose("evaluate", [f"bot={text}"], Texts)["bot"] == text


@settings(max_examples=40)
@given(st.text(st.characters(blacklist_categories=["Cs"]), max_size=12))
def test_any_text_is_taken_as_it_stands(text: str) -> None:
    quoted = len(text) > 1 and text[0] in "'\"" and text[-1] == text[0]
    if not quoted and text != "null":
        assert compose("evaluate", [f"bot={text}"], Texts)["bot"] == text


def test_a_text_key_may_have_the_name_of_a_configuration_group() -> None:
    assert compose("evaluate", ["eval=reference", "model=runs/x"], Texts)["model"] == "runs/x"


def test_texts_may_be_quoted_or_null() -> None:
    config = compose("evaluate", ["bot='a b'", "output=null"], Texts)
    assert config["bot"] == "a b"
    assert config["output"] is None


def test_conversion_is_recursive_and_keeps_defaults() -> None:
    config = {"games": 1e6, "inner": {"rate": 1, "layers": [4, 2]}, "pair": [3, "b"], "weights": {"a": 1}}
    options = to_dataclass(Options, config)
    assert options == Options(1_000_000, None, True, "fast", (3, "b"), {"a": 1.0}, Inner(1.0, (4, 2)))
    assert isinstance(options.games, int)
    assert isinstance(options.inner.rate, float)


@pytest.mark.parametrize(
    ("config", "wanted"),
    [
        ({}, "games: found nothing, wanted a whole number"),
        ({"games": "many"}, "games: found 'many', wanted a whole number"),
        ({"games": 1.5}, "games: found 1.5, wanted a whole number"),
        ({"games": True}, "games: found True, wanted a whole number"),
        ({"games": float("nan")}, "games: found nan, wanted a whole number"),
        ({"games": -1}, "games: found -1, wanted 0 or more"),
        ({"games": 1, "cube": 1}, "cube: found 1, wanted true or false"),
        ({"games": 1, "bot": 3}, "bot: found 3, wanted a text or null"),
        ({"games": 1, "mode": "quick"}, "mode: found 'quick', wanted one of fast, slow"),
        ({"games": 1, "pair": [1]}, r"pair: found \[1\], wanted a list \[a whole number, a text\]"),
        ({"games": 1, "inner": {"layers": [1, "x"]}}, r"inner.layers\[1\]: found 'x', wanted a whole number"),
        ({"games": 1, "inner": {"layers": 3}}, "inner.layers: found 3, wanted a list of a whole number"),
        ({"games": 1, "inner": {"rat": 1.0}}, r"inner.rat: found an unknown key, .* did you mean rate\?"),
        ({"games": 1, "inner": 3}, "inner: found 3, wanted a group of keys"),
        ({"games": 1, "weights": {"a": "x"}}, "weights.a: found 'x', wanted a number"),
    ],
)
def test_wrong_values_are_named(config: dict[str, object], wanted: str) -> None:
    with pytest.raises(CommandError, match=wanted):
        to_dataclass(Options, config)


def test_missing_mandatory_value_is_named() -> None:
    with pytest.raises(CommandError, match="games"):
        to_dataclass(Options, OmegaConf.create({"games": "???"}))


def test_interpolation_of_nothing_is_named() -> None:
    with pytest.raises(CommandError, match="games: Interpolation key 'nothing' not found"):
        to_dataclass(Options, compose("evaluate", ["games=${nothing}"]))


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (CommandError("games: wrong\nvery"), 2, "games: wrong very"),
        (ValueError("board: wrong"), 2, "board: wrong"),
        (OSError(errno.ENOSPC, "No space left", "runs/x"), 1, "runs/x: the disk is full"),
        (FileExistsError(errno.EEXIST, "File exists", "runs/x"), 1, "runs/x: it exists already"),
        (FileNotFoundError(errno.ENOENT, "No such file", "runs/y"), 1, "runs/y: found no such file or folder"),
        (OSError("the disk is full"), 1, "the disk is full"),
        (KeyboardInterrupt(), 130, "stopped"),
    ],
)
def test_errors_become_one_line_and_an_exit_code(
    error: BaseException, code: int, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    @main_guard
    def main(argv: list[str]) -> None:
        raise error

    assert main([]) == code
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(line)
    assert captured.err.count("\n") == 1


def test_faults_of_the_program_keep_their_traceback() -> None:
    @main_guard
    def main(argv: list[str]) -> None:
        raise RuntimeError("a bug")

    with pytest.raises(RuntimeError, match="a bug"):
        main([])


def test_success_is_zero_and_words_are_passed() -> None:
    seen: list[str] = []

    @main_guard
    def main(argv: list[str]) -> None:
        seen.extend(argv)

    assert main(["a=1"]) == 0
    assert seen == ["a=1"]


def test_help_lists_tasks_groups_and_keys_with_the_values_that_hold() -> None:
    page = help_text("nardy-evaluate", "Measures.", "evaluate", ["games=8", "--help"], {"match": "two bots"})
    assert "nardy-evaluate: Measures." in page
    assert "match  two bots" in page
    assert "eval=NAME (now match):" in page
    assert "games=8 " in page
    assert "an even number" in page
    assert "defaults" not in page
    assert "@package" not in page
