"""Match equity tables: what they answer, how they are filled, and GNU Backgammon's files read, refused and written."""

from __future__ import annotations

import json
from collections.abc import Callable
from math import comb
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from nardy.models import MatchEquityError, MatchEquityTable, read_match_equity, simple_match_equity, write_match_equity
from nardy.models.janowski import GameRates
from nardy.models.match_equity import from_game_chances
from nardy.models.match_equity_xml import MAX_FILE_BYTES, match_equity_text, parse_match_equity

from ..env.test_notation_gnubg import GNUBG, gnubg

INSTALLED = Path("/usr/share/gnubg/met")
needs_gnubg = pytest.mark.skipif(GNUBG is None, reason="the program gnubg is missing: apt-get install gnubg")
needs_files = pytest.mark.skipif(not INSTALLED.is_dir(), reason=f"{INSTALLED} is missing: apt-get install gnubg-data")

# Kazaross-XG2, the figures that are quoted everywhere: before or in the Crawford game by points needed, and after it.
XG2_BEFORE = {
    (2, 3): 0.5995,
    (2, 4): 0.6687,
    (3, 4): 0.5715,
    (3, 5): 0.6480,
    (4, 5): 0.5773,
    (5, 7): 0.6264,
    (7, 9): 0.6085,
    (2, 1): 0.3226,
    (3, 1): 0.2492,
    (4, 1): 0.1856,
    (5, 1): 0.1582,
    (7, 1): 0.0928,
}
XG2_AFTER = {2: 0.4880, 3: 0.3226, 4: 0.3100, 5: 0.1901}


@pytest.fixture(scope="module")
def simple() -> MatchEquityTable:
    return simple_match_equity()


def random_table(size: int, seed: int) -> MatchEquityTable:
    """A table whose entries all differ, in no order."""
    generator = torch.Generator().manual_seed(seed)
    upper = torch.rand(size, size, generator=generator).triu(1)
    after = torch.rand(size, generator=generator)
    after[0] = 0.5
    before = upper + (1 - upper.T).tril(-1) + 0.5 * torch.eye(size)
    return MatchEquityTable.checked(before, after, "random")


def test_every_score_is_looked_up_from_both_sides() -> None:
    table = random_table(5, 0)
    for a in range(1, 6):
        for b in range(1, 6):
            before, later = table.chance(torch.tensor([[a, b], [a, b]]), torch.tensor([False, True])).tolist()
            assert before == pytest.approx(float(table.before[a - 1, b - 1]), abs=1e-7)
            expected = float(table.before[a - 1, b - 1])
            if b == 1:
                expected = float(table.after[a - 1])
            elif a == 1:
                expected = 1 - float(table.after[b - 1])
            assert later == pytest.approx(expected, abs=1e-7)


def test_a_match_that_is_over_is_won_or_lost_by_whatever_surplus() -> None:
    away = torch.tensor([[0, 3], [-4, 1], [2, 0], [1, -7]])
    for later in (False, True):
        assert random_table(4, 1).chance(away, torch.full((4,), later)).tolist() == [1, 1, 0, 0]


def test_needing_more_than_the_table_holds_counts_as_its_most() -> None:
    table = random_table(4, 2)
    away = torch.tensor([[9, 2], [2, 9], [9, 9], [9, 1]])
    later = torch.tensor([False, False, False, True])
    expected = torch.stack([table.before[3, 1], table.before[1, 3], table.before[3, 3], table.after[3]])
    assert torch.equal(table.chance(away, later), expected)


