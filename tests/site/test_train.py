"""Training in the browser, run in Node, computes what torch computes."""

from __future__ import annotations

import json
import re
import zlib
from base64 import b64decode
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch
from torch import Tensor

import nmt_book as book
import nmt_lib as nmt
from nmt_book import web
from nmt_book.web import train_page
from nmt_lib.data.batches import (
    Example,
    encode_pairs,
    example_lengths,
    make_batch,
    token_batches,
)
from nmt_lib.model import transformer
from nmt_lib.model.attention import padding_mask
from nmt_lib.training.loss import cross_entropy
from nmt_lib.training.optim import build_optimizer, learning_rate
from tests.site.node import in_node, needs_node, run_node

pytestmark = needs_node
UPDATES = 10
STEPS = (1, 2, 150, 300, 1000)  # whose learning rates are compared
POST: dict[str, Any] = {"d_model": 32, "n_heads": 2, "n_layers": 1, "d_ff": 64}
PRE = POST | {"norm": "pre", "tying": "none", "n_layers": 2, "n_heads": 4}
ODD = {"d_model": 18, "n_heads": 3, "d_ff": 21, "n_layers": 1, "n_decoder_layers": 3}
ODD |= {"final_norm": True, "scale_embeddings": False, "norm_bias": False}
NO_BIAS = POST | {"bias": False, "norm": "pre", "final_norm": False}
CASES = {"post": POST, "pre": PRE, "odd": ODD, "no bias": NO_BIAS}
# A job is {config, sizes, weights, batches, without, kernels}, and ANSWER is the
# body of a function that gets what is defined here; each of the kernels answers.
NODE = """
import { readFileSync } from "fs"
const { folder, config, sizes, weights, batches, without, kernels } =
  JSON.parse(readFileSync(0, "utf8"))
const load = (name) => import(`${folder}/${name}.js`)
const { Tape } = await load("train_ops"), { Model } = await load("train_model")
const { makeKernel } = await load("train_kernel"), train = await load("train")
const { generator } = await load("translator"), answers = []
for (const kernel of kernels) {
  const tape = new Tape(kernel ? await makeKernel(2 ** 26) : {})
  const random = generator(0)
  const model = new Model(config.model, ...sizes, { tape, random, without })
  const names = Object.keys(weights)
  for (const name of names) model.weights[name].data.set(weights[name])
  const take = (key) =>
    Object.fromEntries(names.map((name) => [name, [...model.weights[name][key]]]))
  answers.push((() => { ANSWER })())
}
process.stdout.write(JSON.stringify(answers))
"""
UPDATE = """
const trainer = new train.Trainer(model, [], config.train, random)
model.loss(train.makeBatch(batches[0]), config.train.label_smoothing)
const grads = take("grad")
const losses = batches.map((batch) => trainer.update(train.makeBatch(batch)))
return { losses, grads, weights: take("data") }
"""
LOSS = "return model.loss(train.makeBatch(batches[0]), config.train.label_smoothing)"


class Setting(NamedTuple):
    """A model with nothing at 0 or 1, and batches of the tiny grammar's sentences."""

    config: nmt.Config
    model: nmt.Transformer
    batches: list[list[Example]]


class Run(NamedTuple):
    """What ten updates gave."""

    losses: list[float]
    grads: dict[str, Tensor]  # of the first batch
    weights: dict[str, Tensor]


def setting(case: dict[str, Any]) -> Setting:
    over = {f"model.{key}": value for key, value in case.items()}
    config = nmt.load_config("tiny", **over | {"model.dropout": 0.0})
    corpus = nmt.load_corpus(config.data)
    tokenizers = nmt.build_tokenizers(config.data, corpus.train)
    examples = encode_pairs(corpus.train[:1000], tokenizers, config)
    plan = token_batches(example_lengths(examples), 256, seed=1)[:UPDATES]
    torch.manual_seed(0)
    model = nmt.Transformer(config.model, *map(len, tokenizers))
    with torch.no_grad():
        for weight in model.parameters():
            if weight.dim() == 1:
                weight.add_(0.1 * torch.randn_like(weight))
    return Setting(config, model, [[examples[i] for i in rows] for rows in plan])


def sizes(model: nmt.Transformer) -> list[int]:
    embeddings = model.src_embedding, model.tgt_embedding
    return [embedding.lookup.num_embeddings for embedding in embeddings]


def ask(at: Setting, answer: str, without: str = "", kernels: Any = (True,)) -> Any:
    job = {
        "folder": str(web.FILES),
        "config": at.config.model_dump(),
        "sizes": sizes(at.model),
        "weights": {n: w.flatten().tolist() for n, w in at.model.named_parameters()},
        "batches": [[[[*src], [*tgt]] for src, tgt in rows] for rows in at.batches],
        "without": {without: True},
        "kernels": kernels,
    }
    return run_node(NODE.replace("ANSWER", answer), job)


