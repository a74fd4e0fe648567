"""What chapter 03 says about masks without showing it."""

from typing import Any

import torch

import nmt_lib as nmt

SRC = torch.tensor([[2, 8, 3, 0, 0]])
RIGHT = torch.tensor([[2, 8, 9, 0, 0, 0]])


def test_the_causal_mask_alone_would_do_if_padding_is_on_the_right(
    chapter: Any,
) -> None:
    torch.manual_seed(0)
    model = nmt.Transformer(nmt.load_config("tiny").model, 20, 20).double().eval()
    for tgt_in, harmless in ((RIGHT, True), (RIGHT.flip(1), False)):
        both, causal = (
            model(SRC, tgt_in, None, mask)
            for mask in (nmt.target_mask(tgt_in), nmt.causal_mask(6))
        )
        gap = (both - causal).abs().amax(-1)  # (B, T)
        assert (gap[tgt_in != nmt.PAD].max() < 1e-10) == harmless
        assert gap.max() > 1e-6, "the outputs at padding do change"


def test_a_leak_of_one_position_grows_by_one_with_each_layer(chapter: Any) -> None:
    torch.manual_seed(0)
    config = nmt.load_config("tiny", **{"model.n_layers": 3}).model
    model = nmt.Transformer(config, 20, 20).double().eval()
    first = torch.tensor([[2, 5, 6, 7, 8, 9]])
    second = torch.tensor([[2, 5, 6, 7, 8, 4]])  # another last word
    for diagonal, position in ((0, 5), (1, 2)):
        mask = torch.ones(1, 1, 6, 6).bool().tril(diagonal)
        a, b = (model(SRC, tgt_in, None, mask) for tgt_in in (first, second))
        differs = (a - b).abs().amax(-1)[0] > 1e-10  # (T,)
        assert differs.nonzero()[0] == position


def test_a_decoder_that_sees_the_answer_copies_it_and_cannot_write(
    chapter: Any,
) -> None:
    accuracy = chapter.cheat.accuracy(chapter.test)  # 36 seeds: 0.972 to 0.996
    assert accuracy > 0.96
    weights, _ = chapter.cheat.weights("Le chat boit du lait.")  # (T, T)
    assert weights.diagonal(1).mean() > 0.7, "one position to the right"
    starts = [" ".join(line.split()[:2]) for line in chapter.test[:20]]
    written = [chapter.cheat.write(start).split() for start in starts]
    stammers = [any(map(str.__eq__, words, words[1:])) for words in written]
    assert sum(stammers) > 10, "most of twenty beginnings"


def test_with_the_mask_it_is_right_less_than_half_of_the_time(chapter: Any) -> None:
    assert 0.35 < chapter.honest.accuracy(chapter.test) < 0.5
    assert chapter.honest.weights("Le chat boit du lait.")[0].triu(1).max() == 0
