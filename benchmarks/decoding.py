"""Sentences per CPU second: sentences of Multi30k translated greedily and with a beam
of 5, by several systems with the same weights.

- ``nmt_lib``: key/value cache, finished sentences leave the batch; also uncached;
- ``transformers`` with our weights (``nmt.export_hugging_face``);
- CTranslate2, converted from that export, in fp32 and in int8;
- the loop of the write-ups: one sentence at a time, the whole prefix again at every
  step, attention written out, and the scores of every position computed.

All get the same batches of sentences of similar length, as ids, and return ids. There
is no length penalty (α = 0), so that all beams maximise the same score. They stop at
different times: in nmt_lib and transformers when no prefix can beat the five best that
are finished, in CTranslate2 as soon as its best prefix is finished.

Run: ``NMT_DATA=… OMP_NUM_THREADS=1 python -m benchmarks.decoding [--run FOLDER]``;
without ``--run``, a bundled model. ``--run writeup_c`` takes a
model of that config's shape with random weights, where every translation is as long as
its source. Systems that are not installed, or cannot hold the model, are left out.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import time
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from sacrebleu.metrics import BLEU

import nmt_lib as nmt
from benchmarks import common
from nmt_book import benchmark
from nmt_lib.config import config_names
from nmt_lib.model.attention import collect_weights

SEARCHES = {"greedy": 1, "beam of 5": 5}
BASELINE, LOOP = "nmt_lib", "one sentence, whole prefix"

Group = list[list[int]]  # ids of several sentences
System = Callable[[Group, int], Group]  # sources and the beam's size to translations


@torch.inference_mode()
def prefix_loop(model: nmt.Transformer, ids: list[int], limit: int) -> list[int]:
    """One sentence, no cache, attention written out, as in the write-ups."""
    out = [nmt.SOS]
    copy, _ = collect_weights(model)
    src = torch.tensor([ids])  # (1, S)
    memory = copy.encode(src)  # (1, S, D)
    while len(out) <= limit and out[-1] != nmt.EOS:
        x = copy.decode(torch.tensor([out]), memory, nmt.padding_mask(src))
        out.append(int(model.output(x)[0, -1].argmax()))
    return [token for token in out[1:] if token != nmt.EOS]


def library_search(
    model: nmt.Transformer, extra: int, cache: bool, group: Group, K: int
) -> Group:
    src = nmt.pad_batch(group)
    if K == 1:
        hypotheses = nmt.greedy_search(model, src, extra, 0.0, cache)
    else:
        beams = nmt.beam_search(model, src, K, 0.0, extra, cache)
        hypotheses = [best for best, *_ in beams]
    return [list(hypothesis.ids) for hypothesis in hypotheses]


@torch.inference_mode()
def generate(model: Any, extra: int, group: Group, K: int) -> Group:
    """The search of ``transformers``, with its cache."""
    src = nmt.pad_batch(group)
    penalty = {"length_penalty": 0.0} if K > 1 else {}
    out = model.generate(
        input_ids=src,
        attention_mask=(src != nmt.PAD).long(),
        num_beams=K,
        max_length=src.size(1) + extra + 1,
        forced_eos_token_id=nmt.EOS,
        **penalty,
    )
    special = (nmt.PAD, nmt.EOS)
    outputs = [
        [token for token in row[1:] if token not in special] for row in out.tolist()
    ]
    return [ids[: len(row) + extra] for ids, row in zip(outputs, group, strict=True)]


def converted(translator: nmt.Translator, quantization: str) -> Any:
    """CTranslate2's translator with these weights."""
    import ctranslate2

    folder = nmt.export_ctranslate2(
        translator, benchmark.scratch() / "converted", quantization
    )
    threads = {"inter_threads": 1, "intra_threads": 1}
    return ctranslate2.Translator(str(folder), compute_type=quantization, **threads)


def engine_search(
    engine: Any, translator: nmt.Translator, extra: int, group: Group, K: int
) -> Group:
    src, tgt = translator.src_tokenizer, translator.tgt_tokenizer
    tokens = tgt.lookup_tokens(range(len(tgt)))
    ids = {token: index for index, token in enumerate(tokens)}
    results = engine.translate_batch(
        [src.lookup_tokens(row) for row in group],
        beam_size=K,
        length_penalty=0.0,
        max_decoding_length=max(map(len, group)) + extra,
        suppress_sequences=[["<pad>"], ["<sos>"]],
    )
    return [
        [ids[token] for token in result.hypotheses[0]][: len(row) + extra]
        for result, row in zip(results, group, strict=True)
    ]


