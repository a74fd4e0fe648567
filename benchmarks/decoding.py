"""Sentences a CPU second: Multi30k test2016 translated greedily and with a beam of 5, several ways, the same weights.

- ``nmt_lib``: key/value cache, finished sentences leave the batch; and the same without the cache;
- Marian of ``transformers`` with our weights exported (``nmt.export_hugging_face``): ``generate``, with its cache;
- CTranslate2 with our weights exported (``nmt.export_ctranslate2``), in fp32 and in int8;
- the loop of the write-ups: one sentence at a time, the whole prefix again at every step, attention written out, and
  the scores of every place computed.

All get the same batches of sentences of like length, as ids, and give ids. No length penalty (α = 0), so that all beams
look for the same thing. Where a beam stops differs: nmt_lib and Marian when no prefix can beat the five best that are
finished, CTranslate2 as soon as its best prefix is finished.

A second table takes the write-ups' own shape (d512 × 6 layers) with random weights, every translation as long as its
source.

Run: ``NMT_DATA=… OMP_NUM_THREADS=1 python benchmarks/decoding.py [--run FOLDER]``; without ``--run``, the
model that comes with the library.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import torch
from common import alternate, machine, ratio, write_table
from sacrebleu.metrics import BLEU
from torch import nn

import nmt_lib as nmt
from nmt_lib.batching import pad_batch
from nmt_lib.masks import causal_mask

SEARCHES = {"greedy": 1, "beam of 5": 5}
BATCHES = (1, 64)
OURS = "nmt_lib"
LOOP = "one sentence, whole prefix"

System = Callable[
    [list[list[int]], int], list[list[int]]
]  # a batch of sources and K to the translations, all as ids


@torch.inference_mode()
def prefix_loop(model: nmt.Transformer, ids: list[int], limit: int) -> list[int]:
    """One sentence, no cache, attention written out: what the write-ups print."""
    heads = [
        module
        for module in model.modules()
        if isinstance(module, nmt.MultiHeadAttention)
    ]
    for module in heads:
        module.keep_weights = True
    src = torch.tensor([ids])
    memory = model.encode(src, None)
    out = [2]
    while len(out) <= limit:
        x = model.decode(torch.tensor([out]), memory, None, causal_mask(len(out)))
        out.append(int(model.output(x)[0, -1].argmax()))
        if out[-1] == 3:
            break
    for module in heads:
        module.keep_weights, module.weights = False, None
    return out[1:-1] if out[-1] == 3 else out[1:]


def ours(model: nmt.Transformer, extra: int, use_cache: bool) -> System:
    def search(group: list[list[int]], K: int) -> list[list[int]]:
        src = pad_batch(group)
        if K == 1:
            return [
                list(h.ids)
                for h in nmt.greedy_search(model, src, extra, 0.0, use_cache)
            ]
        return [
            list(best.ids)
            for best, *_ in nmt.beam_search(model, src, K, 0.0, extra, use_cache)
        ]

    return search


def exported(translator: nmt.Translator, folder: Path) -> nn.Module:
    """Our weights in Marian of ``transformers``."""
    from transformers import MarianMTModel

    return MarianMTModel.from_pretrained(
        nmt.export_hugging_face(translator, folder)
    ).eval()


def marian_generate(marian: nn.Module, extra: int) -> System:
    @torch.inference_mode()
    def search(group: list[list[int]], K: int) -> list[list[int]]:
        src = pad_batch(group)
        out = marian.generate(
            input_ids=src,
            attention_mask=(src != 0).long(),
            num_beams=K,
            do_sample=False,
            max_length=src.size(1) + extra + 1,
            bad_words_ids=None,
            suppress_tokens=[0, 2],
            forced_eos_token_id=3,
            **({"length_penalty": 0.0} if K > 1 else {}),
        )
        found = [
            [token for token in row[1:] if token not in (0, 3)] for row in out.tolist()
        ]
        return [ids[: len(row) + extra] for ids, row in zip(found, group, strict=True)]

    return search


def ctranslate2_engine(
    translator: nmt.Translator, folder: Path, compute_type: str
) -> System:
    nmt.export_ctranslate2(translator, folder, compute_type)
    engine = nmt.CTranslate2Translator(
        folder, compute_type=compute_type, inter_threads=1, intra_threads=1
    )
    return lambda group, K: engine.search(
        group, beam_size=K, length_penalty=0.0, max_batch_size=0
    )


def writeup_shape(sources: list[list[int]], rounds: int) -> None:
    """The second table: d512 × 6 layers, random weights that never say <eos> before they must."""
    torch.manual_seed(0)
    model = nmt.build_model(nmt.load_config("writeup_c").model, 6191, 8014).eval()
    model.output.bias.data[3] = -1e4
    sources = [
        [2, *[4 + i % 6000 for i in ids[1:-1]], 3]
        for ids in sources[:: max(1, len(sources) // 256)]
    ][:256]
    few = sources[::16]

    def batch(size: int) -> object:
        return [
            nmt.greedy_search(model, pad_batch(sources[i : i + size]), 0)
            for i in range(0, len(sources), size)
        ]

    runs = {
        f"nmt_lib, batch {size}": lambda size=size: batch(size) for size in (64, 256)
    }
    runs[LOOP] = lambda: [prefix_loop(model, ids, len(ids)) for ids in few]
    seconds = alternate(runs, rounds, time.process_time)
    seconds[LOOP] = [s * len(sources) / len(few) for s in seconds[LOOP]]
    write_table(
        "decoding_writeup_shape",
        "Greedy translation at the write-ups' shape, d512 × 6 layers",
        [
            "what",
            "sentences a CPU second, median",
            "time relative to nmt_lib at batch 64, median of ratios",
        ],
        [
            [
                name,
                f"{len(sources) / statistics.median(values):.1f}",
                f"{ratio(seconds, name, 'nmt_lib, batch 64'):.2f}",
            ]
            for name, values in seconds.items()
        ],
        f"{len(sources)} sources of the lengths of Multi30k test2016, random weights, fp32; CPU time; {rounds} rounds "
        f"in turns; the loop was timed on {len(few)} of them. {machine()}.",
    )


def bleu(
    system: System, K: int, translator: nmt.Translator, pairs: Sequence[nmt.Pair]
) -> float:
    """sacreBLEU's default on batches of 64 sentences of like length."""
    order = sorted(range(len(pairs)), key=lambda i: len(pairs[i].src))
    texts = {}
    for start in range(0, len(order), 64):
        group = order[start : start + 64]
        found = system([translator.encode(pairs[i].src) for i in group], K)
        texts |= {
            i: translator.tgt_tokenizer.decode(ids)
            for i, ids in zip(group, found, strict=True)
        }
    return float(
        BLEU()
        .corpus_score(
            [texts[i] for i in range(len(pairs))], [[pair.tgt for pair in pairs]]
        )
        .score
    )


