"""A release is made only of a commit that passed the checks; tested on a small project."""

import hashlib
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.server import ROOT

PASSED = '<testsuites><testsuite tests="5" failures="0" errors="0" skipped="2"/></testsuites>'
FILES = {
    ".ci/run": "phase test make test\nphase crash make crash\n",
    ".gitignore": "/dist/\n/check-results/\n/junit.xml\n__pycache__/\n",
    "CHANGELOG.md": "# Changes\n\n## 1.1.0\n\n- Newer.\n\n## 1.0.0, 2026-01-02\n\n- Sessions.\n\n## 0.9\n\n- Older.\n",
    "Makefile": "dist:\n\tmkdir -p $(DIST) && echo wheel >$(DIST)/small.whl && echo sdist >$(DIST)/small.tar.gz\n",
    "docs/bill-of-materials.cdx.json": "{}\n",
    "pyproject.toml": '[project]\nname = "small"\nversion = "1.0.0"\n',
}


@dataclass(frozen=True)
class SmallProject:
    """A repository with the scripts, two phases and a build."""

    folder: Path

    @property
    def release(self) -> Path:
        return self.folder / "dist/release"

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run a command in the project; return its output and errors."""
        return subprocess.run(
            command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
        )

    def commit(self) -> str:
        """Commit everything; return the commit."""
        by = ("-c", "user.name=a", "-c", "user.email=a@example.com")
        self.run("git", "add", "--all")
        self.run("git", *by, "commit", "--quiet", "--allow-empty", "--message", "a change")
        return self.run("git", "rev-parse", "HEAD").stdout.strip()

    def check(self, phase: str, exit_code: int = 0, junit: str = PASSED) -> bool:
        """Record a phase as `.ci/run` does; return whether the checks continue."""
        (self.folder / "junit.xml").write_text(junit)
        added = ("check-results/checks.json", "add", phase, str(exit_code), "junit.xml")
        return not self.run(sys.executable, "scripts/check_results.py", *added).returncode

    def notes(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run `scripts/release_notes.py`."""
        return self.run(sys.executable, "scripts/release_notes.py", *arguments)

    def write(self) -> subprocess.CompletedProcess[str]:
        """Write the release."""
        return self.notes("write", "check-results/checks.json", "dist/release")


