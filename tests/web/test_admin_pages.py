"""The admin's lists and pages: every model, constant numbers of queries, escaped text, no secrets."""

from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

import pytest
from django.apps import apps
from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.db import connection
from django.db.models import Model
from django.test import Client, RequestFactory
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from sessions_app.admin.shell import cells, read_only
from sessions_app.admin.shell.read_only import ReadOnlyAdmin
from sessions_app.models import (
    ApiKey,
    AuditEntry,
    ContextUnit,
    ExplainabilityTurn,
    Invitation,
    KnowledgeBase,
    KnowledgeSource,
    LoginLink,
    Membership,
    Message,
    Posting,
    Project,
    Session,
    SourceArtifact,
    TurnEvents,
    UnitArtifact,
)
from tests.web.admin_scene import HOSTILE, add_rows_of_every_kind
from tests.web.page_scene import links_of, parsed, texts_of, visible_text

MODELS = list(apps.get_app_config("sessions_app").get_models())
DELETABLE = {Session, LoginLink, Membership, Invitation}
MOST_LIST_QUERIES = 12


def address_of(model: type[Model], page: str, *arguments: Any) -> str:
    return reverse(f"admin:sessions_app_{model._meta.model_name}_{page}", args=arguments)


def test_every_model_is_registered() -> None:
    assert [model for model in MODELS if not admin.site.is_registered(model)] == []


def test_rows_are_written_by_actions_alone() -> None:
    """Django's own forms are not offered, and deletions use an action."""
    for model in MODELS:
        page = admin.site.get_model_admin(model)
        assert isinstance(page, ReadOnlyAdmin), model
        for name in ("delete_model", "delete_queryset"):
            assert (name in type(page).__dict__) == (model in DELETABLE), (model, name)


def index_rows(page: str) -> dict[str, list[list[str]]]:
    """Return the groups of the index, each with its models: name, number of rows, page."""
    return {
        texts_of(table, "caption")[0]: [texts_of(row, "th, td")[:3] for row in table.css("tr")[1:]]
        for table in parsed(page).css("table:has(caption)")
    }


def test_the_index_groups_every_model_and_counts_its_rows(operator: User, operators: Client, project: Project) -> None:
    Membership.objects.create(project=project, user=operator)
    add_rows_of_every_kind(3)
    subjects = index_rows(operators.get(reverse("admin:index")).text)
    assert list(subjects) == ["Conversations", "Knowledge", "Explainability", "Access", "Storage internals"]
    assert sum(len(rows) for rows in subjects.values()) == len(MODELS) + 2  # users and groups
    assert ["Messages", str(Message.objects.count()), ""] in subjects["Conversations"]
    assert ["Sessions", str(Session.objects.count()), "Page"] in subjects["Conversations"]


def test_the_index_counts_no_table_to_its_end(operators: Client, settings: Settings) -> None:
    settings.MRPVM_ROWS_COUNTED = 2
    add_rows_of_every_kind(3)
    with CaptureQueriesContext(connection) as queries:
        subjects = index_rows(operators.get(reverse("admin:index")).text)
    assert ["Messages", "over 2", ""] in subjects["Conversations"]
    counted = [query["sql"] for query in queries if "COUNT(" in query["sql"]]
    assert len(counted) >= len(MODELS)
    assert all("LIMIT 3" in sql for sql in counted)


