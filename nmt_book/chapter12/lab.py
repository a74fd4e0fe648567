"""What chapter 12 measures: what training costs, and padding."""

from typing import Any

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


# Of Multi30k's 29,000 captions: how many have 4, 5, 6 … English words, and how many
# German words more: −12, −11 …
# fmt: off
ENGLISH_WORDS = (
    8, 32, 211, 772, 1705, 2427, 3049, 3330, 3193, 2849, 2522, 2117, 1558, 1326,
    981, 793, 586, 445, 297, 211, 172, 111, 91, 53, 43, 31, 24, 12, 11, 9, 8, 10, 3,
    1, 4, 2, 2, 1,
)
GERMAN_MINUS_ENGLISH = (
    5, 4, 13, 21, 59, 113, 235, 612, 1293, 2601, 4646, 6260, 5742, 3450, 1922, 1048,
    511, 249, 120, 44, 27, 11, 9, 2, 2, 1,
)


def caption_lengths() -> torch.Tensor:
    """``(29000, 2)``: the ids of an English and a German caption of Multi30k.

    The source has <sos> and <eos>, ``tgt_in`` one of them. Which difference goes with
    which length is drawn by chance: that hardly changes the shares of padding.
    """
    english, differences = (
        torch.arange(first, first + len(counts)).repeat_interleave(torch.tensor(counts))
        for first, counts in ((4, ENGLISH_WORDS), (-12, GERMAN_MINUS_ENGLISH))
    )
    draw = torch.Generator().manual_seed(0)
    differences = differences[torch.randperm(len(differences), generator=draw)]
    return torch.stack([english + 2, (english + differences).clamp(min=1) + 1], dim=1)


def padding_share(lengths: torch.Tensor, plan: Any, width: int = 0) -> float:
    """The share of all ids in the batches of a plan that are padding.

    Args:
        lengths: ``(n, 2)``, of sources and of targets.
        plan: batches, each a list of indices.
        width: to which all are padded; 0 for the longest of each batch.
    """
    sides = [lengths[list(rows)] for rows in plan]  # (B, 2) each
    room = sum(len(sizes) * (2 * width or int(sizes.amax(0).sum())) for sizes in sides)
    return 1 - sum(int(sizes.sum()) for sizes in sides) / room