@pytest.fixture
def project(tmp_path: Path) -> SmallProject:
    """Return a project with one commit, which has not been checked."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "scripts").mkdir()
    for script in ("check_results.py", "release_notes.py"):
        shutil.copy(ROOT / "scripts" / script, tmp_path / "scripts")
    made = SmallProject(tmp_path)
    made.run("git", "init", "--quiet")
    made.commit()
    return made


def test_a_release_says_what_the_checks_found(project: SmallProject) -> None:
    commit = project.commit()
    assert project.check("test")
    assert project.check("crash")
    assert project.write().returncode == 0

    statement = json.loads((project.release / "release.intoto.json").read_text())
    digests = {subject["name"]: subject["digest"]["sha256"] for subject in statement["subject"]}
    names = {"small.whl", "small.tar.gz", "bill-of-materials.cdx.json", "release-notes.md"}
    assert set(digests) == names
    for name, digest in digests.items():
        assert hashlib.sha256((project.release / name).read_bytes()).hexdigest() == digest
    assert {"name": "small", "digest": {"gitCommit": commit}} in statement["predicate"]["configuration"]
    assert statement["predicate"]["passedTests"] == ["test", "crash"]

    lines = (project.release / "release-notes.md").read_text().splitlines()
    assert lines[0] == "# small 1.0.0"
    assert commit in lines[2]
    assert {"## 1.0.0, 2026-01-02", "- Sessions.", "| test | 3 | 0 | 2 |", "| crash | 3 | 0 | 2 |"} <= set(lines)
    assert not {"- Newer.", "- Older."} & set(lines)
    assert f"| small.whl | {digests['small.whl']} |" in lines
    assert project.notes("verify", "dist/release").returncode == 0


def failed_phase(project: SmallProject) -> None:
    project.check("test")
    assert not project.check("crash", 1, '<testsuite tests="5" failures="1" errors="0" skipped="0"/>')


def phase_that_broke_off(project: SmallProject) -> None:
    project.check("test")
    assert not project.check("crash", 2)


def phase_that_ran_no_test(project: SmallProject) -> None:
    project.check("test")
    assert not project.check("crash", 0, '<testsuite tests="2" failures="0" errors="0" skipped="2"/>')


def missing_phase(project: SmallProject) -> None:
    project.check("test")


def other_commit(project: SmallProject) -> None:
    project.check("test")
    project.check("crash")
    project.commit()


def commit_between_two_phases(project: SmallProject) -> None:
    project.check("test")
    project.commit()
    project.check("crash")


def change_that_is_not_committed(project: SmallProject) -> None:
    project.check("test")
    project.check("crash")
    (project.folder / "Makefile").write_text("dist:\n")


def change_while_the_checks_ran(project: SmallProject) -> None:
    (project.folder / "new.py").touch()
    project.check("test")
    (project.folder / "new.py").unlink()
    project.check("crash")


def checks_that_never_ran(_: SmallProject) -> None:
    """Record no phase."""


def version_without_a_section(project: SmallProject) -> None:
    (project.folder / "CHANGELOG.md").write_text("# Changes\n\n## 1.0.0-rc1\n")
    project.commit()
    project.check("test")
    project.check("crash")


def version_without_a_date(project: SmallProject) -> None:
    (project.folder / "CHANGELOG.md").write_text("# Changes\n\n## 1.0.0, not released\n\n- Sessions.\n")
    project.commit()
    project.check("test")
    project.check("crash")


def folder_with_an_older_release(project: SmallProject) -> None:
    project.check("test")
    project.check("crash")
    project.release.mkdir(parents=True)
    (project.release / "small-0.9.whl").touch()


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (failed_phase, "Not passed: crash"),
        (phase_that_broke_off, "Not passed: crash"),
        (phase_that_ran_no_test, "Not passed: crash"),
        (missing_phase, "lack crash"),
        (other_commit, "is checked out"),
        (commit_between_two_phases, "is checked out"),
        (change_that_is_not_committed, "not committed"),
        (change_while_the_checks_ran, "not committed"),
        (checks_that_never_ran, "run .ci/run first"),
        (version_without_a_section, "no section on 1.0.0"),
        (version_without_a_date, "has no date"),
        (folder_with_an_older_release, "not empty"),
    ],
)
def test_a_release_is_refused(project: SmallProject, broken: Callable[[SmallProject], None], reason: str) -> None:
    broken(project)
    refused = project.write()
    assert refused.returncode == 1
    assert reason in refused.stdout
    assert "Traceback" not in refused.stdout
    assert not (project.release / "release.intoto.json").exists()


@pytest.mark.parametrize("name", ["small.whl", "release-notes.md", "bill-of-materials.cdx.json", "other.whl"])
def test_a_release_that_was_altered_is_found(project: SmallProject, name: str) -> None:
    project.check("test")
    project.check("crash")
    project.write()
    with (project.release / name).open("a") as file:
        file.write("x")
    found = project.notes("verify", "dist/release")
    assert found.returncode == 1
    assert name in found.stdout


def test_the_phases_are_those_of_the_checks() -> None:
    listed = "import release_notes; print(*release_notes.phase_names())"
    command = (sys.executable, "-c", listed)
    names = subprocess.run(command, cwd=ROOT / "scripts", capture_output=True, text=True, check=True).stdout.split()
    assert names[0] == "test"
    assert {"browser", "crash", "soak", "postgres", "services"} < set(names)
    assert len(set(names)) == len(names)
