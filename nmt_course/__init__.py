"""The course beside the chapters: public checks for students, and what makes and marks a class.

``check`` is what the assignments import, ``standins`` what checks and hidden tests put around an answer, ``pictures``
what the written questions are about. ``course`` makes the notebooks for students, ``grade`` marks a folder of them.

To read how a class is marked, follow a submission: ``grade`` → ``submissions`` (finds it) → ``jobs`` (a process for it)
→ ``cells`` (reads it) → ``assignment`` (which of its cells run) → ``marking`` (part by part) → ``nursery``,
``sandbox``, ``limits`` (start the student's process) → ``student``, ``hide`` (what goes on there) → ``remote``,
``plain`` (what comes back) → ``verdict`` (what the tests say) → ``suspicion`` (where a teacher should look) →
``marks``, ``report``, ``typed``, ``page`` (what is written).
"""
