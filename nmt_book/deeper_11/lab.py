"""Deeper 11: contrasts of real French, written by hand."""

from __future__ import annotations

import re

import nmt_lib as nmt

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


def contrast(source: str, text: str) -> nmt.Contrast:
    """The contrast of a text with ``[right|wrong]``."""
    right, wrong = (re.sub(r"\[(.+)\|(.+)\]", side, text) for side in (r"\1", r"\2"))
    return nmt.Contrast(source, right, wrong)


def names() -> list[str]:
    """What differs in each of CONTRASTS, with a word on either side."""
    texts = [text for group in CONTRASTS.values() for text in group.values()]
    parts = (re.search(r"(\S+ )?\[.+\]( \w+)?", text) for text in texts)
    return [part[0] for part in parts if part]
