"""The page's texts: the same in every language, and all that it says are there."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import cast

import pytest

from nardy.env.variants import VARIANTS

_STATIC = Path(__file__).parents[3] / "eval" / "web" / "static"
_LANGUAGES = ("en", "ru", "bg")
# The forms that a count takes in each language (Unicode CLDR), of whole numbers.
_PLURALS = {"en": {"one", "other"}, "ru": {"one", "few", "many", "other"}, "bg": {"one", "other"}}

Text = str | dict[str, str]


def _texts(language: str) -> dict[str, Text]:
    module = (_STATIC / f"words.{language}.js").read_text(encoding="utf-8")
    literal = module.split("export default ", 1)[1].rstrip().removesuffix(";")
    pairs = json.loads(literal, object_pairs_hook=list)
    keys = [key for key, _ in pairs]
    assert len(keys) == len(set(keys)), "a text is there twice"
    return {key: cast(Text, text if isinstance(text, str) else dict(text)) for key, text in pairs}


def _forms(text: Text) -> list[str]:
    return [text] if isinstance(text, str) else list(text.values())


def _blanks(text: Text) -> set[str]:
    return {blank for form in _forms(text) for blank in re.findall(r"\{(\w+)\}", form)}


def _page() -> str:
    paths = [*_STATIC.glob("*.html"), *_STATIC.glob("*.js")]
    texts = {f"words.{language}.js" for language in _LANGUAGES}
    return "\n".join(path.read_text(encoding="utf-8") for path in paths if path.name not in texts)


@pytest.mark.parametrize("language", _LANGUAGES[1:])
def test_every_language_says_the_same(language: str) -> None:
    english, other = _texts("en"), _texts(language)
    assert list(other) == list(english)
    for key, text in english.items():
        assert _blanks(other[key]) == _blanks(text), key


@pytest.mark.parametrize("language", _LANGUAGES)
def test_a_count_has_all_forms_of_its_language(language: str) -> None:
    for key, text in _texts(language).items():
        assert all(_forms(text)), key
        if isinstance(text, dict):
            assert set(text) == _PLURALS[language], key


@pytest.mark.parametrize("language", _LANGUAGES[1:])
def test_other_languages_are_translated(language: str) -> None:
    for key, text in _texts(language).items():
        for form in _forms(text):
            words = re.sub(r"\{\w+\}", "", form)
            assert re.search("[а-яё]", words.lower()) or not re.search("[a-z]", words), key


def test_all_that_the_page_says_has_a_text_and_every_text_is_said() -> None:
    page, texts = _page(), set(_texts("en"))
    said = set(re.findall(r'\bsay\("(\w+)"', page)) | set(re.findall(r'data-(?:say|label)="(\w+)"', page))
    assert said <= texts
    # Keys may be composed, `level_${kind}`, or come from the server: disciplines, and what either player did.
    starts = (*re.findall(r"`(\w+_)\$\{", page), "you_", "bot_", "answer_", "beavered_")
    named = set(re.findall(r"\w+", page)) | set(VARIANTS)
    assert [key for key in texts - named if not key.startswith(starts)] == []


@pytest.mark.parametrize(
    "kind",
    [
        "rolled",
        "played",
        "doubled",
        "took",
        "dropped",
        "beavered",
        "resigned",
        "accepted",
        "refused",
        "won",
        "won_match",
    ],
)
def test_every_event_has_a_sentence_for_either_player(kind: str) -> None:
    assert {f"you_{kind}", f"bot_{kind}"} <= set(_texts("en"))
