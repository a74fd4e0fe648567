"""The course beside the chapters: public checks for students, and what makes and marks
a class.

``check`` is what the assignments import, ``standins`` what checks and hidden tests put
around an answer, ``pictures``
what the written questions are about. ``course`` makes the notebooks for students,
``grade`` marks a folder of them.

To read how a class is marked, follow a submission: ``submissions`` (finds and reads it)
→ ``grade`` (a process for it)
→ ``assignment`` (which of its cells run) → ``marking`` (part by part) → ``sandbox``,
``student`` (where its cells run)
→ ``remote`` (what comes back) → ``report`` (what is written).
"""
