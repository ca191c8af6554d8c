"""The web server from outside: whole games over HTTP, nonsense, and other pages that would like to play along."""

from __future__ import annotations

import http.client
import json
import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from random import Random
from typing import Any

import pytest

from nardy.env.notation import read_match_text, read_saved_game
from nardy.eval.web import WebOptions
from nardy.scripts.play import main
from nardy.scripts.play_web import is_any, own_names
from tests.eval.web.served import Server, web_server


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with web_server("variant=sprintgammon", "bot=pipcount", "tables=8") as running:
        yield running


class Browser:
    """One browser's requests, its cookie kept."""

    def __init__(self, server: Server) -> None:
        self.port = server.port
        self.cookie: str | None = None

    def ask(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> tuple[int, Any, http.client.HTTPMessage]:
        """Status, body (JSON read if it is some) and headers."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        sent = {"Cookie": self.cookie} if self.cookie else {}
        if method == "POST":
            sent["Content-Type"] = "application/json"
        data = body if body is None or isinstance(body, (bytes, str)) else json.dumps(body)
        connection.request(method, path, data, sent | (headers or {}))
        response = connection.getresponse()
        content = response.read()
        connection.close()
        cookie = response.headers.get("set-cookie")
        if cookie is not None:
            self.cookie = cookie.partition(";")[0]
        is_json = response.headers.get_content_type() == "application/json"
        return response.status, json.loads(content) if is_json else content, response.headers


@pytest.fixture
def browser(server: Server) -> Browser:
    return Browser(server)


NEW = {"discipline": "sprintgammon", "level": "pipcount", "length": 3, "cube": True, "seed": 3}


def _choice(state: dict[str, Any], random: Random) -> dict[str, Any]:
    can = state["can"]
    words = [word for word in ("roll", "double", "take", "drop", "done", "next") if can[word]]
    choices: list[dict[str, Any]] = [{"action": word} for word in words]
    choices += [{"action": "move", "moves": one["moves"]} for one in state["reach"]]
    return random.choice(choices)


def test_a_match_is_played_over_http_and_its_files_are_read(browser: Browser) -> None:
    random = Random(1)  # noqa: S311  # not for secrets
    status, state, _ = browser.ask("POST", "/api/new", NEW)
    assert status == 200
    for _ in range(3000):
        if state["match_over"]:
            break
        if state["can"]["hint"]:
            assert browser.ask("GET", "/api/hint")[0] == 200
        status, state, _ = browser.ask("POST", "/api/act", {"version": state["version"], **_choice(state, random)})
        assert status == 200, state
    assert max(state["score"]) == 3
    status, text, headers = browser.ask("GET", "/api/mat")
    assert status == 200
    assert "attachment" in headers["content-disposition"]
    assert read_match_text(text.decode(), "sprintgammon").match_length == 3
    status, saved, _ = browser.ask("GET", "/api/save")
    assert read_saved_game(json.dumps(saved)).games[-1].winner is not None
    status, refused, _ = browser.ask("POST", "/api/load", json.dumps(saved))
    assert (status, "found it over at" in refused["error"]) == (400, True)


def test_a_game_is_kept_for_its_browser_alone_and_loaded_in_another(server: Server) -> None:
    one, other = Browser(server), Browser(server)
    assert one.ask("GET", "/api/state")[0] == 404
    _, state, _ = one.ask("POST", "/api/new", NEW)
    assert one.ask("GET", "/api/state")[1] == state
    assert other.ask("GET", "/api/state")[0] == 404
    _, saved, _ = one.ask("GET", "/api/save")
    status, loaded, _ = other.ask("POST", "/api/load?level=random&tutor=1", json.dumps(saved))
    assert status == 200
    assert (loaded["mine"], loaded["level"], loaded["tutor"]["on"]) == (state["mine"], "random", True)


def test_an_old_version_is_answered_with_the_state_as_it_is(browser: Browser) -> None:
    _, state, _ = browser.ask("POST", "/api/new", NEW)
    status, answer, _ = browser.ask("POST", "/api/act", {"version": state["version"] + 1, "action": "roll"})
    assert status == 409
    assert answer["state"] == state


def test_every_file_of_the_page_comes_with_headers_that_shut_others_out(browser: Browser) -> None:
    status, page, headers = browser.ask("GET", "/")
    assert status == 200
    assert b"<html" in page.lower()
    assert "default-src 'none'" in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers.get("server") is None
    status, _, headers = browser.ask("GET", "/api/state")
    assert "default-src 'none'" in headers["content-security-policy"]


@pytest.mark.parametrize(
    ("headers", "message"),
    [
        ({"Host": "evil.example"}, "host: found 'evil.example'"),
        ({"Host": "127.0.0.1"}, "host"),
        ({"Host": "localhost:1"}, "host"),
        ({"Origin": "http://evil.example"}, "origin"),
        ({"Origin": "null"}, "origin"),
        ({"Origin": "http://127.0.0.1:1"}, "origin"),
        ({"Sec-Fetch-Site": "cross-site"}, "another page"),
        ({"Sec-Fetch-Site": "same-site"}, "another page"),
    ],
)
@pytest.mark.parametrize(("method", "path"), [("GET", "/"), ("GET", "/api/state"), ("POST", "/api/new")])
def test_other_names_and_other_pages_are_not_answered(
    browser: Browser, method: str, path: str, headers: dict[str, str], message: str
) -> None:
    status, answer, _ = browser.ask(method, path, NEW if method == "POST" else None, headers)
    assert status == 403
    assert message in answer["error"]
    assert browser.cookie is None


def test_its_own_names_and_page_are_answered(browser: Browser) -> None:
    for host in (f"localhost:{browser.port}", f"127.0.0.1:{browser.port}", f"LOCALHOST:{browser.port}"):
        headers = {"Host": host, "Origin": f"http://{host.lower()}", "Sec-Fetch-Site": "same-origin"}
        assert browser.ask("POST", "/api/new", NEW, headers)[0] == 200


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (b"{", {}, 400),
        (b"[]", {}, 400),
        (b"\xff\xfe", {}, 400),
        (b"[" * 20_000, {}, 400),
        (b"9" * 19_000, {}, 400),
        (b'{"a":' + b"1" * 20_001 + b"}", {}, 400),
        (b"{}", {"Content-Type": "text/plain"}, 400),
        (b"{}", {"Content-Type": "application/x-www-form-urlencoded"}, 400),
        (b'{"discipline": "chess"}', {}, 400),
    ],
)
def test_bodies_that_are_no_request_are_refused_in_a_line(
    browser: Browser, body: bytes, headers: dict[str, str], status: int
) -> None:
    for path in ("/api/new", "/api/act", "/api/load"):
        found, answer, _ = browser.ask("POST", path, body, headers)
        assert found == status
        assert 0 < len(answer["error"]) < 300
        assert "Traceback" not in answer["error"]


def test_addresses_and_methods_that_are_not_there(browser: Browser) -> None:
    for path in ("/nothing", "/../etc/passwd", "/%2e%2e/app.py", "/api", "/api/", "/app.py", "/table.py"):
        assert browser.ask("GET", path)[0] == 404
    assert browser.ask("GET", "/api/new")[0] == 405
    assert browser.ask("DELETE", "/api/state")[0] == 405


JSON = "Content-Type: application/json\r\n"


def _nonsense(random: Random, port: int) -> bytes:
    """A request that is wrong in one way or in all."""
    host = f"Host: 127.0.0.1:{port}\r\n"
    junk = random.randbytes(random.randint(0, 400))
    body = json.dumps(random.choice([NEW, {"action": "move", "version": 0, "moves": [1, 2]}, [], 7])).encode()
    cut = bytearray(body)
    if cut:
        cut[random.randrange(len(cut))] = random.randrange(256)
    path = random.choice(["/api/new", "/api/act", "/api/load", "/api/state", "/" + "x" * random.randint(0, 9000)])
    return random.choice(
        [
            junk,
            junk + b"\r\n\r\n",
            b"GET " + junk.replace(b"\n", b"") + b" HTTP/1.1\r\n" + host.encode() + b"\r\n",
            f"POST {path} HTTP/1.1\r\n{host}{JSON}Content-Length: {len(cut)}\r\n\r\n".encode() + bytes(cut),
            f"POST {path} HTTP/1.1\r\n{host}Content-Length: {random.choice([-1, 10**30, 'x', 50])}\r\n\r\n".encode()
            + body[:20],
            f"POST {path} HTTP/1.1\r\n{host}{JSON}Transfer-Encoding: chunked\r\n\r\nZZ\r\n".encode() + junk,
            f"GET {path} HTTP/9.9\r\n\r\n".encode(),
            f"GET {path} HTTP/1.1\r\n{host}{'X: y' * random.randint(1, 20_000)}\r\n\r\n".encode(),
            f"GET {path} HTTP/1.1\r\n{host}{host}\r\n".encode(),
            f"GET {path} HTTP/1.1\r\n{host}Cookie: nardy-{port}={'a' * random.randint(0, 3000)}\r\n\r\n".encode(),
            f"GET {path} HTTP/1.1\r\n{host}Upgrade: websocket\r\nConnection: Upgrade\r\n\r\n".encode(),
        ]
    )


def test_a_thousand_malformed_requests_are_answered_or_hung_up_on_and_the_server_lives(
    server: Server, browser: Browser
) -> None:
    random = Random(7)  # noqa: S311  # not for secrets
    browser.ask("POST", "/api/new", NEW)
    before = None
    for number in range(1000):
        if number == 200:
            before = server.resident
        with socket.create_connection(("127.0.0.1", server.port), 10) as line:
            try:
                line.sendall(_nonsense(random, server.port))
                line.shutdown(socket.SHUT_WR)
                answer = line.recv(4096)
            except OSError:
                continue  # hung up on
            assert not answer or answer.startswith(b"HTTP/1.1 "), answer
            assert not answer.startswith(b"HTTP/1.1 500"), answer
    assert before is not None
    assert server.resident - before < 30_000
    assert browser.ask("GET", "/api/state")[0] == 200


def test_idle_connections_do_not_keep_others_out_for_good(server: Server, browser: Browser) -> None:
    lines = [socket.create_connection(("127.0.0.1", server.port), 10) for _ in range(30)]
    try:
        for line in lines:
            line.sendall(b"GET / HTTP/1.1\r\n")
        assert browser.ask("GET", "/")[0] == 200
    finally:
        for line in lines:
            line.close()


def test_connections_whose_request_does_not_come_are_hung_up_on(server: Server, browser: Browser) -> None:
    # given more than are answered at once, of all kinds: silent, with half a head, with half a second head; those
    # of the last kind whose first request is refused go away, the others are enough
    heads = (b"", b"GET / HTTP/1.1\r\nHost: ", b"GET /icon.svg HTTP/1.1\r\nHost: localhost\r\n\r\nGET / HT")
    lines = [socket.create_connection(("127.0.0.1", server.port), 10) for _ in range(105)]
    try:
        for number, line in enumerate(lines):
            with suppress(OSError):
                line.sendall(heads[number % 3])
        assert browser.ask("GET", "/")[0] == 503
        # when
        end = time.monotonic() + 30
        while browser.ask("GET", "/")[0] == 503 and time.monotonic() < end:
            time.sleep(0.5)
        # then
        assert browser.ask("GET", "/")[0] == 200
        for line in lines:
            with suppress(ConnectionError):
                while line.recv(4096):
                    pass
    finally:
        for line in lines:
            line.close()


def test_a_connection_is_kept_while_requests_come(server: Server) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    for _ in range(5):  # longer than a head may take
        connection.request("GET", "/icon.svg")
        response = connection.getresponse()
        response.read()
        assert response.status == 200
        line = connection.sock
        time.sleep(2.5)
        assert connection.sock is line
    connection.close()


def test_a_port_in_use_and_an_address_of_another_machine_are_one_line(
    server: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    for words, wanted in (
        ([f"port={server.port}"], f"port: found {server.port} in use, wanted a free one; port=0 takes one\n"),
        (["host=nothing.invalid", "any_host=true"], "host: found nothing.invalid, port 8080: "),
        (["host=192.0.2.1", "any_host=true"], "host: found 192.0.2.1, port 8080: "),
        (["variant=chess"], "variant: found 'chess', wanted one of backgammon"),
    ):
        assert main(["web", "bot=pipcount", "open=false", *words]) != 0
        out, err = capsys.readouterr()
        assert out == ""
        assert err.startswith(wanted)
        assert err.count("\n") == 1


def test_a_browser_names_no_port_80() -> None:
    assert {"localhost", "127.0.0.1:80", "[::1]"} <= own_names("127.0.0.1", 80)
    assert "localhost" not in own_names("127.0.0.1", 8080)


def test_the_address_shown_is_one_that_a_browser_can_go_to() -> None:
    assert [host for host in ("0.0.0.0", "::", "", "127.0.0.1", "::1", "localhost") if is_any(host)] == [  # noqa: S104
        "0.0.0.0",  # noqa: S104
        "::",
        "",
    ]


def test_nothing_beyond_loopback_unless_asked() -> None:
    with pytest.raises(ValueError, match=r"host: found 0\.0\.0\.0, wanted localhost"):
        WebOptions(host="0.0.0.0")  # noqa: S104  # which is what is refused
    WebOptions(host="0.0.0.0", any_host=True)  # noqa: S104
    WebOptions(host="::1")
    with pytest.raises(ValueError, match="port: found 70000"):
        WebOptions(port=70_000)
    with pytest.raises(ValueError, match="variant: found 'chess'"):
        WebOptions(variant="chess", bot="pipcount")
    with pytest.raises(ValueError, match="tables: found 0"):
        WebOptions(tables=0)
