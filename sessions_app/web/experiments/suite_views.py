"""Pages that list, edit, run and compare suites of tests, and import and export them as files."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from mrpvm.errors import InvalidInput, MRPError
from sessions_app.actions.experiments.suites import (
    MOST_SUITES,
    TestFields,
    add_test,
    change_test,
    create_suite,
    delete_suite,
    remove_test,
    rename_suite,
)
from sessions_app.experiments.suites.documents import stored_fields
from sessions_app.experiments.suites.questions import Target
from sessions_app.experiments.suites.suite_files import FILE_CHARS, exported_suite, import_suite
from sessions_app.experiments.suites.suites import check_test, estimate_tests, kept_turn, start_base_tests, start_run
from sessions_app.experiments.trials.changes import Changes
from sessions_app.experiments.trials.live import Estimate
from sessions_app.language_model import is_configured
from sessions_app.models import KnowledgeBase, Suite, TestCase, TurnRating
from sessions_app.queries.experiments import suites
from sessions_app.queries.knowledge.bases import knowledge_base, offered_bases
from sessions_app.queries.search.row_numbers import whole_number
from sessions_app.queries.sessions.lookups import session as session_of
from sessions_app.queries.turns import registry as turns
from sessions_app.web.experiments.suite_form import (
    check_numbers,
    choices_context,
    fields_given,
    form_context,
    target_given,
)
from sessions_app.web.experiments.suite_pages import base_context, matrix_context, run_context
from sessions_app.web.experiments.views import AT_ONCE_MS, author_of, may_change
from sessions_app.web.sessions.conversation import rating_of
from sessions_app.web.shell.access import Member, member_view
from sessions_app.web.shell.form_addresses import form_of
from sessions_app.web.shell.pages import page, tell, tell_error


@require_http_methods(["GET", "HEAD", "POST"])
@member_view()
def index(request: HttpRequest, member: Member) -> HttpResponse:
    """Show the project's suites; a POST creates one."""
    error, name, status = "", "", 200
    if request.method == "POST":
        member.check("editor")
        name = request.POST.get("name", "")
        try:
            return HttpResponseRedirect(_address(create_suite(member.project, name, author_of(member))))
        except MRPError as refused:
            error, status = refused.message, 400
    context = {"suites": suites.listed_suites(member.project), "error": error, "name": name}
    return page(request, "experiments/suites/index.html", member, context, section="tests", status=status)


@require_safe
@member_view()
def show(request: HttpRequest, member: Member, suite_id: str) -> HttpResponse:
    """Show a suite: its tests, the form that runs it, and the results of its newest runs."""
    suite = suites.suite(member.project, suite_id)
    tests = suites.tests_of(suite)
    context = {
        "suite": suite,
        "tests": tests,
        "tags": sorted({tag for test in tests for tag in test.tags}),
        "bases": offered_bases(member.project)[0],
        "estimate": _estimate(tests) if member.can_write and is_configured() else None,
        **choices_context(Changes()),
        **matrix_context(suite),
    }
    return page(request, "experiments/suites/show.html", member, context, section="tests")


def _estimate(tests: Sequence[TestCase]) -> Estimate | None:
    try:
        return estimate_tests(tests)
    except MRPError:  # a turn that cannot be run again: the run reports it
        return None


@form_of("suite", "suite_id")
@member_view()
def run(request: HttpRequest, member: Member, suite_id: str) -> HttpResponse:
    """Run the suite and redirect to the run."""
    suite = suites.suite(member.project, suite_id)
    if "allow_model" in request.POST:
        member.check("editor")
    try:
        run = start_run(suite, target_given(request.POST), author_of(member), wait_ms=AT_ONCE_MS)
    except MRPError as refused:
        tell_error(request, refused)
        return HttpResponseRedirect(_address(suite))
    return HttpResponseRedirect(reverse("suite-run", args=[suite_id, run.experiment.experiment_id]))


@require_safe
@member_view()
def show_run(request: HttpRequest, member: Member, suite_id: str, run_id: str) -> HttpResponse:
    """Show a run; for HTMX only the part that changes while it runs."""
    run = suites.run_of(suites.suite(member.project, suite_id), run_id)
    template = "experiments/suites/run.html" + ("#news" if "HX-Request" in request.headers else "")
    context = {**run_context(run), "may_change": may_change(member, run.experiment)}
    return page(request, template, member, context, section="tests")