@pytest.mark.parametrize(
    ("away", "crawford", "points", "entry"),
    [
        ((4, 4), False, 1, ("before", 3, 4)),
        ((4, 4), False, -1, ("before", 4, 3)),
        ((4, 4), False, -3, ("before", 4, 1)),  # the Crawford game is next
        ((2, 2), False, 1, ("before", 1, 2)),
        ((4, 4), False, 4, 1.0),
        ((4, 4), False, -6, 0.0),
        ((3, 1), True, 1, ("after", 2)),
        ((3, 1), True, 2, 0.5),
        ((3, 1), True, 3, 1.0),
        ((3, 1), True, -1, 0.0),
        ((1, 3), True, -1, ("not after", 2)),
        ((1, 3), True, 1, 1.0),
        ((3, 1), False, 1, ("after", 2)),  # already past the Crawford game
        ((1, 4), False, -2, ("not after", 2)),
        ((1, 2), False, -1, 0.5),
        ((1, 1), False, 1, 1.0),
        ((1, 1), False, -1, 0.0),
    ],
)
def test_points_lead_to_the_score_and_the_crawford_state_that_follow(
    away: tuple[int, int], crawford: bool, points: int, entry: float | tuple[object, ...]
) -> None:
    table = random_table(4, 3)
    if isinstance(entry, float):
        expected = entry
    else:
        kind, *place = entry
        values = table.before if kind == "before" else table.after
        expected = float(values[tuple(int(str(number)) - 1 for number in place)])
        expected = 1 - expected if kind == "not after" else expected

    found = table.after_points(torch.tensor([away]), torch.tensor([crawford]), torch.tensor([points]))

    assert float(found[0]) == pytest.approx(expected, abs=1e-7)


def test_several_results_of_a_game_are_looked_up_as_they_are_one_by_one() -> None:
    table, generator = random_table(7, 4), torch.Generator().manual_seed(0)
    away = torch.randint(1, 8, (60, 2), generator=generator, dtype=torch.int32)
    crawford = (away == 1).any(1) & (torch.rand(60, generator=generator) < 0.5)
    points = torch.randint(-8, 9, (60, 5), generator=generator)
    whole = table.after_points(away, crawford, points)
    for column in range(5):
        assert torch.equal(whole[:, column], table.after_points(away, crawford, points[:, column]))
    assert len(set(whole.flatten().tolist())) > 30


@pytest.mark.gpu
def test_a_table_answers_on_its_device_as_on_the_cpu() -> None:
    table, away = random_table(6, 5), torch.randint(-1, 9, (50, 2), generator=torch.Generator().manual_seed(0))
    later = torch.arange(50) % 2 == 0
    assert torch.equal(table.to("cuda").chance(away.cuda(), later.cuda()).cpu(), table.chance(away, later))


def _spoilt(change: Callable[[Tensor, Tensor], object]) -> tuple[Tensor, Tensor]:
    table = random_table(3, 6)
    before, after = table.before.clone(), table.after.clone()
    change(before, after)
    return before, after


@pytest.mark.parametrize(
    ("entries", "reason"),
    [
        ((torch.rand(3, 4), torch.rand(3)), r"found shapes \(3, 4\) and \(3,\)"),
        ((torch.rand(3, 3), torch.rand(2)), r"found shapes \(3, 3\) and \(2,\)"),
        ((torch.rand(0, 0), torch.rand(0)), "found shapes"),
        ((torch.tensor(0.5), torch.rand(1)), "found shapes"),
        (_spoilt(lambda before, _: before[0, 2].fill_(1.5)), "before at 1, 3 away: found 1.5, wanted a chance"),
        (_spoilt(lambda before, _: before[2, 1].fill_(-1e-3)), "before at 3, 2 away: found -0.001"),
        (_spoilt(lambda _, after: after[1].fill_(torch.nan)), "after at 2 away: found nan"),
        (_spoilt(lambda before, _: before[1, 1].fill_(0.6)), "found 0.6 at 2, 2 away and 0.6 at 2, 2 away"),
        (_spoilt(lambda before, _: before[0, 1].sub_(1e-4)), "at 1, 2 away and .* at 2, 1 away, wanted two"),
        (_spoilt(lambda _, after: after[0].fill_(0.4)), "after at 1 away: found 0.4, wanted 0.5"),
    ],
)
def test_what_is_no_table_is_refused_with_the_first_bad_entry(entries: tuple[Tensor, Tensor], reason: str) -> None:
    with pytest.raises(MatchEquityError, match=reason):
        MatchEquityTable.checked(*entries)


