"""Tokenizers: text to ids and back, all kinds, also of strange text."""

import random
from typing import Any

import pytest

import nmt_lib as nmt
from nmt_lib.config import DataConfig
from nmt_lib.data import tokenizers as module
from nmt_lib.data.batches import encode_pairs
from nmt_lib.data.tokenizers import WordTokenizer, load_tokenizer
from nmt_lib.data.tokens import SPECIALS, join_words, spacy_words
from tests.lib.small import tiny_corpus

STRANGE = ["<pad>", "<sos> a </s> <eos>", "a\0b", "▁▁a", "\u200b", "😀 👩‍👩‍👧", "中文"]
STRANGE += ["e\u0301", "\t\n ", "", "x" * 5000]
PAIRS = [
    nmt.Pair(f"The {a} man reads {b} book .", f"Der {c} Mann liest {d} Buch .")
    for a, c in (("old", "alte"), ("tall", "große"), ("happy", "frohe"))
    for b, d in (("a", "ein"), ("the", "das"), ("this", "dieses"))
]
KINDS = ("whitespace", "spacy", "unigram", "bpe")
SUBWORDS = pytest.mark.parametrize("kind", ["unigram", "bpe"])
every_kind = pytest.mark.parametrize("kind", KINDS)


def build(kind: str, pairs: list[nmt.Pair] = PAIRS, **options: Any) -> tuple[Any, Any]:
    fields: dict[str, Any] = {"tokenizer": kind, "vocab_size": 60}
    config = DataConfig(**({"src_lang": "en", "tgt_lang": "de"} | fields | options))
    return nmt.build_tokenizers(config, pairs)


@every_kind
@pytest.mark.parametrize("joint", [False, True])
def test_known_text_comes_back(kind: str, joint: bool) -> None:
    if kind == "spacy" and joint:
        pytest.skip("spaCy's rules are those of one language")
    src, tgt = build(kind, joint=joint)
    for pair in PAIRS:
        for tokenizer, text in ((src, pair.src), (tgt, pair.tgt)):
            ids = tokenizer.encode(text)
            wanted = text.replace(" .", ".") if kind == "spacy" else text
            assert tokenizer.decode(ids) == wanted
            assert nmt.UNK not in ids
    assert (src.dumps() == tgt.dumps()) == joint
    assert (nmt.UNK in src.encode(PAIRS[0].tgt)) == (not joint)


@every_kind
def test_special_tokens_have_the_same_ids_everywhere(kind: str) -> None:
    for tokenizer in build(kind):
        assert tokenizer.lookup_tokens(range(4)) == list(SPECIALS)
        ids = tokenizer.encode("The man")
        assert (ids[0], ids[-1]) == (nmt.SOS, nmt.EOS)
        assert tokenizer.encode("The man", sos=False, eos=False) == ids[1:-1]
        assert tokenizer.decode([nmt.PAD, *ids, nmt.PAD]) == tokenizer.decode(ids)
        assert len(tokenizer.tokenize("The man")) == len(ids) - 2


@every_kind
@pytest.mark.parametrize("learnt", ["a b", "a  b"])
def test_double_spaces_are_translated_as_they_are_trained_on(
    kind: str, learnt: str
) -> None:
    """Words by spaCy: write-up C's have a word that is a space, other models none."""
    src, tgt = build(kind, [nmt.Pair(learnt, "x"), *PAIRS])
    config = nmt.load_config("toy", **{"data.tokenizer": kind})
    model = nmt.Transformer(config.model, len(src), len(tgt))
    translator = nmt.Translator(model, src, tgt, config)
    for text in ("a  b", "a\n b", " a b  "):
        [(ids, _)] = encode_pairs([nmt.Pair(text.strip(), "x")], (src, tgt), config)
        assert translator.encode(text) == list(ids) and nmt.UNK not in ids
    spaces = kind == "spacy" and learnt == "a  b"
    assert (src.tokenize("a  b") == ["a", " ", "b"]) == spaces


