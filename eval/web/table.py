"""One game in a browser: a session, the turn being made, and all that a page has to know of them as JSON values.

Everything is told as the person sees it: points have his numbers for both sides' checkers, 25 is either's bar, 0 where
either bears off. The page draws what `Table.state` says and sends back choices out of it; it knows no rule.

Cost of an answer: the bot's decisions, some ten milliseconds each, and as much for hints and the tutor.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from typing import Any

import torch

from ...env import pip_counts
from ...env.decisions import BEAVER, DOUBLE, DROP, RESIGN_SINGLE, ROLL, TAKE, Phase
from ...env.formats import Format
from ...env.moves import dice_to_play
from ...env.notation import (
    GameState,
    Hand,
    MatchRecord,
    NotationError,
    match_text,
    play_to,
    saved_game_text,
    xgid,
)
from ...env.variants import get_variant
from ...models import Evaluator
from ..bots import Bot
from ..play.advice import review_decision
from ..play.session import PERSON, Event, Session
from ..play.timed import TimedSession, new_session
from ..play.tutor import Decision, Tutor
from ..review import Mistake, judge_decision

__all__ = ["HINT_PLAYS", "RefusedError", "StaleError", "Table"]

HINT_PLAYS = 5
_CUBE = {"roll": ROLL, "double": DOUBLE, "take": TAKE, "drop": DROP, "beaver": BEAVER}
_SILENT = 0.001  # a loss that the page would show as 0 is none


class StaleError(Exception):
    """The page acted on a state that is no longer the game's."""


class RefusedError(ValueError):
    """What was asked for is not possible now; the message says why."""


