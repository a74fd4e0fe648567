"""A6: right answers of other shapes, and wrong ones with the parts where they must fail."""

from tests.course.kit import Wrong

RIGHT = {
    "greedy": {
        "lists of ids": """
def greedy(model, src):
    rows = [[] for _ in src]
    limits = [int((row != PAD).sum()) + 15 for row in src]
    ended = [False] * len(src)
    step = 0
    while not all(ended):
        prefix = torch.tensor([[SOS, *row, *[PAD] * (step - len(row))] for row in rows])
        scores = model(src, prefix)[:, step]
        for b, row in enumerate(scores.tolist()):
            if ended[b]:
                continue
            best = max((s, i) for i, s in enumerate(row) if i not in (PAD, SOS, 17))[1]
            if best == EOS:
                ended[b] = True
            else:
                rows[b].append(best)
                ended[b] = len(rows[b]) == limits[b]
        step += 1
    longest = max(len(row) for row in rows)
    return torch.tensor([row + [PAD] * (longest - len(row)) for row in rows], dtype=torch.long).view(len(src), longest)
""",
        "finished rows leave the batch": """
def greedy(model, src):
    found = {}
    going = torch.arange(len(src))
    prefix = torch.full((len(src), 1), SOS)
    while len(going):
        log_probs = model(src[going], prefix)[:, -1, :].log_softmax(dim=-1)
        log_probs[:, PAD] = log_probs[:, SOS] = log_probs[:, 17] = -1e9
        prefix = torch.cat([prefix, log_probs.argmax(dim=-1, keepdim=True)], dim=1)
        stays = []
        for i, b in enumerate(going.tolist()):
            full = prefix.size(1) - 1 == (src[b] != PAD).sum() + 15
            if prefix[i, -1] == EOS:
                found[b] = prefix[i, 1:-1]
            elif full:
                found[b] = prefix[i, 1:]
            else:
                stays.append(i)
        going, prefix = going[stays], prefix[stays]
    return torch.nn.utils.rnn.pad_sequence([found[b] for b in range(len(src))], batch_first=True, padding_value=PAD)
""",
        "everything written first, cut afterwards": """
def greedy(model, src):
    limits = src.ne(PAD).sum(dim=1) + 15
    prefix = src.new_full((src.size(0), 1), SOS)
    banned = torch.tensor([PAD, SOS, 17])
    for _ in range(int(limits.max())):
        scores = model(src, prefix)[:, -1].index_fill(1, banned, float("-inf"))
        prefix = torch.cat((prefix, scores.topk(1).indices), dim=1)
        over = torch.arange(prefix.size(1)) >= limits[:, None]
        if ((prefix == EOS).any(1) | over[:, -1]).all():
            break
    words = prefix[:, 1:]
    keep = ((words == EOS).cumsum(1) == 0) & (torch.arange(words.size(1)) < limits[:, None])
    words = words * keep
    return words[:, keep.any(0)]
""",
        "a table that is filled, softmax": """
def greedy(model, src):
    limits = [sum(i != PAD for i in row) + 15 for row in src.tolist()]
    table = torch.full((len(src), max(limits) + 1), PAD)
    table[:, 0] = SOS
    open_rows = set(range(len(src)))
    t = 0
    while open_rows:
        probabilities = torch.softmax(model(src, table[:, : t + 1]), dim=2)[:, t]
        probabilities[:, [17, SOS, PAD]] = 0.0
        t += 1
        for b in list(open_rows):
            token = int(torch.argmax(probabilities[b]))
            if token == EOS:
                open_rows.discard(b)
                continue
            table[b, t] = token
            if t == limits[b]:
                open_rows.discard(b)
    width = (table[:, 1:] != PAD).any(0).sum()
    return table[:, 1 : 1 + width]
""",
        "a class, finished rows say eos again": """
class Search:
    def __init__(self, model, src):
        self.model, self.src = model, src
        self.limit = (src != PAD).long().sum(-1) + 15
        self.prefix = torch.full((src.shape[0], 1), SOS)
        self.done = torch.zeros(src.shape[0]) > 0

    def step(self):
        scores = self.model(self.src, self.prefix)[:, -1]
        mask = torch.zeros(scores.size(1), dtype=torch.bool)
        mask[[PAD, SOS, 17]] = True
        token = torch.where(mask, torch.tensor(-1e30), scores).argmax(1)
        token = torch.where(self.done | (self.prefix.size(1) > self.limit), torch.tensor(EOS), token)
        self.prefix = torch.hstack([self.prefix, token.unsqueeze(1)])
        self.done = self.done | (token == EOS) | (self.prefix.size(1) > self.limit)


def greedy(model, src):
    search = Search(model, src)
    while not bool(search.done.all()):
        search.step()
    words = search.prefix[:, 1:].clone()
    words[words == EOS] = PAD
    return words[:, : max(int((row != PAD).sum()) for row in words)]
""",
    },
    "cache": {
        "a list of keys, joined at each step": """
class CachedLayer:
    def __init__(self, layer, memory, src_mask):
        self.layer, self.mask = layer, src_mask
        self.memory_keys = layer.cross.key(memory)
        self.memory_values = layer.cross.value(memory)
        self.keys, self.values = [], []

    def step(self, tokens):
        x = self.layer.embed(tokens.unsqueeze(1), start=len(self.keys))
        self.keys.append(self.layer.own.key(x))
        self.values.append(self.layer.own.value(x))
        x = x + self.layer.own.mix(self.layer.own.query(x), torch.cat(self.keys, 2), torch.cat(self.values, 2))
        q = self.layer.cross.query(x)
        return (x + self.layer.cross.mix(q, self.memory_keys, self.memory_values, self.mask)).squeeze(1)

    def select(self, rows):
        self.keys = [key[rows] for key in self.keys]
        self.values = [value[rows] for value in self.values]
        self.memory_keys, self.memory_values = self.memory_keys[rows], self.memory_values[rows]
        self.mask = self.mask[rows]
""",
        "room for all places, filled, with a mask": """
class CachedLayer:
    def __init__(self, layer, memory, src_mask):
        B, H, d = len(memory), layer.own.n_heads, memory.size(-1) // layer.own.n_heads
        self.layer, self.src_mask, self.t = layer, src_mask, 0
        self.own = torch.zeros(2, B, H, len(layer.places), d)
        self.source = torch.stack([layer.cross.key(memory), layer.cross.value(memory)])

    def step(self, tokens):
        layer, t = self.layer, self.t
        x = layer.embed(tokens.reshape(-1, 1), t)
        with torch.no_grad():
            self.own[0, :, :, t : t + 1] = layer.own.key(x)
            self.own[1, :, :, t : t + 1] = layer.own.value(x)
            seen = torch.arange(self.own.size(3)) <= t
            x = x + layer.own.mix(layer.own.query(x), self.own[0], self.own[1], seen)
            x = x + layer.cross.mix(layer.cross.query(x), self.source[0], self.source[1], self.src_mask)
        self.t = t + 1
        return x[:, -1]

    def select(self, rows):
        self.own = self.own[:, rows].clone()
        self.source = self.source.index_select(1, rows)
        self.src_mask = self.src_mask.index_select(0, rows)
""",
        "new places in front, a module": """
class CachedLayer(torch.nn.Module):
    def __init__(self, layer, memory, src_mask):
        super().__init__()
        self.layer = layer
        self.held = {"k": None, "v": None, "K": layer.cross.key(memory), "V": layer.cross.value(memory), "m": src_mask}
        self.place = 0

    def step(self, tokens):
        x = self.layer.embed(tokens.view(len(tokens), 1), self.place)
        new = {"k": self.layer.own.key(x), "v": self.layer.own.value(x)}
        for name in "kv":
            old = self.held[name]
            self.held[name] = new[name] if old is None else torch.cat([new[name], old], dim=-2)
        x = x + self.layer.own.mix(self.layer.own.query(x), self.held["k"], self.held["v"], None)
        x = x + self.layer.cross.mix(self.layer.cross.query(x), self.held["K"], self.held["V"], self.held["m"])
        self.place += 1
        return x.flatten(1)

    def select(self, rows):
        self.held = {name: None if part is None else part[rows] for name, part in self.held.items()}
""",
        "rows by number, moved when they are read": """
class CachedLayer:
    def __init__(self, layer, memory, src_mask):
        self.layer, self.mask = layer, src_mask
        self.cross = layer.cross.key(memory), layer.cross.value(memory)
        self.own = None
        self.source_rows = torch.arange(len(memory))

    def step(self, tokens):
        own, cross = self.layer.own, self.layer.cross
        start = 0 if self.own is None else self.own[0].size(2)
        x = self.layer.embed(tokens[:, None], start)
        new = own.key(x), own.value(x)
        self.own = new if self.own is None else tuple(torch.cat(both, 2) for both in zip(self.own, new))
        x = x + own.mix(own.query(x), *self.own)
        rows = self.source_rows
        return (x + cross.mix(cross.query(x), self.cross[0][rows], self.cross[1][rows], self.mask[rows])).mean(1)

    def select(self, rows):
        if self.own is not None:
            self.own = tuple(part[rows] for part in self.own)
        self.source_rows = self.source_rows[rows]
""",
        "attention by hand": """
class CachedLayer:
    def __init__(self, layer, memory, src_mask):
        self.layer = layer
        self.K, self.V = layer.cross.key(memory), layer.cross.value(memory)
        self.bias = torch.zeros(src_mask.shape).masked_fill(~src_mask, -1e9)
        self.k = self.v = self.K[:, :, :0]

    def look(self, heads, x, k, v, bias):
        q = heads.query(x)
        weights = (torch.einsum("bhnd,bhmd->bhnm", q, k) / q.shape[-1] ** 0.5 + bias).softmax(-1)
        return heads.W_o(torch.einsum("bhnm,bhmd->bnhd", weights, v).flatten(2))

    def step(self, tokens):
        x = self.layer.embed(tokens[:, None], self.k.shape[2])
        self.k = torch.cat((self.k, self.layer.own.key(x)), 2)
        self.v = torch.cat((self.v, self.layer.own.value(x)), 2)
        x = x + self.look(self.layer.own, x, self.k, self.v, 0.0)
        return (x + self.look(self.layer.cross, x, self.K, self.V, self.bias))[:, 0]

    def select(self, rows):
        for name in ("k", "v", "K", "V", "bias"):
            setattr(self, name, getattr(self, name)[rows])
""",
    },
    "beam": {
        "tensors, K rows, the first step from one": """
def beam_search(model, src, K, limit):
    prefix = torch.full((1, 1), SOS)
    total, done = torch.zeros(1), torch.zeros(1, dtype=torch.bool)
    for _ in range(limit):
        if done.all():
            break
        rows = (~done).nonzero().flatten()
        got = model(src.expand(len(rows), -1), prefix[rows])[:, -1].log_softmax(-1)
        V = got.size(1)
        log_probs = torch.full((len(prefix), V), -torch.inf)
        got[:, [PAD, SOS, 17]] = -torch.inf
        log_probs[rows] = got
        log_probs[done, PAD] = 0.0  # a finished one goes on with <pad>, which costs nothing
        scores = (total[:, None] + log_probs).flatten()
        top, index = scores.topk(min(K, int(scores.isfinite().sum())))
        beam, token = index // V, index % V
        prefix = torch.cat([prefix[beam], token[:, None]], 1)
        total, done = top, done[beam] | (token == EOS)
    return [([i for i in row[1:].tolist() if i not in (EOS, PAD)], float(t))
            for row, t, d in zip(prefix, total, done) if d]
""",
        "K rows from the start, minus infinity": """
def beam_search(model, src, K, limit):
    src = src.repeat(K, 1)
    prefix = torch.full((K, 1), SOS)
    total = torch.full((K,), -math.inf)
    total[0] = 0.0
    done = torch.zeros(K, dtype=torch.bool)
    for _ in range(limit):
        log_probs = model(src, prefix)[:, -1].log_softmax(-1)
        log_probs[:, [PAD, SOS, 17]] = -math.inf
        log_probs[done] = -math.inf
        log_probs[done, EOS] = 0.0
        V = log_probs.shape[1]
        total, best = (total[:, None] + log_probs).view(-1).topk(K)
        prefix = torch.cat([prefix[best // V], (best % V)[:, None]], dim=1)
        done = prefix[:, -1] == EOS
        if done[total > -math.inf].all():
            break
    found = []
    for row, t in zip(prefix[:, 1:].tolist(), total.tolist()):
        if row[-1] == EOS and t > -math.inf:
            found.append((row[: row.index(EOS)], t))
    return found
""",
        "a heap, one row at a time": """
import heapq


def beam_search(model, src, K, limit):
    beam = [(0.0, ())]
    for _ in range(limit):
        candidates = []
        for total, ids in beam:
            if ids[-1:] == (EOS,):
                candidates.append((total, ids))
                continue
            row = model(src, torch.tensor([[SOS, *ids]]))[0, -1]
            logs = (row - row.logsumexp(0)).tolist()
            candidates += [(total + logs[i], (*ids, i)) for i in range(len(logs)) if i not in {PAD, SOS, 17}]
        beam = heapq.nlargest(K, candidates)
        if all(ids[-1] == EOS for _, ids in beam):
            break
    return [[list(ids[:-1]), total] for total, ids in beam if ids[-1] == EOS]
""",
        "finished and open apart": """
def beam_search(model, src, K, limit):
    finished, going = [], [([], 0.0)]
    for _ in range(limit):
        if not going:
            break
        prefix = torch.tensor([[SOS] + ids for ids, _ in going])
        log_probs = torch.log(torch.softmax(model(src.expand(len(prefix), src.size(1)), prefix)[:, -1].double(), dim=1))
        new = []
        for (ids, total), row in zip(going, log_probs):
            for token in range(row.numel()):
                if token not in [PAD, SOS, 17]:
                    new.append((ids + [token], total + row[token].item()))
        new += finished
        new.sort(key=lambda pair: pair[1], reverse=True)
        new = new[:K]
        finished = [pair for pair in new if EOS in pair[0]]
        going = [pair for pair in new if EOS not in pair[0]]
    return [(ids[:-1], total) for ids, total in sorted(finished, key=lambda pair: -pair[1])]
""",
        "a dictionary from ids to log-probability": """
def beam_search(model, src, K, limit):
    kept = {(): 0.0}
    for _ in range(limit):
        step = {ids: total for ids, total in kept.items() if ids and ids[-1] == EOS}
        going = [ids for ids in kept if ids not in step]
        if not going:
            return answer(kept)
        scores = model(src.repeat(len(going), 1), torch.tensor([(SOS, *ids) for ids in going]))[:, -1]
        log_probs = torch.nn.functional.log_softmax(scores, dim=-1)
        for i, ids in enumerate(going):
            best = log_probs[i].clone()
            best[[PAD, SOS, 17]] = -torch.inf
            values, tokens = best.topk(min(K, len(best) - 3))
            for value, token in zip(values, tokens):
                step[(*ids, int(token))] = kept[ids] + float(value)
        kept = dict(sorted(step.items(), key=lambda item: item[1])[-K:])
    return answer(kept)


def answer(kept):
    ended = [(list(ids)[:-1], total) for ids, total in kept.items() if ids and ids[-1] == EOS]
    return tuple(sorted(ended, key=lambda pair: pair[1])[::-1])
""",
    },
    "rank": {
        "a function for the penalty": """
def penalty(length, alpha):
    return ((13 + length) / 14) ** alpha


def rank(hypotheses, alpha):
    out = []
    for ids, log_prob in hypotheses:
        out.append((ids, log_prob / penalty(len(ids) + 1, alpha)))
    out.sort(key=lambda pair: pair[1], reverse=True)
    return out
""",
        "logarithms": """
def rank(hypotheses, alpha):
    def score(ids, total):
        return total * math.exp(-alpha * (math.log(14 + len(ids)) - math.log(14)))

    return sorted(((ids, score(ids, total)) for ids, total in hypotheses), key=lambda item: item[1])[::-1]
""",
        "tensors": """
def rank(hypotheses, alpha):
    totals = torch.tensor([total for _, total in hypotheses], dtype=torch.float64)
    lengths = torch.tensor([len(ids) + 1 for ids, _ in hypotheses], dtype=torch.float64)
    scores = totals / ((13 + lengths) / (13 + 1)) ** alpha
    return [(hypotheses[i][0], scores[i]) for i in scores.argsort(descending=True).tolist()]
""",
        "in place": """
def rank(hypotheses, alpha):
    hypotheses = list(hypotheses)
    for i in range(len(hypotheses)):
        ids, total = hypotheses[i]
        hypotheses[i] = [ids, total * (14 / (14 + len(ids))) ** alpha]
    hypotheses.sort(key=lambda pair: pair[1])
    hypotheses.reverse()
    return hypotheses
""",
        "one after the other": """
import operator


def rank(hypotheses, alpha):
    left = [(ids, total / pow((13 + (len(ids) + 1)) / (13 + 1), alpha)) for ids, total in hypotheses]
    ranked = []
    while left:
        best = max(left, key=operator.itemgetter(1))
        left.remove(best)
        ranked.append(best)
    return tuple(ranked)
""",
    },
    "links": {
        "loops": """
def links(weights, src):
    H, T, S = weights.shape
    found = []
    for t in range(T - 1):
        best, where = 0.0, None
        for s in range(S):
            if src[s] in (PAD, SOS, EOS):
                continue
            mean = sum(weights[h, t, s] for h in range(H)) / H
            if mean > best:
                best, where = mean, s
        if where is not None and best >= 0.28:
            found.append((where - 1, t))
    return found
""",
        "the words cut out": """
def links(weights, src):
    n = int((src != PAD).sum()) - 2
    mean = weights.mean(dim=0)[:-1, 1 : 1 + n]
    return {(int(row.argmax()), t) for t, row in enumerate(mean) if row.max() >= 0.28}
""",
        "a mask, a tensor of pairs": """
def links(weights, src):
    table = torch.einsum("hts->ts", weights) / weights.size(0)
    table = table * ~torch.isin(src, torch.tensor([PAD, SOS, EOS]))
    high = (table[:-1] >= 0.28) & (table[:-1] == table[:-1].max(1, keepdim=True).values)
    return high.nonzero().flip(1) - torch.tensor([1, 0])
""",
        "topk": """
def links(weights, src):
    words = [s for s, i in enumerate(src.tolist()) if i not in (PAD, SOS, EOS)]
    value, place = weights.sum(0).div(len(weights))[:, words].topk(1, dim=1)
    return [(place[t].item(), t) for t in range(len(value) - 1) if value[t].item() >= 0.28]
""",
        "numpy": """
import numpy as np


def links(weights, src):
    mean = np.asarray(weights).mean(axis=0)[:-1]
    end = int(np.where(np.asarray(src) == EOS)[0][0])
    mean = mean[:, 1:end]
    return [(s, t) for t, s in enumerate(mean.argmax(axis=1)) if mean[t, s] >= 0.28]
""",
    },
    "error": {
        "loops": """
def error_rate(found, sure, possible):
    A, hits = [], 0
    for link in found:
        if link not in A:
            A.append(link)
            hits += (link in sure) + (link in sure or link in possible)
    total = len(A) + len(set(sure))
    return 1.0 - hits / total if total else 0.0
""",
        "set methods": """
def error_rate(found, sure, possible):
    a, s = frozenset(found), frozenset(sure)
    p = s.union(possible)
    if len(a) + len(s) == 0:
        return 0
    return 1 - (len(a.intersection(s)) + len(a.intersection(p))) / (len(a) + len(s))
""",
        "sums over the links": """
def error_rate(found, sure, possible):
    found, sure, possible = dict.fromkeys(found), dict.fromkeys(sure), dict.fromkeys(possible)
    all_of_them = len(found) + len(sure)
    good = sum(2 if link in sure else 1 if link in possible else 0 for link in found)
    return (all_of_them - good) / max(all_of_them, 1)
""",
        "tables of zeros and ones": """
def error_rate(found, sure, possible):
    size = 1 + max([0, *(i for links_ in (found, sure, possible) for pair in links_ for i in pair)])
    tables = torch.zeros(3, size, size)
    for table, links_ in zip(tables, (found, sure, possible)):
        for s, t in links_:
            table[s, t] = 1
    a, s, p = tables[0], tables[1], tables[1:].amax(0)
    if a.sum() + s.sum() == 0:
        return torch.tensor(0.0)
    return 1 - ((a * s).sum() + (a * p).sum()) / (a.sum() + s.sum())
""",
        "an exception": """
def error_rate(found, sure, possible):
    found, sure, possible = map(set, (found, sure, possible))
    possible |= sure
    try:
        return 1 - (len(found & sure) + len(found & possible)) / (len(found) + len(sure))
    except ZeroDivisionError:
        return 0.0
""",
    },
}

