"""Stops CI when its environment holds a package that pyproject.toml and constraints.txt don't bring."""

import contextlib
import re
import sys
from importlib.metadata import PackageNotFoundError, distribution, distributions
from pathlib import Path

EXTRAS = ("notebooks", "dev")
ALWAYS = {"pip", "setuptools", "wheel", "nmt-lib"}


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def needed(name: str, extras: tuple[str, ...], seen: set[tuple[str, str]]) -> None:
    """Adds what a package requires, and what that requires; markers are read loosely, extras strictly."""
    for line in distribution(name).requires or []:
        requirement, _, marker = line.partition(";")
        wanted = re.findall(r"extra\s*==\s*['\"]([^'\"]+)", marker)
        if wanted and not set(wanted) & set(extras):
            continue
        match = re.match(r"\s*([A-Za-z0-9._-]+)\s*(?:\[([^\]]*)\])?", requirement)
        assert match, line
        child, child_extras = normal(match[1]), match[2] or ""
        if (child, child_extras) in seen:
            continue
        seen.add((child, child_extras))
        with contextlib.suppress(PackageNotFoundError):  # its marker leaves it out here
            needed(child, tuple(part.strip() for part in child_extras.split(",")), seen)


reachable: set[tuple[str, str]] = set()
needed("nmt-lib", EXTRAS, reachable)
pinned = {
    normal(line.split("==")[0])
    for line in Path("constraints.txt").read_text().splitlines()
    if "==" in line
}
installed = {normal(dist.metadata["Name"]) for dist in distributions()} - ALWAYS
strange = sorted(installed - {name for name, _ in reachable})
loose = sorted(
    name
    for name in installed - pinned
    if not name.startswith(("nvidia-", "cuda-", "triton"))
)  # torch's
if strange or loose:
    print(
        f"not brought by pyproject.toml: {strange}; not pinned in constraints.txt: {loose}",
        file=sys.stderr,
    )
    sys.exit(
        "the environment was changed by hand: delete it, and declare what the project needs"
    )
print(f"environment: {len(installed)} packages, all declared and pinned")
