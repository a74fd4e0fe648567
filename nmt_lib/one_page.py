"""The whole translator on one page: the Transformer of "Attention Is All You Need"
(Vaswani et al., 2017), from sentences to a map of where the trained model looks.

    python one_page.py            from English to French, with the grammar below
    python one_page.py pairs.tsv  your own file: source, tab, target on each line
    python -i one_page.py         and then: translate(model, "a king sees a red car .")

The run prints the sizes of the data and the model. Every 25 updates it prints the loss,
and a translation of one sentence that is not in the training data. At the end it prints
how many unseen sentences are translated exactly, and a map: a row for each word that
the model writes, a column for each word that it reads, dark where it looks.

It needs torch, one processor core, and about ten seconds of training. Shapes are at the
ends of lines: B sentences, S source tokens, T target tokens, D = d_model, H heads,
d_k = D / H, V words in the target vocabulary.
"""

import math
import random
import re
import sys
from collections import Counter
from textwrap import shorten

import torch
import torch.nn.functional as F
from torch import nn

# Names as in the paper's table 3; on the right, the values of its base model. Your own
# sentences need more updates than the grammar: try train_steps = 2000.
N, d_model, d_ff, h = 2, 64, 256, 4  # 6, 512, 2048, 8
P_drop, epsilon_ls = 0.1, 0.1  # dropout and label smoothing: the same
train_steps, warmup_steps, batch_size = 200, 100, 64  # 100000, 4000, about 800


# ---- 1. Data: a grammar of half a million sentences ----------------------------------
# In French, a colour follows its noun, and the noun's gender decides the form of every
# word around it. Even "it" is "il" or "elle", although no English word says which.
def forms(table):
    return [entry.replace("_", " ").split("/") for entry in table.split()]


ARTICLES = forms("the/le/la a/un/une")  # English, French masculine, French feminine
BEFORE = forms("// small/petit/petite lovely/beau/belle new/nouveau/nouvelle")
BEHIND = forms("// red/rouge/rouge green/vert/verte black/noir/noire")
STATES = forms("broken/cassé/cassée wet/mouillé/mouillée lost/perdu/perdue")
PEOPLE = forms("boy/garçon king/roi"), forms("girl/fille queen/reine lady/dame")
THINGS = [forms("book/livre hat/chapeau coat/manteau boat/bateau bike/vélo")]
THINGS += [forms("car/voiture key/clé door/porte flower/fleur lamp/lampe")]  # feminine
VERBS = forms("sees/voit wants/veut found/a_trouvé has_lost/a_perdu")
VERBS += forms("is_looking_for/cherche was_looking_for/cherchait")
LINKS = forms("and/et but/mais")


def noun_phrase(nouns, behind):
    """For example "a new red car", "une nouvelle voiture rouge", and its gender, 1."""
    gender = random.randrange(2)  # 0 masculine, 1 feminine
    noun, nom = random.choice(nouns[gender])
    the, *le = random.choice(ARTICLES)
    new, *nouveau = random.choice(BEFORE)
    red, *rouge = random.choice(behind)
    french = [le[gender], nouveau[gender], nom, rouge[gender]]
    return [the, new, red, noun], french, gender


def make_pair():
    who, qui, _ = noun_phrase(PEOPLE, BEHIND[:1])  # no colour
    what, quoi, gender = noun_phrase(THINGS, BEHIND)
    sees, voit = random.choice(VERBS)
    english, french = [*who, sees, *what], [*qui, voit, *quoi]
    if random.random() < 0.5:
        (but, mais), (wet, *mouillé) = random.choice(LINKS), random.choice(STATES)
        english += [but, "it is", wet]
        french += [mais, ["il", "elle"][gender], "est", mouillé[gender]]
    return tuple(" ".join([*filter(None, words), "."]) for words in (english, french))


