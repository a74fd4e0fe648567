"""The picture of a batch on its path through the model."""

import nmt_lib as nmt
from nmt_lib.config import DataConfig
from tests.lib.small import small_model


def test_every_tensor_has_its_shape_and_masks_show_what_is_seen() -> None:
    pairs = [nmt.Pair("a b c", "d e"), nmt.Pair("a", "d")]
    tokenizers = nmt.build_tokenizers(DataConfig(min_freq=1), pairs)
    src_tok, tgt_tok = tokenizers
    ids = [(src_tok.encode(pair.src), tgt_tok.encode(pair.tgt)) for pair in pairs]
    model = small_model(0, len(src_tok), len(tgt_tok))
    figure = nmt.plot_data_path(model, nmt.make_batch(ids), *tokenizers, row=1)
    (axis,) = figure.axes
    written = [text.get_text() for text in axis.texts]
    assert {"src\n(2, 5)", "memory\n(2, 5, 16)", "tgt_in\n(2, 3)"} <= {*written}
    assert f"logits\n(2, 3, {len(tgt_tok)})" in written
    blue = [
        patch for patch in axis.patches if patch.get_facecolor()[:2] == (0, 0x72 / 255)
    ]
    # Twice the three real source tokens of five; of the target's two 1 + 2 + 2.
    assert len(blue) == 2 * 3 + 5
