"""A5: right answers of other shapes, and wrong ones with the parts where they must fail."""

from tests.course.kit import Wrong

RIGHT = {
    "shift": {
        "where": """
def shift(tgt):
    read = tgt[:, :-1]
    return torch.where(read == 3, 11, read), tgt[:, 1:].clone()
""",
        "row by row": """
def shift(tgt):
    read, said = [], []
    for row in tgt.tolist():
        tokens = [t for t in row if t != 11]
        for half, part in ((read, tokens[:-1]), (said, tokens[1:])):
            half.append(part + [11] * (len(row) - 1 - len(part)))
    return torch.tensor(read), torch.tensor(said)
""",
        "in place, on a copy": """
def shift(tgt):
    tgt_in = tgt.clone()[:, :-1]
    tgt_in[tgt_in == 3] = 11
    return [tgt_in, tgt[:, 1:]]
""",
        "narrow and roll": """
def shift(tgt):
    length = tgt.size(1) - 1
    tgt_out = tgt.roll(-1, dims=1)[:, :length]
    tgt_in = tgt.masked_fill(tgt.eq(3), 11).narrow(1, 0, length)
    return tgt_in, tgt_out
""",
        "arithmetic": """
def shift(tgt):
    last = (tgt == 3).long()
    return (tgt * (1 - last) + 11 * last)[:, :-1], tgt[:, 1:]
""",
    },
    "loss": {
        "logsumexp": """
def mean_loss(logits, tgt_out):
    real = tgt_out != 11
    scores, right = logits[real], tgt_out[real]
    return (scores.logsumexp(-1) - scores[torch.arange(len(right)), right]).mean()
""",
        "log-softmax, twice is no harm": """
def mean_loss(logits, tgt_out):
    logp = logits.log_softmax(-1).log_softmax(-1)
    keep = (tgt_out != 11).float()
    picked = torch.gather(logp, 2, tgt_out.unsqueeze(2)).squeeze(2)
    return -(picked * keep).sum() / keep.sum()
""",
        "one-hot": """
def mean_loss(logits, tgt_out):
    goal = nn.functional.one_hot(tgt_out, logits.size(-1)) * (tgt_out != 11).unsqueeze(-1)
    logp = nn.LogSoftmax(dim=2)(logits)
    return -torch.einsum("btv,btv->", goal.to(logp.dtype), logp) / goal.sum()
""",
        "loops": """
def mean_loss(logits, tgt_out):
    total, n = 0.0, 0
    for scores, right in zip(logits.flatten(0, 1), tgt_out.flatten()):
        if right.item() != 11:
            moved = scores - scores.max().detach()
            total = total + moved.exp().sum().log() - moved[right]
            n += 1
    return total / n
""",
        "double precision, sums of sentences": """
def mean_loss(logits, tgt_out):
    z = logits.double()
    z = z - z.amax(dim=-1, keepdim=True)
    z = z - z.exp().sum(-1, keepdim=True).log()
    z = z.gather(-1, tgt_out[..., None]).squeeze(-1)
    counts = (tgt_out != 11).sum(1)
    return -sum((row * (ids != 11)).sum() for row, ids in zip(z, tgt_out)) / counts.sum()
""",
        "weights, one more dimension": """
def mean_loss(logits, tgt_out):
    distribution = torch.distributions.Categorical(logits=logits)
    surprise = -distribution.log_prob(tgt_out)
    return surprise.masked_select(tgt_out.ne(11)).mean().reshape(1)
""",
    },
    "smooth": {
        "a goal of its own": """
def smoothed_loss(logits, tgt_out):
    V = logits.size(-1)
    goal = torch.full_like(logits, 0.17 / (V - 1))
    goal[..., 11] = 0.0
    goal.scatter_add_(-1, tgt_out[..., None], torch.full_like(goal[..., :1], 1 - 0.17))
    each = -(goal * logits.log_softmax(-1)).sum(-1)
    return each[tgt_out != 11].mean()
""",
        "masked twice": """
def smoothed_loss(logits, tgt_out):
    logp, keep = logits.log_softmax(-1), tgt_out != 11
    nll = -logp.gather(-1, tgt_out.unsqueeze(-1)).squeeze(-1)
    names = [v for v in range(logits.size(-1)) if v != 11]
    spread = -logp[..., names].mean(-1)
    return ((1 - 0.17) * nll.masked_fill(~keep, 0) + 0.17 * spread.masked_fill(~keep, 0)).sum() / keep.sum()
""",
        "Kullback-Leibler and the entropy": """
def smoothed_loss(logits, tgt_out):
    real = tgt_out != 11
    logp, right = logits[real].log_softmax(-1), tgt_out[real]
    n, V = logp.shape
    goal = torch.ones(n, V)
    goal[:, 11] = 0
    goal = 0.17 * goal / goal.sum(-1, keepdim=True)
    goal[torch.arange(n), right] += 0.83
    kl = nn.functional.kl_div(logp, goal, reduction="sum")
    return (kl + torch.special.entr(goal).sum()) / n
""",
        "softmax cross-entropy as a difference": """
def smoothed_loss(logits, tgt_out):
    V, eps = logits.shape[-1], 0.17
    goal = nn.functional.one_hot(tgt_out, V) * (1 - eps) + eps / (V - 1)
    goal = goal.index_fill(-1, torch.tensor([11]), 0.0)
    each = logits.logsumexp(-1) - (goal * logits).sum(-1)
    return (each * (tgt_out != 11)).sum() / (tgt_out != 11).sum()
""",
        "loops": """
def smoothed_loss(logits, tgt_out):
    losses = []
    for b in range(tgt_out.size(0)):
        for t in range(tgt_out.size(1)):
            y = int(tgt_out[b, t])
            if y == 11:
                continue
            logp = logits[b, t] - torch.logsumexp(logits[b, t], 0)
            others = torch.cat([logp[:11], logp[11 + 1 :]])
            losses.append(-(1 - 0.17) * logp[y] - 0.17 * others.mean())
    return torch.stack(losses).mean()
""",
    },
    "rate": {
        "if": """
def rate(step, d_model, top=None):
    if top is None:
        top = 1 / math.sqrt(d_model * 370)
    if step < 370:
        return top * step / 370
    return top * (370 / step) ** 0.5
""",
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
    return 1 / math.sqrt(d_model) * min(1 / math.sqrt(step), step / (370 * math.sqrt(370)))
""",
        "logarithms": """
def rate(step, d_model, top=None):
    curve = min(-0.5 * math.log(step), math.log(step) - 1.5 * math.log(370))
    if top is None:
        return math.exp(curve - 0.5 * math.log(d_model))
    return top * math.exp(curve + 0.5 * math.log(370))
""",
        "step and warm-up as a fraction": """
def rate(step, d_model, top=None):
    warmup = 370
    height = (d_model * warmup) ** -0.5 if top is None else top
    return height * min(step / warmup, (warmup / step) ** 0.5)
""",
    },
    "update": {
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
        "gradients of sums, divided afterwards": """
def update(model, optimizer, group, loss_of):
    model.train(True)
    model.zero_grad()
    tokens, nats = 0, 0.0
    for src, tgt_in, tgt_out in group:
        loss = loss_of(model, (src, tgt_in, tgt_out))
        loss.backward()
        nats += float(loss)
        tokens += int(tgt_out.ne(11).sum())
    for p in model.parameters():
        p.grad /= tokens
    norm = math.sqrt(sum(float((p.grad**2).sum()) for p in model.parameters()))
    if norm > 1.3:
        for p in model.parameters():
            p.grad.mul_(1.3 / norm)
    optimizer.step()
    return nats / tokens
""",
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
        "weights of the batch means": """
def update(model, optimizer, group, loss_of):
    model.train()
    counts = [int((tgt_out != 11).sum()) for _, _, tgt_out in group]
    optimizer.zero_grad()
    means = []
    for batch, n in zip(group, counts):
        mean = loss_of(model, batch) / n
        (mean * n / sum(counts)).backward()
        means.append(mean.item() * n / sum(counts))
    nn.utils.clip_grad_norm_(model.parameters(), 1.3)
    optimizer.step()
    return sum(means)
""",
        "autograd.grad": """
def update(model, optimizer, group, loss_of):
    model.train()
    parameters = list(model.parameters())
    n = sum(int((t != 11).sum()) for _, _, t in group)
    total, sums = 0.0, [torch.zeros_like(p) for p in parameters]
    for batch in group:
        loss = loss_of(model, batch)
        for s, g in zip(sums, torch.autograd.grad(loss, parameters)):
            s += g / n
        total += loss.item()
    norm = torch.cat([s.flatten() for s in sums]).norm()
    for p, s in zip(parameters, sums):
        p.grad = s * torch.clamp(1.3 / norm, max=1.0)
    optimizer.step()
    return total / n
""",
        "mode put back": """
def update(model, optimizer, group, loss_of):
    was = model.training
    for module in model.modules():
        module.training = True
    n_tokens = int(torch.cat([b[2].flatten() for b in group]).ne(11).sum())
    for p in model.parameters():
        p.grad = None
    losses = []
    for batch in group:
        loss = loss_of(model, batch)
        (loss * (1 / n_tokens)).backward()
        losses.append(loss.detach())
    nn.utils.clip_grad_norm_(model.parameters(), 1.3, norm_type=2)
    optimizer.step()
    model.train(was)
    return torch.stack(losses).sum().item() / n_tokens
""",
    },
    "validate": {
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
        "inference mode, if": """
def validate(model, batches, loss_of):
    before = model.training
    if before:
        model.eval()
    with torch.inference_mode():
        losses = [float(loss_of(model, batch)) for batch in batches]
    if before:
        model.train()
    tokens = [int(out.ne(11).sum()) for _, _, out in batches]
    loss = sum(losses) / sum(tokens)
    return [loss, math.e**loss]
""",
        "try, finally": """
def validate(model, batches, loss_of):
    modes = {module: module.training for module in model.modules()}
    try:
        model.train(False)
        torch.set_grad_enabled(False)
        total = tokens = 0
        for src, tgt_in, tgt_out in batches:
            total += loss_of(model, (src, tgt_in, tgt_out)).item()
            tokens += (tgt_out != 11).sum().item()
    finally:
        torch.set_grad_enabled(True)
        for module, mode in modes.items():
            module.training = mode
    return total / tokens, math.exp(total / tokens)
""",
        "weighted mean of means": """
def validate(model, batches, loss_of):
    mode = model.training
    model.eval()
    with torch.no_grad():
        counts = torch.tensor([float((b[2] != 11).sum()) for b in batches])
        means = torch.stack([loss_of(model, b) for b in batches]) / counts
        loss = (means * counts).sum() / counts.sum()
    model.train(mode)
    return loss.item(), torch.exp(loss).item()
""",
        "a copy of the model": """
def validate(model, batches, loss_of):
    import copy

    quiet = copy.deepcopy(model).eval().requires_grad_(False)
    nats = [loss_of(quiet, batch).item() for batch in batches]
    n = sum(sum(1 for t in b[2].flatten().tolist() if t != 11) for b in batches)
    return sum(nats) / n, math.exp(sum(nats) / n)
""",
    },
    "overfit": {
        "the functions of parts 1 and 2": """
def overfit(model, src, tgt):
    tgt_in, tgt_out = shift(tgt)
    optimizer, losses = torch.optim.Adam(model.parameters(), lr=0.02, betas=(0.9, 0.98)), []
    while not losses or losses[-1] > 0.05:
        loss = mean_loss(model(src, tgt_in), tgt_out)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses
""",
        "AdamW, tensors": """
def overfit(model, src, tgt):
    read, said = tgt[:, :-1].masked_fill(tgt[:, :-1] == 3, 11), tgt[:, 1:]
    keep = said != 11
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.03, weight_decay=0.0)
    losses = []
    for step in range(80):
        scores = model(src, read)[keep]
        loss = (scores.logsumexp(-1) - scores.gather(-1, said[keep][:, None])[:, 0]).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.detach())
    return losses
