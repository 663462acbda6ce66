"""Record the results of `.ci/run`: a JSON file with the commit and the counts of each phase.

Usage: python scripts/check_results.py RESULTS add NAME EXIT_CODE JUNIT, which fails unless the phase passed, and
python scripts/check_results.py RESULTS show, which prints the counts. Needs the standard library alone.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import TypedDict
from xml.etree import ElementTree

ROOT = Path(__file__).parent.parent


class Phase(TypedDict):
    """A test command: the counts of its tests, and whether it passed as a whole."""

    name: str
    passed: int
    failed: int
    skipped: int
    is_passed: bool


class Results(TypedDict):
    """The results of the checks, their commit (empty outside of Git), and whether the files were those of it."""

    commit: str
    is_clean: bool
    phases: list[Phase]


def output_of_git(*arguments: str) -> str:
    """Return what Git prints, or an empty text if it fails."""
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def head() -> tuple[str, bool]:
    """Return the checked out commit and whether the files are those of the commit."""
    commit = output_of_git("rev-parse", "HEAD")
    return commit, bool(commit) and not output_of_git("status", "--porcelain")


def read_phase(name: str, exit_code: int, junit: Path) -> Phase:
    """Return the phase that a JUnit file records. A phase without a test has not passed."""
    suites = list(ElementTree.parse(junit).iter("testsuite")) if junit.exists() else []  # noqa: S314 (pytest wrote it)

    def total(*attributes: str) -> int:
        return sum(int(suite.get(attribute, 0)) for suite in suites for attribute in attributes)

    failed, skipped = total("failures", "errors"), total("skipped")
    passed = total("tests") - failed - skipped
    is_passed = not exit_code and not failed and passed > 0
    return Phase(name=name, passed=passed, failed=failed, skipped=skipped, is_passed=is_passed)


def add_phase(results_file: Path, phase: Phase) -> None:
    """Add a phase; the results stay clean if the files were those of the same commit after each phase."""
    commit, is_clean = head()
    stored = results_file.read_text() if results_file.exists() else ""
    results: Results = json.loads(stored) if stored else {"commit": commit, "is_clean": True, "phases": []}
    results["is_clean"] = results["is_clean"] and is_clean and results["commit"] == commit
    results["phases"].append(phase)
    results_file.parent.mkdir(parents=True, exist_ok=True)
    results_file.write_text(json.dumps(results, indent=1) + "\n")


def show(results: Results) -> None:
    """Print the counts."""
    for phase in results["phases"]:
        print("{name:12} {passed:5} passed {failed:3} failed {skipped:3} skipped".format(**phase))
    passed, failed, skipped = (
        sum(phase[count] for phase in results["phases"]) for count in ("passed", "failed", "skipped")
    )
    print(f"\n{passed} passed, {failed} failed, {skipped} skipped")


def main(results_file: Path, command: str, *arguments: str) -> int:
    """Carry out a command; return the exit code."""
    if command == "show":
        show(json.loads(results_file.read_text()))
        return 0
    name, exit_code, junit = arguments
    phase = read_phase(name, int(exit_code), Path(junit))
    add_phase(results_file, phase)
    if not phase["passed"]:
        print(f"The phase {name} passed no test.")
    return 0 if phase["is_passed"] else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), *sys.argv[2:]))
