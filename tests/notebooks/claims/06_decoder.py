"""What chapter 06 says about models with random weights, and about what they write."""

import io
import re
from contextlib import redirect_stdout
from typing import Any

import torch

import nmt_book as book
import nmt_lib as nmt


def test_every_position_but_the_last_leaks_without_the_causal_mask(
    chapter: Any,
) -> None:
    assert max(chapter.prefix_gaps(nmt.target_mask)) < 1e-4
    *before, last = chapter.prefix_gaps(nmt.padding_mask)
    assert min(before) > 0.01 and last < 1e-4


def test_a_fresh_model_repeats_a_word_if_its_embedding_is_tied(chapter: Any) -> None:
    """Of 40 models, 36 write a single word; without the tying, 5."""
    words: dict[str, list[int]] = {"target": [], "none": []}
    for tying, counts in words.items():
        shape = chapter.small.model_copy(update={"tying": tying})
        for seed in range(5):
            torch.manual_seed(seed)
            sizes = len(chapter.src_tok), len(chapter.tgt_tok)
            model = nmt.Transformer(shape, *sizes).eval()
            counts.append(len({*chapter.write(model, chapter.text).split()}))
    assert max(words["target"]) <= 4 and words["target"].count(1) >= 2
    assert sum(words["none"]) > sum(words["target"])


def test_the_trained_model_translates(chapter: Any) -> None:
    said = chapter.write(chapter.translator.model, chapter.text)
    words = said.removesuffix("<eos>").split()
    assert chapter.tgt_tok.encode(chapter.corpus.test[0].tgt)[1:-1] == [
        chapter.tgt_tok.encode(word)[1] for word in words
    ]


def test_five_of_the_eight_tests_of_masks_pass(chapter: Any) -> None:
    """The page prints it only to those who have guessed."""
    assert chapter.n_passed == 5


def test_a_longer_neighbour_moves_no_logit(chapter: Any) -> None:
    """Neither the encoder nor cross-attention sees padding."""
    translator = nmt.Translator.load("multi30k-en-de", device="cpu")
    texts = "A dog.", "Two small dogs are running in the snow."
    short, long = (torch.tensor(translator.encode(text)) for text in texts)
    src = torch.nn.utils.rnn.pad_sequence([short, long], batch_first=True)  # (B, S)
    tgt_in = torch.tensor([[nmt.SOS, 5, 6]] * 2)  # (B, T)
    with torch.no_grad():
        whole, alone = (
            translator.model(s, tgt_in[: len(s)]) for s in (src, short[None])
        )
    torch.testing.assert_close(whole[:1], alone, rtol=0, atol=1e-3)


def test_mistakes_that_the_corpus_forgives_change_what_readers_type(
    chapter: Any,
) -> None:
    """17 models: 0 to 4 of 50 of the corpus, 39 to 120 of 200 that are typed."""
    german = {chapter.last_norm_missing: 0, chapter.target_mask_unused: 12}
    for mistake, kept in german.items():
        with redirect_stdout(io.StringIO()) as printed:
            for texts in (chapter.corpus.test[:50], chapter.TYPED):
                book.try_it(chapter.translator, texts, decoder_layer=mistake)
            book.try_it("multi30k-en-de", decoder_layer=mistake)
        lines = printed.getvalue().splitlines()
        same = [int(line.split()[2]) for line in lines if "with yours, " in line]
        assert same[0] >= 45 and same[1] <= 170 and abs(same[2] - kept) < 3
        yours, usual = map(float, re.findall(r"\d+\.\d+", lines[1]))
        # 6 models: from 1.06 or 1.07 to 1.01 to 1.04, or to 8 to 13
        assert yours > 3 if kept else yours < usual - 0.005
