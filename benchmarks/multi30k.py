"""Multi30k: trains a config for each direction and seed, and scores it as papers and
tutorials do.

Unfinished runs resume. Without ``--test`` only the validation set is read, on which
everything is chosen. With it, the table is written once; test2017 and MSCOCO are read,
too, if ``NMT_DATA`` holds their files. The corpus multi30k-tok is needed as well.
Run: ``NMT_DATA=… python -m benchmarks.multi30k --directions en-de de-en --seeds 0 1 2``

``--models multi30k-en-de …`` scores trained models instead, as often as you like.
"""

from __future__ import annotations

import argparse
import math
import os
import statistics
from collections.abc import Iterator, Sequence
from pathlib import Path

from sacrebleu.metrics import BLEU

import nmt_lib as nmt
from nmt_book import benchmark
from nmt_lib.config import DataConfig
from nmt_lib.data.published import FILES, from_files

# The test sets of later years, by the stem of their published files.
LATER = {"test2017": "test_2017_flickr", "MSCOCO": "test_2017_mscoco"}
SIDES = ("data.src_lang", "data.tgt_lang")
NAMES = {"valid": "validation", "test": "test2016"}
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
    """BLEU of text that is already tokenised."""
    bleu = BLEU(tokenize="none", force=True)
    return float(bleu.corpus_score(list(hypotheses), [list(references)]).score)


def load_set(data: DataConfig, name: str, corpus: str | None = None) -> list[nmt.Pair]:
    """A split of the corpus, or one of ``LATER``."""
    corpus = corpus or data.corpus
    if name not in LATER:
        data = data.model_copy(update={"corpus": corpus})
        return list(getattr(nmt.load_corpus(data), name))
    stem = FILES[corpus]["test"].replace("test_2016_flickr", LATER[name])
    folder = Path(os.environ["NMT_DATA"]) / corpus
    sides = data.src_lang, data.tgt_lang
    pairs = from_files(folder, {name: stem}, sides)[name]
    return [nmt.Pair(*texts) for texts in pairs]


def test_sets(data: DataConfig) -> list[str]:
    """The sets that can be read: ``test``, and those of ``LATER`` whose files exist."""
    folder = Path(os.environ.get("NMT_DATA", "")) / "multi30k"
    names = [n for n, stem in LATER.items() if any(folder.glob(f"{stem}.*"))]
    return ["test", *(names if data.corpus == "multi30k" else [])]


def score(
    translator: nmt.Translator, data: DataConfig, name: str
) -> tuple[list[float], str]:
    """The four scores of ``HEADER`` on a set, and the signature of the first.

    The third is a number only for Multi30k, which has tokenised references.
    """
    pairs, lang = load_set(data, name), data.tgt_lang
    sources, references = [p.src for p in pairs], [p.tgt for p in pairs]
    evaluation = nmt.evaluate(translator, pairs)
    # <unk> is one word for a word model; a tokenizer would split it in three.
    beam, greedy = (
        [translation.text.replace("<unk>", "unk") for translation in translations]
        for translations in (
            evaluation.translations,
            translator.translate(sources, beam_size=1),
        )
    )
    lower = math.nan
    if data.corpus == "multi30k":
        tokens = [pair.tgt for pair in load_set(data, name, "multi30k-tok")]
        lower = plain_bleu(moses(beam, lang), tokens)
    greedy_bleu = plain_bleu(words(greedy, lang), words(references, lang))
    numbers = [evaluation.bleu, evaluation.chrf, lower, greedy_bleu]
    return numbers, evaluation.bleu_signature


def spread(values: Sequence[float]) -> str:
    """Mean ± standard deviation over the seeds; one seed has no spread."""
    mean = f"{statistics.mean(values):.2f}"
    return f"{mean} ± {statistics.stdev(values):.2f}" if len(values) > 1 else mean


def trained(options: argparse.Namespace) -> Iterator[list[nmt.Translator]]:
    """The models of each direction, one for each seed, or each of ``--models``."""
    for name in options.models:
        yield [nmt.Translator.load(name)]
    for direction in [] if options.models else options.directions:
        languages = dict(zip(SIDES, direction.split("-"), strict=True))
        stem, models = Path(options.config).stem, []
        for seed in options.seeds:
            changes = {"name": f"{stem}-{direction}-seed{seed}", "train.seed": seed}
            config = benchmark.load_config(options.config, **languages, **changes)
            models.append(nmt.train(config).translator)
        yield models


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--config", default="multi30k", help="a name or a YAML file")
    parser.add_argument("--directions", nargs="+", default=["en-de"])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    help = "score these instead of training: names, or folders of runs"
    parser.add_argument("--models", nargs="+", default=[], help=help)
    help = "read the test set: once, when everything is chosen"
    parser.add_argument("--test", action="store_true", help=help)
    options = benchmark.parse(parser)
    stem = "models" if options.models else Path(options.config).stem
    directions = [] if options.models else options.directions
    table = "_".join([stem, *directions, "test" if options.test else "valid"])
    if directions and options.test and (benchmark.RESULTS / f"{table}.md").exists():
        return print(f"the test set has been read already: {table}.md")
    rows, penalties = [], {}
    for models in trained(options):
        config = models[0].config
        languages = {side: getattr(config.data, side[5:]) for side in SIDES}
        data = benchmark.load_config(options.config, **languages).data
        direction = "→".join(languages.values())
        penalties[direction] = config.decode.length_penalty
        for name in test_sets(data) if options.test else ["valid"]:
            results = [score(model, data, name) for model in models]
            columns = zip(*(numbers for numbers, _ in results), strict=True)
            set_name = NAMES.get(name, name)
            rows.append([direction, set_name, len(models), *map(spread, columns)])
            print(*rows[-1], flush=True)
    train = config.train
    trained_how = f"{train.max_steps:,} updates, train.precision {train.precision}. "
    if options.models:
        trained_how = ""
    benchmark.write_table(
        table,
        f"{stem} on Multi30k",
        f"direction | set | seeds | {HEADER}",
        rows,
        f"{trained_how}Beam {config.decode.beam_size}, length penalty "
        f"{', '.join(f'{alpha} ({langs})' for langs, alpha in penalties.items())}. "
        f"{NOTES.format(results[0][1])} ± is the standard deviation over the seeds.",
        "sacrebleu",
        "sacremoses",
    )


if __name__ == "__main__":
    main()
