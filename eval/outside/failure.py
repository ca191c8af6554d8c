"""What happens when somebody else's program does not answer: it loses that game, or ends the session.

A failure is a missing answer, an unreadable or illegal one, a program that has ended or a line that was closed. The
program is started again for the next question. `MAX_FAILURES` in a row end the session whatever was configured, so one
that cannot be started costs minutes at most, not the whole session.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeVar

import torch
from torch import Tensor

__all__ = ["MAX_FAILURES", "BotFailedError", "EngineError", "OutsideOptions", "Patience"]

MAX_FAILURES = 5

T = TypeVar("T")


class EngineError(Exception):
    """One question to an outside program has no answer, and why."""


class BotFailedError(ChildProcessError):
    """An outside bot owes answers.

    Attributes:
        stop: the session ends. Otherwise the bot loses the games it owes an answer in, and the others go on.
        failed: ``[N]`` bool on the CPU, which of the N games asked about; empty where ``stop``.
        answers: what the bot answered, of no meaning where ``failed``; empty where ``stop``.
    """

    def __init__(self, reason: str, failed: Tensor | None = None, answers: Tensor | None = None) -> None:
        """Without ``failed`` and ``answers`` the session ends."""
        super().__init__(reason)
        self.stop = failed is None or answers is None
        self.failed = torch.zeros(0, dtype=torch.bool) if failed is None else failed
        self.answers = torch.zeros(0) if answers is None else answers


@dataclass(frozen=True)
class OutsideOptions:
    """How bots that are outside programs are treated.

    Attributes:
        time_limit: seconds that an answer may take, and that a program may take to start.
        crash: what a failure costs: "lose" the game, or "stop" the session, keeping what was played.
        any_host: may a server be on another machine? What is said to it is not encrypted.
    """

    time_limit: float = 30.0
    crash: Literal["lose", "stop"] = "lose"
    any_host: bool = False

    def __post_init__(self) -> None:
        if not 0 < self.time_limit <= 86_400:
            raise ValueError(f"time_limit: found {self.time_limit:g}, wanted seconds above 0, at most a day")


class Patience:
    """Asks one question after the other, notes the failures and ends the session when there are too many.

    Attributes:
        last_fault: what was wrong the last time, an empty text if nothing ever was.
    """

    def __init__(self, name: str, options: OutsideOptions) -> None:
        self.last_fault = ""
        self._name, self._options = name, options
        self._in_a_row = 0

    def each(self, num_rows: int, ask: Callable[[int], T]) -> tuple[dict[int, T], dict[int, str]]:
        """``ask(row)`` for every row: the answers, and why there is none in the other rows.

        `BotFailedError` if the session has to end.
        """
        answers: dict[int, T] = {}
        faults: dict[int, str] = {}
        for row in range(num_rows):
            try:
                answers[row] = ask(row)
                self._in_a_row = 0
            except EngineError as error:
                faults[row] = str(error)
                self._in_a_row += 1
                if self._options.crash == "stop":
                    raise BotFailedError(f"{self._name}: {error}") from None
                if self._in_a_row >= MAX_FAILURES:
                    raise BotFailedError(f"{self._name}: failed {MAX_FAILURES} times in a row: {error}") from None
        return answers, faults

    def settle(self, answers: Tensor, faults: Mapping[int, str]) -> Tensor:
        """``answers`` ``[N, ...]`` if there are no ``faults``, else `BotFailedError` with both."""
        if not faults:
            return answers
        self.last_fault = next(iter(faults.values()))
        reason = f"{self._name}: {self.last_fault}"
        if self._options.crash == "stop":
            raise BotFailedError(reason)
        failed = torch.zeros(len(answers), dtype=torch.bool)
        failed[list(faults)] = True
        raise BotFailedError(reason, failed, answers)
