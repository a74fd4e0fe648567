"""The browser's translator in Node, Python's, and what differs between the two."""

from __future__ import annotations

import json
import random
import subprocess
import unicodedata
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import torch

import nmt_lib as nmt

SCRIPT = "site/live/translator.js"
# A job is {text, encode, maps, closed} and options of `translate`; `closed` lists
# [kind, layer, head, column], null for any.
ANSWER = """async (load, file, jobs) => {
    const model = await load(file), answers = []
    for (const {text, encode, maps, closed: cells, ...options} of jobs) {
        const fits = (one, cell) => one.every((v, i) => v === null || v === cell[i])
        const closed = cells && ((...cell) => cells.some(one => fits(one, cell)))
        const found = encode ? {} : await model.translate(text, {closed, ...options})
        const rows = maps ? Object.values(found.maps).flat(3) : []
        answers.push({
            encoded: model.encode(text), ...found,
            maps: rows.flatMap(row => Array.from(row, weight => +weight.toFixed(7))),
        })
    }
    return answers
}"""
NODE = f"""
import {{readFileSync}} from 'fs'
const {{script, file, jobs}} = JSON.parse(readFileSync(0, 'utf8'))
const {{load}} = await import(script), bytes = new Uint8Array(readFileSync(file))
const answers = await ({ANSWER})(load, bytes.buffer, jobs)
process.stdout.write(JSON.stringify(answers))
"""
Job = dict[str, Any]

ODD = [
    "",
    " \t\n\u00a0\u2003 ",
    "ﬁne ﬂower ﬃ œuvre Ĳ ǆ ™ ℃ № ½ x² ①",
    "Ａ ｍａｎ ｒｅａｄｓ ｉｎ ｔｈｅ ｐａｒｋ．",
    "ガ カ\u3099 ﾊﾟ ㍿ 漢字 한국어 各 𠮷",
    "e\u0301 A\u030a ñ n\u0303 Å q\u0323\u0307 \u0344 \u1e9b\u0323",
    "👨‍👩‍👧 🇩🇪 👍🏽 🙂",
    "שלום עולם مرحبا هل ہیلو नमस्ते ไทย",
    "ﷺ ﷲ ﻼ",
    "a\u200bb\u00adc\ufeffd\u2060e\u0000f\u0007g\x1ch\x85i",
    "▁ ▁▁a ▁b▁ ▁",
    "<eos> <unk> <pad></s> <0x41>",
    "“Zwei” „Hunde“ «chiens» … – — ‐ − ′",
    "İstanbul ΣΑΣ ẞ ǅ",
    "Wo?!?!!! $5,000.00/kg a/b http://a.b/c?d=e f@g.h",
    "\ud7ff\ue000\uf8ff\ufffd\uffff\U0010ffff",
    "x" * 10_000,
    "Zwei Hunde 🙂 spielen " * 470,
    "🙂" * 3_000,
]


def node(script: Path, file: Path, jobs: list[Job]) -> list[dict[str, Any]]:
    """The answers of the translator in Node."""
    asked = json.dumps({"script": str(script), "file": str(file), "jobs": jobs})
    command = ["node", "--input-type=module", "--eval", NODE]
    result = subprocess.run(command, input=asked, capture_output=True, text=True)
    if result.returncode:
        raise RuntimeError(result.stderr)
    answers: list[dict[str, Any]] = json.loads(result.stdout)
    return answers


