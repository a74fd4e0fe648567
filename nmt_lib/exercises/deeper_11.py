"""The exercise of the deeper page on real French."""

import re

import nmt_lib as nmt

from .exercise import exercise


@exercise(
    "The couples that are won.",
    cases={
        "eight margins": ([1.0, 2.0, 3.0, -1.0, -1.0, 2.0, 4.0, -2.0],),
        "ten margins, one of them 0": (
            [-3.0, -1.0, -2.0, -4.0, 0.0, 1.0, 2.0, 3.0, 5.0, 1.0],
        ),
        "the first couple is won, and the last": ([1.0, 2.0, 1.0, -4.0, 0.5, 3.0],),
    },
    mistakes={
        "these are contrasts: a couple counts only if both are won": lambda margins: (
            sum(m > 0 for m in margins)
        ),
        "these are contrasts, halved: a couple counts only if both are won": [
            lambda margins: sum(m > 0 for m in margins) / 2,
            lambda margins: sum(m > 0 for m in margins) // 2,
        ],
        "a couple is won if both are, not one of them": ("min", "max"),
        "a couple is won if both are: their mean hides a loss": ("min", "sum"),
        "numbers 1 and 2 belong to different couples: take 0 and 1, 2 and 3": (
            "margins[::2], margins[1::2]",
            "margins, margins[1:]",
        ),
        "0 and 1 are a couple, 2 and 3 the next; not the two halves": (
            "margins[::2], margins[1::2]",
            "margins[: len(margins) // 2], margins[len(margins) // 2 :]",
        ),
        "a margin of 0 is no win": ("> 0", ">= 0"),
        "these couples are lost, or half lost": ("> 0", "<= 0"),
        "two losses are no win": lambda margins: sum(
            a * b > 0 for a, b in zip(margins[::2], margins[1::2], strict=True)
        ),
        "count, do not divide by the number of couples": (
            "margins[1::2])",
            "margins[1::2])) / (len(margins) / 2",
        ),
        "count the couples, do not add up their margins": [
            ("min(pair) > 0", "min(pair)"),
            ("min(pair) > 0", "sum(pair)"),
        ],
    },
    hints=(
        "Which margins belong together, and what must be true of the smaller one?",
        "`zip(margins[::2], margins[1::2])` gives the couples.",
    ),
    says="now ask it about in_couples",
    difficulty=1,
    importance=2,
    minutes=4,
)
def couples_won(margins):
    return sum(min(pair) > 0 for pair in zip(margins[::2], margins[1::2]))


CONTRASTS = {  # kind → caption: its translation [right|wrong]
    "article": {
        "A waitress is washing a cup.": "Une serveuse lave [une|un] tasse.",
        "A boy is painting the door.": "Un garçon peint [la|le] porte.",
        "A girl is drawing a sun.": "Une fille dessine [un|une] soleil.",
        "Two men are watching the moon.": "Deux hommes regardent [la|le] lune.",
    },
    "agreement": {
        "A bride wears a white dress.": "Une mariée porte une robe [blanche|blanc].",
        "A man is cleaning a green door.": "Un homme nettoie une porte [verte|vert].",
        "A woman with a hat is sitting on a bench.": (
            "Une femme avec un chapeau est [assise|assis] sur un banc."
        ),
        "A boy with a guitar is sitting on a wall.": (
            "Un garçon avec une guitare est [assis|assise] sur un mur."
        ),
    },
    "adjective place": {
        "A black cat is sleeping.": "Un [chat noir|noir chat] dort.",
        "He holds a yellow balloon.": "Il tient un [ballon jaune|jaune ballon].",
        "A small cat is sleeping.": "Un [petit chat|chat petit] dort.",
        "Three young women sing.": "Trois [jeunes femmes|femmes jeunes] chantent.",
    },
}
COUPLES = {
    "The cat drank the milk.": "[Le chat a bu le lait|Le lait a bu le chat].",
    "The milk drank the cat.": "[Le lait a bu le chat|Le chat a bu le lait].",
    "A man is hugging a woman.": (
        "[Un homme enlace une femme|Une femme enlace un homme]."
    ),
    "A woman is hugging a man.": (
        "[Une femme enlace un homme|Un homme enlace une femme]."
    ),
    "She sat down in the chair, it was very comfortable.": (
        "Elle s'est assise sur la chaise, [elle|il] était très confortable."
    ),
    "She sat down on the sofa, it was very comfortable.": (
        "Elle s'est assise sur le canapé, [il|elle] était très confortable."
    ),
    "The tent is big, and it is red.": "La tente est grande, et [elle|il] est rouge.",
    "The boat is big, and it is red.": "Le bateau est grand, et [il|elle] est rouge.",
}


def contrast(source, text):
    """The contrast of a text with ``[right|wrong]``."""
    right, wrong = (re.sub(r"\[(.+)\|(.+)\]", side, text) for side in (r"\1", r"\2"))
    return nmt.Contrast(source, right, wrong)


def names():
    """What differs in each of CONTRASTS, with a word on either side."""
    texts = [text for some in CONTRASTS.values() for text in some.values()]
    return [re.search(r"(\S+ )?\[.+\]( \w+)?", text)[0] for text in texts]
