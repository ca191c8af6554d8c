"""A person against a bot, one game after another: whose decision it is, and what the bot answers to each.

Player 0 is the person, player 1 the bot. Nothing here reads or writes; a face (the terminal) asks `Session.phase`,
calls the matching method and tells the person what it returns. The dice of a session follow from its seed, so after
an undo the same rolls come again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

import torch
from torch import Tensor

from ...env import Cube, GameEnd, GameOptions, Games, flip
from ...env.dice import Purpose, uniforms
from ...env.notation import Play, play_text, plays
from ..bots import Bot

__all__ = ["BOT", "PERSON", "Event", "Phase", "Session"]

PERSON, BOT = 0, 1


class Phase(Enum):
    """What the person has to decide."""

    ROLL = "roll or double"
    PLAY = "play the dice"
    ANSWER = "take or drop"
    OVER = "next game"


@dataclass(frozen=True)
class Event:
    """Something that happened. ``kind``: rolled, played, doubled, took, dropped, won, won_match.

    ``player`` did it (of won: the winner). ``dice`` and ``text`` (the play) belong to played, ``dice`` to rolled,
    ``value`` to the rest: what the cube shows or would show, the points won. ``level`` of won: 1 to 3, 0 by a drop.
    """

    kind: str
    player: int
    dice: tuple[int, int] = (0, 0)
    text: str = ""
    value: int = 0
    level: int = 0


class Session:
    """Games between a person and ``bot`` by the rules ``options``; ``ValueError`` if the bot has not learned them.

    Attributes:
        points: points won by the person and the bot in finished games (of a match: matches won).
        phase: the person's next decision. What happened before the first one is in ``opening``.
    """

    def __init__(self, bot: Bot, options: GameOptions, seed: int) -> None:
        if options.match_length and not options.cube:
            options = replace(options, max_cube=1)
        self.bot = bot
        self.games = Games(1, options, seed)
        self.points = [0, 0]
        self.phase = Phase.ROLL
        self._before: list[tuple[dict[str, Tensor], list[int], Phase]] = []  # what undo goes back to
        self._ask_once()
        self.opening = self._go_on()

    def _ask_once(self) -> None:
        """Rules that the bot has not learned raise ``ValueError`` now, not in the middle of a game."""
        games, start = self.games, torch.tensor([[2, 1]], dtype=torch.int8)
        self.bot.choose(games.boards, start, self.cube, torch.zeros(1), torch.zeros(1, dtype=torch.bool))
        if self.cube is not None:
            self.bot.double(games.boards, self.cube)

    @property
    def options(self) -> GameOptions:
        """The rules."""
        return self.games.options

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
    def may_double(self) -> bool:
        """May the player on roll double now?"""
        return bool(self.games.may_double()[0])

    def legal_plays(self) -> list[Play]:
        """What the player on roll may play with the dice on the table."""
        return plays(self.games.boards[0], self.dice, self.options.variant, self._second_first)

    @property
    def _second_first(self) -> bool:
        return int(self.games.turn[0]) == 1

    def roll(self) -> list[Event]:
        """The person rolls; only in `Phase.ROLL`."""
        self._remember(Phase.ROLL)
        return self._go_on(may_offer=False)

    def double(self) -> list[Event]:
        """The person doubles and rolls if the bot takes; only in `Phase.ROLL`."""
        assert self.may_double
        self._remember(Phase.ROLL)
        take = bool(self.bot.take(self.games.boards, self.games.cube())[0])
        return self._turn_cube(PERSON, take) + self._go_on(may_offer=False)

    def answer(self, take: bool) -> list[Event]:
        """The person takes the bot's double, or drops; only in `Phase.ANSWER`."""
        self._remember(Phase.ANSWER)
        return self._turn_cube(BOT, take) + self._go_on(may_offer=False)

    def play(self, play: Play) -> list[Event]:
        """The person makes one of `legal_plays`; only in `Phase.PLAY`."""
        self._remember(Phase.PLAY)
        return self._move(play.board, play.text) + self._go_on()

    def next_game(self) -> list[Event]:
        """Deal the next game; only in `Phase.OVER`."""
        self._remember(Phase.OVER)
        self.games.deal(torch.ones(1, dtype=torch.bool))
        self.phase = Phase.ROLL
        return self._go_on()

    def undo(self) -> bool:
        """Take back the person's last decision and all that followed; False if there is none."""
        if not self._before:
            return False
        state, self.points, self.phase = self._before.pop()
        self.games.load_state(state)
        return True

    def _remember(self, phase: Phase) -> None:
        assert self.phase is phase
        state = {name: tensor.clone() for name, tensor in self.games.state().items()}
        self._before.append((state, list(self.points), phase))

    def _go_on(self, may_offer: bool = True) -> list[Event]:
        """Play on to the person's next decision. ``may_offer``: the cube may still be offered in this turn."""
        events: list[Event] = []
        while self.phase is not Phase.OVER:
            if may_offer and self.may_double:
                if self.player == PERSON:
                    return events
                if bool(self.bot.double(self.games.boards, self.games.cube())[0]):
                    self.phase = Phase.ANSWER
                    return [*events, Event("doubled", BOT, value=2 * int(self.games.cube_value[0]))]
            self.games.roll()
            if self.player == PERSON:
                self.phase = Phase.PLAY
                legal = self.legal_plays()
                if legal[0].text != "pass":
                    return [*events, Event("rolled", PERSON, self.dice)]
                events += self._move(legal[0].board, legal[0].text)
            else:
                events += self._bot_move()
            may_offer = True
        return events

    def _bot_move(self) -> list[Event]:
        games = self.games
        ties = uniforms(games.seed, games.slots, games.num_rolls, Purpose.TIE)
        after = self.bot.choose(games.boards, games.dice, self.cube, ties, torch.tensor([self._second_first]))[0]
        text = play_text(games.boards[0], after, self.dice, self.options.variant, self._second_first)
        return self._move(after, text)

    def _move(self, after: Tensor, text: str) -> list[Event]:
        event = Event("played", self.player, self.dice, text)
        self.phase = Phase.ROLL
        return [event, *self._ended(self.games.play(after[None]))]

    def _turn_cube(self, doubler: int, take: bool) -> list[Event]:
        value = 2 * int(self.games.cube_value[0])
        end = self.games.double(torch.tensor([True]), torch.tensor([take]))
        events = [Event("doubled", doubler, value=value)] if doubler == PERSON else []
        self.phase = Phase.ROLL
        return [*events, Event("took" if take else "dropped", 1 - doubler, value=value), *self._ended(end)]

    def _ended(self, end: GameEnd) -> list[Event]:
        if not bool(end.finished[0]):
            return []
        self.phase = Phase.OVER
        points = int(end.points[0])
        winner = PERSON if points > 0 else BOT
        events = [Event("won", winner, value=abs(points), level=abs(int(end.level[0])))]
        if not self.options.match_length:
            self.points[winner] += abs(points)
        elif int(end.match_winner[0]):
            self.points[winner] += 1
            events.append(Event("won_match", winner))
        return events
