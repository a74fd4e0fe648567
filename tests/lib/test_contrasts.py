"""Each wrong translation breaks one rule and nothing else; the rules are written down here a second time, by hand."""

import difflib
from functools import cache

import pytest

import nmt_lib as nmt
from nmt_lib.tiny.contrasts import _OTHER, KINDS, Contrast, make_contrasts
from nmt_lib.tiny.corpus import generate
from nmt_lib.words import spacy_words

Found = dict[str, list[Contrast]]


@cache
def corpus(lang: str) -> nmt.Corpus:
    return nmt.load_corpus(nmt.load_config("tiny", **{"data.tgt_lang": lang}).data)


@pytest.fixture(scope="module")
def found() -> dict[str, Found]:
    """Of the held-out sentences, and of new ones by another seed."""
    triples = generate(seed=1)["test"]
    new = {
        lang: [nmt.Pair(triple.text("en"), triple.text(lang)) for triple in triples]
        for lang in KINDS
    }
    return {
        lang: make_contrasts(corpus(lang).valid + corpus(lang).test + new[lang], lang)
        for lang in KINDS
    }


def changed(
    contrast: Contrast, lang: str
) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """The words that differ, before and after, one entry for each stretch."""
    right, wrong = spacy_words(lang)(contrast.right), spacy_words(lang)(contrast.wrong)
    steps = difflib.SequenceMatcher(None, right, wrong, autojunk=False).get_opcodes()
    return [
        (tuple(right[a:b]), tuple(wrong[c:d]))
        for tag, a, b, c, d in steps
        if tag != "equal"
    ]


@pytest.mark.parametrize("lang", sorted(KINDS))
def test_there_are_enough_and_all_words_are_in_the_vocabulary(
    found: dict[str, Found], lang: str
) -> None:
    tokenizer = nmt.build_tokenizers(
        nmt.load_config("tiny", **{"data.tgt_lang": lang}).data, corpus(lang).train
    )[1]
    for kind, contrasts in found[lang].items():
        assert len(contrasts) >= 40, kind
        for contrast in contrasts:
            assert nmt.UNK not in tokenizer.encode(contrast.wrong), contrast
            assert contrast.wrong != contrast.right
            assert contrast.wrong.endswith(".") and contrast.wrong[0].isupper(), (
                contrast
            )


@pytest.mark.parametrize("lang", sorted(KINDS))
def test_the_right_side_is_the_reference(found: dict[str, Found], lang: str) -> None:
    references = {
        t.text("en"): t.text(lang)
        for seed in (0, 1)
        for part in generate(seed).values()
        for t in part
    }
    for contrasts in found[lang].values():
        assert all(references[contrast.src] == contrast.right for contrast in contrasts)


@pytest.mark.parametrize("lang", sorted(KINDS))
def test_swapped_roles_translate_the_swapped_source(
    found: dict[str, Found], lang: str
) -> None:
    """ "The dog sees the cat" wrongly translated is "The cat sees the dog" rightly translated."""
    everything = corpus(lang)
    right = {
        pair.src: pair.tgt
        for pair in everything.train + everything.valid + everything.test
    }
    known = 0
    for contrast in found[lang]["roles"]:
        one, verb, two = split_clause(contrast.src)
        mirrored = f"{two[0].upper()}{two[1:]} {verb} {one[0].lower()}{one[1:]}."
        if mirrored in right:
            assert right[mirrored] == contrast.wrong
            known += 1
        words = sorted(map(str.lower, spacy_words(lang)(contrast.right)))
        assert lang == "de" or words == sorted(
            map(str.lower, spacy_words(lang)(contrast.wrong))
        ), contrast
    assert known >= 1, "the corpus should hold some of the swapped sources"


def split_clause(src: str) -> tuple[str, str, str]:
    for verb in (
        "is following",
        "followed",
        "is helping",
        "helped",
        "is looking for",
        "looked for",
        "sees",
        "saw",
    ):
        one, found, two = src.removesuffix(".").partition(f" {verb} ")
        if found:
            return one, verb, two
    raise AssertionError(src)


