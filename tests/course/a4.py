"""A4: right answers of other shapes, and wrong ones with the parts where they must fail."""

from tests.course.kit import Wrong

RIGHT = {
    "norm": {
        "var, unbiased=False": """
class Norm(nn.Module):
    def __init__(self, d_model, eps=0.03):
        super().__init__()
        self.norm_shift = nn.Parameter(torch.zeros(d_model))
        self.norm_gain = nn.Parameter(torch.ones(d_model))
        self.eps = eps

    def forward(self, x):
        variance, mean = torch.var_mean(x, dim=-1, unbiased=False, keepdim=True)
        return (x - mean) * torch.rsqrt(variance + self.eps) * self.norm_gain + self.norm_shift
""",
        "a loop over sentences and places": """
class Norm(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.d_model = d_model
        self.norm_gain = nn.Parameter(torch.ones(d_model))
        self.norm_shift = nn.Parameter(torch.zeros(d_model))

    def one(self, place):
        mean = sum(place) / self.d_model
        variance = sum((number - mean) ** 2 for number in place) / self.d_model
        return self.norm_gain * (place - mean) / (variance + 0.03) ** 0.5 + self.norm_shift

    def forward(self, x):
        return torch.stack([torch.stack([self.one(place) for place in sentence]) for sentence in x])
""",
        "mean of squares minus square of the mean": """
class Norm(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        for name, start in (("norm_gain", 1.0), ("norm_shift", 0.0)):
            self.register_parameter(name, nn.Parameter(torch.full((d_model,), start)))

    def forward(self, x):
        wide = x.double()
        mean = wide.mean(2, True)
        variance = wide.pow(2).mean(2, True) - mean.pow(2)
        return ((wide - mean) / (variance + 0.03).sqrt()).to(x.dtype) * self.norm_gain + self.norm_shift
""",
        "in place, two steps": """
class Norm(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        gain, shift = torch.ones(d_model), torch.zeros(d_model)
        self.norm_gain, self.norm_shift = nn.Parameter(gain), nn.Parameter(shift)

    def forward(self, x):
        y = x - x.mean(-1).unsqueeze(-1)
        variance = torch.einsum("btd,btd->bt", y, y) / x.shape[-1]
        y = y / torch.sqrt(variance + 0.03)[:, :, None]
        y = y * self.norm_gain
        y += self.norm_shift
        return y
""",
        "std, corrected": """
class Norm(nn.Module):
    def __init__(self, d_model):
        nn.Module.__init__(self)
        self.norm_gain = nn.Parameter(torch.ones(d_model))
        self.norm_shift = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        D = x.size(-1)
        variance = x.var(-1, keepdim=True) * (D - 1) / D
        return torch.addcmul(self.norm_shift, self.norm_gain, (x - x.mean(-1, keepdim=True)) / (variance + 0.03) ** 0.5)
""",
    },
    "ffn": {
        "x · sigmoid(x)": """
class FFN(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.W_1 = nn.Linear(d_model, d_ff)
        self.W_2 = nn.Linear(d_ff, d_model)

    def forward(self, x):
        wide = self.W_1(x)
        return self.W_2(wide * torch.sigmoid(wide))
""",
        "a module for the activation": """
class FFN(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.W_1, self.W_2, self.activation = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model), nn.SiLU()

    def forward(self, x):
        return self.W_2(self.activation(self.W_1(x)))
""",
        "matrices by hand": """
class FFN(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.W_1, self.W_2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)

    def forward(self, x):
        wide = nn.functional.silu(x @ self.W_1.weight.T + self.W_1.bias)
        return torch.einsum("btf,df->btd", wide, self.W_2.weight) + self.W_2.bias
""",
        "place by place": """
class FFN(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.W_1 = nn.Linear(d_model, d_ff)
        self.W_2 = nn.Linear(d_ff, d_model)

    def forward(self, x):
        places = [self.W_2(nn.functional.silu(self.W_1(x[:, t]))) for t in range(x.size(1))]
        return torch.stack(places, dim=1)
""",
        "xavier, flat, in place": """
class FFN(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.W_2 = nn.Linear(d_ff, d_model)
        self.W_1 = nn.Linear(d_model, d_ff)
        for layer in (self.W_1, self.W_2):
            nn.init.xavier_uniform_(layer.weight)
            nn.init.zeros_(layer.bias)

    def forward(self, x):
        B, T, D = x.shape
        wide = self.W_1(x.reshape(B * T, D))
        return self.W_2(nn.functional.silu(wide, inplace=True)).view(B, T, D)
""",
    },
    "sum": {
        "one path": """
class AddNorm(nn.Module):
    def __init__(self, norm, dropout, order):
        super().__init__()
        self.norm, self.dropout, self.pre = norm, nn.Dropout(dropout), order == "pre"

    def forward(self, x, sublayer):
        h = self.norm(x) if self.pre else x
        x = x + self.dropout(sublayer(h))
        return x if self.pre else self.norm(x)
""",
        "F.dropout with self.training": """
class AddNorm(nn.Module):
    def __init__(self, norm, dropout, order):
        super().__init__()
        self.norm = norm
        self.share = dropout
        self.order = order

    def forward(self, x, sublayer):
        if self.order == "post":
            out = nn.functional.dropout(sublayer(x), self.share, self.training)
            return self.norm(out + x)
        out = nn.functional.dropout(sublayer(self.norm(x)), p=self.share, training=self.training)
        return out + x
""",
        "dropout by hand": """
class AddNorm(nn.Module):
    def __init__(self, norm, dropout, order):
        super().__init__()
        self.norm, self.p, self.order = norm, dropout, order

    def drop(self, out):
        if not self.training or self.p == 0:
            return out
        keep = torch.rand(out.shape) >= self.p
        return out * keep / (1 - self.p)

    def forward(self, x, sublayer):
        if self.order == "pre":
            return x + self.drop(sublayer(self.norm(x)))
        return self.norm(x + self.drop(sublayer(x)))
""",
        "identities": """
class AddNorm(nn.Module):
    def __init__(self, norm, dropout, order):
        super().__init__()
        self.norm = norm
        self.enter, self.leave = (norm, nn.Identity()) if order == "pre" else (nn.Identity(), norm)
        self.dropout = nn.Dropout(p=dropout)

    def forward(self, x, sublayer):
        return self.leave(torch.add(x, self.dropout(sublayer(self.enter(x)))))
""",
        "a function chosen at the start, Bernoulli": """
class AddNorm(nn.Module):
    def __init__(self, norm, dropout, order):
        super().__init__()
        self.norm, self.dropout = norm, dropout
        self.way = {"pre": self.before, "post": self.after}[order]

    def thin(self, out):
        if self.training:
            mask = torch.bernoulli(torch.full_like(out, 1 - self.dropout))
            out = out * mask / max(1 - self.dropout, 1e-9)
        return out

    def before(self, x, sublayer):
        return x + self.thin(sublayer(self.norm(x)))

    def after(self, x, sublayer):
        return self.norm(x + self.thin(sublayer(x)))

    def forward(self, x, sublayer):
        return self.way(x, sublayer)
""",
    },
    "encoder": {
        "named functions": """
class EncoderBlock(nn.Module):
    def __init__(self, attention, feed_forward, around):
        super().__init__()
        self.attention = attention
        self.feed_forward = feed_forward
        self.around = nn.ModuleList(around)

    def forward(self, x, src_mask=None):
        def look(h):
            out = self.attention(h, h, src_mask)
            return out

        first, second = self.around
        return second(first(x, look), self.feed_forward)
""",
        "other names": """
class EncoderBlock(nn.Module):
    def __init__(self, attention, feed_forward, around):
        super().__init__()
        self.mha, self.ffn = attention, feed_forward
        self.norm_1, self.norm_2 = around

    def forward(self, x, src_mask):
        x = self.norm_1(x, lambda y: self.mha(y, y, mask=src_mask))
        x = self.norm_2(x, lambda y: self.ffn(y))
        return x
""",
        "a method": """
class EncoderBlock(nn.Module):
    def __init__(self, attention, feed_forward, around):
        super().__init__()
        self.around = nn.ModuleList()
        for module in around:
            self.around.append(module)
        self.attention, self.feed_forward = attention, feed_forward

    def look(self, h):
        return self.attention(h, memory=h, mask=self.mask)

    def forward(self, x, src_mask):
        self.mask = src_mask
        return self.around[1](self.around[0](x, self.look), self.feed_forward)
""",
        "two halves of attention": """
class EncoderBlock(nn.Module):
    def __init__(self, attention, feed_forward, around):
        super().__init__()
        self.parts = nn.ModuleDict({"attention": attention, "feed_forward": feed_forward})
        self.around = nn.ModuleDict({str(i): module for i, module in enumerate(around)})

    def forward(self, x, src_mask):
        attention = self.parts["attention"]
        look = lambda h: attention.attend(h, *attention.keys_values(h), src_mask)
        for i, function in enumerate((look, self.parts["feed_forward"])):
            x = self.around[str(i)](x, function)
        return x
""",
        "a loop, a mask of all queries": """
class EncoderBlock(nn.Module):
    def __init__(self, attention, feed_forward, around):
        super().__init__()
        self.attention, self.feed_forward, self.around = attention, feed_forward, nn.Sequential(*around)

    def forward(self, x, src_mask):
        n = x.size(1)
        mask = None if src_mask is None else src_mask.expand(-1, -1, n, n)
        functions = [lambda h: self.attention(h, h, mask), self.feed_forward]
        for around, function in zip(self.around, functions):
            x = around(x, function)
        return x
""",
    },
    "decoder": {
        "named functions": """
class DecoderBlock(nn.Module):
    def __init__(self, self_attention, cross_attention, feed_forward, around):
        super().__init__()
        self.self_attention = self_attention
        self.cross_attention = cross_attention
        self.feed_forward = feed_forward
        self.around = nn.ModuleList(around)

    def forward(self, x, memory, tgt_mask=None, src_mask=None):
        def own(h):
            out = self.self_attention(h, h, tgt_mask)
            return out

        def source(h):
            out = self.cross_attention(h, memory, src_mask)
            return out

        for around, function in zip(self.around, (own, source, self.feed_forward)):
            x = around(x, function)
        return x
""",
        "other names": """
class DecoderBlock(nn.Module):
    def __init__(self, self_attention, cross_attention, feed_forward, around):
        super().__init__()
        self.a, self.b, self.c = self_attention, cross_attention, feed_forward
        self.n1, self.n2, self.n3 = around

    def forward(self, x, memory, tgt_mask, src_mask):
        y = self.n1(x, lambda h: self.a(h, h, mask=tgt_mask))
        z = self.n2(y, lambda h: self.b(x=h, memory=memory, mask=src_mask))
        return self.n3(z, lambda h: self.c(h))
""",
        "partial": """
from functools import partial


class DecoderBlock(nn.Module):
    def __init__(self, self_attention, cross_attention, feed_forward, around):
        super().__init__()
        self.self_attention, self.cross_attention = self_attention, cross_attention
        self.feed_forward, self.around = feed_forward, nn.Sequential(*around)

    def own(self, h, mask):
        return self.self_attention(h, h, mask)

    def cross(self, h, memory, mask):
        return self.cross_attention(h, memory, mask)

    def forward(self, x, memory, tgt_mask, src_mask):
        x = self.around[0](x, partial(self.own, mask=tgt_mask))
        x = self.around[1](x, partial(self.cross, memory=memory, mask=src_mask))
        return self.around[2](x, self.feed_forward)
""",
        "keys and values of the memory computed first": """
class DecoderBlock(nn.Module):
    def __init__(self, self_attention, cross_attention, feed_forward, around):
        super().__init__()
        self.self_attention, self.cross_attention = self_attention, cross_attention
        self.feed_forward, self.around = feed_forward, nn.ModuleList(around)

    def forward(self, x, memory, tgt_mask, src_mask):
        keys, values = self.cross_attention.keys_values(memory)
        x = self.around[0](x, lambda h: self.self_attention(h, h, tgt_mask))
        x = self.around[1](x, lambda h: self.cross_attention.attend(h, keys, values, src_mask))
        return self.around[2](x, self.feed_forward)
""",
        "masks never None": """
class DecoderBlock(nn.Module):
    def __init__(self, self_attention, cross_attention, feed_forward, around):
        super().__init__()
        self.attentions = nn.ModuleList([self_attention, cross_attention])
        self.feed_forward, self.around = feed_forward, nn.ModuleList(around)

    def forward(self, x, memory, tgt_mask, src_mask):
        everything = torch.ones(1, 1, 1, 1, dtype=torch.bool)
        tgt_mask = everything if tgt_mask is None else tgt_mask
        src_mask = everything if src_mask is None else src_mask
        x = self.around[0](x, lambda h: self.attentions[0](h, h, tgt_mask))
        x = self.around[1](x, lambda h: self.attentions[1](h, memory, src_mask))
        x = self.around[2](x, self.feed_forward)
        return x
""",
    },
    "stack": {
        "a loop, append": """
class Stack(nn.Module):
    def __init__(self, make_layer, n_layers, norm=None):
        super().__init__()
        self.layers = nn.ModuleList()
        for _ in range(n_layers):
            self.layers.append(make_layer())
        self.norm = norm

    def forward(self, x, *others):
        for layer in self.layers:
            x = layer(x, *others)
        if self.norm is not None:
            x = self.norm(x)
        return x
""",
        "identity for no norm": """
class Stack(nn.Module):
    def __init__(self, make_layer, n_layers, norm=None):
        super().__init__()
        self.layers = nn.ModuleList(make_layer() for _ in range(n_layers))
        self.norm = norm or nn.Identity()

    def forward(self, x, *others):
        for i in range(len(self.layers)):
            x = self.layers[i](x, *others)
        return self.norm(x)
""",
        "add_module": """
class Stack(nn.Module):
    def __init__(self, make_layer, n_layers, norm=None):
        super().__init__()
        self.n = n_layers
        for i in range(n_layers):
            self.add_module(f"layer_{i}", make_layer())
        self.end = nn.Identity() if norm is None else norm

    def forward(self, x, *others):
        for i in range(self.n):
            x = getattr(self, f"layer_{i}")(x, *others)
        return self.end(x)
""",
        "recursion": """
class Stack(nn.Module):
    def __init__(self, make_layer, n_layers, norm=None):
        super().__init__()
        self.first = make_layer()
        self.rest = Stack(make_layer, n_layers - 1, norm) if n_layers > 1 else None
        self.norm = norm if n_layers == 1 else None

    def forward(self, x, *others):
        x = self.first(x, *others)
        if self.rest is not None:
            return self.rest(x, *others)
        return x if self.norm is None else self.norm(x)
""",
        "reduce": """
from functools import reduce


class Stack(nn.Module):
    def __init__(self, make_layer, n_layers, norm=None):
        super().__init__()
        self.parts = nn.ModuleDict({str(i): make_layer() for i in range(n_layers)})
        self.register_module("norm", norm)

    def forward(self, x, *others):
        x = reduce(lambda h, layer: layer(h, *others), self.parts.values(), x)
        return self.norm(x) if self.norm else x
""",
    },
    "model": {
        "a method for both sides": """
class Model(nn.Module):
    def __init__(self, n_words, places, encoder, decoder):
        super().__init__()
        self.D = places.shape[1]
        self.encoder = encoder
        self.decoder = decoder
        self.table = nn.Embedding(n_words, self.D)
        self.output = nn.Linear(self.D, n_words)
        self.output.weight = self.table.weight
        self.places = places

    def embed(self, ids):
        return self.table(ids) * self.D**0.5 + self.places[: ids.size(1)]

    def forward(self, src, tgt_in):
        src_mask = nmt.padding_mask(src, pad=17)
        memory = self.encoder(self.embed(src), src_mask)
        return self.output(self.decoder(self.embed(tgt_in), memory, nmt.target_mask(tgt_in, pad=17), src_mask))
""",
        "masks by hand, F.embedding": """
class Model(nn.Module):
    def __init__(self, n_words, places, encoder, decoder):
        super().__init__()
        self.output = nn.Linear(places.size(1), n_words)
        self.table = nn.Embedding(n_words, places.size(1))
        self.table.weight = self.output.weight
        self.register_buffer("pe", places.clone(), persistent=False)
        self.encoder, self.decoder = encoder, decoder

    def forward(self, src, tgt_in):
        B, T = tgt_in.shape
        see_src = (src != 17).view(B, 1, 1, -1)
        later = torch.ones(T, T).triu(1) == 1
        see_tgt = ~later[None, None] & (tgt_in != 17)[:, None, None, :]
        vectors = [
            math.sqrt(self.pe.size(1)) * nn.functional.embedding(ids, self.table.weight) + self.pe[None, : ids.size(1)]
            for ids in (src, tgt_in)
        ]
        return self.output(self.decoder(vectors[1], self.encoder(vectors[0], see_src), see_tgt, see_src))
""",
        "an output layer of its own making": """
class TiedOutput(nn.Module):
    def __init__(self, n_words):
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(n_words))

    def forward(self, x, table):
        return torch.einsum("btd,vd->btv", x, table) + self.bias


class Model(nn.Module):
    def __init__(self, n_words, places, encoder, decoder):
        super().__init__()
        self.encoder, self.decoder = encoder, decoder
        self.table, self.output = nn.Embedding(n_words, places.size(-1)), TiedOutput(n_words)
        nn.init.normal_(self.table.weight, std=places.size(-1) ** -0.5)
        self.places = nn.Parameter(places, requires_grad=False)
        del self.places
        self.register_buffer("places", places)

    def forward(self, src, tgt_in):
        see_src, see_tgt = nmt.padding_mask(src, 17), nmt.padding_mask(tgt_in, 17) & nmt.causal_mask(tgt_in.size(1))
        x, y = (
            self.table.weight[ids] * math.sqrt(self.table.weight.size(1)) + self.places[torch.arange(ids.size(1))]
            for ids in (src, tgt_in)
        )
        memory = self.encoder(x, see_src)
        return self.output(self.decoder(y, memory, see_tgt, see_src), self.table.weight)
""",
        "three layers, one matrix": """
class Model(nn.Module):
    def __init__(self, n_words, places, encoder, decoder):
        super().__init__()
        D = places.size(1)
        self.table, self.tgt_table, self.output = nn.Embedding(n_words, D), nn.Embedding(n_words, D), nn.Linear(D, n_words)
        self.tgt_table.weight = self.output.weight = self.table.weight
        self.encoder, self.decoder, self.factor = encoder, decoder, D**0.5
        self.places = [place for place in places]

    def forward(self, src, tgt_in):
        src_mask = nmt.padding_mask(src, 17).repeat(1, 1, 1, 1)
        tgt_mask = torch.logical_and(nmt.padding_mask(tgt_in, 17), nmt.causal_mask(tgt_in.size(1)))
        x = self.table(src).mul(self.factor) + torch.stack(self.places[: src.size(1)])
        y = self.tgt_table(tgt_in).mul(self.factor) + torch.stack(self.places[: tgt_in.size(1)])
        memory = self.encoder(x, src_mask)
        return self.output(self.decoder(y, memory, tgt_mask, src_mask))
""",
        "square masks, padded queries hidden too": """
class Model(nn.Module):
    def __init__(self, n_words, places, encoder, decoder):
        super().__init__()
        d = places.size(1)
        self.table, self.bias_holder = nn.Embedding(n_words, d), None
        self.output = nn.Linear(d, n_words)
        self.output.weight = self.table.weight
        self.places, self.encoder, self.decoder = places, encoder, decoder
        self.scale = torch.tensor(float(d)).sqrt()

    def forward(self, src, tgt_in):
        s, t = src != 17, tgt_in != 17
        square = s[:, None, :, None] & s[:, None, None, :]
        cross = t[:, None, :, None] & s[:, None, None, :]
        own = (t[:, None, :, None] & t[:, None, None, :]).tril()
        x = torch.stack([self.table(src[:, i]) * self.scale + self.places[i] for i in range(src.size(1))], 1)
        y = torch.stack([self.table(tgt_in[:, i]) * self.scale + self.places[i] for i in range(tgt_in.size(1))], 1)
        last = self.decoder(y, self.encoder(x, square), own, cross)
        return nn.functional.linear(last, self.table.weight, self.output.bias)
""",
    },
    "count": {
        "written out": """
def count(d_model, d_ff, n_layers, n_words, order):
    attention = 4 * d_model**2 + d_model
    ffn = d_model * d_ff + d_ff * d_model + d_model
    encoder_layer = attention + ffn + 2 * 2 * d_model
    decoder_layer = 2 * attention + ffn + 3 * 2 * d_model
    total = n_layers * (encoder_layer + decoder_layer) + n_words * d_model + n_words
    if order == "pre":
        total += 2 * 2 * d_model
    return total
""",
        "made and counted": """
def count(d_model, d_ff, n_layers, n_words, order):
    shapes = []
    for attentions in (1, 2):
        for _ in range(n_layers):
            shapes += attentions * (4 * [(d_model, d_model)] + [(d_model,)])
            shapes += [(d_model, d_ff), (d_ff, d_model), (d_model,)]
            shapes += (attentions + 1) * 2 * [(d_model,)]
        shapes += 2 * [(d_model,)] if order == "pre" else []
    shapes += [(n_words, d_model), (n_words,)]
    return sum(math.prod(shape) for shape in shapes)
""",
        "modules on meta": """
def count(d_model, d_ff, n_layers, n_words, order):
    def size(n_in, n_out, bias):
        return sum(p.numel() for p in nn.Linear(n_in, n_out, bias=bias, device="meta").parameters())

    attention = size(d_model, d_model, True) + 3 * size(d_model, d_model, False)
    feed_forward = size(d_model, d_ff, False) + size(d_ff, d_model, True)
    norms = (5 * n_layers + (2 if order == "pre" else 0)) * 2 * d_model
    return n_layers * (3 * attention + 2 * feed_forward) + norms + size(d_model, n_words, True)
""",
        "a dictionary of pieces": """
def count(d_model, d_ff, n_layers, n_words, order):
    pieces = {
        "squares": (12 * d_model**2, n_layers),
        "biases of W_q": (3 * d_model, n_layers),
        "feed-forward": (4 * d_model * d_ff + 2 * d_model, n_layers),
        "norms": (2 * d_model, 5 * n_layers + 2 * (order == "pre")),
        "words": (d_model + 1, n_words),
    }
    return sum(size * times for size, times in pieces.values())
""",
        "one formula": """
def count(D, F, N, V, order):
    return N * (12 * D * D + 3 * D + 4 * D * F + 2 * D + 10 * D) + V * (D + 1) + {"pre": 4 * D, "post": 0}[order]
""",
    },
    "torch": {
        "line by line": """
def from_torch(state):
    D = state["norm1.weight"].size(0)
    w, b = state["self_attn.in_proj_weight"], state["self_attn.in_proj_bias"]
    return {
        "attention.W_q.weight": w[:D], "attention.W_q.bias": b[:D],
        "attention.W_k.weight": w[D : 2 * D], "attention.W_k.bias": b[D : 2 * D],
        "attention.W_v.weight": w[2 * D :], "attention.W_v.bias": b[2 * D :],
        "attention.W_o.weight": state["self_attn.out_proj.weight"],
        "attention.W_o.bias": state["self_attn.out_proj.bias"],
        "feed_forward.W_1.weight": state["linear1.weight"], "feed_forward.W_1.bias": state["linear1.bias"],
        "feed_forward.W_2.weight": state["linear2.weight"], "feed_forward.W_2.bias": state["linear2.bias"],
        "around.0.norm.norm_gain": state["norm1.weight"], "around.0.norm.norm_shift": state["norm1.bias"],
        "around.1.norm.norm_gain": state["norm2.weight"], "around.1.norm.norm_shift": state["norm2.bias"],
    }
""",
        "pops from a copy": """
def from_torch(state):
    left, mine = dict(state), {}
    for end in ("weight", "bias"):
        rows = left.pop("self_attn.in_proj_" + end)
        size = len(rows) // 3
        for i, letter in enumerate("qkv"):
            mine[f"attention.W_{letter}.{end}"] = rows[i * size : (i + 1) * size].clone()
    new = {"self_attn.out_proj": "attention.W_o", "linear1": "feed_forward.W_1", "linear2": "feed_forward.W_2"}
    for name, value in left.items():
        module, _, end = name.rpartition(".")
        if module in new:
            mine[f"{new[module]}.{end}"] = value
        else:
            mine[f"around.{int(module[-1]) - 1}.norm." + ("norm_gain" if end == "weight" else "norm_shift")] = value
    return mine
""",
        "replace in the names": """
def from_torch(state):
    mine = {}
    for name, value in state.items():
        if "in_proj" in name:
            for letter, part in zip("qkv", torch.chunk(value, 3, dim=0)):
                mine[name.replace("self_attn.in_proj_", f"attention.W_{letter}.")] = part
            continue
        for old, new in (("self_attn.out_proj", "attention.W_o"), ("linear", "feed_forward.W_"),
                         ("norm1.weight", "around.0.norm.norm_gain"), ("norm1.bias", "around.0.norm.norm_shift"),
                         ("norm2.weight", "around.1.norm.norm_gain"), ("norm2.bias", "around.1.norm.norm_shift")):
            name = name.replace(old, new)
        mine[name] = value
    return mine
""",
        "an ordered dictionary, split": """
from collections import OrderedDict


def from_torch(state):
    D = state["linear2.bias"].shape[0]
    mine = OrderedDict()
    for kind in ("weight", "bias"):
        mine.update(zip([f"attention.W_{x}.{kind}" for x in "qkv"], state[f"self_attn.in_proj_{kind}"].split(D)))
        for theirs, name in {"self_attn.out_proj": "attention.W_o", "linear1": "feed_forward.W_1",
                             "linear2": "feed_forward.W_2"}.items():
            mine[name + "." + kind] = state[theirs + "." + kind]
    for i in range(2):
        mine[f"around.{i}.norm.norm_gain"] = state[f"norm{i + 1}.weight"]
        mine[f"around.{i}.norm.norm_shift"] = state[f"norm{i + 1}.bias"]
    return mine
""",
        "unflatten": """
def from_torch(state):
    weights = state["self_attn.in_proj_weight"].unflatten(0, (3, -1))
    biases = state["self_attn.in_proj_bias"].view(3, -1)
    mine = {f"attention.W_{x}.weight": weights[i] for i, x in enumerate("qkv")}
    mine |= {f"attention.W_{x}.bias": biases[i] for i, x in enumerate("qkv")}
    pairs = [("attention.W_o", "self_attn.out_proj"), ("feed_forward.W_1", "linear1"), ("feed_forward.W_2", "linear2")]
    mine |= {f"{a}.{end}": state[f"{b}.{end}"] for a, b in pairs for end in ("weight", "bias")}
    for i, norm in enumerate(("norm1", "norm2")):
        mine |= {f"around.{i}.norm.norm_gain": state[norm + ".weight"]}
        mine |= {f"around.{i}.norm.norm_shift": state[norm + ".bias"]}
    return mine
""",
    },
}

