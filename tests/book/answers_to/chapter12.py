"""Other answers to the exercises of chapter 12."""

from nmt_book.chapter12.check import encoder_flops


def layer_by_layer(n_weights, n_layers, B, S, d_model):
    forward = 2 * n_weights * B * S
    for _ in range(n_layers):
        forward += 2 * B * S * S * d_model  # scores
        forward += 2 * B * S * S * d_model  # mean of the values
    return forward * 3.0


def head_by_head(B, T, d_model, n_heads):
    d_k = d_model // n_heads
    return (B * T * d_model + B * n_heads * (4 * T * d_k + T * T)) * 4


def one_by_one(corpus, epochs, batch, padding, processes, accumulate):
    left, updates = corpus * epochs, 0
    while left > 0:
        left -= batch * (1 - padding) * processes * accumulate
        updates += 1
    return updates


def closed(lengths, budget, ends=lambda batches, batch: [*batches, batch]):
    batches, batch = [], []
    for length in lengths:
        if batch and (len(batch) + 1) * length > budget:
            batches, batch = [*batches, batch], []
        batch.append(length)
    return ends(batches, batch) if batch else []


RIGHT = {
    "encoder_flops": [
        layer_by_layer,
        lambda w, n, B, S, D: 6 * B * S * (w + 2 * n * S * D),
    ],
    "attention_bytes": [
        head_by_head,
        lambda B, T, D, H: 4 * B * T * (5 * D + H * T),
    ],
    "my_batches": [
        closed,
    ],
    "my_updates": [
        one_by_one,
    ],
}
WRONG = {
    "encoder_flops": [
        lambda *sizes: encoder_flops.right(*sizes) + 7,
    ],
}
