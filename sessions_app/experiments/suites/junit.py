"""A run of a suite as a JUnit file, as servers of continuous integration read it."""

import re
from xml.etree import ElementTree

from sessions_app.models import SuiteRun, TestResult
from sessions_app.queries.experiments.suites import outcome_counts, results

_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_text(run: SuiteRun) -> str:
    """Return the run as XML: a failure or error for each test that did not pass, with the answer as its output."""
    counts, listed = outcome_counts(run), results(run)
    name = _plain(run.suite.name)
    times = [(result.trial.duration_ms or 0) / 1000 for result in listed]
    suite = ElementTree.Element(
        "testsuite",
        name=name,
        tests=str(len(listed)),
        failures=str(counts["failed"]),
        errors=str(counts["error"] + counts["waiting"]),
        time=f"{sum(times):.3f}",
        timestamp=run.experiment.created_at.isoformat(timespec="seconds"),
    )
    for result, seconds in zip(listed, times, strict=True):
        case = ElementTree.SubElement(
            suite, "testcase", classname=name, name=_plain(result.name), time=f"{seconds:.3f}"
        )
        if result.outcome == TestResult.Outcome.FAILED:
            _add_outcome(case, "failure", result)
        elif result.outcome != TestResult.Outcome.PASSED:
            _add_outcome(case, "error", result)
    root = ElementTree.Element("testsuites")
    root.append(suite)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def why_not(result: TestResult) -> str:
    """Return why a test did not pass, as one line."""
    refused = (result.trial.error or {}).get("message", "It was not run.")
    return " ".join(result.failures) if result.failures else refused


def _add_outcome(case: ElementTree.Element, kind: str, result: TestResult) -> None:
    """Add to a test's element why it did not pass, and what was answered."""
    element = ElementTree.SubElement(case, kind, message=_plain(why_not(result)))
    element.text = _plain("\n".join(result.failures) or why_not(result))
    if result.trial.answer:
        ElementTree.SubElement(case, "system-out").text = _plain(result.trial.answer)


def _plain(text: str) -> str:
    """Return a text without what XML cannot hold."""
    return _NOT_IN_XML.sub("\N{REPLACEMENT CHARACTER}", text)
