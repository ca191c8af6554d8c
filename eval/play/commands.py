"""What can be typed: the commands with their words, the decisions they make, and the prompt that names the legal ones.

Carrying them out is the terminal's.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...env.decisions import ACCEPT, BEAVER, DOUBLE, DROP, REFUSE, RESIGN_BACKGAMMON, RESIGN_SINGLE, ROLL, TAKE
from .session import Phase, Session

__all__ = ["COMMANDS", "LEVELS", "Command", "find_command", "help_text", "prompt"]

LEVELS = ("single", "gammon", "backgammon")  # of a resignation


@dataclass(frozen=True)
class Command:
    """A command.

    Attributes:
        name: its first word. usage: how it is typed. meaning: for the page of help.
        others: words that mean the same.
        action: the decision of `env.decisions` that it is, None for none or one of several.
        phases: when it is understood by its other words, None for always.
    """

    name: str
    usage: str
    meaning: str
    others: tuple[str, ...] = ()
    action: int | None = None
    phases: tuple[Phase, ...] | None = None


_ANSWERS = (Phase.ANSWER, Phase.BEAVERED)
_CUBE, _OVER, _RESIGNED = (Phase.CUBE,), (Phase.OVER,), (Phase.RESIGNED,)

COMMANDS = (
    Command("roll", "roll", "roll the dice (or just Enter)", ("r",), ROLL, _CUBE),
    Command("double", "double", "offer the cube", ("d", "redouble"), DOUBLE, _CUBE),
    Command("take", "take", "answer a double, or a beaver of yours", ("t", "accept", "yes", "y"), TAKE, _ANSWERS),
    Command("drop", "drop", "give the game up instead", ("pass", "p", "decline", "no", "n"), DROP, _ANSWERS),
    Command("beaver", "beaver", "turn the cube once more and keep it", ("b",), BEAVER, (Phase.ANSWER,)),
    Command("resign", "resign [gammon]", "offer to lose a single game, gammon or backgammon", (), None, _CUBE),
    Command("accept", "accept", "accept a resignation", ("yes", "y"), ACCEPT, _RESIGNED),
    Command("refuse", "refuse", "play on instead", ("no", "n"), REFUSE, _RESIGNED),
    Command("next", "next", "deal the next game (or just Enter)", ("n",), None, _OVER),
    Command("moves", "moves [8]", "list the legal plays, or those that move from 8", ("m", "list")),
    Command("hint", "hint", "the model's best plays, or the right cube action", ("h",)),
    Command("tutor", "tutor on|off|0.05", "say after each decision what it lost, from so much on"),
    Command("stats", "stats", "error rates of both sides so far"),
    Command("undo", "undo", "take back your last decision", ("u", "back")),
    Command("board", "board", "draw the board again", ("show",)),
    Command("score", "score", "points so far"),
    Command("pips", "pips", "pip counts"),
    Command("history", "history", "what was done in this game"),
    Command("id", "id", "XGID and GNUbg ID of the position"),
    Command("position", "position ID", "go on from an XGID or a GNUbg ID", ("pos",)),
    Command("save", "save FILE.json", "save the match; save! replaces a file", ("save!",)),
    Command("load", "load FILE.json", "go on with a saved match"),
    Command("mat", "mat FILE.mat", "write the match as match text; mat! replaces a file", ("mat!",)),
    Command("new", "new [LENGTH]", "begin anew, of that many points (0 for money games)"),
    Command("help", "help", "this page", ("?",)),
    Command("quit", "quit", "leave", ("q", "exit", "bye")),
)
_BY_ENTER = {Phase.CUBE: "roll", Phase.OVER: "next"}
_PLAYS = """\
  8/5 6/5             play: from/to, bar/22 to enter, 6/off to bear off, 6/4(2) for two;
                      * for hits may be left out"""


def find_command(word: str, phase: Phase) -> Command | None:
    """The command that ``word`` names in ``phase``; an empty one is Enter."""
    word = word.lower() or _BY_ENTER.get(phase, "")
    named = [each for each in COMMANDS if word == each.name or word in each.others]
    fitting = [each for each in named if each.phases is None or phase in each.phases]
    by_name = [each for each in named if word == each.name]  # to be told why not
    return next(iter((*fitting, *by_name)), None)


def help_text() -> str:
    """The page of help."""
    return "\n".join([_PLAYS, *(f"  {each.usage:<19} {each.meaning}" for each in COMMANDS)])


def prompt(session: Session) -> str:
    """What is to be decided: the legal choices, and no others."""
    if session.phase is Phase.MOVE:
        return "your play"
    if session.phase is Phase.OVER:
        length = session.options.match_length
        return f"Enter for the next {'match' if length and max(session.score) >= length else 'game'}, or quit"
    choices = [each.name for each in COMMANDS if each.action is not None and session.may(each.action)]
    if any(session.may(action) for action in range(RESIGN_SINGLE, RESIGN_BACKGAMMON + 1)):
        choices.append("resign")
    return " or ".join(part for part in (", ".join(choices[:-1]), choices[-1]) if part)
