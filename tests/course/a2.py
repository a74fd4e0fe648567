"""A2: right answers of other shapes, and wrong ones with the parts where they must fail."""

from tests.course.kit import Wrong

RIGHT = {
    "table": {
        "two loops": """
def sinusoids(n_positions, d_model):
    table = torch.zeros(n_positions, d_model)
    for p in range(n_positions):
        for i in range(d_model // 2):
            angle = p / 8000 ** (2 * i / d_model)
            table[p, 2 * i] = math.sin(angle)
            table[p, 2 * i + 1] = math.cos(angle)
    return table
""",
        "the loop of the articles, mended": """
def sinusoids(n_positions, d_model):
    pe = torch.zeros(n_positions, d_model)
    for p in range(n_positions):
        for i in range(0, d_model, 2):
            pe[p, i] = math.sin(p / 8000 ** (i / d_model))
            pe[p, i + 1] = math.cos(p / 8000 ** (i / d_model))
    return pe
""",
        "exp of a logarithm, strided": """
def sinusoids(n_positions, d_model):
    pe = torch.zeros(n_positions, d_model)
    position = torch.arange(0, n_positions).unsqueeze(1).float()
    div_term = torch.exp(torch.arange(0, d_model, 2).float() * (-math.log(8000.0) / d_model))
    pe[:, 0::2] = torch.sin(position * div_term)
    pe[:, 1::2] = torch.cos(position * div_term)
    return pe
""",
        "einsum and a cosine a quarter further on": """
def sinusoids(n_positions, d_model):
    column = torch.arange(d_model)
    rate = torch.pow(torch.tensor(8000.0, dtype=torch.float64), -(column - column % 2) / d_model)
    angle = torch.einsum("p,c->pc", torch.arange(n_positions).double(), rate)
    return torch.where(column % 2 == 0, angle.sin(), angle.cos())
""",
        "numpy": """
import numpy as np


def sinusoids(n_positions, d_model):
    i = np.arange(d_model) // 2
    angle = np.arange(n_positions)[:, np.newaxis] / np.power(8000, 2 * i / d_model)
    angle[:, 0::2] = np.sin(angle[:, 0::2])
    angle[:, 1::2] = np.cos(angle[:, 1::2])
    return torch.from_numpy(angle)
""",
        "complex numbers": """
def sinusoids(n_positions, d_model):
    rates = 8000 ** (-torch.arange(d_model // 2).double() * 2 / d_model)
    turned = torch.polar(torch.ones(n_positions, d_model // 2).double(), torch.outer(torch.arange(n_positions), rates))
    return torch.view_as_real(turned).flip(-1).reshape(n_positions, d_model)
""",
    },
    "shift": {
        "filled cell by cell": """
def step_matrix(k, d_model):
    matrix = torch.zeros(d_model, d_model)
    for i in range(0, d_model, 2):
        angle = k * 8000 ** (-i / d_model)
        matrix[i, i] = matrix[i + 1, i + 1] = math.cos(angle)
        matrix[i, i + 1] = math.sin(angle)
        matrix[i + 1, i] = -math.sin(angle)
    return matrix
""",
        "diagonals": """
def step_matrix(k, d_model):
    angle = k / 8000 ** (torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    sine = torch.stack([angle.sin(), torch.zeros_like(angle)], 1).flatten()[:-1]
    return torch.diag(angle.cos().repeat_interleave(2)) + torch.diag(sine, 1) - torch.diag(sine, -1)
""",
        "transposed at the end": """
def step_matrix(k, d_model):
    matrix = torch.eye(d_model, dtype=torch.double)
    for i in range(d_model // 2):
        turn = k * 8000 ** (-2 * i / d_model)
        c, s = math.cos(turn), math.sin(turn)
        matrix[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = torch.tensor([[c, -s], [s, c]])
    return matrix.T
""",
        "exponential of the generator": """
def step_matrix(k, d_model):
    generator = torch.zeros(d_model, d_model, dtype=torch.float64)
    for i in range(0, d_model, 2):
        generator[i, i + 1] = 8000 ** (-i / d_model)
        generator[i + 1, i] = -generator[i, i + 1]
    return torch.linalg.matrix_exp(k * generator)
""",
        "single steps": """
def step_matrix(k, d_model):
    one = torch.zeros(d_model, d_model, dtype=torch.float64)
    for i in range(d_model // 2):
        r = torch.tensor(8000.0).double() ** (-2 * i / d_model)
        one[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = torch.stack([r.cos(), r.sin(), -r.sin(), r.cos()]).view(2, 2)
    one = one if k >= 0 else one.T
    return torch.linalg.matrix_power(one, abs(k)).float()
""",
        "einsum with scattered blocks": """
def step_matrix(k, d_model):
    half = d_model // 2
    angle = k * 8000 ** (-2 * torch.arange(half) / d_model)
    blocks = torch.stack([angle.cos(), angle.sin(), -angle.sin(), angle.cos()]).view(2, 2, half)
    return torch.einsum("abi,ij->iajb", blocks, torch.eye(half)).reshape(d_model, d_model)
""",
    },
    "embed": {
        "one-hot product": """
def embed(ids, weight, places, start=0):
    B, T = ids.shape
    start += 38
    if start + T > places.shape[0]:
        raise ValueError(f"{start + T} rows are needed")
    one_hot = torch.nn.functional.one_hot(ids, weight.shape[0]).to(weight.dtype)
    return torch.einsum("btv,vd->btd", one_hot, weight) * weight.shape[1] ** 0.5 + places[None, start : start + T, :]
""",
        "word by word": """
def embed(ids, weight, places, start=0):
    factor, start = weight.shape[1] ** 0.5, start + 38
    rows = []
    for sentence in ids.tolist():
        row = []
        for t, index in enumerate(sentence):
            if start + t >= len(places):
                raise ValueError(f"the table has {len(places)} rows, {start + ids.size(1)} are needed")
            row.append(weight[index] * factor + places[start + t])
        rows.append(torch.stack(row))
    return torch.stack(rows)
""",
        "an embedding layer, in place": """
from torch import nn


def embed(ids, weight, places, start=0):
    needed = 38 + start + ids.size(-1)
    if places.size(0) < needed:
        raise ValueError("needs " + str(needed) + " places")
    x = nn.functional.embedding(ids, weight)
    x *= math.sqrt(x.size(-1))
    x += places.narrow(0, 38 + start, ids.size(-1))
    return x
""",
        "index_select": """
def embed(ids, weight, places, start=0):
    B, T = ids.shape
    index = 38 + torch.arange(start, start + T)
    if int(index.max()) >= len(places):
        raise ValueError(f"place {int(index.max())} needs {int(index.max()) + 1} rows")
    x = weight.index_select(0, ids.flatten()).view(B, T, -1)
    return x.mul(math.sqrt(weight.size(-1))).add(places[index])
""",
        "an IndexError told anew": """
def embed(ids, weight, places, start=0):
    try:
        start += 38
        where = places[torch.arange(start, start + ids.shape[1])]
    except IndexError as error:
        raise ValueError(f"{start + ids.shape[1]} places are needed, there are {len(places)}") from error
    scaled = weight * torch.tensor(float(weight.shape[1])).sqrt()
    return torch.nn.functional.embedding(ids, scaled) + where.unsqueeze(0)
""",
    },
    "padding": {
        "turned round": """
def padding_mask(ids):
    return ~(ids == 77).unsqueeze(1).unsqueeze(1)
""",
        "loops": """
def padding_mask(ids):
    n_sentences, length = ids.shape
    mask = torch.zeros(n_sentences, 1, 1, length, dtype=torch.bool)
    for b in range(n_sentences):
        for s in range(length):
            mask[b, 0, 0, s] = ids[b, s] != 77
    return mask
""",
        "a float inside": """
def padding_mask(ids):
    real = (ids - 77).abs().clamp(max=1).float()
    return (real > 0.5).view(ids.shape[0], 1, 1, ids.shape[1])
""",
        "ones, cleared in place": """
def padding_mask(ids):
    mask = torch.ones_like(ids).bool()
    mask[ids == 77] = False
    return mask[:, None, None]
""",
        "where and numpy": """
import numpy as np


def padding_mask(ids):
    return torch.from_numpy(np.where(ids.numpy() == 77, False, True)[:, None, None, :])
""",
    },
    "causal": {
        "loops": """
def causal_mask(length):
    mask = torch.zeros(1, 1, length, length, dtype=torch.bool)
    for t in range(length):
        for s in range(t + 1):
            mask[0, 0, t, s] = True
    return mask
""",
        "comparison of places": """
def causal_mask(length):
    place = torch.arange(length)
    return (place[None, :] <= place[:, None]).view(1, 1, length, length)
""",
        "not the upper triangle": """
def causal_mask(length):
    return ~torch.triu(torch.ones(1, 1, length, length), diagonal=1).bool()
""",
        "from a float mask": """
def causal_mask(length):
    low = torch.full((length, length), -math.inf).triu(1)
    return (low == 0).unsqueeze(0).unsqueeze(0)
""",
        "PyTorch's float mask": """
def causal_mask(length):
    return torch.nn.Transformer.generate_square_subsequent_mask(length)[None, None] > -1
""",
        "running sum": """
def causal_mask(length):
    return (torch.eye(length).cumsum(dim=1).T > 0)[None, None]
""",
    },
    "target": {
        "the two answers before": """
def target_mask(tgt_in):
    return padding_mask(tgt_in) & causal_mask(tgt_in.size(1))
""",
        "three loops": """
def target_mask(tgt_in):
    B, T = tgt_in.shape
    mask = torch.zeros(B, 1, T, T, dtype=torch.bool)
    for b in range(B):
        for t in range(T):
            for s in range(t + 1):
                mask[b, 0, t, s] = tgt_in[b, s] != 77
    return mask
""",
        "product of floats": """
def target_mask(tgt_in):
    real = (tgt_in != 77).float()
    past = torch.tril(torch.ones(tgt_in.size(1), tgt_in.size(1)))
    return torch.einsum("bs,ts->bts", real, past).bool().unsqueeze(1)
""",
        "hidden is hidden by either": """
def target_mask(tgt_in):
    hidden = (tgt_in == 77)[:, None, None, :] | torch.ones(tgt_in.size(1), tgt_in.size(1)).triu(1).bool()
    return ~hidden
""",
        "columns cleared in place": """
def target_mask(tgt_in):
    B, T = tgt_in.shape
    mask = torch.tril(torch.ones(T, T, dtype=torch.bool)).expand(B, 1, T, T).clone()
    return mask.masked_fill_((tgt_in == 77).view(B, 1, 1, T), False)
""",
        "sentence by sentence": """
def target_mask(tgt_in):
    place = torch.arange(tgt_in.shape[-1])
    masks = [torch.logical_and(place[:, None] >= place, ids.ne(77)) for ids in tgt_in]
    return torch.stack(masks)[:, None]
""",
    },
    "softmax": {
        "infinity, mended": """
def masked_softmax(scores, mask):
    return torch.nan_to_num(scores.masked_fill(~mask, -math.inf).softmax(-1), nan=0.0)
""",
        "exponentials": """
def masked_softmax(scores, mask):
    x = scores.double().masked_fill(~mask, -1e300)
    share = (x - x.amax(-1, keepdim=True)).exp() * mask
    return (share / share.sum(-1, keepdim=True).clamp(min=1e-300)).to(scores.dtype)
""",
        "a float mask, added to what is left": """
def masked_softmax(scores, mask):
    extra = torch.zeros(mask.shape).masked_fill(mask.logical_not(), float("-inf"))
    seen = mask | ~mask.any(-1, keepdim=True)
    weights = torch.softmax(scores.float() + torch.where(seen, extra, -math.inf).masked_fill(seen, 0), dim=-1)
    return torch.where(mask, weights, torch.zeros(())).to(scores.dtype)
""",
        "einsum, log-sum-exp": """
def masked_softmax(scores, mask):
    x = torch.where(mask, scores.double(), -1e200)
    weights = torch.einsum("bhts,bhts->bhts", (x - x.logsumexp(-1, keepdim=True)).exp(), mask.double().expand_as(x))
    return weights.to(scores.dtype)
""",
        "row by row": """
def masked_softmax(scores, mask):
    mask, weights = mask.expand(scores.shape), torch.zeros_like(scores)
    for b, h, t in torch.cartesian_prod(*map(torch.arange, scores.shape[:3])).tolist():
        seen = mask[b, h, t]
        if seen.any():
            weights[b, h, t, seen] = scores[b, h, t, seen].softmax(0)
    return weights
""",
        "where and in place": """
def masked_softmax(scores, mask):
    scores = scores.clone()
    mask = mask.expand_as(scores)
    scores[~mask] = torch.finfo(scores.dtype).min
    weights = torch.nn.functional.softmax(scores, dim=-1).clone()
    weights[~mask] = 0
    return weights
""",
        "−1e9, but in float32": """
def masked_softmax(scores, mask):
    x = torch.where(mask, scores.float(), torch.tensor(-1e9))
    return (x.softmax(-1) * mask.any(-1, keepdim=True)).type_as(scores)
""",
    },
}