def _coin(table: MatchEquityTable, away: Tensor, crawford: Tensor) -> Tensor:
    """A game that is worth one point and that either side wins as often."""
    points = torch.tensor([[1, -1]]).expand(len(away), 2)
    return table.after_points(away, crawford, points).mean(1)


def test_matches_of_coin_tosses_have_the_chances_of_bernoulli() -> None:
    table = from_game_chances(_coin, 9)
    for a in range(1, 10):
        for b in range(1, 10):
            games = a + b - 1
            exact = sum(comb(games, won) for won in range(a, games + 1)) / 2**games
            assert float(table.before[a - 1, b - 1]) == pytest.approx(exact, abs=1e-6)
        assert float(table.after[a - 1]) == pytest.approx(0.5**a, abs=1e-7)


def test_a_known_table_is_kept_and_continued() -> None:
    known = random_table(4, 7)
    table = from_game_chances(_coin, 6, known)
    assert torch.equal(table.before[:4, :4], known.before)
    assert torch.equal(table.after[:4], known.after)
    assert float(table.before[5, 4]) == pytest.approx(float(table.before[4, 4] + table.before[5, 3]) / 2, abs=1e-7)
    assert torch.equal(from_game_chances(_coin, 3, known).before, known.before[:3, :3])


def test_a_game_without_a_chance_is_refused() -> None:
    with pytest.raises(MatchEquityError, match="found nan"):
        from_game_chances(lambda _table, away, _crawford: torch.full((len(away),), torch.nan), 3)


def test_the_simple_table_is_near_the_one_that_programs_use(simple: MatchEquityTable) -> None:
    for (a, b), chance in XG2_BEFORE.items():
        assert float(simple.before[a - 1, b - 1]) == pytest.approx(chance, abs=0.01 if b > 1 else 0.005), (a, b)
    for b, chance in XG2_AFTER.items():
        assert float(simple.after[b - 1]) == pytest.approx(chance, abs=0.005), b


@needs_files
def test_the_simple_table_is_within_a_hundredth_everywhere_and_a_thousandth_on_average(
    simple: MatchEquityTable,
) -> None:
    reference = read_match_equity(INSTALLED / "Kazaross-XG2.xml")
    error = (simple.before - reference.before).abs()
    assert float(error.max()) < 0.01
    assert float(error.mean()) < 0.0012
    assert float((simple.after - reference.after).abs().max()) < 0.005
    dead = simple_match_equity(rates=GameRates(cube_life=0.0))
    assert float((dead.before - reference.before).abs().max()) > 0.02  # the live cube is what makes them agree


def test_needing_fewer_points_is_never_worse(simple: MatchEquityTable) -> None:
    assert bool((simple.before.diff(dim=0) < 0).all()) and bool((simple.before.diff(dim=1) > 0).all())
    assert bool((simple.after.diff() < 0).all())
    assert bool((simple.before[2:, 0] < simple.after[1:-1]).all())  # one more point is worth more than the cube


def _file(length: str = "2", name: str = "a name", pre: str = "", post: str = "", head: str = "") -> bytes:
    pre = pre or "<row><me>.5</me><me>0.7</me></row> <row><me>0.3</me><me>5e-1</me></row>"
    post = post or '<post-crawford-table type="explicit" player="both"><row><me>0.5</me><me>0.48</me></row>'
    head = head or "<?xml version = '1.0'?>"
    return (
        f"{head}<met><info><name>{name}</name><description/><length>{length}</length></info>"
        f'<pre-crawford-table type="explicit">{pre}</pre-crawford-table>{post}</post-crawford-table></met>'
    ).encode()


