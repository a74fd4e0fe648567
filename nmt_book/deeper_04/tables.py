"""What a mistake in the model costs: put into trained models, and trained with.

Run: ``NMT_DATA=… OMP_NUM_THREADS=1 python -m nmt_book.deeper_04.tables [--seeds 0 1]``.
A run that was cut off resumes; each takes about a minute. The German captions are those
of Multi30k's test set, in ``NMT_DATA``.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from sacrebleu.metrics import BLEU

import nmt_lib as nmt

from .. import benchmark
from ..yours.fault import PUZZLES, Fault, broken

STEPS = 200, 400, 800  # updates after which the validation loss is shown
MISTAKES = {
    "none": None,
    "sine and cosine exchanged": Fault(
        "sinusoids",
        "[angle.sin(), angle.cos()]",
        "[angle.cos(), angle.sin()]",
    ),
    "no √d_k": Fault(
        "MultiHeadAttention.attend",
        "F.scaled_dot_product_attention(queries, keys, values, mask)",
        "F.scaled_dot_product_attention(queries, keys, values, mask, scale=1.0)",
    ),
    "no causal mask": Fault(
        "causal_mask", "square.tril()[None, None]", "square[None, None]"
    ),
    "no positions": PUZZLES[4],
    "no √D": PUZZLES[5],
    "no residual connection": Fault(
        "Residual.forward",
        "self.norm(x + self.dropout(sublayer(x)))",
        "self.norm(self.dropout(sublayer(x)))",
    ),
    "heads cut by one view": Fault(
        "MultiHeadAttention.split_heads",
        "x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)",
        "x.reshape(x.size(0), self.n_heads, x.size(1), -1)",
    ),
    "padding not hidden": Fault("padding_mask", "(ids != pad)", "(ids == ids)"),
}


def main() -> None:
    seeds, n = benchmark.seeds(0), 4 if benchmark.DRY else 500
    tiny = benchmark.load_config("tiny")
    original, german = nmt.load_or_train(tiny), nmt.Translator.load("multi30k-en-de")
    multi30k = benchmark.load_config("multi30k", **{"data.tgt_lang": "de"})
    pairs = nmt.load_corpus(tiny.data).test[:n]
    captions = nmt.load_corpus(multi30k.data).test[: min(n, 100)]
    rows = []
    for name, mistake in MISTAKES.items():
        with broken(mistake):
            translator, captioner = copy_of(original), copy_of(german)
            cells = [
                str(exact(translator, pairs, use_cache)) for use_cache in (False, True)
            ]
            cells.append(f"{nmt.perplexity(translator, pairs):.4g}")
            texts = greedy(captioner, captions, use_cache=False)
            references = [[pair.tgt for pair in captions]]
            score = BLEU(force=True).corpus_score(texts, references).score
            cells += [f"{score:.1f}", f"{nmt.perplexity(captioner, captions):.4g}"]
            runs = [measurement(name, seed, pairs) for seed in seeds]
        rows.append([name, *cells, *columns(runs)])
    header = (
        f"mistake | put into trained tiny: of {len(pairs)} | with the cache "
        "| perplexity | put into German: BLEU | perplexity "
        f"| trained with it: of {len(pairs)} | perplexity "
        "| validation loss after 200, 400 and 800 updates"
    )
    notes = (
        "“Of”: translations that equal the reference, searched greedily, without the "
        "cache unless the column says so. Perplexity: of the references. German: "
        f"`multi30k-en-de`, the first {len(captions)} captions of Multi30k's test set. "
        f"Trained: the config `tiny`, seeds {', '.join(map(str, seeds))}; with several "
        "seeds, the mean and in brackets the least and the most (loss: the mean)."
    )
    title = "What a mistake costs, put in and trained with"
    benchmark.write_table("mistakes", title, header, rows, notes)


def copy_of(translator: nmt.Translator) -> nmt.Translator:
    """The same weights in a new model, so that its table of positions is new."""
    tokenizers = translator.src_tokenizer, translator.tgt_tokenizer
    model = nmt.Transformer(translator.config.model, *map(len, tokenizers))
    model.load_state_dict(translator.model.state_dict())
    decode = translator.config.decode.model_copy(update={"max_extra_tokens": 10})
    config = translator.config.model_copy(update={"decode": decode})
    return nmt.Translator(model, *tokenizers, config)


def greedy(
    translator: nmt.Translator, pairs: Sequence[nmt.Pair], use_cache: bool
) -> list[str]:
    sources = [pair.src for pair in pairs]
    translations = translator.translate(sources, beam_size=1, use_cache=use_cache)
    return [translation.text for translation in translations]


def exact(
    translator: nmt.Translator, pairs: Sequence[nmt.Pair], use_cache: bool = False
) -> int:
    """How many translations equal the reference."""
    texts = greedy(translator, pairs, use_cache)
    return sum(text == pair.tgt for text, pair in zip(texts, pairs, strict=True))


def trained(name: str, seed: int) -> nmt.Run:
    """A training run of the config ``tiny``, whose mistake is in the library by now."""
    folder = benchmark.home() / "mistakes" / f"{name.replace(' ', '_')}-{seed}"
    config = benchmark.load_config("tiny", **{"train.seed": seed})
    return nmt.train(config, run_dir=str(folder))


def measurement(name: str, seed: int, pairs: Sequence[nmt.Pair]) -> list[float]:
    """Exact translations, perplexity, and validation losses of a training run."""
    run = trained(name, seed)
    translator = copy_of(run.translator)
    numbers = [float(exact(translator, pairs)), nmt.perplexity(translator, pairs)]
    losses = [row["valid_loss"] for row in run.history if row["step"] in STEPS]
    print(name, seed, numbers, losses, flush=True)
    return numbers + losses


def columns(runs: Sequence[Sequence[float]]) -> list[str]:
    """Columns of the table, over the seeds."""

    def spread(values: Sequence[float], form: str) -> str:
        mean = format(statistics.mean(values), form)
        if len(values) == 1:
            return mean
        return f"{mean} ({min(values):{form}} to {max(values):{form}})"

    counts, surprises, *losses = zip(*runs, strict=True)
    curve = ", ".join(f"{statistics.mean(values):.3f}" for values in losses)
    return [spread(counts, ".0f"), spread(surprises, ".4g"), curve]


if __name__ == "__main__":
    main()
