'''An exercise: one object for each stub of a chapter.

A chapter imports its exercises with ``from nmt_book.chapter04 import check``, and below
a stub it calls ``check.attention(attention)``. The reader can also call
``check.attention.hint()`` and ``check.attention.answer()``. ``book.progress(check)``
lists what is solved.

How to add an exercise
----------------------

**1. Write the right answer** into the chapter's ``check.py``, under a decorator that
holds everything else. The text of the definition is the answer that readers see, so it
has no types, and shapes at the ends of its lines. A complete module with one exercise::

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

There are further keywords:

- ``part`` is the keyword of ``book.try_it``, if the function can run in a translator.
  The adapters are in ``nmt_book/yours/parts.py``; a new one takes a few lines.
- ``uses`` names earlier exercises whose functions the answer calls. A check then says
  which of them to finish first.
- ``call`` is how a case calls an answer. The default is ``answer(*arguments)``. You
  need ``call`` for a class, a loop that gets a function, a number or a gradient, as in
  ``call=lambda cls, D, x: cls(D)(x)``.
- ``fixed`` names arguments that have only one size on purpose.

**2. Choose the cases.** You need at least two widths and two lengths, and one case that
is not the page's own example. Think of what happens in a model but not in a toy: scores
of ±1,600, padding on the left, a single row, heads in front. Arguments are copied for
each call, so they can be made once, by a seeded generator. A case may hold a module or
a function.

**3. Write the mistakes**: those that readers make, not all that are possible. A mistake
is one of these:

- a change of the answer, ``"piece → other piece"``, or a tuple of changes that are made
  one after the other; all occurrences are replaced, and with nothing after the arrow
  the piece is deleted;
- a text without an arrow, which is what the mistake returns, in the names of the
  answer's arguments;
- a function (for a class, something that is called in the same way), where a text would
  be unclear;
- a list of these, if there are several ways to make the same mistake.

A text can use everything that is above the exercise in the module. A linter does not
read these texts, but the tests run each of them.

All mistakes run on the same cases as the reader's answer. A mistake is named if the two
agree in *all* cases. The same error counts as agreement; a ``RuntimeError``,
``TypeError`` or ``AttributeError`` must also have the same text. The sentence must
therefore be true of every answer that gives these values: name the symptom, and name
the cause only if there is just one. If two mistakes coincide, remove one, give both the
same sentence, or add a case that tells them apart.

An unusual mistake needs no entry. The check then says which cases are right and which
is the first wrong one, and shows the input of that case if it is short, with the
expected and the actual value at one place. For an error, it shows the reader's own line
and what usually causes it (``USUAL`` in ``exercise.py``). So let the first case be
small, with numbers of one decimal. Where the arguments are modules, wrap them in
``record_steps``: a check can then say which of them reads the wrong input. An answer
that changes an argument passes, but the reader is told. What an answer prints is caught
and shown after the verdict, three lines of it.

**4. Put it on the page.** Below "Your turn" comes the rating, as
``print(check.normalised)`` shows it; then the stub, with ``return None # replace this
line``; then one open cell::

    check.normalised(normalised)  # stuck? check.normalised.hint()
    book.try_it("multi30k-en-de", part=normalised)  # if it has a part

After it comes a Markdown cell that begins with ``<details><summary>Answer</summary>``
and holds the answer's text in a ``python`` block. The chapter never shows the answer
openly within two cells of the stub. A later cell that needs the function calls ``scaled
= check.normalised.use(normalised)``, which is the reader's function once it is right,
and the printed answer until then. Its name differs from the stub's, so that the check
can be run again. The page ends with ``book.progress(check)``, which has the tag
``nbval-ignore-output`` because it shows what is solved on this machine.

**5. Add other answers** to ``tests/book/answers_to/<chapter>.py``. ``RIGHT`` holds
right answers of another kind, such as a loop or a library call (two if the exercise has
a ``call``). ``WRONG`` holds answers that must be rejected, but are no usual mistake and
no mutant's result. ``python -m tests.book.mutants chapter14`` makes hundreds of small
changes to the answer, and prints those that the check accepts although another case
would expose them.

``python -m nmt_book.exercise chapter14`` prints ratings, hints and the message for each
mistake, and marks a mistake that gets the wrong message. ``pytest
tests/book/test_exercises.py -k chapter14`` takes seconds. It finds modules
(``chapter…/check.py``), chapters and answers by itself, and tests that each mistake is
recognised as itself, that no two coincide, that other right answers pass and wrong ones
are rejected, that an unfilled stub gets one line, that there are two widths and
lengths, that the right answer translates as the library does, and that the page has the
same rating, signature and answer.
'''

from .exercise import Exercise as Exercise
from .exercise import exercise as exercise
