"""The browser's translator, run in Node, does what Python's does."""

import json
import random
import re
import unicodedata
import zlib
from base64 import b64encode
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save as safetensors_bytes

import nmt_lib as nmt
from nmt_book import web
from nmt_lib.data.tokenizers import SentencePieceTokenizer, Tokenizer, WordTokenizer
from nmt_lib.data.tokens import SPECIALS, Vocab
from nmt_lib.training import model_file
from nmt_lib.training.run_folder import PRETRAINED
from nmt_lib.translate.search import Candidate
from tests.lib.small import SMALL, rewritten, small_model, small_translator
from tests.site.node import needs_node, run_node, same

pytestmark = needs_node
TEXTS = ["ich sehe qwertz", "du", "", "wir mochte ein bier <eos> der hund haus cola"]
CAPTIONS = {
    "en": ["A ﬁreman in a blue coat 🙂 waves!", "Two dogs."],
    "de": ["Ein Mann (ﬂeißig) liest 🙂 Zeitung!", "Zwei Hunde."],
}
UNUSUAL: dict[str, Any] = {
    "norm": "pre",
    "final_norm": False,
    "tying": "target",
    "bias": False,
    "norm_bias": False,
    "d_value": 3,
    "n_decoder_layers": 3,
    "scale_embeddings": False,
}
SCRIPT = str(web.FILES / "translator.js")
# A job is {text, encode, maps, closed} and options of `translate`; `closed` lists
# [kind, layer, head, column], null for any.
NODE = """
import {readFileSync} from 'fs'
const {script, file, jobs, kernels} = JSON.parse(readFileSync(0, 'utf8'))
const {load} = await import(script), {buffer} = new Uint8Array(readFileSync(file))
const plain = (key, value) => ArrayBuffer.isView(value) ? [...value] : value
const answers = []
for (const kernel of kernels) {
    const model = await load(buffer, {kernel}), all = []
    for (const {text, encode, maps, closed: cells, ...options} of jobs) {
        const fits = (one, cell) => one.every((v, i) => v === null || v === cell[i])
        const closed = cells && ((...cell) => cells.some(one => fits(one, cell)))
        const found = encode ? {} : await model.translate(text, {closed, ...options})
        const wanted = maps ? {} : {maps: null}
        all.push({encoded: model.encode(text), ...found, ...wanted})
    }
    answers.push(all)
}
process.stdout.write(JSON.stringify(answers, plain))
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
ELSEWHERE = "老师读一本书，是吗？", "المعلم يقرأ كتابًا، أليس كذلك؟"


def node(file: Path, jobs: list[Job], kernels: Any = (True,)) -> list[Any]:
    """The translator's answers in Node, by kernel: with WebAssembly and without it."""
    job = {"script": SCRIPT, "file": str(file), "jobs": jobs, "kernels": kernels}
    found: list[Any] = run_node(NODE, job)
    return found


@contextmanager
def masked(model: nmt.Transformer, cells: list[list[Any]]) -> Iterator[None]:
    """Python's own attention, without a cache and some columns; None is any."""
    stacks: dict[str, list[Any]] = {
        "encoder": [layer.self_attention for layer in model.encoder.layers],
        "decoder": [layer.self_attention for layer in model.decoder.layers],
        "cross": [layer.cross_attention for layer in model.decoder.layers],
    }

    def hide(heads: Any, columns: Any, module: Any, args: Any) -> Any:
        x, memory, mask, *rest = args
        seen = torch.ones(1, module.n_heads, x.size(1), memory.size(1)) > 0
        seen[:, heads, :, columns] = False
        return x, memory, seen if mask is None else seen & mask, *rest

    with ExitStack() as stack:
        for kind, layer, *cell in cells:
            hook = partial(hide, *(slice(None) if i is None else i for i in cell))
            for attention in stacks[kind] if layer is None else [stacks[kind][layer]]:
                stack.callback(attention.register_forward_pre_hook(hook).remove)
        yield


def encoded(translator: nmt.Translator, text: str) -> list[dict[str, Any]]:
    ids = translator.encode(text)
    labels = translator._source_labels(text, ids)
    return [{"id": i, "token": t} for i, t in zip(ids, labels, strict=True)]


def same_tokens(file: Path, texts: list[str]) -> None:
    """The source tokens in Node are Python's."""
    translator = nmt.Translator.load(file, device="cpu")
    (found,) = node(file, [{"text": text, "encode": True} for text in texts])
    for text, answer in zip(texts, found, strict=True):
        assert answer["encoded"] == encoded(translator, text)


