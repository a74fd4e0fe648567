"""What a picture says is true: its words, numbers and positions."""

import re
from base64 import b64decode
from html import unescape
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch
from matplotlib.colors import to_hex, to_rgb
from matplotlib.text import Annotation

import nmt_book as book
import nmt_lib as nmt
from nmt_book.chapter00.pictures import plot_links
from nmt_book.chapter01.check import my_cut
from nmt_book.chapter01.pictures import plot_merges, plot_subwords
from nmt_book.chapter02.pictures import plot_hands
from nmt_book.chapter04.pictures import plot_steps
from nmt_book.chapter06.pictures import plot_data_path
from nmt_book.chapter07.pictures import plot_history
from nmt_book.chapter08.pictures import FATES, plot_beam, plot_choices
from nmt_book.chapter10.pictures import plot_ngrams
from nmt_book.chapter11.pictures import (
    ARTICLES,
    DEFECTS,
    HARM,
    plot_defects,
    show_defects,
)
from nmt_book.chapter12.pictures import plot_padding
from nmt_book.deeper_06.pictures import plot_parameters
from nmt_book.pictures.data import BOOK, load_data
from nmt_book.pictures.machine import machine, machine_svg
from nmt_book.pictures.palette import DARK, LIGHT, ROLES
from nmt_lib.config import DataConfig
from nmt_lib.translate.heatmap import FONT, WIDTH
from nmt_lib.translate.search import Candidate
from tests.lib.small import small_model, small_translator

SOURCE = ["<sos>", "ich", "sehe", "qwertz", "<eos>"]


@pytest.fixture(scope="module")
def translation() -> nmt.Translation:
    return small_translator(2, n_layers=1, n_decoder_layers=3)("ich sehe qwertz")


def axes(figure: Any) -> list[Any]:
    return figure.axes


def axis_of(figure: Any) -> Any:
    (axis,) = figure.axes
    return axis


def texts(some: Any) -> list[str]:
    return [text.get_text().strip() for text in some]


def labels(axis: Any) -> tuple[list[str], list[str]]:
    """The words of the rows and of the columns."""
    return texts(axis.get_yticklabels()), texts(axis.get_xticklabels())


def shown(axis: Any) -> torch.Tensor:
    return torch.tensor(axis.images[0].get_array().tolist())


def points(axis: Any) -> list[list[list[float]]]:
    return [np.asarray(line.get_data()).tolist() for line in axis.lines]


def words_at(axis: Any) -> dict[str, tuple[float, float]]:
    """Text → position."""
    return {text.get_text(): text.get_position() for text in axis.texts}


def colours(axis: Any) -> list[str]:
    return [to_hex(patch.get_facecolor()) for patch in axis.patches]


def marked(some: Any) -> str:
    """The texts as dots, or as x where their boxes stand out."""
    edges = [text.get_bbox_patch().get_linewidth() for text in some]
    return "".join("x" if edge == 2 else "." for edge in edges)