NORM = ["norm-numbers", "norm-trained"]
SUM = ["sum-order", "sum-dropout"]
DECODER = ["decoder-reads", "decoder-masks"]
MODEL = ["model-embedding", "model-masks"]
MIDDLE = "x - x.mean(dim=-1, keepdim=True)"
VARIANCE = "(middle**2).mean(dim=-1, keepdim=True)"
ROOT = "(variance + 0.03).sqrt()"
GAIN = "self.norm_gain = nn.Parameter(torch.ones(d_model))"
SHIFT = "self.norm_shift = nn.Parameter(torch.zeros(d_model))"
POST = "self.norm(x + self.dropout(sublayer(x)))"
PRE = "x + self.dropout(sublayer(self.norm(x)))"
OWN = "lambda h: self.self_attention(h, h, tgt_mask)"
CROSS = "lambda h: self.cross_attention(h, memory, src_mask)"
TIED = "        self.output.weight = self.table.weight\n"

WRONG = {
    "one dropout mask for all sentences": Wrong(
        "sum",
        ["sum-dropout"],
        edits={
            "self.dropout = nn.Dropout(dropout)": "self.drop = nn.Dropout(dropout)",
            "    def forward": "    def dropout(self, x):\n        return x * self.drop(torch.ones_like(x[:1]))\n\n    def forward",
        },
    ),
    "one dropout mask for all places": Wrong(
        "sum",
        ["sum-dropout"],
        edits={
            "self.dropout = nn.Dropout(dropout)": "self.drop = nn.Dropout(dropout)",
            "    def forward": "    def dropout(self, x):\n        return x * self.drop(torch.ones_like(x[:, :1]))\n\n    def forward",
        },
    ),
    # the norm
    "LN: unbiased variance": Wrong(
        "norm", ["norm-numbers"], edits={VARIANCE: "x.var(dim=-1, keepdim=True)"}
    ),
    "LN: ε outside the root": Wrong(
        "norm", ["norm-numbers"], edits={ROOT: "(variance.sqrt() + 0.03)"}
    ),
    "LN: unbiased std + ε (write-ups B and D)": Wrong(
        "norm", ["norm-numbers"], edits={ROOT: "(x.std(dim=-1, keepdim=True) + 0.03)"}
    ),
    "LN: ε of PyTorch": Wrong(
        "norm", ["norm-numbers"], edits={"variance + 0.03": "variance + 1e-5"}
    ),
    "LN: ε forgotten": Wrong(
        "norm", ["norm-numbers"], edits={"variance + 0.03": "variance"}
    ),
    "LN: ε squared": Wrong(
        "norm", ["norm-numbers"], edits={"variance + 0.03": "variance + 0.03**2"}
    ),
    "LN: root forgotten": Wrong(
        "norm", ["norm-numbers"], edits={ROOT: "(variance + 0.03)"}
    ),
    "LN: mean not subtracted": Wrong(
        "norm", ["norm-numbers"], edits={"normed = middle": "normed = x"}
    ),
    "LN: not divided": Wrong("norm", ["norm-numbers"], edits={f" / {ROOT}": ""}),
    "LN: along the places": Wrong(
        "norm",
        ["norm-numbers"],
        edits={
            MIDDLE: "x - x.mean(dim=1, keepdim=True)",
            VARIANCE: "(middle**2).mean(dim=1, keepdim=True)",
        },
    ),
    "LN: along the sentences (batch norm)": Wrong(
        "norm",
        ["norm-numbers"],
        edits={
            MIDDLE: "x - x.mean(dim=0, keepdim=True)",
            VARIANCE: "(middle**2).mean(dim=0, keepdim=True)",
        },
    ),
    "LN: over places and columns": Wrong(
        "norm",
        ["norm-numbers"],
        edits={
            MIDDLE: "x - x.mean(dim=(1, 2), keepdim=True)",
            VARIANCE: "(middle**2).mean(dim=(1, 2), keepdim=True)",
        },
    ),
    "LN: one mean for all": Wrong(
        "norm", ["norm-numbers"], edits={MIDDLE: "x - x.mean()", VARIANCE: "x.var()"}
    ),
    "LN made in forward (write-up E)": Wrong(
        "norm",
        ["norm-trained"],
        code="""
class Norm(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.d_model = d_model

    def forward(self, x):
        self.gain, self.shift = torch.ones(self.d_model), torch.zeros(self.d_model)
        middle = x - x.mean(dim=-1, keepdim=True)
        return self.gain * middle / ((middle**2).mean(dim=-1, keepdim=True) + 0.03).sqrt() + self.shift
""",
    ),
    "LN: parameters made anew in forward": Wrong(
        "norm",
        ["norm-trained"],
        edits={
            "        middle =": "        self.norm_gain = nn.Parameter(torch.ones(x.size(-1)))\n"
            "        self.norm_shift = nn.Parameter(torch.zeros(x.size(-1)))\n        middle ="
        },
    ),
    "LN: no gain and no shift": Wrong(
        "norm",
        ["norm-trained"],
        edits={
            GAIN: "pass",
            SHIFT: "pass",
            "self.norm_gain * normed + self.norm_shift": "normed",
        },
    ),
    "LN: gain and shift not used": Wrong(
        "norm",
        ["norm-trained"],
        edits={"self.norm_gain * normed + self.norm_shift": "normed"},
    ),
    "LN: shift before gain": Wrong(
        "norm",
        ["norm-trained"],
        edits={
            "self.norm_gain * normed + self.norm_shift": "self.norm_gain * (normed + self.norm_shift)"
        },
    ),
    "LN: one gain for all columns": Wrong(
        "norm", ["norm-trained"], edits={"torch.ones(d_model)": "torch.ones(1)"}
    ),
    "LN: random gain": Wrong(
        "norm", NORM, edits={"torch.ones(d_model)": "torch.randn(d_model)"}
    ),
    "LN: gain starts at 0": Wrong(
        "norm", NORM, edits={"torch.ones(d_model)": "torch.zeros(d_model)"}
    ),
    "LN: plain tensors": Wrong(
        "norm",
        ["norm-trained"],
        edits={
            GAIN: "self.norm_gain = torch.ones(d_model)",
            SHIFT: "self.norm_shift = torch.zeros(d_model)",
        },
    ),
    "LN: buffers": Wrong(
        "norm",
        ["norm-trained"],
        edits={
            GAIN: 'self.register_buffer("norm_gain", torch.ones(d_model))',
            SHIFT: 'self.register_buffer("norm_shift", torch.zeros(d_model))',
        },
    ),
    "LN: variance without gradient": Wrong(
        "norm", ["norm-trained"], edits={ROOT: "(variance + 0.03).sqrt().detach()"}
    ),
    "LN: gain without gradient": Wrong(
        "norm",
        ["norm-trained"],
        edits={"self.norm_gain * normed": "self.norm_gain.data * normed"},
    ),
    "LN: another name": Wrong(
        "norm",
        ["norm-trained"],
        edits={
            GAIN: GAIN.replace("norm_gain", "weight"),
            "self.norm_gain *": "self.weight *",
        },
    ),
    "LN: PyTorch's own": Wrong(
        "norm",
        NORM,
        code="class Norm(nn.Module):\n    def __init__(self, d_model):\n        super().__init__()\n"
        "        self.norm = nn.LayerNorm(d_model, eps=0.03)\n        self.norm_gain = self.norm.weight\n"
        "        self.norm_shift = self.norm.bias\n\n    def forward(self, x):\n        return self.norm(x)",
    ),
    "LN: PyTorch's function": Wrong(
        "norm",
        NORM,
        edits={
            "self.norm_gain * normed + self.norm_shift": "nn.functional.layer_norm("
            "x, x.shape[-1:], self.norm_gain, self.norm_shift, 0.03)"
        },
    ),
    # the feed-forward network
    "no activation": Wrong(
        "ffn", ["ffn-numbers"], edits={"nn.functional.silu(self.W_1(x))": "self.W_1(x)"}
    ),
    "relu": Wrong(
        "ffn", ["ffn-numbers"], edits={"nn.functional.silu": "nn.functional.relu"}
    ),
    "activation last": Wrong(
        "ffn",
        ["ffn-numbers"],
        edits={
            "self.W_2(nn.functional.silu(self.W_1(x)))": "nn.functional.silu(self.W_2(self.W_1(x)))"
        },
    ),
    "activation first": Wrong(
        "ffn",
        ["ffn-numbers"],
        edits={"nn.functional.silu(self.W_1(x))": "self.W_1(nn.functional.silu(x))"},
    ),
    "activation twice": Wrong(
        "ffn",
        ["ffn-numbers"],
        edits={
            "self.W_2(nn.functional.silu(self.W_1(x)))": "nn.functional.silu(self.W_2(nn.functional.silu(self.W_1(x))))"
        },
    ),
    "d_ff ignored": Wrong(
        "ffn",
        ["ffn-numbers"],
        edits={
            "nn.Linear(d_model, d_ff)": "nn.Linear(d_model, 4 * d_model)",
            "nn.Linear(d_ff, d_model)": "nn.Linear(4 * d_model, d_model)",
        },
    ),
    "no biases in the FFN": Wrong(
        "ffn",
        ["ffn-numbers"],
        edits={
            "nn.Linear(d_model, d_ff)": "nn.Linear(d_model, d_ff, bias=False)",
            "nn.Linear(d_ff, d_model)": "nn.Linear(d_ff, d_model, bias=False)",
        },
    ),
    "residual in the FFN too": Wrong(
        "ffn", ["ffn-numbers"], edits={"return self.W_2": "return x + self.W_2"}
    ),
    # sum and norm
    "post: residual forgotten": Wrong(
        "sum", SUM, edits={POST: "self.norm(self.dropout(sublayer(x)))"}
    ),
    "pre: residual forgotten": Wrong(
        "sum", SUM, edits={PRE: "self.dropout(sublayer(self.norm(x)))"}
    ),
    "post: norm of the sub-layer only": Wrong(
        "sum", ["sum-order"], edits={POST: "x + self.norm(self.dropout(sublayer(x)))"}
    ),
    "post: norm of x only": Wrong(
        "sum", ["sum-order"], edits={POST: "self.norm(x) + self.dropout(sublayer(x))"}
    ),
    "pre: the norm is added": Wrong(
        "sum",
        ["sum-order"],
        edits={PRE: "self.norm(x) + self.dropout(sublayer(self.norm(x)))"},
    ),
    "pre: norm behind the sub-layer": Wrong(
        "sum", ["sum-order"], edits={PRE: "x + self.norm(self.dropout(sublayer(x)))"}
    ),
    "pre and post swapped": Wrong(
        "sum", ["sum-order"], edits={'self.order == "pre"': 'self.order == "post"'}
    ),
    "always post": Wrong("sum", ["sum-order"], edits={'self.order == "pre"': "False"}),
    "always pre": Wrong("sum", ["sum-order"], edits={'self.order == "pre"': "True"}),
    "norm before and behind": Wrong(
        "sum", ["sum-order"], edits={PRE: f"self.norm({PRE})"}
    ),
    "no norm": Wrong(
        "sum", ["sum-order"], edits={POST: "x + self.dropout(sublayer(x))"}
    ),
    "norm in a list": Wrong(
        "sum",
        ["sum-order"],
        edits={
            "self.norm, self.order = norm, order": "self.kept, self.order = [norm], order",
            POST: "self.kept[0](x + self.dropout(sublayer(x)))",
            PRE: "x + self.dropout(sublayer(self.kept[0](x)))",
        },
    ),
    "a norm of its own": Wrong(
        "sum",
        ["sum-order"],
        edits={
            "self.norm, self.order = norm, order": "self.norm, self.order = nn.Identity(), order"
        },
    ),
    "no dropout (write-up D)": Wrong(
        "sum", ["sum-dropout"], edits={"nn.Dropout(dropout)": "nn.Identity()"}
    ),
    "dropout 0.1 whatever is said": Wrong(
        "sum", ["sum-dropout"], edits={"nn.Dropout(dropout)": "nn.Dropout(0.1)"}
    ),
    "share kept for share dropped": Wrong(
        "sum", ["sum-dropout"], edits={"nn.Dropout(dropout)": "nn.Dropout(1 - dropout)"}
    ),
    "dropout on the sum": Wrong(
        "sum", ["sum-dropout"], edits={POST: "self.norm(self.dropout(x + sublayer(x)))"}
    ),
    "dropout on x": Wrong(
        "sum", ["sum-dropout"], edits={POST: "self.norm(self.dropout(x) + sublayer(x))"}
    ),
    "pre: dropout on what the sub-layer reads": Wrong(
        "sum", ["sum-dropout"], edits={PRE: "x + sublayer(self.dropout(self.norm(x)))"}
    ),
    "pre: no dropout": Wrong(
        "sum", ["sum-dropout"], edits={PRE: "x + sublayer(self.norm(x))"}
    ),
    "dropout active in eval": Wrong(
        "sum",
        ["sum-dropout"],
        edits={
            "self.dropout = nn.Dropout(dropout)": "self.dropout = lambda out: nn.functional.dropout(out, dropout)",
        },
    ),
    "dropout without the factor": Wrong(
        "sum",
        ["sum-dropout"],
        edits={
            "self.dropout = nn.Dropout(dropout)": "self.dropout = lambda out: "
            "out * (torch.rand(out.shape) >= dropout) if self.training else out"
        },
    ),
    # the encoder layer
    "one feed-forward, no attention": Wrong(
        "encoder",
        ["encoder-layer"],
        edits={"lambda h: self.attention(h, h, src_mask)": "self.feed_forward"},
    ),
    "encoder: mask not passed on": Wrong(
        "encoder", ["encoder-layer"], edits={"(h, h, src_mask)": "(h, h)"}
    ),
    "encoder: x read past the norm": Wrong(
        "encoder", ["encoder-layer"], edits={"(h, h, src_mask)": "(x, x, src_mask)"}
    ),
    "encoder: keys read past the norm": Wrong(
        "encoder", ["encoder-layer"], edits={"(h, h, src_mask)": "(h, x, src_mask)"}
    ),
    "encoder: no residual around attention": Wrong(
        "encoder",
        ["encoder-layer"],
        edits={
            "self.around[0](x, lambda h: self.attention(h, h, src_mask))": "self.attention(x, x, src_mask)"
        },
    ),
    "encoder: no residual around the FFN": Wrong(
        "encoder",
        ["encoder-layer"],
        edits={"self.around[1](x, self.feed_forward)": "self.feed_forward(x)"},
    ),
    "encoder: one norm for both": Wrong(
        "encoder", ["encoder-layer"], edits={"self.around[1]": "self.around[0]"}
    ),
    "encoder: norms swapped": Wrong(
        "encoder",
        ["encoder-layer"],
        edits={
            "self.around[0]": "self.around[-1]",
            "self.around[1]": "self.around[-2]",
        },
    ),
    "encoder: FFN first": Wrong(
        "encoder",
        ["encoder-layer"],
        edits={
            "self.around[0](x, lambda h: self.attention(h, h, src_mask))": "self.around[0](x, self.feed_forward)",
            "self.around[1](x, self.feed_forward)": "self.around[1](x, lambda h: self.attention(h, h, src_mask))",
        },
    ),
    "encoder: result not kept": Wrong(
        "encoder",
        ["encoder-layer"],
        edits={"        x = self.around[0]": "        y = self.around[0]"},
    ),
    "encoder: the first sentence alone": Wrong(
        "encoder", ["encoder-layer"], edits={"(h, h, src_mask)": "(h, h, src_mask)[0]"}
    ),
    "encoder: gives x and weights": Wrong(
        "encoder",
        ["encoder-layer"],
        edits={
            "return self.around[1](x, self.feed_forward)": "return self.around[1](x, self.feed_forward), None"
        },
    ),
    "encoder: a Python list": Wrong(
        "encoder", ["encoder-layer"], edits={"nn.ModuleList(around)": "list(around)"}
    ),
    # the decoder layer
    "cross-attention reads the decoder": Wrong(
        "decoder", DECODER, edits={"(h, memory, src_mask)": "(h, h, src_mask)"}
    ),
    "memory asks, the decoder answers": Wrong(
        "decoder", DECODER, edits={"(h, memory, src_mask)": "(memory, h, src_mask)"}
    ),
    "self-attention reads the memory": Wrong(
        "decoder", DECODER, edits={"(h, h, tgt_mask)": "(h, memory, tgt_mask)"}
    ),
    "values of x: read past the norm": Wrong(
        "decoder", ["decoder-reads"], edits={"(h, h, tgt_mask)": "(x, x, tgt_mask)"}
    ),
    "decoder: queries read past the norm": Wrong(
        "decoder",
        ["decoder-reads"],
        edits={
            f"self.around[1](x, {CROSS})": "self.around[1](x, lambda h: self.cross_attention(x, memory, src_mask))"
        },
    ),
    "the memory is normed too": Wrong(
        "decoder",
        ["decoder-reads"],
        edits={
            "(h, memory, src_mask)": "(h, nn.functional.normalize(memory, dim=-1), src_mask)"
        },
    ),
    "cross-attention first": Wrong(
        "decoder",
        ["decoder-reads"],
        edits={
            f"self.around[0](x, {OWN})": f"self.around[0](x, {CROSS})",
            f"self.around[1](x, {CROSS})": f"self.around[1](x, {OWN})",
        },
    ),
    "one attention for both": Wrong(
        "decoder",
        ["decoder-reads"],
        edits={"self.cross_attention(h": "self.self_attention(h"},
    ),
    "decoder: attentions swapped": Wrong(
        "decoder",
        ["decoder-reads"],
        edits={
            "self.self_attention, self.cross_attention = self": "self.cross_attention, self.self_attention = self"
        },
    ),
    "decoder: cross-attention left out": Wrong(
        "decoder", DECODER, edits={f"        x = self.around[1](x, {CROSS})\n": ""}
    ),
    "decoder: FFN left out": Wrong(
        "decoder",
        ["decoder-reads"],
        edits={"self.around[2](x, self.feed_forward)": "x"},
    ),
    "decoder: no residual around cross-attention": Wrong(
        "decoder",
        ["decoder-reads"],
        edits={
            f"self.around[1](x, {CROSS})": "self.cross_attention(x, memory, src_mask)"
        },
    ),
    "decoder: one norm for all": Wrong(
        "decoder",
        ["decoder-reads"],
        edits={"self.around[1]": "self.around[0]", "self.around[2]": "self.around[0]"},
    ),
    "decoder: a Python list": Wrong(
        "decoder", DECODER, edits={"nn.ModuleList(around)": "around"}
    ),
    "causal mask lost": Wrong(
        "decoder", ["decoder-masks"], edits={"(h, h, tgt_mask)": "(h, h)"}
    ),
    "source mask lost": Wrong(
        "decoder", ["decoder-masks"], edits={"(h, memory, src_mask)": "(h, memory)"}
    ),
    "masks swapped": Wrong(
        "decoder",
        ["decoder-masks"],
        edits={
            "(h, h, tgt_mask)": "(h, h, src_mask)",
            "(h, memory, src_mask)": "(h, memory, tgt_mask)",
        },
    ),
    "target mask for both": Wrong(
        "decoder",
        ["decoder-masks"],
        edits={"(h, memory, src_mask)": "(h, memory, tgt_mask)"},
    ),
    "source mask for both": Wrong(
        "decoder", ["decoder-masks"], edits={"(h, h, tgt_mask)": "(h, h, src_mask)"}
    ),
    "mask the wrong way round": Wrong(
        "decoder",
        ["decoder-masks"],
        edits={"(h, h, tgt_mask)": "(h, h, None if tgt_mask is None else ~tgt_mask)"},
    ),
    "a future of one place": Wrong(
        "decoder",
        ["decoder-masks"],
        edits={
            "(h, h, tgt_mask)": "(h, h, None if tgt_mask is None else tgt_mask | tgt_mask.roll(1, -1).tril(1))"
        },
    ),
    # the stack
    "one layer N times": Wrong(
        "stack",
        ["stack-layers"],
        edits={"[make_layer() for _ in range(n_layers)]": "[make_layer()] * n_layers"},
    ),
    "one layer in a loop": Wrong(
        "stack",
        ["stack-layers"],
        edits={
            "nn.ModuleList([make_layer() for _ in range(n_layers)])": "make_layer()\n        self.n_layers = n_layers",
            "for layer in self.layers:": "for _ in range(self.n_layers):",
            "layer(x, *others)": "self.layers(x, *others)",
        },
    ),
    "copies of one layer": Wrong(
        "stack",
        ["stack-layers"],
        edits={
            "nn.ModuleList([make_layer() for _ in range(n_layers)])": "nn.ModuleList()\n        import copy\n"
            "        one = make_layer()\n        self.layers.extend(copy.deepcopy(one) for _ in range(n_layers))"
        },
    ),
    "layers in a Python list": Wrong(
        "stack",
        ["stack-layers"],
        edits={
            "nn.ModuleList([make_layer() for _ in range(n_layers)])": "[make_layer() for _ in range(n_layers)]"
        },
    ),
    "one layer too few": Wrong(
        "stack", ["stack-layers"], edits={"range(n_layers)": "range(n_layers - 1)"}
    ),
    "the makers, not the layers": Wrong(
        "stack", ["stack-layers"], edits={"make_layer() for": "make_layer for"}
    ),
    "each layer reads the first x": Wrong(
        "stack",
        ["stack-layers"],
        edits={
            "x = layer(x, *others)": "y = layer(x, *others)",
            "return x if self.norm is None else self.norm(x)": "return y if self.norm is None else self.norm(y)",
        },
    ),
    "return in the loop": Wrong(
        "stack",
        ["stack-layers"],
        edits={"        return x if": "            return x if"},
    ),
    "last layer first": Wrong(
        "stack",
        ["stack-layers"],
        edits={"in self.layers:": "in reversed(self.layers):"},
    ),
    "masks not passed on": Wrong(
        "stack", ["stack-layers"], edits={"layer(x, *others)": "layer(x)"}
    ),
    "only the first mask passed on": Wrong(
        "stack", ["stack-layers"], edits={"layer(x, *others)": "layer(x, *others[:1])"}
    ),
    "final norm missing": Wrong(
        "stack",
        ["stack-layers"],
        edits={"x if self.norm is None else self.norm(x)": "x"},
    ),
    "norm behind each layer": Wrong(
        "stack",
        ["stack-layers"],
        edits={
            "x = layer(x, *others)": "x = layer(x, *others) if self.norm is None else self.norm(layer(x, *others))",
            "x if self.norm is None else self.norm(x)": "x",
        },
    ),
    "norm first": Wrong(
        "stack",
        ["stack-layers"],
        edits={
            "        for layer": "        x = x if self.norm is None else self.norm(x)\n        for layer",
            "return x if self.norm is None else self.norm(x)": "return x",
        },
    ),
    # the model
    "no √d_model": Wrong(
        "model",
        ["model-embedding"],
        edits={"math.sqrt(self.table.embedding_dim)": "1.0"},
    ),
    "divided by √d_model": Wrong(
        "model",
        ["model-embedding"],
        edits={
            "math.sqrt(self.table.embedding_dim)": "1 / math.sqrt(self.table.embedding_dim)"
        },
    ),
    "times d_model": Wrong(
        "model",
        ["model-embedding"],
        edits={"math.sqrt(self.table.embedding_dim)": "self.table.embedding_dim"},
    ),
    "√d_model on the source only": Wrong(
        "model", ["model-embedding"], edits={"y = factor * ": "y = "}
    ),
    "places scaled too": Wrong(
        "model",
        ["model-embedding"],
        edits={
            "factor * self.table(src) + self.places[: src.size(1)]": "factor * (self.table(src) + self.places[: src.size(1)])"
        },
    ),
    "no places": Wrong(
        "model",
        ["model-embedding"],
        edits={
            " + self.places[: src.size(1)]": "",
            " + self.places[: tgt_in.size(1)]": "",
        },
    ),
    "no places in the target": Wrong(
        "model", ["model-embedding"], edits={" + self.places[: tgt_in.size(1)]": ""}
    ),
    "places counted from 1": Wrong(
        "model",
        ["model-embedding"],
        edits={"self.places[: src.size(1)]": "self.places[1 : src.size(1) + 1]"},
    ),
    "places by id": Wrong(
        "model",
        ["model-embedding"],
        edits={"self.places[: src.size(1)]": "self.places[src % len(self.places)]"},
    ),
    "pad is 0": Wrong(
        "model",
        ["model-masks"],
        edits={
            "nmt.padding_mask(src, 17)": "nmt.padding_mask(src)",
            "nmt.target_mask(tgt_in, 17)": "nmt.target_mask(tgt_in)",
        },
    ),
    "future leak: no causal mask": Wrong(
        "model",
        ["model-masks"],
        edits={"nmt.target_mask(tgt_in, 17)": "nmt.padding_mask(tgt_in, 17)"},
    ),
    "padding of the target seen": Wrong(
        "model",
        ["model-masks"],
        edits={"nmt.target_mask(tgt_in, 17)": "nmt.causal_mask(tgt_in.size(1))"},
    ),
    "masks inverted": Wrong(
        "model",
        ["model-masks"],
        edits={
            "nmt.padding_mask(src, 17)": "~nmt.padding_mask(src, 17)",
            "nmt.target_mask(tgt_in, 17)": "~nmt.target_mask(tgt_in, 17)",
        },
    ),
    "causal mask in the encoder": Wrong(
        "model",
        ["model-masks"],
        edits={"nmt.padding_mask(src, 17)": "nmt.target_mask(src, 17)"},
    ),
    "source mask made of the target": Wrong(
        "model",
        ["model-masks"],
        edits={"nmt.padding_mask(src, 17)": "nmt.padding_mask(tgt_in, 17)"},
    ),
    "encoder without a mask": Wrong(
        "model",
        ["model-masks"],
        edits={"self.encoder(x, src_mask)": "self.encoder(x, None)"},
    ),
    "cross-attention without a mask": Wrong(
        "model",
        ["model-masks"],
        edits={"(y, memory, tgt_mask, src_mask)": "(y, memory, tgt_mask, None)"},
    ),
    "the decoder's masks swapped": Wrong(
        "model",
        ["model-masks"],
        edits={"(y, memory, tgt_mask, src_mask)": "(y, memory, src_mask, tgt_mask)"},
    ),
    "the source itself for the memory": Wrong(
        "model",
        ["model-masks"],
        edits={"(y, memory, tgt_mask, src_mask)": "(y, x, tgt_mask, src_mask)"},
    ),
    "float masks": Wrong(
        "model",
        ["model-masks"],
        edits={"nmt.padding_mask(src, 17)": "nmt.padding_mask(src, 17).float()"},
    ),
    "not tied": Wrong("model", ["model-output"], edits={TIED: ""}),
    "tied by copying": Wrong(
        "model",
        ["model-output"],
        edits={
            TIED: "        self.output.weight.data = self.table.weight.data.clone()\n"
        },
    ),
    "tied by a new parameter": Wrong(
        "model",
        ["model-output"],
        edits={
            TIED: "        self.output.weight = nn.Parameter(self.table.weight.detach())\n"
        },
    ),
    "two tables": Wrong(
        "model",
        ["model-embedding", "model-output"],
        edits={
            "self.table = nn.Embedding(n_words, d_model)": "self.table, self.src = nn.Embedding(n_words, d_model), nn.Embedding(n_words, d_model)",
            "self.table(src)": "self.src(src)",
        },
    ),
    "no bias in the output layer": Wrong(
        "model",
        ["model-output"],
        edits={
            "nn.Linear(d_model, n_words)": "nn.Linear(d_model, n_words, bias=False)"
        },
    ),
    "softmax in the model": Wrong(
        "model",
        ["model-output"],
        edits={"tgt_mask, src_mask))": "tgt_mask, src_mask)).softmax(-1)"},
    ),
    "log-softmax in the model (write-up A)": Wrong(
        "model",
        ["model-output"],
        edits={"tgt_mask, src_mask))": "tgt_mask, src_mask)).log_softmax(-1)"},
    ),
    "only the last place": Wrong(
        "model",
        ["model-output"],
        edits={"tgt_mask, src_mask))": "tgt_mask, src_mask))[:, -1]"},
    ),
    "the most likely word": Wrong(
        "model",
        ["model-output"],
        edits={"tgt_mask, src_mask))": "tgt_mask, src_mask)).argmax(-1)"},
    ),
    "logits scaled": Wrong(
        "model",
        ["model-output"],
        edits={"self.output(self.decoder": "factor * self.output(self.decoder"},
    ),
    "places are trained": Wrong(
        "model",
        ["model-output"],
        edits={
            'self.register_buffer("places", places)': "self.places = nn.Parameter(places)"
        },
    ),
    "encoder and decoder not registered": Wrong(
        "model",
        ["model-output"],
        edits={
            "self.encoder, self.decoder = encoder, decoder": "self.both = [encoder, decoder]",
            "self.encoder(x": "self.both[0](x",
            "self.decoder(y": "self.both[1](y",
        },
    ),
    "target and source swapped": Wrong(
        "model",
        MODEL,
        edits={
            "    def forward(self, src, tgt_in):": "    def forward(self, tgt_in, src):"
        },
    ),
    # the count
    "cross-attention not counted": Wrong(
        "count", ["count-numbers"], edits={"3 * attention": "2 * attention"}
    ),
    "table counted twice": Wrong(
        "count", ["count-numbers"], edits={"return n_words": "return 2 * n_words"}
    ),
    "table counted three times": Wrong(
        "count", ["count-numbers"], edits={"return n_words": "return 3 * n_words"}
    ),
    "no norms behind the stacks": Wrong(
        "count", ["count-numbers"], edits={"2 * norm if": "0 if"}
    ),
    "norms behind the stacks always": Wrong(
        "count",
        ["count-numbers"],
        edits={'2 * norm if order == "pre" else 0': "2 * norm"},
    ),
    "norm without shift": Wrong(
        "count",
        ["count-numbers"],
        edits={
            "norm = d_model * d_model, 2 * d_model": "norm = d_model * d_model, d_model"
        },
    ),
    "two norms in a decoder layer": Wrong(
        "count", ["count-numbers"], edits={"5 * norm": "4 * norm"}
    ),
    "all biases": Wrong(
        "count",
        ["count-numbers"],
        edits={'"W_q, W_2 and output"': '"W_q W_k W_v W_o W_1 W_2 output"'},
    ),
    "no biases": Wrong(
        "count", ["count-numbers"], edits={'"W_q, W_2 and output"': '""'}
    ),
    "output bias not counted": Wrong(
        "count", ["count-numbers"], edits={' + n_words * ("output" in biased)': ""}
    ),
    "biases of W_2 as wide as d_ff": Wrong(
        "count", ["count-numbers"], edits={'d_model * ("W_2"': 'd_ff * ("W_2"'}
    ),
    "encoder only": Wrong(
        "count",
        ["count-numbers"],
        edits={"3 * attention + 2 * feed_forward + 5": "attention + feed_forward + 2"},
    ),
    # PyTorch's weights
    "k and v swapped": Wrong(
        "torch",
        ["torch-names"],
        edits={'("W_q", "W_k", "W_v")': '("W_q", "W_v", "W_k")'},
    ),
    "columns for rows": Wrong(
        "torch", ["torch-names"], edits={".chunk(3)": ".chunk(3, -1)"}
    ),
    "weights transposed": Wrong(
        "torch", ["torch-names"], edits={"= value": "= value.T"}
    ),
    "W_o transposed": Wrong(
        "torch",
        ["torch-names"],
        edits={
            'state[f"self_attn.out_proj.{kind}"]': 'state[f"self_attn.out_proj.{kind}"].T'
        },
    ),
    "norms swapped": Wrong(
        "torch", ["torch-names"], edits={"around.{i - 1}": "around.{2 - i}"}
    ),
    "gain and shift swapped": Wrong(
        "torch",
        ["torch-names"],
        edits={
            '"weight": "norm_gain", "bias": "norm_shift"': '"bias": "norm_gain", "weight": "norm_shift"'
        },
    ),
    "norms under PyTorch's names": Wrong(
        "torch", ["torch-names"], edits={"norm.{name}": "norm.{kind}"}
    ),
    "W_1 and W_2 swapped": Wrong(
        "torch", ["torch-names"], edits={"feed_forward.W_{i}": "feed_forward.W_{3 - i}"}
    ),
    "PyTorch's names kept too": Wrong(
        "torch", ["torch-names"], edits={"mine = {}": "mine = dict(state)"}
    ),
    "biases forgotten": Wrong(
        "torch",
        ["torch-names"],
        edits={'for kind in ("weight", "bias"):': 'for kind in ("weight",):'},
    ),
}

