"""A person against a bot, one game after another: whose decision it is, and what the bot answers to each.

Player 0 is the person, player 1 the bot. Nothing here reads or writes; a face (the terminal, the page in a browser)
asks `Session.phase`, calls the matching method and tells the person what it returns. The dice of a session follow from
its seed, so after an undo the same rolls come again.
"""

from __future__ import annotations

from collections import deque
from copy import deepcopy
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from ...env import Cube, GameEnd, GameOptions, Games, flip
from ...env.decisions import (
    ACCEPT,
    BEAVER,
    DOUBLE,
    DROP,
    REFUSE,
    RESIGN_SINGLE,
    ROLL,
    TAKE,
    Decisions,
    Phase,
)
from ...env.dice import Purpose, uniforms
from ...env.notation import (
    CubeAction,
    GameState,
    MatchRecord,
    NotationError,
    Offer,
    Play,
    Resignation,
    Roll,
    play_to,
    plays,
    resume,
    set_up,
)
from ..bots import Bot
from ..results import check_bots
from .opponent import bot_decides
from .recording import Recording

__all__ = ["BOT", "PERSON", "Event", "Phase", "Session"]

PERSON, BOT = 0, 1

_MOST_UNDOS = 300  # some 10 kB each
_ONE = torch.ones(1, dtype=torch.bool)
_OFFERS = {Phase.ANSWER: Offer.DOUBLE, Phase.BEAVERED: Offer.BEAVER, Phase.RACCOONED: Offer.RACCOON}


@dataclass(frozen=True)
class Event:
    """Something that happened.

    ``kind``: rolled, played, doubled, took, dropped, beavered, resigned, accepted, refused, won, won_match. ``player``
    did it (of won: the winner). ``dice``, ``text`` and ``moves`` (from, to in the player's numbers) belong to played,
    ``dice`` to rolled, ``value`` to the cube: what it shows or would show; of won, the points. ``level`` of won is 1 to
    3, or 0 by a drop; of resigned 1 to 3.
    """

    kind: str
    player: int
    dice: tuple[int, int] = (0, 0)
    text: str = ""
    value: int = 0
    level: int = 0
    moves: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class _Moment:
    """What undo goes back to."""

    decisions: Decisions
    points: tuple[int, int]
    recording: Recording
    history: tuple[Event, ...]