def words_of(pairs: list[nmt.Pair]) -> tuple[nmt.Tokenizer, nmt.Tokenizer]:
    return nmt.build_tokenizers(DataConfig(tokenizer="whitespace"), pairs)


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_each_kind_has_its_words_on_its_axes(
    translation: nmt.Translation, kind: str
) -> None:
    written, read = [*translation.tokens, "<eos>"], ["<sos>", *translation.tokens]
    rows = SOURCE if kind == "encoder" else written
    columns = read if kind == "decoder" else SOURCE
    figure = nmt.plot_attention(translation, kind, layer=0)
    weights = getattr(translation.attention, kind)[0][0]
    for head, axis in enumerate(figure.axes):
        place: Any = axis.get_subplotspec()
        down, across = place.is_first_col(), place.is_last_row()
        assert labels(axis) == (rows if down else [], columns if across else [])
        torch.testing.assert_close(shown(axis), weights[head])
        assert axis.get_title() == f"head {head}"
    assert head == 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "self"}, "'self'.*encoder, decoder, cross"),
        ({"layer": 3}, "layer 3.*0 to 2"),
        ({"gold": [(3, 0)]}, "3 source words"),
    ],
)
def test_a_wrong_choice_is_named(
    translation: nmt.Translation, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        nmt.plot_attention(translation, **options)


@pytest.mark.parametrize("thing", ["A", 99])
def test_a_thing_of_another_kind_is_named_in_one_sentence(thing: Any) -> None:
    for name in ("view_attention", "explore", "progress", "play", "machine"):
        with pytest.raises((TypeError, ValueError), match=r"^(a|there is|no) .*$"):
            getattr(book, name)(thing)


def test_gold_links_frame_column_source_and_row_target(
    translation: nmt.Translation,
) -> None:
    both, gold = [translation] * 2, [[], [(2, 0), (0, 1)]]
    plain, framed = axes(nmt.plot_attention(both, heads=[1], gold=gold))
    frames = [(frame.get_x() + 0.5, frame.get_y() + 0.5) for frame in framed.patches]
    assert frames == [(3, 0), (1, 1)], "after <sos>, word 2 is in column 3"
    assert not plain.patches


def test_as_many_grids_share_a_line_as_a_phone_can_show() -> None:
    words = list("abcdefghij")
    figure = book.plot_grids({str(i): torch.eye(10) for i in range(4)}, words, words)
    places: list[Any] = [axis.get_subplotspec() for axis in figure.axes]
    lines = [place.rowspan.start for place in places]
    assert lines == [0, 0, 1, 1] and figure.get_figwidth() <= WIDTH
    assert FONT / 72 * 386 / WIDTH >= 9, "pixels of a letter on a phone"


def test_grids_have_their_words_and_their_numbers() -> None:
    words, a = ["$5", "<b>", "😀"], torch.arange(6.0).view(3, 2) / 5
    grids, columns = {"a": a, "b_$x$": torch.eye(3)}, [["x", "y"], words]
    left, right = book.plot_grids(grids, words, columns, numbers=".1f").axes
    assert (labels(left), labels(right)) == ((words, ["x", "y"]), ([], words))
    torch.testing.assert_close(shown(left), a)
    assert words_at(left)["0.2"] == (1, 0), "column 1, row 0"
    staircase = axis_of(book.plot_grids(torch.ones(3, 3).tril(), dots=[(2, 1)]))
    assert points(staircase) == [[[2], [1]]], "column 2, row 1"
    for word, turned in (("elle", 0), ("cross-attention", 90)):
        axis = axis_of(book.plot_grids(a, columns=["il", word], numbers=".1f"))
        assert {label.get_rotation() for label in axis.get_xticklabels()} == {turned}


def test_diagrams_have_their_boxes_in_the_axes_and_an_arrow_between_two() -> None:
    data = "defects", "mistakes"
    diagrams = [file for file in BOOK.glob("*[0-9]/*.yaml") if file.stem not in data]
    assert len(diagrams) == 9
    for file in diagrams:
        name = f"{file.parent.name}/{file.stem}"
        figure, panels = book.plot_boxes(name), load_data(name)["panels"]
        assert figure.get_figwidth() <= WIDTH
        for axis, (title, panel) in zip(figure.axes, panels.items(), strict=True):
            at, boxes = words_at(axis), panel["boxes"]
            assert axis.get_title() == title
            for text, x, y, _ in boxes.values():
                (left, right), (low, high) = axis.get_xlim(), axis.get_ylim()
                assert text in at and left < x < right and low < y < high
            arrows = [text for text in axis.texts if isinstance(text, Annotation)]
            ends = [[boxes[name][1:3] for name in a[:2]] for a in panel["arrows"]]
            assert [[[*a.xyann], [*a.xy]] for a in arrows] == ends


def test_curves_have_their_positions_and_runs_their_mean() -> None:
    curves = {"$5": [1, 2], "<b>": ([1, 3], torch.tensor([3.0, 2.0]))}
    axis = axis_of(book.plot_lines(curves, [1, 4], dots={"d": (2, 1)}))
    assert points(axis) == [[[1, 4], [1, 2]], [[1, 3], [3, 2]], [[2], [1]]]
    assert not axis.lines[-1].get_clip_on(), "a point may lie on the edge"
    *_, mean = points(axis_of(book.plot_lines({"a": [[1, 2], [3, 4]]}, log="x")))
    assert mean == [[1, 2], [2, 3]], "a logarithmic axis has no 0"


def test_five_curves_have_their_names_at_their_ends_and_apart() -> None:
    axis = axis_of(book.plot_lines({f"{i}": [1, i // 3] for i in range(5)}))
    ends = sorted((name.xy[1], name.get_text()) for name in axis.texts)
    assert [text for _, text in ends] == [f"{s} {i}" for i, s in enumerate("●■▲◆▼")]
    heights = [height for height, _ in ends]
    assert min(b - a for a, b in pairwise(heights)) > 0.09
    assert not axis.figure.legends


def test_only_a_marked_curve_has_the_colour_of_a_mistake() -> None:
    curves = {name: [1, 2] for name in "abcdef"}
    lines = axis_of(book.plot_lines(curves, marked="b")).lines
    assert [line.get_color() == LIGHT["mistake"] for line in lines] == [
        name == "b" for name in "abcdef"
    ]


def test_bars_have_their_labels_and_numbers_the_first_on_top() -> None:
    axis = axis_of(book.plot_bars({"$5": 1, "<b>": 2.25}, numbers=".1f"))
    assert labels(axis)[0] == ["$5", "<b>"] and axis.yaxis_inverted()
    assert [bar.get_width() for bar in axis.patches] == [1, 2.25]
    assert sorted(texts(axis.texts)) == ["1.0", "2.2"]
    assert labels(axis_of(book.plot_bars({"x": [1, 2]}, ["a", "b"])))[0] == ["a", "b"]


def test_training_and_validation_have_their_own_losses() -> None:
    rows = [{"step": 1, "train_loss": 4.0, "valid_loss": 3.0}]
    axis, _ = axes(plot_history(rows, nmt.load_config("tiny")))
    drawn = {line.get_label()[:8]: line.get_ydata().tolist() for line in axis.lines}
    assert drawn == {"training": [4], "validati": [3]}
    with pytest.raises(ValueError, match="the history is empty: plot it after"):
        plot_history([], nmt.load_config("tiny"))


def test_branches_of_a_choice_share_its_height() -> None:
    fork = dict.fromkeys("abc", 1 / 3)
    axis = axis_of(plot_choices({"": fork, "a": fork}, {"a a": "right"}))
    a, aa, ab, ac, b, c = (end for _, (_, end) in points(axis))
    assert (b, c) == (0, -a) and aa > ab == a > ac > b
    assert aa - ab == pytest.approx(ab - ac)


def test_links_join_the_words_of_two_rows_and_bow_within_one() -> None:
    rows = {"new": {"en": ["a", "red"], "fr": ["$5", "<b>", "😀"]}, "old": {"": ["x"]}}
    links = [((0, 1), (1, 2)), ((1, 2), (1, 0))]
    first, _ = axes(book.plot_words(rows, links=links, marked=[(1, 2)]))
    at, bow = words_at(first), first.texts[-1]
    assert points(first) == [[*map(list, zip(at["red"], at["😀"], strict=True))]]
    assert (bow.xyann[0], bow.xy[0]) == (at["😀"][0], at["$5"][0])
    assert marked(first.texts[:5]) == "....x"


def test_special_tokens_beside_each_other_do_not_touch() -> None:
    figure: Any = book.plot_words({"row": ["<unk>", "<eos>"] * 7})
    figure._repr_png_()
    words = axis_of(figure).texts
    boxes = [word.get_bbox_patch().get_window_extent() for word in words]
    assert all(a.x1 + 1 < b.x0 for a, b in pairwise(boxes))


def test_hands_start_at_twelve_and_turn_clockwise() -> None:
    clocks = {"0": nmt.sinusoids(1, 4), "1": nmt.sinusoids(1, 4, start=1)}
    first, second, *_ = axes(plot_hands(clocks, ["fast", "slow"]))
    tips = [axis.lines[1].get_xydata()[1].tolist() for axis in (first, second)]
    assert tips[0][0] == 0 < tips[0][1], "up at position 0"
    assert tips[1][0] > 0.7 > tips[1][1] > 0, "to the right after one radian"


TRACE = [  # two steps of a beam of two, as beam_search writes them
    Candidate(1, (), 4, -0.5, "kept"),
    Candidate(1, (), 5, -1.0, "kept"),
    Candidate(1, (), 6, -2.0, "dropped"),
    Candidate(2, (5,), nmt.EOS, -1.1, "finished"),
    Candidate(2, (4,), 7, -1.2, "kept"),
    Candidate(2, (4,), 6, -1.5, "kept"),
]


def test_a_beam_is_drawn_as_a_tree_without_crossing_lines() -> None:
    def tree(start: int) -> Any:
        lookup = lambda ids: [f"$w{i}" for i in ids]  # noqa: E731
        return axis_of(plot_beam(TRACE, lookup, best=[5], start=start))

    axis = tree(0)
    at, drawn = words_at(axis), axis.lines[: len(TRACE)]
    lines = {tuple(map(tuple, line.get_xydata())): line for line in drawn}
    eos = lines[at["$w5\n-1.00"], at["$w3\n-1.10"]]
    assert (eos.get_color(), eos.get_linewidth()) == (LIGHT[FATES["finished"]], 3)
    thick = [line for line in drawn if line.get_linewidth() == 3]
    assert len(thick) == 2, "the path of the best: $w5, <eos>"
    ends = [end for _, end in sorted((a[1], b[1]) for a, b in lines if b[0] == 2)]
    assert ends == sorted(ends), "no two lines cross"
    at = words_at(tree(1))
    assert at.keys() == {"… $w5", "$w3\n-1.10"} and at["… $w5"] == (0, 0)


def test_on_a_batchs_path_every_tensor_has_its_shape_and_masks_what_is_seen() -> None:
    pairs = [nmt.Pair("a b c", "d e"), nmt.Pair("a", "d")]
    tokenizers = words_of(pairs)
    ids = [(tokenizers[0].encode(p.src), tokenizers[1].encode(p.tgt)) for p in pairs]
    model = small_model(0, *map(len, tokenizers))
    axis = axis_of(plot_data_path(model, nmt.make_batch(ids), *tokenizers, row=1))
    shapes = {"src\n(2, 5)", "memory\n(2, 5, 16)", "tgt_in\n(2, 3)"}
    assert shapes <= {*texts(axis.texts)}
    # Twice the three real source tokens of five; of the target's two 1 + 2 + 2.
    assert colours(axis).count(LIGHT["right"]) == 2 * 3 + 5


def test_ngrams_are_clipped() -> None:
    axis = axis_of(plot_ngrams(["a", "a", "b", "c", "d"], [*"abced"]))
    found = ["4 of 5", "2 of 4", "1 of 3", "0 of 2"]
    assert labels(axis)[0] == [f"n = {n}:\n{said}" for n, said in enumerate(found, 1)]
    seen = "".join(
        "x" if colour == LIGHT["right"] else "." for colour in colours(axis)[:9]
    )
    assert seen == ".xxxx" + ".xx."


def test_steps_write_scores_weights_and_outputs() -> None:
    Q, K, V = torch.zeros(2, 4), torch.zeros(2, 4), torch.eye(2)
    Q[:, 0], K[0, 0] = torch.tensor([4.0, 2.0]), 1.0  # over √4: 2 and 1
    axis = axis_of(plot_steps(Q, K, V, ["a", "b"], [*"qrst"], ["x", "y"], 0))
    # Sigmoids of 2 and of 1: as weights, and, since V is the identity, as output.
    numbers = ("0.88", "0.12", "0.73", "0.27")
    assert [texts(axis.texts).count(number) for number in numbers] == [2, 2, 2, 2]


def test_a_box_spans_the_letters_of_its_token() -> None:
    rows = {"characters": list("ab  b"), "words": ["ab", "b"]}
    axis = axis_of(plot_subwords({"ab  b": rows}))
    ends = [patch.get_path().get_extents().extents for patch in axis.patches[5:]]
    assert np.round(ends).tolist() == [[0, 1, 2, 1], [4, 1, 5, 1]]  # x, y, x, y
    with pytest.raises(ValueError, match="no 'c' after position 1"):
        plot_subwords({"a b": {"words": ["a", "c"]}})
    axis = axis_of(plot_merges(my_cut.right, ["abab"], [("a", "b"), ("▁", "ab")]))
    assert labels(axis)[0] == ["characters", "a + b", "▁ + ab"]
    assert words_at(axis) == {"▁": (0.5, 2), "a": (3.5, 2), "b": (4.5, 2)}
    assert [box.get_linewidth() for box in axis.patches[5:]] == [1, 2, 2, 2, 1]


def test_padding_is_what_lies_beyond_the_length_in_a_typical_batch() -> None:
    lengths = torch.tensor([2, 4, 1, 4, 3, 4])  # 75, 62.5 and 87.5 % are text: 75 %
    plan = [[2, 3], [0, 1], [4, 5]]
    wide, axis = plot_padding(lengths, {"to 5": (plan, 5), "": (plan, 0)}).axes
    assert shown(wide).tolist() == [[1, 1, 0, 0, 0], [1, 1, 1, 1, 0]]
    assert wide.get_title() == "to 5: 2 × 5 ids, 40% padding"
    assert axis.get_title() == ": 2 × 4 ids, 25% padding"


def test_words_that_change_places_are_marked() -> None:
    pair = nmt.Pair("a b c", "d f e", alignment=((0, 0), (1, 2), (2, 1)))
    axis = axis_of(plot_links(pair, *words_of([pair]), ["en", "fr"]))
    assert marked(axis.texts) == ".xx.xx"
    assert labels(axis)[0] == ["en", "fr"] and len(points(axis)) == 3


def test_parameters_are_counted_by_part_and_kind() -> None:
    model = small_model(n_layers=1)
    axis = axis_of(plot_parameters(model))
    parts = labels(axis)[0]
    million = [bar.get_width() for bar in axis.patches]
    assert len(million) == 3 * len(parts)
    norms = sum(w.numel() for n, w in model.named_parameters() if "norm" in n)
    assert sum(million) * 1e6 == pytest.approx(nmt.count_parameters(model) - norms)
    attention = dict(zip(parts, million, strict=False))
    assert attention["decoder"] == 2 * attention["encoder"] > 0


def test_defects_are_coloured_where_a_write_up_has_them() -> None:
    axis = axis_of(plot_defects())
    words, cells = words_at(axis), {}
    for cell, colour in zip(axis.patches, colours(axis), strict=True):
        x, y = cell.get_x() + cell.get_width() / 2, cell.get_y() + cell.get_height() / 2
        cells[round(x), round(y, 1)] = colour
    for verdict, defects in DEFECTS.items():
        for what, lines, _ in defects:
            y = words[what][1]
            found = [cells.pop((x, round(y, 1))) == HARM[verdict] for x in range(5)]
            assert found == [letter in lines for letter in "ABCDE"]
    assert not cells


def test_each_defect_has_the_line_of_each_who_has_it_and_a_link() -> None:
    _, _, *rows = unescape(show_defects().data).split("<tr>")
    defects = [defect for group in DEFECTS.values() for defect in group]
    for row, below, (what, lines, measured) in zip(
        rows[::2], rows[1::2], defects, strict=True
    ):
        assert f">{what}</th>" in row and f">{measured}</td>" in row
        for letter, line in lines.items():
            assert all(f"<code>{part}</code>" in below for part in line.split(" | "))
            link = f'<a href="{ARTICLES.get(letter)}">{letter}</a>'
            assert (link in below) == (letter in ARTICLES)


@pytest.mark.parametrize("colors", [LIGHT, DARK])
def test_a_colour_can_be_read_as_text_on_each_ground(colors: dict[str, str]) -> None:
    def luminance(color: str) -> float:
        parts = torch.tensor(to_rgb(colors[color]))
        linear = torch.where(
            parts > 0.04, ((parts + 0.055) / 1.055) ** 2.4, parts / 12.92
        )
        return float(linear @ torch.tensor([0.2126, 0.7152, 0.0722]))

    for role in {*ROLES, "ink", "faint"} - {"gold"}:  # gold is never text
        for ground in ("paper", "soft"):
            dark, bright = sorted((luminance(role), luminance(ground)))
            assert (bright + 0.05) / (dark + 0.05) >= 4.5, (role, ground)


def test_pictures_take_their_colours_from_the_palette() -> None:
    files = [*BOOK.glob("*/pictures.py"), *BOOK.glob("pictures/*.py")]
    literal = re.compile(r'"(#[0-9a-f]{3,8}|C\d|blue|orange|green|red)"[,)]')
    named = {file: literal.findall(file.read_text(encoding="utf-8")) for file in files}
    assert [file.name for file, found in named.items() if found] == ["palette.py"]


@pytest.mark.parametrize("number", load_data("pictures/machine"))
def test_the_machine_has_each_part_that_a_chapter_lights(number: str) -> None:
    _, parts = load_data("pictures/machine")[number]
    svg = machine_svg(number)
    groups = [{*found.split()} for found in re.findall('<g class="(.*?)"', svg)]
    named = [{*part.split(".")} for part in parts.split()]
    lit = [[part <= group for part in named] for group in groups]
    assert ["on" in group for group in groups] == [*map(any, lit)]
    assert np.any(lit, axis=0).all() and ('wrong"' in svg) == (number == "11")
    sizes = re.findall(r"font(?:-size)?: (\d+)px", svg)
    assert min(map(int, sizes)) >= 11 and "@" not in svg.replace("@media", "")
    shown = machine(number).data
    assert machine(int(number)).data == shown  # type: ignore[arg-type]
    data = re.findall('src="data:image/svg.xml;base64,(.*?)"', shown)[0]
    assert LIGHT["encoder"] in b64decode(data).decode() and "alt=" in shown
