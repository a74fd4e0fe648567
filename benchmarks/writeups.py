"""The five write-ups at their own settings, for a few updates: each trains, is stopped,
resumes, translates and is scored.

A whole run needs a GPU:
``papermill notebooks/11_five_writeups.ipynb out.ipynb -p config writeup_c``.
Run: ``NMT_DATA=… OMP_NUM_THREADS=1 python -m benchmarks.writeups``
"""

from __future__ import annotations

import time
import warnings

import torch

import nmt_lib as nmt
from benchmarks import common

LOVE, MAN = "I love you.", "A man with an orange hat is staring at something."
RUNS = [  # config, direction, a text, updates (one of A or D takes a CPU minutes)
    ("writeup_a", "en-fr", LOVE, 16),
    ("writeup_b", "fr-en", "Un homme avec un chapeau regarde quelque chose.", 60),
    ("writeup_b", "en-fr", MAN, 30),
    ("writeup_c", "en-de", MAN, 60),
    ("writeup_d", "en-fr", LOVE, 8),
    ("writeup_e", "de-en", "ich mochte ein bier", 30),  # as many as it has
]
SENTENCES = 64  # of the validation set


def row(name: str, direction: str, text: str, steps: int) -> list[str]:
    """One line of the table."""
    src_lang, tgt_lang = direction.split("-")
    steps = 2 if common.DRY else steps
    keys = {
        "run_dir": str(common.scratch()),
        "data.src_lang": src_lang,
        "data.tgt_lang": tgt_lang,
        "train.max_steps": steps,
        "train.validate_every": steps,
        "train.checkpoint_every": steps // 2,
    }
    config = common.load_config(name, **keys)
    half = config.train.model_copy(update={"max_steps": steps // 2})
    start = time.perf_counter()
    nmt.train(config.model_copy(update={"train": half}))
    run = nmt.train(config)
    seconds = (time.perf_counter() - start) / steps
    translator, pairs = run.translator, nmt.load_corpus(config.data).valid[:SENTENCES]
    tokenizers = translator.src_tokenizer, translator.tgt_tokenizer
    batch = nmt.make_batch(nmt.encode_pairs(pairs, tokenizers, config))
    torch.manual_seed(config.train.seed)
    untrained = nmt.build_model(config.model, *map(len, tokenizers))
    losses = [nmt.validation_loss(model, [batch]) for model in (untrained, run.model)]
    bleu = nmt.evaluate(translator, pairs).bleu
    translation = translator(text)
    nmt.plot_attention(translation, kind="cross", layer=-1)
    words = " ".join(translation.text.split()[:12]) or "(nothing)"
    return [
        f"{name} {src_lang}→{tgt_lang}",
        " / ".join(f"{len(tokenizer):,}" for tokenizer in tokenizers),
        f"{nmt.count_parameters(run.model):,}",
        str(steps),
        *(f"{loss:.2f}" for loss in losses),
        f"{bleu:.1f}",
        f"{text} → {words}",
        f"{seconds:.1f}",
    ]


def main() -> None:
    common.parse()
    warnings.simplefilter("ignore", UserWarning)  # some pairs have an empty side
    rows = []
    for run in RUNS:
        rows.append(row(*run))
        common.write_table(
            "writeups",
            "The five write-ups, each at its own settings for a few updates",
            "config | vocabulary | parameters | updates | loss before | loss after | "
            "BLEU | a translation | seconds an update, validation and checkpoints "
            "included",
            rows,
            "Losses (nats a token, no smoothing) and BLEU (sacrebleu, case:mixed|"
            f"tok:13a|smooth:exp) are of the first {SENTENCES} validation sentences. A "
            "translation is cut after 12 words. Each run was stopped after half of its "
            f"updates and resumed. {common.machine('sacrebleu')}.",
        )


if __name__ == "__main__":
    main()
