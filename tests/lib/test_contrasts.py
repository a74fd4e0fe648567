"""Each wrong translation breaks one rule and nothing else."""

import difflib
from functools import cache

import pytest

import nmt_lib as nmt
from nmt_lib.tiny.contrasts import KINDS, OTHER, Contrast, make_contrasts
from nmt_lib.tiny.corpus import generate

ALL = [(lang, kind) for lang, kinds in KINDS.items() for kind in kinds]


@cache
def corpus(lang: str) -> nmt.Corpus:
    return nmt.load_corpus(nmt.load_config("tiny", **{"data.tgt_lang": lang}).data)


@cache
def references(lang: str) -> dict[str, str]:
    """Source → target: the whole corpus, and new sentences by another seed."""
    parts = [part for seed in (0, 1) for part in generate(seed).values()]
    return {triple.text("en"): triple.text(lang) for part in parts for triple in part}


@cache
def found(lang: str) -> dict[str, list[Contrast]]:
    """Contrasts of held-out and of new sentences."""
    new = [triple.text("en") for triple in generate(seed=1)["test"]]
    pairs = [nmt.Pair(src, references(lang)[src]) for src in new]
    return make_contrasts([*corpus(lang).valid, *corpus(lang).test, *pairs], lang)


@pytest.mark.parametrize(("lang", "kind"), ALL)
def test_there_are_enough_all_from_references_and_in_known_words(
    lang: str, kind: str
) -> None:
    data = nmt.load_config("tiny", **{"data.tgt_lang": lang}).data
    _, tokenizer = nmt.build_tokenizers(data, corpus(lang).train)
    assert len(found(lang)[kind]) >= 40
    for contrast in found(lang)[kind]:
        assert references(lang)[contrast.src] == contrast.right != contrast.wrong
        assert nmt.UNK not in tokenizer.encode(contrast.wrong), contrast
        assert contrast.wrong.endswith(".") and contrast.wrong[0].isupper(), contrast


ARTICLES = "Der Das, Die Das, Das Der, Ein Eine, Eine Ein"
PRONOUNS = "il elle, elle il, ils elles, elles ils"


@pytest.mark.parametrize(("lang", "kind"), ALL)
def test_what_differs_is_what_the_kind_says(lang: str, kind: str) -> None:
    for contrast in found(lang)[kind]:
        right, wrong = map(nmt.spacy_words(lang), (contrast.right, contrast.wrong))
        steps = difflib.SequenceMatcher(None, right, wrong, autojunk=False)
        before, after = zip(
            *[
                (" ".join(right[a:b]), " ".join(wrong[c:d]))
                for tag, a, b, c, d in steps.get_opcodes()
                if tag != "equal"
            ],
            strict=True,
        )
        if kind in ("adjective place", "verb place") or (lang, kind) == ("fr", "roles"):
            same = [sorted(map(str.lower, words)) for words in (right, wrong)]
            assert same[0] == same[1], contrast
        if kind == "adjective place":
            one, two = [i for i in range(len(right)) if right[i] != wrong[i]]
            assert two == one + 1, contrast
        if kind == "verb place":
            assert wrong.index(right[-2]) < len(wrong) - 2, contrast
        if kind == "agreement":
            (one,), (two,) = before, after
            assert one[:2] == two[:2] or {one[:2], two[:2]} == {"vi", "be"}, contrast
        if kind == "article":
            assert f"{before[0]} {after[0]}" in ARTICLES and len(before) == 1, contrast
        if kind == "pronoun" and lang == "de":
            assert {*before, *after} <= {"er", "sie", "es"} and len(before) == 1
        if kind == "pronoun" and lang == "fr":  # and perhaps what is said of it
            assert f"{before[0]} {after[0]}" in PRONOUNS and len(before) <= 2, contrast


VERBS = "is following|followed|is helping|helped|is looking for|looked for|sees|saw"


@pytest.mark.parametrize("lang", ["fr", "de"])
def test_swapped_roles_translate_the_swapped_source(lang: str) -> None:
    known = 0
    for contrast in found(lang)["roles"]:
        for verb in VERBS.split("|"):
            one, is_there, two = contrast.src.removesuffix(".").partition(f" {verb} ")
            mirrored = f"{two.capitalize()} {verb} {one.lower()}."
            if is_there and mirrored in references(lang):
                assert references(lang)[mirrored] == contrast.wrong
                known += 1
    assert known >= 1, "the corpus should have some of the swapped sources"


EXAMPLES = [  # language, kind, source, right, wrong; "" where no contrast is made
    ("fr", "roles", "The dog is following the girl.", "Le chien suit la fille.",
     "La fille suit le chien."),
    ("fr", "roles", "An old man saw a cat.", "Un vieil homme a vu un chat.",
     "Un chat a vu un vieil homme."),
    ("de", "roles", "The dog is following the girl.", "Der Hund folgt dem Mädchen.",
     "Das Mädchen folgt dem Hund."),
    ("fr", "agreement", "The woman came home.", "La femme est rentrée.",
     "La femme est rentré."),
    ("fr", "pronoun", "The chair is new and it is very heavy.",
     "La chaise est neuve et elle est très lourde.",
     "La chaise est neuve et il est très lourd."),
    ("de", "verb place", "A man says that the cat is drinking the milk.",
     "Ein Mann sagt, dass die Katze die Milch trinkt.",
     "Ein Mann sagt, dass die Katze trinkt die Milch."),
    # Both orders are good French; the article would change, too.
    ("fr", "adjective place", "A kind girl came home.",
     "Une fille gentille est rentrée.", ""),
    ("fr", "adjective place", "The old man is reading.", "Le vieil homme lit.", ""),
    # A girl is "fatiguée"; "vieux" may be one man or several.
    ("fr", "agreement", "The child is tired.", "L'enfant est fatigué.", ""),
    ("fr", "agreement", "The man is old.", "L'homme est vieux.", ""),
    # The English pronoun says which; the verb would change, too; trees don't see.
    ("fr", "pronoun", "Yesterday she sang.", "Hier, elle a chanté.", ""),
    ("fr", "roles", "The men see the cat.", "Les hommes voient le chat.", ""),
    ("fr", "roles", "The man sees the tree.", "L'homme voit l'arbre.", ""),
    ("de", "verb place", "A man says that a boy is reading in the park.",
     "Ein Mann sagt, dass ein Junge im Park liest.", ""),
    ("de", "article", "The boy is reading.", "Der Junge liest.", ""),
    ("de", "article", "The girls are reading.", "Die Mädchen lesen.", ""),
]  # fmt: skip


@pytest.mark.parametrize(("lang", "kind", "src", "right", "wrong"), EXAMPLES)
def test_examples(lang: str, kind: str, src: str, right: str, wrong: str) -> None:
    made = make_contrasts([nmt.Pair(src, right)], lang)[kind]
    assert [contrast.wrong for contrast in made] == [wrong] * bool(wrong)


def test_every_word_that_may_be_put_in_occurs_in_the_corpus() -> None:
    words = nmt.spacy_words("fr")
    known = {word for pair in corpus("fr").train for word in words(pair.tgt)}
    for table in OTHER.values():
        assert {other for word, other in table.items() if word in known} <= known


def test_another_language_is_an_error() -> None:
    with pytest.raises(ValueError, match="fr, de"):
        make_contrasts([], "en")
