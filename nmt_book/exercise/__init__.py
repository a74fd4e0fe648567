'''An exercise: each stub of a chapter as one object.

In a chapter: ``from nmt_book.chapter04 import check``, and below a stub
``check.attention(attention)``. There are also ``check.attention.hint()`` and
``check.attention.answer()``. ``book.progress(check)`` lists what is solved.

How to add an exercise
----------------------

**1. Write the right answer** into the chapter's ``check.py``, under a decorator that
says the rest. The text of the definition is the printed answer, so it has no types, and
at line ends the shapes. A complete module, with one exercise::

    """The exercises of chapter 14."""

    import torch

    from ..exercise import exercise


    @exercise(
        "Divide each row by its sum.",
        cases={  # what makes the case special → the arguments
            "positive numbers": (torch.tensor([[1.0, 3], [2, 2], [0, 5]]),),
            "a row with a negative number": (torch.tensor([[1.0, -3, 4, 2]]),),
            "integers": (torch.tensor([[1, 3], [2, 2]]),),
        },
        mistakes={  # the sentence that names it → the mistake
            "divide by the sum of each row, not of all": "-1, keepdim=True →",
            "rows lie along the last axis: sum(-1)": "sum(-1 → sum(0",
            "each row must sum to 1: divide by the sum, not by the largest": (
                "x / x.max(-1, keepdim=True).values"
            ),
        },
        hints=("What must the shape of the sums be, so that they divide rows?",
               "`x.sum(-1, keepdim=True)` has the shape (N, 1)."),
        says="each row sums to 1",  # printed after "right: "
        difficulty=1, importance=2, minutes=3,
    )
    def normalised(x):
        return x / x.sum(-1, keepdim=True)  # (N, D)

Further keywords: ``part``, the keyword of ``book.try_it``, if the function can run in
a translator (``nmt_book/yours/parts.py`` has the adapters: a new one is a few lines);
``uses``, earlier exercises whose functions the answer calls (then a check says which
of them to finish first); ``call``, how a case asks an answer, for a class, a loop
that gets a function, a number, or a gradient: ``call=lambda cls, D, x: cls(D)(x)``.
The default is ``answer(*arguments)``. ``fixed`` names arguments with one size on
purpose.

**2. Choose the cases.** At least two widths and two lengths, and one case that is not
the page's own example. Think of what a model does that a toy does not: scores of
±1,600, padding on the left, a single row, heads in front. Arguments are copied for
each call, so they can be made once, by a seeded generator; a case may hold a module
or a function.

**3. Write the mistakes**: what readers do, not what can be done. A mistake is

- a change of the answer, ``"piece → other piece"`` (all occurrences are replaced; with
  nothing after the arrow the piece is left out); a tuple for several changes, one after
  the other;
- what it returns, as a text without an arrow, in the names of the answer's arguments;
- a function (or for a class: something that is called like it), where a text would be
  unclear;
- a list of these, for several ways to the same mistake with the same sentence.

A text can use what the module has above the exercise. A linter does not read it, but
the tests run each. All run on the same cases as the reader's answer. A mistake is named
if *all* of its cases are equal; the same error counts as equal, if it is a
``RuntimeError`` or ``TypeError`` only with the same text. So the sentence
must be true of everything that gives these values: name the symptom, and the cause if
there is only one. Of two mistakes that coincide, one must go, or both share a
sentence, or a new case tells them apart. What is no usual mistake needs nothing: the
check then says which cases are right, which is the first wrong one, its input if it
is short, and expected and got at one place; of an error, the reader's own line and
what is usual then (``USUAL`` in ``exercise.py``). So let the first case be small, with
numbers of one decimal. Where the arguments are modules, give them to ``record_steps``:
then a check can say which of them reads something else than it should. An answer that
changes an argument is right, but told so.

**4. Put it on the page.** Below "Your turn" the rating, as
``print(check.normalised)`` shows it; then the stub, with ``return None # replace this
line``; then one open cell::

    check.normalised(normalised)  # stuck? check.normalised.hint()
    book.try_it("multi30k-en-de", part=normalised)  # if it has a part

then a Markdown cell that begins with ``<details><summary>Answer</summary>`` and holds
the answer's text in a ``python`` block. The chapter never shows the answer openly
within two cells of the stub. Where a later cell needs the function, it takes ``scaled =
check.normalised.use(normalised)``: hers once it is right, else the printed answer. It
has another name than the stub, so that the check can be run again. The page's end has
``book.progress(check)``, with the tag ``nbval-ignore-output``, since it shows what is
solved on this machine.

**5. Add other answers** to ``tests/book/answers_to/<chapter>.py``: ``RIGHT``,
answers of another kind (loops, a library call; two if the exercise has a ``call``), and
``WRONG``, what must be refused, is no usual mistake, and is reproduced by no mutant.
``python -m tests.book.mutants chapter14`` changes the answer a little in hundreds of
ways, and prints which changes a check calls right though another case would show them.

``python -m nmt_book.exercise chapter14`` prints ratings, hints and what each mistake
is told, and marks a mistake that is told something else. ``pytest
tests/book/test_exercises.py -k chapter14`` takes seconds. It finds modules
(``chapter…/check.py``), chapters and answers by itself, and checks: each mistake
is recognised as itself, no two coincide, other right answers pass, wrong ones are
refused, an unfilled stub gets one line, there are two widths and lengths, the right
answer translates as the library does, and the page has the same rating, signature and
answer.
'''

from .exercise import Exercise as Exercise
from .exercise import exercise as exercise
