"""Each wrong translation breaks one rule and nothing else."""

import pytest

import nmt_lib as nmt
from nmt_book.chapter10.contrasts import CHANGES, OTHER_GENDER, make_contrasts


def test_there_are_enough_of_each_kind_all_in_known_words() -> None:
    data = nmt.load_config("tiny").data
    corpus = nmt.load_corpus(data)
    _, tokenizer = nmt.build_tokenizers(data, corpus.train)
    found = make_contrasts([*corpus.valid, *corpus.test])
    assert all(len(found[kind]) >= 40 for kind in CHANGES)
    for contrast in [one for some in found.values() for one in some]:
        assert contrast.right != contrast.wrong
        assert nmt.UNK not in tokenizer.encode(contrast.wrong), contrast
        assert contrast.wrong.endswith(".") and contrast.wrong[0].isupper(), contrast


# Kind, source, right and wrong; the last is missing where none is made.
EXAMPLES = """\
roles
The dog is following the girl.
Le chien suit la fille.
La fille suit le chien.

roles
An old man saw a cat.
Un vieil homme a vu un chat.
Un chat a vu un vieil homme.

agreement
The woman came home.
La femme est rentrée.
La femme est rentré.

pronoun
The chair is new and it is very heavy.
La chaise est neuve et elle est très lourde.
La chaise est neuve et il est très lourd.

adjective place
The woman bought the red hat.
La femme a acheté le chapeau rouge.
La femme a acheté le rouge chapeau.

adjective place
The woman bought the small hat.
La femme a acheté le petit chapeau.
La femme a acheté le chapeau petit.

# Both orders are good French.
adjective place
A kind girl came home.
Une fille gentille est rentrée.

# The article would change, too.
adjective place
The old man is reading.
Le vieil homme lit.

# A girl is "fatiguée".
agreement
The child is tired.
L'enfant est fatigué.

# "vieux" may be one man or several.
agreement
The man is old.
L'homme est vieux.

# The English pronoun says which.
pronoun
Yesterday she sang.
Hier, elle a chanté.

# The verb would change, too.
roles
The men see the cat.
Les hommes voient le chat.

# Trees don't see.
roles
The man sees the tree.
L'homme voit l'arbre.
"""


@pytest.mark.parametrize("block", EXAMPLES.split("\n\n"))
def test_examples(block: str) -> None:
    kind, src, right, *wrong = [line for line in block.splitlines() if line[0] != "#"]
    made = make_contrasts([nmt.Pair(src, right)])[kind]
    assert [contrast.wrong for contrast in made] == wrong


def test_every_word_that_may_be_put_in_occurs_in_the_corpus() -> None:
    words = nmt.spacy_words("fr")
    corpus = nmt.load_corpus(nmt.load_config("tiny").data)
    known = {word for pair in corpus.train for word in words(pair.tgt)}
    for table in OTHER_GENDER.values():
        assert {other for word, other in table.items() if word in known} <= known
