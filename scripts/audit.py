"""Check the pinned packages for known vulnerabilities (make audit).

The exit code is 0 if none is known, 1 if some are, 2 if packages could not be looked up.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import NotRequired, TypedDict

ROOT = Path(__file__).parent.parent
REQUIREMENTS = ("scale", "embeddings", "model")


class Advisory(TypedDict):
    """A known vulnerability, and the versions that do not have it."""

    id: str
    fix_versions: list[str]


class Package(TypedDict):
    """A package and its advisories, or the reason why it could not be looked up."""

    name: str
    version: NotRequired[str]
    skip_reason: NotRequired[str]
    vulns: NotRequired[list[Advisory]]


def looked_up(options: list[str]) -> list[Package] | None:
    """Return the result for each package, None if the database cannot be reached.

    Args:
        options: further ones of pip-audit, such as `--vulnerability-service osv`.
    """
    files = [part for name in REQUIREMENTS for part in ("-r", str(ROOT / "requirements" / f"{name}.txt"))]
    command = [sys.executable, "-m", "pip_audit", "--progress-spinner", "off", "--disable-pip", "--require-hashes"]
    done = subprocess.run([*command, "--format", "json", *files, *options], capture_output=True, text=True, check=False)
    try:
        packages: list[Package] = json.loads(done.stdout)["dependencies"]
    except ValueError:
        print(done.stderr.strip().rpartition("\n")[2], file=sys.stderr)
        return None
    return packages


def report(packages: list[Package] | None) -> int:
    """Print what was found; return the exit code."""
    if packages is None:
        print("No database of vulnerabilities could be asked: nothing was checked.")
        return 2
    skipped = [package for package in packages if "skip_reason" in package]
    known = [(package, advisory) for package in packages for advisory in package.get("vulns", [])]
    for package, advisory in known:
        fixed = ", ".join(advisory["fix_versions"]) or "no version yet"
        print(f"{package['name']} {package.get('version', '')}: {advisory['id']}, fixed in {fixed}")
    checked = len(packages) - len(skipped)
    print(f"{checked} of {len(packages)} packages were looked up, {len(known)} vulnerabilities known.")
    if skipped:
        print("Not looked up, because the database did not answer or does not know them:")
        print("  " + ", ".join(package["name"] for package in skipped))
    return 1 if known else 2 if skipped else 0


if __name__ == "__main__":
    sys.exit(report(looked_up(sys.argv[1:])))
