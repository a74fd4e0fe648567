"""The course beside the chapters: public checks for students, and an nbgrader course.

``check`` is what the assignments import, ``standins`` what checks and hidden tests put
around an answer, ``lots`` which letter is what in the pictures of written questions.
``course`` makes the course, ``grade`` marks a folder of submissions with nbgrader.

To read how a submission is marked: ``grade`` (collects it) → ``preprocessors`` (what
nbgrader calls) → ``assignment`` (which of its cells run) → ``marking`` (part by part) →
``sandbox``, ``student`` (where its cells run) → ``remote`` (what comes back).
"""