""",
        "plain gradient descent with momentum": """
def overfit(model, src, tgt):
    model.train()
    x, y = tgt[:, :-1], tgt[:, 1:]
    optimizer, losses = torch.optim.SGD(model.parameters(), lr=0.5, momentum=0.9), []
    for _ in range(150):
        optimizer.zero_grad()
        logp = torch.log_softmax(model(src, x), dim=-1)
        goal = nn.functional.one_hot(y, logp.size(-1)) * (y != 11)[..., None]
        loss = -(goal * logp).sum() / goal.sum()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(float(loss))
    return torch.tensor(losses)
""",
        "Adam by hand": """
def overfit(model, src, tgt):
    parameters, losses = list(model.parameters()), []
    m, v = [torch.zeros_like(p) for p in parameters], [torch.zeros_like(p) for p in parameters]
    real = tgt[:, 1:] != 11
    for step in range(1, 81):
        logp = model(src, tgt[:, :-1]).log_softmax(2)
        loss = -logp[real].gather(1, tgt[:, 1:][real].unsqueeze(1)).mean()
        slopes = torch.autograd.grad(loss, parameters)
        with torch.no_grad():
            for p, g, a, b in zip(parameters, slopes, m, v):
                a.mul_(0.9).add_(0.1 * g)
                b.mul_(0.98).add_(0.02 * g * g)
                p -= 0.02 * (a / (1 - 0.9**step)) / ((b / (1 - 0.98**step)).sqrt() + 1e-9)
        losses.append(loss.item())
    return tuple(losses)
