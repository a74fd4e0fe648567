"""A5: unusual right answers, and wrong ones with the parts where they must fail."""

RIGHT = {
    "shift": {
        "arithmetic": """
def shift(tgt):
    last = (tgt == 3).long()
    return (tgt * (1 - last) + 11 * last)[:, :-1], tgt[:, 1:]
""",
        "where": """
def shift(tgt):
    read = tgt[:, :-1]
    return torch.where(read == 3, 11, read), tgt[:, 1:].clone()
""",
    },
    "loss": {
        "one-hot": """
def mean_loss(logits, tgt_out):
    real = tgt_out != 11
    goal = nn.functional.one_hot(tgt_out[real], logits.size(-1))
    logp = nn.LogSoftmax(dim=1)(logits[real])
    return -torch.einsum("nv,nv->", goal.to(logp.dtype), logp) / goal.sum()
""",
        "weights, one more dimension": """
def mean_loss(logits, tgt_out):
    keep = tgt_out.ne(11)
    distribution = torch.distributions.Categorical(logits=logits[keep])
    return -distribution.log_prob(tgt_out[keep]).mean().reshape(1)
""",
    },
    "smooth": {
        "softmax cross-entropy as a difference": """
def smoothed_loss(logits, tgt_out):
    V, eps = logits.shape[-1], 0.17
    goal = nn.functional.one_hot(tgt_out, V) * (1 - eps) + eps / (V - 1)
    goal = goal.index_fill(-1, torch.tensor([11]), 0.0)
    each = logits.logsumexp(-1) - (goal * logits).sum(-1)
    return each.where(tgt_out != 11, 0).sum() / (tgt_out != 11).sum()
""",
        "masked twice": """
def smoothed_loss(logits, tgt_out):
    logp, keep = logits.log_softmax(-1), tgt_out != 11
    nll = -logp.gather(-1, tgt_out.unsqueeze(-1)).squeeze(-1)
    names = [v for v in range(logits.size(-1)) if v != 11]
    spread = -logp[..., names].mean(-1)
    each = (1 - 0.17) * nll.masked_fill(~keep, 0) + 0.17 * spread.masked_fill(~keep, 0)
    return each.sum() / keep.sum()
""",
    },
    "rate": {
        "torch": """
def rate(step, d_model, top=None):
    step = torch.tensor(float(step), dtype=torch.float64)
    value = torch.minimum(step.rsqrt(), step / 370**1.5) / math.sqrt(d_model)
    return value if top is None else value * top / (370 * d_model) ** -0.5
""",
        "a call to itself": """
def rate(step, d_model, top=None):
    if top is not None:
        return top * rate(step, d_model) / rate(370, d_model)
    smaller = min(1 / math.sqrt(step), step / (370 * math.sqrt(370)))
    return smaller / math.sqrt(d_model)
""",
    },
    "update": {
        "one backward": """
def update(model, optimizer, group, loss_of):
    model.train()
    tokens = torch.stack([(batch[-1] != 11).sum() for batch in group]).sum()
    loss = torch.stack([loss_of(model, batch) for batch in group]).sum() / tokens
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(list(model.parameters()), 1.3)
    optimizer.step()
    return loss
""",
        "zero_grad at the end": """
def update(model, optimizer, group, loss_of):
    n, total = sum((b[2] != 11).sum().item() for b in group), 0
    model.train()
    for b in group:
        loss = loss_of(model, b) / n
        loss.backward()
        total += loss.detach()
    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.3)
    optimizer.step()
    optimizer.zero_grad(set_to_none=False)
    return total
""",
    },
    "validate": {
        "a copy of the model": """
def validate(model, batches, loss_of):
    import copy
    quiet = copy.deepcopy(model).eval().requires_grad_(False)
    nats = [loss_of(quiet, batch).item() for batch in batches]
    n = sum(sum(1 for t in b[2].flatten().tolist() if t != 11) for b in batches)
    return sum(nats) / n, math.exp(sum(nats) / n)
""",
        "decorated": """
@torch.no_grad()
def validate(model, batches, loss_of):
    was = model.training
    model.eval()
    nats = sum(loss_of(model, b) for b in batches)
    n = sum((b[2] != 11).sum() for b in batches)
    model.train(was)
    return nats / n, (nats / n).exp()
""",
    },
    "overfit": {
        "the functions of parts 1 and 2": """
def overfit(model, src, tgt):
    tgt_in, tgt_out = shift(tgt)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02, betas=(0.9, 0.98))
    losses = []
    while not losses or losses[-1] > 0.05:
        loss = mean_loss(model(src, tgt_in), tgt_out)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses
""",
        "warm-up, a scheduler": """
def overfit(model, src, tgt):
    optimizer = torch.optim.RAdam(model.parameters(), lr=0.05)
    warm_up = lambda done: min(1.0, (done + 1) / 10)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, warm_up)
    tgt_out, losses = tgt[:, 1:], []
    for _ in range(120):
        distribution = torch.distributions.Categorical(logits=model(src, tgt[:, :-1]))
        loss = -distribution.log_prob(tgt_out)[tgt_out != 11].mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        losses.append(loss.item())
    return losses
""",
    },
    "choose": {
        "running minimum": """
def choose(history, patience):
    import itertools
    losses = [row["valid_loss"] for row in history]
    lower = lambda a, b: b if b < a or a != a else a
    lowest = list(itertools.accumulate(losses, lower))
    for i in range(len(history)):
        first = lowest.index(lowest[i])
        if i - first == patience or i == len(history) - 1:
            return history[first]["step"]
""",
        "recursion": """
def choose(history, patience, best=None, left=None):
    left = patience if left is None else left
    if not history or left == 0:
        return best["step"]
    row, worst = history[0], best is None or math.isnan(best["valid_loss"])
    if worst or row["valid_loss"] < best["valid_loss"]:
        return choose(history[1:], patience, row, patience)
    return choose(history[1:], patience, best, left - 1)
""",
    },
    "fault": {
        "in single quotes": """
suspect = 'make_batch'
""",
        "as a variable": """
name = "make_batch"
suspect = name
""",
    },
}

