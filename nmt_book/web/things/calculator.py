"""What a training costs, chapter 12."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, get_args

import torch

from nmt_lib.config import ModelConfig
from nmt_lib.model.transformer import Transformer, count_parameters

from ...chapter12.costs import flops_by_part
from ..play import Thing, table


class Calculator(Thing):
    """A model and its training; it begins as the paper's base model on WMT14."""

    title: ClassVar = "What would it cost?"
    tries: ClassVar = (
        "Double the length of the sentences, then the width; and find a model whose "
        "output layer costs more than all the rest."
    )
    shows: ClassVar = (
        "Width counts squared in the layers; length counts squared in attention alone, "
        "which weighs little until sentences are long; and half the bits do not halve "
        "the memory. (A GPU's hours assume the paper's 29 % of its peak from width 512 "
        "on, and less below: 2 % at width 128 in bf16, as measured on an H100.)"
    )
    d_model: Literal[64, 128, 256, 512, 1024] = 512
    n_layers: Literal[1, 2, 4, 6, 8, 12, 24, 48] = 6
    V: Literal[250, 1000, 4000, 10_000, 37_000, 100_000, 250_000] = 37_000
    B: Literal[1, 4, 16, 64, 256, 1000, 4000] = 1000
    T: Literal[8, 16, 25, 50, 100, 200, 400, 1000, 4000] = 25
    tokens: Literal[
        1_000_000,
        10_000_000,
        100_000_000,
        1_000_000_000,
        2_500_000_000,
        10_000_000_000,
        100_000_000_000,
        1_000_000_000_000,
    ] = 2_500_000_000
    precision: Literal["fp32", "bf16"] = "bf16"
    machine: Literal["gpu", "core"] = "gpu"

    def given(self) -> dict[str, Any]:
        fields = type(self).model_fields.items()
        return {"choices": {name: get_args(field.annotation) for name, field in fields}}

    def config(self) -> ModelConfig:
        return ModelConfig(
            d_model=self.d_model,
            d_ff=4 * self.d_model,
            n_heads=self.d_model // 64,
            n_layers=self.n_layers,
            tying="three-way",
        )

    def model(self) -> Transformer:
        """The model, with shapes only."""
        with torch.device("meta"):
            return Transformer(self.config(), self.V, self.V)

    def picture(self) -> str:
        model = self.model()
        flops = flops_by_part(model, self.B, self.T, self.T, self.B * self.T)
        rows = {
            "parameters": [f"{count_parameters(model):,}"],
            "operations in an update": [f"{sum(flops.values()):.2e}"],
            **{f"of them {part}": [f"{work:.2e}"] for part, work in flops.items()},
            "updates": [f"{self.tokens / (self.B * self.T):,.0f}"],
        }
        caption = (
            f"A training run with d_model = {self.d_model}, {self.n_layers} + "
            f"{self.n_layers} layers, {self.V:,} subwords, {self.B:,} sentences of "
            f"{self.T} tokens in a batch; run the cell to change it"
        )
        return table(caption, ("", "number"), rows)


THING = Calculator