def in_torch(at: Setting, dtype: torch.dtype) -> Run:
    config = at.config
    with torch.random.fork_rng():
        model = nmt.Transformer(config.model, *sizes(at.model)).to(dtype)
    model.load_state_dict(at.model.state_dict())
    optimizer = build_optimizer(config.train, model.parameters())
    losses, grads = [], dict[str, Tensor]()
    for step, examples in enumerate(at.batches, 1):
        optimizer.zero_grad()
        loss = loss_of(model, make_batch(examples), config)
        loss.backward()
        losses.append(loss.item())
        if step == 1:
            weights = model.named_parameters()
            grads = {n: w.grad.double() for n, w in weights if w.grad is not None}
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step, config.train, config.model.d_model)
        optimizer.step()
    after = {name: w.detach().double() for name, w in model.named_parameters()}
    return Run(losses, grads, after)


def loss_of(model: nmt.Transformer, batch: nmt.Batch, config: nmt.Config) -> Tensor:
    logits = model(batch.src, batch.tgt_in)  # (B, T, V)
    return cross_entropy(logits, batch.tgt_out, config.train.label_smoothing)


def worst(found: dict[str, Tensor], true: dict[str, Tensor]) -> float:
    """The largest difference in a tensor, divided by that tensor's largest number."""
    return max(
        float((found[n] - w).abs().max() / w.abs().max()) for n, w in true.items()
    )


def mean(found: dict[str, Tensor], true: dict[str, Tensor]) -> float:
    far = [(found[n] - w).abs().flatten() for n, w in true.items()]
    return float(torch.cat(far).mean())


@pytest.mark.parametrize("name", CASES)
def test_loss_gradients_and_updates_are_those_of_torch(name: str) -> None:
    """With WebAssembly and without it."""
    at = setting(CASES[name])
    true, single = in_torch(at, torch.float64), in_torch(at, torch.float32)
    # The softmax does not see a shift of all scores, so the gradient of W_k.bias is 0.
    # Rounding makes it 1e-10, and Adam, which divides by its size, a step of length lr.
    moving = {n: g for n, g in true.grads.items() if g.abs().max() > 1e-9}
    assert {n[-8:] for n in true.grads if n not in moving} <= {"W_k.bias"}
    weights = {n: true.weights[n] for n in moving}
    for found in ask(at, UPDATE, kernels=(True, False)):
        grads, updated = (
            {
                n: torch.tensor(found[kind][n]).double().view_as(g)
                for n, g in moving.items()
            }
            for kind in ("grads", "weights")
        )
        losses = torch.tensor([true.losses, found["losses"], single.losses])
        assert found["losses"][0] == pytest.approx(true.losses[0], rel=1e-6)
        assert worst(grads, moving) < 3e-6
        _, far, far32 = (losses / losses[0] - 1).abs().amax(1).tolist()  # of ten losses
        assert far < max(1e-6, 1.5 * far32)
        assert mean(updated, weights) < 1.5 * mean(single.weights, weights)


@pytest.mark.parametrize("schedule", ["inverse-sqrt", "constant"])
def test_learning_rates(schedule: str) -> None:
    train = nmt.load_config("tiny", **{"train.schedule": schedule}).train
    rates = [learning_rate(n, train, 64) for n in STEPS]
    calls = [["learningRate", n, train.model_dump()] for n in STEPS]
    assert in_node("train", calls) == pytest.approx(rates, rel=1e-12)