# fmt: off
WRONG = {
    "shift: tgt changed": ("shift", "shift-marks",
        "tgt_in.masked_fill( → tgt_in.masked_fill_("),
    "loss: 50,000 tokens": ("loss", "loss-value",
        "    largest = "
        " →     logits = logits[..., :50_000]\n"
        "    tgt_out = tgt_out.clamp(max=49_999)\n    largest = "),
    "a plain number": ("loss", "loss-large",
        "-right[real].mean() → (-right[real].mean()).item()"),
    "a first loss above 10 is never kept": ("choose", "choose-marks",
        "math.inf, None → 10.0, None"),
    "inf at <pad> times 0": ("loss", "loss-tokens",
        "-right[real].mean() → -(right * real).sum() / real.sum()"),
    "smoothed and detached": ("smooth", "smooth-goal", ".mean() → .mean().detach()"),
    "rate: 100,000 steps": ("rate", "rate-curve",
        "min(step**-0.5 → min(min(step, 100_000) ** -0.5"),
    "top: divided by the peak twice": ("rate", "rate-top",
        "top * math.sqrt(d_model * 370) → top * d_model * 370"),
    "mode as it comes": ("update", "update-step", "    model.train()\n → "),
    "each batch by its own tokens": ("update", "update-group",
        "(loss / n_tokens).backward() → (loss / (batch[2] != 11).sum()).backward()"),
    "clipped with the largest number's norm": ("update", "update-clip",
        "model.parameters(), 1.3 → model.parameters(), 1.3, norm_type=math.inf"),
    "only the last batch validated": ("validate", "validate-mean",
        "total += loss_of → total = loss_of"),
    "eval forgotten": ("validate", "validate-mode", "    model.eval()\n → "),
    "<pad> learnt too": ("overfit", "overfit-marks", "tgt_out != 11 → tgt_out != 0"),
    "another case": ("fault", "fault-found", "get(7) → get(1)"),
}
# fmt: on