""",
        "warm-up, a scheduler": """
def overfit(model, src, tgt):
    optimizer = torch.optim.RAdam(model.parameters(), lr=0.05)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda done: min(1.0, (done + 1) / 10))
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
        "index of the best": """
def choose(history, patience):
    best = 0
    for i in range(1, len(history)):
        if history[i]["valid_loss"] < history[best]["valid_loss"] or math.isnan(history[best]["valid_loss"]):
            best = i
        elif i - best >= patience:
            break
    return history[best]["step"]
""",
        "cut, then min": """
def choose(history, patience):
    losses = [math.inf if math.isnan(row["valid_loss"]) else row["valid_loss"] for row in history]
    end = len(losses)
    for i in range(len(losses) - patience):
        if all(loss >= min(losses[: i + 1]) for loss in losses[i + 1 : i + 1 + patience]):
            end = i + 1
            break
    return history[losses.index(min(losses[:end]))]["step"]
""",
        "running minimum": """
def choose(history, patience):
    import itertools

    lowest = list(itertools.accumulate((r["valid_loss"] for r in history), lambda a, b: b if b < a or a != a else a))
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
    row = history[0]
    if best is None or math.isnan(best["valid_loss"]) or row["valid_loss"] < best["valid_loss"]:
        return choose(history[1:], patience, row, patience)
    return choose(history[1:], patience, best, left - 1)
""",
        "a generator": """
def choose(history, patience):
    def kept():
        lowest, wait = float("inf"), patience
        for row in history:
            if row["valid_loss"] < lowest:
                lowest, wait = row["valid_loss"], patience
                yield row
            else:
                wait -= 1
                if not wait:
                    return

    return list(kept())[-1]["step"]
""",
    },
}

LOSS = ["loss-value", "loss-large", "loss-tokens"]
UPDATE = ["update-step", "update-group", "update-clip"]
VALID = ["validate-mean", "validate-mode"]
LOG_SUM = (
    "    log_sum = largest + (logits - largest).exp().sum(dim=-1, keepdim=True).log()\n"
)
LOG_PROBS = "    log_probs = logits - log_sum\n"
MEAN = "-right[real].mean()"
EACH = "-(1 - 0.17) * right - 0.17 * everybody"
EVERYBODY = "(log_probs.sum(-1) - log_probs[:, :, 11]) / (logits.size(-1) - 1)"
CURVE = "min(step**-0.5, step * 370**-1.5)"
FACTOR = "1.0 if top is None else top * math.sqrt(d_model * 370)"
BACKWARD = "(loss / n_tokens).backward()"
COUNT = "int((tgt_out != 11).sum())"
CLIP = "    nn.utils.clip_grad_norm_(model.parameters(), 1.3)\n"
ZERO = "    optimizer.zero_grad()\n"
LOOP = (
    "    for batch in group:\n        loss = loss_of(model, batch)\n"
    "        (loss / n_tokens).backward()\n        total += loss.item()\n"
)
STEP = "    optimizer.step()\n"
RETURN = "return total / n_tokens, math.exp(total / n_tokens)"
BETTER = 'row["valid_loss"] < lowest'