class Session:
    """Games between a person and ``bot`` by the rules ``options``; ``ValueError`` if the bot has not learned them.

    Attributes:
        bot: the opponent. names: of the person and the bot, in records.
        decisions: the game, and whose decision comes next.
        points: points won by the person and the bot in finished games (of a match: matches won).
        opening: what happened before the person's first decision.
        history: what has happened in this game, or since it was taken up or set up.
    """

    def __init__(self, bot: Bot, options: GameOptions, seed: int) -> None:
        if options.match_length and not options.cube:
            options = replace(options, max_cube=1)
        self.bot = bot
        self.names = ("you", "bot")
        self.points = [0, 0]
        self.decisions = Decisions(Games(1, options, seed))
        self._before: deque[_Moment] = deque(maxlen=_MOST_UNDOS)
        self._recording = Recording()
        self.history: tuple[Event, ...] = ()
        self._dealt()
        self._ask_once()
        self.opening = self._tell(self._go_on())

    @classmethod
    def resume(cls, bot: Bot, match: MatchRecord, seed: int) -> Session:
        """Go on with a saved game: the person is the record's player 0, further dice are those of ``seed``.

        `NotationError` for a record without rules, a finished match, or one that breaks a rule.
        """
        if match.rules is None:
            raise NotationError("game: found no rules, wanted those that were agreed")
        session = cls(bot, match.rules, seed)
        if not match.games:
            return session
        last = match.games[-1]
        money_over = not match.match_length and last.winner is not None
        session.decisions = Decisions(Games(1, match.rules, seed)) if money_over else resume(match, seed)
        done = match.games if last.winner is not None else match.games[:-1]
        if not match.match_length:
            for game in done:
                session.points[game.winner or 0] += game.points
        session._dealt()
        session._recording = session._recording.taken_up(done, last if last.winner is None else None)
        session.opening = session._tell(session._go_on())
        return session

    def set_up(self, state: GameState) -> list[Event]:
        """Put the game where ``state`` says, the person in the place of who decides there; it is not recorded.

        `NotationError` if these rules have no such state or nothing is left to play.
        """
        state = state if state.decides == PERSON else state.swap_seats()
        decisions = Decisions(Games(1, self.options, self.games.seed))
        set_up(decisions, state)
        self._before.clear()
        self.decisions = decisions
        self._recording, self.history = Recording(set_up=True), ()
        self.opening = self._tell(self._go_on())
        return self.opening

    def _ask_once(self) -> None:
        """Rules that the bot has not learned raise ``ValueError`` now, not in the middle of a game."""
        check_bots(self.options, self.bot)
        if self.options.raccoons:
            raise ValueError("raccoons: found true, wanted false: bots have no answer to them")
        games, start = self.games, torch.tensor([[2, 1]], dtype=torch.int8)
        self.bot.choose(games.boards, start, self.cube, torch.zeros(1), torch.zeros(1, dtype=torch.bool))
        if self.cube is not None:
            self.bot.double(games.boards, self.cube)

    @property
    def games(self) -> Games:
        """The game as it stands between turns."""
        return self.decisions.games

    @property
    def options(self) -> GameOptions:
        """The rules."""
        return self.games.options

    @property
    def phase(self) -> Phase:
        """What is to be decided next, by the person."""
        return Phase(int(self.decisions.phase[0]))

    @property
    def player(self) -> int:
        """Who is on roll."""
        return int(self.games.player[0])

    @property
    def board(self) -> Tensor:
        """``[2, 26]`` int8 as the person sees it: side 0 is the person, whoever is on roll."""
        return (self.games.boards if self.player == PERSON else flip(self.games.boards))[0]

    @property
    def dice(self) -> tuple[int, int]:
        """The dice on the table, 0 0 before the roll."""
        first, second = self.games.dice[0].tolist()
        return int(first), int(second)

    @property
    def cube(self) -> Cube | None:
        """The cube as the player on roll sees it; None in money games without one."""
        return self.games.cube() if self.options.cube or self.options.match_length else None

    @property
    def second_first(self) -> bool:
        """Is it the second player's first turn of the game?"""
        return int(self.games.turn[0]) == 1

    def may(self, action: int) -> bool:
        """Is this action of `env.decisions` legal now?"""
        return bool(self.decisions.mask()[0, action])

    @property
    def state(self) -> GameState:
        """The game as text formats have it; of money games the score is the points so far. Not between games."""
        games, options = self.games, self.options
        assert self.phase is not Phase.OVER
        value, owner = (int(each[0]) for each in self.decisions.cube_shown())
        mine, theirs = games.boards[0].tolist()
        return GameState(
            (tuple(mine), tuple(theirs)),
            player=self.player,
            dice=self.dice if self.dice[0] else None,
            cube_value=value,
            cube_owner=(None, self.player, 1 - self.player)[owner],
            offer=_OFFERS.get(self.phase, Offer.NONE),
            match_length=options.match_length,
            score=self.score,
            crawford=bool(games.crawford[0]),
            jacoby=options.jacoby,
            beavers=options.beavers,
            max_cube=options.max_cube if options.cube else 1,
            variant=options.variant,
        )

    @property
    def score(self) -> tuple[int, int]:
        """Of the match, or of money games the points so far: the person's and the bot's."""
        mine, theirs = self.games.score[0].tolist() if self.options.match_length else self.points
        return int(mine), int(theirs)

    def legal_plays(self) -> list[Play]:
        """What the player on roll may play with the dice on the table."""
        return plays(self.games.boards[0], self.dice, self.options.variant, self.second_first)

    def roll(self) -> list[Event]:
        """The person rolls; only in `Phase.CUBE`."""
        return self.act(ROLL)

    def double(self) -> list[Event]:
        """The person doubles; only where he `may`."""
        return self.act(DOUBLE)

    def answer(self, take: bool) -> list[Event]:
        """The person takes a double or a beaver, or drops; only in `Phase.ANSWER` and `Phase.BEAVERED`."""
        return self.act(TAKE if take else DROP)

    def beaver(self) -> list[Event]:
        """The person turns the bot's double once more; only where he `may`."""
        return self.act(BEAVER)

    def resign(self, level: int) -> list[Event]:
        """The person offers to lose ``level`` times the cube; only where he `may`."""
        return self.act(RESIGN_SINGLE + level - 1)

    def act(self, action: int) -> list[Event]:
        """The person takes an action of `env.decisions` that is no move; only where he `may`."""
        assert self.may(action) and self.phase is not Phase.MOVE
        self._remember()
        return self._tell(self._take(PERSON, action) + self._go_on())

    def play(self, play: Play) -> list[Event]:
        """The person makes one of `legal_plays`; only in `Phase.MOVE`."""
        self._remember()
        return self._tell(self._move(play.board, play) + self._go_on())

    def next_game(self) -> list[Event]:
        """Deal the next game; only in `Phase.OVER`."""
        assert self.phase is Phase.OVER
        self._remember()
        if self.options.match_length and max(self.score) >= self.options.match_length:
            self._recording = Recording()
        self.decisions.deal(_ONE)
        self._dealt()
        return self._tell(self._go_on())

    @property
    def can_undo(self) -> bool:
        """Is there a decision to take back?"""
        return bool(self._before)

    @property
    def can_record(self) -> bool:
        """Is the game one that `record` can tell?"""
        return self._recording.is_whole

    def undo(self) -> bool:
        """Take back the person's last decision and all that followed; False if there is none."""
        if not self._before:
            return False
        moment = self._before.pop()
        self.decisions, self.points = moment.decisions, list(moment.points)
        self._recording, self.history = moment.recording, moment.history
        return True

    def record(self) -> MatchRecord:
        """What was played: the match or the money games so far, the one in progress last.

        `NotationError` for a game that began from a position, and for those that follow it in a match or session: no
        format says where, and records begin at no score.
        """
        rolled = (Roll(self.player, self.dice, None),) if self.phase is Phase.MOVE else ()
        games = self._recording.all_games(None if self.phase is Phase.OVER else rolled)
        headers = (("Seed", str(self.games.seed)), ("Bot", self.bot.name))
        options = self.options
        return MatchRecord(self.names, options.match_length, games, headers, options.variant, options)

    def _dealt(self) -> None:
        """A new game was dealt."""
        self.history = ()
        self._recording = self._recording.dealt(self.score, int(self.games.cube_value[0]).bit_length() - 1)

    def _remember(self) -> None:
        self._before.append(
            _Moment(deepcopy(self.decisions), (self.points[0], self.points[1]), self._recording, self.history)
        )

    def _tell(self, events: list[Event]) -> list[Event]:
        self.history = (*self.history, *events)
        return events

    def _go_on(self) -> list[Event]:
        """Play on to the person's next decision."""
        events: list[Event] = []
        while self.phase is not Phase.OVER:
            if self.phase is Phase.MOVE and self.player == PERSON:
                legal = self.legal_plays()
                if legal[0].text != "pass":
                    return [*events, Event("rolled", PERSON, self.dice)]
                events += self._move(legal[0].board, legal[0])
            elif self.phase is Phase.MOVE:
                events += self._bot_moves()
            elif int(self.decisions.player()[0]) == PERSON:
                return events
            else:
                events += self._take(BOT, bot_decides(self.bot, self.decisions, self.state))
        return events

    def _bot_moves(self) -> list[Event]:
        games = self.games
        ties = uniforms(games.seed, games.slots, games.num_rolls, Purpose.TIE)
        after = self.bot.choose(games.boards, games.dice, self.cube, ties, torch.tensor([self.second_first]))[0]
        return self._move(after, play_to(after, self.legal_plays(), self.dice))

    def _move(self, after: Tensor, play: Play) -> list[Event]:
        """A turn is played: ``play``, which leads to ``after``."""
        player, dice, moves = self.player, self.dice, play.turns[0]
        self._recording = self._recording.with_action(Roll(player, dice, moves))
        end = self.decisions.play(after[None], _ONE)
        return [Event("played", player, dice, play.text, moves=moves), *self._ended(end)]

    def _take(self, player: int, action: int) -> list[Event]:
        """``player`` does what is no move."""
        value = 2 * int(self.decisions.cube_shown()[0][0])
        level = int(self.decisions.resignation[0])
        end = self.decisions.step(torch.tensor([action])).end
        if action == ROLL:
            return []
        if RESIGN_SINGLE <= action < ACCEPT:
            return [Event("resigned", player, level=action - RESIGN_SINGLE + 1)]
        if action in (ACCEPT, REFUSE):
            accepted = action == ACCEPT
            self._recording = self._recording.with_action(Resignation(1 - player, level, accepted))
            return [Event("accepted" if accepted else "refused", player), *self._ended(end)]
        word = {DOUBLE: "double", TAKE: "take", DROP: "drop", BEAVER: "beaver"}[action]
        self._recording = self._recording.with_action(CubeAction(player, word))
        done = {DOUBLE: "doubled", TAKE: "took", DROP: "dropped", BEAVER: "beavered"}[action]
        if action == BEAVER:
            value *= 2  # the cube shows what it did before the double that it answers
        return [Event(done, player, value=value), *self._ended(end)]

    def _ended(self, end: GameEnd) -> list[Event]:
        if not bool(end.finished[0]):
            return []
        points = int(end.points[0])
        winner = PERSON if points > 0 else BOT
        self._recording = self._recording.won(winner, abs(points))
        events = [Event("won", winner, value=abs(points), level=abs(int(end.level[0])))]
        if not self.options.match_length:
            self.points[winner] += abs(points)
        elif int(end.match_winner[0]):
            self.points[winner] += 1
            events.append(Event("won_match", winner))
        return events
