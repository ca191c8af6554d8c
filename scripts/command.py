"""What every command shares: from words on the command line to a frozen dataclass, and from errors to one line.

A command is used so::

    @main_guard
    def main(argv: list[str]) -> None:
        task, words = split_task(argv, TASKS, default="match")
        if wants_help(words):
            print(help_text(...))  # from command_help.py
            return
        options = to_dataclass(MatchOptions, compose("evaluate", words, MatchOptions))

Hydra composes the YAML files of `nardy.configs`; nothing below a script sees a ``DictConfig``. Texts (bot
specifications, paths) may hold any character: they do not go through Hydra's grammar. Errors of the user become
`CommandError`, one line that names the key, what was found and what was wanted.
"""

from __future__ import annotations

import errno
import functools
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

import hydra
from hydra.core.global_hydra import GlobalHydra
from hydra.errors import ConfigCompositionException, HydraException, MissingConfigException, OverrideParseException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from nardy.scripts.settings import CommandError, close_match, first_line, text_keys, to_dataclass

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

__all__ = [
    "FAILURE",
    "CommandError",
    "chosen_options",
    "close_match",
    "compose",
    "main_guard",
    "split_task",
    "system_error",
    "to_dataclass",
    "wants_help",
]

USAGE, FAILURE, INTERRUPTED = 2, 1, 130


def split_task(argv: Sequence[str], tasks: Iterable[str], default: str) -> tuple[str, list[str]]:
    """Take a first word without ``=`` as the task; ``(task, remaining words)``. Unknown tasks: `CommandError`."""
    words = list(argv)
    if not words or "=" in words[0] or words[0][:1] in ("-", "~", "+"):
        return default, words
    names = list(tasks)
    if words[0] not in names:
        hint = close_match(words[0], names)
        raise CommandError(f"task: found {words[0]!r}, wanted one of {', '.join(names)}{hint}")
    return words[0], words[1:]


def wants_help(words: Sequence[str]) -> bool:
    """Is ``--help`` or ``-h`` among the words?"""
    return any(word in ("--help", "-h") for word in words)


def compose(config_name: str, argv: Sequence[str], schema: type[DataclassInstance] | None = None) -> DictConfig:
    """Compose ``configs/<config_name>.yaml`` with the ``key=value`` words of the command line.

    Args:
        config_name: name of the primary configuration, without ``.yaml``.
        argv: Hydra overrides. Several values for one key and ``--multirun`` are refused.
        schema: its text fields may be given any characters, unquoted: ``bot=model:runs/x``, ``path=a (b), c``.

    Raises:
        CommandError: one line that names the key or word.
    """
    words = [_checked(word) for word in argv]
    texts = set(text_keys(schema)) if schema is not None else set()
    plain = dict(word.split("=", 1) for word in words if word.partition("=")[0] in texts)
    overrides = [word for word in words if word.partition("=")[0] not in texts]
    try:
        config = _compose(config_name, overrides)
        for key, value in plain.items():
            OmegaConf.update(config, key, _literal(value), force_add=True)
        return config
    except OverrideParseException as error:
        raise CommandError(f"{error.override}: cannot be read: {first_line(error)}") from None
    except MissingConfigException as error:
        raise CommandError(_missing_option(error)) from None
    except ConfigCompositionException as error:
        raise CommandError(_unusable_override(config_name, overrides, error)) from None
    except (HydraException, OmegaConfBaseException, ValueError) as error:
        raise CommandError(f"{getattr(error, 'full_key', None) or config_name}: {first_line(error)}") from None


def _compose(config_name: str, overrides: Sequence[str], with_hydra: bool = False) -> DictConfig:
    GlobalHydra.instance().clear()  # a caller's own Hydra application would refuse a second initialisation
    with hydra.initialize_config_module(version_base="1.3", config_module="nardy.configs"):
        return hydra.compose(config_name, overrides=list(overrides), return_hydra_config=with_hydra)


def _checked(word: str) -> str:
    if word in ("-m", "--multirun"):
        raise CommandError(f"{word}: several runs in one command are for training alone; start one command a run")
    if word.startswith("-"):
        raise CommandError(f"{word}: found an unknown option, wanted key=value or --help")
    if "=" not in word and not word.startswith("~"):
        raise CommandError(f"{word!r}: found a word without '=', wanted key=value (a task comes first); see --help")
    if word.startswith("="):
        raise CommandError(f"{word!r}: found no key before '=', wanted key=value; see --help")
    return word


