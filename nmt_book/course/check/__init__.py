"""Public checks of the assignments: ``from nmt_book.course.check import a1 as check``,
then ``check.tokenize(tokenize)``.

They need neither nbgrader nor a teacher: each runs one small example, and says the
first thing that is wrong: what, where, what to do. They are not the whole test. One
file an assignment; ``kit`` is what they share.

Those of A3 make exercises of the book (``part``) from the rules of the assignment.
Their right answers call what the library has, and hidden tests are the same exercises
with more cases. While a submission is graded, none of this is where its cells run.
"""
