"""Pictures of chapter 05: the encoder's layer, and two places for the norm."""

from __future__ import annotations

from matplotlib.figure import Figure

from nmt_lib.translate.heatmap import new_figure, set_title

from ..pictures.columns import draw_column, draw_frame


def plot_encoder_layer(n_layers: int, d_model: int, d_ff: int) -> Figure:
    """One layer from the bottom to the top; the frame says how often it is stacked."""
    column = [
        (f"x  (B, S, {d_model})", "tensor"),
        ("self-attention", "module"),
        ("+, layer norm", "data"),
        (f"feed-forward\n{d_model} → {d_ff:,} → {d_model}", "module"),
        ("+, layer norm → memory", "data"),
    ]
    figure, (axis,) = new_figure(size=(4.2, 3.8))
    draw_column(axis, column, [(0, 2), (2, 4)], bend=-1.5)
    draw_frame(axis, n_layers, len(column))
    axis.set(xlim=(-2.4, 2.3))
    return figure


def plot_norm_orders() -> Figure:
    """A sub-layer with the norm after the sum, and with the norm before it."""
    columns = {
        "post-LN (the paper)": (["x", "sub-layer", "+", "layer norm"], (0, 2)),
        "pre-LN": (["x", "layer norm", "sub-layer", "+"], (0, 3)),
    }
    kinds = {"x": "tensor", "sub-layer": "module", "+": "plain", "layer norm": "data"}
    figure, axes = new_figure(1, 2, size=(4.6, 2.9))
    for axis, (title, (names, around)) in zip(axes, columns.items(), strict=True):
        draw_column(axis, [(name, kinds[name]) for name in names], [around], bend=-0.8)
        axis.set(xlim=(-1.2, 0.9))
        set_title(axis, title)
    return figure
