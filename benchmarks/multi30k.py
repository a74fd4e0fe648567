"""Multi30k: trains a config in each direction and seed, and scores it as papers and
tutorials do.

Unfinished runs resume. Without ``--test`` only the validation set is read: everything
is chosen there. With it, the table is written once. Needs the corpus multi30k-tok too.
Run: ``NMT_DATA=… python -m benchmarks.multi30k --directions en-de de-en --seeds 0 1 2``
"""

from __future__ import annotations

import argparse
import math
import statistics
from collections.abc import Sequence
from pathlib import Path

from sacrebleu.metrics import BLEU

import nmt_lib as nmt
from benchmarks import common

HEADER = "BLEU, cased | chrF | BLEU, lower-cased and tokenised | BLEU, words, greedy"
NOTES = (
    "Cased: sacrebleu {}. Lower-cased and tokenised: the output normalised, "
    "lower-cased and tokenised with sacremoses, against the published lc.norm.tok "
    "references, `--tokenize none`: the figure that papers print. Words, greedy: "
    "output and reference lower-cased and cut by spaCy's rules: the figure that "
    "tutorials print."
)


def moses(texts: Sequence[str], lang: str) -> list[str]:
    """Lower-cased, normalised and tokenised, like Multi30k's ``lc.norm.tok`` files."""
    from sacremoses import MosesPunctNormalizer, MosesTokenizer

    normalize, tokenizer = MosesPunctNormalizer(lang).normalize, MosesTokenizer(lang)
    lower = (normalize(text.strip().lower()) for text in texts)
    return [tokenizer.tokenize(text, return_str=True) for text in lower]


def words(texts: Sequence[str], lang: str) -> list[str]:
    """Lower-cased spaCy words, as tutorials count them."""
    import spacy

    nlp = spacy.blank(lang)
    return [" ".join(token.text for token in nlp(text.lower())) for text in texts]


def plain_bleu(hypotheses: Sequence[str], references: Sequence[str]) -> float:
    """BLEU of text that is tokenised already."""
    bleu = BLEU(tokenize="none", force=True)
    return float(bleu.corpus_score(list(hypotheses), [list(references)]).score)


def score(translator: nmt.Translator, split: str) -> tuple[list[float], str]:
    """The four scores of ``HEADER``, and the signature of the first.

    The third one is a number for Multi30k only, which has tokenised references.
    """
    data = translator.config.data
    pairs = getattr(nmt.load_corpus(data), split)
    sources, references = [p.src for p in pairs], [p.tgt for p in pairs]
    found = nmt.evaluate(translator, pairs)
    # <unk> is one word to a model of words; a tokenizer would cut it in three.
    beam, greedy = (
        [translation.text.replace("<unk>", "unk") for translation in some]
        for some in (found.translations, translator.translate(sources, beam_size=1))
    )
    lower, lang = math.nan, data.tgt_lang
    if data.corpus == "multi30k":
        data = data.model_copy(update={"corpus": "multi30k-tok"})
        tokenised = [pair.tgt for pair in getattr(nmt.load_corpus(data), split)]
        lower = plain_bleu(moses(beam, lang), tokenised)
    counted = plain_bleu(words(greedy, lang), words(references, lang))
    return [found.bleu, found.chrf, lower, counted], found.bleu_signature


def spread(values: Sequence[float]) -> str:
    """Mean ± standard deviation over the seeds; one seed has no spread."""
    mean = f"{statistics.mean(values):.2f}"
    return f"{mean} ± {statistics.stdev(values):.2f}" if len(values) > 1 else mean


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--config", default="multi30k", help="a name or a YAML file")
    parser.add_argument("--directions", nargs="+", default=["en-de"])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    help = "read the test set: once, when everything is chosen"
    parser.add_argument("--test", action="store_true", help=help)
    options = common.parse(parser)
    split, stem = "test" if options.test else "valid", Path(options.config).stem
    table = "_".join([stem, *options.directions, split])
    if options.test and (common.RESULTS / f"{table}.md").exists():
        return print(f"the test set has been read already: {table}.md")
    rows = []
    for direction in options.directions:
        src_lang, tgt_lang = direction.split("-")
        keys = {"data.src_lang": src_lang, "data.tgt_lang": tgt_lang}
        scores = []
        for seed in options.seeds:
            own = {"name": f"{stem}-{direction}-seed{seed}", "train.seed": seed}
            config = common.load_config(options.config, **keys, **own)
            run = nmt.train(config)
            numbers, signature = score(run.translator, split)
            scores.append(numbers)
            print(direction, seed, numbers, flush=True)
        columns = map(spread, zip(*scores, strict=True))
        rows.append([direction.replace("-", "→"), len(scores), *columns])
    where = "test2016" if options.test else "validation"
    common.write_table(
        table,
        f"{stem} on the {where} set of Multi30k",
        f"direction | seeds | {HEADER}",
        rows,
        f"{config.train.max_steps:,} updates; beam {config.decode.beam_size}, "
        f"length penalty {config.decode.length_penalty}. "
        f"{NOTES.format(signature)} ± is the standard deviation over the seeds. "
        f"{common.machine('sacrebleu', 'sacremoses')}, "
        f"train.precision {config.train.precision}.",
    )


if __name__ == "__main__":
    main()
