"""Other answers to the exercises of chapter 08."""

import torch

from nmt_lib.exercises import chapter08


def made(one, *changes):
    """The printed answer with other pieces of text."""
    (found,) = one._variants(changes)
    return found


def greedy(*changes):
    return made(chapter08.my_greedy, *changes)


def step(*changes):
    return made(chapter08.my_beam_step, *changes)


def best(*changes):
    return made(chapter08.best_of_all, *changes)


def by_tuples(next_log_probs, limit):
    written = ()
    for _ in range(limit):
        token = next_log_probs(written).topk(1).indices
        if token.item() == 3:
            return list(written)
        written += tuple(token.tolist())
    return torch.tensor(written)


def recursive(next_log_probs, limit, so_far=()):
    token = next_log_probs(list(so_far)).tolist()
    token = token.index(max(token))
    if token == 3 or limit == 1:
        return (*so_far, *([token] if token != 3 else []))
    return recursive(next_log_probs, limit - 1, (*so_far, token))


def one_table(beam, next_log_probs, K):
    table = torch.stack([total + next_log_probs(ids) for ids, total in beam])
    top, where = table.flatten().topk(2 * K)
    new = [
        ([*beam[i // table.size(1)][0], i % table.size(1)], t)
        for i, t in zip(where.tolist(), top.tolist(), strict=True)
    ]
    ends = [c for c in new if c[0][-1] == 3]
    return [c for c in new if c not in ends][:K], ends


toy = {}


def by_a_list(path="", probability=1.0):
    found, waiting = [], [(1.0, "")]
    while waiting:
        p, path = waiting.pop()
        for word, more in toy.get(path, {}).items():
            waiting.append((p * more, f"{path} {word}".lstrip()))
        if path not in toy:
            found.append([p, path])
    return max(found)


def by_keys(path="", probability=1.0):
    choices = toy.get(path)
    if choices is None:
        return [probability, path]
    both = [
        by_keys((path + " " + word).strip(), probability * p)
        for word, p in choices.items()
    ]
    return max(both, key=lambda pair: pair[0])


WRITE = "        written.append(token)\n"
RIGHT = {
    "my_greedy": [
        by_tuples,
        recursive,
        greedy("            break", "            return written"),
        greedy("argmax", "log_softmax(0).exp().argmax"),
        greedy("written.append(token)", "written = [*written, token]"),
    ],
    "my_beam_step": [
        one_table,
        chapter08._kept(lambda K: 2 * K, lambda K: 2 * K),
        step("total + log_prob", "torch.tensor(total) + log_prob"),
        step("c[0][-1] == nmt.EOS", "nmt.EOS in c[0]"),
        lambda *case: tuple(map(reversed, one_table(*case))),
    ],
    "best_of_all": [
        by_a_list,
        by_keys,
        best('f"{path} {word}".strip()', '(path + " " + word).lstrip()'),
    ],
}
WRONG = {
    "my_greedy": [
        greedy(
            "break", "continue", "while len(written) < limit", "for _ in range(limit)"
        ),
        greedy("probs(written)", "probs(written[:-1])"),
        greedy("probs(written)", "probs(written[::-1])"),
        greedy("< limit", "< 5"),
        greedy("return written", "return [w for w in written if w > 3]"),
        greedy("return written", "return sorted(written)"),
        greedy(WRITE, WRITE + "        return written\n"),
        greedy("argmax", "argsort"),
        greedy("return written", "return len(written)"),
        lambda next_log_probs, limit: [5, 4, 4, 6],
    ],
    "my_beam_step": [
        step("nmt.EOS", "nmt.SOS"),
        step("return [c for", "return [(list(c[0]), 0.0) for"),
        step("2 * K", "3 * K"),
        step("2 * K", "2"),
        step("[:K]", "[:2]"),
        step("(*ids, token)", "(token, *ids)"),
        step("    return", "    return beam, []\n    return"),
    ],
    "best_of_all": [
        best("max", "sum"),
        best("1.0", "0.5"),
        best("probability * p", "probability * p * p"),
        lambda: (0.324, "un chien court"),
        lambda: ("un chien court", 0.324),
        lambda: max(toy[""].items()),
        lambda path, probability: (probability, path),
    ],
}
