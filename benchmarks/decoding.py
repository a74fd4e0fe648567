"""Sentences a second: greedy translation of Multi30k test2016 three ways, with the same weights and outputs.

- ``nmt_lib``: batches of like length, key/value cache, finished sentences leave the batch;
- Marian of ``transformers`` with our weights copied in: ``generate`` on the same batches, with its cache;
- the loop of the write-ups: one sentence at a time, the whole prefix again at every step, attention written out, and
  the scores of every place computed.

A second table takes the write-ups' own shape (d512 × 6 layers) with random weights, every translation as long as its
source.

Run: ``NMT_DATA=… OMP_NUM_THREADS=1 python benchmarks/decoding.py [--run runs/multi30k]``. Without a trained run, the
model is trained for some updates first, so that lengths are like those of real translations.
"""

from __future__ import annotations

import argparse
import math
import statistics
import tempfile
import time

import torch
from common import alternate, machine, multi30k, ratio, write_table
from training import Marian, marian

import nmt_lib as nmt
from nmt_lib.batching import pad_batch
from nmt_lib.masks import causal_mask

BATCHES = (1, 64, 256)
LOOP = "one sentence, whole prefix"


def copy_to_marian(model: nmt.Transformer, wrapped: Marian) -> None:
    """Our weights in Marian: the same post-LN blocks under other names. Marian holds all sines before all cosines."""
    marian = wrapped.model
    pairs = [(model.tgt_embedding.lookup, marian.model.shared)]
    for ours, theirs in ((model.encoder, marian.model.encoder), (model.decoder, marian.model.decoder)):
        for a, b in zip(ours.layers, theirs.layers, strict=True):
            own = a.around_attention if hasattr(a, "around_attention") else a.around_self_attention
            blocks = [(a.self_attention, b.self_attn, own.norm, b.self_attn_layer_norm)]
            if hasattr(a, "cross_attention"):
                norms = a.around_cross_attention.norm, b.encoder_attn_layer_norm
                blocks.append((a.cross_attention, b.encoder_attn, *norms))
            for attention, other, norm, other_norm in blocks:
                pairs += [(attention.W_q, other.q_proj), (attention.W_k, other.k_proj), (attention.W_v, other.v_proj)]
                pairs += [(attention.W_o, other.out_proj), (norm, other_norm)]
            pairs += [(a.feed_forward.W_1, b.fc1), (a.feed_forward.W_2, b.fc2)]
            pairs.append((a.around_feed_forward.norm, b.final_layer_norm))
        table = model.src_embedding.positions.table[: theirs.embed_positions.weight.size(0)]
        theirs.embed_positions.weight.data[: len(table)] = table
    for ours, theirs in pairs:
        theirs.load_state_dict(ours.state_dict())
    marian.final_logits_bias.copy_(model.output.bias[None])


@torch.inference_mode()
def prefix_loop(model: nmt.Transformer, ids: list[int], limit: int) -> list[int]:
    """One sentence, no cache: what the write-ups print."""
    src = torch.tensor([ids])
    memory, _ = model.encode(src, None, need_weights=True)
    out = [2]
    while len(out) <= limit:
        x = model.tgt_embedding(torch.tensor([out]))
        x, _, _ = model.decoder(x, memory, causal_mask(len(out)), None, need_weights=True)
        out.append(int(model.output(x)[0, -1].argmax()))
        if out[-1] == 3:
            break
    return out[1:-1] if out[-1] == 3 else out[1:]


def trained(steps: int) -> nmt.Translator:
    overrides = {"train.max_steps": steps, "train.validate_every": steps, "train.checkpoint_every": steps}
    with tempfile.TemporaryDirectory() as folder:
        config, _, _ = multi30k(run_dir=folder, **overrides)
        return nmt.load_or_train(config)


def table(seconds: dict[str, list[float]], count: int) -> list[list[str]]:
    return [
        [name, f"{count / statistics.median(values):.1f}", f"{ratio(seconds, name, 'nmt_lib, batch 64'):.2f}"]
        for name, values in seconds.items()
    ]