def test_french_adjectives_change_places_with_their_noun(
    found: dict[str, Found],
) -> None:
    before = {
        "vieux",
        "vieille",
        "vieilles",
        "jeune",
        "jeunes",
        "petit",
        "petite",
        "petits",
        "petites",
        "grand",
        "grande",
    }
    before |= {"grands", "grandes", "beau", "belle", "beaux", "belles"}
    after = {
        "neuf",
        "neuve",
        "rouge",
        "rouges",
        "bleu",
        "bleue",
        "bleues",
        "blanc",
        "blanche",
        "blancs",
        "blanches",
    }
    after |= {"noir", "noire", "noirs", "noires", "froid", "froide", "chaud", "chaude"}
    for contrast in found["fr"]["adjective place"]:
        right, wrong = (
            spacy_words("fr")(contrast.right),
            spacy_words("fr")(contrast.wrong),
        )
        places = [
            i for i, (a, b) in enumerate(zip(right, wrong, strict=True)) if a != b
        ]
        assert len(places) == 2 and places[1] == places[0] + 1, contrast
        one, two = right[places[0]], right[places[1]]
        assert (wrong[places[0]], wrong[places[1]]) == (two, one)
        assert (one in before and two not in before | after) or (
            two in after and one not in before | after
        ), contrast


def test_french_agreement_changes_one_ending(found: dict[str, Found]) -> None:
    irregular = "vieux vieille vieilles beau beaux belle belles neuf neufs neuve neuves blanc blancs blanche blanches "
    irregular += "gentil gentils gentille gentilles heureux heureuse heureuses cher chers chère chères assis assises"
    for contrast in found["fr"]["agreement"]:
        (((one,), (two,)),) = changed(contrast, "fr")
        masculine, feminine = sorted((one, two), key=len)
        regular = feminine in (masculine + "e", masculine.removesuffix("s") + "es")
        assert regular or (
            one in irregular.split()
            and two in irregular.split()
            and one[:2] in (two[:2], "be")
        ), contrast
        assert "enfant" not in contrast.right


def test_french_pronouns_change_their_gender_and_what_is_said_of_them(
    found: dict[str, Found],
) -> None:
    genders = {
        ("il",): ("elle",),
        ("elle",): ("il",),
        ("ils",): ("elles",),
        ("elles",): ("ils",),
    }
    for contrast in found["fr"]["pronoun"]:
        pronoun, *said = changed(contrast, "fr")
        assert genders[pronoun[0]] == pronoun[1], contrast
        assert len(said) <= 1 and {"it", "they"} & set(
            contrast.src.replace(".", "").split()
        ), contrast
        if said:
            assert said[0][0][0][:2] in (said[0][1][0][:2], "vi", "be"), (
                contrast
            )  # vieux, vieille; beau, belle
        assert contrast.right.split()[0] == contrast.wrong.split()[0]


def test_german_verbs_leave_the_end_of_their_clause(found: dict[str, Found]) -> None:
    for contrast in found["de"]["verb place"]:
        right, wrong = (
            spacy_words("de")(contrast.right),
            spacy_words("de")(contrast.wrong),
        )
        verb, at = right[-2], right.index("dass")
        assert [w for w in wrong if w != verb] == [w for w in right if w != verb], (
            contrast
        )
        assert (
            wrong.index(verb) < len(wrong) - 2
            and wrong[wrong.index(verb) - 1][0].isupper()
            and at < wrong.index(verb)
        )


def test_german_articles_have_the_wrong_gender(found: dict[str, Found]) -> None:
    wrong = {
        "Der": {"Das"},
        "Die": {"Das"},
        "Das": {"Der"},
        "Ein": {"Eine"},
        "Eine": {"Ein"},
    }
    for contrast in found["de"]["article"]:
        (((one,), (two,)),) = changed(contrast, "de")
        assert two in wrong[one] and "Junge" not in contrast.right.split()[:3], contrast


