"""What a chapter gives to draw, in any form, as panels of labelled numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch

from ..errors import ShapeError
from .plotting import as_titled


def as_numbers(values: Any) -> Any:
    """Numbers from a tensor, a list, a range, a list of tensors …"""
    if isinstance(values, torch.Tensor):
        return values.detach().double().cpu().numpy()
    if isinstance(values, np.ndarray | str) or not hasattr(values, "__iter__"):
        return np.asarray(values, dtype=float)
    return np.asarray([as_numbers(value) for value in values], dtype=float)


def has_words(x: Any) -> bool:
    """Whether the positions of an axis are words."""
    return x is not None and len(x) > 0 and isinstance(x[0], str)


def as_panels(data: Any) -> dict[str, Any]:
    """Panel title → {label: data}, also from {label: data} or from the data alone."""
    data = as_titled(data)
    nested = [isinstance(part, Mapping) for part in data.values()]
    panels = data if all(nested) else {"": data}
    if not data or not all(panels.values()):
        raise ValueError("nothing to draw: no data")
    return panels


def as_series(
    panel: Mapping[str, Any], labels: Sequence[Any] | None
) -> tuple[list[str], dict[str, np.ndarray]]:
    """The words of the bars, and label → heights of each series."""
    series = {str(label): as_numbers(heights) for label, heights in panel.items()}
    if all(heights.ndim == 0 for heights in series.values()):  # label → height
        series, labels = {"": as_numbers(series.values())}, [*series]
    if labels is None:
        labels = range(max(map(len, series.values())))
    words = [str(label) for label in labels]
    if not words:
        raise ValueError("nothing to draw: no bar")
    for label, heights in series.items():
        if heights.shape != (len(words),):
            raise ShapeError(
                f"series {label!r} has {heights.size} heights for {len(words)} labels"
            )
    return words, series
