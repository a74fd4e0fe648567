"""Reads configs: YAML files state what differs from the defaults, and single keys are overridden by their dotted name.

``load_config("tiny", **{"train.seed": 1})``; what is misspelt or does not fit is said in one sentence.
"""

from __future__ import annotations

import difflib
import os
import re
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from ..config import Config, DataConfig
from ..errors import CheckpointError, ConfigError
from ..runs.files import read_text

FOLDER = Path(__file__).parent
# Keys that older versions wrote into the folders of runs, and the values with which they mean nothing any more.
RETIRED: dict[str, tuple[Any, ...]] = {
    "data.on_disk": (True, False),
    "model.norm_eps": (1e-5,),
    "model.position_table": ("growing",),
    "train.weight_decay": (0.0,),
    "train.patience": (None,),
}


def config_names() -> list[str]:
    """The named configs, in alphabetical order."""
    return sorted(path.stem for path in FOLDER.glob("*.yaml"))


def load_config(name: str | os.PathLike[str], /, **overrides: Any) -> Config:
    """Reads a named config or a YAML file and applies overrides.

    Args:
        name: one of ``config_names()``, or the path of a YAML file.
        overrides: dotted keys, ``**{"train.seed": 1}``; each value must have the type of its key. Other languages
            than the file's are added to the name, so that each direction has a run of its own.

    Raises:
        ConfigError: unknown name or key (with the nearest valid one), wrong type, values that do not fit together.
    """
    path = _find(name)
    values = {"name": path.stem} | _read(path)
    direction = _direction(values)
    for key, value in overrides.items():
        *sections, last = key.split(".")
        section = values
        for part in sections:
            section = section.setdefault(part, {})
            if not isinstance(section, dict):
                raise ConfigError(
                    f"override {key!r}: {part!r} is a single value, not a section"
                )
        section[last] = value
    if (
        _direction(values) != direction
        and "name" not in overrides
        and isinstance(values["name"], str)
    ):
        values["name"] += "-{}-{}".format(
            *_direction(values)
        )  # another direction is another run: tiny-en-de
    try:
        return Config.model_validate(values)
    except ValidationError as error:
        raise ConfigError(_sentence(error, path)) from None


def parse_overrides(text: str) -> dict[str, Any]:
    """``"train.seed=1 data.tgt_lang=fr"`` as a dict; values are read as YAML. Separated by spaces.

    A value may hold spaces itself: it goes on until the next ``key=``.

    Raises:
        ConfigError: a part without ``=``, a value that is not YAML.
    """
    parts = [
        part.partition("=")
        for part in re.split(r"\s+(?=[\w.]+=)", text.strip())
        if part
    ]
    for key, equals, _ in parts:
        if not equals or not key:
            raise ConfigError(
                f"override {key!r} is not of the form key=value, such as train.max_steps=200"
            )
    return {key: _yaml(value, f"override {key}") for key, _, value in parts}


def _find(name: str | os.PathLike[str]) -> Path:
    path, names = Path(name), config_names()
    if path.suffix in (".yaml", ".yml"):
        if os.path.isfile(path):
            return path
        raise ConfigError(
            f"no config file {path}: give an existing file or one of {', '.join(names)}"
        )
    if str(name) in names:
        return FOLDER / f"{name}.yaml"
    near, there = _nearest(str(name), names), ", ".join(names)
    raise ConfigError(
        f"unknown config {str(name)!r}{near}; there are {there}, or give the path of a .yaml file"
    )


def _read(path: Path) -> dict[str, Any]:
    """The keys of a file, without those that mean nothing any more."""
    try:
        values = _yaml(read_text(path, most=100_000)[0], f"config file {path}")
    except CheckpointError as error:
        raise ConfigError(f"config file {error}") from None
    values = {} if values is None else values  # nothing but comments
    if not isinstance(values, dict):
        raise ConfigError(
            f"config file {path} must hold keys and values, not a {type(values).__name__}"
        )
    for key, meaningless in RETIRED.items():
        section, _, name = key.partition(".")
        if (
            isinstance(values.get(section), dict)
            and values[section].get(name, "not there") in meaningless
        ):
            del values[section][name]
    return values