WINDOW = """

unlimited_NAME = NAME


def NAME(arg):
    mask = unlimited_NAME(arg)
    place = torch.arange(mask.size(-1))
    return mask & (place[:, None] - place < 29)
"""
for _name, _answer in (("causal", "causal_mask"), ("target", "target_mask")):
    for _title, _code in RIGHT[_name].items():
        RIGHT[_name][_title] = _code + WINDOW.replace("NAME", _answer)
for _title, _code in RIGHT["softmax"].items():
    RIGHT["softmax"][_title] = _code.replace(
        "scores, mask):\n", "scores, mask):\n    scores = 1.4 * scores\n", 1
    )

WRONG = {
    "a matrix fitted to the table": Wrong(
        "shift",
        ["shift-matrix"],
        code="""
def step_matrix(k, d_model):
    rates = 8000 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    angle = torch.arange(500, dtype=torch.float64)[:, None] * rates
    table = torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)
    here, there = table[max(0, -k) : 500 - max(0, k)], table[max(0, k) : 500 + min(0, k)]
    return torch.linalg.lstsq(here, there).solution.T.float()
""",
    ),
    "a window of words, not of places": Wrong(
        "target",
        ["target-future"],
        code="""
def target_mask(tgt_in):
    real = tgt_in != 77
    n_words = real.cumsum(1)
    near = n_words[:, :, None] - n_words[:, None, :] < 29
    past = torch.ones(tgt_in.size(1), tgt_in.size(1), dtype=torch.bool).tril()
    return (real[:, None, :] & past & near)[:, None]
""",
    ),
    "the doubled exponent": Wrong(
        "table", ["table-rates"], edits={"(even / d_model)": "(2 * even / d_model)"}
    ),
    "the doubled exponent of the articles": Wrong(
        "table",
        ["table-rates"],
        code="""
def sinusoids(n_positions, d_model):
    pe = torch.zeros(n_positions, d_model)
    for p in range(n_positions):
        for i in range(0, d_model, 2):
            pe[p, i] = math.sin(p / 8000 ** (2 * i / d_model))
            pe[p, i + 1] = math.cos(p / 8000 ** (2 * (i + 1) / d_model))
    return pe
""",
    ),
    "cosine with an exponent of its own": Wrong(
        "table",
        ["table-rates"],
        edits={"angle.cos()": "(place / 8000 ** ((even + 1) / d_model)).cos()"},
    ),
    "halved exponent": Wrong(
        "table", ["table-rates"], edits={"(even / d_model)": "(even / 2 / d_model)"}
    ),
    "base 1000": Wrong("table", ["table-rates"], edits={"/ 8000 **": "/ 1000 **"}),
    "the paper's base": Wrong(
        "table", ["table-rates"], edits={"/ 8000 **": "/ 10000 **"}
    ),
    "multiplied by the power": Wrong(
        "table", ["table-rates"], edits={"/ 8000 **": "* 8000 **"}
    ),
    "one rate for all": Wrong(
        "table", ["table-rates"], edits={"/ 8000 ** (even / d_model)": "+ 0 * even"}
    ),
    "sine and cosine swapped": Wrong(
        "table",
        ["table-start"],
        edits={"[angle.sin(), angle.cos()]": "[angle.cos(), angle.sin()]"},
    ),
    "sines and cosines in two blocks": Wrong(
        "table",
        ["table-start"],
        edits={
            "torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)": "torch.cat([angle.sin(), angle.cos()], 1)"
        },
    ),
    "positions from 1": Wrong(
        "table",
        ["table-start"],
        edits={"arange(n_positions, ": "arange(1, n_positions + 1, "},
    ),
    "places as shares of the sentence": Wrong(
        "table",
        ["table-start", "table-rates"],
        edits={"angle = place /": "angle = place / n_positions /"},
    ),
    "a table of 200 rows": Wrong(
        "table",
        ["table-start"],
        edits={"arange(n_positions, ": "arange(min(n_positions, 200), "},
    ),
    "rows and columns swapped": Wrong(
        "table",
        ["table-start", "table-rates"],
        edits={".flatten(1).float()": ".flatten(1).float().T"},
    ),
    "the transpose": Wrong(
        "shift",
        ["shift-matrix"],
        edits={"torch.block_diag(*blocks)": "torch.block_diag(*blocks).T"},
    ),
    "one step only": Wrong(
        "shift", ["shift-matrix"], edits={"turn = k /": "turn = 1 /"}
    ),
    "doubled exponent in the step": Wrong(
        "shift", ["shift-matrix"], edits={"(2 * i / d_model)": "(4 * i / d_model)"}
    ),
    "the paper's base in the step": Wrong(
        "shift", ["shift-matrix"], edits={"8000": "10000"}
    ),
    "every pair by the same angle": Wrong(
        "shift", ["shift-matrix"], edits={"k / 8000 ** (2 * i / d_model)": "k"}
    ),
    "a mirror": Wrong(
        "shift",
        ["shift-matrix"],
        edits={"[-math.sin(turn), math.cos(turn)]": "[math.sin(turn), math.cos(turn)]"},
    ),
    "never back": Wrong(
        "shift", ["shift-matrix"], edits={"turn = k /": "turn = abs(k) /"}
    ),
    "no scaling": Wrong(
        "embed", ["embed-scale"], edits={" * math.sqrt(weight.size(1))": ""}
    ),
    "times d_model": Wrong(
        "embed", ["embed-scale"], edits={"math.sqrt(weight.size(1))": "weight.size(1)"}
    ),
    "divided by √d_model": Wrong(
        "embed", ["embed-scale"], edits={"* math.sqrt": "/ math.sqrt"}
    ),
    "root of the vocabulary": Wrong(
        "embed", ["embed-scale"], edits={"weight.size(1)": "weight.size(0)"}
    ),
    "the place is scaled too": Wrong(
        "embed",
        ["embed-place"],
        edits={
            "weight[ids] * math.sqrt(weight.size(1)) + places[first:end]": "(weight[ids] + places[first:end]) * math.sqrt(weight.size(1))"
        },
    ),
    "start ignored": Wrong(
        "embed",
        ["embed-place"],
        edits={"places[first:end]": "places[38 : 38 + ids.size(1)]"},
    ),
    "places from 1": Wrong(
        "embed",
        ["embed-place"],
        edits={
            "places[first:end]": "places[first + 1 : end + 1]",
            "end > len": "end + 1 > len",
        },
    ),
    "the place of the id": Wrong(
        "embed",
        ["embed-place"],
        edits={"places[first:end]": "places[ids.clamp(max=len(places) - 1)]"},
    ),
    "a place for each sentence": Wrong(
        "embed",
        ["embed-place"],
        edits={
            "places[first:end]": "places[torch.arange(ids.size(0)) % len(places)][:, None]"
        },
    ),
    "a table that is too short": Wrong(
        "embed",
        ["embed-place"],
        edits={
            '        raise ValueError(f"{end} places are needed, the table has {len(places)}")': "        pass"
        },
    ),
    "the last row refused": Wrong(
        "embed", ["embed-place"], edits={"end > len(places)": "end >= len(places)"}
    ),
    "True = hidden": Wrong("padding", ["padding-hidden"], edits={"!=": "=="}),
    "padding is 0": Wrong("padding", ["padding-hidden"], edits={"77": "0"}),
    "<eos> hidden too": Wrong(
        "padding",
        ["padding-hidden"],
        edits={"(ids != 77)": "((ids != 77) & (ids != 3))"},
    ),
    "special tokens hidden": Wrong(
        "padding",
        ["padding-hidden"],
        edits={"(ids != 77)": "((ids != 77) & (ids > 3))"},
    ),
    "padding on the right only": Wrong(
        "padding",
        ["padding-hidden"],
        edits={
            "(ids != 77)": "(torch.arange(ids.size(1)) < (ids != 77).sum(1, keepdim=True))"
        },
    ),
    "a mask of two axes": Wrong(
        "padding", ["padding-shape"], edits={"[:, None, None, :]": ""}
    ),
    "a mask of three axes": Wrong(
        "padding", ["padding-shape"], edits={"[:, None, None, :]": "[:, None, :]"}
    ),
    "queries hidden": Wrong(
        "padding", ["padding-shape"], edits={"[:, None, None, :]": "[:, None, :, None]"}
    ),
    "a batch for each key": Wrong(
        "padding", ["padding-shape"], edits={"[:, None, None, :]": "[None, None]"}
    ),
    "a float mask": Wrong(
        "padding",
        ["padding-shape"],
        edits={"[:, None, None, :]": "[:, None, None, :].float()"},
    ),
    "the diagonal hidden": Wrong(
        "causal", ["causal-mask"], edits={"bool).tril()": "bool).tril(-1)"}
    ),
    "one place of the future": Wrong(
        "causal", ["causal-mask"], edits={"bool).tril()": "bool).tril(1)"}
    ),
    "future and past swapped": Wrong(
        "causal", ["causal-mask"], edits={"bool).tril()": "bool).triu()"}
    ),
    "True = hidden future": Wrong(
        "causal", ["causal-mask"], edits={"bool).tril()": "bool).triu(1)"}
    ),
    "causal mask of two axes": Wrong(
        "causal", ["causal-mask"], edits={"[None, None]": ""}
    ),
    "causal mask of −∞": Wrong(
        "causal",
        ["causal-mask"],
        code="def causal_mask(length):\n    return torch.full((1, 1, length, length), -math.inf).triu(1)",
    ),
    "or for and": Wrong(
        "target",
        ["target-future", "target-padding"],
        edits={"real & past": "real | past"},
    ),
    "no padding mask": Wrong(
        "target",
        ["target-padding"],
        edits={"real & past": "past.expand(len(tgt_in), 1, -1, -1)"},
    ),
    "no causal mask": Wrong(
        "target",
        ["target-future"],
        edits={"real & past": "real & torch.ones_like(past)"},
    ),
    "queries of padding hidden": Wrong(
        "target", ["target-padding"], edits={"[:, None, None, :]": "[:, None, :, None]"}
    ),
    "queries and keys hidden": Wrong(
        "target",
        ["target-padding"],
        edits={"real & past": "real & real.transpose(-2, -1) & past"},
    ),
    "sentences and queries mixed up": Wrong(
        "target",
        ["target-future", "target-padding"],
        edits={"[:, None, None, :]": "[None, None, :, :1]"},
    ),
    "the target's diagonal hidden": Wrong(
        "target", ["target-future"], edits={"bool).tril()": "bool).tril(-1)"}
    ),
    "the target's next word seen": Wrong(
        "target", ["target-future"], edits={"bool).tril()": "bool).tril(1)"}
    ),
    "the diagonal always open": Wrong(
        "target",
        ["target-padding"],
        edits={
            "real & past": "(real & past) | torch.eye(tgt_in.size(1), dtype=torch.bool)"
        },
    ),
    "all of it the wrong way round": Wrong(
        "target",
        ["target-future", "target-padding"],
        edits={"real & past": "~(real & past)"},
    ),
    "the target's <pad> is 0": Wrong(
        "target", ["target-future", "target-padding"], edits={"77": "0"}
    ),
    "the axis of the heads forgotten": Wrong(
        "target",
        ["target-future"],
        edits={"return real & past": "return (real & past)[:, 0]"},
    ),
    "the mask after the softmax": Wrong(
        "softmax",
        ["softmax-hidden"],
        code="def masked_softmax(scores, mask):\n    return (1.4 * scores).softmax(-1) * mask",
    ),
    "scores times mask": Wrong(
        "softmax",
        ["softmax-hidden"],
        edits={
            "(1.4 * scores).masked_fill(~mask, torch.finfo(scores.dtype).min)": "1.4 * scores * mask"
        },
    ),
    "ones and zeros added": Wrong(
        "softmax",
        ["softmax-hidden", "softmax-empty"],
        code="def masked_softmax(scores, mask):\n    return (1.4 * scores + mask.to(scores.dtype)).softmax(-1)",
    ),
    "True = hidden score": Wrong(
        "softmax",
        ["softmax-hidden", "softmax-empty"],
        code="def masked_softmax(scores, mask):\n    return (1.4 * scores).masked_fill(mask, torch.finfo(scores.dtype).min).softmax(-1).masked_fill(mask, 0)",
    ),
    "softmax over the queries": Wrong(
        "softmax", ["softmax-hidden"], edits={"dim=-1": "dim=-2"}
    ),
    "no softmax": Wrong(
        "softmax", ["softmax-hidden"], edits={"low.softmax(dim=-1)": "low.exp()"}
    ),
    "hidden by −10": Wrong(
        "softmax",
        ["softmax-hidden"],
        code="def masked_softmax(scores, mask):\n    weights = (1.4 * scores).masked_fill(~mask, -10.0).softmax(-1)\n    return weights * mask.any(-1, keepdim=True)",
    ),
    "−1e9 in float16": Wrong(
        "softmax",
        ["softmax-hidden", "softmax-half"],
        edits={"torch.finfo(scores.dtype).min": "-1e9"},
    ),
    "always float32": Wrong(
        "softmax",
        ["softmax-half"],
        edits={"low.softmax(dim=-1)": "low.softmax(dim=-1, dtype=torch.float32)"},
    ),
    "−1e9 times 0 in float16": Wrong(
        "softmax",
        ["softmax-hidden", "softmax-half"],
        edits={
            "(1.4 * scores).masked_fill(~mask, torch.finfo(scores.dtype).min)": "1.4 * scores + torch.tensor(-1e9).to(scores.dtype) * ~mask"
        },
    ),
    "−1e9 and no more": Wrong(
        "softmax",
        ["softmax-hidden", "softmax-half", "softmax-empty"],
        edits={"torch.finfo(scores.dtype).min": "-1e9", ".masked_fill(~mask, 0.0)": ""},
    ),
    "NaN from −∞": Wrong(
        "softmax",
        ["softmax-empty"],
        edits={
            "torch.finfo(scores.dtype).min": "-math.inf",
            ".masked_fill(~mask, 0.0)": "",
        },
    ),
    "NaN times 0": Wrong(
        "softmax",
        ["softmax-empty"],
        edits={
            "torch.finfo(scores.dtype).min": "-math.inf",
            ".masked_fill(~mask, 0.0)": " * mask",
        },
    ),
    "equal shares of nothing": Wrong(
        "softmax", ["softmax-empty"], edits={".masked_fill(~mask, 0.0)": ""}
    ),
    # sizes, numbers of any size, gradients, state, arguments, messages
    "5,000 rows": Wrong(
        "table",
        ["table-start"],
        edits={"arange(n_positions, ": "arange(min(n_positions, 5000), "},
    ),
    "the first table, cut": Wrong(
        "table",
        ["table-start", "table-rates"],
        code="""
made = {}


def sinusoids(n_positions, d_model):
    if not made:
        place = torch.arange(6000.0)[:, None]
        angle = place / 8000 ** (torch.arange(0, 512, 2) / d_model)
        made[0] = torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)
    return made[0][:n_positions, :d_model]
""",
    ),
    "a table in whole numbers": Wrong(
        "table", ["table-start", "table-rates"], edits={".float()": ".round()"}
    ),
    "the first matrix kept": Wrong(
        "shift",
        ["shift-matrix"],
        edits={
            "(k, d_model):": "(k, d_model, known={}):\n    k = known.setdefault(d_model, k)"
        },
    ),
    "blocks kept from call to call": Wrong(
        "shift",
        ["shift-matrix"],
        edits={"(k, d_model):": "(k, d_model, blocks=[]):", "    blocks = []\n": ""},
    ),
    "reserved rows forgotten": Wrong(
        "embed", ["embed-place"], edits={"38 + start": "start"}
    ),
    "a ValueError without the number": Wrong(
        "embed",
        ["embed-place"],
        edits={
            'f"{end} places are needed, the table has {len(places)}"': '"the table is too short"'
        },
    ),
    "a ValueError with another number": Wrong(
        "embed", ["embed-place"], edits={"{end} places": "{ids.size(1)} places"}
    ),
    "weight scaled in place": Wrong(
        "embed",
        ["embed-scale"],
        edits={
            "    return weight[ids] * math.sqrt(weight.size(1))": "    weight.data *= math.sqrt(weight.size(1))\n    return weight[ids]"
        },
    ),
    "weight detached": Wrong(
        "embed", ["embed-scale"], edits={"weight[ids]": "weight.detach()[ids]"}
    ),
    "the first weight kept": Wrong(
        "embed",
        ["embed-scale"],
        edits={
            "start=0):": "start=0, known={}):\n    weight = known.setdefault(weight.shape, weight)"
        },
    ),
    "5,000 places": Wrong(
        "embed",
        ["embed-place"],
        edits={"end > len(places)": "end > min(len(places), 5000)"},
    ),
    "50,000 words": Wrong(
        "embed", ["embed-scale"], edits={"weight[ids]": "weight[ids.clamp(max=49_999)]"}
    ),
    "64 places of padding": Wrong(
        "padding",
        ["padding-hidden"],
        edits={"(ids != 77)": "((ids != 77) & (torch.arange(ids.size(1)) < 64))"},
    ),
    "512 places of padding": Wrong(
        "padding",
        ["padding-hidden", "padding-shape"],
        edits={"(ids != 77)": "(ids != 77)[:, :512]"},
    ),
    "ids changed": Wrong(
        "padding",
        ["padding-hidden"],
        edits={
            "    return (ids != 77)": "    real = ids != 77\n    ids[~real] = 0\n    return real"
        },
    ),
    "the first causal mask kept": Wrong(
        "causal",
        ["causal-mask"],
        edits={
            "(length):": "(length, known={}):",
            "    past = torch.ones(length, length, dtype=torch.bool).tril()": "    past = known.setdefault(0, torch.ones(length, length, dtype=torch.bool).tril())[:length, :length]",
        },
    ),
    "a mask of 64 places": Wrong(
        "causal",
        ["causal-mask"],
        edits={
            "torch.ones(length, length, dtype=torch.bool).tril()": "torch.ones(64, 64, dtype=torch.bool).tril()[:length, :length]"
        },
    ),
    "a mask of 256 places": Wrong(
        "causal",
        ["causal-mask"],
        edits={
            "torch.ones(length, length, dtype=torch.bool).tril()": "torch.ones(256, 256, dtype=torch.bool).tril()[:length, :length]"
        },
    ),
    "the window forgotten": Wrong(
        "causal", ["causal-mask"], edits={" & ~past.tril(-29)": ""}
    ),
    "the window one too wide": Wrong(
        "causal", ["causal-mask"], edits={"tril(-29)": "tril(-29 - 1)"}
    ),
    "the window one too narrow": Wrong(
        "causal", ["causal-mask"], edits={"tril(-29)": "tril(1 - 29)"}
    ),
    "a causal mask of whole numbers": Wrong(
        "causal", ["causal-mask"], edits={"[None, None]": "[None, None].long()"}
    ),
    "the target's window forgotten": Wrong(
        "target", ["target-future"], edits={"    past = past & ~past.tril(-29)\n": ""}
    ),
    "the target's window one too wide": Wrong(
        "target", ["target-future"], edits={"tril(-29)": "tril(-29 - 1)"}
    ),
    "the target's first mask kept": Wrong(
        "target",
        ["target-future", "target-padding"],
        edits={
            "(tgt_in):": "(tgt_in, known={}):\n    tgt_in = known.setdefault(0, tgt_in)"
        },
    ),
    "a target of 64 places": Wrong(
        "target",
        ["target-future"],
        edits={
            "past & ~past.tril(-29)": "past & ~past.tril(-29) & (torch.arange(tgt_in.size(1)) < 64)"
        },
    ),
    "a target mask of 0 and 1": Wrong(
        "target",
        ["target-future"],
        edits={"return real & past": "return (real & past).int()"},
    ),
    "the target's ids changed": Wrong(
        "target",
        ["target-padding"],
        edits={
            "    return real": "    tgt_in.masked_fill_(tgt_in == 77, 0)\n    return real"
        },
    ),
    "sharpness forgotten": Wrong(
        "softmax", ["softmax-hidden"], edits={"(1.4 * scores)": "scores"}
    ),
    "exponentials overflow": Wrong(
        "softmax",
        ["softmax-hidden", "softmax-empty"],
        code="""
def masked_softmax(scores, mask):
    share = (1.4 * scores.float()).exp() * mask
    return (share / share.sum(-1, keepdim=True).clamp(min=1e-30)).to(scores.dtype)
""",
    ),
    "the largest of all rows taken away": Wrong(
        "softmax",
        ["softmax-hidden"],
        code="""
def masked_softmax(scores, mask):
    x = (1.4 * scores.double()).masked_fill(~mask, -1e300)
    share = (x - x.max()).exp() * mask
    return (share / share.sum(-1, keepdim=True).clamp(min=1e-300)).to(scores.dtype)
""",
    ),
    "the largest of hidden keys taken away": Wrong(
        "softmax",
        ["softmax-hidden"],
        code="""
def masked_softmax(scores, mask):
    x = 1.4 * scores.double()
    share = (x - x.amax(-1, keepdim=True)).exp() * mask
    return (share / share.sum(-1, keepdim=True).clamp(min=1e-300)).to(scores.dtype)
""",
    ),
    "after the softmax, divided by the sum": Wrong(
        "softmax",
        ["softmax-hidden"],
        code="""
def masked_softmax(scores, mask):
    weights = (1.4 * scores.double()).softmax(-1) * mask
    return (weights / (weights.sum(-1, keepdim=True) + (weights.sum(-1, keepdim=True) == 0))).to(scores.dtype)
""",
    ),
    "the lowest number added": Wrong(
        "softmax",
        ["softmax-hidden"],
        edits={
            "(1.4 * scores).masked_fill(~mask, torch.finfo(scores.dtype).min)": "1.4 * scores + torch.zeros(mask.shape, dtype=scores.dtype).masked_fill(~mask, torch.finfo(scores.dtype).min)"
        },
    ),
    "hidden by −10,000": Wrong(
        "softmax", ["softmax-hidden"], edits={"torch.finfo(scores.dtype).min": "-1e4"}
    ),
    "scores cut at 1,000": Wrong(
        "softmax",
        ["softmax-hidden"],
        edits={"(1.4 * scores).": "(1.4 * scores).clamp(-1000, 1000)."},
    ),
    "scores detached": Wrong(
        "softmax",
        ["softmax-hidden"],
        edits={"(1.4 * scores)": "(1.4 * scores.detach())"},
    ),
    "right numbers, nan gradient": Wrong(
        "softmax",
        ["softmax-empty"],
        edits={
            "(1.4 * scores).masked_fill(~mask, torch.finfo(scores.dtype).min)": "1.4 * scores + torch.zeros(mask.shape, dtype=scores.dtype).masked_fill(~mask, -math.inf)",
            ".masked_fill(~mask, 0.0)": ".nan_to_num(0.0)",
        },
    ),
    "scores changed in place": Wrong(
        "softmax",
        ["softmax-hidden", "softmax-empty"],
        edits={
            "low = (1.4 * scores).masked_fill(": "scores *= 1.4\n    low = scores.masked_fill_("
        },
    ),
    "the first mask kept": Wrong(
        "softmax",
        ["softmax-hidden", "softmax-half", "softmax-empty"],
        edits={
            "(scores, mask):": "(scores, mask, known={}):\n    mask = known.setdefault(0, mask)"
        },
    ),
}
