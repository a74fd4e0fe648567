"""The five write-ups at their own settings, for few steps: each trains, is cut off, resumes, translates and is scored.

A whole run needs a GPU: ``papermill notebooks/11_five_writeups.ipynb out.ipynb -p config writeup_c``.
Run: ``NMT_DATA=… OMP_NUM_THREADS=1 python benchmarks/writeups.py``
"""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings

import torch
from common import RESULTS, machine, write_table

import nmt_lib as nmt

MAN = {
    "en": "A man with an orange hat is staring at something.",
    "fr": "Un homme avec un chapeau regarde quelque chose.",
}
LOVE = {"en": "I love you."}
BEER = {"de": "ich mochte ein bier"}
SIGNATURE = "case:mixed|tok:13a|smooth:exp"
RUNS = [  # config, direction, a text to translate, updates here
    (
        "writeup_a",
        "en",
        "fr",
        LOVE,
        16,
    ),  # a batch of 80 long sentences takes a CPU about a minute
    ("writeup_b", "fr", "en", MAN, 60),
    ("writeup_b", "en", "fr", MAN, 30),
    ("writeup_c", "en", "de", MAN, 60),
    ("writeup_d", "en", "fr", LOVE, 8),
    ("writeup_e", "de", "en", BEER, 30),  # as many as it has
]


def row(
    name: str,
    src_lang: str,
    tgt_lang: str,
    texts: dict[str, str],
    steps: int,
    sentences: int,
) -> list[str]:
    """One line of the table, without its first cell."""
    languages = {"data.src_lang": src_lang, "data.tgt_lang": tgt_lang}
    with tempfile.TemporaryDirectory() as folder:
        keys = {
            "run_dir": folder,
            "train.validate_every": steps,
            "train.checkpoint_every": steps // 2,
            **languages,
        }
        config = nmt.load_config(name, **keys, **{"train.max_steps": steps})
        corpus = nmt.load_corpus(config.data)
        start = time.perf_counter()
        nmt.train(
            name, **keys, **{"train.max_steps": steps // 2}
        )  # as if it had been cut off here
        run = nmt.train(config)
        seconds = (time.perf_counter() - start) / steps
        tokenizers = run.translator.src_tokenizer, run.translator.tgt_tokenizer
        batches = [
            nmt.make_batch(
                nmt.encode_pairs(corpus.valid[:sentences], tokenizers, config)
            )
        ]
        torch.manual_seed(config.train.seed)
        untrained = nmt.build_model(config.model, *map(len, tokenizers))
        before, after = (
            nmt.validation_loss(model, batches) for model in (untrained, run.model)
        )
        result = nmt.evaluate(run.translator, corpus.valid[:sentences])
        translation = run.translator(texts[src_lang])
        nmt.plot_attention(
            reading(run.translator, texts[src_lang], corpus.valid[0].tgt),
            kind="cross",
            layer=-1,
        )
    text = (
        f"{texts[src_lang]} → {' '.join(translation.text.split()[:12]) or '(nothing)'}"
    )
    sizes = " / ".join(f"{len(tokenizer):,}" for tokenizer in tokenizers)
    assert SIGNATURE.split("|")[1] in result.bleu_signature
    return [
        sizes,
        f"{nmt.count_parameters(run.model):,}",
        str(steps),
        f"{before:.2f}",
        f"{after:.2f}",
        f"{result.bleu:.1f}",
        text,
        f"{seconds:.1f}",
    ]


def reading(translator: nmt.Translator, source: str, target: str) -> nmt.Translation:
    """``target`` as if it were the translation: after a few updates some models say nothing of their own yet."""
    src, tgt = (
        translator.encode(source),
        translator.tgt_tokenizer.encode(target, sos=False, eos=False),
    )
    rows, columns = (
        translator.tgt_tokenizer.lookup_tokens([*tgt, nmt.EOS]),
        translator.src_tokenizer.lookup_tokens(src),
    )
    labels = {"src_labels": tuple(columns), "tgt_labels": tuple(rows)}
    return nmt.Translation(
        source,
        target,
        tuple(rows[:-1]),
        0.0,
        **labels,
        _attend=lambda: translator.attend(src, tgt),
    )


def rows_before() -> dict[str, list[str]]:
    """The rows of an earlier table by their first cell: what is not run again stays."""
    file = RESULTS / "writeups.md"
    lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
    cells = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in lines
        if line.startswith("| writeup")
    ]
    return {row[0]: row for row in cells}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument(
        "--sentences",
        type=int,
        default=64,
        help="validation sentences to score and translate",
    )
    parser.add_argument(
        "--only",
        nargs="*",
        default=[],
        help="such as writeup_c; the other rows stay as they were",
    )
    options = parser.parse_args()
    warnings.simplefilter(
        "ignore", UserWarning
    )  # europarl has a few pairs with an empty side
    rows: dict[str, list[str]] = rows_before()
    for name, src_lang, tgt_lang, texts, steps in RUNS:
        label = f"{name} {src_lang}→{tgt_lang}"
        if not options.only or name in options.only or label in options.only:
            rows[label] = [
                label,
                *row(name, src_lang, tgt_lang, texts, steps, options.sentences),
            ]
            print(*rows[label], sep=" | ", flush=True)
            write(sorted(rows.values()), options.sentences)


def write(rows: list[list[str]], sentences: int) -> None:
    write_table(
        "writeups",
        "The five write-ups, each at its own settings for a few updates",
        [
            "config",
            "vocabulary",
            "parameters",
            "updates",
            "loss before",
            "loss after",
            "BLEU",
            "a translation",
            "seconds an update, validation and checkpoints included",
        ],
        rows,
        "Europarl is a sample of 2,999 pairs here, so its vocabularies are smaller than in full. Losses (nats a token, "
        f"no smoothing) and BLEU (sacrebleu, {SIGNATURE}) are those of the first {sentences} validation sentences; of "
        "a translation, the first 12 words. Each run was cut off after half of its updates and taken up again. The "
        "machine was busy with other work, so seconds tell the order of size only. "
        f"{machine('sacrebleu', gpu=True)}.",
    )


if __name__ == "__main__":
    main()
