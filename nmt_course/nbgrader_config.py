"""For nbgrader's own commands, run in the folder that ``make class`` wrote. ``make
grade`` does not need it."""

import os
import sys

# Nbgrader starts ``alembic`` by its bare name when it makes a gradebook. Where the
# environment is not activated, that
# Is not found, and every command ends with an error, for right and blank submissions
# alike.
os.environ["PATH"] = (
    os.path.dirname(sys.executable) + os.pathsep + os.environ.get("PATH", "")
)

c = get_config()  # type: ignore[name-defined]  # noqa: F821
c.CourseDirectory.course_id = "nmt"
c.ClearSolutions.code_stub = {
    "python": "raise NotImplementedError("
    '"write your answer here, in place of this line")'
}
c.ClearSolutions.text_stub = "*Write your answer here, in place of this line.*"
c.ClearSolutions.enforce_metadata = True
c.Execute.timeout = 30
c.Execute.startup_timeout = 120  # the first import of torch on a cold machine
c.ExecutePreprocessor.kernel_name = "python3"  # whatever kernel a submission names
