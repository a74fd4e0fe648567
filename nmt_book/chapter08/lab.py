"""What chapter 08 searches in: sentences, a toy, and a model trained by hand."""

import torch

import nmt_lib as nmt
from nmt_lib.training.run_folder import runs_folder

WOMEN = (
    "Two young women in colorful dresses are laughing and holding hands while they "
    "walk across a crowded street."
)
DUCKS = (
    "An elderly couple is sitting on a bench near the lake and feeding the ducks with "
    "old bread from a paper bag."
)
REFERENCES = {  # captions that greedy search translates badly
    "The boy is throwing a ball to his dog.": (
        "Der Junge wirft einen Ball zu seinem Hund."
    ),
    "Three men are pushing a broken car.": "Drei Männer schieben ein kaputtes Auto.",
    "Three children are building a sandcastle on the beach.": (
        "Drei Kinder bauen am Strand eine Sandburg."
    ),
    "A black cat is sitting on a window sill.": (
        "Eine schwarze Katze sitzt auf einer Fensterbank."
    ),
}
toy = {  # the words so far → each next word → its probability
    "": {"le": 0.6, "un": 0.4},
    "le": {"chien": 0.45, "chat": 0.55},
    "un": {"chien": 0.9, "chat": 0.1},
    "le chat": {"dort": 0.55, "court": 0.45},
    "le chien": {"dort": 0.6, "court": 0.4},
    "un chat": {"court": 0.3, "dort": 0.7},
    "un chien": {"court": 0.9, "dort": 0.1},
}


def searched(translator, text, K, steps):
    """What ``plot_beam`` draws: candidates of some steps, words, the best ids."""
    src, trace = torch.tensor([translator.encode(text)]), []
    hypotheses = nmt.beam_search(translator.model, src, K, alpha=0.0, trace=trace)[0]
    trace = [candidate for candidate in trace if candidate.step <= steps]
    return trace, translator.tgt_tokenizer.lookup_tokens, hypotheses[0].ids


def by_hand(translator: nmt.Translator) -> nmt.Translator:
    """The one that chapter 07 trains with the reader's functions, else this one."""
    if not (runs_folder() / "by-hand").exists():
        print("weights: of the library's training run")
        return translator
    print("weights: of your training run in chapter 07")
    return nmt.Translator.load("by-hand", device="cpu")
