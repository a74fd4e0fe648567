"""From sentences to a saved model, on one page to print and read.

``python -m nmt_lib.train_by_hand 800`` trains the tiny model in about a minute, by the
same updates as ``nmt.train`` (paper, section 5). ``training.py`` also resumes,
validates, selects weights, and can use bfloat16 and several processes.
"""

import sys

import torch

from .batching import encode_pairs, make_batch, plan_epoch
from .config import Config, load_config
from .corpora import load_corpus
from .losses import cross_entropy
from .run_folder import run_path
from .schedules import build_optimizer, learning_rate
from .tokenizers import build_tokenizers
from .transformer import build_model
from .translator import Translator


def train_by_hand(config: Config) -> Translator:
    """Trains for ``train.max_steps`` updates and saves the model in ``run_path``."""
    train = config.train
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(train.threads or torch.get_num_threads())

    # 1. The data: pairs of sentences, a vocabulary for each language, pairs of ids.
    # The vocabularies are built from the training set alone.
    corpus = load_corpus(config.data)
    tokenizers = build_tokenizers(config.data, corpus.train)
    examples = encode_pairs(corpus.train, tokenizers, config)

    # 2. The model, with random weights. The second seed makes dropout independent of
    # how many random numbers the weights needed.
    torch.manual_seed(train.seed)
    model = build_model(config.model, *map(len, tokenizers)).to(device)
    torch.manual_seed(train.seed)

    # 3. The optimizer. Adam keeps two running means for each weight: of its gradient,
    # and of the gradient's square.
    optimizer = build_optimizer(train, model.parameters())
    translator = Translator(model, *tokenizers, config)

    step, epoch = 0, 0
    while step < train.max_steps:
        # 4. An epoch uses each pair once. Which sentences share a batch, and the order
        # of the batches, are drawn again for each epoch.
        plan = plan_epoch(examples, train, epoch)
        for rows in plan[: train.max_steps - step]:
            batch = make_batch(examples, rows).to(device)
            step += 1

            # 5. One update. The model reads the source and the target so far, and
            # scores every token as the next one. It builds both masks itself, so no
            # position attends to padding or to a later target token.
            model.train()  # dropout on
            logits = model(batch.src, batch.tgt_in)  # (B, T, V)
            loss = cross_entropy(logits, batch.tgt_out, train.label_smoothing)
            loss.backward()  # the gradient of the loss, for each weight
            for options in optimizer.param_groups:  # rises in the warm-up, then falls
                options["lr"] = learning_rate(step, train, config.model.d_model)
            optimizer.step()  # moves the weights a little, against the gradient
            optimizer.zero_grad()

            # 6. What has the model learnt so far? (It has never seen this sentence.)
            if step % train.validate_every == 0 or step == train.max_steps:
                model.eval()  # dropout off
                text = corpus.valid[0].src
                print(f"{step:5} updates, loss {loss:.2f}: {text} → {translator(text)}")
        epoch += 1

    translator.save(run_path(config))  # one file: weights, both vocabularies and config
    return translator


if __name__ == "__main__":  # afterwards: nmt.Translator.load("runs/by_hand")
    updates = {"train.max_steps": int(sys.argv[1])} if sys.argv[1:] else {}
    train_by_hand(load_config("tiny", name="by_hand", **updates))
