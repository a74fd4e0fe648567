"""The picture of an attention step by step."""

import torch

import nmt_lib as nmt


def test_the_picture_writes_scores_weights_and_outputs() -> None:
    Q, K, V = torch.tensor([[2.0], [1.0]]), torch.tensor([[1.0], [0.0]]), torch.eye(2)
    figure = nmt.plot_steps(Q, K, V, ["a", "b"], ["size"], ["x", "y"], framed=0)
    written = [text.get_text() for text in figure.axes[0].texts]
    # Sigmoids of 2 and of 1: as weights, and, since V is the identity, as output.
    numbers = ("0.88", "0.12", "0.73", "0.27")
    assert [written.count(number) for number in numbers] == [2, 2, 2, 2]
