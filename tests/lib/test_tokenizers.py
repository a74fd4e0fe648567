"""Tokenizers: text to ids and back, in all kinds, and what becomes of strange text."""

import base64
import json
import random
import zlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.lib.small import read_lines

import nmt_lib as nmt
from nmt_lib.bpe_dropout import sample
from nmt_lib.config import DataConfig
from nmt_lib.runs.folder import load_tokenizer, load_tokenizers, save_tokenizers
from nmt_lib.special import SPECIALS
from nmt_lib.tokenizers import SentencePieceTokenizer, Tokenizer, WordTokenizer
from nmt_lib.vocab import Vocab
from nmt_lib.words import join_words, spacy_words

KINDS = ("whitespace", "spacy", "unigram", "bpe")
STRANGE = [
    "<pad>",
    "<sos> a </s> <eos>",
    "a\0b",
    "▁",
    "▁▁a",
    "\u200b",
    "😀 👩‍👩‍👧",
    "中文",
    "e\u0301",
    "\t\n ",
    "",
    "x" * 5000,
]
PAIRS = [
    nmt.Pair(f"The {a} man reads {b} book .", f"Der {c} Mann liest {d} Buch .")
    for a, c in (("old", "alte"), ("tall", "große"), ("happy", "frohe"))
    for b, d in (("a", "ein"), ("the", "das"), ("this", "dieses"))
]


def build(
    kind: str, pairs: list[nmt.Pair] = PAIRS, **options: Any
) -> tuple[Tokenizer, Tokenizer]:
    fields: dict[str, Any] = {
        "src_lang": "en",
        "tgt_lang": "de",
        "tokenizer": kind,
        "vocab_size": 60,
    } | options
    return nmt.build_tokenizers(DataConfig(**fields), pairs)


JOINT = [
    kind for kind in KINDS if kind != "spacy"
]  # spaCy's rules are those of one language


@pytest.mark.parametrize(
    ("kind", "joint"),
    [(kind, False) for kind in KINDS] + [(kind, True) for kind in JOINT],
)
def test_known_text_comes_back(kind: str, joint: bool) -> None:
    for side, tokenizer in zip(("src", "tgt"), build(kind, joint=joint), strict=True):
        for pair in PAIRS:
            text = getattr(pair, side)
            expected = text.replace(" .", ".") if kind == "spacy" else text
            assert tokenizer.decode(tokenizer.encode(text)) == expected


@pytest.mark.parametrize("kind", KINDS)
def test_special_tokens_have_the_same_ids_everywhere(kind: str) -> None:
    for tokenizer in build(kind):
        assert tokenizer.lookup_tokens(range(4)) == list(SPECIALS)
        ids = tokenizer.encode("The man")
        assert (ids[0], ids[-1]) == (nmt.SOS, nmt.EOS)
        assert tokenizer.encode("The man", sos=False, eos=False) == ids[1:-1]
        assert tokenizer.decode([nmt.PAD, *ids, nmt.PAD]) == tokenizer.decode(ids)
        assert len(tokenizer.tokenize("The man")) == len(ids) - 2


@pytest.mark.parametrize("kind", JOINT)
def test_joint_is_one_tokenizer_with_the_tokens_of_both_languages(kind: str) -> None:
    src, tgt = build(kind, joint=True)
    assert src.dumps() == tgt.dumps()
    assert nmt.UNK not in src.encode("The old man liest ein Buch .")
    apart = build(kind)
    assert apart[0] is not apart[1]


@pytest.mark.parametrize("joint", [False, True])
@pytest.mark.parametrize("kind", JOINT)
def test_the_source_tokenizer_knows_whether_its_texts_start_with_sos(
    kind: str, joint: bool, tmp_path: Path
) -> None:
    src, tgt = build(kind, joint=joint, src_specials=False)
    assert (
        src.encode("The man")[0] == nmt.SOS,
        tgt.encode("The man")[0] == nmt.SOS,
    ) == (False, True)
    assert src.encode("The man", sos=True) == [nmt.SOS, *src.encode("The man")]
    save_tokenizers(tmp_path, (src, tgt))
    for said in (
        False,
        True,
    ):  # the files are the same in both cases; the run's config decides
        src, tgt = load_tokenizers(tmp_path, DataConfig(src_specials=said))
        assert (
            src.encode("The man")[0] == nmt.SOS,
            tgt.encode("The man")[0] == nmt.SOS,
        ) == (said, True)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("text", STRANGE)
def test_strange_text_gives_ids_within_the_vocabulary_and_no_special_ones_inside(
    kind: str, text: str
) -> None:
    tokenizer = build(kind)[0]
    inside = tokenizer.encode(text)[1:-1]
    assert all(
        index == nmt.UNK or len(SPECIALS) <= index < len(tokenizer) for index in inside
    )
    assert isinstance(tokenizer.decode(inside), str)