def answers(file: Path, jobs: list[Job]) -> list[Any]:
    """The answers in Node, with both kernels, which are all equal to Python's."""
    translator = nmt.Translator.load(file, device="cpu")
    found = node(file, jobs, (True, False))
    for job, *both in zip(jobs, *found, strict=True):
        text, cells = job["text"], job.get("closed") or []
        with masked(translator.model, cells):
            wanted = translator.translate(
                text, job.get("beamSize", 1), job.get("alpha"), use_cache=False
            )
            maps = wanted.attention
        for answer in both:
            assert answer["encoded"] == encoded(translator, text)
            assert answer["tokens"] == list(wanted.tgt_labels)
            assert answer["text"] == wanted.text
            same(answer["score"], wanted.score, 1e-4)
            if job.get("maps") and text:
                kinds = {kind: getattr(maps, kind) for kind in answer["maps"]}
                same(
                    answer["maps"], {k: torch.cat(m) for k, m in kinds.items()}, 1e-3, 0
                )
    return list(found[0])


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


def save(file: Path, src: Tokenizer, tgt: Tokenizer) -> None:
    """A random model with these tokenizers."""
    model, config = small_model(0, len(src), len(tgt)), small_translator().config
    nmt.Translator(model, src, tgt, config).save(file)


@pytest.fixture
def small() -> nmt.Translator:
    return small_translator(1)


@pytest.fixture
def file(tmp_path: Path, small: nmt.Translator) -> Path:
    """The file of the small translator, unless a test writes another one."""
    small.save(tmp_path / "model.safetensors")
    return tmp_path / "model.safetensors"


@pytest.mark.parametrize(
    ("options", "dtype"),
    [
        ({}, torch.float32),
        ({"norm": "pre"}, torch.float16),
        (UNUSUAL, torch.bfloat16),
    ],
)
def test_any_model_translates_as_in_python(
    options: dict[str, Any], dtype: torch.dtype, file: Path
) -> None:
    small_translator(3, src_specials=dtype != torch.float16, **options).save(file)
    saved = model_file.load(file)
    tensors = {name: value.to(dtype) for name, value in saved.tensors.items()}
    model_file.save(file, saved._replace(tensors=tensors))
    head = [["cross", 1, 2, None]]
    word = [[kind, None, None, 1] for kind in ("encoder", "cross")]
    ways: list[dict[str, Any]] = [{"maps": True}, {"beamSize": 3}]
    ways += [{"beamSize": 4, "alpha": alpha} for alpha in (0, 2)]
    ways += [{"closed": cells, "maps": True} for cells in (head, word, head + word)]
    ways += [{"closed": [["decoder", 0, None, None]], "maps": True}]
    jobs = [{"text": text, **way} for way in ways for text in TEXTS]
    found = answers(file, jobs)
    assert len({str(answer["maps"]) for answer in found}) > len(TEXTS)


@pytest.mark.parametrize("name", nmt.Translator.pretrained())
def test_the_models_of_the_page(name: str) -> None:
    texts = CAPTIONS[name.split("-")[1]]
    jobs = [{"text": texts[0], "maps": True}, {"text": texts[1], "beamSize": 3}]
    answers(PRETRAINED / name / "model.safetensors", jobs)


def test_the_beam_is_the_same_tree(file: Path, small: nmt.Translator) -> None:
    (found,) = answers(file, [{"text": TEXTS[0], "beamSize": 3, "alpha": 1.4}])
    trace: list[Candidate] = []
    src = torch.tensor([small.encode(TEXTS[0])])
    nmt.beam_search(small.model, src, 3, 1.4, 6, trace=trace)
    keys = ("step", "prefix", "id", "fate")
    tree = [(c.step, list(c.prefix), c.token, c.fate) for c in trace]
    assert [tuple(c[key] for key in keys) for c in found["trace"]] == tree
    log_probs = [c["logProb"] for c in found["trace"]]
    assert log_probs == pytest.approx([c.log_prob for c in trace], abs=1e-4)