GREEDY = ["greedy-words", "greedy-ends", "greedy-stop"]
CACHE = ["cache-steps", "cache-source", "cache-work", "cache-select"]
BEAM = ["beam-sums", "beam-kept", "beam-finished"]
TAKEN = "scores.argmax(-1)"
NEXT = "token.masked_fill(done, PAD)"
LIMIT = "        done = done | (limits < prefix.size(1))\n"
APPEND = (
    "        if self.keys is not None:\n"
    "            keys = torch.cat([self.keys, keys], dim=2)\n"
    "            values = torch.cat([self.values, values], dim=2)\n"
)
MOVED = "            self.keys, self.values = self.keys[rows], self.values[rows]\n"
SOURCES = "        self.source = self.source[0][rows], self.source[1][rows]\n"
CARRIED = "        candidates = [hypothesis for hypothesis in beam if hypothesis[2]]\n"
SORTED = "sorted(candidates, key=lambda candidate: -candidate[1])[:K]"

WRONG = {
    "<unk> never written": Wrong(
        "greedy", ["greedy-words"], edits={"[PAD, SOS, 17]": "[PAD, 1, SOS, 17]"}
    ),
    "<unk> has no links": Wrong(
        "links",
        ["links-found"],
        edits={"(src != PAD) & (src != SOS) & (src != EOS)": "src > 3"},
    ),
    "the last selection alone, for memory and mask": Wrong(
        "cache",
        ["cache-select"],
        edits={
            "*self.source, self.src_mask)": "*(part[self.rows] for part in self.source), self.src_mask[self.rows])",
            "self.t = 0": "self.t, self.rows = 0, slice(None)",
            SOURCES: "        self.rows = rows\n",
            "        self.src_mask = self.src_mask[rows]": "",
        },
    ),
    "select starts the places anew": Wrong(
        "cache",
        ["cache-select"],
        edits={
            "self.src_mask = self.src_mask[rows]": "self.src_mask, self.t = self.src_mask[rows], 0"
        },
    ),
    # greedy: which token
    "scores of the first place": Wrong("greedy", GREEDY, edits={"[:, -1]": "[:, 0]"}),
    "the model is shown the last token only": Wrong(
        "greedy",
        GREEDY,
        code="def greedy(model, src):\n    limits = (src != PAD).sum(1) + 15\n"
        "    prefix, done = torch.full((len(src), 1), SOS), torch.zeros(len(src), dtype=torch.bool)\n"
        "    while not done.all():\n"
        "        seen = torch.cat([torch.full((len(src), 1), SOS), prefix[:, 1:][:, -1:]], dim=1)\n"
        "        scores = model(src, seen)[:, -1]\n        scores[:, [PAD, SOS, 17]] = -torch.inf\n"
        "        token = scores.argmax(-1)\n        done = done | (token == EOS)\n"
        "        prefix = torch.cat([prefix, token.masked_fill(done, PAD)[:, None]], dim=1)\n"
        "        done = done | (limits < prefix.size(1))\n"
        "    words = prefix[:, 1:]\n    return words[:, : (words != PAD).sum(1).max()]",
    ),
    "argmax over the rows": Wrong(
        "greedy", GREEDY, edits={TAKEN: "scores.argmax(0)[: len(src)].expand(len(src))"}
    ),
    "forbidden word written": Wrong(
        "greedy", ["greedy-words"], edits={"[PAD, SOS, 17]": "[PAD, SOS]"}
    ),
    "pad and sos may be chosen": Wrong(
        "greedy", ["greedy-words"], edits={"[PAD, SOS, 17]": "[17]"}
    ),
    "forbidden scores set to 0": Wrong(
        "greedy", ["greedy-words"], edits={"= -torch.inf": "= 0.0"}
    ),
    "the least likely": Wrong(
        "greedy",
        ["greedy-words", "greedy-ends", "greedy-stop"],
        edits={TAKEN: "scores.argmin(-1)"},
    ),
    "drawn at random": Wrong(
        "greedy",
        ["greedy-words", "greedy-ends"],
        edits={TAKEN: "scores.softmax(-1).multinomial(1)[:, 0]"},
    ),
    # greedy: what is returned
    "sos returned": Wrong(
        "greedy", ["greedy-ends"], edits={"prefix[:, 1:]\n": "prefix\n"}
    ),
    "eos returned": Wrong(
        "greedy",
        ["greedy-ends"],
        edits={NEXT: "token.masked_fill(done & (token != EOS), PAD)"},
    ),
    "stops at the first eos of any row": Wrong(
        "greedy",
        ["greedy-ends", "greedy-stop"],
        edits={"not done.all()": "not done.any()"},
    ),
    "finished rows write on": Wrong(
        "greedy",
        ["greedy-ends", "greedy-stop"],
        edits={NEXT: "token.masked_fill(token == EOS, PAD)"},
    ),
    "eos is forgotten again": Wrong(
        "greedy",
        ["greedy-ends", "greedy-stop"],
        edits={"done = done | (token == EOS)": "done = token == EOS"},
    ),
    "only columns that every row fills": Wrong(
        "greedy",
        ["greedy-ends", "greedy-stop"],
        edits={"(words != PAD).sum(1).max()": "(words != PAD).sum(1).min()"},
    ),
    "pad in front": Wrong(
        "greedy",
        ["greedy-ends", "greedy-stop"],
        edits={
            "    return words[:, : (words != PAD).sum(1).max()]": "    words = words[:, : (words != PAD).sum(1).max()]\n"
            "    return torch.stack([w.roll(int((w == PAD).sum())) for w in words])"
        },
    ),
    "columns of nothing but pad": Wrong(
        "greedy",
        ["greedy-ends"],
        edits={
            "words[:, : (words != PAD).sum(1).max()]": "torch.cat([words, torch.zeros_like(words)], 1)"
        },
    ),
    "lists in place of a tensor": Wrong(
        "greedy",
        GREEDY,
        edits={
            "    return words[:, : (words != PAD).sum(1).max()]": "    return [[i for i in w if i] for w in words.tolist()]"
        },
    ),
    # greedy: when it stops
    "never stops where no eos comes": Wrong(
        "greedy", ["greedy-stop"], edits={LIMIT: ""}
    ),
    "pad counts for the limit": Wrong(
        "greedy", ["greedy-stop"], edits={"(src != PAD)": "(src >= 0)"}
    ),
    "one limit for all rows": Wrong(
        "greedy", ["greedy-stop"], edits={"(limits <": "(limits.max() <"}
    ),
    "the shortest row's limit for all": Wrong(
        "greedy", ["greedy-stop"], edits={"(limits <": "(limits.min() <"}
    ),
    "limit counts sos": Wrong(
        "greedy", ["greedy-stop"], edits={"(limits <": "(limits <="}
    ),
    "limit of 15, whatever the source": Wrong(
        "greedy",
        ["greedy-stop"],
        edits={"(src != PAD).sum(1) + 15": "torch.full((len(src),), 15)"},
    ),
    "goes on to the limit when all have ended": Wrong(
        "greedy",
        ["greedy-stop"],
        edits={"while not done.all():": "for _ in range(int(limits.max())):"},
    ),
    "asks for each row alone": Wrong(
        "greedy",
        ["greedy-stop"],
        edits={
            "model(src, prefix)[:, -1]": "torch.cat([model(src[b : b + 1], prefix[b : b + 1])[:, -1] for b in range(len(src))])"
        },
    ),
    "the library's own search": Wrong(
        "greedy",
        GREEDY,
        code="def greedy(model, src):\n    return nmt.greedy_search(model, src, 15)",
    ),
    # the cache
    "each new token at place 0": Wrong(
        "cache",
        ["cache-steps"],
        edits={"embed(tokens[:, None], self.t)": "embed(tokens[:, None])"},
    ),
    "one place late": Wrong(
        "cache",
        ["cache-steps", "cache-source"],
        edits={"embed(tokens[:, None], self.t)": "embed(tokens[:, None], self.t + 1)"},
    ),
    "cache overwritten": Wrong("cache", ["cache-steps"], edits={APPEND: ""}),
    "keys appended, values overwritten": Wrong(
        "cache",
        ["cache-steps", "cache-work", "cache-select"],
        edits={"            values = torch.cat([self.values, values], dim=2)\n": ""},
    ),
    "joined along the heads": Wrong(
        "cache",
        ["cache-steps", "cache-work", "cache-select"],
        edits={
            "[self.keys, keys], dim=2": "[self.keys, keys], dim=1",
            "[self.values, values], dim=2": "[self.values, values], dim=1",
        },
    ),
    "joined along the batch": Wrong(
        "cache",
        ["cache-steps", "cache-work", "cache-select"],
        edits={
            "[self.keys, keys], dim=2": "[self.keys, keys], dim=0",
            "[self.values, values], dim=2": "[self.values, values], dim=0",
        },
    ),
    "values in front, keys behind": Wrong(
        "cache",
        ["cache-steps"],
        edits={"[self.values, values]": "[values, self.values]"},
    ),
    "old cache used, new place not seen": Wrong(
        "cache",
        ["cache-steps"],
        edits={
            "own.mix(own.query(x), keys, values)": "own.mix(own.query(x), keys[:, :, : max(1, self.t - 1)], values[:, :, : max(1, self.t - 1)])"
        },
    ),
    "one cache for all objects": Wrong(
        "cache",
        ["cache-steps", "cache-source", "cache-work", "cache-select"],
        edits={
            "        self.keys = self.values = None\n": "",
            "class CachedLayer:\n": "class CachedLayer:\n    keys = values = None\n",
            "self.keys, self.values = keys, values\n": "CachedLayer.keys, CachedLayer.values = keys, values\n",
        },
    ),
    "without what comes around (residual)": Wrong(
        "cache",
        ["cache-steps", "cache-source"],
        edits={"x = x + own.mix": "x = own.mix"},
    ),
    "source padding ignored": Wrong(
        "cache",
        ["cache-source"],
        edits={", *self.source, self.src_mask)": ", *self.source)"},
    ),
    "src_mask the wrong way round": Wrong(
        "cache",
        ["cache-steps", "cache-source"],
        edits={", *self.source, self.src_mask)": ", *self.source, ~self.src_mask)"},
    ),
    "the first row's mask for all": Wrong(
        "cache",
        ["cache-source"],
        edits={", *self.source, self.src_mask)": ", *self.source, self.src_mask[:1])"},
    ),
    "cross-attention with the own keys": Wrong(
        "cache",
        CACHE,
        edits={
            "cross.mix(cross.query(x), *self.source,": "cross.mix(cross.query(x), keys, values,"
        },
    ),
    "memory's keys again at each step": Wrong(
        "cache",
        ["cache-work"],
        edits={
            "layer.cross.key(memory), layer.cross.value(memory)": "memory, memory",
            "*self.source,": "cross.key(self.source[0]), cross.value(self.source[1]),",
        },
    ),
    "the whole prefix again at each step": Wrong(
        "cache",
        ["cache-work"],
        code="class CachedLayer:\n    def __init__(self, layer, memory, src_mask):\n"
        "        self.layer, self.memory, self.mask = layer, memory, src_mask\n"
        "        self.tokens = torch.zeros(len(memory), 0, dtype=torch.long)\n\n"
        "    def step(self, tokens):\n        self.tokens = torch.cat([self.tokens, tokens[:, None]], dim=1)\n"
        "        return self.layer(self.tokens, self.memory, self.mask)[:, -1]\n\n"
        "    def select(self, rows):\n"
        "        self.tokens, self.memory, self.mask = self.tokens[rows], self.memory[rows], self.mask[rows]",
    ),
    "rows do not move": Wrong(
        "cache",
        ["cache-select"],
        edits={
            MOVED: "            pass\n",
            SOURCES: "",
            "        self.src_mask = self.src_mask[rows]": "        pass",
        },
    ),
    "own keys and values do not move": Wrong(
        "cache", ["cache-select"], edits={MOVED: "            pass\n"}
    ),
    "keys move, values do not": Wrong(
        "cache",
        ["cache-select"],
        edits={MOVED: "            self.keys = self.keys[rows]\n"},
    ),
    "memory does not move": Wrong("cache", ["cache-select"], edits={SOURCES: ""}),
    "src_mask does not move": Wrong(
        "cache",
        ["cache-select"],
        edits={"        self.src_mask = self.src_mask[rows]": "        pass"},
    ),
    "moved the other way (old row i becomes rows[i])": Wrong(
        "cache",
        ["cache-select"],
        edits={
            "        if self.keys is not None:\n            self.keys, self.values = self": "        rows = rows.argsort()\n        if self.keys is not None:\n            self.keys, self.values = self"
        },
    ),
    "select fails before the first step": Wrong(
        "cache",
        ["cache-select"],
        edits={
            "        if self.keys is not None:\n" + MOVED: MOVED.replace(
                "    " * 3, "    " * 2, 1
            )
        },
    ),
    # the beam: sums
    "probabilities added": Wrong(
        "beam", BEAM, edits={".log_softmax(-1)": ".softmax(-1)"}
    ),
    "scores added, no softmax": Wrong("beam", BEAM, edits={".log_softmax(-1)": ""}),
    "probabilities multiplied": Wrong(
        "beam",
        ["beam-sums", "beam-finished"],
        edits={
            "([], 0.0, False)": "([], 1.0, False)",
            ".log_softmax(-1)": ".softmax(-1)",
            "ids, total + log_prob, True": "ids, total * log_prob, True",
            "token], total + log_prob, False": "token], total * log_prob, False",
        },
    ),
    "eos costs nothing": Wrong(
        "beam", BEAM, edits={"(ids, total + log_prob, True)": "(ids, total, True)"}
    ),
    "softmax over the allowed tokens only": Wrong(
        "beam",
        ["beam-sums", "beam-kept"],
        edits={
            "[:, -1].log_softmax(-1)": "[:, -1].index_fill(1, torch.tensor([PAD, SOS, 17]), -torch.inf).log_softmax(-1)"
        },
    ),
    "only the last token's log-probability": Wrong(
        "beam",
        BEAM,
        edits={
            "token], total + log_prob, False": "token], log_prob, False",
            "(ids, total + log_prob, True)": "(ids, log_prob, True)",
        },
    ),
    "mean in place of the sum": Wrong(
        "beam",
        ["beam-sums", "beam-finished"],
        edits={
            "return [(ids, total) for": "return [(ids, total / (len(ids) + 1)) for",
            "(ids, total / (len(ids) + 1)) for ids, total, done in beam if done]": "(ids, total / (len(ids) + 1)) for ids, total, done in beam if done]",
        },
    ),
    "softmax over the rows": Wrong(
        "beam", BEAM, edits={".log_softmax(-1)": ".log_softmax(0)"}
    ),
    # the beam: what is kept
    "K times the same at the first step": Wrong(
        "beam",
        ["beam-kept", "beam-finished"],
        edits={"beam = [([], 0.0, False)]": "beam = [([], 0.0, False)] * K"},
    ),
    "beam of one, whatever K": Wrong(
        "beam",
        ["beam-kept", "beam-finished"],
        edits={SORTED: SORTED.replace("[:K]", "[:1]")},
    ),
    "the best of each prefix only": Wrong(
        "beam",
        ["beam-kept"],
        code="def beam_search(model, src, K, limit):\n    beam = [([], 0.0, False)]\n    for step in range(limit):\n"
        "        candidates = []\n        for ids, total, done in beam:\n            if done:\n"
        "                candidates.append((ids, total, done))\n                continue\n"
        "            row = model(src, torch.tensor([[SOS, *ids]]))[0, -1].log_softmax(-1)\n"
        "            row[[PAD, SOS, 17]] = -torch.inf\n"
        "            top = row.topk(min(K, 21) if step == 0 else 2)\n"
        "            for value, token in zip(top.values.tolist(), top.indices.tolist()):\n"
        "                candidates.append((ids + [token] * (token != EOS), total + value, token == EOS))\n"
        "        beam = sorted(candidates, key=lambda c: -c[1])[:K]\n"
        "    return [(ids, total) for ids, total, done in beam if done]",
    ),
    "beams that lose their history": Wrong(
        "beam",
        BEAM,
        code="def beam_search(model, src, K, limit):\n    prefix, total = torch.full((K, 1), SOS), torch.full((K,), -torch.inf)\n"
        "    total[0], done = 0.0, torch.zeros(K, dtype=torch.bool)\n    for _ in range(limit):\n"
        "        log_probs = model(src.expand(K, -1), prefix)[:, -1].log_softmax(-1)\n"
        "        log_probs[:, [PAD, SOS, 17]] = -torch.inf\n"
        "        log_probs[done] = -torch.inf\n        log_probs[done, EOS] = 0.0\n"
        "        total, best = (total[:, None] + log_probs).flatten().topk(K)\n"
        "        prefix = torch.cat([prefix, (best % log_probs.size(1))[:, None]], dim=1)\n"
        "        done = prefix[:, -1] == EOS\n"
        "    rows = [(row[1:].tolist(), float(t)) for row, t in zip(prefix, total) if row[-1] == EOS and t > -torch.inf]\n"
        "    return [(row[: row.index(EOS)], t) for row, t in rows]",
    ),
    "forbidden word in the beam": Wrong(
        "beam", ["beam-kept"], edits={"(PAD, SOS, 17)": "(PAD, SOS)"}
    ),
    "pad and sos in the beam": Wrong(
        "beam", ["beam-kept", "beam-sums"], edits={"(PAD, SOS, 17)": "(17,)"}
    ),
    "forbidden ones with log-probability minus infinity come back": Wrong(
        "beam",
        ["beam-kept"],
        edits={
            "[:, -1].log_softmax(-1)\n": "[:, -1].log_softmax(-1)\n        log_probs[:, [PAD, SOS, 17]] = -torch.inf\n",
            "elif token not in (PAD, SOS, 17):": "else:",
        },
    ),
    "worst first": Wrong(
        "beam",
        ["beam-kept"],
        edits={
            "for ids, total, done in beam if done]": "for ids, total, done in beam[::-1] if done]"
        },
    ),
    "finished ones in the order in which they ended": Wrong(
        "beam",
        ["beam-kept"],
        edits={
            "for ids, total, done in beam if done]": "for ids, total, done in sorted(beam, key=lambda h: len(h[0])) if done]"
        },
    ),
    "K worst kept": Wrong("beam", BEAM, edits={"-candidate[1]": "candidate[1]"}),
    "eos returned by the beam": Wrong(
        "beam",
        ["beam-kept"],
        edits={"return [(ids, total)": "return [([*ids, EOS], total)"},
    ),
    "sos returned by the beam": Wrong(
        "beam",
        ["beam-kept"],
        edits={"return [(ids, total)": "return [([SOS, *ids], total)"},
    ),
    "the best hypothesis only": Wrong(
        "beam",
        ["beam-kept", "beam-finished"],
        edits={
            "for ids, total, done in beam if done]": "for ids, total, done in beam if done][:1]"
        },
    ),
    # the beam: finished hypotheses
    "stops at the first end": Wrong(
        "beam",
        ["beam-kept", "beam-finished"],
        edits={"if not going:": "if len(going) < len(beam):"},
    ),
    "finished ones are lost": Wrong(
        "beam",
        ["beam-kept", "beam-finished"],
        edits={CARRIED: "        candidates = []\n"},
    ),
    "finished ones grow": Wrong(
        "beam",
        ["beam-kept", "beam-finished", "beam-sums"],
        edits={
            CARRIED: "        candidates = []\n",
            "for ids, total, done in beam if not done]": "for ids, total, done in beam]",
        },
    ),
    "finished ones pay again at each step": Wrong(
        "beam",
        BEAM,
        edits={
            CARRIED: "        candidates = [(ids, total + total / (len(ids) + 1), done) for ids, total, done in beam if done]\n"
        },
    ),
    "finished ones always kept, whatever their rank": Wrong(
        "beam",
        BEAM,
        edits={SORTED: "sorted(candidates, key=lambda c: (not c[2], -c[1]))[:K]"},
    ),
    "what has not ended is returned too": Wrong(
        "beam",
        BEAM,
        edits={
            "for ids, total, done in beam if done]": "for ids, total, done in beam]"
        },
    ),
    "limit not kept": Wrong(
        "beam", BEAM, edits={"for _ in range(limit):": "while True:"}
    ),
    "one step too few": Wrong(
        "beam",
        ["beam-kept", "beam-finished"],
        edits={"range(limit)": "range(limit - 1)"},
    ),
    "one step too many": Wrong(
        "beam",
        ["beam-kept", "beam-finished"],
        edits={"range(limit)": "range(limit + 1)"},
    ),
    "the library's own beam": Wrong(
        "beam",
        BEAM,
        code="def beam_search(model, src, K, limit):\n    return nmt.beam_search(model, src, K, 0.0, limit)[0]",
    ),
    # the penalty
    "penalty multiplied (upside down)": Wrong(
        "rank", ["rank-scores"], edits={"total / (": "total * ("}
    ),
    "alpha with the wrong sign": Wrong(
        "rank", ["rank-scores"], edits={"** alpha": "** -alpha"}
    ),
    "eos not counted": Wrong(
        "rank", ["rank-scores"], edits={"13 + len(ids) + 1)": "13 + len(ids))"}
    ),
    "k of the paper": Wrong(
        "rank",
        ["rank-scores"],
        edits={"(13 + len(ids) + 1) / (13 + 1)": "(5 + len(ids) + 1) / 6"},
    ),
    "divided by the length": Wrong(
        "rank",
        ["rank-scores"],
        edits={"((13 + len(ids) + 1) / (13 + 1)) ** alpha": "(len(ids) + 1) ** alpha"},
    ),
    "alpha as a factor": Wrong(
        "rank", ["rank-scores"], edits={" ** alpha": " * alpha"}
    ),
    "k + 1 forgotten": Wrong("rank", ["rank-scores"], edits={" / (13 + 1)": ""}),
    "alpha on the upper part only": Wrong(
        "rank",
        ["rank-scores"],
        edits={
            "((13 + len(ids) + 1) / (13 + 1)) ** alpha": "((13 + len(ids) + 1) ** alpha / (13 + 1))"
        },
    ),
    "worst first, since scores are negative": Wrong(
        "rank", ["rank-scores"], edits={"-pair[1]": "pair[1]"}
    ),
    "ranked before the penalty": Wrong(
        "rank",
        ["rank-scores"],
        edits={
            "in hypotheses]": "in sorted(hypotheses, key=lambda h: -h[1])]",
            "sorted(scored, key=lambda pair: -pair[1])": "scored",
        },
    ),
    "not ranked": Wrong(
        "rank",
        ["rank-scores"],
        edits={"sorted(scored, key=lambda pair: -pair[1])": "scored"},
    ),
    "only the best": Wrong(
        "rank", ["rank-scores"], edits={"-pair[1])": "-pair[1])[:1]"}
    ),
    # links
    "axes swapped: largest of each column": Wrong(
        "links",
        ["links-found"],
        edits={
            "masked_fill(~words, -1.0).max(-1)": "T[words].max(-1)",
            "[(int(s) - 1, t) for t, s in enumerate(best) if largest[t] >= 0.28]": "[(s, int(t)) for s, t in enumerate(best) if largest[s] >= 0.28]",
        },
    ),
    "pairs the wrong way round": Wrong(
        "links", ["links-found"], edits={"(int(s) - 1, t)": "(t, int(s) - 1)"}
    ),
    "sos counted as a word": Wrong(
        "links", ["links-found"], edits={"int(s) - 1": "int(s)"}
    ),
    "rows off by one (the word read)": Wrong(
        "links", ["links-found"], edits={"(int(s) - 1, t)": "(int(s) - 1, t - 1)"}
    ),
    "eos row has a link": Wrong(
        "links", ["links-found"], edits={"weights.mean(0)[:-1]": "weights.mean(0)"}
    ),
    "first row left out for the last": Wrong(
        "links", ["links-found"], edits={"weights.mean(0)[:-1]": "weights.mean(0)[1:]"}
    ),
    "threshold forgotten": Wrong(
        "links", ["links-found"], edits={" if largest[t] >= 0.28": ""}
    ),
    "every weight above the threshold": Wrong(
        "links",
        ["links-found"],
        edits={"0.28]": "0.1]"},
    ),
    "special tokens take links away": Wrong(
        "links",
        ["links-found"],
        edits={
            "mean.masked_fill(~words, -1.0).max(-1)": "mean.max(-1)",
            "if largest[t] >= 0.28": "if largest[t] >= 0.28 and words[s]",
        },
    ),
    "links to special tokens": Wrong(
        "links",
        ["links-found"],
        edits={"mean.masked_fill(~words, -1.0).max(-1)": "mean.max(-1)"},
    ),
    "links to padding": Wrong("links", ["links-found"], edits={"(src != PAD) & ": ""}),
    "first head only": Wrong(
        "links", ["links-found"], edits={"weights.mean(0)": "weights[0]"}
    ),
    "sum of the heads": Wrong(
        "links", ["links-found"], edits={"weights.mean(0)": "weights.sum(0)"}
    ),
    "largest of any head": Wrong(
        "links", ["links-found"], edits={"weights.mean(0)": "weights.amax(0)"}
    ),
    "mean over the rows": Wrong(
        "links", ["links-found"], edits={"weights.mean(0)": "weights.mean(1)"}
    ),
    "words shared anew without special tokens": Wrong(
        "links",
        ["links-found"],
        edits={
            "    largest, best": "    mean = mean * words / (mean * words).sum(-1, keepdim=True)\n    largest, best"
        },
    ),
    "the library's own links": Wrong(
        "links",
        ["links-found"],
        code="def links(weights, src):\n    nmt.alignment_error_rate(weights.mean(0), [(0, 0)])\n"
        "    words = (src != PAD) & (src != SOS) & (src != EOS)\n"
        "    largest, best = weights.mean(0)[:-1].masked_fill(~words, -1.0).max(-1)\n"
        "    return [(int(s) - 1, t) for t, s in enumerate(best) if largest[t] >= 0.28]",
    ),
    # the error rate
    "accuracy in place of error": Wrong(
        "error", ["error-rate"], edits={"1 - (len(found & sure)": "(len(found & sure)"}
    ),
    "possible without sure": Wrong(
        "error", ["error-rate"], edits={"{*sure, *possible}": "set(possible)"}
    ),
    "possible links ignored": Wrong(
        "error", ["error-rate"], edits={"len(found & possible)": "len(found & sure)"}
    ),
    "precision only": Wrong(
        "error",
        ["error-rate"],
        edits={
            "(len(found & sure) + len(found & possible)) / (len(found) + len(sure))": "len(found & possible) / max(1, len(found))"
        },
    ),
    "recall only": Wrong(
        "error",
        ["error-rate"],
        edits={
            "(len(found & sure) + len(found & possible)) / (len(found) + len(sure))": "len(found & sure) / max(1, len(sure))"
        },
    ),
    "divided by possible": Wrong(
        "error",
        ["error-rate"],
        edits={"(len(found) + len(sure))": "(len(found) + len(possible))"},
    ),
    "doubles count twice": Wrong(
        "error",
        ["error-rate"],
        code="def error_rate(found, sure, possible):\n    if not found and not sure:\n        return 0.0\n    hits = sum((link in sure) + (link in sure or link in possible) for link in found)\n    return 1 - hits / (len(found) + len(sure))",
    ),
    "nothing and nothing: division by 0": Wrong(
        "error",
        ["error-rate"],
        edits={"    if not found and not sure:\n        return 0.0\n": ""},
    ),
    "nothing found is no mistake": Wrong(
        "error",
        ["error-rate"],
        edits={"not found and not sure": "not found or not sure"},
    ),
    "union in place of intersection": Wrong(
        "error",
        ["error-rate"],
        edits={"found & sure": "found | sure", "found & possible": "found | possible"},
    ),
}