def test_a_list_counts_no_table_to_its_end(operators: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """Except where all rows of the list can be deleted at once."""
    monkeypatch.setattr(read_only, "ROWS_LISTED", 2)
    add_rows_of_every_kind(3)
    unbounded = set()
    for model in MODELS:
        with CaptureQueriesContext(connection) as queries:
            page = operators.get(address_of(model, "changelist"))
        counted = [query["sql"] for query in queries if "COUNT(" in query["sql"]]
        assert counted, model
        if all("LIMIT 2" in sql for sql in counted):
            assert visible_text(page.text).count("Only the first 2 are listed") == 1, model
        else:
            unbounded.add(model)
    assert unbounded == DELETABLE


@pytest.mark.parametrize(
    "model", [AuditEntry, ExplainabilityTurn, KnowledgeSource, Posting, SourceArtifact, UnitArtifact]
)
def test_no_filter_reads_a_large_table(model: type[Model], operators: Client) -> None:
    add_rows_of_every_kind(1)
    with CaptureQueriesContext(connection) as queries:
        operators.get(address_of(model, "changelist"))
    assert [query["sql"] for query in queries if "DISTINCT" in query["sql"]] == []


def test_a_list_costs_the_same_for_3_rows_and_for_9(operators: Client) -> None:
    add_rows_of_every_kind(3)
    ContentType.objects.get_for_models(*MODELS)  # read once and cached
    operators.get(address_of(Session, "changelist"))
    few = {model: queries_of_list(operators, model, at_least=3) for model in MODELS}
    add_rows_of_every_kind(6)
    many = {model: queries_of_list(operators, model, at_least=9) for model in MODELS}
    assert {model: (few[model], many[model]) for model in MODELS if many[model] > few[model]} == {}
    assert {model: count for model, count in few.items() if count > MOST_LIST_QUERIES} == {}


def queries_of_list(operators: Client, model: type[Model], at_least: int) -> int:
    """Return the number of queries of a list; assert its number of rows, and that it shows no markup or secret."""
    with CaptureQueriesContext(connection) as queries:
        page = operators.get(address_of(model, "changelist"))
    assert page.status_code == 200, model
    assert len(page.context["cl"].result_list) >= at_least, model
    assert HOSTILE not in page.text, model
    assert "secret-digest" not in page.text, model
    return len(queries)


def test_a_page_shows_its_row_and_neither_markup_nor_secrets(operators: Client) -> None:
    add_rows_of_every_kind(2)
    for model in MODELS:
        row = model._default_manager.order_by("-pk").first()
        assert row is not None, model
        for address in (address_of(model, "change", row.pk), address_of(model, "history", row.pk)):
            page = operators.get(address)
            assert page.status_code == 200, address
            assert HOSTILE not in page.text, address
            assert "secret-digest" not in page.text, address


def test_no_page_writes_a_row(operators: Client) -> None:
    add_rows_of_every_kind(1)
    for model in MODELS:
        row = model._default_manager.order_by("-pk").first()
        assert row is not None, model
        before = model._default_manager.filter(pk=row.pk).values().get()
        fields = dict.fromkeys(before, "changed")
        assert operators.post(address_of(model, "change", row.pk), fields).status_code == 403, model
        if model not in DELETABLE:
            assert operators.post(address_of(model, "delete", row.pk), {"post": "yes"}).status_code == 403, model
        assert model._default_manager.filter(pk=row.pk).values().get() == before, model


def listed(model: type[Model], operator: User, query: str = "") -> ChangeList:
    """Return the list without rendering it; an invalid lookup fails here."""
    request = RequestFactory().get(address_of(model, "changelist") + query)
    request.user = operator
    shown = admin.site.get_model_admin(model).get_changelist_instance(request)
    len(shown.result_list)  # runs the query
    return shown


def test_a_search_is_answered(operator: User, operators: Client) -> None:
    add_rows_of_every_kind(1)
    hostile = {"q": "\x7f'\"%_"}
    for model in MODELS:
        for words in ({"q": "script"}, {"q": "1"}, hostile):
            assert listed(model, operator, f"?{urlencode(words)}").query == words["q"], (model, words)
    assert operators.get(address_of(Session, "changelist"), hostile).status_code == 200


def test_search_finds_a_session_by_its_id_and_its_rows_too(operators: Client) -> None:
    add_rows_of_every_kind(3)
    session = Session.objects.order_by("pk")[1]
    for model in (Session, Message, ContextUnit, ExplainabilityTurn):
        page = operators.get(address_of(model, "changelist"), {"q": session.session_id})
        assert [getattr(row, "session_id", None) for row in page.context["cl"].result_list] in (
            [session.session_id],
            [session.pk],
        )


def test_filters_are_answered(operator: User) -> None:
    add_rows_of_every_kind(2)
    for model in MODELS:
        shown = listed(model, operator)
        for spec in shown.filter_specs:
            for choice in spec.choices(shown):
                filtered = listed(model, operator, choice["query_string"])
                assert len(filtered.result_list) <= len(shown.result_list), (model, choice["query_string"])


def test_sources_are_filtered_by_every_kind(operators: Client) -> None:
    page = operators.get(address_of(KnowledgeSource, "changelist"))
    [spec] = page.context["cl"].filter_specs
    assert {value for value, _ in spec.lookup_choices} == {"source", "conversation-journal", "removed"}


def test_states_of_sessions(operators: Client) -> None:
    add_rows_of_every_kind(4)
    live, running, expired, deleted = Session.objects.order_by("pk")
    now = timezone.now()
    ExplainabilityTurn.objects.create(session=running, turn_index=2, user_message="", status="running")
    Session.objects.filter(pk=expired.pk).update(expires_at=now - timedelta(minutes=1))
    Session.objects.filter(pk=deleted.pk).update(deleted_at=now)
    expected = {"active": {live, running}, "running": {running}, "expired": {expired}, "deleted": {deleted}}
    for state, sessions in expected.items():
        page = operators.get(address_of(Session, "changelist"), {"state": state})
        assert set(page.context["cl"].result_list) == sessions
    shown = operators.get(address_of(Session, "changelist")).context["cl"]
    states = {row.pk: shown.model_admin.state(row) for row in shown.result_list}
    assert states == {live.pk: "active", running.pk: "turn running", expired.pk: "expired", deleted.pk: "deleted"}


def test_a_session_links_to_its_page_and_a_turn_to_its_own(operators: Client) -> None:
    add_rows_of_every_kind(1)
    turn = ExplainabilityTurn.objects.get()
    session_page = reverse("session", args=[turn.session.session_id])
    turn_page = reverse("turn", args=[turn.session.session_id, turn.request_id])
    for model, row, address in (
        (Session, turn.session, session_page),
        (ExplainabilityTurn, turn, turn_page),
    ):
        assert address in links_of(operators.get(address_of(model, "changelist")).text)
        assert address in links_of(operators.get(address_of(model, "change", row.pk)).text)
    assert turn_page in links_of(operators.get(address_of(TurnEvents, "changelist")).text)


def test_without_such_pages_there_are_no_links(monkeypatch: pytest.MonkeyPatch) -> None:
    session = Session(session_id="a/b\nc")
    assert cells.link(cells.session_page(session), "Open") == ""


def test_a_long_payload_is_cut_and_the_rest_counted(operators: Client) -> None:
    add_rows_of_every_kind(1)
    batch = TurnEvents.objects.get()
    batch.events = ["x" * (cells.SHOWN_CHARS + 1_000)]
    batch.save()
    page = operators.get(address_of(TurnEvents, "change", batch.pk))
    assert "1,008 more characters are not shown." in texts_of(page.text, ".readonly p")


@pytest.mark.parametrize("model", [ApiKey, LoginLink])
@pytest.mark.parametrize("lookup", ["digest", "digest__startswith", "digest__gt"])
def test_a_digest_cannot_be_guessed_by_filtering(model: type[Model], lookup: str, operators: Client) -> None:
    add_rows_of_every_kind(1)
    page = operators.get(address_of(model, "changelist"), {lookup: "s"})
    assert page.status_code == 400


def test_a_mounted_base_links_to_where_it_is_mounted(operators: Client) -> None:
    add_rows_of_every_kind(1)
    base = KnowledgeBase.objects.get(parent=None)
    page = operators.get(address_of(KnowledgeBase, "change", base.pk))
    lists = operators.get(address_of(Session, "changelist"), {"mounted_kb__id__exact": base.pk})
    assert parsed(page.text).css(f'a[href$="mounted_kb__id__exact={base.pk}"]')
    assert list(lists.context["cl"].result_list) == [Session.objects.get()]
