"""``python -m nmt_lib``: see ``runs/cli.py``."""

import sys

from .runs.cli import main

sys.exit(main())
