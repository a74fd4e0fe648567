"""Grids have the right words on the right axes, and the right numbers in between."""

from typing import Any

import matplotlib.pyplot as plt
import pytest
import torch
from matplotlib.colors import to_hex

import nmt_lib as nmt
from nmt_lib.pictures.plotting import ORANGE
from tests.lib.small import small_translator

SOURCE = ["<sos>", "ich", "sehe", "qwertz", "<eos>"]


@pytest.fixture(scope="module")
def translation() -> nmt.Translation:
    return small_translator(2, n_layers=1, n_decoder_layers=3)("ich sehe qwertz")


def labels(axis: Any) -> tuple[list[str], list[str]]:
    """The words of the rows and of the columns."""
    return (
        [text.get_text() for text in axis.get_yticklabels()],
        [text.get_text() for text in axis.get_xticklabels()],
    )


def shown(axis: Any) -> torch.Tensor:
    return torch.tensor(axis.images[0].get_array().tolist())


def titles(figure: Any) -> list[str]:
    return [axis.get_title() for axis in figure.axes]


def shape(figure: Any) -> tuple[int, int]:
    return figure.axes[0].get_subplotspec().get_gridspec().get_geometry()


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_each_kind_has_its_words_on_its_axes(
    translation: nmt.Translation, kind: str
) -> None:
    written, read = [*translation.tokens, "<eos>"], ["<sos>", *translation.tokens]
    rows = SOURCE if kind == "encoder" else written
    columns = read if kind == "decoder" else SOURCE
    figure = nmt.plot_attention(translation, kind, layer=0)
    weights = getattr(translation.attention, kind)[0][0]
    assert len(figure.axes) == len(weights) == 4
    for head, axis in enumerate(figure.axes):
        assert labels(axis) == (rows if head == 0 else [], columns)
        torch.testing.assert_close(shown(axis), weights[head])
        assert axis.get_title() == f"head {head}"
    assert "source" in figure.get_supxlabel() or kind == "decoder"
    assert "written" in figure.axes[0].get_ylabel() or kind == "encoder"
    assert (shown(figure.axes[0]).triu(1) == 0).all() or kind != "decoder"


def test_layers_heads_and_their_mean_can_be_chosen(
    translation: nmt.Translation,
) -> None:
    cross = translation.attention.cross
    figure = nmt.plot_attention(translation, heads=[2, -1])
    assert (titles(figure), shape(figure)) == (["head 2", "head 3"], (1, 2))
    torch.testing.assert_close(shown(figure.axes[1]), cross[2][0, 3])
    (axis,) = nmt.plot_attention(translation, heads=[1, 2], mean=True).axes
    torch.testing.assert_close(shown(axis), cross[2][0, 1:3].mean(0))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "self"}, "'self'.*encoder, decoder, cross"),
        ({"layer": 3}, "layer 3.*0 to 2"),
        ({"kind": "encoder", "layer": 1}, "0 to 0"),
        ({"gold": [(3, 0)]}, "3 source words"),
        ({"kind": "encoder", "layer": 0, "gold": [(0, 0)]}, "encoder"),
    ],
)
def test_a_wrong_choice_is_named(
    translation: nmt.Translation, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        nmt.plot_attention(translation, **options)


def test_gold_links_frame_column_source_and_row_target(
    translation: nmt.Translation,
) -> None:
    (axis,) = nmt.plot_attention(translation, heads=[0], gold=[(2, 0), (0, 1)]).axes
    frames = [(frame.get_x() + 0.5, frame.get_y() + 0.5) for frame in axis.patches]
    assert frames == [(3, 0), (1, 1)], "after <sos>, word 2 is in column 3"
    assert to_hex(axis.patches[0].get_edgecolor()) == ORANGE


def test_several_translations_have_a_panel_each(translation: nmt.Translation) -> None:
    other = small_translator(2, n_layers=1, n_decoder_layers=3)("du $_$ mochte")
    both, gold = [translation, other], [[], [(0, 0)]]
    figure = nmt.plot_attention(both, heads=[1], gold=gold)
    assert titles(figure) == ["ich sehe qwertz", "du $_$ mochte"]
    assert [labels(axis)[1] for axis in figure.axes] == [
        list(one.src_labels) for one in both
    ]
    assert [len(axis.patches) for axis in figure.axes] == [0, 1]
    assert figure._repr_png_(), "no word is read as a formula"


def test_grids_have_their_words_and_their_numbers() -> None:
    words, a = ["$5", "<b>", "😀"], torch.arange(6.0).view(3, 2) / 5
    options: Any = {"rows": words, "columns": [["x", "y"], words], "ylabel": "row"}
    grids = {"a": a, "b_$x$": torch.eye(3)}
    figure = nmt.plot_grids(grids, **options, numbers=".1f", lines=True)
    left, right = figure.axes
    assert (labels(left), labels(right)) == ((words, ["x", "y"]), ([], words))
    assert (titles(figure), left.get_ylabel()) == (["a", "b_$x$"], "row")
    torch.testing.assert_close(shown(left), a)
    written = {text.get_position(): text for text in left.texts}
    assert written[1, 0].get_text() == "0.2", "column 1, row 0"
    assert (written[1, 0].get_color(), written[1, 2].get_color()) == ("black", "white")


def test_lines_of_grids_share_their_words_and_one_scale() -> None:
    ones = torch.ones(2, 3)
    tables = [{"00": 0 * ones, "01": ones}, {"10": 10 * ones, "11": 11 * ones}]
    figure = nmt.plot_grids(tables, vmin=None, vmax=None)
    assert (shape(figure), titles(figure)) == ((2, 2), ["00", "01", "10", "11"])
    assert {axis.images[0].get_clim() for axis in figure.axes} == {(0, 11)}
    assert labels(figure.axes[2]) == (["0", "1"], ["0", "1", "2"])


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: nmt.plot_grids(torch.zeros(2, 3), ["a", "b", "c"]), "labels"),
        (lambda: nmt.plot_grids(torch.zeros(2, 3), [["a", "b"]] * 2), "longer"),
        (lambda: nmt.plot_attention(small_translator()("")), "empty"),
    ],
)
def test_what_cannot_be_drawn_is_named(draw: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        draw()


def test_masks_are_medium_blue_and_tables_have_one_colour_bar() -> None:
    (axis,) = nmt.plot_grids(torch.eye(3).bool()).axes
    assert shown(axis).max() == 1 < axis.images[0].get_clim()[1]
    tables = {"a": torch.ones(20, 10), "b": torch.zeros(20, 10)}
    first, second, bar = nmt.plot_tables(tables).axes
    assert (first.get_title(), second.get_title()) == ("a", "b")
    assert first.images[0].get_clim() == bar.get_ylim() == (-1, 1)


def test_drawing_leaves_pyplot_alone(
    translation: nmt.Translation, tmp_path: Any
) -> None:
    before = plt.get_fignums(), dict(plt.rcParams)
    picture = nmt.plot_attention(translation)
    picture.savefig(tmp_path / "a.png")
    assert (plt.get_fignums(), dict(plt.rcParams)) == before
    assert repr(picture) == "<Picture>", "whatever words a model wrote"
