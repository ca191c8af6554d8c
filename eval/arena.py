"""Two bots over batched games: every deal is played twice, with the same dice and the seats swapped.

Deal i is slot i of the dice streams. Both games of a deal get the same numbers for the same roll of the game, so luck
cancels as far as the games stay alike, and a bot against itself scores exactly 0. Every deal that was begun is played
to its end (or given up after `MAX_TURNS`), so short games are not counted more often than long ones; the results do not
depend on ``batch``, nor on how the deals are divided over calls.

Cost a turn of B games side by side: the bots' own work on B games, some thirty tensor operations of size B, and a
handful of host synchronisations. A row whose game has ended takes up the next deal at once.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from ..env import GameEnd, GameOptions, Games
from ..env.cube import CENTRED
from ..env.dice import Purpose, uniforms
from ..env.notation import MatchRecord
from .bots import BeaveringBot, Bot
from .luck import Luck
from .match_log import MatchLog
from .outside.failure import BotFailedError
from .recording import Recording, match_of_bots

__all__ = ["GAME_COLUMNS", "MAX_TURNS", "SEAT_COLUMNS", "Progress", "Record", "play_deals"]

# What is counted for each player: wins over the board by level, wins by a drop, doubles offered, doubles taken, games
# lost because it owed an answer, doubles beavered, which count as taken too.
SEAT_COLUMNS = ("singles", "gammons", "backgammons", "drop_wins", "doubles", "takes", "forfeits", "beavers")
# What is counted for both together: games, turns played, games with a turned cube, sum of the cubes at the end, games
# that were given up.
GAME_COLUMNS = ("games", "plies", "turned", "cube", "abandoned")
# A game of so many turns is given up and its deal drawn: two simple bots can hit each other without end.
MAX_TURNS = 5000

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Record:
    """What P deals gave, each played in both seatings; all from the view of the first bot, on the CPU.

    Attributes:
        points: ``[2, P]`` int64, points won by the first bot in each seating; for matches +1 or -1.
        seats: ``[2, P, 2, 8]`` int64, `SEAT_COLUMNS` of the first bot and of the other.
        games: ``[2, P, 5]`` int64, `GAME_COLUMNS`.
        seconds: time taken.
        luck: ``[2, P]`` float64, how lucky the first bot was, in the unit of ``points``; None if nobody asked.
        events: what a referee has noted, by kind, of the first bot and of the other; None without a referee.
        matches: what was played in the games that were to be recorded, deal by deal, player 0 the first bot.
    """

    points: Tensor
    seats: Tensor
    games: Tensor
    seconds: float
    luck: Tensor | None = None
    events: Mapping[str, tuple[int, int]] | None = None
    matches: tuple[MatchRecord, ...] = ()

    @property
    def num_deals(self) -> int:
        """P."""
        return self.points.shape[1]

    @classmethod
    def join(cls, *parts: Record) -> Record:
        """The record of all deals of ``parts``, which were played alike, one after the other."""
        points, seats, games = (
            torch.cat([getattr(part, name) for part in parts], 1) for name in ("points", "seats", "games")
        )
        luck = [part.luck for part in parts if part.luck is not None]
        events: dict[str, tuple[int, int]] = {}
        for part in parts:
            for kind, (own, other) in (part.events or {}).items():
                before = events.get(kind, (0, 0))
                events[kind] = before[0] + own, before[1] + other
        return cls(
            points,
            seats,
            games,
            sum(part.seconds for part in parts),
            torch.cat(luck, 1) if luck else None,
            None if parts[0].events is None else events,
            tuple(match for part in parts for match in part.matches),
        )


def play_deals(
    bot: Bot,
    opponent: Bot,
    num_deals: int,
    options: GameOptions | None = None,
    seed: int = 0,
    first_deal: int = 0,
    batch: int = 4096,
    device: torch.device | str = "cpu",
    progress: Progress | None = None,
    luck: Luck | None = None,
    recorded_deals: int = 0,
) -> Record:
    """Play ``num_deals`` deals (money games, or whole matches), each in both seatings.

    Args:
        bot: takes the first seat in the first game of a deal, the second seat in the other.
        opponent: the other bot.
        num_deals: at least 1.
        options: what is played.
        seed: of dice and ties.
        first_deal: number of the first deal; disjoint ranges of one seed are parts of one session.
        batch: games side by side, at least 1; memory grows with it.
        device: where games are kept and bots are asked.
        progress: called after every turn that ended something with (games finished, games wanted).
        luck: also count how lucky the bots were; some twenty times the work of a model's own turn.
        recorded_deals: of how many deals, from number 0 on, the moves are kept.

    Raises:
        BotFailedError: an outside bot cannot go on, and its policy is to stop. Otherwise it loses the games in which it
            owes an answer, each at the cube as it stands.
    """
    if num_deals < 1 or batch < 1:
        raise ValueError(f"arena: found {num_deals} deals and a batch of {batch}, wanted at least 1 of each")
    options = options or GameOptions()
    if options.match_length and not options.cube:
        options = replace(options, max_cube=1)  # bots are told the score, and that the cube cannot be turned
    started = time.perf_counter()
    num_recorded = min(num_deals, max(0, recorded_deals - first_deal))
    tables = []
    for seating, seats in enumerate(((bot, opponent), (opponent, bot))):

        def report(finished: int, before: int = seating * num_deals) -> None:
            if progress is not None:
                progress(before + finished, 2 * num_deals)

        table = _Table(seats, num_deals, options, seed, first_deal, min(batch, num_deals), device, luck, num_recorded)
        tables.append(table.play(report))
    seconds = time.perf_counter() - started
    points = torch.stack([tables[0].points, -tables[1].points])
    seats_counted = torch.stack([tables[0].seats, tables[1].seats.flip(1)])
    games = torch.stack([tables[0].games, tables[1].games])
    lucky = None if luck is None else torch.stack([tables[0].luck, -tables[1].luck]).cpu()
    logs = [(log.slot, seating, log) for seating, table in enumerate(tables) for log in table.logs()]
    matches = tuple(match_of_bots(log, seating) for _, seating, log in sorted(logs, key=lambda each: each[:2]))
    return Record(points.cpu(), seats_counted.cpu(), games.cpu(), seconds, lucky, matches=matches)


class _Table:
    """All deals in one seating: player 0 is ``seats[0]``. Results are kept by deal, seen by player 0."""

    def __init__(
        self,
        seats: tuple[Bot, Bot],
        num_deals: int,
        options: GameOptions,
        seed: int,
        first_deal: int,
        batch: int,
        device: torch.device | str,
        luck: Luck | None,
        num_recorded: int,
    ) -> None:
        self.bots = seats
        self.judge = luck
        names = seats[0].name, seats[1].name
        self.recording = Recording(names, options, seed, first_deal, num_recorded) if num_recorded else None
        self.state = Games(batch, options, seed, first_slot=first_deal, device=device)
        self.num_deals = num_deals
        self.num_started = batch
        self.num_finished = 0
        self.first_deal = first_deal
        # A money game without a cube is no matter of cubes at all; a match keeps its score.
        self.with_cube = options.cube or options.match_length > 0

        def zeros(*shape: int, dtype: torch.dtype = torch.int64) -> Tensor:
            return torch.zeros(shape, dtype=dtype, device=self.state.device)

        self.deal = torch.arange(batch, device=self.state.device)  # [B] which deal each row plays
        self.active = ~zeros(batch, dtype=torch.bool)  # [B] rows whose deal is not over
        self.points = zeros(num_deals)
        self.seats = zeros(num_deals, 2, len(SEAT_COLUMNS))
        self.games = zeros(num_deals, len(GAME_COLUMNS))
        self.luck = zeros(num_deals, dtype=torch.float64)

    def play(self, report: Callable[[int], None]) -> _Table:
        """Play every deal to its end; ``report`` hears how many are finished."""
        while self.num_finished < self.num_deals:
            before = self.num_finished
            self._cube_turn()
            self.state.roll(self.active)
            self._count_luck()
            self._play_turn()
            self._give_up(self.active & (self.state.turn >= MAX_TURNS))
            if self.num_finished > before:
                report(self.num_finished)
        return self

    def logs(self) -> list[MatchLog]:
        """What was recorded, players by seat."""
        return [] if self.recording is None else self.recording.logs()

    def _rows(self, where: Tensor, seat: int) -> Tensor:
        """Rows ``[n]`` where ``where`` holds and ``seat`` is on roll. Waits for the device."""
        return (where & (self.state.player == seat)).nonzero()[:, 0]

    def _count(self, where: Tensor, player: Tensor, column: str) -> None:
        """Add 1 to ``column`` of ``player`` ``[B]`` in the deals of the rows ``where`` ``[B]``."""
        self.seats[self.deal, player.long(), SEAT_COLUMNS.index(column)] += where.long()

    def _cube_turn(self) -> None:
        games = self.state
        may = games.may_double() & self.active
        if not bool(may.any()):
            return
        cube = games.cube()
        offer, take, failed = torch.zeros_like(may), torch.zeros_like(may), torch.zeros_like(may)
        for seat, bot in enumerate(self.bots):
            rows = self._rows(may, seat)
            if len(rows):
                asked = (games.boards[rows], cube.rows(rows))
                offer[rows], failed[rows] = _ask(bot.double, *asked)
        offer &= ~failed
        self._count(offer, games.player, "doubles")
        winner = 1 - games.player
        for seat, bot in enumerate(self.bots):
            rows = self._rows(offer, 1 - seat)
            if len(rows):
                asked = (games.boards[rows], cube.rows(rows))
                take[rows], failed[rows] = _ask(bot.take, *asked)
        winner = torch.where(offer, games.player, winner)
        beaver, kept, unanswered = self._beavers(offer & take & ~failed)
        winner = torch.where(unanswered, 1 - games.player, winner)
        if self.recording is not None:
            answers = (
                ("beaver", beaver),
                ("take", take & ~failed & (~beaver | kept)),
                ("drop", ~take & ~failed | beaver & ~kept & ~unanswered),
            )
            self.recording.cube(games, self.deal, offer, answers)
        offer &= ~failed
        self._count(offer & take, 1 - games.player, "takes")
        self._count(beaver, 1 - games.player, "beavers")
        games.cube_value = torch.where(unanswered, 2 * games.cube_value, games.cube_value)  # what a drop would cost
        failed, offer = failed | unanswered, offer & ~unanswered
        self._finish(games.double(offer, torch.where(beaver, kept, take), beaver.to(torch.int8)))
        self._forfeit(failed, winner)

    def _beavers(self, taken: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Of the doubles ``taken`` ``[B]``: which are beavered, which of these are played on with; which unanswered."""
        games, never = self.state, torch.zeros_like(taken)
        may = taken & (games.may_turn_again() > 0)
        if not bool(may.any()):
            return never, never, never
        cube = games.cube()
        beaver, kept, unanswered = never.clone(), never.clone(), never.clone()
        for asker, answers, asked in ((1, beaver, may), (0, kept, beaver)):
            for seat, bot in enumerate(self.bots):
                rows = self._rows(asked, (seat + asker) % 2)
                if len(rows):
                    assert isinstance(bot, BeaveringBot)
                    question = bot.beaver if asker else bot.take_beaver
                    found, failed = _ask(question, games.boards[rows], cube.rows(rows))
                    answers[rows] = found & ~torch.as_tensor(failed, device=found.device)
                    if not asker:
                        unanswered[rows] = failed
        return beaver, kept, unanswered

    def _count_luck(self) -> None:
        if self.judge is not None:
            rows = self.active.nonzero()[:, 0]
            self.luck[self.deal[rows]] += self.judge.of(self.state, rows)

    def _play_turn(self) -> None:
        games = self.state
        cube = games.cube() if self.with_cube else None
        ties = uniforms(games.seed, games.slots, games.num_rolls, Purpose.TIE)
        second_first = games.turn == 1
        afterstates, failed = games.boards.clone(), torch.zeros_like(self.active)
        for seat, bot in enumerate(self.bots):
            rows = self._rows(self.active, seat)
            if len(rows):
                seen = None if cube is None else cube.rows(rows)
                asked = (games.boards[rows], games.dice[rows], seen, ties[rows], second_first[rows])
                afterstates[rows], failed[rows] = _ask(bot.choose, *asked)
        played, winner = self.active & ~failed, 1 - games.player
        if self.recording is not None:
            self.recording.turn(games, self.deal, afterstates, self.active, failed)
        self.games[self.deal, GAME_COLUMNS.index("plies")] += played.long()
        end = games.play(afterstates, played)
        self._finish(end)
        self._forfeit(failed, winner)

    def _forfeit(self, failed: Tensor, winner: Tensor) -> None:
        """Award the games where ``failed`` ``[B]`` holds to the players ``winner`` ``[B]``."""
        if bool(failed.any()):
            self._count(failed, 1 - winner, "forfeits")
            self._finish(self.state.award(failed, winner))

    def _finish(self, end: GameEnd) -> None:
        """Book the games that have ended, and put the next ones on their rows."""
        finished = end.finished & self.active
        if not bool(finished.any()):
            return
        games = self.state
        winner = (end.points < 0).long()
        for column, level in (("singles", 1), ("gammons", 2), ("backgammons", 3)):
            self._count(finished & (end.level.abs() == level), winner, column)
        self._count(finished & end.dropped, winner, "drop_wins")
        for column, amount in (
            ("games", torch.ones_like(games.cube_value)),
            ("turned", games.cube_owner != CENTRED),
            ("cube", games.cube_value),
        ):
            self.games[self.deal, GAME_COLUMNS.index(column)] += torch.where(finished, amount, 0).long()
        result = end.match_winner if games.options.match_length else end.points
        self.points[self.deal] += torch.where(finished, result, 0).long()
        if self.recording is not None:
            self.recording.end(games, self.deal, end, finished)
        over = finished & (end.match_winner != 0) if games.options.match_length else finished
        self._next_deals(over)
        games.deal(finished)  # rows without a next deal too: they wait at the start of a game

    def _give_up(self, endless: Tensor) -> None:
        """Draw the deals whose game does not end, and put the next ones on their rows."""
        if not bool(endless.any()):
            return
        for column in ("games", "abandoned"):
            self.games[self.deal, GAME_COLUMNS.index(column)] += endless.long()
        self.games[self.deal, GAME_COLUMNS.index("cube")] += torch.where(endless, self.state.cube_value, 0).long()
        if self.recording is not None:
            self.recording.give_up(self.deal, endless)
        self._next_deals(endless)
        self.state.restart(endless)

    def _next_deals(self, over: Tensor) -> None:
        """Give the rows where ``over`` ``[B]`` holds the next deals; those that get none fall inactive."""
        rows = over.nonzero()[:, 0]
        self.num_finished += len(rows)
        starting = rows[: self.num_deals - self.num_started]
        deals = torch.arange(self.num_started, self.num_started + len(starting), device=rows.device)
        self.num_started += len(starting)
        self.active[rows[len(starting) :]] = False
        self.deal[starting] = deals
        # The row's dice come from the new slot, from its first roll on: so the same deal is the same in any batch.
        self.state.slots[starting] = self.first_deal + deals
        self.state.num_rolls[starting] = 0


def _ask(question: Callable[..., Tensor], *asked: Any) -> tuple[Tensor, Tensor | bool]:
    """A bot's answers about some rows, and in which of them it has failed."""
    try:
        return question(*asked), False
    except BotFailedError as failure:
        if failure.stop:
            raise
        return failure.answers, failure.failed.to(failure.answers.device)