def _yaml(text: str, where: str) -> Any:
    try:
        return yaml.load(text, Loader=_Loader)
    except (
        yaml.YAMLError,
        ValueError,
        LookupError,
        TypeError,
        AttributeError,
        RecursionError,
    ) as error:
        # what is no YAMLError comes from values that don't fit their tag: a date such as 2024-13-45, !!bool maybe
        raise ConfigError(
            f"{where} is not valid YAML: {' '.join(str(error).split())[:300]}"
        ) from None


def _direction(values: dict[str, Any]) -> list[Any]:
    data = values["data"] if isinstance(values.get("data"), dict) else {}
    return [
        data.get(key, DataConfig.model_fields[key].default)
        for key in ("src_lang", "tgt_lang")
    ]


def _sentence(error: ValidationError, path: Path) -> str:
    """What is wrong; unknown keys alone, where there are some: a misspelt key explains the errors that it causes."""
    unknown, others = [], []
    for e in sorted(error.errors(), key=lambda e: e["type"] != "extra_forbidden")[:20]:
        where, message = (
            ".".join(map(str, e["loc"])),
            e["msg"].removeprefix("Value error, "),
        )
        if e["type"] == "extra_forbidden":
            unknown.append(
                f"unknown key {short(where)} in {path.name}{_nearest(where, KEYS)}"
            )
        elif e["type"] == "model_type":
            others.append(
                f"{where} must be a section of keys and values, not {short(e['input'])}"
            )
        else:
            others.append(
                message
                if e["type"] == "value_error"
                else f"{where}: {message}, got {short(e['input'])}"
            )
    return "; ".join(unknown) or f"config {path.stem}: {'; '.join(others)}"


def short(value: Any) -> str:
    """How a value is shown in a message; Python refuses to write an integer of 5,000 digits."""
    try:
        text = repr(value)
    except ValueError:
        return "a huge number"
    return text if len(text) <= 80 else f"{text[:77]}…"


def _nearest(word: str, choices: list[str]) -> str:
    last = {
        choice.rpartition(".")[2]: choice for choice in reversed(choices)
    }  # seed → train.seed
    name = word.rpartition(".")[2]
    found = (
        [last[name]]
        if name in last
        else difflib.get_close_matches(word, choices, 1, 0.5)
    )
    found = found or [
        last[near] for near in difflib.get_close_matches(name, list(last), 1, 0.6)
    ]
    return f" (did you mean {found[0]!r}?)" if found else ""


KEYS = list(Config.model_fields)
KEYS += [
    f"{name}.{key}"
    for name in KEYS
    for key in getattr(Config.model_fields[name].annotation, "model_fields", ())
]


class _Loader(yaml.SafeLoader):
    """Safe YAML that also reads ``1e-4`` as a number (YAML 1.1 insists on ``1.0e-4``), and no key twice.

    An alias stands for something above it; a few lines of them can stand for gigabytes, so there are none.
    """

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            mark = self.peek_event().start_mark
            raise yaml.MarkedYAMLError(
                problem="an alias: write its value instead", problem_mark=mark
            )
        return super().compose_node(parent, index)

    def construct_mapping(
        self, node: yaml.MappingNode, deep: bool = False
    ) -> dict[Any, Any]:
        keys = [key.value for key, _ in node.value]
        for key in {key for key in keys if keys.count(key) > 1}:
            raise yaml.MarkedYAMLError(
                problem=f"the key {key!r} stands there twice",
                problem_mark=node.start_mark,
            )
        return super().construct_mapping(node, deep)


class Dumper(yaml.SafeDumper):
    """Puts quotes around a string that ``_Loader`` would read as a number."""


for _part in (_Loader, Dumper):
    _scientific = re.compile(r"[-+]?\d+(\.\d*)?[eE][-+]?\d+$")
    _part.add_implicit_resolver(
        "tag:yaml.org,2002:float", _scientific, list("-+0123456789")
    )
