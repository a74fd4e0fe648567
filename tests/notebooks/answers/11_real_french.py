"""Answers to the deeper page "Real French", and what its check must say."""

WON = "def couples_won(margins):\n    return "
ANSWERS = {
    "couples_won": {
        WON + "sum(m > 0 for m in margins)": "these are contrasts: a couple",
        WON + "sum(m > 0 for m in margins) / 2": "halved",
        WON + "sum(max(p) > 0 for p in zip(margins[::2], margins[1::2]))": "not one of",
        WON + "sum(sum(p) > 0 for p in zip(margins[::2], margins[1::2]))": "their mean",
        WON + "sum(min(p) > 0 for p in zip(margins, margins[1:]))": "take 0 and 1",
        WON + "sum(min(p) >= 0 for p in zip(margins[::2], margins[1::2]))": "no win",
        WON + "sum(min(p) <= 0 for p in zip(margins[::2], margins[1::2]))": "half lost",
        WON + "sum(min(p) > 0 for p in zip(margins[::2], margins[1::2])) * 2 / "
        "len(margins)": "do not divide",
        WON
        + "sum(a * b > 0 for a, b in zip(margins[::2], margins[1::2]))": "two losses",
        WON
        + "sum(min(margins[i:i+2]) > 0 for i in range(2, len(margins), 2))": "expected",
        WON + "sum(min(margins[i:i+2]) > 0 for i in range(0, len(margins) - 2, 2))": (
            "expected"
        ),
        WON + "sum(abs(m) > 0 for m in margins[::2])": "expected (1, 2), got (4, 4)",
        """
def couples_won(margins):
    won = 0
    for i in range(0, len(margins), 2):
        if margins[i] > 0 and margins[i + 1] > 0:
            won += 1
    return won
""": "right",
        """
def couples_won(margins):
    import torch
    return (torch.tensor(margins).view(-1, 2) > 0).all(1).sum()
""": "right",
        """
def couples_won(margins):
    if not margins:
        return 0
    first, second, *rest = margins
    return int(first > 0 < second) + couples_won(rest)
""": "right",
    }
}
