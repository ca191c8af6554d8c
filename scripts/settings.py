"""From a composed configuration to a frozen dataclass, with every type checked and every wrong key named."""

from __future__ import annotations

import dataclasses
import difflib
import math
import types
import typing
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    T = TypeVar("T", bound=DataclassInstance)
else:
    T = TypeVar("T")

__all__ = ["CommandError", "close_match", "first_line", "leaf_keys", "text_keys", "to_dataclass"]


class CommandError(Exception):
    """The user asked for something that does not exist or does not fit; the text is one line for the terminal."""


def close_match(found: str, known: Iterable[str]) -> str:
    """``; did you mean X?`` if one of ``known`` looks like ``found``, else an empty text."""
    matches = difflib.get_close_matches(found, list(known), n=1, cutoff=0.6)
    return f"; did you mean {matches[0]}?" if matches else ""


def first_line(error: BaseException) -> str:
    """What Hydra or OmegaConf says is wrong, without its advice and links."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    lines = [line for line in lines if not line.startswith(("See https:", "Error parsing override"))]
    return lines[0] if lines else type(error).__name__


def to_dataclass(cls: type[T], config: Mapping[Any, Any] | DictConfig, prefix: str = "") -> T:
    """Convert a configuration to the frozen dataclass ``cls``, nested ones included, and check every type.

    Fields may be ``bool``, ``int`` (1e6 is one), ``float``, ``str``, ``Literal``, ``None`` unions, tuples, mappings of
    texts and dataclasses. A field without a key takes its default; `CommandError` names unknown keys, missing ones and
    values of a wrong type with their dotted path, and passes on what the dataclass's own checks say (``ValueError``).
    """
    if isinstance(config, DictConfig):
        config = _container(config)
    hints = typing.get_type_hints(cls)
    fields = {field.name: field for field in dataclasses.fields(cls) if field.init}
    for key in config:
        if key not in fields:
            hint = close_match(str(key), fields)
            raise CommandError(f"{prefix}{key}: found an unknown key, wanted one of {', '.join(fields)}{hint}")
    values: dict[str, Any] = {}
    for name, field in fields.items():
        if name in config:
            values[name] = _convert(hints[name], config[name], f"{prefix}{name}")
        elif field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            raise CommandError(f"{prefix}{name}: found nothing, wanted {_wanted(hints[name])}")
    try:
        return cls(**values)
    except ValueError as error:
        raise CommandError(f"{prefix}{error}") from None


def _container(config: DictConfig) -> dict[Any, Any]:
    try:
        container = OmegaConf.to_container(config, resolve=True, throw_on_missing=True)
    except OmegaConfBaseException as error:
        raise CommandError(f"{getattr(error, 'full_key', None) or 'configuration'}: {first_line(error)}") from None
    assert isinstance(container, dict)
    return container


def leaf_keys(cls: type[DataclassInstance], prefix: str = "") -> Iterator[tuple[str, tuple[Any, ...]]]:
    """The dotted names of the fields of ``cls``, of nested ones theirs, each with the types that it may hold."""
    for name, hint in typing.get_type_hints(cls).items():
        options = _alternatives(hint)
        nested = [option for option in options if dataclasses.is_dataclass(option) and isinstance(option, type)]
        if not nested:
            yield f"{prefix}{name}", options
        for option in nested:
            yield from leaf_keys(option, f"{prefix}{name}.")


def text_keys(cls: type[DataclassInstance]) -> Iterator[str]:
    """The dotted names of the fields of ``cls``, nested ones included, that may hold a text."""
    return (key for key, options in leaf_keys(cls) if str in options)


def _alternatives(hint: Any) -> tuple[Any, ...]:
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return typing.get_args(hint)
    return (hint,)


def _wanted(hint: Any) -> str:
    """What a type asks for, in words."""
    words = {bool: "true or false", int: "a whole number", float: "a number", str: "a text", type(None): "null"}
    if typing.get_origin(hint) is typing.Literal:
        return "one of " + ", ".join(str(value) for value in typing.get_args(hint))
    if typing.get_origin(hint) is tuple:
        inner = [_wanted(part) for part in typing.get_args(hint) if part is not ...]
        return f"a list of {inner[0]}" if len(set(inner)) == 1 else f"a list [{', '.join(inner)}]"
    if dataclasses.is_dataclass(hint):
        return "a group of keys"
    options = _alternatives(hint)
    if len(options) > 1:
        return " or ".join(_wanted(option) for option in options)
    return words.get(hint, "a group of keys")


def _convert(hint: Any, value: Any, key: str) -> Any:
    for option in _alternatives(hint):
        converted = _convert_one(option, value, key)
        if converted is not _UNFIT:
            return converted
    raise CommandError(f"{key}: found {value!r}, wanted {_wanted(hint)}")


_UNFIT = object()


def _convert_one(hint: Any, value: Any, key: str) -> Any:
    """``value`` as ``hint``, or `_UNFIT`."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if hint in (bool, str, type(None)):
        return value if isinstance(value, hint) else _UNFIT
    if hint is int:
        return int(value) if is_number and math.isfinite(value) and value == int(value) else _UNFIT
    if hint is float:
        return float(value) if is_number else _UNFIT
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Literal:
        same = [part for part in parts if type(part) is type(value) and part == value]
        return same[0] if same else _UNFIT
    if origin is tuple and isinstance(value, list | tuple):
        if len(parts) == 2 and parts[1] is ...:
            parts = (parts[0],) * len(value)
        if len(parts) != len(value):
            return _UNFIT
        return tuple(
            _convert(part, item, f"{key}[{i}]") for i, (part, item) in enumerate(zip(parts, value, strict=True))
        )
    if origin in (dict, Mapping) and isinstance(value, Mapping):
        return {str(name): _convert(parts[1], item, f"{key}.{name}") for name, item in value.items()}
    if dataclasses.is_dataclass(hint) and isinstance(hint, type) and isinstance(value, Mapping):
        return to_dataclass(hint, value, f"{key}.")
    return _UNFIT
