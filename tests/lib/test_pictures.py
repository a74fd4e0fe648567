"""What pictures write and draw; charts, diagrams and grids have files of their own."""

from typing import Any

import numpy as np
import pytest
import torch
from matplotlib.colors import to_hex, to_rgba

import nmt_lib as nmt
from nmt_lib.config import DataConfig
from nmt_lib.pictures.diagrams import MARKED
from nmt_lib.pictures.ngrams import MISSING
from nmt_lib.pictures.plotting import BLUE
from tests.lib.small import small_model, small_translator

BOXES = {name: (name, float(x), 0.0, "data") for x, name in enumerate("abc")}
TREE = {"": {"a": 0.6, "b": 0.4}, "a": {"c": 0.5, "d": 0.5}, "b": {"c": 0.1, "d": 0.9}}


def words(axis: Any) -> list[str]:
    return [text.get_text().strip() for text in axis.texts]


def colours(axis: Any) -> list[str]:
    return [to_hex(patch.get_facecolor()) for patch in axis.patches]


def test_a_tree_of_choices_has_all_branches_and_ends() -> None:
    (axis,) = nmt.plot_choices(TREE, {"b d": "blue"}).axes
    assert len(axis.lines) == 6 and len(words(axis)) == 12
    ends = {"c   0.3000", "d   0.3000", "c   0.0400", "d   0.3600"}
    assert ends | {"a", "b", "0.6", "0.9"} <= {*words(axis)}
    thick = [line for line in axis.lines if to_hex(line.get_color()) == BLUE]
    assert [tuple(line.get_xdata()) for line in thick] == [(0, 1), (1, 2)]


def test_on_a_batchs_path_every_tensor_has_its_shape_and_masks_what_is_seen() -> None:
    pairs = [nmt.Pair("a b c", "d e"), nmt.Pair("a", "d")]
    tokenizers = nmt.build_tokenizers(DataConfig(tokenizer="whitespace"), pairs)
    ids = [(tokenizers[0].encode(p.src), tokenizers[1].encode(p.tgt)) for p in pairs]
    model = small_model(0, *map(len, tokenizers))
    figure = nmt.plot_data_path(model, nmt.make_batch(ids), *tokenizers, row=1)
    (axis,) = figure.axes
    shapes = "src\n(2, 5)", "memory\n(2, 5, 16)", "tgt_in\n(2, 3)", "logits\n(2, 3, "
    assert all(any(word.startswith(one) for word in words(axis)) for one in shapes)
    # Twice the three real source tokens of five; of the target's two 1 + 2 + 2.
    assert colours(axis).count(BLUE) == 2 * 3 + 5


def test_an_encoder_layer_has_its_widths_and_the_number_of_layers() -> None:
    (axis,) = nmt.plot_encoder_layer(3, 16, 1024).axes
    wanted = {"× 3", "memory\n(B, S, 16)", "feed-forward\n16 → 1,024 → 16"}
    assert wanted <= {*words(axis)}
    assert words(axis).count("residual connection") == words(axis).count("+") == 2


def test_the_machine_shows_the_words_so_far_and_the_next_one() -> None:
    tiny, text = small_translator(10), "ich sehe ein haus"
    (axis,) = nmt.plot_machine(tiny, text, n_words=2).axes
    found = tiny(text)
    *written, new = found.tgt_labels[:3]
    assert new not in (*written, *found.src_labels)
    wanted = {*found.src_labels, *written, new, "<sos>"}
    assert wanted <= {*words(axis)}
    assert len(axis.images) == 2 * (len(found.src_labels) + 1 + 2)