@pytest.mark.parametrize("joint", [False, True])
def test_src_specials_decides_whether_a_source_starts_with_sos(joint: bool) -> None:
    src, tgt = build("bpe", joint=joint, src_specials=False)
    assert tgt.encode("The man")[0] == nmt.SOS != src.encode("The man")[0]
    assert src.encode("The man", sos=True) == [nmt.SOS, *src.encode("The man")]


@every_kind
def test_strange_text_gives_no_special_id_inside_and_loads_equal(kind: str) -> None:
    pairs = [*PAIRS, nmt.Pair("<pad> the <eos> man <unk>", "<sos> der </s> Mann")]
    tokenizer = build(kind, pairs, lowercase=True)[0]
    again = load_tokenizer(tokenizer.dumps())
    tokens = tokenizer.lookup_tokens(range(len(tokenizer)))
    assert tokens == again.lookup_tokens(range(len(again)))
    for text in [PAIRS[0].src, *STRANGE]:
        ids = tokenizer.encode(text)
        assert all(i == nmt.UNK or 4 <= i < len(tokenizer) for i in ids[1:-1])
        assert again.encode(text) == ids
        assert again.decode(ids) == tokenizer.decode(ids)


@pytest.mark.parametrize("kind", ["whitespace", "spacy"])
def test_unknown_and_rare_words_are_unk_also_in_the_decoded_text(kind: str) -> None:
    assert nmt.UNK not in build(kind, min_freq=3)[0].encode("tall")
    tokenizer = build(kind, min_freq=4)[0]
    ids = tokenizer.encode("The tall man")
    assert tokenizer.lookup_tokens(ids) == ["<sos>", "The", "<unk>", "man", "<eos>"]
    assert tokenizer.decode(ids) == "The <unk> man"


CHINESE = [nmt.Pair(f"{i} cats", f"他有{i}只猫，真的！") for i in range(60)]


@SUBWORDS
@pytest.mark.parametrize(
    ("rules", "said"),
    [("nmt_nfkc", "他有9只猫,真的!"), ("nfkc", "他有9只猫,真的!"), ("identity", "")],
)
def test_normalization_says_which_characters_become_others(
    kind: str, rules: str, said: str
) -> None:
    tgt = build(kind, CHINESE, tgt_lang="zh", normalization=rules)[1]
    assert tgt.decode(tgt.encode(CHINESE[9].tgt)) == (said or CHINESE[9].tgt)


@every_kind
def test_lowercase_folds_the_text_in_training_and_in_use(kind: str) -> None:
    tokenizer = build(kind, lowercase=True)[0]
    assert tokenizer.encode("THE OLD MAN") == tokenizer.encode("the old man")
    assert nmt.UNK not in tokenizer.encode("THE OLD MAN")
    tokens = tokenizer.lookup_tokens(range(4, len(tokenizer)))
    assert all(token == token.lower() for token in tokens)