@pytest.mark.parametrize("kind", KINDS)
def test_specials_written_in_the_training_text_are_ordinary_words(kind: str) -> None:
    tokenizer = build(
        kind, [nmt.Pair("<pad> the <eos> man <unk>", "<sos> der </s> Mann")] * 3
    )[0]
    assert tokenizer.lookup_tokens(range(4)) == list(SPECIALS)
    assert not {nmt.PAD, nmt.SOS, nmt.EOS} & set(
        tokenizer.encode("<pad> the <eos> man", sos=False, eos=False)
    )


@pytest.mark.parametrize("kind", ["whitespace", "spacy"])
def test_an_unknown_word_is_unk_and_no_other_is(kind: str) -> None:
    tokenizer = build(kind)[0]
    assert tokenizer.lookup_tokens(tokenizer.encode("The 😀 man")) == [
        "<sos>",
        "The",
        "<unk>",
        "man",
        "<eos>",
    ]
    assert tokenizer.decode(tokenizer.encode("The 😀 man")) == "The <unk> man"


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_pieces_spell_words_never_seen(kind: str) -> None:
    tokenizer = build(kind)[0]
    assert tokenizer.decode(tokenizer.encode("hat theory")) == "hat theory"
    assert nmt.UNK in tokenizer.encode("中")


def test_min_freq_leaves_rare_words_out() -> None:
    assert build("whitespace", min_freq=3)[0].encode("tall", False, False) != [nmt.UNK]
    assert build("whitespace", min_freq=4)[0].encode("tall", False, False) == [nmt.UNK]


@pytest.mark.parametrize("kind", KINDS)
def test_lowercase_folds_the_text_in_training_and_in_use(kind: str) -> None:
    tokenizer = build(kind, lowercase=True)[0]
    assert tokenizer.encode("THE OLD MAN") == tokenizer.encode("the old man")
    assert nmt.UNK not in tokenizer.encode("THE OLD MAN")
    assert all(
        token == token.lower()
        for token in tokenizer.lookup_tokens(range(4, len(tokenizer)))
    )


@pytest.mark.parametrize("kind", KINDS)
def test_what_was_saved_loads_equal(kind: str, tmp_path: Path) -> None:
    tokenizer = build(kind, lowercase=True)[1]
    (tmp_path / "tokenizer.json").write_text(tokenizer.dumps(), encoding="utf-8")
    again = load_tokenizer(tmp_path / "tokenizer.json")
    assert (again.kind, again.lowercase, len(again)) == (kind, True, len(tokenizer))
    assert again.lookup_tokens(range(len(again))) == tokenizer.lookup_tokens(
        range(len(tokenizer))
    )
    for text in [PAIRS[0].tgt, *STRANGE]:
        assert again.encode(text) == tokenizer.encode(text)


