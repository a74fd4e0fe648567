"""Answers to the stubs of chapter 10, and what its checks must say."""

PRECISION = """def my_precision(output, reference, n):
    def cut(words, end):
        return [tuple(words[i : i + n]) for i in range(len(words) - n + end)]
    mine, left = cut(output, {end}), cut(reference, 1)
    total, found = {total}, 0
    for gram in mine:
        if gram in left:
            found += 1
            {used}
    return {result}"""


def precision(
    end="1", total="len(mine)", used="left.remove(gram)", result="found / total"
):
    return PRECISION.format(end=end, total=total, used=used, result=result)


BLEU = """def my_bleu(counts):
    p, (c, r) = counts[:4] / counts[4:8], counts[8:].tolist()
    return {times} * {penalty} * {mean}"""
MEAN = "p.log().mean().exp().item()"


def bleu(times="100", penalty="min(1, math.exp(1 - r / c))", mean=MEAN):
    return BLEU.format(times=times, penalty=penalty, mean=mean)


PAIRED = """def my_paired(a, b, draws):
    wins = 0
    for rows in draws:
        wins += {wins}
    return {result}"""
WINS = "bleu_of(a[rows].sum(0)) > bleu_of(b[rows].sum(0))"


def paired(wins=WINS, result="wins / len(draws)"):
    return PAIRED.format(wins=wins, result=result)


OVERLAP = """def my_precision(output, reference, n):
    left, found = reference[:], 0
    for i in range(len(output) - n + 1):
        for j in range(len(left) - n + 1):
            if left[j : j + n] == output[i : i + n]:
                left[j : j + n] = [None] * n
                found += 1
                break
    return found / (len(output) - n + 1)"""

ANSWERS = {
    "my_precision": {
        precision(used="pass"): "not clipped",
        precision(result="found"): "the number found",
        precision(total="len(left)"): "not of the reference",
        precision(end="0"): "the last n-gram is missing",
        precision(end="0", total="len(output) - n + 1"): "one too short",
        precision(result="len({*mine} & {*cut(reference, 1)}) / len({*mine})"): "sets",
        precision(used="left = [g for g in left if g != gram]"): "not just once",
        precision(result="100 * found / total"): "percent",
        """def my_precision(output, reference, n):
    found = 0
    for i in range(len(output) - n + 1):
        gram = output[i : i + n]
        for j in range(len(reference) - n + 1):
            if reference[j : j + n] == gram:
                reference[j : j + n] = [None] * n
                found += 1
                break
    return found / (len(output) - n + 1)""": "changes the list",
        precision(total="len(output)"): "not of its words",
        precision(end="0").replace("(reference, 1)", "(reference, 0)"): "in both",
        precision(
            result="sum(g in mine for g in cut(reference, 1)) / len(mine)"
        ): "other way round",
        precision().replace("tuple(", "frozenset("): "another order",
        precision().replace("tuple(", "''.join("): "expected",
        """def my_precision(output, reference, n):
    grams = {" ".join(output[i : i + n]) for i in range(len(output) - n + 1)}
    text, mine = " ".join(reference), " ".join(output)
    found = sum(min(mine.count(g), text.count(g)) for g in grams)
    return found / (len(output) - n + 1)""": "expected",
        OVERLAP: "n-grams overlap",
        precision().replace("- n +", "- 1 +").replace("i + n", "i + 1"): "expected",
        precision(): "right",
        precision(result="float(f'{found / total:.8f}')"): "right",
        """def my_precision(output, reference, n):
    k = [Counter(zip(*(words[i:] for i in range(n)))) for words in (output, reference)]
    return (k[0] & k[1]).total() / k[0].total()""": "right",
        """def my_precision(output, reference, n):
    o, r = (["\\t".join(w[i : i + n]) for i in range(len(w) - n + 1)]
            for w in (output, reference))
    return sum(min(o.count(g), r.count(g)) for g in set(o)) / len(o)""": "right",
    },
    "my_bleu": {
        bleu(penalty="1"): "brevity penalty is missing",
        bleu(penalty="math.exp(1 - r / c)"): "no reward",
        bleu(penalty="min(1, math.exp(1 - c / r))"): "swapped",
        bleu(penalty="min(1, c / r)"): "to the power",
        bleu(times="1"): "factor 100",
        bleu(mean="p.prod().item()"): "1/4 is missing",
        bleu(mean="p.mean().item()"): "arithmetic mean; take",
        bleu(penalty="1", mean="p.mean().item()"): "without the brevity",
        bleu(penalty="max(1, math.exp(1 - r / c))"): "expected",
        bleu(mean="p.log().mean().item()"): "expected",
        bleu(mean="p[:2].log().mean().exp()"): "expected",
        bleu(mean="p.prod() ** (1 / 4)"): "right",
        bleu(penalty="(1 if c > r else math.exp(1 - r / c))"): "right",
        """def my_bleu(counts):
    *k, c, r = counts.tolist()
    logs = [math.log(k[i] / k[i + 4]) / 4 for i in range(4)]
    return 100 * math.exp(min(0, 1 - r / c) + sum(logs))""": "right",
    },
    "my_paired": {
        paired(WINS.replace(">", ">=")): "a tie",
        paired(WINS.replace(">", "<")): "how often B wins",
        paired("sum(map(bleu_of, a[rows])) > sum(map(bleu_of, b[rows]))"): "no mean of",
        paired(result="wins"): "the number of samples",
        paired(result="100 * wins / len(draws)"): "percent",
        paired("bleu_of(a[rows].sum(0)) > bleu_of(b.sum(0))"): "the same rows",
        paired("bleu_of(a.sum(0)) > bleu_of(b.sum(0))"): "one comparison for each",
        paired(result="1 - wins / len(draws)"): "does *not* win",
        paired(WINS.replace("[rows]", "[rows.unique()]")): "counts twice",
        paired(result="wins / len(a)"): "expected",
        paired(WINS.replace("b[rows]", "b[draws[0]]")): "expected",
        paired("bleu_of(a[rows].sum(0)) - bleu_of(b[rows].sum(0))"): "expected",
        paired("bleu_of(a[rows]) > bleu_of(b[rows])"): "raises",
        paired(): "right",
        paired(result="torch.tensor(wins / len(draws))"): "right",
        """def my_paired(a, b, draws):
    scores = [[bleu_of(k) for k in x[draws].sum(1)] for x in (a, b)]
    wins = torch.tensor(scores[0]) > torch.tensor(scores[1])
    return wins.double().mean().item()""": "right",
    },
}
