"""What holds for every model: for a Transformer of any kind, for the translators
before it, and, where no source is read, for the decoder of chapter 03."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import nmt_lib as nmt
from nmt_book.chapter03.lab import SmallDecoder
from nmt_book.deeper_00.lab import gradient_by_word
from nmt_book.deeper_00.recurrent import Bahdanau, OneVector
from tests.lib.small import SRC, TGT, VARIANTS, small_model

words: Any = range(13)  # of a tokenizer, only the length matters here
TRANSLATORS: dict[str, Callable[[], Any]] = {
    "one vector": lambda: OneVector(11, 13, 6, 8),
    "Bahdanau": lambda: Bahdanau(11, 13, 6, 8),
    "read one way": lambda: Bahdanau(11, 13, 6, 7, both_ways=False),
    **{str(options): partial(small_model, **options) for options in VARIANTS},
}
MODELS = TRANSLATORS | {"chapter 03": lambda: SmallDecoder(words, nmt.target_mask, 16)}
every_model = pytest.mark.parametrize("model", MODELS, indirect=True)
close = partial(torch.testing.assert_close, atol=1e-5, rtol=0)


@pytest.fixture(params=TRANSLATORS)
def model(request: pytest.FixtureRequest) -> Any:
    torch.manual_seed(0)
    return MODELS[request.param]().eval()


def scores(model: Any, src: Tensor, tgt: Tensor) -> Tensor:
    return model(tgt) if isinstance(model, SmallDecoder) else model(src, tgt)


def maps(model: Any, src: Tensor, tgt: Tensor) -> dict[str, list[Tensor]]:
    has_maps = isinstance(model, nmt.Transformer | Bahdanau)
    return vars(model.attention(src, tgt)) if has_maps else {}


@every_model
def test_padding_changes_nothing(model: Any) -> None:
    """In a padded batch, a sentence gets the scores and maps that it gets alone."""
    batch = nn.functional.pad(SRC, (0, 5)), nn.functional.pad(TGT, (0, 3))
    together, attention = scores(model, *batch), maps(model, *batch)
    shapes = {"encoder": (11, 11), "decoder": (10, 10), "cross": (10, 11)}
    kinds = nmt.MultiHeadAttention, Bahdanau
    n_maps = sum(isinstance(module, kinds) for module in model.modules())
    n_heads = 4 if isinstance(model, nmt.Transformer) else 1
    assert not attention or sum(map(len, attention.values())) == n_maps
    for row in range(3):
        alone = SRC[row, None, SRC[row] != 0], TGT[row, None, TGT[row] != 0]
        (logits,) = scores(model, *alone)
        close(together[row, : len(logits)], logits)
        for kind, layers in maps(model, *alone).items():
            for (weights,), padded in zip(layers, attention[kind], strict=True):
                _, T, S = weights.shape
                assert padded.shape == (3, n_heads, *shapes[kind])
                close(padded[row, :, :T, :S], weights)
                assert not padded[row, :, :T, S:].any()


@every_model
def test_no_state_knows_a_later_word(model: Any) -> None:
    src, tgt = SRC[:1], TGT[1:2]
    before = scores(model, src, tgt)[0]  # (7, 13)
    for i in range(7):
        changed = tgt.clone()
        changed[:, i] = (tgt[:, i] + 4) % 9 + 4
        change = (scores(model, src, changed)[0] - before).abs()
        assert (change[:i] < 1e-6).all() and (change[i] > 0).all()
        assert (change[i:].amax(-1) > 1e-4).all()  # each state knows each word before


def test_each_source_word_is_read(model: Any) -> None:
    src, tgt = SRC[:1], TGT[1:2]
    before = model(src, tgt)
    for i in range(6):
        changed = src.clone()
        changed[:, i] = 4 + (src[:, i] - 3) % 7
        assert ((model(changed, tgt) - before).abs().amax(-1) > 1e-4).all()
    assert not torch.allclose(model(src.flip(1), tgt), before, atol=1e-3)


@every_model
def test_the_gradient_reaches_every_parameter(model: Any) -> None:
    scores(model, SRC, TGT).logsumexp(-1).sum().backward()
    for name, weight in model.named_parameters():
        # The bias of the keys adds one number to all scores of a query.
        assert name.endswith("W_k.bias") or weight.grad.any(), name


@torch.no_grad()
def test_the_search_of_the_library_finds_the_same_words(model: Any) -> None:
    eos = torch.tensor([nmt.EOS])
    model.output.register_forward_hook(lambda *args: args[2].index_fill(-1, eos, -50.0))
    greedy = nmt.greedy_search(model, SRC, 1, use_cache=False)
    tgt_in = torch.full((3, 1), nmt.SOS)  # (3, t)
    for t in range(4):
        logits = model(SRC, tgt_in)[:, -1]  # (3, 13)
        logits[:, [nmt.PAD, nmt.SOS]] = -torch.inf
        tgt_in = torch.cat([tgt_in, logits.argmax(-1, keepdim=True)], dim=1)
        assert tgt_in[:, -1].tolist() == [hypothesis.ids[t] for hypothesis in greedy]
    best = nmt.beam_search(model, SRC, 2, 0.0, 1, use_cache=False)
    for beam, hypothesis in zip(best, greedy, strict=True):
        assert beam[0].log_prob >= hypothesis.log_prob - 1e-4


def test_the_loss_of_the_library_weighs_each_token_the_same(model: Any) -> None:
    mean = nmt.cross_entropy(model(SRC, TGT[:, :-1]), TGT[:, 1:]).item()
    parts = [(SRC[rows], TGT[rows]) for rows in ([0], [1, 2])]
    batches = [nmt.Batch(src, tgt[:, :-1], tgt[:, 1:]) for src, tgt in parts]
    loss = nmt.validation_loss(model.train(), batches)  # without dropout
    assert loss == pytest.approx(mean, rel=1e-5) and model.training


def test_the_gradient_by_word(model: Any) -> None:
    """That of the table of embeddings, in the row of a word that is there once."""
    src, tgt = SRC[:1], TGT[:1, :4]
    norms = gradient_by_word(model, src, tgt)  # (6,)
    assert norms.shape == (6,) and (norms > 0).all()
    model = model.double()
    table = getattr(model.src_embedding, "lookup", model.src_embedding).weight
    logits = model(src, tgt[:, :-1])[:, -1]
    loss = nn.functional.cross_entropy(logits, tgt[:, -1])
    (slopes,) = torch.autograd.grad(loss, table)  # word 2 is there once
    factor = getattr(model.src_embedding, "factor", 1.0)
    wanted = slopes[src[0, 2]].norm() / factor
    torch.testing.assert_close(norms[2], wanted)