def test_a_file_written_by_hand_is_read_as_it_says() -> None:
    table = parse_match_equity(_file(name="Jacobs &amp; Trice\n &#60;1&#62;"))
    assert table.name == "Jacobs & Trice <1>"
    torch.testing.assert_close(table.before, torch.tensor([[0.5, 0.7], [0.3, 0.5]]))
    torch.testing.assert_close(table.after, torch.tensor([0.5, 0.48]))


def test_equal_rows_for_each_player_are_one_table_and_unequal_ones_are_refused() -> None:
    row = '<post-crawford-table type="explicit" player="{}"><row><me>0.5</me><me>{}</me></row>'
    end = "</post-crawford-table>"
    table = parse_match_equity(_file(post=row.format(0, 0.4) + end + row.format(1, 0.4)))
    assert table.after.tolist() == pytest.approx([0.5, 0.4])
    with pytest.raises(MatchEquityError, match=r"two different post-crawford-tables, wanted .* equal strength"):
        parse_match_equity(_file(post=row.format(0, 0.4) + end + row.format(1, 0.41)))
    with pytest.raises(MatchEquityError, match=r"for players \['0'\], wanted"):
        parse_match_equity(_file(post=row.format(0, 0.4)))
    with pytest.raises(MatchEquityError, match="found a second post-crawford-table"):
        parse_match_equity(_file(post=row.format("both", 0.4) + end + row.format("both", 0.4)))


LAUGHS = '<!DOCTYPE met [<!ENTITY a "&b;&b;&b;&b;"><!ENTITY b "ha">]>'
EXTERNAL = '<!DOCTYPE met [<!ENTITY a SYSTEM "file:///etc/hostname">]>'
KNOWN_TYPE = '<!DOCTYPE met PUBLIC "-//GNU Backgammon//DTD Match Equity Tables//EN" "met.dtd">'
ROW = "<row><me>0.5</me><me>0.7</me></row>"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "found no XML"),
        (b"\0\xff hello", "found no XML"),
        (_file()[:-3], "found no XML"),
        (_file(head="<?xml version='1.0' encoding='utf-9'?>"), "found no XML"),
        (_file(head="<?xml version='1.0' encoding='cp932'?>"), "found no XML"),
        (b" " * (MAX_FILE_BYTES + 1), "found more than 1048576 bytes"),
        (_file(head=LAUGHS, name="&a;"), "a document type with declarations of its own"),
        (_file(head=EXTERNAL, name="&a;"), "a document type with declarations of its own"),
        (_file(head=KNOWN_TYPE, name="&a;"), "found the entity 'a'"),
        (_file(name="&a;"), "found no XML"),
        (b"<svg/>", "line 1: found <svg> in <the file>, wanted met"),
        (b"<met>" * 5000, "found <met> in <met>"),
        (b"<met></met>", "length: found '', wanted 1 to 64"),
        (_file(length="-1"), "length: found '-1'"),
        (_file(length="65"), "length: found '65'"),
        (_file(length="\u0662"), "length: found"),
        (_file(length="3"), "pre-crawford-table: found 2 rows, wanted 3"),
        (_file(pre=ROW), "pre-crawford-table: found 1 rows, wanted 2"),
        (_file(pre=ROW + "<row><me>0.3</me></row>"), "row 2: found 1 entries, wanted 2"),
        (_file(pre=ROW + ROW), "found 0.7 at 1, 2 away|found 0.7 at 2, 2 away|found 0.5 at 2, 1 away"),
        (_file(pre=ROW + "<row><me>0.3</me><me>nan</me></row>"), "me: found 'nan'"),
        (_file(pre=ROW + "<row><me>0.3</me><me>1.01</me></row>"), "me: found '1.01', wanted a chance"),
        (_file(pre=ROW + "<row><me>0.3</me><me>0_5</me></row>"), "me: found '0_5'"),
        (_file(pre=ROW + "<row><me>0.3</me><me>-0.5</me></row>"), "me: found '-0.5'"),
        (_file(pre=ROW + "<row><me>0.3</me><me></me></row>"), "me: found ''"),
        (_file(pre=ROW + "<row>0.3<me>0.5</me></row>"), "found '0.3' in <row>, wanted no text"),
        (_file(pre=ROW + "<row><me>0.3<b/></me></row>"), "found <b> in <me>, wanted text"),
        (_file(name="a</name><name>b"), "found a second <name>"),
        (_file().replace(b'"explicit"', b'"mec"', 1), "pre-crawford-table: found type 'mec', wanted 'explicit'"),
        (_file().replace(b'"explicit" player', b'"zadeh" player'), "post-crawford-table: found type 'zadeh'"),
        (_file().replace(b' type="explicit"', b"", 1), "pre-crawford-table: found type None"),
        (_file().replace(b"both", b"2"), "post-crawford-table: found player '2', wanted both, 0 or 1"),
    ],
)
def test_anything_else_is_refused_in_one_line(data: bytes, reason: str) -> None:
    with pytest.raises(MatchEquityError, match=reason) as caught:
        parse_match_equity(data)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