def test_ngrams_are_clipped() -> None:
    (axis,) = nmt.plot_ngrams(["a", "a", "b", "c", "d"], ["a", "b", "c", "e", "d"]).axes
    labels = [text.get_text() for text in axis.get_yticklabels()]
    found = ["4 of 5", "2 of 4", "1 of 3", "0 of 2"]
    assert labels == [f"n = {n}: {said}" for n, said in enumerate(found, 1)]
    assert colours(axis)[:5] == [BLUE, MISSING, BLUE, BLUE, BLUE]
    assert colours(axis)[5:9] == [MISSING, BLUE, BLUE, MISSING]
    assert words(axis) == [*"aabcd"]


def test_each_path_has_its_arrows_and_its_name() -> None:
    figure = nmt.plot_paths(BOXES, {"long": "abc", "short": "ac"})
    arrows = [getattr(text, "arrow_patch", None) for text in figure.axes[0].texts]
    edges = [arrow.get_edgecolor() for arrow in arrows if arrow]
    assert edges[0] == edges[1] != edges[2] and len(edges) == 3
    named = [text.get_text() for text in figure.legends[0].get_texts()]
    assert named == ["long", "short"]


def test_hands_start_at_twelve_and_turn_clockwise() -> None:
    clocks = {"0": nmt.sinusoids(1, 4), "1": nmt.sinusoids(1, 4, start=1)}
    first, second, *_ = nmt.plot_hands(clocks, ["fast", "slow"]).axes
    tips = [axis.lines[1].get_xydata()[1].tolist() for axis in (first, second)]
    assert tips[0][0] == 0 < tips[0][1], "up at position 0"
    assert tips[1][0] > 0.7 > tips[1][1] > 0, "to the right after one radian"


def test_a_wave_follows_its_bit() -> None:
    _, right = nmt.plot_bits(3).axes
    for k in range(3):
        steps, wave = right.lines[2 * k : 2 * k + 2]
        bits = steps.get_ydata() + 1.6 * k
        curve = np.interp(range(8), *wave.get_xydata().T) + 1.6 * k
        assert curve.round().tolist() == bits.tolist() == [p >> k & 1 for p in range(8)]


def test_steps_write_scores_weights_and_outputs() -> None:
    Q, K, V = torch.tensor([[2.0], [1.0]]), torch.tensor([[1.0], [0.0]]), torch.eye(2)
    (axis,) = nmt.plot_steps(Q, K, V, ["a", "b"], ["size"], ["x", "y"], framed=0).axes
    # Sigmoids of 2 and of 1: as weights, and, since V is the identity, as output.
    numbers = ("0.88", "0.12", "0.73", "0.27")
    assert [words(axis).count(number) for number in numbers] == [2, 2, 2, 2]


def test_a_box_spans_the_letters_of_its_token_and_a_new_one_is_orange() -> None:
    rows = {"characters": list("▁sun"), "u + n": ["▁", "s", "un"]}
    (axis,) = nmt.plot_subwords({"▁sun": rows}).axes
    ends = [patch.get_path().get_extents() for patch in axis.patches]
    assert [(round(e.x0), round(e.x1)) for e in ends[4:]] == [(0, 1), (1, 2), (2, 4)]
    orange = [patch.get_facecolor() == to_rgba(MARKED) for patch in axis.patches]
    assert orange == [False] * 6 + [True]


def test_spaces_between_subwords_are_skipped_and_a_foreign_token_is_refused() -> None:
    (axis,) = nmt.plot_subwords({"a  b": {"at spaces": ["a", "b"]}}).axes
    assert [text.get_position()[0] for text in axis.texts] == [0.5, 3.5]
    with pytest.raises(ValueError, match="no 'c' after position 1"):
        nmt.plot_subwords({"a b": {"at spaces": ["a", "c"]}})


def test_padding_is_what_lies_beyond_the_length() -> None:
    (axis,) = nmt.plot_padding({"a bucket": ([1, 3], 4)}).axes
    assert axis.images[0].get_array().tolist() == [[1, 0, 0, 0], [1, 1, 1, 0]]
    assert axis.get_title() == "a bucket: 2 × 4 ids, 50% padding"