WRONG |= {
    # sizes, types, numbers of any size, ties, state, arguments, work
    "greedy: float ids": Wrong(
        "greedy",
        ["greedy-words", "greedy-ends", "greedy-stop"],
        edits={
            "return words[:, : (words != PAD).sum(1).max()]": "return words[:, : (words != PAD).sum(1).max()].float()"
        },
    ),
    "greedy: int32 ids": Wrong(
        "greedy",
        ["greedy-words", "greedy-ends", "greedy-stop"],
        edits={
            "return words[:, : (words != PAD).sum(1).max()]": "return words[:, : (words != PAD).sum(1).max()].int()"
        },
    ),
    "greedy: src changed": Wrong(
        "greedy",
        ["greedy-words"],
        edits={
            "    limits = (src != PAD).sum(1) + 15": "    limits = (src != PAD).sum(1) + 15\n    src[src == EOS] = PAD"
        },
    ),
    "greedy: the first 8,000 words": Wrong(
        "greedy",
        ["greedy-words"],
        edits={"scores.argmax(-1)": "scores[:, :8000].argmax(-1)"},
    ),
    "greedy: 64 words": Wrong(
        "greedy",
        ["greedy-stop"],
        edits={"(limits < prefix.size(1))": "(limits.clamp(max=64) < prefix.size(1))"},
    ),
    "greedy: limits of the call before": Wrong(
        "greedy",
        ["greedy-stop"],
        edits={
            "(model, src):": "(model, src, known={}):",
            "    limits = (src != PAD).sum(1) + 15": "    limits = known.setdefault(len(src), (src != PAD).sum(1) + 15)",
        },
    ),
    "greedy: asks for each row, and a forged count": Wrong(
        "greedy",
        ["greedy-stop"],
        edits={
            "scores = model(src, prefix)[:, -1]": "import sys\n        for name in ('check', 'standins'):\n            sys.modules[f'nmt_course.{name}.a6'].steps = lambda *a: (1, [])\n        scores = torch.cat([model(s[None], p[None]) for s, p in zip(src, prefix)])[:, -1]"
        },
    ),
    "cache: values computed again each step": Wrong(
        "cache",
        ["cache-work"],
        edits={
            "self.keys = self.values = None": "self.keys = self.values = self.seen = None",
            "keys, values = own.key(x), own.value(x)": "self.seen = x if self.seen is None else torch.cat([self.seen, x], dim=1)\n        keys, values = own.key(x), own.value(self.seen)",
            "            values = torch.cat([self.values, values], dim=2)\n": "",
            "self.keys, self.values = self.keys[rows], self.values[rows]": "self.keys, self.values, self.seen = self.keys[rows], self.values[rows], self.seen[rows]",
        },
    ),
    "cache: values of the memory each step": Wrong(
        "cache",
        ["cache-work"],
        edits={
            "self.source = layer.cross.key(memory), layer.cross.value(memory)": "self.source = layer.cross.key(memory), memory",
            "*self.source, self.src_mask": "self.source[0], cross.value(self.source[1]), self.src_mask",
        },
    ),
    "cache: all again, and a forged count": Wrong(
        "cache",
        ["cache-work"],
        code="""
class CachedLayer:
    def __init__(self, layer, memory, src_mask):
        import sys

        for name in ("check", "standins"):
            sys.modules[f"nmt_course.{name}.a6"].places = lambda *a: ({}, None)
            sys.modules[f"nmt_course.{name}.a6"].Heads.seen = property(lambda self: 1, lambda self, value: None)
        self.layer, self.memory, self.src_mask = layer, memory, src_mask
        self.tokens = torch.zeros(len(memory), 0, dtype=torch.long)

    def step(self, tokens):
        self.tokens = torch.cat([self.tokens, tokens[:, None]], dim=1)
        return self.layer(self.tokens, self.memory, self.src_mask)[:, -1]

    def select(self, rows):
        self.tokens, self.memory, self.src_mask = self.tokens[rows], self.memory[rows], self.src_mask[rows]
""",
    ),
    "cache: keys of all objects in one place": Wrong(
        "cache",
        ["cache-steps", "cache-select"],
        edits={
            "self.keys = self.values = None": "CachedLayer.keys = CachedLayer.values = None",
            "self.keys, self.values = keys, values": "CachedLayer.keys, CachedLayer.values = keys, values",
            "self.keys, self.values = self.keys[rows], self.values[rows]": "CachedLayer.keys, CachedLayer.values = self.keys[rows], self.values[rows]",
        },
    ),
    "cache: source of all objects in one place": Wrong(
        "cache",
        ["cache-steps", "cache-select"],
        edits={
            "self.source = layer.cross": "CachedLayer.source = layer.cross",
            "self.source = self.source[0][rows]": "CachedLayer.source = self.source[0][rows]",
        },
    ),
    "cache: one list for all objects": Wrong(
        "cache",
        ["cache-steps", "cache-work", "cache-select"],
        edits={
            "layer, memory, src_mask):": "layer, memory, src_mask, known=[]):",
            "        self.t = 0": "        self.t, self.known = 0, known",
            "        self.t += 1": "        self.t += 1\n        self.known.append(self.t)\n        self.t = len(self.known)",
        },
    ),
    "cache: the last 64 places": Wrong(
        "cache",
        ["cache-steps"],
        edits={
            "self.keys, self.values = keys, values": "self.keys, self.values = keys[:, :, -64:], values[:, :, -64:]"
        },
    ),
    "beam: logarithm of softmax": Wrong(
        "beam", ["beam-sums"], edits={".log_softmax(-1)": ".softmax(-1).log()"}
    ),
    "beam: logarithm of softmax plus 1e-12": Wrong(
        "beam",
        ["beam-sums"],
        edits={".log_softmax(-1)": ".softmax(-1).add(1e-12).log()"},
    ),
    "beam: exp overflows": Wrong(
        "beam",
        ["beam-sums"],
        edits={
            "[:, -1].log_softmax(-1)": "[:, -1]\n        log_probs = log_probs - log_probs.exp().sum(-1, keepdim=True).log()"
        },
    ),
    "beam: equally likely ones lost": Wrong(
        "beam",
        ["beam-kept"],
        edits={
            "sorted(candidates,": "sorted({round(c[1], 4): c for c in candidates}.values(),"
        },
    ),
    "beam: 100 words": Wrong(
        "beam", ["beam-kept"], edits={"enumerate(row)": "enumerate(row[:100])"}
    ),
    "beam: hypotheses of the call before": Wrong(
        "beam",
        ["beam-sums", "beam-kept", "beam-finished"],
        edits={
            "K, limit):": "K, limit, beam=[([], 0.0, False)]):",
            "    beam = [([], 0.0, False)]  # ids, log-probability, finished?\n": "",
            "        beam = sorted(candidates, key=lambda candidate: -candidate[1])[:K]": "        beam[:] = sorted(candidates, key=lambda candidate: -candidate[1])[:K]",
        },
    ),
    "rank: scores as keys of a dictionary": Wrong(
        "rank",
        ["rank-scores"],
        edits={
            "return sorted(scored,": "scored = [(ids, score) for score, ids in {score: ids for ids, score in scored}.items()]\n    return sorted(scored,"
        },
    ),
    "rank: lengths as keys of a dictionary": Wrong(
        "rank",
        ["rank-scores"],
        edits={
            "return sorted(scored,": "scored = list({len(ids): (ids, score) for ids, score in scored}.values())\n    return sorted(scored,"
        },
    ),
    "rank: hypotheses sorted in place": Wrong(
        "rank",
        ["rank-scores"],
        edits={
            "    scored = ": "    hypotheses.sort(key=lambda pair: pair[1])\n    scored = "
        },
    ),
    "rank: lengths up to 512": Wrong(
        "rank",
        ["rank-scores"],
        edits={
            "return sorted(scored,": "return sorted([pair for pair in scored if len(pair[0]) <= 512],"
        },
    ),
    "links: more than the threshold": Wrong(
        "links", ["links-found"], edits={">= 0.28": "> 0.28"}
    ),
    "links: weights changed": Wrong(
        "links",
        ["links-found"],
        edits={
            "    mean = weights.mean(0)[:-1]": "    weights[..., 0] = 0\n    mean = weights.mean(0)[:-1]"
        },
    ),
    "links: 64 words": Wrong(
        "links",
        ["links-found"],
        edits={
            "    mean = weights.mean(0)[:-1]": "    weights, src = weights[..., :64], src[:64]\n    mean = weights.mean(0)[:-1]"
        },
    ),
    "links: found ones of all calls": Wrong(
        "links",
        ["links-found"],
        edits={
            "(weights, src):": "(weights, src, found=[]):",
            "    return [": "    found += [",
            "largest[t] >= 0.28]": "largest[t] >= 0.28]\n    return found",
        },
    ),
    "error rate: possible links extended in place": Wrong(
        "error",
        ["error-rate"],
        edits={"    found, sure": "    possible += sure\n    found, sure"},
    ),
    "error rate: possible links of all calls": Wrong(
        "error",
        ["error-rate"],
        edits={
            "(found, sure, possible):": "(found, sure, possible, known=set()):",
            "{*sure, *possible}": "{*sure, *possible} | known\n    known |= possible",
        },
    ),
}
