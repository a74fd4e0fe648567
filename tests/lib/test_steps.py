"""The picture of an attention step by step."""

import torch

import nmt_lib as nmt


def test_the_picture_writes_scores_weights_and_outputs() -> None:
    Q, K, V = torch.tensor([[2.0], [0.0]]), torch.tensor([[1.0], [0.0]]), torch.eye(2)
    figure = nmt.plot_steps(Q, K, V, ["a", "b"], ["size"], ["x", "y"], framed=0)
    written = [text.get_text() for text in figure.axes[0].texts]
    # exp(2) / (exp(2) + 1) is 0.88: as weight, and, since V is 1, as output.
    assert [written.count(number) for number in ("0.88", "0.12", "0.50")] == [2, 2, 4]
