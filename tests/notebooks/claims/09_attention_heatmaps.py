"""What chapter 09 says about heads, with room for another processor."""

from typing import Any

import torch


def test_the_last_layer_aligns_and_rows_off_by_one_spoil_it(chapter: Any) -> None:
    rates = chapter.rates  # (n_layers, H)
    assert rates.min() < 0.3 and rates[-1].mean() + 0.15 < rates[0].mean()
    assert chapter.shifted.min() > 0.6


def test_even_a_perfect_head_misses_second_links(chapter: Any) -> None:
    rates = []
    for pair in chapter.corpus.valid[:100]:
        targets = {target for _, target in pair.alignment}
        # It finds one link for each word that has any.
        n_found = 1 + max(targets)
        rates.append(1 - 2 * len(targets) / (n_found + len(pair.alignment)))
    assert 0.045 < sum(rates) / len(rates) < 0.055


def test_one_path_carries_the_gender(chapter: Any) -> None:
    """Which one, and which pronoun suffers, differs from training to training."""
    nouns = [noun for group in chapter.nouns.values() for noun in group]
    for pronoun, group in chapter.nouns.items():
        assert all(
            pronoun in chapter.check.read(chapter.translator, noun)[0].tokens
            for noun in group
        )
    with torch.no_grad():
        nothing, *closed = (
            min(chapter.probability(noun, path) for noun in nouns)
            for path in chapter.closings
        )
    assert nothing > 0.8
    assert min(closed) < nothing - 0.15 and max(closed) > nothing - 0.05


def test_heads_find_the_same_words_in_a_nonsense_sentence(chapter: Any) -> None:
    assert sum(chapter.both) >= 0.6 * len(chapter.both) >= 3


def test_the_larger_model_aligns_in_its_last_layers(chapter: Any) -> None:
    shares = chapter.shares  # (n_layers, H + 1): the last column is the heads' mean
    assert 22 <= len(chapter.right) <= 31
    assert shares[-2:, -1].min() > 0.8 and shares[0].max() < 0.4
    assert (shares[-2:, -1] >= shares[-2:, :-1].max(-1).values).all()


def test_without_head_2_of_the_last_layer_the_vegetables_come_sooner(
    chapter: Any,
) -> None:
    def close(module: Any, args: Any) -> Any:
        heads = args[0].clone()  # (B, T, H · d_k)
        heads[..., 64:96] = 0.0  # head 2 of 4, 32 numbers each
        return (heads,)

    assert chapter.cook.text.endswith("Küche Gemüse.")
    last = chapter.real.model.decoder.layers[-1].cross_attention
    handle = last.W_o.register_forward_pre_hook(close)
    try:
        assert "schneidet Gemüse in" in chapter.real(chapter.cook.source).text
    finally:
        handle.remove()
