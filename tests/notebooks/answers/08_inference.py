"""Answers to the stubs of chapter 08, and what its checks must say."""

GREEDY = """def my_greedy(next_log_probs, limit):
    written = {start}
    while len(written) < {limit}:
        token = int(next_log_probs({seen}).{best}())
        if token == nmt.EOS:
            {end}
        written.append(token)
    return written"""


def greedy(limit="limit", seen="written", best="argmax", end="break", start="[]"):
    return GREEDY.format(limit=limit, seen=seen, best=best, end=end, start=start)


STEP = """def my_beam_step(beam, next_log_probs, K):
    candidates = []
    for ids, total in beam:
        p = next_log_probs(ids)
        mine = [((*ids, i), {join}) for i in range(len(p))]
        candidates += sorted(mine, key=lambda c: -c[1])[:{each}]
    best = sorted(candidates, key=lambda c: {key})[: {n}]
    finished = [c for c in {ended} if c[0][-1] == nmt.EOS]
    going = [c for c in best if {going}][:K]
    return going, finished"""


def step(
    join="total + p[i].item()",
    each="99",
    n="2 * K",
    ended="best",
    going="c[0][-1] != nmt.EOS",
    key="-c[1]",
):
    parts = {"join": join, "each": each, "n": n, "ended": ended}
    return STEP.format(**parts, going=going, key=key)


ALL = """def best_of_all(path="", probability=1.0):
    if path not in toy:
        return {end}
    return {choose}(
        best_of_all({new}, {total})
        for word, p in toy[path].items()
    )"""


def best(
    end="(probability, path)",
    choose="max",
    new='f"{path} {word}".strip()',
    total="probability * p",
):
    return ALL.format(end=end, choose=choose, new=new, total=total)


LAST = """def best_of_all(path="", probability=1.0):
    found = probability, path
    for word, p in toy.get(path, {}).items():
        found = best_of_all(f"{path} {word}".strip(), probability * p)
    return found"""

ANSWERS = {
    "my_greedy": {
        greedy(end="written.append(token); break"): "<eos> should not be in",
        greedy(start="[2]", limit="limit + 1", seen="written[1:]"): "<sos> should not",
        greedy(seen="[]"): "does not see",
        greedy(limit="limit - 1"): "before the limit",
        greedy(end="written.append(token); break").replace(
            "return written", "return written[:-1]"
        ): "before the limit",
        greedy(limit="limit + 1"): "beyond the limit",
        greedy(limit="99"): "raises RuntimeError: the model is asked for",
        greedy(best="argmin"): "least likely",
        greedy(best="max"): "argmax is its index",
        greedy(start="[2]", limit="limit + 1"): "should not hold <sos>",
        greedy(end="return token"): "expected",
        greedy(end="continue"): "it never stops",
        greedy(seen="written[-1:]"): "expected",
        greedy(end="return written"): "right",
        greedy(best="log_softmax(0).exp().argmax"): "right",
        """def my_greedy(next_log_probs, limit):
    written = []
    for _ in range(limit):
        token = next_log_probs(tuple(written)).topk(1).indices
        if token.item() == 3:
            return written
        written += token.tolist()
    return torch.tensor(written)""": "right",
        """def my_greedy(next_log_probs, limit, so_far=()):
    token = next_log_probs(list(so_far)).tolist()
    token = token.index(max(token))
    if token == nmt.EOS or len(so_far) + 1 == limit:
        return (*so_far, *([token] if token != nmt.EOS else []))
    return my_greedy(next_log_probs, limit, (*so_far, token))""": "right",
    },
    "my_beam_step": {
        step(n="K"): "not K",
        step(ended="candidates"): "among the best 2K",
        step(join="p[i].item()"): "to the total",
        step(join="total * p[i].item()"): "not multiplied",
        step(each="1"): "not the best of each",
        step(going="True"): "should not go on",
        step(key="c[1]"): "expected",
        step(n="99").replace("going =", "best = best[:2 * K]; going ="): "among",
        step().replace("return going, finished", "return finished, going"): "expected",
        step().replace("(*ids, i)", "(i,)"): "expected",
        step().replace("return going, finished", "return going"): "two lists",
        step().replace("going, finished", "going + finished"): "two lists",
        step(): "right",
        step(each="2 * K"): "right",
        step().replace("p[i].item()", "p[i]").replace("[]", "list()"): "right",
        """def my_beam_step(beam, next_log_probs, K):
    table = torch.stack([total + next_log_probs(ids) for ids, total in beam])
    top, where = table.flatten().topk(2 * K)
    new = [([*beam[i // table.size(1)][0], i % table.size(1)], t)
           for i, t in zip(where.tolist(), top.tolist())]
    ends = [c for c in new if c[0][-1] == 3]
    return [c for c in new if c not in ends][:K], ends""": "right",
    },
    "best_of_all": {
        """def best_of_all(path="", probability=1.0):
    while path in toy:
        word, p = max(toy[path].items(), key=lambda item: item[1])
        path, probability = f"{path} {word}".strip(), probability * p
    return probability, path""": "that is greedy",
        best(total="p"): "the last one",
        best(total="probability + p"): "not added",
        best(total="probability + p").replace("=1.0", "=0.0"): "not added",
        best(new='f"{path} {word}"'): "no choices after it",
        best(end="(path, probability)"): "expected",
        best(choose="min"): "least likely",
        best().replace("return max", "return next"): "the first branch",
        LAST: "the last branch",
        "best_of_all = lambda: ('un chien court', 0.324)": "wrong way round",
        "best_of_all = lambda: (0.324, ' un chien court')": "begins with a space",
        "best_of_all = lambda: (0.4, 'un chien court')": "the first one",
        best(choose="list"): "expected",
        """def best_of_all(path="", probability=1.0):
    return max(((math.prod(p), " ".join(words)) for words, p in (
        ((a, b, c), (toy[""][a], toy[a][b], toy[f"{a} {b}"][c]))
        for a in toy[""] for b in toy[a] for c in toy[f"{a} {b}"])))""": "right",
        best(new='(path + " " + word).lstrip()'): "right",
        """def best_of_all(path="", probability=1.0):
    choices = toy.get(path)
    if choices is None:
        return [probability, path]
    return max([best_of_all((path + " " + w).strip(), probability * p)
                for w, p in choices.items()], key=lambda pair: pair[0])""": "right",
    },
}
