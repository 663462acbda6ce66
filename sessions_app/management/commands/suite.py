"""`manage.py suite`: suites of tests read from files, written to files and run."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from mrpvm.errors import MRPError
from mrpvm.preview import counted
from sessions_app.actions.experiments.experiments import Author
from sessions_app.experiments.suites.documents import run_target_of
from sessions_app.experiments.suites.junit import junit_text, why_not
from sessions_app.experiments.suites.suite_files import exported_suite, import_suite
from sessions_app.experiments.suites.suites import run_now
from sessions_app.models import Project, Suite, TestResult
from sessions_app.queries.experiments.suites import difference, earlier_run, outcome_counts, results, suite_named
from sessions_app.queries.experiments.suites import suite as suite_of
from sessions_app.queries.knowledge.bases import base_by_name, knowledge_base
from sessions_app.queries.settings.projects import project_named

_AUTHOR = Author(name="command line")
_PLUGINS = ("planner", "seed_detector", "kb", "goal_solver")


class Command(BaseCommand):
    """Imports, exports or runs a suite."""

    help = (
        "Run a suite of tests, or read it from a YAML file or write it to one. Of a run the exit status is 1 if a test"
        " fails."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the verb and the suite."""
        what = parser.add_subparsers(dest="what", required=True)
        store = what.add_parser("import", help="make the suite that FILE gives, or replace its tests")
        store.add_argument("file", type=Path)
        export = what.add_parser("export", help="write a suite to FILE, or to standard output")
        run = what.add_parser("run", help="run a suite, or the one that FILE gives once it is imported")
        for action in (export, run):
            action.add_argument("suite", help="its name or id")
        export.add_argument("file", type=Path, nargs="?")
        run.add_argument("--file", type=Path, help="import this file first")
        run.add_argument("--junit", type=Path, metavar="FILE", help="write the results as JUnit XML")
        run.add_argument("--heads", action="store_true", help="against the present state of each test's own base")
        run.add_argument("--base", metavar="NAME", help="against this base, by name or id")
        run.add_argument("--revision", type=int, metavar="N", help="and this revision of it")
        run.add_argument("--draft-of", metavar="SESSION", help="against what a save of this session would make")
        run.add_argument("--tag", action="append", default=[], help="only tests with this tag; may be given again")
        run.add_argument("--level", type=int, choices=range(4), help="deliberation level")
        run.add_argument("--model", help="the model to ask")
        for name in _PLUGINS:
            run.add_argument(f"--{name.replace('_', '-')}-plugin", metavar="ID", help="only this one is used")
        for action in (store, export, run):
            action.add_argument("--project", help="slug of the project; the default project without it")

    def handle(self, *args: Any, what: str, **options: Any) -> None:
        try:
            project = project_named(options["project"])
            match what:
                case "import":
                    suite = import_suite(project, options["file"].read_text(encoding="utf-8"), _AUTHOR)
                    self.stdout.write(f"Suite {suite.name}: {counted(suite.tests.count(), 'test')}.")
                case "export":
                    self._export(_suite(project, options["suite"]), options["file"])
                case _:
                    self._run(project, options)
        except UnicodeDecodeError:
            raise CommandError(f"{options['file']} is no text in UTF-8.") from None
        except MRPError as error:
            raise CommandError(str(error)) from None
        except OSError as error:
            done = "written" if what == "export" else "read"
            raise CommandError(f"{options['file']} cannot be {done}: {error.strerror}.") from None

    def _export(self, suite: Suite, file: Path | None) -> None:
        if file is None:
            self.stdout.write(exported_suite(suite), ending="")
        else:
            file.write_text(exported_suite(suite), encoding="utf-8")

    def _run(self, project: Project, options: dict[str, Any]) -> None:
        if options["file"]:
            import_suite(project, options["file"].read_text(encoding="utf-8"), _AUTHOR, name=options["suite"])
        suite = _suite(project, options["suite"])
        chosen = {f"{name}_plugin": options[f"{name}_plugin"] for name in _PLUGINS}
        chosen |= {"deliberation_level": options["level"], "model": options["model"]}
        target = {name: options[name] for name in ("revision", "draft_of", "heads")}
        target |= {"kb_id": _base_id(project, options["base"]), "tags": options["tag"], "choices": chosen}
        run = run_now(suite, run_target_of(target), _AUTHOR)
        for result in results(run):
            is_passed = result.outcome == TestResult.Outcome.PASSED
            reason = "" if is_passed else f": {why_not(result)}"
            self.stdout.write(f"{result.outcome:<7} {result.name}{reason}")
        earlier = earlier_run(run)
        if earlier is not None:
            changed = difference(earlier, run)
            self.stdout.write(f"Since the run before: {len(changed.fixed)} fixed, {len(changed.broken)} broken.")
        if options["junit"]:
            options["junit"].write_text(junit_text(run), encoding="utf-8")
        counts = outcome_counts(run)
        self.stdout.write(f"{counts['passed']} passed, {counts['failed']} failed, {counts['error']} not run.")
        if run.experiment.error:
            self.stderr.write(run.experiment.error["message"])
        if counts["passed"] < sum(counts.values()):
            raise CommandError("Tests failed.", returncode=1)


def _suite(project: Project, name: str) -> Suite:
    return suite_named(project, name) or suite_of(project, name)


def _base_id(project: Project, name: str | None) -> str | None:
    if name is None:
        return None
    try:
        return knowledge_base(project, name).kb_id
    except MRPError:
        return base_by_name(project, name).kb_id