WRONG = {
    "nan in the first row stays": Wrong(
        "choose",
        ["choose-marks"],
        code="""
def choose(history, patience):
    best, worse = history[0], 0
    for row in history[1:]:
        if row["valid_loss"] < best["valid_loss"]:
            best, worse = row, 0
        else:
            worse += 1
            if worse == patience:
                break
    return best["step"]
""",
    ),
    # the shift
    "no shift": Wrong(
        "shift",
        ["shift-marks"],
        edits={"tgt[:, :-1], tgt[:, 1:]": "tgt[:, :-1], tgt[:, :-1]"},
    ),
    "no shift, nothing cut": Wrong(
        "shift", ["shift-marks"], edits={"tgt[:, :-1], tgt[:, 1:]": "tgt, tgt"}
    ),
    "shift off by one": Wrong(
        "shift",
        ["shift-marks"],
        edits={"tgt[:, :-1], tgt[:, 1:]": "tgt[:, :-2], tgt[:, 2:]"},
    ),
    "shifted the other way": Wrong(
        "shift",
        ["shift-marks"],
        edits={"tgt[:, :-1], tgt[:, 1:]": "tgt[:, 1:], tgt[:, :-1]"},
    ),
    "rows cut in place of columns": Wrong(
        "shift", ["shift-marks"], edits={"tgt[:, :-1], tgt[:, 1:]": "tgt[:-1], tgt[1:]"}
    ),
    "an <eos> is read": Wrong(
        "shift",
        ["shift-marks"],
        edits={"tgt_in.masked_fill(tgt_in == 3, 11)": "tgt_in"},
    ),
    "<eos> is not to be said": Wrong(
        "shift",
        ["shift-marks"],
        edits={"11), tgt_out": "11), tgt_out.masked_fill(tgt_out == 3, 11)"},
    ),
    "<pad> is 0": Wrong(
        "shift", ["shift-marks"], edits={"tgt_in == 3, 11": "tgt_in == 3, 0"}
    ),
    "<eos> only where the row ends": Wrong(
        "shift",
        ["shift-marks"],
        edits={"tgt_in.masked_fill(tgt_in == 3, 11)": "tgt_in[:, : tgt.size(1) - 1]"},
    ),
    # the loss of a place
    "softmax twice": Wrong(
        "loss",
        ["loss-value", "loss-large"],
        edits={"    largest = ": "    logits = logits.softmax(-1)\n    largest = "},
    ),
    "softmax along the places": Wrong(
        "loss",
        LOSS,
        edits={"logits.max(dim=-1": "logits.max(dim=1", ".sum(dim=-1": ".sum(dim=1"},
    ),
    "base 2": Wrong(
        "loss", ["loss-value", "loss-large"], edits={MEAN: f"{MEAN} / math.log(2)"}
    ),
    "minus forgotten": Wrong(
        "loss", ["loss-value", "loss-large"], edits={MEAN: MEAN[1:]}
    ),
    "probability in place of its logarithm": Wrong(
        "loss",
        ["loss-value", "loss-large"],
        edits={MEAN: "1 - right[real].exp().mean()"},
    ),
    "score in place of a probability": Wrong(
        "loss",
        ["loss-value", "loss-large"],
        edits={LOG_PROBS: "    log_probs = logits\n"},
    ),
    "logarithm of the mean probability": Wrong(
        "loss",
        ["loss-value", "loss-large", "loss-tokens"],
        edits={MEAN: "-right[real].exp().mean().log()"},
    ),
    "tokens one to the left": Wrong(
        "loss",
        ["loss-value", "loss-large"],
        edits={"tgt_out[:, :, None])": "(tgt_out[:, :, None] - 1).clamp(min=0))"},
    ),
    # large numbers, and the gradient
    "exp overflows": Wrong(
        "loss",
        ["loss-large"],
        edits={LOG_SUM: "    log_sum = logits.exp().sum(dim=-1, keepdim=True).log()\n"},
    ),
    "logarithm of softmax": Wrong(
        "loss",
        ["loss-large"],
        edits={LOG_PROBS: "    log_probs = logits.softmax(-1).log()\n"},
    ),
    "logarithm of softmax plus 1e-9": Wrong(
        "loss",
        ["loss-large"],
        edits={LOG_PROBS: "    log_probs = (logits.softmax(-1) + 1e-9).log()\n"},
    ),
    "probabilities not below 1e-12": Wrong(
        "loss",
        ["loss-large"],
        edits={
            LOG_PROBS: "    log_probs = logits.softmax(-1).clamp(min=1e-12).log()\n"
        },
    ),
    "the largest of the whole batch": Wrong(
        "loss",
        ["loss-large"],
        edits={"logits.max(dim=-1, keepdim=True).values": "logits.max()"},
    ),
    "nan turned into 0": Wrong(
        "loss",
        ["loss-large"],
        edits={
            LOG_PROBS: "    log_probs = (logits.exp() / logits.exp().sum(-1, keepdim=True)).log().nan_to_num()\n"
        },
    ),
    "detached": Wrong("loss", ["loss-large"], edits={MEAN: f"({MEAN}).detach()"}),
    "a plain number": Wrong("loss", ["loss-large"], edits={MEAN: f"({MEAN}).item()"}),
    "the sum is a constant": Wrong(
        "loss",
        ["loss-large"],
        edits={LOG_PROBS: "    log_probs = logits - log_sum.detach()\n"},
    ),
    # padding and mean
    "<pad> in the loss": Wrong("loss", ["loss-tokens"], edits={MEAN: "-right.mean()"}),
    "<pad> left out of the sum only": Wrong(
        "loss", ["loss-tokens"], edits={MEAN: "-(right * real).mean()"}
    ),
    "<pad> left out of the count only": Wrong(
        "loss", ["loss-tokens"], edits={MEAN: "-right.sum() / real.sum()"}
    ),
    "<pad> is 0 in the loss": Wrong(
        "loss", ["loss-tokens"], edits={"tgt_out != 11": "tgt_out != 0"}
    ),
    "mean of the sentences' means": Wrong(
        "loss",
        ["loss-tokens"],
        edits={MEAN: "-((right * real).sum(1) / real.sum(1)).mean()"},
    ),
    "mean over sentences": Wrong(
        "loss", LOSS, edits={MEAN: "-(right * real).sum() / len(right)"}
    ),
    "sum": Wrong("loss", LOSS, edits={MEAN: "-right[real].sum()"}),
    "logits of <pad> set to 0, and counted": Wrong(
        "loss",
        ["loss-tokens"],
        edits={
            "    largest = ": "    logits = logits * (tgt_out != 11)[..., None]\n    largest = ",
            MEAN: "-right.mean()",
        },
    ),
    "PyTorch's own loss": Wrong(
        "loss",
        LOSS,
        code="def mean_loss(logits, tgt_out):\n"
        "    return nn.functional.cross_entropy(logits.flatten(0, 1), tgt_out.flatten(), ignore_index=11)",
    ),
    "PyTorch's own layer": Wrong(
        "loss",
        LOSS,
        code="def mean_loss(logits, tgt_out):\n    return nn.CrossEntropyLoss(ignore_index=11)(logits.mT, tgt_out)",
    ),
    "PyTorch's negative log-likelihood": Wrong(
        "loss",
        LOSS,
        code="import torch.nn.functional as F\n\n\ndef mean_loss(logits, tgt_out):\n"
        "    return F.nll_loss(logits.log_softmax(-1).flatten(0, 1), tgt_out.flatten(), ignore_index=11)",
    ),
    "the library's own loss": Wrong(
        "loss",
        LOSS,
        code="def mean_loss(logits, tgt_out):\n    return nmt.cross_entropy(logits, tgt_out.masked_fill(tgt_out == 11, 0))",
    ),
    # label smoothing
    "not smoothed": Wrong("smooth", ["smooth-goal"], edits={EACH: "-right"}),
    "<pad> gets its share": Wrong(
        "smooth", ["smooth-goal"], edits={EVERYBODY: "log_probs.mean(-1)"}
    ),
    "the goal sums to 1 + ε": Wrong(
        "smooth", ["smooth-goal"], edits={EACH: "-right - 0.17 * everybody"}
    ),
    "the goal sums to less than 1": Wrong(
        "smooth",
        ["smooth-goal"],
        edits={"(logits.size(-1) - 1)": "(logits.size(-1) + 9)"},
    ),
    "ε for each other token": Wrong(
        "smooth", ["smooth-goal"], edits={" / (logits.size(-1) - 1)": ""}
    ),
    "the right token gets no share": Wrong(
        "smooth",
        ["smooth-goal"],
        edits={
            EVERYBODY: "(log_probs.sum(-1) - log_probs[:, :, 11] - right) / (logits.size(-1) - 2)"
        },
    ),
    "smoothed the other way round": Wrong(
        "smooth",
        ["smooth-goal"],
        edits={EACH: "-0.17 * right - (1 - 0.17) * everybody"},
    ),
    "<pad> back in the second term": Wrong(
        "smooth",
        ["smooth-goal"],
        edits={
            "each[tgt_out != 11].mean()": "(-(1 - 0.17) * right * (tgt_out != 11) - 0.17 * everybody).sum() / (tgt_out != 11).sum()"
        },
    ),
    "<pad> counts": Wrong(
        "smooth", ["smooth-goal"], edits={"each[tgt_out != 11].mean()": "each.mean()"}
    ),
    "smoothed loss of sentences": Wrong(
        "smooth",
        ["smooth-goal"],
        edits={
            "each[tgt_out != 11].mean()": "((each * (tgt_out != 11)).sum(1) / (tgt_out != 11).sum(1)).mean()"
        },
    ),
    "smoothed by PyTorch": Wrong(
        "smooth",
        ["smooth-goal"],
        code="def smoothed_loss(logits, tgt_out):\n    return nn.functional.cross_entropy(\n"
        "        logits.flatten(0, 1), tgt_out.flatten(), ignore_index=11, label_smoothing=0.17)",
    ),
    "smoothed and detached": Wrong(
        "smooth", ["smooth-goal"], edits={".mean()": ".mean().detach()"}
    ),
    # the rate
    "max for min": Wrong(
        "rate", ["rate-curve"], edits={CURVE: CURVE.replace("min", "max")}
    ),
    "counted from 0": Wrong(
        "rate",
        ["rate-curve", "rate-top"],
        edits={CURVE: "min(max(step - 1, 1e-9) ** -0.5, (step - 1) * 370**-1.5)"},
    ),
    "counted from 2": Wrong(
        "rate",
        ["rate-curve", "rate-top"],
        edits={CURVE: "min((step + 1) ** -0.5, (step + 1) * 370**-1.5)"},
    ),
    "warm-up to the −0.5": Wrong(
        "rate", ["rate-curve"], edits={"370**-1.5": "370**-0.5"}
    ),
    "warm-up to the −1": Wrong("rate", ["rate-curve"], edits={"370**-1.5": "370**-1"}),
    "falls as 1/step": Wrong(
        "rate", ["rate-curve", "rate-top"], edits={"min(step**-0.5": "min(1 / step"}
    ),
    "never falls": Wrong(
        "rate", ["rate-curve"], edits={"min(step**-0.5": "min(370**-0.5"}
    ),
    "no warm-up": Wrong("rate", ["rate-curve"], edits={CURVE: "step**-0.5"}),
    "constant rate": Wrong("rate", ["rate-curve"], edits={CURVE: "370**-0.5"}),
    "width forgotten": Wrong(
        "rate",
        ["rate-curve", "rate-top"],
        edits={"factor * d_model**-0.5 * ": "factor * "},
    ),
    "root of the width on top": Wrong(
        "rate", ["rate-curve", "rate-top"], edits={"d_model**-0.5": "d_model**0.5"}
    ),
    "warm-up of 4,000 updates": Wrong(
        "rate", ["rate-curve", "rate-top"], edits={"370**-1.5": "4000**-1.5"}
    ),
    "a whole number of steps": Wrong(
        "rate",
        ["rate-curve", "rate-top"],
        edits={"step * 370**-1.5": "step // 2 * 2 * 370**-1.5"},
    ),
    "top ignored": Wrong("rate", ["rate-top"], edits={FACTOR: "1.0"}),
    "top as a factor": Wrong(
        "rate", ["rate-top"], edits={FACTOR: "1.0 if top is None else top"}
    ),
    "top: warm-up forgotten": Wrong(
        "rate",
        ["rate-top"],
        edits={"top * math.sqrt(d_model * 370)": "top * math.sqrt(d_model)"},
    ),
    "top: divided by the peak twice": Wrong(
        "rate",
        ["rate-top"],
        edits={"top * math.sqrt(d_model * 370)": "top * d_model * 370"},
    ),
    "top: a lid": Wrong(
        "rate",
        ["rate-top"],
        edits={
            "factor * d_model": "min(top or 1, d_model",
            "370**-1.5)": "370**-1.5))",
            FACTOR: "1.0",
        },
    ),
    # the update
    "zero_grad forgotten": Wrong("update", ["update-step"], edits={ZERO: ""}),
    "zero_grad after backward": Wrong(
        "update", UPDATE, edits={ZERO: "", CLIP: ZERO + CLIP}
    ),
    "zero_grad for each batch": Wrong(
        "update",
        ["update-group"],
        edits={
            ZERO: "",
            "    for batch in group:\n": "    for batch in group:\n        optimizer.zero_grad()\n",
        },
    ),
    "step before backward": Wrong(
        "update", UPDATE, edits={STEP: "", LOOP: STEP + LOOP}
    ),
    "step forgotten": Wrong("update", UPDATE, edits={STEP: ""}),
    "backward forgotten": Wrong("update", UPDATE, edits={f"        {BACKWARD}\n": ""}),
    "a step for each batch": Wrong(
        "update",
        ["update-group"],
        edits={
            STEP: "",
            CLIP: "",
            "        total += loss.item()\n": "        nn.utils.clip_grad_norm_(model.parameters(), 1.3)\n        optimizer.step()\n        total += loss.item()\n",
        },
    ),
    "evaluation mode": Wrong("update", UPDATE, edits={"model.train()": "model.eval()"}),
    "mode as it comes": Wrong(
        "update", ["update-step"], edits={"    model.train()\n": ""}
    ),
    "training mode too late": Wrong(
        "update",
        ["update-step"],
        edits={"    model.train()\n": "", CLIP: CLIP + "    model.train()\n"},
    ),
    "each batch by its own tokens": Wrong(
        "update",
        ["update-group"],
        edits={BACKWARD: "(loss / (batch[2] != 11).sum()).backward()"},
    ),
    "mean of the batch means": Wrong(
        "update",
        ["update-group"],
        edits={BACKWARD: "(loss / (batch[2] != 11).sum() / len(group)).backward()"},
    ),
    "accumulated without division": Wrong(
        "update", UPDATE, edits={BACKWARD: "loss.backward()"}
    ),
    "divided by the number of batches": Wrong(
        "update", UPDATE, edits={BACKWARD: "(loss / len(group)).backward()"}
    ),
    "divided by sentences": Wrong(
        "update",
        UPDATE,
        edits={BACKWARD: "(loss / sum(len(b[2]) for b in group)).backward()"},
    ),
    "<pad> counted as a token": Wrong(
        "update", UPDATE, edits={COUNT: "tgt_out.numel()"}
    ),
    "tokens of the last batch": Wrong(
        "update",
        ["update-group"],
        edits={
            "sum(int((tgt_out != 11).sum()) for _, _, tgt_out in group)": "int((group[-1][2] != 11).sum())"
        },
    ),
    "only the last batch": Wrong(
        "update",
        ["update-group"],
        edits={f"        {BACKWARD}\n": "", CLIP: f"    {BACKWARD}\n{CLIP}"},
    ),
    "returns the sum": Wrong(
        "update",
        ["update-step", "update-group"],
        edits={"return total / n_tokens": "return total"},
    ),
    "returns the last batch's loss": Wrong(
        "update",
        ["update-group"],
        edits={
            "return total / n_tokens": "return loss.item() / int((batch[2] != 11).sum())"
        },
    ),
    "returns nothing": Wrong(
        "update",
        ["update-step", "update-group"],
        edits={"    return total / n_tokens": ""},
    ),
    "not clipped": Wrong("update", ["update-clip"], edits={CLIP: ""}),
    "clipped after the step": Wrong(
        "update", ["update-clip"], edits={CLIP: "", STEP: STEP + CLIP}
    ),
    "clipped before backward": Wrong(
        "update", ["update-clip"], edits={CLIP: "", LOOP: CLIP + LOOP}
    ),
    "each number clipped": Wrong(
        "update",
        ["update-clip"],
        edits={CLIP: "    nn.utils.clip_grad_value_(model.parameters(), 1.3)\n"},
    ),
    "each tensor clipped alone": Wrong(
        "update",
        ["update-clip"],
        edits={
            CLIP: "    for p in model.parameters():\n        nn.utils.clip_grad_norm_(p, 1.3)\n"
        },
    ),
    "always made as long as the limit": Wrong(
        "update",
        UPDATE,
        edits={
            CLIP: "    norm = torch.cat([p.grad.flatten() for p in model.parameters()]).norm()\n"
            "    for p in model.parameters():\n        p.grad *= 1.3 / norm\n"
        },
    ),
    "clipped at 1.0": Wrong(
        "update",
        ["update-clip"],
        edits={"model.parameters(), 1.3": "model.parameters(), 1.0"},
    ),
    "weights clipped": Wrong(
        "update",
        ["update-clip"],
        edits={
            CLIP: "    for p in model.parameters():\n        p.data.clamp_(-130, 130)\n"
        },
    ),
    "clipped with the largest number's norm": Wrong(
        "update",
        ["update-clip"],
        edits={
            "model.parameters(), 1.3": "model.parameters(), 1.3, norm_type=math.inf"
        },
    ),
    "clipped after each batch": Wrong(
        "update",
        ["update-clip"],
        edits={CLIP: "", BACKWARD: f"{BACKWARD}\n    {CLIP}".rstrip()},
    ),
    # the validation
    "mean of batch means": Wrong(
        "validate",
        ["validate-mean"],
        edits={
            "total += loss_of(model, batch).item()": "total += loss_of(model, batch).item() / int((batch[2] != 11).sum())",
            "n_tokens += int((batch[2] != 11).sum())": "n_tokens += 1",
        },
    ),
    "mean over batches": Wrong(
        "validate",
        VALID[:1],
        edits={"n_tokens += int((batch[2] != 11).sum())": "n_tokens += 1"},
    ),
    "<pad> counted in the validation": Wrong(
        "validate",
        ["validate-mean"],
        edits={"int((batch[2] != 11).sum())": "batch[2].numel()"},
    ),
    "perplexity of the sum": Wrong(
        "validate",
        ["validate-mean"],
        edits={RETURN: "return total / n_tokens, math.exp(min(50, total))"},
    ),
    "perplexity to the base 2": Wrong(
        "validate",
        ["validate-mean"],
        edits={RETURN: "return total / n_tokens, 2 ** (total / n_tokens)"},
    ),
    "mean of the perplexities": Wrong(
        "validate",
        ["validate-mean"],
        edits={
            "        for batch in batches:\n": "        mean_of = []\n        for batch in batches:\n"
            "            mean_of.append(math.exp(loss_of(model, batch).item() / int((batch[2] != 11).sum())))\n",
            RETURN: "return total / n_tokens, sum(mean_of) / len(mean_of)",
        },
    ),
    "perplexity first": Wrong(
        "validate",
        ["validate-mean"],
        edits={RETURN: "return math.exp(total / n_tokens), total / n_tokens"},
    ),
    "only the last batch validated": Wrong(
        "validate", ["validate-mean"], edits={"total += loss_of": "total = loss_of"}
    ),
    "eval forgotten": Wrong(
        "validate", ["validate-mode"], edits={"    model.eval()\n": ""}
    ),
    "no_grad forgotten": Wrong(
        "validate", ["validate-mode"], edits={"torch.no_grad()": "torch.enable_grad()"}
    ),
    "left in evaluation mode": Wrong(
        "validate", ["validate-mode"], edits={"    model.train(training)\n": ""}
    ),
    "left in training mode": Wrong(
        "validate", ["validate-mode"], edits={"model.train(training)": "model.train()"}
    ),
    "eval after the losses": Wrong(
        "validate",
        ["validate-mode"],
        edits={
            "    model.eval()\n": "",
            "    model.train(training)\n": "    model.eval()\n    model.train(training)\n",
        },
    ),
    "the loss alone": Wrong(
        "validate", VALID, edits={RETURN: "return total / n_tokens"}
    ),
    # over-fitting
    "predicts its own input": Wrong(
        "overfit",
        ["overfit-marks"],
        edits={"tgt[:, :-1], tgt[:, 1:]": "tgt[:, :-1], tgt[:, :-1]"},
    ),
    "two places on": Wrong(
        "overfit",
        ["overfit-marks"],
        edits={"tgt[:, :-1], tgt[:, 1:]": "tgt[:, :-2], tgt[:, 2:]"},
    ),
    "<pad> learnt too": Wrong(
        "overfit", ["overfit-marks"], edits={"tgt_out != 11": "tgt_out != 0"}
    ),
    "softmax twice in the loop": Wrong(
        "overfit",
        ["overfit-marks"],
        edits={".log_softmax(-1)": ".softmax(-1).log_softmax(-1)"},
    ),
    "a rate too small": Wrong(
        "overfit", ["overfit-marks"], edits={"lr=0.03": "lr=1e-4"}
    ),
    "a rate too large": Wrong(
        "overfit", ["overfit-marks"], edits={"lr=0.03": "lr=30.0"}
    ),
    "too few updates": Wrong(
        "overfit", ["overfit-marks"], edits={"range(60)": "range(5)"}
    ),
    "1,000 updates": Wrong(
        "overfit", ["overfit-marks"], edits={"range(60)": "range(1000)"}
    ),
    "zero_grad just before the step": Wrong(
        "overfit",
        ["overfit-marks"],
        edits={
            "        optimizer.zero_grad()\n": "",
            "        optimizer.step()\n": "        optimizer.zero_grad()\n        optimizer.step()\n",
        },
    ),
    "no step": Wrong(
        "overfit", ["overfit-marks"], edits={"        optimizer.step()\n": ""}
    ),
    "the first place only": Wrong(
        "overfit",
        ["overfit-marks"],
        edits={
            "real = tgt_out != 11": "real = torch.zeros_like(tgt_out, dtype=torch.bool)\n    real[:, 0] = True"
        },
    ),
    "the last loss only": Wrong(
        "overfit", ["overfit-marks"], edits={"return losses": "return losses[-1]"}
    ),
    "sum in the list": Wrong(
        "overfit",
        ["overfit-marks"],
        edits={"losses.append(loss.item())": "losses.append(loss.item() * len(tgt))"},
    ),
    "losses made up": Wrong(
        "overfit",
        ["overfit-marks"],
        code="def overfit(model, src, tgt):\n    return [3.7 * 0.9**i for i in range(60)]",
    ),
    "another model is trained": Wrong(
        "overfit",
        ["overfit-marks"],
        edits={
            "    real = ": "    import copy\n\n    model = copy.deepcopy(model)\n    real = "
        },
    ),
    # the choice
    "lowest training loss": Wrong(
        "choose",
        ["choose-marks"],
        edits={
            BETTER: 'row["train_loss"] < lowest',
            '= row["valid_loss"], row': '= row["train_loss"], row',
        },
    ),
    "the last weights": Wrong(
        "choose",
        ["choose-marks"],
        code='def choose(history, patience):\n    return history[-1]["step"]',
    ),
    "no patience": Wrong(
        "choose", ["choose-marks"], edits={"if worse == patience:": "if False:"}
    ),
    "patience by one too long": Wrong(
        "choose", ["choose-marks"], edits={"worse == patience": "worse > patience"}
    ),
    "patience never set back": Wrong(
        "choose", ["choose-marks"], edits={'row["step"], 0': 'row["step"], worse'}
    ),
    "the later of two equal ones": Wrong(
        "choose", ["choose-marks"], edits={BETTER: 'row["valid_loss"] <= lowest'}
    ),
    "compared with the row before": Wrong(
        "choose",
        ["choose-marks"],
        edits={
            "            worse += 1\n": '            worse, lowest = worse + 1, row["valid_loss"]\n'
        },
    ),
    "highest validation loss": Wrong(
        "choose",
        ["choose-marks"],
        edits={BETTER: 'row["valid_loss"] > lowest', "= math.inf": "= -math.inf"},
    ),
    "number of the row": Wrong(
        "choose",
        ["choose-marks"],
        edits={
            'row["valid_loss"], row["step"], 0': 'row["valid_loss"], history.index(row), 0'
        },
    ),
    "nan is the best": Wrong(
        "choose", ["choose-marks"], edits={BETTER: f"not {BETTER.replace('<', '>=')}"}
    ),
    "where it stopped": Wrong(
        "choose", ["choose-marks"], edits={"return kept": 'return row["step"]'}
    ),
}