def read_pairs(path):
    """The pairs of a file, in lower case and with a space between tokens."""
    try:
        with open(path, encoding="utf-8-sig") as file:
            rows = [line.split("\t") for line in file if line.strip()]
    except (OSError, UnicodeError) as error:
        stop(f"cannot read {path}: {getattr(error, 'strerror', 'it is not UTF-8')}")
    pairs = [tuple(" ".join(split(text)) for text in row[:2]) for row in rows]
    pairs = [pair for pair in pairs if len(pair) == 2 and all(pair)]
    if len(dict(pairs)) < 2:
        stop(f"{path} needs two lines or more: a sentence, a tab, its translation")
    print(f"{len(pairs)} of the {len(rows)} lines of {path} hold a pair")
    return pairs


def stop(message):
    print(f"error: {message}", file=sys.stderr)
    sys.exit(2)


# ---- 2. Tokens: text becomes ids -----------------------------------------------------
PAD, UNK, SOS, EOS = range(4)


def split(text):
    """From "Il dort." to ["il", "dort", "."]."""
    return re.findall(r"\w+['’]?|[^\w\s]", text.lower())


def make_vocabulary(texts):
    """Word → id, frequent words first; a word that occurs only once gets no id."""
    counts = Counter(sorted(word for text in texts for word in split(text)))
    words = [word for word, count in counts.most_common() if count > 1]
    return {w: i for i, w in enumerate(["<pad>", "<unk>", "<sos>", "<eos>", *words])}


def encode(text, vocabulary):
    return [SOS, *(vocabulary.get(word, UNK) for word in split(text)), EOS]


# ---- 3. Batch: many sentences in one tensor ------------------------------------------
def pad(rows):
    longest = max(map(len, rows))
    return torch.tensor([row + [PAD] * (longest - len(row)) for row in rows])  # (B, S)


def make_batch(pairs, source, target):
    src = pad([encode(text, source) for text, _ in pairs])  # (B, S)
    tgt = pad([encode(text, target) for _, text in pairs])  # (B, T + 1)
    return src, tgt[:, :-1], tgt[:, 1:]  # reads <sos> a b, predicts a b <eos>


# ---- 4. Masks: who may look at whom; True = may be looked at -------------------------
def padding_mask(ids):
    return (ids != PAD)[:, None, None, :]  # (B, 1, 1, S)


def causal_mask(length):
    return torch.ones(length, length, dtype=torch.bool).tril()  # (T, T) no later word


# ---- 5. Attention (section 3.2 of the paper) -----------------------------------------
def attention(Q, K, V, mask):
    """softmax(Q Kᵀ / √d_k) V, equation 1."""
    scores = Q @ K.transpose(-2, -1) / math.sqrt(Q.size(-1))  # (B, H, T, S)
    weights = scores.masked_fill(~mask, -math.inf).softmax(-1)  # each row sums to 1
    return weights @ V, weights  # (B, H, T, d_k), (B, H, T, S)


class MultiHeadAttention(nn.Module):
    """H attentions side by side: x asks, memory answers."""

    def __init__(self):
        super().__init__()
        self.W_q, self.W_k = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.W_v, self.W_o = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)

    def forward(self, x, memory, mask):
        projected = self.W_q(x), self.W_k(memory), self.W_v(memory)  # (B, T or S, D)
        Q, K, V = (y.unflatten(-1, (h, -1)).transpose(1, 2) for y in projected)
        heads, self.weights = attention(Q, K, V, mask)  # kept for the map
        return self.W_o(heads.transpose(1, 2).flatten(2))  # (B, T, D)


# ---- 6. Layers: the two columns of figure 1 ------------------------------------------
class AddNorm(nn.Module):
    """LayerNorm(x + Sublayer(x)), section 3.1."""

    def __init__(self):
        super().__init__()
        self.norm, self.dropout = nn.LayerNorm(d_model), nn.Dropout(P_drop)

    def forward(self, x, sublayer_x):
        return self.norm(x + self.dropout(sublayer_x))  # (B, T, D)