WRONG |= {
    # sizes, numbers of any size, gradients, state, arguments, PyTorch's own operators
    "norm: mean of squares less square of the mean": Wrong(
        "norm",
        ["norm-numbers"],
        edits={
            "(middle**2).mean(dim=-1, keepdim=True)": "(x**2).mean(dim=-1, keepdim=True) - x.mean(dim=-1, keepdim=True) ** 2"
        },
    ),
    "norm: the first mean kept": Wrong(
        "norm",
        ["norm-numbers", "norm-trained"],
        edits={
            "middle = x - x.mean(dim=-1, keepdim=True)": "self.mean = getattr(self, 'mean', x.detach().mean(dim=-1, keepdim=True))\n        mean = x.mean(dim=-1, keepdim=True)\n        middle = x - (self.mean if self.mean.shape == mean.shape and not x.requires_grad else mean)"
        },
    ),
    "norm: another one after eval()": Wrong(
        "norm",
        ["norm-numbers"],
        edits={
            "middle = x - x.mean(dim=-1, keepdim=True)": "middle = x - x.mean(dim=-1, keepdim=True) * self.training"
        },
    ),
    "norm: gain of all norms in one place": Wrong(
        "norm",
        ["norm-trained"],
        edits={
            "super().__init__()": "super().__init__()\n        self.made = Norm.made = getattr(Norm, 'made', {})",
            "nn.Parameter(torch.ones(d_model))": "self.made.setdefault(d_model, nn.Parameter(torch.ones(d_model)))",
            "variance = (": "self.made.setdefault(-1, x.shape)\n        variance = (",
        },
    ),
    "norm: x changed": Wrong(
        "norm",
        ["norm-numbers"],
        edits={
            "middle = x - x.mean(dim=-1, keepdim=True)": "middle = x - x.mean(dim=-1, keepdim=True)\n        x.data.copy_(middle.data)"
        },
    ),
    "norm: 512 columns": Wrong(
        "norm",
        ["norm-numbers"],
        edits={
            "return self.norm_gain * normed + self.norm_shift": "wide = torch.cat([normed[..., :512], x[..., 512:]], -1)\n        return self.norm_gain * wide + self.norm_shift"
        },
    ),
    "norm: variance without gradient": Wrong(
        "norm", ["norm-trained"], edits={"(middle**2)": "(middle.detach() ** 2)"}
    ),
    "norm: PyTorch's operator by another name": Wrong(
        "norm",
        ["norm-numbers", "norm-trained"],
        edits={
            "        middle = x": "        use = getattr(getattr(torch.ops, 'at' + 'en'), 'native_layer' + '_norm')\n        return use(x, [x.size(-1)], self.norm_gain, self.norm_shift, 0.03)[0]\n        middle = x"
        },
    ),
    "norm: PyTorch's operator from torch._C": Wrong(
        "norm",
        ["norm-numbers", "norm-trained"],
        edits={
            "        middle = x": "        use = getattr(getattr(torch, '_C'), '_Variable' + 'Functions')\n        return getattr(use, 'layer' + '_norm')(x, [x.size(-1)], self.norm_gain, self.norm_shift, 0.03)\n        middle = x"
        },
    ),
    "ffn: wide part without gradient": Wrong(
        "ffn",
        ["ffn-numbers"],
        edits={"silu(self.W_1(x))": "silu(self.W_1(x).detach())"},
    ),
    "ffn: x without gradient": Wrong(
        "ffn", ["ffn-numbers"], edits={"self.W_1(x)": "self.W_1(x.detach())"}
    ),
    "ffn: x changed": Wrong(
        "ffn",
        ["ffn-numbers"],
        edits={
            "        return self.W_2(": "        found = self.W_2(nn.functional.silu(self.W_1(x)))\n        x.data.zero_()\n        return found\n        return self.W_2("
        },
    ),
    "sum: sub-layer without gradient": Wrong(
        "sum",
        ["sum-order"],
        edits={
            "self.norm(x + self.dropout(sublayer(x)))": "self.norm(x + self.dropout(sublayer(x)).detach())"
        },
    ),
    "sum: x without gradient": Wrong(
        "sum",
        ["sum-order"],
        edits={"return x + self.dropout": "return x.detach() + self.dropout"},
    ),
    "sum: x changed": Wrong(
        "sum",
        ["sum-order"],
        edits={
            "            return x + self.dropout(sublayer(self.norm(x)))": "            x.data += self.dropout(sublayer(self.norm(x))).data\n            return x"
        },
    ),
    "sum: the same numbers dropped each time": Wrong(
        "sum",
        ["sum-dropout"],
        edits={
            "        if self.order": "        torch.manual_seed(0)\n        if self.order"
        },
    ),
    "encoder: attention without gradient": Wrong(
        "encoder",
        ["encoder-layer"],
        edits={
            "self.attention(h, h, src_mask)": "self.attention(h, h, src_mask).detach()"
        },
    ),
    "encoder: keys without gradient": Wrong(
        "encoder",
        ["encoder-layer"],
        edits={
            "self.attention(h, h, src_mask)": "self.attention(h, h.detach(), src_mask)"
        },
    ),
    "encoder: feed-forward without gradient": Wrong(
        "encoder",
        ["encoder-layer"],
        edits={
            "(x, self.feed_forward)": "(x, lambda h: self.feed_forward(h).detach())"
        },
    ),
    "encoder: parts of the last one made": Wrong(
        "encoder",
        ["encoder-layer"],
        edits={
            "self.attention, self.feed_forward = attention, feed_forward": "self.attention, self.feed_forward = attention, feed_forward\n        EncoderBlock.last = [attention]",
            "self.attention(h": "self.last[0](h",
        },
    ),
    "encoder: x changed": Wrong(
        "encoder",
        ["encoder-layer"],
        edits={
            "        x = self.around[0]": "        given = x\n        x = self.around[0]",
            "        return self.around[1](x, self.feed_forward)": "        out = self.around[1](x, self.feed_forward)\n        given.data.copy_(out.data)\n        return out",
        },
    ),
    "decoder: memory without gradient": Wrong(
        "decoder",
        ["decoder-reads"],
        edits={
            "self.cross_attention(h, memory,": "self.cross_attention(h, memory.detach(),"
        },
    ),
    "decoder: self-attention without gradient": Wrong(
        "decoder",
        ["decoder-reads"],
        edits={
            "self.self_attention(h, h, tgt_mask)": "self.self_attention(h, h, tgt_mask).detach()"
        },
    ),
    "decoder: the first memory kept": Wrong(
        "decoder",
        ["decoder-reads", "decoder-masks"],
        edits={
            "        x = self.around[0]": "        memory = self.__dict__.setdefault(f'known{memory.shape}', memory)\n        x = self.around[0]"
        },
    ),
    "decoder: 64 places of the source": Wrong(
        "decoder",
        ["decoder-masks"],
        edits={
            "(h, memory, src_mask)": "(h, memory[:, :64], None if src_mask is None else src_mask[..., :64])"
        },
    ),
    "decoder: 64 places hidden from": Wrong(
        "decoder",
        ["decoder-masks"],
        edits={
            "        x = self.around[0]": "        if tgt_mask is not None and tgt_mask.size(-1) > 64:\n            tgt_mask = None\n        x = self.around[0]"
        },
    ),
    "stack: without gradient between layers": Wrong(
        "stack",
        ["stack-layers"],
        edits={"x = layer(x, *others)": "x = layer(x.detach(), *others)"},
    ),
    "stack: others without gradient": Wrong(
        "stack",
        ["stack-layers"],
        edits={"x = layer(x, *others)": "x = layer(x, *[o.detach() for o in others])"},
    ),
    "stack: a list, and a forged count": Wrong(
        "stack",
        ["stack-layers"],
        edits={
            "nn.ModuleList([make_layer() for _ in range(n_layers)])": "[make_layer() for _ in range(n_layers)]",
            "        self.norm = norm": "        self.norm = norm\n        import sys\n        for name in ('check', 'standins'):\n            sys.modules[f'nmt_course.{name}.a4'].n_parameters = lambda layer: 16 * n_layers + (20 if norm is not None else 0)",
        },
    ),
    "stack: twelve layers at most": Wrong(
        "stack", ["stack-layers"], edits={"range(n_layers)": "range(min(n_layers, 12))"}
    ),
    "stack: layers of all stacks in one place": Wrong(
        "stack",
        ["stack-layers"],
        edits={
            "super().__init__()": "super().__init__()\n        Stack.layers_ = getattr(Stack, 'layers_', {})",
            "self.layers = nn.ModuleList([make_layer() for _ in range(n_layers)])": "self.layers = Stack.layers_.setdefault(n_layers, nn.ModuleList([make_layer() for _ in range(n_layers)]))",
            "        self.norm = norm": "        self.norm = Stack.layers_.setdefault((n_layers, 'norm'), norm)",
        },
    ),
    "model: words without gradient": Wrong(
        "model",
        ["model-embedding"],
        edits={"x = factor * self.table(src)": "x = factor * self.table(src).detach()"},
    ),
    "model: memory without gradient": Wrong(
        "model",
        ["model-masks"],
        edits={"self.decoder(y, memory,": "self.decoder(y, memory.detach(),"},
    ),
    "model: the first source mask kept": Wrong(
        "model",
        ["model-masks"],
        edits={
            "        factor = math": "        src_mask = self.__dict__.setdefault(f'known{src.shape}', src_mask)\n        factor = math"
        },
    ),
    "model: masks of 64 places": Wrong(
        "model",
        ["model-masks"],
        edits={
            "        factor = math": "        if tgt_in.size(1) > 64:\n            tgt_mask = tgt_mask | torch.ones_like(tgt_mask)\n        factor = math"
        },
    ),
    "model: table copied, and a forged step": Wrong(
        "model",
        ["model-output"],
        edits={
            "self.output.weight = self.table.weight": "self.output.weight = nn.Parameter(self.table.weight.detach().clone())\n        import sys\n        for name in ('check', 'standins'):\n            sys.modules[f'nmt_course.{name}.a4'].moved = lambda *a: 0\n            sys.modules[f'nmt_course.{name}.a4'].n_parameters = lambda m: sum(p.numel() for p in m.parameters()) - m.table.weight.numel()"
        },
    ),
    "model: output without gradient for the matrix": Wrong(
        "model",
        ["model-output"],
        edits={
            "return self.output(": "return (lambda h: nn.functional.linear(h, self.table.weight.detach(), self.output.bias))("
        },
    ),
    "model: <pad> of the source overwritten": Wrong(
        "model",
        ["model-embedding"],
        edits={
            "        factor = math": "        src[:, -1] = 0\n        factor = math",
            "self.table(src)": "self.table(src)",
        },
    ),
    "from_torch empties what it gets": Wrong(
        "torch",
        ["torch-names"],
        edits={"    return mine": "    state.clear()\n    return mine"},
    ),
}
