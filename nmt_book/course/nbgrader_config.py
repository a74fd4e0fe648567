"""For nbgrader, run in the folder that ``make class`` wrote."""

import os
import sys

from nbgrader.preprocessors import (
    AssignLatePenalties,
    CheckCellMetadata,
    LimitOutput,
    SaveAutoGrades,
)

from nmt_book.course.preprocessors import Mark, Restore, feedback_preprocessors

# nbgrader starts ``alembic`` by its bare name when it makes a gradebook.
PATH = os.path.dirname(sys.executable), os.environ.get("PATH", "")
os.environ["PATH"] = os.pathsep.join(PATH)

c = get_config()  # type: ignore[name-defined]  # noqa: F821
c.CourseDirectory.course_id = "nmt"
c.CourseDirectory.root = os.path.dirname(os.path.abspath(__file__))
c.ClearSolutions.code_stub = {
    "python": "raise NotImplementedError("
    '"write your answer here, in place of this line")'
}
c.ClearSolutions.text_stub = "*Write your answer here, in place of this line.*"
c.ClearSolutions.enforce_metadata = True
# nbgrader does everything but run the answers: Mark does, in a sandbox.
c.Autograde.sanitize_preprocessors = [Restore, CheckCellMetadata]
c.Autograde.autograde_preprocessors = [
    Mark,
    LimitOutput,
    SaveAutoGrades,
    AssignLatePenalties,
    CheckCellMetadata,
]
c.GenerateFeedback.preprocessors = feedback_preprocessors()