def feed_forward():
    """max(0, x W₁ + b₁) W₂ + b₂, the same at each position, equation 2."""
    return nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))


class EncoderLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.self_attention, self.add_norm_1 = MultiHeadAttention(), AddNorm()
        self.feed_forward, self.add_norm_2 = feed_forward(), AddNorm()

    def forward(self, x, src_mask):
        x = self.add_norm_1(x, self.self_attention(x, x, src_mask))  # (B, S, D)
        return self.add_norm_2(x, self.feed_forward(x))  # (B, S, D)


class DecoderLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.self_attention, self.add_norm_1 = MultiHeadAttention(), AddNorm()
        self.cross_attention, self.add_norm_2 = MultiHeadAttention(), AddNorm()
        self.feed_forward, self.add_norm_3 = feed_forward(), AddNorm()

    def forward(self, x, memory, src_mask, tgt_mask):
        x = self.add_norm_1(x, self.self_attention(x, x, tgt_mask))  # (B, T, D)
        x = self.add_norm_2(x, self.cross_attention(x, memory, src_mask))  # (B, T, D)
        return self.add_norm_3(x, self.feed_forward(x))  # (B, T, D)


# ---- 7. Model: from ids to a score for each possible next word -----------------------
def positions(length):
    """Sines and cosines of many wavelengths, section 3.5."""
    position = torch.arange(length)[:, None]  # (T, 1)
    angle = position / 10000 ** (torch.arange(0, d_model, 2) / d_model)  # (T, D/2)
    return torch.stack([angle.sin(), angle.cos()], -1).flatten(1)  # (T, D)


class Transformer(nn.Module):
    """Encoder and decoder. The model keeps its two vocabularies, word → id."""

    def __init__(self, source, target):
        super().__init__()
        self.source, self.target, self.dropout = source, target, nn.Dropout(P_drop)
        self.src_embedding = nn.Embedding(len(source), d_model)
        self.tgt_embedding = nn.Embedding(len(target), d_model)
        self.encoder = nn.ModuleList(EncoderLayer() for _ in range(N))
        self.decoder = nn.ModuleList(DecoderLayer() for _ in range(N))
        self.output = nn.Linear(d_model, len(target))
        for module in self.modules():
            if isinstance(module, nn.Embedding):
                nn.init.normal_(module.weight, std=d_model**-0.5)
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)
                nn.init.zeros_(module.bias)
        self.output.weight = self.tgt_embedding.weight  # one matrix, section 3.4

    def embed(self, embedding, ids):
        x = embedding(ids) * math.sqrt(d_model) + positions(ids.size(1))
        return self.dropout(x)  # (B, T, D)

    def encode(self, src, src_mask):
        x = self.embed(self.src_embedding, src)  # (B, S, D)
        for layer in self.encoder:
            x = layer(x, src_mask)  # (B, S, D)
        return x

    def decode(self, tgt_in, memory, src_mask):
        tgt_mask = padding_mask(tgt_in) & causal_mask(tgt_in.size(1))  # (B, 1, T, T)
        x = self.embed(self.tgt_embedding, tgt_in)  # (B, T, D)
        for layer in self.decoder:
            x = layer(x, memory, src_mask, tgt_mask)  # (B, T, D)
        return self.output(x)  # (B, T, V)

    def forward(self, src, tgt_in):
        src_mask = padding_mask(src)  # (B, 1, 1, S)
        return self.decode(tgt_in, self.encode(src, src_mask), src_mask)  # (B, T, V)


# ---- 8. Loss and schedule (sections 5.3 and 5.4) -------------------------------------
def cross_entropy(logits, tgt_out):
    """How much the right words surprise the model on average, with label smoothing."""
    logits, goal = logits.flatten(0, 1), tgt_out.flatten()  # (B·T, V), (B·T)
    return F.cross_entropy(logits, goal, ignore_index=PAD, label_smoothing=epsilon_ls)


