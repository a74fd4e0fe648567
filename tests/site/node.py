"""Scripts of the pages in Node: they read JSON, and print JSON."""

import json
import os
import shutil
import subprocess
from typing import Any

import pytest

needs_node = pytest.mark.skipif(  # in CI, a skipped check is a failed one
    not shutil.which("node") and "CI" not in os.environ,
    reason="no Node on this machine (apt-get install nodejs)",
)


def run_node(script: str, job: Any, kind: str = "module") -> Any:
    command = ["node", f"--input-type={kind}", "--eval", script]
    asked = json.dumps(job)
    result = subprocess.run(command, input=asked, capture_output=True, text=True)
    assert not result.returncode, result.stderr
    return json.loads(result.stdout)
