"""The exercises of the chapters, one module a chapter.  (how-to follows)"""

from .exercise import Exercise as Exercise
from .exercise import exercise as exercise