def test_a_row_without_its_last_entry_is_continued_by_a_doubled_game() -> None:
    after = [0.5, 0.48, 0.32, 0.3, 0.2, 0.19]
    text = match_equity_text(MatchEquityTable.checked(torch.full((6, 6), 0.5), torch.tensor(after)))
    head, row = text.rsplit("<me>", 1)
    shorter = head + row[row.index("</row>") :]
    expected = [*after[:5], 0.375 * 0.3 + 0.125 * 0.48]
    assert parse_match_equity(shorter.encode()).after.tolist() == pytest.approx(expected)


def test_what_is_written_is_read_as_the_same_table(tmp_path: Path) -> None:
    for size in (1, 2, 25, 64):
        table = random_table(size, size)
        write_match_equity(tmp_path / "table.xml", table, "<b> & 'é'")
        read = read_match_equity(tmp_path / "table.xml")
        assert torch.equal(read.before, table.before) and torch.equal(read.after, table.after)
        assert read.name == table.name


def test_what_the_format_cannot_hold_is_not_written() -> None:
    with pytest.raises(MatchEquityError, match="found 65 points, wanted at most 64"):
        match_equity_text(random_table(65, 0))
    table = random_table(2, 0)
    for bad in ("\0", "\x1b", "\ud800", "\ufffe"):
        with pytest.raises(MatchEquityError, match="wanted characters that XML allows"):
            match_equity_text(MatchEquityTable(table.before, table.after, f"a{bad}b"))


def test_a_file_that_cannot_be_opened_or_read_is_named(tmp_path: Path) -> None:
    for path in (tmp_path / "nothing.xml", tmp_path, "a\0b", "x" * 5000):
        with pytest.raises(MatchEquityError, match="cannot be opened"):
            read_match_equity(path)
    (tmp_path / "bad.xml").write_bytes(b"<met>")
    with pytest.raises(MatchEquityError, match=f"^{tmp_path / 'bad.xml'}: found no XML"):
        read_match_equity(tmp_path / "bad.xml")


GOOD = [_file(), match_equity_text(random_table(3, 8)).encode(), match_equity_text(random_table(6, 9)).encode()]
PIECES = [
    b"<",
    b">",
    b"/",
    b'"',
    b"&amp;",
    b"&#0;",
    b"&x;",
    b"<me>",
    b"<row/>",
    b"<!-- -->",
    b"]]>",
    b"\xff",
    b"9",
    b"e9",
]


def _parses_or_is_refused(data: bytes) -> None:
    try:
        table = parse_match_equity(data)
    except MatchEquityError:
        return
    again = parse_match_equity(match_equity_text(table).encode())
    assert torch.equal(again.before, table.before) and torch.equal(again.after, table.after)
    assert again.name == table.name


@given(st.binary(max_size=200))
def test_any_bytes_are_a_table_or_refused(data: bytes) -> None:
    _parses_or_is_refused(data)


