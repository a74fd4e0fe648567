"""A tree of choices names every sentence with its probability."""

from matplotlib.colors import to_hex

import nmt_lib as nmt
from nmt_lib.pictures.plotting import BLUE

TREE = {"": {"a": 0.6, "b": 0.4}, "a": {"c": 0.5, "d": 0.5}, "b": {"c": 0.1, "d": 0.9}}


def test_a_tree_of_choices_has_all_branches_and_ends() -> None:
    (axis,) = nmt.plot_choices(TREE, {"b d": "blue"}).axes
    texts = [text.get_text().strip() for text in axis.texts]
    assert len(axis.lines) == 6 and len(texts) == 12
    ends = {"c   0.3000", "d   0.3000", "c   0.0400", "d   0.3600"}
    assert ends | {"a", "b", "0.6", "0.9"} <= {*texts}
    thick = [line for line in axis.lines if to_hex(line.get_color()) == BLUE]
    assert [tuple(line.get_xdata()) for line in thick] == [(0, 1), (1, 2)]
