"""The course beside the chapters: public checks for students, and what makes and marks a class.

``check`` is what the assignments import, ``standins`` what checks and hidden tests put around an answer, ``pictures``
what the written questions are about. ``course`` makes the notebooks for students, ``grade`` marks a folder of them.
"""
