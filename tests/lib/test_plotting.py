from typing import Any

import matplotlib
import pytest
import torch
from matplotlib.figure import Figure
from tests.lib.small import small_translator

import nmt_lib as nmt
from nmt_lib.pictures.plotting import ORANGE, draw_grid, new_figure


@pytest.fixture(scope="module")
def translation() -> nmt.Translation:
    return small_translator(2, n_layers=1, n_decoder_layers=3)("ich sehe qwertz")


def labels(axis: Any) -> tuple[list[str], list[str]]:
    return [t.get_text() for t in axis.get_yticklabels()], [
        t.get_text() for t in axis.get_xticklabels()
    ]


SOURCE = ["<sos>", "ich", "sehe", "qwertz", "<eos>"]


def test_each_kind_has_its_words_on_its_axes(translation: nmt.Translation) -> None:
    written, read = [*translation.tokens, "<eos>"], ["<sos>", *translation.tokens]
    assert len(written) > 2
    expected = {
        "encoder": (SOURCE, SOURCE),
        "decoder": (written, read),
        "cross": (written, SOURCE),
    }
    for kind, (rows, columns) in expected.items():
        figure = nmt.plot_attention(translation, kind, layer=0)
        assert isinstance(figure, Figure) and len(figure.axes) == 4
        for head, axis in enumerate(figure.axes):
            assert labels(axis) == (rows if head == 0 else [], columns), (
                "the rows are the same for all heads"
            )
            image = axis.images[0].get_array()
            assert image.shape == (len(rows), len(columns))
            shown = getattr(translation.attention, kind)[0][0, head]
            torch.testing.assert_close(torch.tensor(image.tolist()), shown)
            assert axis.get_title() == f"head {head}"
        assert figure.axes[0].get_ylabel() and figure.get_supxlabel()


def test_a_causal_grid_is_empty_above_its_diagonal(
    translation: nmt.Translation,
) -> None:
    image = (
        nmt.plot_attention(translation, "decoder", heads=[0])
        .axes[0]
        .images[0]
        .get_array()
    )
    assert all(
        image[t, s] == 0 for t in range(len(image)) for s in range(t + 1, len(image))
    )


def test_layers_and_heads_can_be_chosen(translation: nmt.Translation) -> None:
    figure = nmt.plot_attention(translation, layer=-1, heads=[2, 0])
    assert [axis.get_title() for axis in figure.axes] == ["head 2", "head 0"]
    last = nmt.plot_attention(translation, layer=2, heads=[2, 0])
    assert (
        figure.axes[0].images[0].get_array() == last.axes[0].images[0].get_array()
    ).all()


def test_a_negative_head_is_titled_by_its_number(translation: nmt.Translation) -> None:
    assert nmt.plot_attention(translation, heads=[-1]).axes[0].get_title() == "head 3"