@SUBWORDS
def test_subwords_depend_on_the_text_only_and_on_a_part_of_a_large_one(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert build(kind)[0].dumps() == build(kind)[0].dumps()
    monkeypatch.setattr(module, "SUBWORD_SENTENCES", 4)
    assert build(kind)[0].dumps() == build(kind, PAIRS[::3])[0].dumps()


@SUBWORDS
def test_a_vocabulary_size_that_the_text_does_not_fit(kind: str) -> None:
    tokenizer = build(kind, vocab_size=8000)[0]  # fewer come out
    assert 4 < len(tokenizer) < 200
    assert tokenizer.decode(tokenizer.encode("hat theory")) == "hat theory"
    assert nmt.UNK in tokenizer.encode("中")
    with pytest.raises(nmt.CorpusError, match=r"cannot make 8 subwords .data.vocab_s"):
        build(kind, vocab_size=8)
    for pairs in ([], [nmt.Pair("a" * 5000, "a")]):
        with pytest.raises(nmt.CorpusError, match="no line"):
            build(kind, pairs)


# --- BPE dropout
def drawn(epoch: int | None, share: float = 0.3, seed: int = 0) -> list[Any]:
    options = {"data.tokenizer": "bpe", "data.bpe_dropout": share, "train.seed": seed}
    config = nmt.load_config("toy", **options)
    examples = nmt.encode_pairs(PAIRS, build("bpe", vocab_size=90), config, epoch)
    return [(list(src), list(tgt)) for src, tgt in examples]


def test_with_no_merge_left_out_the_subwords_are_those_of_encode() -> None:
    tokenizer, draw = build("bpe", vocab_size=90)[1], random.Random(0).random
    for text in [*STRANGE, *(pair.tgt for pair in PAIRS)]:
        assert tokenizer.sample(text, 0.0, draw) == tokenizer.encode(text)
    bare = build("bpe", vocab_size=90, src_specials=False)[0]
    assert bare.sample("The happy man", 0.0, draw) == bare.encode("The happy man")
    # The first merge learnt comes first, at the end of a word, too.
    bpe = build("bpe", [nmt.Pair("b a n d " * 9 + "xyzand " * 9, "q")], vocab_size=16)
    assert bpe[0].sample("bandxyzand", 0.0, draw) == bpe[0].encode("bandxyzand")
    ids = tokenizer.sample("Der alte Mann", 1.0, draw)  # every merge left out
    assert tokenizer.lookup_tokens(ids) == ["<sos>", *"▁Der▁alte▁Mann", "<eos>"]


def test_each_epoch_draws_subwords_of_its_own_for_the_same_text() -> None:
    src, tgt = build("bpe", vocab_size=90)
    first, second, plain = drawn(0), drawn(1), drawn(None)
    assert first == drawn(0) and first not in (second, drawn(0, seed=1), plain)
    for examples in (first, second):
        texts = [nmt.Pair(src.decode(a), tgt.decode(b)) for a, b in examples]
        assert texts == PAIRS
    assert plain == drawn(7, share=0.0)
    assert plain == [(src.encode(pair.src), tgt.encode(pair.tgt)) for pair in PAIRS]


# --- spaCy's words
@pytest.mark.parametrize(
    ("lang", "text"),
    [
        ("en", "Don't touch the man's T-shirt; it's new, isn't it?"),
        ("en", "They've read \"The Old Man\" (twice)... and they'll read it again!"),
        ("en", "The dogs' owner paid 50% more."),
        ("de", "Ein Mann im T-Shirt (rot) sagt: „Guten Tag!“ und geht weiter."),
        ("fr", "J'ai vu quelqu'un en T-shirt : « Où vas-tu (tôt) ? »"),
        ("fr", "Jusqu'ici, l'homme n'aime pas aujourd'hui l'école..."),
    ],
)
def test_words_join_to_the_sentence_they_were_split_from(lang: str, text: str) -> None:
    words = spacy_words(lang)(text)
    assert len(words) > len(text.split()) and join_words(words, lang) == text


@pytest.mark.parametrize("lang", ["en", "de", "fr"])
def test_every_sentence_of_the_tiny_corpus_comes_back(lang: str) -> None:
    texts = [triple.text(lang) for triple in tiny_corpus(seed=0)["valid"]]
    tokenizer = WordTokenizer.train("spacy", lang, texts, 1, False)
    assert [tokenizer.decode(tokenizer.encode(text)) for text in texts] == texts


def test_only_words_longer_than_200_characters_are_cut_before_spacy() -> None:
    import spacy

    rules = spacy.blank("en").tokenizer
    text = f"{PAIRS[0].src}  {'(' * 200} http://{'a/' * 96} '((x)).' {'x' * 200}\n"
    assert spacy_words("en")(text) == [word.text for word in rules(text)]
    cut = ["x" * 200, "x" * 200, "x" * 50, "y"]
    assert spacy_words("en")("x" * 450 + " y") == cut
