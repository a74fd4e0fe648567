"""What a mistake in the model costs: put into trained models, and trained with.

Run: ``NMT_DATA=… OMP_NUM_THREADS=1 python -m benchmarks.mistakes [--seeds 0 1]``. A run
that was cut off resumes; each training takes about a minute. The German captions are
those of Multi30k's test set, in ``NMT_DATA``.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from sacrebleu.metrics import BLEU

import nmt_lib as nmt
from benchmarks import common
from nmt_book.yours.fault import PUZZLES, Fault, function_of, wrong_code

STEPS = 200, 400, 800  # updates after which the validation loss is shown
MISTAKES = {
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
    seeds, n = common.seeds(0), 4 if common.DRY else 500
    right = [trained(None, seed, n) for seed in seeds]
    healthy = nmt.load_or_train(common.load_config("tiny"))
    pairs = nmt.load_corpus(healthy.config.data).test[:n]
    german = captions(min(n, 100))
    rows = [["none", *put_in(None, healthy, pairs), *german_score(None, german)]]
    rows[0] += joined(right)
    for name, change in MISTAKES.items():
        cells = [*put_in(change, healthy, pairs), *german_score(change, german)]
        rows.append([name, *cells, *joined([trained(change, s, n) for s in seeds])])
    header = (
        f"mistake | put into trained tiny: of {len(pairs)} | with the cache "
        "| perplexity | put into German: BLEU | perplexity "
        f"| trained with it: of {len(pairs)} | perplexity "
        "| validation loss after 200, 400 and 800 updates"
    )
    notes = (
        "“Of”: translations that equal the reference, searched greedily, without the "
        "cache unless the column says so. Perplexity: of the references. German: "
        f"`multi30k-en-de`, the first {len(german)} captions of Multi30k's test set. "
        f"Trained: the config `tiny`, seeds {', '.join(map(str, seeds))}; with several "
        "seeds, the mean and in brackets the least and the most (loss: the mean). "
        f"{common.machine()}."
    )
    title = "What a mistake costs, put in and trained with"
    common.write_table("mistakes", title, header, rows, notes)


@contextmanager
def planted(change: Fault | None) -> Iterator[None]:
    """The library with a mistake in it."""
    if change is None:
        yield
        return
    function = function_of(change.function)
    healthy = function.__code__
    function.__code__ = wrong_code(change)
    try:
        yield
    finally:
        function.__code__ = healthy


def exact(
    translator: nmt.Translator, pairs: Sequence[nmt.Pair], use_cache: bool = False
) -> int:
    sources = [pair.src for pair in pairs]
    found = translator.translate(sources, beam_size=1, use_cache=use_cache)
    return sum(a.text == b.tgt for a, b in zip(found, pairs, strict=True))


def put_in(
    change: Fault | None, healthy: nmt.Translator, pairs: Sequence[nmt.Pair]
) -> list[str]:
    """The trained tiny model with the mistake: two counts, and the perplexity."""
    with planted(change):
        broken = rebuilt(healthy)
        counts = [exact(broken, pairs), exact(broken, pairs, use_cache=True)]
        return [*map(str, counts), f"{nmt.perplexity(broken, pairs):.4g}"]


def rebuilt(translator: nmt.Translator) -> nmt.Translator:
    """The same weights in a new model, so that its table of positions is new."""
    tokenizers = translator.src_tokenizer, translator.tgt_tokenizer
    model = nmt.Transformer(translator.config.model, *map(len, tokenizers))
    model.load_state_dict(translator.model.state_dict())
    few = translator.config.decode.model_copy(update={"max_extra_tokens": 10})
    config = translator.config.model_copy(update={"decode": few})
    return nmt.Translator(model, *tokenizers, config)


def captions(n: int) -> list[nmt.Pair]:
    config = common.load_config("multi30k", **{"data.tgt_lang": "de"})
    return list(nmt.load_corpus(config.data).test[:n])


def german_score(change: Fault | None, pairs: Sequence[nmt.Pair]) -> list[str]:
    """BLEU and perplexity of the bundled German model with the mistake."""
    with planted(change):
        broken = rebuilt(nmt.Translator.load("multi30k-en-de"))
        sources = [pair.src for pair in pairs]
        found = broken.translate(sources, beam_size=1, use_cache=False)
        texts, references = [one.text for one in found], [pair.tgt for pair in pairs]
        score = BLEU(force=True).corpus_score(texts, [references]).score
        return [f"{score:.1f}", f"{nmt.perplexity(broken, pairs):.4g}"]


def trained(change: Fault | None, seed: int, n: int) -> list[float]:
    """Exact translations, perplexity, and validation losses of a training."""
    names = {value: name for name, value in MISTAKES.items()}
    slug = names[change] if change else "none"
    folder = common.home() / "mistakes" / f"{slug.replace(' ', '_')}-{seed}"
    config = common.load_config("tiny", **{"train.seed": seed})
    config = config.model_copy(update={"run_dir": str(folder)})
    with planted(change):
        run = nmt.train(config)
        broken = rebuilt(run.translator)
        pairs = nmt.load_corpus(config.data).test[:n]
        found = [exact(broken, pairs), nmt.perplexity(broken, pairs)]
    history = {row["step"]: row["valid_loss"] for row in run.history}
    losses = [history[step] for step in STEPS if step in history]
    print(slug, seed, found, losses, flush=True)
    return [*map(float, found), *losses]


def joined(runs: Sequence[Sequence[float]]) -> list[str]:
    """Columns of the table, over the seeds."""

    def over(values: Sequence[float], form: str) -> str:
        mean = format(statistics.mean(values), form)
        if len(values) == 1:
            return mean
        return f"{mean} ({min(values):{form}} to {max(values):{form}})"

    counts, surprises, *losses = zip(*runs, strict=True)
    curve = ", ".join(f"{statistics.mean(values):.3f}" for values in losses)
    return [over(counts, ".0f"), over(surprises, ".4g"), curve]


if __name__ == "__main__":
    main()