WRONG |= {
    # sizes, types, gradients, state, arguments, PyTorch's own operators
    "shift: float ids": Wrong(
        "shift", ["shift-marks"], edits={"11), tgt_out": "11), tgt_out.float()"}
    ),
    "shift: int32 ids": Wrong(
        "shift", ["shift-marks"], edits={"11), tgt_out": "11).int(), tgt_out"}
    ),
    "shift: tgt changed": Wrong(
        "shift", ["shift-marks"], edits={"tgt_in.masked_fill(": "tgt_in.masked_fill_("}
    ),
    "shift: 128 places": Wrong(
        "shift",
        ["shift-marks"],
        edits={"tgt[:, :-1], tgt[:, 1:]": "tgt[:, :-1][:, :128], tgt[:, 1:][:, :128]"},
    ),
    "loss: logits changed": Wrong(
        "loss",
        ["loss-value", "loss-large", "loss-tokens"],
        edits={
            "(logits - largest).exp()": "logits.sub_(largest).exp()",
            "log_sum = largest + ": "log_sum = ",
        },
    ),
    "loss: 50,000 tokens": Wrong(
        "loss",
        ["loss-value"],
        edits={
            "    largest = ": "    logits = logits[..., :50_000]\n    tgt_out = tgt_out.clamp(max=49_999)\n    largest = "
        },
    ),
    "loss: log sum without gradient": Wrong(
        "loss",
        ["loss-large"],
        edits={
            "    log_probs = logits - log_sum": "    log_probs = logits - log_sum.detach()"
        },
    ),
    "loss: logits cut at 1,000": Wrong(
        "loss",
        ["loss-large"],
        edits={
            "    largest = ": "    logits = logits.clamp(-1000, 1000)\n    largest = "
        },
    ),
    "loss: the largest of the call before": Wrong(
        "loss",
        ["loss-large"],
        edits={
            "(logits, tgt_out):": "(logits, tgt_out, known={}):",
            "    log_sum = ": "    largest = known.setdefault(0, largest.max().detach())\n    log_sum = ",
        },
    ),
    "loss: <pad> multiplied away": Wrong(
        "loss",
        ["loss-tokens"],
        edits={
            "-right[real].mean()": "-(right + 0.0001 * (~real) * right).sum() / real.sum() + (right * ~real).sum() / real.sum()"
        },
    ),
    "loss: PyTorch's operator by another name": Wrong(
        "loss",
        ["loss-value", "loss-large", "loss-tokens"],
        code="""
def mean_loss(logits, tgt_out):
    use = getattr(getattr(torch.ops, "at" + "en"), "nll" + "_loss")
    return use(logits.log_softmax(-1).flatten(0, 1), tgt_out.flatten(), ignore_index=11)
""",
    ),
    "loss: PyTorch's operator from torch._C": Wrong(
        "loss",
        ["loss-value", "loss-large", "loss-tokens"],
        code="""
def mean_loss(logits, tgt_out):
    use = getattr(getattr(getattr(torch, "_" + "C"), "_VariableFunctions"), "nll" + "_loss", None)
    use = use or torch._C._jit_get_operation("aten::cross_entropy" + "_loss")[0]
    return use(logits.flatten(0, 1), tgt_out.flatten(), None, 1, 11, 0.0)
""",
    ),
    "smoothing: no gradient of the spread part": Wrong(
        "smooth",
        ["smooth-goal"],
        edits={"0.17 * everybody": "0.17 * everybody.detach()"},
    ),
    "smoothing: logarithm of softmax": Wrong(
        "smooth",
        ["smooth-goal"],
        edits={"logits.log_softmax(-1)": "logits.softmax(-1).log()"},
    ),
    "smoothing: logarithm of softmax plus 1e-9": Wrong(
        "smooth",
        ["smooth-goal"],
        edits={"logits.log_softmax(-1)": "(logits.softmax(-1) + 1e-9).log()"},
    ),
    "smoothing: logits changed": Wrong(
        "smooth",
        ["smooth-goal"],
        edits={
            "    log_probs = logits": "    logits.data -= 1\n    log_probs = logits"
        },
    ),
    "rate: counts its calls": Wrong(
        "rate",
        ["rate-curve", "rate-top"],
        edits={
            "(step, d_model, top=None):": "(step, d_model, top=None, calls=[]):\n    calls.append(step)\n    step = len(calls)"
        },
    ),
    "rate: 100,000 steps": Wrong(
        "rate",
        ["rate-curve"],
        edits={"min(step**-0.5": "min(min(step, 100_000) ** -0.5"},
    ),
    "update: tokens of the update before": Wrong(
        "update",
        ["update-step", "update-group", "update-clip"],
        edits={
            "group, loss_of):": "group, loss_of, counted=[]):",
            "    model.train()": "    counted.append(n_tokens)\n    n_tokens = sum(counted)\n    model.train()",
        },
    ),
    "validate: gradients stay off": Wrong(
        "validate",
        ["validate-mode"],
        edits={
            "    with torch.no_grad():\n        for batch in batches:": "    torch.set_grad_enabled(False)\n    if True:\n        for batch in batches:"
        },
    ),
    "validate: gradients kept, and a forged observation": Wrong(
        "validate",
        ["validate-mode"],
        edits={
            "    training = model.training": "    import sys\n\n    for name in ('check', 'standins'):\n        kept = sys.modules[f'nmt_course.{name}.a5']\n        true = kept.__dict__.setdefault('true', kept.observe)\n        kept.observe = lambda *a, **k: {**true(*a, **k), 'gradients': [False], 'modes': [False]}\n    training = model.training",
            "with torch.no_grad():": "if True:",
        },
    ),
    "validate: total of all calls": Wrong(
        "validate",
        ["validate-mean", "validate-mode"],
        edits={
            "batches, loss_of):": "batches, loss_of, sums=[]):",
            "    model.train(training)": "    sums.append((total, n_tokens))\n    total, n_tokens = (sum(x) for x in zip(*sums))\n    model.train(training)",
        },
    ),
    "choose: history sorted in place": Wrong(
        "choose",
        ["choose-marks"],
        edits={
            "    lowest, kept, worse = math": "    rows = list(history)\n    history.sort(key=lambda row: row['valid_loss'])\n    history = rows\n    lowest, kept, worse = math"
        },
    ),
    "choose: losses in a dictionary": Wrong(
        "choose",
        ["choose-marks"],
        edits={
            "    for row in history:": "    history = list({row['valid_loss']: row for row in history}.values())\n    for row in history:"
        },
    ),
    "choose: the lowest of all calls": Wrong(
        "choose",
        ["choose-marks"],
        edits={
            "(history, patience):": "(history, patience, best=[math.inf]):",
            "    lowest, kept, worse = math.inf, None, 0": "    lowest, kept, worse = best[0], None, 0",
            "            lowest, kept, worse = row": "            best[0] = row['valid_loss']\n            lowest, kept, worse = row",
        },
    ),
}
