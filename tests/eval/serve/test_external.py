"""GNU Backgammon's requests, as it sends them and as nobody should, answered over a socket."""

from __future__ import annotations

import random
import re
import resource
import time
from collections.abc import Iterator
from contextlib import suppress

import pytest
import torch

from nardy.env import Cube, GameOptions, afterstates, start_boards
from nardy.env.notation import find_play
from nardy.eval.bots import PipCountBot, RandomBot, make_bot
from nardy.eval.outside import OutsideBot
from nardy.eval.outside.external_line import read_line
from nardy.eval.results import compare_bots
from nardy.eval.serve import Decider, ExternalPlayer, ServerOptions
from nardy.eval.turns import play_turns
from nardy.models import Evaluator, load

from .captures import CAPTURES, DANCING, START, TAIL
from .served import Client, served

MONEY = GameOptions(jacoby=True)
GOOD = CAPTURES["second seat"][0].encode() + b"\n\0"


@pytest.fixture(scope="module")
def model() -> Evaluator:
    return load("backgammon")


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """The bundled model, at money as GNU Backgammon plays it."""
    decider = Decider(make_bot("model:backgammon"), MONEY)
    with served(lambda: ExternalPlayer(decider).answer) as port:
        yield port


@pytest.fixture
def client(port: int) -> Iterator[Client]:
    with Client(port) as client:
        yield client


@pytest.mark.parametrize("name", CAPTURES)
def test_captured_requests_have_legal_answers_framed_as_gnubg_expects(name: str, client: Client) -> None:
    line, decides, allowed = CAPTURES[name]
    state = read_line(line).state
    assert state.decides == decides

    answer = client.ask(line.encode() + b"\n\0")

    assert answer.endswith(b"\n") and len(answer) <= 255
    text = answer[:-1].decode("ascii")
    if allowed is not None:
        assert text in allowed
        return
    assert state.dice is not None
    assert re.fullmatch(r"((bar|\d+)/(off|\d+) ?){1,4}", text)
    find_play(text, state.tensor(), state.dice)
    hops = [tuple({"bar": 25, "off": 0}.get(p, p) for p in hop.split("/")) for hop in text.split()]
    assert sorted(int(source) - int(target) for source, target in hops) == sorted(state.dice)  # one hop a die


def test_points_belong_to_the_names_in_their_places() -> None:
    scores = {name: read_line(line).state.score for name, (line, _, _) in CAPTURES.items()}
    # Otto, player 0, has 4 points and 13, whoever is named first.
    assert scores["answer"] == scores["owned"] == (4, 1)
    assert scores["dance"] == scores["redoubled"] == (13, 8)


def test_fragments_and_several_requests_in_a_packet(client: Client) -> None:
    requests = b"".join(line.encode() + b"\n\0" for line, _, _ in CAPTURES.values())
    client.send(requests)
    at_once = [client.read() for _ in CAPTURES]
    for begin in range(0, len(requests), 37):
        client.send(requests[begin : begin + 37])
        time.sleep(0.001)
    assert [client.read() for _ in CAPTURES] == at_once


def test_answers_are_the_models(client: Client, model: Evaluator) -> None:
    board = start_boards(1)
    for turn in range(2):
        dice = torch.tensor([[3, 1]], dtype=torch.int8)
        for length, mine, theirs in ((0, 0, 0), (5, 0, 3), (5, 3, 0), (5, 4, 4)):
            cube = Cube(away=(length - mine, length - theirs)) if length else Cube(jacoby=True)
            score = f"{length}:{mine}:{theirs}" if not turn else f"{length}:{theirs}:{mine}"
            sign = 2 * turn - 1  # player 0, named first, or player 1
            shown = START if turn else ":".join(str(-int(cell)) for cell in START.split(":")[::-1])
            said = client.ask(f"board:Otto:Xena:{score}:{shown}:{sign}:3:1:3:1:1:1:1:0:{TAIL}:1\n\0".encode())
            _, plays = afterstates(board, dice)
            best = plays[int(model.best(board, dice, cube))]
            assert torch.equal(find_play(said.decode(), board[0], (3, 1)), best)
            action = model.cube_action(board, cube)
            said = client.ask(f"board:Otto:Xena:{score}:{shown}:{sign}:0:0:0:0:1:1:1:0:{TAIL}:1\n\0".encode())
            assert said == (b"double\n" if bool(action.double[0]) else b"roll\n")


def test_beavers_are_the_arithmetics_and_only_where_the_rules_have_them(model: Evaluator) -> None:
    # Player 0 doubles where, for fear of the next turn, he would rather be doubled.
    line = f"board:Xena:Otto:0:0:0:{DANCING}:-1:0:0:0:0:1:1:1:1:{TAIL}:1\n".encode()
    state = read_line(line.decode().strip()).state
    action = model.cube_action(state.tensor()[None], Cube(beavers=True))
    assert bool(action.beaver[0])
    bot = make_bot("model:backgammon")
    assert ExternalPlayer(Decider(bot, GameOptions(beavers=True))).answer(line) == b"beaver\n"
    assert ExternalPlayer(Decider(bot, GameOptions())).answer(line) == b"take\n"
    beavered = CAPTURES["beavered"][0].encode() + b"\n\0"
    before = read_line(CAPTURES["beavered"][0]).state.tensor()[None]
    takes = bool(model.cube_action(before, Cube(jacoby=True)).take_beaver[0])
    assert ExternalPlayer(Decider(bot, MONEY)).answer(beavered) == (b"take\n" if takes else b"drop\n")
    assert ExternalPlayer(Decider(PipCountBot(), MONEY)).answer(beavered) == b"take\n"


