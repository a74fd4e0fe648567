"""Answers to the stubs of chapter 02, and what their checks must say."""

LINES = """
def my_table(n_positions, d_model):
    position = torch.arange({first}, n_positions + {first})[:, None]
    rate = 10000.0 ** ({exponent})
    table = torch.zeros(n_positions, d_model)
    table[:, 0::2] = (position * rate).{one}()
    table[:, 1::2] = (position * rate).{two}()
    return {result}
"""


def table(
    one: str = "sin",
    two: str = "cos",
    exponent: str = "-torch.arange(0, d_model, 2) / d_model",
    first: int = 0,
    result: str = "table",
) -> str:
    return LINES.format(one=one, two=two, exponent=exponent, first=first, result=result)


TABLE = {
    """
def my_table(n_positions, d_model):
    rows = []
    for pos in range(n_positions):
        row = []
        for i in range(d_model // 2):
            angle = pos / 10000 ** (2 * i / d_model)
            row += [math.sin(angle), math.cos(angle)]
        rows.append(row)
    return rows
""": "right",
    """
import numpy as np
def my_table(n_positions, d_model):
    column = np.arange(d_model)
    angle = np.arange(n_positions)[:, None] / 10000 ** (column // 2 * 2 / d_model)
    return torch.tensor(np.where(column % 2, np.cos(angle), np.sin(angle)))
""": "right",
    """
def my_table(n_positions, d_model):
    div_term = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
    pe = torch.zeros(n_positions, d_model, dtype=torch.float64)
    position = torch.arange(0, n_positions).unsqueeze(1)
    pe[:, 0::2] = torch.sin(position * div_term)
    pe[:, 1::2] = torch.cos(position * div_term)
    return pe
""": "right",
    table("cos", "sin"): "even columns are sines",
    table(exponent="-2 * torch.arange(0, d_model, 2) / d_model"): "too large",
    table(exponent="-torch.arange(0, d_model // 2) / d_model"): "too small",
    table(exponent="torch.arange(0, d_model, 2) / d_model"): "you have multiplied",
    table(exponent="-torch.arange(d_model // 2) / (d_model // 2 - 1)"): "expected",
    table(first=1): "positions count from 0",
    """
def my_table(n_positions, d_model):
    j = torch.arange(d_model)
    angle = torch.arange(n_positions)[:, None] / 10000 ** (j / d_model)
    return torch.where(j % 2 == 0, angle.sin(), angle.cos())
""": "share one exponent",
    """
def my_table(n_positions, d_model):
    j = torch.arange(d_model)
    angle = torch.arange(n_positions)[:, None] / 10000 ** (2 * j / d_model)
    return torch.where(j % 2 == 0, angle.sin(), angle.cos())
""": "i is not the column",
    table(result="table.T"): "transpose",
    table(two="sin"): "expected",
    table(result="torch.cat([table[:, 0::2], table[:, 1::2]], 1)"): "alternate",
    table(two="zero_"): "cosines are missing",
    table(one="clone", two="clone"): "sine and cosine are missing",
    table(result="table[None]"): "expected the shape",
    table(result="table + 1"): "expected",
    "def my_table(n_positions, d_model):\n"
    "    return torch.zeros(n_positions, d_model)": "expected",
}

ROTATE = """
def my_turn(k, rate):
    b = {angle}
    c, s = math.cos(b), math.sin(b)
    return {result}
"""


def turn(
    angle: str = "k * rate", result: str = "torch.tensor([[c, s], [-s, c]])"
) -> str:
    return ROTATE.format(angle=angle, result=result)


TURN = {
    turn(result="[[c, s], [-s, c]]"): "right",
    """
def my_turn(k, rate):
    b = torch.tensor(k * rate)
    return torch.stack([b.cos(), b.sin(), -b.sin(), b.cos()]).view(2, 2)
""": "right",
    """
def my_turn(k, rate):
    one = torch.tensor([[0.0, rate], [-rate, 0.0]])
    return torch.linalg.matrix_power(torch.matrix_exp(one.double()), k)
""": "right",
    turn(result="torch.tensor([[c, -s], [s, c]])"): "turns back",
    turn("k"): "not k",
    turn("k / rate"): "not k divided",
    turn("rate"): "not the rate",
    turn("math.radians(k * rate)"): "radians",
    turn(result="torch.tensor([[c, s], [s, c]])"): "the minus is missing",
    turn(result="torch.tensor([[-s, c], [c, s]])"): "rows are swapped",
    turn(result="torch.tensor([c, s, -s, c])"): "two rows of two",
    turn(result="torch.tensor([[s, c], [c, -s]])"): "expected",
    turn(result="torch.eye(2)"): "expected",
    turn("-k * rate"): "turns back",
    "def my_turn(k, rate):\n    return torch.tensor([pos + k])": "NameError",
}

WORD = "math.sqrt(E.size(1)) * E[ids]"


def embed(word: str = WORD, place: str = "P[: ids.size(1)]") -> str:
    return f"def my_embed(ids, E, P):\n    return {word} + {place}"


EMBED = {
    embed(place="P[torch.arange(ids.shape[-1])][None]"): "right",
    embed(word="F.embedding(ids, E * E.shape[-1] ** 0.5)"): "right",
    embed(word="(F.one_hot(ids, len(E)).float() @ E) * 4"): "right",
    embed(word="E[ids]"): "factor √D is missing",
    embed(word="E.size(1) * E[ids]"): "not by D",
    embed(word="E[ids] / math.sqrt(E.size(1))"): "do not divide",
    embed(word="math.sqrt(E.size(0)) * E[ids]"): "V is the first",
    embed("E[ids]", "P[: ids.size(1)] * 4"): "goes to the word",
    embed(place="4 * P[: ids.size(1)]"): "only the word is multiplied",
    embed(place="P[ids]"): "not an id",
    embed(place="0"): "positions are missing",
    embed(place="P[1 : ids.size(1) + 1]"): "count from 0",
    embed(word="math.sqrt(d_model) * E[ids]"): "the page's d_model",
    embed(word="config.model.d_model**0.5 * E[ids]"): "this is config.model.d_model",
    embed(place="nmt.sinusoids(ids.size(1), E.size(1))"): "add the rows of P",
    embed(place="P"): "it raises RuntimeError",
    embed(word="math.sqrt(ids.size(1)) * E[ids]"): "expected",
    embed(place="P[: ids.size(0)]"): "it raises RuntimeError",
    embed(place="P[: ids.size(1)].flip(0)"): "expected",
}

ANSWERS = {"my_table": TABLE, "my_turn": TURN, "my_embed": EMBED}
