"""Answers to the deeper page on masks, and what its check must say."""

ANSWERS = {
    "mask_works": {
        """
def mask_works(attend, x, hidden):
    other = x.clone()
    other[hidden] += 1
    return torch.allclose(attend(other)[~hidden], attend(x)[~hidden])
""": "must depend on the visible ones",
        """
def mask_works(attend, x, hidden):
    one, two = x.clone(), x.clone()
    one[hidden] += 1
    two[~hidden] = torch.randn(2, 4)
    before = attend(x)
    same = torch.allclose(attend(one)[~hidden], before[~hidden])
    return same and not torch.allclose(attend(two), before)
""": "must depend on the visible ones",
        """
def mask_works(attend, x, hidden):
    other = x.clone()
    other[~hidden] = torch.randn(2, 4)
    return not torch.allclose(attend(other)[~hidden], attend(x)[~hidden])
""": "hidden ones must not matter",
        """
def mask_works(attend, x, hidden):
    one, two = x.clone(), x.clone()
    one[hidden] += 1
    two[~hidden] = torch.randn(2, 4)
    before = attend(x)
    return torch.equal(attend(one), before) and not torch.equal(attend(two), before)
""": "compare visible results only",
        """
def mask_works(attend, x, hidden):
    one, two = x, x
    one[hidden] += 1
    two[~hidden] += 1
    return torch.allclose(attend(one), attend(x))
""": "a clone of x",
        """
def mask_works(attend, x, hidden):
    one = x.clone()
    one[hidden] += 1
    return not torch.allclose(attend(one)[~hidden], attend(x)[~hidden])
""": "not yet",
        """
def mask_works(attend, x, hidden):
    other = x.clone()
    other[~hidden] += 1
    return torch.allclose(attend(other)[hidden], attend(x)[hidden])
""": "not yet",
        """
def mask_works(attend, x, hidden):
    return False
""": "even the right mask fails",
        """
def mask_works(attend, x, hidden):
    hidden = ~hidden
    one, two = x.clone(), x.clone()
    one[hidden] += 1
    two[~hidden] = torch.randn(int((~hidden).sum()), 4)
    before, after, other = (attend(v)[~hidden] for v in (x, one, two))
    return torch.allclose(after, before) and not torch.allclose(other, before)
""": "True in hidden means",
        """
def mask_works(attend, x, hidden):
    other = x.clone()
    other[hidden] += 1
    return attend(other)[~hidden] == attend(x)[~hidden]
""": "expected",
        """
def mask_works(attend, x, hidden):
    def results(where):
        new = x.clone()
        new[where] = torch.rand_like(new[where])
        return attend(new)[~hidden]
    before = attend(x)[~hidden]
    changed = [not torch.allclose(results(w), before) for w in (hidden, ~hidden)]
    return changed == [False, True]
""": "right",
        """
def mask_works(attend, x, hidden):
    noise = torch.randn_like(x)
    pads, words = hidden[:, None].float(), (~hidden)[:, None].float()
    off = [((attend(x + noise * m) - attend(x)) * words).abs().max() > 1e-6
           for m in (pads, words)]
    return not off[0] and off[1]
""": "right",
        """
def mask_works(attend, x, hidden):
    words = [i for i, pad in enumerate(hidden.tolist()) if not pad]
    def differs(rows):
        other = x.clone()
        for i in rows:
            other[i] = torch.randn(x.size(1))
        return (attend(other)[words] != attend(x)[words]).any()
    pads = [i for i in range(len(x)) if i not in words]
    return bool(differs(words)) and not differs(pads)
""": "right",
    }
}