def writeup_shape(sources: list[list[int]], rounds: int) -> None:
    """The second table: d512 × 6 layers, random weights that never say <eos> before they must."""
    torch.manual_seed(0)
    model = nmt.build_model(nmt.load_config("writeup_c").model, 6191, 8014).eval()
    model.output.bias.data[3] = -1e4
    sources = [[2, *[4 + i % 6000 for i in ids[1:-1]], 3] for ids in sources[:: max(1, len(sources) // 256)]][:256]
    few = sources[::16]

    def batch(size: int) -> object:
        return [nmt.greedy_search(model, pad_batch(sources[i : i + size]), 0) for i in range(0, len(sources), size)]

    runs = {f"nmt_lib, batch {size}": lambda size=size: batch(size) for size in (64, 256)}
    runs[LOOP] = lambda: [prefix_loop(model, ids, len(ids)) for ids in few]
    seconds = alternate(runs, rounds)
    seconds[LOOP] = [s * len(sources) / len(few) for s in seconds[LOOP]]
    write_table(
        "decoding_writeup_shape",
        "Greedy translation at the write-ups' shape, d512 × 6 layers",
        ["what", "sentences a second, median", "time relative to nmt_lib at batch 64, median of ratios"],
        table(seconds, len(sources)),
        f"{len(sources)} sources of the lengths of Multi30k test2016, random weights, fp32; {rounds} rounds in turns; "
        f"the loop was timed on {len(few)} of them. {machine()}. Made by `benchmarks/decoding.py`.",
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--run", help="folder of a trained run of the config multi30k")
    parser.add_argument("--steps", type=int, default=300, help="updates, where no run is given")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--sentences", type=int, default=1000)
    options = parser.parse_args()
    translator = nmt.Translator.load(options.run) if options.run else trained(options.steps)
    model, limit = translator.model, translator.config.decode.max_extra_tokens
    pairs = nmt.load_corpus(translator.config.data).test[: options.sentences]
    sources = sorted((translator.encode(pair.src) for pair in pairs), key=len)
    other = marian(translator.config, len(translator.tgt_tokenizer)).eval()
    copy_to_marian(model, other)

    def ours(size: int) -> list[list[int]]:
        groups = [sources[i : i + size] for i in range(0, len(sources), size)]
        return [list(h.ids) for group in groups for h in nmt.greedy_search(model, pad_batch(group), limit)]

    @torch.inference_mode()
    def theirs(size: int) -> list[list[int]]:
        found = []
        for i in range(0, len(sources), size):
            src = pad_batch(sources[i : i + size])
            out = other.model.generate(
                input_ids=src, attention_mask=(src != 0).long(), num_beams=1, do_sample=False,
                max_length=src.size(1) + limit + 1, bad_words_ids=None, suppress_tokens=[0, 2], forced_eos_token_id=3,
            )  # fmt: skip
            found += [[t for t in row[1:] if t not in (0, 3)] for row in out.tolist()]
        return found

    same = statistics.mean(a == b for a, b in zip(ours(64), theirs(64), strict=True))
    few = sources[:: math.ceil(len(sources) / 100)]  # the slow loop gets every tenth sentence; time is scaled up
    start = time.perf_counter()
    slow = [prefix_loop(model, ids, len(ids) + limit) for ids in few]
    print(f"loop alone, once: {time.perf_counter() - start:.1f} s", flush=True)
    equal = statistics.mean(a == b for a, b in zip(slow, ours(64)[:: math.ceil(len(sources) / 100)], strict=True))

    runs = {f"nmt_lib, batch {size}": lambda size=size: ours(size) for size in BATCHES}
    runs |= {f"Marian generate, batch {size}": lambda size=size: theirs(size) for size in BATCHES}
    runs[LOOP] = lambda: [prefix_loop(model, ids, len(ids) + limit) for ids in few]
    seconds = alternate(runs, options.rounds)
    seconds[LOOP] = [s * len(sources) / len(few) for s in seconds[LOOP]]
    rows = table(seconds, len(sources))
    write_table(
        "decoding",
        "Greedy translation of Multi30k test2016",
        ["what", "sentences a second, median", "time relative to nmt_lib at batch 64, median of ratios"],
        rows,
        f"{len(sources)} sentences, sorted by length, fp32, same weights: {100 * same:.1f} % of Marian's outputs and "
        f"{100 * equal:.1f} % of the loop's are the same as ours, token for token. {options.rounds} rounds in turns; "
        f"the loop was timed on {len(few)} of the sentences. At batch 1 nmt_lib takes "
        f"{1 / ratio(seconds, 'Marian generate, batch 1', 'nmt_lib, batch 1'):.2f} × Marian's time. "
        f"{machine('transformers')}. Made by `benchmarks/decoding.py`.",
    )
    writeup_shape(sources, max(2, options.rounds // 2))


if __name__ == "__main__":
    main()
