"""Write and verify a release: its files, notes with the results of the checks, and a statement of the digests.

`python scripts/release_notes.py write RESULTS FOLDER` (make release) reads the results of `.ci/run`, which must be
those of the checked out commit, and builds the release into FOLDER. `python scripts/release_notes.py verify FOLDER`
computes the digests again. The statement is an in-toto test result. Needs the standard library alone.
"""

import argparse
import hashlib
import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

from check_results import ROOT, Results, head

NOTES, STATEMENT, BILL = "release-notes.md", "release.intoto.json", "bill-of-materials.cdx.json"
STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE = "https://in-toto.io/attestation/test-result/v0.1"


class Refused(Exception):
    """The release cannot be made, or does not match its statement."""


def phase_names() -> list[str]:
    """Return the names of the phases that `.ci/run` has."""
    return re.findall(r"^phase (\S+)", (ROOT / ".ci" / "run").read_text(), re.MULTILINE)


def checked_results(results_file: Path) -> Results:
    """Return the results of the checks.

    Raises:
        Refused: they did not all pass, or not on the commit that is checked out.
    """
    if not results_file.exists():
        raise Refused(f"{results_file} does not exist: run .ci/run first.")
    results: Results = json.loads(results_file.read_text())
    commit, is_clean = head()
    if not is_clean:
        raise Refused("The checkout has changes that are not committed.")
    if results["commit"] != commit:
        raise Refused(f"The checks ran on {results['commit'] or 'no commit'}, and {commit} is checked out.")
    if not results["is_clean"]:
        raise Refused("The checks ran on files that were not committed.")
    names = [phase["name"] for phase in results["phases"]]
    if missing := [name for name in phase_names() if name not in names]:
        raise Refused(f"The checks lack {', '.join(missing)}.")
    if failed := [phase["name"] for phase in results["phases"] if not phase["is_passed"]]:
        raise Refused(f"Not passed: {', '.join(failed)}.")
    return results


def changes_of(version: str) -> str:
    """Return the changelog's section about a version, with its heading.

    Raises:
        Refused: there is none, or the version was not released.
    """
    section = re.search(
        rf"^## {re.escape(version)}(?![\w.+-]).*?(?=^## |\Z)", (ROOT / "CHANGELOG.md").read_text(), re.M | re.S
    )
    if section is None:
        raise Refused(f"CHANGELOG.md has no section on {version}.")
    if not re.match(r"## \S+, \d{4}-\d\d-\d\d$", section[0], re.M):
        raise Refused(f"The section of CHANGELOG.md on {version} has no date.")
    return section[0].strip()


def digest_of(file: Path) -> str:
    """Return a file's SHA-256."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


def digests_in(folder: Path) -> dict[str, str]:
    """Return the digest of each file except the statement, by name."""
    return {file.name: digest_of(file) for file in sorted(folder.iterdir()) if file.name != STATEMENT}


def notes_on(name: str, version: str, results: Results, digests: dict[str, str]) -> str:
    """Return the notes as Markdown."""
    lines = [
        f"# {name} {version}",
        "",
        f"Commit {results['commit']}. The checks, `.ci/run`, passed on this commit.",
        "",
        changes_of(version),
        "",
        "## Checks",
        "",
        "| phase | passed | failed | skipped |",
        "|---|---:|---:|---:|",
        *("| {name} | {passed} | {failed} | {skipped} |".format(**phase) for phase in results["phases"]),
        "",
        "## Files",
        "",
        "| file | SHA-256 |",
        "|---|---|",
        *(f"| {file} | {digest} |" for file, digest in digests.items()),
    ]
    return "\n".join(lines) + "\n"


def write(results_file: Path, folder: Path) -> None:
    """Build the files of a release with its notes and statement."""
    results = checked_results(results_file)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    changes_of(project["version"])
    if folder.exists() and any(folder.iterdir()):
        raise Refused(f"{folder} is not empty.")
    subprocess.run(["make", "-s", "dist", f"DIST={folder.resolve()}"], cwd=ROOT, check=True)
    shutil.copy(ROOT / "docs" / BILL, folder)
    (folder / ".gitignore").unlink(missing_ok=True)  # uv's
    (folder / NOTES).write_text(notes_on(project["name"], project["version"], results, digests_in(folder)))
    statement = {
        "_type": STATEMENT_TYPE,
        "subject": [{"name": name, "digest": {"sha256": digest}} for name, digest in digests_in(folder).items()],
        "predicateType": PREDICATE_TYPE,
        "predicate": {
            "result": "PASSED",
            "configuration": [
                {"name": project["name"], "digest": {"gitCommit": results["commit"]}},
                {"name": ".ci/run", "digest": {"sha256": digest_of(ROOT / ".ci" / "run")}},
            ],
            "passedTests": [phase["name"] for phase in results["phases"]],
            "failedTests": [],
        },
    }
    (folder / STATEMENT).write_text(json.dumps(statement, indent=1) + "\n")


def verify(folder: Path) -> None:
    """Check that a folder holds the files that its statement names, unchanged, and no others.

    Raises:
        Refused: it does not.
    """
    statement = json.loads((folder / STATEMENT).read_text())
    stated = {subject["name"]: subject["digest"]["sha256"] for subject in statement["subject"]}
    digests = digests_in(folder)
    if differing := sorted(name for name in stated | digests if stated.get(name) != digests.get(name)):
        raise Refused(f"Not what {STATEMENT} says: {', '.join(differing)}.")


def main() -> int:
    """Carry out a command; return the exit code."""
    parser = argparse.ArgumentParser(prog="release_notes.py", description="Write or verify a release.")
    commands = parser.add_subparsers(dest="command", required=True)
    writing, verifying = commands.add_parser("write"), commands.add_parser("verify")
    writing.add_argument("results", type=Path, help="the file that .ci/run names at its end")
    for command in (writing, verifying):
        command.add_argument("folder", type=Path)
    given = parser.parse_args()
    try:
        if given.command == "write":
            write(given.results, given.folder)
        verify(given.folder)
    except Refused as refusal:
        print(refusal, file=sys.stderr)
        return 1
    print(f"{given.folder} holds what {STATEMENT} says.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
