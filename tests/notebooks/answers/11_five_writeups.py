"""Answers to chapter 11, and what its checks must say."""

BROKEN = """
def broken_pairs(table):
    length = table[:, 0::2] ** 2 + table[:, 1::2] ** 2
    return int(((length - 1).abs() > 0.001).any(0).sum())
"""
OFF = """
def broken_pairs(table):
    off = (table[:, 0::2] ** 2 + table[:, 1::2] ** 2 - 1).abs() > 0.001
    return int(off.any(0).sum())
"""
HIDE = """
def hide(scores, mask):
    return scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
"""
POSITIONS = """
def positions_per_token(lengths, batch_size, width=None):
    n = 0
    for i in range(0, len(lengths), batch_size):
        batch = lengths[i : i + batch_size]
        n += len(batch) * (width or max(batch))
    return n / sum(lengths)
"""
DROPOUT = """
def has_dropout(model, rate):
    rates = [m.p for m in model.modules() if isinstance(m, nn.Dropout)]
    return bool(rates and all(p == rate for p in rates))
"""
ANSWERS = {
    "broken_pairs": {
        OFF.replace("any(0).", ""): "counts cells",
        OFF.replace("(0", "(1"): "counts positions",
        OFF.replace("any", "all"): "it need not be all",
        BROKEN.replace("(length", "(length.mean(0)").replace(
            "any(0).", ""
        ): "a mean hides it",
        BROKEN.replace("((", "(").replace(").abs()", ""): "absolute difference",
        """
def broken_pairs(table):
    sin, cos = table.chunk(2, dim=1)
    return int(((sin**2 + cos**2 - 1).abs() > 0.001).any(0).sum())
""": "not to the first of the second half",
        BROKEN.replace(">", "<=").replace("any", "all"): "pairs on the circle",
        BROKEN.replace("** 2 ", "").replace(" ** 2", ""): "expected (3, 0, 3, 7), got",
        BROKEN.replace("(length - 1).abs() > 0.001", "length != 1"): "expected ",
        BROKEN.replace("(length", "(length[:, :-1]"): "expected",
        BROKEN.replace("001", "03"): "expected",
        BROKEN.replace("(length", "(length[-1]").replace("any(0).", ""): "expected",
        """
def broken_pairs(table):
    count = 0
    for i in range(0, table.size(1), 2):
        worst = max(abs(float(a * a + b * b) - 1) for a, b in table[:, i : i + 2])
        count += worst > 0.001
    return count
""": "right",
        """
def broken_pairs(table):
    pairs = table.unflatten(1, (-1, 2))
    return ((pairs.norm(dim=-1) ** 2 - 1).abs().amax(0) > 1e-3).sum()
""": "right",
        """
def broken_pairs(table):
    import numpy
    pairs = table.numpy().reshape(len(table), -1, 2)
    off = numpy.abs((pairs**2).sum(-1) - 1) > 0.001
    return numpy.count_nonzero(off.any(axis=0))
""": "right",
    },
    "hide": {
        """
def hide(scores, mask):
    return scores.masked_fill(~mask, -1e10)
""": "it raises RuntimeError",
        """
def hide(scores, mask):
    return scores.masked_fill(~mask, float("-inf"))
""": "-inf becomes NaN",
        HIDE.replace("~", ""): "True in the mask means",
        """
def hide(scores, mask):
    return scores * mask
""": "is not hidden",
        HIDE.replace("return ", "").replace(
            "min)", "min)\n    return scores"
        ): "nothing is hidden",
        HIDE.replace("min)", "min).softmax(-1)"): "softmax comes after",
        """
def hide(scores, mask):
    return scores.float().masked_fill(~mask, -1e10).to(scores.dtype)
""": "becomes NaN in float16",
        HIDE.replace("min", "tiny"): "is not hidden",
        """
def hide(scores, mask):
    return scores[mask]
""": "not yet",
        HIDE.replace("min", "max"): "the largest number wins",
        """
def hide(scores, mask):
    return scores.masked_fill(~mask, -5)
""": "expected 0 at [0, 1], got 0.0006662",
        """
def hide(scores, mask):
    return torch.where(mask, scores, -1e4)
""": "right",
        """
def hide(scores, mask):
    lowest = torch.tensor(-65504.0, dtype=scores.dtype)
    result = scores.clone()
    result[~mask] = lowest
    return result
""": "right",
        """
def hide(scores, mask):
    alive = mask.any(-1, keepdim=True)
    return scores.masked_fill(~mask & alive, -torch.inf)
""": "right",
    },
    "positions_per_token": {
        """
def positions_per_token(lengths, batch_size, width=None):
    total, n = sum(lengths), 0
    while lengths:
        batch = [lengths.pop(0) for _ in range(min(batch_size, len(lengths)))]
        n += len(batch) * (width or max(batch))
    return n / total
""": "right",
        POSITIONS.replace("n / sum(lengths)", "sum(lengths) / n"): "upside down",
        POSITIONS.replace("batch = ", "n += batch_size * (width or max(").replace(
            "\n        n += len(batch) * (width or max(batch", ""
        ): "the last batch has fewer rows",
        """
def positions_per_token(lengths, batch_size, width=None):
    n = 0
    for b in range(len(lengths) // batch_size):
        batch = lengths[b * batch_size : (b + 1) * batch_size]
        n += batch_size * (width or max(batch))
    return n / sum(lengths)
""": "smaller batch is missing",
        """
def positions_per_token(lengths, batch_size, width=None):
    return len(lengths) * (width or max(lengths)) / sum(lengths)
""": "longest sentence of the batch",
        POSITIONS.replace("(width or max(batch)", "max(batch"): "width is ignored",
        POSITIONS.replace("sum", "len"): "not by the sentences",
        """
def positions_per_token(lengths, batch_size, width=None):
    ratios = []
    for i in range(0, len(lengths), batch_size):
        batch = lengths[i : i + batch_size]
        ratios.append(len(batch) * (width or max(batch)) / sum(batch))
    return sum(ratios) / len(ratios)
""": "divide once, at the end",
        POSITIONS.replace("))", ")) - sum(batch)"): "only the padding",
        POSITIONS.replace("n =", "lengths, n = sorted(lengths),"): "without sorting",
        POSITIONS.replace("batch = ", "n += width or max(").replace(
            "\n        n += len(batch) * (width or max(batch)", ""
        ): "expected (1.364, 2.273, 1.409), got",
        """
def positions_per_token(lengths, batch_size, width=None):
    rows = [[1] * n for n in lengths]
    parts = [rows[i : i + batch_size] for i in range(0, len(rows), batch_size)]
    total = sum(nmt.pad_batch(part, width).numel() for part in parts)
    return total / sum(lengths)
""": "right",
        """
def positions_per_token(lengths, batch_size, width=None):
    longest = [
        max(lengths[i - i % batch_size : i - i % batch_size + batch_size])
        for i in range(len(lengths))
    ]
    return sum(width if width else n for n in longest) / sum(lengths)
""": "right",
        """
def positions_per_token(lengths, batch_size, width=None):
    if width is not None:
        return torch.tensor(width * len(lengths)) / sum(lengths)
    parts = torch.tensor(lengths).split(batch_size)
    return sum(part.max() * part.numel() for part in parts) / sum(lengths)
""": "right",
    },
    "has_dropout": {
        DROPOUT.replace("rates and ", ""): "all([]) is True",
        DROPOUT.replace("rates and all", "any"): "one rate of 0.3 is not enough",
        DROPOUT.replace("modules", "children"): "parts of the parts: .modules()",
        DROPOUT.replace("modules", "children").replace(
            "rates and ", ""
        ): "and all([]) is True",
        DROPOUT.replace("return ", "return not "): "True where it should say False",
        DROPOUT.replace("= rate", "= 0.3"): "not always 0.3",
        DROPOUT.replace("p =", "p >"): "a higher rate is wrong",
        DROPOUT.replace("all(p", "min(rates)").replace(
            " for p in rates)", ""
        ): "a higher rate is wrong",
        DROPOUT.replace("all(p", "rates[-1]").replace(
            " for p in rates)", ""
        ): "expected",
        DROPOUT.replace("all(p", "rates[0]").replace(
            " for p in rates)", ""
        ): "expected",
        DROPOUT.replace("and ", "and sum(rates) / len(rates) == rate or "): "expected",
        DROPOUT.replace(" if isinstance(m, nn.Dropout)", ""): "raises AttributeError",
        """def has_dropout(model, rate):
    return True""": "not yet: expected",
        """
def has_dropout(model, rate):
    found = False
    for part in model.modules():
        if type(part) is nn.Dropout:
            found = True
            if abs(part.p - rate) > 1e-9:
                return False
    return found
""": "right",
        """
def has_dropout(model, rate):
    rates = [m.p for _, m in model.named_modules() if isinstance(m, nn.Dropout)]
    return len(rates) > 0 and min(rates) == max(rates) == rate
""": "right",
        """
def has_dropout(model, rate):
    def rates(part):
        own = [part.p] if isinstance(part, nn.Dropout) else []
        return own + [p for child in part.children() for p in rates(child)]
    found = rates(model)
    return bool(found) and found.count(rate) == len(found)
""": "right",
    },
}
