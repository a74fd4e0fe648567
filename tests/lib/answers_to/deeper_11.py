"""Other answers to the exercise of the deeper page on real French."""


def counted(margins):
    won = 0
    for i in range(0, len(margins), 2):
        if margins[i] > 0 and margins[i + 1] > 0:
            won += 1
    return won


def rest_later(margins):
    if not margins:
        return 0
    first, second, *rest = margins
    return int(first > 0 < second) + rest_later(rest)


RIGHT = {
    "couples_won": [
        counted,
        rest_later,
    ]
}
WRONG = {"couples_won": []}
