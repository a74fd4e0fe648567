"""Multi30k: trains the best recipe in each direction and seed, and scores it as papers and tutorials do.

Unfinished runs go on where they were cut off. Without ``--test`` only the validation set is read: everything is
chosen there. With it, the table is written once. Needs the corpus multi30k-tok too.

Run: ``NMT_DATA=… python benchmarks/multi30k.py --directions en-de de-en --seeds 0 1 2``
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from common import RESULTS, machine, write_table
from sacrebleu.metrics import BLEU
from sacremoses import MosesPunctNormalizer, MosesTokenizer

import nmt_lib as nmt


def moses(texts: Sequence[str], lang: str) -> list[str]:
    """Lower-cased, normalised and tokenised, as the ``lc.norm.tok`` files of Multi30k are."""
    normalizer, tokenizer = MosesPunctNormalizer(lang), MosesTokenizer(lang)
    return [
        tokenizer.tokenize(normalizer.normalize(text.strip().lower()), return_str=True)
        for text in texts
    ]


def words(texts: Sequence[str], lang: str) -> list[str]:
    """Lower-cased spaCy words, as tutorials count them."""
    import spacy

    nlp = spacy.blank(lang)
    return [" ".join(token.text for token in nlp(text.lower())) for text in texts]


def one_word(text: str) -> str:
    """With ``<unk>`` as one word, which it is to word models; a tokenizer would cut it in three."""
    return text.replace("<unk>", "unk")


def plain_bleu(hypotheses: Sequence[str], references: Sequence[str]) -> float:
    """BLEU of text that is tokenised already."""
    return float(
        BLEU(tokenize="none", force=True)
        .corpus_score(list(hypotheses), [list(references)])
        .score
    )


def score(
    config: nmt.Config, translator: nmt.Translator, split: str
) -> dict[str, float | str]:
    """Cased BLEU and chrF with beam search; the papers' lower-cased BLEU; the tutorials' greedy one over words."""
    target = config.data.tgt_lang
    tokenised = nmt.load_corpus(
        config.data.model_copy(update={"corpus": "multi30k-tok"})
    )
    pairs = getattr(nmt.load_corpus(config.data), split)
    found = nmt.evaluate(translator, pairs)
    beam = [one_word(translation.text) for translation in found.translations]
    greedy = [
        one_word(t.text)
        for t in translator.translate([pair.src for pair in pairs], beam_size=1)
    ]
    references = [pair.tgt for pair in getattr(tokenised, split)]
    return {
        "cased": found.bleu,
        "chrF": found.chrf,
        "lower": plain_bleu(moses(beam, target), references),
        "greedy": plain_bleu(
            words(greedy, target), words([pair.tgt for pair in pairs], target)
        ),
        "signature": found.bleu_signature,
    }


def spread(values: Sequence[float]) -> str:
    """Mean ± standard deviation over the seeds; one seed has no spread."""
    mean = f"{statistics.mean(values):.2f}"
    return f"{mean} ± {statistics.stdev(values):.2f}" if len(values) > 1 else mean


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--config", default="multi30k", help="a name or a YAML file")
    parser.add_argument("--directions", nargs="+", default=["en-de"])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--set", default="", help="overrides for every run")
    parser.add_argument(
        "--test",
        action="store_true",
        help="read the test set: once, when everything is chosen",
    )
    options = parser.parse_args()
    split, rows = ("test" if options.test else "valid"), []
    table = "_".join([Path(options.config).stem, *options.directions, split])
    if options.test and (RESULTS / f"{table}.md").exists():
        return print(
            f"the test set has been read, once and for all: {RESULTS / table}.md"
        )
    for direction in options.directions:
        src_lang, tgt_lang = direction.split("-")
        scores, seconds = [], []
        for seed in options.seeds:
            keys = {
                "data.src_lang": src_lang,
                "data.tgt_lang": tgt_lang,
                "train.seed": seed,
            }
            config = nmt.load_config(
                options.config, **nmt.parse_overrides(options.set) | keys
            )
            nmt.load_corpus(
                config.data.model_copy(update={"corpus": "multi30k-tok"})
            )  # is it here? Known at once
            if seed:
                config = config.model_copy(update={"name": f"{config.name}-seed{seed}"})
            start = time.perf_counter()
            run = nmt.train(config)
            seconds.append(time.perf_counter() - start)
            scores.append(score(config, run.translator, split))
            print(
                direction,
                seed,
                scores[-1],
                f"best valid loss {min(row['valid_loss'] for row in run.history):.3f}",
                file=sys.stderr,
                flush=True,
            )
        columns = [
            spread([float(one[key]) for one in scores])
            for key in ("cased", "chrF", "lower", "greedy")
        ]
        size = f"{nmt.count_parameters(run.model):,}"
        rows.append(
            [
                direction.replace("-", "→"),
                len(scores),
                *columns,
                size,
                config.train.max_steps,
                f"{statistics.median(seconds) / 60:.0f}",
            ]
        )
    write_table(
        table,
        f"{options.config} on the {'test2016' if options.test else 'validation'} set of Multi30k",
        [
            "direction",
            "seeds",
            "BLEU, cased",
            "chrF",
            "BLEU, lower-cased and tokenised",
            "BLEU, words, greedy",
            "parameters",
            "updates",
            "minutes of training in this call",
        ],
        rows,
        f"Beam {config.decode.beam_size}, length penalty {config.decode.length_penalty}; the last BLEU greedy. Cased: "
        f"{scores[-1]['signature']}. Lower-cased and tokenised: the output normalised, lower-cased and tokenised with "
        "sacremoses, against the published lc.norm.tok references, `--tokenize none`: the figure that papers print. "
        "Words: output and reference lower-cased and cut by spaCy's rules, the figure that tutorials print. "
        f"± is the standard deviation over the seeds. {machine('sacrebleu', 'sacremoses', gpu=True)}, "
        f"train.precision {config.train.precision}.",
    )


if __name__ == "__main__":
    main()
