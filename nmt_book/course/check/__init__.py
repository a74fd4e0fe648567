"""Public checks of the assignments: ``from nmt_book.course.check import a1 as check``,
then ``check.tokenize(tokenize)``.

They need neither nbgrader nor a teacher: each runs one small example, and says the
first thing that is wrong: what, where, what to do. They are not the whole test, and
they hold no solution. One file an assignment; ``kit`` is what they share.
"""
