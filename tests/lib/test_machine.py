"""The picture of the whole machine."""

import nmt_lib as nmt
from tests.lib.small import small_translator


def test_the_machine_shows_the_words_so_far_and_the_next_one() -> None:
    tiny = small_translator()
    text = nmt.load_corpus(tiny.config.data).train[0].src
    figure = nmt.plot_machine(tiny, text, n_words=2)
    said = [text.get_text() for text in figure.axes[0].texts]
    translation = tiny(text)
    n_src, written = min(11, len(translation.src_labels)), translation.tgt_labels[:2]
    assert all(word in said for word in (*translation.src_labels[:n_src], *written))
    assert said.count("<sos>") >= 1 and translation.tgt_labels[len(written)] in said
    assert len(figure.axes[0].images) == 2 * (n_src + 1 + len(written))