def all_systems(translator: nmt.Translator) -> dict[str, System]:
    model, extra = translator.model, translator.config.decode.max_extra_tokens
    systems: dict[str, System] = {
        BASELINE: partial(library_search, model, extra, True),
        "nmt_lib, no cache": partial(library_search, model, extra, False),
        LOOP: lambda group, K: [prefix_loop(model, i, len(i) + extra) for i in group],
    }
    if find_spec("transformers") and translator.config.data.tokenizer == "bpe":
        rival, _ = common.exported(translator)
        systems["transformers `generate`"] = partial(generate, rival.eval(), extra)
        if find_spec("ctranslate2"):
            for kind in ("float32", "int8"):
                engine = converted(translator, kind)
                search = partial(engine_search, engine, translator, extra)
                systems[f"CTranslate2, {kind}"] = search
    return systems


def batches(rows: Group, size: int) -> list[Group]:
    return [rows[i : i + size] for i in range(0, len(rows), size)]


def load(run: str) -> nmt.Translator:
    """A trained model; for a config's name one with random weights, which never ends a
    translation before it must."""
    if run not in config_names():
        return nmt.Translator.load(run, device="cpu")
    config, tokenizers, *_ = common.load_data(run, **{"decode.max_extra_tokens": 0})
    torch.manual_seed(0)
    model = nmt.Transformer(config.model, *map(len, tokenizers))
    model.output.bias.data[nmt.EOS] = -1e4
    return nmt.Translator(model, *tokenizers, config)


def main() -> None:
    parser = argparse.ArgumentParser()
    help = "a run's folder, a model file, or a model's or config's name"
    parser.add_argument("--run", default="multi30k-en-de", help=help)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--sentences", type=int, default=512)
    options = benchmark.parse(parser)
    run = "multi30k" if options.dry else options.run
    translator, name = load(run), Path(run).name
    pairs = nmt.load_corpus(translator.config.data).valid[: options.sentences]
    pairs = sorted(pairs, key=lambda pair: len(translator.encode(pair.src)))
    sources = [translator.encode(pair.src) for pair in pairs]
    # One at a time takes long, so only every eighth sentence is measured.
    texts = {1: batches(sources[4::8], 1), 64: batches(sources, 64)}
    systems = all_systems(translator)
    outputs: dict[Any, Group] = {}

    def translate(key: tuple[str, int, str]) -> None:
        search, size, system = key
        results = [systems[system](g, SEARCHES[search]) for g in texts[size]]
        outputs[key] = list(itertools.chain(*results))

    keys = [
        key
        for key in itertools.product(SEARCHES, texts, systems)
        if key[2] != LOOP or key[:2] == ("greedy", 1)
    ]
    runs = {key: partial(translate, key) for key in keys}
    seconds = benchmark.alternate(runs, options.rounds, time.process_time)
    rows = []
    for key in keys:
        search, size, _ = key
        base = (search, size, BASELINE)
        speed = len(outputs[key]) / statistics.median(seconds[key])
        agreement = statistics.mean(map(list.__eq__, outputs[key], outputs[base]))
        score = ""
        if size > 1:
            translations = [
                translator.tgt_tokenizer.decode(ids) for ids in outputs[key]
            ]
            references = [[pair.tgt for pair in pairs]]
            score = f"{BLEU().corpus_score(translations, references).score:.2f}"
        times = f"{common.ratio(seconds, key, base):.2f}"
        rows.append([*key, f"{speed:.1f}", times, f"{100 * agreement:.1f} %", score])
    words = statistics.mean(map(len, outputs["greedy", 64, BASELINE]))
    m = translator.config.model
    benchmark.write_table(
        "decoding" if run == parser.get_default("run") else f"decoding_{name}",
        "Translation of sentences of Multi30k's validation set",
        "search | batch | what | sentences a CPU second, median | time relative to "
        "nmt_lib, median of ratios | same tokens as nmt_lib | BLEU",
        rows,
        f"d{m.d_model} × {m.n_layers} layers, {len(translator.tgt_tokenizer):,} tokens "
        f"in the vocabulary, the model {name}; {len(sources)} sentences sorted by "
        f"length (at batch 1 every eighth), {words:.1f} tokens a translation. The same "
        "weights in all, fp32 but for int8; no length penalty. One thread for all (for "
        "CTranslate2 inter_threads=1 and intra_threads=1); CPU time of the process. "
        f"{options.rounds} rounds, all rows in turns in one process. "
        "transformers",
        "ctranslate2",
    )


if __name__ == "__main__":
    main()