def test_a_lost_game_is_resigned_once() -> None:
    # Player 1 has borne off one and has 14 left, player 0 has one checker on its ace point.
    cells = "0:5:5:4:" + "0:" * 20 + "-1:0"
    player = ExternalPlayer(Decider(PipCountBot(), MONEY))
    ends = "1:-1:0:25:1:14:0:0:0:0:0:1"
    line = f"board:Otto:Xena:0:0:0:{cells}:1:6:1:6:1:2:0:1:0:{ends}"
    assert player.answer(f"{line}\n".encode()) == b"resign normal\n"
    assert player.answer(f"\0{line}\n".encode()) == b"3/off 2/1\n"  # it was refused
    worded = ExternalPlayer(Decider(PipCountBot(), MONEY)).answer(f"{line} beavers off\n".encode())
    assert worded == b"3/off 2/1\n"
    assert player.answer(f"{line} resignation 1\n".encode()) == b"reject\n"
    assert player.answer(f"{line} resignation 3\n".encode()) == b"accept\n"


def test_our_own_client_plays_as_the_model_itself() -> None:
    direct = make_bot("model:backgammon")
    for options in (GameOptions(), GameOptions(cube=False), GameOptions(match_length=2)):
        decider = Decider(direct, options)
        with served(lambda decider=decider: ExternalPlayer(decider).answer) as port:  # type: ignore[misc]
            asked = make_bot(f"gnubg-socket:localhost:{port}")
            assert isinstance(asked, OutsideBot)
            through = compare_bots(asked, RandomBot(), 4, options, seed=3)
            itself = compare_bots(direct, RandomBot(), 4, options, seed=3)
            assert (through.points, through.side, through.other) == (itself.points, itself.side, itself.other)
            turns = play_turns(12, 6, seed=5)
            boards, dice = (part.flatten(0, 1) for part in (turns.boards, turns.dice))
            cube = None if not options.cube else Cube(away=(2, 1) if options.match_length else None)
            asks = [bot.choose(boards, dice, cube, torch.zeros(len(boards))) for bot in (asked, direct)]
            assert torch.equal(*asks)
            if cube is not None:
                assert torch.equal(asked.double(boards, cube), direct.double(boards, cube))
                assert torch.equal(asked.take(boards, cube), direct.take(boards, cube))


def test_several_clients_at_once_and_no_more_than_allowed() -> None:
    decider = Decider(PipCountBot(), MONEY)
    with served(lambda: ExternalPlayer(decider).answer, clients=3) as port:
        clients = [Client(port) for _ in range(3)]
        for _ in range(2):
            for client in clients:
                client.send(GOOD)
            assert all(b"/" in client.read() for client in clients)
        with Client(port) as one_more:
            assert one_more.read().startswith(b"Error: found 3 clients")
            assert one_more.read() == b""
        clients.pop().__exit__()
        time.sleep(0.1)
        with Client(port) as next_one:
            assert b"/" in next_one.ask(GOOD)
        for client in clients:
            client.__exit__()


def test_an_idle_or_deaf_client_is_let_go() -> None:
    decider = Decider(PipCountBot(), MONEY)
    with served(lambda: ExternalPlayer(decider).answer, idle_limit=0.2) as port, Client(port) as client:
        client.send(b"board:half")
        started = time.monotonic()
        with suppress(ConnectionResetError):
            assert client.read() == b""
        assert time.monotonic() - started < 5


def test_a_thousand_malformed_requests(port: int) -> None:
    generator = random.Random(1)  # noqa: S311
    fields = CAPTURES["answer"][0].split(":")

    def malformed() -> bytes:
        kind = generator.randrange(5)
        if kind == 0:
            return generator.randbytes(generator.randrange(1, 200)).replace(b"\n", b"")
        changed = list(fields)
        if kind == 1:
            changed[generator.randrange(3, 41)] = generator.choice(("", "x", "99", "-99", "9" * 30, "1.5", "٣"))
        if kind == 2:
            del changed[generator.randrange(len(changed)) :]
        if kind == 3:
            changed.append("0:0")
        line = ":".join(changed) + (" resignation 7" if kind == 4 else "")
        return line.encode()

    answers = []
    before = 0
    for number in range(1000):
        if number % 100 == 0:
            client = Client(port)
        answers.append(client.ask(malformed() + b"\n"))
        if number % 100 == 99:
            client.__exit__()
        if number == 500:
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 4096  # KiB
    assert all(answer.endswith(b"\n") and len(answer) <= 255 for answer in answers)
    assert sum(answer.startswith(b"Error: ") for answer in answers) > 900  # a few changes make other positions
    with Client(port) as client:
        assert client.ask(b"x" * 100_000 + b"\n").startswith(b"Error: found a request of more than")
        assert client.read() == b""
    with Client(port) as client:
        assert b"/" in client.ask(GOOD)


@pytest.mark.parametrize(
    ("changes", "wanted"),
    [
        ({"host": "192.0.2.1"}, "wanted localhost: .*any_host=true"),
        ({"host": "example.org"}, "wanted localhost"),
        ({"port": 70_000}, "port: found 70000"),
        ({"clients": 0}, "clients: found 0"),
        ({"idle_limit": 0.0}, "idle_limit: found 0"),
    ],
)
def test_nothing_listens_beyond_this_machine_unless_asked(changes: dict[str, object], wanted: str) -> None:
    with pytest.raises(ValueError, match=wanted):
        ServerOptions(**changes)  # type: ignore[arg-type]
    assert ServerOptions(host="192.0.2.1", any_host=True).host == "192.0.2.1"