@pytest.mark.parametrize("kind", ["whitespace", "bpe"])
@pytest.mark.parametrize(
    "damage", ["cut", "empty", "list", "field", "garbage", "specials"]
)
def test_a_damaged_file_is_named(kind: str, damage: str, tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text(build(kind)[0].dumps(), encoding="utf-8")
    content, fields = path.read_bytes(), json.loads(path.read_text(encoding="utf-8"))
    wrong = fields | ({"tokens": ["a", "b"]} if kind == "whitespace" else {"model": ""})
    path.write_bytes(
        {
            "cut": content[: len(content) // 2],
            "empty": b"",
            "list": b"[1, 2]",
            "field": json.dumps(
                {key: value for key, value in fields.items() if key != "kind"}
            ).encode(),
            "garbage": b"\xff" + content,
            "specials": json.dumps(wrong).encode(),
        }[damage]
    )
    with pytest.raises(nmt.CheckpointError, match=r"tokenizer.json is damaged"):
        load_tokenizer(path)


@pytest.mark.parametrize("packed", [zlib.compress(b"garbage"), b"garbage"])
def test_a_model_of_pieces_with_wrong_bytes_is_damaged(
    tmp_path: Path, packed: bytes
) -> None:
    path = tmp_path / "tokenizer.json"
    model = base64.b64encode(packed).decode()
    path.write_text(
        json.dumps({"kind": "bpe", "lowercase": False, "model": model}),
        encoding="utf-8",
    )
    with pytest.raises(nmt.CheckpointError, match=r"tokenizer.json is damaged"):
        load_tokenizer(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(nmt.CheckpointError, match=r"missing.json is missing"):
        load_tokenizer(tmp_path / "missing.json")


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_training_pieces_twice_gives_the_same_bytes(kind: str) -> None:
    one, two = (build(kind, vocab_size=45)[0].dumps() for _ in range(2))
    assert one == two


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_fewer_pieces_come_out_where_the_text_holds_no_more(kind: str) -> None:
    tokenizer = build(kind, vocab_size=8000)[0]
    assert 4 < len(tokenizer) < 200
    assert tokenizer.decode(tokenizer.encode(PAIRS[0].src)) == PAIRS[0].src


# ------------------------------------------------------------------------------------------------------ BPE dropout
DROPOUT = {
    "tokenizer": "bpe",
    "joint": True,
    "vocab_size": 90,
    "src_lang": "en",
    "tgt_lang": "de",
}


def drawn(
    epoch: int | None, share: float = 0.3, seed: int = 0
) -> list[tuple[list[int], list[int]]]:
    tokenizers = build("bpe", joint=True, vocab_size=90)
    config = nmt.load_config(
        "toy",
        **{f"data.{key}": value for key, value in DROPOUT.items()},
        **{"data.bpe_dropout": share, "train.seed": seed},
    )
    return list(nmt.encode_pairs(PAIRS, tokenizers, config, epoch))


@pytest.mark.parametrize(
    "text",
    [*(text for text in STRANGE if len(text) < 100), *(pair.tgt for pair in PAIRS)],
)
def test_where_no_merge_is_left_out_the_pieces_are_those_of_encode(text: str) -> None:
    for tokenizer in build("bpe", joint=True, vocab_size=90):
        assert isinstance(tokenizer, SentencePieceTokenizer)
        assert sample(
            tokenizer, 0.0, random.Random(0).random, text
        ) == tokenizer.encode(text)


def test_where_every_merge_is_left_out_the_pieces_are_letters() -> None:
    tokenizer = build("bpe")[0]
    assert isinstance(tokenizer, SentencePieceTokenizer)
    ids = sample(tokenizer, 1.0, random.Random(0).random, "The old man")
    assert tokenizer.lookup_tokens(ids) == ["<sos>", *"▁The▁old▁man", "<eos>"]


def test_each_epoch_has_pieces_of_its_own_and_the_same_text() -> None:
    tokenizer = build("bpe", joint=True, vocab_size=90)[0]
    first, second = drawn(0), drawn(1)
    assert first != second and first == drawn(0) and first != drawn(0, seed=1)
    for pair, *rows in zip(PAIRS, first, second, strict=True):
        assert all(
            (tokenizer.decode(src), tokenizer.decode(tgt)) == (pair.src, pair.tgt)
            for src, tgt in rows
        )
    assert sum(len(src) for src, _ in first) > sum(len(src) for src, _ in drawn(None))


def test_without_an_epoch_or_without_dropout_nothing_is_drawn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("nmt_lib.encoding.sample", None)
    src, tgt = build("bpe", joint=True, vocab_size=90)
    plain = [(src.encode(pair.src), tgt.encode(pair.tgt)) for pair in PAIRS]
    assert drawn(None) == drawn(0, share=0.0) == drawn(7, share=0.0) == plain


def test_a_merge_is_left_out_as_often_as_asked() -> None:
    """``ab`` stays in two pieces exactly where its only merge is left out."""
    tokenizer = SentencePieceTokenizer.train("bpe", ["ab"] * 9, 8, 1.0, False)
    draw = random.Random(0).random
    whole = len(sample(tokenizer, 0.0, draw, "ab"))
    apart = sum(len(sample(tokenizer, 0.25, draw, "ab")) > whole for _ in range(2000))
    merges = len("▁ab") + 2 - whole
    assert apart / 2000 == pytest.approx(1 - 0.75**merges, abs=0.04)


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_fewer_pieces_than_characters_is_an_error_that_says_so(kind: str) -> None:
    with pytest.raises(
        nmt.CorpusError,
        match=r"cannot make 8 pieces .data.vocab_size.* required_chars. 8 vs",
    ):
        build(kind, vocab_size=8)


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
@pytest.mark.parametrize(
    "pairs", [[], [nmt.Pair("\u200b", "a")]], ids=["nothing", "invisible"]
)
def test_no_text_for_pieces_is_an_error_that_says_so(
    kind: str, pairs: list[nmt.Pair]
) -> None:
    with pytest.raises(nmt.CorpusError, match=r"cannot make 60 pieces .*no line"):
        build(kind, pairs)


SPACY_EXAMPLES = [
    ("en", "Don't touch the man's T-shirt; it's new, isn't it?"),
    ("en", "They've read \"The Old Man\" (twice)... and they'll read it again!"),
    ("en", "The dogs' owner paid 50% more."),
    ("de", "Ein Mann im T-Shirt sagt: „Guten Tag!“ und geht weiter."),
    ("de", 'Ein Schild (rot) zeigt "Halt".'),
    ("fr", "L'homme dit qu'il n'aime pas aujourd'hui l'école."),
    ("fr", "J'ai vu quelqu'un en T-shirt : « Où vas-tu ? »"),
    ("fr", "Jusqu'ici, lorsqu'elle part (tôt), il l'attend..."),
]


@pytest.mark.parametrize(("lang", "text"), SPACY_EXAMPLES)
def test_words_join_to_the_sentence_they_were_split_from(lang: str, text: str) -> None:
    words = spacy_words(lang)(text)
    assert len(words) > len(text.split()), "spaCy has split the text"
    assert join_words(words, lang) == text


@pytest.mark.parametrize("lang", ["en", "de", "fr"])
def test_joining_no_words_gives_an_empty_text(lang: str) -> None:
    assert join_words([], lang) == ""


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text(max_size=4), max_size=12), st.sampled_from(["en", "de", "fr"]))
def test_joining_only_ever_moves_spaces(words: list[str], lang: str) -> None:
    assert "".join(join_words(words, lang).split()) == "".join("".join(words).split())


def test_every_sentence_of_the_tiny_corpus_comes_back() -> None:
    from nmt_lib.tiny.corpus import generate

    triples = generate()["valid"]
    for lang in ("en", "de", "fr"):
        texts = [triple.text(lang) for triple in triples]
        tokenizer = WordTokenizer.train("spacy", lang, texts, 1, False)
        assert [tokenizer.decode(tokenizer.encode(text)) for text in texts] == texts


@pytest.mark.parametrize("lang", ["en", "de", "fr"])
def test_nearly_every_caption_comes_back(real_data: Path, lang: str) -> None:
    """Measured on the first 3,000 captions; the others are typing errors such as a space before a full stop."""
    texts = [
        " ".join(text.split())
        for text in read_lines(real_data / "multi30k" / f"train.{lang}")[:3000]
    ]
    split = spacy_words(lang)
    assert sum(join_words(split(text), lang) == text for text in texts) > 0.99 * len(
        texts
    )


def test_the_word_tokenizer_takes_any_vocabulary_with_the_special_tokens() -> None:
    tokenizer = WordTokenizer("whitespace", "en", Vocab([*SPECIALS, "a"]))
    assert tokenizer.encode("a b") == [nmt.SOS, 4, nmt.UNK, nmt.EOS]


def test_words_without_end_are_cut_before_spacy_and_all_others_are_left_alone() -> None:
    """spaCy looks at each bracket of a word again for each that it takes off: its time grows with their square."""
    import spacy

    rules = spacy.blank("en").tokenizer
    words = [word for pair in PAIRS for word in pair.src.split()] + [
        "(" * 200,
        "http://" + "a/" * 96,
        "'((x)).'",
    ]
    for text in (
        " ".join(words),
        " ".join(reversed(words)),
        "  two  spaces\n",
        "x" * 200,
    ):
        assert spacy_words("en")(text) == [word.text for word in rules(text)]
    found = spacy_words("en")("x" * 450 + " y")
    assert found == ["x" * 200, "x" * 200, "x" * 50, "y"]


def test_a_pair_far_too_long_is_left_out_before_it_is_tokenised(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tokenizers = build("whitespace")
    config = nmt.load_config("toy", **{"data.max_length": 10})
    seen: list[int] = []
    encode = tokenizers[0].encode
    monkeypatch.setattr(
        tokenizers[0], "encode", lambda text: seen.append(len(text)) or encode(text)
    )
    long = nmt.Pair("(" * 321, "x")
    with pytest.warns(UserWarning, match="left out 2 of 4 pairs"):
        examples = nmt.encode_pairs(
            [PAIRS[0], long, PAIRS[1], nmt.Pair("x " * 9, "x")], tokenizers, config
        )
    assert (
        len(examples) == 2
        and examples[1][0] == encode(PAIRS[1].src)
        and max(seen) < 320
    )
    with pytest.raises(
        nmt.TrainingError, match=r"every pair is longer than data.max_length=10"
    ):
        nmt.encode_pairs([long, long], tokenizers, config)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"lang": "xx"}, "damaged"),
        ({"kind": "magic"}, "damaged"),
        ({"lowercase": "maybe"}, "damaged"),
        ({"tokens": [1, 2]}, "damaged"),
        ({"more": 1}, "damaged"),
        (
            {
                "kind": "bpe",
                "model": base64.b64encode(zlib.compress(bytes(1 << 27))).decode(),
            },
            "more than 67,108,864",
        ),
    ],
)
def test_fields_that_no_tokenizer_has_are_refused(
    fields: dict[str, Any], message: str, tmp_path: Path
) -> None:
    words = {
        "kind": "spacy",
        "lang": "en",
        "lowercase": False,
        "tokens": [*SPECIALS, "a"],
    }
    if "model" in fields:
        words = {"lowercase": False}
    (tmp_path / "x.json").write_text(json.dumps(words | fields), encoding="utf-8")
    with pytest.raises(nmt.CheckpointError, match=message) as caught:
        load_tokenizer(tmp_path / "x.json")
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 400
