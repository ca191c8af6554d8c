"""What ``--help`` prints: tasks, configuration groups, and every key with its value and the comment it has in YAML."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from importlib import resources
from typing import TYPE_CHECKING

from omegaconf import DictConfig, OmegaConf

from nardy.scripts.command import chosen_options, compose
from nardy.scripts.settings import leaf_keys

if TYPE_CHECKING:
    from importlib.abc import Traversable

    from _typeshed import DataclassInstance

__all__ = ["help_text"]

_KEY = re.compile(r"^(?P<indent> *)(?P<key>[A-Za-z_]\w*):(?P<rest>.*)$")
_PACKAGE = re.compile(r"#\s*@package\s+(\S+)")
_COMMENT = re.compile(r"(?:^|\s)#\s?(.*)$")


def help_text(
    command: str,
    summary: str,
    config_name: str,
    words: Sequence[str] = (),
    tasks: Mapping[str, str] | None = None,
    schema: type[DataclassInstance] | None = None,
) -> str:
    """The page for ``command``, showing the values that hold after ``words`` (a chosen experiment, say).

    Args:
        command: name of the console command. summary: one sentence.
        config_name: primary configuration whose keys are listed.
        words: ``key=value`` words given beside ``--help``.
        tasks: first words the command takes, each with a short text.
        schema: if given, keys that it lacks are not listed.
    """
    words = [word for word in words if word not in ("--help", "-h")]
    config = compose(config_name, words)
    choices = chosen_options(config_name, words)
    parts = [f"{command}: {summary}", f"usage: {command} {'[task] ' if tasks else ''}[key=value ...]"]
    if tasks:
        parts.append("tasks (the first word):\n" + _columns(list(tasks.items())))
    for group, choice in choices.items():
        parts.append(f"{group}=NAME (now {choice or 'null'}):\n" + _columns(_options(group)))
    files = [(config_name, "")]
    for group, choice in choices.items():
        files += [(f"{group}/{name}", group) for name in _with_bases(group, choice)] if choice else []
    rows: dict[str, str] = {}
    for name, group in files:
        for key, comment in _comments(name, group):
            if comment or key not in rows:
                rows[key] = comment
    known = rows if schema is None else {key for key, _ in leaf_keys(schema)}
    shown = [key for key in rows if key in known and _is_leaf(config, key)]
    keys = [(f"{key}={_value(config, key)}", rows[key]) for key in shown]
    parts.append("keys:\n" + _columns(keys))
    return "\n\n".join(parts)


def _columns(rows: Sequence[tuple[str, str]]) -> str:
    width = min(34, max((len(left) for left, _ in rows), default=0))
    return "\n".join(f"  {left:<{width}}  {right}".rstrip() for left, right in rows)


def _folder(*names: str) -> Traversable:
    return resources.files("nardy.configs").joinpath(*names)


def _options(group: str) -> list[tuple[str, str]]:
    """Every option of a group with the comment at the head of its file."""
    files = [entry for entry in _folder(*group.split("/")).iterdir() if entry.name.endswith(".yaml")]
    rows = [(entry.name.removesuffix(".yaml"), _head(entry.read_text(encoding="utf-8"))) for entry in files]
    return sorted(rows)


def _with_bases(group: str, option: str) -> list[str]:
    """An option of a group after those of the same group that its own defaults name: what it does not say, they do."""
    defaults = OmegaConf.create(_folder(*group.split("/"), f"{option}.yaml").read_text(encoding="utf-8"))
    bases = [
        name for name in OmegaConf.select(defaults, "defaults") or () if isinstance(name, str) and name != "_self_"
    ]
    return [*(name for base in bases for name in _with_bases(group, base)), option]


def _head(text: str) -> str:
    comments = itertools.takewhile(lambda line: line.startswith("#"), text.splitlines())
    return " ".join(line.lstrip("# ") for line in comments if not _PACKAGE.search(line))


def _is_leaf(config: DictConfig, key: str) -> bool:
    return not isinstance(OmegaConf.select(config, key), DictConfig)


def _value(config: DictConfig, key: str) -> str:
    value = OmegaConf.select(config, key)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)


def _comments(name: str, group: str) -> Iterator[tuple[str, str]]:
    """``(dotted key, comment)`` of one YAML file: the comment above a key or, failing that, behind it."""
    text = _folder(*f"{name}.yaml".split("/")).read_text(encoding="utf-8")
    package = _PACKAGE.search(text)
    prefix = group.replace("/", ".")
    if package:
        prefix = {"_global_": "", "_group_": prefix}.get(package[1], package[1])
    path: list[tuple[int, str]] = []  # (indent, key) of the nodes around this line
    above: list[str] = []
    in_defaults = False
    for line in itertools.dropwhile(lambda line: line.startswith("#"), text.splitlines()):
        match = _KEY.match(line)
        if match is None:
            if line.strip().startswith("#"):
                above.append(line.strip().lstrip("# "))
            else:
                above = []
            continue
        indent, key = len(match["indent"]), match["key"]
        in_defaults = key == "defaults" if indent == 0 else in_defaults
        path = [*[node for node in path if node[0] < indent], (indent, key)]
        behind = _COMMENT.search(match["rest"])
        comment = " ".join(above) if above else behind[1] if behind else ""
        above = []
        if not in_defaults:
            yield ".".join([*([prefix] if prefix else []), *(node for _, node in path)]), comment
