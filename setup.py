"""Puts site/live, which is in no package, into the wheel; the rest: pyproject.toml."""

from setuptools import setup
from setuptools.command.build_py import build_py


class WithLivePage(build_py):
    def run(self):
        super().run()
        if not self.editable_mode:  # a checkout has the files where they are
            self.copy_tree("site/live", f"{self.build_lib}/nmt_lib/live")


setup(cmdclass={"build_py": WithLivePage})
