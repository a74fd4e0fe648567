"""``python -m nmt_lib``: see ``cli.py``."""

import sys

from .cli import main

sys.exit(main())
