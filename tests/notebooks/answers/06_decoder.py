"""Answers to the stubs of chapter 06, and what their checks say."""

LAYER = """
def decoder_layer(part, x, memory, src_mask, tgt_mask):
    x = part.norm1(x + part.self_attention(x, x, tgt_mask))
    x = part.norm2(x + part.cross_attention(x, memory, src_mask))
    return part.norm3(x + part.feed_forward(x))
"""
COUNT = """
def all_parameters(D, d_ff, N, V_src, V_tgt):
    attention, norm = 4 * (D * D + D), 2 * D
    ffn = 2 * D * d_ff + d_ff + D
    encoder = N * (attention + ffn + 2 * norm)
    decoder = N * (2 * attention + ffn + 3 * norm)
    return encoder + decoder + D * (V_src + V_tgt) + V_tgt * D + V_tgt
"""
REACH = """
def influence(logits_of, tgt_in):
    before, columns = logits_of(tgt_in), []
    for j in range(tgt_in.size(1)):
        changed = tgt_in.clone()
        changed[:, j] = nmt.UNK
        columns.append((logits_of(changed) - before).abs().amax((0, 2)))
    return torch.stack(columns, 1)
"""
ANSWERS = {
    "decoder_layer": {
        LAYER.replace("x, x, tgt_mask", "x, x, None"): "tgt_mask is not used",
        LAYER.replace("memory, src_mask)", "memory, None)"): "src_mask is not used",
        LAYER.replace("x, tgt_mask)", "x, None)").replace(
            "memory, src_mask)", "memory, None)"
        ): "no mask is used",
        LAYER.replace(
            "(x, memory, src_mask)", "(x, x, tgt_mask)"
        ): "memory with src_mask",
        LAYER.replace("(x, memory, src_mask)", "(x, x, None)"): "not x",
        LAYER.replace("(x, memory, src_mask)", "(memory, x, None)"): "RuntimeError",
        LAYER.replace("x + part.self", "part.self"): "not added to self-attention",
        LAYER.replace("x + part.cross", "part.cross"): "not added to cross-attention",
        LAYER.replace("x + part.feed", "part.feed"): "added to the feed-forward",
        LAYER.replace("x + ", ""): "nothing is added",
        LAYER.replace("part.norm1", "")
        .replace("part.norm2", "")
        .replace("part.norm3", ""): "there is no norm",
        LAYER.replace("part.norm2", ""): "the second norm is missing",
        LAYER.replace("part.norm3", ""): "the last norm is missing",
        LAYER.replace("norm2", "norm1").replace("norm3", "norm1"): "norm of its own",
        LAYER.replace("norm3", "norm2"): "a norm of its own",
        LAYER.replace("norm2", "norm")
        .replace("norm1", "norm2")
        .replace("norm(", "norm1("): "norm1 comes first",
        LAYER.replace("memory, src_mask))", "memory, tgt_mask))"): "ShapeError",
        """
def decoder_layer(part, x, memory, src_mask, tgt_mask):
    h = part.norm1(x)
    x = x + part.self_attention(h, h, tgt_mask)
    x = x + part.cross_attention(part.norm2(x), memory, src_mask)
    return x + part.feed_forward(part.norm3(x))
""": "pre-LN",
        """
def decoder_layer(part, x, memory, src_mask, tgt_mask):
    x1 = part.norm1(x + part.self_attention(x, x, tgt_mask))
    x2 = part.norm2(x + part.cross_attention(x1, memory, src_mask))
    return part.norm3(x + part.feed_forward(x2))
""": "expected",
        LAYER: "right",
        LAYER.replace("x + part.", "torch.add(x, part.")
        .replace("mask))", "mask)))")
        .replace("forward(x))", "forward(x)))"): "right",
        """
def decoder_layer(part, x, memory, src_mask, tgt_mask):
    steps = [
        (part.norm1, lambda h: part.self_attention(h, h, tgt_mask)),
        (part.norm2, lambda h: part.cross_attention(h, memory, src_mask)),
        (part.norm3, part.feed_forward),
    ]
    for norm, step in steps:
        x = norm(x + step(x))
    return x
""": "right",
        LAYER.replace(
            "x + part.self_attention(x, x, tgt_mask)",
            "part.self_attention(x, x, mask=tgt_mask) + x",
        ): "right",
    },
    "all_parameters": {
        COUNT.replace("(D * D + D)", "D * D").replace("+ d_ff + D", ""): "have biases",
        COUNT.replace("(D * D + D)", "D * D")
        .replace("+ d_ff + D", "")
        .replace("* D + V_tgt", "* D"): "and the output layer, have biases",
        COUNT.replace("* D + V_tgt", "* D"): "the output layer has a bias",
        COUNT.replace("+ V_tgt * D", ""): "not tied",
        COUNT.replace(" + V_tgt * D + V_tgt", ""): "needed twice",
        COUNT.replace("+ d_ff + D", ""): "feed-forward network has biases, too",
        COUNT.replace("+ d_ff + D", "+ d_ff"): "two biases",
        COUNT.replace("4 * (D * D + D)", "4 * D * D"): "layers of an attention",
        COUNT.replace("4 * (D", "3 * (D"): "W_o",
        COUNT.replace(
            "2 * D * d_ff + d_ff + D", "8 * D * D + 5 * D"
        ): "not always 4 · D",
        COUNT.replace("2 * attention", "attention"): "has two attentions",
        COUNT.replace("3 * norm", "2 * norm"): "three norms",
        COUNT.replace("2 * attention", "attention").replace("3 * norm", "2 * norm"): (
            "two attentions and three norms"
        ),
        COUNT.replace(", 2 * D\n", ", 0\n"): "missing",
        COUNT.replace(", 2 * D\n", ", D\n"): "a gain and a bias",
        COUNT.replace("+ d_ff + D", "+ 2 * D"): "expected",
        COUNT.replace("V_src + V_tgt", "V_tgt + V_tgt"): "expected",
        COUNT: "right",
        COUNT.replace("return", "return 1.0 *"): "right",
        """
def all_parameters(D, d_ff, N, V_src, V_tgt):
    linear = lambda i, o: i * o + o
    ffn = linear(D, d_ff) + linear(d_ff, D)
    layers = 12 * linear(D, D) + 2 * ffn + 10 * D
    return N * layers + V_src * D + V_tgt * D + linear(D, V_tgt)
""": "right",
    },
    "influence": {
        REACH.replace("stack(columns, 1)", "stack(columns)"): "swapped",
        REACH.replace("changed = tgt_in.clone()", "changed = tgt_in"): "pile up",
        """
def influence(logits_of, tgt_in):
    changed, before, columns = tgt_in.clone(), logits_of(tgt_in), []
    for j in range(tgt_in.size(1)):
        changed[:, j] = nmt.UNK
        columns.append((logits_of(changed) - before).abs().amax((0, 2)))
    return torch.stack(columns, 1)
""": "pile up",
        REACH.replace(".abs().amax", ".amax"): "absolute values",
        REACH.replace(".amax((0, 2))", ".mean((0, 2))"): "not the mean",
        REACH.replace(".amax((0, 2))", "[0].amax(-1)"): "not only the first",
        REACH.replace("nmt.UNK", "nmt.PAD"): "puts <pad> there",
        REACH.replace("nmt.UNK", "7"): "expected",
        REACH.replace("(0, 2)", "(0, 1)"): "expected the shape",
        REACH.replace("changed[:, j]", "changed[0, j]"): "not only the first",
        REACH.replace("logits_of(changed)", "logits_of(tgt_in)"): "expected",
        REACH: "right",
        """
def influence(logits_of, tgt_in):
    T = tgt_in.size(1)
    table = torch.zeros(T, T)
    for j in range(T):
        ids = tgt_in.index_fill(1, torch.tensor([j]), nmt.UNK)
        change = (logits_of(ids) - logits_of(tgt_in)).abs()
        for t in range(T):
            table[t, j] = change[:, t].max()
    return table
""": "right",
        REACH.replace("torch.stack(columns, 1)", "torch.stack(columns).T.tolist()"): (
            "right"
        ),
        REACH.replace(
            "(logits_of(changed) - before).abs().amax((0, 2))",
            "(before - logits_of(changed)).abs().max(-1).values.max(0).values",
        ): "right",
    },
}