@pytest.mark.parametrize(
    ("columns", "shape"), [(1, (4, 1)), (2, (2, 2)), (3, (2, 3)), (9, (1, 4))]
)
def test_grids_stand_in_rows_and_columns(
    translation: nmt.Translation, columns: int, shape: tuple[int, int]
) -> None:
    figure = nmt.plot_attention(translation, columns=columns)
    assert len(figure.axes) == 4
    assert figure.axes[0].get_subplotspec().get_gridspec().get_geometry() == shape


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "self"}, "'self'.*encoder, decoder, cross"),
        ({"layer": 3}, "layer 3.*0 to 2"),
        ({"layer": -4}, "layer -4"),
        ({"kind": "encoder", "layer": 1}, "0 to 0"),
        ({"heads": [0, 4]}, "4.*heads 0 to 3"),
        ({"heads": []}, "heads"),
        ({"columns": 0}, "columns"),
    ],
)
def test_a_wrong_choice_is_named(
    translation: nmt.Translation, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        nmt.plot_attention(translation, **options)


def test_an_empty_translation_has_nothing_to_draw() -> None:
    with pytest.raises(ValueError, match="empty"):
        nmt.plot_attention(small_translator()(""))


def test_all_layers_stand_below_each_other(translation: nmt.Translation) -> None:
    figure = nmt.plot_attention(translation, layer=None, heads=[0, 3], columns=1)
    assert figure.axes[0].get_subplotspec().get_gridspec().get_geometry() == (3, 2)
    assert [axis.get_title() for axis in figure.axes][1:3] == [
        "layer 0, head 3",
        "layer 1, head 0",
    ]
    shown = figure.axes[5].images[0].get_array()
    torch.testing.assert_close(
        torch.tensor(shown.tolist()), translation.attention.cross[2][0, 3]
    )
    written = [*translation.tokens, "<eos>"]
    assert [labels(axis) for axis in figure.axes] == [(written, []), ([], [])] * 2 + [
        (written, SOURCE),
        ([], SOURCE),
    ]


def test_the_mean_is_over_the_chosen_heads(translation: nmt.Translation) -> None:
    (axis,) = nmt.plot_attention(translation, heads=[1, 2], mean=True).axes
    expected = translation.attention.cross[-1][0, [1, 2]].mean(0)
    torch.testing.assert_close(
        torch.tensor(axis.images[0].get_array().tolist()), expected
    )


def test_gold_links_frame_column_source_and_row_target(
    translation: nmt.Translation,
) -> None:
    (axis,) = nmt.plot_attention(translation, heads=[0], gold=[(2, 0), (0, 1)]).axes
    places = [(p.get_x() + 0.5, p.get_y() + 0.5) for p in axis.patches]
    assert places == [(3, 0), (1, 1)], (
        "the source begins with <sos>: word 2 stands in column 3"
    )
    assert {matplotlib.colors.to_hex(p.get_edgecolor()) for p in axis.patches} == {
        ORANGE
    }
    for kind, gold, message in (
        ("cross", [(3, 0)], "3 source words"),
        ("cross", [(0, 99)], r"gold link \(0, 99\)"),
        ("encoder", [(0, 0)], "encoder"),
    ):
        with pytest.raises(ValueError, match=message):
            nmt.plot_attention(translation, kind, gold=gold)


def test_small_grids_have_no_words_and_several_translations_a_panel_each(
    translation: nmt.Translation,
) -> None:
    assert all(
        set(some) <= {""}
        for some in labels(nmt.plot_attention(translation, small=True).axes[0])
    )
    other = small_translator(2, n_layers=1, n_decoder_layers=3)("du $5 mochte ein bier")
    figure = nmt.plot_attention(
        [translation, other], heads=[1], columns=2, gold=[[], [(0, 0)]]
    )
    assert [axis.get_title() for axis in figure.axes] == [
        "ich sehe qwertz",
        "du $5 mochte ein bier",
    ]
    assert [labels(axis)[1] for axis in figure.axes] == [SOURCE, list(other.src_labels)]
    assert [len(axis.patches) for axis in figure.axes] == [0, 1]
    with pytest.raises(ValueError, match="1 lists of gold links for 2"):
        nmt.plot_attention([translation, other], gold=[[]])


WORDS = ["$5", "<b>", "😀"]


def test_grids_have_their_words_their_numbers_and_their_order() -> None:
    a, b = torch.arange(6.0).view(3, 2) / 5, torch.eye(3)
    options: Any = {
        "rows": WORDS,
        "columns": [["x", "y"], WORDS],
        "numbers": ".1f",
        "lines": True,
        "ylabel": "row",
    }
    figure = nmt.plot_grids({"a": a, "b_$x$": b}, **options)
    assert (
        figure._repr_png_()
        == nmt.plot_grids({"a": a, "b_$x$": b}, **options)._repr_png_()
    ), "the same bytes each time"
    left, right = figure.axes
    assert labels(left) == (WORDS, ["x", "y"]) and labels(right) == ([], WORDS)
    torch.testing.assert_close(torch.tensor(left.images[0].get_array().tolist()), a)
    written = {text.get_position(): text.get_text() for text in left.texts}
    assert written[1, 0] == "0.2" and written[0, 1] == "0.4", (
        "column is x, row is y: not the other way round"
    )
    colors = {text.get_text(): text.get_color() for text in left.texts}
    assert (
        colors["0.0"] == colors["0.2"] == "black"
        and colors["0.8"] == colors["1.0"] == "white"
    )
    assert (left.get_title(), right.get_title(), left.get_ylabel()) == (
        "a",
        "b_$x$",
        "row",
    )


def test_lines_of_grids_share_their_words_and_one_scale() -> None:
    tables = [
        {f"{i}{j}": torch.full((2, 3), 10.0 * i + j) for j in range(2)}
        for i in range(2)
    ]
    figure = nmt.plot_grids(tables, vmin=None, vmax=None)
    assert figure.axes[0].get_subplotspec().get_gridspec().get_geometry() == (2, 2)
    assert [axis.images[0].get_clim() for axis in figure.axes] == [(0, 11)] * 4
    assert [labels(axis) for axis in figure.axes] == [
        (["0", "1"], []),
        ([], []),
        (["0", "1"], ["0", "1", "2"]),
        ([], ["0", "1", "2"]),
    ]
    wide = nmt.plot_grids({str(i): torch.zeros(2, 30) for i in range(3)})
    assert wide.axes[0].get_subplotspec().get_gridspec().get_geometry() == (3, 1), (
        "more than a page is wide"
    )


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: nmt.plot_grids(torch.zeros(2, 3), ["a", "b", "c"]), "3 rows"),
        (
            lambda: nmt.plot_grids(torch.zeros(2, 3), ["a", "b"], ["x", "y"]),
            "2 columns",
        ),
        (
            lambda: nmt.plot_grids({"a": torch.zeros(2, 3)}, [["a", "b"], ["c", "d"]]),
            "2 lists of words for 1 grids",
        ),
        (lambda: nmt.plot_grids({}), "nothing to draw"),
        (lambda: nmt.plot_grids(torch.zeros(3)), "two dimensions"),
        (lambda: nmt.plot_tables({}), "nothing to draw"),
        (lambda: nmt.plot_tables(torch.zeros(0, 3)), "at least one cell"),
    ],
)
def test_a_table_that_cannot_be_drawn_is_named(draw: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        draw()


def test_masks_are_drawn_in_a_medium_blue_and_tables_with_one_bar() -> None:
    (axis,) = nmt.plot_grids(torch.eye(3).bool()).axes
    assert axis.images[0].get_array().max() == 1 < axis.images[0].get_clim()[1]
    first, second, bar = nmt.plot_tables(
        {"a": torch.ones(20, 10), "b": torch.zeros(20, 10)}
    ).axes
    assert first.images[0].get_clim() == second.images[0].get_clim() == (
        -1,
        1,
    ) and bar.get_ylim() == (-1, 1)
    assert [
        a.get_title()
        for a in nmt.plot_tables(
            {"a": torch.ones(3, 30).bool(), "b": torch.ones(3, 30).bool()}
        ).axes
    ] == ["a", "b"]


def test_a_picture_stored_with_other_words_compares_equal() -> None:
    assert (
        repr(nmt.plot_grids(torch.eye(2)))
        == repr(nmt.plot_grids(torch.eye(9)))
        == "<Picture>"
    )


def test_drawing_needs_no_display_and_leaves_pyplot_alone(
    translation: nmt.Translation, tmp_path: Any
) -> None:
    import matplotlib.pyplot as plt

    before = (plt.get_fignums(), dict(matplotlib.rcParams), matplotlib.get_backend())
    nmt.plot_attention(translation).savefig(tmp_path / "a.png")
    assert (
        plt.get_fignums(),
        dict(matplotlib.rcParams),
        matplotlib.get_backend(),
    ) == before
    assert (tmp_path / "a.png").stat().st_size > 1000


def test_words_with_dollars_are_drawn_as_they_are(tmp_path: Any) -> None:
    figure = nmt.plot_attention(
        small_translator()("$_$ costs $5 and $\\frac$ _a_^b %"), "encoder"
    )
    figure.savefig(tmp_path / "a.png")
    assert labels(figure.axes[0])[0][1] == "$_$"


def test_a_grid_needs_a_word_for_each_row_and_column() -> None:
    _, axes = new_figure()
    with pytest.raises(nmt.ShapeError, match="3 rows and 2 columns"):
        draw_grid(axes[0], torch.zeros(2, 3), ["a", "b", "c"], ["x", "y"])


def test_bf16_weights_can_be_drawn() -> None:
    _, axes = new_figure()
    draw_grid(axes[0], torch.ones(2, 3, dtype=torch.bfloat16), "ab", "xyz")
    assert labels(axes[0]) == (["a", "b"], ["x", "y", "z"])