def test_german_pronouns_have_the_wrong_gender(found: dict[str, Found]) -> None:
    for contrast in found["de"]["pronoun"]:
        (((one,), (two,)),) = changed(contrast, "de")
        assert {one, two} <= {"er", "sie", "es"}, contrast


def one(lang: str, kind: str, src: str, tgt: str) -> list[str]:
    return [
        contrast.wrong for contrast in make_contrasts([nmt.Pair(src, tgt)], lang)[kind]
    ]


def test_the_examples_of_the_docstrings() -> None:
    assert one(
        "fr", "roles", "The dog is following the girl.", "Le chien suit la fille."
    ) == ["La fille suit le chien."]
    assert one(
        "fr", "roles", "An old man saw a cat.", "Un vieil homme a vu un chat."
    ) == ["Un chat a vu un vieil homme."]
    german = one(
        "de", "roles", "The dog is following the girl.", "Der Hund folgt dem Mädchen."
    )
    assert german == ["Das Mädchen folgt dem Hund."]
    assert one("fr", "agreement", "The woman came home.", "La femme est rentrée.") == [
        "La femme est rentré."
    ]
    chair = (
        "The chair is new and it is very heavy.",
        "La chaise est neuve et elle est très lourde.",
    )
    assert one("fr", "pronoun", *chair) == ["La chaise est neuve et il est très lourd."]
    cat = (
        "A man says that the cat is drinking the milk.",
        "Ein Mann sagt, dass die Katze die Milch trinkt.",
    )
    assert one("de", "verb place", *cat) == [
        "Ein Mann sagt, dass die Katze trinkt die Milch."
    ]


@pytest.mark.parametrize(
    "lang, kind, src, tgt",
    [
        (
            "fr",
            "adjective place",
            "A kind girl came home.",
            "Une fille gentille est rentrée.",
        ),  # both are good French
        (
            "fr",
            "adjective place",
            "The old man is reading.",
            "Le vieil homme lit.",
        ),  # the article would change too
        (
            "fr",
            "agreement",
            "The child is tired.",
            "L'enfant est fatigué.",
        ),  # a girl is "fatiguée"
        (
            "fr",
            "agreement",
            "The man is old.",
            "L'homme est vieux.",
        ),  # one woman, or several?
        (
            "fr",
            "pronoun",
            "Yesterday she sang.",
            "Hier, elle a chanté.",
        ),  # English says which
        (
            "fr",
            "roles",
            "The men see the cat.",
            "Les hommes voient le chat.",
        ),  # the verb would change too
        (
            "fr",
            "roles",
            "The man sees the tree.",
            "L'homme voit l'arbre.",
        ),  # trees don't see
        (
            "de",
            "verb place",
            "A man says that a boy is reading.",
            "Ein Mann sagt, dass ein Junge liest.",
        ),
        (
            "de",
            "verb place",
            "A man says that a boy is reading in the park.",
            "Ein Mann sagt, dass ein Junge im Park liest.",
        ),
        ("de", "article", "The boy is reading.", "Der Junge liest."),
        ("de", "article", "The girls are reading.", "Die Mädchen lesen."),
    ],
)
def test_no_contrast_where_it_would_not_be_wrong(
    lang: str, kind: str, src: str, tgt: str
) -> None:
    assert one(lang, kind, src, tgt) == []


def test_every_word_that_may_be_put_in_occurs_in_the_corpus() -> None:
    known = {
        word for pair in corpus("fr").train for word in spacy_words("fr")(pair.tgt)
    }
    for table in _OTHER.values():
        assert {other for word, other in table.items() if word in known} <= known


def test_another_language_is_an_error() -> None:
    with pytest.raises(ValueError, match="fr, de"):
        make_contrasts([], "en")
