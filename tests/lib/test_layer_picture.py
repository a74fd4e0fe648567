"""The diagram of an encoder layer."""

import nmt_lib as nmt


def test_the_diagram_names_widths_and_the_number_of_layers() -> None:
    (axis,) = nmt.plot_encoder_layer(3, 16, 1024).axes
    written = [text.get_text() for text in axis.texts]
    assert {"× 3", "memory\n(B, S, 16)", "feed-forward\n16 → 1,024 → 16"} <= {*written}
    assert written.count("residual connection") == written.count("+") == 2
