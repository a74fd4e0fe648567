"""The course beside the chapters: public checks for students, and what makes and marks a class.

``check`` is what the assignments import. ``course`` makes the notebooks for students, ``grade`` marks a folder of them.
"""