def label(search: str, size: int, name: str) -> str:
    return f"{search}, batch {size}: {name}"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument(
        "--run",
        default="multi30k-en-de",
        help="a model of the config multi30k: a folder or a name",
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--sentences", type=int, default=512)
    options = parser.parse_args()
    translator = nmt.Translator.load(options.run, device="cpu")
    model, extra = translator.model.cpu(), translator.config.decode.max_extra_tokens
    pairs = nmt.load_corpus(translator.config.data).test[: options.sentences]
    sources = sorted((translator.encode(pair.src) for pair in pairs), key=len)
    few = sources[
        4::8
    ]  # one at a time takes long: every eighth sentence stands for all, and the time is scaled up
    with tempfile.TemporaryDirectory() as folder:
        systems = {
            OURS: ours(model, extra, use_cache=True),
            "nmt_lib, no cache": ours(model, extra, use_cache=False),
            "Marian `generate`": marian_generate(
                exported(translator, Path(folder) / "marian"), extra
            ),
            "CTranslate2, fp32": ctranslate2_engine(
                translator, Path(folder) / "fp32", "float32"
            ),
            "CTranslate2, int8": ctranslate2_engine(
                translator, Path(folder) / "int8", "int8"
            ),
        }
    found: dict[str, list[list[int]]] = {}
    runs: dict[str, Callable[[], object]] = {}
    rows: list[list[object]] = []

    def add(search: str, size: int, name: str, system: System) -> None:
        texts = few if size == 1 else sources
        groups = [texts[i : i + size] for i in range(0, len(texts), size)]

        def run() -> None:
            found[label(search, size, name)] = [
                ids for group in groups for ids in system(group, SEARCHES[search])
            ]

        runs[label(search, size, name)] = run
        rows.append([search, size, name])

    for search in SEARCHES:
        for size in BATCHES:
            for name, system in systems.items():
                add(search, size, name, system)
            if (search, size) == ("greedy", 1):
                add(
                    search,
                    size,
                    LOOP,
                    lambda group, K: [
                        prefix_loop(model, ids, len(ids) + extra) for ids in group
                    ],
                )
    seconds = alternate(runs, options.rounds, time.process_time)
    valid = nmt.load_corpus(translator.config.data).valid
    for row in rows:
        search, size, name = row
        key, base = label(search, size, name), label(search, size, OURS)
        same = statistics.mean(
            a == b for a, b in zip(found[key], found[base], strict=True)
        )
        row += [
            f"{len(found[key]) / statistics.median(seconds[key]):.1f}",
            f"{ratio(seconds, key, base):.2f}",
        ]
        row += [
            f"{100 * same:.1f} %",
            ""
            if size == 1
            else f"{bleu(systems[name], SEARCHES[search], translator, valid):.2f}",
        ]
    batched, scale = label("greedy", 64, OURS), len(sources) / len(few)
    alone, loop = (
        scale * ratio(seconds, label("greedy", 1, name), batched)
        for name in (OURS, LOOP)
    )
    words = statistics.mean(len(ids) for ids in found[batched])
    write_table(
        "decoding",
        "Translation of the test set of Multi30k",
        [
            "search",
            "batch",
            "what",
            "sentences a CPU second, median",
            "time relative to nmt_lib, median of ratios",
            "same tokens as nmt_lib",
            "BLEU, validation",
        ],
        rows,
        f"d128 × 4 layers, {len(translator.tgt_tokenizer):,} pieces, the model {Path(options.run).name}; "
        f"{len(sources)} sentences sorted by length (at batch 1 every eighth), {words:.1f} tokens a translation; only "
        "times and agreement come from the test set. The same weights in all, "
        "fp32 but for int8; no length penalty. One thread for all (for CTranslate2 inter_threads=1 and "
        f"intra_threads=1), and CPU time of the process. {options.rounds} rounds, all rows in turns in one process. "
        f"For a sentence at batch 1, greedily, nmt_lib takes {alone:.1f} × its time at batch 64, and the loop of the "
        f"write-ups {loop:.1f} ×. "
        f"{machine('transformers', 'ctranslate2')}.",
    )
    writeup_shape(sources, max(2, options.rounds // 2))


if __name__ == "__main__":
    main()
