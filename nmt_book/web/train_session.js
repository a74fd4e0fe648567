// A model in training, with the data and the tokenizers that it needs: what the page
// shows of it, and the model file at its end.

import { shapes, writeFile } from "./model_file.js";
import { EOS, makeTokenizer } from "./tokenizers.js";
import { countRight, frequencyLoss, Trainer } from "./train.js";
import { makeKernel } from "./train_kernel.js";
import { Model } from "./train_model.js";
import { Tape } from "./train_ops.js";
import { generator, Translator } from "./translator.js";

export const EVERY = 25; // updates from one look at the model to the next
const COUNT_EVERY = 100; // updates from one count of right translations to the next

export class Session {
  /** `data` is what train_page.py packed: {config, tokenizers, train, heldOut}. What is
   * asked replaces parts of its config, {model, train, seed}; `without` is what the
   * Model lacks. */
  static async create(data, { model, train, seed, without }) {
    const config = structuredClone(data.config);
    Object.assign(config.model, model);
    Object.assign(config.train, train);
    const tokenizers = await Promise.all(data.tokenizers.map(makeTokenizer));
    const sizes = tokenizers.map(({ tokens }) => tokens.length);
    const random = generator(seed);
    const tape = new Tape(await memoryFor(config.model));
    const made = new Model(config.model, ...sizes, { tape, random, without });
    const trainer = new Trainer(made, data.train, config.train, random);
    return Object.assign(new Session(), {
      data, config, tokenizers, sizes, model: made, trainer,
      losses: [], right: null, milliseconds: 0,
    });
  }

  /** The loss of a model that gives each word its frequency, whatever it translates. */
  get frequencyLoss() {
    const { data, sizes: [, V], config } = this;
    return frequencyLoss(data.train, V, config.train.label_smoothing);
  }

  get step() {
    return this.trainer.step;
  }

  update() {
    const start = performance.now();
    this.losses = [...this.losses.slice(1 - EVERY), this.trainer.update()];
    if (this.step % COUNT_EVERY === 0)
      this.right = countRight(this.model, this.data.heldOut);
    this.milliseconds += performance.now() - start;
  }

  /** What the model makes of a text, and where it looked: while it wrote `reference`,
   * the right translation, if there is one, so that the rows of a map stay the same. */
  async look(text, reference) {
    const { step, losses, right, milliseconds } = this, translator = this.translator();
    const own = await translator.translate(text);
    const prefix = reference ? this.idsOf(reference) : own.ids;
    const { source, sourceIds, tokens, maps } =
      await translator.translate(text, { prefix });
    const loss = losses.reduce((a, b) => a + b, 0) / losses.length; // of the last 25
    const said = own.text, { cross } = maps;
    return { step, loss, right, milliseconds, said, source, sourceIds, tokens, cross };
  }

  idsOf(target) {
    const [, tokenizer] = this.tokenizers;
    return [...tokenizer.tokenize(target).map(({ id }) => id), EOS];
  }

  /** A translator with the weights as they are now. */
  translator() {
    const { config, model: { without }, tokenizers } = this;
    return new Translator(config, this.weights(1), ...tokenizers, { without });
  }

  /** The weights, with W_q times a factor; a tied matrix is there once. */
  weights(factor) {
    const { model: { weights }, config: { model }, sizes } = this;
    return Object.fromEntries([...shapes(model, ...sizes)].map(([name]) => {
      const { data, shape } = weights[name];
      const longer = name.includes(".W_q.");
      return [name, { data: longer ? data.map((x) => x * factor) : data, shape }];
    }));
  }

  /** model.safetensors, which the live page and nmt.Translator.load open. They always
   * divide scores by √d_k; if training does not, queries are √d_k times as long. */
  file() {
    const { config, data: { tokenizers: [src_tokenizer, tgt_tokenizer] } } = this;
    const { model: { without }, config: { model } } = this;
    if (without.positions)
      throw new Error("a model without positions has no place in nmt_lib's files");
    const factor = without.scale ? Math.sqrt(model.d_model / model.n_heads) : 1;
    const texts = { config: JSON.stringify(config), src_tokenizer, tgt_tokenizer };
    return writeFile({ ...texts, state: "{}" }, this.weights(factor));
  }
}

/** Memory for one update, and, where the browser has SIMD, the kernel that uses it. */
function memoryFor({ n_layers, d_model }) {
  const bytes = 2 ** 24 * (1 + n_layers * Math.ceil(d_model / 32));
  return makeKernel(bytes).catch(() => ({ memory: new ArrayBuffer(bytes) }));
}
