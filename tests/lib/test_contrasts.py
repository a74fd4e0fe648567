"""Each wrong translation breaks one rule and nothing else."""

import pytest

import nmt_lib as nmt
from nmt_lib.tiny.contrasts import KINDS, OTHER, make_contrasts


@pytest.mark.parametrize("lang", ["fr", "de"])
def test_there_are_enough_of_each_kind_all_in_known_words(lang: str) -> None:
    data = nmt.load_config("tiny", **{"data.tgt_lang": lang}).data
    corpus = nmt.load_corpus(data)
    _, tokenizer = nmt.build_tokenizers(data, corpus.train)
    found = make_contrasts([*corpus.valid, *corpus.test], lang)
    assert all(len(found[kind]) >= 40 for kind in KINDS[lang])
    for contrast in [one for some in found.values() for one in some]:
        assert contrast.right != contrast.wrong
        assert nmt.UNK not in tokenizer.encode(contrast.wrong), contrast
        assert contrast.wrong.endswith(".") and contrast.wrong[0].isupper(), contrast


# Language and kind, source, right and wrong; the last is missing where none is made.
EXAMPLES = """\
fr roles
The dog is following the girl.
Le chien suit la fille.
La fille suit le chien.

fr roles
An old man saw a cat.
Un vieil homme a vu un chat.
Un chat a vu un vieil homme.

de roles
The dog is following the girl.
Der Hund folgt dem Mädchen.
Das Mädchen folgt dem Hund.

fr agreement
The woman came home.
La femme est rentrée.
La femme est rentré.

fr pronoun
The chair is new and it is very heavy.
La chaise est neuve et elle est très lourde.
La chaise est neuve et il est très lourd.

de pronoun
The chair is new and it is very heavy.
Der Stuhl ist neu und er ist sehr schwer.
Der Stuhl ist neu und sie ist sehr schwer.

fr adjective place
The woman bought the red hat.
La femme a acheté le chapeau rouge.
La femme a acheté le rouge chapeau.

fr adjective place
The woman bought the small hat.
La femme a acheté le petit chapeau.
La femme a acheté le chapeau petit.

de verb place
A man says that the cat is drinking the milk.
Ein Mann sagt, dass die Katze die Milch trinkt.
Ein Mann sagt, dass die Katze trinkt die Milch.

de article
The old man is reading.
Der alte Mann liest.
Das alte Mann liest.

de article
A woman is reading.
Eine Frau liest.
Ein Frau liest.

# Both orders are good French.
fr adjective place
A kind girl came home.
Une fille gentille est rentrée.

# The article would change, too.
fr adjective place
The old man is reading.
Le vieil homme lit.

# A girl is "fatiguée".
fr agreement
The child is tired.
L'enfant est fatigué.

# "vieux" may be one man or several.
fr agreement
The man is old.
L'homme est vieux.

# The English pronoun says which.
fr pronoun
Yesterday she sang.
Hier, elle a chanté.

# The verb would change, too.
fr roles
The men see the cat.
Les hommes voient le chat.

# Trees don't see.
fr roles
The man sees the tree.
L'homme voit l'arbre.

de verb place
A man says that a boy is reading in the park.
Ein Mann sagt, dass ein Junge im Park liest.

de article
The boy is reading.
Der Junge liest.

de article
The girls are reading.
Die Mädchen lesen.
"""


@pytest.mark.parametrize("block", EXAMPLES.split("\n\n"))
def test_examples(block: str) -> None:
    head, src, right, *wrong = [line for line in block.splitlines() if line[0] != "#"]
    lang, _, kind = head.partition(" ")
    made = make_contrasts([nmt.Pair(src, right)], lang)[kind]
    assert [contrast.wrong for contrast in made] == wrong


def test_every_word_that_may_be_put_in_occurs_in_the_corpus() -> None:
    words = nmt.spacy_words("fr")
    corpus = nmt.load_corpus(nmt.load_config("tiny").data)
    known = {word for pair in corpus.train for word in words(pair.tgt)}
    for table in OTHER.values():
        assert {other for word, other in table.items() if word in known} <= known


def test_another_language_is_an_error() -> None:
    with pytest.raises(ValueError, match="fr, de"):
        make_contrasts([], "en")
