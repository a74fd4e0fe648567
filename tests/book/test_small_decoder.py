"""The decoder of chapter 03, with one attention."""

import torch

import nmt_lib as nmt
from nmt_book.chapter03.lab import SmallDecoder

LINES = ["le chat dort .", "le chat boit du lait ."]


def decoder() -> SmallDecoder:
    torch.manual_seed(0)
    words = nmt.WordTokenizer.train("whitespace", "fr", LINES, 1, lowercase=False)
    return SmallDecoder(words, nmt.target_mask)


@torch.no_grad()
def test_the_weights_that_it_shows_are_those_that_it_uses() -> None:
    model = decoder()
    weights, words = model.weights(LINES[1])
    assert words == ["<sos>", *LINES[1].split()]
    x = model.embed(torch.tensor([model.tokenizer.encode(LINES[1], eos=False)]))
    values = model.attention.W_v(x)[0]  # (T, D)
    x = x + model.attention.W_o(weights @ values)  # (1, T, D)
    ids = torch.tensor([model.tokenizer.encode(LINES[1], eos=False)])
    torch.testing.assert_close(model.output(x), model(ids))


def test_it_learns_two_sentences_and_writes_one_of_them() -> None:
    model = decoder().train_on(LINES, 30)
    # After "le chat" both are possible; every other word is certain.
    assert round(12 * model.accuracy(LINES)) == 11
    assert model.write("le chat boit") == "le chat boit du lait . <eos>"
