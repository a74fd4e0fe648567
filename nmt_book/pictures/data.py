"""The data that a chapter plots: in any form, as panels of labelled numbers; or from a
YAML file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from ruamel.yaml import YAML
from torch import Tensor

BOOK = Path(__file__).parents[1]


def load_data(name: str) -> Any:
    """What a YAML file of ``nmt_book`` holds, such as ``chapter11/defects``."""
    return YAML(typ="safe").load(BOOK / f"{name}.yaml")


def as_titled(data: Any) -> dict[str, Any]:
    """Title → data; the title is empty for data without one."""
    titled = dict(data) if isinstance(data, Mapping) else {"": data}
    if not titled:
        raise ValueError("there is nothing to draw")
    return titled


def as_panels(data: Any) -> dict[str, Any]:
    """Panel title → {label: data}, also from {label: data} or from the data alone."""
    data = as_titled(data)
    nested = [isinstance(part, Mapping) for part in data.values()]
    return data if all(nested) else {"": data}


def as_numbers(values: Any) -> Any:
    """Numbers from a tensor, a list, a range, a list of tensors …"""
    if isinstance(values, Tensor):
        return values.detach().cpu().double().numpy()
    if isinstance(values, np.ndarray | str) or not hasattr(values, "__iter__"):
        return np.asarray(values, dtype=float)
    return np.asarray([as_numbers(value) for value in values], dtype=float)
