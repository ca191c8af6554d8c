"""The page in a real browser on the real server: whole games by hand, on a wide screen and on a phone's."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.eval.web.browser import Visit, chromium
from tests.eval.web.served import web_server

# You have 2-1 to play and are so far behind that the pip counter doubles next.
BEHIND = "XGID=----------BBBBBBC--bbbbbb-:0:0:1:21:0:0:0:0:10"
# You may double, and are so far ahead that the pip counter drops.
AHEAD = "XGID=-BBBBBB--cbbbbbb----------:0:0:1:00:0:0:0:0:10"
# You are on the bar and cannot enter.
SHUT_OUT = "XGID=----CCE-C---c------bbbbbbA:0:0:1:00:0:0:0:0:10"
# You have 2-1 to play from the start.
OPENING = "XGID=-b----E-C---eE---c-e----B-:0:0:1:21:0:0:0:0:10"

Open = Callable[..., Visit]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with web_server() as server:
        yield f"http://127.0.0.1:{server.port}"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as browser:
        yield browser


@pytest.fixture
def visit(browser: Any, address: str) -> Iterator[Open]:
    """Opens the page; with wishes, in a game that was begun so."""
    visits: list[Visit] = []

    def open_page(
        width: int = 1280, height: int = 800, language: str = "en", motion: bool = False, **wishes: object
    ) -> Visit:
        visit = Visit(browser, address, width=width, height=height, language=language, motion=motion)
        visits.append(visit)
        if wishes:
            rules = {"discipline": "backgammon", "length": 0, "level": "pipcount", "seed": 1, **wishes}
            answer = visit.context.request.post(f"{address}/api/new", data=rules)
            assert answer.ok, answer.text()
            visit.page.reload()
            settle(visit.page)
        return visit

    yield open_page
    for each in visits:
        each.close()


def settle(page: Any) -> None:
    """Waits until the page waits."""
    page.wait_for_selector("body:not([data-busy])")


def press(page: Any, action: str) -> None:
    page.click(f"#buttons [data-action={action}]")
    settle(page)


def can(page: Any, action: str) -> bool:
    return bool(page.locator(f"#buttons [data-action={action}]").count())


def move_any(page: Any) -> None:
    """One of the checkers that may, to one of the places where it may."""
    page.locator(".slot.open").first.click()
    page.locator(".slot.open:not([aria-pressed=true])").first.click()
    settle(page)


def point(page: Any, number: int) -> Any:
    return page.locator(f".slot[data-slot='{number}']")


def middle(page: Any, number: int) -> tuple[float, float]:
    box = point(page, number).bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def held(page: Any, number: int) -> str:
    return str(point(page, number).get_attribute("aria-label"))


def play_on(page: Any, until: str, most: int = 300) -> None:
    """Makes whatever decision comes, until there is something to be seen that ``until`` selects."""
    for _ in range(most):
        if page.locator(until).count():
            return
        action = next((action for action in ("done", "roll", "next") if can(page, action)), None)
        if page.locator("dialog.answer").count():
            page.click("dialog.answer [data-action=take]")
            settle(page)
        elif action:
            press(page, action)
        else:
            move_any(page)
    pytest.fail(f"{until} did not come")


def test_a_match_is_chosen_and_played_to_its_end_by_clicking(visit: Open) -> None:
    # given
    page = visit().page
    page.select_option("#new-discipline", "sprintgammon")
    page.select_option("#new-length", "1")
    page.select_option("#new-level", "random")
    assert page.locator("#new-jacoby").is_disabled()
    page.click("dialog.new [type=submit]")
    settle(page)
    # when
    play_on(page, "dialog.over")
    # then
    assert "win" in page.inner_text("dialog.over h2")
    assert "wins the match" in page.inner_text("#log") or "You win the match" in page.inner_text("#log")
    page.click("dialog.over .primary")
    settle(page)
    assert page.locator("dialog").count() == 0
    assert "0/1" in page.inner_text("#you")


def test_longgammon_is_played_with_the_network(visit: Open) -> None:
    page = visit(discipline="longgammon", level="model:longgammon", length=3, cube=False).page
    for _ in range(4):
        play_on(page, "#buttons [data-action=done]")
        press(page, "done")
    assert page.locator("#log li.bot").count() >= 4


def test_a_checker_is_dragged_to_a_lit_point_and_returns_from_elsewhere(visit: Open) -> None:
    # given
    page = visit(position=OPENING).page
    # when dropped where it may not go
    page.mouse.move(*middle(page, 13))
    page.mouse.down()
    page.mouse.move(*middle(page, 8), steps=4)
    assert page.locator("#board .glow").count() == 2  # 11 by the 2, 10 by both; 12 is the bot's
    page.mouse.up()
    # then
    assert held(page, 13) == "Point 13: 5 of yours"
    # when dropped where it may
    page.mouse.move(*middle(page, 13))
    page.mouse.down()
    page.mouse.move(*middle(page, 10), steps=4)
    page.mouse.up()
    settle(page)
    # then
    assert held(page, 13) == "Point 13: 4 of yours"
    assert held(page, 10) == "Point 10: 1 of yours"
    assert can(page, "done")


def test_a_finger_drags_a_checker_and_does_not_scroll(visit: Open) -> None:
    # given
    visited = visit(390, 500, position=OPENING)
    page, finger = visited.page, visited.context.new_cdp_session(visited.page)
    (x, y), (to_x, to_y) = middle(page, 13), middle(page, 10)
    # when
    finger.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
    for part in (0.2, 0.6, 1):
        places = [{"x": x + part * (to_x - x), "y": y + part * (to_y - y)}]
        finger.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": places})
    finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    settle(page)
    # then
    page.wait_for_selector(".slot[data-slot='10'][aria-label='Point 10: 1 of yours']")
    assert page.evaluate("scrollY") == 0


def test_a_turn_is_made_by_the_keyboard_alone(visit: Open) -> None:
    # given
    page = visit(position=OPENING).page
    # when
    for _ in range(12):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.classList.contains('slot')"):
            break
    assert page.evaluate("document.activeElement.dataset.slot") == "24"
    page.keyboard.press("ArrowDown")  # to the nearest checker in the lower half
    assert page.evaluate("document.activeElement.dataset.slot") == "6"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.getAttribute('aria-pressed')") == "true"
    page.keyboard.press("Escape")
    assert page.locator("#board .picked").count() == 0
    for _ in range(2):
        page.keyboard.press("Enter")
        page.keyboard.press("Enter")  # once more: the larger die
        settle(page)
    # then
    assert held(page, 6) == "Point 6: 3 of yours"
    assert page.evaluate("document.activeElement.dataset.action") == "done"
    page.keyboard.press("Enter")
    settle(page)
    assert "You play 2-1" in page.inner_text("#log")
    assert "The bot plays" in page.inner_text("#said")


def test_a_reload_in_mid_turn_loses_nothing_and_moves_are_taken_back(visit: Open) -> None:
    # given
    page = visit(position=OPENING).page
    point(page, 13).click()
    point(page, 11).click()
    settle(page)
    # when
    page.reload()
    settle(page)
    # then
    assert held(page, 11) == "Point 11: 1 of yours"
    assert page.locator(".die.you.used").count() == 1
    press(page, "undo")
    assert held(page, 11) == "Point 11: empty"


def test_a_turn_is_undone_with_the_bots_answer(visit: Open) -> None:
    page = visit(position=OPENING).page
    for _ in range(2):
        move_any(page)
    page.locator(".dice.ready").click()  # as good as the button
    settle(page)
    assert page.locator("#log li.bot").count() == 1
    press(page, "undo")
    assert page.locator("#log li.bot").count() == 0
    assert page.locator(".die.you").count() == 2


def test_the_bots_double_is_taken_in_a_dialogue(visit: Open) -> None:
    # given
    page = visit(position=BEHIND).page
    play_on(page, "#buttons [data-action=done]")
    # when
    press(page, "done")
    # then
    assert page.inner_text("dialog.answer h2") == "The bot doubles to 2"
    page.keyboard.press("Escape")  # a double has to be answered
    assert page.evaluate("document.activeElement.dataset.action") == "take"
    page.keyboard.press("Enter")
    settle(page)
    assert "You take" in page.inner_text("#log")
    assert page.text_content("#board .cube text") == "2"
    assert page.inner_text("#buttons [data-action=double] span") == "Redouble"


def test_escape_again_and_again_leaves_no_dialogue_that_must_be_answered(visit: Open) -> None:
    first = visit().page
    first.wait_for_selector("dialog.new")
    asked = visit(position=BEHIND).page
    play_on(asked, "#buttons [data-action=done]")
    press(asked, "done")
    for page, name, answer in ((first, "new", "[type=submit]"), (asked, "answer", "[data-action=drop]")):
        for _ in range(6):
            page.keyboard.press("Escape")
            page.wait_for_timeout(50)
        assert page.locator(f"dialog.{name}").count() == 1
        page.click(f"dialog.{name} {answer}")
        page.wait_for_selector(f"dialog.{name}", state="detached")
    asked.click("dialog.over .quiet")  # one that need not be answered
    asked.wait_for_selector("dialog", state="detached")


def test_your_double_is_dropped_by_a_bot_far_behind(visit: Open) -> None:
    page = visit(position=AHEAD).page
    page.keyboard.press("d")
    settle(page)
    assert page.inner_text("dialog.over h2") == "You win"
    assert "1 point (by a drop)" in page.inner_text("dialog.over")
    assert "The bot drops" in page.inner_text("#log")


def test_resigning_offers_what_may_be_lost(visit: Open) -> None:
    page = visit(position=AHEAD).page
    page.click("#menu summary")
    page.click("[data-menu=resign]")
    page.click("dialog.resign button >> text=Backgammon")
    settle(page)
    assert "The bot accepts" in page.inner_text("#log")
    assert "3 points" in page.inner_text("dialog.over")


def test_the_hint_ranks_five_plays_and_shows_them_on_the_board(visit: Open) -> None:
    page = visit(position=OPENING, length=5).page
    page.keyboard.press("h")
    page.wait_for_selector("dialog.hint")
    assert page.locator("dialog.hint .play").count() == 5
    assert page.locator("dialog.hint tbody tr").first.inner_text().count("%") == 2
    page.locator("dialog.hint .play").first.click()
    assert page.locator("#board .arrow").count() == 2


def test_the_tutor_says_what_a_blunder_costs(visit: Open) -> None:
    page = visit(position=OPENING, tutor=True).page
    for source, target in ((24, 23), (6, 4)):
        point(page, source).click()
        point(page, target).click()
        settle(page)
    press(page, "done")
    assert "loses" in page.inner_text("#toast")


def test_every_language_is_spoken_and_remembered(visit: Open) -> None:
    page = visit(position=OPENING, language="ru").page
    assert page.inner_text("#turn") == "Ходите"
    for language, turn, new in (
        ("bg", "Играйте", "Нова игра"),
        ("en", "Your move", "New game"),
        ("ru", "Ходите", "Новая игра"),
    ):
        page.select_option("#language", language)
        assert page.inner_text("#turn") == turn
        assert page.inner_text("#new") == new
        assert page.get_attribute("html", "lang") == language
    page.select_option("#language", "bg")
    page.reload()
    settle(page)
    assert page.inner_text("#turn") == "Играйте"
    assert held(page, 13) == "Поле 13: 5 ваши пула"


@pytest.mark.parametrize("width", [320, 390])
def test_nothing_lies_beside_a_phones_screen(visit: Open, width: int) -> None:
    # given
    page = visit(width, 700, position=BEHIND, tutor=True).page

    def check(key: str = "") -> None:
        """What the key shows fits in every language."""
        for language in ("en", "ru", "bg"):
            page.keyboard.press("Escape")
            page.select_option("#language", language)
            if key:
                page.keyboard.press(key)
                page.wait_for_selector("dialog")
                settle(page)
            assert beyond(page) == [], (key, language)

    # when and then
    for key in ("", "h", "?", "n"):
        check(key)
    page.keyboard.press("Escape")
    play_on(page, "#buttons [data-action=done]")
    check()
    for language in ("en", "ru", "bg"):
        page.select_option("#language", language)
        page.click("#menu summary")
        assert beyond(page) == [], ("menu", language)
    page.keyboard.press("Escape")
    press(page, "done")
    for language in ("en", "ru", "bg"):  # the double waits
        page.evaluate("language => localStorage.setItem('nardy.language', language)", language)
        page.reload()
        page.wait_for_selector("dialog.answer")
        assert beyond(page) == [], language
    page.keyboard.press("t")
    settle(page)
    check()


@pytest.mark.parametrize("width", [320, 390, 640])
@pytest.mark.parametrize("language", ["en", "ru", "bg"])
def test_clocks_have_room_on_a_phone(visit: Open, width: int, language: str) -> None:
    page = visit(width, 700, language, length=25, clock={"bank": 6000, "increment": 5}).page
    assert beyond(page) == []
    for player in ("#bot", "#you"):
        name, score, pips, clock = (
            page.locator(f"{player} {part}").bounding_box()
            for part in ("h2 span", ".score dd", ".pips dd", ".clock dd")
        )
        assert re.fullmatch(r"\d+:\d\d", page.inner_text(f"{player} .clock dd"))
        for left, right in ((name, score), (score, pips), (pips, clock)):
            assert left["x"] + left["width"] <= right["x"], (left, right)
        assert clock["x"] + clock["width"] <= width


def beyond(page: Any) -> list[str]:
    """What lies beyond an edge, left or right, of the screen or of its dialogue."""
    script = """
        const outside = ({left, right}) => left < -0.5 || right > innerWidth + 0.5;
        const beyond = each => outside(each.getBoundingClientRect());
        const cut = each => each.scrollWidth > each.clientWidth + 1;
        return [...document.querySelectorAll('html, main, header, dialog, button, select, section, #toast, #menu ul')]
            .filter(each => each.checkVisibility() && (beyond(each) || cut(each)))
            .map(each => each.outerHTML.slice(0, 200));
    """
    return list(page.evaluate(f"() => {{{script}}}"))


def test_a_broken_line_is_told_and_mended(visit: Open) -> None:
    # given
    page = visit(position=OPENING).page
    page.route("**/api/**", lambda route: route.abort())
    # when
    move_any(page)
    # then
    assert page.inner_text("#trouble span") == "The server does not answer."
    page.unroute("**/api/**")
    page.click("#trouble button")
    settle(page)
    assert page.locator("#trouble").is_hidden()
    move_any(page)
    assert can(page, "undo")


@pytest.mark.parametrize(("width", "height"), [(320, 640), (1280, 800), (800, 400)])
def test_what_goes_wrong_in_a_dialogue_is_seen_before_it(visit: Open, width: int, height: int) -> None:
    def seen(text: str) -> None:
        page.wait_for_selector(f"#toast:has-text('{text}')")
        box = page.locator("#toast").bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width

        assert page.locator("#toast").evaluate("each => each.matches(':popover-open')")

    # given a dialogue that must be answered
    page = visit(width, height).page
    page.wait_for_selector("dialog.new")
    # when
    page.click("dialog.new summary")
    page.fill("#new-position", "<img src=x onerror=alert(1)>")
    page.click("dialog.new [type=submit]")
    # then
    seen("<img src=x onerror=alert(1)>")
    # when
    page.route("**/api/**", lambda route: route.abort())
    page.click("dialog.new [type=submit]")
    # then
    seen("The server does not answer.")
    # and when
    page.unroute("**/api/**")
    page.fill("#new-position", "")
    page.click("dialog.new [type=submit]")
    page.wait_for_selector("dialog.new", state="detached")
    settle(page)
    assert page.locator("#trouble").is_hidden()


def test_an_older_tab_shows_how_the_game_stands(visit: Open) -> None:
    # given
    visited = visit(position=OPENING)
    first, second = visited.page, visited.open()
    settle(second)
    move_any(second)
    # when
    point(first, 6).click()
    point(first, 4).click()
    settle(first)
    # then
    assert "another tab" in first.inner_text("#toast")
    assert [held(first, each) for each in range(1, 25)] == [held(second, each) for each in range(1, 25)]


def test_a_double_click_acts_once(visit: Open) -> None:
    page = visit(position=AHEAD).page
    box = page.locator("#buttons [data-action=roll]").bounding_box()
    # Between its two clicks another button may have come there.
    for number in (1, 2):
        page.mouse.click(box["x"] + 60, box["y"] + 20, click_count=number)
        settle(page)
    assert page.locator(".die.you:not(.blank)").count() >= 2
    assert page.locator("#toast").is_hidden()


def test_a_beaver_is_answered_in_a_dialogue(visit: Open) -> None:
    page = visit(position=BEHIND.replace(":21:0:0:0:", ":00:0:0:2:"), level="model:backgammon").page
    page.keyboard.press("d")
    settle(page)
    assert page.inner_text("dialog.answer h2") == "The bot beavers: 4"
    page.keyboard.press("p")
    settle(page)
    assert "2 points (by a drop)" in page.inner_text("dialog.over")


def test_a_roll_without_a_move_is_told(visit: Open) -> None:
    page = visit(position=SHUT_OUT).page
    page.keyboard.press("r")
    settle(page)
    assert page.inner_text("#toast").endswith(": no move")


def test_checkers_in_motion_come_to_lie_where_the_server_says(visit: Open) -> None:
    # given
    page = visit(position=OPENING, motion=True).page
    # when
    for _ in range(2):
        move_any(page)
    press(page, "done")
    # then
    shown = [held(page, each) for each in range(26)]
    drawn = page.locator("#board .checker").count()
    page.reload()
    settle(page)
    assert shown == [held(page, each) for each in range(26)]
    assert drawn == page.locator("#board .checker").count() == 30


def test_a_fallen_flag_ends_the_match_by_itself(visit: Open) -> None:
    page = visit(length=3, clock={"bank": 1, "increment": 0}).page
    page.wait_for_selector("dialog.over")
    assert page.inner_text("dialog.over h2") == "The bot wins the match"
    assert page.inner_text("dialog.over .points") == "on time"
    assert page.inner_text("#you .clock dd") == "0:00"


def test_a_saved_game_is_loaded_again(visit: Open) -> None:
    # given
    page = visit(length=3, seed=5).page
    play_on(page, "#log li.you")
    shown = page.inner_text("#log"), [held(page, each) for each in range(26)]
    page.click("#menu summary")
    with page.expect_download() as download:
        page.click("[data-menu=save]")
    # when
    other = visit().page
    with other.expect_file_chooser() as chooser:
        other.click("dialog.new button >> text=Load")
    chooser.value.set_files(download.value.path())
    other.wait_for_selector("dialog.new", state="detached")
    settle(other)
    # then
    assert shown[1] == [held(other, each) for each in range(26)]