def learning_rate(step):
    """Rises linearly, then falls as 1/√step, equation 3.

    The factor 0.5 is ours: at the full rate, training this small model fails at times.
    """
    return 0.5 * d_model**-0.5 * min(step**-0.5, step * warmup_steps**-1.5)


# ---- 9. Training: all positions of 64 sentences at once ------------------------------
def train(model, pairs, example):
    adam = torch.optim.Adam(model.parameters(), betas=(0.9, 0.98), eps=1e-9)
    for step in range(1, train_steps + 1):
        batch = random.choices(pairs, k=batch_size)
        src, tgt_in, tgt_out = make_batch(batch, model.source, model.target)
        model.train()  # dropout on: translate() has switched it off
        loss = cross_entropy(model(src, tgt_in), tgt_out)
        adam.zero_grad()
        loss.backward()
        adam.param_groups[0]["lr"] = learning_rate(step)
        adam.step()
        if step % 25 == 0:
            text = shorten(translate(model, example), 72, placeholder=" …")
            print(f"{step:7}  {loss:.2f}  {text}", flush=True)


# ---- 10. Translating: word by word, each the most likely one next --------------------
@torch.no_grad()
def translate(model, text):
    model.eval()  # dropout off
    src, ids, words = pad([encode(text, model.source)]), [SOS], list(model.target)
    memory = model.encode(src, padding_mask(src))  # (1, S, D)
    while ids[-1] != EOS and len(ids) <= src.size(1) + 50:
        logits = model.decode(pad([ids]), memory, padding_mask(src))  # (1, T, V)
        ids.append(int(logits[0, -1].argmax()))
    return " ".join(words[i] for i in ids[1:] if i != EOS)


# ---- 11. Map: where the decoder looks as it writes each word -------------------------
def draw_map(model, text):
    """Cross-attention of the last layer, averaged over its heads."""
    written, read = translate(model, text).split(), split(text)
    weights = model.decoder[-1].cross_attention.weights[0].mean(0)  # (T, S)
    weights = weights[: len(written), 1:-1]  # without <sos> and <eos>
    width = max(map(len, written), default=0)
    print(" " * width, *read)
    for word, row in zip(written, weights.tolist(), strict=True):
        shades = ["·░▒▓█"[min(4, int(5 * weight))] for weight in row]
        cells = [shade * len(r) for shade, r in zip(shades, read, strict=True)]
        print(f"{word:>{width}}", *cells)


def main(path=None, seed=0):
    random.seed(seed)
    torch.manual_seed(seed)
    pairs = [make_pair() for _ in range(4000)] if path is None else read_pairs(path)
    sources = list(dict(pairs))  # each sentence once
    unseen = random.sample(sources, min(100, 1 + len(sources) // 10))
    known = [pair for pair in pairs if pair[0] not in unseen]
    model = Transformer(*map(make_vocabulary, zip(*known, strict=True)))
    size = sum(weights.numel() for weights in model.parameters())
    print(f"{len(known):,} pairs to learn from, {size:,} weights to learn")
    # The longest sentence whose map is at most about 88 columns wide.
    example = max(unseen, key=lambda text: len(text) * (len(text) <= 72))
    print("updates  loss ", example)
    train(model, known, example)
    right = sum((text, translate(model, text)) in pairs for text in unseen)
    print(f"{right} of {len(unseen)} unseen sentences are translated exactly")
    draw_map(model, example)
    return model


if __name__ == "__main__":
    torch.set_num_threads(1)  # so small a model is slower with more
    if hasattr(sys.stdout, "reconfigure"):  # Windows writes files in another encoding
        sys.stdout.reconfigure(encoding="utf-8")
    if len(sys.argv) > 2:
        stop("give one file of pairs, or none")
    model = main(*sys.argv[1:])