@form_of("suite", "suite_id")
@member_view("editor")
def rename(request: HttpRequest, member: Member, suite_id: str) -> HttpResponse:
    suite = suites.suite(member.project, suite_id)
    try:
        rename_suite(suite, request.POST.get("name", ""))
    except MRPError as refused:
        tell_error(request, refused)
    return HttpResponseRedirect(_address(suite))


@form_of("suite", "suite_id")
@member_view("editor")
def delete(request: HttpRequest, member: Member, suite_id: str) -> HttpResponse:
    """Remove the suite with its tests and runs."""
    suite = suites.suite(member.project, suite_id)
    delete_suite(suite)
    tell(request, f"The suite “{suite.name}” is deleted.")
    return HttpResponseRedirect(reverse("suites"))


@require_safe
@member_view()
def download(request: HttpRequest, member: Member, suite_id: str) -> HttpResponse:
    """Return the suite as a YAML file."""
    suite = suites.suite(member.project, suite_id)
    headers = {"Content-Disposition": 'attachment; filename="suite.yaml"'}
    return HttpResponse(exported_suite(suite), content_type="application/yaml; charset=utf-8", headers=headers)


@form_of("suites")
@member_view("editor")
def upload(request: HttpRequest, member: Member) -> HttpResponse:
    """Create a suite from a YAML file, or replace the tests of the suite with its name."""
    file = request.FILES.get("file")
    try:
        suite = import_suite(member.project, _text_of(file), author_of(member))
    except MRPError as refused:
        tell_error(request, refused)
        return HttpResponseRedirect(reverse("suites"))
    tell(request, f"The suite “{suite.name}” is as the file says.")
    return HttpResponseRedirect(_address(suite))


def _text_of(file: Any) -> str:
    if not isinstance(file, UploadedFile):
        raise InvalidInput("Choose a YAML file.")
    try:
        return file.read(4 * FILE_CHARS + 1).decode("utf-8")
    except UnicodeDecodeError:
        raise InvalidInput("The file is not UTF-8.") from None


@require_http_methods(["GET", "HEAD", "POST"])
@member_view("editor")
def new_test(request: HttpRequest, member: Member, suite_id: str) -> HttpResponse:
    """Show the form of a test that asks a base; a POST adds the test."""
    suite, empty = suites.suite(member.project, suite_id), TestFields(name="", message="")
    return _form(request, member, suite, empty, title="A new test")


@require_http_methods(["GET", "HEAD", "POST"])
@member_view("editor")
def edit_test(request: HttpRequest, member: Member, suite_id: str, test_id: str) -> HttpResponse:
    """Show the form of a test; a POST changes the test."""
    suite = suites.suite(member.project, suite_id)
    test = suites.one_test(suite, test_id)
    error, fields = "", stored_fields(test)
    if request.method == "POST":
        try:
            fields = fields_given(member.project, request.POST, fields)
            check_numbers(request.POST)
            check_test(fields)
            change_test(test, fields)
            return HttpResponseRedirect(_address(suite))
        except MRPError as refused:
            error = refused.message
    context = {"suite": suite, "test": test, "title": test.name, "error": error}
    return _test_page(request, member, fields, context)


@form_of("suite", "suite_id")
@member_view("editor")
def delete_test(request: HttpRequest, member: Member, suite_id: str, test_id: str) -> HttpResponse:
    """Remove a test; earlier runs keep its results."""
    suite = suites.suite(member.project, suite_id)
    test = suites.one_test(suite, test_id)
    remove_test(test)
    tell(request, f"The test “{test.name}” is removed.")
    return HttpResponseRedirect(_address(suite))


@require_http_methods(["GET", "HEAD", "POST"])
@member_view("editor")
def keep(request: HttpRequest, member: Member, session_id: str, request_id: str) -> HttpResponse:
    """Show the form of a test that expects the present answer of a turn; a POST adds the test to a suite.

    With `wrong=yes`, or where the answer is rated down and `wrong` is not given, it expects another answer.
    """
    turn = turns.turn(member.project, session_id, request_id)
    wrong, rating = request.GET.get("wrong"), rating_of(turn)
    is_wrong = wrong == "yes" if wrong else rating is not None and rating.value == TurnRating.Value.DOWN
    try:
        kept = kept_turn(turn, is_wrong=is_wrong)
    except MRPError as refused:
        tell_error(request, refused)
        return HttpResponseRedirect(reverse("turn", args=[session_id, request_id]))
    title = f"Keep turn {turn.turn_index} as a test"
    return _form(request, member, None, kept, title=title, is_wrong=is_wrong)