@contextmanager
def masked(model: nmt.Transformer, cells: list[list[Any]]) -> Iterator[None]:
    """Python's own attention without some columns; None is any."""
    stacks = {
        "encoder": [layer.self_attention for layer in model.encoder.layers],
        "decoder": [layer.self_attention for layer in model.decoder.layers],
        "cross": [layer.cross_attention for layer in model.decoder.layers],
    }
    with ExitStack() as stack:
        for kind, layer, head, column in cells:
            heads = slice(None) if head is None else slice(head, head + 1)
            columns = slice(None) if column is None else slice(column, column + 1)

            def hide(
                module: Any, args: Any, heads: slice = heads, columns: slice = columns
            ) -> Any:
                x, memory, mask, *cache = args
                known = cache[0].keys.size(2) if cache and cache[0] else 0
                own = known if cache and cache[0] and not cache[0].grows else 0
                S = own or known + memory.size(1)
                seen = torch.ones(1, module.n_heads, x.size(1), S, dtype=torch.bool)
                seen[:, heads, :, columns] = False
                return x, memory, seen if mask is None else seen & mask, *cache

            for i, attention in enumerate(stacks[kind]):
                if layer in (None, i):
                    hook = attention.register_forward_pre_hook(hide)
                    stack.callback(hook.remove)
        yield


def expected(translator: nmt.Translator, jobs: list[Job]) -> list[nmt.Translation]:
    """What Python answers; those without closed cells are translated together."""
    results: dict[int, nmt.Translation] = {}
    beams = [0 if job.get("encode") else job.get("beamSize", 1) for job in jobs]
    for i, job in enumerate(jobs):
        if not beams[i]:
            results[i] = only_labels(translator, job["text"])
    for beam in {*beams} - {0}:
        rows = [i for i, own in enumerate(beams) if own == beam]
        free = [i for i in rows if not jobs[i].get("closed")]
        found = translator.translate([jobs[i]["text"] for i in free], beam_size=beam)
        results |= zip(free, found, strict=True)
        for i in set(rows) - set(free):
            with masked(translator.model, jobs[i]["closed"]), nmt.collect_weights():
                results[i] = translator.translate(jobs[i]["text"], beam_size=beam)
                _ = results[i].attention
    return [results[i] for i in range(len(jobs))]


def only_labels(translator: nmt.Translator, text: str) -> nmt.Translation:
    labels = translator._source_labels(text, translator.encode(text))
    return nmt.Translation(text, "", (), 0.0, (), tuple(labels))


def token_difference(
    translator: nmt.Translator, job: Job, found: dict[str, Any], wanted: nmt.Translation
) -> str | None:
    """What differs in the source's tokens, the tokens, the text or the score."""
    ids, labels = translator.encode(job["text"]), list(wanted.src_labels)
    if found["encoded"] != [
        {"id": i, "token": t} for i, t in zip(ids, labels, strict=True)
    ]:
        return f"source {found['encoded']} for {labels}"
    if job.get("encode"):
        return None
    if found["tokens"] != list(wanted.tgt_labels) or found["text"] != wanted.text:
        both = f"{found['text']!r} {found['score']:.6f}, not {wanted.text!r} "
        return both + f"{wanted.score:.6f}, for {job['text'][:60]!r}"
    if abs(found["score"] - wanted.score) > 1e-4:
        return f"score {found['score']} for {wanted.score}"
    return None


def weight_difference(found: dict[str, Any], wanted: nmt.Translation) -> float:
    """The largest one in all maps."""
    maps = wanted.attention
    tensors = [*maps.encoder, *maps.decoder, *maps.cross]
    weights = torch.cat([tensor.flatten() for tensor in tensors])
    return float((torch.tensor(found["maps"]) - weights).abs().max())


def random_texts(n: int) -> list[str]:
    """Characters of Unicode 3.2, mostly from its first planes.

    Which of the newer ones have a lower case depends on the versions of Python and
    of the browser.
    """
    draw, known = random.Random(0), unicodedata.ucd_3_2_0.category
    tops = [0x250, 0x3000, 0x10000, 0x110000]
    points = [[draw.randrange(draw.choice(tops)) for _ in range(30)] for _ in range(n)]
    rows = [[chr(p) for p in row if p >> 11 != 27] for row in points]
    return ["".join(c for c in row if known(c) != "Cn") for row in rows]
