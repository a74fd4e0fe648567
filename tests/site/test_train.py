"""Training in the browser, run in Node, computes what torch computes."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch
from torch import Tensor

import nmt_lib as nmt
from nmt_lib.batching import Example, encode_pairs, example_lengths, token_batches
from nmt_lib.batching import make_batch
from nmt_lib.losses import cross_entropy
from nmt_lib.masks import padding_mask
from nmt_lib.schedules import build_optimizer, learning_rate
from tests.site.chromium import ROOT

pytestmark = pytest.mark.skipif(
    not shutil.which("node"), reason="no Node on this machine (apt-get install nodejs)"
)
UPDATES = 10
STEPS = (1, 2, 150, 300, 1000)  # whose learning rates are compared
POST = {"d_model": 32, "n_heads": 2, "n_layers": 1, "d_ff": 64}
ODD: dict[str, Any] = {"d_model": 18, "n_heads": 3, "d_ff": 21, "n_decoder_layers": 3}
CASES: dict[str, dict[str, Any]] = {
    "post": POST,
    "pre": POST | {"norm": "pre", "tying": "none", "n_layers": 2, "n_heads": 4},
    "odd": ODD | {"final_norm": True, "scale_embeddings": False, "norm_bias": False},
    "without biases": POST | {"bias": False, "norm": "pre", "final_norm": False},
}
WITHOUT = ("causalMask", "positions", "scale")
NODE = """
import { readFileSync } from "fs"
const { folder, config, sizes, weights, batches, steps, without, test } =
  JSON.parse(readFileSync(0, "utf8"))
const load = (name) => import(`${folder}/${name}.js`)
const [{ Tape }, { Model }, train, { Translator }] =
  await Promise.all(["train_ops", "train_model", "train", "translator"].map(load))
const random = train.makeRandom(0), tape = new Tape(MULTIPLY)
const model = new Model(config.model, ...sizes, { tape, random, without })
const names = Object.keys(weights)
for (const name of names) model.weights[name].data.set(weights[name])
const take = (key) =>
  Object.fromEntries(names.map((name) => [name, [...model.weights[name][key]]]))