@given(
    st.sampled_from(GOOD), st.lists(st.tuples(st.integers(0), st.integers(0, 9), st.sampled_from(PIECES)), max_size=3)
)
def test_spoilt_files_are_a_table_or_refused(data: bytes, changes: list[tuple[int, int, bytes]]) -> None:
    for place, length, piece in changes:
        start = place % (len(data) + 1)
        data = data[:start] + piece + data[start + length :]
    _parses_or_is_refused(data)


@given(st.text(max_size=40), st.text(max_size=40))
def test_any_name_is_written_and_read_or_refused(name: str, description: str) -> None:
    table = random_table(2, 1)
    try:
        text = match_equity_text(MatchEquityTable(table.before, table.after, name), description)
    except MatchEquityError:
        return
    assert parse_match_equity(text.encode()).name == " ".join(name.split())


@needs_files
@pytest.mark.peer
def test_the_installed_kazaross_table_has_the_values_quoted_for_it() -> None:
    table = read_match_equity(INSTALLED / "Kazaross-XG2.xml")
    assert (table.size, table.name) == (25, "Kazaross XG2 25 point MET")
    for (a, b), chance in XG2_BEFORE.items():
        assert float(table.before[a - 1, b - 1]) == pytest.approx(chance, abs=5.1e-5)
        assert float(table.before[b - 1, a - 1]) == pytest.approx(1 - chance, abs=5.1e-5)
    for b, chance in XG2_AFTER.items():
        assert float(table.after[b - 1]) == pytest.approx(chance, abs=5.1e-5)


@needs_files
@pytest.mark.peer
@pytest.mark.parametrize(
    ("name", "size"),
    [("Rockwell-Kazaross", 25), ("g11", 25), ("jacobs", 25), ("mec26", 25), ("snowie", 15), ("woolsey", 15)],
)
def test_the_installed_explicit_tables_are_read(name: str, size: int) -> None:
    table = read_match_equity(INSTALLED / f"{name}.xml")
    assert table.size == size
    assert float(table.before[1, 0]) == pytest.approx(XG2_BEFORE[2, 1], abs=0.025)
    assert 0 < float(table.after[-1]) <= float(table.after[-2]) <= float(table.after[-3]) < 0.03


@needs_files
@pytest.mark.peer
@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("mec", "pre-crawford-table: found type 'mec', wanted 'explicit'"),
        ("zadeh", "pre-crawford-table: found type 'zadeh', wanted 'explicit'"),
        ("jac050", "two players of equal strength"),
        ("jac100", "two players of equal strength"),
        ("ortega", "found 0.951 at 1, 9 away and 0.048 at 9, 1 away, wanted two chances that add to 1"),
        ("catalog", "found <catalog>"),
    ],
)
def test_the_installed_formulas_and_lopsided_tables_are_refused(name: str, reason: str) -> None:
    with pytest.raises(MatchEquityError, match=reason) as caught:
        read_match_equity(INSTALLED / f"{name}.xml")
    assert str(caught.value).startswith(str(INSTALLED / name))


@needs_gnubg
@pytest.mark.peer
def test_gnubg_loads_what_is_written_and_holds_the_same_numbers(tmp_path: Path, simple: MatchEquityTable) -> None:
    (tmp_path / "dump.py").write_text("import gnubg, json\njson.dump(gnubg.met(25), open('met.json', 'w'))\n")
    for table in (simple, random_table(25, 10)):
        write_match_equity(tmp_path / "table.xml", table, "a <description>")

        said = gnubg(["set matchequitytable table.xml", "load python dump.py", "show matchequitytable"], tmp_path)

        assert f"will now use the {table.name} match equity table" in said
        assert "a <description>" in said
        before, *after = json.loads((tmp_path / "met.json").read_text())
        torch.testing.assert_close(torch.tensor(before), table.before, atol=1e-7, rtol=0)
        for player in after:
            # Its last entry the program computes itself, whatever the file says: no match of 25 points reaches it.
            torch.testing.assert_close(torch.tensor(player)[:-1], table.after[:-1], atol=1e-7, rtol=0)
