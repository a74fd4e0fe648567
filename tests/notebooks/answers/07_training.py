"""Answers to the stubs of chapter 07, and what its checks must say."""

LOSS = """def my_loss(logits, tgt_out):
    p = logits.softmax(-1)
    said = p.gather(-1, tgt_out[..., None])[..., 0]
    real = tgt_out != 0
    return """
ADAM = """def my_adam(gradients, rate):
    theta = m = v = torch.zeros(gradients.size(1))
    for step, g in enumerate(gradients, start={first}):
        m, v = {b1} * m + (1 - {b1}) * g, {b2} * v + (1 - {b2}) * g**2
        theta = theta {move}
    return theta"""
HATS = "m / (1 - 0.9**step)", "v / (1 - 0.98**step)"


def adam(m=HATS[0], v=HATS[1], b1=0.9, b2=0.98, first=1, move="") -> str:
    move = move or f"- rate * {m} / (({v}) ** 0.5 + 1e-9)"
    return ADAM.format(b1=b1, b2=b2, first=first, move=move)


def hits(result: str) -> str:
    return f"""def my_accuracy(logits, tgt_out):
    best = logits.argmax(-1)
    hits, real = best == tgt_out, tgt_out != 0
    return {result}"""


ANSWERS = {
    "my_shift": {
        "my_shift = lambda tgt: (tgt[:, :-1], tgt[:, :-1])": "both lack the last",
        "my_shift = lambda tgt: (tgt[:, 1:], tgt[:, 1:])": "both lack the first",
        "my_shift = lambda tgt: (tgt[:, 1:], tgt[:, :-1])": "swapped",
        "my_shift = lambda tgt: (tgt[:-1], tgt[1:])": "whole sentences",
        "my_shift = lambda tgt: (tgt, tgt[:, 1:])": "tgt_in still has all",
        "my_shift = lambda tgt: (tgt[:, :-1], tgt)": "tgt_out still has all",
        "my_shift = lambda tgt: (tgt[:, :-1] * (tgt[:, :-1] != 3), tgt[:, 1:])": "lost",
        "my_shift = lambda tgt: (tgt[:, :-1].masked_fill_(tgt[:, :-1] == 3, 0), "
        "tgt[:, 1:])": "expected",
        "my_shift = lambda tgt: tgt[:, :-1]": "expected",
        "my_shift = lambda tgt: (tgt[:, :-2], tgt[:, 2:])": "expected",
        "my_shift = lambda tgt: [tgt[:, :-1], tgt[:, 1:]]": "right",
        "my_shift = lambda tgt: tgt.unfold(1, tgt.size(1) - 1, 1).unbind(1)": "right",
        "my_shift = lambda t: (t.narrow(1, 0, 4), t.roll(-1, 1)[:, :-1])": "right",
    },
    "my_loss": {
        LOSS + "-said.log().mean()": "padding is counted",
        LOSS + "-(said.log() * real).mean()": "still divide by its positions",
        LOSS + "(-(said.log() * real).sum(1) / real.sum(1)).mean()": "sentences' means",
        LOSS + "-said.log()[real].sum()": "the sum",
        LOSS + "-(said.log() * real).sum() / len(said)": "number of sentences",
        LOSS + "-said.log()[p.argmax(-1) != 0].mean()": "not from what the model says",
        LOSS + "nmt.cross_entropy(p, tgt_out)": "twice",
        LOSS + "said.log()[real].mean()": "the sign",
        LOSS + "said[real].mean()": "the logarithm is missing, and the sign",
        LOSS + "-said[real].mean()": "the logarithm is missing",
        LOSS + "-said.log()[real & (p.argmax(-1) != 0)].mean()": "even where",
        LOSS + "-said.log2()[real].mean()": "base 2",
        LOSS + "-said.log()[real].sum() / logits.size(-1)": "expected",
        LOSS
        + "-logits.gather(-1, tgt_out[..., None])[real].mean()": "these are logits",
        LOSS + "-p.log()[real].mean()": "gather",
        LOSS + "nmt.cross_entropy(logits, tgt_out, 0.1)": "expected",
        LOSS + "-said.log()": "expected the shape",
        LOSS + "said.mean().missing": "it raises AttributeError",
        LOSS + "(-said.log() * real).sum() / real.sum()": "right",
        LOSS + "(-said.log()[real].mean()).item()": "right",
        "my_loss = lambda z, y: torch.nn.functional.cross_entropy("
        "z.flatten(0, 1), y.flatten(), ignore_index=0)": "right",
    },
    "my_adam": {
        adam("m", "v"): "the hats",
        adam(v="v"): "v is not corrected",
        adam(m="m"): "m is not corrected",
        adam(
            move="- rate * m / (1 - 0.9**step) / (v / (1 - 0.98**step) + 1e-9)"
        ): "root",
        adam(
            move="- rate * (m / (1 - 0.9**step)) / (v / (1 - 0.98**step) + 1e-9) ** 0.5"
        ): "outside",
        adam(m="g"): "latest gradient",
        adam(
            b1=0.98, b2=0.9, m="m / (1 - 0.98**step)", v="v / (1 - 0.9**step)"
        ): "swap",
        adam().replace("theta - rate", "theta + rate"): "subtract",
        adam().replace("+ 1e-9", ""): "ε is missing",
        adam().replace("rate *", ""): "the rate is missing",
        adam().replace("theta - rate", "-rate"): "the last one alone",
        adam(move="- rate * g"): "plain",
        adam(first=0): "start at 1",
        adam(m="m / 0.1", v="v / 0.02"): "same step",
        adam(b2=0.999, v="v / (1 - 0.999**step)"): "not 0.999",
        adam().replace("**step", "**len(gradients)"): "number of gradients",
        adam().replace("1e-9", "1e-8"): "not 1e-8",
        adam(first=2): "not 2",
        adam()
        .replace("        theta = ", f"        m, v = {HATS[0]}, {HATS[1]}; theta = ")
        .replace(f"{HATS[0]} / (({HATS[1]})", "m / ((v)"): "for this update only",
        adam(
            move="- rate * (1 - 0.98**step) ** 0.5 / (1 - 0.9**step) "
            "* m / (v ** 0.5 + 1e-9)"
        ): "not of v",
        adam().replace("return theta", "    return theta"): "expected",
        adam(move=f"- rate * {HATS[0]} / ({HATS[1]}).sqrt().add(1e-9)"): "right",
        adam().replace("return theta", "return theta.tolist()"): "right",
        """def my_adam(gradients, rate):
    theta = torch.zeros(gradients.size(1), requires_grad=True)
    adam = torch.optim.Adam([theta], rate, (0.9, 0.98), 1e-9)
    for theta.grad in gradients:
        adam.step()
    return theta""": "right",
    },
    "my_accuracy": {
        hits("hits.float().mean()"): "padding is counted",
        hits("(hits & real).float().mean()"): "divided by all",
        hits("hits[best != 0].float().mean()"): "not from what the model says",
        hits("((hits & real).sum(1) / real.sum(1)).mean()"): "sentences' means",
        hits("hits[real].sum()"): "the number of hits",
        hits("hits[real & (best != 0)].float().mean()"): "even where",
        hits("hits.sum() / real.sum()"): "counted as a hit",
        hits("(hits & real).sum() / hits.size(1)"): "length of the batch",
        hits("(~hits)[real].float().mean()"): "mistakes",
        hits("100 * hits[real].float().mean()"): "percent",
        hits("hits[real].mean()"): "it raises RuntimeError",
        hits("hits.all(1).float().mean()"): "expected",
        hits("hits[:, :-1].float().mean()"): "expected",
        hits("hits[~real].float().mean()"): "the padding only",
        hits("sum(hits[real].tolist()) / len(hits[real])"): "right",
        hits("((hits & real).sum() / real.sum()).item()"): "right",
        hits("(best[real] - tgt_out[real]).eq(0).double().mean()"): "right",
    },
}