@pytest.mark.parametrize("beam", [1, 3])
def test_it_goes_on_from_any_word(beam: int, file: Path, small: nmt.Translator) -> None:
    prefix = [7, 7, 12]
    job = {"text": TEXTS[0], "beamSize": beam, "prefix": prefix, "closed": None}
    ((found,),) = node(file, [job])
    ids = found["ids"]
    assert ids[:3] == prefix and ids[-1] == nmt.EOS
    src = torch.tensor([small.encode(TEXTS[0])])
    tgt_in = torch.tensor([[nmt.SOS, *ids[:-1]]])
    log_probs = small.model(src, tgt_in)[0].log_softmax(-1)  # (T, V)
    wanted = log_probs[torch.arange(len(ids)), ids].tolist()
    assert found["logProbs"] == pytest.approx(wanted, abs=1e-4)
    log_probs[:, [nmt.PAD, nmt.SOS]] = -torch.inf
    if beam == 1:
        assert ids[3:] == log_probs.argmax(-1).tolist()[3:]
    for choices, row in zip(found["steps"], log_probs.exp(), strict=True):
        assert [c["id"] for c in choices] == row.topk(8).indices.tolist()
        p = row.topk(8).values.tolist()
        assert [c["p"] for c in choices] == pytest.approx(p, rel=1e-5)


def test_words_are_drawn_as_often_as_their_probability_says(
    file: Path, small: nmt.Translator
) -> None:
    text = "ich sehe ein haus"
    jobs: list[Job] = [
        {"text": text, "temperature": heat, "seed": seed, "closed": None}
        for heat in (1.0, 2.0)
        for seed in range(1000)
    ]
    cold: Job = {"text": text, "temperature": 0.01, "seed": 5, "closed": None}
    (found,) = node(file, [*jobs, cold, jobs[7], {"text": text, "closed": None}])
    *drawn, cold_one, again, greedy = [one["ids"] for one in found]
    assert cold_one == greedy and again == drawn[7]
    src = torch.tensor([small.encode(text)])
    logits = small.model(src, torch.tensor([[nmt.SOS]]))[0, 0]  # [V]
    logits[[nmt.PAD, nmt.SOS]] = -torch.inf
    for i, heat in enumerate((1.0, 2.0)):
        p = (logits / heat).softmax(-1)
        first = torch.tensor([ids[0] for ids in drawn[1000 * i : 1000 * (i + 1)]])
        share = first.bincount(minlength=len(p)) / 1000
        assert (share - p).abs().max() < 0.06, heat  # four standard errors at most


@pytest.mark.filterwarnings("ignore:a text of:UserWarning")
@pytest.mark.parametrize(
    ("kind", "rules"),
    [
        ("bpe", "nmt_nfkc"),
        ("unigram", "nmt_nfkc"),
        ("bpe", "nfkc"),
        ("bpe", "identity"),
        ("unigram", "identity"),
    ],
)
def test_subwords_of_any_text(kind: str, rules: str, file: Path) -> None:
    lines = Path("README.md").read_text(encoding="utf-8").splitlines()
    lines += [*ELSEWHERE * 5]  # often enough to be subwords
    tokenizer = SentencePieceTokenizer.train(kind, lines, 400, 1.0, True, rules)
    save(file, tokenizer, tokenizer)
    same_tokens(file, [*lines, *ODD, *random_texts(100)])
    answers(file, [{"text": text} for text in ODD if len(text) < 100])


def test_words_of_the_tiny_corpus(file: Path) -> None:
    pairs = nmt.load_corpus(nmt.load_config("tiny").data).train[:400]
    src = WordTokenizer.train("spacy", "en", [p.src for p in pairs[:300]], 1, False)
    words = Vocab([*SPECIALS, "Un", "l'", "d'", "est", "-", "-il", ",", "!", "(", '"'])
    save(file, src, WordTokenizer("spacy", "fr", words))
    texts = [pair.src for pair in pairs] + ["He didn't (see) it!", "...", "<eos>"]
    same_tokens(file, texts)
    answers(file, [{"text": text} for text in texts[-9:]])


REFUSALS = """
import {readFileSync} from 'fs'
const {script, files} = JSON.parse(readFileSync(0, 'utf8'))
const {load} = await import(script), says = []
for (const file of files) {
    const bytes = Uint8Array.from(atob(file), letter => letter.charCodeAt(0))
    says.push(await load(bytes.buffer).then(() => 'loaded', error => error.message))
}
process.stdout.write(JSON.stringify(says))
"""


def refusals(files: Sequence[bytes]) -> list[str]:
    """What reading each of these files in Node says."""
    texts = [b64encode(content).decode() for content in files]
    says: list[str] = run_node(REFUSALS, {"script": SCRIPT, "files": texts})
    return says