class Table:
    """A person's game against ``bot``.

    Attributes:
        version: counts the changes; who acts names the one that he saw.
        session: the game. level: the bot as it was asked for.
    """

    def __init__(self, session: Session, level: str, adviser: Evaluator | None = None, tutor: bool = False) -> None:
        """``adviser`` gives hints and is the tutor."""
        self.session = session
        self.level = level
        self.version = 0
        self._adviser = adviser
        self._tutor = Tutor(tutor)
        self._verdict: Mistake | None = None
        self._events: Sequence[Event] = ()
        self._rest(session.opening)

    @classmethod
    def new(cls, bot: Bot, rules: Format, seed: int, level: str, adviser: Evaluator | None, tutor: bool) -> Table:
        """The first game by ``rules``; ``ValueError`` if the bot has not learned them."""
        return cls(new_session(bot, rules, seed), level, adviser, tutor)

    @classmethod
    def resume(
        cls, bot: Bot, match: MatchRecord, seed: int, level: str, adviser: Evaluator | None, tutor: bool
    ) -> Table:
        """A saved game, taken up where it was left; `NotationError` if it cannot be."""
        return cls(Session.resume(bot, match, seed), level, adviser, tutor)

    def set_up(self, state: GameState) -> None:
        """Begin from a position; `NotationError` if these rules have none such."""
        self._rest(self.session.set_up(state))

    def act(self, action: str, version: int, values: Mapping[str, Any]) -> None:
        """Do what the person chose.

        Args:
            action: roll, double, take, drop, beaver, resign, next, move, take_back, done, undo or tutor.
            version: of the state that he saw.
            values: ``level`` of resign, ``moves`` of move, ``on`` of tutor.

        Raises:
            StaleError: ``version`` is not the game's.
            RefusedError: the action is unknown or not possible now.
        """
        self._settle_clock()
        if version != self.version:
            raise StaleError
        handlers: dict[str, Callable[[Mapping[str, Any]], None]] = {
            "move": self._move,
            "take_back": lambda _: self._take_back(),
            "done": lambda _: self._done(),
            "undo": lambda _: self._undo(),
            "next": lambda _: self._next(),
            "resign": self._resign,
            "tutor": self._set_tutor,
        }
        if action in _CUBE:
            self._cube(action, _CUBE[action])
        elif action in handlers:
            handlers[action](values)
        else:
            raise RefusedError(f"action: found {action[:20]!r}, wanted one of {', '.join((*_CUBE, *handlers))}")
        self.version += 1

    def state(self) -> dict[str, Any]:
        """All that the page shows, as JSON values."""
        self._settle_clock()
        session, hand = self.session, self._hand
        options, over = session.options, session.phase is Phase.OVER
        board = session.board if hand is None else hand.board
        value, owner = (int(each[0]) for each in session.decisions.cube_shown())
        offered = {Phase.ANSWER: 2, Phase.BEAVERED: 2}.get(session.phase, 0) * value
        match_over = bool(options.match_length) and max(session.score) >= options.match_length
        return {
            "version": self.version,
            "discipline": options.variant,
            "length": options.match_length,
            "score": list(session.score),
            "crawford": bool(session.games.crawford[0]),
            "cube_used": options.cube,
            "jacoby": options.jacoby,
            "beavers": options.beavers,
            "bot": session.bot.name,
            "level": self.level,
            "phase": session.phase.name.lower(),
            "match_over": over and match_over,
            "mine": board[0].tolist(),
            "theirs": self._mirrored(board[1].tolist()),
            "on_roll": session.player,
            "dice": self._dice(),
            "cube": {
                "value": value,
                "owner": (None, session.player, 1 - session.player)[owner],
                "offered": offered,
            },
            "pips": [int(pips) for pips in pip_counts(board[None])[0]],
            "can": self._can(),
            "reach": [
                {"from": one.source, "to": one.target, "moves": list(one.moves)}
                for one in (hand.reach() if hand is not None else ())
            ],
            "last": self._last(),
            "events": [self._told(event) for event in self._events],
            "log": [self._told(event) for event in session.history],
            "clock": self._clock(),
            "tutor": self._tutored(),
            "xgid": self._xgid(),
        }

    def hint(self) -> dict[str, Any]:
        """The best plays with the dice on the table, or what the cube is worth; `RefusedError` if there is neither."""
        if self._adviser is None:
            raise RefusedError("hint: found no model for this discipline, wanted one to ask")
        phase = self.session.phase
        if phase is Phase.OVER:
            raise RefusedError("hint: found the game over, wanted a decision")
        review = review_decision(self._adviser, self.session, HINT_PLAYS)
        values = review.to_dict()
        return {
            "plays": values["plays"],
            "num_plays": review.num_plays,
            "cube": None if phase is Phase.MOVE else values["cube"],
        }

    def saved(self) -> str:
        """The game as a file to be taken up again; ``ValueError`` if it cannot be."""
        self._check(not self._over_by_the_flag, "save: found a match lost on time, which no file tells of")
        return saved_game_text(self.session.record())

    def mat(self) -> str:
        """The game as match text; `NotationError` if that has no words for it."""
        return match_text(self.session.record())

    @property
    def _over_by_the_flag(self) -> bool:
        """Is the match over without its last game being won?"""
        return self.session.phase is Phase.OVER and not any(event.kind == "won" for event in self.session.history)

    def _cube(self, word: str, action: int) -> None:
        self._check(self.session.may(action) and self.session.phase is not Phase.MOVE, f"{word} is not possible now")
        decision = self._tutor.look(self.session, action)
        self._rest(self.session.act(action))
        self._judge(decision)

    def _resign(self, values: Mapping[str, Any]) -> None:
        level = values.get("level")
        if type(level) is not int or level not in (1, 2, 3):
            raise RefusedError("level: wanted 1, 2 or 3")
        self._check(self.session.may(RESIGN_SINGLE + level - 1), "resigning so is not possible now")
        self._rest(self.session.resign(level))

    def _move(self, values: Mapping[str, Any]) -> None:
        moves = values.get("moves")
        self._check(isinstance(moves, list) and 1 <= len(moves) <= 4, "moves: wanted a list of 1 to 4 numbers")
        self._check(self._hand is not None, "there are no dice to play")
        assert self._hand is not None and isinstance(moves, list)
        made = 0
        try:
            for move in moves:
                self._check(type(move) is int, "moves: wanted numbers")
                self._hand.make(move)
                made += 1
        except ValueError as error:
            for _ in range(made):
                self._hand.take_back()
            raise RefusedError(str(error)) from None
        self._quiet()

    def _take_back(self) -> None:
        self._check(self._hand is not None and self._hand.take_back(), "there is no move to take back")
        self._quiet()

    def _done(self) -> None:
        hand = self._hand
        self._check(hand is not None and not hand.legal, "the turn is not played to its end")
        assert hand is not None
        play = play_to(hand.board, self.session.legal_plays(), self.session.dice)
        decision = self._tutor.look(self.session, play)
        self._rest(self.session.play(play))
        self._judge(decision)

    def _undo(self) -> None:
        if self._hand is not None and self._hand.moves:
            self._take_back()
            return
        self._check(self.session.undo(), "there is nothing to take back")
        self._rest(())

    def _next(self) -> None:
        self._check(self.session.phase is Phase.OVER, "the game is not over")
        self._rest(self.session.next_game())

    def _set_tutor(self, values: Mapping[str, Any]) -> None:
        self._check(type(values.get("on")) is bool, "on: wanted true or false")
        self._check(self._adviser is not None, "tutor: found no model for this discipline")
        self._tutor.on = bool(values["on"])
        self._quiet()

    def _quiet(self) -> None:
        """Nothing happened that the page would have to tell."""
        self._events, self._verdict = (), None

    def _rest(self, events: Sequence[Event]) -> None:
        """It is the person's decision again, or the game is over."""
        session = self.session
        self._events, self._verdict = tuple(events), None
        self._hand = None
        if session.phase is Phase.MOVE:
            board, variant = session.games.boards[0], session.options.variant
            self._hand = Hand(board, session.dice, variant, session.second_first)
        if isinstance(session, TimedSession):
            session.think()

    def _settle_clock(self) -> None:
        """A flag that has fallen meanwhile ends the match."""
        session = self.session
        if isinstance(session, TimedSession) and session.phase is not Phase.OVER and session.flag_fallen:
            self._rest(session.lose_on_time())
            self.version += 1

    def _judge(self, decision: Decision | None) -> None:
        """What the tutor thinks of it."""
        if self._tutor.on and self._adviser is not None and decision is not None:
            state, action = decision.state, decision.action
            with suppress(ValueError):  # the model has not learned such games, as a hint says; what was done stays
                self._verdict = judge_decision(self._adviser, state, action, decision.second_first, count=1)

    def _can(self) -> dict[str, Any]:
        session, hand = self.session, self._hand
        before_roll = session.phase is not Phase.MOVE
        can: dict[str, Any] = {word: before_roll and session.may(action) for word, action in _CUBE.items()}
        can["resign"] = [level for level in (1, 2, 3) if before_roll and session.may(RESIGN_SINGLE + level - 1)]
        can["take_back"] = hand is not None and bool(hand.moves)
        can["undo"] = can["take_back"] or session.can_undo
        can["done"] = hand is not None and not hand.legal
        can["next"] = session.phase is Phase.OVER
        can["hint"] = self._adviser is not None and session.phase is not Phase.OVER
        can["save"] = session.can_record and not self._over_by_the_flag
        can["mat"] = session.can_record and session.options.variant != "longgammon"
        return can

    def _dice(self) -> list[list[Any]]:
        """The person's dice, each with whether it is used."""
        if self._hand is None:
            return []
        left = list(self._hand.dice_left)
        dice: list[list[Any]] = []
        for die in dice_to_play(torch.tensor([self.session.dice], dtype=torch.int8))[0].tolist():
            if die:
                dice.append([die, die not in left])
                if die in left:
                    left.remove(die)
        return dice

    def _last(self) -> dict[str, Any] | None:
        """The bot's last play of this game."""
        plays = (event for event in self.session.history[::-1] if event.kind == "played" and event.player != PERSON)
        event = next(plays, None)
        return None if event is None else self._told(event)

    def _told(self, event: Event) -> dict[str, Any]:
        values = asdict(event)
        if event.player == PERSON:
            values["moves"] = [list(move) for move in event.moves]
        else:
            values["moves"] = [[self._place(point) for point in move] for move in event.moves]
        return values | {"dice": list(event.dice)}

    def _clock(self) -> dict[str, Any] | None:
        session = self.session
        if not isinstance(session, TimedSession):
            return None
        left = [max(0.0, round(session.clock.left(player), 2)) for player in (0, 1)]
        return {"left": left, "running": session.clock.running}

    def _tutored(self) -> dict[str, Any] | None:
        if self._adviser is None:
            return None
        found = self._verdict
        verdict = None
        if found is not None:
            loss = found.loss if found.loss >= _SILENT else 0.0
            verdict = {"loss": loss, "best": found.best, "done": found.done, "kind": found.kind, "rank": found.rank}
        return {"on": self._tutor.on, "verdict": verdict}

    def _xgid(self) -> str | None:
        if self.session.phase is Phase.OVER:
            return None
        try:
            return f"XGID={xgid(self.session.state.swap_seats())}"  # the person is its player 1, below
        except NotationError:
            return None  # longgammon

    def _place(self, point: int) -> int:
        """The bot's ``point`` in the person's numbers."""
        return point if point in (0, 25) else get_variant(self.session.options.variant).opposite(point)

    def _mirrored(self, side: Sequence[int]) -> list[int]:
        """The bot's checkers by the person's numbers."""
        mirrored = [0] * 26
        for point, count in enumerate(side):
            mirrored[self._place(point)] = count
        return mirrored

    @staticmethod
    def _check(possible: bool, why_not: str) -> None:
        if not possible:
            raise RefusedError(why_not)