@pytest.mark.parametrize("part", ["causalMask", "positions", "scale"])
def test_what_is_taken_away(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    at = setting(POST)
    (found,) = ask(at, LOSS, without=part)
    batch, whole = make_batch(at.batches[0]), at.model
    with torch.no_grad():
        before = loss_of(whole, batch, at.config).item()
        if part == "causalMask":
            monkeypatch.setattr(transformer, "target_mask", padding_mask)
        if part == "positions":
            whole.src_embedding.positions.table.zero_()
            whole.tgt_embedding.positions.table.zero_()
        for name, weight in whole.named_parameters():
            if part == "scale" and ".W_q." in name:
                weight.mul_(4)  # √d_k
        wanted = loss_of(whole, batch, at.config).item()
    assert found == pytest.approx(wanted, rel=1e-6)
    assert found != pytest.approx(before, rel=1e-3)


TRAIN = """
import { readFileSync } from "fs"
const { folder, packed, updates, texts, without } = JSON.parse(readFileSync(0, "utf8"))
const { Session } = await import(`${folder}/train_session.js`)
const { unpacked } = await import(`${folder}/packed.js`)
const { makeBatch } = await import(`${folder}/train.js`)
const data = await unpacked(packed).json()
const session = await Session.create(data, { seed: 1, without })
while (session.step < updates) session.update()
const look = await session.look(...texts[0])
const translator = session.translator(), said = [], [[text, reference]] = texts
const prefix = session.idsOf(reference)
const { logProbs } = await translator.translate(text, { prefix })
const losses = [
  -logProbs.reduce((a, b) => a + b) / logProbs.length,
  session.model.loss(makeBatch(session.data.heldOut.slice(0, 1)), 0),
]
for (const [text] of texts) said.push((await translator.translate(text)).text)
const file = without.positions ? "" : await session.file().arrayBuffer()
const bytes = Buffer.from(file).toString("base64")
process.stdout.write(JSON.stringify({ look, losses, said, bytes }))
"""


def train(updates: int, **without: bool) -> tuple[Any, list[nmt.Pair]]:
    """A session of the page, and the held-out pairs that it counts."""
    config = nmt.load_config("tiny", **train_page.CONFIG)
    pairs = nmt.load_corpus(config.data).valid[: train_page.HELD_OUT]
    job = {
        "folder": str(web.FILES),
        "packed": train_page.pack(train_page.training_data()),
        "updates": updates,
        "texts": [[pair.src, pair.tgt] for pair in pairs],
        "without": without,
    }
    return run_node(TRAIN, job), list(pairs)


@pytest.mark.parametrize(
    ("without", "updates", "least"), [({}, 200, 15), ({"scale": True}, 100, 0)]
)
def test_it_learns_and_python_opens_its_file(
    without: dict[str, bool], updates: int, least: int, tmp_path: Path
) -> None:
    found, pairs = train(updates, **without)
    look, said = found["look"], found["said"]
    assert look["loss"] < 4 and look["right"] >= least, look
    right = [text == pair.tgt for text, pair in zip(said, pairs, strict=True)]
    assert sum(right) == look["right"]
    file = tmp_path / "model.safetensors"
    file.write_bytes(b64decode(found["bytes"]))
    translator = nmt.Translator.load(file)
    assert translator.config.model.n_heads == 1
    assert [one.text for one in translator([pair.src for pair in pairs])] == said
    assert found["losses"][0] == pytest.approx(found["losses"][1], abs=1e-5)
    # The map is that of the right translation.
    src = torch.tensor([translator.encode(pairs[0].src)])
    tgt_in = torch.tensor([translator.tgt_tokenizer.encode(pairs[0].tgt)[:-1]])
    weights = translator.model.attention(src, tgt_in).cross[0][0]  # (H, T, S)
    shown = [[list(row.values()) for row in head] for head in look["cross"][0]]
    torch.testing.assert_close(torch.tensor(shown), weights, atol=1e-4, rtol=0)


def test_a_model_without_positions_translates_without_them() -> None:
    found, _ = train(25, positions=True)
    assert found["losses"][0] == pytest.approx(found["losses"][1], abs=1e-5)


WORK = """
const { script, packed } = JSON.parse(require("fs").readFileSync(0, "utf8"))
const heard = [], settings = { id: 7, seed: 1, sentence: { text: "The dog." } }
let hear, left = 2, saves = 0
const order = (...data) => hear({ data })
globalThis.addEventListener = (_, listener) => { hear = listener }
globalThis.postMessage = ({ look, ...said }) => {
  heard.push(look ? [look.id, look.step] : said)
  if (look?.step === 1) order("go")
  if (look?.step === 25 && !saves++) { // which looks once more
    order("pause")
    order("save")
  }
  left -= Boolean(said.file || said.state === "resting") // in any order
  if (!left) process.stdout.write(JSON.stringify(heard))
}
;(0, eval)(script)
order("data", packed)
order("start", settings)
order("once")
"""


def test_the_training_page_fits_into_an_output_and_trains() -> None:
    twice = [book.play("train", text="The dog is old.", warmup=0) for _ in range(2)]
    (page,) = {shown.data for shown in twice}
    assert len(page.encode()) <= 60_000
    shown = re.sub(r"(?s)<(style|script)>.*?</\1>", "", page)
    assert "<td>" in shown and "run the cell" in shown
    (data,) = re.findall(r"(?m)^const data = (.*);$", page)
    packed = json.loads(data)
    script = zlib.decompress(b64decode(packed["script"])).decode()
    given, worker = (
        json.loads(re.findall(rf"(?m)^{line}$", script)[0])
        for line in (r"Object.assign\(data, (.*)\);", "const WORKER = (.*);")
    )
    assert (given["text"], given["settings"]["warmup"]) == ("The dog is old.", 0)
    heard = run_node(WORK, {"script": worker, "packed": packed["packed"]}, "commonjs")
    assert {"state": "training"} in heard
    *looks, saved = [said for said in heard if isinstance(said, list)]
    assert looks == [[7, 0], [7, 1], [7, 25]] and saved[1] >= 25


def test_its_sentences_are_short_and_not_trained_on() -> None:
    whole, short = train_page.training_data(), train_page.training_data(10, 700)
    assert len(short["train"]) == 700 and len(short["heldOut"]) == 100
    for pairs in (short["train"], short["heldOut"]):
        assert max(len(src) for src, _ in pairs) <= 10
    assert all(pair in whole["train"] for pair in short["train"])
    assert not any(pair in short["train"] for pair in short["heldOut"])
    examples = train_page.page_data(10)["examples"]
    assert [one["text"] for one in examples] == [*train_page.EXAMPLES[:3]]
