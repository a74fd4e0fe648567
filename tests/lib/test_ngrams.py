"""The bars of n-grams show which of them are found, each at most once."""

from matplotlib.colors import to_hex

import nmt_lib as nmt
from nmt_lib.pictures.ngrams import MISSING
from nmt_lib.pictures.plotting import BLUE


def test_ngrams_are_clipped() -> None:
    (axis,) = nmt.plot_ngrams(["a", "a", "b", "c", "d"], ["a", "b", "c", "e", "d"]).axes
    labels = [text.get_text() for text in axis.get_yticklabels()]
    found = ["4 of 5", "2 of 4", "1 of 3", "0 of 2"]
    assert labels == [f"n = {n}: {said}" for n, said in enumerate(found, 1)]
    colors = [to_hex(bar.get_facecolor()) for bar in axis.patches]
    assert colors[:5] == [BLUE, MISSING, BLUE, BLUE, BLUE]
    assert colors[5:9] == [MISSING, BLUE, BLUE, MISSING]
    assert [text.get_text() for text in axis.texts] == [*"aabcd"]