const answer = await (async () => { ANSWER })()
process.stdout.write(JSON.stringify(answer))
"""
UPDATE = """
const trainer = new train.Trainer(model, [], config.train, random)
const losses = [model.loss(train.makeBatch(batches[0]), config.train.label_smoothing)]
const grads = take("grad")
const rate = (n) => train.learningRate(n, config.train, config.model.d_model)
for (const batch of batches) losses.push(trainer.update(train.makeBatch(batch)))
return { losses: losses.slice(1), grads, weights: take("data"), rates: steps.map(rate) }
"""
# Both passes on the same weights: the log-probabilities of each target.
TRANSLATE = """
const tokenizer = { tokens: Array(sizes[1]).fill("") }
const translator = new Translator(config, model.weights, tokenizer, tokenizer)
const examples = batches.flat(), answer = { far: 0, right: 0 }
for (const [src, tgt] of examples) {
  translator.encode = () => src.map((id) => ({ id }))
  tokenizer.decode = (ids) => ids.join()
  const { logProbs } = await translator.translate("", { prefix: tgt.slice(1) })
  const { ids } = await translator.translate("")
  answer.right += ids.join() === tgt.slice(1).join()
  const batch = train.makeBatch([[src, tgt]])
  const logits = model.forward(batch), V = sizes[1]
  batch.tgtOut.ids.forEach((id, t) => {
    const row = [...logits.data.subarray(t * V, (t + 1) * V)].map(Math.exp)
    const total = row.reduce((a, b, id) => (id === 0 || id === 2 ? a : a + b), 0)
    answer.far = Math.max(answer.far, Math.abs(Math.log(row[id] / total) - logProbs[t]))
  })
}
return { ...answer, counted: train.countRight(model, examples) }
"""


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


def setting(case: dict[str, Any], **train: Any) -> Setting:
    over = {f"model.{key}": value for key, value in case.items()}
    over |= {f"train.{key}": value for key, value in train.items()}
    config = nmt.load_config("tiny", **over | {"model.dropout": 0.0})
    corpus = nmt.load_corpus(config.data)
    tokenizers = nmt.build_tokenizers(config.data, corpus.train)
    examples = encode_pairs(corpus.train[:1000], tokenizers, config)
    plan = token_batches(example_lengths(examples), 256, seed=1)[:UPDATES]
    torch.manual_seed(0)
    model = nmt.build_model(config.model, *map(len, tokenizers))
    with torch.no_grad():
        for weight in model.parameters():
            if weight.dim() == 1:
                weight.add_(0.1 * torch.randn_like(weight))
    return Setting(config, model, [[examples[i] for i in rows] for rows in plan])


def in_node(at: Setting, answer: str, **more: Any) -> dict[str, Any]:
    weights = {name: w.flatten().tolist() for name, w in at.model.named_parameters()}
    sizes = [
        at.model.src_embedding.lookup.num_embeddings,
        at.model.tgt_embedding.lookup.num_embeddings,
    ]
    job = {
        "folder": str(ROOT / "nmt_lib/web"),
        "config": at.config.model_dump(),
        "sizes": sizes,
        "weights": weights,
        "batches": [[[[*s], [*t]] for s, t in batch] for batch in at.batches],
        "steps": STEPS,
    }
    script = NODE.replace("ANSWER", answer).replace("MULTIPLY", more.pop("tape", ""))
    command = ["node", "--input-type=module", "--eval", script]
    asked = json.dumps(job | more)
    result = subprocess.run(command, input=asked, capture_output=True, text=True)
    assert not result.returncode, result.stderr
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def in_torch(at: Setting, dtype: torch.dtype, without: str = "") -> Run:
    config = at.config
    with torch.random.fork_rng():
        model = nmt.build_model(
            config.model,
            at.model.src_embedding.lookup.num_embeddings,
            at.model.tgt_embedding.lookup.num_embeddings,
        ).to(dtype)
    model.load_state_dict(at.model.state_dict())
    for embedding in (model.src_embedding, model.tgt_embedding):
        table = embedding.positions.table
        embedding.positions.table = table * (without != "positions")
    optimizer = build_optimizer(config.train, model.parameters())
    losses, grads = [], dict[str, Tensor]()
    for step, examples in enumerate(at.batches, 1):
        batch, smoothing = make_batch(examples), config.train.label_smoothing
        mask = padding_mask(batch.tgt_in) if without == "causalMask" else None
        loss = cross_entropy(
            model(batch.src, batch.tgt_in, tgt_mask=mask), batch.tgt_out, smoothing
        )
        optimizer.zero_grad()
        loss.backward()
        if step == 1:
            grads = {n: w.grad.double() for n, w in model.named_parameters()}
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step, config.train, config.model.d_model)
        optimizer.step()
        losses.append(float(loss))
    weights = {n: w.detach().double() for n, w in model.named_parameters()}
    return Run(losses, grads, weights)


def worst(found: dict[str, Tensor], wanted: dict[str, Tensor]) -> float:
    """The largest difference in a tensor, divided by that tensor's largest number."""
    far = [(found[n] - w).abs().max() / w.abs().max() for n, w in wanted.items()]
    return float(max(far))


def mean(found: dict[str, Tensor], wanted: dict[str, Tensor]) -> float:
    far = [(found[n] - w).abs().flatten() for n, w in wanted.items()]
    return float(torch.cat(far).mean())


def check(at: Setting, tape: str = "") -> dict[str, Any]:
    found = in_node(at, UPDATE, tape=tape)
    true, single = in_torch(at, torch.float64), in_torch(at, torch.float32)
    # The softmax does not see a shift of all scores, so the gradient of W_k.bias is 0:
    # what is there comes from rounding, and Adam makes steps of full length of it.
    moving = {n for n, g in true.grads.items() if g.abs().max() > 1e-9}
    assert all(n in moving or n.endswith("W_k.bias") for n in true.grads)
    shape = {n: w.shape for n, w in true.weights.items()}

    def tensors(kind: str) -> dict[str, Tensor]:
        flat = {n: torch.tensor(found[kind][n], dtype=torch.float64) for n in moving}
        return {n: numbers.view(shape[n]) for n, numbers in flat.items()}

    def only(all_of: dict[str, Tensor]) -> dict[str, Tensor]:
        return {n: all_of[n] for n in moving}

    def losses(of: list[float]) -> float:
        return max(abs(a / b - 1) for a, b in zip(of, true.losses, strict=True))

    return {
        "loss": abs(found["losses"][0] / true.losses[0] - 1),
        "grad": worst(tensors("grads"), only(true.grads)),
        "grad32": worst(only(single.grads), only(true.grads)),
        "losses": losses(found["losses"]),
        "losses32": losses(single.losses),
        "weights": mean(tensors("weights"), only(true.weights)),
        "weights32": mean(only(single.weights), only(true.weights)),
        "rates": found["rates"],
    }


if __name__ == "__main__":
    import time
    for name, case in CASES.items():
        t=time.time()
        print(name, {k: f"{v:.2g}" for k, v in check(setting(case)).items() if k != "rates"}, round(time.time()-t,1), flush=True)
    at = setting(POST)
    print(in_node(at, TRANSLATE))
