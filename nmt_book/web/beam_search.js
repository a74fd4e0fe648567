// Beam search (section 6.1), of a model and of what was asked of one beforehand.

/** ((5 + length) / 6)^α: without it, short translations win. */
const penalty = (length, alpha) => ((5 + length) / 6) ** alpha;

/** Yields each step of a search for K translations: its `candidates`, `most` of them,
 * the `open` ones that go on, and all that is `found`, the best first. For a parent and
 * a step, `next` gives what may follow, {token, logProb} and more for each. */
export function* beamSearch(root, next, { K, alpha, limit, eos, most = 2 * K }) {
  const found = [];
  let open = [{ ...root, total: 0, path: [], fate: "kept" }];
  for (let t = 1; open.length; t++) {
    const all = open.flatMap((parent) => next(parent, t).map((one) => {
      const total = parent.total + one.logProb, path = [...parent.path, one.token];
      return { ...one, parent, total, path };
    }));
    const candidates = all.sort((a, b) => b.total - a.total).slice(0, most);
    open = candidates.filter(({ token }) => token !== eos).slice(0, K);
    for (const one of candidates) {
      const kept = open.includes(one) ? "kept" : "dropped";
      one.fate = one.token === eos ? "finished" : kept;
      one.score = one.total / penalty(t, alpha);
    }
    found.push(...candidates.filter(({ fate }) => fate === "finished"));
    found.sort((a, b) => b.score - a.score);
    yield { candidates, open, found };
    // Log-probabilities only fall, and the penalty is largest at the length limit.
    const reach = (open[0]?.total ?? -Infinity) / penalty(limit + 1, alpha);
    if (reach <= (found[K - 1]?.score ?? -Infinity)) return;
  }
}
