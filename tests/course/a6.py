"""A6: unusual right answers, and wrong ones with the parts where they must fail."""

RIGHT = {
    "greedy": {
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
    keep = torch.arange(words.size(1)) < limits[:, None]
    keep = keep & ((words == EOS).cumsum(1) == 0)
    return (words * keep)[:, keep.any(0)]
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
    rows = [found[b] for b in range(len(src))]
    return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=PAD)
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
        keys, values = (torch.cat(k[-29:], 2) for k in (self.keys, self.values))
        x = x + self.layer.own.mix(self.layer.own.query(x), keys, values)
        q = self.layer.cross.query(x)
        y = self.layer.cross.mix(q, self.memory_keys, self.memory_values, self.mask)
        return (x + y).squeeze(1)
    def select(self, rows):
        self.keys = [key[rows] for key in self.keys]
        self.values = [value[rows] for value in self.values]
        self.memory_keys = self.memory_keys[rows]
        self.memory_values = self.memory_values[rows]
        self.mask = self.mask[rows]
""",
        "new positions in front, a module": """
class CachedLayer(torch.nn.Module):
    def __init__(self, layer, memory, src_mask):
        super().__init__()
        self.layer = layer
        self.held = {"k": None, "v": None, "m": src_mask}
        self.held |= {"K": layer.cross.key(memory), "V": layer.cross.value(memory)}
        self.position = 0
    def step(self, tokens):
        x = self.layer.embed(tokens.view(len(tokens), 1), self.position)
        new = {"k": self.layer.own.key(x), "v": self.layer.own.value(x)}
        for name in "kv":
            if (old := self.held[name]) is not None:
                new[name] = torch.cat([new[name], old[:, :, :28]], dim=-2)
        self.held |= new
        k, v, mask, K, V = self.held.values()
        x = x + self.layer.own.mix(self.layer.own.query(x), k, v, None)
        x = x + self.layer.cross.mix(self.layer.cross.query(x), K, V, mask)
        self.position += 1
        return x.flatten(1)
    def select(self, rows):
        for name, part in self.held.items():
            self.held[name] = None if part is None else part[rows]
""",
    },
    "beam": {
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
            allowed = [i for i in range(len(logs)) if i not in {PAD, SOS, 17}]
            candidates += [(total + logs[i], (*ids, i)) for i in allowed]
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
        scores = model(src.expand(len(prefix), src.size(1)), prefix)[:, -1].double()
        log_probs = torch.log(torch.softmax(scores, dim=1))
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
    finished.sort(key=lambda pair: -pair[1])
    return [(ids[:-1], total) for ids, total in finished]
""",
    },
    "rank": {
        "logarithms": """
def rank(hypotheses, alpha):
    def score(ids, total):
        return total * math.exp(-alpha * (math.log(14 + len(ids)) - math.log(14)))
    scored = [(ids, score(ids, total)) for ids, total in hypotheses]
    return sorted(scored, key=lambda item: item[1])[::-1]
""",
        "tensors": """
def rank(hypotheses, alpha):
    totals = torch.tensor([total for _, total in hypotheses], dtype=torch.float64)
    lengths = torch.tensor([len(ids) + 1 for ids, _ in hypotheses], dtype=torch.float64)
    scores = totals / ((13 + lengths) / (13 + 1)) ** alpha
    order = scores.argsort(descending=True).tolist()
    return [(hypotheses[i][0], scores[i]) for i in order]
""",
    },
    "links": {
        "topk": """
def links(weights, src):
    words = [s for s, i in enumerate(src.tolist()) if i not in (PAD, SOS, EOS)]
    value, position = weights.sum(0).div(len(weights))[:, words].topk(1, dim=1)
    found = (value >= 0.28).flatten().tolist()[:-1]
    return [(position[t].item(), t) for t, is_link in enumerate(found) if is_link]
""",
        "the words cut out": """
def links(weights, src):
    n = int((src != PAD).sum()) - 2
    mean = weights.mean(dim=0)[:-1, 1 : 1 + n]
    return {(int(row.argmax()), t) for t, row in enumerate(mean) if row.max() >= 0.28}
""",
    },
    "error": {
        "sums over the links": """
def error_rate(found, sure, possible):
    found, sure, possible = map(dict.fromkeys, (found, sure, possible))
    all_of_them = len(found) + len(sure)
    good = sum(2 if link in sure else 1 if link in possible else 0 for link in found)
    return (all_of_them - good) / max(all_of_them, 1)
""",
        "set methods": """
def error_rate(found, sure, possible):
    a, s = frozenset(found), frozenset(sure)
    p = s.union(possible)
    if len(a) + len(s) == 0:
        return 0
    return 1 - (len(a.intersection(s)) + len(a.intersection(p))) / (len(a) + len(s))
""",
    },
    "fault": {
        "in single quotes": """
suspect = 'KVCache.extend'
""",
        "as a variable": """
name = "KVCache.extend"
suspect = name
""",
    },
}

# fmt: off
WRONG = {
    "forbidden scores set to 0": ("greedy", "greedy-words", "= -torch.inf → = 0.0"),
    "sos returned": ("greedy", "greedy-ends", "prefix[:, 1:]\n → prefix\n"),
    "one call more after the last <eos>": ("greedy", "greedy-stop",
        "    words = prefix →     model(src, prefix)\n    words = prefix"),
    "cache: no window": ("cache", "cache-steps",
        "keys[:, :, -29:], values[:, :, -29:] → keys, values"),
    "source padding ignored": ("cache", "cache-source",
        ", *self.source, self.src_mask) → , *self.source)"),
    "memory's keys again at each step": ("cache", "cache-work",
        "layer.cross.key(memory), layer.cross.value(memory) → memory, memory",
        "*self.source, → cross.key(self.source[0]), cross.value(self.source[1]),"),
    "select starts the positions anew": ("cache", "cache-select",
        "self.src_mask = self.src_mask[rows]"
        " → self.src_mask, self.t = self.src_mask[rows], 0"),
    "beam: logarithm of softmax": ("beam", "beam-sums",
        ".log_softmax(-1) → .softmax(-1).log()"),
    "worst first": ("beam", "beam-kept",
        "for ids, total, done in beam if done]"
        " → for ids, total, done in beam[::-1] if done]"),
    "one step too many": ("beam", "beam-finished beam-kept",
        "range(limit) → range(limit + 1)"),
    "alpha as a factor": ("rank", "rank-scores", " ** alpha →  * alpha"),
    "links: more than the threshold": ("links", "links-found", ">= 0.28 → > 0.28"),
    "possible without sure": ("error", "error-rate",
        "{*sure, *possible} → set(possible)"),
    "another function of the file": ("fault", "fault-found",
        "KVCache.extend → KVCache.select"),
}
# fmt: on
