// Training: batches, the learning rate, Adam, and how many translations are right.

import { PAD, SOS } from "./tokenizers.js";
import { tokensOf } from "./transformer.js";

/** Adam (section 5.3), with the learning rate of `learningRate`. */
export class Trainer {
  /** `examples` are pairs of ids, [source, target]; `train` is nmt_lib's section of the
   * config, and `random` draws the batches. */
  constructor(model, examples, train, random) {
    Object.assign(this, { model, examples, train, random, step: 0, plan: [] });
    this.state = model.tensors.map(({ data, grad }) => ({
      data, grad,
      m: new Float32Array(data.length), // running mean of the gradient
      v: new Float32Array(data.length), // and of its square
    }));
  }

  /** One update of all weights; gives the loss of its batch, before the update. */
  update(batch = this.nextBatch()) {
    const { label_smoothing, betas: [beta1, beta2], eps } = this.train;
    const loss = this.model.loss(batch, label_smoothing);
    const rate = learningRate(++this.step, this.train);
    const size = rate / (1 - beta1 ** this.step), grown = 1 - beta2 ** this.step;
    for (const { data, grad, m, v } of this.state) {
      for (let i = 0; i < data.length; i++) {
        m[i] += (1 - beta1) * (grad[i] - m[i]);
        v[i] += (1 - beta2) * (grad[i] * grad[i] - v[i]);
        data[i] -= size * m[i] / (Math.sqrt(v[i] / grown) + eps);
      }
    }
    return loss;
  }

  nextBatch() {
    const { examples, train: { batch_tokens }, random } = this;
    if (!this.plan.length) this.plan = tokenBatches(examples, batch_tokens, random);
    return makeBatch(this.plan.pop().map((i) => examples[i]));
  }
}

/** As nmt_lib/training/optim.py: a straight line up to `lr` over the warm-up; then as
 * the schedule says. */
export function learningRate(step, { schedule, lr, warmup }) {
  const end = Math.max(1, warmup);
  if (step < end) return lr * step / end;
  return schedule === "inverse-sqrt" ? lr * Math.sqrt(end / step) : lr;
}

/** The ids of a batch: the model reads src and tgtIn, and is to predict tgtOut. */
export function makeBatch(examples) {
  const targets = examples.map(([, target]) => target);
  return {
    src: tokensOf(...examples.map(([source]) => source)),
    tgtIn: tokensOf(...targets.map((ids) => ids.slice(0, -1))), // starts with <sos>
    tgtOut: tokensOf(...targets.map((ids) => ids.slice(1))), // ends with <eos>
  };
}

/** Examples of similar length share a batch; sentences × longest side ≤ budget. */
function tokenBatches(examples, budget, random) {
  const longest = examples.map(([src, tgt]) => Math.max(src.length, tgt.length));
  const order = shuffle([...examples.keys()], random);
  const batches = [];
  for (const i of order.sort((a, b) => longest[a] - longest[b])) {
    if (!batches.length || longest[i] * (batches.at(-1).length + 1) > budget)
      batches.push([]);
    batches.at(-1).push(i);
  }
  return shuffle(batches, random);
}

function shuffle(list, random) {
  for (let i = list.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [list[i], list[j]] = [list[j], list[i]];
  }
  return list;
}

/** How many examples a greedy search translates as their target, word for word. It does
 * so if after each beginning of the target, the next token is the most likely one, and
 * one pass of the model tells this of all beginnings. */
export function countRight(model, examples) {
  return examples.filter((example) => {
    const batch = makeBatch([example]);
    const { data: logits, shape: [, V] } = model.forward(batch); // (T, V)
    return batch.tgtOut.ids.every((id, t) => {
      const scores = logits.subarray(t * V, (t + 1) * V);
      scores[PAD] = scores[SOS] = -Infinity; // no translation holds them
      return scores.every((one) => one <= scores[id]);
    });
  }).length;
}

/** The loss of a model that gives each word its frequency, whatever the source says. */
export function frequencyLoss(examples, V, epsilon) {
  const ids = examples.flatMap(([, target]) => target.slice(1));
  const counts = new Float64Array(V), total = ids.length;
  for (const id of ids) counts[id]++;
  return counts.reduce((loss, count) => {
    const p = (1 - epsilon) * count / total + epsilon / V; // with label smoothing
    return p ? loss - p * Math.log(p) : loss;
  }, 0);
}
