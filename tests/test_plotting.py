from typing import Any

import pytest
import torch
from matplotlib.figure import Figure
from small import small_translator

import nmt_lib as nmt
from nmt_lib.decoding import Candidate
from nmt_lib.plotting import draw_grid, new_figure


@pytest.fixture(scope="module")
def translation() -> nmt.Translation:
    return small_translator(2, n_layers=1, n_decoder_layers=3)("ich sehe qwertz")


def labels(axis: Any) -> tuple[list[str], list[str]]:
    return [t.get_text() for t in axis.get_yticklabels()], [t.get_text() for t in axis.get_xticklabels()]


SOURCE = ["<sos>", "ich", "sehe", "qwertz", "<eos>"]


def test_each_kind_has_its_words_on_its_axes(translation: nmt.Translation) -> None:
    written, read = [*translation.tokens, "<eos>"], ["<sos>", *translation.tokens]
    assert len(written) > 2
    expected = {"encoder": (SOURCE, SOURCE), "decoder": (written, read), "cross": (written, SOURCE)}
    for kind, (rows, columns) in expected.items():
        figure = nmt.plot_attention(translation, kind, layer=0)
        assert isinstance(figure, Figure) and len(figure.axes) == 4
        for head, axis in enumerate(figure.axes):
            assert labels(axis) == (rows, columns)
            image = axis.images[0].get_array()
            assert image.shape == (len(rows), len(columns))
            shown = getattr(translation.attention, kind)[0][0, head]
            torch.testing.assert_close(torch.tensor(image.tolist()), shown)
            assert axis.get_title() == f"head {head}"
        assert figure.axes[0].get_ylabel() and figure.get_supxlabel()


def test_a_causal_grid_is_empty_above_its_diagonal(translation: nmt.Translation) -> None:
    image = nmt.plot_attention(translation, "decoder", heads=[0]).axes[0].images[0].get_array()
    assert all(image[t, s] == 0 for t in range(len(image)) for s in range(t + 1, len(image)))


def test_layers_and_heads_can_be_chosen(translation: nmt.Translation) -> None:
    figure = nmt.plot_attention(translation, layer=-1, heads=[2, 0])
    assert [axis.get_title() for axis in figure.axes] == ["head 2", "head 0"]
    last = nmt.plot_attention(translation, layer=2, heads=[2, 0])
    assert (figure.axes[0].images[0].get_array() == last.axes[0].images[0].get_array()).all()


def test_a_negative_head_is_titled_by_its_number(translation: nmt.Translation) -> None:
    assert nmt.plot_attention(translation, heads=[-1]).axes[0].get_title() == "head 3"


@pytest.mark.parametrize(("columns", "shape"), [(1, (4, 1)), (2, (2, 2)), (3, (2, 3)), (9, (1, 4))])
def test_grids_stand_in_rows_and_columns(translation: nmt.Translation, columns: int, shape: tuple[int, int]) -> None:
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
def test_a_wrong_choice_is_named(translation: nmt.Translation, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        nmt.plot_attention(translation, **options)


def test_an_empty_translation_has_nothing_to_draw() -> None:
    with pytest.raises(ValueError, match="empty"):
        nmt.plot_attention(small_translator()(""))


def test_drawing_needs_no_display_and_leaves_pyplot_alone(translation: nmt.Translation, tmp_path: Any) -> None:
    import matplotlib
    import matplotlib.pyplot as plt

    before = (plt.get_fignums(), dict(matplotlib.rcParams), matplotlib.get_backend())
    nmt.plot_attention(translation).savefig(tmp_path / "a.png")
    assert (plt.get_fignums(), dict(matplotlib.rcParams), matplotlib.get_backend()) == before
    assert (tmp_path / "a.png").stat().st_size > 1000


def test_words_with_dollars_are_drawn_as_they_are(tmp_path: Any) -> None:
    figure = nmt.plot_attention(small_translator()("$_$ costs $5 and $\\frac$ _a_^b %"), "encoder")
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


def test_the_history_is_drawn_by_update() -> None:
    history = [{"step": s, "epoch": 0, "lr": s / 10, "train_loss": 4.0 / s, "valid_loss": 3.0 / s} for s in (1, 2, 4)]
    losses, rates = nmt.plot_history(history).axes
    assert [list(line.get_ydata()) for line in losses.lines] == [[4.0, 2.0, 1.0], [3.0, 1.5, 0.75]]
    assert [list(line.get_xdata()) for line in (*losses.lines, *rates.lines)] == [[1, 2, 4]] * 3
    assert list(rates.lines[0].get_ydata()) == [0.1, 0.2, 0.4]
    assert len(losses.get_legend().get_texts()) == 2 and rates.get_xlabel() == "update"


TRACE = [  # two steps of a beam of two, as beam_search writes them
    Candidate(1, (), 4, -0.5, "kept"),
    Candidate(1, (), 5, -1.0, "kept"),
    Candidate(1, (), 6, -2.0, "dropped"),
    Candidate(2, (5,), nmt.EOS, -1.1, "finished"),
    Candidate(2, (4,), 7, -1.2, "kept"),
    Candidate(2, (4,), 6, -1.5, "kept"),
    Candidate(2, (5,), 7, -1.9, "dropped"),
]


def lookup(ids: list[int]) -> list[str]:
    return [f"$w{index}" for index in ids]


def test_a_beam_is_drawn_as_a_tree(tmp_path: Any) -> None:
    figure = nmt.plot_beam(TRACE, lookup, best=[5])
    figure.savefig(tmp_path / "a.png")
    (axis,) = figure.axes
    assert [t.get_text() for t in axis.texts][:2] == ["<sos>", "$w4\n-0.50"] and len(axis.texts) == 1 + len(TRACE)
    places = {t.get_text(): t.get_position() for t in axis.texts}
    lines = axis.lines[: len(TRACE)]  # the others are the legend's
    assert all(line.get_xdata()[1] - line.get_xdata()[0] == 1 for line in lines)
    eos = next(line for line in lines if line.get_ydata()[1] == places["$w3\n-1.10"][1] and line.get_xdata()[1] == 2)
    assert eos.get_ydata()[0] == places["$w5\n-1.00"][1] and eos.get_color() == "tab:green"
    assert [line.get_linewidth() for line in lines].count(3) == 2  # the path of the best: $w5, <eos>
    assert [t.get_text() for t in figure.legends[0].get_texts()] == ["kept", "finished", "dropped"]


def test_the_lines_of_a_tree_do_not_cross() -> None:
    lines = [line for line in nmt.plot_beam(TRACE, lookup).axes[0].lines[: len(TRACE)] if line.get_xdata()[1] == 2]
    starts_ends = sorted((line.get_ydata()[0], line.get_ydata()[1]) for line in lines)
    ends = [end for _, end in starts_ends]
    assert ends == sorted(ends)


def test_a_real_trace_can_be_drawn_and_an_empty_one_is_named() -> None:
    translator, trace = small_translator(), list[Candidate]()
    nmt.beam_search(translator.model, torch.tensor([translator.encode("ich sehe")]), 3, trace=trace)
    figure = nmt.plot_beam(trace, translator.tgt_tokenizer.lookup_tokens)
    assert len(figure.axes[0].texts) == 1 + len(trace)
    with pytest.raises(ValueError, match="empty trace"):
        nmt.plot_beam([], lookup)