def _literal(value: str) -> str | None:
    """A text as it stands, less quotes around it; null is None."""
    if value == "null":
        return None
    if len(value) > 1 and value[0] in "'\"" and value[-1] == value[0]:
        value = value[1:-1]
    return re.sub(r"(\\*)(\$\{)", r"\1\1\\\2", value)  # OmegaConf would interpolate; backslashes count only before that


def _missing_option(error: MissingConfigException) -> str:
    group, _, option = (error.missing_cfg_file or "").rpartition("/")
    options = list(error.options or ())
    if not group:
        return first_line(error)
    return f"{group}: found {option!r}, wanted one of {', '.join(options)}{close_match(option, options)}"


def _unusable_override(config_name: str, words: Sequence[str], error: ConfigCompositionException) -> str:
    """Say which word has no key to override, and what looks like it."""
    reason = first_line(error)
    if reason.startswith("Ambiguous value"):
        word = next((word for word in words if repr(word)[1:-1] in reason), "")
        return f"{word or reason}: found several values, wanted one; training takes several with -m, one run each"
    known = _known_keys(config_name, words)
    for word in words:
        key = word.partition("=")[0]
        if key[:1] not in ("+", "~") and key not in known and not key.startswith("hydra"):
            hint = close_match(key, known)
            same = [name for name in sorted(known) if name.rpartition(".")[2] == key.rpartition(".")[2]]
            if not hint and same:
                hint = f"; did you mean {' or '.join(same)}?"
            return f"{key}: found no such key, wanted one that --help lists{hint}"
    return reason


def chosen_options(config_name: str, words: Sequence[str] = ()) -> dict[str, str | None]:
    """The configuration groups of ``config_name`` and the option chosen in each after ``words``, None if none is."""
    choices = OmegaConf.select(_compose(config_name, words, with_hydra=True), "hydra.runtime.choices")
    return {group: choice for group, choice in choices.items() if not group.startswith("hydra")}


def _known_keys(config_name: str, words: Sequence[str]) -> set[str]:
    groups = set(chosen_options(config_name))
    chosen = [word for word in words if word.partition("=")[0] in groups]
    return groups | set(_flat_keys(OmegaConf.to_container(_compose(config_name, chosen))))


def _flat_keys(config: object, prefix: str = "") -> Iterator[str]:
    """The dotted names of every key, inner nodes included."""
    if isinstance(config, Mapping):
        for key, value in config.items():
            yield f"{prefix}{key}"
            yield from _flat_keys(value, f"{prefix}{key}.")


class Main(Protocol):
    """A console command: takes its words, ``sys.argv[1:]`` by default, and returns the exit code."""

    def __call__(self, argv: Sequence[str] | None = None, /) -> int: ...


def main_guard(function: Callable[[list[str]], int | None]) -> Main:
    """Wrap a command: its words default to ``sys.argv[1:]``, its errors become one line, its result an exit code.

    0 if it returns None; 2 for `CommandError` and ``ValueError`` (what the user gave does not fit); 1 for ``OSError``
    (a full disk, a file that is missing or in the way); 130 for Ctrl-C. Other exceptions are faults of the program
    and keep their traceback.
    """

    @functools.wraps(function)
    def main(argv: Sequence[str] | None = None, /) -> int:
        try:
            return function(list(sys.argv[1:] if argv is None else argv)) or 0
        except (CommandError, ValueError) as error:
            return _fail(str(error), USAGE)
        except BrokenPipeError:  # the reader of our output has gone, as with `| head`
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return FAILURE
        except OSError as error:
            return _fail(system_error(error), FAILURE)
        except KeyboardInterrupt:
            return _fail("stopped", INTERRUPTED)

    return main


def system_error(error: OSError) -> str:
    """What the system refused and what may be done about it, in one line."""
    advice = {
        errno.ENOSPC: "the disk is full; free some space and start again",
        errno.EDQUOT: "the disk's quota is used up; free some space and start again",
        errno.EFBIG: "no file may become so large here (ulimit -f)",
        errno.EEXIST: "it exists already; choose another name or remove it",
        errno.ENOENT: "found no such file or folder",
        errno.EACCES: "permission denied",
    }
    reason = advice.get(error.errno or 0, error.strerror or str(error))
    return reason if error.filename is None else f"{error.filename}: {reason}"


def _fail(text: str, code: int) -> int:
    print(" ".join(text.split()) or "failed", file=sys.stderr)
    return code