@form_of("session", "session_id")
@member_view()
def run_before_save(request: HttpRequest, member: Member, session_id: str) -> HttpResponse:
    """Run the tests of the session's base against the state after a save, and redirect to the results."""
    session = session_of(member.project, session_id)
    target = Target(draft=session_id, without_told="include_conversation_units" not in request.POST)
    return _started(request, member, session.mounted_kb, target, reverse("session", args=[session_id]))


@form_of("knowledge-base", "kb_id")
@member_view()
def run_before_restore(request: HttpRequest, member: Member, kb_id: str) -> HttpResponse:
    """Run the tests of the base against one of its revisions, and redirect to the results."""
    base = knowledge_base(member.project, kb_id)
    target = Target(base=base.kb_id, revision=whole_number(request.POST.get("revision")))
    return _started(request, member, base, target, reverse("knowledge-base", args=[kb_id]))


def _started(request: HttpRequest, member: Member, base: KnowledgeBase, target: Target, back: str) -> HttpResponse:
    try:
        runs = start_base_tests(base, target, author_of(member), wait_ms=AT_ONCE_MS)
    except MRPError as refused:
        tell_error(request, refused)
        return HttpResponseRedirect(back)
    query = urlencode([("run", run.experiment.experiment_id) for run in runs])
    return HttpResponseRedirect(f"{reverse('knowledge-tests', args=[base.kb_id])}?{query}")


@require_safe
@member_view()
def base_tests(request: HttpRequest, member: Member, kb_id: str) -> HttpResponse:
    """Show the results of a base's tests for a proposed state; for HTMX only the part that changes."""
    base = knowledge_base(member.project, kb_id)
    run_ids = request.GET.getlist("run")[:MOST_SUITES]
    template = "experiments/suites/base.html" + ("#news" if "HX-Request" in request.headers else "")
    context = {"base": base, **base_context(member.project, run_ids), "address": request.get_full_path()}
    return page(request, template, member, context, section="tests")


def _form(
    request: HttpRequest, member: Member, suite: Suite | None, fields: TestFields, *, title: str, is_wrong: bool = False
) -> HttpResponse:
    """Return the form of a new test, filled in with `fields`; a POST adds the test to `suite` or the suite it names."""
    error = ""
    if request.method == "POST":
        try:
            fields = fields_given(member.project, request.POST, fields)
            check_numbers(request.POST)
            check_test(fields)
            made = suite or suite_meant(request, member)
            add_test(made, fields, author_of(member))
            tell(request, f"The test stands in “{made.name}”.")
            return HttpResponseRedirect(_address(made))
        except MRPError as refused:
            error = refused.message
    context: dict[str, Any] = {"suite": suite, "test": None, "title": title, "error": error}
    if suite is None:
        context |= {
            "suites": [listed.suite for listed in suites.listed_suites(member.project)],
            "chosen_suite": request.POST.get("suite", ""),
            "new_suite": request.POST.get("new_suite", ""),
            "is_wrong": is_wrong,
        }
    return _test_page(request, member, fields, context)


def suite_meant(request: HttpRequest, member: Member) -> Suite:
    """Return the suite that a form names; a new one is created.

    Raises:
        NotFound: SUITE_NOT_FOUND.
        InvalidInput: the name is not acceptable.
        Conflict: the project has too many suites.
    """
    if request.POST.get("suite"):
        return suites.suite(member.project, request.POST["suite"])
    name = request.POST.get("new_suite", "")
    return suites.suite_named(member.project, name.strip()) or create_suite(member.project, name, author_of(member))


def _test_page(request: HttpRequest, member: Member, fields: TestFields, context: dict[str, Any]) -> HttpResponse:
    shown = {**form_context(member.project, fields), **context}
    return page(
        request, "experiments/suites/test.html", member, shown, section="tests", status=400 if context["error"] else 200
    )


def _address(suite: Suite) -> str:
    return reverse("suite", args=[suite.suite_id])