def test_a_damaged_file_is_noticed(file: Path) -> None:
    content, draw = file.read_bytes(), random.Random(0)
    files = [content[:end] for end in (0, 7, 300, len(content) - 1)]
    files += [content + b"\0", b"\xff" * 8 + content[8:], content[:8] + b"[" * 100_000]
    names = {b"W_q.": b"W_k.", b"W_k.": b"W_q."}
    swapped = re.sub(rb"W_[qk]\.", lambda name: names[name[0]], content)
    files += [swapped, content.replace(b"F32", b"F16")]
    for _ in range(60):
        damaged = bytearray(content)
        damaged[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
        files.append(bytes(damaged))
    says = refusals([content, *files])
    assert says[0] == "loaded" and len(swapped) == len(content) and swapped != content
    assert all(said.startswith("it is damaged, or not") for said in says[1:]), says


def test_a_shape_must_fit_its_bytes_even_if_the_digest_does() -> None:
    """A tensor is as large as its bytes, and no two have the same ones."""
    files = []
    for names, n, content in (("w", 2**40, b""), ("vw", 1, b"1234")):
        metadata, shapes = {"format": "1"}, [[name, "float32", [n]] for name in names]
        head = json.dumps([sorted(metadata.items()), shapes], separators=(",", ":"))
        crc = zlib.crc32(head.encode() + content * len(names))
        metadata["digest"] = f"{crc:08x}"
        tensor = {"dtype": "F32", "shape": [n], "data_offsets": [0, len(content)]}
        tensors = {"__metadata__": metadata} | dict.fromkeys(names, tensor)
        header = json.dumps(tensors).encode()
        files.append(len(header).to_bytes(8, "little") + header + content)
    assert all(said.endswith("(the size of w)") for said in refusals(files))


def test_a_whole_file_is_not_trusted_either(file: Path) -> None:
    def changed(section: str, key: str, value: int) -> bytes:
        config = nmt.Translator.load(file).config.model_dump()
        config[section][key] = value
        return rewritten(file, config=json.dumps(config))

    zipped = b64encode(zlib.compress(bytes(100_000_000), 9)).decode()
    bomb = json.dumps({"kind": "bpe", "lowercase": False, "model": zipped})
    foreign = json.dumps({"kind": "spacy", "lang": "xx", "tokens": []})
    layers, extra = ("n_layers", "n_decoder_layers"), "max_extra_tokens"
    cases = [
        (rewritten(file, format="2"), "by a newer nmt_lib"),
        (safetensors_bytes({"w": torch.zeros(2)}), "from before"),
        (rewritten(file, src_tokenizer=bomb), "far too large"),
        (rewritten(file, src_tokenizer="[]"), "another version"),
        (rewritten(file, src_tokenizer=foreign), "version .*rules of xx are not here"),
        (changed("decode", extra, 10**9), f"version .*{extra} is {10**9}"),
        *((changed("model", key, 0), f"version .*{key} is 0") for key in layers),
    ]
    for key in ("n_heads", "d_model", "d_ff", "d_value", *layers):
        huge = changed("model", key, 2**40)
        cases.append((huge, "another version .*(no .* of shape|n_heads is)"))
    files, wanted = zip(*cases, strict=True)
    for said, words in zip(refusals(files), wanted, strict=True):
        assert re.search(words, said), said


@pytest.mark.parametrize("number", [torch.inf, torch.nan])
def test_weights_that_are_not_finite_are_named(
    number: float, file: Path, small: nmt.Translator
) -> None:
    with torch.no_grad():
        small.model.output.weight[5] = number
    small.save(file, half=True)
    with pytest.raises(AssertionError, match="the weights are not finite"):
        node(file, [{"text": TEXTS[0]}])


WORKER = """
import {readFileSync} from 'fs'
const {folder, file, asked} = JSON.parse(readFileSync(0, 'utf8'))
const answers = []
globalThis.self = {postMessage: one => answers.push(one)}
await import(`${folder}/page_worker.js`)
const send = (job, asked) => self.onmessage({data: {number: 1, job, asked}})
await send('load', {name: 'a', bytes: new Uint8Array(readFileSync(file)).buffer})
await send('translate', asked)
process.stdout.write(JSON.stringify(answers.at(-1)))
"""


def test_unknown_words_may_be_chosen(file: Path) -> None:
    prefix = [nmt.PAD, *[nmt.UNK] * 3, nmt.SOS, 7, 10_000]
    asked: dict[str, Any] = {"model": "a", "asked": TEXTS[0], "prefix": prefix}
    asked |= {"closed": [], "hidden": [], "beam": 1, "alpha": None}
    asked |= {"heat": 0, "draw": 0, "limit": 9}
    job = {"folder": str(web.FILES), "file": str(file), "asked": asked}
    assert run_node(WORKER, job)["done"]["ids"][:4] == [*[nmt.UNK] * 3, 7]


LOOK = """
import {readFileSync} from 'fs'
const {script, file, jobs} = JSON.parse(readFileSync(0, 'utf8'))
const {load} = await import(script), bytes = new Uint8Array(readFileSync(file))
const {look} = await import(script.replace('translator.js', 'page_look.js'))
const translator = await load(bytes.buffer)
const found = jobs.map(({off, ...job}) =>
    look(translator, job, off && ((...one) => `${one.slice(0, 3)}` === off)))
const plain = (key, value) => ArrayBuffer.isView(value) ? [...value] : value
process.stdout.write(JSON.stringify(found, plain))
"""


@pytest.mark.parametrize("options", [{}, {"norm": "pre"}, UNUSUAL])
def test_the_numbers_of_each_station(options: dict[str, Any], file: Path) -> None:
    """Of each layer and head, at the first, a middle and the last position."""
    translator, ids = small_translator(4, **options), [7, 9, 12, 5, nmt.EOS]
    translator.save(file)
    model, source = translator.model, translator.encode("ich sehe ein haus")
    known: dict[Any, list[torch.Tensor]] = {}  # by module: what it computes, B left out

    def record(attention: Any) -> None:
        def attend(q: Any, k: Any, v: Any, mask: Any) -> torch.Tensor:
            heads, weights = nmt.scaled_dot_product_attention(q, k, v, mask)
            products = q @ k.transpose(-2, -1)  # (B, H, T, S)
            known[attention] = [one[0] for one in (q, k, v, products, weights, heads)]
            return heads

        attention.attend = attend

    def keep(module: Any, _: Any, output: torch.Tensor) -> None:
        known[module] = [output[0]]

    for module in model.modules():
        if isinstance(module, nmt.MultiHeadAttention):
            record(module)
        else:
            module.register_forward_hook(keep)
    src, tgt_in = torch.tensor([source]), torch.tensor([[nmt.SOS, *ids[:-1]]])
    logits = model(src, tgt_in)[0]  # (T, V)
    p = logits.softmax(-1)
    heads = range(SMALL["n_heads"])
    places = zip((0, 2, len(source) - 1), (0, 2, len(ids) - 1), strict=True)
    both = {"sourceIds": source, "ids": ids}
    jobs: list[Job] = [
        {**both, "place": place, "step": step, "layer": layer, "head": head}
        for (place, step), layer, head in product(places, range(3), heads)
    ]

    off = {**jobs[-1], "layer": 1, "head": 2, "off": "cross,1,2"}
    asked = {"script": SCRIPT, "file": str(file), "jobs": [off, *jobs]}
    without, *shown = run_node(LOOK, asked)
    for job, found in zip(jobs, shown, strict=True):
        place, step, head = job["place"], job["step"], job["head"]
        wanted: dict[str, Any] = {"memory": model.encode(src)[0]}
        for stack, name, row, seen in (
            (model.encoder, "encoder", place, None),
            (model.decoder, "decoder", step, step + 1),
            (model.decoder, "cross", step, None),
        ):
            layer = stack.layers[min(job["layer"], len(stack.layers) - 1)]
            kind = "cross_attention" if name == "cross" else "self_attention"
            q, k, v, products, weights, sums = known[getattr(layer, kind)]
            wanted[name] = {
                "query": q[head, row],
                "keys": k[head, :seen],
                "values": v[head, :seen],
                "products": products[head, row, :seen],
                "scores": products[head, row, :seen] / q.size(-1) ** 0.5,
                "weights": weights[head, row, :seen],
                "sum": sums[head, row],
            }
            if name != "cross":
                parts = {"y": layer.feed_forward, "result": layer.around_feed_forward}
                fed = {part: known[module][0][row] for part, module in parts.items()}
                wanted[f"{name}Fed"] = fed
                assert min(found[f"{name}Fed"]["hidden"]) == 0.0
        for part, embedding, ids_read, i in (
            ("source", model.src_embedding, source, place),
            ("target", model.tgt_embedding, tgt_in[0], step),
        ):
            vector = embedding.lookup.weight[ids_read[i]] * embedding.factor
            position = nmt.sinusoids(i + 1, len(vector))[i]
            wanted[part] = {"vector": vector, "position": position}
        same(found, wanted, 1e-4)
        best = [one["id"] for one in found["output"]]
        same([one["logit"] for one in found["output"]], logits[step, best], 1e-4)
        same([one["p"] for one in found["output"]], p[step, best], 1e-4)
        assert nmt.PAD not in best
    assert not any(without["cross"]["weights"]) and not any(without["cross"]["sum"])
    assert any(without["decoder"]["weights"])
