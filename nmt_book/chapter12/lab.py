"""What chapter 12 measures: what training costs, and padding."""

import torch

import nmt_lib as nmt


def three_trainings():
    """Configs, models without numbers, and target tokens, of two of ours and the paper.

    The paper's base model is that of its table 3; sections 5.1 and 5.2 give its tokens.
    """
    base = {"d_model": 512, "n_heads": 8, "n_layers": 6, "d_ff": 2048}
    options = {f"model.{key}": value for key, value in base.items()}
    configs = {name: nmt.load_config(name) for name in ("tiny", "multi30k")}
    configs["paper, base"] = nmt.load_config("multi30k", **options)
    subwords = (184, 255), (10_000, 10_000), (37_000, 37_000)  # source, target
    with torch.device("meta"):  # shapes only: no memory, no time
        models = {
            name: nmt.Transformer(config.model, *sizes)
            for (name, config), sizes in zip(configs.items(), subwords, strict=True)
        }
    trains = {name: config.train for name, config in configs.items()}
    tokens = {name: t.max_steps * t.batch_tokens for name, t in trains.items()}
    tokens["paper, base"] = 100_000 * 25_000
    return configs, models, tokens


def most_padding(config):
    """An objective, the tiny corpus as ids, its batches, and the one most padded."""
    corpus = nmt.load_corpus(config.data)
    tokenizers = nmt.build_tokenizers(config.data, corpus.train)
    examples = nmt.encode_pairs(corpus.train, tokenizers, config)
    plan = nmt.token_batches(nmt.example_lengths(examples), 512, seed=0)
    torch.manual_seed(0)
    objective = nmt.Objective(nmt.Transformer(config.model, *map(len, tokenizers)))
    batches = [nmt.make_batch(examples, rows) for rows in plan]
    return objective, examples, plan, max(batches, key=_padding)


def _padding(batch):
    return batch.tgt_out.numel() - batch.n_tokens
