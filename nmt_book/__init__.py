"""What the pages need beside the library: exercises, experiments, pictures, things to
touch, a reader's own code in a translator, and the course.

Each chapter and each page of ``deeper/`` has a folder, with those that it needs of
``check`` (its exercises), ``lab`` (what it measures), ``pictures`` (what only it draws)
and ``tables`` (a program that makes the tables that it cites). ``__init__.pyi`` lists
what several pages use. Names are loaded when first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
